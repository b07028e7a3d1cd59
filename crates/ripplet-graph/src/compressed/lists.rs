//! What an algorithm that reads lists one neighbour at a time asks of them, plain or compressed.

use super::CompressedNeighbors;
use crate::{Neighbors, VertexId};

/// The lists of a shard in one direction; `local` counts from its first vertex.
///
/// A list ascends, and comes as an iterator: no list lies in memory that was not there before.
pub trait NeighborLists: Copy + Send + Sync {
    /// The number of vertices.
    fn vertices(self) -> usize;

    /// Arcs over all lists.
    fn arcs(self) -> u64;

    /// The number of arcs in a vertex's list.
    fn degree_of(self, local: usize) -> u32;

    /// A vertex's neighbours.
    fn each_of(self, local: usize) -> impl ExactSizeIterator<Item = VertexId>;

    /// The stored weights beside them, where the graph has weights.
    fn each_weight_of(self, local: usize) -> Option<impl ExactSizeIterator<Item = u32>>;
}

impl NeighborLists for Neighbors<'_> {
    fn vertices(self) -> usize {
        self.offsets().len().saturating_sub(1)
    }

    fn arcs(self) -> u64 {
        self.neighbors().len() as u64
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

    #[inline]
    fn degree_of(self, local: usize) -> u32 {
        self.degree(local)
    }

    #[inline]
    fn each_of(self, local: usize) -> impl ExactSizeIterator<Item = VertexId> {
        self.of(local)
    }

    #[inline]
    fn each_weight_of(self, local: usize) -> Option<impl ExactSizeIterator<Item = u32>> {
        self.weights_of(local)
    }
}
