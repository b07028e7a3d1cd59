//! The graph's lists on a device, and the bookkeeping of the staging area if some lists are
//! elsewhere.

use super::state::{PART_BYTES, Prefetch, StageUse, Streamed};
use crate::lists::{LONG_PIECE_BYTES, Split, StoredPlaces, StreamedPlaces, Supply};
use ripplet_gpu::Address;
use ripplet_gpu::Arena;
use ripplet_graph::{GraphView, VertexId};
use std::ops::Range;

/// Bytes of the use of a region.
const USE_BYTES: u64 = size_of::<StageUse>() as u64;

/// Returns the most parts of a phase: one of the vertices with lists on the device, the others of
/// ranges whose lists are not.
pub fn most_parts(arcs: u64) -> u32 {
    1 + (arcs >> 8).clamp(4, 1 << 10) as u32
}

/// Byte ranges of a graph's lists, and of the staging area's bookkeeping.
#[derive(Clone, Debug, Default)]
pub struct StagePlaces {
    pub graph: StoredPlaces,
    /// Parts of a phase of a streamed graph.
    parts: Range<u64>,
    /// Use of each region of the staging area.
    pub stage_use: Range<u64>,
    /// Vertices whose lists are requested: for each region, an array for prefetching and one for
    /// requests on demand.
    pub wanted: Range<u64>,
    /// Requests on demand that a phase may have.
    pub most_wanted: u64,
}

impl StagePlaces {
    /// Allocates the places of the lists of a device's own vertices, at most `at_once` of which
    /// update in one phase; `split` is `None` if all lists are on the device.
    pub fn new(
        to: &mut Arena,
        graph: GraphView<'_>,
        own: Range<VertexId>,
        split: Option<Split>,
        at_once: u64,
    ) -> StagePlaces {
        let vertices = own.len() as u64;
        let stored = StoredPlaces::new(to, graph, own, split);
        let parts = if split.is_some() { most_parts(graph.arcs()) } else { 0 };
        let regions = split.map_or(0, Split::regions);
        // If all vertices update at once, many lists are copied by range, and few are requested.
        let is_pinned = split.is_some_and(|split| split.supply == Supply::Pinned);
        let all_at_once = at_once == vertices && is_pinned;
        let most_wanted = if all_at_once { at_once.div_ceil(16) } else { at_once };
        StagePlaces {
            graph: stored,
            parts: to.take(PART_BYTES, parts.into()),
            stage_use: to.take(USE_BYTES, regions),
            wanted: to.take(4, 2 * regions * most_wanted),
            most_wanted,
        }
    }

    /// Returns the places of a streamed graph; `None` if the whole graph is on the device.
    pub fn streamed(&self) -> Option<&StreamedPlaces> {
        self.graph.streamed()
    }

    /// Returns the addresses that kernels need if some lists are not on the device. `lists` is the
    /// address of the first member list.
    pub fn state(&self, base: Address, own: &Range<VertexId>, lists: Address) -> Streamed {
        let Some(places) = self.streamed() else { return Streamed::default() };
        let at = |range: &Range<u64>| base.plus(range.start);
        let (split, regions) = (places.split, places.split.regions());
        let of_region =
            |range: &Range<u64>, bytes: u64| (range.end - range.start) / bytes / regions;
        Streamed {
            shards: at(&places.streamed),
            fetched: places.fetched.each_ref().map(at),
            parts: at(&self.parts),
            stage_use: at(&self.stage_use),
            wanted: at(&self.wanted),
            long_pieces: at(&places.long_pieces),
            lists,
            stage: at(&places.stage).0 / 4,
            region: 0,
            region_words: split.region_words,
            weights_behind: places.weights_behind,
            near_end: split.near_end,
            own_first: own.start,
            own_end: own.end,
            most_requested: of_region(&self.wanted, 2 * 4) as u32,
            most_long_pieces: of_region(&places.long_pieces, 2 * LONG_PIECE_BYTES) as u32,
            ahead: split.ahead,
            prefetch: Prefetch::All as u32,
            padding: 0,
        }
    }

    /// Returns the region of phase number `current`.
    pub fn region_of(&self, current: u64) -> u64 {
        self.streamed().map_or(0, |places| current % places.split.regions())
    }

    /// Returns the place of a region's use.
    pub fn use_of(&self, region: u64) -> Range<u64> {
        let start = self.stage_use.start + region * USE_BYTES;
        start..start + USE_BYTES
    }

    /// Sets the addresses of a region of the staging area as the place that lists are fetched to.
    pub fn at_region(&self, streamed: &mut Streamed, base: Address, region: u64) {
        let Some(places) = self.streamed() else { return };
        let of_region = |range: &Range<u64>| {
            base.plus(range.start + (range.end - range.start) / places.split.regions() * region)
        };
        streamed.prefetch = Prefetch::All as u32;
        streamed.region = region * places.split.region_words;
        streamed.stage_use = of_region(&self.stage_use);
        streamed.wanted = of_region(&self.wanted);
        streamed.long_pieces = of_region(&places.long_pieces);
    }
}
