//! Access to neighbour lists, plain or compressed, by generic code.

use super::compressed::{CompressedAdjacency, CompressedNeighbors, CompressedShard};
use super::prefetch::prefetch;
use super::{Neighbors, Shard};
use crate::VertexId;
use crate::memory::{self, OutOfMemory};
use rayon::prelude::*;
use std::ops::Range;

/// Neighbour lists in one direction, of a shard or of a whole graph.
///
/// `local` counts from the first vertex: in the lists of a whole graph it is the vertex. A list
/// ascends. As an iterator it needs no memory.
pub trait NeighborLists: Copy + Send + Sync {
    /// Returns the number of vertices.
    fn vertices(self) -> usize;

    /// Returns the number of arcs of all lists.
    fn arcs(self) -> u64;

    /// Returns whether arcs have weights.
    fn is_weighted(self) -> bool;

    /// Returns the number of arcs in a vertex's list.
    fn degree_of(self, local: usize) -> u32;

    /// Returns a vertex's neighbours.
    fn each_of(self, local: usize) -> impl ExactSizeIterator<Item = VertexId>;

    /// Returns the last neighbour that `accepts` returns true for.
    fn last_of(self, local: usize, accepts: impl FnMut(VertexId) -> bool) -> Option<VertexId>;

    /// Returns the stored weights of a vertex's arcs, if the graph has weights.
    fn each_weight_of(self, local: usize) -> Option<impl ExactSizeIterator<Item = u32>>;

    /// Prefetches the place of a vertex's list, if lists are plain: decoding takes longer than memory does.
    #[inline]
    fn prefetch_place(self, _local: usize) {}

    /// Prefetches the begin of a vertex's list, if lists are plain; reads its place.
    #[inline]
    fn prefetch_list(self, _local: usize) {}

    /// Returns the length of the longest list if lists are decoded, 0 if they are plain: the length
    /// of a [`Decoded`] for [`NeighborLists::slice_of`]. Cost: one pass over the degrees.
    fn longest_decoded(self) -> usize;

    /// Returns a vertex's neighbours as a slice: a part of the graph if it is plain, else decoded
    /// into the scratch.
    ///
    /// Nothing is allocated if the scratch has room for [`NeighborLists::longest_decoded`].
    fn slice_of<'r>(self, local: usize, scratch: &'r mut Decoded) -> &'r [VertexId]
    where
        Self: 'r;

    /// Returns a vertex's neighbours and the stored weights of its arcs as slices, like
    /// [`NeighborLists::slice_of`]. The weights are empty if the graph has none.
    fn slices_of<'r>(self, local: usize, scratch: &'r mut Decoded) -> (&'r [VertexId], &'r [u32])
    where
        Self: 'r;

    /// Calls `visit` with each neighbour of a vertex and the stored weight of the arc; 1 without
    /// weights.
    ///
    /// A list has at most 2³¹ arcs with 32-bit weights: a sum over it, even of doubled weights,
    /// fits 64 bits.
    #[inline]
    fn for_each_arc(self, local: usize, mut visit: impl FnMut(VertexId, u64)) {
        let neighbors = self.each_of(local);
        match self.each_weight_of(local) {
            None => neighbors.for_each(|neighbor| visit(neighbor, 1)),
            Some(weights) => neighbors
                .zip(weights)
                .for_each(|(neighbor, weight)| visit(neighbor, u64::from(weight))),
        }
    }

    /// Returns the sum of the stored weights of a vertex's list; without weights, its degree.
    #[inline]
    fn strength_of(self, local: usize) -> u64 {
        match self.each_weight_of(local) {
            None => u64::from(self.degree_of(local)),
            Some(weights) => weights.map(u64::from).sum(),
        }
    }
}

/// Scratch of a thread for decoded lists: see [`NeighborLists::slice_of`].
#[derive(Clone, Debug, Default)]
pub struct Decoded {
    neighbors: Vec<VertexId>,
    weights: Vec<u32>,
}

impl Decoded {
    /// Creates scratch for lists of at most `longest` arcs, with or without weights. It allocates
    /// nothing for 0 arcs, which suffice for plain lists.
    ///
    /// # Errors
    /// If memory is refused.
    pub fn new(longest: usize, weighted: bool) -> Result<Decoded, OutOfMemory> {
        let weights = if weighted { longest } else { 0 };
        let (neighbors, weights) = (memory::with_room(longest)?, memory::with_room(weights)?);
        Ok(Decoded { neighbors, weights })
    }

    /// Returns the bytes that [`Decoded::new`] allocates.
    pub fn bytes(longest: usize, weighted: bool) -> u64 {
        longest as u64 * if weighted { 8 } else { 4 }
    }
}

/// The lists of a whole graph in one direction, over any number of shards.
#[derive(Debug)]
pub struct GraphLists<'a, S> {
    shards: &'a [S],
    incoming: bool,
}

impl<'a, S: ShardLists> GraphLists<'a, S> {
    /// Returns the outgoing and the incoming lists of consecutive shards that begin with vertex 0.
    /// Both are equal if the graph is undirected.
    pub fn of(shards: &'a [S]) -> (GraphLists<'a, S>, GraphLists<'a, S>) {
        (GraphLists { shards, incoming: false }, GraphLists { shards, incoming: true })
    }

    /// Returns the lists of a vertex's shard, and its index there.
    #[inline]
    fn at(self, vertex: usize) -> (S::Lists<'a>, usize) {
        let shard = match self.shards {
            [only] => only,
            shards => {
                let before = |shard: &S| shard.vertices().end as usize <= vertex;
                &shards[shards.partition_point(before)]
            }
        };
        (self.of_shard(shard), vertex - shard.vertices().start as usize)
    }

    #[inline]
    fn of_shard(self, shard: &'a S) -> S::Lists<'a> {
        let incoming = if self.incoming { shard.incoming() } else { None };
        incoming.unwrap_or_else(|| shard.out())
    }
}

impl<S> Copy for GraphLists<'_, S> {}

impl<S> Clone for GraphLists<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: ShardLists> NeighborLists for GraphLists<'_, S> {
    fn vertices(self) -> usize {
        self.shards.last().map_or(0, |shard| shard.vertices().end as usize)
    }

    fn arcs(self) -> u64 {
        self.shards.iter().map(|shard| self.of_shard(shard).arcs()).sum()
    }

    fn is_weighted(self) -> bool {
        self.shards.first().is_some_and(|shard| self.of_shard(shard).is_weighted())
    }

    #[inline]
    fn degree_of(self, local: usize) -> u32 {
        let (lists, local) = self.at(local);
        lists.degree_of(local)
    }

    #[inline]
    fn each_of(self, local: usize) -> impl ExactSizeIterator<Item = VertexId> {
        let (lists, local) = self.at(local);
        lists.each_of(local)
    }

    #[inline]
    fn last_of(self, local: usize, accepts: impl FnMut(VertexId) -> bool) -> Option<VertexId> {
        let (lists, local) = self.at(local);
        lists.last_of(local, accepts)
    }

    #[inline]
    fn each_weight_of(self, local: usize) -> Option<impl ExactSizeIterator<Item = u32>> {
        let (lists, local) = self.at(local);
        lists.each_weight_of(local)
    }

    #[inline]
    fn prefetch_place(self, local: usize) {
        let (lists, local) = self.at(local);
        lists.prefetch_place(local);
    }

    #[inline]
    fn prefetch_list(self, local: usize) {
        let (lists, local) = self.at(local);
        lists.prefetch_list(local);
    }

    fn longest_decoded(self) -> usize {
        let lengths = self.shards.iter().map(|shard| self.of_shard(shard).longest_decoded());
        lengths.max().unwrap_or(0)
    }

    #[inline]
    fn slice_of<'r>(self, local: usize, scratch: &'r mut Decoded) -> &'r [VertexId]
    where
        Self: 'r,
    {
        let (lists, local) = self.at(local);
        lists.slice_of(local, scratch)
    }

    #[inline]
    fn slices_of<'r>(self, local: usize, scratch: &'r mut Decoded) -> (&'r [VertexId], &'r [u32])
    where
        Self: 'r,
    {
        let (lists, local) = self.at(local);
        lists.slices_of(local, scratch)
    }
}

/// A contiguous range of vertices with their lists, plain or compressed.
pub trait ShardLists: Sync {
    /// The lists of one direction.
    type Lists<'a>: NeighborLists
    where
        Self: 'a;

    /// Returns the vertices whose lists are in the shard.
    fn vertices(&self) -> Range<VertexId>;

    /// Returns the arcs that leave these vertices; in an undirected graph, all their arcs.
    fn out(&self) -> Self::Lists<'_>;

    /// Returns the arcs that enter these vertices; present if the graph is directed.
    fn incoming(&self) -> Option<Self::Lists<'_>>;

    /// Yields all lists of the shard: `out`, and `incoming` if the graph is directed.
    fn lists(&self) -> impl Iterator<Item = Self::Lists<'_>> + Clone {
        std::iter::once(self.out()).chain(self.incoming())
    }
}

impl ShardLists for Shard {
    type Lists<'a> = Neighbors<'a>;

    fn vertices(&self) -> Range<VertexId> {
        Shard::vertices(self)
    }

    fn out(&self) -> Neighbors<'_> {
        Shard::out(self)
    }

    fn incoming(&self) -> Option<Neighbors<'_>> {
        Shard::incoming(self)
    }
}

impl ShardLists for CompressedShard {
    type Lists<'a> = CompressedNeighbors<'a>;

    fn vertices(&self) -> Range<VertexId> {
        CompressedShard::vertices(self)
    }

    fn out(&self) -> CompressedNeighbors<'_> {
        CompressedShard::out(self).view()
    }

    fn incoming(&self) -> Option<CompressedNeighbors<'_>> {
        CompressedShard::incoming(self).map(CompressedAdjacency::view)
    }
}

impl NeighborLists for Neighbors<'_> {
    fn vertices(self) -> usize {
        self.offsets().len().saturating_sub(1)
    }

    fn arcs(self) -> u64 {
        self.neighbors().len() as u64
    }

    fn is_weighted(self) -> bool {
        self.weights().is_some()
    }

    #[inline]
    fn degree_of(self, local: usize) -> u32 {
        self.degree(local)
    }

    #[inline]
    fn each_of(self, local: usize) -> impl ExactSizeIterator<Item = VertexId> {
        self.of(local).iter().copied()
    }

    #[inline]
    fn last_of(self, local: usize, mut accepts: impl FnMut(VertexId) -> bool) -> Option<VertexId> {
        self.of(local).iter().copied().rfind(|&u| accepts(u))
    }

    #[inline]
    fn each_weight_of(self, local: usize) -> Option<impl ExactSizeIterator<Item = u32>> {
        Some(self.weights_of(local)?.iter().copied())
    }

    #[inline]
    fn prefetch_place(self, local: usize) {
        prefetch(self.offsets(), local);
    }

    #[inline]
    fn prefetch_list(self, local: usize) {
        let begin = self.offsets()[local] as usize;
        prefetch(self.neighbors(), begin);
        if let Some(weights) = self.weights() {
            prefetch(weights, begin);
        }
    }

    fn longest_decoded(self) -> usize {
        0
    }

    #[inline]
    fn slice_of<'r>(self, local: usize, _scratch: &'r mut Decoded) -> &'r [VertexId]
    where
        Self: 'r,
    {
        self.of(local)
    }

    #[inline]
    fn slices_of<'r>(self, local: usize, _scratch: &'r mut Decoded) -> (&'r [VertexId], &'r [u32])
    where
        Self: 'r,
    {
        (self.of(local), self.weights_of(local).unwrap_or_default())
    }
}

impl NeighborLists for CompressedNeighbors<'_> {
    fn vertices(self) -> usize {
        CompressedNeighbors::vertices(&self)
    }

    fn arcs(self) -> u64 {
        CompressedNeighbors::arcs(&self)
    }

    fn is_weighted(self) -> bool {
        CompressedNeighbors::is_weighted(&self)
    }

    #[inline]
    fn degree_of(self, local: usize) -> u32 {
        self.degree(local)
    }

    #[inline]
    fn each_of(self, local: usize) -> impl ExactSizeIterator<Item = VertexId> {
        self.of(local)
    }

    /// Returns the last accepted neighbour; decodes the whole list.
    #[inline]
    fn last_of(self, local: usize, mut accepts: impl FnMut(VertexId) -> bool) -> Option<VertexId> {
        self.of(local).filter(|&u| accepts(u)).last()
    }

    #[inline]
    fn each_weight_of(self, local: usize) -> Option<impl ExactSizeIterator<Item = u32>> {
        self.weights_of(local)
    }

    fn longest_decoded(self) -> usize {
        let degrees = (0..CompressedNeighbors::vertices(&self)).into_par_iter();
        degrees.with_min_len(1 << 12).map(|local| self.degree(local)).max().unwrap_or(0) as usize
    }

    #[inline]
    fn slice_of<'r>(self, local: usize, scratch: &'r mut Decoded) -> &'r [VertexId]
    where
        Self: 'r,
    {
        scratch.neighbors.clear();
        scratch.neighbors.extend(self.of(local));
        &scratch.neighbors
    }

    #[inline]
    fn slices_of<'r>(self, local: usize, scratch: &'r mut Decoded) -> (&'r [VertexId], &'r [u32])
    where
        Self: 'r,
    {
        scratch.neighbors.clear();
        scratch.neighbors.extend(self.of(local));
        scratch.weights.clear();
        scratch.weights.extend(self.weights_of(local).into_iter().flatten());
        (&scratch.neighbors, &scratch.weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compressed::CompressedGraph;
    use crate::{Direction, EdgeTable, Graph, GraphBuilder, GraphView, VertexIds, dispatch_lists};

    /// The outgoing and incoming arcs of each vertex, with weights.
    type Arcs = Vec<[Vec<(VertexId, u64)>; 2]>;

    fn arcs(view: GraphView<'_>) -> Arcs {
        fn of<L: NeighborLists>(lists: L, v: usize) -> Vec<(VertexId, u64)> {
            let mut arcs = Vec::new();
            lists.for_each_arc(v, |u, weight| arcs.push((u, weight)));
            let mut scratch = Decoded::new(lists.longest_decoded(), lists.is_weighted()).unwrap();
            let room = (scratch.neighbors.capacity(), scratch.weights.capacity());
            let ids: Vec<_> = arcs.iter().map(|&(u, _)| u).collect();
            assert_eq!(lists.slice_of(v, &mut scratch), ids);
            let (list, weights) = lists.slices_of(v, &mut scratch);
            assert_eq!(list, ids);
            assert!(!lists.is_weighted() || weights.len() == ids.len());
            assert!(weights.iter().zip(&arcs).all(|(&weight, arc)| u64::from(weight) == arc.1));
            assert_eq!((scratch.neighbors.capacity(), scratch.weights.capacity()), room);
            assert_eq!(lists.degree_of(v) as usize, arcs.len());
            assert_eq!(lists.last_of(v, |_| true), ids.last().copied());
            arcs
        }
        for v in 0..view.vertices() {
            let listed: Vec<_> = view.neighbors(v).collect();
            assert_eq!(listed.len(), view.neighbors(v).len());
            dispatch_lists!(view, (out, _incoming) => assert!(out.each_of(v as usize).eq(listed)));
        }
        let flat = view.flat().unwrap();
        let (out, incoming) = flat.lists();
        let of_flat = |lists: Neighbors<'_>, v| lists.each_of(v).collect::<Vec<_>>();
        dispatch_lists!(view, (o, i) => {
            (0..o.vertices()).for_each(|v| {
                assert!(o.each_of(v).eq(of_flat(out, v)) && i.each_of(v).eq(of_flat(incoming, v)));
            });
        });
        dispatch_lists!(view, (out, incoming) => {
            assert_eq!(out.vertices(), view.vertices() as usize);
            assert_eq!([out.arcs(), incoming.arcs()], [view.arcs(); 2]);
            (0..out.vertices()).map(|v| [of(out, v), of(incoming, v)]).collect()
        })
    }

    #[test]
    fn lists_do_not_depend_on_storage_and_shards() {
        for direction in [Direction::Undirected, Direction::Directed] {
            for weighted in [false, true] {
                let graph = |shard_arcs: u64| -> Graph {
                    let ids = VertexIds::Consecutive { first: 0, count: 700 };
                    let sources: Vec<u32> = (0..9000u32).map(|row| row * row % 701 % 700).collect();
                    let targets = (0..9000u32).map(|row| row * 7 % 700).collect();
                    let mut edges = EdgeTable::new(ids, sources, targets).unwrap();
                    if weighted {
                        let weights = (0..9000).map(|row| f64::from(row % 5)).collect();
                        edges = edges.with_weights(weights).unwrap();
                    }
                    let builder = GraphBuilder::new().direction(direction).shard_arcs(shard_arcs);
                    builder.build(edges).unwrap()
                };
                let (one, several) = (graph(1 << 20), graph(3000));
                assert!(one.shards().len() == 1 && several.shards().len() > 2);
                let expected = arcs((&one).into());
                assert_eq!(arcs((&several).into()), expected);
                for graph in [one, several] {
                    let compressed = CompressedGraph::of(graph).unwrap();
                    assert_eq!(arcs((&compressed).into()), expected);
                    assert!(GraphView::from(&compressed).longest_decoded() > 0);
                }
            }
        }
    }
}
