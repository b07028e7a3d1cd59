//! Byte ranges of a graph's lists, of any storage, whole or split.

use super::compressed::CompressedPlaces;
use super::kernel::{CompressedShard, Lists};
use super::plain::GraphPlaces;
use super::split::Split;
use super::streamed::{Moved, StreamedPlaces};
use ripplet_gpu::Arena;
use ripplet_gpu::{Address, Device, DeviceError};
use ripplet_graph::{GraphView, VertexId};
use std::ops::Range;

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
    /// lists that its split has on the device.
    pub fn new(
        to: &mut Arena,
        graph: GraphView<'_>,
        part: Range<VertexId>,
        split: Option<Split>,
    ) -> StoredPlaces {
        if let Some(split) = split {
            return StoredPlaces::Streamed(StreamedPlaces::new(to, graph, split));
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
