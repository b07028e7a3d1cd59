//! What detection finds in a window: clusters, and who is in them.

use crate::Timestamp;
use crate::chance::Why;
use ripplet_graph::VertexId;
use std::fmt;

/// What detection finds in a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// The clusters, by rank.
    pub clusters: Vec<Cluster>,
    /// Who is in them: by the cluster's rank, then by score, highest first, then by vertex.
    pub members: Vec<Member>,
    /// Clusters of the window before that are no more, ascending, each with that of now that took most of its members
    /// over, if any.
    pub ended: Vec<(ClusterId, Option<ClusterId>)>,
    /// Groups without a known bad member that have more members than a cluster may have; they are not among the clusters.
    pub too_large: u64,
}

/// What a cluster is called, the same from one window to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClusterId(pub u64);

impl fmt::Display for ClusterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}", self.0)
    }
}

/// A suspicious cluster; the formulas are in [`scores`](crate::scores).
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// What it is called in all windows.
    pub id: ClusterId,
    /// Its place in the ranking, from 1.
    pub rank: u32,
    /// How suspicious it is: higher is more so.
    pub score: f64,
    /// How often chance alone makes a group as busy: see [`chance`](crate::chance).
    pub chance: f64,
    /// Its busiest part, which that is of.
    pub why: Why,
    /// How many members it has.
    pub size: u32,
    /// How many of them are known to be bad.
    pub seeds: u32,
    /// Edges between members.
    pub edges: u64,
    /// The weight of these, in stored units ([`Graph::weight_scale`](ripplet_graph::Graph::weight_scale)).
    pub weight_within: u64,
    /// The weight of edges from members to others.
    pub weight_out: u64,
    /// Edges between members, as a share of those that there could be.
    pub density: f64,
    /// The weight of edges from members to others, as a share of that of all their arcs.
    pub conductance: f64,
    /// By what its size grew since the last window, as a share of what it was; none for one that is new.
    pub growth: Option<f64>,
    /// How many windows it is old: 0 where it is new.
    pub age: u32,
    /// The end of the window that it was found in first.
    pub born: Timestamp,
    /// What became of it since the last window.
    pub fate: Fate,
    /// Clusters of the last window that it has members of, by the overlap rule, ascending.
    pub parents: Vec<ClusterId>,
}

/// What became of a cluster since the last window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// It is new.
    #[default]
    Born,
    /// It goes on with more members.
    Grew,
    /// It goes on with fewer members.
    Shrank,
    /// It goes on with as many members.
    Stayed,
    /// It goes on, and took others in.
    Merged,
    /// It is a part of another, which it left.
    Split,
}

impl Fate {
    /// The name, as tables have it.
    pub const fn name(self) -> &'static str {
        match self {
            Fate::Born => "born",
            Fate::Grew => "grew",
            Fate::Shrank => "shrank",
            Fate::Stayed => "stayed",
            Fate::Merged => "merged",
            Fate::Split => "split",
        }
    }
}

/// A member of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Who.
    pub vertex: VertexId,
    /// In which cluster.
    pub cluster: ClusterId,
    /// How suspicious: higher is more so.
    pub score: f64,
    /// Arcs to the nearest known bad member of the cluster, along members: 0 for these themselves,
    /// [`NO_SEED`](crate::scores::NO_SEED) where there is none.
    pub seed_distance: u32,
    /// The weight of arcs to known bad vertices, as a share of that of all arcs of the vertex.
    pub share_to_known_bad: f64,
    /// Whether it is known to be bad.
    pub known_bad: bool,
    /// How many others it dealt with in the window.
    pub degree: u64,
    /// The summed weight of its arcs, in stored units.
    pub strength: u64,
}
