//! `async`: each active vertex sees whatever labels are there, and is seen at once.
//!
//! Not deterministic on more than one thread: what a vertex sees depends on who was faster.

use super::field::{Desk, Field};
use crate::hash::Clock;
use crate::rounds::{Observer, Rounds};
use crate::{Label, Program, Round, RunError};
use std::ops::Range;

pub(super) struct AsyncRounds<'a, P> {
    field: Field<'a, P>,
}

impl<'a, P: Program> AsyncRounds<'a, P> {
    pub fn new(field: Field<'a, P>) -> Self {
        AsyncRounds { field }
    }

    /// Updates the active vertices of some words.
    fn update(&self, words: Range<usize>, clock: Clock, desk: &mut Desk) -> Round {
        let (field, Desk { votes, vertices }) = (&self.field, desk);
        field.active.take(words, vertices);
        let mut tally = Round { visited: vertices.len() as u64, ..Round::default() };
        field.for_each(vertices, |_, v| {
            let (label, arcs) = field.choose(v, clock, votes);
            tally.scanned += arcs;
            if label != field.label(v) {
                tally.changed += 1;
                field.commit(v, label);
                field.wake_neighbors(v, label);
            }
        });
        tally
    }
}

impl<P: Program> Rounds for AsyncRounds<'_, P> {
    fn round(&mut self, index: u32, observer: &dyn Observer) -> Result<Round, RunError> {
        let clock = self.field.clock(index);
        let round =
            self.field.for_active_words(observer, |words, desk| self.update(words, clock, desk))?;
        self.field.end_round();
        Ok(round)
    }

    fn into_labels(self) -> Vec<Label> {
        self.field.into_labels()
    }
}
