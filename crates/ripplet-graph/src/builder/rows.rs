//! The rows of an edge table, as arcs of their ends.

use super::BuildError;
use crate::memory::{self, OutOfMemory};
use crate::tasks::MIN_LEN;
use crate::{EdgeTable, MAX_SHARD_ARCS, VertexId, as_atomic};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// Rows of the table per task.
const ROWS_PER_TASK: usize = 1 << 16;

/// The end of a row whose list holds the arc.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Out,
    Incoming,
    Both,
}

/// The rows of a table in one role.
pub(super) struct Rows<'a> {
    pub edges: &'a EdgeTable,
    pub role: Role,
    pub keep_loops: bool,
}

impl Rows<'_> {
    /// Calls `visit(owner, neighbor, row)` for the arcs in the lists of the rows' sources.
    #[inline]
    pub fn at_sources(&self, rows: Range<usize>, mut visit: impl FnMut(VertexId, VertexId, usize)) {
        let (sources, targets) = (self.edges.sources(), self.edges.targets());
        for ((&s, &t), row) in sources[rows.clone()].iter().zip(&targets[rows.clone()]).zip(rows) {
            if s != t || self.keep_loops {
                visit(s, t, row);
            }
        }
    }

    /// Calls `visit(owner, neighbor, row)` for the arcs in the lists of the rows' targets.
    #[inline]
    pub fn at_targets(&self, rows: Range<usize>, mut visit: impl FnMut(VertexId, VertexId, usize)) {
        // A loop is one arc: if both ends have arcs, it is counted at the source.
        let keep_loops = self.keep_loops && self.role == Role::Incoming;
        let (sources, targets) = (self.edges.sources(), self.edges.targets());
        for ((&s, &t), row) in sources[rows.clone()].iter().zip(&targets[rows.clone()]).zip(rows) {
            if s != t || keep_loops {
                visit(t, s, row);
            }
        }
    }

    /// Calls `visit(owner)` for each arc of some rows.
    #[inline]
    fn for_each_owner(&self, rows: Range<usize>, mut visit: impl FnMut(VertexId)) {
        if self.role != Role::Incoming {
            self.at_sources(rows.clone(), |owner, _, _| visit(owner));
        }
        if self.role != Role::Out {
            self.at_targets(rows, |owner, _, _| visit(owner));
        }
    }

    /// Returns the number of arcs of each vertex, with one more slot.
    pub fn count(&self) -> Result<Vec<u32>, BuildError> {
        // A vertex can reach 2³² arcs only if there are this many rows: then check with 64 bits
        // first.
        if self.edges.len() as u64 > u64::from(u32::MAX) / 2 {
            self.refuse_huge_vertices()?;
        }
        let (slots, rows) = (self.edges.ids().len() + 1, self.edges.len());
        let threads = rayon::current_num_threads();
        let counts = match rows / slots >= threads {
            true => self.count_by_thread(slots, rows.div_ceil(threads).max(MIN_LEN))?,
            false => self.count_together(slots)?,
        };
        let largest = counts
            .par_iter()
            .enumerate()
            .with_min_len(MIN_LEN)
            .max_by_key(|(v, c)| (**c, std::cmp::Reverse(*v)));
        match largest {
            Some((vertex, &arcs)) if u64::from(arcs) > MAX_SHARD_ARCS => {
                Err(self.too_many(vertex, u64::from(arcs)))
            }
            _ => Ok(counts),
        }
    }

    /// Counts in an array of each thread, without atomic additions: 4 bytes per row at most.
    fn count_by_thread(&self, slots: usize, rows: usize) -> Result<Vec<u32>, OutOfMemory> {
        let counted = (0..self.edges.len().div_ceil(rows)).into_par_iter().map(|thread| {
            let mut counts = memory::zeros::<u32>(slots)?;
            let rows = thread * rows..self.edges.len().min((thread + 1) * rows);
            self.for_each_owner(rows, |owner| counts[owner as usize] += 1);
            Ok(counts)
        });
        let mut counted = counted.collect::<Result<Vec<_>, OutOfMemory>>()?.into_iter();
        let mut sums = counted.next().map_or_else(|| memory::zeros(slots), Ok)?;
        for counts in counted {
            sums.par_iter_mut()
                .zip(counts)
                .with_min_len(MIN_LEN)
                .for_each(|(sum, count)| *sum += count);
        }
        Ok(sums)
    }

    /// Counts in one array of all threads.
    fn count_together(&self, slots: usize) -> Result<Vec<u32>, OutOfMemory> {
        let mut counts = memory::zeros::<u32>(slots)?;
        let shared = as_atomic(&mut counts);
        (0..self.edges.len().div_ceil(ROWS_PER_TASK)).into_par_iter().for_each(|task| {
            let first = task * ROWS_PER_TASK;
            let rows = first..(first + ROWS_PER_TASK).min(self.edges.len());
            self.for_each_owner(rows, |owner| {
                shared[owner as usize].fetch_add(1, Relaxed);
            });
        });
        Ok(counts)
    }

    fn refuse_huge_vertices(&self) -> Result<(), BuildError> {
        let mut counts = memory::zeros::<u64>(self.edges.ids().len())?;
        for (&s, &t) in self.edges.sources().iter().zip(self.edges.targets()) {
            counts[s as usize] += 1;
            counts[t as usize] += 1;
        }
        match counts.iter().position(|&arcs| arcs > MAX_SHARD_ARCS) {
            Some(vertex) => Err(self.too_many(vertex, counts[vertex])),
            None => Ok(()),
        }
    }

    fn too_many(&self, vertex: usize, arcs: u64) -> BuildError {
        let id = self.edges.ids().get(vertex as u32).to_string();
        BuildError::TooManyArcs { id, arcs, limit: MAX_SHARD_ARCS }
    }
}
