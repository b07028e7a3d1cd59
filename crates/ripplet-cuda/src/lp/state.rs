//! Structs that the host and the kernels share, as `kernels/lp/state.cuh` has them.
//!
//! [`LpState`] is grouped by the kernels that use each part. The text that [`checks`] returns
//! makes a compilation fail if the sizes differ.

use super::tuning;
use crate::lists::{
    Compressed, CompressedShard, Copied, LONG_PIECE_BYTES, Lists, ShardStart, StreamedShard,
};
use bytemuck::{Pod, Zeroable};
use ripplet_gpu::Address;
use ripplet_gpu::text;
use ripplet_graph::compressed::SEGMENT;
use ripplet_lp::counters;

/// Number of degree classes with member lists; vertices of the highest class, `LARGE`, have records
/// instead.
pub const LISTED: usize = tuning::MOST.len();

/// Bytes of a `Large` record and of a `Best`.
pub const LARGE_BYTES: u64 = 56;
pub const BEST_BYTES: u64 = 32;
/// Bytes of a slot of a table in global memory.
pub const SLOT_BYTES: u64 = 16;
/// Bytes of a `PhasePart`; only the device has its values.
pub const PART_BYTES: u64 = 104;

/// Value of an active mark: another rank's vertex whose activation needs no sending.
pub const SENT: u8 = 2;

/// A piece of a vertex of many arcs: `Piece`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Piece {
    pub owner: u32,
    pub index: u32,
}

/// A column on the device: `Column`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Column {
    pub values: Address,
    pub length: u32,
    pub draft: u32,
}

/// A phase, the first part of a `Step`: `Phase`.
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

/// Argument of the kernel `fill`: `Fill` in `start.cuh`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Fill {
    pub values: Address,
    pub count: u64,
    pub bits: u32,
    pub step: u32,
}

/// Lists that the host copied into the staging area: `Staged` in `fetch.cuh`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Staged {
    pub side: u32,
    pub first: u32,
    pub count: u32,
}

/// Use of a region of the staging area: `StageUse`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct StageUse {
    pub words: u64,
    pub wanted: [u32; 2],
    pub long_pieces: [u32; 2],
}

/// Which lists to prefetch: `PREFETCH_…`.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub enum Prefetch {
    All = 0,
    Together = 1,
    Alone = 2,
}

/// Byte ranges of lists that are not all on the device: `Streamed`.
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

/// Counters of a run: `Tallies`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Tallies {
    pub visited: u64,
    pub scanned: u64,
    pub changed: u64,
    pub nan_scores: u64,
    pub fingerprint: u64,
    pub grand_total: u64,
    pub received_bytes: u64,
    pub activating_arcs: [u64; 2],
    pub most_total: u32,
    pub last_pull: u32,
    pub members: [[u32; LISTED + 1]; 2],
    pub lower: [[u32; LISTED + 1]; 2],
    pub pieces: [u32; 2],
    pub open: [u32; 2],
    pub settled: [u32; 2],
    pub taken: [u32; LISTED + 1],
    pub taken_scans: u32,
    pub taken_items: u64,
    pub fetched: u64,
    pub unstaged: u64,
    pub barrier: [u32; 2],
}

/// The graph's lists, and what is known of all vertices: `GraphState`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GraphState {
    pub out: Lists,
    pub incoming: Lists,
    pub first: CompressedShard,
    pub shards: Address,
    pub degrees: Address,
    pub arcs: u64,
    pub vertices: u32,
    pub shard_count: u32,
}

/// The current round: `RoundState`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct RoundState {
    pub seed: u32,
    pub index: u32,
    pub phases: u32,
    pub traced: u32,
}

/// Which vertices must update: `Frontier`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Frontier {
    pub active: Address,
    pub changed: Address,
    pub last_activated: Address,
    pub hubs: Address,
    pub hub_pieces: u32,
    pub pull_threshold: u32,
}

/// Label totals: `LabelTotals`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct LabelTotals {
    pub by_label: Address,
    pub shares: Address,
    pub grand: u64,
    pub volume_shift: u32,
    pub padding: u32,
}

/// The vertices that update in the current phase: `MemberLists`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct MemberLists {
    pub of_class: [Address; LISTED],
    pub chosen: Address,
    pub least_class: u32,
    pub padding: u32,
}

/// The large vertices that update in the current phase: `LargeVertices`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct LargeVertices {
    pub records: Address,
    pub pieces: Address,
    pub open_pieces: Address,
    pub found: Address,
    pub tables: Address,
    pub sketched_labels: Address,
    pub sketched_weights: Address,
    pub scan_most: u32,
    pub scan_shared: u32,
    pub room: u32,
    pub padding: u32,
}

/// The state of a run without its columns, which follow it: `LpState`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct LpState {
    pub graph: GraphState,
    pub labels: Address,
    pub round: RoundState,
    pub frontier: Frontier,
    pub totals: LabelTotals,
    pub members: MemberLists,
    pub large: LargeVertices,
    pub tallies: Address,
    pub mirrors: Address,
    pub streamed: Streamed,
    /// The first part of `Columns`.
    pub drafts: Address,
}

/// Returns text that does not compile if a struct or constant of the kernels differs from the one
/// here.
pub fn checks(columns: usize, low_shared: u32) -> String {
    let state = size_of::<LpState>() + columns.max(1) * size_of::<Column>();
    let sizes = [
        ("Lists", size_of::<Lists>() as u64),
        ("ShardStart", size_of::<ShardStart>() as u64),
        ("Compressed", size_of::<Compressed>() as u64),
        ("Piece", size_of::<Piece>() as u64),
        ("Column", size_of::<Column>() as u64),
        ("Tallies", size_of::<Tallies>() as u64),
        ("GraphState", size_of::<GraphState>() as u64),
        ("RoundState", size_of::<RoundState>() as u64),
        ("Frontier", size_of::<Frontier>() as u64),
        ("LabelTotals", size_of::<LabelTotals>() as u64),
        ("MemberLists", size_of::<MemberLists>() as u64),
        ("LargeVertices", size_of::<LargeVertices>() as u64),
        ("LpState", state as u64),
        ("Large", LARGE_BYTES),
        ("Phase", size_of::<Phase>() as u64),
        ("Fill", size_of::<Fill>() as u64),
        ("StreamedShard", size_of::<StreamedShard>() as u64),
        ("Streamed", size_of::<Streamed>() as u64),
        ("PhasePart", PART_BYTES),
        ("StageUse", size_of::<StageUse>() as u64),
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
        ("PIECE_SLOTS", tuning::PIECE_SLOTS),
        ("SLICES", tuning::SLICES),
        ("SLICE_SHARED", u64::from(tuning::SLICE_SHARED)),
        ("HUB", tuning::HUB),
        ("VERTEX_BLOCK", tuning::VERTEX_BLOCK),
        ("PART", counters::PART as u64),
        ("PREFETCH_ALL", Prefetch::All as u64),
        ("PREFETCH_TOGETHER", Prefetch::Together as u64),
        ("PREFETCH_ALONE", Prefetch::Alone as u64),
        ("CLASSES", LISTED as u64 + 1),
        ("SENT", u64::from(SENT)),
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
