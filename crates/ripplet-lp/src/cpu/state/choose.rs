//! The choice of a vertex: what the exact counter and sketches share.

use super::{LpState, Scratch};
use crate::cpu::votes::Count;
use crate::hash::{Clock, mix};
use crate::views::{Context, Total};
use crate::{
    Candidate, Hints, Label, NO_LABEL, NeighborList, Round, Score, Ties, Vertex, VertexMut, Vote,
};
use ripplet_graph::storage::{ListParts, Listed, OneList};
use ripplet_graph::{VertexId, dispatch_parts};

/// The result of updating a vertex.
#[derive(Clone, Copy)]
pub struct Choice {
    /// The label before.
    pub before: Label,
    /// The label after.
    pub label: Label,
    /// Whether the draft in the scratch differs from the vertex's columns and is to be committed.
    pub redrafted: bool,
    /// The arcs whose votes were counted.
    pub arcs: u64,
    /// Whether a label's score was NaN.
    pub nan: bool,
}

impl Round {
    /// Adds a vertex's choice to the round's counts.
    #[inline]
    pub(in crate::cpu) fn count(&mut self, choice: Choice) {
        self.scanned += choice.arcs;
        self.nan_scores += u64::from(choice.nan);
    }
}

/// The new state of a vertex.
#[derive(Clone, Copy)]
pub struct Next {
    pub label: Label,
    /// Whether the draft in the scratch differs from the columns.
    pub redrafted: bool,
    pub nan: bool,
}

/// The winning label of a vertex's votes, if any, and whether a score was NaN.
pub struct Best<S> {
    pub winner: Option<Winner<S>>,
    pub nan: bool,
}

/// The winning label of a vertex's votes.
pub struct Winner<S> {
    pub label: Label,
    pub frequency: u64,
    /// The sum of all votes of the vertex, for any label.
    pub total_votes: u64,
    pub score: S,
}

impl<P: Hints> LpState<'_, P> {
    /// Returns the choice of a vertex by the current labels.
    #[inline]
    pub fn choose(&self, v: Listed<'_>, clock: Clock, scratch: &mut Scratch) -> Choice {
        match (self.sketch, v.only) {
            (None, Some(list)) => self.choose_by_list(v.vertex, list, clock, scratch),
            (None, None) => self.choose_by_lists(v.vertex, clock, scratch),
            (Some(sketch), _) => self.choose_by_sketch(v.vertex, sketch, clock, scratch),
        }
    }

    /// Returns the choice of a vertex that has one list.
    ///
    /// Not inlined: each schedule would have a copy for few and many votes, which a program
    /// pays with 20 KB, and none of them is faster.
    #[inline(never)]
    fn choose_by_list(
        &self,
        v: VertexId,
        list: OneList<'_>,
        clock: Clock,
        scratch: &mut Scratch,
    ) -> Choice {
        self.choose_exactly(v, list, clock, scratch)
    }

    /// Returns the choice of a vertex by lists of any kind.
    #[inline(never)]
    fn choose_by_lists(&self, v: VertexId, clock: Clock, scratch: &mut Scratch) -> Choice {
        dispatch_parts!(&self.lists, v, parts => {
            parts.apart(|parts| self.choose_exactly(v, parts, clock, scratch))
        })
    }

    /// Applies the winning label to the vertex.
    #[inline]
    pub(super) fn adopt(
        &self,
        vertex: Vertex<'_>,
        winner: Winner<P::Score>,
        carried: f32,
        draft: &mut Vec<u32>,
    ) -> Next {
        if self.program.has_columns() {
            self.columns.begin_draft(vertex.id, draft);
        }
        let Winner { frequency, total_votes, .. } = winner;
        let (v, before) = (vertex.id, vertex.label);
        let mut vertex = VertexMut { vertex, draft, carried, frequency, total_votes };
        let label = self.program.update_vertex(&mut vertex, winner.label, winner.score);
        let label = if label == before { before } else { self.known(label) };
        let redrafted = self.program.has_columns() && self.columns.differ(v, draft);
        Next { label, redrafted, nan: false }
    }

    /// Returns the label, or [`NO_LABEL`] if it is not a vertex.
    #[inline]
    fn known(&self, label: Label) -> Label {
        if (label as usize) < self.labels.len() { label } else { NO_LABEL }
    }

    /// Returns the largest carry among the neighbours that voted for a label; `ballots` are the
    /// votes, in the order of the neighbours.
    pub(super) fn carried(&self, v: Vertex<'_>, label: Label, mut ballots: &[Vote]) -> f32 {
        let mut most: Option<f32> = None;
        self.lists.of(v.id).each(|neighbors, weights| {
            let (here, rest) = ballots.split_at(neighbors.len().min(ballots.len()));
            ballots = rest;
            let list = NeighborList { ids: neighbors, weights, labels: &self.labels };
            let carried = self.program.carry_most(v, list, here, label);
            // A total order, so that the order of the neighbours does not matter.
            most = most.into_iter().chain(carried).max_by(f32::total_cmp);
        });
        most.unwrap_or(0.0)
    }

    /// Returns the vertex's own label if the votes for it suffice to win: no other label can beat
    /// it even with all other votes. Most vertices take this shortcut, without counting each label.
    #[inline]
    pub(super) fn kept(&self, v: Vertex<'_>, own: Count) -> Option<Winner<P::Score>> {
        if own.top == 0 {
            return None;
        }
        let (label, Count { total_votes, top: frequency }) = (v.label, own);
        let score = self.score(v, label, frequency, own, self.totals.kept());
        let wins = score.is_eligible() && score > self.program.score_bound(total_votes - frequency);
        wins.then_some(Winner { label, frequency, total_votes, score })
    }

    /// Returns the winning label of these candidates, if any is eligible.
    #[inline]
    pub(super) fn best_among(
        &self,
        (id, label): (VertexId, Label),
        clock: Clock,
        candidates: impl Iterator<Item = (Label, u64)>,
        count: Count,
    ) -> Best<P::Score> {
        let context = Context { graph: &self.graph, columns: &self.columns, clock };
        let (v, mut nan) = (Vertex { id, label, context }, false);
        let key = self.tie_key(id);
        let rank_of = |label| match self.ties {
            Ties::Hashed => mix(label ^ key),
            Ties::Smallest => label,
        };
        let mut best: Option<(Winner<P::Score>, u32)> = None;
        for (label, frequency) in candidates {
            let rank = rank_of(label);
            let beats = |score: P::Score| match &best {
                None => score.is_eligible(),
                Some((top, top_rank)) => {
                    score > top.score || (score == top.score && rank < *top_rank)
                }
            };
            if !beats(self.program.score_bound(frequency)) {
                continue;
            }
            let score = self.score(v, label, frequency, count, self.totals.kept());
            nan |= score.is_nan();
            if beats(score) {
                best = Some((
                    Winner { label, frequency, total_votes: count.total_votes, score },
                    rank,
                ));
            }
        }
        Best { winner: best.map(|(winner, _)| winner), nan }
    }

    /// Returns the key that ranks labels in a tie at `v`.
    #[inline]
    pub(super) fn tie_key(&self, v: VertexId) -> u32 {
        mix(v ^ self.tie_key)
    }

    #[inline]
    pub(super) fn score(
        &self,
        v: Vertex<'_>,
        label: Label,
        frequency: u64,
        count: Count,
        total: Total<'_>,
    ) -> P::Score {
        let (total_votes, grand_total) = (count.total_votes, self.totals.grand);
        self.program.label_score(v, Candidate { label, frequency, total_votes, grand_total, total })
    }
}
