//! A borrowed graph, independent of the storage of its lists.

use crate::compressed::{CompressedGraph, NeighborLists, ShardLists};
use crate::{Direction, Graph, GraphBytes, VertexId, VertexIds, WeightScale};

/// A borrowed graph of plain or compressed lists. The results of algorithms do not depend on which.
#[derive(Clone, Copy, Debug)]
pub enum GraphView<'a> {
    /// 4 bytes per arc, read directly.
    Plain(&'a Graph),
    /// Fewer bytes, decoded on each access.
    Compressed(&'a CompressedGraph),
}

impl<'a> From<&'a Graph> for GraphView<'a> {
    fn from(graph: &'a Graph) -> GraphView<'a> {
        GraphView::Plain(graph)
    }
}

impl<'a> From<&'a CompressedGraph> for GraphView<'a> {
    fn from(graph: &'a CompressedGraph) -> GraphView<'a> {
        GraphView::Compressed(graph)
    }
}

/// Evaluates an expression for either kind of graph.
macro_rules! of_either {
    ($view:expr, $graph:ident => $asked:expr) => {
        match $view {
            GraphView::Plain($graph) => $asked,
            GraphView::Compressed($graph) => $asked,
        }
    };
}

impl<'a> GraphView<'a> {
    /// Returns the external ids of the vertices.
    pub fn ids(self) -> &'a VertexIds {
        of_either!(self, graph => graph.ids())
    }

    /// Returns the number of vertices.
    #[inline]
    pub fn vertices(self) -> u32 {
        of_either!(self, graph => graph.vertices())
    }

    /// Returns the number of stored arcs, counted like [`Graph::arcs`].
    pub fn arcs(self) -> u64 {
        of_either!(self, graph => graph.arcs())
    }

    /// Returns the number of edges, including self-loops. Cost: one pass, which counts the
    /// self-loops.
    pub fn edges(self) -> u64 {
        of_either!(self, graph => graph.edges())
    }

    /// Returns the number of self-loops. Cost: one pass over the lists.
    pub fn self_loops(self) -> u64 {
        of_either!(self, graph => graph.self_loops())
    }

    /// Returns whether edges have a direction.
    pub fn direction(self) -> Direction {
        of_either!(self, graph => graph.direction())
    }

    /// Returns whether arcs have weights.
    pub fn is_weighted(self) -> bool {
        of_either!(self, graph => graph.is_weighted())
    }

    /// Returns the scale that converts stored weights to real ones.
    pub fn weight_scale(self) -> WeightScale {
        of_either!(self, graph => graph.weight_scale())
    }

    /// Returns the number of shards.
    pub fn shards(self) -> usize {
        of_either!(self, graph => graph.shards().len())
    }

    /// Returns the number of arcs that touch a vertex; in a directed graph, in both directions.
    ///
    /// # Panics
    /// If `vertex` is not below [`GraphView::vertices`].
    #[inline]
    pub fn degree(self, vertex: VertexId) -> u64 {
        of_either!(self, graph => graph.degree(vertex))
    }

    /// Returns the sum of the stored weights of the arcs that touch a vertex; without weights, its
    /// degree.
    ///
    /// # Panics
    /// If `vertex` is not below [`GraphView::vertices`].
    pub fn strength(self, vertex: VertexId) -> u64 {
        fn of<S: ShardLists>(shard: &S, vertex: VertexId) -> u64 {
            let local = (vertex - shard.vertices().start) as usize;
            shard.lists().map(|lists| lists.strength_of(local)).sum()
        }
        of_either!(self, graph => of(graph.shard_of(vertex), vertex))
    }

    /// Returns the largest degree; 0 without vertices.
    pub fn max_degree(self) -> u64 {
        of_either!(self, graph => graph.max_degree())
    }

    /// Returns the bytes that the graph occupies, including ids.
    pub fn bytes(self) -> u64 {
        of_either!(self, graph => graph.bytes())
    }

    /// Returns the bytes of lists in shared memory: a mapped file's, which need not be resident.
    pub fn shared_bytes(self) -> u64 {
        of_either!(self, graph => graph.shared_bytes())
    }

    /// Returns the bytes that the graph occupies, by part. The weights of compressed lists count as
    /// neighbours ([`CompressedGraph::bytes_by_part`]).
    pub fn bytes_by_part(self) -> GraphBytes {
        of_either!(self, graph => graph.bytes_by_part())
    }
}
