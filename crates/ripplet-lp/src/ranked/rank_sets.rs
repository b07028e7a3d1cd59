//! Sets of ranks, a bit for each: of vertices, the ranks that have a neighbour; of labels, those that read the total.

use crate::ranks::Parts;
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{Direction, GraphView, VertexId, dispatch_lists};
use std::ops::Range;

/// A set of ranks for each of some consecutive vertices or labels.
///
/// Memory: a bit for each rank, in words of 32 bits.
pub(super) struct RankSets {
    first: u32,
    words: usize,
    bits: Vec<u32>,
}

impl RankSets {
    /// Returns the words of a set of `ranks` ranks.
    pub fn words_for(ranks: usize) -> usize {
        ranks.div_ceil(u32::BITS as usize)
    }

    /// Creates empty sets.
    pub fn none(numbers: Range<u32>, ranks: usize) -> Result<RankSets, OutOfMemory> {
        let words = RankSets::words_for(ranks);
        Ok(RankSets { first: numbers.start, words, bits: memory::zeros(numbers.len() * words)? })
    }

    /// Returns the other ranks that have a neighbour of each vertex of a rank.
    ///
    /// A vertex is a neighbour of its neighbours: lists have each edge at both ends, or in both directions. So the ranks
    /// that read a vertex's label follow from the vertex's own lists.
    pub fn of_neighbors(
        graph: GraphView<'_>,
        parts: &Parts,
        rank: usize,
    ) -> Result<RankSets, OutOfMemory> {
        let own = parts.of(rank);
        let mut sets = RankSets::none(own.clone(), parts.ranks())?;
        let each = sets.bits.par_chunks_mut(sets.words).zip(own).with_min_len(1 << 8);
        dispatch_lists!(graph, (out, incoming) => {
            let incoming = (graph.direction() == Direction::Directed).then_some(incoming);
            each.for_each(|(set, v)| insert_owners(set, v, [Some(out), incoming], parts, rank));
        });
        Ok(sets)
    }

    /// Returns the number of a rank's vertices with neighbours, and the sum of the sizes of their sets in
    /// [`RankSets::of_neighbors`], of a sample of at most `sample` vertices, evenly spread.
    pub fn sampled(graph: GraphView<'_>, parts: &Parts, rank: usize, sample: usize) -> [u64; 2] {
        let own = parts.of(rank);
        let step = own.len().div_ceil(sample.max(1)).max(1);
        let sampled = own.into_par_iter().step_by(step).with_min_len(1 << 8);
        let words = RankSets::words_for(parts.ranks());
        let sum = |a: [u64; 2], b: [u64; 2]| [a[0] + b[0], a[1] + b[1]];
        dispatch_lists!(graph, (out, incoming) => {
            let incoming = (graph.direction() == Direction::Directed).then_some(incoming);
            let size = |v| {
                let mut set = vec![0; words];
                insert_owners(&mut set, v, [Some(out), incoming], parts, rank);
                let ranks = set.iter().map(|word| u64::from(word.count_ones())).sum();
                [u64::from(graph.degree(v) > 0), ranks]
            };
            sampled.map(size).reduce(|| [0; 2], sum)
        })
    }

    /// Returns the set of a number.
    pub fn of(&self, number: u32) -> &[u32] {
        let at = (number - self.first) as usize * self.words;
        &self.bits[at..at + self.words]
    }

    /// Removes all ranks from the set of a number.
    pub fn clear(&mut self, number: u32) {
        let at = (number - self.first) as usize * self.words;
        self.bits[at..at + self.words].fill(0);
    }

    /// Adds ranks to the set of a number; keeps in `ranks` those that are new.
    pub fn add(&mut self, number: u32, ranks: &mut [u32]) {
        let at = (number - self.first) as usize * self.words;
        for (held, new) in self.bits[at..at + self.words].iter_mut().zip(ranks) {
            *new &= !*held;
            *held |= *new;
        }
    }
}

/// Adds the owners of a vertex's neighbours, without its own rank.
fn insert_owners<N: NeighborLists>(
    set: &mut [u32],
    v: VertexId,
    lists: [Option<N>; 2],
    parts: &Parts,
    rank: usize,
) {
    let mut known = parts.of(rank);
    for u in lists.into_iter().flatten().flat_map(|lists| lists.each_of(v as usize)) {
        // Lists ascend: most neighbours are of the rank of the neighbour before.
        if !known.contains(&u) {
            let owner = parts.owner(u);
            known = parts.of(owner);
            if owner != rank {
                insert(set, owner);
            }
        }
    }
}

/// Adds a rank to a set.
pub(super) fn insert(set: &mut [u32], rank: usize) {
    set[rank / u32::BITS as usize] |= 1 << (rank % u32::BITS as usize);
}

/// Yields the ranks of a set.
pub(super) fn ranks_of(set: &[u32]) -> impl Iterator<Item = usize> {
    let ranks = |(number, &word): (usize, &u32)| {
        let bits = (0..u32::BITS as usize).filter(move |bit| word >> bit & 1 == 1);
        bits.map(move |bit| number * u32::BITS as usize + bit)
    };
    set.iter().enumerate().flat_map(ranks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};

    #[test]
    fn sets_keep_what_is_new_of_what_is_added() {
        let mut sets = RankSets::none(10..12, 40).unwrap();
        let mut added = [0b110, 1];
        sets.add(11, &mut added);
        assert_eq!(added, [0b110, 1]);
        added = [0b011, 1];
        sets.add(11, &mut added);
        assert_eq!(added, [1, 0]);
        assert!(ranks_of(sets.of(11)).eq([0, 1, 2, 32]) && ranks_of(sets.of(10)).next().is_none());
        sets.clear(11);
        assert_eq!(sets.of(11), [0, 0]);
    }

    #[test]
    fn a_vertex_has_the_ranks_of_its_neighbours_in_both_directions() {
        for direction in [Direction::Undirected, Direction::Directed] {
            let ids = VertexIds::Consecutive { first: 0, count: 200 };
            let table =
                EdgeTable::new(ids, vec![0, 70, 199, 1, 64], vec![70, 1, 0, 2, 65]).unwrap();
            let graph = GraphBuilder::new().direction(direction).build(table).unwrap();
            let parts = Parts::of_bounds(vec![0, 64, 64, 128, 200]).unwrap();
            let of = |rank| RankSets::of_neighbors((&graph).into(), &parts, rank).unwrap();
            let ranks = |rank, v| ranks_of(of(rank).of(v)).collect::<Vec<_>>();
            assert_eq!((ranks(0, 0), ranks(0, 1), ranks(0, 2)), (vec![2, 3], vec![2], vec![]));
            assert_eq!((ranks(2, 70), ranks(2, 64), ranks(3, 199)), (vec![0], vec![], vec![0]));
            assert_eq!(RankSets::sampled((&graph).into(), &parts, 0, 1 << 10), [3, 3]);
            assert_eq!(RankSets::sampled((&graph).into(), &parts, 1, 9), [0, 0]);
        }
    }
}
