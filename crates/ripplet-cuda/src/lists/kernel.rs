//! Structs of lists that the host and the kernels share: `kernels/graph.cuh`,
//! `kernels/compressed/lists.cuh` and `kernels/streamed.cuh` have the same.

use bytemuck::{Pod, Zeroable};
use ripplet_gpu::Address;
use ripplet_graph::compressed::CompressedAdjacency;

/// Plain lists of one direction: `Lists` in `graph.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Lists {
    pub offsets: Address,
    pub ids: Address,
    pub weights: Address,
}

/// Begin of a shard: `ShardStart` in `graph.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct ShardStart {
    pub first: u64,
    pub out: u64,
    pub incoming: u64,
}

/// A shard's compressed lists of one direction: `Compressed` in `compressed/lists.cuh`.
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

/// A shard's compressed lists: `CompressedShard` in `compressed/lists.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct CompressedShard {
    pub out: Compressed,
    pub incoming: Compressed,
}

/// A shard's lists of one direction: `StreamedLists`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct StreamedLists {
    pub near: u64,
    pub far: u64,
    pub near_weights: u64,
    pub far_weights: u64,
    pub heads: Address,
    pub head_begins: Address,
}

/// A shard of a streamed graph: `StreamedShard` in `streamed.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct StreamedShard {
    pub first: u64,
    pub out: StreamedLists,
    pub incoming: StreamedLists,
}

/// Lists that were copied together: `Copied` in `lp/fetch.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Copied {
    pub side: u32,
    pub first: u32,
    pub end: u32,
    pub at: u32,
    pub word: u64,
}

/// Bytes of a `LongPiece` in `lp/state.cuh`.
pub(crate) const LONG_PIECE_BYTES: u64 = 24;

impl Compressed {
    /// Returns the description of lists whose arrays are at these addresses.
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
