//! The `phased` schedule: the phases of a round one after the other, drawn anew each round.
//!
//! Vertices form blocks of consecutive ids. In every phase, one *unit* of each block is scheduled:
//! eight vertices that are close to one another but not adjacent in id order. The phases cycle
//! through the units of a block, from a unit that is drawn per block and round. The stride within a
//! unit is drawn anew each round, too.
//!
//! ```text
//! units of 4 instead of 8, 4 phases, stride 2: block 0 starts at unit 3, block 1 at unit 1
//!
//!           block 0: 0 1 2 3 4 5 6 7 8 9 a b c d e f    block 1: 0 1 2 3 4 5 6 7 8 9 a b c d e f
//! phase 0                             .   .   .   .                .   .   .   .
//! phase 1            .   .   .   .                                               .   .   .   .
//! ```
//!
//! The lists of a unit share pages and cache lines, which saves a quarter of a round's time.
//! Vertices with adjacent ids are in different units: in id order they see one another's changes in
//! the same round, as in a sequential sweep, which speeds up convergence if ids are local. Vertices
//! 2, 4 or 6 apart are in one unit for some strides only, so that pairs that swap labels settle.
//! Vertices 8 apart are in one unit for each of the strides. From round 20 on, every fourth round
//! therefore has stride 1.
//!
//! ```text
//! for each phase:  gather   compact the phase's active vertices into a list; make them inactive
//!                  choose   labels ──▶ chosen     no vertex sees another's change
//!                  commit   chosen ──▶ labels     and label totals; drafts ──▶ columns
//!                  wake     activate disagreeing neighbours: for a later phase or the next round
//! ```

use super::drafts::Drafts;
use super::state::{LpState, Workspace};
use crate::hash::{Clock, Stream, mix, part_of};
use crate::rounds::{Finished, Observer, Rounds};
use crate::{Label, NO_LABEL, Program, Round, RunError, State};
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{MAX_VERTICES, VertexId};
use std::ops::Range;

/// Vertices of a block that are scheduled together.
const UNIT: u64 = 8;
/// The number of strides that are drawn from: 2, 4 and 8.
const STRIDES: u32 = 3;
/// The first round whose stride is 1. Few runs take this many rounds, and runs that settle do not
/// need it.
const FIRST_PARTING: u32 = 20;
/// The period, from then on, of rounds with stride 1.
const PARTING_EVERY: u32 = 4;
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
    phases: u32,
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

/// Returns the largest number of vertices of a phase.
fn largest_phase(vertices: u64, phases: u32) -> u64 {
    vertices.min(vertices.div_ceil(UNIT * u64::from(phases.max(1))) * UNIT)
}

/// Returns the number of values of a member in `drafts`.
fn record_len(draft_len: usize) -> usize {
    if draft_len > 0 { draft_len + 1 } else { 0 }
}

/// The assignment of vertices to the phases of a round.
#[derive(Clone, Copy)]
struct UnitSchedule {
    key: u32,
    phases: u64,
    stride: u64,
}

impl UnitSchedule {
    fn new(clock: Clock, phases: u32) -> UnitSchedule {
        let key = clock.key(Stream::Phase as u32);
        // A stride that divides the phases leaves no gap at the end of a block. `u32::MAX` is not
        // the number of a block.
        let drawn = part_of(mix(u32::MAX ^ key), STRIDES);
        let round = clock.round();
        let stride = match round >= FIRST_PARTING && round.is_multiple_of(PARTING_EVERY) {
            true => 1,
            false => (2 << drawn).min(1 << phases.trailing_zeros().min(31)),
        };
        UnitSchedule { key, phases: u64::from(phases), stride }
    }

    /// Returns the number of vertices of a block.
    fn block_size(self) -> u64 {
        UNIT * self.phases
    }

    /// Returns the ids of a block; the last block may exceed the number of vertices.
    #[inline]
    fn block(self, block: u32) -> Range<u64> {
        let first = u64::from(block) * self.block_size();
        first..first + self.block_size()
    }

    /// Yields the vertices of a block that are scheduled in a phase; some may exceed the last
    /// vertex.
    #[inline]
    fn unit(self, block: u32, phase: u32) -> impl Iterator<Item = u64> {
        let start = part_of(mix(block ^ self.key), self.phases as u32);
        let unit = (u64::from(start) + u64::from(phase)) % self.phases;
        let (group, offset) = (unit / self.stride, unit % self.stride);
        let first = self.block(block).start + group * UNIT * self.stride + offset;
        (0..UNIT).map(move |member| first + member * self.stride)
    }
}

impl<'a, P: Program> PhasedRounds<'a, P> {
    pub fn new(state: LpState<'a, P>, phases: u32) -> Result<Self, OutOfMemory> {
        let largest = largest_phase(state.labels.len() as u64, phases) as usize;
        let (members, chosen) = (memory::with_room(largest)?, memory::with_room(largest)?);
        let drafts = Drafts::new(largest, record_len(state.columns.draft_len()))?;
        Ok(PhasedRounds { state, phases, members, chosen, drafts })
    }

    /// Compacts the phase's active vertices into `members`, ascending, and removes them from the
    /// active set.
    pub fn compact_frontier(&mut self, clock: Clock, phase: u32) {
        let (schedule, active) = (UnitSchedule::new(clock, self.phases), &self.state.active);
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

    /// Yields the members that change: the new label, and the new values of the written columns.
    #[cfg(feature = "ranks")]
    pub fn choices(&self) -> impl Iterator<Item = (VertexId, Label, Vec<u32>)> {
        let chosen = self.members.iter().zip(&self.chosen).enumerate();
        chosen.map(|(index, (&v, &label))| {
            let label = if label == KEEP { self.state.label(v) } else { label };
            let draft = match is_drafted(&self.drafts, index) {
                true => self.drafts.get(index).skip(1).collect(),
                false => self
                    .state
                    .columns
                    .written(v)
                    .map(|held| held.load(std::sync::atomic::Ordering::Relaxed))
                    .collect(),
            };
            (v, label, draft)
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
    fn choose<P: Program>(
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

impl<P: Program> Rounds for PhasedRounds<'_, P> {
    fn round(&mut self, index: u32, observer: &dyn Observer) -> Result<Round, RunError> {
        let clock = self.state.begin_round(index);
        let mut round = Round::default();
        for phase in 0..self.phases {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vertex_is_scheduled_once_a_round() {
        for (vertices, phases) in [(0, 1), (1, 32), (100, 1), (1000, 7), (1000, 32), (50, 1000)] {
            for round in 0..9 {
                let schedule = UnitSchedule::new(Clock::new(9, round), phases);
                let blocks = 0..u64::div_ceil(vertices, schedule.block_size()) as u32;
                let in_phase = |phase| blocks.clone().flat_map(move |b| schedule.unit(b, phase));
                let mut seen = Vec::new();
                for phase in 0..phases {
                    let before = seen.len();
                    seen.extend(in_phase(phase).filter(|&v| v < vertices));
                    assert!((seen.len() - before) as u64 <= largest_phase(vertices, phases));
                }
                seen.sort_unstable();
                assert_eq!(seen, (0..vertices).collect::<Vec<_>>());
            }
        }
    }
}
