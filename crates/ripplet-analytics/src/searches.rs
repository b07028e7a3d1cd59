//! Searches by weights from the sources of a group; in a small graph all at once.
//!
//! ```text
//! a row of each vertex holds a number per source: the least length of a known path
//! a vertex pulls from its predecessors: their number plus the arc's length, if that is less
//! rounds sweep over the vertices, alternately up and down: a vertex pulls if a predecessor has changed
//! ```
//!
//! This is the Bellman-Ford algorithm (Bellman, *On a routing problem*, Quarterly of Applied
//! Mathematics 16, 1958). Paths in small graphs have few arcs, so that rounds are few, and a round
//! adds and compares consecutive numbers in vector registers. Large graphs would need many rounds:
//! there each source has a Dijkstra search.

use crate::dijkstra::{Dijkstra, bytes_of_dijkstra};
use crate::sides::Sides;
use crate::source_batches::GROUP;
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{OutOfMemory, VertexId, memory};

/// The most vertices of a small graph. Path lengths are integers below 2⁷ · 2³², which `f64`
/// represents exactly.
const MOST: u32 = 128;

/// Numbers of a vector.
const LANES: usize = 8;

/// Workspace of a thread for searches, with room for a number of vertices.
pub(crate) struct Searches {
    /// The result of the last search.
    search: Dijkstra,
    /// The number of vectors of block in a row.
    row_blocks: usize,
    rows: Vec<[f64; LANES]>,
}

/// Returns the bytes of [`Searches`] in graphs of at most `vertices` vertices.
pub(crate) fn bytes_of_searches(vertices: u32) -> u64 {
    bytes_of_dijkstra(vertices) + 8 * u64::from(GROUP) * u64::from(vertices.min(MOST))
}

impl Searches {
    pub fn new(vertices: u32) -> Result<Searches, OutOfMemory> {
        let rows = vertices.min(MOST) as usize * GROUP as usize / LANES;
        Ok(Searches { search: Dijkstra::new(vertices)?, row_blocks: 0, rows: memory::zeros(rows)? })
    }

    /// Begins a group of sources, which ascend; [`Searches::run`] then returns the result for each.
    pub fn begin<L: NeighborLists>(&mut self, lists: Sides<L>, sources: &[VertexId]) {
        if lists.vertices() > MOST {
            return;
        }
        self.row_blocks = sources.len().div_ceil(LANES);
        self.rows[..self.row_blocks * lists.vertices() as usize].fill([f64::INFINITY; LANES]);
        for (lane, &source) in sources.iter().enumerate() {
            self.rows[source as usize * self.row_blocks + lane / LANES][lane % LANES] = 0.0;
        }
        // The vertices that have a changed predecessor since they last pulled; a bit each.
        let mut waiting = u128::MAX >> (MOST - lists.vertices().max(1));
        let mut up = true;
        while waiting != 0 {
            for vertex in 0..lists.vertices() {
                let vertex = if up { vertex } else { lists.vertices() - 1 - vertex };
                if waiting >> vertex & 1 == 1 {
                    waiting &= !(1 << vertex);
                    if self.pull(lists.behind, vertex) {
                        let ahead = lists.ahead.each_of(vertex as usize);
                        waiting = ahead.fold(waiting, |waiting, to| waiting | 1 << to);
                    }
                }
            }
            up = !up;
        }
    }

    /// Pulls shorter paths to a vertex from its predecessors; returns whether any number changed.
    #[inline]
    fn pull<L: NeighborLists>(&mut self, behind: L, vertex: VertexId) -> bool {
        let Searches { row_blocks, rows, .. } = self;
        // Accumulates differing bits, to avoid a branch per number.
        let mut changed = 0;
        for block in 0..*row_blocks {
            let at = vertex as usize * *row_blocks + block;
            let mut least = rows[at];
            behind.for_each_arc(vertex as usize, |from, length| {
                let (known, length) =
                    (&rows[from as usize * *row_blocks + block], f64::from(length as u32));
                for (least, known) in least.iter_mut().zip(known) {
                    let through = known + length;
                    *least = if through < *least { through } else { *least };
                }
            });
            for (known, least) in rows[at].iter_mut().zip(least) {
                changed |= known.to_bits() ^ least.to_bits();
                *known = least;
            }
        }
        changed != 0
    }

    /// Searches from a source of the group, which has this place in it.
    pub fn run<L: NeighborLists>(&mut self, lists: Sides<L>, source: VertexId, place: usize) {
        if lists.vertices() > MOST {
            return self.search.run(lists.ahead, source);
        }
        let rows = self.rows.chunks_exact(self.row_blocks).take(lists.vertices() as usize);
        self.search.find(rows.map(|row| row[place / LANES][place % LANES]));
    }

    /// Searches as [`Searches::run`] does, and sorts the reached vertices by distance.
    pub fn run_in_order<L: NeighborLists>(
        &mut self,
        lists: Sides<L>,
        source: VertexId,
        place: usize,
    ) {
        self.run(lists, source, place);
        if lists.vertices() <= MOST {
            self.search.sort();
        }
    }

    /// Returns the result of the last search.
    pub fn found(&self) -> &Dijkstra {
        &self.search
    }
}
