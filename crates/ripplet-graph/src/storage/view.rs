//! A borrowed graph, independent of the storage of its lists.

use super::compressed::{CompressedGraph, ListNeighbors};
use super::{Direction, Graph, GraphBytes, NeighborLists, ShardLists};
use crate::{OutOfMemory, VertexId, VertexIds, WeightScale};
use rayon::prelude::*;
use std::borrow::Cow;
use std::iter::Copied;
use std::ops::Range;
use std::slice::Iter;

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

/// Evaluates an expression with the graph of a [`GraphView`], compiled once per storage.
///
/// `$graph` is a `&Graph` or a `&CompressedGraph`; both have methods of the same names, and shards
/// that implement [`ShardLists`].
///
/// ```
/// use ripplet_graph::storage::{NeighborLists, ShardLists};
/// use ripplet_graph::{GraphView, dispatch_storage};
///
/// /// Returns the number of arcs of each shard.
/// fn arcs_of_shards(graph: GraphView<'_>) -> Vec<u64> {
///     fn of<S: ShardLists>(shards: &[S]) -> Vec<u64> {
///         shards.iter().map(|shard| shard.out().arcs()).collect()
///     }
///     dispatch_storage!(graph, graph => of(graph.shards()))
/// }
/// ```
#[macro_export]
macro_rules! dispatch_storage {
    ($view:expr, $graph:ident => $work:expr) => {
        match $view {
            $crate::GraphView::Plain($graph) => $work,
            $crate::GraphView::Compressed($graph) => $work,
        }
    };
}

/// Evaluates an expression with the lists of a [`GraphView`], compiled once per kind of lists.
///
/// `$out` and `$incoming` are the lists of all vertices; both implement [`NeighborLists`]. They are
/// equal if the graph is undirected. A plain graph of one shard, the usual one, is read without a
/// lookup of the shard. [`storage`](crate::storage) shows an example.
#[macro_export]
macro_rules! dispatch_lists {
    ($view:expr, ($out:ident, $incoming:ident) => $work:expr) => {
        match $view {
            $crate::GraphView::Plain(graph) => match graph.shards() {
                [shard] => {
                    let ($out, $incoming) =
                        (shard.out(), shard.incoming().unwrap_or_else(|| shard.out()));
                    $work
                }
                shards => {
                    let ($out, $incoming) = $crate::storage::GraphLists::of(shards);
                    $work
                }
            },
            $crate::GraphView::Compressed(graph) => {
                let ($out, $incoming) = $crate::storage::GraphLists::of(graph.shards());
                $work
            }
        }
    };
}

/// The neighbours of a vertex of a [`GraphView`], ascending.
#[derive(Clone, Debug)]
pub struct ViewNeighbors<'a>(Kind<'a>);

#[derive(Clone, Debug)]
enum Kind<'a> {
    Plain(Copied<Iter<'a, VertexId>>),
    Compressed(ListNeighbors<'a>),
}

impl Iterator for ViewNeighbors<'_> {
    type Item = VertexId;

    #[inline]
    fn next(&mut self) -> Option<VertexId> {
        match &mut self.0 {
            Kind::Plain(neighbors) => neighbors.next(),
            Kind::Compressed(neighbors) => neighbors.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Kind::Plain(neighbors) => neighbors.size_hint(),
            Kind::Compressed(neighbors) => neighbors.size_hint(),
        }
    }
}

impl ExactSizeIterator for ViewNeighbors<'_> {}

impl<'a> GraphView<'a> {
    /// Returns the external ids of the vertices.
    pub fn ids(self) -> &'a VertexIds {
        dispatch_storage!(self, graph => graph.ids())
    }

    /// Returns the number of vertices.
    #[inline]
    pub fn vertices(self) -> u32 {
        dispatch_storage!(self, graph => graph.vertices())
    }

    /// Returns the number of stored arcs, counted like [`Graph::arcs`].
    pub fn arcs(self) -> u64 {
        dispatch_storage!(self, graph => graph.arcs())
    }

    /// Returns the number of edges, including self-loops. Cost: one pass, which counts the
    /// self-loops.
    pub fn edges(self) -> u64 {
        dispatch_storage!(self, graph => graph.edges())
    }

    /// Returns the number of self-loops. Cost: one pass over the lists.
    pub fn self_loops(self) -> u64 {
        dispatch_storage!(self, graph => graph.self_loops())
    }

    /// Returns whether edges have a direction.
    pub fn direction(self) -> Direction {
        dispatch_storage!(self, graph => graph.direction())
    }

    /// Returns whether arcs have weights.
    pub fn is_weighted(self) -> bool {
        dispatch_storage!(self, graph => graph.is_weighted())
    }

    /// Returns the scale that converts stored weights to real ones.
    pub fn weight_scale(self) -> WeightScale {
        dispatch_storage!(self, graph => graph.weight_scale())
    }

    /// Returns the number of shards.
    pub fn shards(self) -> usize {
        dispatch_storage!(self, graph => graph.shards().len())
    }

    /// Returns the number of arcs that touch a vertex; in a directed graph, in both directions.
    ///
    /// # Panics
    /// If `vertex` is not below [`GraphView::vertices`].
    #[inline]
    pub fn degree(self, vertex: VertexId) -> u64 {
        dispatch_storage!(self, graph => graph.degree(vertex))
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
        dispatch_storage!(self, graph => of(graph.shard_of(vertex), vertex))
    }

    /// Returns the largest degree; 0 without vertices.
    pub fn max_degree(self) -> u64 {
        dispatch_storage!(self, graph => graph.max_degree())
    }

    /// Returns the largest degree of these vertices; 0 without any. It reads nothing of others.
    ///
    /// # Panics
    /// If a vertex is not below [`GraphView::vertices`].
    pub fn max_degree_of(self, vertices: Range<VertexId>) -> u64 {
        let vertices = vertices.into_par_iter().with_min_len(1 << 12);
        let is_directed = self.direction() == Direction::Directed;
        dispatch_lists!(self, (out, incoming) => {
            let incoming = is_directed.then_some(incoming);
            let degree = |v: VertexId| {
                let entering = incoming.map_or(0, |incoming| incoming.degree_of(v as usize));
                u64::from(out.degree_of(v as usize)) + u64::from(entering)
            };
            vertices.map(degree).max().unwrap_or(0)
        })
    }

    /// Returns the number of self-loops of these vertices. It reads nothing of others.
    ///
    /// # Panics
    /// If a vertex is not below [`GraphView::vertices`].
    pub fn self_loops_of(self, vertices: Range<VertexId>) -> u64 {
        let vertices = vertices.into_par_iter().with_min_len(1 << 8);
        dispatch_lists!(self, (out, _incoming) => {
            let loops = |v: VertexId| out.each_of(v as usize).filter(|&u| u == v).count() as u64;
            vertices.map(loops).sum()
        })
    }

    /// Returns the number of outgoing arcs of these vertices, in one pass over their degrees.
    ///
    /// # Panics
    /// If a vertex is not below [`GraphView::vertices`].
    pub fn arcs_of(self, vertices: Range<VertexId>) -> u64 {
        let vertices = vertices.into_par_iter().with_min_len(1 << 12);
        dispatch_lists!(self, (out, _incoming) => {
            vertices.map(|v| u64::from(out.degree_of(v as usize))).sum()
        })
    }

    /// Returns the neighbours of a vertex, ascending; of a directed graph, its successors.
    ///
    /// The storage is tested for each neighbour: hot loops use
    /// [`dispatch_lists!`](crate::dispatch_lists) instead.
    ///
    /// # Panics
    /// If `vertex` is not below [`GraphView::vertices`].
    pub fn neighbors(self, vertex: VertexId) -> ViewNeighbors<'a> {
        ViewNeighbors(match self {
            GraphView::Plain(graph) => {
                let shard = graph.shard_of(vertex);
                let local = (vertex - shard.vertices().start) as usize;
                Kind::Plain(shard.out().of(local).iter().copied())
            }
            GraphView::Compressed(graph) => {
                let shard = graph.shard_of(vertex);
                let local = (vertex - shard.vertices().start) as usize;
                Kind::Compressed(shard.out().view().of(local))
            }
        })
    }

    /// Returns the length of the longest list, of either direction, if lists are decoded; 0 if they
    /// are plain. See [`NeighborLists::longest_decoded`].
    pub fn longest_decoded(self) -> usize {
        dispatch_lists!(self, (out, incoming) => {
            out.longest_decoded().max(incoming.longest_decoded())
        })
    }

    /// Returns the graph if its lists are plain.
    pub fn as_plain(self) -> Option<&'a Graph> {
        match self {
            GraphView::Plain(graph) => Some(graph),
            GraphView::Compressed(_) => None,
        }
    }

    /// Returns the graph with plain lists: itself, or a decoded copy, whose memory comes in addition.
    ///
    /// # Errors
    /// If memory is refused.
    pub fn to_plain(self) -> Result<Cow<'a, Graph>, OutOfMemory> {
        match self {
            GraphView::Plain(graph) => Ok(Cow::Borrowed(graph)),
            GraphView::Compressed(graph) => graph.to_plain().map(Cow::Owned),
        }
    }

    /// Returns the bytes that the graph occupies, including ids.
    pub fn bytes(self) -> u64 {
        dispatch_storage!(self, graph => graph.bytes())
    }

    /// Returns the bytes that the graph occupies with plain lists, including ids.
    pub fn plain_bytes(self) -> u64 {
        match self {
            GraphView::Plain(graph) => graph.bytes(),
            GraphView::Compressed(graph) => graph.plain_bytes(),
        }
    }

    /// Returns the bytes of lists in shared memory: a mapped file's, which need not be resident.
    pub fn shared_bytes(self) -> u64 {
        dispatch_storage!(self, graph => graph.shared_bytes())
    }

    /// Returns the bytes that the graph occupies, by part. The weights of compressed lists count as
    /// neighbours ([`CompressedGraph::bytes_by_part`]).
    pub fn bytes_by_part(self) -> GraphBytes {
        dispatch_storage!(self, graph => graph.bytes_by_part())
    }
}
