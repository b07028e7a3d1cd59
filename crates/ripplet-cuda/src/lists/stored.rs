//! Lists in the host's memory, plain or compressed, as words and an index.

use ripplet_graph::compressed::{self, CompressedAdjacency};
use ripplet_graph::{GraphView, Neighbors, VertexId};
use std::ops::Range;

/// Words behind an array that a decoder reads and does not use.
pub(super) const SLACK: u64 = 2;

/// A shard's lists of one direction in the host's memory.
#[derive(Clone, Copy)]
pub(super) enum Stored<'a> {
    Plain(Neighbors<'a>),
    Compressed(&'a CompressedAdjacency),
}

impl<'a> Stored<'a> {
    /// Returns the words before a vertex's list in the shard; for compressed lists, before the
    /// block that begins at or after it.
    pub fn words_before(self, local: usize) -> u64 {
        match self {
            Stored::Plain(lists) => u64::from(lists.offsets()[local]),
            Stored::Compressed(lists) => lists.begins()[local.div_ceil(compressed::BLOCK)],
        }
    }

    pub fn words(self) -> &'a [u32] {
        match self {
            Stored::Plain(lists) => lists.neighbors(),
            Stored::Compressed(lists) => lists.words(),
        }
    }

    pub fn weights(self) -> Option<&'a [u32]> {
        match self {
            Stored::Plain(lists) => lists.weights(),
            Stored::Compressed(_) => None,
        }
    }

    /// Returns the number of arrays: neighbours and, of plain lists, weights.
    pub fn arrays(self) -> usize {
        1 + usize::from(self.weights().is_some())
    }

    /// Returns the index of the lists: offsets, or begins of blocks.
    pub fn index(self) -> &'a [u8] {
        match self {
            Stored::Plain(lists) => bytemuck::cast_slice(lists.offsets()),
            Stored::Compressed(lists) => bytemuck::cast_slice(lists.begins()),
        }
    }

    /// Returns the words of a vertex's list; for compressed lists, with the word behind it.
    pub fn words_of(self, local: usize) -> Range<u64> {
        match self {
            Stored::Plain(lists) => {
                u64::from(lists.offsets()[local])..u64::from(lists.offsets()[local + 1])
            }
            Stored::Compressed(lists) => lists.view().words_of(local),
        }
    }

    /// Returns the words of the heads of some vertices' blocks.
    pub fn head_words(self, local: Range<usize>) -> u64 {
        let Stored::Compressed(lists) = self else { return 0 };
        blocks_of(&local).map(|block| lists.head_of(block).len() as u64).sum()
    }
}

/// Returns the blocks of a range of a shard's vertices, which begins and ends at blocks' bounds or
/// behind the last vertex.
pub(super) fn blocks_of(local: &Range<usize>) -> Range<usize> {
    local.start.div_ceil(compressed::BLOCK)..local.end.div_ceil(compressed::BLOCK)
}

/// A shard: its vertices, and its lists by direction.
pub(super) struct StoredShard<'a> {
    pub vertices: Range<VertexId>,
    pub lists: [Option<Stored<'a>>; 2],
}

impl StoredShard<'_> {
    pub fn all<'a>(graph: GraphView<'a>) -> Box<dyn Iterator<Item = StoredShard<'a>> + 'a> {
        match graph {
            GraphView::Plain(graph) => Box::new(graph.shards().iter().map(|shard| StoredShard {
                vertices: shard.vertices(),
                lists: [Some(Stored::Plain(shard.out())), shard.incoming().map(Stored::Plain)],
            })),
            GraphView::Compressed(graph) => {
                Box::new(graph.shards().iter().map(|shard| StoredShard {
                    vertices: shard.vertices(),
                    lists: [
                        Some(Stored::Compressed(shard.out())),
                        shard.incoming().map(Stored::Compressed),
                    ],
                }))
            }
        }
    }

    /// Returns the number of the shard's vertices before `v`.
    pub fn before(&self, v: VertexId) -> usize {
        (v.clamp(self.vertices.start, self.vertices.end) - self.vertices.start) as usize
    }

    /// Returns the words of lists before `v` in the shard, with weights.
    pub fn words_before(&self, v: VertexId) -> u64 {
        let local = self.before(v);
        let words = |lists: &Stored<'_>| lists.words_before(local) * lists.arrays() as u64;
        self.lists.iter().flatten().map(words).sum()
    }
}

/// Returns the words of lists of the vertices before `v`, with weights.
pub(super) fn words_before(graph: GraphView<'_>, v: VertexId) -> u64 {
    StoredShard::all(graph).map(|shard| shard.words_before(v)).sum()
}

/// Returns the last block bound with at most `words` words of lists before it; possibly behind the
/// last vertex.
pub(super) fn vertex_behind(graph: GraphView<'_>, words: u64) -> VertexId {
    let mut left = words;
    for shard in StoredShard::all(graph) {
        let all = shard.words_before(shard.vertices.end);
        if all > left {
            let blocks = shard.vertices.len().div_ceil(compressed::BLOCK);
            let first_of = |block: usize| {
                let first = shard.vertices.start + (block * compressed::BLOCK) as VertexId;
                first.min(shard.vertices.end)
            };
            // Invariant: the lists of `fits` blocks fit, those of `too_many` do not.
            let (mut fits, mut too_many) = (0, blocks);
            while too_many - fits > 1 {
                let middle = fits + (too_many - fits) / 2;
                if shard.words_before(first_of(middle)) <= left {
                    fits = middle
                } else {
                    too_many = middle
                }
            }
            return first_of(fits);
        }
        left -= all;
    }
    graph.vertices()
}

/// Returns the most words of a block's lists, among some vertices, with weights.
pub(super) fn largest_block(graph: GraphView<'_>, vertices: Range<VertexId>) -> u64 {
    let in_shard = |shard: StoredShard<'_>| {
        let blocks = blocks_of(&(shard.before(vertices.start)..shard.before(vertices.end)));
        let words_of = |block: usize| {
            let first = shard.vertices.start + (block * compressed::BLOCK) as VertexId;
            let end = first.saturating_add(compressed::BLOCK as u32).min(shard.vertices.end);
            shard.words_before(end) - shard.words_before(first)
        };
        blocks.map(words_of).max().unwrap_or(0)
    };
    StoredShard::all(graph).map(in_shard).max().unwrap_or(0)
}

/// Returns the vertices of the block of `v`; if there is no such vertex, an empty range behind the
/// last.
pub(super) fn block_of(graph: GraphView<'_>, v: VertexId) -> Range<VertexId> {
    let mut shards = StoredShard::all(graph).map(|shard| shard.vertices);
    let Some(shard) = shards.find(|vertices| vertices.contains(&v)) else {
        return graph.vertices()..graph.vertices();
    };
    let block = compressed::BLOCK as u32;
    let start = shard.start + (v - shard.start) / block * block;
    start..shard.end.min(start.saturating_add(block))
}

/// Returns the number of arrays of a graph's lists: neighbours and, of plain lists, weights.
pub(crate) fn arrays_of(graph: GraphView<'_>) -> u64 {
    1 + u64::from(matches!(graph, GraphView::Plain(_)) && graph.is_weighted())
}
