//! A graph's lists in a device's memory.

use crate::streamed::{Moved, Residence, StreamedPlaces};
use bytemuck::{Pod, Zeroable};
use ripplet_gpu::{Address, Arena, Device, DeviceError};
use ripplet_graph::compressed::{self, CompressedAdjacency, CompressedGraph};
use ripplet_graph::{Direction, Graph, GraphView, Neighbors, Shard, VertexId};
use std::ops::Range;

/// Plain lists of one direction: `Lists` in `graph.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Lists {
    pub offsets: Address,
    pub ids: Address,
    pub weights: Address,
}

/// Begin of a shard: `ShardStart` in `graph.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct ShardStart {
    pub first: u64,
    pub out: u64,
    pub incoming: u64,
}

/// A shard's compressed lists of one direction: `Compressed` in `compressed/lists.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Compressed {
    pub begins: Address,
    pub words: Address,
    pub first: u32,
    pub vertices: u32,
    pub widths: [u32; 4],
    pub weight_widths: [u32; 4],
    pub has_runs: u32,
    pub least_gap: u32,
}

/// A shard's compressed lists: `CompressedShard` in `compressed/lists.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct CompressedShard {
    pub out: Compressed,
    pub incoming: Compressed,
}

/// Byte ranges of all plain lists of one direction, shard after shard.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListPlaces {
    /// One offset more than vertices for each shard.
    pub offsets: Range<u64>,
    pub ids: Range<u64>,
    pub weights: Range<u64>,
    /// Arcs on the device, as indices over all shards.
    kept: Range<u64>,
}

/// The first arc on the device is a multiple of this, so that lists keep the alignment that they
/// have in the whole graph.
const KEPT_FROM: u64 = 64;

/// Byte ranges of a graph of plain lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct GraphPlaces {
    pub out: ListPlaces,
    /// Empty if the graph is undirected.
    pub incoming: ListPlaces,
    pub shards: Range<u64>,
}

impl ListPlaces {
    fn new(
        to: &mut Arena,
        vertices: u64,
        shards: u64,
        kept: Range<u64>,
        weighted: bool,
    ) -> ListPlaces {
        let kept = kept.start / KEPT_FROM * KEPT_FROM..kept.end;
        let arcs = kept.end - kept.start;
        ListPlaces {
            offsets: to.take(4, vertices + shards),
            ids: to.take(4, arcs),
            weights: to.take(4, if weighted { arcs } else { 0 }),
            kept,
        }
    }

    /// Returns the number of arcs on the device.
    pub fn arcs(&self) -> u64 {
        (self.ids.end - self.ids.start) / 4
    }

    /// Returns the addresses of the arrays, in memory that begins at `base`. Arcs keep their
    /// indices in the whole graph; those that are not on the device are never read.
    pub fn lists(&self, base: Address) -> Lists {
        let at = |place: &Range<u64>| base.plus(place.start);
        let first = |place: &Range<u64>| at(place).minus(4 * self.kept.start);
        Lists { offsets: at(&self.offsets), ids: first(&self.ids), weights: first(&self.weights) }
    }

    /// Copies a shard's lists behind those of the shards before; returns the number of arcs so far.
    fn upload<D: Device>(
        &self,
        (device, memory): (&D, &D::Memory),
        lists: Neighbors<'_>,
        first_offset: u64,
        first_arc: u64,
    ) -> Result<u64, DeviceError> {
        let write = |place: &Range<u64>, at: u64, values: &[u32]| {
            device.write(memory, place.start + 4 * at, bytemuck::cast_slice(values))
        };
        write(&self.offsets, first_offset, lists.offsets())?;
        let end = first_arc + lists.neighbors().len() as u64;
        let kept = self.kept.start.clamp(first_arc, end)..self.kept.end.clamp(first_arc, end);
        if kept.is_empty() {
            return Ok(end);
        }
        let here = (kept.start - first_arc) as usize..(kept.end - first_arc) as usize;
        let at = kept.start - self.kept.start;
        write(&self.ids, at, &lists.neighbors()[here.clone()])?;
        if !self.weights.is_empty()
            && let Some(weights) = lists.weights()
        {
            write(&self.weights, at, &weights[here])?;
        }
        Ok(end)
    }
}

/// Returns the number of arcs of the vertices before one, in one direction.
fn arcs_before(graph: &Graph, vertex: VertexId, lists: fn(&Shard) -> Option<Neighbors<'_>>) -> u64 {
    let of_shard = |shard: &Shard| {
        let vertices = shard.vertices();
        let local = vertex.clamp(vertices.start, vertices.end) - vertices.start;
        lists(shard).map_or(0, |lists| u64::from(lists.offsets()[local as usize]))
    };
    graph.shards().iter().map(of_shard).sum()
}

impl GraphPlaces {
    /// Allocates the places of a graph, with or without its weights.
    pub fn new(to: &mut Arena, graph: &Graph, weighted: bool) -> GraphPlaces {
        GraphPlaces::of_part(to, graph, weighted, 0..graph.vertices())
    }

    /// Allocates the places of a part's arcs, and of the offsets of all vertices, so that every
    /// degree is known.
    pub fn of_part(
        to: &mut Arena,
        graph: &Graph,
        weighted: bool,
        part: Range<VertexId>,
    ) -> GraphPlaces {
        let (vertices, shards) = (u64::from(graph.vertices()), graph.shards().len() as u64);
        let arcs = |lists: fn(&Shard) -> Option<Neighbors<'_>>| {
            arcs_before(graph, part.start, lists)..arcs_before(graph, part.end, lists)
        };
        let mut places = |kept: Range<u64>| {
            ListPlaces::new(to, vertices, shards, kept, weighted && graph.is_weighted())
        };
        let out = places(arcs(|shard| Some(shard.out())));
        let incoming = match graph.direction() {
            Direction::Undirected => ListPlaces::default(),
            Direction::Directed => places(arcs(Shard::incoming)),
        };
        GraphPlaces { out, incoming, shards: to.take(size_of::<ShardStart>() as u64, shards) }
    }

    /// Copies the graph to the device.
    pub fn upload<D: Device>(
        &self,
        device: &D,
        memory: &D::Memory,
        graph: &Graph,
    ) -> Result<(), DeviceError> {
        let mut starts = Vec::with_capacity(graph.shards().len());
        let mut at = ShardStart::default();
        for (number, shard) in (0u64..).zip(graph.shards()) {
            starts.push(at);
            let to = (device, memory);
            let offsets = at.first + number;
            at.out = self.out.upload(to, shard.out(), offsets, at.out)?;
            if let Some(incoming) = shard.incoming() {
                at.incoming = self.incoming.upload(to, incoming, offsets, at.incoming)?;
            }
            at.first += u64::from(shard.vertices().end - shard.vertices().start);
        }
        device.write(memory, self.shards.start, bytemuck::cast_slice(&starts))
    }
}

/// Byte ranges of a shard's compressed lists of one direction.
#[derive(Clone, Debug, Default)]
struct CodedPlaces {
    begins: Range<u64>,
    words: Range<u64>,
    /// Words on the device.
    kept: Range<usize>,
}

/// Byte ranges of a graph of compressed lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct CompressedPlaces {
    /// By shard and direction; without incoming lists if the graph is undirected.
    lists: Vec<[CodedPlaces; 2]>,
    shards: Range<u64>,
}

impl CodedPlaces {
    /// Allocates the places of the blocks that have lists of these vertices.
    fn new(to: &mut Arena, lists: &CompressedAdjacency, part: &Range<VertexId>) -> CodedPlaces {
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
        CodedPlaces { begins, words: to.take(4, kept.len() as u64), kept }
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

impl Compressed {
    /// Returns the description of lists whose arrays are at these addresses.
    pub fn of(lists: &CompressedAdjacency, begins: Address, words: Address) -> Compressed {
        let (vertices, code) = (lists.vertices(), lists.code());
        Compressed {
            begins,
            words,
            first: vertices.start,
            vertices: vertices.end - vertices.start,
            widths: code.widths.map(u32::from),
            weight_widths: code.weight_widths.unwrap_or_default().map(u32::from),
            has_runs: code.runs.into(),
            least_gap: u32::from(!code.repeats),
        }
    }
}

impl CompressedPlaces {
    fn new(to: &mut Arena, graph: &CompressedGraph, part: &Range<VertexId>) -> CompressedPlaces {
        let mut of_shard = |shard: &compressed::CompressedShard| {
            let mut places = |lists| CodedPlaces::new(to, lists, part);
            [places(shard.out()), shard.incoming().map(places).unwrap_or_default()]
        };
        let lists: Vec<_> = graph.shards().iter().map(&mut of_shard).collect();
        let shards = to.take(size_of::<CompressedShard>() as u64, lists.len() as u64);
        CompressedPlaces { lists, shards }
    }

    /// Copies the graph to the device; returns the first shard's lists.
    fn upload<D: Device>(
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

/// Byte ranges of a graph, by kind of storage.
#[derive(Clone, Debug)]
pub(crate) enum StoredPlaces {
    Plain(GraphPlaces),
    Compressed(CompressedPlaces),
    /// Some lists are not on the device.
    Streamed(StreamedPlaces),
}

impl Default for StoredPlaces {
    fn default() -> StoredPlaces {
        StoredPlaces::Plain(GraphPlaces::default())
    }
}

impl StoredPlaces {
    /// Allocates the places of some vertices' lists, with weights; of a streamed graph, of the
    /// lists that its residence has on the device.
    pub fn new(
        to: &mut Arena,
        graph: GraphView<'_>,
        part: Range<VertexId>,
        residence: Option<Residence>,
    ) -> StoredPlaces {
        if let Some(residence) = residence {
            return StoredPlaces::Streamed(StreamedPlaces::new(to, graph, residence));
        }
        match graph {
            GraphView::Plain(graph) => {
                StoredPlaces::Plain(GraphPlaces::of_part(to, graph, true, part))
            }
            GraphView::Compressed(graph) => {
                StoredPlaces::Compressed(CompressedPlaces::new(to, graph, &part))
            }
        }
    }

    /// Copies the graph, for which these places were allocated, to the device.
    pub fn upload<'a, D: Device>(
        &self,
        device: &'a D,
        memory: &D::Memory,
        graph: GraphView<'a>,
    ) -> Result<Moved<Option<D::Mapped<'a>>>, DeviceError> {
        match (self, graph) {
            (StoredPlaces::Streamed(places), graph) => {
                let Moved { first, mapped } = places.upload(device, memory, graph)?;
                Ok(Moved { first, mapped: Some(mapped) })
            }
            (StoredPlaces::Plain(places), GraphView::Plain(graph)) => {
                places.upload(device, memory, graph)?;
                Ok(Moved { first: CompressedShard::default(), mapped: None })
            }
            (StoredPlaces::Compressed(places), GraphView::Compressed(graph)) => {
                Ok(Moved { first: places.upload(device, memory, graph)?, mapped: None })
            }
            _ => unreachable!("places are made for the graph that is moved"),
        }
    }

    /// Returns the place of the shards' records.
    pub fn shards(&self) -> &Range<u64> {
        match self {
            StoredPlaces::Plain(places) => &places.shards,
            StoredPlaces::Compressed(places) => &places.shards,
            StoredPlaces::Streamed(places) => &places.shards,
        }
    }

    /// Returns the places of plain lists; `None` if lists are compressed or streamed.
    pub fn plain(&self) -> Option<&GraphPlaces> {
        match self {
            StoredPlaces::Plain(places) => Some(places),
            StoredPlaces::Compressed(_) | StoredPlaces::Streamed(_) => None,
        }
    }

    /// Returns the places of a streamed graph; `None` if the whole graph is on the device.
    pub fn streamed(&self) -> Option<&StreamedPlaces> {
        match self {
            StoredPlaces::Streamed(places) => Some(places),
            StoredPlaces::Plain(_) | StoredPlaces::Compressed(_) => None,
        }
    }

    /// Returns the addresses of plain lists of one direction, in memory that begins at `base`.
    pub fn lists(&self, base: Address, side: usize) -> Lists {
        match self {
            StoredPlaces::Plain(places) if side == 0 => places.out.lists(base),
            StoredPlaces::Plain(places) => places.incoming.lists(base),
            StoredPlaces::Compressed(_) => Lists::default(),
            StoredPlaces::Streamed(places) => places.lists(base, side),
        }
    }
}
