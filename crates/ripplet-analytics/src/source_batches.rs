//! Searches from all vertices of a graph, or from some, on all threads, in batches of sources.

use crate::AnalysisError;
use crate::run::go_on;
use ripplet_graph::{Observer, OutOfMemory, VertexId, memory, tasks};
use std::ops::{Deref, Range};
use std::sync::{Mutex, PoisonError};

/// Sources of a group: one search starts from all of them, or their results are summed up together.
pub(crate) const GROUP: u32 = u64::BITS;

/// Returns the vertices of a group.
pub(crate) fn sources(group: u32, vertices: u32) -> Range<VertexId> {
    range(group, GROUP, vertices)
}

/// Returns the places of a group of `size` in a list of `count` sources.
pub(crate) fn range(group: u32, size: u32, count: u32) -> Range<u32> {
    group * size..count.min((group + 1).saturating_mul(size))
}

/// The sources of a group one by one, in ascending order.
pub(crate) struct SourceIds {
    ids: [VertexId; GROUP as usize],
    count: usize,
}

impl From<Range<VertexId>> for SourceIds {
    fn from(range: Range<VertexId>) -> SourceIds {
        debug_assert!(range.len() <= GROUP as usize);
        let mut group = SourceIds { ids: [0; GROUP as usize], count: range.len() };
        group.ids.iter_mut().zip(range).for_each(|(id, source)| *id = source);
        group
    }
}

impl From<&[VertexId]> for SourceIds {
    fn from(sources: &[VertexId]) -> SourceIds {
        debug_assert!(sources.len() <= GROUP as usize);
        let mut group = SourceIds { ids: [0; GROUP as usize], count: sources.len() };
        group.ids.iter_mut().zip(sources).for_each(|(id, &source)| *id = source);
        group
    }
}

impl Deref for SourceIds {
    type Target = [VertexId];

    fn deref(&self) -> &[VertexId] {
        &self.ids[..self.count]
    }
}

/// The sources of a search by their places: all vertices, or those of a list.
#[derive(Clone, Copy)]
pub(crate) struct Listed<'a> {
    /// The number of vertices.
    pub vertices: u32,
    /// The sources, if not all vertices.
    pub chosen: Option<&'a [VertexId]>,
}

impl Listed<'_> {
    /// Returns the number of sources.
    pub fn len(self) -> u32 {
        self.chosen.map_or(self.vertices, |chosen| chosen.len() as u32)
    }

    /// Returns the sources at these places, those of a group.
    pub fn at(self, places: Range<u32>) -> SourceIds {
        match self.chosen {
            None => SourceIds::from(places),
            Some(chosen) => SourceIds::from(&chosen[places.start as usize..places.end as usize]),
        }
    }
}

/// Work on groups of sources, one at a time per thread; results are consumed in order.
pub(crate) struct SourceBatches<'a, Make, Work, Take> {
    /// Creates a thread's workspace.
    pub make: Make,
    /// Works on a group of sources in a workspace: their places in the list of all sources, which are the vertices
    /// themselves if all of them are sources.
    pub work: Work,
    /// Consumes the results of consecutive groups, given the place of the first source: a
    /// workspace per group.
    pub take: Take,
    /// The number of sources in a group.
    pub group: u32,
    pub observer: &'a dyn Observer,
}

impl<Make, Work, Take> SourceBatches<'_, Make, Work, Take> {
    /// Works on this number of sources.
    pub fn run<D, E>(mut self, count: u32) -> Result<(), E>
    where
        D: Send + Sync,
        E: From<AnalysisError>,
        Make: Fn() -> Result<D, OutOfMemory>,
        Work: Fn(&mut D, Range<u32>) -> Result<(), AnalysisError> + Sync,
        Take: FnMut(u32, &[D]) -> Result<(), E>,
    {
        let groups = count.div_ceil(self.group);
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
                (self.work)(&mut workspace, range(first + at as u32, self.group, count))
            })?;
            drop(each);
            (self.take)(first * self.group, &workspaces[..taken as usize])?;
            self.observer.on_progress(f64::from(first + taken) / f64::from(groups));
        }
        Ok(())
    }
}
