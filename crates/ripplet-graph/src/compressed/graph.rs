//! A graph whose lists are compressed.

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

/// A graph in compressed shards: what a [`Graph`] is, in fewer bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct CompressedGraph {
    ids: VertexIds,
    direction: Direction,
    scale: WeightScale,
    shards: Vec<CompressedShard>,
}

/// Why compressed shards do not make a graph.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum InvalidCompressedGraph {
    /// What is wrong with a graph of plain lists, too.
    #[error(transparent)]
    Graph(#[from] InvalidGraph),
    /// Lists that are not what they must be.
    #[error("shard {shard}: {source}")]
    Lists {
        /// The shard, from 0.
        shard: usize,
        /// What is wrong.
        source: InvalidCompressed,
    },
}

impl CompressedShard {
    /// A shard from its parts; [`CompressedGraph::from_shards`] checks them.
    pub fn new(out: CompressedAdjacency, incoming: Option<CompressedAdjacency>) -> CompressedShard {
        CompressedShard { out, incoming }
    }

    /// Compresses a shard of a graph: see [`CompressedAdjacency::of`].
    ///
    /// # Errors
    /// Where the memory is refused.
    pub fn of(shard: &Shard) -> Result<CompressedShard, OutOfMemory> {
        let first = shard.vertices().start;
        let incoming = shard.incoming().map(|lists| CompressedAdjacency::of(lists, first));
        let out = CompressedAdjacency::of(shard.out(), first)?;
        Ok(CompressedShard { out, incoming: incoming.transpose()? })
    }

    /// The vertices whose lists are here.
    pub fn vertices(&self) -> Range<VertexId> {
        self.out.vertices()
    }

    /// The arcs that leave these vertices; in an undirected graph, all their arcs.
    pub fn out(&self) -> &CompressedAdjacency {
        &self.out
    }

    /// The arcs that enter these vertices: present where the graph is directed.
    pub fn incoming(&self) -> Option<&CompressedAdjacency> {
        self.incoming.as_ref()
    }

    fn lists(&self) -> impl Iterator<Item = &CompressedAdjacency> {
        std::iter::once(&self.out).chain(&self.incoming)
    }

    /// The number of arcs that touch vertex `local`, over all its lists.
    #[inline]
    pub fn degree(&self, local: usize) -> u64 {
        self.lists().map(|lists| u64::from(lists.view().degree(local))).sum()
    }
}

impl CompressedGraph {
    /// A graph from its parts, every list of which is checked.
    ///
    /// # Errors
    /// Where the parts do not fit together, or a list is not sound.
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

    /// What the vertices are called outside.
    pub fn ids(&self) -> &VertexIds {
        &self.ids
    }

    /// The number of vertices.
    pub fn vertices(&self) -> u32 {
        self.ids.len() as u32
    }

    /// The number of stored arcs, counted as [`Graph::arcs`] does.
    pub fn arcs(&self) -> u64 {
        self.shards.iter().map(|shard| shard.out.arcs()).sum()
    }

    /// The number of edges, self-loops among them. Counts self-loops first: one pass.
    pub fn edges(&self) -> u64 {
        match self.direction {
            Direction::Directed => self.arcs(),
            Direction::Undirected => (self.arcs() + self.self_loops()) / 2,
        }
    }

    /// The number of self-loops: one pass that decodes each list up to its own vertex.
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

    /// Whether edges have a direction.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Whether arcs have weights.
    pub fn is_weighted(&self) -> bool {
        self.shards.first().is_some_and(|shard| shard.out.code().weight_widths.is_some())
    }

    /// How stored weights stand for real ones.
    pub fn weight_scale(&self) -> WeightScale {
        self.scale
    }

    /// The shards, in the order of their vertices.
    pub fn shards(&self) -> &[CompressedShard] {
        &self.shards
    }

    /// The shard that holds a vertex.
    ///
    /// # Panics
    /// Where `vertex` is not below [`CompressedGraph::vertices`].
    #[inline]
    pub fn shard_of(&self, vertex: VertexId) -> &CompressedShard {
        match &*self.shards {
            [only] => only,
            shards => &shards[shards.partition_point(|shard| shard.vertices().end <= vertex)],
        }
    }

    /// The number of arcs that touch a vertex; on a directed graph, in both directions.
    ///
    /// # Panics
    /// Where `vertex` is not below [`CompressedGraph::vertices`].
    pub fn degree(&self, vertex: VertexId) -> u64 {
        let shard = self.shard_of(vertex);
        shard.degree((vertex - shard.vertices().start) as usize)
    }

    /// The largest degree; 0 without vertices.
    pub fn max_degree(&self) -> u64 {
        let in_shard = |shard: &CompressedShard| {
            let degrees = (0..shard.vertices().len()).into_par_iter().map(|v| shard.degree(v));
            degrees.max().unwrap_or(0)
        };
        self.shards.iter().map(in_shard).max().unwrap_or(0)
    }

    /// Bytes that the graph occupies, ids included.
    pub fn bytes(&self) -> u64 {
        let lists = self.shards.iter().flat_map(CompressedShard::lists);
        self.ids.bytes() + lists.map(CompressedAdjacency::bytes).sum::<u64>()
    }

    /// The same, each part for itself: `offsets` are where blocks begin, `neighbors` the words of the
    /// lists, among which weights are.
    pub fn bytes_by_part(&self) -> GraphBytes {
        let mut bytes = GraphBytes { ids: self.ids.bytes(), ..GraphBytes::default() };
        for lists in self.shards.iter().flat_map(CompressedShard::lists) {
            bytes.offsets += size_of_val(lists.begins()) as u64;
            bytes.neighbors += size_of_val(lists.words()) as u64;
        }
        bytes
    }

    /// Of the lists' bytes, those that lie in somebody else's memory: a mapped file's, which need not be in memory at once.
    pub fn shared_bytes(&self) -> u64 {
        let lists = self.shards.iter().flat_map(CompressedShard::lists);
        lists.map(CompressedAdjacency::shared_bytes).sum()
    }

    /// Compresses a graph's lists, in parallel, and takes over its ids. Memory: both graphs' lists.
    ///
    /// # Errors
    /// Where the memory is refused.
    pub fn of(graph: Graph) -> Result<CompressedGraph, OutOfMemory> {
        let (direction, scale) = (graph.direction(), graph.weight_scale());
        let shards = graph.shards().iter().map(CompressedShard::of).collect::<Result<_, _>>()?;
        Ok(CompressedGraph { ids: graph.into_ids(), direction, scale, shards })
    }

    /// The graph with plain lists, decoded in parallel; it takes over the ids. Memory: both graphs'
    /// lists.
    ///
    /// # Errors
    /// Where the memory is refused.
    pub fn into_plain(self) -> Result<Graph, OutOfMemory> {
        let plain = |shard: &CompressedShard| {
            let incoming = shard.incoming().map(CompressedAdjacency::to_plain).transpose()?;
            Ok(Shard::new(shard.vertices(), shard.out.to_plain()?, incoming))
        };
        let shards = self.shards.iter().map(plain).collect::<Result<_, OutOfMemory>>()?;
        let graph = Graph::from_shards(self.ids, self.direction, self.scale, shards);
        Ok(graph.expect("lists that were checked or encoded from a graph's are a graph's"))
    }
}
