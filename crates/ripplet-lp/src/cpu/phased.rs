//! The `phased` schedule: the phases of a round one after the other, drawn anew each round.
//!
//! [`PhasedOrder`](crate::schedules::PhasedOrder) defines which vertices a phase has.
//!
//! ```text
//! for each phase:  gather   compact the phase's active vertices into a list; make them inactive
//!                  choose   labels ──▶ chosen     no vertex sees another's change
//!                  commit   chosen ──▶ labels     and label totals; drafts ──▶ columns
//!                  activate activate disagreeing neighbours: for a later phase or the next round
//! ```

use super::active::{Activated, ActiveSet, vertices_of};
use super::drafts::Drafts;
use super::state::{LpState, Workspace};
use crate::crew::{Crew, with_crew};
use crate::hash::Clock;
use crate::ranks::Update;
use crate::rounds::{Finished, Rounds};
use crate::schedules::{UnitSchedule, largest_phase};
use crate::{Hints, Label, NO_LABEL, Round, RunError, Schedule, State};
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{MAX_VERTICES, Observer, VertexId};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};

/// Blocks of a part of compaction: some ten microseconds.
const BLOCKS_PER_PART: usize = 1 << 12;
/// The most members of a block in a phase.
const MEMBERS_PER_BLOCK: usize = UnitSchedule::UNIT as usize;
/// Members of a part of the other steps: some microseconds, ten times as long as claiming it takes.
const MEMBERS_PER_PART: usize = 64;
const _: () = assert!(MEMBERS_PER_PART <= Workspace::VERTICES);
/// Members of a part of a round without helpers.
const MEMBERS_ALONE: usize = Workspace::VERTICES;
/// The fewest active vertices per phase for which a round has helpers.
const MEMBERS_TO_SHARE: u64 = 2 * MEMBERS_PER_PART as u64;
/// The most vertices for which each thread has a set of activated ones.
const MOST_IN_SETS: u64 = 1 << 20;
/// Changes for which label totals are divided into one more range: each range reads all changes.
const CHANGES_PER_RANGE: usize = 512;
/// A value of `chosen`: the vertex keeps its label. Neither a vertex nor
/// [`NO_LABEL`](crate::NO_LABEL).
const KEEP: Label = Label::MAX - 1;
const _: () = assert!(KEEP >= MAX_VERTICES && KEEP != NO_LABEL);

/// The state of a run, and the arrays of a phase.
///
/// Several threads write different members of a phase at the same time, so the arrays are atomic.
pub(super) struct PhasedRounds<'a, P> {
    pub state: LpState<'a, P>,
    schedule: Schedule,
    /// The phase's active vertices, then those of them that change.
    members: Vec<AtomicU32>,
    chosen: Vec<AtomicU32>,
    /// The labels of the members before the phase.
    before: Vec<AtomicU32>,
    /// The vertices that each thread has activated in this round, if there are several threads: in
    /// one set for all, they would wait for one another's cache lines. Empty between rounds.
    activated: Vec<ActiveSet>,
    /// The number of members.
    count: AtomicUsize,
    /// The number of members of a part, in this round.
    per_part: AtomicUsize,
    /// The number of members that each part of the compaction found.
    found: Vec<AtomicUsize>,
    /// For each member, whether it has a draft, followed by the draft.
    drafts: Drafts,
}

/// A round in progress.
struct PhasedRound<'r, 'a, P> {
    rounds: &'r PhasedRounds<'a, P>,
    clock: Clock,
    units: UnitSchedule,
    observer: &'r dyn Observer,
    cancelled: AtomicBool,
    counts: Counts,
}

/// The counts of a [`Round`], added to by all threads.
#[derive(Default)]
struct Counts {
    changed: AtomicU64,
    visited: AtomicU64,
    scanned: AtomicU64,
    nan_scores: AtomicU64,
}

impl Counts {
    fn add(&self, part: Round) {
        self.changed.fetch_add(part.changed, Relaxed);
        self.visited.fetch_add(part.visited, Relaxed);
        self.scanned.fetch_add(part.scanned, Relaxed);
        self.nan_scores.fetch_add(part.nan_scores, Relaxed);
    }

    fn round(&self) -> Round {
        Round {
            changed: self.changed.load(Relaxed),
            visited: self.visited.load(Relaxed),
            scanned: self.scanned.load(Relaxed),
            nan_scores: self.nan_scores.load(Relaxed),
            ..Round::default()
        }
    }
}

/// Returns the bytes of a phase's arrays: its vertices, their choices and their labels before; with
/// `draft_len` values per vertex, also the drafts; and of the sets of activated vertices.
pub(super) fn bytes_for(vertices: u64, phases: u32, draft_len: u64, threads: usize) -> u64 {
    let drafts = if draft_len > 0 { 4 * (draft_len + 1) } else { 0 };
    let phase = largest_phase(vertices, phases).saturating_mul(drafts.saturating_add(12));
    phase.saturating_add(sets_for(vertices, threads) as u64 * vertices.div_ceil(64) * 8)
}

/// Returns the number of values of a member in `drafts`.
fn record_len(draft_len: usize) -> usize {
    if draft_len > 0 { draft_len + 1 } else { 0 }
}

impl<'a, P: Hints> PhasedRounds<'a, P> {
    pub fn new(state: LpState<'a, P>, schedule: Schedule) -> Result<Self, OutOfMemory> {
        let vertices = state.labels.len() as u64;
        let largest = largest_phase(vertices, schedule.phases()) as usize;
        let zeros = |count| memory::collected((0..count).map(|_| AtomicU32::new(0)));
        let drafts = Drafts::new(largest, record_len(state.columns.draft_len()))?;
        let parts = largest.div_ceil(BLOCKS_PER_PART * MEMBERS_PER_BLOCK);
        Ok(PhasedRounds {
            members: zeros(largest)?,
            chosen: zeros(largest)?,
            before: zeros(largest)?,
            activated: (0..sets_for(vertices, state.threads()))
                .map(|_| ActiveSet::none(vertices as u32))
                .collect::<Result<_, _>>()?,
            count: AtomicUsize::new(0),
            per_part: AtomicUsize::new(MEMBERS_ALONE),
            found: (0..parts).map(|_| AtomicUsize::new(0)).collect(),
            state,
            schedule,
            drafts,
        })
    }

    /// Finds the labels of a phase's active vertices, without committing them; [`Self::commit`] and
    /// [`Self::activate_neighbors`] follow. The calling thread does it alone.
    pub fn choose(
        &self,
        clock: Clock,
        phase: u32,
        observer: &dyn Observer,
    ) -> Result<Round, RunError> {
        let round = self.begin(clock, observer);
        with_crew(0, |crew| {
            round.compact(phase, crew);
            round.choose(crew);
        });
        round.finish()
    }

    /// Commits the phase's changes to labels, label totals and columns.
    pub fn commit(&self) {
        (0..self.parts()).for_each(|part| self.commit_part(part));
        self.shift_totals(0, 1);
    }

    /// Activates the neighbours of the vertices that changed.
    pub fn activate_neighbors(&self) {
        let active = Activated::Own(&self.state.active);
        (0..self.parts()).for_each(|part| self.activate_part(part, active));
    }

    /// Yields the label updates of the phase.
    pub fn updates(&self) -> impl Iterator<Item = Update> {
        (0..self.count.load(Relaxed)).map(|index| {
            let v = self.members[index].load(Relaxed);
            let label = match self.chosen[index].load(Relaxed) {
                KEEP => self.state.label(v),
                label => label,
            };
            let values = match is_drafted(&self.drafts, index) {
                true => self.drafts.get(index).skip(1).collect(),
                false => self.state.columns.written(v).map(|held| held.load(Relaxed)).collect(),
            };
            Update { vertex: v, label, values }
        })
    }

    fn begin<'r>(&'r self, clock: Clock, observer: &'r dyn Observer) -> PhasedRound<'r, 'a, P> {
        PhasedRound {
            rounds: self,
            clock,
            units: UnitSchedule::new(clock, self.schedule),
            observer,
            cancelled: AtomicBool::new(false),
            counts: Counts::default(),
        }
    }

    /// Returns the number of parts of the phase's members.
    fn parts(&self) -> usize {
        self.count.load(Relaxed).div_ceil(self.per_part.load(Relaxed))
    }

    /// Returns the index of a part's first member, its members and what they chose.
    fn part(&self, part: usize) -> (usize, &[AtomicU32], &[AtomicU32]) {
        let per_part = self.per_part.load(Relaxed);
        let first = part * per_part;
        let range = first..(first + per_part).min(self.count.load(Relaxed));
        (first, &self.members[range.clone()], &self.chosen[range])
    }

    /// Compacts the active vertices of some blocks into the part's place, ascending, and removes
    /// them from the active set.
    fn compact_part(&self, units: UnitSchedule, phase: u32, part: usize) {
        let blocks = (self.state.labels.len() as u64).div_ceil(units.block_size()) as usize;
        let start = part * BLOCKS_PER_PART;
        let mut end = start * MEMBERS_PER_BLOCK;
        for block in start..(start + BLOCKS_PER_PART).min(blocks) {
            let (first, pattern) = units.unit(block as u32, phase);
            let (word, offset) = ((first / 64) as usize, first % 64);
            self.compact_word(word, pattern << offset, &mut end);
            if offset > 0 {
                self.compact_word(word + 1, pattern >> (64 - offset), &mut end);
            }
        }
        self.found[part].store(end - start * MEMBERS_PER_BLOCK, Relaxed);
    }

    /// Moves the active vertices of some bits of a word to the members from `end` on.
    #[inline]
    fn compact_word(&self, word: usize, bits: u64, end: &mut usize) {
        let active = self.state.active.remove(word, bits);
        let active = self.activated.iter().fold(active, |all, set| all | set.remove(word, bits));
        for v in vertices_of(word, active) {
            self.members[*end].store(v, Relaxed);
            *end += 1;
        }
    }

    /// Moves the members that the parts of the compaction found next to one another.
    fn join_parts(&self) {
        let mut end = 0;
        for (part, found) in self.found.iter().enumerate() {
            let (first, found) = (part * BLOCKS_PER_PART * MEMBERS_PER_BLOCK, found.load(Relaxed));
            if part > 0 {
                for index in 0..found {
                    let v = self.members[first + index].load(Relaxed);
                    self.members[end + index].store(v, Relaxed);
                }
            }
            end += found;
        }
        self.count.store(end, Relaxed);
    }

    fn choose_part(&self, clock: Clock, part: usize) -> Round {
        let (first, members, chosen) = self.part(part);
        let mut counts = Round { visited: members.len() as u64, ..Round::default() };
        let has_drafts = self.state.columns.draft_len() > 0;
        self.state.with_workspace(|Workspace { scratch, vertices }| {
            copy(members, vertices);
            self.state.for_each(vertices, |index, v| {
                let choice = self.state.choose(v, clock, scratch);
                counts.count(choice);
                let relabelled = choice.label != choice.before;
                chosen[index].store(if relabelled { choice.label } else { KEEP }, Relaxed);
                self.before[first + index].store(choice.before, Relaxed);
                if has_drafts {
                    self.drafts.put_marked(first + index, choice.redrafted, &scratch.draft);
                }
                counts.changed += u64::from(relabelled | choice.redrafted);
            });
        });
        counts
    }

    /// Drops the members that do not change, so that the following steps are short.
    fn drop_unchanged(&self) {
        let mut kept = 0;
        for index in 0..self.count.load(Relaxed) {
            let label = self.chosen[index].load(Relaxed);
            if label != KEEP || is_drafted(&self.drafts, index) {
                if kept == index {
                    kept += 1;
                    continue;
                }
                self.members[kept].store(self.members[index].load(Relaxed), Relaxed);
                self.chosen[kept].store(label, Relaxed);
                self.before[kept].store(self.before[index].load(Relaxed), Relaxed);
                self.drafts.move_down(index, kept);
                kept += 1;
            }
        }
        self.count.store(kept, Relaxed);
    }

    fn commit_part(&self, part: usize) {
        let (state, (first, members, chosen)) = (&self.state, self.part(part));
        for (index, (v, label)) in members.iter().zip(chosen).enumerate() {
            let (v, label) = (v.load(Relaxed), label.load(Relaxed));
            if label != KEEP {
                state.labels[v as usize].store(label, Relaxed);
            }
            if is_drafted(&self.drafts, first + index) {
                state.columns.commit(v, self.drafts.get(first + index).skip(1));
            }
        }
    }

    /// Updates the totals of one of `ranges` ranges of labels, by all changes of the phase. It reads
    /// no label, so that it may run beside the following step.
    fn shift_totals(&self, range: usize, ranges: usize) {
        let labels = u64::from(self.state.totals.labels());
        let bound = |range: usize| (labels * range as u64 / ranges as u64) as Label;
        let labels = bound(range)..bound(range + 1);
        if labels.is_empty() {
            return;
        }
        for index in 0..self.count.load(Relaxed) {
            let label = self.chosen[index].load(Relaxed);
            if label != KEEP {
                let (v, before) = (&self.members[index], &self.before[index]);
                let (v, before) = (v.load(Relaxed), before.load(Relaxed));
                self.state.shift_totals_of(labels.clone(), v, before, label);
            }
        }
    }

    /// Returns the set to which this thread adds the vertices that it activates.
    fn activated_here(&self) -> Activated<'_> {
        let thread = rayon::current_thread_index().unwrap_or(0);
        match self.activated.get(thread) {
            Some(own) => Activated::Own(own),
            None if self.state.threads() == 1 => Activated::Own(&self.state.active),
            None => Activated::Shared(&self.state.active),
        }
    }

    fn activate_part(&self, part: usize, active: Activated<'_>) {
        let (state, (_, members, chosen)) = (&self.state, self.part(part));
        state.with_workspace(|Workspace { vertices, .. }| {
            copy(members, vertices);
            state.for_each_changed(vertices, |index, v| match chosen[index].load(Relaxed) {
                KEEP => state.activate_neighbors(v, state.label(v), false, active),
                label => state.activate_neighbors(v, label, true, active),
            });
        });
    }
}

/// Returns the number of sets of activated vertices. Of many vertices or threads, two rarely meet.
fn sets_for(vertices: u64, threads: usize) -> usize {
    match threads {
        2..=8 if vertices <= MOST_IN_SETS => threads,
        _ => 0,
    }
}

/// Sets `vertices` to the members.
fn copy(members: &[AtomicU32], vertices: &mut Vec<VertexId>) {
    vertices.clear();
    vertices.extend(members.iter().map(|v| v.load(Relaxed)));
}

impl<P: Hints> PhasedRound<'_, '_, P> {
    /// Performs a phase. Returns false if the run is cancelled.
    fn phase(&self, phase: u32, crew: &Crew) -> bool {
        self.compact(phase, crew);
        if !self.choose(crew) {
            return false;
        }
        let (rounds, ranges) = (self.rounds, self.ranges());
        crew.run(rounds.parts(), |part| rounds.commit_part(part));
        crew.run(ranges + rounds.parts(), |part| match part.checked_sub(ranges) {
            None => rounds.shift_totals(part, ranges),
            Some(part) => rounds.activate_part(part, rounds.activated_here()),
        });
        true
    }

    /// Compacts the phase's active vertices.
    fn compact(&self, phase: u32, crew: &Crew) {
        let parts = self.rounds.found.len();
        crew.run(parts, |part| self.rounds.compact_part(self.units, phase, part));
        self.rounds.join_parts();
    }

    /// Chooses for the members and drops those that do not change. Returns false if the run is
    /// cancelled.
    fn choose(&self, crew: &Crew) -> bool {
        crew.run(self.rounds.parts(), |part| {
            if self.observer.is_cancelled() {
                self.cancelled.store(true, Relaxed);
            } else {
                self.counts.add(self.rounds.choose_part(self.clock, part));
            }
        });
        let is_complete = !self.cancelled.load(Relaxed);
        if is_complete {
            self.rounds.drop_unchanged();
        }
        is_complete
    }

    /// Returns the number of ranges of labels whose totals are updated as one part.
    fn ranges(&self) -> usize {
        let changes = self.rounds.count.load(Relaxed);
        changes.div_ceil(CHANGES_PER_RANGE).min(self.rounds.state.threads())
    }

    fn finish(self) -> Result<Round, RunError> {
        self.rounds.activated.iter().for_each(|set| self.rounds.state.active.append(set));
        if self.cancelled.into_inner() { Err(RunError::Cancelled) } else { Ok(self.counts.round()) }
    }
}

/// Returns whether a member has a draft.
#[inline]
fn is_drafted(drafts: &Drafts, member: usize) -> bool {
    drafts.get(member).next() == Some(1)
}

impl<P: Hints> Rounds for PhasedRounds<'_, P> {
    fn round(&mut self, index: u32, observer: &dyn Observer) -> Result<Round, RunError> {
        let clock = self.state.begin_round(index);
        let phases = self.schedule.phases();
        let is_shared = self.state.active.len() >= MEMBERS_TO_SHARE * u64::from(phases);
        let helpers = if is_shared { self.state.threads() - 1 } else { 0 };
        *self.per_part.get_mut() = if helpers > 0 { MEMBERS_PER_PART } else { MEMBERS_ALONE };
        let round = self.begin(clock, observer);
        with_crew(helpers, |crew| _ = (0..phases).all(|phase| round.phase(phase, crew)));
        let round = round.finish()?;
        self.state.end_round();
        Ok(round)
    }

    fn state(&mut self) -> Result<State<'_>, RunError> {
        Ok(self.state.state())
    }

    fn finish(self: Box<Self>) -> Result<Finished, RunError> {
        drop((self.members, self.chosen, self.found, self.drafts));
        drop((self.before, self.activated));
        Ok(self.state.finish())
    }
}
