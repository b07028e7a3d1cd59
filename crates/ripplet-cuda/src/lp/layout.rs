//! Memory layout of a run on a device: one allocation, planned before it is reserved.

use super::ranks::{RankPlaces, Share};
use super::rounds::Task;
use super::source::Resident;
use super::staged;
use super::tuning::{self, Tuning};
use crate::resident::{Compressed, CompressedShard, Lists, ShardStart, StoredPlaces};
use crate::streamed::{Copied, LONG_PIECE_BYTES, Residence, StreamedShard, Supply};
use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;
use ripplet_gpu::text;
use ripplet_gpu::{Address, Arena};
use ripplet_graph::GraphView;
use ripplet_graph::compressed::SEGMENT;
use ripplet_lp::counters;
use ripplet_lp::{ColumnSpec, LabelTotal, Plan, Settings, Sketch, Visibility, engine};
use std::ops::Range;

/// Number of degree classes with member lists; vertices of the highest class, `LARGE`, have records
/// instead.
pub const LISTED: usize = tuning::MOST.len();

/// Bytes of a `Large` record and of a `Best`.
const LARGE_BYTES: u64 = 64;
const BEST_BYTES: u64 = 32;
/// Bytes of a slot of a table in global memory.
const SLOT_BYTES: u64 = 16;

/// A piece of a vertex of many arcs: `Piece` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Piece {
    pub owner: u32,
    pub index: u32,
}

/// A column on the device: `Column` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Column {
    pub values: Address,
    pub length: u32,
    pub draft: u32,
}

/// A phase, the first part of a `Step`: `Phase` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Phase {
    pub index: u32,
    pub number: u32,
    pub parity: u32,
    pub stamp: u32,
    pub since: u32,
    pub is_sparse: u32,
    pub takes_smaller_only: u32,
    pub first: u32,
    pub end: u32,
    pub part: u32,
    pub defers: u32,
    pub late: u32,
}

/// Lists that the host copied into the staging area: `Staged` in `fetch.cuh`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Staged {
    pub side: u32,
    pub first: u32,
    pub count: u32,
}

/// Use of a region of the staging area: `StageUse` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct StageUse {
    pub words: u64,
    pub wanted: [u32; 2],
    pub long_pieces: [u32; 2],
}

pub const USE_BYTES: u64 = size_of::<StageUse>() as u64;
/// Bytes of a `PhasePart` in `state.cuh`; only the device has its values.
const PART_BYTES: u64 = 96;
/// Returns the most parts of a phase: one of the vertices with lists on the device, the others of
/// ranges whose lists are not.
pub fn most_parts(arcs: u64) -> u32 {
    1 + (arcs >> 8).clamp(4, 1 << 10) as u32
}

/// Which lists to prefetch: `PREFETCH_…` in `state.cuh`.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub enum Prefetch {
    All = 0,
    Together = 1,
    Alone = 2,
}

/// Byte ranges of lists that are not all on the device: `Streamed` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Streamed {
    pub shards: Address,
    pub fetched: [Address; 2],
    pub parts: Address,
    pub stage_use: Address,
    pub wanted: Address,
    pub long_pieces: Address,
    pub lists: Address,
    pub stage: u64,
    pub region: u64,
    pub region_words: u64,
    pub weights_behind: u64,
    pub near_end: u32,
    pub own_first: u32,
    pub own_end: u32,
    pub most_requested: u32,
    pub most_long_pieces: u32,
    pub ahead: u32,
    pub prefetch: u32,
    pub padding: u32,
}

/// Counters of a run: `Tallies` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Tallies {
    pub visited: u64,
    pub scanned: u64,
    pub changed: u64,
    pub nan_scores: u64,
    pub fingerprint: u64,
    pub grand_total: u64,
    pub region_used: u64,
    pub received_bytes: u64,
    pub activating_arcs: [u64; 2],
    pub most_total: u32,
    pub batches: u32,
    pub members: [[u32; LISTED + 1]; 2],
    pub lower: [[u32; LISTED + 1]; 2],
    pub pieces: [u32; 2],
    pub open: [u32; 2],
    pub taken: [u32; LISTED + 1],
    pub taken_scans: u32,
    pub asked: u32,
    pub padding: u32,
    pub fetched: u64,
    pub unstaged: u64,
    pub barrier: [u32; 2],
}

/// The state of a run without its columns, which follow it: `LpState` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct LpState {
    pub out: Lists,
    pub incoming: Lists,
    pub first: CompressedShard,
    pub shards: Address,
    pub labels: Address,
    pub active: Address,
    pub changed: Address,
    pub last_activated: Address,
    pub totals: Address,
    pub shares: Address,
    pub drafts: Address,
    pub degrees: Address,
    pub mirrors: Address,
    pub tallies: Address,
    pub members: [Address; LISTED],
    pub chosen: Address,
    pub large: Address,
    pub pieces: Address,
    pub hubs: Address,
    pub hub_pieces: u32,
    pub pull_threshold: u32,
    pub found: Address,
    pub region: Address,
    pub sketched_labels: Address,
    pub sketched_weights: Address,
    pub arcs: u64,
    pub grand_total: u64,
    pub region_slots: u64,
    pub vertices: u32,
    pub shard_count: u32,
    pub seed: u32,
    pub volume_shift: u32,
    pub round: u32,
    pub phases: u32,
    pub scan_most: u32,
    pub scan_shared: u32,
    pub least_class: u32,
    pub traced: u32,
    pub streamed: Streamed,
}

/// Returns text that does not compile if a struct of the kernels has another size than here.
pub fn checks(columns: usize, low_shared: u32) -> String {
    let state = size_of::<LpState>() + columns.max(1) * size_of::<Column>();
    let sizes = [
        ("Lists", size_of::<Lists>() as u64),
        ("ShardStart", size_of::<ShardStart>() as u64),
        ("Compressed", size_of::<Compressed>() as u64),
        ("Piece", size_of::<Piece>() as u64),
        ("Column", size_of::<Column>() as u64),
        ("Tallies", size_of::<Tallies>() as u64),
        ("LpState", state as u64),
        ("Large", LARGE_BYTES),
        ("Phase", size_of::<Phase>() as u64),
        ("StreamedShard", size_of::<StreamedShard>() as u64),
        ("Streamed", size_of::<Streamed>() as u64),
        ("PhasePart", PART_BYTES),
        ("StageUse", USE_BYTES),
        ("LongPiece", LONG_PIECE_BYTES),
        ("Copied", size_of::<Copied>() as u64),
        ("Staged", size_of::<Staged>() as u64),
    ];
    let at_most = [("Best", BEST_BYTES), ("Slot", SLOT_BYTES)].map(|(name, bytes)| {
        format!("static_assert(sizeof(ripplet::{name}) <= {bytes}, \"{name} has room\");\n")
    });
    let constants = [
        ("SEGMENT", SEGMENT as u64),
        ("BLOCK", u64::from(tuning::BLOCK)),
        ("SCAN_BLOCK", u64::from(tuning::SCAN_BLOCK)),
        ("SHARED", u64::from(tuning::SHARED)),
        ("PIECE", tuning::PIECE),
        ("HUB", tuning::HUB),
        ("VERTEX_BLOCK", tuning::VERTEX_BLOCK),
        ("PART", counters::PART as u64),
        ("PREFETCH_ALL", Prefetch::All as u64),
        ("PREFETCH_TOGETHER", Prefetch::Together as u64),
        ("PREFETCH_ALONE", Prefetch::Alone as u64),
        ("CLASSES", LISTED as u64 + 1),
    ];
    let sorting = [("LANE_KEYS", tuning::SHARED), ("LOW_KEYS", low_shared)];
    let sorting = sorting.map(|(keys, bytes)| {
        format!(
            "static_assert(ripplet::BLOCK / 32 * ripplet::SORT_BYTES<ripplet::{keys}> <= {bytes}, \
             \"room to sort {keys}\");\n"
        )
    });
    let sketching = format!(
        "static_assert(ripplet::BLOCK / 32 * ripplet::SKETCHING_BYTES <= {}, \"room to sketch\");\n",
        tuning::SHARED
    );
    let equal = text::sizes_are(sizes) + &text::constants_are(constants);
    [equal].into_iter().chain(at_most).chain(sorting).chain([sketching]).collect()
}

/// Number of vertices by degree class, and the room that large vertices need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// Vertices and arcs of each class; the large ones are last.
    pub vertices: [u64; LISTED + 1],
    pub arcs: [u64; LISTED + 1],
    /// Pieces of the large vertices.
    pub pieces: u64,
    /// Pieces of all vertices of more than `HUB` arcs.
    pub hub_pieces: u64,
    /// Table slots that the largest vertex needs, and that all large vertices need together.
    pub slots_of_largest: u64,
    pub slots: u64,
}

impl Classes {
    /// Counts the classes of some of a graph's vertices.
    pub fn of(graph: GraphView<'_>, part: Range<u32>, tuning: &Tuning) -> Classes {
        let vertices = graph.vertices();
        let count = |mut classes: Classes, v: u32| {
            classes.count(graph.degree(v), vertices, tuning);
            classes
        };
        part.into_par_iter().fold(Classes::default, count).reduce(Classes::default, Classes::plus)
    }

    fn count(&mut self, degree: u64, vertices: u32, tuning: &Tuning) {
        if degree == 0 {
            return;
        }
        let own = tuning::MOST.iter().position(|&most| degree <= most);
        let class = own.unwrap_or(LISTED).max(tuning.least_class() as usize);
        self.vertices[class] += 1;
        self.arcs[class] += degree;
        if degree > tuning::HUB {
            self.hub_pieces += degree.div_ceil(tuning::PIECE);
        }
        if class < LISTED {
            return;
        }
        let slots = slots_for(degree, vertices);
        self.pieces += degree.div_ceil(tuning::PIECE);
        self.slots_of_largest = self.slots_of_largest.max(slots);
        self.slots += slots;
    }

    fn plus(self, other: Classes) -> Classes {
        let sum = |a: &[u64], b: &[u64], at: usize| a[at] + b[at];
        Classes {
            vertices: std::array::from_fn(|at| sum(&self.vertices, &other.vertices, at)),
            arcs: std::array::from_fn(|at| sum(&self.arcs, &other.arcs, at)),
            pieces: self.pieces + other.pieces,
            hub_pieces: self.hub_pieces + other.hub_pieces,
            slots_of_largest: self.slots_of_largest.max(other.slots_of_largest),
            slots: self.slots + other.slots,
        }
    }
}

/// Returns the table slots of a large vertex, as `list_large` in `large.cuh` computes them.
fn slots_for(degree: u64, vertices: u32) -> u64 {
    let labels = degree.min(u64::from(vertices));
    (2 * labels + 8).min(u64::from(u32::MAX))
}

/// Returns the bytes of shared memory of a block of the kernel `ripplet_choose_by_thread`.
pub fn low_shared(graph: GraphView<'_>, resident: Resident) -> u32 {
    match (resident, graph) {
        (Resident::Partly, _) => tuning::LOW_SHARED_STREAMED,
        (Resident::Whole, GraphView::Compressed(_)) => tuning::LOW_SHARED_CODED,
        (Resident::Whole, GraphView::Plain(_)) => tuning::LOW_SHARED,
    }
}

/// Byte ranges of all arrays, as ranges of bytes in one allocation.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    pub graph: StoredPlaces,
    /// Parts of a phase of a streamed graph.
    pub parts: Range<u64>,
    /// Use of each region of the staging area.
    pub stage_use: Range<u64>,
    /// Vertices whose lists are requested: for each region, an array for prefetching and one for
    /// requests on demand.
    pub wanted: Range<u64>,
    pub labels: Range<u64>,
    pub active: Range<u64>,
    pub changed: Range<u64>,
    pub last_activated: Range<u64>,
    pub totals: Range<u64>,
    pub shares: Range<u64>,
    pub columns: Vec<Range<u64>>,
    pub drafts: Range<u64>,
    pub degrees: Range<u64>,
    pub tallies: Range<u64>,
    /// By class, room for as many members as a phase may have. Two classes share an array, from its
    /// front and from its end.
    pub members: [Range<u64>; LISTED],
    pub chosen: Range<u64>,
    pub large: Range<u64>,
    pub pieces: Range<u64>,
    pub hubs: Range<u64>,
    pub found: Range<u64>,
    pub region: Range<u64>,
    pub sketched_labels: Range<u64>,
    pub sketched_weights: Range<u64>,
    pub region_slots: u64,
    /// The share of the run that the layout is for.
    pub share: Share,
    pub ranks: RankPlaces,
    /// Bytes of the allocation.
    pub bytes: u64,
    pub plan: Plan,
}

impl Layout {
    /// Plans a run in `room` bytes of the device's memory: as many lists as fit are on the device,
    /// the others stay in the host's memory. If even that does not fit, returns the smallest
    /// layout.
    pub fn within(room: u64, task: Task<'_>) -> Layout {
        let share = Share::whole(task.graph.vertices());
        let classes = Classes::of(task.graph, share.vertices(), &task.tuning);
        if task.tuning.streamed_from.is_none() {
            let whole = Layout::new(&classes, None, share.clone(), task);
            if whole.bytes <= room {
                return whole;
            }
            let streamed = Layout::streamed_within(room, &classes, share, task);
            return if streamed.bytes <= whole.bytes { streamed } else { whole };
        }
        Layout::streamed_within(room, &classes, share, task)
    }

    /// Plans a share of a run with some lists in the host's memory, in `room` bytes of the device's
    /// memory. If it does not fit, returns the smallest layout.
    pub fn streamed_within(room: u64, classes: &Classes, share: Share, task: Task<'_>) -> Layout {
        let Task { graph, settings, tuning, .. } = task;
        let own = share.vertices();
        let layout = |residence| Layout::new(classes, Some(residence), share.clone(), task);
        let staged = || Residence::least_staged(graph, &own, most_parts(graph.arcs()));
        let phases = u64::from(settings.schedule.phases().max(1));
        // Lists for the next phases are prefetched while a phase runs, but not if each phase has
        // all vertices.
        let most_ahead = match settings.schedule.visibility() {
            Visibility::EarlierPhases => tuning.ahead(),
            Visibility::Current => 1,
            Visibility::LastRound => 0,
        };
        if let Some(v) = tuning.streamed_from {
            let least = match tuning.supply {
                Supply::Staged => staged(),
                Supply::Pinned => Residence::least(graph, &own, most_ahead).with_region(4096),
            };
            return layout(least.until(graph, v));
        }
        let with = |residence: Residence| (residence, layout(residence));
        let (start, least) = match tuning.supply {
            Supply::Staged => with(staged()),
            Supply::Pinned => {
                // Prefetches for as many phases together as there is room for.
                let halved = |ahead: &u32| (*ahead > 0).then_some(ahead / 2);
                let all = std::iter::successors(Some(most_ahead), halved);
                let mut all = all.map(|ahead| with(Residence::least(graph, &own, ahead)));
                let suits = |(start, least): &(Residence, Layout)| {
                    least.bytes <= room && start.suits(graph, room - least.bytes, phases)
                };
                all.find(suits).unwrap_or_else(|| with(Residence::least(graph, &own, 0)))
            }
        };
        let left = room.saturating_sub(least.bytes);
        let best = layout(start.within(graph, left, phases));
        if best.bytes <= room { best } else { least }
    }

    /// Plans a share of a run whose vertices have these classes, with all of its lists on the
    /// device (`None`) or with those of the residence.
    pub fn new(
        classes: &Classes,
        residence: Option<Residence>,
        share: Share,
        task: Task<'_>,
    ) -> Layout {
        let Task { graph, program, settings, tuning } = task;
        let vertices = u64::from(graph.vertices());
        let specs = &program.columns;
        let phases = u64::from(settings.schedule.phases().max(1));
        let in_place = settings.schedule.is_in_place();
        // A share's bounds may cut a block of `8 * phases` vertices.
        let cut = u64::from(share.is_ranked());
        let at_once = |own: u64| own.min((own.div_ceil(8 * phases) + cut) * 8);
        let phase = at_once(u64::from(share.vertices().end - share.vertices().start));
        let mut to = Layout { share: share.clone(), ..Layout::default() };

        let mut places = Arena::default();
        to.graph = StoredPlaces::new(&mut places, graph, share.vertices(), residence);
        let parts = if residence.is_some() { most_parts(graph.arcs()) } else { 0 };
        to.parts = places.take(PART_BYTES, parts.into());
        let regions = residence.map_or(0, Residence::regions);
        to.stage_use = places.take(USE_BYTES, regions);
        // If all vertices update at once, many lists are copied by range, and few are requested.
        let own = share.vertices().len() as u64;
        let is_locked = residence.is_some_and(|residence| residence.supply == Supply::Pinned);
        let wanted = if phase == own && is_locked { phase.div_ceil(16) } else { phase };
        to.wanted = places.take(4, 2 * regions * wanted);
        let graph_bytes = places.bytes;

        to.labels = places.take(4, vertices);
        to.active = places.take(1, vertices);
        let asks = tuning.pull_threshold_of(settings.schedule) > 0;
        // Vertices of a streamed graph may pull after others have updated again, so stamps of the
        // previous phase are kept too.
        let stamps = if residence.is_some() { 2 * vertices } else { vertices };
        to.changed = places.take(1, if asks { stamps } else { 0 });
        to.last_activated = places.take(4, vertices.div_ceil(tuning::VERTEX_BLOCK));
        let state = places.bytes;

        let total = program.label_total;
        to.totals = places.take(4, if total == LabelTotal::None { 0 } else { vertices });
        let shares = graph.is_weighted() && total == LabelTotal::Volume;
        to.shares = places.take(4, if shares { vertices } else { 0 });
        let degrees = share.is_ranked() && matches!(graph, GraphView::Compressed(_));
        to.degrees = places.take(4, if degrees { vertices } else { 0 });
        let totals = places.bytes;

        for spec in specs {
            let column = places.take(4, engine::values_of(spec, graph.vertices()));
            to.columns.push(column);
        }
        let drafted = specs.iter().filter(|spec| spec.written);
        let drafted: u64 = drafted.map(|spec| u64::from(spec.len)).sum();
        to.drafts = places.take(4, drafted.saturating_mul(vertices));
        let columns = places.bytes;

        to.tallies = places.take(size_of::<Tallies>() as u64, 1);
        let [listed @ .., large] = classes.vertices;
        for pair in (0..LISTED).step_by(2) {
            let [front, back] = [listed[pair], listed[pair + 1]];
            let list = places.take(4, (front + back).min(phase));
            to.members[pair] = list.start..list.start + 4 * front.min(phase);
            to.members[pair + 1] = list.end - 4 * back.min(phase)..list.end;
        }
        let choices = listed.iter().sum::<u64>().min(phase);
        // In a streamed graph, `chosen` has the layout of the member lists.
        let choices = match residence {
            Some(_) => {
                (to.members[LISTED - 1].end.max(to.members[LISTED - 2].end) - to.members[0].start)
                    / 4
            }
            None => choices,
        };
        to.chosen = places.take(4, if in_place && !share.is_ranked() { 0 } else { choices });
        to.hubs = places.take(size_of::<Piece>() as u64, if asks { classes.hub_pieces } else { 0 });
        let lists = places.bytes;

        to.large = places.take(LARGE_BYTES, large);
        to.pieces = places.take(8, classes.pieces);
        to.found = places.take(BEST_BYTES, classes.pieces);
        let sketch = settings.counter.sketch();
        to.region_slots = match sketch {
            None => classes.slots_of_largest.max(classes.slots.min(tuning.region)),
            // Unused, but the kernels divide by it.
            Some(_) => 1,
        };
        to.region = places.take(SLOT_BYTES, to.region_slots);
        let sketched = classes.pieces * u64::from(sketch.map_or(0, Sketch::slots));
        to.sketched_labels = places.take(4, sketched);
        to.sketched_weights = places.take(8, sketched);
        let tables = places.bytes;

        to.ranks = RankPlaces::new(&mut places, &share, drafted, settings.schedule, at_once);

        // A file from which the host reads lists need not be in memory as a whole.
        let mapped = if tuning.supply == Supply::Staged { graph.shared_bytes() } else { 0 };
        let graph_host = graph.bytes() - mapped;
        let mut plan = Plan { graph_host, graph_device: graph_bytes, ..Plan::default() }
            .with_streamed(to.graph.streamed().map_or(0, |streamed| streamed.far_bytes))
            .with_device("labels and active vertices", state - graph_bytes)
            .with_device("label totals", totals - state)
            .with_device("columns", columns - totals)
            .with_device("vertex lists and choices", lists - columns)
            .with_device("tables of large vertices", tables - lists)
            .with_device("messages between GPUs", places.bytes - tables);
        plan.device_items.retain(|item| item.bytes > 0);
        if residence.is_some_and(|residence| residence.supply == Supply::Staged) {
            plan = plan.with("staging buffer", 4 * wanted + staged::BYTES);
        }
        to.bytes = places.bytes;
        to.plan = host_plan(plan, graph, settings, specs, shares);
        to
    }

    /// Whether the host's limit is below the plan, and the graph is in a file, so that lists can be
    /// read from it instead.
    pub fn exceeds(&self, host_limit: Option<u64>, graph: GraphView<'_>) -> bool {
        host_limit.is_some_and(|limit| self.plan.total_host() > limit) && graph.shared_bytes() > 0
    }

    /// Returns whether the whole graph is on the device.
    pub fn resident(&self) -> Resident {
        if self.graph.streamed().is_some() { Resident::Partly } else { Resident::Whole }
    }

    /// Returns the addresses of all arrays, in memory that begins at `base`.
    pub fn state(&self, base: Address) -> LpState {
        let at = |range: &Range<u64>| base.plus(range.start);
        LpState {
            out: self.graph.lists(base, 0),
            incoming: self.graph.lists(base, 1),
            streamed: self.streamed(base),
            shards: at(self.graph.shards()),
            labels: at(&self.labels),
            active: at(&self.active),
            changed: at(&self.changed),
            last_activated: at(&self.last_activated),
            totals: at(&self.totals),
            shares: at(&self.shares),
            drafts: at(&self.drafts),
            degrees: at(&self.degrees),
            mirrors: at(&self.ranks.mirrors_at),
            tallies: at(&self.tallies),
            members: std::array::from_fn(|class| {
                let list = &self.members[class];
                base.plus(if class % 2 == 0 { list.start } else { list.end })
            }),
            chosen: at(&self.chosen),
            large: at(&self.large),
            pieces: at(&self.pieces),
            hubs: at(&self.hubs),
            found: at(&self.found),
            region: at(&self.region),
            sketched_labels: at(&self.sketched_labels),
            sketched_weights: at(&self.sketched_weights),
            region_slots: self.region_slots,
            ..LpState::default()
        }
    }
}

impl Layout {
    fn streamed(&self, base: Address) -> Streamed {
        let Some(places) = self.graph.streamed() else { return Streamed::default() };
        let at = |range: &Range<u64>| base.plus(range.start);
        let (residence, regions) = (places.residence, places.residence.regions());
        let of_region =
            |range: &Range<u64>, bytes: u64| (range.end - range.start) / bytes / regions;
        Streamed {
            shards: at(&places.streamed),
            fetched: places.fetched.each_ref().map(at),
            parts: at(&self.parts),
            stage_use: at(&self.stage_use),
            wanted: at(&self.wanted),
            long_pieces: at(&places.long_pieces),
            lists: at(&self.members[0]),
            stage: at(&places.stage).0 / 4,
            region: 0,
            region_words: residence.region_words,
            weights_behind: places.weights_behind,
            near_end: residence.near_end,
            own_first: self.share.vertices().start,
            own_end: self.share.vertices().end,
            most_requested: of_region(&self.wanted, 2 * 4) as u32,
            most_long_pieces: of_region(&places.long_pieces, 2 * LONG_PIECE_BYTES) as u32,
            ahead: residence.ahead,
            prefetch: Prefetch::All as u32,
            padding: 0,
        }
    }

    /// Sets the addresses of a region of the staging area as the place that lists are fetched to.
    pub fn at_region(&self, streamed: &mut Streamed, base: Address, region: u64) {
        let Some(places) = self.graph.streamed() else { return };
        let of_region = |range: &Range<u64>| {
            base.plus(range.start + (range.end - range.start) / places.residence.regions() * region)
        };
        streamed.prefetch = Prefetch::All as u32;
        streamed.region = region * places.residence.region_words;
        streamed.stage_use = of_region(&self.stage_use);
        streamed.wanted = of_region(&self.wanted);
        streamed.long_pieces = of_region(&places.long_pieces);
    }
}

/// Adds the host's memory beside the graph: what the caller gave, and results.
fn host_plan(
    plan: Plan,
    graph: GraphView<'_>,
    settings: &Settings,
    specs: &[ColumnSpec],
    shares: bool,
) -> Plan {
    let vertices = u64::from(graph.vertices());
    let written = specs.iter().filter(|spec| spec.written);
    let written: u64 = written.map(|spec| 4 * engine::values_of(spec, graph.vertices())).sum();
    let given: u64 = settings.columns.values().map(|values| 4 * values.len() as u64).sum();
    let mut plan = plan.with("labels", 4 * vertices);
    for (purpose, bytes) in [
        ("labels to begin with", if settings.initial.is_some() { 4 * vertices } else { 0 }),
        ("columns to begin with", given),
        ("columns", written),
        ("shares of label totals", if shares { 4 * vertices } else { 0 }),
        (
            "splitting",
            if settings.keep_disconnected {
                0
            } else {
                engine::bytes_of_splitting(graph.vertices())
            },
        ),
    ] {
        if bytes > 0 {
            plan = plan.with(purpose, bytes);
        }
    }
    plan
}
