//! Searches from all vertices of a graph, on all threads.

use crate::dijkstra::Dijkstra;
use crate::lists::{Lists, Over};
use crate::run::go_on;
use crate::search::{Counters, SOURCES, Search, Visit};
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
        Groups {
            size: SOURCES,
            make: || Ok((Search::new(vertices)?, (self.make)()?)),
            work: |(search, found): &mut (Search, F), sources| {
                go_on(self.observer)?;
                found.clear();
                search.run(lists, sources, found);
                Ok(())
            },
            take: |sources, (_, found): &(Search, F)| (self.take)(sources, found),
            observer: self.observer,
        }
        .run(vertices)
    }
}

/// Sources that a thread weighs the ways from before it hands out what it found.
pub(crate) const WEIGHED: u32 = 8;

/// Searches from all vertices by weights, one after the other on each thread, whose findings are taken in
/// order.
pub(crate) struct WeighedWaves<'a, Make, Keep, Take> {
    /// What is kept of a search, for each of [`WEIGHED`] sources of each thread.
    pub make: Make,
    /// Keeps what was found from the source of this place among them.
    pub keep: Keep,
    /// Takes what was found from some vertices.
    pub take: Take,
    pub observer: &'a dyn Observer,
}

impl<F, E, Make, Keep, Take> Over for WeighedWaves<'_, Make, Keep, Take>
where
    F: Send,
    E: From<RunError>,
    Make: Fn() -> Result<F, OutOfMemory>,
    Keep: Fn(&mut F, usize, &Dijkstra) + Sync,
    Take: FnMut(Range<VertexId>, &F) -> Result<(), E>,
{
    type Result = Result<(), E>;

    fn lists<L: Lists>(mut self, lists: L) -> Result<(), E> {
        let vertices = lists.vertices();
        Groups {
            size: WEIGHED,
            make: || Ok((Dijkstra::new(vertices)?, (self.make)()?)),
            work: |(search, found): &mut (Dijkstra, F), sources: Range<VertexId>| {
                for (at, source) in sources.enumerate() {
                    go_on(self.observer)?;
                    search.run(lists, source);
                    (self.keep)(found, at, search);
                }
                Ok(())
            },
            take: |sources, (_, found): &(Dijkstra, F)| (self.take)(sources, found),
            observer: self.observer,
        }
        .run(vertices)
    }
}

/// Work on groups of vertices of consecutive ids, one on each thread at a time, that are taken in order.
pub(crate) struct Groups<'a, Make, Work, Take> {
    /// Vertices of a group.
    pub size: u32,
    /// What a thread works with.
    pub make: Make,
    /// Works on a group.
    pub work: Work,
    /// Takes what a group has come to.
    pub take: Take,
    pub observer: &'a dyn Observer,
}

impl<Make, Work, Take> Groups<'_, Make, Work, Take> {
    /// The groups of so many vertices.
    pub fn run<D, E>(mut self, vertices: u32) -> Result<(), E>
    where
        D: Send,
        E: From<RunError>,
        Make: Fn() -> Result<D, OutOfMemory>,
        Work: Fn(&mut D, Range<VertexId>) -> Result<(), RunError> + Sync,
        Take: FnMut(Range<VertexId>, &D) -> Result<(), E>,
    {
        let size = self.size;
        let groups = vertices.div_ceil(size);
        let of_group = |group: u32| group * size..vertices.min((group + 1).saturating_mul(size));
        let threads = rayon::current_num_threads().min(groups as usize);
        let mut desks = Vec::new();
        for _ in 0..threads {
            desks.push((self.make)().map_err(RunError::from)?);
        }
        for first in (0..groups).step_by(threads.max(1)) {
            let of_groups = desks.par_iter_mut().zip(first..groups).with_max_len(1);
            of_groups.try_for_each(|(desk, group)| (self.work)(desk, of_group(group)))?;
            for (desk, group) in desks.iter().zip(first..groups) {
                (self.take)(of_group(group), desk)?;
            }
            let done = first.saturating_add(threads as u32).min(groups);
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
    /// The sum of 1 / distance, from the nearest to the farthest; of those not at distance 0.
    pub near: f64,
    /// The largest distance.
    pub farthest: u64,
}

impl Sum {
    /// Some more vertices, farther than all before.
    #[inline]
    pub fn add(&mut self, vertices: u64, distance: u64) {
        self.reached += vertices;
        self.far += u128::from(vertices) * u128::from(distance);
        if distance > 0 {
            self.near += vertices as f64 / distance as f64;
        }
        self.farthest = distance;
    }
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
                sum.add(count, u64::from(step));
            }
        }
    }
}

/// What the ways from each of [`WEIGHED`] sources come to.
pub(crate) type WeighedSums = [Sum; WEIGHED as usize];

impl Findings for Sums {
    fn clear(&mut self) {
        self.of_sources = [Sum::default(); SOURCES as usize];
    }
}
