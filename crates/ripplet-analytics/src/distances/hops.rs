//! Distances in arcs: statistics of the sources that reach a vertex.

use super::measure::Measure;
use super::values::{Distances, Extent, Nearness};
use crate::AnalysisError;
use crate::search::{Search, Visit, bytes_of_search};
use crate::sides::Sides;
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{OutOfMemory, VertexId, memory};
use std::ops::Range;

/// The statistics of a vertex, accumulated during searches.
pub(crate) trait Tally: Copy + Default + Send + Sync {
    /// Adds `count` sources at distance `step`. Within a group of sources, steps ascend.
    fn arrive(&mut self, step: u32, count: u32);

    /// Adds the statistics of the next group of sources.
    fn merge(&mut self, next: &Self);
}

impl Tally for Distances {
    #[inline]
    fn arrive(&mut self, step: u32, count: u32) {
        self.reached += u64::from(count);
        self.far += u64::from(count) * u64::from(step);
    }

    fn merge(&mut self, next: &Distances) {
        self.reached += next.reached;
        self.far += next.far;
    }
}

/// Within a group the terms add up from the nearest source to the farthest.
impl Tally for Nearness {
    #[inline]
    fn arrive(&mut self, step: u32, count: u32) {
        self.0 += f64::from(count) / f64::from(step);
    }

    fn merge(&mut self, next: &Nearness) {
        self.0 += next.0;
    }
}

impl Tally for Extent {
    #[inline]
    fn arrive(&mut self, step: u32, count: u32) {
        self.distances.arrive(step, count);
        self.farthest = step;
    }

    fn merge(&mut self, next: &Extent) {
        self.distances.merge(&next.distances);
        self.farthest = self.farthest.max(next.farthest);
    }
}

/// Workspace of a thread: one search from all sources of a group.
pub(crate) struct ByHops<T> {
    search: Search<u64>,
    /// The statistics of each vertex over the sources of the last group.
    tallies: Vec<T>,
}

impl<T: Tally> Measure for ByHops<T> {
    type Value = T;

    fn bytes(vertices: u32) -> u64 {
        bytes_of_search::<u64>(vertices) + u64::from(vertices) * size_of::<T>() as u64
    }

    fn new(vertices: u32) -> Result<ByHops<T>, OutOfMemory> {
        let tallies = memory::filled(T::default(), vertices as usize)?;
        Ok(ByHops { search: Search::new(vertices)?, tallies })
    }

    fn measure<L: NeighborLists>(
        &mut self,
        lists: Sides<L>,
        sources: &[VertexId],
        _is_cancelled: &dyn Fn() -> Result<(), AnalysisError>,
    ) -> Result<(), AnalysisError> {
        self.tallies[..lists.vertices() as usize].fill(T::default());
        self.search.run(lists, sources, &mut Collect { tallies: &mut self.tallies });
        Ok(())
    }

    /// Merges the statistics of all vertices: every vertex counts the group's sources.
    fn add_to(&self, totals: &mut [T], begin: usize, _places: Range<u32>) {
        totals.iter_mut().zip(&self.tallies[begin..]).for_each(|(total, next)| total.merge(next));
    }
}

struct Collect<'a, T> {
    tallies: &'a mut [T],
}

impl<T: Tally> Visit<u64> for Collect<'_, T> {
    #[inline]
    fn arrive(&mut self, step: u32, vertex: VertexId, sources: u64, _here: &[u64]) {
        if step > 0 {
            self.tallies[vertex as usize].arrive(step, sources.count_ones());
        }
    }
}
