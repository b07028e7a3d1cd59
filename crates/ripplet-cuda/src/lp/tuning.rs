//! Bounds between degree classes. Those that `field.cuh` has as well are part of the kernels.

use crate::streamed::Supply;
use ripplet_lp::Order;

/// The largest degree of each class but the last.
pub const MOST: [u64; 10] = [4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096];
/// Arcs of a piece of a vertex that many blocks share.
pub const PIECE: u64 = 4096;
/// Vertices of more arcs have their pieces listed.
pub const HUB: u64 = 512;
/// Vertices of consecutive ids that are known to be idle together.
pub const GRAIN: u64 = 256;
/// The most ids that a unit's vertices lie apart, as `Turns` in `gather.cuh` draws it.
const LONGEST_STRIDE: u32 = 8;
/// The most parts of an `async` round.
const MOST_PARTS: u32 = 32;
/// In fewer phases a round the sleeping may ask. In as many, a phase's vertices have too few of the arcs.
const TELLING_PHASES: u32 = 8;
/// Threads of a block, and of one that scans.
pub const BLOCK: u32 = 256;
pub const SCAN_BLOCK: u32 = 1024;
/// Bytes of shared memory of a block that counts.
pub const SHARED: u32 = 57344;
/// The same for the lowest degrees.
pub const LOW_SHARED: u32 = 28672;
/// And where lists are compressed: what tells where they are is longer.
pub const LOW_SHARED_CODED: u32 = 30720;
/// And where they are not all on the device.
pub const LOW_SHARED_STREAMED: u32 = 36864;

/// How votes are counted: the steps of GLP's section 4, which its ablation compares. The labels are the
/// same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Every vertex has a table in global memory, as those of the highest degrees have. Each piece of
    /// its neighbours is summed in shared memory before.
    GlobalTables,
    /// Every vertex has a block, and a table in shared memory.
    SharedTables,
    /// Vertices of low degree share warps, and have no table.
    Packed,
}

/// What may be chosen differently from run to run. It changes nothing but speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Vertices of up to so many neighbours are counted by one block.
    pub scan_most: u32,
    /// Bytes of shared memory of such a block: as many as the device allows, up to this.
    pub scan_shared: u32,
    /// Slots of the tables of vertices that many blocks share, at once, where one needs no more.
    pub region: u64,
    /// Where more than one arc in so many is of a vertex that changed, sleeping vertices ask their
    /// neighbours whether they did, instead of being told; never where it is 0.
    pub waking_share: u32,
    /// Rounds of `async` that go by before they have twice as many parts.
    pub async_rounds: u32,
    /// An `async` round of a graph of fewer vertices has as many parts as this has times its vertices.
    pub async_crowd: u32,
    /// How votes are counted.
    pub counting: Counting,
    /// Where given, lists of vertices from this one on, or some before it, stay in the host's memory though there may be
    /// room: for tests, whose graphs are small.
    pub streamed_from: Option<u32>,
    /// How lists come from there.
    pub supply: Supply,
    /// For how many phases they are fetched together, at most, where each vertex has its turn in one of many.
    pub ahead: u32,
}

impl Tuning {
    /// The largest degree that a block scans.
    pub(super) fn scan_most(&self) -> u32 {
        if self.counting == Counting::GlobalTables { 0 } else { self.scan_most }
    }

    /// `waking_share` where rounds are in this order.
    pub(super) fn waking_share_of(&self, order: Order) -> u32 {
        match order {
            Order::Phased { phases } if phases >= TELLING_PHASES => 0,
            Order::Phased { .. } | Order::Sync | Order::Async { .. } => self.waking_share,
        }
    }

    /// Parts of an `async` round, which are done one after the other. What is done at once does not see
    /// itself: neighbours that swap labels may go on for ever, and in a small graph nearly all are
    /// done at once. A large one begins with one part, and the rounds that it does not settle in have
    /// more and more.
    pub(super) fn async_parts(&self, round: u32, vertices: u32) -> u32 {
        let doubled = 1u32.checked_shl(round / self.async_rounds.max(1)).unwrap_or(MOST_PARTS);
        let crowded =
            self.async_crowd.div_ceil(vertices.max(1)).min(MOST_PARTS).next_power_of_two();
        doubled.saturating_mul(crowded).min(MOST_PARTS)
    }

    /// `ahead` as it can be: a power of two, and no more than the longest stride of a round.
    pub(super) fn ahead(&self) -> u32 {
        1 << self.ahead.clamp(1, LONGEST_STRIDE).ilog2()
    }

    /// The lowest class that a vertex can have, as in `field.cuh`.
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
            scan_most: 1 << 14,
            scan_shared: 200 << 10,
            region: 1 << 24,
            waking_share: 3,
            async_rounds: 6,
            async_crowd: 1 << 22,
            counting: Counting::Packed,
            streamed_from: None,
            supply: Supply::Locked,
            ahead: 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_of_large_graphs_have_more_and_more_parts() {
        let parts = |round| Tuning::default().async_parts(round, u32::MAX);
        assert_eq!([0, 5, 6, 12, 30, 36, u32::MAX].map(parts), [1, 1, 2, 4, 32, 32, 32]);
    }

    #[test]
    fn phases_together_are_a_power_of_two() {
        let ahead = |ahead| Tuning { ahead, ..Tuning::default() }.ahead();
        assert_eq!([0, 1, 2, 3, 4, 7, 8, 9, u32::MAX].map(ahead), [1, 1, 2, 2, 4, 4, 8, 8, 8]);
    }

    #[test]
    fn rounds_of_small_graphs_have_many_parts_at_once() {
        let parts = |vertices| Tuning::default().async_parts(0, vertices);
        assert_eq!([0, 1, 1 << 17, 1 << 21, 3 << 20, 1 << 22].map(parts), [32, 32, 32, 2, 2, 1]);
    }
}
