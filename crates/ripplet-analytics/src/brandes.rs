//! The shortest ways from one vertex, and what leads through vertices and arcs on them.
//!
//! ```text
//! search       how far each vertex is, and in what order: of nearer ones first
//! count        of each vertex in that order: the ways to those before it, summed up by their ids
//! go back      of each vertex, the farthest first: what each of its ways passes on, by the ids of those behind
//! ```
//!
//! A vertex takes from its neighbours and gives nothing to them, so that the order of a sum is that of a list.

use crate::dijkstra::{Dijkstra, bytes_of_dijkstra};
use crate::lists::{BothWays, Lists};
use ripplet_graph::{OutOfMemory, VertexId, memory};

/// What a thread counts shortest ways with, in graphs of so many vertices or fewer.
pub(crate) struct Ways {
    /// Whether arcs weigh, or are counted.
    weigh: bool,
    search: Dijkstra,
    /// How many shortest ways there are from the source. As in the literature and in others' programs it is
    /// a float, which does not overflow.
    ways: Vec<f64>,
    /// What each shortest way to a vertex passes on: its share of the vertex, and of all behind it.
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
    /// The share of the ways that lead along it, for all vertices behind it.
    pub share: f64,
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
    pub fn search<L: Lists>(&mut self, lists: BothWays<L>, source: VertexId) {
        let Ways { weigh, search, ways, .. } = self;
        if *weigh {
            search.run(lists.out, source)
        } else {
            search.run_hops(lists.out, source)
        }
        let distance = search.distances();
        ways[source as usize] = 1.0;
        for &vertex in &search.found()[1..] {
            let here = distance[vertex as usize];
            let mut sum = 0.0;
            for_each_arc(lists.incoming, vertex, *weigh, |_, before, length| {
                // A vertex without a way is never that near.
                if here.checked_sub(length) == Some(distance[before as usize]) {
                    sum += ways[before as usize];
                }
            });
            ways[vertex as usize] = sum;
        }
    }

    /// Goes from the farthest vertices back to the source. Calls `through` for each vertex but the source with
    /// what leads through it, and `along` for each arc of shortest ways.
    pub fn go_back<L: Lists>(
        &mut self,
        lists: BothWays<L>,
        mut through: impl FnMut(VertexId, f64),
        mut along: impl FnMut(Step),
    ) {
        let Ways { weigh, search, ways, passed } = self;
        let distance = search.distances();
        for (at, &vertex) in search.found().iter().enumerate().rev() {
            let (here, ways_here) = (distance[vertex as usize], ways[vertex as usize]);
            let mut share = 0.0;
            for_each_arc(lists.out, vertex, *weigh, |arc, behind, length| {
                // All neighbours of a vertex that was found were found.
                if here + length == distance[behind as usize] {
                    share += passed[behind as usize];
                    along(Step { from: vertex, arc, share: ways_here * passed[behind as usize] });
                }
            });
            let here = ways_here * share;
            passed[vertex as usize] = (1.0 + here) / ways_here;
            if at > 0 {
                through(vertex, here);
            }
        }
    }
}

/// Visits the arcs of a list, of repeated ones the first: its place, the neighbour, and the least length.
#[inline]
pub(crate) fn for_each_arc<L: Lists>(
    lists: L,
    vertex: VertexId,
    weigh: bool,
    mut visit: impl FnMut(usize, VertexId, u64),
) {
    let list = lists.of(vertex);
    let weights = if weigh { lists.weights_of(vertex) } else { &[] };
    let mut at = 0;
    while at < list.len() {
        let (first, neighbor) = (at, list[at]);
        let mut length = weights.get(at).copied().unwrap_or(1);
        at += 1;
        while list.get(at) == Some(&neighbor) {
            length = length.min(weights.get(at).copied().unwrap_or(1));
            at += 1;
        }
        visit(first, neighbor, u64::from(length));
    }
}

/// The first arc that weighs nothing, but loops, whose ways nobody takes.
pub(crate) fn weightless<L: Lists>(lists: L) -> Option<(VertexId, VertexId)> {
    let of = |vertex: VertexId| {
        let mut arcs = lists.of(vertex).iter().zip(lists.weights_of(vertex));
        let found = arcs.find(|(neighbor, weight)| **weight == 0 && **neighbor != vertex);
        found.map(|(&neighbor, _)| (vertex, neighbor))
    };
    (0..lists.vertices()).find_map(of)
}
