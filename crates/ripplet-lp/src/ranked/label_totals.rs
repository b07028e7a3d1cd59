//! Label totals of ranks that have the labels of their own vertices and their neighbours alone.
//!
//! The owner of the vertex by which a label is named has its total, and the set of ranks that read it: those that have the
//! label at a vertex of their own or at a neighbour.
//!
//! ```text
//! rank of v     v changes from label a to label b
//!   ─▶ owner of a   a │ − contribution of v
//!   ─▶ owner of b   b │ + contribution of v │ ranks that have neighbours of v
//! owner of b    total of b changes, and these ranks read it from now on
//!   ─▶ each rank that reads it   b │ total
//! ```
//!
//! A rank thus has the total of a label from the phase on in which it first has the label. It keeps reading totals of labels
//! that it has no longer: these are few, as most labels vanish in the first rounds.
//!
//! Determinism: sums of integers, which do not depend on the order of ranks.

use super::messages::{Messages, foreign, put_total, records};
use super::rank_sets::{RankSets, insert, ranks_of};
use crate::{Label, RunError};
use rayon::prelude::*;
use ripplet_graph::VertexId;
use ripplet_graph::memory::{self, OutOfMemory};
use std::ops::Range;

/// Words of a total update before its set of ranks.
const HEAD: usize = 2;

/// The contributions of a rank's vertices to the totals of their labels.
pub(super) enum Contributions {
    /// Each contributes 1.
    Members,
    /// A value for each own vertex.
    Volumes(Vec<u32>),
}

/// A vertex that changed from one label to another.
pub(super) struct Move {
    pub vertex: VertexId,
    pub before: Label,
    pub label: Label,
}

/// The totals of the labels of a rank's vertices, wherever these labels are.
pub(super) struct LabelTotals {
    /// The own vertices, and the labels that they name.
    own: Range<VertexId>,
    contributions: Contributions,
    totals: Vec<u32>,
    /// The ranks that read each total.
    readers: RankSets,
}

impl LabelTotals {
    /// Creates totals of no vertices.
    pub fn new(
        own: Range<VertexId>,
        ranks: usize,
        contributions: Contributions,
    ) -> Result<LabelTotals, OutOfMemory> {
        let readers = RankSets::none(own.clone(), ranks)?;
        Ok(LabelTotals { totals: memory::zeros(own.len())?, own, contributions, readers })
    }

    /// Returns the bytes on a rank with `own` vertices, with the contributions.
    pub fn bytes_for(own: u64, ranks: usize) -> u64 {
        4 * own * (2 + RankSets::words_for(ranks) as u64)
    }

    /// Returns the total updates of moves, for the owners of the labels. `subscribers` are the ranks that have neighbours of
    /// own vertices.
    pub fn updates_of(
        &self,
        moves: impl Iterator<Item = Move>,
        subscribers: &RankSets,
        messages: &Messages,
    ) -> Vec<Vec<u32>> {
        // A label, the change of its total, and the vertex that joins it.
        let mut changes: Vec<(Label, u32, Option<VertexId>)> = Vec::new();
        for Move { vertex, before, label } in moves.filter(|of| of.before != of.label) {
            let amount = self.contribution(vertex);
            changes.push((before, amount.wrapping_neg(), None));
            changes.push((label, amount, Some(vertex)));
        }
        // A vertex without a label is in no total.
        changes.retain(|&(label, ..)| label < messages.vertices);
        changes.par_sort_unstable_by_key(|&(label, ..)| label);
        let (mut to, mut ranks) = (messages.to_each(), Vec::new());
        for of_label in changes.chunk_by(|a, b| a.0 == b.0) {
            ranks.clear();
            ranks.resize(RankSets::words_for(messages.parts.ranks()), 0);
            let joined = of_label.iter().filter_map(|&(.., vertex)| vertex);
            joined.for_each(|v| unite(&mut ranks, subscribers.of(v)));
            let label = of_label[0].0;
            let amount = of_label.iter().fold(0, |sum: u32, change| sum.wrapping_add(change.1));
            let words: &mut Vec<u32> = &mut to[messages.parts.owner(label)];
            words.extend([label, amount]);
            words.extend(&ranks);
        }
        to
    }

    /// Applies the total updates of all ranks, this one's included; returns the totals that each rank then needs.
    pub fn apply<'m>(
        &mut self,
        received: impl Iterator<Item = (usize, &'m [u32])>,
        messages: &Messages,
    ) -> Result<Vec<Vec<u64>>, RunError> {
        let size = messages.parts.ranks();
        let mut updates: Vec<(Label, u32, usize, &[u32])> = Vec::new();
        for (peer, words) in received {
            for record in records(peer, words, HEAD + RankSets::words_for(size))? {
                match *record {
                    [label, amount, ref ranks @ ..]
                        if self.own.contains(&label) && ranks_of(ranks).all(|rank| rank < size) =>
                    {
                        updates.push((label, amount, peer, ranks));
                    }
                    _ => return Err(foreign(peer, words)),
                }
            }
        }
        updates.par_sort_unstable_by_key(|&(label, _, peer, _)| (label, peer));
        let (mut to, mut new) = (messages.to_each(), Vec::new());
        for of_label in updates.chunk_by(|a, b| a.0 == b.0) {
            new.clear();
            new.resize(RankSets::words_for(size), 0);
            let (label, mut amount) = (of_label[0].0, 0u32);
            for &(_, change, peer, ranks) in of_label {
                amount = amount.wrapping_add(change);
                unite(&mut new, ranks);
                insert(&mut new, peer);
            }
            self.readers.add(label, &mut new);
            let total = &mut self.totals[(label - self.own.start) as usize];
            *total = total.wrapping_add(amount);
            // The others have it already.
            let readers = if amount == 0 { &new } else { self.readers.of(label) };
            ranks_of(readers).for_each(|rank| to[rank].push(put_total(label, *total)));
        }
        Ok(to)
    }

    fn contribution(&self, v: VertexId) -> u32 {
        match &self.contributions {
            Contributions::Members => 1,
            Contributions::Volumes(of) => of[(v - self.own.start) as usize],
        }
    }
}

impl Contributions {
    /// Returns the sum over `own` vertices.
    pub fn sum(&self, own: Range<VertexId>) -> u64 {
        match self {
            Contributions::Members => own.len() as u64,
            Contributions::Volumes(of) => of.iter().map(|&volume| u64::from(volume)).sum(),
        }
    }
}

fn unite(set: &mut [u32], other: &[u32]) {
    set.iter_mut().zip(other).for_each(|(word, other)| *word |= other);
}
