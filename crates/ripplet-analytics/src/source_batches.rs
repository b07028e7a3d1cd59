//! Searches from all vertices of a graph, on all threads, in batches of sources.

use crate::AnalysisError;
use crate::run::go_on;
use rayon::prelude::*;
use ripplet_graph::{Observer, OutOfMemory, VertexId, memory};
use std::ops::Range;

/// Sources of a group: one search starts from all of them, or their results are summed up together.
pub(crate) const GROUP: u32 = u64::BITS;

/// Returns the vertices of a group.
pub(crate) fn sources(group: u32, vertices: u32) -> Range<VertexId> {
    group * GROUP..vertices.min((group + 1).saturating_mul(GROUP))
}

/// Work on groups of sources, one at a time per thread; results are consumed in order.
pub(crate) struct SourceBatches<'a, Make, Work, Take> {
    /// Creates a thread's workspace for a number of vertices.
    pub make: Make,
    /// Works on the sources of a group in a workspace.
    pub work: Work,
    /// Consumes the results of consecutive groups, given the first vertex of the first one: a
    /// workspace per group.
    pub take: Take,
    pub observer: &'a dyn Observer,
}

impl<Make, Work, Take> SourceBatches<'_, Make, Work, Take> {
    pub fn run<D, E>(mut self, vertices: u32) -> Result<(), E>
    where
        D: Send + Sync,
        E: From<AnalysisError>,
        Make: Fn(u32) -> Result<D, OutOfMemory>,
        Work: Fn(&mut D, Range<VertexId>) -> Result<(), AnalysisError> + Sync,
        Take: FnMut(VertexId, &[D]) -> Result<(), E>,
    {
        let groups = vertices.div_ceil(GROUP);
        let threads = rayon::current_num_threads().min(groups as usize);
        let mut workspaces = memory::with_room(threads).map_err(AnalysisError::from)?;
        for _ in 0..threads {
            workspaces.push((self.make)(vertices).map_err(AnalysisError::from)?);
        }
        for first in (0..groups).step_by(threads.max(1)) {
            let of_groups = workspaces.par_iter_mut().zip(first..groups).with_max_len(1);
            of_groups.try_for_each(|(workspace, group)| {
                go_on(self.observer)?;
                (self.work)(workspace, sources(group, vertices))
            })?;
            let taken = (groups - first).min(threads as u32);
            (self.take)(first * GROUP, &workspaces[..taken as usize])?;
            self.observer.on_progress(f64::from(first + taken) / f64::from(groups));
        }
        Ok(())
    }
}
