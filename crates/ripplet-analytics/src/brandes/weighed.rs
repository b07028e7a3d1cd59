//! By weights: Dijkstra's search from one source after the other, eight of them side by side in the rows.
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
use crate::dijkstra::{Dijkstra, bytes_of_dijkstra};
use crate::eights::EIGHT;
use crate::lists::{Lists, Sides};
use crate::run::go_on;
use crate::search::Mask;
use crate::{Observer, RunError};
use ripplet_graph::{OutOfMemory, VertexId, memory};
use std::ops::Range;

/// A set of sources whose rows are side by side.
pub(super) type Sources = u8;

/// What a thread works with, with room for so many vertices and arcs or more. No arc but loops weighs 0.
pub(super) struct Weighed<S> {
    search: Dijkstra,
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
        bytes_of_dijkstra(vertices) + rows + S::bytes(vertices, arcs)
    }

    pub fn new(vertices: u32, arcs: u64) -> Result<Weighed<S>, OutOfMemory> {
        let numbers = (vertices as usize).saturating_mul(EIGHT);
        Ok(Weighed {
            search: Dijkstra::new(vertices)?,
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
        let numbers = EIGHT * lists.vertices() as usize;
        for first in sources.clone().step_by(EIGHT) {
            self.ways[..numbers].fill(0.0);
            self.share[..numbers].fill(0.0);
            let eight = first..sources.end.min(first.saturating_add(EIGHT as u32));
            for (lane, source) in (0..).zip(eight) {
                go_on(observer)?;
                self.search.run(lists.ahead, source);
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
        let distance = search.distances();
        let place = |vertex: VertexId| vertex as usize * EIGHT + lane as usize;
        ways[place(source)] = 1.0;
        for &vertex in &search.found()[1..] {
            let here = distance[vertex as usize];
            let mut sum = 0.0;
            for_each_arc(behind, vertex, |at, from, length| {
                // A vertex without a way is never that near.
                if here.checked_sub(length) == Some(distance[from as usize]) {
                    sum += ways[place(from)];
                    sums.mark(|| behind.begin(vertex) + at, Sources::of(lane));
                }
            });
            ways[place(vertex)] = sum;
            inverse[place(vertex)] = 1.0 / sum;
        }
    }

    /// Passes on what each vertex has, from the farthest to the nearest.
    fn share_out<L: Lists>(&mut self, ahead: L, lane: u32) {
        let Weighed { search, inverse, share, .. } = self;
        let distance = search.distances();
        let place = |vertex: VertexId| vertex as usize * EIGHT + lane as usize;
        // Nothing leads through the source.
        for &vertex in search.found()[1..].iter().rev() {
            let here = distance[vertex as usize];
            let mut sum = 0.0;
            for_each_arc_back(ahead, vertex, |to, length| {
                // All neighbours of a vertex that was found were found.
                if here + length == distance[to as usize] {
                    sum += inverse[place(to)] + share[place(to)];
                }
            });
            share[place(vertex)] = sum;
        }
    }
}

/// Visits the arcs of a list but loops, which are on no shortest way though they may be without length; of
/// repeated ones the first: its place, the neighbour, and the least length.
#[inline]
fn for_each_arc<L: Lists>(lists: L, vertex: VertexId, mut visit: impl FnMut(usize, VertexId, u64)) {
    let (list, weights) = (lists.of(vertex), lists.weights_of(vertex));
    let mut at = 0;
    for alike in list.chunk_by(|a, b| a == b) {
        if alike[0] != vertex {
            visit(at, alike[0], least(&weights[at..at + alike.len()]));
        }
        at += alike.len();
    }
}

/// The same from the last to the first, without their places.
#[inline]
fn for_each_arc_back<L: Lists>(lists: L, vertex: VertexId, mut visit: impl FnMut(VertexId, u64)) {
    let (list, weights) = (lists.of(vertex), lists.weights_of(vertex));
    let mut end = list.len();
    for alike in list.chunk_by(|a, b| a == b).rev() {
        let at = end - alike.len();
        if alike[0] != vertex {
            visit(alike[0], least(&weights[at..end]));
        }
        end = at;
    }
}

/// The least length of some arcs.
#[inline]
fn least(weights: &[u32]) -> u64 {
    weights.iter().min().map_or(0, |&weight| u64::from(weight))
}
