//! A graph whose lists are not all in a device's memory.
//!
//! The lists of its first vertices are. The others stay where they are:
//!
//! - in the host's memory, pinned: kernels fetch them list by list over the bus
//!   (`kernels/streamed.cuh`, `kernels/lp/fetch.cuh`), or the copy engine copies them by range
//!   (`stretch.rs`); or
//! - in a file that the host's memory has no room for: the host copies lists to the device
//!   (`load.rs`).
//!
//! If several devices share the graph, this holds for the vertices of each device, and it has no
//! lists of others. The index of all lists is on the device: 4 bytes per vertex, or 3 for compressed
//! lists.

use super::kernel::{
    Compressed, CompressedShard, LONG_PIECE_BYTES, Lists, StreamedLists, StreamedShard,
};
use super::load::refused;
use super::split::{Split, Supply};
use super::stored::{SLACK, Stored, StoredShard, arrays_of, blocks_of};
use ripplet_gpu::Arena;
use ripplet_gpu::{Address, Device, DeviceError};
use ripplet_graph::compressed::{self, CompressedAdjacency};
use ripplet_graph::{Direction, GraphView, memory};
use std::ops::Range;

/// Words above which a list is fetched by several warps, and words of each piece: 4 times
/// `LONG_LIST` of `lp/fetch.cuh`.
const LONG_LIST: u64 = 4096;

/// Byte ranges of a shard's lists of one direction.
#[derive(Clone, Debug, Default)]
struct ListPlaces {
    index: Range<u64>,
    near: Range<u64>,
    near_weights: Range<u64>,
    heads: Range<u64>,
    head_begins: Range<u64>,
}

/// Byte ranges of a streamed graph in a device's memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct StreamedPlaces {
    pub split: Split,
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

/// Result of moving a graph to a device.
pub(crate) struct Moved<L> {
    /// The first shard's compressed lists.
    pub first: CompressedShard,
    /// Pinned lists in the host's memory; kernels may read them until this is dropped.
    pub mapped: L,
}

impl StreamedPlaces {
    /// Allocates the places of a graph.
    pub fn new(to: &mut Arena, graph: GraphView<'_>, split: Split) -> StreamedPlaces {
        let Split { first, near_end, end, .. } = split;
        let directions = match graph.direction() {
            Direction::Undirected => 1,
            Direction::Directed => 2,
        };
        let mut places = StreamedPlaces { split, ..StreamedPlaces::default() };
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
        let (arrays, stage) = (arrays_of(graph), split.regions() * split.region_words);
        places.stage = to.take(4, arrays * stage + SLACK + 4);
        places.weights_behind = stage;
        places.long_pieces = to.take(LONG_PIECE_BYTES, 2 * split.regions() * arrays * long_pieces);
        places.far_bytes = 4 * arrays * far_words;
        places
    }

    /// Returns the address of the offsets of plain lists.
    pub fn lists(&self, base: Address, side: usize) -> Lists {
        Lists { offsets: base.plus(self.offsets[side]), ..Lists::default() }
    }

    /// Copies the lists and indices of the split to the device, and pins the other lists.
    pub fn upload<'a, D: Device>(
        &self,
        device: &'a D,
        memory: &D::Memory,
        graph: GraphView<'a>,
    ) -> Result<Moved<D::Mapped<'a>>, DeviceError> {
        let base = device.address(memory);
        let Split { supply, first, near_end, end, .. } = self.split;
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
        let mut next_mapped = 0;
        // If the host stages lists, kernels never read these places: every list that is read is in
        // the staging area.
        let mut map_host = |near: u64| match supply {
            Supply::Staged => 0,
            Supply::Pinned => {
                next_mapped += 1;
                (device.mapped(&mapped, next_mapped - 1).0 / 4).wrapping_sub(near)
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
                let Stored::Compressed(compressed) = stored else { continue };
                at.heads = base.plus(its.heads.start);
                at.head_begins = base.plus(its.head_begins.start);
                upload_heads(device, memory, its, compressed, local[1]..local[2])?;
                let found = Compressed::of(compressed, base.plus(its.index.start), Address(0));
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
