//! The shortest ways from one vertex by their arcs' weights.
//!
//! Dijkstra's algorithm over a radix heap, in which a vertex stands once and moves as shorter ways to it are
//! found, so that there is room for all before the search begins. Lengths are sums of stored weights:
//! integers, of which no way has more than 64 bits, as it has fewer than 2³² arcs of 32.
//!
//! ```text
//! bucket 0      as far as the last that was found
//! bucket b      farther, and bit b − 1 is the highest in which the length differs from the last one's
//! ```
//!
//! Where bucket 0 is empty, the nearest vertex of the next that is not becomes the last, and that bucket's
//! vertices move to lower ones; those of higher buckets differ from it where they did before. So a vertex moves
//! 64 times at most, and nobody is compared with anybody but in such a bucket (Ahuja, Mehlhorn, Orlin, Tarjan,
//! *Faster algorithms for the shortest path problem*, Journal of the ACM 37, 1990).

use crate::lists::Lists;
use ripplet_graph::{OutOfMemory, VertexId, memory};

/// The length where no way is known.
pub(crate) const UNREACHED: u64 = u64::MAX;

/// What a thread keeps for its searches, with room for so many vertices or more. Between two of them the
/// last one's findings are there.
pub(crate) struct Dijkstra {
    /// How far each vertex is from the source; [`UNREACHED`] where no way is known.
    distance: Vec<u64>,
    /// What is reached but not yet found.
    heap: Heap,
    /// The vertices as they were found, the nearest first.
    found: Vec<VertexId>,
}

/// Bytes of a [`Dijkstra`] of so many vertices.
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
                heads: [NOBODY; BUCKETS],
                filled: 0,
                next: memory::zeros(vertices)?,
                before: memory::zeros(vertices)?,
            },
            found: memory::with_room(vertices)?,
        })
    }

    /// The vertices that the last search found, the nearest first: its source, and all behind.
    pub fn found(&self) -> &[VertexId] {
        &self.found
    }

    /// How far each vertex is from the last search's source; [`UNREACHED`] where there is no way, and behind
    /// the graph's last vertex.
    pub fn distances(&self) -> &[u64] {
        &self.distance
    }

    /// Searches from a vertex.
    pub fn run<L: Lists>(&mut self, lists: L, source: VertexId) {
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
            for (&neighbor, &length) in lists.of(vertex).iter().zip(lists.weights_of(vertex)) {
                let (through, known) = (here + u64::from(length), distance[neighbor as usize]);
                if through < known {
                    distance[neighbor as usize] = through;
                    heap.move_up(neighbor, known, through);
                }
            }
        }
    }

    /// Takes what another search found, as if it had been this one, but that vertices are found in the order of
    /// their ids: the length to each, infinite where there is no way.
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

    /// Sorts what was found, the nearest first.
    pub fn sort(&mut self) {
        let Dijkstra { distance, found, .. } = self;
        found.sort_unstable_by_key(|&vertex| distance[vertex as usize]);
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
}

const BUCKETS: usize = u64::BITS as usize + 1;
/// No vertex.
const NOBODY: VertexId = VertexId::MAX;

/// Vertices by their lengths; a bucket is a list.
struct Heap {
    /// The length of the last that was taken.
    last: u64,
    /// The first vertex of each bucket.
    heads: [VertexId; BUCKETS],
    /// Which buckets but bucket 0 have vertices: bit b − 1 for bucket b.
    filled: u64,
    /// The vertices beside each in its bucket.
    next: Vec<VertexId>,
    before: Vec<VertexId>,
}

impl Heap {
    /// The bucket of a length.
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
        self.before[vertex as usize] = NOBODY;
        if head != NOBODY {
            self.before[head as usize] = vertex;
        }
        if bucket > 0 {
            self.filled |= 1 << (bucket - 1);
        }
    }

    /// Puts a vertex in, or where a shorter length belongs.
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
        if next != NOBODY {
            self.before[next as usize] = before;
        }
        if before != NOBODY {
            self.next[before as usize] = next;
            return;
        }
        self.heads[bucket] = next;
        if next == NOBODY && bucket > 0 {
            self.filled &= !(1 << (bucket - 1));
        }
    }

    /// Takes one of the nearest.
    #[inline]
    fn take(&mut self, distance: &[u64]) -> Option<VertexId> {
        if self.heads[0] == NOBODY {
            self.refill(distance)?;
        }
        let vertex = self.heads[0];
        self.remove(0, vertex);
        Some(vertex)
    }

    /// Moves the vertices of the lowest bucket that has any, the nearest of them into bucket 0.
    fn refill(&mut self, distance: &[u64]) -> Option<()> {
        if self.filled == 0 {
            return None;
        }
        let bucket = self.filled.trailing_zeros() as usize + 1;
        self.filled &= self.filled - 1;
        let first = std::mem::replace(&mut self.heads[bucket], NOBODY);
        let (mut vertex, mut least) = (first, UNREACHED);
        while vertex != NOBODY {
            least = least.min(distance[vertex as usize]);
            vertex = self.next[vertex as usize];
        }
        self.last = least;
        vertex = first;
        while vertex != NOBODY {
            let next = self.next[vertex as usize];
            self.put(vertex, distance[vertex as usize]);
            vertex = next;
        }
        Some(())
    }
}
