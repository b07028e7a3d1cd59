//! Preparation of sweeps over small graphs: a vertex order, distances from 64 sources, and the arcs
//! on shortest paths.
//!
//! The order is that of a breadth-first search. Most paths approach its root first, then lead away
//! from it. Sweeps back and forth over the order therefore settle most vertices in the first two
//! passes. Any order is correct.

use super::distinct::distinct;
use super::sums::Sums;
use crate::search::Mask;
use crate::sides::Sides;
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{Neighbors, OutOfMemory, VertexId, memory};

/// A set of sources that are searched from at once: a bit each.
pub(super) type Sources = u64;

const LANES: usize = Sources::LANES as usize;

/// The distance of a vertex from each source, in arcs.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Distances([u16; LANES]);

/// The distance without a path: larger than any distance, and adding 1 does not overflow.
const UNREACHED: u16 = 1 << 15;

/// Workspace of a thread, with room for a number of vertices and arcs.
pub(super) struct Sweep {
    /// The vertices in the order of a search along arcs, then against them.
    order: Vec<VertexId>,
    /// Whether a vertex's distances have changed since its successors read them.
    news: Vec<bool>,
    distances: Vec<Distances>,
    /// The sources for which an arc of the predecessor lists (`behind`) and of the successor lists
    /// (`ahead`) is on a shortest path. Of repeated arcs the first one has them.
    pub behind: Vec<Sources>,
    pub ahead: Vec<Sources>,
}

impl Sweep {
    /// Returns the bytes of a workspace for `vertices` vertices and `arcs` arcs.
    pub fn bytes(vertices: u32, arcs: u64) -> u64 {
        let of_vertex = size_of::<VertexId>() + size_of::<bool>() + size_of::<Distances>();
        of_vertex as u64 * u64::from(vertices) + 2 * size_of::<Sources>() as u64 * arcs
    }

    /// Creates a workspace for at most [`UNREACHED`] vertices.
    pub fn new(vertices: u32, arcs: u64) -> Result<Sweep, OutOfMemory> {
        let (vertices, arcs) = (vertices as usize, arcs as usize);
        Ok(Sweep {
            order: memory::with_room(vertices)?,
            news: memory::filled(false, vertices)?,
            distances: memory::filled(Distances([UNREACHED; LANES]), vertices)?,
            behind: memory::filled(Sources::NONE, arcs)?,
            ahead: memory::filled(Sources::NONE, arcs)?,
        })
    }

    /// Returns the vertices in the order of the sweeps.
    pub fn order(&self) -> &[VertexId] {
        &self.order
    }

    /// Begins the order with a search from `source` along arcs; returns the distance of the last
    /// vertex, in arcs.
    #[inline(always)]
    pub fn search(&mut self, ahead: Neighbors<'_>, source: VertexId) -> usize {
        let Sweep { order, news: found, .. } = self;
        let found = &mut found[..NeighborLists::vertices(ahead)];
        found.fill(false);
        order.clear();
        find(order, found, &[source]);
        let (mut next, mut depth) = (0, 0);
        // In dense graphs most lists hold no new vertex: stop when all are found.
        while next < order.len() && order.len() < found.len() {
            let level = next..order.len();
            next = level.end;
            for at in level {
                find(order, found, ahead.of(order[at] as usize));
            }
            depth += usize::from(next < order.len());
        }
        depth
    }

    /// Prepares sweeps for a group of sources, after a search from one of them.
    #[inline(always)]
    pub fn begin(
        &mut self,
        lists: Sides<Neighbors<'_>>,
        sources: &[VertexId],
        sums: &mut impl Sums<Sources>,
    ) {
        self.arrange(lists);
        self.measure(lists, sources);
        self.compare(lists, sums);
    }

    /// Completes the order with the vertices that the search along arcs did not reach.
    #[inline(always)]
    fn arrange(&mut self, lists: Sides<Neighbors<'_>>) {
        let Sweep { order, news: found, .. } = self;
        let found = &mut found[..lists.vertices() as usize];
        // On an undirected graph the search has already followed all arcs.
        let undirected = std::ptr::eq(lists.ahead.neighbors(), lists.behind.neighbors());
        let mut next = if undirected { order.len() } else { 0 };
        for root in 0..lists.vertices() {
            while let Some(&vertex) = order.get(next) {
                find(order, found, lists.ahead.of(vertex as usize));
                if !undirected {
                    find(order, found, lists.behind.of(vertex as usize));
                }
                next += 1;
            }
            find(order, found, &[root]);
        }
    }

    /// Computes the distances: a vertex whose distances changed updates its successors.
    #[inline(always)]
    fn measure(&mut self, lists: Sides<Neighbors<'_>>, sources: &[VertexId]) {
        let vertices = lists.vertices() as usize;
        let (order, news) = (&self.order[..vertices], &mut self.news[..vertices]);
        let distances = &mut self.distances[..vertices];
        distances.fill(Distances([UNREACHED; LANES]));
        news.fill(false);
        for (lane, &source) in sources.iter().enumerate() {
            distances[source as usize].0[lane] = 0;
            news[source as usize] = true;
        }
        let mut back = true;
        loop {
            let mut any = false;
            for at in 0..vertices {
                let vertex = order[if back { vertices - 1 - at } else { at }];
                if std::mem::take(&mut news[vertex as usize]) {
                    any = true;
                    let there = distances[vertex as usize].0.map(|distance| distance + 1);
                    for &to in lists.ahead.of(vertex as usize) {
                        news[to as usize] |= distances[to as usize].approach(&there);
                    }
                }
            }
            if !any {
                return;
            }
            back = !back;
        }
    }

    /// Finds the arcs on shortest paths.
    #[inline(always)]
    fn compare(&mut self, lists: Sides<Neighbors<'_>>, sums: &mut impl Sums<Sources>) {
        let Sweep { distances, behind, ahead, .. } = self;
        behind[..lists.behind.neighbors().len()].fill(Sources::NONE);
        ahead[..lists.ahead.neighbors().len()].fill(Sources::NONE);
        for vertex in 0..lists.vertices() {
            let here = distances[vertex as usize];
            let begin = lists.behind.offsets()[vertex as usize] as usize;
            let predecessors = lists.behind.of(vertex as usize).iter().copied();
            for (at, from) in distinct(predecessors.enumerate()) {
                let sources = distances[from as usize].lead_to(&here);
                behind[begin + at] = sources;
                sums.mark(vertex, at, sources);
            }
            let begin = lists.ahead.offsets()[vertex as usize] as usize;
            let successors = lists.ahead.of(vertex as usize).iter().copied();
            for (at, to) in distinct(successors.enumerate()) {
                ahead[begin + at] = here.lead_to(&distances[to as usize]);
            }
        }
    }
}

/// Appends the vertices that are not in the order yet.
#[inline(always)]
fn find(order: &mut Vec<VertexId>, found: &mut [bool], vertices: &[VertexId]) {
    for &vertex in vertices {
        if !std::mem::replace(&mut found[vertex as usize], true) {
            order.push(vertex);
        }
    }
}

impl Distances {
    /// Replaces distances by shorter ones through a neighbour; returns whether any changed.
    #[inline(always)]
    fn approach(&mut self, through: &[u16; LANES]) -> bool {
        let mut changed = 0;
        for (known, through) in self.0.iter_mut().zip(through) {
            let least = *through.min(known);
            changed |= least ^ *known;
            *known = least;
        }
        changed != 0
    }

    /// Returns the sources for which a successor is exactly one arc farther.
    #[inline(always)]
    fn lead_to(&self, ahead: &Distances) -> Sources {
        let mut sources = Sources::NONE;
        for (lane, (here, ahead)) in self.0.iter().zip(&ahead.0).enumerate() {
            sources |= Sources::from(here + 1 == *ahead) << lane;
        }
        sources
    }
}
