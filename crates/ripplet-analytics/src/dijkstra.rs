//! Single-source shortest paths by weights.
//!
//! Dijkstra's algorithm over a radix heap. A vertex is in the heap at most once and moves as its
//! distance decreases, so that all memory is allocated before the search. Lengths are sums of
//! stored weights. They fit 64 bits: a path has fewer than 2³² arcs of 32 bits each.
//!
//! ```text
//! bucket 0      at the distance of the last vertex that was taken
//! bucket b      farther, and bit b − 1 is the highest bit in which the distance differs from the last one's
//! ```
//!
//! If bucket 0 is empty, the least distance in the first bucket with vertices becomes the last
//! distance, and that bucket's vertices move to lower buckets. Vertices of higher buckets stay:
//! their highest differing bit is unchanged. A vertex therefore moves at most 64 times, and
//! distances are compared only within such a bucket (Ahuja, Mehlhorn, Orlin, Tarjan, *Faster
//! algorithms for the shortest path problem*, Journal of the ACM 37, 1990).

use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{OutOfMemory, VertexId, memory};

/// The distance of a vertex without a known path.
pub(crate) const UNREACHED: u64 = u64::MAX;

/// Workspace of a thread for searches, with room for a number of vertices. It keeps the result of
/// the last search.
pub(crate) struct Dijkstra {
    /// The distance of each vertex from the source; [`UNREACHED`] without a known path.
    distance: Vec<u64>,
    /// The vertices that are reached but not settled.
    heap: Heap,
    /// The settled vertices, the nearest first.
    found: Vec<VertexId>,
}

/// Returns the bytes of a [`Dijkstra`] for `vertices` vertices.
pub(crate) fn bytes_of_dijkstra(vertices: u32) -> u64 {
    (8 + 4 + 4 + 4) * u64::from(vertices)
}

impl Dijkstra {
    pub fn new(vertices: u32) -> Result<Dijkstra, OutOfMemory> {
        let vertices = vertices as usize;
        Ok(Dijkstra {
            distance: memory::filled(UNREACHED, vertices)?,
            heap: Heap {
                last: 0,
                heads: [NO_VERTEX; BUCKETS],
                filled: 0,
                next: memory::zeros(vertices)?,
                before: memory::zeros(vertices)?,
            },
            found: memory::with_room(vertices)?,
        })
    }

    /// Returns the vertices that the last search reached, the nearest first, beginning with the
    /// source.
    pub fn found(&self) -> &[VertexId] {
        &self.found
    }

    /// Returns the distance of each vertex from the last search's source: [`UNREACHED`] without a
    /// path, and past the graph's last vertex.
    pub fn distances(&self) -> &[u64] {
        &self.distance
    }

    /// Searches from a vertex.
    pub fn run<L: NeighborLists>(&mut self, lists: L, source: VertexId) {
        for vertex in self.found.drain(..) {
            self.distance[vertex as usize] = UNREACHED;
        }
        let Dijkstra { distance, heap, found } = self;
        heap.last = 0;
        distance[source as usize] = 0;
        heap.put(source, 0);
        while let Some(vertex) = heap.take(distance) {
            found.push(vertex);
            let here = distance[vertex as usize];
            lists.for_each_arc(vertex as usize, |neighbor, length| {
                let (through, known) = (here + length, distance[neighbor as usize]);
                if through < known {
                    distance[neighbor as usize] = through;
                    heap.move_up(neighbor, known, through);
                }
            });
        }
    }

    /// Stores another search's result, with the reached vertices in the order of their ids.
    /// `lengths` has the distance of each vertex, infinity without a path.
    pub fn find(&mut self, lengths: impl Iterator<Item = f64>) {
        let Dijkstra { distance, found, .. } = self;
        for vertex in found.drain(..) {
            distance[vertex as usize] = UNREACHED;
        }
        for (vertex, length) in (0..).zip(lengths) {
            if length.is_finite() {
                distance[vertex as usize] = length as u64;
                found.push(vertex);
            }
        }
    }

    /// Sorts the reached vertices by distance, the nearest first.
    pub fn sort(&mut self) {
        let Dijkstra { distance, found, .. } = self;
        found.sort_unstable_by_key(|&vertex| distance[vertex as usize]);
    }

    /// Searches from a vertex as if each arc had length 1: breadth-first, without the heap.
    pub fn run_hops<L: NeighborLists>(&mut self, lists: L, source: VertexId) {
        let Dijkstra { distance, found, .. } = self;
        for vertex in found.drain(..) {
            distance[vertex as usize] = UNREACHED;
        }
        distance[source as usize] = 0;
        found.push(source);
        let mut at = 0;
        while let Some(&vertex) = found.get(at) {
            at += 1;
            for neighbor in lists.each_of(vertex as usize) {
                if distance[neighbor as usize] == UNREACHED {
                    distance[neighbor as usize] = distance[vertex as usize] + 1;
                    found.push(neighbor);
                }
            }
        }
    }
}

const BUCKETS: usize = u64::BITS as usize + 1;
/// No vertex: the end of a list.
const NO_VERTEX: VertexId = VertexId::MAX;

/// A radix heap: vertices by distance; a bucket is a doubly linked list.
struct Heap {
    /// The distance of the last vertex that was taken.
    last: u64,
    /// The first vertex of each bucket.
    heads: [VertexId; BUCKETS],
    /// The buckets above 0 that have vertices: bit b − 1 for bucket b.
    filled: u64,
    /// The next and the previous vertex in each vertex's bucket.
    next: Vec<VertexId>,
    before: Vec<VertexId>,
}

impl Heap {
    /// Returns the bucket of a distance.
    #[inline]
    fn bucket(&self, length: u64) -> usize {
        (u64::BITS - (length ^ self.last).leading_zeros()) as usize
    }

    #[inline]
    fn put(&mut self, vertex: VertexId, length: u64) {
        self.put_into(self.bucket(length), vertex);
    }

    #[inline]
    fn put_into(&mut self, bucket: usize, vertex: VertexId) {
        let head = std::mem::replace(&mut self.heads[bucket], vertex);
        self.next[vertex as usize] = head;
        self.before[vertex as usize] = NO_VERTEX;
        if head != NO_VERTEX {
            self.before[head as usize] = vertex;
        }
        if bucket > 0 {
            self.filled |= 1 << (bucket - 1);
        }
    }

    /// Inserts a vertex, or moves it to the bucket of its new, shorter distance.
    #[inline]
    fn move_up(&mut self, vertex: VertexId, from: u64, to: u64) {
        let bucket = self.bucket(to);
        if from != UNREACHED {
            let was = self.bucket(from);
            if was == bucket {
                return;
            }
            self.remove(was, vertex);
        }
        self.put_into(bucket, vertex);
    }

    #[inline]
    fn remove(&mut self, bucket: usize, vertex: VertexId) {
        let (before, next) = (self.before[vertex as usize], self.next[vertex as usize]);
        if next != NO_VERTEX {
            self.before[next as usize] = before;
        }
        if before != NO_VERTEX {
            self.next[before as usize] = next;
            return;
        }
        self.heads[bucket] = next;
        if next == NO_VERTEX && bucket > 0 {
            self.filled &= !(1 << (bucket - 1));
        }
    }

    /// Takes a vertex of the least distance.
    #[inline]
    fn take(&mut self, distance: &[u64]) -> Option<VertexId> {
        if self.heads[0] == NO_VERTEX {
            self.refill(distance)?;
        }
        let vertex = self.heads[0];
        self.remove(0, vertex);
        Some(vertex)
    }

    /// Moves the vertices of the lowest bucket that has any; those at the least distance move to
    /// bucket 0.
    fn refill(&mut self, distance: &[u64]) -> Option<()> {
        if self.filled == 0 {
            return None;
        }
        let bucket = self.filled.trailing_zeros() as usize + 1;
        self.filled &= self.filled - 1;
        let first = std::mem::replace(&mut self.heads[bucket], NO_VERTEX);
        let (mut vertex, mut least) = (first, UNREACHED);
        while vertex != NO_VERTEX {
            least = least.min(distance[vertex as usize]);
            vertex = self.next[vertex as usize];
        }
        self.last = least;
        vertex = first;
        while vertex != NO_VERTEX {
            let next = self.next[vertex as usize];
            self.put(vertex, distance[vertex as usize]);
            vertex = next;
        }
        Some(())
    }
}
