//! The graph of a level: the input, or a contracted graph of it.

use super::score::{Mass, NullModel};
use ripplet_graph::VertexId;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::storage::{NeighborLists, prefetch};
use std::marker::PhantomData;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Vertices of a task that only reads an array.
pub(super) const READ_PER_TASK: usize = 1 << 13;

/// A graph with weighted arcs and vertex masses.
///
/// Self-loops and arcs of weight 0 are left out: the first count in no gain, and nothing follows
/// from the second.
pub(super) trait Level: Sync {
    /// The null model of the score.
    type Null: NullModel;

    /// Returns the mass of each vertex.
    fn masses(&self) -> &[u64];

    /// Returns the imbalance of each vertex modulo 2⁶⁴; nothing under an undirected null model.
    fn imbalances(&self) -> &[u64];

    /// Returns the number of arcs of a vertex, or more if some are left out.
    fn degree(&self, v: VertexId) -> u32;

    /// Yields each neighbour with the weight of the arc; a neighbour may come repeatedly.
    fn arcs(&self, v: VertexId) -> impl Iterator<Item = (VertexId, u64)>;

    /// Calls `visit` with what [`Level::arcs`] yields: a level may have a faster loop for it.
    #[inline]
    fn each_arc(&self, v: VertexId, mut visit: impl FnMut(VertexId, u64)) {
        self.arcs(v).for_each(|(u, weight)| visit(u, weight));
    }

    /// Prefetches the place of a vertex's list.
    #[inline]
    fn prefetch_place(&self, _v: VertexId) {}

    /// Prefetches the begin of a vertex's list; reads its place.
    #[inline]
    fn prefetch_list(&self, _v: VertexId) {}

    /// Returns a bound of the sum of a vertex's weights.
    fn largest_weight(&self) -> u64;

    /// Returns the number of vertices.
    fn vertices(&self) -> u32 {
        self.masses().len() as u32
    }

    /// Returns the masses of all vertices.
    #[inline]
    fn all_masses(&self) -> Masses<'_, Self::Null> {
        Masses { sums: self.masses(), imbalances: self.imbalances(), null_model: PhantomData }
    }

    /// Returns the mass of a vertex.
    #[inline]
    fn mass(&self, v: VertexId) -> Mass {
        self.all_masses().of(v)
    }
}

/// The masses of a level's vertices, which do not depend on how its lists are stored.
pub(super) struct Masses<'a, M> {
    sums: &'a [u64],
    imbalances: &'a [u64],
    null_model: PhantomData<M>,
}

impl<M: NullModel> Masses<'_, M> {
    /// Returns the mass of a vertex.
    #[inline]
    pub fn of(&self, v: VertexId) -> Mass {
        let imbalance = if M::IS_DIRECTED { self.imbalances[v as usize] as i64 } else { 0 };
        Mass { sum: self.sums[v as usize], imbalance }
    }
}

/// The input graph.
pub(super) struct InputLevel<A, M> {
    pub arcs: A,
    pub masses: Vec<u64>,
    pub imbalances: Vec<u64>,
    pub largest_weight: u64,
    pub null_model: PhantomData<M>,
}

/// The arcs of an input graph.
pub(super) trait InputArcs: Sync {
    /// Returns what [`Level::degree`] returns.
    fn degree(&self, v: VertexId) -> u32;

    /// Yields what [`Level::arcs`] yields.
    fn arcs(&self, v: VertexId) -> impl Iterator<Item = (VertexId, u64)>;

    /// Does what [`Level::prefetch_place`] does.
    fn prefetch_place(&self, v: VertexId);

    /// Does what [`Level::prefetch_list`] does.
    fn prefetch_list(&self, v: VertexId);
}

/// The arcs of lists. `WEIGHTED` is whether they have weights, known at compile time for the loops
/// over them.
pub(super) struct Lists<N, const WEIGHTED: bool>(pub N);

impl<N: NeighborLists> InputArcs for Lists<N, false> {
    #[inline]
    fn degree(&self, v: VertexId) -> u32 {
        self.0.degree_of(v as usize)
    }

    #[inline]
    fn arcs(&self, v: VertexId) -> impl Iterator<Item = (VertexId, u64)> {
        self.0.each_of(v as usize).filter(move |&u| u != v).map(|u| (u, 1))
    }

    #[inline]
    fn prefetch_place(&self, v: VertexId) {
        self.0.prefetch_place(v as usize);
    }

    #[inline]
    fn prefetch_list(&self, v: VertexId) {
        self.0.prefetch_list(v as usize);
    }
}

impl<N: NeighborLists> InputArcs for Lists<N, true> {
    #[inline]
    fn degree(&self, v: VertexId) -> u32 {
        self.0.degree_of(v as usize)
    }

    #[inline]
    fn arcs(&self, v: VertexId) -> impl Iterator<Item = (VertexId, u64)> {
        let weights = self.0.each_weight_of(v as usize).into_iter().flatten();
        let arcs = self.0.each_of(v as usize).zip(weights.map(u64::from));
        arcs.filter(move |&(u, weight)| u != v && weight > 0)
    }

    #[inline]
    fn prefetch_place(&self, v: VertexId) {
        self.0.prefetch_place(v as usize);
    }

    #[inline]
    fn prefetch_list(&self, v: VertexId) {
        self.0.prefetch_list(v as usize);
    }
}

/// The arcs of a directed graph, from both of their ends.
pub(super) struct BothEnds<A> {
    pub out: A,
    pub incoming: A,
}

impl<A: InputArcs> InputArcs for BothEnds<A> {
    #[inline]
    fn degree(&self, v: VertexId) -> u32 {
        self.out.degree(v).saturating_add(self.incoming.degree(v))
    }

    #[inline]
    fn arcs(&self, v: VertexId) -> impl Iterator<Item = (VertexId, u64)> {
        self.out.arcs(v).chain(self.incoming.arcs(v))
    }

    #[inline]
    fn prefetch_place(&self, v: VertexId) {
        self.out.prefetch_place(v);
        self.incoming.prefetch_place(v);
    }

    #[inline]
    fn prefetch_list(&self, v: VertexId) {
        self.out.prefetch_list(v);
        self.incoming.prefetch_list(v);
    }
}

impl<A: InputArcs, M: NullModel> Level for InputLevel<A, M> {
    type Null = M;

    #[inline]
    fn masses(&self) -> &[u64] {
        &self.masses
    }

    #[inline]
    fn imbalances(&self) -> &[u64] {
        &self.imbalances
    }

    fn largest_weight(&self) -> u64 {
        self.largest_weight
    }

    #[inline]
    fn degree(&self, v: VertexId) -> u32 {
        self.arcs.degree(v)
    }

    #[inline]
    fn arcs(&self, v: VertexId) -> impl Iterator<Item = (VertexId, u64)> {
        self.arcs.arcs(v)
    }

    #[inline]
    fn prefetch_place(&self, v: VertexId) {
        self.arcs.prefetch_place(v);
    }

    #[inline]
    fn prefetch_list(&self, v: VertexId) {
        self.arcs.prefetch_list(v);
    }
}

/// A contracted graph.
#[derive(Debug)]
pub(super) struct LevelGraph<'a, M> {
    pub masses: Vec<u64>,
    pub imbalances: Vec<u64>,
    /// The place of each vertex's list in the arrays.
    pub begins: Vec<u64>,
    pub degrees: Vec<u32>,
    pub arcs: &'a ArcArrays,
    pub largest_weight: u64,
    pub null_model: PhantomData<M>,
}

impl<M> LevelGraph<'_, M> {
    /// Returns the number of arcs.
    pub fn count(&self) -> u64 {
        self.degrees.iter().map(|&degree| u64::from(degree)).sum()
    }
}

impl<M: NullModel> Level for LevelGraph<'_, M> {
    type Null = M;

    #[inline]
    fn masses(&self) -> &[u64] {
        &self.masses
    }

    #[inline]
    fn imbalances(&self) -> &[u64] {
        &self.imbalances
    }

    fn largest_weight(&self) -> u64 {
        self.largest_weight
    }

    #[inline]
    fn degree(&self, v: VertexId) -> u32 {
        self.degrees[v as usize]
    }

    #[inline]
    fn arcs(&self, v: VertexId) -> impl Iterator<Item = (VertexId, u64)> {
        let begin = self.begins[v as usize] as usize;
        let list = begin..begin + self.degrees[v as usize] as usize;
        let arcs = self.arcs.neighbors[list.clone()].iter().zip(&self.arcs.weights[list]);
        arcs.map(|(u, weight)| (u.load(Relaxed), weight.load(Relaxed)))
    }

    #[inline]
    fn prefetch_place(&self, v: VertexId) {
        prefetch(&self.begins, v as usize);
        prefetch(&self.degrees, v as usize);
    }

    #[inline]
    fn prefetch_list(&self, v: VertexId) {
        let begin = self.begins[v as usize] as usize;
        prefetch(&self.arcs.neighbors, begin);
        prefetch(&self.arcs.weights, begin);
    }
}

/// Two arrays for the arcs of all contracted graphs, each behind those of the graph that it is a
/// contraction of.
///
/// Lists that are summed up are appended, so that they take no more space than they need.
#[derive(Debug)]
pub(super) struct ArcArrays {
    neighbors: Vec<AtomicU32>,
    weights: Vec<AtomicU64>,
    /// The length of all lists, also of those that found no space.
    end: AtomicU64,
}

impl ArcArrays {
    /// Creates arrays for `arcs` arcs. The system provides memory when they are written.
    pub fn new(arcs: u64) -> Result<ArcArrays, OutOfMemory> {
        let (neighbors, weights) = (memory::zeros(arcs as usize)?, memory::zeros(arcs as usize)?);
        Ok(ArcArrays { neighbors, weights, end: AtomicU64::new(0) })
    }

    /// Returns arrays that are filled with these arcs.
    pub fn of(neighbors: Vec<VertexId>, weights: Vec<u64>) -> ArcArrays {
        let end = AtomicU64::new(neighbors.len() as u64);
        let neighbors = neighbors.into_iter().map(AtomicU32::new).collect();
        let weights = weights.into_iter().map(AtomicU64::new).collect();
        ArcArrays { neighbors, weights, end }
    }

    /// Returns the bytes of the arrays.
    pub fn bytes_for(arcs: u64) -> u64 {
        arcs.saturating_mul((size_of::<VertexId>() + size_of::<u64>()) as u64)
    }

    /// Returns the length of all lists, also of those that found no space.
    pub fn len(&self) -> u64 {
        self.end.load(Relaxed)
    }

    /// Returns whether all lists found space.
    pub fn is_enough(&self) -> bool {
        self.len() <= self.neighbors.len() as u64
    }

    /// Removes the lists from an earlier length on.
    pub fn truncate(&self, len: u64) {
        self.end.store(len, Relaxed);
    }

    /// Appends arcs, in any order with other threads; returns their place. What has no space is only
    /// counted.
    pub fn append(&self, arcs: impl ExactSizeIterator<Item = (VertexId, u64)>) -> u64 {
        let count = arcs.len();
        let begin = self.end.fetch_add(count as u64, Relaxed);
        let place = begin as usize..(begin as usize).saturating_add(count);
        let (neighbors, weights) = (self.neighbors.get(place.clone()), self.weights.get(place));
        if let (Some(neighbors), Some(weights)) = (neighbors, weights) {
            for ((arc, neighbor), weight) in arcs.zip(neighbors).zip(weights) {
                neighbor.store(arc.0, Relaxed);
                weight.store(arc.1, Relaxed);
            }
        }
        begin
    }
}
