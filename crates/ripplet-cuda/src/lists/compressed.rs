//! Compressed lists in a device's memory.

use super::kernel::{Compressed, CompressedShard};
use super::plain::KEPT_FROM;
use ripplet_gpu::Arena;
use ripplet_gpu::{Address, Device, DeviceError};
use ripplet_graph::VertexId;
use ripplet_graph::compressed::{self, CompressedAdjacency, CompressedGraph};
use std::ops::Range;

/// Byte ranges of a shard's compressed lists of one direction.
#[derive(Clone, Debug, Default)]
struct ShardPlaces {
    begins: Range<u64>,
    words: Range<u64>,
    /// Words on the device.
    kept: Range<usize>,
}

/// Byte ranges of a graph of compressed lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct CompressedPlaces {
    /// By shard and direction; without incoming lists if the graph is undirected.
    lists: Vec<[ShardPlaces; 2]>,
    pub shards: Range<u64>,
}

impl ShardPlaces {
    /// Allocates the places of the blocks that have lists of these vertices.
    fn new(to: &mut Arena, lists: &CompressedAdjacency, part: &Range<VertexId>) -> ShardPlaces {
        let vertices = lists.vertices();
        let local = |v: VertexId| (v.clamp(vertices.start, vertices.end) - vertices.start) as usize;
        let begin = |block: usize| lists.begins()[block] as usize;
        let (first, end) = (local(part.start), local(part.end));
        let kept = match first < end {
            // A decoder reads one word behind a list, so there is one behind the last.
            true => begin(first / compressed::BLOCK)..begin(end.div_ceil(compressed::BLOCK)) + 1,
            false => 0..0,
        };
        let kept = kept.start / KEPT_FROM as usize * KEPT_FROM as usize..kept.end;
        let begins = to.take(8, lists.begins().len() as u64);
        ShardPlaces { begins, words: to.take(4, kept.len() as u64), kept }
    }

    /// Copies the lists to the device, whose memory begins at `base`; returns their description for
    /// kernels.
    fn upload<D: Device>(
        &self,
        (device, memory): (&D, &D::Memory),
        base: Address,
        lists: &CompressedAdjacency,
    ) -> Result<Compressed, DeviceError> {
        device.write(memory, self.begins.start, bytemuck::cast_slice(lists.begins()))?;
        let words = &lists.words()[self.kept.clone()];
        device.write(memory, self.words.start, bytemuck::cast_slice(words))?;
        let first = base.plus(self.words.start).minus(4 * self.kept.start as u64);
        Ok(Compressed::of(lists, base.plus(self.begins.start), first))
    }
}

impl CompressedPlaces {
    /// Allocates the places of some vertices' lists.
    pub fn new(
        to: &mut Arena,
        graph: &CompressedGraph,
        part: &Range<VertexId>,
    ) -> CompressedPlaces {
        let mut of_shard = |shard: &compressed::CompressedShard| {
            let mut places = |lists| ShardPlaces::new(to, lists, part);
            [places(shard.out()), shard.incoming().map(places).unwrap_or_default()]
        };
        let lists: Vec<_> = graph.shards().iter().map(&mut of_shard).collect();
        let shards = to.take(size_of::<CompressedShard>() as u64, lists.len() as u64);
        CompressedPlaces { lists, shards }
    }

    /// Copies the graph to the device; returns the first shard's lists.
    pub fn upload<D: Device>(
        &self,
        device: &D,
        memory: &D::Memory,
        graph: &CompressedGraph,
    ) -> Result<CompressedShard, DeviceError> {
        let (to, base) = ((device, memory), device.address(memory));
        let mut shards = Vec::with_capacity(self.lists.len());
        for (shard, [out, incoming]) in graph.shards().iter().zip(&self.lists) {
            let out = out.upload(to, base, shard.out())?;
            let incoming = match shard.incoming() {
                Some(lists) => incoming.upload(to, base, lists)?,
                None => Compressed::default(),
            };
            shards.push(CompressedShard { out, incoming });
        }
        device.write(memory, self.shards.start, bytemuck::cast_slice(&shards))?;
        Ok(shards.first().copied().unwrap_or_default())
    }
}
