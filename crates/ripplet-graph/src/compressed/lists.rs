//! Sequential access to neighbour lists, plain or compressed.

use super::{CompressedAdjacency, CompressedNeighbors, CompressedShard};
use crate::{Neighbors, Shard, VertexId};
use std::ops::Range;

/// The lists of a shard in one direction; `local` counts from the shard's first vertex.
///
/// A list ascends and is an iterator: nothing is allocated for it.
pub trait NeighborLists: Copy + Send + Sync {
    /// Returns the number of vertices.
    fn vertices(self) -> usize;

    /// Returns the number of arcs of all lists.
    fn arcs(self) -> u64;

    /// Returns whether arcs have weights.
    fn is_weighted(self) -> bool;

    /// Returns the number of arcs in a vertex's list.
    fn degree_of(self, local: usize) -> u32;

    /// Returns a vertex's neighbours.
    fn each_of(self, local: usize) -> impl ExactSizeIterator<Item = VertexId>;

    /// Returns the last neighbour that `accepts` returns true for.
    fn last_of(self, local: usize, accepts: impl FnMut(VertexId) -> bool) -> Option<VertexId>;

    /// Returns the stored weights of a vertex's arcs, if the graph has weights.
    fn each_weight_of(self, local: usize) -> Option<impl ExactSizeIterator<Item = u32>>;

    /// Calls `visit` with each neighbour of a vertex and the stored weight of the arc; 1 without
    /// weights.
    ///
    /// A list has at most 2³¹ arcs with 32-bit weights: a sum over it, even of doubled weights,
    /// fits 64 bits.
    #[inline]
    fn for_each_arc(self, local: usize, mut visit: impl FnMut(VertexId, u64)) {
        let neighbors = self.each_of(local);
        match self.each_weight_of(local) {
            None => neighbors.for_each(|neighbor| visit(neighbor, 1)),
            Some(weights) => neighbors
                .zip(weights)
                .for_each(|(neighbor, weight)| visit(neighbor, u64::from(weight))),
        }
    }

    /// Returns the sum of the stored weights of a vertex's list; without weights, its degree.
    #[inline]
    fn strength_of(self, local: usize) -> u64 {
        match self.each_weight_of(local) {
            None => u64::from(self.degree_of(local)),
            Some(weights) => weights.map(u64::from).sum(),
        }
    }
}

/// A contiguous range of vertices with their lists, plain or compressed.
pub trait ShardLists: Sync {
    /// The lists of one direction.
    type Lists<'a>: NeighborLists
    where
        Self: 'a;

    /// Returns the vertices whose lists are in the shard.
    fn vertices(&self) -> Range<VertexId>;

    /// Returns the arcs that leave these vertices; in an undirected graph, all their arcs.
    fn out(&self) -> Self::Lists<'_>;

    /// Returns the arcs that enter these vertices; present if the graph is directed.
    fn incoming(&self) -> Option<Self::Lists<'_>>;

    /// Yields all lists of the shard: `out`, and `incoming` if the graph is directed.
    fn lists(&self) -> impl Iterator<Item = Self::Lists<'_>> + Clone {
        std::iter::once(self.out()).chain(self.incoming())
    }
}

impl ShardLists for Shard {
    type Lists<'a> = Neighbors<'a>;

    fn vertices(&self) -> Range<VertexId> {
        Shard::vertices(self)
    }

    fn out(&self) -> Neighbors<'_> {
        Shard::out(self)
    }

    fn incoming(&self) -> Option<Neighbors<'_>> {
        Shard::incoming(self)
    }
}

impl ShardLists for CompressedShard {
    type Lists<'a> = CompressedNeighbors<'a>;

    fn vertices(&self) -> Range<VertexId> {
        CompressedShard::vertices(self)
    }

    fn out(&self) -> CompressedNeighbors<'_> {
        CompressedShard::out(self).view()
    }

    fn incoming(&self) -> Option<CompressedNeighbors<'_>> {
        CompressedShard::incoming(self).map(CompressedAdjacency::view)
    }
}

impl NeighborLists for Neighbors<'_> {
    fn vertices(self) -> usize {
        self.offsets().len().saturating_sub(1)
    }

    fn arcs(self) -> u64 {
        self.neighbors().len() as u64
    }

    fn is_weighted(self) -> bool {
        self.weights().is_some()
    }

    #[inline]
    fn degree_of(self, local: usize) -> u32 {
        self.degree(local)
    }

    #[inline]
    fn each_of(self, local: usize) -> impl ExactSizeIterator<Item = VertexId> {
        self.of(local).iter().copied()
    }

    #[inline]
    fn last_of(self, local: usize, mut accepts: impl FnMut(VertexId) -> bool) -> Option<VertexId> {
        self.of(local).iter().copied().rfind(|&u| accepts(u))
    }

    #[inline]
    fn each_weight_of(self, local: usize) -> Option<impl ExactSizeIterator<Item = u32>> {
        Some(self.weights_of(local)?.iter().copied())
    }
}

impl NeighborLists for CompressedNeighbors<'_> {
    fn vertices(self) -> usize {
        CompressedNeighbors::vertices(&self)
    }

    fn arcs(self) -> u64 {
        CompressedNeighbors::arcs(&self)
    }

    fn is_weighted(self) -> bool {
        CompressedNeighbors::is_weighted(&self)
    }

    #[inline]
    fn degree_of(self, local: usize) -> u32 {
        self.degree(local)
    }

    #[inline]
    fn each_of(self, local: usize) -> impl ExactSizeIterator<Item = VertexId> {
        self.of(local)
    }

    /// Returns the last accepted neighbour; decodes the whole list.
    #[inline]
    fn last_of(self, local: usize, mut accepts: impl FnMut(VertexId) -> bool) -> Option<VertexId> {
        self.of(local).filter(|&u| accepts(u)).last()
    }

    #[inline]
    fn each_weight_of(self, local: usize) -> Option<impl ExactSizeIterator<Item = u32>> {
        self.weights_of(local)
    }
}
