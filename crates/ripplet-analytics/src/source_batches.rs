//! Searches from all vertices of a graph, or from some, on all threads, in batches of sources.

use crate::AnalysisError;
use crate::run::go_on;
use ripplet_graph::{Observer, OutOfMemory, VertexId, memory, tasks};
use std::ops::{Deref, Range};
use std::sync::{Mutex, PoisonError};

/// Sources of a group: one search starts from all of them, or their results are summed up together.
pub(crate) const GROUP: u32 = u64::BITS;

/// Returns the range of a group: vertices, or places in a list of sources.
pub(crate) fn sources(group: u32, count: u32) -> Range<VertexId> {
    group * GROUP..count.min((group + 1).saturating_mul(GROUP))
}

/// The sources of a group one by one, in ascending order.
pub(crate) struct Sources {
    ids: [VertexId; GROUP as usize],
    count: usize,
}

impl From<Range<VertexId>> for Sources {
    fn from(range: Range<VertexId>) -> Sources {
        let mut group = Sources { ids: [0; GROUP as usize], count: range.len() };
        group.ids.iter_mut().zip(range).for_each(|(id, source)| *id = source);
        group
    }
}

impl Deref for Sources {
    type Target = [VertexId];

    fn deref(&self) -> &[VertexId] {
        &self.ids[..self.count]
    }
}

/// Work on groups of sources, one at a time per thread; results are consumed in order.
pub(crate) struct SourceBatches<'a, Make, Work, Take> {
    /// Creates a thread's workspace.
    pub make: Make,
    /// Works on the sources of a group in a workspace: a range of vertices, or of places in a list of sources.
    pub work: Work,
    /// Consumes the results of consecutive groups, given the first source of the first one: a
    /// workspace per group.
    pub take: Take,
    pub observer: &'a dyn Observer,
}

impl<Make, Work, Take> SourceBatches<'_, Make, Work, Take> {
    /// Works on this number of sources.
    pub fn run<D, E>(mut self, count: u32) -> Result<(), E>
    where
        D: Send + Sync,
        E: From<AnalysisError>,
        Make: Fn() -> Result<D, OutOfMemory>,
        Work: Fn(&mut D, Range<VertexId>) -> Result<(), AnalysisError> + Sync,
        Take: FnMut(VertexId, &[D]) -> Result<(), E>,
    {
        let groups = count.div_ceil(GROUP);
        let threads = rayon::current_num_threads().min(groups as usize);
        let mut workspaces = memory::with_room(threads).map_err(AnalysisError::from)?;
        for _ in 0..threads {
            workspaces.push((self.make)().map_err(AnalysisError::from)?);
        }
        for first in (0..groups).step_by(threads.max(1)) {
            let taken = (groups - first).min(threads as u32);
            let each = workspaces[..taken as usize].iter_mut().map(Mutex::new);
            let each = memory::collected(each).map_err(AnalysisError::from)?;
            tasks::try_for_each(each.len(), &|at| {
                go_on(self.observer)?;
                let mut workspace = each[at].lock().unwrap_or_else(PoisonError::into_inner);
                (self.work)(&mut workspace, sources(first + at as u32, count))
            })?;
            drop(each);
            (self.take)(first * GROUP, &workspaces[..taken as usize])?;
            self.observer.on_progress(f64::from(first + taken) / f64::from(groups));
        }
        Ok(())
    }
}
