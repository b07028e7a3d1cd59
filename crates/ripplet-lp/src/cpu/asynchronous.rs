//! `async`: each active vertex sees whatever labels are there, and is seen at once.
//!
//! Not deterministic on more than one thread: what a vertex sees depends on who was faster.

use super::field::{Desk, Field};
use crate::hash::Clock;
use crate::rounds::{Observer, Rounds};
use crate::{Column, Label, Program, Round, RunError};
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
        let (field, Desk { sheet, vertices }) = (&self.field, desk);
        field.active.take(words, vertices);
        let mut tally = Round { visited: vertices.len() as u64, ..Round::default() };
        field.for_each(vertices, |_, v| {
            let choice = field.choose(v, clock, sheet);
            tally.count(choice);
            let relabelled = choice.label != field.label(v);
            if choice.redrafted {
                field.columns.commit(v, sheet.draft.iter().copied());
            }
            if relabelled {
                field.commit(v, choice.label);
            }
            if relabelled || choice.redrafted {
                tally.changed += 1;
                field.wake_neighbors(v, choice.label, relabelled);
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

    fn finish(self) -> (Vec<Label>, Vec<Column>) {
        self.field.finish()
    }
}
