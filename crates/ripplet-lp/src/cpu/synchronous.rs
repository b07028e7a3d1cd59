//! `sync`: every active vertex against the labels of the round before.
//!
//! ```text
//! choose   labels ──▶ next     all active vertices; the others' labels are copied
//! swap     labels ◀─▶ next
//! settle   where the two differ: move totals, wake neighbours
//! ```

use super::active::vertices_of;
use super::field::Field;
use super::votes::Votes;
use crate::hash::{Clock, mix};
use crate::rounds::{Observer, Rounds};
use crate::{Label, Program, Round, RunError};
use rayon::prelude::*;
use std::collections::TryReserveError;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Words of 64 vertices that one task handles.
const WORDS_PER_TASK: usize = 8;

pub(super) struct SyncRounds<'a, P> {
    field: Field<'a, P>,
    next: Vec<AtomicU32>,
    fingerprint: u64,
}

impl<'a, P: Program> SyncRounds<'a, P> {
    pub fn new(field: Field<'a, P>) -> Result<Self, TryReserveError> {
        let mut next = Vec::new();
        next.try_reserve_exact(field.labels.len())?;
        next.par_extend(field.labels.par_iter().map(|l| AtomicU32::new(l.load(Relaxed))));
        Ok(SyncRounds { field, next, fingerprint: 0 })
    }

    /// Chooses for the active vertices of some words, which stop being active.
    fn choose(&self, words: std::ops::Range<usize>, clock: Clock, votes: &mut Votes) -> Round {
        let mut tally = Round::default();
        for word in words {
            let bits = self.field.active.take(word);
            let last = ((word + 1) * 64).min(self.next.len());
            for v in word * 64..last {
                self.next[v].store(self.field.label(v as u32), Relaxed);
            }
            for v in vertices_of(word, bits) {
                let (label, arcs) = self.field.choose(v, clock, votes);
                self.next[v as usize].store(label, Relaxed);
                tally.visited += 1;
                tally.scanned += arcs;
            }
        }
        tally
    }

    /// After the swap: `next` has the labels before. Returns the changes and their fingerprint.
    fn settle(&self, vertices: std::ops::Range<usize>) -> (u64, u64) {
        let (mut changed, mut print) = (0, 0u64);
        for v in vertices {
            let (before, now) = (self.next[v].load(Relaxed), self.field.label(v as u32));
            if before != now {
                self.field.shift_total(v as u32, before, now);
                self.field.wake_neighbors(v as u32, now);
                changed += 1;
                print =
                    print.wrapping_add(trace(v as u32, now)).wrapping_sub(trace(v as u32, before));
            }
        }
        (changed, print)
    }
}

impl<P: Program> Rounds for SyncRounds<'_, P> {
    fn round(&mut self, index: u32, observer: &dyn Observer) -> Result<Round, RunError> {
        let clock = self.field.clock(index);
        let words = self.field.active.words();
        let tasks = words.div_ceil(WORDS_PER_TASK);
        let mut round = (0..tasks)
            .into_par_iter()
            .map(|task| {
                if observer.is_cancelled() {
                    return Err(RunError::Cancelled);
                }
                let start = task * WORDS_PER_TASK;
                let part = start..(start + WORDS_PER_TASK).min(words);
                Ok(self.field.with_votes(|votes| self.choose(part, clock, votes)))
            })
            .try_reduce(Round::default, |a, b| Ok(a.plus(b)))?;
        std::mem::swap(&mut self.field.labels, &mut self.next);
        let vertices = self.next.len();
        let (changed, print) = (0..vertices.div_ceil(WORDS_PER_TASK * 64))
            .into_par_iter()
            .map(|task| {
                let start = task * WORDS_PER_TASK * 64;
                self.settle(start..(start + WORDS_PER_TASK * 64).min(vertices))
            })
            .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1.wrapping_add(b.1)));
        self.field.end_round();
        self.fingerprint = self.fingerprint.wrapping_add(print);
        round.changed = changed;
        round.fingerprint = Some(self.fingerprint);
        Ok(round)
    }

    fn into_labels(self) -> Vec<Label> {
        drop(self.next);
        self.field.into_labels()
    }
}

/// One vertex's part of the fingerprint, which is their sum and so needs no order.
fn trace(v: u32, label: Label) -> u64 {
    u64::from(mix(v ^ mix(label))) << 32 | u64::from(mix(label ^ mix(!v)))
}
