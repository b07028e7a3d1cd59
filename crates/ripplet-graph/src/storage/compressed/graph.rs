//! Graphs with compressed lists.

use super::{CompressedAdjacency, InvalidCompressed};
use crate::{
    Direction, Graph, GraphBytes, InvalidGraph, MAX_SHARD_ARCS, OutOfMemory, Shard, VertexId,
    VertexIds, WeightScale,
};
use rayon::prelude::*;
use std::ops::Range;
use thiserror::Error;

/// A contiguous range of vertices with their compressed lists.
#[derive(Clone, Debug, PartialEq)]
pub struct CompressedShard {
    out: CompressedAdjacency,
    incoming: Option<CompressedAdjacency>,
}

/// A graph in compressed shards: equivalent to a [`Graph`], in fewer bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct CompressedGraph {
    ids: VertexIds,
    direction: Direction,
    scale: WeightScale,
    shards: Vec<CompressedShard>,
}

/// The reason why compressed shards do not make a graph.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum InvalidCompressedGraph {
    /// An error that plain lists can have, too.
    #[error(transparent)]
    Graph(#[from] InvalidGraph),
    /// The lists of a shard are invalid.
    #[error("shard {shard}: {source}")]
    Lists {
        /// The shard, counted from 0.
        shard: usize,
        /// The error.
        source: InvalidCompressed,
    },
}

impl CompressedShard {
    /// Creates a shard from its parts; [`CompressedGraph::from_shards`] checks them.
    pub fn new(out: CompressedAdjacency, incoming: Option<CompressedAdjacency>) -> CompressedShard {
        CompressedShard { out, incoming }
    }

    /// Compresses a shard of a graph: see [`CompressedAdjacency::of`].
    ///
    /// # Errors
    /// If memory is refused.
    pub fn of(shard: &Shard) -> Result<CompressedShard, OutOfMemory> {
        let first = shard.vertices().start;
        let incoming = shard.incoming().map(|lists| CompressedAdjacency::of(lists, first));
        let out = CompressedAdjacency::of(shard.out(), first)?;
        Ok(CompressedShard { out, incoming: incoming.transpose()? })
    }

    /// Returns the vertices whose lists are in the shard.
    pub fn vertices(&self) -> Range<VertexId> {
        self.out.vertices()
    }

    /// Returns the arcs that leave these vertices; in an undirected graph, all their arcs.
    pub fn out(&self) -> &CompressedAdjacency {
        &self.out
    }

    /// Returns the arcs that enter these vertices; present if the graph is directed.
    pub fn incoming(&self) -> Option<&CompressedAdjacency> {
        self.incoming.as_ref()
    }

    fn lists(&self) -> impl Iterator<Item = &CompressedAdjacency> {
        std::iter::once(&self.out).chain(&self.incoming)
    }

    /// Returns the number of arcs that touch vertex `local`, over all its lists.
    #[inline]
    pub fn degree(&self, local: usize) -> u64 {
        self.lists().map(|lists| u64::from(lists.view().degree(local))).sum()
    }
}

impl CompressedGraph {
    /// Creates a graph from its parts and checks every list.
    ///
    /// # Errors
    /// If the parts are inconsistent, or a list is invalid.
    pub fn from_shards(
        ids: VertexIds,
        direction: Direction,
        scale: WeightScale,
        shards: Vec<CompressedShard>,
    ) -> Result<CompressedGraph, InvalidCompressedGraph> {
        if !ids.is_valid() {
            return Err(InvalidGraph::Ids.into());
        }
        let (mut next, vertices) = (0, ids.len() as u32);
        let is_weighted = |lists: &CompressedAdjacency| lists.code().weight_widths.is_some();
        let weighted = shards.first().is_some_and(|shard| is_weighted(&shard.out));
        for (index, shard) in shards.iter().enumerate() {
            let range = shard.vertices();
            if range.start != next || shard.lists().any(|lists| lists.vertices() != range) {
                return Err(InvalidGraph::Range { shard: index }.into());
            }
            next = range.end;
            let directed = direction == Direction::Directed;
            let even = shard.lists().all(|lists| is_weighted(lists) == weighted);
            if shard.incoming.is_some() != directed || !even {
                return Err(InvalidGraph::Columns { shard: index }.into());
            }
            if shard.lists().any(|lists| lists.arcs() > MAX_SHARD_ARCS) {
                return Err(InvalidGraph::Offsets { shard: index }.into());
            }
            let wrong = |source| InvalidCompressedGraph::Lists { shard: index, source };
            shard.lists().try_for_each(|lists| lists.check(vertices)).map_err(wrong)?;
        }
        if next != vertices {
            return Err(InvalidGraph::Range { shard: shards.len() }.into());
        }
        Ok(CompressedGraph { ids, direction, scale, shards })
    }

    /// Returns the external ids of the vertices.
    pub fn ids(&self) -> &VertexIds {
        &self.ids
    }

    /// Returns the number of vertices.
    pub fn vertices(&self) -> u32 {
        self.ids.len() as u32
    }

    /// Returns the number of stored arcs, counted like [`Graph::arcs`].
    pub fn arcs(&self) -> u64 {
        self.shards.iter().map(|shard| shard.out.arcs()).sum()
    }

    /// Returns the number of edges, including self-loops. Cost: one pass, which counts the
    /// self-loops.
    pub fn edges(&self) -> u64 {
        match self.direction {
            Direction::Directed => self.arcs(),
            Direction::Undirected => (self.arcs() + self.self_loops()) / 2,
        }
    }

    /// Returns the number of self-loops. Cost: one pass that decodes each list up to its own
    /// vertex.
    pub fn self_loops(&self) -> u64 {
        let in_shard = |shard: &CompressedShard| -> u64 {
            let (out, first) = (shard.out.view(), shard.vertices().start);
            let loops_of = |local: usize| {
                let own = first + local as u32;
                out.of(local).take_while(|&u| u <= own).filter(|&u| u == own).count() as u64
            };
            (0..shard.vertices().len()).into_par_iter().map(loops_of).sum()
        };
        self.shards.iter().map(in_shard).sum()
    }

    /// Returns whether edges have a direction.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Returns whether arcs have weights.
    pub fn is_weighted(&self) -> bool {
        self.shards.first().is_some_and(|shard| shard.out.code().weight_widths.is_some())
    }

    /// Returns the scale that converts stored weights to real ones.
    pub fn weight_scale(&self) -> WeightScale {
        self.scale
    }

    /// Returns the shards, in the order of their vertices.
    pub fn shards(&self) -> &[CompressedShard] {
        &self.shards
    }

    /// Returns the shard that holds a vertex.
    ///
    /// # Panics
    /// If `vertex` is not below [`CompressedGraph::vertices`].
    #[inline]
    pub fn shard_of(&self, vertex: VertexId) -> &CompressedShard {
        match &*self.shards {
            [only] => only,
            shards => &shards[shards.partition_point(|shard| shard.vertices().end <= vertex)],
        }
    }

    /// Returns the number of arcs that touch a vertex; in a directed graph, in both directions.
    ///
    /// # Panics
    /// If `vertex` is not below [`CompressedGraph::vertices`].
    pub fn degree(&self, vertex: VertexId) -> u64 {
        let shard = self.shard_of(vertex);
        shard.degree((vertex - shard.vertices().start) as usize)
    }

    /// Returns the largest degree; 0 without vertices.
    pub fn max_degree(&self) -> u64 {
        let in_shard = |shard: &CompressedShard| {
            let degrees = (0..shard.vertices().len()).into_par_iter().map(|v| shard.degree(v));
            degrees.max().unwrap_or(0)
        };
        self.shards.iter().map(in_shard).max().unwrap_or(0)
    }

    /// Returns the bytes that the graph occupies, including ids.
    pub fn bytes(&self) -> u64 {
        let lists = self.shards.iter().flat_map(CompressedShard::lists);
        self.ids.bytes() + lists.map(CompressedAdjacency::bytes).sum::<u64>()
    }

    /// Returns the bytes that the graph occupies, by part. `offsets` are the begins of blocks,
    /// `neighbors` the words of the lists, including weights.
    pub fn bytes_by_part(&self) -> GraphBytes {
        let mut bytes = GraphBytes { ids: self.ids.bytes(), ..GraphBytes::default() };
        for lists in self.shards.iter().flat_map(CompressedShard::lists) {
            bytes.offsets += size_of_val(lists.begins()) as u64;
            bytes.neighbors += size_of_val(lists.words()) as u64;
        }
        bytes
    }

    /// Returns the bytes that the graph occupies if it is decoded, including ids.
    pub fn plain_bytes(&self) -> u64 {
        let of_arc = if self.is_weighted() { 8 } else { 4 };
        let lists = self.shards.iter().flat_map(CompressedShard::lists);
        let of_lists =
            lists.map(|lists| 4 * (lists.vertices().len() as u64 + 1) + of_arc * lists.arcs());
        self.ids.bytes() + of_lists.sum::<u64>()
    }

    /// Returns the bytes of lists in shared memory: a mapped file's, which need not be resident.
    pub fn shared_bytes(&self) -> u64 {
        let lists = self.shards.iter().flat_map(CompressedShard::lists);
        lists.map(CompressedAdjacency::shared_bytes).sum()
    }

    /// Compresses a graph's lists, in parallel, and takes its ids over. Memory: the lists of both
    /// graphs.
    ///
    /// # Errors
    /// If memory is refused.
    pub fn of(graph: Graph) -> Result<CompressedGraph, OutOfMemory> {
        let (direction, scale) = (graph.direction(), graph.weight_scale());
        let shards = compressed(&graph)?;
        Ok(CompressedGraph { ids: graph.into_ids(), direction, scale, shards })
    }

    /// Compresses the lists of a graph in parallel, and copies its ids. Memory: the lists of both
    /// graphs.
    ///
    /// # Errors
    /// If memory is refused.
    pub fn copied(graph: &Graph) -> Result<CompressedGraph, OutOfMemory> {
        let (direction, scale) = (graph.direction(), graph.weight_scale());
        let shards = compressed(graph)?;
        Ok(CompressedGraph { ids: graph.ids().clone(), direction, scale, shards })
    }

    /// Decodes the lists in parallel to a plain graph, which takes the ids over. Memory: the lists
    /// of both graphs.
    ///
    /// # Errors
    /// If memory is refused.
    pub fn into_plain(self) -> Result<Graph, OutOfMemory> {
        let shards = self.plain_shards()?;
        Ok(graph_of(self.ids, self.direction, self.scale, shards))
    }

    /// Decodes the lists in parallel to a plain graph, which gets a copy of the ids. Memory: the
    /// lists of both graphs.
    ///
    /// # Errors
    /// If memory is refused.
    pub fn to_plain(&self) -> Result<Graph, OutOfMemory> {
        Ok(graph_of(self.ids.clone(), self.direction, self.scale, self.plain_shards()?))
    }

    fn plain_shards(&self) -> Result<Vec<Shard>, OutOfMemory> {
        let plain = |shard: &CompressedShard| {
            let incoming = shard.incoming().map(CompressedAdjacency::to_plain).transpose()?;
            Ok(Shard::new(shard.vertices(), shard.out.to_plain()?, incoming))
        };
        self.shards.iter().map(plain).collect()
    }
}

fn compressed(graph: &Graph) -> Result<Vec<CompressedShard>, OutOfMemory> {
    graph.shards().iter().map(CompressedShard::of).collect()
}

/// Returns the graph of decoded shards.
fn graph_of(ids: VertexIds, direction: Direction, scale: WeightScale, shards: Vec<Shard>) -> Graph {
    let graph = Graph::from_shards(ids, direction, scale, shards);
    graph.expect("lists that were checked or encoded from a graph's are a graph's")
}
