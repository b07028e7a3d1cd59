//! `async`: each active vertex sees whatever labels are there, and is seen at once.
//!
//! Not deterministic on more than one thread: what a vertex sees depends on who was faster.

use super::field::{Desk, Field};
use crate::hash::Clock;
use crate::rounds::{Observer, Rounds};
use crate::{Label, Program, Round, RunError};
use rayon::prelude::*;
use std::ops::Range;

/// Words of 64 vertices that one task handles.
const WORDS_PER_TASK: usize = Desk::VERTICES / 64;

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
        let field = &self.field;
        let clock = field.clock(index);
        let words = field.active.words();
        let round = (0..words.div_ceil(WORDS_PER_TASK))
            .into_par_iter()
            .map(|task| {
                if observer.is_cancelled() {
                    return Err(RunError::Cancelled);
                }
                let start = task * WORDS_PER_TASK;
                let part = start..(start + WORDS_PER_TASK).min(words);
                Ok(field.at_desk(|desk| self.update(part, clock, desk)))
            })
            .try_reduce(Round::default, |a, b| Ok(a.plus(b)))?;
        field.end_round();
        Ok(round)
    }

    fn into_labels(self) -> Vec<Label> {
        self.field.into_labels()
    }
}
