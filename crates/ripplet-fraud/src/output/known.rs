//! Where the known bad are in a window: in which cluster, or in none.

use super::WindowFindings;
use crate::ClusterId;
use ripplet_graph::VertexId;
use std::collections::BTreeMap;

/// Where a known bad entity is in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whereabouts {
    /// A member of this cluster.
    Cluster(ClusterId),
    /// It deals with somebody, and is in no cluster.
    NoCluster,
    /// It has no transactions in the window.
    NoTransactions,
}

impl Whereabouts {
    /// The name, as tables have it.
    pub const fn name(self) -> &'static str {
        match self {
            Whereabouts::Cluster(_) => "in a cluster",
            Whereabouts::NoCluster => "in no cluster",
            Whereabouts::NoTransactions => "no transactions",
        }
    }

    /// The cluster, if it is in one.
    pub fn cluster(self) -> Option<ClusterId> {
        match self {
            Whereabouts::Cluster(id) => Some(id),
            Whereabouts::NoCluster | Whereabouts::NoTransactions => None,
        }
    }
}

impl WindowFindings<'_> {
    /// The cluster of each member; of one in several, the first by rank.
    pub(crate) fn cluster_of_members(self) -> BTreeMap<VertexId, ClusterId> {
        let mut clusters = BTreeMap::new();
        for member in &self.findings.members {
            clusters.entry(member.vertex).or_insert(member.cluster);
        }
        clusters
    }

    /// Each known bad vertex, ascending, and where it is.
    pub(crate) fn known_bad_places(self) -> Vec<(VertexId, Whereabouts)> {
        let clusters = self.cluster_of_members();
        let graph = &self.window.graph;
        let place = |vertex: VertexId| match clusters.get(&vertex) {
            Some(&id) => Whereabouts::Cluster(id),
            None if vertex < graph.vertices() && graph.degree(vertex) > 0 => Whereabouts::NoCluster,
            None => Whereabouts::NoTransactions,
        };
        self.known_bad.vertices.iter().map(|&vertex| (vertex, place(vertex))).collect()
    }
}
