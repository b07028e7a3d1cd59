//! Distances by weights: statistics of the vertices that a source reaches.

use super::measure::{Measure, store};
use super::values::{Nearness, Reach};
use crate::AnalysisError;
use crate::dijkstra::{Dijkstra, UNREACHED};
use crate::pairwise::sum_over;
use crate::searches::{Searches, bytes_of_searches};
use crate::sides::Sides;
use crate::source_batches::GROUP;
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{OutOfMemory, VertexId};
use std::ops::Range;

/// Statistics of the distances from a vertex, in stored lengths.
pub(crate) trait Summarize: Copy + Default + Send + Sync {
    /// Computes the statistics of a finished search in a graph of `vertices` vertices.
    fn of(search: &Dijkstra, vertices: u32) -> Self;
}

impl Summarize for Reach {
    fn of(search: &Dijkstra, _: u32) -> Reach {
        let distances = search.found().iter().map(|&vertex| search.distances()[vertex as usize]);
        // The source is among them, at distance 0.
        Reach {
            reached: search.found().len() as u64 - 1,
            far: distances.clone().map(u128::from).sum(),
            farthest: distances.max().unwrap_or(0),
        }
    }
}

impl Summarize for Nearness {
    fn of(search: &Dijkstra, vertices: u32) -> Nearness {
        let near = |distance| match distance {
            // The source itself, and vertices at distance 0 from it.
            0 | UNREACHED => 0.0,
            _ => 1.0 / distance as f64,
        };
        Nearness(sum_over(&search.distances()[..vertices as usize], near))
    }
}

/// Workspace of a thread: a search from each source of a group.
pub(crate) struct ByWeights<T> {
    searches: Searches,
    /// The statistics of each source of the last group.
    sums: [T; GROUP as usize],
}

impl<T: Summarize> Measure for ByWeights<T> {
    type Value = T;

    fn bytes(vertices: u32) -> u64 {
        bytes_of_searches(vertices) + size_of::<[T; GROUP as usize]>() as u64
    }

    fn new(vertices: u32) -> Result<ByWeights<T>, OutOfMemory> {
        let searches = Searches::new(vertices)?;
        Ok(ByWeights { searches, sums: [T::default(); GROUP as usize] })
    }

    fn measure<L: NeighborLists>(
        &mut self,
        lists: Sides<L>,
        sources: &[VertexId],
        is_cancelled: &dyn Fn() -> Result<(), AnalysisError>,
    ) -> Result<(), AnalysisError> {
        let ByWeights { searches, sums } = self;
        searches.begin(lists, sources);
        sources.iter().enumerate().zip(sums).try_for_each(|((place, &source), sum)| {
            is_cancelled()?;
            searches.run(lists, source, place);
            *sum = T::of(searches.found(), lists.vertices());
            Ok(())
        })
    }

    /// Stores the statistics of the group's sources: other vertices get nothing from it.
    fn add_to(&self, totals: &mut [T], begin: usize, places: Range<u32>) {
        store(&self.sums, totals, begin, places);
    }
}
