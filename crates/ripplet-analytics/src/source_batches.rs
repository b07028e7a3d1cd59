//! Searches from all vertices of a graph, on all threads, in batches of sources.

use crate::AnalysisError;
use crate::run::go_on;
use ripplet_graph::{Observer, OutOfMemory, VertexId, memory, tasks};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

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
            let taken = (groups - first).min(threads as u32);
            let each = workspaces[..taken as usize].iter_mut().map(Mutex::new);
            let each = memory::collected(each).map_err(AnalysisError::from)?;
            tasks::try_for_each(each.len(), &|at| {
                go_on(self.observer)?;
                let mut workspace = each[at].lock().unwrap_or_else(PoisonError::into_inner);
                (self.work)(&mut workspace, sources(first + at as u32, vertices))
            })?;
            drop(each);
            (self.take)(first * GROUP, &workspaces[..taken as usize])?;
            self.observer.on_progress(f64::from(first + taken) / f64::from(groups));
        }
        Ok(())
    }
}
