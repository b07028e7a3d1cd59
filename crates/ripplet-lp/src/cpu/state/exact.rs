//! The choice of a vertex by the exact counter.

use super::choose::{Best, Choice, Next, Winner};
use super::{LpState, Scratch};
use crate::cpu::low_degree::{self, LowDegreeVotes};
use crate::cpu::votes::{Count, Votes, count_one};
use crate::hash::{Clock, mix, mix_lanes};
use crate::views::Context;
use crate::{Hints, Label, NeighborList, Score, Ties, Vertex, Vote};
use ripplet_graph::VertexId;
use ripplet_graph::storage::ListParts;
use wide::u32x4;

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
        if (1..=low_degree::MAX_DEGREE as u64).contains(&degree) && !self.program.carries() {
            const HALF: usize = low_degree::MAX_DEGREE / 2;
            const QUARTER: usize = low_degree::MAX_DEGREE / 4;
            let choice = match (degree as usize).div_ceil(QUARTER) {
                1 => self.choose_low_degree::<QUARTER>(vertex, adjacency, scratch),
                2 => self.choose_low_degree::<HALF>(vertex, adjacency, scratch),
                _ => {
                    self.choose_low_degree::<{ low_degree::MAX_DEGREE }>(vertex, adjacency, scratch)
                }
            };
            if let Some(choice) = choice {
                return choice;
            }
        }
        let ballots = scratch.votes.begin(degree as usize);
        let mut room = &mut *ballots;
        adjacency.each(|neighbors, weights| {
            let list = NeighborList { ids: neighbors, weights, labels: &self.labels };
            let (here, rest) = std::mem::take(&mut room).split_at_mut(neighbors.len());
            self.program.load_neighbors(vertex, list, here);
            room = rest;
        });
        let before = vertex.label;
        let own = count_one(ballots, before);
        let next = match self.kept(vertex, own) {
            Some(winner) => self.adopt_counted(vertex, winner, scratch),
            None => self.contest((v, before), clock, own.total_votes, scratch),
        };
        Choice {
            before,
            label: next.label,
            redrafted: self.program.has_columns() && next.redrafted,
            arcs: degree,
            nan: P::Score::HAS_NAN && next.nan,
        }
    }

    /// Chooses by at most `N` votes, at least one; `None` if they need the other counter.
    #[inline]
    fn choose_low_degree<const N: usize>(
        &self,
        v: Vertex<'_>,
        adjacency: impl ListParts,
        scratch: &mut Scratch,
    ) -> Option<Choice> {
        let (mut ids, mut weights, mut degree) = ([v.id; N], [0; N], 0);
        let mut has_weights = false;
        adjacency.each(|neighbors, stored| {
            // Behind the neighbours, the last one again: the hooks get neighbours only, and the loop
            // has as many steps for every vertex.
            fill_from(degree, &mut ids, neighbors);
            if let Some(stored) = stored {
                has_weights = true;
                fill_from(degree, &mut weights, stored);
            }
            degree += neighbors.len();
        });
        let weights = has_weights.then_some(&weights[..]);
        let list = NeighborList { ids: &ids, weights, labels: &self.labels };
        let mut votes = [Vote::default(); N];
        self.program.load_neighbors(v, list, &mut votes);
        let votes = LowDegreeVotes::new(&votes, degree)?;
        let before = v.label;
        let next = match self.kept(v, votes.count_one(before)) {
            Some(winner) => self.adopt(v, winner, 0.0, &mut scratch.draft),
            None => self.contest_low_degree(v, votes, scratch)?,
        };
        let redrafted = self.program.has_columns() && next.redrafted;
        Some(Choice {
            before,
            label: next.label,
            redrafted,
            arcs: degree as u64,
            nan: P::Score::HAS_NAN && next.nan,
        })
    }

    /// Chooses among the labels of at most `N` votes if the vertex's own label is not certain to win; `None` if they need the
    /// other counter.
    #[inline(always)]
    fn contest_low_degree<const N: usize>(
        &self,
        v: Vertex<'_>,
        votes: LowDegreeVotes<N>,
        scratch: &mut Scratch,
    ) -> Option<Next> {
        let sums = votes.count();
        let count = sums.totals();
        Some(match count.top {
            0 => Next { label: v.label, redrafted: false, nan: false },
            top => {
                let key = self.tie_key(v.id);
                let leader = match self.ties {
                    Ties::Hashed => {
                        sums.leader(top, |labels| mix_lanes(labels ^ u32x4::splat(key)))
                    }
                    Ties::Smallest => sums.leader(top, |labels| labels),
                };
                let score = self.score_of_leader(v, leader, count)?;
                let winner =
                    Winner { label: leader, frequency: top, total_votes: count.total_votes, score };
                self.adopt(v, winner, 0.0, &mut scratch.draft)
            }
        })
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
    fn contest(
        &self,
        (id, label): (VertexId, Label),
        clock: Clock,
        total_votes: u64,
        scratch: &mut Scratch,
    ) -> Next {
        let context = Context { graph: &self.graph, columns: &self.columns, clock };
        let vertex = Vertex { id, label, context };
        let Best { winner, nan } = self.best(vertex, total_votes, &mut scratch.votes);
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
    fn best(&self, v: Vertex<'_>, total_votes: u64, votes: &mut Votes) -> Best<P::Score> {
        let best = |winner| Best { winner, nan: false };
        let count = votes.count(total_votes);
        if count.top == 0 {
            return best(None);
        }
        let leader = self.leader(votes, count.top, self.tie_key(v.id)).unwrap_or(v.label);
        if let Some(score) = self.score_of_leader(v, leader, count) {
            let Count { top: frequency, total_votes } = count;
            return best(Some(Winner { label: leader, frequency, total_votes, score }));
        }
        self.best_of_all((v.id, v.label), v.context.clock, votes, count)
    }

    /// Returns the score of a label that has the most votes and wins their tie, if no label with
    /// fewer votes can beat it.
    #[inline]
    fn score_of_leader(&self, v: Vertex<'_>, leader: Label, count: Count) -> Option<P::Score> {
        let bound = |frequency| self.program.score_bound(frequency);
        let wins = |score: &P::Score| {
            score.is_eligible() && *score >= bound(count.top) && *score > bound(count.top - 1)
        };
        let scored = |total| self.score(v, leader, count.top, count, total);
        let first = match self.program.falls_with_total() {
            true => Some(scored(self.totals.at_most())).filter(wins),
            false => None,
        };
        first.or_else(|| Some(scored(self.totals.kept())).filter(wins))
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

/// Sets the lanes from `first` on to the values, and those behind them to the last value.
#[inline(always)]
fn fill_from<const N: usize>(first: usize, lanes: &mut [u32; N], values: &[u32]) {
    let Some(last) = values.len().checked_sub(1) else { return };
    if first == 0 {
        // The only list of a vertex of an undirected graph.
        return lanes
            .iter_mut()
            .enumerate()
            .for_each(|(index, lane)| *lane = values[index.min(last)]);
    }
    for (index, lane) in lanes.iter_mut().enumerate() {
        let value = values[index.saturating_sub(first).min(last)];
        *lane = if index >= first { value } else { *lane };
    }
}
