//! The choice of a vertex by the exact counter.

use super::choose::{Best, Choice, Next, Winner};
use super::{LpState, Scratch};
use crate::cpu::votes::{Count, Votes, count_one};
use crate::hash::{Clock, mix};
use crate::views::Context;
use crate::{Hints, Label, NeighborList, Score, Ties, Vertex};
use ripplet_graph::VertexId;
use ripplet_graph::storage::ListParts;

impl<P: Hints> LpState<'_, P> {
    #[inline(always)]
    pub(super) fn choose_exactly(
        &self,
        v: VertexId,
        adjacency: impl ListParts,
        clock: Clock,
        scratch: &mut Scratch,
    ) -> Choice {
        let context = Context { graph: &self.graph, columns: &self.columns, clock };
        let vertex = self.vertex(v, context);
        let degree = adjacency.degree();
        let ballots = scratch.votes.begin(degree as usize);
        let mut room = &mut *ballots;
        adjacency.each(|neighbors, weights| {
            let list = NeighborList { ids: neighbors, weights, labels: &self.labels };
            let (here, rest) = std::mem::take(&mut room).split_at_mut(neighbors.len());
            self.program.load_neighbors(vertex, list, here);
            room = rest;
        });
        let before = vertex.label;
        let next = match self.kept(vertex, count_one(ballots, before)) {
            Some(winner) => self.adopt_counted(vertex, winner, scratch),
            None => self.contest((v, before), clock, scratch),
        };
        Choice {
            before,
            label: next.label,
            redrafted: self.program.has_columns() && next.redrafted,
            arcs: degree,
            nan: P::Score::HAS_NAN && next.nan,
        }
    }

    /// Applies the winning label to the vertex; the votes are in the scratch.
    #[inline]
    fn adopt_counted(
        &self,
        vertex: Vertex<'_>,
        winner: Winner<P::Score>,
        scratch: &mut Scratch,
    ) -> Next {
        let carried = match self.program.carries() {
            true => self.carried(vertex, winner.label, scratch.votes.ballots()),
            false => 0.0,
        };
        self.adopt(vertex, winner, carried, &mut scratch.draft)
    }

    /// Chooses a label for a vertex whose own label is not certain to win.
    ///
    /// Separate, as is prefetching: inlined into the loop over vertices, its loops would need more
    /// registers than there are. It builds the view itself, as a passed one would be written to the
    /// stack.
    #[inline(never)]
    fn contest(&self, (id, label): (VertexId, Label), clock: Clock, scratch: &mut Scratch) -> Next {
        let context = Context { graph: &self.graph, columns: &self.columns, clock };
        let vertex = Vertex { id, label, context };
        let Best { winner, nan } = self.best(vertex, &mut scratch.votes);
        match winner {
            Some(winner) => Next { nan, ..self.adopt_counted(vertex, winner, scratch) },
            None => Next { label, redrafted: false, nan },
        }
    }

    /// Returns the winning label of the votes, if any is eligible.
    ///
    /// One of the most frequent labels nearly always wins. The others are scored only if the
    /// program's bound does not rule them out.
    #[inline]
    fn best(&self, v: Vertex<'_>, votes: &mut Votes) -> Best<P::Score> {
        let best = |winner| Best { winner, nan: false };
        let count = votes.count();
        if count.top == 0 {
            return best(None);
        }
        let leader = self.leader(votes, count.top, self.tie_key(v.id)).unwrap_or(v.label);
        let bound = |frequency| self.program.score_bound(frequency);
        let wins = |score: P::Score| {
            score.is_eligible() && score >= bound(count.top) && score > bound(count.top - 1)
        };
        let scored = |total| self.score(v, leader, count.top, count, total);
        let falls = self.program.falls_with_total();
        let mut score = scored(if falls { self.totals.at_most() } else { self.totals.kept() });
        if falls && !wins(score) {
            score = scored(self.totals.kept());
        }
        if wins(score) {
            let Count { top: frequency, total_votes } = count;
            return best(Some(Winner { label: leader, frequency, total_votes, score }));
        }
        self.best_of_all((v.id, v.label), v.context.clock, votes, count)
    }

    /// Returns the label that wins the tie among those with the most votes.
    #[inline]
    fn leader(&self, votes: &Votes, top: u64, key: u32) -> Option<Label> {
        let leaders = votes.leaders(top);
        match self.ties {
            Ties::Hashed => leaders.min_by_key(|&label| mix(label ^ key)),
            Ties::Smallest => leaders.min(),
        }
    }

    /// Returns the winning label of a vertex's votes by scoring every label.
    ///
    /// It builds the view itself: a passed one would be written to the stack for every vertex,
    /// although few need this function.
    #[cold]
    fn best_of_all(
        &self,
        (id, label): (VertexId, Label),
        clock: Clock,
        votes: &mut Votes,
        count: Count,
    ) -> Best<P::Score> {
        let all = votes.all().filter(|(_, frequency)| *frequency > 0);
        self.best_among((id, label), clock, all, count)
    }
}
