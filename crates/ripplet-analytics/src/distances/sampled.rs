//! Distances by weights from a sample of the vertices: statistics of the sampled vertices that reach a vertex.

use super::measure::Measure;
use super::values::{Nearness, Reach};
use crate::AnalysisError;
use crate::searches::{Searches, bytes_of_searches};
use crate::sides::Sides;
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{OutOfMemory, VertexId, memory};
use std::ops::Range;

/// The statistics of a vertex, accumulated over sources.
pub(crate) trait Accumulate: Copy + Default + Send + Sync {
    /// Adds a source at a distance, in stored lengths.
    fn arrive(&mut self, distance: u64);

    /// Adds the statistics of the next group of sources.
    fn merge(&mut self, next: &Self);
}

impl Accumulate for Reach {
    fn arrive(&mut self, distance: u64) {
        self.reached += 1;
        self.far += u128::from(distance);
        self.farthest = self.farthest.max(distance);
    }

    fn merge(&mut self, next: &Reach) {
        self.reached += next.reached;
        self.far += next.far;
        self.farthest = self.farthest.max(next.farthest);
    }
}

impl Accumulate for Nearness {
    fn arrive(&mut self, distance: u64) {
        if distance > 0 {
            self.0 += 1.0 / distance as f64;
        }
    }

    fn merge(&mut self, next: &Nearness) {
        self.0 += next.0;
    }
}

/// Workspace of a thread: a search from each source of a group.
pub(crate) struct FromSample<T> {
    searches: Searches,
    /// The statistics of each vertex over the sources of the last group, in their order.
    tallies: Vec<T>,
}

impl<T: Accumulate> Measure for FromSample<T> {
    type Value = T;

    fn bytes(vertices: u32) -> u64 {
        bytes_of_searches(vertices) + u64::from(vertices) * size_of::<T>() as u64
    }

    fn new(vertices: u32) -> Result<FromSample<T>, OutOfMemory> {
        let tallies = memory::filled(T::default(), vertices as usize)?;
        Ok(FromSample { searches: Searches::new(vertices)?, tallies })
    }

    fn measure<L: NeighborLists>(
        &mut self,
        lists: Sides<L>,
        sources: &[VertexId],
        is_cancelled: &dyn Fn() -> Result<(), AnalysisError>,
    ) -> Result<(), AnalysisError> {
        let FromSample { searches, tallies } = self;
        tallies.fill(T::default());
        searches.begin(lists, sources);
        for (place, &source) in sources.iter().enumerate() {
            is_cancelled()?;
            searches.run(lists, source, place);
            let search = searches.found();
            let others = search.found().iter().filter(|&&vertex| vertex != source);
            others.for_each(|&vertex| {
                tallies[vertex as usize].arrive(search.distances()[vertex as usize]);
            });
        }
        Ok(())
    }

    /// Merges the statistics of all vertices: every vertex counts the group's sources.
    fn add_to(&self, totals: &mut [T], begin: usize, _places: Range<u32>) {
        totals.iter_mut().zip(&self.tallies[begin..]).for_each(|(total, next)| total.merge(next));
    }
}
