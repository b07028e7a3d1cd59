//! `phased`: the round's phases one after the other, drawn anew each round.
//!
//! ```text
//! for each phase:  gather   the active vertices of the phase, which stop being active
//!                  choose   labels ──▶ chosen     nobody sees anybody's change
//!                  commit   chosen ──▶ labels     and label totals
//!                  wake     neighbours that disagree: for a later phase or the next round
//! ```

use super::active::vertices_of;
use super::field::{Desk, Field};
use crate::hash::{Clock, Stream, mix, part_of};
use crate::rounds::{Observer, Rounds};
use crate::{Label, Program, Round, RunError};
use rayon::prelude::*;
use ripplet_graph::VertexId;

/// Words of 64 vertices that one task gathers from.
const WORDS_PER_TASK: usize = 256;
/// Vertices that one task handles.
const VERTICES_PER_TASK: usize = 256;
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

/// Bytes of the two arrays of a phase. Phases are drawn, so the largest is a little above average:
/// by less than a quarter and 4096, or with a chance below 10⁻⁹ (their sizes are binomial).
pub(super) fn bytes_for(vertices: u64, phases: u32) -> u64 {
    let average = vertices / u64::from(phases.max(1));
    8 * (average + average / 4 + 4096).min(vertices)
}

impl<'a, P: Program> PhasedRounds<'a, P> {
    pub fn new(field: Field<'a, P>, phases: u32) -> Self {
        PhasedRounds { field, phases, members: Vec::new(), chosen: Vec::new() }
    }

    /// Moves the phase's active vertices from the active set into `members`, ascending.
    fn gather(&mut self, clock: Clock, phase: u32) {
        let key = clock.key(Stream::Phase as u32);
        let (active, phases) = (&self.field.active, self.phases);
        let gather_words = |task: usize| {
            let start = task * WORDS_PER_TASK;
            let mut found = Vec::new();
            for word in start..(start + WORDS_PER_TASK).min(active.words()) {
                let mut mine = 0;
                for v in vertices_of(word, active.word(word)) {
                    if part_of(mix(v ^ key), phases) == phase {
                        mine |= 1 << (v % 64);
                        found.push(v);
                    }
                }
                if mine != 0 {
                    active.remove(word, mine);
                }
            }
            found
        };
        let tasks = active.words().div_ceil(WORDS_PER_TASK);
        let found: Vec<Vec<VertexId>> = (0..tasks).into_par_iter().map(gather_words).collect();
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
    fn no_phase_exceeds_its_planned_bytes() {
        for (vertices, phases) in [(0, 1), (100, 16), (5_000, 1), (100_000, 16), (100_000, 64)] {
            for round in 0..4 {
                let key = Clock::new(9, round).key(Stream::Phase as u32);
                let mut sizes = vec![0u64; phases as usize];
                (0..vertices).for_each(|v| sizes[part_of(mix(v ^ key), phases) as usize] += 1);
                let largest = sizes.into_iter().max().unwrap_or(0);
                assert!(8 * largest <= bytes_for(u64::from(vertices), phases));
            }
        }
    }
}
