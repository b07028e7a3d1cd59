//! Members of a community that a picture shows when the community is opened.

use crate::{CommunityGraph, DrawError, NO_COMMUNITY};
use rayon::prelude::*;
use ripplet_graph::storage::{NeighborLists, ShardLists};
use ripplet_graph::{Direction, GraphView, VertexId, dispatch_storage, memory};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Some members of a community and the edges between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members {
    /// The members with the largest weight of edges within the community, then by vertex.
    pub vertices: Vec<VertexId>,
    /// The heaviest edges between these members: indices into `vertices` with `a < b`, and the total
    /// stored weight in both directions.
    pub edges: Vec<(u32, u32, u64)>,
    /// Number of pairs of these members that have an edge.
    pub pairs: usize,
}

/// Edges that an opened community shows for each member that it shows.
const EDGES_PER_MEMBER: usize = 4;

impl Members {
    /// Returns the leading members of each drawn community, at most `most` of each.
    ///
    /// # Errors
    /// [`DrawError::OutOfMemory`].
    pub(crate) fn of_each(
        graph: GraphView<'_>,
        communities: &CommunityGraph,
        most: usize,
    ) -> Result<Vec<Members>, DrawError> {
        let leaders = communities.leading_members(most)?;
        let mut place = memory::filled(NO_COMMUNITY, communities.drawn.len())?;
        for vertices in &leaders {
            for (at, &v) in vertices.iter().enumerate() {
                place[v as usize] = at as u32;
            }
        }
        let members = leaders.into_par_iter().map(|vertices| {
            let (edges, pairs) = edges(graph, communities, &vertices, &place);
            Members { vertices, edges, pairs }
        });
        Ok(members.collect())
    }
}

/// Returns the heaviest edges between some members of one community, and the number of pairs that have an edge.
fn edges(
    graph: GraphView<'_>,
    communities: &CommunityGraph,
    vertices: &[VertexId],
    place: &[u32],
) -> (Vec<(u32, u32, u64)>, usize) {
    let mut weights: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for (at, &v) in (0..).zip(vertices) {
        let own = communities.drawn[v as usize];
        each_out_arc(graph, v, |u, weight| {
            let other = place[u as usize];
            let among = communities.drawn[u as usize] == own && other != NO_COMMUNITY && u != v;
            // The list of an undirected graph's other end has the arc, too.
            if among && (graph.direction() == Direction::Directed || at < other) {
                *weights.entry((at.min(other), at.max(other))).or_default() += weight;
            }
        });
    }
    let pairs = weights.len();
    let mut edges: Vec<_> = weights.into_iter().map(|((a, b), weight)| (a, b, weight)).collect();
    edges.sort_by_key(|&(a, b, weight)| (Reverse(weight), a, b));
    edges.truncate(EDGES_PER_MEMBER * vertices.len());
    (edges, pairs)
}

/// Calls `visit` with each neighbour of `v` and the stored weight, by the arcs that leave `v`.
fn each_out_arc(graph: GraphView<'_>, v: VertexId, visit: impl FnMut(VertexId, u64)) {
    fn of<S: ShardLists>(shard: &S, v: VertexId, visit: impl FnMut(VertexId, u64)) {
        shard.out().for_each_arc((v - shard.vertices().start) as usize, visit);
    }
    dispatch_storage!(graph, graph => of(graph.shard_of(v), v, visit))
}
