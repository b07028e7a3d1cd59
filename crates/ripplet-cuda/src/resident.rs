//! A graph's lists in a device's memory.

use crate::device::{Address, Device, DeviceError};
use crate::places::Places;
use crate::streamed::{Moved, Residence, StreamedPlaces};
use bytemuck::{Pod, Zeroable};
use ripplet_graph::compressed::{self, CompressedAdjacency, CompressedGraph};
use ripplet_graph::{Direction, Graph, GraphView, Neighbors, Shard, VertexId};
use std::ops::Range;

/// As `Lists` in `graph.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Lists {
    pub offsets: Address,
    pub ids: Address,
    pub weights: Address,
}

/// As `ShardStart` there.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct ShardStart {
    pub first: u64,
    pub out: u64,
    pub incoming: u64,
}

/// As `Compressed` in `compressed/lists.cuh`.
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

/// As `CompressedShard` there.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct CompressedShard {
    pub out: Compressed,
    pub incoming: Compressed,
}

/// Where the lists of all vertices in one direction are, shard behind shard.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListPlaces {
    /// Of each shard one more than its vertices.
    pub offsets: Range<u64>,
    pub ids: Range<u64>,
    pub weights: Range<u64>,
    /// The arcs that are there, counted over all shards.
    kept: Range<u64>,
}

/// Where fewer than all arcs are there, the first is at a multiple of this, so that what is aligned
/// among all is aligned among these.
const KEPT_FROM: u64 = 64;

/// Where a graph is.
#[derive(Clone, Debug, Default)]
pub(crate) struct GraphPlaces {
    pub out: ListPlaces,
    /// Empty where the graph is undirected.
    pub incoming: ListPlaces,
    pub shards: Range<u64>,
}

impl ListPlaces {
    fn new(
        to: &mut Places,
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

    /// How many arcs have their place.
    pub fn arcs(&self) -> u64 {
        (self.ids.end - self.ids.start) / 4
    }

    /// The addresses where the memory begins at `base`. Arcs keep their numbers: where those before
    /// are not there, nobody reads them.
    pub fn lists(&self, base: Address) -> Lists {
        let at = |place: &Range<u64>| base.plus(place.start);
        let first = |place: &Range<u64>| at(place).minus(4 * self.kept.start);
        Lists { offsets: at(&self.offsets), ids: first(&self.ids), weights: first(&self.weights) }
    }

    /// Moves a shard's lists behind those before it; returns how many arcs there are then.
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

/// The arcs of the vertices before one, in one direction.
fn arcs_before(graph: &Graph, vertex: VertexId, lists: fn(&Shard) -> Option<Neighbors<'_>>) -> u64 {
    let of_shard = |shard: &Shard| {
        let vertices = shard.vertices();
        let local = vertex.clamp(vertices.start, vertices.end) - vertices.start;
        lists(shard).map_or(0, |lists| u64::from(lists.offsets()[local as usize]))
    };
    graph.shards().iter().map(of_shard).sum()
}

impl GraphPlaces {
    /// The next places, for a graph with or without its weights.
    pub fn new(to: &mut Places, graph: &Graph, weighted: bool) -> GraphPlaces {
        GraphPlaces::of_part(to, graph, weighted, 0..graph.vertices())
    }

    /// The same, but for arcs of other vertices than these. Where lists begin is there of all, so that
    /// anybody's degree is known.
    pub fn of_part(
        to: &mut Places,
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

    /// Moves the graph there.
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

/// Where a shard's compressed lists of one direction are.
#[derive(Clone, Debug, Default)]
struct CodedPlaces {
    begins: Range<u64>,
    words: Range<u64>,
    /// The words that are there.
    kept: Range<usize>,
}

/// Where a graph of compressed lists is.
#[derive(Clone, Debug, Default)]
pub(crate) struct CompressedPlaces {
    /// Of each shard; where the graph is undirected, nothing comes in.
    lists: Vec<[CodedPlaces; 2]>,
    shards: Range<u64>,
}

impl CodedPlaces {
    /// The next places, for the blocks that have some of these vertices' lists.
    fn new(to: &mut Places, lists: &CompressedAdjacency, part: &Range<VertexId>) -> CodedPlaces {
        let vertices = lists.vertices();
        let local = |v: VertexId| (v.clamp(vertices.start, vertices.end) - vertices.start) as usize;
        let begin = |block: usize| lists.begins()[block] as usize;
        let (first, end) = (local(part.start), local(part.end));
        let kept = match first < end {
            // Whoever reads a word may read the one behind it, too: there is one behind the last.
            true => begin(first / compressed::BLOCK)..begin(end.div_ceil(compressed::BLOCK)) + 1,
            false => 0..0,
        };
        let kept = kept.start / KEPT_FROM as usize * KEPT_FROM as usize..kept.end;
        let begins = to.take(8, lists.begins().len() as u64);
        CodedPlaces { begins, words: to.take(4, kept.len() as u64), kept }
    }

    /// Moves the lists there; returns how kernels find them where the memory begins at `base`.
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
    /// Lists whose arrays are at these addresses.
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
    fn new(to: &mut Places, graph: &CompressedGraph, part: &Range<VertexId>) -> CompressedPlaces {
        let mut of_shard = |shard: &compressed::CompressedShard| {
            let mut places = |lists| CodedPlaces::new(to, lists, part);
            [places(shard.out()), shard.incoming().map(places).unwrap_or_default()]
        };
        let lists: Vec<_> = graph.shards().iter().map(&mut of_shard).collect();
        let shards = to.take(size_of::<CompressedShard>() as u64, lists.len() as u64);
        CompressedPlaces { lists, shards }
    }

    /// Moves the graph there; returns the first shard's lists.
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

/// Where a graph is, whichever way its lists are kept.
#[derive(Clone, Debug)]
pub(crate) enum StoredPlaces {
    Plain(GraphPlaces),
    Compressed(CompressedPlaces),
    /// Not all of it is on the device.
    Streamed(StreamedPlaces),
}

impl Default for StoredPlaces {
    fn default() -> StoredPlaces {
        StoredPlaces::Plain(GraphPlaces::default())
    }
}

impl StoredPlaces {
    /// The next places, with weights: for the lists of some vertices, or for what is on the device of a graph that is
    /// not all there.
    pub fn new(
        to: &mut Places,
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

    /// Moves the graph there, for which there are these places.
    pub fn upload<'a, D: Device>(
        &self,
        device: &'a D,
        memory: &D::Memory,
        graph: GraphView<'a>,
    ) -> Result<Moved<Option<D::Lent<'a>>>, DeviceError> {
        match (self, graph) {
            (StoredPlaces::Streamed(places), graph) => {
                let Moved { first, lent } = places.upload(device, memory, graph)?;
                Ok(Moved { first, lent: Some(lent) })
            }
            (StoredPlaces::Plain(places), GraphView::Plain(graph)) => {
                places.upload(device, memory, graph)?;
                Ok(Moved { first: CompressedShard::default(), lent: None })
            }
            (StoredPlaces::Compressed(places), GraphView::Compressed(graph)) => {
                Ok(Moved { first: places.upload(device, memory, graph)?, lent: None })
            }
            _ => unreachable!("places are made for the graph that is moved"),
        }
    }

    /// Where shards' records are.
    pub fn shards(&self) -> &Range<u64> {
        match self {
            StoredPlaces::Plain(places) => &places.shards,
            StoredPlaces::Compressed(places) => &places.shards,
            StoredPlaces::Streamed(places) => &places.shards,
        }
    }

    /// The plain lists; none where they are compressed, or not all there.
    pub fn plain(&self) -> Option<&GraphPlaces> {
        match self {
            StoredPlaces::Plain(places) => Some(places),
            StoredPlaces::Compressed(_) | StoredPlaces::Streamed(_) => None,
        }
    }

    /// The lists, where not all are there.
    pub fn streamed(&self) -> Option<&StreamedPlaces> {
        match self {
            StoredPlaces::Streamed(places) => Some(places),
            StoredPlaces::Plain(_) | StoredPlaces::Compressed(_) => None,
        }
    }

    /// Plain lists of a direction, where the memory begins at `base`.
    pub fn lists(&self, base: Address, side: usize) -> Lists {
        match self {
            StoredPlaces::Plain(places) if side == 0 => places.out.lists(base),
            StoredPlaces::Plain(places) => places.incoming.lists(base),
            StoredPlaces::Compressed(_) => Lists::default(),
            StoredPlaces::Streamed(places) => places.lists(base, side),
        }
    }
}
