//! The graph oriented by rank: each edge once, at its end of lower degree.
//!
//! ```text
//! vertex      0 1 2 3      a triangle 0 1 2, and 3 beside 2
//! degree      2 2 3 1
//! rank        1 2 0 3      rank 0 has the highest degree; of equal ones, the smallest id is first
//! list of rank 0 –, of 1 {0}, of 2 {0 1}, of 3 {0}
//! ```
//!
//! A list holds neighbours whose degree is no lower than its owner's. If it were longer than √(2 ·
//! edges), these neighbours alone would have more arcs than the graph.

use super::neighbors::SimpleGraph;
use crate::AnalysisError;
use crate::run::go_on;
use rayon::prelude::*;
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{
    Direction, GraphView, Observer, VertexId, as_atomic, dispatch_lists, memory, tasks,
};
use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Ranks in a block. A list has at most √(2 · edges) arcs, and at 8 bytes or more per edge fewer
/// than 2⁴⁵ edges can be addressed: a block has fewer than 2³¹ arcs, so that a place in it fits
/// `u32`.
const BLOCK: usize = 1 << 8;

/// Neighbours of lower rank, that is of higher degree, as compressed sparse rows (CSR).
pub(super) struct Oriented {
    /// The vertex of each rank.
    order: Vec<VertexId>,
    /// The begin of each block's lists, and the end of the last block.
    blocks: Vec<u64>,
    /// The begin of each list, relative to its block, with one closing entry.
    begins: Vec<u32>,
    /// Ranks, ascending in each list.
    targets: Vec<u32>,
    /// A bit per arc: whether its edge goes in both directions; empty for an undirected graph.
    reciprocal: Vec<u32>,
}

/// The list of a rank.
#[derive(Clone, Copy)]
pub(super) struct List<'a> {
    pub ranks: &'a [u32],
    words: &'a [u32],
    begin: usize,
}

/// Bits in a word.
const WORD: usize = u32::BITS as usize;

/// Returns the bytes of the tables that have an entry per block.
pub(super) fn bytes_of_blocks(vertices: u64) -> u64 {
    // The begins and the work of the blocks; and the entry that closes the last list.
    16 * (vertices / BLOCK as u64 + 2) + 4
}

/// Returns an upper bound of a list's length in a graph of `edges` edges: ⌊√(2 · edges)⌋ + 1.
pub(super) fn longest_list(edges: u64) -> u64 {
    edges.saturating_mul(2).isqrt() + 1
}

impl Oriented {
    /// Orients a graph. Cost: three passes over the graph's lists, and sorting.
    pub fn of(graph: GraphView<'_>, observer: &dyn Observer) -> Result<Oriented, AnalysisError> {
        let directed = graph.direction() == Direction::Directed;
        dispatch_lists!(graph, (out, incoming) => {
            Oriented::of_lists(SimpleGraph::of(out, incoming, directed), observer)
        })
    }

    fn of_lists<L: NeighborLists>(
        graph: SimpleGraph<L>,
        observer: &dyn Observer,
    ) -> Result<Oriented, AnalysisError> {
        let order = order(graph, observer)?;
        let mut rank_of = memory::zeros(order.len())?;
        let places = as_atomic(&mut rank_of);
        order.par_iter().enumerate().for_each(|(rank, &vertex)| {
            places[vertex as usize].store(rank as u32, Relaxed);
        });
        let source = Source { graph, order: &order, rank_of: &rank_of, observer };
        let (blocks, begins) = source.begins()?;
        let arcs = blocks.last().map_or(0, |&arcs| arcs as usize);
        let mut targets = memory::zeros(arcs)?;
        let directed = graph.is_directed();
        let mut reciprocal = memory::zeros(if directed { arcs.div_ceil(WORD) } else { 0 })?;
        let words = directed.then(|| as_atomic(&mut reciprocal));
        let filling = Filling { source, blocks: &blocks, begins: &begins, words };
        filling.fill(0..order.len().div_ceil(BLOCK), &mut targets)?;
        drop(rank_of);
        Ok(Oriented { order, blocks, begins, targets, reciprocal })
    }

    pub fn ranks(&self) -> u32 {
        self.order.len() as u32
    }

    /// Returns the vertex of a rank.
    #[inline]
    pub fn vertex(&self, rank: u32) -> VertexId {
        self.order[rank as usize]
    }

    #[inline]
    pub fn list(&self, rank: u32) -> List<'_> {
        let Range { start, end } = self.arcs(rank);
        List { ranks: &self.targets[start..end], words: &self.reciprocal, begin: start }
    }

    /// Returns the length of a list.
    #[inline]
    pub fn degree(&self, rank: u32) -> usize {
        self.arcs(rank).len()
    }

    /// Returns the number of blocks, the units of parallel work.
    pub fn blocks(&self) -> usize {
        self.order.len().div_ceil(BLOCK)
    }

    /// Returns the ranks of a block.
    pub fn block(&self, block: usize) -> Range<u32> {
        (block * BLOCK) as u32..self.order.len().min((block + 1) * BLOCK) as u32
    }

    /// Returns the number of edges.
    pub fn edges(&self) -> u64 {
        self.targets.len() as u64
    }

    #[inline]
    fn arcs(&self, rank: u32) -> Range<usize> {
        let begin = |rank: usize| self.blocks[rank / BLOCK] as usize + self.begins[rank] as usize;
        begin(rank as usize)..begin(rank as usize + 1)
    }
}

impl List<'_> {
    /// Returns the number of arcs, 1 or 2, of the edge at a place of the list, in a directed graph.
    #[inline]
    pub fn multiplicity(&self, place: usize) -> u64 {
        let bit = self.begin + place;
        u64::from(1 + (self.words[bit / WORD] >> (bit % WORD) & 1))
    }
}

/// Returns the vertices by descending degree; of equal ones, the smallest id first.
fn order<L: NeighborLists>(
    graph: SimpleGraph<L>,
    observer: &dyn Observer,
) -> Result<Vec<VertexId>, AnalysisError> {
    let mut keys = memory::zeros::<u64>(graph.vertices())?;
    tasks::try_for_each_chunk(&mut keys, BLOCK, &|first, keys| {
        go_on(observer)?;
        for (vertex, key) in (first..).zip(keys) {
            let degree = graph.degrees(vertex as VertexId).neighbors;
            *key = u64::from(!degree) << 32 | vertex as u64;
        }
        Ok::<_, AnalysisError>(())
    })?;
    keys.par_sort_unstable();
    let mut order = memory::with_room(keys.len())?;
    order.par_extend(keys.par_iter().map(|&key| key as u32));
    Ok(order)
}

/// A graph and its ranks.
#[derive(Clone, Copy)]
struct Source<'a, L> {
    graph: SimpleGraph<L>,
    order: &'a [VertexId],
    rank_of: &'a [u32],
    observer: &'a dyn Observer,
}

impl<L: NeighborLists> Source<'_, L> {
    /// Calls `visit` for each neighbour of lower rank, in no particular order.
    #[inline]
    fn for_each_lower(&self, rank: usize, mut visit: impl FnMut(u32, bool)) {
        self.graph.for_each_neighbor(self.order[rank], |u, both| {
            let lower = self.rank_of[u as usize];
            if (lower as usize) < rank {
                visit(lower, both);
            }
        });
    }

    /// Returns the begins of blocks and lists.
    fn begins(&self) -> Result<(Vec<u64>, Vec<u32>), AnalysisError> {
        let ranks = self.order.len();
        let mut blocks = memory::zeros::<u64>(ranks.div_ceil(BLOCK) + 1)?;
        let mut begins = memory::zeros::<u32>(ranks + 1)?;
        let arcs = begins.par_chunks_mut(BLOCK).zip(&mut blocks).enumerate();
        arcs.try_for_each(|(block, (begins, arcs))| {
            go_on(self.observer)?;
            for (rank, begin) in (block * BLOCK..).zip(begins) {
                *begin = *arcs as u32;
                if rank < ranks {
                    self.for_each_lower(rank, |_, _| *arcs += 1);
                }
            }
            Ok::<_, AnalysisError>(())
        })?;
        let mut sum = 0;
        for arcs in &mut blocks {
            sum += std::mem::replace(arcs, sum);
        }
        Ok((blocks, begins))
    }
}

/// The lists under construction.
struct Filling<'a, L> {
    source: Source<'a, L>,
    blocks: &'a [u64],
    begins: &'a [u32],
    words: Option<&'a [AtomicU32]>,
}

impl<L: NeighborLists> Filling<'_, L> {
    /// Fills the lists of some blocks; `targets` is their part of the array.
    fn fill(&self, blocks: Range<usize>, targets: &mut [u32]) -> Result<(), AnalysisError> {
        if blocks.len() > 1 {
            let middle = blocks.start + blocks.len() / 2;
            let left = (self.blocks[middle] - self.blocks[blocks.start]) as usize;
            let (left, right) = targets.split_at_mut(left);
            let (left, right) = tasks::join(
                || self.fill(blocks.start..middle, left),
                || self.fill(middle..blocks.end, right),
            );
            return left.and(right);
        }
        let Some(block) = blocks.into_iter().next() else { return Ok(()) };
        go_on(self.source.observer)?;
        let ranks = self.source.order.len().min((block + 1) * BLOCK);
        let mut scratch = Vec::new();
        for rank in block * BLOCK..ranks {
            let begin = self.begins[rank] as usize;
            match self.words {
                None => self.fill_list(rank, &mut targets[begin..]),
                Some(words) => {
                    let bit = self.blocks[block] as usize + begin;
                    self.fill_directed(rank, &mut targets[begin..], (words, bit), &mut scratch)?;
                }
            }
        }
        Ok(())
    }

    fn fill_list(&self, rank: usize, targets: &mut [u32]) {
        let mut length = 0;
        self.source.for_each_lower(rank, |lower, _| {
            targets[length] = lower;
            length += 1;
        });
        targets[..length].sort_unstable();
    }

    /// Fills the list of a rank in a directed graph, and its bits from `first_bit` on. `scratch` is
    /// overwritten.
    fn fill_directed(
        &self,
        rank: usize,
        targets: &mut [u32],
        (words, first_bit): (&[AtomicU32], usize),
        scratch: &mut Vec<u64>,
    ) -> Result<(), AnalysisError> {
        scratch.clear();
        let mut room = Ok(());
        self.source.for_each_lower(rank, |lower, both| {
            if room.is_ok() {
                room = memory::push(scratch, u64::from(lower) << 1 | u64::from(both));
            }
        });
        room?;
        scratch.sort_unstable();
        for ((arc, target), bit) in scratch.iter().zip(targets).zip(first_bit..) {
            *target = (arc >> 1) as u32;
            if arc & 1 == 1 {
                // Atomic, as lists of two threads may share a word.
                words[bit / WORD].fetch_or(1 << (bit % WORD), Relaxed);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ripplet_graph::{EdgeTable, Graph, GraphBuilder, VertexIds};

    fn graph(vertices: u32, pairs: &[(u32, u32)], direction: Direction) -> Graph {
        let ids = VertexIds::Consecutive { first: 0, count: vertices };
        let (sources, targets) = pairs.iter().copied().unzip();
        let table = EdgeTable::new(ids, sources, targets).unwrap();
        GraphBuilder::new().direction(direction).build(table).unwrap()
    }

    #[test]
    fn the_example_above() {
        let graph = graph(4, &[(0, 1), (1, 2), (2, 0), (2, 3)], Direction::Undirected);
        let oriented = Oriented::of((&graph).into(), &()).unwrap();
        assert_eq!(oriented.order, [2, 0, 1, 3]);
        let lists: Vec<_> = (0..4).map(|rank| oriented.list(rank).ranks).collect();
        assert_eq!(lists, [&[][..], &[0], &[0, 1], &[0]]);
    }

    #[test]
    fn multiplicities_are_those_of_the_edges() {
        // Several words of bits, in lists that share them; multiples of 3 go both ways.
        let pairs: Vec<(u32, u32)> = (0..40u32).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
        let both = |a: u32, b: u32| (a + b).is_multiple_of(3);
        let back = pairs.iter().filter(|&&(a, b)| both(a, b)).map(|&(a, b)| (b, a));
        let all: Vec<_> = pairs.iter().copied().chain(back).collect();
        let oriented = Oriented::of((&graph(40, &all, Direction::Directed)).into(), &()).unwrap();
        let mut arcs = 0;
        for rank in 0..40 {
            let list = oriented.list(rank);
            assert!(list.ranks.is_sorted() && list.ranks.len() == oriented.degree(rank));
            for (place, &lower) in list.ranks.iter().enumerate() {
                let (a, b) = (oriented.vertex(rank), oriented.vertex(lower));
                let expected = if both(a, b) { 2 } else { 1 };
                assert_eq!(list.multiplicity(place), expected, "{a} {b}");
                arcs += 1;
            }
        }
        assert_eq!(arcs, pairs.len());
    }

    #[test]
    fn lists_are_short_and_hold_each_edge_once_over_several_blocks() {
        // A hub of 1000, cliques of 30 beside it.
        let hub = (1..=1000).map(|v| (0, v));
        let cliques =
            (1..=1000u32).flat_map(|v| (v..v - v % 30 + 30).map(move |u| (v, u.min(1000))));
        let pairs: Vec<_> = hub.chain(cliques).collect();
        let graph = graph(1001, &pairs, Direction::Undirected);
        let oriented = Oriented::of((&graph).into(), &()).unwrap();
        let edges: usize = (0..1001).map(|rank| oriented.degree(rank)).sum();
        assert_eq!(edges as u64, graph.edges());
        let longest = (0..1001).map(|rank| oriented.degree(rank)).max().unwrap();
        assert!(longest as u64 <= longest_list(graph.edges()), "{longest}");
        assert_eq!((oriented.vertex(0), oriented.degree(0)), (0, 0));
    }
}
