//! A graph's lists in a device's memory.

use crate::device::{Address, Device, DeviceError};
use crate::places::Places;
use bytemuck::{Pod, Zeroable};
use ripplet_graph::{Direction, Graph, Neighbors, Shard};
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

/// Where the lists of all vertices in one direction are, shard behind shard.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListPlaces {
    /// Of each shard one more than its vertices.
    pub offsets: Range<u64>,
    pub ids: Range<u64>,
    pub weights: Range<u64>,
}

/// Where a graph is.
#[derive(Clone, Debug, Default)]
pub(crate) struct GraphPlaces {
    pub out: ListPlaces,
    /// Empty where the graph is undirected.
    pub incoming: ListPlaces,
    pub shards: Range<u64>,
}

impl ListPlaces {
    fn new(to: &mut Places, vertices: u64, shards: u64, arcs: u64, weighted: bool) -> ListPlaces {
        ListPlaces {
            offsets: to.take(4, vertices + shards),
            ids: to.take(4, arcs),
            weights: to.take(4, if weighted { arcs } else { 0 }),
        }
    }

    /// How many arcs have their place.
    pub fn arcs(&self) -> u64 {
        (self.ids.end - self.ids.start) / 4
    }

    /// The addresses where the memory begins at `base`.
    pub fn lists(&self, base: Address) -> Lists {
        let at = |place: &Range<u64>| base.plus(place.start);
        Lists { offsets: at(&self.offsets), ids: at(&self.ids), weights: at(&self.weights) }
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
        write(&self.ids, first_arc, lists.neighbors())?;
        if !self.weights.is_empty()
            && let Some(weights) = lists.weights()
        {
            write(&self.weights, first_arc, weights)?;
        }
        Ok(first_arc + lists.neighbors().len() as u64)
    }
}

impl GraphPlaces {
    /// The next places, for a graph with or without its weights.
    pub fn new(to: &mut Places, graph: &Graph, weighted: bool) -> GraphPlaces {
        let (vertices, shards) = (u64::from(graph.vertices()), graph.shards().len() as u64);
        let arcs = |lists: fn(&Shard) -> Option<Neighbors<'_>>| -> u64 {
            let lists = graph.shards().iter().filter_map(lists);
            lists.map(|list| list.neighbors().len() as u64).sum()
        };
        let mut places = |arcs: u64| {
            ListPlaces::new(to, vertices, shards, arcs, weighted && graph.is_weighted())
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
