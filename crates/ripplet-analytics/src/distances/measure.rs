//! Workspaces that measure distances, group of sources by group of sources.

use crate::AnalysisError;
use crate::sides::Sides;
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{OutOfMemory, VertexId};
use std::ops::Range;

/// Workspace of a thread that measures the distances from the sources of a group.
pub(crate) trait Measure: Sized + Send + Sync {
    /// The value of a vertex.
    type Value: Copy + Default + Send + Sync;

    /// Returns the bytes of a workspace for graphs of `vertices` vertices.
    fn bytes(vertices: u32) -> u64;

    /// Creates a workspace with room for `vertices` vertices.
    fn new(vertices: u32) -> Result<Self, OutOfMemory>;

    /// Measures the distances from the sources of a group.
    fn measure<L: NeighborLists>(
        &mut self,
        lists: Sides<L>,
        sources: &[VertexId],
        is_cancelled: &dyn Fn() -> Result<(), AnalysisError>,
    ) -> Result<(), AnalysisError>;

    /// Adds what the last group contributes to the values of the vertices from `begin` on. `places` are those of its
    /// sources in the list of all, which are the vertices themselves if all of them are sources.
    fn add_to(&self, totals: &mut [Self::Value], begin: usize, places: Range<u32>);
}

/// Stores the values of a group's sources, whose places are these, in the totals from `begin` on.
pub(super) fn store<T: Copy>(values: &[T], totals: &mut [T], begin: usize, places: Range<u32>) {
    let Range { start, end } = places;
    let first = (start as usize).max(begin);
    let last = (end as usize).min(begin + totals.len());
    if first < last {
        let values = &values[first - start as usize..last - start as usize];
        totals[first - begin..last - begin].copy_from_slice(values);
    }
}
