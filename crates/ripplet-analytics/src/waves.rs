//! Searches from all vertices of a graph, on all threads.

use crate::lists::{Lists, Over};
use crate::run::go_on;
use crate::search::{Counters, SOURCES, Search, Visit, bytes_of_search};
use crate::{Observer, RunError};
use rayon::prelude::*;
use ripplet_graph::{OutOfMemory, VertexId};
use std::ops::Range;

/// Searches from all vertices, 64 at a time on each thread, whose findings are taken in order.
pub(crate) struct Waves<'a, Make, Take> {
    /// What is kept of a search, for each thread.
    pub make: Make,
    /// Takes what was found from some vertices.
    pub take: Take,
    pub observer: &'a dyn Observer,
}

/// Bytes of the searches of so many threads.
pub(crate) fn bytes_of_searches(vertices: u32, threads: usize) -> u64 {
    (threads as u64).saturating_mul(bytes_of_search(vertices))
}

/// The vertices of a group.
pub(crate) fn sources(group: u32, vertices: u32) -> Range<VertexId> {
    group * SOURCES..vertices.min((group + 1).saturating_mul(SOURCES))
}

/// What a search finds.
pub(crate) trait Findings: Visit + Send {
    /// As before a search.
    fn clear(&mut self);
}

impl<F, E, Make, Take> Over for Waves<'_, Make, Take>
where
    F: Findings,
    E: From<RunError>,
    Make: Fn() -> Result<F, OutOfMemory>,
    Take: FnMut(Range<VertexId>, &F) -> Result<(), E>,
{
    type Result = Result<(), E>;

    fn lists<L: Lists>(mut self, lists: L) -> Result<(), E> {
        let vertices = lists.vertices();
        let groups = vertices.div_ceil(SOURCES);
        let threads = rayon::current_num_threads().min(groups as usize);
        let mut desks = Vec::new();
        for _ in 0..threads {
            let desk = Search::new(vertices).and_then(|search| Ok((search, (self.make)()?)));
            desks.push(desk.map_err(RunError::from)?);
        }
        for first in (0..groups).step_by(threads.max(1)) {
            let of_groups = desks.par_iter_mut().zip(first..groups).with_max_len(1);
            of_groups.try_for_each(|((search, found), group)| {
                go_on(self.observer)?;
                found.clear();
                search.run(lists, sources(group, vertices), found);
                Ok::<_, RunError>(())
            })?;
            for ((_, found), group) in desks.iter().zip(first..groups) {
                (self.take)(sources(group, vertices), found)?;
            }
            let done = (first + threads as u32).min(groups);
            self.observer.on_progress(f64::from(done) / f64::from(groups));
        }
        Ok(())
    }
}

/// What is known of the vertices that were found from each of 64.
pub(crate) struct Sums {
    counters: Counters,
    of_sources: [Sum; SOURCES as usize],
}

/// Of the vertices that were found but one's own.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sum {
    /// How many they are.
    pub reached: u64,
    /// The sum of their distances.
    pub far: u128,
    /// The sum of 1 / distance, from the nearest to the farthest.
    pub near: f64,
    /// The largest distance.
    pub farthest: u32,
}

impl Sums {
    /// Of each source, by its bit.
    pub fn of_sources(&self) -> &[Sum] {
        &self.of_sources
    }
}

impl Default for Sums {
    fn default() -> Sums {
        Sums { counters: Counters::default(), of_sources: [Sum::default(); SOURCES as usize] }
    }
}

impl Visit for Sums {
    #[inline]
    fn arrive(&mut self, _step: u32, _vertex: VertexId, sources: u64) {
        self.counters.add(sources);
    }

    fn end_step(&mut self, step: u32) {
        for (sum, count) in self.of_sources.iter_mut().zip(self.counters.take()) {
            if step > 0 && count > 0 {
                sum.reached += count;
                sum.far += u128::from(count) * u128::from(step);
                sum.near += count as f64 / f64::from(step);
                sum.farthest = step;
            }
        }
    }
}

impl Findings for Sums {
    fn clear(&mut self) {
        self.of_sources = [Sum::default(); SOURCES as usize];
    }
}
