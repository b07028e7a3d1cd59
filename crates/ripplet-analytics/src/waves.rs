//! Searches from all vertices of a graph, on all threads.

use crate::run::go_on;
use crate::{Observer, RunError};
use rayon::prelude::*;
use ripplet_graph::{OutOfMemory, VertexId, memory};
use std::ops::Range;

/// Sources of a group, which are searched from together, or whose findings are summed up together.
pub(crate) const GROUP: u32 = u64::BITS;

/// The vertices of a group.
pub(crate) fn sources(group: u32, vertices: u32) -> Range<VertexId> {
    group * GROUP..vertices.min((group + 1).saturating_mul(GROUP))
}

/// Work on groups of sources, one at a time on each thread, whose findings are taken in order.
pub(crate) struct Waves<'a, Make, Work, Take> {
    /// A thread's desk, for so many vertices.
    pub make: Make,
    /// Works on the sources of a group at a desk.
    pub work: Work,
    /// Takes what was found of neighbouring groups, the first of which begins with a vertex: as many
    /// desks as groups.
    pub take: Take,
    pub observer: &'a dyn Observer,
}

impl<Make, Work, Take> Waves<'_, Make, Work, Take> {
    pub fn run<D, E>(mut self, vertices: u32) -> Result<(), E>
    where
        D: Send + Sync,
        E: From<RunError>,
        Make: Fn(u32) -> Result<D, OutOfMemory>,
        Work: Fn(&mut D, Range<VertexId>) -> Result<(), RunError> + Sync,
        Take: FnMut(VertexId, &[D]) -> Result<(), E>,
    {
        let groups = vertices.div_ceil(GROUP);
        let threads = rayon::current_num_threads().min(groups as usize);
        let mut desks = memory::with_room(threads).map_err(RunError::from)?;
        for _ in 0..threads {
            desks.push((self.make)(vertices).map_err(RunError::from)?);
        }
        for first in (0..groups).step_by(threads.max(1)) {
            let of_groups = desks.par_iter_mut().zip(first..groups).with_max_len(1);
            of_groups.try_for_each(|(desk, group)| {
                go_on(self.observer)?;
                (self.work)(desk, sources(group, vertices))
            })?;
            let taken = (groups - first).min(threads as u32);
            (self.take)(first * GROUP, &desks[..taken as usize])?;
            self.observer.on_progress(f64::from(first + taken) / f64::from(groups));
        }
        Ok(())
    }
}
