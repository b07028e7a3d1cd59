//! Tuning of the kernels, and the bounds of degree classes. The constants that `state.cuh` has as
//! well are checked when the kernels are compiled.

use crate::lists::Supply;
use ripplet_lp::Schedule;

/// Largest degree of each class except the last. Up to 1024 arcs, a warp has all votes of some
/// vertices in registers, 32 a lane. 4096 is [`PIECE`]. First iterations on `web` 22 took 3.2 to 6.1 ms
/// with tables from 33 arcs on (`bench/runs/2026-11-21-h200/2-tiles`), and take 1.5 to 1.7 with
/// registers (`4-asking` there).
pub const MOST: [u64; 10] = [4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096];
/// Arcs of a piece of a large vertex: 16 votes a thread of a block of 256, and a table of 2 slots an
/// arc in shared memory.
pub const PIECE: u64 = 4096;
/// Slots of a table in global memory for each piece of its vertex: twice its arcs, so that probes are short.
pub const PIECE_SLOTS: u64 = 2 * PIECE;
/// Slices of a piece, of which a block of `by_grid.cuh` takes one at a time, and its bytes of shared memory.
pub const SLICES: u64 = 4;
pub const SLICE_SHARED: u32 = 256 + 2 * 1024 * 12;
/// Vertices of more arcs have their pieces listed, for pulling. A lane that reads such a list alone
/// holds up its warp (`6-bytes` and `7-sharing` in `bench/runs/2026-11-21-h200`: before and after).
pub const HUB: u64 = 512;
/// Vertices of consecutive ids that share an activation stamp: those of a unit block of 32 phases,
/// the default (`11-grains` in `bench/runs/2026-11-21-h200`; `10-final` is without stamps).
pub const VERTEX_BLOCK: u64 = 256;
/// Largest distance of a unit's vertices, as `UnitSchedule` in `frontier.cuh` draws it.
const LONGEST_STRIDE: u32 = 8;
/// The most phases of an `async` round: as many as a `phased` round has. With one phase to the
/// end, `road` 24 does not settle in 30 rounds
/// (`bench/runs/2026-11-21-h200/11-grains/road-parts.txt`).
const MOST_ASYNC_PHASES: u32 = 32;
/// With fewer phases a round, vertices may pull. With as many, a phase has an eighth of the vertices
/// or fewer, so that more than a third of the arcs ([`Tuning::pull_threshold`]) are rarely theirs.
const PUSH_ONLY_PHASES: u32 = 8;
/// Threads of a block: 8 warps, of which 3 blocks fill a multiprocessor at 80 registers a thread.
pub const BLOCK: u32 = 256;
/// Threads of a block that scans a large vertex: the most that CUDA allows, as one block has the
/// multiprocessor's shared memory to itself.
pub const SCAN_BLOCK: u32 = 1024;
/// Bytes of shared memory of a block that counts votes: 256 for the reductions of 8 warps, and a
/// table of 7136 slots of 8 bytes for the 4096 votes of a piece. Three blocks fit the 228 KiB of an
/// H100.
pub const SHARED: u32 = 57344;
/// Bytes of shared memory of a block that counts the lowest degrees: 32 `Member`s and 32 rows of 17
/// keys for each of 8 warps. The kernels check that it suffices.
pub const LOW_SHARED: u32 = 28672;
/// Bytes of shared memory of such a block for compressed lists: a `Member` is larger.
pub const LOW_SHARED_COMPRESSED: u32 = 30720;
/// Bytes of shared memory of such a block for streamed lists: a `Member` is larger still.
pub const LOW_SHARED_STREAMED: u32 = 36864;

/// How votes are counted: the steps of GLP (SIGMOD 2021), section 4, which its ablation compares.
/// The labels do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Every vertex is counted by the kernels for the highest degrees, in a table in global memory.
    /// Each piece of its neighbours is summed in shared memory first.
    GlobalTables,
    /// Every vertex of up to 4096 arcs has a block, and a table in shared memory.
    SharedTables,
    /// Vertices of up to 1024 arcs share warps, and have no table. The default.
    Packed,
}

/// Tuning of a run. It changes the speed, and no result of a deterministic schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Largest degree that is scanned by one block: 12,288, whose labels fill three quarters of the table
    /// of 16,384 slots in 136 KiB.
    pub scan_most: u32,
    /// Limit in bytes of shared memory of such a block; less if the device has less. 136 KiB leave an H100 room for a
    /// block of 56 KiB beside it. 72 to 200 KiB and degrees of 4096 to 16,384 are in
    /// `bench/runs/2026-11-28-h200/hubs-beside.txt`.
    pub scan_shared: u32,
    /// Slots of all tables in global memory that exist at once; more if one vertex alone needs
    /// more. 2^24: 256 MiB.
    pub table_slots: u64,
    /// Pull threshold: inactive vertices look for changed neighbours if more than one arc in
    /// `pull_threshold` belongs to a vertex that changed. Otherwise changed vertices activate their
    /// neighbours. 0: never pull. 3 is the fastest on `road` 24 and within 4 % of the fastest on
    /// `web`, `social` and `rmat` 22, of 1, 2, 3, 5, 8, 16 and never
    /// (`bench/runs/2026-11-21-h200/7-sharing`).
    pub pull_threshold: u32,
    /// Rounds of `async` after which the number of phases doubles. 6 reaches the highest
    /// modularity on `road` 24, of 1, 2, 3, 4, 6 and never
    /// (`bench/runs/2026-11-21-h200/11-grains/road-parts.txt`).
    pub async_rounds: u32,
    /// The fewest vertices of a graph whose `async` rounds begin with a single phase. A smaller
    /// graph begins with `async_single_phase / vertices` phases. 2^22: with two phases, `celegans`
    /// (453 vertices) did not settle in 200 rounds (docs/adr/0007-gpu-engine.md).
    pub async_single_phase: u32,
    /// How votes are counted.
    pub counting: Counting,
    /// If set, lists of vertices from about this one on stay in the host's memory, even if they
    /// fit. The command and the facade never set it; tests do, as their small graphs always fit.
    pub streamed_from: Option<u32>,
    /// How lists in the host's memory come to the device.
    pub supply: Supply,
    /// The most phases whose lists are prefetched together, if a round has many phases. 4: eight
    /// gain too little for their memory (`bench/runs/2026-11-23-h200/streamed-ahead-1.jsonl`).
    pub ahead: u32,
    /// The fewest arcs of a graph whose communities are split and merged on the device, where the graph is
    /// moved once more for it. 2^22 is not measured against other values: the graphs of
    /// `bench/runs/2026-11-27-2-h200/finishing.txt` have more arcs, and moving them again takes 24 to 87 ms.
    pub finish_from: u64,
}

impl Tuning {
    /// Returns the largest degree that one block scans.
    pub(super) fn scan_most(&self) -> u32 {
        if self.counting == Counting::GlobalTables { 0 } else { self.scan_most }
    }

    /// Returns the pull threshold for rounds of this schedule.
    pub(super) fn pull_threshold_of(&self, schedule: Schedule) -> u32 {
        if schedule.phases() >= PUSH_ONLY_PHASES { 0 } else { self.pull_threshold }
    }

    /// Returns the number of phases of an `async` round, which run one after the other.
    /// Vertices that update at once do not see each other's change: neighbours that swap labels may
    /// go on for ever, and in a small graph nearly all vertices update at once. A large graph
    /// begins with one phase; the number doubles every `async_rounds` rounds.
    pub(super) fn async_phases(&self, round: u32, vertices: u32) -> u32 {
        let doubled =
            1u32.checked_shl(round / self.async_rounds.max(1)).unwrap_or(MOST_ASYNC_PHASES);
        let of_small_graph = self
            .async_single_phase
            .div_ceil(vertices.max(1))
            .min(MOST_ASYNC_PHASES)
            .next_power_of_two();
        doubled.saturating_mul(of_small_graph).min(MOST_ASYNC_PHASES)
    }

    /// Returns `ahead` as a power of two, at most the longest stride of a round.
    pub(super) fn ahead(&self) -> u32 {
        1 << self.ahead.clamp(1, LONGEST_STRIDE).ilog2()
    }

    /// Returns the lowest class that a vertex can have.
    pub(super) fn least_class(&self) -> u32 {
        match self.counting {
            Counting::GlobalTables => 10,
            Counting::SharedTables => 9,
            Counting::Packed => 0,
        }
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning {
            scan_most: 12_288,
            scan_shared: 136 << 10,
            table_slots: 1 << 24,
            pull_threshold: 3,
            async_rounds: 6,
            async_single_phase: 1 << 22,
            counting: Counting::Packed,
            streamed_from: None,
            supply: Supply::Pinned,
            ahead: 4,
            finish_from: 1 << 22,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_of_large_graphs_have_more_and_more_phases() {
        let phases = |round| Tuning::default().async_phases(round, u32::MAX);
        assert_eq!([0, 5, 6, 12, 30, 36, u32::MAX].map(phases), [1, 1, 2, 4, 32, 32, 32]);
    }

    #[test]
    fn phases_together_are_a_power_of_two() {
        let ahead = |ahead| Tuning { ahead, ..Tuning::default() }.ahead();
        assert_eq!([0, 1, 2, 3, 4, 7, 8, 9, u32::MAX].map(ahead), [1, 1, 2, 2, 4, 4, 8, 8, 8]);
    }

    #[test]
    fn rounds_of_small_graphs_have_many_phases_at_once() {
        let phases = |vertices| Tuning::default().async_phases(0, vertices);
        assert_eq!([0, 1, 1 << 17, 1 << 21, 3 << 20, 1 << 22].map(phases), [32, 32, 32, 2, 2, 1]);
    }
}
