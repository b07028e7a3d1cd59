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
//! A rank thus has the total of a label from the phase on in which it first has the label. It reads the total until no vertex
//! has the label, also if none of its own does: most labels vanish in the first rounds.
//!
//! Determinism: sums of integers, which do not depend on the order of ranks.

use super::messages::{Messages, foreign, put_total, records};
use super::rank_sets::{RankSets, insert, ranks_of};
use crate::{Label, RunError};
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{GraphView, VertexId};
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
    /// Whether only labels without a vertex have a total of 0.
    vanish: bool,
}

impl LabelTotals {
    /// Creates totals of no vertices. `vanish` is whether, on all ranks, each vertex with neighbours contributes more than 0.
    pub fn new(
        own: Range<VertexId>,
        ranks: usize,
        contributions: Contributions,
        vanish: bool,
    ) -> Result<LabelTotals, OutOfMemory> {
        let readers = RankSets::none(own.clone(), ranks)?;
        Ok(LabelTotals { totals: memory::zeros(own.len())?, own, contributions, readers, vanish })
    }

    /// Returns the bytes of the messages that the run begins with, on a rank with `own` vertices, each with neighbours on
    /// `others` other ranks: total updates as changes, as packed and as received, then totals as packed and as a message.
    pub fn bytes_of_first_messages(own: u64, ranks: usize, others: u64) -> u64 {
        let record = 4 * (HEAD + RankSets::words_for(ranks)) as u64;
        own * (12 + 2 * record + 8 + 16 * others)
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
        // A label, a vertex, and whether the vertex joins the label, or leaves it.
        let mut changes: Vec<(Label, VertexId, bool)> = Vec::new();
        for Move { vertex, before, label } in moves.filter(|of| of.before != of.label) {
            // A vertex without a label is in no total.
            let both = [(before, vertex, false), (label, vertex, true)];
            changes.extend(both.into_iter().filter(|&(label, ..)| label < messages.vertices));
        }
        changes.par_sort_unstable_by_key(|&(label, ..)| label);
        let (mut to, mut ranks) = (messages.to_each(), Vec::new());
        for of_label in changes.chunk_by(|a, b| a.0 == b.0) {
            ranks.clear();
            ranks.resize(RankSets::words_for(messages.parts.ranks()), 0);
            let (label, mut amount) = (of_label[0].0, 0u32);
            for &(_, vertex, joins) in of_label {
                let contribution = self.contribution(vertex);
                if joins {
                    amount = amount.wrapping_add(contribution);
                    unite(&mut ranks, subscribers.of(vertex));
                } else {
                    amount = amount.wrapping_sub(contribution);
                }
            }
            let words: &mut Vec<u32> = &mut to[messages.parts.owner(label)];
            words.extend([label, amount]);
            words.extend(&ranks);
        }
        to
    }

    /// Applies the total updates of all ranks, this one's included; returns the totals that each rank then needs.
    pub fn apply(
        &mut self,
        received: &[(usize, &[u32])],
        messages: &Messages,
    ) -> Result<Vec<Vec<u64>>, RunError> {
        let size = messages.parts.ranks();
        let len = HEAD + RankSets::words_for(size);
        // The label, the message and the first word of each record.
        let mut updates: Vec<(Label, u32, u32)> = Vec::new();
        for (message, &(peer, words)) in received.iter().enumerate() {
            for (number, record) in records(peer, words, len)?.enumerate() {
                match *record {
                    [label, _, ref ranks @ ..]
                        if self.own.contains(&label) && ranks_of(ranks).all(|rank| rank < size) =>
                    {
                        updates.push((label, message as u32, number as u32));
                    }
                    _ => return Err(foreign(peer, words)),
                }
            }
        }
        updates.par_sort_unstable();
        let (mut to, mut new) = (messages.to_each(), Vec::new());
        for of_label in updates.chunk_by(|a, b| a.0 == b.0) {
            new.clear();
            new.resize(RankSets::words_for(size), 0);
            let (label, mut amount) = (of_label[0].0, 0u32);
            for &(_, message, number) in of_label {
                let (peer, words) = received[message as usize];
                let record = &words[number as usize * len..][..len];
                amount = amount.wrapping_add(record[1]);
                unite(&mut new, &record[HEAD..]);
                insert(&mut new, peer);
            }
            self.readers.add(label, &mut new);
            let total = &mut self.totals[(label - self.own.start) as usize];
            *total = total.wrapping_add(amount);
            if *total == 0 && self.vanish {
                // A vertex that joins the label later sends its readers again.
                self.readers.clear(label);
                continue;
            }
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
    /// Returns whether each of `own` vertices with neighbours contributes more than 0.
    pub fn are_positive(&self, graph: GraphView<'_>, own: Range<VertexId>) -> bool {
        match self {
            Contributions::Members => true,
            Contributions::Volumes(of) => {
                own.into_par_iter().zip(of).all(|(v, &volume)| volume > 0 || graph.degree(v) == 0)
            }
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NO_LABEL;
    use crate::hash::mix;
    use crate::ranks::Parts;
    use ripplet_graph::{EdgeTable, Graph, GraphBuilder, VertexIds};
    use ripplet_ranks::CommError;

    const VERTICES: u32 = 150;

    fn parts() -> Parts {
        Parts::of_bounds(vec![0, 64, 64, 128, VERTICES]).unwrap()
    }

    fn messages(rank: usize) -> Messages {
        Messages { parts: parts(), rank, vertices: VERTICES, values: 0 }
    }

    fn graph() -> Graph {
        let ids = VertexIds::Consecutive { first: 0, count: VERTICES };
        let ends = |row: u32| (mix(row) % VERTICES, mix(row ^ 77) % VERTICES);
        let (sources, targets) = (0..200).map(ends).unzip();
        GraphBuilder::new().build(EdgeTable::new(ids, sources, targets).unwrap()).unwrap()
    }

    /// The ranks of a run, without an engine: what each knows of the others, and the totals that it was sent.
    struct Ranks {
        labels: Vec<Label>,
        each: Vec<(LabelTotals, RankSets, Vec<Option<u32>>)>,
    }

    impl Ranks {
        /// Moves vertices to other labels, and exchanges the messages.
        fn step(&mut self, next: &[Label]) {
            let updates: Vec<Vec<Vec<u32>>> = (0..self.each.len())
                .map(|rank| {
                    let (totals, subscribers, _) = &self.each[rank];
                    let moved = |v: u32| {
                        let (before, label) = (self.labels[v as usize], next[v as usize]);
                        Move { vertex: v, before, label }
                    };
                    let moves = parts().of(rank).map(moved);
                    totals.updates_of(moves, subscribers, &messages(rank))
                })
                .collect();
            for owner in 0..self.each.len() {
                let received: Vec<(usize, &[u32])> =
                    updates.iter().map(|to| &*to[owner]).enumerate().collect();
                let sent = self.each[owner].0.apply(&received, &messages(owner)).unwrap();
                for ((.., known), words) in self.each.iter_mut().zip(sent) {
                    for (label, total) in messages(0).totals(owner, &words).unwrap() {
                        known[label as usize] = Some(total);
                    }
                }
            }
            self.labels = next.to_vec();
        }
    }

    #[test]
    fn each_rank_has_the_totals_of_its_own_labels_and_its_neighbours() {
        let graph = graph();
        let volumes = |v: u32| 3 * graph.degree(v) as u32;
        for are_volumes in [false, true] {
            let of = |v: u32| if are_volumes { volumes(v) } else { 1 };
            let rank = |rank: usize| {
                let own = parts().of(rank);
                let contributions = match are_volumes {
                    true => Contributions::Volumes(own.clone().map(volumes).collect()),
                    false => Contributions::Members,
                };
                assert!(contributions.are_positive((&graph).into(), own.clone()));
                let totals = LabelTotals::new(own, 4, contributions, true).unwrap();
                let subscribers = RankSets::of_neighbors((&graph).into(), &parts(), rank).unwrap();
                (totals, subscribers, vec![None; VERTICES as usize])
            };
            let labels = vec![NO_LABEL; VERTICES as usize];
            let mut ranks = Ranks { labels, each: (0..4).map(rank).collect() };
            for round in 0..40 {
                let next = |v: u32| match mix(v ^ mix(round)) {
                    _ if round == 0 => v,
                    0..0x1000_0000 => NO_LABEL,
                    // Labels of few vertices vanish, and come back.
                    0x1000_0000..0x8000_0000 => mix(v ^ mix(round ^ 99)) % (5 + round % 3 * 40),
                    _ => ranks.labels[v as usize],
                };
                let next: Vec<Label> = (0..VERTICES).map(next).collect();
                ranks.step(&next);
                let has = |v: &u32, label: u32| next[*v as usize] == label;
                for (number, (.., known)) in ranks.each.iter().enumerate() {
                    let own = parts().of(number);
                    let neighbors = own.clone().flat_map(|v| GraphView::from(&graph).neighbors(v));
                    for v in own.clone().chain(neighbors) {
                        let label = next[v as usize];
                        if label == NO_LABEL || graph.degree(v) == 0 {
                            continue;
                        }
                        let total: u32 = (0..VERTICES).filter(|v| has(v, label)).map(of).sum();
                        assert_eq!(known[label as usize], Some(total), "{label} on {number}");
                    }
                }
            }
        }
    }

    #[test]
    fn an_update_that_is_cut_or_of_another_rank_is_refused() {
        let totals = || LabelTotals::new(64..128, 4, Contributions::Members, true).unwrap();
        let apply = |words: &[u32]| totals().apply(&[(3, words)], &messages(2));
        let total = vec![put_total(70, 2)];
        assert_eq!(apply(&[70, 2, 1]), Ok(vec![total.clone(), vec![], vec![], total]));
        // A cut record, labels of other ranks, a fifth rank.
        for words in [&[70, 2][..], &[63, 1, 0], &[128, 1, 0], &[NO_LABEL, 1, 0], &[70, 1, 16]] {
            let foreign = CommError::Foreign { peer: 3, bytes: size_of_val(words) };
            assert_eq!(apply(words), Err(foreign.into()), "{words:?}");
        }
    }
}
