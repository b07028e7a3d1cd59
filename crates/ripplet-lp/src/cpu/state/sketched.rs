//! The choice of a vertex by a sketch.

use super::choose::{Best, Choice, Next};
use super::{LpState, Scratch};
use crate::counters::{Sketch, Start};
use crate::cpu::sketch::{CHUNK, Candidates, VoteSketch};
use crate::cpu::votes::{Count, count_one};
use crate::hash::{Clock, Stream};
use crate::views::Context;
use crate::{Hints, Label, NeighborList, Vertex, Vote};
use ripplet_graph::VertexId;
use ripplet_graph::storage::{EitherParts, ListParts};
use std::ops::Range;

impl<P: Hints> LpState<'_, P> {
    /// Returns the choice of `v` with a sketch as counter.
    ///
    /// Separate, so that it does not affect the register allocation of the exact counter's loops.
    #[inline(never)]
    pub(super) fn choose_by_sketch(
        &self,
        v: VertexId,
        sketch: Sketch,
        clock: Clock,
        scratch: &mut Scratch,
    ) -> Choice {
        let adjacency = self.lists.of(v);
        let context = Context { graph: &self.graph, columns: &self.columns, clock };
        let vertex = self.vertex(v, context);
        let (degree, before) = (adjacency.degree(), vertex.label);
        let Scratch { vote_sketch, draft, .. } = scratch;
        let vote_sketch = vote_sketch.get_or_insert_with(|| VoteSketch::new(sketch));
        let mut chunk = std::mem::take(&mut vote_sketch.chunk);
        let is_whole = degree <= CHUNK as u64;
        let mut own = Count { total_votes: 0, top: 0 };
        let start = match sketch.start {
            Start::First => 0,
            Start::Drawn => clock.draw(Stream::Start, v, degree),
        };
        // Votes that fit into one chunk are loaded in list order, and sketched in the drawn order
        // later.
        let order = if is_whole { [0..degree, 0..0] } else { [start..degree, 0..start] };
        let mut last = 0;
        for arcs in order.into_iter().filter(|arcs| !arcs.is_empty()) {
            last = self.for_each_chunk(vertex, adjacency, arcs, &mut chunk, |votes| {
                let count = count_one(votes, before);
                own = Count {
                    total_votes: own.total_votes + count.total_votes,
                    top: own.top + count.top,
                };
                if !is_whole {
                    vote_sketch.take(votes);
                }
            });
        }
        vote_sketch.count = if is_whole { last } else { 0 };
        let mut sketched = if is_whole { None } else { Some(vote_sketch.finish()) };
        let kept = if sketch.counts_again() { self.kept(vertex, own) } else { None };
        let best = match kept {
            Some(winner) => Best { winner: Some(winner), nan: false },
            None => {
                let sketched = sketched.get_or_insert_with(|| {
                    vote_sketch.take(&chunk[start as usize..last]);
                    vote_sketch.take(&chunk[..start as usize]);
                    vote_sketch.finish()
                });
                let mut missing = None;
                if sketch.counts_again() {
                    let whole = is_whole.then_some(last);
                    self.recount(sketch, vertex, adjacency, whole, &mut chunk, sketched);
                    let is_candidate = sketched.candidates().any(|(label, _)| label == before);
                    missing = (own.top > 0 && !is_candidate).then_some((before, own.top));
                }
                let candidates = sketched.candidates().chain(missing);
                self.best_among((v, before), clock, candidates, own)
            }
        };
        let next = match best.winner {
            Some(winner) => {
                let carried = match (self.program.carries(), is_whole) {
                    (false, _) => 0.0,
                    (true, true) => self.carried(vertex, winner.label, &chunk[..last]),
                    (true, false) => {
                        self.carried_by_chunks(vertex, winner.label, adjacency, &mut chunk)
                    }
                };
                Next { nan: best.nan, ..self.adopt(vertex, winner, carried, draft) }
            }
            None => Next { label: before, redrafted: false, nan: best.nan },
        };
        vote_sketch.chunk = chunk;
        Choice {
            before,
            label: next.label,
            redrafted: self.program.has_columns() && next.redrafted,
            arcs: degree,
            nan: next.nan,
        }
    }

    /// Replaces the candidates' weights by the true sums of their votes. If `whole` is given, all
    /// votes are the first `whole` of `chunk`; else they are loaded again.
    fn recount(
        &self,
        sketch: Sketch,
        vertex: Vertex<'_>,
        adjacency: EitherParts<'_, '_>,
        whole: Option<usize>,
        chunk: &mut [Vote],
        sketched: &mut Candidates,
    ) {
        let slots = sketch.slots() as usize;
        sketched.forget_weights();
        if let Some(whole) = whole {
            return sketched.recount(slots, &chunk[..whole]);
        }
        self.for_each_chunk(vertex, adjacency, 0..adjacency.degree(), chunk, |votes| {
            count_one(votes, vertex.label);
            sketched.recount(slots, votes);
        });
    }

    /// Calls `visit` with the votes of a range of a vertex's arcs, in order, `chunk.len()` at a
    /// time. Returns the length of the last chunk, which stays in `chunk`.
    fn for_each_chunk(
        &self,
        vertex: Vertex<'_>,
        adjacency: EitherParts<'_, '_>,
        arcs: Range<u64>,
        chunk: &mut [Vote],
        mut visit: impl FnMut(&mut [Vote]),
    ) -> usize {
        let (mut here, mut before) = (0, 0);
        adjacency.each(|neighbors, weights| {
            let number = neighbors.len() as u64;
            let within = |arc: u64| arc.clamp(before, before + number) - before;
            let part = within(arcs.start) as usize..within(arcs.end) as usize;
            before += number;
            let mut neighbors = &neighbors[part.clone()];
            let mut weights = weights.map(|weights| &weights[part]);
            while !neighbors.is_empty() {
                if here == chunk.len() {
                    visit(chunk);
                    here = 0;
                }
                let count = neighbors.len().min(chunk.len() - here);
                let (ids, others) = neighbors.split_at(count);
                let list = NeighborList {
                    ids,
                    weights: weights.map(|weights| &weights[..count]),
                    labels: &self.labels,
                };
                self.program.load_neighbors(vertex, list, &mut chunk[here..here + count]);
                (neighbors, weights) = (others, weights.map(|weights| &weights[count..]));
                here += count;
            }
        });
        visit(&mut chunk[..here]);
        here
    }

    /// Returns [`LpState::carried`], loading the votes again chunk by chunk.
    fn carried_by_chunks(
        &self,
        v: Vertex<'_>,
        label: Label,
        adjacency: EitherParts<'_, '_>,
        chunk: &mut [Vote],
    ) -> f32 {
        let mut most: Option<f32> = None;
        adjacency.each(|neighbors, weights| {
            for (part, ids) in neighbors.chunks(CHUNK).enumerate() {
                let weights = weights.map(|weights| &weights[part * CHUNK..][..ids.len()]);
                let list = NeighborList { ids, weights, labels: &self.labels };
                let votes = &mut chunk[..ids.len()];
                self.program.load_neighbors(v, list, votes);
                count_one(votes, label);
                let carried = self.program.carry_most(v, list, votes, label);
                most = most.into_iter().chain(carried).max_by(f32::total_cmp);
            }
        });
        most.unwrap_or(0.0)
    }
}
