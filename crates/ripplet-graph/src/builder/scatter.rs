//! Placement of arcs in the lists of their owners.
//!
//! Several tasks place the arcs of a class, each those of its parts of the table. Cursors that tasks share would go from
//! core to core with each arc, so each task has its own, behind those of the tasks before:
//!
//! ```text
//! list of a vertex     │ arcs of task 0 │ arcs of task 1 │ …
//!                      ▲ cursor of 0    ▲ cursor of 1
//! ```
//!
//! The lists are sorted afterwards, so their order does not depend on the tasks.

use super::rows::{Role, Rows};
use crate::grouped::Groups;
use crate::memory::{self, OutOfMemory};
use crate::{VertexId, WeightScale, as_atomic};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Cursors of all tasks, for each arc of a class: with more, tasks would be busy with these.
const CURSORS_PER_ARC: u64 = 1;

/// The fewest arcs of a task.
const ARCS_PER_TASK: u64 = 1 << 12;

/// The arcs of a shard, by the class of their owner.
pub(super) struct Arcs<'a> {
    pub rows: Rows<'a>,
    pub groups: &'a Groups,
    pub scale: WeightScale,
}

impl Arcs<'_> {
    /// Places the neighbours of a class, whose first vertex is `first`, in their lists of `counts` arcs, in any order.
    pub fn scatter(
        &self,
        class: usize,
        first: VertexId,
        counts: &[u32],
        arcs: &mut [VertexId],
    ) -> Result<(), OutOfMemory> {
        let arcs = as_atomic(arcs);
        self.place(class, first, counts, |at, neighbor, _| arcs[at].store(neighbor, Relaxed))
    }

    /// Places the neighbours of a class and the weights of the arcs; see [`Arcs::scatter`].
    pub fn scatter_weighted(
        &self,
        class: usize,
        first: VertexId,
        counts: &[u32],
        arcs: &mut [VertexId],
        weights: &mut [u32],
    ) -> Result<(), OutOfMemory> {
        let (arcs, stored) = (as_atomic(arcs), as_atomic(weights));
        let real = self.rows.edges.weights().expect("called where there are weights");
        self.place(class, first, counts, |at, neighbor, row| {
            arcs[at].store(neighbor, Relaxed);
            stored[at].store(self.scale.quantize(real[row]), Relaxed);
        })
    }

    /// Calls `put(place, neighbor, row)` for each arc of a class.
    fn place(
        &self,
        class: usize,
        first: VertexId,
        counts: &[u32],
        put: impl Fn(usize, VertexId, usize) + Sync,
    ) -> Result<(), OutOfMemory> {
        let slots = counts.len();
        let parts = self.groups.parts();
        let arcs: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        let most = (arcs * CURSORS_PER_ARC / slots.max(1) as u64).min(arcs / ARCS_PER_TASK);
        let tasks = (rayon::current_num_threads() as u64).min(most).max(1) as usize;
        let parts_of = |task: usize| parts * task / tasks..parts * (task + 1) / tasks;
        let mut cursors = memory::zeros::<u32>(tasks * slots)?;
        let each = |cursors: &mut [u32], visit: &(dyn Fn(usize, &mut [u32]) + Sync)| {
            let of_tasks = cursors.par_chunks_exact_mut(slots).enumerate();
            of_tasks.for_each(|(task, cursors)| visit(task, cursors));
        };
        if slots == 0 {
            return Ok(());
        }
        if tasks > 1 {
            each(&mut cursors, &|task, cursors| {
                self.for_each(class, parts_of(task), |owner, _, _| {
                    cursors[(owner - first) as usize] += 1;
                });
            });
        }
        turn_to_begins(counts, &mut cursors)?;
        each(&mut cursors, &|task, cursors| {
            self.for_each(class, parts_of(task), |owner, neighbor, row| {
                let cursor = &mut cursors[(owner - first) as usize];
                put(*cursor as usize, neighbor, row);
                *cursor += 1;
            });
        });
        Ok(())
    }

    /// Calls `visit(owner, neighbor, row)` for each arc in some parts of the table whose owner is in the class.
    #[inline]
    fn for_each(
        &self,
        class: usize,
        parts: Range<usize>,
        mut visit: impl FnMut(VertexId, VertexId, usize),
    ) {
        let Arcs { rows, groups, .. } = self;
        if rows.role != Role::Incoming {
            groups.with_source_in(class, parts.clone(), |run| rows.at_sources(run, &mut visit));
        }
        if rows.role != Role::Out {
            groups.with_target_in(class, parts, |run| rows.at_targets(run, &mut visit));
        }
    }
}

/// Turns the number of arcs of each task and list into the place of the first. With one task, there need be no numbers.
fn turn_to_begins(counts: &[u32], cursors: &mut [u32]) -> Result<(), OutOfMemory> {
    let slots = counts.len();
    let mut next = 0;
    let begins = memory::collected(counts.iter().map(|&count| {
        let begin = next;
        next += count;
        begin
    }))?;
    if cursors.len() == slots {
        cursors.copy_from_slice(&begins);
        return Ok(());
    }
    let cursors: &[AtomicU32] = as_atomic(cursors);
    begins.into_par_iter().enumerate().with_min_len(1 << 10).for_each(|(slot, mut begin)| {
        for cursor in cursors[slot..].iter().step_by(slots) {
            let count = cursor.load(Relaxed);
            cursor.store(begin, Relaxed);
            begin += count;
        }
    });
    Ok(())
}
