//! Plain lists in a device's memory, shard after shard.

use super::kernel::{Lists, ShardStart};
use ripplet_gpu::Arena;
use ripplet_gpu::{Address, Device, DeviceError};
use ripplet_graph::{Direction, Graph, Neighbors, Shard, VertexId};
use std::ops::Range;

/// The first arc on the device is a multiple of this, so that lists keep the alignment that they
/// have in the whole graph.
pub(super) const KEPT_FROM: u64 = 64;

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
