//! Searches by weights from the vertices of a group, one after the other, of which those of a small graph are done
//! at once.
//!
//! ```text
//! a row of each vertex has a number for each source: the least length of a way that is known
//! a vertex asks those behind it: their number and the arc's length, if that is less
//! rounds go over the vertices, up and down in turns: each asks if one behind it has changed since it did
//! ```
//!
//! Ways in small graphs have few arcs, so that rounds are few; and what a round adds and compares are neighbouring
//! numbers, of which a processor does some at a time (Bellman, *On a routing problem*, Quarterly of Applied
//! Mathematics 16, 1958). Rounds in large graphs would be many: there each source has Dijkstra's search.

use crate::dijkstra::{Dijkstra, bytes_of_dijkstra};
use crate::lists::{Lists, Sides};
use crate::waves::GROUP;
use ripplet_graph::{OutOfMemory, VertexId, memory};
use std::ops::Range;

/// The most vertices of a small graph. Lengths of its ways are integers of less than 2⁷ · 2³², which a float has.
const MOST: u32 = 128;

/// Numbers that are compared at once.
const LANES: usize = 8;

/// What a thread keeps for its searches, with room for so many vertices or more.
pub(crate) struct Searches {
    /// The last search's findings.
    search: Dijkstra,
    /// The first source of the group, whose rows are here.
    first: VertexId,
    /// Eights of a row.
    eights: usize,
    rows: Vec<[f64; LANES]>,
}

/// Bytes of [`Searches`] in graphs of so many vertices or fewer.
pub(crate) fn bytes_of_searches(vertices: u32) -> u64 {
    bytes_of_dijkstra(vertices) + 8 * u64::from(GROUP) * u64::from(vertices.min(MOST))
}

impl Searches {
    pub fn new(vertices: u32) -> Result<Searches, OutOfMemory> {
        let rows = vertices.min(MOST) as usize * GROUP as usize / LANES;
        Ok(Searches {
            search: Dijkstra::new(vertices)?,
            first: 0,
            eights: 0,
            rows: memory::zeros(rows)?,
        })
    }

    /// Begins a group of sources, from each of which is searched then.
    pub fn begin<L: Lists>(&mut self, lists: Sides<L>, sources: Range<VertexId>) {
        if lists.vertices() > MOST {
            return;
        }
        self.first = sources.start;
        self.eights = sources.len().div_ceil(LANES);
        self.rows[..self.eights * lists.vertices() as usize].fill([f64::INFINITY; LANES]);
        for (lane, source) in sources.enumerate() {
            self.rows[source as usize * self.eights + lane / LANES][lane % LANES] = 0.0;
        }
        // Who has not asked since one behind them changed; a bit each.
        let mut waiting = u128::MAX >> (MOST - lists.vertices().max(1));
        let mut up = true;
        while waiting != 0 {
            for vertex in 0..lists.vertices() {
                let vertex = if up { vertex } else { lists.vertices() - 1 - vertex };
                if waiting >> vertex & 1 == 1 {
                    waiting &= !(1 << vertex);
                    if self.ask(lists.behind, vertex) {
                        let ahead = lists.ahead.of(vertex).iter();
                        waiting = ahead.fold(waiting, |waiting, to| waiting | 1 << to);
                    }
                }
            }
            up = !up;
        }
    }

    /// Whether a vertex has shorter ways through those behind it.
    #[inline]
    fn ask<L: Lists>(&mut self, behind: L, vertex: VertexId) -> bool {
        let Searches { eights, rows, .. } = self;
        let (list, weights) = (behind.of(vertex), behind.weights_of(vertex));
        // Bits that are others than before.
        let mut changed = 0;
        for eight in 0..*eights {
            let at = vertex as usize * *eights + eight;
            let mut least = rows[at];
            for (&from, &length) in list.iter().zip(weights) {
                let (known, length) = (&rows[from as usize * *eights + eight], f64::from(length));
                for (least, known) in least.iter_mut().zip(known) {
                    let through = known + length;
                    *least = if through < *least { through } else { *least };
                }
            }
            for (known, least) in rows[at].iter_mut().zip(least) {
                changed |= known.to_bits() ^ least.to_bits();
                *known = least;
            }
        }
        changed != 0
    }

    /// Searches from a source of the group.
    pub fn run<L: Lists>(&mut self, lists: Sides<L>, source: VertexId) {
        if lists.vertices() > MOST {
            return self.search.run(lists.ahead, source);
        }
        let lane = (source - self.first) as usize;
        let rows = self.rows.chunks_exact(self.eights).take(lists.vertices() as usize);
        self.search.find(rows.map(|row| row[lane / LANES][lane % LANES]));
    }

    /// The same, and the nearest is found first.
    pub fn run_in_order<L: Lists>(&mut self, lists: Sides<L>, source: VertexId) {
        self.run(lists, source);
        if lists.vertices() <= MOST {
            self.search.sort();
        }
    }

    /// What was found last.
    pub fn found(&self) -> &Dijkstra {
        &self.search
    }
}
