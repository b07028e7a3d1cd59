//! The graph: shards of adjacency, and the external ids.

use crate::memory::{self, OutOfMemory};
use crate::{Buffer, VertexId, VertexIds, WeightScale};
use rayon::prelude::*;
use std::ops::Range;
use thiserror::Error;

/// The most arcs of a shard: its offsets are `u32`.
pub const MAX_SHARD_ARCS: u64 = 1 << 31;

/// Whether edges have a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Each edge is stored as two arcs, one in each end's list.
    #[default]
    Undirected,
    /// Each edge is stored in its source's `out` list and in its target's `incoming` list.
    Directed,
}

/// A graph: its vertices `0..vertices()` in shards, and their external ids.
///
/// Neighbour lists ascend. Memory: 4 bytes per arc, 8 with weights, and 4 bytes per vertex. A
/// directed graph stores both directions, so that an edge takes as much as in an undirected graph.
/// Ids are extra, unless they are consecutive.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    ids: VertexIds,
    direction: Direction,
    scale: WeightScale,
    shards: Vec<Shard>,
    /// The arcs of lists that only other processes have.
    arcs_elsewhere: u64,
}

/// The bytes that a graph occupies, by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphBytes {
    /// The external ids of the vertices.
    pub ids: u64,
    /// The begin of each vertex's neighbours.
    pub offsets: u64,
    /// The neighbours.
    pub neighbors: u64,
    /// The weights of arcs.
    pub weights: u64,
}

/// A contiguous range of vertices with their adjacency.
#[derive(Clone, Debug, PartialEq)]
pub struct Shard {
    vertices: Range<VertexId>,
    out: Adjacency,
    incoming: Option<Adjacency>,
}

/// The neighbour lists of a shard, as compressed sparse rows (CSR).
#[derive(Clone, Debug, PartialEq)]
pub struct Adjacency {
    offsets: Buffer<u32>,
    neighbors: Buffer<VertexId>,
    weights: Option<Buffer<u32>>,
}

/// [`Adjacency`] as plain slices, for loops.
///
/// `local` counts from the shard's first vertex, or from the first vertex of a graph of a
/// [`crate::batch::GraphBatch`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Neighbors<'a> {
    offsets: &'a [u32],
    neighbors: &'a [VertexId],
    weights: Option<&'a [u32]>,
}

/// The reason why parts do not make a graph.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum InvalidGraph {
    /// The ids do not ascend, or are too many.
    #[error("the vertex ids do not strictly ascend")]
    Ids,
    /// The shards do not cover the vertices one after the other.
    #[error("shard {shard} does not begin where the one before it ends")]
    Range {
        /// The shard, counted from 0.
        shard: usize,
    },
    /// Offsets descend or do not end with the neighbours, or there are too many arcs.
    #[error("the offsets of shard {shard} do not fit its neighbours")]
    Offsets {
        /// The shard, counted from 0.
        shard: usize,
    },
    /// A neighbour is not a vertex.
    #[error("shard {shard} names a neighbour that is not a vertex")]
    Neighbor {
        /// The shard, counted from 0.
        shard: usize,
    },
    /// A neighbour list does not ascend.
    #[error("the neighbours of a vertex of shard {shard} do not ascend")]
    Order {
        /// The shard, counted from 0.
        shard: usize,
    },
    /// Only some lists have weights or incoming arcs, or their number is wrong.
    #[error("shard {shard} lacks weights or incoming arcs that the graph has, or the reverse")]
    Columns {
        /// The shard, counted from 0.
        shard: usize,
    },
}

impl Adjacency {
    /// Creates adjacency from its columns; [`Graph::from_shards`] checks them.
    pub fn new(
        offsets: Buffer<u32>,
        neighbors: Buffer<VertexId>,
        weights: Option<Buffer<u32>>,
    ) -> Adjacency {
        Adjacency { offsets, neighbors, weights }
    }

    /// Returns the columns as plain slices.
    #[inline]
    pub fn view(&self) -> Neighbors<'_> {
        Neighbors {
            offsets: &self.offsets,
            neighbors: &self.neighbors,
            weights: self.weights.as_deref(),
        }
    }

    /// Returns the columns as `Vec`s, copying only shared ones: their memory can be reused for the
    /// next graph.
    pub fn into_columns(self) -> (Vec<u32>, Vec<VertexId>, Option<Vec<u32>>) {
        let weights = self.weights.map(Buffer::into_vec);
        (self.offsets.into_vec(), self.neighbors.into_vec(), weights)
    }

    /// Returns a copy with owned arrays, even of shared ones.
    pub(crate) fn try_clone(&self) -> Result<Adjacency, OutOfMemory> {
        let weights = self.weights.as_ref().map(|weights| memory::copied(weights)).transpose()?;
        let (offsets, neighbors) =
            (memory::copied(&self.offsets)?, memory::copied(&self.neighbors)?);
        Ok(Adjacency::new(offsets.into(), neighbors.into(), weights.map(Into::into)))
    }
}

impl<'a> Neighbors<'a> {
    /// Creates lists from borrowed columns, which must have been checked as by
    /// [`Graph::from_shards`].
    pub(crate) fn of_slices(
        offsets: &'a [u32],
        neighbors: &'a [VertexId],
        weights: Option<&'a [u32]>,
    ) -> Neighbors<'a> {
        Neighbors { offsets, neighbors, weights }
    }

    /// Returns the number of arcs in vertex `local`'s list.
    #[inline]
    pub fn degree(&self, local: usize) -> u32 {
        self.offsets[local + 1] - self.offsets[local]
    }

    /// Returns the neighbours of vertex `local`, ascending.
    #[inline]
    pub fn of(&self, local: usize) -> &'a [VertexId] {
        &self.neighbors[self.offsets[local] as usize..self.offsets[local + 1] as usize]
    }

    /// Returns the stored weights of the arcs in the order of [`Neighbors::of`], if the graph has
    /// weights.
    #[inline]
    pub fn weights_of(&self, local: usize) -> Option<&'a [u32]> {
        let weights = self.weights?;
        Some(&weights[self.offsets[local] as usize..self.offsets[local + 1] as usize])
    }

    /// Returns the begin of each list, and the end of the last.
    pub fn offsets(&self) -> &'a [u32] {
        self.offsets
    }

    /// Returns all lists in one array.
    pub fn neighbors(&self) -> &'a [VertexId] {
        self.neighbors
    }

    /// Returns all stored weights, if the graph has weights.
    pub fn weights(&self) -> Option<&'a [u32]> {
        self.weights
    }
}

/// An error of neighbours whose offsets are valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    Neighbor,
    Order,
}

impl Flaw {
    fn of_shard(self, shard: usize) -> InvalidGraph {
        match self {
            Flaw::Neighbor => InvalidGraph::Neighbor { shard },
            Flaw::Order => InvalidGraph::Order { shard },
        }
    }
}

/// Returns whether offsets ascend.
fn ascend(offsets: &[u32]) -> bool {
    const OFFSETS: usize = 1 << 16;
    // Starting other threads takes longer than checking few offsets.
    match offsets.len() <= OFFSETS {
        true => offsets.is_sorted(),
        false => offsets.par_windows(2).with_min_len(OFFSETS).all(|pair| pair[0] <= pair[1]),
    }
}

impl Neighbors<'_> {
    /// Returns the first error of lists whose offsets ascend from 0 to their end.
    ///
    /// The lists need not be checked one by one. If the flat array descends, a list must begin:
    /// the lists ascend if the array has as many descents as there are lists that begin with one.
    ///
    /// ```text
    /// neighbours   1 4 7 | 0 4 | 2 5 3     3 descents, 2 of them where a list begins: the third is
    /// offsets      0       3     5         within a list
    /// ```
    fn first_flaw(self, vertices: u32) -> Option<Flaw> {
        /// 256 KiB: the arcs are still in a core's cache when the lists' begins are looked up.
        const ARCS: usize = 1 << 16;
        let flaw = |part: usize| {
            let (begin, end) = (part * ARCS, self.neighbors.len().min((part + 1) * ARCS));
            let arcs = &self.neighbors[begin..end];
            if arcs.iter().fold(false, |outside, &v| outside | (v >= vertices)) {
                return Some(Flaw::Neighbor);
            }
            // The pair that ends with the part's first arc is counted in this part.
            let pairs = &self.neighbors[begin.saturating_sub(1)..end];
            let descents: u32 =
                pairs[1..].iter().zip(pairs).map(|(next, v)| u32::from(next < v)).sum();
            (descents as usize != self.descents_between_lists(begin as u32..end as u32))
                .then_some(Flaw::Order)
        };
        let parts = self.neighbors.len().div_ceil(ARCS);
        if parts <= 1 {
            return (0..parts).find_map(flaw);
        }
        (0..parts).into_par_iter().filter_map(flaw).find_first(|_| true)
    }

    /// Returns the number of lists that begin in this range of arcs with a smaller neighbour than
    /// the arc before.
    fn descents_between_lists(self, arcs: Range<u32>) -> usize {
        // The first list begins with the array: no arc is before it.
        let first = self.offsets.partition_point(|&offset| offset < arcs.start.max(1));
        let mut last = 0;
        let begins = self.offsets[first..].iter().take_while(|&&offset| offset < arcs.end);
        begins
            .filter(|&&offset| {
                // Empty lists begin where the next one does: count each place once.
                let again = std::mem::replace(&mut last, offset) == offset;
                let at = offset as usize;
                !again && self.neighbors[at] < self.neighbors[at - 1]
            })
            .count()
    }
}

impl Shard {
    /// Creates a shard from its parts; [`Graph::from_shards`] checks them.
    pub fn new(vertices: Range<VertexId>, out: Adjacency, incoming: Option<Adjacency>) -> Shard {
        Shard { vertices, out, incoming }
    }

    /// Returns the parts of [`Shard::new`].
    pub fn into_parts(self) -> (Range<VertexId>, Adjacency, Option<Adjacency>) {
        (self.vertices, self.out, self.incoming)
    }

    /// Returns the vertices whose lists are in the shard.
    #[inline]
    pub fn vertices(&self) -> Range<VertexId> {
        self.vertices.clone()
    }

    /// Returns the arcs that leave these vertices; in an undirected graph, all their arcs.
    #[inline]
    pub fn out(&self) -> Neighbors<'_> {
        self.out.view()
    }

    /// Returns the arcs that enter these vertices; present if the graph is directed.
    #[inline]
    pub fn incoming(&self) -> Option<Neighbors<'_>> {
        self.incoming.as_ref().map(Adjacency::view)
    }

    /// Yields all lists of the shard: `out`, and `incoming` if the graph is directed.
    ///
    /// In a directed graph a reciprocal neighbour is in both lists, so that it occurs twice.
    pub fn lists(&self) -> impl Iterator<Item = Neighbors<'_>> + Clone {
        std::iter::once(self.out()).chain(self.incoming())
    }

    /// Returns the number of arcs that touch vertex `local`, over all its lists.
    #[inline]
    pub fn degree(&self, local: usize) -> u64 {
        self.lists().map(|list| u64::from(list.degree(local))).sum()
    }

    fn check(&self, shard: usize, vertices: u32) -> Result<(), InvalidGraph> {
        for list in self.lists() {
            let ends = list.offsets.first() == Some(&0)
                && list.offsets.len() == self.vertices.len() + 1
                && list.offsets.last().copied().map(u64::from) == Some(list.neighbors.len() as u64);
            let many = list.neighbors.len() as u64 > MAX_SHARD_ARCS;
            if !ends || many || !ascend(list.offsets) {
                return Err(InvalidGraph::Offsets { shard });
            }
            if let Some(flaw) = list.first_flaw(vertices) {
                return Err(flaw.of_shard(shard));
            }
            if list.weights.is_some_and(|w| w.len() != list.neighbors.len()) {
                return Err(InvalidGraph::Columns { shard });
            }
        }
        Ok(())
    }

    /// Checks the lists of the vertices `own`, and reads nothing of others.
    fn check_part(
        &self,
        shard: usize,
        vertices: u32,
        own: &Range<VertexId>,
    ) -> Result<(), InvalidGraph> {
        let begin = own.start.clamp(self.vertices.start, self.vertices.end);
        let end = own.end.clamp(begin, self.vertices.end);
        let locals = (begin - self.vertices.start) as usize..(end - self.vertices.start) as usize;
        for list in self.lists() {
            let arcs = list.neighbors.len() as u64;
            let is_sized = list.offsets.len() == self.vertices.len() + 1;
            if !is_sized || arcs > MAX_SHARD_ARCS {
                return Err(InvalidGraph::Offsets { shard });
            }
            if list.weights.is_some_and(|w| w.len() != list.neighbors.len()) {
                return Err(InvalidGraph::Columns { shard });
            }
            if locals.is_empty() {
                continue;
            }
            let offsets = list.offsets.get(locals.start..=locals.end).unwrap_or_default();
            let first = offsets.first().copied().map(u64::from);
            let last = offsets.last().copied().map(u64::from);
            let begins = locals.start > 0 || first == Some(0);
            let ends = locals.end < self.vertices.len() || last == Some(arcs);
            if !begins || !ends || last > Some(arcs) || !ascend(offsets) {
                return Err(InvalidGraph::Offsets { shard });
            }
            let flaw = |local: usize| {
                let neighbors = list.of(local);
                match neighbors.iter().fold(false, |outside, &v| outside | (v >= vertices)) {
                    true => Some(Flaw::Neighbor),
                    false => (!neighbors.is_sorted()).then_some(Flaw::Order),
                }
            };
            let flaws = locals.clone().into_par_iter().with_min_len(1 << 8).filter_map(flaw);
            if let Some(flaw) = flaws.find_first(|_| true) {
                return Err(flaw.of_shard(shard));
            }
        }
        Ok(())
    }
}

impl Graph {
    /// Creates a graph from its parts and checks them: every loop over a graph relies on this.
    ///
    /// Cost: one pass over the arrays, at memory bandwidth.
    ///
    /// # Errors
    /// If the parts are inconsistent.
    pub fn from_shards(
        ids: VertexIds,
        direction: Direction,
        scale: WeightScale,
        shards: Vec<Shard>,
    ) -> Result<Graph, InvalidGraph> {
        Graph::checked(ids, direction, scale, shards, Shard::check)
    }

    /// Creates a graph of which only the lists of the vertices `own` are checked, and nothing is read of others.
    ///
    /// For processes that share a graph, each with a part of it in memory. What reads another list may panic, or find
    /// anything.
    ///
    /// Cost: one pass over these lists.
    ///
    /// # Errors
    /// If the parts are inconsistent, as far as they are checked.
    pub fn from_part(
        ids: VertexIds,
        direction: Direction,
        scale: WeightScale,
        shards: Vec<Shard>,
        own: Range<VertexId>,
    ) -> Result<Graph, InvalidGraph> {
        let check = |shard: &Shard, index, vertices| shard.check_part(index, vertices, &own);
        Graph::checked(ids, direction, scale, shards, check)
    }

    fn checked(
        ids: VertexIds,
        direction: Direction,
        scale: WeightScale,
        shards: Vec<Shard>,
        check: impl Fn(&Shard, usize, u32) -> Result<(), InvalidGraph>,
    ) -> Result<Graph, InvalidGraph> {
        if !ids.is_valid() {
            return Err(InvalidGraph::Ids);
        }
        let (mut next, vertices) = (0, ids.len() as u32);
        let weighted = shards.first().is_some_and(|shard| shard.out.weights.is_some());
        for (index, shard) in shards.iter().enumerate() {
            if shard.vertices.start != next || shard.vertices.end < next {
                return Err(InvalidGraph::Range { shard: index });
            }
            next = shard.vertices.end;
            let directed = direction == Direction::Directed;
            let even = shard.lists().all(|list| list.weights.is_some() == weighted);
            if shard.incoming.is_some() != directed || !even {
                return Err(InvalidGraph::Columns { shard: index });
            }
            check(shard, index, vertices)?;
        }
        if next != vertices {
            return Err(InvalidGraph::Range { shard: shards.len() });
        }
        Ok(Graph { ids, direction, scale, shards, arcs_elsewhere: 0 })
    }

    /// Returns a process's part of a graph whose other lists, which are empty here, have this many arcs.
    #[must_use]
    pub fn with_arcs_elsewhere(self, arcs_elsewhere: u64) -> Graph {
        Graph { arcs_elsewhere, ..self }
    }

    /// Returns the external ids of the vertices.
    pub fn ids(&self) -> &VertexIds {
        &self.ids
    }

    /// Returns the parts of [`Graph::from_shards`].
    pub fn into_shards(self) -> (VertexIds, Direction, WeightScale, Vec<Shard>) {
        (self.ids, self.direction, self.scale, self.shards)
    }

    /// Returns the ids and drops everything else.
    pub(crate) fn into_ids(self) -> VertexIds {
        self.ids
    }

    /// Returns the number of vertices.
    pub fn vertices(&self) -> u32 {
        self.ids.len() as u32
    }

    /// Returns the number of stored arcs: two per undirected edge, one per directed edge and per
    /// self-loop. (A directed graph stores them a second time, as incoming arcs.) Of a process's part of a graph, it is
    /// the number of the whole graph.
    pub fn arcs(&self) -> u64 {
        let own = self.shards.iter().map(|shard| shard.out.neighbors.len() as u64);
        own.sum::<u64>() + self.arcs_elsewhere
    }

    /// Returns the number of edges, including self-loops. Cost: one pass, which counts the
    /// self-loops.
    ///
    /// Of a process's part of an undirected graph, it is the number of the whole graph if no other vertex has a self-loop.
    pub fn edges(&self) -> u64 {
        match self.direction {
            Direction::Directed => self.arcs(),
            Direction::Undirected => (self.arcs() + self.self_loops()) / 2,
        }
    }

    /// Returns the number of self-loops. Cost: one pass over the lists.
    pub fn self_loops(&self) -> u64 {
        let in_shard = |shard: &Shard| -> u64 {
            let out = shard.out();
            let first = shard.vertices.start;
            (0..shard.vertices.len())
                .into_par_iter()
                .map(|local| {
                    let (list, own) = (out.of(local), first + local as u32);
                    let start = list.partition_point(|&u| u < own);
                    list[start..].partition_point(|&u| u == own) as u64
                })
                .sum()
        };
        self.shards.iter().map(in_shard).sum()
    }

    /// Returns whether edges have a direction.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Returns whether arcs have weights.
    pub fn is_weighted(&self) -> bool {
        self.shards.first().is_some_and(|shard| shard.out.weights.is_some())
    }

    /// Returns the scale that converts stored weights to real ones.
    pub fn weight_scale(&self) -> WeightScale {
        self.scale
    }

    /// Returns the shards, in the order of their vertices.
    pub fn shards(&self) -> &[Shard] {
        &self.shards
    }

    /// Returns the shard that holds a vertex.
    ///
    /// # Panics
    /// If `vertex` is not below [`Graph::vertices`].
    #[inline]
    pub fn shard_of(&self, vertex: VertexId) -> &Shard {
        match &*self.shards {
            [only] => only,
            shards => &shards[shards.partition_point(|shard| shard.vertices.end <= vertex)],
        }
    }

    /// Returns the number of arcs that touch a vertex; in a directed graph, in both directions.
    ///
    /// # Panics
    /// If `vertex` is not below [`Graph::vertices`].
    #[inline]
    pub fn degree(&self, vertex: VertexId) -> u64 {
        let shard = self.shard_of(vertex);
        shard.degree((vertex - shard.vertices.start) as usize)
    }

    /// Returns the largest degree; 0 without vertices.
    pub fn max_degree(&self) -> u64 {
        let in_shard = |shard: &Shard| {
            // Once, not for each vertex: lists in a mapped file are looked up in the map.
            let lists: Vec<Neighbors<'_>> = shard.lists().collect();
            let degree = |v: usize| lists.iter().map(|list| u64::from(list.degree(v))).sum();
            let vertices = (0..shard.vertices.len()).into_par_iter().with_min_len(1 << 12);
            vertices.map(degree).max().unwrap_or(0)
        };
        self.shards.iter().map(in_shard).max().unwrap_or(0)
    }

    /// Returns the bytes that the graph occupies, including ids.
    pub fn bytes(&self) -> u64 {
        let GraphBytes { ids, offsets, neighbors, weights } = self.bytes_by_part();
        ids + offsets + neighbors + weights
    }

    /// Returns the bytes that the graph occupies, by part.
    pub fn bytes_by_part(&self) -> GraphBytes {
        let mut bytes = GraphBytes { ids: self.ids.bytes(), ..GraphBytes::default() };
        for Adjacency { offsets, neighbors, weights } in self.lists() {
            bytes.offsets += offsets.bytes();
            bytes.neighbors += neighbors.bytes();
            bytes.weights += weights.as_ref().map_or(0, Buffer::bytes);
        }
        bytes
    }

    /// Returns the bytes of lists in shared memory: a mapped file's, which need not be resident.
    pub fn shared_bytes(&self) -> u64 {
        let of = |lists: &Adjacency| {
            let weights = lists.weights.as_ref().map_or(0, Buffer::shared_bytes);
            lists.offsets.shared_bytes() + lists.neighbors.shared_bytes() + weights
        };
        self.lists().map(of).sum()
    }

    fn lists(&self) -> impl Iterator<Item = &Adjacency> {
        self.shards.iter().flat_map(|shard| [Some(&shard.out), shard.incoming.as_ref()]).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn from_lists(lists: &[Vec<u32>]) -> Result<Graph, InvalidGraph> {
        let mut offsets = vec![0];
        offsets.extend(lists.iter().scan(0, |end, list| {
            *end += list.len() as u32;
            Some(*end)
        }));
        let out = Adjacency::new(offsets.into(), lists.concat().into(), None);
        let shard = Shard::new(0..lists.len() as u32, out, None);
        let ids = VertexIds::Consecutive { first: 0, count: lists.len() as u32 };
        Graph::from_shards(ids, Direction::Undirected, WeightScale::ONE, vec![shard])
    }

    #[test]
    fn parts_come_back_without_a_copy() {
        let neighbors = vec![1, 0];
        let at = neighbors.as_ptr();
        let out = Adjacency::new(vec![0, 1, 2].into(), neighbors.into(), Some(vec![7, 7].into()));
        let ids = VertexIds::Consecutive { first: 0, count: 2 };
        let shards = vec![Shard::new(0..2, out, None)];
        let scale = WeightScale::ONE;
        let graph = Graph::from_shards(ids, Direction::Undirected, scale, shards).unwrap();
        let (_, _, _, mut shards) = graph.into_shards();
        let (vertices, out, incoming) = shards.pop().unwrap().into_parts();
        assert_eq!((vertices, incoming), (0..2, None));
        let (offsets, neighbors, weights) = out.into_columns();
        assert_eq!(
            (&*offsets, &*neighbors, weights),
            (&[0, 1, 2][..], &[1, 0][..], Some(vec![7, 7]))
        );
        assert_eq!(neighbors.as_ptr(), at);
    }

    #[test]
    fn lists_that_do_not_ascend_are_refused() {
        let order = Err(InvalidGraph::Order { shard: 0 });
        let (a, b, none) = (vec![1, 2, 2], vec![0, 1], vec![]);
        assert!(from_lists(&[a.clone(), b.clone(), none.clone(), a.clone()]).is_ok());
        assert_eq!(from_lists(&[a.clone(), vec![1, 0], none.clone()]), order);
        assert_eq!(from_lists(&[vec![2, 1], none.clone(), none]), order);
        assert_eq!(from_lists(&[b, vec![2, 1, 2], a.clone()]), order);
        assert_eq!(from_lists(&[a, vec![3]]), Err(InvalidGraph::Neighbor { shard: 0 }));
    }

    #[test]
    fn offsets_that_descend_are_refused_of_few_and_of_many() {
        for vertices in [2u32, 100_000] {
            let graph = |offsets: Vec<u32>| {
                let lists = Adjacency::new(offsets.into(), vec![0; vertices as usize].into(), None);
                let ids = VertexIds::Consecutive { first: 0, count: vertices };
                let shard = Shard::new(0..vertices, lists, None);
                Graph::from_shards(ids, Direction::Undirected, WeightScale::ONE, vec![shard])
            };
            let offsets: Vec<u32> = (0..=vertices).collect();
            assert!(graph(offsets.clone()).is_ok());
            for at in [1, offsets.len() / 2, offsets.len() - 2] {
                let mut offsets = offsets.clone();
                offsets[at] = vertices + 1;
                assert_eq!(graph(offsets), Err(InvalidGraph::Offsets { shard: 0 }), "{at}");
            }
        }
    }

    #[test]
    fn one_swap_anywhere_in_many_arcs_is_seen() {
        // Several parts of the check, with lists across their bounds and empty ones between.
        let lists: Vec<Vec<u32>> =
            (0..2000).map(|v| if v % 3 == 1 { vec![] } else { (0..v / 7 * 2).collect() }).collect();
        assert!(lists.iter().map(Vec::len).sum::<usize>() > 3 << 16);
        assert!(from_lists(&lists).is_ok());
        for v in (100..2000).filter(|v| v % 3 != 1).step_by(97) {
            for at in [0, lists[v].len() / 2, lists[v].len() - 2] {
                let mut lists = lists.clone();
                lists[v].swap(at, at + 1);
                let refused = Err(InvalidGraph::Order { shard: 0 });
                assert_eq!(from_lists(&lists), refused, "list {v}, place {at}");
            }
        }
    }

    #[test]
    fn of_a_part_only_its_own_lists_are_checked() {
        let part = |offsets: &[u32], neighbors: &[u32], own: Range<u32>| {
            let out = Adjacency::new(offsets.to_vec().into(), neighbors.to_vec().into(), None);
            let ids = VertexIds::Consecutive { first: 0, count: 4 };
            let (direction, scale) = (Direction::Undirected, WeightScale::ONE);
            Graph::from_part(ids, direction, scale, vec![Shard::new(0..4, out, None)], own).err()
        };
        let offsets = InvalidGraph::Offsets { shard: 0 };
        let whole = part(&[0, 1, 2, 3, 4], &[1, 0, 3, 2], 0..4);
        assert_eq!(whole, None);
        // Vertex 2 has a wrong list, then wrong offsets.
        for own in [0..2, 3..4, 2..2] {
            assert_eq!(part(&[0, 1, 2, 4, 5], &[1, 0, 3, 9, 2], own.clone()), None, "{own:?}");
        }
        let neighbor = Some(InvalidGraph::Neighbor { shard: 0 });
        assert_eq!(part(&[0, 1, 2, 4, 5], &[1, 0, 3, 9, 2], 2..3), neighbor);
        let order = Some(InvalidGraph::Order { shard: 0 });
        assert_eq!(part(&[0, 1, 2, 4, 5], &[1, 0, 3, 1, 2], 1..3), order);
        assert_eq!(part(&[0, 1, 2, 1, 4], &[1, 0, 3, 2], 0..2), None);
        assert_eq!(part(&[0, 1, 2, 1, 4], &[1, 0, 3, 2], 1..3), Some(offsets.clone()));
        // The first and the last list begin and end with the arcs.
        assert_eq!(part(&[1, 1, 2, 3, 4], &[1, 0, 3, 2], 0..1), Some(offsets.clone()));
        assert_eq!(part(&[0, 1, 2, 3, 3], &[1, 0, 3, 2], 3..4), Some(offsets.clone()));
        assert_eq!(part(&[0, 1, 9, 3, 4], &[1, 0, 3, 2], 0..2), Some(offsets.clone()));
        assert_eq!(part(&[0, 1, 2], &[1, 0], 0..1), Some(offsets));
    }

    proptest! {
        #[test]
        fn order_is_judged_list_by_list(lists in prop::collection::vec(prop::collection::vec(0u32..8, 0..5), 8)) {
            let ascending = lists.iter().all(|list| list.is_sorted());
            prop_assert_eq!(from_lists(&lists).is_ok(), ascending);
        }
    }
}
