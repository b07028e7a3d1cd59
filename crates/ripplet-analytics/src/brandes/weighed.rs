//! By weights: from one source after the other, eight of them side by side in the rows.
//!
//! ```text
//! search     how far each vertex is, the nearest first
//! ways       of each vertex, the nearest first: the sum of those of the vertices behind it
//! share      of each vertex, the farthest first: the sum of what the vertices ahead of it pass on
//! ```
//!
//! A vertex takes from its neighbours and gives nothing to them, so that the order of a sum is that of a list:
//! the same numbers in the same order as where arcs are counted.

use super::sums::{Rows, Sums};
use crate::eights::EIGHT;
use crate::lists::{Lists, Sides};
use crate::run::go_on;
use crate::searches::{Searches, bytes_of_searches};
use crate::{Observer, RunError};
use ripplet_graph::{OutOfMemory, VertexId, memory};
use std::ops::Range;

/// A set of sources whose rows are side by side.
pub(super) type Sources = u8;

/// What a thread works with, with room for so many vertices and arcs or more. No arc but loops weighs 0.
pub(super) struct Weighed<S> {
    search: Searches,
    /// Rows: how many shortest ways there are from each source.
    ways: Vec<f64>,
    /// Rows: 1 over it.
    inverse: Vec<f64>,
    /// Rows: what the vertices ahead pass on.
    share: Vec<f64>,
    pub sums: S,
}

impl<S: Sums<Sources>> Weighed<S> {
    /// Bytes of one with room for so many vertices and arcs.
    pub fn bytes(vertices: u32, arcs: u64) -> u64 {
        let rows = 3 * 8 * EIGHT as u64 * u64::from(vertices);
        bytes_of_searches(vertices) + rows + S::bytes(vertices, arcs)
    }

    pub fn new(vertices: u32, arcs: u64) -> Result<Weighed<S>, OutOfMemory> {
        let numbers = (vertices as usize).saturating_mul(EIGHT);
        Ok(Weighed {
            search: Searches::new(vertices)?,
            ways: memory::zeros(numbers)?,
            inverse: memory::zeros(numbers)?,
            share: memory::zeros(numbers)?,
            sums: S::new(vertices, arcs)?,
        })
    }

    /// Sums up the shortest ways from a group of sources.
    pub fn add_group<L: Lists>(
        &mut self,
        lists: Sides<L>,
        sources: Range<VertexId>,
        observer: &dyn Observer,
    ) -> Result<(), RunError> {
        self.sums.clear(lists.behind);
        self.search.begin(lists, sources.clone());
        let numbers = EIGHT * lists.vertices() as usize;
        for first in sources.clone().step_by(EIGHT) {
            self.ways[..numbers].fill(0.0);
            self.share[..numbers].fill(0.0);
            let eight = first..sources.end.min(first.saturating_add(EIGHT as u32));
            for (lane, source) in (0..).zip(eight) {
                go_on(observer)?;
                self.search.run_in_order(lists, source);
                self.count_ways(lists.behind, source, lane);
                self.share_out(lists.ahead, lane);
            }
            let [ways, inverse, share] =
                [&self.ways, &self.inverse, &self.share].map(|rows| &rows[..numbers]);
            self.sums.add_up(lists.behind, Rows { row: EIGHT, ways, inverse, share });
        }
        Ok(())
    }

    /// Counts the ways to all vertices, from the nearest to the farthest.
    fn count_ways<L: Lists>(&mut self, behind: L, source: VertexId, lane: u32) {
        let Weighed { search, ways, inverse, sums, .. } = self;
        let (found, distance) = (search.found().found(), search.found().distances());
        let place = |vertex: VertexId| vertex as usize * EIGHT + lane as usize;
        ways[place(source)] = 1.0;
        for &vertex in &found[1..] {
            let here = distance[vertex as usize];
            let mut sum = 0.0;
            for_each_arc(behind, vertex, |at, from, length| {
                // A vertex without a way is never that near.
                let leads =
                    (length <= here) & (here.wrapping_sub(length) == distance[from as usize]);
                sum += if_so(leads, ways[place(from)]);
                sums.mark(|| behind.begin(vertex) + at, Sources::from(leads) << lane);
            });
            ways[place(vertex)] = sum;
            inverse[place(vertex)] = 1.0 / sum;
        }
    }

    /// Passes on what each vertex has, from the farthest to the nearest.
    fn share_out<L: Lists>(&mut self, ahead: L, lane: u32) {
        let Weighed { search, inverse, share, .. } = self;
        let (found, distance) = (search.found().found(), search.found().distances());
        let place = |vertex: VertexId| vertex as usize * EIGHT + lane as usize;
        // Nothing leads through the source.
        for &vertex in found[1..].iter().rev() {
            let here = distance[vertex as usize];
            let mut sum = 0.0;
            for_each_arc_back(ahead, vertex, |to, length| {
                // All neighbours of a vertex that was found were found.
                let leads = here + length == distance[to as usize];
                sum += if_so(leads, inverse[place(to)] + share[place(to)]);
            });
            share[place(vertex)] = sum;
        }
    }
}

/// A number, or 0, which changes no sum. Nobody knows beforehand which arcs are on shortest ways, so that to ask
/// would take longer.
#[inline(always)]
fn if_so(leads: bool, number: f64) -> f64 {
    f64::from_bits(number.to_bits() & 0u64.wrapping_sub(u64::from(leads)))
}

/// Visits the arcs of a list but loops, which are on no shortest way though they may be without length; of
/// repeated ones the first: its place, the neighbour, and the least length.
#[inline(always)]
fn for_each_arc<L: Lists>(lists: L, vertex: VertexId, mut visit: impl FnMut(usize, VertexId, u64)) {
    let (list, weights) = (lists.of(vertex), lists.weights_of(vertex));
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

/// The same from the last to the first, without their places.
#[inline(always)]
fn for_each_arc_back<L: Lists>(lists: L, vertex: VertexId, mut visit: impl FnMut(VertexId, u64)) {
    let (list, weights) = (lists.of(vertex), lists.weights_of(vertex));
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
