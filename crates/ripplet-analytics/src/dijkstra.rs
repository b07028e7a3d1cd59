//! The shortest ways from one vertex by their arcs' weights.
//!
//! Dijkstra's algorithm over a heap in which a vertex stands once and moves up as shorter ways to it are
//! found, so that there is room for all before the search begins. Lengths are sums of stored weights:
//! integers, of which no way has more than 64 bits, as it has fewer than 2³² arcs of 32.

use crate::lists::Lists;
use crate::weighed::Sum;
use ripplet_graph::{OutOfMemory, VertexId, memory};

/// The length where no way is known.
pub(crate) const UNREACHED: u64 = u64::MAX;

/// What a thread keeps for its searches, with room for so many vertices or more. Between two of them the
/// last one's findings are there.
pub(crate) struct Dijkstra {
    /// How far each vertex is from the source; [`UNREACHED`] where no way is known.
    distance: Vec<u64>,
    /// Where each vertex of the heap stands in it.
    place: Vec<u32>,
    /// What is reached but not yet found, by length and id: four below each, the least on top.
    heap: Vec<(u64, VertexId)>,
    /// The vertices as they were found, the nearest first.
    found: Vec<VertexId>,
}

/// Bytes of a [`Dijkstra`] of so many vertices.
pub(crate) fn bytes_of_dijkstra(vertices: u32) -> u64 {
    (8 + 4 + 16 + 4) * u64::from(vertices)
}

/// Vertices below one in the heap: the heap is half as high as with two, and they share a cache line.
const BELOW: usize = 4;

impl Dijkstra {
    pub fn new(vertices: u32) -> Result<Dijkstra, OutOfMemory> {
        let vertices = vertices as usize;
        Ok(Dijkstra {
            distance: memory::filled(UNREACHED, vertices)?,
            place: memory::zeros(vertices)?,
            heap: memory::with_room(vertices)?,
            found: memory::with_room(vertices)?,
        })
    }

    /// The vertices that the last search found, the nearest first: its source, and all behind.
    pub fn found(&self) -> &[VertexId] {
        &self.found
    }

    /// How far each vertex is from the last search's source; [`UNREACHED`] where there is no way.
    pub fn distances(&self) -> &[u64] {
        &self.distance
    }

    /// Searches from a vertex.
    pub fn run<L: Lists>(&mut self, lists: L, source: VertexId) {
        for vertex in self.found.drain(..) {
            self.distance[vertex as usize] = UNREACHED;
        }
        self.reach(source, 0);
        while let Some((distance, vertex)) = self.take() {
            self.found.push(vertex);
            for (&neighbor, &length) in lists.of(vertex).iter().zip(lists.weights_of(vertex)) {
                let through = distance + u64::from(length);
                if through < self.distance[neighbor as usize] {
                    self.reach(neighbor, through);
                }
            }
        }
    }

    /// Searches from a vertex as if each arc had length 1: breadth-first, without the heap.
    pub fn run_hops<L: Lists>(&mut self, lists: L, source: VertexId) {
        let Dijkstra { distance, found, .. } = self;
        for vertex in found.drain(..) {
            distance[vertex as usize] = UNREACHED;
        }
        distance[source as usize] = 0;
        found.push(source);
        let mut at = 0;
        while let Some(&vertex) = found.get(at) {
            at += 1;
            for &neighbor in lists.of(vertex) {
                if distance[neighbor as usize] == UNREACHED {
                    distance[neighbor as usize] = distance[vertex as usize] + 1;
                    found.push(neighbor);
                }
            }
        }
    }

    /// What the last search comes to.
    pub fn sum(&self) -> Sum {
        let mut sum = Sum::default();
        let distance = |vertex: VertexId| self.distance[vertex as usize];
        // The source is the first, and as near as others where arcs have length 0.
        for alike in self.found[1..].chunk_by(|&a, &b| distance(a) == distance(b)) {
            sum.add(alike.len() as u64, distance(alike[0]));
        }
        sum
    }

    /// A way to a vertex that is shorter than all before.
    fn reach(&mut self, vertex: VertexId, distance: u64) {
        let known = std::mem::replace(&mut self.distance[vertex as usize], distance);
        if known == UNREACHED {
            self.place[vertex as usize] = self.heap.len() as u32;
            self.heap.push((distance, vertex));
        }
        self.rise(self.place[vertex as usize] as usize, (distance, vertex));
    }

    /// Takes the nearest out of the heap.
    fn take(&mut self) -> Option<(u64, VertexId)> {
        let last = self.heap.pop()?;
        let Some(&first) = self.heap.first() else { return Some(last) };
        self.sink(last);
        Some(first)
    }

    /// Puts an entry at a place or above, where it belongs.
    fn rise(&mut self, mut at: usize, entry: (u64, VertexId)) {
        while at > 0 {
            let above = (at - 1) / BELOW;
            if self.heap[above] <= entry {
                break;
            }
            self.put(at, self.heap[above]);
            at = above;
        }
        self.put(at, entry);
    }

    /// Puts an entry at the top or below, where it belongs.
    fn sink(&mut self, entry: (u64, VertexId)) {
        let mut at = 0;
        loop {
            let first = at * BELOW + 1;
            let below = first..self.heap.len().min(first + BELOW);
            let least = below.min_by_key(|&place| self.heap[place]);
            let Some(least) = least.filter(|&place| self.heap[place] < entry) else { break };
            self.put(at, self.heap[least]);
            at = least;
        }
        self.put(at, entry);
    }

    fn put(&mut self, at: usize, entry: (u64, VertexId)) {
        self.heap[at] = entry;
        self.place[entry.1 as usize] = at as u32;
    }
}
