//! The lists of hubs as bitmaps.
//!
//! A hub has a long list, and it is in very many lists A. If u is a hub, membership of w in B is
//! one bit of u's row, so that only the part of A before u has to be read.

use super::oriented::Oriented;
use ripplet_graph::{Direction, OutOfMemory, memory};

/// Ranks that have a row: 2 MiB for all threads, 4 MiB for a directed graph.
pub(super) const MOST: u32 = 1 << 12;
/// Bits in a word.
const WORD: u32 = u32::BITS;

/// A square bit matrix of edges; of a directed graph also one of reciprocal edges.
pub(super) struct Hubs {
    ranks: u32,
    words: usize,
    edges: Vec<u32>,
    reciprocal: Vec<u32>,
}

/// The row of a hub.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    edges: &'a [u32],
    reciprocal: &'a [u32],
}

/// Returns the bytes of the rows of a graph of `vertices` vertices.
pub(super) fn bytes_of_hubs(vertices: u32, direction: Direction) -> u64 {
    let ranks = vertices.min(MOST);
    let square = 4 * u64::from(ranks) * u64::from(ranks.div_ceil(WORD));
    match direction {
        Direction::Undirected => square,
        Direction::Directed => 2 * square,
    }
}

impl Hubs {
    /// Builds the rows of the lowest ranks, at most `most`.
    pub fn of(oriented: &Oriented, direction: Direction, most: u32) -> Result<Hubs, OutOfMemory> {
        let ranks = oriented.ranks().min(most);
        let words = ranks.div_ceil(WORD) as usize;
        let directed = direction == Direction::Directed;
        let mut edges = memory::zeros::<u32>(ranks as usize * words)?;
        let mut reciprocal = memory::zeros::<u32>(if directed { edges.len() } else { 0 })?;
        for u in 0..ranks {
            let list = oriented.list(u);
            for (place, &w) in list.ranks.iter().enumerate() {
                let (word, bit) = (u as usize * words + (w / WORD) as usize, 1 << (w % WORD));
                edges[word] |= bit;
                if directed && list.multiplicity(place) == 2 {
                    reciprocal[word] |= bit;
                }
            }
        }
        Ok(Hubs { ranks, words, edges, reciprocal })
    }

    /// Returns the row of a rank, if it is a hub.
    #[inline]
    pub fn row(&self, rank: u32) -> Option<Row<'_>> {
        if rank >= self.ranks {
            return None;
        }
        let start = rank as usize * self.words;
        let row = |bits| <[u32]>::get(bits, start..start + self.words).unwrap_or_default();
        Some(Row { edges: row(&self.edges), reciprocal: row(&self.reciprocal) })
    }
}

impl Row<'_> {
    /// Returns whether there is an edge to a lower rank.
    #[inline]
    pub fn has(&self, lower: u32) -> bool {
        bit(self.edges, lower) == 1
    }

    /// Returns the number of arcs of this edge, 1 or 2, in a directed graph.
    #[inline]
    pub fn multiplicity(&self, lower: u32) -> u64 {
        u64::from(1 + bit(self.reciprocal, lower))
    }
}

#[inline]
fn bit(words: &[u32], at: u32) -> u32 {
    words[(at / WORD) as usize] >> (at % WORD) & 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use ripplet_generate::Rmat;
    use ripplet_graph::GraphBuilder;

    #[test]
    fn rows_are_the_lists() {
        // More ranks than rows.
        let edges = Rmat { edge_factor: 8, ..Rmat::new(13) }.generate().unwrap();
        for direction in [Direction::Undirected, Direction::Directed] {
            let graph = GraphBuilder::new().direction(direction).build(edges.clone()).unwrap();
            let oriented = Oriented::of((&graph).into(), &()).unwrap();
            let hubs = Hubs::of(&oriented, direction, MOST).unwrap();
            assert!(hubs.row(MOST).is_none() && graph.vertices() > MOST);
            let words = hubs.edges.len() + hubs.reciprocal.len();
            assert_eq!(bytes_of_hubs(graph.vertices(), direction), 4 * words as u64);
            for u in 0..MOST {
                let (list, row) = (oriented.list(u), hubs.row(u).unwrap());
                let found: Vec<u32> = (0..MOST).filter(|&w| row.has(w)).collect();
                assert_eq!(found, list.ranks, "{u}");
                if direction == Direction::Directed {
                    for (place, &w) in list.ranks.iter().enumerate() {
                        assert_eq!(row.multiplicity(w), list.multiplicity(place), "{u} {w}");
                    }
                }
            }
        }
    }
}
