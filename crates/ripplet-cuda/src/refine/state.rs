//! Structs that the host and the kernels share: `kernels/refine/state.cuh` has the same.

use bytemuck::{Pod, Zeroable};
use ripplet_gpu::{Address, text};
use ripplet_graph::GraphView;
use ripplet_lp::refine::Factors;

/// Threads of most blocks, of blocks that take a vertex of the largest class, and of the one block that
/// sums up blocks.
pub(super) const BLOCK: u32 = 256;
pub(super) const LARGE_BLOCK: u32 = 512;
pub(super) const SUM_BLOCK: u32 = 1024;
/// Claims that a block sorts in shared memory.
pub(super) const SORTED: u32 = 2 * BLOCK;
/// Vertices of a block of the kernels that number parts.
pub(super) const NUMBERED: u32 = 2048;
/// Classes of degrees, and the most phases of a round.
pub(super) const CLASSES: usize = 4;
pub(super) const MOST_PHASES: usize = 8;
const BINS: usize = CLASSES * MOST_PHASES;

/// A 128-bit integer: `Factor`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Factor {
    low: u64,
    high: u64,
}

impl From<u128> for Factor {
    fn from(value: u128) -> Factor {
        Factor { low: value as u64, high: (value >> 64) as u64 }
    }
}

/// The kind of a run: what its kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Whether vertices have an imbalance beside their mass:
    /// [`Objective::has_imbalances`](ripplet_lp::refine::Objective::has_imbalances).
    pub has_imbalances: bool,
    /// Whether sizes of communities are limited.
    pub is_limited: bool,
}

impl Kind {
    /// The kind of a merge.
    pub(super) const MERGING: Kind = Kind { has_imbalances: false, is_limited: false };
}

/// How the weights of a level's arcs are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WeightKind {
    Unit = 0,
    Short = 1,
    Long = 2,
}

impl WeightKind {
    /// Returns the kind of an input's weights.
    pub fn of_input(graph: GraphView<'_>) -> WeightKind {
        if graph.is_weighted() { WeightKind::Short } else { WeightKind::Unit }
    }
}

/// The graph of a level: `Level`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Level {
    pub begins: Address,
    pub degrees: Address,
    pub masses: Address,
    pub ids: Address,
    pub weights: Address,
    pub vertices: u32,
    pub kind: u32,
    pub imbalances: Address,
    pub sizes: Address,
}

/// A partition of a level's vertices: `Partition`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Partition {
    pub labels: Address,
    pub totals: Address,
    pub active: Address,
    pub imbalances: Address,
    pub fixed: Address,
    pub sizes: Address,
}

/// No vertex.
pub(super) const NONE: u32 = u32::MAX;

/// How the vertices of a level correspond to those of its contraction: `Contraction`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Contraction {
    pub part_of: Address,
    pub founders: Address,
    pub members: Address,
    pub ends: Address,
    pub lengths: Address,
    pub begin: Address,
    pub names: Address,
    pub of_blocks: Address,
    pub parts: u32,
    /// [`NONE`] if the level has no finished vertices.
    pub finished: u32,
}

/// Counts of kernels: `Counters`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Counters {
    bins: [u32; BINS],
    starts: [u32; BINS],
    pub scheduled: u32,
    pub changed: [u32; MOST_PHASES],
    long_changed: [u32; MOST_PHASES],
    chosen: [u32; MOST_PHASES],
    pub claims: [u32; MOST_PHASES],
    pub longest: u32,
    pub finished: u32,
    pub not_finished: u32,
    pub scanned: u64,
    pub arcs_end: u64,
    pub arcs: u64,
    pub largest_weight: u64,
    pub largest_mass: u64,
    pub total_mass: u64,
    pub different: u64,
    pub inner: u64,
    pub squares: [u64; 4],
}

impl Counters {
    /// Returns the number of vertices of a class in a phase, after vertices are sorted.
    pub fn count(&self, phase: usize, class: usize) -> u32 {
        let bin = phase * CLASSES + class;
        let end = self.starts.get(bin + 1).copied().unwrap_or(self.scheduled);
        end - self.starts[bin]
    }
}

/// The argument of a kernel: `Work`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Work {
    pub level: Level,
    pub coarse: Level,
    pub partition: Partition,
    pub coarse_partition: Partition,
    pub communities: Address,
    pub community_totals: Address,
    pub community_imbalances: Address,
    pub contraction: Contraction,
    pub order: Address,
    pub changes: Address,
    pub long_changes: Address,
    pub choices: Address,
    pub claims: Address,
    pub counters: Address,
    pub region_keys: Address,
    pub region_sums: Address,
    pub region_slots: u64,
    pub arcs_room: u64,
    pub attraction: Factor,
    pub repulsion: Factor,
    pub key: u32,
    pub phases: u32,
    pub phase: u32,
    pub tie_key: u32,
    pub keeps_active: u32,
    pub schedules_all: u32,
    pub most_size: u32,
    pub width: u32,
    pub huge: u32,
    pub part: u32,
    pub grand_total: u64,
    pub share: u64,
}

impl Work {
    /// Returns the argument with these factors of the score.
    pub fn with_factors(self, factors: Factors) -> Work {
        let Factors { attraction, repulsion } = factors;
        Work { attraction: attraction.into(), repulsion: repulsion.into(), ..self }
    }
}

/// Returns text that does not compile if a struct or constant of the kernels differs from the one here.
pub(super) fn checks(kind: Kind) -> String {
    let sizes = [
        ("Level", size_of::<Level>()),
        ("Partition", size_of::<Partition>()),
        ("Contraction", size_of::<Contraction>()),
        ("Counters", size_of::<Counters>()),
        ("Work", size_of::<Work>()),
    ];
    let constants = [
        ("BLOCK", BLOCK),
        ("LARGE_BLOCK", LARGE_BLOCK),
        ("NUMBERED", NUMBERED),
        ("CLASSES", CLASSES as u32),
        ("MOST_PHASES", MOST_PHASES as u32),
        ("UNIT_WEIGHTS", WeightKind::Unit as u32),
        ("SHORT_WEIGHTS", WeightKind::Short as u32),
        ("LONG_WEIGHTS", WeightKind::Long as u32),
    ];
    let of_limits = kind.is_limited.then_some(("SORTED", SORTED));
    text::sizes_are(sizes) + &text::constants_are(constants.into_iter().chain(of_limits))
}
