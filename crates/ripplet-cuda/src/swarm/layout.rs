//! Memory layout of a run on a device.

use super::abi::{GROUP, GraphLists, Item, Piece, Reach, Split, State, Summary};
use super::graphs::Graphs;
use super::kind::{Kind, Quantity, pairs_of};
use super::schedule::{Machine, Schedule, bytes_of_order};
use super::tuning::Tuning;
use ripplet_analytics::PathAnalysis;
use ripplet_analytics::closeness::Closeness;
use ripplet_gpu::{Address, Arena};
use ripplet_graph::batch::FlatLists;
use ripplet_graph::{OutOfMemory, memory};
use ripplet_lp::Plan;
use std::ops::Range;

/// Returns the begin of each graph's distances.
fn pair_starts(graphs: Graphs<'_>) -> Result<Vec<u64>, OutOfMemory> {
    let mut end = 0_u64;
    memory::collected((0..graphs.len()).map(|graph| {
        let start = end;
        end = end.saturating_add(pairs_of(graphs, graph));
        start
    }))
}

/// Byte ranges of the lists of all graphs in one direction.
#[derive(Clone, Debug, Default)]
struct ListPlaces {
    starts: Range<u64>,
    offsets: Range<u64>,
    ids: Range<u64>,
    /// Empty if arcs have no weights.
    weights: Range<u64>,
}

impl ListPlaces {
    fn new(to: &mut Arena, lists: FlatLists<'_>, weighs: bool) -> ListPlaces {
        ListPlaces {
            starts: to.take(8, lists.arc_starts.len() as u64),
            offsets: to.take(4, lists.offsets.len() as u64),
            ids: to.take(4, lists.neighbors.len() as u64),
            weights: to.take(4, weights(lists, weighs).len() as u64),
        }
    }

    fn lists(&self, base: Address, lists: FlatLists<'_>) -> GraphLists {
        let at = |place: &Range<u64>| base.plus(place.start);
        GraphLists {
            starts: at(&self.starts),
            offsets: at(&self.offsets),
            ids: at(&self.ids),
            weights: at(&self.weights),
            first: lists.arc_starts[0],
        }
    }
}

/// Returns the weights, or nothing if they are not used.
fn weights(lists: FlatLists<'_>, weighs: bool) -> &[u32] {
    lists.weights.filter(|_| weighs).unwrap_or_default()
}

/// Byte ranges of all arrays, as ranges of bytes in one allocation.
#[derive(Debug, Default)]
pub struct Layout {
    vertex_starts: Range<u64>,
    behind: ListPlaces,
    ahead: ListPlaces,
    items: Range<u64>,
    splits: Range<u64>,
    pieces: Range<u64>,
    pub taken: Range<u64>,
    pub values: Range<u64>,
    pair_starts: (Range<u64>, Vec<u64>),
    /// Real length of a stored weight of 1, by graph, if arcs have weights.
    units: (Range<u64>, Vec<f64>),
    groups: Range<u64>,
    partials: Range<u64>,
    /// Sums of split graphs; zero at the beginning.
    pub sums: Range<u64>,
    /// Summaries by vertex, and by graph; zero at the beginning.
    pub reach: Range<u64>,
    pub summaries: Range<u64>,
    scratch: Range<u64>,
    /// Bytes of the allocation.
    pub bytes: u64,
    pub plan: Plan,
    pub schedule: Schedule,
}

impl Layout {
    pub fn new(
        graphs: Graphs<'_>,
        question: PathAnalysis,
        machine: Machine,
        tuning: Tuning,
    ) -> Result<Layout, OutOfMemory> {
        let kind = Kind::of(question, graphs);
        let schedule = Schedule::new(graphs, kind, machine, tuning)?;
        let mut to = Layout::default();
        let mut places = Arena::default();
        let (behind, ahead) = kind.sides(graphs);
        to.vertex_starts = places.take(8, graphs.vertex_starts.len() as u64);
        let mut places_of = |lists| ListPlaces::new(&mut places, lists, kind.weighs);
        (to.behind, to.ahead) = (places_of(behind), ahead.map(places_of).unwrap_or_default());
        if kind.weighs {
            let units = memory::collected(graphs.units())?;
            to.units = (places.take(8, units.len() as u64), units);
        }
        let lists = places.bytes;
        to.items = places.take(size_of::<Item>() as u64, schedule.items.len() as u64);
        to.splits = places.take(size_of::<Split>() as u64, schedule.splits.len() as u64);
        to.pieces = places.take(size_of::<Piece>() as u64, schedule.pieces.len() as u64);
        to.taken = places.take(4, schedule.tiers.len() as u64);
        if kind.quantity == Quantity::Pairs {
            let starts = pair_starts(graphs)?;
            to.pair_starts = (places.take(8, starts.len() as u64), starts);
        }
        let work = places.bytes;
        let (vertices, count) = (graphs.vertices(), graphs.len() as u64);
        match question {
            PathAnalysis::Reach { .. } => {
                to.reach = places.take(size_of::<Reach>() as u64, vertices)
            }
            PathAnalysis::Summary { .. } => {
                to.summaries = places.take(size_of::<Summary>() as u64, count);
            }
            _ => to.values = places.take(8, kind.values(graphs)),
        }
        let results = places.bytes;
        let of_arcs = if kind.quantity == Quantity::Edges { kind.values(graphs) } else { 0 };
        to.groups = places.take(8, of_arcs);
        to.partials = places.take(8, schedule.partials);
        let sums = if kind.has_partials() { 0 } else { schedule.sums };
        to.sums = places.take(size_of::<Reach>() as u64, sums);
        let parts = places.bytes;
        let scratch = u64::from(schedule.memory_blocks).saturating_mul(schedule.stride);
        to.scratch = places.take(1, scratch);
        to.bytes = places.bytes;
        to.plan = Plan { graph_device: lists, ..Plan::default() }
            .with("values", results - work)
            .with("the order of the work", work - lists + bytes_of_order(graphs))
            .with_device("the order of the work", work - lists)
            .with_device("values", results - work)
            .with_device("sums of sources", parts - results)
            .with_device("searches in graphs too large for shared memory", to.bytes - parts);
        to.schedule = schedule;
        Ok(to)
    }

    /// Returns the places and bytes to copy before a run.
    pub fn uploads<'a>(
        &'a self,
        graphs: Graphs<'a>,
        kind: Kind,
    ) -> impl Iterator<Item = (&'a Range<u64>, &'a [u8])> {
        let (behind, ahead) = kind.sides(graphs);
        let of = |places: &'a ListPlaces, lists: FlatLists<'a>| {
            [
                (&places.starts, bytemuck::cast_slice(lists.arc_starts)),
                (&places.offsets, bytemuck::cast_slice(lists.offsets)),
                (&places.ids, bytemuck::cast_slice(lists.neighbors)),
                (&places.weights, bytemuck::cast_slice(weights(lists, kind.weighs))),
            ]
        };
        let work = [
            (&self.vertex_starts, bytemuck::cast_slice(graphs.vertex_starts)),
            (&self.items, bytemuck::cast_slice(&self.schedule.items)),
            (&self.splits, bytemuck::cast_slice(&self.schedule.splits)),
            (&self.pieces, bytemuck::cast_slice(&self.schedule.pieces)),
            (&self.pair_starts.0, bytemuck::cast_slice(&self.pair_starts.1)),
            (&self.units.0, bytemuck::cast_slice(&self.units.1)),
        ];
        let ahead = ahead.map(|lists| of(&self.ahead, lists));
        work.into_iter().chain(of(&self.behind, behind)).chain(ahead.into_iter().flatten())
    }

    /// Returns the addresses of all arrays, in memory that begins at `base`.
    pub fn state(&self, base: Address, graphs: Graphs<'_>, question: PathAnalysis) -> State {
        let kind = Kind::of(question, graphs);
        let (behind, ahead) = kind.sides(graphs);
        let at = |range: &Range<u64>| base.plus(range.start);
        let (measure, is_normalized) = match question {
            PathAnalysis::Closeness { measure, normalized, .. } => {
                (u32::from(measure == Closeness::WassermanFaust), normalized)
            }
            PathAnalysis::Betweenness { normalized, .. } => (0, normalized),
            _ => (0, false),
        };
        // Results that are not requested have no memory.
        let requested = |range: &Range<u64>| if range.is_empty() { Address(0) } else { at(range) };
        State {
            vertex_starts: at(&self.vertex_starts),
            behind: self.behind.lists(base, behind),
            ahead: ahead.map_or(GraphLists::default(), |lists| self.ahead.lists(base, lists)),
            items: at(&self.items),
            splits: at(&self.splits),
            pieces: at(&self.pieces),
            taken: at(&self.taken),
            values: at(&self.values),
            pair_starts: at(&self.pair_starts.0),
            groups: at(&self.groups),
            partials: at(&self.partials),
            sums: at(&self.sums),
            reach: requested(&self.reach),
            summaries: requested(&self.summaries),
            units: at(&self.units.0),
            scratch: at(&self.scratch),
            stride: self.schedule.stride,
            first_vertex: graphs.vertex_starts[0],
            measure,
            is_normalized: u32::from(is_normalized),
            is_directed: u32::from(graphs.is_directed()),
            first_source: graphs.groups(u32::MAX).start.saturating_mul(GROUP),
        }
    }
}
