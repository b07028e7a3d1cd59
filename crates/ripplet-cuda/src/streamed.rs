//! A graph whose lists are not all in a device's memory.
//!
//! The lists of its first vertices are. The others stay where they are:
//!
//! - in the host's memory, pinned: kernels fetch them list by list over the bus
//!   (`kernels/streamed.cuh`, `kernels/lp/fetch.cuh`), or the copy engine copies them by range; or
//! - in a file that the host's memory has no room for: the host copies lists to the device.
//!
//! If several devices share the graph, this holds for the vertices of each device, and it has no
//! lists of others. The index of all lists is on the device: 4 bytes a vertex, or 3 for compressed
//! lists.

use crate::device::{Address, Device, DeviceError};
use crate::places::Places;
use crate::resident::{Compressed, CompressedShard, Lists};
use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;
use ripplet_graph::compressed::{self, CompressedAdjacency};
use ripplet_graph::{Direction, GraphView, Neighbors, VertexId, memory};
use std::ops::Range;

/// A shard's lists of one direction: `StreamedLists` in `streamed.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct StreamedLists {
    pub near: u64,
    pub far: u64,
    pub near_weights: u64,
    pub far_weights: u64,
    pub heads: Address,
    pub head_begins: Address,
}

/// A shard of a streamed graph: `StreamedShard` in `streamed.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct StreamedShard {
    pub first: u64,
    pub out: StreamedLists,
    pub incoming: StreamedLists,
}

/// Lists that were copied together: `Copied` in `lp/fetch.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Copied {
    pub side: u32,
    pub first: u32,
    pub end: u32,
    pub at: u32,
    pub word: u64,
}

/// Bytes of a `LongPiece` in `lp/state.cuh`.
pub(crate) const LONG_PIECE_BYTES: u64 = 24;
/// Words above which a list is fetched by several warps, and words of each piece: 4 times
/// `LONG_LIST` of `lp/fetch.cuh`.
const LONG_LIST: u64 = 4096;
/// Words behind an array that a decoder reads and does not use.
const SLACK: u64 = 2;
/// Words of the staging area for copies by range, if there is room: a few milliseconds of the bus.
const BUSY_WORDS: u64 = 32 << 20;
/// The most words of the staging area: places in it have 32 bits, of which two values are reserved.
const LARGEST_STAGE: u64 = u32::MAX as u64 - 1024;

/// A shard's lists of one direction in the host's memory.
#[derive(Clone, Copy)]
enum Stored<'a> {
    Plain(Neighbors<'a>),
    Compressed(&'a CompressedAdjacency),
}

impl<'a> Stored<'a> {
    /// Returns the words before a vertex's list in the shard; for compressed lists, before the
    /// block that begins at or after it.
    fn words_before(self, local: usize) -> u64 {
        match self {
            Stored::Plain(lists) => u64::from(lists.offsets()[local]),
            Stored::Compressed(lists) => lists.begins()[local.div_ceil(compressed::BLOCK)],
        }
    }

    fn words(self) -> &'a [u32] {
        match self {
            Stored::Plain(lists) => lists.neighbors(),
            Stored::Compressed(lists) => lists.words(),
        }
    }

    fn weights(self) -> Option<&'a [u32]> {
        match self {
            Stored::Plain(lists) => lists.weights(),
            Stored::Compressed(_) => None,
        }
    }

    /// Returns the number of arrays: neighbours and, of plain lists, weights.
    fn arrays(self) -> usize {
        1 + usize::from(self.weights().is_some())
    }

    /// Returns the index of the lists: offsets, or begins of blocks.
    fn index(self) -> &'a [u8] {
        match self {
            Stored::Plain(lists) => bytemuck::cast_slice(lists.offsets()),
            Stored::Compressed(lists) => bytemuck::cast_slice(lists.begins()),
        }
    }

    /// Returns the words of a vertex's list; for compressed lists, with the word behind it.
    fn words_of(self, local: usize) -> Range<u64> {
        match self {
            Stored::Plain(lists) => {
                u64::from(lists.offsets()[local])..u64::from(lists.offsets()[local + 1])
            }
            Stored::Compressed(lists) => lists.view().words_of(local),
        }
    }

    /// Returns the words of the heads of some vertices' blocks.
    fn head_words(self, local: Range<usize>) -> u64 {
        let Stored::Compressed(lists) = self else { return 0 };
        blocks_of(&local).map(|block| lists.head_of(block).len() as u64).sum()
    }
}

/// Returns the blocks of a range of a shard's vertices, which begins and ends at blocks' bounds or
/// behind the last vertex.
fn blocks_of(local: &Range<usize>) -> Range<usize> {
    local.start.div_ceil(compressed::BLOCK)..local.end.div_ceil(compressed::BLOCK)
}

/// A shard: its vertices, and its lists by direction.
struct StoredShard<'a> {
    vertices: Range<VertexId>,
    lists: [Option<Stored<'a>>; 2],
}

impl StoredShard<'_> {
    fn all<'a>(graph: GraphView<'a>) -> Box<dyn Iterator<Item = StoredShard<'a>> + 'a> {
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
    fn before(&self, v: VertexId) -> usize {
        (v.clamp(self.vertices.start, self.vertices.end) - self.vertices.start) as usize
    }

    /// Returns the words of lists before `v` in the shard, with weights.
    fn words_before(&self, v: VertexId) -> u64 {
        let local = self.before(v);
        let words = |lists: &Stored<'_>| lists.words_before(local) * lists.arrays() as u64;
        self.lists.iter().flatten().map(words).sum()
    }
}

/// Returns the words of lists of the vertices before `v`, with weights.
fn words_before(graph: GraphView<'_>, v: VertexId) -> u64 {
    StoredShard::all(graph).map(|shard| shard.words_before(v)).sum()
}

/// Returns the last block bound with at most `words` words of lists before it; possibly behind the
/// last vertex.
fn vertex_behind(graph: GraphView<'_>, words: u64) -> VertexId {
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

/// How lists in the host's memory reach the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Supply {
    /// Lists are pinned in the host's memory, where kernels read them.
    #[default]
    Pinned,
    /// Lists may be in a file that the host's memory has no room for. The host copies those that
    /// are needed.
    Staged,
}

/// Which lists are on the device, and the room for the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Residence {
    pub supply: Supply,
    /// Bounds of the blocks of the device's vertices.
    first: VertexId,
    end: VertexId,
    /// Lists of the vertices before this one are on the device.
    pub near_end: VertexId,
    /// Phases whose lists are prefetched together while another phase runs; 0 if lists are fetched
    /// when their phase begins.
    pub ahead: u32,
    /// Words of a region of the staging area, without weights.
    pub region_words: u64,
}

impl Residence {
    /// Returns the residence of no lists of some vertices, without room for any.
    pub fn least(graph: GraphView<'_>, part: &Range<VertexId>, ahead: u32) -> Residence {
        let first = block_of(graph, part.start).start;
        let end = if part.is_empty() { first } else { block_of(graph, part.end - 1).end };
        Residence { supply: Supply::Pinned, first, end, near_end: first, ahead, region_words: 0 }
    }

    /// Returns the residence of no lists if the host stages them, with room for the lists of any
    /// block, and for as many words that a phase has at most `parts` parts.
    pub fn least_staged(graph: GraphView<'_>, part: &Range<VertexId>, parts: u32) -> Residence {
        let least = Residence::least(graph, part, 0);
        let arrays = arrays_of(graph);
        let all = least.words(graph);
        // Two consecutive parts have more words together than one may have.
        let fair = (2 * all).div_ceil((u64::from(parts.max(4)) - 2) * arrays);
        let largest = largest_block(graph, least.first..least.end).div_ceil(arrays);
        let words = (fair.max(largest) + spare_words(graph)).next_multiple_of(64);
        Residence { supply: Supply::Staged, region_words: words.min(LARGEST_STAGE), ..least }
    }

    /// Returns the best use of `bytes` bytes if one vertex in `phases` updates at a time.
    pub fn within(self, graph: GraphView<'_>, bytes: u64, phases: u64) -> Residence {
        let (regions, arrays) = (self.regions(), arrays_of(graph));
        let (words, all) = (words_within(graph, bytes), self.words(graph));
        let most = (LARGEST_STAGE / regions).saturating_sub(self.region_words) * arrays * regions;
        let (near, stage) = if phases > 1 && self.supply == Supply::Pinned {
            // Room for all lists of a phase comes first, so that none is read over the bus without
            // being staged. The rest is divided so that the staging area suffices for the lists
            // that are then not on the device.
            let share = self.staged_share(graph, phases);
            let near = (words as f64 - share * all as f64) / (1.0 - share).max(f64::EPSILON);
            let near = near.clamp(0.0, words as f64) as u64;
            (near, words - near)
        } else {
            // As much as keeps the bus busy while the vertices of another range update.
            let stage = (words / 4).max(words.min(BUSY_WORDS)).min(all);
            (words - stage, stage)
        };
        let stage = stage.min(most);
        let before = words_before(graph, self.first);
        let near_end = vertex_behind(graph, before + near).clamp(self.first, self.end);
        let region_words = self.region_words + stage / arrays / regions / 64 * 64;
        Residence { near_end, region_words, ..self }
    }

    /// Whether `bytes` bytes hold, or nearly hold, the lists that are prefetched together.
    pub fn suits(self, graph: GraphView<'_>, bytes: u64, phases: u64) -> bool {
        let wanted = self.staged_share(graph, phases) * self.words(graph) as f64;
        words_within(graph, bytes) as f64 >= 0.9 * wanted
    }

    /// Returns the words of all lists of the device's vertices, with weights.
    fn words(self, graph: GraphView<'_>) -> u64 {
        words_before(graph, self.end) - words_before(graph, self.first)
    }

    /// Returns the share of the lists that is in the staging area at once if none are on the device
    /// otherwise. Lists, or groups of lists that are prefetched together, are padded to 16 bytes,
    /// by 12 bytes on average. A sixteenth is added, as phases differ in size.
    fn staged_share(self, graph: GraphView<'_>, phases: u64) -> f64 {
        let sides = if graph.direction() == Direction::Directed { 2 } else { 1 };
        let lists = sides * arrays_of(graph) * u64::from(self.end - self.first);
        let all = self.words(graph).max(1) as f64;
        let padded = all + 3.0 * lists as f64 / f64::from(self.ahead.max(1));
        (self.regions() as f64 / phases as f64 * 1.0625 * padded / all).min(1.0)
    }

    /// Sets the words of a region.
    pub fn with_region(self, region_words: u64) -> Residence {
        Residence { region_words, ..self }
    }

    /// Returns the number of regions of the staging area. Each prefetch has a region, which is kept
    /// until its phases are over.
    pub fn regions(self) -> u64 {
        1 + u64::from(self.ahead)
    }

    /// Sets the lists on the device: those before the block of `v`.
    pub fn until(self, graph: GraphView<'_>, v: VertexId) -> Residence {
        Residence { near_end: block_of(graph, v).start.clamp(self.first, self.end), ..self }
    }

    /// Returns the parts of the vertices whose lists the host stages; the lists of each fit the
    /// staging area.
    pub fn staged_parts(self, graph: GraphView<'_>) -> Vec<Range<VertexId>> {
        self.parts(graph, self.region_words - spare_words(graph))
    }

    /// Returns the parts of the vertices whose lists are not on the device: at most `words` words
    /// each, without weights, unless a single block has more.
    pub fn parts(self, graph: GraphView<'_>, words: u64) -> Vec<Range<VertexId>> {
        let (mut parts, most) = (Vec::new(), words * arrays_of(graph));
        let mut at = self.near_end;
        while at < self.end {
            let fits = vertex_behind(graph, words_before(graph, at).saturating_add(most));
            let next = if fits > at { fits.min(self.end) } else { block_of(graph, at).end };
            parts.push(at..next);
            at = next;
        }
        parts
    }
}

/// Returns the words of lists that fit `bytes` bytes, beside the padding between arrays.
fn words_within(graph: GraphView<'_>, bytes: u64) -> u64 {
    (bytes / 4).saturating_sub(graph.shards() as u64 * 4 * (64 + SLACK) + 256)
}

/// Returns the most words of a block's lists, among some vertices, with weights.
fn largest_block(graph: GraphView<'_>, vertices: Range<VertexId>) -> u64 {
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

/// Vertices of a load.
const LOAD: usize = 2048;

/// Words, and lists, that the host copies to the device together.
pub(crate) const STAGING_WORDS: usize = 4 << 20;
pub(crate) const STAGING_LISTS: usize = 1 << 20;
/// Bytes of the host's buffers: words and weights, then places of lists and requests.
pub(crate) const STAGING_BUFFER_BYTES: u64 =
    2 * 4 * STAGING_WORDS as u64 + 2 * 4 * STAGING_LISTS as u64;

/// Returns the words that a part's lists may need beyond their own: for each load, the word behind
/// its last list.
fn spare_words(graph: GraphView<'_>) -> u64 {
    let loads = graph.shards() as u64 + u64::from(graph.vertices()) / LOAD as u64;
    2 * loads * SLACK + 64
}

/// Returns the vertices of the block of `v`; if there is no such vertex, an empty range behind the
/// last.
fn block_of(graph: GraphView<'_>, v: VertexId) -> Range<VertexId> {
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

/// Places of a shard's lists of one direction.
#[derive(Clone, Debug, Default)]
struct ListPlaces {
    index: Range<u64>,
    near: Range<u64>,
    near_weights: Range<u64>,
    heads: Range<u64>,
    head_begins: Range<u64>,
}

/// Places of a streamed graph in a device's memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct StreamedPlaces {
    pub residence: Residence,
    lists: Vec<[ListPlaces; 2]>,
    /// By direction, the begin of the offsets of all plain shards.
    offsets: [u64; 2],
    /// Shards' records of compressed lists.
    pub shards: Range<u64>,
    pub streamed: Range<u64>,
    /// By direction, where each vertex's list is in the staging area.
    pub fetched: [Range<u64>; 2],
    pub stage: Range<u64>,
    /// Words between an arc in the staging area and its weight.
    pub weights_behind: u64,
    pub long_pieces: Range<u64>,
    /// Bytes of the lists that are not on the device.
    pub far_bytes: u64,
}

/// Lists of one direction of a range of vertices, contiguous in the host's memory.
pub(crate) struct Stretch {
    /// The argument of the kernel that records where the lists are.
    pub copied: Copied,
    /// The pinned part of the host's memory, and its words to copy.
    pub mapped: usize,
    pub words: Range<usize>,
    /// The pinned part of the weights, whose words have the same indices.
    pub weights: Option<usize>,
}

/// Returns the copies that bring the lists of some vertices to `room` words of the staging area
/// from word `at` on, and the words of lists that do not fit.
pub(crate) fn stretches<D: Device>(
    (device, mapped): (&D, &D::Mapped<'_>),
    graph: GraphView<'_>,
    near_end: VertexId,
    vertices: Range<VertexId>,
    (at, room): (u64, u64),
) -> (Vec<Stretch>, u64) {
    let (mut all, mut left_out, mut used, mut number) = (Vec::new(), 0, 0, 0);
    for shard in StoredShard::all(graph) {
        for (side, stored) in (0..).zip(shard.lists) {
            let Some(stored) = stored else { continue };
            let own = number;
            number += stored.arrays();
            let [first, end] = [vertices.start, vertices.end].map(|v| shard.before(v));
            if first == end {
                continue;
            }
            let near = stored.words_before(shard.before(near_end));
            let [from, behind] = [first, end].map(|local| stored.words_before(local));
            // A decoder reads one word behind a list.
            let behind = (behind + u64::from(matches!(stored, Stored::Compressed(_))))
                .min(stored.words().len() as u64);
            // Keeps the alignment to 16 bytes.
            let place = used + (device.mapped(mapped, own).0 / 4 + from - near) % 4;
            if place + (behind - from) + 4 > room {
                left_out += (behind - from) * stored.arrays() as u64;
                continue;
            }
            used = (place + (behind - from)).next_multiple_of(4) + 4;
            let start = shard.vertices.start;
            all.push(Stretch {
                copied: Copied {
                    side,
                    first: start + first as u32,
                    end: start + end as u32,
                    at: (at + place) as u32,
                    word: device.mapped(mapped, own).0 / 4 + from - near,
                },
                mapped: own,
                words: (from - near) as usize..(behind - near) as usize,
                weights: stored.weights().map(|_| own + 1),
            });
        }
    }
    (all, left_out)
}

/// Lists of one direction that one thread copies to the staging area.
pub(crate) struct Load<'a, 'v> {
    stored: Stored<'a>,
    /// The shard's first vertex.
    first: VertexId,
    vertices: &'v [VertexId],
    /// Words of all lists; words shared by several lists are counted once.
    pub words: u64,
}

impl<'a, 'v> Load<'a, 'v> {
    /// Divides the lists of some vertices, in ascending order, into loads.
    pub fn all(graph: GraphView<'a>, side: usize, vertices: &'v [VertexId]) -> Vec<Load<'a, 'v>> {
        let of_shard = |shard: StoredShard<'a>| {
            let stored = shard.lists[side]?;
            let Range { start, end } = shard.vertices;
            let [from, to] = [start, end].map(|bound| vertices.partition_point(|&v| v < bound));
            let load = move |vertices| {
                let load = Load { stored, first: start, vertices, words: 0 };
                Load { words: load.visit(|_, _| {}, |_, _| {}), ..load }
            };
            Some(vertices[from..to].par_chunks(LOAD).map(load).collect::<Vec<_>>())
        };
        StoredShard::all(graph).filter_map(of_shard).flatten().collect()
    }

    /// Returns the number of lists.
    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    /// Returns the arrays of the lists: words, and weights of plain lists with weights.
    pub fn arrays(&self) -> impl Iterator<Item = &'a [u32]> {
        [Some(self.stored.words()), self.stored.weights()].into_iter().flatten()
    }

    /// Writes the place of each list in the staging area, if the first is at `at`.
    pub fn place(&self, at: u64, places: &mut [u32]) {
        self.visit(|number, word| places[number] = (at + word) as u32, |_, _| {});
    }

    /// Calls `stretch` with each contiguous range of words, and the number of words before it.
    pub fn each_stretch(&self, stretch: impl FnMut(Range<usize>, u64)) {
        self.visit(|_, _| {}, stretch);
    }

    /// Calls `list` with the place of each list, and `stretch` with each contiguous range; returns
    /// the number of words.
    fn visit(
        &self,
        mut list: impl FnMut(usize, u64),
        mut stretch: impl FnMut(Range<usize>, u64),
    ) -> u64 {
        let (mut words, mut open, mut place) = (0, 0..0, 0);
        for (number, &v) in self.vertices.iter().enumerate() {
            let its = self.stored.words_of((v - self.first) as usize);
            if !(open.start..=open.end).contains(&its.start) {
                stretch(open.start as usize..open.end as usize, place);
                (open, place) = (its.start..its.start, words);
            }
            words += its.end.saturating_sub(open.end);
            open.end = open.end.max(its.end);
            list(number, place + (its.start - open.start));
        }
        stretch(open.start as usize..open.end as usize, place);
        words
    }
}

/// Returns the error for memory that the host refuses.
pub(crate) fn refused(what: &str, error: memory::OutOfMemory) -> DeviceError {
    DeviceError::Failed { what: what.to_owned(), reason: error.to_string() }
}

/// Result of moving a graph to a device.
pub(crate) struct Moved<L> {
    /// The first shard's compressed lists.
    pub first: CompressedShard,
    /// Pinned lists in the host's memory; kernels may read them until this is dropped.
    pub mapped: L,
}

impl StreamedPlaces {
    /// Allocates the places of a graph.
    pub fn new(to: &mut Places, graph: GraphView<'_>, residence: Residence) -> StreamedPlaces {
        let Residence { first, near_end, end, .. } = residence;
        let directions = match graph.direction() {
            Direction::Undirected => 1,
            Direction::Directed => 2,
        };
        let mut places = StreamedPlaces { residence, ..StreamedPlaces::default() };
        places.lists = StoredShard::all(graph).map(|_| Default::default()).collect();
        let (mut far_words, mut long_pieces) = (0, 0);
        for side in 0..directions {
            for (number, (shard, lists)) in
                StoredShard::all(graph).zip(&mut places.lists).enumerate()
            {
                let Some(stored) = shard.lists[side] else { continue };
                let local = [first, near_end, end].map(|v| shard.before(v));
                let [begin, near, end] = local.map(|local| stored.words_before(local));
                let its = &mut lists[side];
                its.index = match stored {
                    // Offsets of all shards are contiguous.
                    Stored::Plain(_) => {
                        let begin = to.bytes;
                        to.bytes += stored.index().len() as u64;
                        begin..to.bytes
                    }
                    Stored::Compressed(_) => to.take(1, stored.index().len() as u64),
                };
                if number == 0 {
                    places.offsets[side] = its.index.start;
                }
                far_words += end - near;
                long_pieces += long_pieces_of(stored, local[1]..local[2]);
                // Offsets of the next shard come first.
                its.near = begin..near;
            }
            to.take(1, 0);
            for (shard, lists) in StoredShard::all(graph).zip(&mut places.lists) {
                let Some(stored) = shard.lists[side] else { continue };
                let ([near_end, end], its) =
                    ([near_end, end].map(|v| shard.before(v)), &mut lists[side]);
                let near = its.near.end - its.near.start;
                its.near = to.take(4, if near > 0 { near + SLACK } else { 0 });
                its.near_weights = to.take(4, stored.weights().map_or(0, |_| near));
                let heads = stored.head_words(near_end..end);
                its.heads = to.take(4, if heads > 0 { heads + SLACK } else { 0 });
                let blocks =
                    if heads > 0 { shard.vertices.len().div_ceil(compressed::BLOCK) } else { 0 };
                its.head_begins = to.take(4, blocks as u64);
            }
            places.fetched[side] = to.take(4, u64::from(graph.vertices()));
        }
        let shards = places.lists.len() as u64;
        places.shards = to.take(
            size_of::<CompressedShard>() as u64,
            match graph {
                GraphView::Plain(_) => 0,
                GraphView::Compressed(_) => shards,
            },
        );
        places.streamed = to.take(size_of::<StreamedShard>() as u64, shards);
        let (arrays, stage) = (arrays_of(graph), residence.regions() * residence.region_words);
        places.stage = to.take(4, arrays * stage + SLACK + 4);
        places.weights_behind = stage;
        places.long_pieces =
            to.take(LONG_PIECE_BYTES, 2 * residence.regions() * arrays * long_pieces);
        places.far_bytes = 4 * arrays * far_words;
        places
    }

    /// Returns the address of the offsets of plain lists.
    pub fn lists(&self, base: Address, side: usize) -> Lists {
        Lists { offsets: base.plus(self.offsets[side]), ..Lists::default() }
    }

    /// Copies the lists and indices of the residence to the device, and pins the other lists.
    pub fn upload<'a, D: Device>(
        &self,
        device: &'a D,
        memory: &D::Memory,
        graph: GraphView<'a>,
    ) -> Result<Moved<D::Mapped<'a>>, DeviceError> {
        let base = device.address(memory);
        let Residence { supply, first, near_end, end, .. } = self.residence;
        let mut far = Vec::new();
        for shard in StoredShard::all(graph).filter(|_| supply == Supply::Pinned) {
            let local = [near_end, end].map(|v| shard.before(v));
            for stored in shard.lists.into_iter().flatten() {
                let [near, end] = local.map(|local| stored.words_before(local) as usize);
                // A decoder reads one word behind a list.
                let behind = usize::from(near < end && matches!(stored, Stored::Compressed(_)));
                far.push(&stored.words()[near..(end + behind).min(stored.words().len())]);
                far.extend(stored.weights().map(|weights| &weights[near..end]));
            }
        }
        let mapped = device.map_host(&far)?;
        let mut next_lent = 0;
        // If the host stages lists, kernels never read these places: every list that is read is in
        // the staging area.
        let mut map_host = |near: u64| match supply {
            Supply::Staged => 0,
            Supply::Pinned => {
                next_lent += 1;
                (device.mapped(&mapped, next_lent - 1).0 / 4).wrapping_sub(near)
            }
        };
        let (mut streamed, mut records) = (Vec::new(), Vec::new());
        for (shard, places) in StoredShard::all(graph).zip(&self.lists) {
            let mut lists = [StreamedLists::default(); 2];
            let mut record = CompressedShard::default();
            let local = [first, near_end, end].map(|v| shard.before(v));
            for side in 0..2 {
                let (Some(stored), its) = (shard.lists[side], &places[side]) else { continue };
                let [begin, near] = [local[0], local[1]].map(|local| stored.words_before(local));
                device.write(memory, its.index.start, stored.index())?;
                let words = begin as usize..near as usize;
                let near_words = bytemuck::cast_slice(&stored.words()[words.clone()]);
                device.write(memory, its.near.start, near_words)?;
                let at = &mut lists[side];
                at.near = (base.plus(its.near.start).0 / 4).wrapping_sub(begin);
                at.far = map_host(near);
                if let Some(weights) = stored.weights() {
                    let near_words = bytemuck::cast_slice(&weights[words]);
                    device.write(memory, its.near_weights.start, near_words)?;
                    at.near_weights = (base.plus(its.near_weights.start).0 / 4).wrapping_sub(begin);
                    at.far_weights = map_host(near);
                }
                let Stored::Compressed(coded) = stored else { continue };
                at.heads = base.plus(its.heads.start);
                at.head_begins = base.plus(its.head_begins.start);
                upload_heads(device, memory, its, coded, local[1]..local[2])?;
                let found = Compressed::of(coded, base.plus(its.index.start), Address(0));
                *(if side == 0 { &mut record.out } else { &mut record.incoming }) = found;
            }
            let [out, incoming] = lists;
            streamed.push(StreamedShard { first: shard.vertices.start.into(), out, incoming });
            records.push(record);
        }
        device.write(memory, self.streamed.start, bytemuck::cast_slice(&streamed))?;
        if !self.shards.is_empty() {
            device.write(memory, self.shards.start, bytemuck::cast_slice(&records))?;
        }
        Ok(Moved { first: records.first().copied().unwrap_or_default(), mapped })
    }
}

/// Returns the number of pieces of the lists that several warps fetch.
fn long_pieces_of(stored: Stored<'_>, vertices: Range<usize>) -> u64 {
    let pieces = |words: u64| if words > LONG_LIST { words.div_ceil(LONG_LIST) } else { 0 };
    match stored {
        Stored::Plain(lists) => {
            let offsets = &lists.offsets()[vertices.start..=vertices.end];
            offsets.windows(2).map(|pair| pieces(u64::from(pair[1] - pair[0]))).sum()
        }
        // A long list has fewer than 2 * words / LONG_LIST pieces. Lists of a block share words at
        // their bounds, so 3 times the block's pieces suffice.
        Stored::Compressed(lists) => {
            let blocks = blocks_of(&vertices);
            let begins = &lists.begins()[blocks.start..=blocks.end];
            begins.windows(2).map(|pair| 3 * pieces(pair[1] - pair[0] + 1)).sum()
        }
    }
}

/// Copies the heads of the blocks of some vertices, whose lists are not on the device, there.
fn upload_heads<D: Device>(
    device: &D,
    memory: &D::Memory,
    places: &ListPlaces,
    lists: &CompressedAdjacency,
    local: Range<usize>,
) -> Result<(), DeviceError> {
    let refused = |error| refused("copying the index of the lists", error);
    let its = blocks_of(&local);
    if its.is_empty() {
        return Ok(());
    }
    let words = ((places.heads.end - places.heads.start) / 4) as usize;
    let mut heads: Vec<u32> = memory::with_room(words).map_err(refused)?;
    let mut begins: Vec<u32> = memory::zeros(lists.begins().len() - 1).map_err(refused)?;
    for (block, begin) in begins.iter_mut().enumerate().take(its.end).skip(its.start) {
        *begin = heads.len() as u32;
        heads.extend_from_slice(lists.head_of(block));
    }
    device.write(memory, places.heads.start, bytemuck::cast_slice(&heads))?;
    device.write(memory, places.head_begins.start, bytemuck::cast_slice(&begins))
}
