//! Brandes' algorithm by weights: one source after the other, eight of them side by side in the
//! rows.
//!
//! ```text
//! search     the distance of each vertex, in ascending order
//! σ          per vertex, the nearest first: the sum of the predecessors' σ
//! δ/σ        per vertex, the farthest first: the sum of the successors' (1 + δ) / σ
//! ```
//!
//! A vertex pulls from its neighbours and pushes nothing to them, so that numbers add up in the
//! order of the list: the same order as in the hop engines.

use super::rows::EightRows;
use super::sums::Sums;
use crate::AnalysisError;
use crate::pairwise::EIGHT;
use crate::run::go_on;
use crate::searches::{Searches, bytes_of_searches};
use crate::sides::Sides;
use ripplet_graph::storage::{Decoded, NeighborLists};
use ripplet_graph::{Observer, OutOfMemory, VertexId};

/// A set of sources whose rows are side by side: a bit each.
pub(super) type Sources = u8;

/// Workspace of a thread, with room for a number of vertices and arcs. Only self-loops may have
/// weight 0.
pub(super) struct Weighted<S> {
    search: Searches,
    rows: EightRows,
    /// A decoded list with its weights.
    decoded: Decoded,
    pub sums: S,
}

impl<S: Sums<Sources>> Weighted<S> {
    /// Returns the bytes of a workspace for `vertices` vertices, `arcs` arcs, and decoded lists of
    /// `longest_decoded` arcs.
    pub fn bytes(vertices: u32, arcs: u64, longest_decoded: usize) -> u64 {
        bytes_of_searches(vertices)
            + EightRows::bytes(vertices)
            + Decoded::bytes(longest_decoded, true)
            + S::bytes(vertices, arcs)
    }

    pub fn new(
        vertices: u32,
        arcs: u64,
        longest_decoded: usize,
    ) -> Result<Weighted<S>, OutOfMemory> {
        Ok(Weighted {
            search: Searches::new(vertices)?,
            rows: EightRows::new(vertices)?,
            decoded: Decoded::new(longest_decoded, true)?,
            sums: S::new(vertices, arcs)?,
        })
    }

    /// Sums up the dependencies of a group of sources.
    pub fn add_group<L: NeighborLists>(
        &mut self,
        lists: Sides<L>,
        sources: &[VertexId],
        observer: &dyn Observer,
    ) -> Result<(), AnalysisError> {
        self.sums.clear(lists.behind);
        self.search.begin(lists, sources);
        let numbers = EIGHT * lists.vertices() as usize;
        for (first, eight) in (0..).step_by(EIGHT).zip(sources.chunks(EIGHT)) {
            self.rows.path_counts[..numbers].fill(0.0);
            self.rows.share[..numbers].fill(0.0);
            for (lane, &source) in (0..).zip(eight) {
                go_on(observer)?;
                self.search.run_in_order(lists, source, first + lane as usize);
                self.count_paths(lists.behind, source, lane);
                self.share_out(lists.ahead, lane);
            }
            self.sums.add_up(lists.behind, self.rows.first(lists.vertices()));
        }
        Ok(())
    }

    /// Counts the shortest paths to all vertices, from the nearest to the farthest.
    fn count_paths<L: NeighborLists>(&mut self, behind: L, source: VertexId, lane: u32) {
        let Weighted { search, rows, decoded, sums } = self;
        let EightRows { path_counts, inverse, .. } = rows;
        let (found, distance) = (search.found().found(), search.found().distances());
        let place = |vertex: VertexId| vertex as usize * EIGHT + lane as usize;
        path_counts[place(source)] = 1.0;
        for &vertex in &found[1..] {
            let here = distance[vertex as usize];
            let mut sum = 0.0;
            for_each_arc(behind.slices_of(vertex as usize, decoded), vertex, |at, from, length| {
                // A vertex without a path has the largest distance, which never matches.
                let leads =
                    (length <= here) & (here.wrapping_sub(length) == distance[from as usize]);
                sum += number_if(leads, path_counts[place(from)]);
                sums.mark(vertex, at, Sources::from(leads) << lane);
            });
            path_counts[place(vertex)] = sum;
            inverse[place(vertex)] = 1.0 / sum;
        }
    }

    /// Accumulates dependencies from the farthest vertex to the nearest.
    fn share_out<L: NeighborLists>(&mut self, ahead: L, lane: u32) {
        let Weighted { search, rows, decoded, .. } = self;
        let EightRows { inverse, share, .. } = rows;
        let (found, distance) = (search.found().found(), search.found().distances());
        let place = |vertex: VertexId| vertex as usize * EIGHT + lane as usize;
        // `found[0]` is left out: no path passes through its own source.
        for &vertex in found[1..].iter().rev() {
            let here = distance[vertex as usize];
            let mut sum = 0.0;
            for_each_arc_back(ahead.slices_of(vertex as usize, decoded), vertex, |to, length| {
                // All successors of a reached vertex are reached.
                let leads = here + length == distance[to as usize];
                sum += number_if(leads, inverse[place(to)] + share[place(to)]);
            });
            share[place(vertex)] = sum;
        }
    }
}

/// Returns `number` if `leads`, else 0, without a branch: which arcs are on shortest paths is
/// unpredictable.
#[inline(always)]
fn number_if(leads: bool, number: f64) -> f64 {
    f64::from_bits(number.to_bits() & 0u64.wrapping_sub(u64::from(leads)))
}

/// Visits the arcs of a list: the place, the neighbour, and the length. Of repeated arcs it visits
/// the first with the least length. It skips self-loops, which are on no shortest path and may have
/// length 0.
#[inline(always)]
fn for_each_arc(
    (list, weights): (&[VertexId], &[u32]),
    vertex: VertexId,
    mut visit: impl FnMut(usize, VertexId, u64),
) {
    let mut at = 0;
    while let (Some(&neighbor), Some(&weight)) = (list.get(at), weights.get(at)) {
        let (first, mut least) = (at, weight);
        at += 1;
        while list.get(at) == Some(&neighbor) {
            least = least.min(weights[at]);
            at += 1;
        }
        if neighbor != vertex {
            visit(first, neighbor, least.into());
        }
    }
}

/// Visits the arcs of a list from the last to the first, without their places; skips self-loops.
#[inline(always)]
fn for_each_arc_back(
    (list, weights): (&[VertexId], &[u32]),
    vertex: VertexId,
    mut visit: impl FnMut(VertexId, u64),
) {
    let mut arcs = list.iter().zip(weights).rev().peekable();
    while let Some((&neighbor, &weight)) = arcs.next() {
        let mut least = weight;
        while let Some((_, &weight)) = arcs.next_if(|(next, _)| **next == neighbor) {
            least = least.min(weight);
        }
        if neighbor != vertex {
            visit(neighbor, least.into());
        }
    }
}
