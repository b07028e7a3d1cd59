//! The phases of a round, and loops over a phase's vertices by all threads.
//!
//! A round updates each of its vertices once. In a phase, vertices choose by what earlier phases
//! wrote; then the choices are written. The result does not depend on the number of threads, as the
//! steps are separated by barriers, and what threads write at once are sums or distinct values.

use super::level::{Masses, READ_PER_TASK};
use super::partition::Partition;
use super::score::NullModel;
use super::sizes::{Claim, Sizes};
use super::steps::{Counts, Draw};
use super::tally::Tally;
use crate::hash::mix;
use crate::team::{CachePadded, ThreadTeam};
use crate::{Label, RunError};
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{Observer, VertexId, as_atomic, as_atomic_words};
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Mutex, PoisonError};

/// Changes that one thread writes in a microsecond: twice what a step of a team costs.
const COMMITS_PER_TASK: usize = 1 << 7;
/// Changes for which totals are divided into one more range of labels: each range reads all changes.
const CHANGES_PER_RANGE: usize = 1 << 8;
/// Arcs of a task that reads lists: some microseconds.
const ARCS_PER_TASK: u64 = 1 << 9;
/// The fewest arcs of a level whose phases several threads share: below, they exchange cache lines for
/// longer than they read arcs.
const ARCS_TO_SHARE: u64 = 1 << 15;
/// The most phases of a round.
const MOST_PHASES: usize = 8;

/// The most arcs that a thread appends to arrays together.
pub(super) const ARCS_TOGETHER: usize = 1 << 10;

/// A change of a phase: a vertex and its new label.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub vertex: VertexId,
    pub label: Label,
}

/// The word of a change that was not admitted: no vertex has this id.
const REFUSED: u64 = u64::MAX;

impl Change {
    /// Returns both in a word, which threads write at their places of one array.
    fn packed(self) -> u64 {
        u64::from(self.vertex) << 32 | u64::from(self.label)
    }

    fn unpacked(word: u64) -> Change {
        Change { vertex: (word >> 32) as VertexId, label: word as Label }
    }
}

/// Lets the vertices of a task choose: writes the packed changes and the labels before them to the begin of the
/// slices, and returns how many there are, and the number of arcs read.
type ChooseAll<'c> =
    dyn Fn(&[VertexId], &[AtomicU64], &[AtomicU32], &mut Tally) -> (u32, u64) + Sync + 'c;

/// The threads of a run: a thread team, and the scratch of each of its threads.
pub(super) struct Workers<'a> {
    pub team: &'a ThreadTeam,
    threads: Vec<CachePadded<Mutex<Scratch>>>,
}

/// Scratch of a thread.
pub(super) struct Scratch {
    pub tally: Tally,
    /// Arcs that are appended to arrays together.
    pub arcs: Vec<(VertexId, u64)>,
}

impl<'a> Workers<'a> {
    /// Creates the scratch of each thread of rayon's current pool, for labels below `labels`.
    pub fn new(team: &'a ThreadTeam, labels: usize) -> Result<Workers<'a>, OutOfMemory> {
        let scratch = || {
            let arcs = memory::with_room(ARCS_TOGETHER)?;
            Ok(CachePadded(Mutex::new(Scratch { tally: Tally::new(labels)?, arcs })))
        };
        let threads = (0..rayon::current_num_threads()).map(|_| scratch());
        Ok(Workers { team, threads: threads.collect::<Result<_, _>>()? })
    }

    /// Returns the bytes of the scratch of `threads` threads.
    pub fn bytes_for(labels: u64, threads: u64) -> u64 {
        let arcs = ARCS_TOGETHER * size_of::<(VertexId, u64)>();
        threads.saturating_mul(Tally::bytes_for(labels) + arcs as u64)
    }

    /// Calls `work` with each of the tasks `0..tasks` and the thread's scratch.
    pub fn each_task(
        &self,
        tasks: usize,
        observer: &dyn Observer,
        work: impl Fn(usize, &mut Scratch) + Sync,
    ) -> Result<(), RunError> {
        self.perform(tasks, observer, &work)
    }

    fn perform(
        &self,
        tasks: usize,
        observer: &dyn Observer,
        work: &(dyn Fn(usize, &mut Scratch) + Sync),
    ) -> Result<(), RunError> {
        let is_cancelled = AtomicBool::new(false);
        self.team.run(tasks, |task| {
            if observer.is_cancelled() {
                return is_cancelled.store(true, Relaxed);
            }
            let thread = rayon::current_thread_index().unwrap_or(0);
            // A poisoned one is not used again: the panic ends the run.
            let mut scratch = self.threads[thread].0.lock().unwrap_or_else(PoisonError::into_inner);
            work(task, &mut scratch);
        });
        if is_cancelled.into_inner() { Err(RunError::Cancelled) } else { Ok(()) }
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
    /// The packed changes of a task begin where its vertices begin in their phase.
    changes: Vec<u64>,
    /// The labels before the changes.
    before: Vec<Label>,
    /// The number of changes of each task.
    changed: Vec<u32>,
    /// The number of arcs that each task read.
    scanned: Vec<u64>,
    /// Vertices of a task.
    per_task: usize,
}

impl Phases {
    /// Creates room for the phases of levels with at most `vertices` vertices.
    pub fn new(vertices: usize) -> Result<Phases, OutOfMemory> {
        let (order, before) = (memory::zeros(vertices)?, memory::zeros(vertices)?);
        let changes = memory::zeros(vertices)?;
        Ok(Phases { order, changes, before, ..Phases::default() })
    }

    /// Divides the work on a level with `vertices` vertices and `arcs` arcs into tasks.
    pub fn begin_level(&mut self, vertices: u32, arcs: u64) {
        let degree = arcs / u64::from(vertices).max(1) + 1;
        self.per_task = match arcs < ARCS_TO_SHARE {
            true => (vertices as usize).max(1),
            false => (ARCS_PER_TASK / degree).clamp(4, 128) as usize,
        };
    }

    /// Returns the bytes beside small ones.
    pub fn bytes_for(vertices: u64) -> u64 {
        vertices
            .saturating_mul((size_of::<VertexId>() + size_of::<u64>() + size_of::<Label>()) as u64)
    }

    /// Sorts the vertices of a round by their phases: the active ones of a partition, or all.
    pub fn begin_round(
        &mut self,
        team: &ThreadTeam,
        vertices: u32,
        draw: Draw,
        active: Option<&Partition>,
    ) {
        match active {
            Some(partition) => self.sort(team, vertices, draw, |v| partition.is_active(v)),
            None => self.sort(team, vertices, draw, |_| true),
        }
    }

    fn sort(
        &mut self,
        team: &ThreadTeam,
        vertices: u32,
        draw: Draw,
        is_scheduled: impl Fn(VertexId) -> bool + Sync,
    ) {
        let (vertices, phases) = (vertices as usize, draw.phases as usize);
        let tasks = vertices.div_ceil(READ_PER_TASK);
        let scheduled = |range: Range<usize>| {
            (range.start as VertexId..range.end as VertexId).filter(|&v| is_scheduled(v))
        };
        self.counts.clear();
        self.counts.resize(tasks * phases, 0);
        let counts = as_atomic(&mut self.counts);
        let counts_of =
            |range: &Range<usize>| &counts[range.start / READ_PER_TASK * phases..][..phases];
        team.ranges(vertices, READ_PER_TASK, |range| {
            let to = counts_of(&range);
            let mut counts = [0; MOST_PHASES];
            scheduled(range).for_each(|v| counts[draw.phase(v) as usize] += 1);
            to.iter().zip(counts).for_each(|(to, count)| to.store(count, Relaxed));
        });
        // From counts to the places of each task's first vertex of each phase.
        self.ends.clear();
        let mut end = 0;
        for phase in 0..phases {
            for task in 0..tasks {
                let count = &counts[task * phases + phase];
                end += count.swap(end, Relaxed);
            }
            self.ends.push(end as usize);
        }
        let order = as_atomic(&mut self.order);
        team.ranges(vertices, READ_PER_TASK, |range| {
            let mut places = [0; MOST_PHASES];
            let firsts = counts_of(&range).iter().map(|first| first.load(Relaxed));
            places.iter_mut().zip(firsts).for_each(|(place, first)| *place = first);
            scheduled(range).for_each(|v| {
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
        partition: &Partition,
        workers: &Workers<'_>,
        observer: &dyn Observer,
        choose: impl Fn(VertexId, &mut Tally) -> (Option<Label>, u64) + Sync,
    ) -> Result<Counts, RunError> {
        self.choose_by(phase, workers, observer, &|members, changes, before, tally| {
            let (mut changed, mut scanned) = (0, 0);
            for &vertex in members {
                let (label, read) = choose(vertex, tally);
                scanned += read;
                if let Some(label) = label {
                    changes[changed].store(Change { vertex, label }.packed(), Relaxed);
                    before[changed].store(partition.label(vertex), Relaxed);
                    changed += 1;
                }
            }
            (changed as u32, scanned)
        })
    }

    /// [`Phases::choose`], compiled once for all levels and rules.
    fn choose_by(
        &mut self,
        phase: usize,
        workers: &Workers<'_>,
        observer: &dyn Observer,
        choose_all: &ChooseAll<'_>,
    ) -> Result<Counts, RunError> {
        let first = if phase == 0 { 0 } else { self.ends[phase - 1] };
        let (members, per_task) = (&self.order[first..self.ends[phase]], self.per_task);
        let tasks = members.len().div_ceil(per_task);
        self.changed.clear();
        self.changed.resize(tasks, 0);
        self.scanned.clear();
        self.scanned.resize(tasks, 0);
        let (changes, changed) = (as_atomic_words(&mut self.changes), as_atomic(&mut self.changed));
        let (before, scanned) = (as_atomic(&mut self.before), as_atomic_words(&mut self.scanned));
        workers.each_task(tasks, observer, |task, Scratch { tally, .. }| {
            let range = task * per_task..members.len().min((task + 1) * per_task);
            let (changes, before) = (&changes[range.clone()], &before[range.clone()]);
            let (count, read) = choose_all(&members[range], changes, before, tally);
            changed[task].store(count, Relaxed);
            scanned[task].store(read, Relaxed);
        })?;
        Ok(Counts {
            visited: members.len() as u64,
            changed: self.changed.iter().map(|&changed| u64::from(changed)).sum(),
            scanned: self.scanned.iter().sum(),
        })
    }

    /// Admits the phase's changes into communities of limited size, and removes the others, whose
    /// vertices become active again; returns their number.
    pub fn admit(
        &mut self,
        team: &ThreadTeam,
        partition: &Partition,
        sizes: &Sizes,
        draw: Draw,
    ) -> Result<u64, RunError> {
        let tasks = self.changed.len();
        team.ranges(tasks, 1, |tasks| {
            self.changes_of(tasks).for_each(|(change, _)| sizes.claim(change.label, change.vertex));
        });
        let overfull = team.sum(tasks, 1, |tasks| {
            let changes = self.changes_of(tasks);
            changes.filter(|(change, _)| sizes.is_overfull(change.label)).count() as u64
        });
        let mut claims = memory::with_room(overfull as usize)?;
        if overfull > 0 {
            for (place, Change { vertex, label }) in self.places() {
                if sizes.is_overfull(label) {
                    let (hash, place) = (mix(vertex ^ mix(draw.key)), place as u32);
                    claims.push(Claim { label, hash, vertex, place });
                }
            }
            sizes.admit(&mut claims);
        }
        for claim in &claims {
            self.changes[claim.place as usize] = REFUSED;
            partition.activate(claim.vertex);
        }
        if !claims.is_empty() {
            self.remove_refused();
        }
        team.ranges(tasks, 1, |tasks| {
            self.changes_of(tasks).for_each(|(change, before)| sizes.leave(before, change.vertex));
        });
        Ok(claims.len() as u64)
    }

    /// Yields the phase's changes with their places.
    fn places(&self) -> impl Iterator<Item = (usize, Change)> {
        let begins = (0..self.changed.len()).map(move |task| task * self.per_task);
        let ranges = begins.zip(&self.changed).map(|(begin, &len)| begin..begin + len as usize);
        ranges.flatten().map(move |place| (place, Change::unpacked(self.changes[place])))
    }

    /// Moves the changes that were not refused to the begin of their task.
    fn remove_refused(&mut self) {
        for (task, changed) in self.changed.iter_mut().enumerate() {
            let begin = task * self.per_task;
            let mut end = begin;
            for place in begin..begin + *changed as usize {
                if self.changes[place] != REFUSED {
                    (self.changes[end], self.before[end]) =
                        (self.changes[place], self.before[place]);
                    end += 1;
                }
            }
            *changed = (end - begin) as u32;
        }
    }

    /// Writes the phase's changes to labels and totals, then calls `activate`, which reads lists, with
    /// each change.
    pub fn commit<M: NullModel>(
        &self,
        team: &ThreadTeam,
        masses: &Masses<'_, M>,
        partition: &Partition,
        activate: Option<&(dyn Fn(Change) + Sync)>,
    ) {
        let tasks = self.changed.len();
        let count: usize = self.changed.iter().map(|&changed| changed as usize).sum();
        if count == 0 {
            return;
        }
        // The tasks that have this number of changes together, if all have as many.
        let with_changes = |changes: usize| (changes * tasks / count).clamp(1, tasks);
        team.ranges(tasks, with_changes(COMMITS_PER_TASK), |tasks| {
            for (Change { vertex, label }, _) in self.changes_of(tasks) {
                partition.labels[vertex as usize].store(label, Relaxed);
            }
        });
        // One thread updates the totals of a range of labels, without locks, which would keep the
        // processor from reading ahead.
        let ranges = count.div_ceil(CHANGES_PER_RANGE).min(team.threads());
        let bound = |range: usize| (partition.labels.len() * range / ranges) as Label;
        let per_part = with_changes(self.per_task);
        let parts = if activate.is_some() { tasks.div_ceil(per_part) } else { 0 };
        team.run(ranges + parts, |part| match (part.checked_sub(ranges), activate) {
            (Some(part), Some(activate)) => {
                let first = part * per_part;
                let changes = self.changes_of(first..(first + per_part).min(tasks));
                changes.for_each(|(change, _)| activate(change));
            }
            _ => {
                let range = bound(part)..bound(part + 1);
                for (Change { vertex, label }, before) in self.changes_of(0..tasks) {
                    let mass = masses.of(vertex);
                    if range.contains(&before) {
                        partition.remove::<M>(before, mass);
                    }
                    if range.contains(&label) {
                        partition.add::<M>(label, mass);
                    }
                }
            }
        });
    }

    /// Yields the changes of some tasks, each with the label before.
    fn changes_of(&self, tasks: Range<usize>) -> impl Iterator<Item = (Change, Label)> {
        tasks.flat_map(|task| {
            let begin = task * self.per_task;
            let range = begin..begin + self.changed[task] as usize;
            let changes = self.changes[range.clone()].iter().zip(&self.before[range]);
            changes.map(|(&change, &before)| (Change::unpacked(change), before))
        })
    }
}
