//! A graph as an algorithm reads it, whichever way its lists are kept.

use crate::compressed::{CompressedGraph, NeighborLists, ShardLists};
use crate::{Direction, Graph, GraphBytes, VertexId, VertexIds, WeightScale};

/// A borrowed graph of plain or of compressed lists. What an algorithm finds does not depend on which.
#[derive(Clone, Copy, Debug)]
pub enum GraphView<'a> {
    /// 4 bytes an arc, read as they are.
    Plain(&'a Graph),
    /// Fewer bytes, decoded wherever they are read.
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

/// Asks whichever graph it is.
macro_rules! of_either {
    ($view:expr, $graph:ident => $asked:expr) => {
        match $view {
            GraphView::Plain($graph) => $asked,
            GraphView::Compressed($graph) => $asked,
        }
    };
}

impl<'a> GraphView<'a> {
    /// What the vertices are called outside.
    pub fn ids(self) -> &'a VertexIds {
        of_either!(self, graph => graph.ids())
    }

    /// The number of vertices.
    #[inline]
    pub fn vertices(self) -> u32 {
        of_either!(self, graph => graph.vertices())
    }

    /// The number of stored arcs, as [`Graph::arcs`] counts them.
    pub fn arcs(self) -> u64 {
        of_either!(self, graph => graph.arcs())
    }

    /// The number of edges, self-loops among them: one pass, for these.
    pub fn edges(self) -> u64 {
        of_either!(self, graph => graph.edges())
    }

    /// The number of self-loops: one pass over the lists.
    pub fn self_loops(self) -> u64 {
        of_either!(self, graph => graph.self_loops())
    }

    /// Whether edges have a direction.
    pub fn direction(self) -> Direction {
        of_either!(self, graph => graph.direction())
    }

    /// Whether arcs have weights.
    pub fn is_weighted(self) -> bool {
        of_either!(self, graph => graph.is_weighted())
    }

    /// How stored weights stand for real ones.
    pub fn weight_scale(self) -> WeightScale {
        of_either!(self, graph => graph.weight_scale())
    }

    /// How many shards there are.
    pub fn shards(self) -> usize {
        of_either!(self, graph => graph.shards().len())
    }

    /// The number of arcs that touch a vertex; on a directed graph, in both directions.
    ///
    /// # Panics
    /// Where `vertex` is not below [`GraphView::vertices`].
    #[inline]
    pub fn degree(self, vertex: VertexId) -> u64 {
        of_either!(self, graph => graph.degree(vertex))
    }

    /// The summed stored weights of the arcs that touch a vertex; without weights, its degree.
    ///
    /// # Panics
    /// Where `vertex` is not below [`GraphView::vertices`].
    pub fn strength(self, vertex: VertexId) -> u64 {
        fn of<S: ShardLists>(shard: &S, vertex: VertexId) -> u64 {
            let local = (vertex - shard.vertices().start) as usize;
            shard.lists().map(|lists| lists.strength_of(local)).sum()
        }
        of_either!(self, graph => of(graph.shard_of(vertex), vertex))
    }

    /// The largest degree; 0 without vertices.
    pub fn max_degree(self) -> u64 {
        of_either!(self, graph => graph.max_degree())
    }

    /// Bytes that the graph occupies, ids included.
    pub fn bytes(self) -> u64 {
        of_either!(self, graph => graph.bytes())
    }

    /// Of the lists' bytes, those that lie in somebody else's memory: a mapped file's, which need not be in memory at once.
    pub fn shared_bytes(self) -> u64 {
        of_either!(self, graph => graph.shared_bytes())
    }

    /// The same as [`GraphView::bytes`], each part for itself; of compressed lists, weights are among the neighbours
    /// ([`CompressedGraph::bytes_by_part`]).
    pub fn bytes_by_part(self) -> GraphBytes {
        of_either!(self, graph => graph.bytes_by_part())
    }
}
