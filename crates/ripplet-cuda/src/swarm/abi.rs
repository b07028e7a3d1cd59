//! Structs and constants that host and kernels share: those of `state.cuh`.

use bytemuck::{Pod, Zeroable};
use ripplet_gpu::{Address, text};
use std::ops::Range;

/// Sources of a group, and sources of a search if paths are counted or arcs have weights, as in
/// `state.cuh`.
pub const GROUP: u32 = 64;
pub const EIGHT: u32 = 8;
/// Values of split graphs that a block adds up, as in `state.cuh`.
pub const PIECE: u32 = 1024;
/// Bins of degrees, as in `lists.cuh`.
pub const BINS: u32 = 64;
/// Bytes of a block's shared memory before those of its team, as in `team.cuh`.
pub const WORD_BYTES: u32 = 16;
/// Value of an item of a graph that is not split, as in `state.cuh`.
pub const NO_SPLIT: u32 = u32::MAX;

/// Lists of all graphs in one direction: `GraphLists` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GraphLists {
    pub starts: Address,
    pub offsets: Address,
    pub ids: Address,
    pub weights: Address,
    pub first: u64,
}

/// Item of work: `Item` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Item {
    pub graph: u32,
    pub first: u32,
    pub end: u32,
    pub split: u32,
}

/// Units of a split graph: `Split` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Split {
    pub partials: u64,
    pub sums: u64,
    pub graph: u32,
    pub first: u32,
    pub end: u32,
    pub is_last: u32,
}

/// Values to add up: `Piece` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Piece {
    pub split: u32,
    pub first: u32,
}

/// Summary of a vertex's distances: `Reach` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Reach {
    pub far: u64,
    pub farthest: u64,
    pub reached: u32,
    pub padding: u32,
}

/// Summary of a graph's distances: `Summary` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Summary {
    pub pairs: u64,
    pub low: u64,
    pub high: u64,
    pub diameter: u64,
    pub radius_turned: u64,
}

/// The state of a run: `State` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct State {
    pub vertex_starts: Address,
    pub behind: GraphLists,
    pub ahead: GraphLists,
    pub items: Address,
    pub splits: Address,
    pub pieces: Address,
    pub taken: Address,
    pub values: Address,
    pub pair_starts: Address,
    pub groups: Address,
    pub partials: Address,
    pub sums: Address,
    pub reach: Address,
    pub summaries: Address,
    pub units: Address,
    pub scratch: Address,
    pub stride: u64,
    pub first_vertex: u64,
    pub measure: u32,
    pub is_normalized: u32,
    pub is_directed: u32,
    pub first_source: u32,
}

/// Argument of a kernel: `Work` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Work {
    pub state: State,
    pub first: u32,
    pub end: u32,
    pub bytes: u32,
    pub number: u32,
}

impl Item {
    pub fn new(graph: u32, units: Range<u32>, split: u32) -> Item {
        Item { graph, first: units.start, end: units.end, split }
    }
}

/// Returns text that does not compile if a struct of the kernels has another size than here.
pub fn checks() -> String {
    let sizes = [
        ("GraphLists", size_of::<GraphLists>()),
        ("Item", size_of::<Item>()),
        ("Split", size_of::<Split>()),
        ("Piece", size_of::<Piece>()),
        ("Reach", size_of::<Reach>()),
        ("Summary", size_of::<Summary>()),
        ("State", size_of::<State>()),
        ("Work", size_of::<Work>()),
    ];
    let constants = [
        ("GROUP", GROUP),
        ("EIGHT", EIGHT),
        ("PIECE", PIECE),
        ("BINS", BINS),
        ("WORD_BYTES", WORD_BYTES),
    ];
    text::sizes_are(sizes) + &text::constants_are(constants)
}
