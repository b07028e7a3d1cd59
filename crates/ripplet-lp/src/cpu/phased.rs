//! The `phased` schedule: the phases of a round one after the other, drawn anew each round.
//!
//! [`PhasedOrder`](crate::schedules::PhasedOrder) defines which vertices a phase has.
//!
//! ```text
//! for each phase:  choose   compact the phase's active vertices; make them inactive
//!                           labels ──▶ chosen     no vertex sees another's change
//!                  commit   chosen ──▶ labels     drafts ──▶ columns
//!                  activate activate disagreeing neighbours: for a later phase or the next round
//!                           chosen ──▶ label totals
//! ```
//!
//! Each step is a loop over *parts*, which threads share: consecutive blocks of the schedule, whose vertices
//! that change have their own places in the arrays of a phase. A thread mostly meets the same parts in all steps and
//! phases ([`ThreadTeam`]), so that it reads what it has written itself: another core's cache lines take as long to read as
//! counting several votes.

use super::active::{Activated, ActiveSet, vertices_of};
use super::drafts::Drafts;
use super::state::{LpState, Workspace};
use crate::hash::Clock;
use crate::ranks::Update;
use crate::rounds::{Finished, Rounds};
use crate::schedules::UnitSchedule;
use crate::team::{StandingTeam, ThreadTeam};
use crate::{Hints, Label, NO_LABEL, Round, RunError, Schedule, State};
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{MAX_VERTICES, Observer, VertexId};
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32};

/// The most members of a block in a phase.
const MEMBERS_PER_BLOCK: usize = UnitSchedule::UNIT as usize;
/// The fewest blocks of a part; all parts have a multiple, so that no word of the active set has vertices of two.
const LEAST_BLOCKS: usize = 64 / MEMBERS_PER_BLOCK;
/// The most blocks of a part: to compact them takes some ten microseconds.
const MOST_BLOCKS: usize = 1 << 12;
/// The active vertices that a part should have: some microseconds, ten times as long as claiming it takes.
const MEMBERS_PER_PART: u64 = 64;
/// The active vertices that a part should have in a round without helpers.
const MEMBERS_ALONE: u64 = Workspace::VERTICES as u64;
/// The fewest active vertices per phase for which a round has helpers.
const MEMBERS_TO_SHARE: u64 = 2 * MEMBERS_PER_PART;
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
    /// The blocks that have vertices to update: all, or those of a rank.
    scheduled: Range<u64>,
    /// The vertices that change in the phase, at the place of their part.
    members: Vec<AtomicU32>,
    chosen: Vec<AtomicU32>,
    /// The labels of the members before the phase.
    before: Vec<AtomicU32>,
    /// The number of members of each part.
    found: Vec<AtomicU32>,
    /// The blocks of a part, in this round.
    blocks_per_part: usize,
    team: StandingTeam,
    /// Whether the team's helpers share the parts, in this round.
    is_shared: bool,
    /// The vertices that each thread has activated in this round, if there are several threads: in
    /// one set for all, they would wait for one another's cache lines. Empty between rounds.
    activated: Vec<ActiveSet>,
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
}

/// Returns the bytes of the arrays of a phase that updates `own` vertices: its vertices, their choices and their labels
/// before; with `draft_len` values per vertex, also the drafts; and of the sets of activated vertices.
pub(super) fn bytes_for(
    own: Range<VertexId>,
    vertices: u64,
    phases: u32,
    draft_len: u64,
    threads: usize,
) -> u64 {
    let drafts = if draft_len > 0 { 4 * (draft_len + 1) } else { 0 };
    let scheduled = scheduled(own, phases);
    let blocks = scheduled.end - scheduled.start;
    let places = blocks.saturating_mul(MEMBERS_PER_BLOCK as u64);
    let phase = places
        .saturating_mul(drafts.saturating_add(12))
        .saturating_add(4 * parts_of(blocks, LEAST_BLOCKS));
    phase.saturating_add(sets_for(vertices, threads) as u64 * vertices.div_ceil(64) * 8)
}

/// Returns the blocks that have these vertices, from the beginning of a part on.
fn scheduled(own: Range<VertexId>, phases: u32) -> Range<u64> {
    let part = (LEAST_BLOCKS * MEMBERS_PER_BLOCK) as u64 * u64::from(phases.max(1));
    let begin = u64::from(own.start) / part * LEAST_BLOCKS as u64;
    let end = if own.is_empty() { begin } else { UnitSchedule::blocks(own.end.into(), phases) };
    begin..end
}

/// Returns the number of parts.
fn parts_of(blocks: u64, blocks_per_part: usize) -> u64 {
    blocks.div_ceil(blocks_per_part as u64)
}

/// Returns the number of values of a member in `drafts`.
fn record_len(draft_len: usize) -> usize {
    if draft_len > 0 { draft_len + 1 } else { 0 }
}

impl<'a, P: Hints> PhasedRounds<'a, P> {
    pub fn new(state: LpState<'a, P>, schedule: Schedule) -> Result<Self, OutOfMemory> {
        let all = 0..state.labels.len() as VertexId;
        PhasedRounds::of(all, state, schedule)
    }

    /// Creates rounds that update these vertices; no other one may be active in a phase.
    pub fn of(
        own: Range<VertexId>,
        state: LpState<'a, P>,
        schedule: Schedule,
    ) -> Result<Self, OutOfMemory> {
        let vertices = state.labels.len() as u64;
        let scheduled = scheduled(own, schedule.phases());
        let blocks = scheduled.end - scheduled.start;
        let places = blocks as usize * MEMBERS_PER_BLOCK;
        let zeros = |count| memory::collected((0..count).map(|_| AtomicU32::new(0)));
        Ok(PhasedRounds {
            members: zeros(places)?,
            chosen: zeros(places)?,
            before: zeros(places)?,
            found: zeros(parts_of(blocks, LEAST_BLOCKS) as usize)?,
            blocks_per_part: LEAST_BLOCKS,
            team: StandingTeam::new(state.threads() - 1),
            is_shared: false,
            activated: (0..sets_for(vertices, state.threads()))
                .map(|_| ActiveSet::none(vertices as u32))
                .collect::<Result<_, _>>()?,
            drafts: Drafts::new(places, record_len(state.columns.draft_len()))?,
            state,
            schedule,
            scheduled,
        })
    }

    /// Begins a round, which all threads share if many vertices are active; returns its clock.
    pub fn begin_round(&mut self, index: u32) -> Clock {
        let active = self.state.active.len();
        self.is_shared = self.state.threads() > 1
            && active >= MEMBERS_TO_SHARE * u64::from(self.schedule.phases());
        self.divide(active, if self.is_shared { MEMBERS_PER_PART } else { MEMBERS_ALONE });
        self.state.begin_round(index)
    }

    /// Divides the blocks into parts with about `members` of this many active vertices in a phase.
    fn divide(&mut self, active: u64, members: u64) {
        let per_phase = active / u64::from(self.schedule.phases());
        let blocks = self.blocks().saturating_mul(members) / per_phase.max(1);
        let blocks = (blocks as usize).clamp(LEAST_BLOCKS, MOST_BLOCKS);
        self.blocks_per_part = blocks.next_multiple_of(LEAST_BLOCKS);
    }

    /// Finds the labels of a phase's active vertices, without committing them; [`Self::commit`] and
    /// [`Self::activate_neighbors`] follow.
    pub fn choose(
        &self,
        clock: Clock,
        phase: u32,
        observer: &dyn Observer,
    ) -> Result<Round, RunError> {
        let round = self.begin(clock, observer);
        self.team.lead(self.is_shared, |team| round.choose(phase, team));
        round.finish()
    }

    /// Commits the phase's changes to labels, label totals and columns.
    pub fn commit(&self) {
        let ranges = self.ranges();
        self.team.lead(self.is_shared, |team| {
            team.run(ranges + self.parts(), |part| match part.checked_sub(ranges) {
                None => self.shift_totals(part, ranges),
                Some(part) => self.commit_part(part),
            });
        });
    }

    /// Activates the neighbours of the vertices that changed.
    pub fn activate_neighbors(&self) {
        self.team.lead(self.is_shared, |team| {
            team.run(self.parts(), |part| self.activate_part(part, self.activated_here()));
        });
        self.gather_activated();
    }

    /// Moves the vertices that each thread has activated into the active set.
    fn gather_activated(&self) {
        self.activated.iter().for_each(|set| self.state.active.append(set));
    }

    /// Returns the number of ranges of labels whose totals are updated as one part.
    fn ranges(&self) -> usize {
        let changes = (0..self.parts()).map(|part| self.places(part).len()).sum::<usize>();
        changes.div_ceil(CHANGES_PER_RANGE).min(self.state.threads())
    }

    /// Yields the label updates of a part.
    pub fn updates_of(&self, part: usize) -> impl Iterator<Item = Update> {
        self.places(part).map(|index| {
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

    /// Yields the labels of the vertices of [`Self::updates`] before the phase, in the same order.
    pub fn labels_before(&self) -> impl Iterator<Item = Label> {
        let places = (0..self.parts()).flat_map(|part| self.places(part));
        places.map(|index| self.before[index].load(Relaxed))
    }

    fn begin<'r>(&'r self, clock: Clock, observer: &'r dyn Observer) -> PhasedRound<'r, 'a, P> {
        PhasedRound {
            rounds: self,
            clock,
            units: UnitSchedule::new(clock, self.schedule),
            observer,
            cancelled: AtomicBool::new(false),
        }
    }

    /// Returns the number of blocks that have vertices to update.
    fn blocks(&self) -> u64 {
        self.scheduled.end - self.scheduled.start
    }

    /// Returns the number of parts.
    pub fn parts(&self) -> usize {
        parts_of(self.blocks(), self.blocks_per_part) as usize
    }

    /// Returns the places of a part's members.
    #[inline]
    fn places(&self, part: usize) -> Range<usize> {
        let first = part * self.blocks_per_part * MEMBERS_PER_BLOCK;
        first..first + self.found[part].load(Relaxed) as usize
    }

    /// Chooses for the active vertices of a part's blocks in a phase, and removes them from the active set. Those that
    /// change are the part's members.
    fn choose_part(&self, round: &PhasedRound<'_, '_, P>, phase: u32, part: usize) {
        let first = part * self.blocks_per_part;
        let blocks = first..(first + self.blocks_per_part).min(self.blocks() as usize);
        let has_drafts = self.state.columns.draft_len() > 0;
        let mut end = first * MEMBERS_PER_BLOCK;
        self.state.with_workspace(|Workspace { scratch, vertices, counts }| {
            let mut choose = |vertices: &mut Vec<VertexId>| {
                counts.visited += vertices.len() as u64;
                self.state.for_each(vertices, |_, v| {
                    let choice = self.state.choose(v, round.clock, scratch);
                    counts.count(choice);
                    let relabelled = choice.label != choice.before;
                    let changes = relabelled | choice.redrafted;
                    // Without a branch, which would be predicted badly: the next member overwrites one that stays.
                    self.members[end].store(v.vertex, Relaxed);
                    self.chosen[end].store(if relabelled { choice.label } else { KEEP }, Relaxed);
                    self.before[end].store(choice.before, Relaxed);
                    if has_drafts {
                        self.drafts.put_marked(end, choice.redrafted, &scratch.draft);
                    }
                    counts.changed += u64::from(changes);
                    end += usize::from(changes);
                });
                vertices.clear();
            };
            vertices.clear();
            for block in blocks {
                let block = (self.scheduled.start as usize + block) as u32;
                let (first, pattern) = round.units.unit(block, phase);
                let (word, offset) = ((first / 64) as usize, first % 64);
                vertices.extend(vertices_of(word, self.take(word, pattern << offset)));
                if offset > 0 {
                    let rest = self.take(word + 1, pattern >> (64 - offset));
                    vertices.extend(vertices_of(word + 1, rest));
                }
                if vertices.len() > Workspace::VERTICES - MEMBERS_PER_BLOCK {
                    choose(vertices);
                }
            }
            choose(vertices);
        });
        self.found[part].store((end - first * MEMBERS_PER_BLOCK) as u32, Relaxed);
    }

    /// Removes the active vertices of some bits of a word from the active set, and returns them.
    #[inline]
    fn take(&self, word: usize, bits: u64) -> u64 {
        let active = self.state.active.remove(word, bits);
        self.activated.iter().fold(active, |all, set| all | set.remove(word, bits))
    }

    fn commit_part(&self, part: usize) {
        for index in self.places(part) {
            let (v, label) = (self.members[index].load(Relaxed), self.chosen[index].load(Relaxed));
            if label != KEEP {
                self.state.labels[v as usize].store(label, Relaxed);
            }
            if is_drafted(&self.drafts, index) {
                self.state.columns.commit(v, self.drafts.get(index).skip(1));
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
        for index in (0..self.parts()).flat_map(|part| self.places(part)) {
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
        let places = self.places(part);
        let (members, chosen) = (&self.members[places.clone()], &self.chosen[places]);
        let state = &self.state;
        let chunks = members.chunks(Workspace::VERTICES).zip(chosen.chunks(Workspace::VERTICES));
        for (members, chosen) in chunks {
            state.with_workspace(|Workspace { vertices, .. }| {
                vertices.clear();
                vertices.extend(members.iter().map(|v| v.load(Relaxed)));
                state.for_each_changed(vertices, |index, v| match chosen[index].load(Relaxed) {
                    KEEP => state.activate_neighbors(v, state.label(v.vertex), false, active),
                    label => state.activate_neighbors(v, label, true, active),
                });
            });
        }
    }
}

/// Returns the number of sets of activated vertices. Of many vertices or threads, two rarely meet.
fn sets_for(vertices: u64, threads: usize) -> usize {
    match threads {
        2..=8 if vertices <= MOST_IN_SETS => threads,
        _ => 0,
    }
}

impl<P: Hints> PhasedRound<'_, '_, P> {
    /// Performs a phase. Returns false if the run is cancelled.
    fn phase(&self, phase: u32, team: &ThreadTeam) -> bool {
        if !self.choose(phase, team) {
            return false;
        }
        let (rounds, ranges) = (self.rounds, self.rounds.ranges());
        team.run(rounds.parts(), |part| rounds.commit_part(part));
        team.run(ranges + rounds.parts(), |part| match part.checked_sub(ranges) {
            None => rounds.shift_totals(part, ranges),
            Some(part) => rounds.activate_part(part, rounds.activated_here()),
        });
        true
    }

    /// Chooses for the phase's active vertices. Returns false if the run is cancelled.
    fn choose(&self, phase: u32, team: &ThreadTeam) -> bool {
        team.run(self.rounds.parts(), |part| {
            if self.observer.is_cancelled() {
                self.cancelled.store(true, Relaxed);
            } else {
                self.rounds.choose_part(self, phase, part);
            }
        });
        !self.cancelled.load(Relaxed)
    }

    fn finish(self) -> Result<Round, RunError> {
        self.rounds.gather_activated();
        let counts = self.rounds.state.take_counts();
        if self.cancelled.into_inner() { Err(RunError::Cancelled) } else { Ok(counts) }
    }
}

/// Returns whether a member has a draft.
#[inline]
fn is_drafted(drafts: &Drafts, member: usize) -> bool {
    drafts.get(member).next() == Some(1)
}

impl<P: Hints> Rounds for PhasedRounds<'_, P> {
    fn round(&mut self, index: u32, observer: &dyn Observer) -> Result<Round, RunError> {
        let clock = self.begin_round(index);
        let (phases, round) = (self.schedule.phases(), self.begin(clock, observer));
        self.team
            .lead(self.is_shared, |team| _ = (0..phases).all(|phase| round.phase(phase, team)));
        let round = round.finish()?;
        self.state.end_round();
        Ok(round)
    }

    fn state(&mut self) -> Result<State<'_>, RunError> {
        Ok(self.state.state())
    }

    fn finish(self: Box<Self>) -> Result<Finished, RunError> {
        drop((self.members, self.chosen, self.before, self.found));
        drop((self.drafts, self.activated, self.team));
        Ok(self.state.finish())
    }
}
