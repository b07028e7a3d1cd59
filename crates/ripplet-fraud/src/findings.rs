//! Result of detection in a window: clusters and their members.

use crate::Timestamp;
use ripplet_graph::VertexId;
use std::fmt;

/// Seed distance of members of a cluster without a known bad member.
pub const NO_SEED: u32 = u32::MAX;

/// Clusters detected in a window, and their members.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// The clusters, by rank.
    pub clusters: Vec<Cluster>,
    /// Members: by the cluster's rank, then by score, highest first, then by vertex; after
    /// [`rank_by_entities`](crate::scores::rank_by_entities), by rank of the entity within a cluster.
    pub members: Vec<Member>,
    /// Clusters of the previous window that ended, ascending, each with the current cluster that took over
    /// most of its members, if any.
    pub ended: Vec<(ClusterId, Option<ClusterId>)>,
    /// Number of groups without a known bad member that exceed the size limit; they are not among the
    /// clusters.
    pub too_large: u64,
}

/// Id of a cluster, which stays across windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClusterId(pub u64);

impl fmt::Display for ClusterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}", self.0)
    }
}

/// Busiest part of a cluster: the evidence that it is not random.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BusiestPart {
    /// Members of the part, ascending; empty if no two members have transactions.
    pub members: Vec<VertexId>,
    /// Transactions among the members; if rows link more than two entities, those of the pair of columns with
    /// the least chance.
    pub transactions: u64,
    /// Expected number of transactions among the members in the whole window.
    pub expected: f64,
    /// The pair of columns that links them, if a row links more than two entities: an index into
    /// [`Mapping::pairs`](crate::Mapping::pairs).
    pub pair: Option<usize>,
}

/// Suspicious cluster; [`scores`](crate::scores) has the formulas.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Id in all windows.
    pub id: ClusterId,
    /// Position in the ranking, from 1.
    pub rank: u32,
    /// Score by which clusters are ranked: higher is more suspicious. It is `suspicion`, until
    /// [`rank_by_entities`](crate::scores::rank_by_entities) replaces it.
    pub score: f64,
    /// Mean suspicion score of its members.
    pub suspicion: f64,
    /// P-value of the cluster: see [`chance`](crate::chance).
    pub chance: f64,
    /// The busiest part, which `chance` is the p-value of.
    pub why: BusiestPart,
    /// Number of members.
    pub size: u32,
    /// Number of known bad members.
    pub seeds: u32,
    /// Edges between members.
    pub edges: u64,
    /// Weight of the edges between members, in stored units
    /// ([`Graph::weight_scale`](ripplet_graph::Graph::weight_scale)).
    pub weight_within: u64,
    /// Weight of the edges from members to others, in stored units.
    pub weight_out: u64,
    /// Edges between members divided by the number of pairs of members.
    pub density: f64,
    /// Weight of the edges from members to others, divided by the weight of all arcs of members.
    pub conductance: f64,
    /// Relative growth of its size since the previous window; `None` for a new cluster.
    pub growth: Option<f64>,
    /// Age in windows: 0 for a new cluster.
    pub age: u32,
    /// End of the window in which it was first found.
    pub born: Timestamp,
    /// Change since the previous window.
    pub fate: ClusterEvent,
    /// Clusters of the previous window that it has members of, by the overlap rule, ascending.
    pub parents: Vec<ClusterId>,
}

/// Change of a cluster since the previous window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClusterEvent {
    /// The cluster is new.
    #[default]
    Born,
    /// The cluster continues with more members.
    Grew,
    /// The cluster continues with fewer members.
    Shrank,
    /// The cluster continues with as many members.
    Stayed,
    /// The cluster continues and absorbed others.
    Merged,
    /// The cluster split off from another.
    Split,
}

impl ClusterEvent {
    /// Returns the name that tables use.
    pub const fn name(self) -> &'static str {
        match self {
            ClusterEvent::Born => "born",
            ClusterEvent::Grew => "grew",
            ClusterEvent::Shrank => "shrank",
            ClusterEvent::Stayed => "stayed",
            ClusterEvent::Merged => "merged",
            ClusterEvent::Split => "split",
        }
    }
}

/// Member of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The vertex.
    pub vertex: VertexId,
    /// The cluster.
    pub cluster: ClusterId,
    /// Suspicion score: higher is more suspicious.
    pub score: f64,
    /// Hops to the nearest known bad member of the cluster, through members: 0 for a known bad member,
    /// [`NO_SEED`] if the cluster has none.
    pub seed_distance: u32,
    /// Weight of the arcs to known bad vertices, divided by that of all arcs of the vertex.
    pub share_to_known_bad: f64,
    /// Whether the vertex is known to be bad.
    pub known_bad: bool,
    /// Number of partners in the window.
    pub degree: u64,
    /// Summed weight of its arcs, in stored units.
    pub strength: u64,
}
