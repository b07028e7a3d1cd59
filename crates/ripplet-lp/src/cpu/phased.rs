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

use super::drafts::Drafts;
use super::state::{LpState, Workspace};
use crate::hash::Clock;
use crate::ranks::Update;
use crate::rounds::{Finished, Rounds};
use crate::schedules::{UnitSchedule, largest_phase};
use crate::{Hints, Label, NO_LABEL, Round, RunError, Schedule, State};
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{MAX_VERTICES, Observer, VertexId};

/// Blocks that a task compacts: enough to take longer than starting a thread.
const BLOCKS_PER_TASK: u32 = 1 << 12;
/// Vertices of a task.
const VERTICES_PER_TASK: usize = Workspace::VERTICES / 2;
/// The prefetch distance of a commit, in vertices.
const COMMITS_AHEAD: usize = 8;
/// A value of `chosen`: the vertex keeps its label. Neither a vertex nor
/// [`NO_LABEL`](crate::NO_LABEL).
const KEEP: Label = Label::MAX - 1;
const _: () = assert!(KEEP >= MAX_VERTICES && KEEP != NO_LABEL);

pub(super) struct PhasedRounds<'a, P> {
    pub state: LpState<'a, P>,
    schedule: Schedule,
    members: Vec<VertexId>,
    chosen: Vec<Label>,
    /// For each member, whether it has a draft, followed by the draft.
    drafts: Drafts,
}

/// Returns the bytes of a phase's arrays: its vertices, a second copy while they are compacted, and
/// their choices; with `draft_len` values per vertex, also the drafts.
pub(super) fn bytes_for(vertices: u64, phases: u32, draft_len: u64) -> u64 {
    let drafts = if draft_len > 0 { 4 * (draft_len + 1) } else { 0 };
    largest_phase(vertices, phases).saturating_mul(drafts.saturating_add(12))
}

/// Returns the number of values of a member in `drafts`.
fn record_len(draft_len: usize) -> usize {
    if draft_len > 0 { draft_len + 1 } else { 0 }
}

impl<'a, P: Hints> PhasedRounds<'a, P> {
    pub fn new(state: LpState<'a, P>, schedule: Schedule) -> Result<Self, OutOfMemory> {
        let largest = largest_phase(state.labels.len() as u64, schedule.phases()) as usize;
        let (members, chosen) = (memory::with_room(largest)?, memory::with_room(largest)?);
        let drafts = Drafts::new(largest, record_len(state.columns.draft_len()))?;
        Ok(PhasedRounds { state, schedule, members, chosen, drafts })
    }

    /// Compacts the phase's active vertices into `members`, ascending, and removes them from the
    /// active set.
    pub fn compact_frontier(&mut self, clock: Clock, phase: u32) {
        let (schedule, active) = (UnitSchedule::new(clock, self.schedule), &self.state.active);
        let vertices = self.state.labels.len() as u64;
        let blocks = vertices.div_ceil(schedule.block_size()) as u32;
        let gather_blocks = |task: u32| {
            let start = task * BLOCKS_PER_TASK;
            let at_turn = (start..start.saturating_add(BLOCKS_PER_TASK).min(blocks))
                .filter(|&block| active.any_in(schedule.block(block)))
                .flat_map(|block| schedule.unit(block, phase))
                .filter(|&v| v < vertices)
                .map(|v| v as VertexId)
                .filter(|&v| active.contains(v));
            let found: Vec<VertexId> = at_turn.collect();
            found.iter().for_each(|&v| active.remove(v));
            found
        };
        let tasks = blocks.div_ceil(BLOCKS_PER_TASK);
        let found: Vec<Vec<VertexId>> = (0..tasks).into_par_iter().map(gather_blocks).collect();
        self.members.clear();
        found.iter().for_each(|part| self.members.extend_from_slice(part));
    }

    pub fn choose(&mut self, clock: Clock, observer: &dyn Observer) -> Result<Round, RunError> {
        let (state, drafts) = (&self.state, &self.drafts);
        self.chosen.clear();
        self.chosen.resize(self.members.len(), KEEP);
        let members = self.members.par_chunks(VERTICES_PER_TASK);
        members
            .zip(self.chosen.par_chunks_mut(VERTICES_PER_TASK))
            .enumerate()
            .map(|(task, (members, chosen))| {
                if observer.is_cancelled() {
                    return Err(RunError::Cancelled);
                }
                let part = Part { first: task * VERTICES_PER_TASK, members, chosen, drafts };
                Ok(state.with_workspace(|workspace| part.choose(state, clock, workspace)))
            })
            .try_reduce(Round::default, |a, b| Ok(a.plus(b)))
    }

    /// Drops the members that do not change, so that the following steps are short.
    pub fn drop_unchanged(&mut self) {
        let mut kept = 0;
        for index in 0..self.members.len() {
            if self.chosen[index] != KEEP || is_drafted(&self.drafts, index) {
                (self.members[kept], self.chosen[kept]) = (self.members[index], self.chosen[index]);
                self.drafts.move_down(index, kept);
                kept += 1;
            }
        }
        self.members.truncate(kept);
        self.chosen.truncate(kept);
    }

    /// Commits the phase's changes to labels, label totals and columns.
    pub fn commit(&self) {
        let state = &self.state;
        self.changes().for_each(|(_, members, chosen)| {
            for (index, (&v, &label)) in members.iter().zip(chosen).enumerate() {
                let later = index + COMMITS_AHEAD;
                if let (Some(&v), Some(&label)) = (members.get(later), chosen.get(later)) {
                    state.fetch_commit(v, label);
                }
                if label != KEEP {
                    state.commit(v, label);
                }
            }
        });
        if state.columns.draft_len() == 0 {
            return;
        }
        self.changes().for_each(|(first, members, _)| {
            for (index, &v) in members.iter().enumerate() {
                if is_drafted(&self.drafts, first + index) {
                    state.columns.commit(v, self.drafts.get(first + index).skip(1));
                }
            }
        });
    }

    /// Activates the neighbours of the vertices that changed.
    pub fn activate_neighbors(&self) {
        let state = &self.state;
        self.changes().for_each(|(_, members, chosen)| {
            state.for_each_changed(members, |index, v| match chosen[index] {
                KEEP => state.activate_neighbors(v, state.label(v), false),
                label => state.activate_neighbors(v, label, true),
            });
        });
    }

    /// Yields the label updates of the phase.
    pub fn updates(&self) -> impl Iterator<Item = Update> {
        let chosen = self.members.iter().zip(&self.chosen).enumerate();
        chosen.map(|(index, (&v, &label))| {
            let label = if label == KEEP { self.state.label(v) } else { label };
            let values = match is_drafted(&self.drafts, index) {
                true => self.drafts.get(index).skip(1).collect(),
                false => self
                    .state
                    .columns
                    .written(v)
                    .map(|held| held.load(std::sync::atomic::Ordering::Relaxed))
                    .collect(),
            };
            Update { vertex: v, label, values }
        })
    }

    /// Yields the changes of the phase in parts: the index of the first one, vertices, new labels.
    fn changes(&self) -> impl ParallelIterator<Item = (usize, &[VertexId], &[Label])> {
        let members = self.members.par_chunks(VERTICES_PER_TASK);
        let changes = members.zip(self.chosen.par_chunks(VERTICES_PER_TASK)).enumerate();
        changes.map(|(task, (members, chosen))| (task * VERTICES_PER_TASK, members, chosen))
    }
}

/// Returns whether a member has a draft.
fn is_drafted(drafts: &Drafts, member: usize) -> bool {
    drafts.get(member).next() == Some(1)
}

/// A range of a phase's members.
struct Part<'a> {
    /// The index of the first one.
    first: usize,
    members: &'a [VertexId],
    chosen: &'a mut [Label],
    drafts: &'a Drafts,
}

impl Part<'_> {
    /// Chooses a label for each member.
    fn choose<P: Hints>(
        self,
        state: &LpState<'_, P>,
        clock: Clock,
        workspace: &mut Workspace,
    ) -> Round {
        let mut tally = Round { visited: self.members.len() as u64, ..Round::default() };
        let has_drafts = state.columns.draft_len() > 0;
        state.for_each(self.members, |index, v| {
            let choice = state.choose(v, clock, &mut workspace.scratch);
            tally.count(choice);
            let relabelled = choice.label != choice.before;
            if relabelled {
                self.chosen[index] = choice.label;
            }
            if has_drafts {
                self.drafts.put_marked(
                    self.first + index,
                    choice.redrafted,
                    &workspace.scratch.draft,
                );
            }
            tally.changed += u64::from(relabelled | choice.redrafted);
        });
        tally
    }
}

impl<P: Hints> Rounds for PhasedRounds<'_, P> {
    fn round(&mut self, index: u32, observer: &dyn Observer) -> Result<Round, RunError> {
        let clock = self.state.begin_round(index);
        let mut round = Round::default();
        for phase in 0..self.schedule.phases() {
            self.compact_frontier(clock, phase);
            let tally = self.choose(clock, observer)?;
            if tally.changed > 0 {
                self.drop_unchanged();
                self.commit();
                self.activate_neighbors();
            }
            round = round.plus(tally);
        }
        self.state.end_round();
        Ok(round)
    }

    fn state(&mut self) -> Result<State<'_>, RunError> {
        Ok(self.state.state())
    }

    fn finish(self: Box<Self>) -> Result<Finished, RunError> {
        drop((self.members, self.chosen, self.drafts));
        Ok(self.state.finish())
    }
}
