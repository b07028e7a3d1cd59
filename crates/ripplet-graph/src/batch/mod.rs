//! Batches: many small graphs in a few flat arrays.
//!
//! A molecule or a control-flow graph is so small that a separate [`crate::Graph`] costs more in
//! allocations and pointers than in arcs. A batch holds a million of them in arrays that can be
//! copied to a device as they are:
//!
//! ```text
//! graph 0: 0–1, 1–2     graph 1: no vertices     graph 2: 0–1
//!
//! vertex_starts  0 3 3 5            the begin of each graph's vertices in the batch
//! arc_starts     0 4 4 6            the begin of each graph's arcs
//! offsets        0 1 3 4 | 0 | 0 1 2    per graph, one more than vertices; relative to the graph's
//! neighbors      1 0 2 1 |   | 1 0      first arc; neighbours are relative to its first vertex
//! ```
//!
//! The offsets of graph `i` are the `n + 1` values from `vertex_starts[i] + i` on. They begin at 0
//! and are `u32`: one graph has at most 2³¹ arcs, like a shard. Positions in the whole batch are
//! `u64`. The arrays of one graph thus equal those of a shard, and [`BatchGraph`] returns the same
//! [`Neighbors`].
//!
//! Vertices *of a graph* are [`VertexId`], counted from 0 in each graph. Vertices *of the batch*
//! are [`BatchVertex`], a separate type, so that the two cannot be confused.
//!
//! **Memory.** 4 bytes per arc (8 with weights), 4 per vertex, and 20 per graph (24 with weights);
//! a directed batch has all but 8 bytes per graph (12) twice. Ids are extra, unless they are
//! consecutive.
//!
//! **Slices.** The arrays of consecutive graphs are contiguous, so that [`GraphBatch::slice`]
//! borrows and copies nothing.

mod build;
mod collect;
mod members;
mod scatter;
mod subject;
mod table;

pub use build::{BatchBuilder, BatchError};
pub use members::{BatchIds, BatchVertex, Members};
pub use subject::Subject;
pub use table::{BatchRows, BatchTable, BatchTableError};

use crate::memory::{self, OutOfMemory};
use crate::{
    Adjacency, Buffer, Direction, ExternalId, Graph, GraphBytes, MAX_SHARD_ARCS, Neighbors, Shard,
    VertexId, WeightScale,
};
use rayon::prelude::*;
use std::ops::Range;
use thiserror::Error;

/// Many graphs in flat arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphBatch {
    members: Members,
    direction: Direction,
    /// The exponent of each graph's weight scale, if the batch has weights.
    scales: Option<Buffer<i32>>,
    out: BatchAdjacency,
    incoming: Option<BatchAdjacency>,
}

/// The neighbour lists of all graphs in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchAdjacency {
    /// The begin of each graph's arcs, and the end of the last graph's.
    pub arc_starts: Buffer<u64>,
    /// The begin of each list, relative to its graph's first arc: per graph one more than vertices.
    pub offsets: Buffer<u32>,
    /// The neighbours, relative to their graph's first vertex.
    pub neighbors: Buffer<VertexId>,
    /// The stored weights of the neighbours.
    pub weights: Option<Buffer<u32>>,
}

/// [`BatchAdjacency`] of consecutive graphs as plain slices, for copies to a device.
///
/// The starts are relative to the batch: `arc_starts[0]` is the place of `neighbors[0]` in the
/// batch.
#[derive(Clone, Copy, Debug)]
pub struct FlatLists<'a> {
    /// The begin of each graph's arcs, and the end of the last graph's: one more than graphs.
    pub arc_starts: &'a [u64],
    /// The begin of each list, from 0 in each graph: per graph one more than vertices.
    pub offsets: &'a [u32],
    /// The neighbours, relative to their graph's first vertex.
    pub neighbors: &'a [VertexId],
    /// The stored weights of the neighbours, if the batch has weights.
    pub weights: Option<&'a [u32]>,
}

/// Consecutive graphs of a batch, borrowed: the input of loops over graphs.
///
/// Graphs count from 0 in the slice; their vertices keep their places in the batch.
#[derive(Clone, Copy, Debug)]
pub struct BatchSlice<'a> {
    batch: &'a GraphBatch,
    first: usize,
    end: usize,
}

/// One graph of a batch, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct BatchGraph<'a> {
    batch: &'a GraphBatch,
    index: usize,
}

/// The reason why parts do not make a batch. Graphs count from 0.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum InvalidBatch {
    /// The graphs' ids do not ascend, or are too many.
    #[error("the graphs' ids do not strictly ascend, or are more than 4,294,967,294")]
    GraphIds,
    /// The number of vertex starts is not that of the graphs plus one, or the first is not 0.
    #[error("the graphs' starts do not fit the number of graphs")]
    Starts,
    /// A graph ends before it begins, or has more than 2³² − 2 vertices.
    #[error("the vertices of graph {graph} end before they begin, or are more than 4,294,967,294")]
    Size {
        /// The graph.
        graph: usize,
    },
    /// The number of ids differs from that of the vertices, or they exceed the largest integer.
    #[error("the vertices' ids do not fit the number of vertices")]
    VertexIds,
    /// The ids of a graph do not ascend.
    #[error("the vertex ids of graph {graph} do not strictly ascend")]
    VertexOrder {
        /// The graph.
        graph: usize,
    },
    /// Arrays differ in length, or weights or incoming arcs are missing or superfluous.
    #[error("the arrays of the batch do not fit one another")]
    Columns,
    /// Offsets descend or do not end with the graph's arcs, or a graph has too many arcs.
    #[error("the offsets of graph {graph} do not fit its neighbours")]
    Offsets {
        /// The graph.
        graph: usize,
    },
    /// A neighbour is not a vertex of its graph.
    #[error("graph {graph} names a neighbour that is not among its vertices")]
    Neighbor {
        /// The graph.
        graph: usize,
    },
    /// A neighbour list does not ascend.
    #[error("the neighbours of a vertex of graph {graph} do not ascend")]
    Order {
        /// The graph.
        graph: usize,
    },
    /// Memory allocation failed.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

impl BatchAdjacency {
    fn flat(&self, members: &Members, graphs: Range<usize>) -> FlatLists<'_> {
        let arcs = self.arcs(graphs.clone());
        FlatLists {
            arc_starts: &self.arc_starts[graphs.start..=graphs.end],
            offsets: &self.offsets[members.offsets(graphs)],
            neighbors: &self.neighbors[arcs.clone()],
            weights: self.weights.as_deref().map(|weights| &weights[arcs]),
        }
    }

    fn view(&self, members: &Members, graph: usize) -> Neighbors<'_> {
        let arcs = self.arcs(graph..graph + 1);
        let offsets = &self.offsets[members.offsets(graph..graph + 1)];
        let weights = self.weights.as_deref().map(|weights| &weights[arcs.clone()]);
        Neighbors::of_slices(offsets, &self.neighbors[arcs], weights)
    }

    fn arcs(&self, graphs: Range<usize>) -> Range<usize> {
        self.arc_starts[graphs.start] as usize..self.arc_starts[graphs.end] as usize
    }

    fn check(&self, members: &Members, weighted: bool) -> Result<(), InvalidBatch> {
        let (graphs, arcs) = (members.len(), self.neighbors.len());
        let fit = self.arc_starts.len() == graphs + 1
            && self.arc_starts[0] == 0
            && self.arc_starts[graphs] == arcs as u64
            && self.offsets.len() as u64 == members.vertices() + graphs as u64
            && self.weights.is_some() == weighted
            && self.weights.as_ref().is_none_or(|weights| weights.len() == arcs);
        if !fit {
            return Err(InvalidBatch::Columns);
        }
        // Starts that ascend up to the number of arcs are all within the arrays.
        let descends = |graph: &usize| self.arc_starts[*graph] > self.arc_starts[graph + 1];
        if let Some(graph) = (0..graphs).into_par_iter().find_first(descends) {
            return Err(InvalidBatch::Offsets { graph });
        }
        let flaw = |graph| self.check_graph(members, graph).err();
        (0..graphs).into_par_iter().find_map_first(flaw).map_or(Ok(()), Err)
    }

    fn check_graph(&self, members: &Members, graph: usize) -> Result<(), InvalidBatch> {
        let lists = self.view(members, graph);
        let (offsets, arcs) = (lists.offsets(), lists.neighbors());
        let vertices = offsets.len() - 1;
        let fit = offsets[0] == 0
            && u64::from(offsets[vertices]) == arcs.len() as u64
            && arcs.len() as u64 <= MAX_SHARD_ARCS
            && offsets.is_sorted();
        if !fit {
            return Err(InvalidBatch::Offsets { graph });
        }
        if arcs.iter().any(|&neighbor| neighbor as usize >= vertices) {
            return Err(InvalidBatch::Neighbor { graph });
        }
        if (0..vertices).any(|vertex| !lists.of(vertex).is_sorted()) {
            return Err(InvalidBatch::Order { graph });
        }
        Ok(())
    }
}

impl FlatLists<'_> {
    /// Returns a copy of the lists as a separate batch: starts relative to the first graph.
    fn copied(&self) -> Result<BatchAdjacency, OutOfMemory> {
        let weights = self.weights.map(memory::copied).transpose()?;
        let starts = self.arc_starts.iter().map(|start| start - self.arc_starts[0]);
        Ok(BatchAdjacency {
            arc_starts: memory::collected(starts)?.into(),
            offsets: memory::copied(self.offsets)?.into(),
            neighbors: memory::copied(self.neighbors)?.into(),
            weights: weights.map(Into::into),
        })
    }
}

impl GraphBatch {
    /// Creates a batch from its parts and checks them: every loop over a batch relies on this.
    ///
    /// `scales` has the exponent of each graph's [`WeightScale`] if the lists have weights.
    /// `incoming` is present if the edges have a direction.
    ///
    /// Cost: one pass over the arrays, in parallel over the graphs.
    ///
    /// # Errors
    /// If the parts are inconsistent; the error names the first invalid graph.
    pub fn new(
        members: Members,
        scales: Option<Buffer<i32>>,
        out: BatchAdjacency,
        incoming: Option<BatchAdjacency>,
    ) -> Result<GraphBatch, InvalidBatch> {
        let known = |scales: &Buffer<i32>| {
            let known = |&exponent: &i32| WeightScale::from_code(exponent).is_some();
            scales.len() == members.len() && scales.iter().all(known)
        };
        if !scales.as_ref().is_none_or(known) {
            return Err(InvalidBatch::Columns);
        }
        for lists in [Some(&out), incoming.as_ref()].into_iter().flatten() {
            lists.check(&members, scales.is_some())?;
        }
        let direction =
            if incoming.is_some() { Direction::Directed } else { Direction::Undirected };
        Ok(GraphBatch { members, direction, scales, out, incoming })
    }

    /// Returns the number of graphs.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns whether there are no graphs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the graphs' ids, and the vertices' places and ids.
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// Returns the number of vertices of all graphs.
    pub fn vertices(&self) -> u64 {
        self.members.vertices()
    }

    /// Returns the number of stored arcs of all graphs, counted like [`crate::Graph::arcs`].
    pub fn arcs(&self) -> u64 {
        self.out.neighbors.len() as u64
    }

    /// Returns whether edges have a direction.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Returns whether arcs have weights.
    pub fn is_weighted(&self) -> bool {
        self.scales.is_some()
    }

    /// Returns one graph; graphs count from 0.
    ///
    /// # Panics
    /// If `graph` is not below [`GraphBatch::len`].
    pub fn graph(&self, graph: usize) -> BatchGraph<'_> {
        self.all().graph(graph)
    }

    /// Returns all graphs as a slice.
    pub fn all(&self) -> BatchSlice<'_> {
        BatchSlice { batch: self, first: 0, end: self.len() }
    }

    /// Returns the batch without its weights.
    pub fn without_weights(mut self) -> GraphBatch {
        self.scales = None;
        for lists in [Some(&mut self.out), self.incoming.as_mut()].into_iter().flatten() {
            lists.weights = None;
        }
        self
    }

    /// Returns consecutive graphs, borrowed: nothing is copied.
    ///
    /// # Panics
    /// If the range ends past [`GraphBatch::len`], or before it begins.
    pub fn slice(&self, graphs: Range<usize>) -> BatchSlice<'_> {
        self.all().slice(graphs)
    }

    /// Returns the bytes that the batch occupies, including ids.
    pub fn bytes(&self) -> u64 {
        let GraphBytes { ids, offsets, neighbors, weights } = self.bytes_by_part();
        ids + offsets + neighbors + weights
    }

    /// Returns the bytes that the batch occupies, by part. Graphs' starts count as offsets, and the
    /// scales of their weights as weights.
    pub fn bytes_by_part(&self) -> GraphBytes {
        let mut bytes = GraphBytes {
            ids: self.members.id_bytes(),
            offsets: size_of_val(self.members.vertex_starts()) as u64,
            weights: self.scales.as_ref().map_or(0, Buffer::bytes),
            ..GraphBytes::default()
        };
        for lists in [Some(&self.out), self.incoming.as_ref()].into_iter().flatten() {
            bytes.offsets += lists.arc_starts.bytes() + lists.offsets.bytes();
            bytes.neighbors += lists.neighbors.bytes();
            bytes.weights += lists.weights.as_ref().map_or(0, Buffer::bytes);
        }
        bytes
    }
}

impl<'a> BatchSlice<'a> {
    /// Returns the number of graphs.
    pub fn len(self) -> usize {
        self.end - self.first
    }

    /// Returns whether there are no graphs.
    pub fn is_empty(self) -> bool {
        self.first == self.end
    }

    /// Returns the batch that the slice is a part of.
    pub fn batch(self) -> &'a GraphBatch {
        self.batch
    }

    /// Returns one graph, counted from the slice's first.
    ///
    /// # Panics
    /// If `graph` is not below [`BatchSlice::len`].
    pub fn graph(self, graph: usize) -> BatchGraph<'a> {
        assert!(graph < self.len(), "graph {graph} of {}", self.len());
        BatchGraph { batch: self.batch, index: self.first + graph }
    }

    /// Yields the graphs, in order.
    pub fn graphs(self) -> impl ExactSizeIterator<Item = BatchGraph<'a>> {
        (self.first..self.end).map(move |index| BatchGraph { batch: self.batch, index })
    }

    /// Returns consecutive graphs of the slice, counted from its first.
    ///
    /// # Panics
    /// If the range ends past [`BatchSlice::len`], or before it begins.
    pub fn slice(self, graphs: Range<usize>) -> BatchSlice<'a> {
        let Range { start, end } = graphs;
        assert!(start <= end && end <= self.len(), "graphs {start}..{end} of {}", self.len());
        BatchSlice { batch: self.batch, first: self.first + start, end: self.first + end }
    }

    /// Returns the longest prefix with at most `size` arcs, vertices and graphs in total; at least
    /// one graph if there is one.
    pub fn leading(self, size: u64) -> BatchSlice<'a> {
        let (vertices, arcs) = (self.vertex_starts(), self.out().arc_starts);
        let fits = |graphs: usize| {
            vertices[graphs] - vertices[0] + arcs[graphs] - arcs[0] + graphs as u64 <= size
        };
        let (mut low, mut high) = (self.len().min(1), self.len());
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if fits(middle) { low = middle } else { high = middle - 1 }
        }
        self.slice(0..low)
    }

    /// Returns a copy of these graphs' members, as those of a separate batch.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn members(self) -> Result<Members, OutOfMemory> {
        self.batch.members.copied(self.first..self.end)
    }

    /// Returns a copy of these graphs as a separate batch.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn to_batch(self) -> Result<GraphBatch, OutOfMemory> {
        let scales = self.weight_exponents().map(memory::copied).transpose()?;
        Ok(GraphBatch {
            members: self.members()?,
            direction: self.batch.direction,
            scales: scales.map(Into::into),
            out: self.out().copied()?,
            incoming: self.incoming().map(|lists| lists.copied()).transpose()?,
        })
    }

    /// Returns the exponent of each graph's [`WeightScale`], if the batch has weights.
    pub fn weight_exponents(self) -> Option<&'a [i32]> {
        Some(&self.batch.scales.as_ref()?[self.first..self.end])
    }

    /// Returns the places of the graphs' vertices in the batch.
    pub fn vertex_range(self) -> Range<BatchVertex> {
        self.batch.members.range(self.first..self.end)
    }

    /// Returns the number of vertices of these graphs.
    pub fn vertices(self) -> u64 {
        let Range { start, end } = self.vertex_range();
        end.place() - start.place()
    }

    /// Returns the number of stored arcs of these graphs.
    pub fn arcs(self) -> u64 {
        self.out().neighbors.len() as u64
    }

    /// Returns the number of edges of each graph, counted like [`BatchGraph::edges`], in parallel
    /// over the graphs.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn edges_of_each(self) -> Result<Vec<u64>, OutOfMemory> {
        let mut edges = memory::zeros(self.len())?;
        let of_graphs = edges.par_iter_mut().enumerate().with_min_len(1 << 6);
        of_graphs.for_each(|(graph, edges)| *edges = self.graph(graph).edges());
        Ok(edges)
    }

    /// Returns the first place of each graph's vertices, relative to the batch, and the end of the
    /// last graph's: one more than graphs.
    pub fn vertex_starts(self) -> &'a [u64] {
        &self.batch.members.vertex_starts()[self.first..=self.end]
    }

    /// Returns the arcs that leave these graphs' vertices; all arcs if edges have no direction.
    pub fn out(self) -> FlatLists<'a> {
        self.batch.out.flat(&self.batch.members, self.first..self.end)
    }

    /// Returns the arcs that enter these graphs' vertices; present if edges have a direction.
    pub fn incoming(self) -> Option<FlatLists<'a>> {
        let incoming = self.batch.incoming.as_ref()?;
        Some(incoming.flat(&self.batch.members, self.first..self.end))
    }
}

impl<'a> BatchGraph<'a> {
    /// Returns the graph's index in the batch.
    pub fn index(self) -> usize {
        self.index
    }

    /// Returns the external id of the graph.
    pub fn id(self) -> ExternalId<'a> {
        self.batch.members.graph_ids().get(self.index as u32)
    }

    /// Returns the number of vertices.
    pub fn vertices(self) -> u32 {
        let Range { start, end } = self.vertex_range();
        (end.place() - start.place()) as u32
    }

    /// Returns the number of stored arcs, counted like [`crate::Graph::arcs`].
    pub fn arcs(self) -> u64 {
        self.out().neighbors().len() as u64
    }

    /// Returns the places of the graph's vertices in the batch.
    pub fn vertex_range(self) -> Range<BatchVertex> {
        self.batch.members.range(self.index..self.index + 1)
    }

    /// Returns the place of one of the graph's vertices in the batch.
    ///
    /// # Panics
    /// If `vertex` is not below [`BatchGraph::vertices`].
    pub fn place_of(self, vertex: VertexId) -> BatchVertex {
        assert!(vertex < self.vertices(), "vertex {vertex} of {}", self.vertices());
        BatchVertex::new(self.vertex_range().start.place() + u64::from(vertex))
    }

    /// Returns the external id of one of the graph's vertices.
    ///
    /// # Panics
    /// If `vertex` is not below [`BatchGraph::vertices`].
    pub fn vertex_id(self, vertex: VertexId) -> ExternalId<'a> {
        self.batch.members.vertex_ids().get(self.place_of(vertex), vertex)
    }

    /// Returns a copy of the graph as a [`Graph`].
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn to_graph(self) -> Result<Graph, OutOfMemory> {
        let alone = BatchSlice { batch: self.batch, first: self.index, end: self.index + 1 };
        let ids = alone.members()?.into_ids_of_one();
        let copied = |lists: Neighbors<'_>| {
            let weights = lists.weights().map(memory::copied).transpose()?;
            Ok::<_, OutOfMemory>(Adjacency::new(
                memory::copied(lists.offsets())?.into(),
                memory::copied(lists.neighbors())?.into(),
                weights.map(Into::into),
            ))
        };
        let incoming = self.incoming().map(copied).transpose()?;
        let shard = Shard::new(0..self.vertices(), copied(self.out())?, incoming);
        let graph = Graph::from_shards(ids, self.batch.direction, self.weight_scale(), vec![shard]);
        Ok(graph.expect("a graph of a batch is one"))
    }

    /// Returns the arcs that leave the vertices; all arcs if edges have no direction.
    pub fn out(self) -> Neighbors<'a> {
        self.batch.out.view(&self.batch.members, self.index)
    }

    /// Returns the arcs that enter the vertices; present if edges have a direction.
    pub fn incoming(self) -> Option<Neighbors<'a>> {
        Some(self.batch.incoming.as_ref()?.view(&self.batch.members, self.index))
    }

    /// Returns the number of self-loops. Cost: one binary search per vertex.
    pub fn self_loops(self) -> u64 {
        let out = self.out();
        let loops = |vertex: VertexId| {
            let list = out.of(vertex as usize);
            let [begin, end] =
                [vertex, vertex + 1].map(|v| list.partition_point(|&neighbor| neighbor < v));
            (end - begin) as u64
        };
        (0..self.vertices()).map(loops).sum()
    }

    /// Returns the number of edges, counted like [`crate::Graph::edges`].
    pub fn edges(self) -> u64 {
        match self.batch.direction {
            Direction::Directed => self.arcs(),
            Direction::Undirected => (self.arcs() + self.self_loops()) / 2,
        }
    }

    /// Returns the scale that converts stored weights of this graph to real ones.
    pub fn weight_scale(self) -> WeightScale {
        let exponent = self.batch.scales.as_ref().map(|scales| scales[self.index]);
        exponent.and_then(WeightScale::from_code).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the batch in the module's picture.
    fn lists(
        arc_starts: &[u64],
        offsets: &[u32],
        neighbors: &[u32],
    ) -> Result<GraphBatch, InvalidBatch> {
        let members = Members::of_sizes([3, 0, 2].into_iter()).unwrap();
        let out = BatchAdjacency {
            arc_starts: arc_starts.to_vec().into(),
            offsets: offsets.to_vec().into(),
            neighbors: neighbors.to_vec().into(),
            weights: None,
        };
        GraphBatch::new(members, None, out, None)
    }

    const STARTS: [u64; 4] = [0, 4, 4, 6];
    const OFFSETS: [u32; 8] = [0, 1, 3, 4, 0, 0, 1, 2];
    const NEIGHBORS: [u32; 6] = [1, 0, 2, 1, 1, 0];

    #[test]
    fn the_picture_is_a_batch() {
        let batch = lists(&STARTS, &OFFSETS, &NEIGHBORS).unwrap();
        assert_eq!((batch.len(), batch.vertices(), batch.arcs()), (3, 5, 6));
        assert_eq!(batch.graph(0).out().of(1), [0, 2]);
        assert_eq!(batch.graph(1).out().offsets(), [0]);
        assert_eq!(batch.graph(2).out().of(1), [0]);
        assert_eq!(batch.graph(2).place_of(1), BatchVertex::new(4));
        // 4 starts of two kinds, 8 offsets, 6 neighbours.
        assert_eq!(batch.bytes(), 4 * 16 + 8 * 4 + 6 * 4);
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let with = |at: usize, value: u32| {
            let mut changed = OFFSETS;
            changed[at] = value;
            lists(&STARTS, &changed, &NEIGHBORS).unwrap_err()
        };
        assert_eq!(with(0, 1), InvalidBatch::Offsets { graph: 0 });
        assert_eq!(with(1, 4), InvalidBatch::Offsets { graph: 0 });
        assert_eq!(with(4, 1), InvalidBatch::Offsets { graph: 1 });
        assert_eq!(with(7, 9), InvalidBatch::Offsets { graph: 2 });
        let neighbors = |changed: [u32; 6]| lists(&STARTS, &OFFSETS, &changed).unwrap_err();
        assert_eq!(neighbors([1, 0, 3, 1, 1, 0]), InvalidBatch::Neighbor { graph: 0 });
        assert_eq!(neighbors([1, 0, 2, 1, 2, 0]), InvalidBatch::Neighbor { graph: 2 });
        assert_eq!(neighbors([1, 2, 0, 1, 1, 0]), InvalidBatch::Order { graph: 0 });
        let starts = |changed: &[u64]| lists(changed, &OFFSETS, &NEIGHBORS).unwrap_err();
        assert_eq!(starts(&[0, 4, 4]), InvalidBatch::Columns);
        assert_eq!(starts(&[0, 4, 4, 5]), InvalidBatch::Columns);
        assert_eq!(starts(&[0, 9, 4, 6]), InvalidBatch::Offsets { graph: 1 });
        assert_eq!(starts(&[0, 3, 4, 6]), InvalidBatch::Offsets { graph: 0 });
    }
}
