//! `phased`: the round's phases one after the other, drawn anew each round.
//!
//! Blocks of consecutive vertices are like clocks with one hand each: in every phase, one vertex of
//! each block is at its turn, and each round the hands start anywhere.
//!
//! ```text
//! 4 phases, round r     block 0     block 1     block 2
//! phase 0               0 1 2[3]    4[5]6 7    [8]9 .        [v]: at its turn
//! phase 1              [0]1 2 3     4 5[6]7     8[9].
//! ```
//!
//! So neighbours in id order see one another's changes at once, as in a sequential sweep, which is
//! worth much where ids are local; and no two vertices of different blocks stay in one phase for
//! long, which is what lets swapping pairs settle.
//!
//! ```text
//! for each phase:  gather   the active vertices of the phase, which stop being active
//!                  choose   labels ──▶ chosen     nobody sees anybody's change
//!                  commit   chosen ──▶ labels     and label totals
//!                  wake     neighbours that disagree: for a later phase or the next round
//! ```

use super::field::{Desk, Field};
use crate::hash::{Clock, Stream, mix, part_of};
use crate::rounds::{Observer, Rounds};
use crate::{Label, Program, Round, RunError};
use rayon::prelude::*;
use ripplet_graph::VertexId;
use std::collections::TryReserveError;

/// Blocks that one task gathers from.
const BLOCKS_PER_TASK: u32 = 1024;
/// Vertices that one task handles.
const VERTICES_PER_TASK: usize = Desk::VERTICES / 2;
/// Vertices between a commit and the one whose totals are fetched.
const COMMITS_AHEAD: usize = 8;
/// In `chosen`: the vertex keeps its label. No vertex has this id.
const KEEP: Label = Label::MAX;

pub(super) struct PhasedRounds<'a, P> {
    field: Field<'a, P>,
    phases: u32,
    members: Vec<VertexId>,
    chosen: Vec<Label>,
}

/// Bytes of the arrays of a phase: its vertices, once more while they are gathered, and what they
/// chose.
pub(super) fn bytes_for(vertices: u64, phases: u32) -> u64 {
    12 * vertices.div_ceil(u64::from(phases.max(1)))
}

/// Whose turn it is in a round.
#[derive(Clone, Copy)]
struct Turns {
    key: u32,
    phases: u32,
}

impl Turns {
    fn new(clock: Clock, phases: u32) -> Turns {
        Turns { key: clock.key(Stream::Phase as u32), phases }
    }

    /// The vertex of a block that is at its turn in a phase; it may lie behind the last vertex.
    #[inline]
    fn vertex(self, block: u32, phase: u32) -> Option<VertexId> {
        let start = part_of(mix(block ^ self.key), self.phases);
        let turn = (u64::from(start) + u64::from(phase)) % u64::from(self.phases);
        let first = u64::from(block) * u64::from(self.phases);
        u32::try_from(first + turn).ok()
    }
}

impl<'a, P: Program> PhasedRounds<'a, P> {
    pub fn new(field: Field<'a, P>, phases: u32) -> Result<Self, TryReserveError> {
        let largest = field.labels.len().div_ceil(phases as usize);
        let (mut members, mut chosen) = (Vec::new(), Vec::new());
        members.try_reserve_exact(largest)?;
        chosen.try_reserve_exact(largest)?;
        Ok(PhasedRounds { field, phases, members, chosen })
    }

    /// Moves the phase's active vertices from the active set into `members`, ascending.
    fn gather(&mut self, clock: Clock, phase: u32) {
        let (turns, active) = (Turns::new(clock, self.phases), &self.field.active);
        let vertices = self.field.labels.len() as u32;
        let blocks = vertices.div_ceil(self.phases);
        let gather_blocks = |task: u32| {
            let start = task * BLOCKS_PER_TASK;
            let at_turn = (start..start.saturating_add(BLOCKS_PER_TASK).min(blocks))
                .filter_map(|block| turns.vertex(block, phase))
                .filter(|&v| v < vertices && active.contains(v));
            let found: Vec<VertexId> = at_turn.collect();
            found.iter().for_each(|&v| active.remove(v));
            found
        };
        let tasks = blocks.div_ceil(BLOCKS_PER_TASK);
        let found: Vec<Vec<VertexId>> = (0..tasks).into_par_iter().map(gather_blocks).collect();
        self.members.clear();
        found.iter().for_each(|part| self.members.extend_from_slice(part));
    }

    fn choose(&mut self, clock: Clock, observer: &dyn Observer) -> Result<Round, RunError> {
        let field = &self.field;
        self.chosen.clear();
        self.chosen.resize(self.members.len(), KEEP);
        let members = self.members.par_chunks(VERTICES_PER_TASK);
        members
            .zip(self.chosen.par_chunks_mut(VERTICES_PER_TASK))
            .map(|(members, chosen)| {
                if observer.is_cancelled() {
                    return Err(RunError::Cancelled);
                }
                Ok(field.at_desk(|desk| choose_each(field, clock, members, chosen, desk)))
            })
            .try_reduce(Round::default, |a, b| Ok(a.plus(b)))
    }

    /// Writes the phase's changes to labels and label totals.
    fn commit(&self) {
        let field = &self.field;
        self.for_changed(|changes| {
            for (index, &(v, label)) in changes.iter().enumerate() {
                if let Some(&(v, label)) = changes.get(index + COMMITS_AHEAD) {
                    field.fetch_commit(v, label);
                }
                field.commit(v, label);
            }
        });
    }

    /// Wakes the neighbours of those who changed.
    fn wake(&self) {
        let field = &self.field;
        self.for_changed(|changes| {
            field.at_desk(|Desk { vertices, .. }| {
                vertices.clear();
                vertices.extend(changes.iter().map(|(v, _)| v));
                field.for_each(vertices, |index, v| field.wake_neighbors(v, changes[index].1));
            });
        });
    }

    /// Calls `act` with the changes of the phase, some at a time: vertices and their new labels.
    fn for_changed(&self, act: impl Fn(&[(VertexId, Label)]) + Sync) {
        let members = self.members.par_chunks(VERTICES_PER_TASK);
        members.zip(self.chosen.par_chunks(VERTICES_PER_TASK)).for_each(|(members, chosen)| {
            let mut changes = [(0, 0); VERTICES_PER_TASK];
            let mut count = 0;
            for (&v, &label) in members.iter().zip(chosen).filter(|(_, label)| **label != KEEP) {
                changes[count] = (v, label);
                count += 1;
            }
            act(&changes[..count]);
        });
    }
}

/// Chooses for some members of a phase.
fn choose_each<P: Program>(
    field: &Field<'_, P>,
    clock: Clock,
    members: &[VertexId],
    chosen: &mut [Label],
    desk: &mut Desk,
) -> Round {
    let mut tally = Round { visited: members.len() as u64, ..Round::default() };
    field.for_each(members, |index, v| {
        let (label, arcs) = field.choose(v, clock, &mut desk.votes);
        tally.scanned += arcs;
        if label != field.label(v) {
            chosen[index] = label;
            tally.changed += 1;
        }
    });
    tally
}

impl<P: Program> Rounds for PhasedRounds<'_, P> {
    fn round(&mut self, index: u32, observer: &dyn Observer) -> Result<Round, RunError> {
        let clock = self.field.clock(index);
        let mut round = Round::default();
        for phase in 0..self.phases {
            self.gather(clock, phase);
            let tally = self.choose(clock, observer)?;
            if tally.changed > 0 {
                self.commit();
                self.wake();
            }
            round = round.plus(tally);
        }
        self.field.end_round();
        Ok(round)
    }

    fn into_labels(self) -> Vec<Label> {
        drop((self.members, self.chosen));
        self.field.into_labels()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vertex_has_one_turn_a_round() {
        for (vertices, phases) in [(0, 1), (1, 32), (100, 1), (1000, 7), (1000, 32), (50, 1000)] {
            for round in 0..3 {
                let turns = Turns::new(Clock::new(9, round), phases);
                let blocks = 0..u32::div_ceil(vertices, phases);
                let in_phase = |phase| blocks.clone().filter_map(move |b| turns.vertex(b, phase));
                let mut seen: Vec<VertexId> = (0..phases).flat_map(in_phase).collect();
                seen.sort_unstable();
                seen.truncate(vertices as usize);
                assert_eq!(seen, (0..vertices).collect::<Vec<_>>());
            }
        }
    }
}
