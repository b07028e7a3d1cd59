//! The shortest ways from one vertex, and what leads through vertices and arcs on them.
//!
//! ```text
//! search     how far each vertex is, the nearest first
//! ways       of each vertex, the nearest first: the sum of those of the vertices behind it
//! share      of each vertex, the farthest first: the sum of what the vertices ahead of it pass on
//! ```
//!
//! A vertex takes from its neighbours and gives nothing to them, so that the order of a sum is that of a list:
//! the same numbers in the same order as where arcs are counted (`betweenness`).

use crate::dijkstra::{Dijkstra, bytes_of_dijkstra};
use crate::lists::{Lists, Sides};
use ripplet_graph::{OutOfMemory, VertexId, memory};

/// What a thread counts shortest ways with, in graphs of so many vertices or fewer.
pub(crate) struct Ways {
    /// Whether arcs weigh, or are counted.
    weigh: bool,
    search: Dijkstra,
    /// How many shortest ways there are from the source. As in the literature and in others' programs it is
    /// a float, which does not overflow.
    ways: Vec<f64>,
    /// What one of a vertex's ways passes on.
    passed: Vec<f64>,
}

/// Bytes of [`Ways`] of so many vertices.
pub(crate) fn bytes_of_ways(vertices: u32) -> u64 {
    bytes_of_dijkstra(vertices) + 16 * u64::from(vertices)
}

/// An arc in a list, from a vertex that is before its neighbour on shortest ways.
pub(crate) struct Step {
    pub from: VertexId,
    /// The arc's place in the list; of repeated arcs, the first one's.
    pub arc: usize,
    /// What leads along it.
    pub through: f64,
}

impl Ways {
    pub fn new(weigh: bool, vertices: u32) -> Result<Ways, OutOfMemory> {
        Ok(Ways {
            weigh,
            search: Dijkstra::new(vertices)?,
            ways: memory::zeros(vertices as usize)?,
            passed: memory::zeros(vertices as usize)?,
        })
    }

    /// Finds all shortest ways from a vertex. Where arcs weigh, none weighs 0, but loops.
    pub fn search<L: Lists>(&mut self, lists: Sides<L>, source: VertexId) {
        let Ways { weigh, search, ways, .. } = self;
        if *weigh {
            search.run(lists.ahead, source)
        } else {
            search.run_hops(lists.ahead, source)
        }
        let distance = search.distances();
        ways[source as usize] = 1.0;
        for &vertex in &search.found()[1..] {
            let here = distance[vertex as usize];
            let mut sum = 0.0;
            for_each_arc(lists.behind, vertex, *weigh, |_, behind, length| {
                // A vertex without a way is never that near.
                if here.checked_sub(length) == Some(distance[behind as usize]) {
                    sum += ways[behind as usize];
                }
            });
            ways[vertex as usize] = sum;
        }
    }

    /// Goes from the farthest vertices back to the source. Calls `through` for each vertex but the source with
    /// what leads through it, and `along` for each arc of shortest ways.
    pub fn go_back<L: Lists>(
        &mut self,
        lists: Sides<L>,
        mut through: impl FnMut(VertexId, f64),
        mut along: impl FnMut(Step),
    ) {
        let Ways { weigh, search, ways, passed } = self;
        let distance = search.distances();
        for (at, &vertex) in search.found().iter().enumerate().rev() {
            let (here, ways_here) = (distance[vertex as usize], ways[vertex as usize]);
            let mut share = 0.0;
            for_each_arc_back(lists.ahead, vertex, *weigh, |arc, ahead, length| {
                // All neighbours of a vertex that was found were found.
                if here + length == distance[ahead as usize] {
                    let passed = passed[ahead as usize];
                    share += passed;
                    along(Step { from: vertex, arc, through: ways_here * passed });
                }
            });
            passed[vertex as usize] = 1.0 / ways_here + share;
            if at > 0 {
                through(vertex, ways_here * share);
            }
        }
    }
}

/// Visits the arcs of a list but loops, which are on no shortest way though they may be without length; of
/// repeated ones the first: its place, the neighbour, and the least length.
#[inline]
fn for_each_arc<L: Lists>(
    lists: L,
    vertex: VertexId,
    weigh: bool,
    mut visit: impl FnMut(usize, VertexId, u64),
) {
    let (list, weights) = (lists.of(vertex), if weigh { lists.weights_of(vertex) } else { &[] });
    let mut at = 0;
    for alike in list.chunk_by(|a, b| a == b) {
        if alike[0] != vertex {
            visit(at, alike[0], least(weights, at, alike.len()));
        }
        at += alike.len();
    }
}

/// The same from the last to the first.
#[inline]
fn for_each_arc_back<L: Lists>(
    lists: L,
    vertex: VertexId,
    weigh: bool,
    mut visit: impl FnMut(usize, VertexId, u64),
) {
    let (list, weights) = (lists.of(vertex), if weigh { lists.weights_of(vertex) } else { &[] });
    let mut at = list.len();
    for alike in list.chunk_by(|a, b| a == b).rev() {
        at -= alike.len();
        if alike[0] != vertex {
            visit(at, alike[0], least(weights, at, alike.len()));
        }
    }
}

/// The least length of some arcs of a list.
#[inline]
fn least(weights: &[u32], first: usize, arcs: usize) -> u64 {
    let of_arcs = weights.get(first..first + arcs).unwrap_or_default();
    of_arcs.iter().min().map_or(1, |&weight| u64::from(weight))
}
