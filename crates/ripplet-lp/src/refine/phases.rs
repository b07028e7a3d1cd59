//! The phases of a round, and loops over a phase's vertices by all threads.
//!
//! A round updates each of its vertices once. In a phase, vertices choose by what earlier phases
//! wrote; then the choices are written. The result does not depend on the number of threads, as the
//! steps are separated by barriers, and what threads write at once are sums or distinct values.

use super::tally::Tally;
use crate::hash::{mix, part_of};
use crate::{Label, RunError};
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{Observer, VertexId, as_atomic};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

/// Vertices of a task that only reads an array.
pub(super) const READ_PER_TASK: usize = 1 << 13;
/// Changes that one thread writes in some microseconds, which is what a parallel loop costs.
const COMMITS_PER_TASK: usize = 1 << 10;
/// Arcs of a task that reads lists: some ten microseconds.
const ARCS_PER_TASK: u64 = 1 << 12;

/// The assignment of vertices to the phases of a round: vertex `v` is in phase
/// `mix(v ^ key) · phases >> 32`.
#[derive(Clone, Copy)]
pub(super) struct Draw {
    pub key: u32,
    pub phases: u32,
}

impl Draw {
    /// Returns the phase of a vertex.
    #[inline]
    pub fn phase(self, v: VertexId) -> u32 {
        part_of(mix(v ^ self.key), self.phases)
    }
}

/// A change of a phase: a vertex and its new label.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Change {
    pub vertex: VertexId,
    pub label: Label,
}

/// Counts of a loop over vertices.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub visited: u64,
    pub changed: u64,
    pub scanned: u64,
}

impl Counts {
    /// Returns the sums.
    pub fn plus(self, other: Counts) -> Counts {
        Counts {
            visited: self.visited + other.visited,
            changed: self.changed + other.changed,
            scanned: self.scanned + other.scanned,
        }
    }
}

/// A table for each thread.
pub(super) struct Tallies(Vec<Mutex<Tally>>);

impl Tallies {
    /// Creates tables of labels below `labels` for the threads of rayon's current pool.
    pub fn new(labels: usize) -> Result<Tallies, OutOfMemory> {
        let threads = 0..rayon::current_num_threads();
        Ok(Tallies(threads.map(|_| Tally::new(labels).map(Mutex::new)).collect::<Result<_, _>>()?))
    }

    /// Calls `work` with this thread's table.
    pub fn with<T>(&self, work: impl FnOnce(&mut Tally) -> T) -> T {
        let thread = rayon::current_thread_index().unwrap_or(0);
        // A poisoned table is not used again: the panic ends the run.
        work(&mut self.0[thread].lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The vertices of a round in the order of their phases, and the changes of the current phase.
#[derive(Default)]
pub(super) struct Phases {
    /// The vertices of the round, phase by phase, ascending within a phase.
    order: Vec<VertexId>,
    /// The end of each phase in `order`.
    ends: Vec<usize>,
    /// For each task of the compaction, the vertices of each phase.
    counts: Vec<u32>,
    /// The changes of a task begin where its vertices begin in their phase.
    changes: Vec<Change>,
    /// The number of changes of each task.
    changed: Vec<u32>,
    /// Vertices of a task.
    per_task: usize,
}

impl Phases {
    /// Creates room for the phases of levels with at most `vertices` vertices.
    pub fn new(vertices: usize) -> Result<Phases, OutOfMemory> {
        let order = memory::zeros(vertices)?;
        let changes = memory::filled(Change::default(), vertices)?;
        Ok(Phases { order, changes, ..Phases::default() })
    }

    /// Divides the work on a level with `vertices` vertices and `arcs` arcs into tasks.
    pub fn begin_level(&mut self, vertices: u32, arcs: u64) {
        let degree = arcs / u64::from(vertices).max(1) + 1;
        self.per_task = (ARCS_PER_TASK / degree).clamp(8, 512) as usize;
    }

    /// Returns the bytes beside small ones.
    pub fn bytes_for(vertices: u64) -> u64 {
        vertices.saturating_mul((size_of::<VertexId>() + size_of::<Change>()) as u64)
    }

    /// Sorts the vertices of a round by their phases.
    pub fn begin_round(
        &mut self,
        vertices: u32,
        draw: Draw,
        is_scheduled: impl Fn(VertexId) -> bool + Sync,
    ) {
        let phases = draw.phases as usize;
        let tasks = (vertices as usize).div_ceil(READ_PER_TASK);
        let of_task = |task: usize| {
            let first = task * READ_PER_TASK;
            let end = (first + READ_PER_TASK).min(vertices as usize);
            (first as VertexId..end as VertexId).filter(|&v| is_scheduled(v))
        };
        self.counts.clear();
        self.counts.resize(tasks * phases, 0);
        self.counts.par_chunks_mut(phases).enumerate().for_each(|(task, counts)| {
            of_task(task).for_each(|v| counts[draw.phase(v) as usize] += 1);
        });
        // From counts to the places of each task's first vertex of each phase.
        self.ends.clear();
        let mut end = 0;
        for phase in 0..phases {
            for task in 0..tasks {
                end += std::mem::replace(&mut self.counts[task * phases + phase], end);
            }
            self.ends.push(end as usize);
        }
        let order = as_atomic(&mut self.order);
        self.counts.par_chunks_mut(phases).enumerate().for_each(|(task, places)| {
            of_task(task).for_each(|v| {
                let place = &mut places[draw.phase(v) as usize];
                order[*place as usize].store(v, Relaxed);
                *place += 1;
            });
        });
    }

    /// Lets the vertices of a phase choose: `choose` returns a vertex's new label, if it changes,
    /// and the number of arcs that it read.
    pub fn choose(
        &mut self,
        phase: usize,
        tallies: &Tallies,
        observer: &dyn Observer,
        choose: impl Fn(VertexId, &mut Tally) -> (Option<Label>, u64) + Sync,
    ) -> Result<Counts, RunError> {
        let first = if phase == 0 { 0 } else { self.ends[phase - 1] };
        let members = &self.order[first..self.ends[phase]];
        let tasks = members.len().div_ceil(self.per_task);
        self.changed.clear();
        self.changed.resize(tasks, 0);
        let task = |members: &[VertexId], changes: &mut [Change], changed: &mut u32| {
            if observer.is_cancelled() {
                return Err(RunError::Cancelled);
            }
            let counts = tallies.with(|tally| {
                let mut counts = Counts { visited: members.len() as u64, ..Counts::default() };
                for &vertex in members {
                    let (label, scanned) = choose(vertex, tally);
                    counts.scanned += scanned;
                    if let Some(label) = label {
                        changes[counts.changed as usize] = Change { vertex, label };
                        counts.changed += 1;
                    }
                }
                counts
            });
            *changed = counts.changed as u32;
            Ok(counts)
        };
        let changes = &mut self.changes[..members.len()];
        if tasks <= 1 {
            let Some(changed) = self.changed.first_mut() else { return Ok(Counts::default()) };
            return task(members, changes, changed);
        }
        let tasks = members.par_chunks(self.per_task).zip(changes.par_chunks_mut(self.per_task));
        let tasks = tasks.zip(&mut self.changed);
        tasks
            .map(|((members, changes), changed)| task(members, changes, changed))
            .try_reduce(Counts::default, |a, b| Ok(a.plus(b)))
    }

    /// Writes each change of the phase: a few values.
    pub fn commit(&self, write: impl Fn(Change) + Sync) {
        self.each_change(COMMITS_PER_TASK, write);
    }

    /// Calls `work`, which reads the vertex's arcs, with each change of the phase.
    pub fn for_each_change(&self, work: impl Fn(Change) + Sync) {
        self.each_change(self.per_task, work);
    }

    /// Calls `work` with each change of the phase: on one thread if there are at most `few`.
    fn each_change(&self, few: usize, work: impl Fn(Change) + Sync) {
        let of_task = |(&changed, changes): (&u32, &[Change])| {
            changes[..changed as usize].iter().for_each(|&change| work(change));
        };
        let count: usize = self.changed.iter().map(|&changed| changed as usize).sum();
        if count <= few {
            let changes = self.changes.chunks(self.per_task.max(1));
            return self.changed.iter().zip(changes).for_each(of_task);
        }
        let changes = self.changes.par_chunks(self.per_task);
        self.changed.par_iter().zip(changes).for_each(of_task);
    }
}
