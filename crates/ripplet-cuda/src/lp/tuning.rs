//! Bounds between degree classes. Those that `field.cuh` has as well are part of the kernels.

use ripplet_lp::{Order, Settings};

/// Neighbours that a warp holds in registers.
pub const WARP_MOST: u64 = 256;
/// Neighbours that a block holds in registers.
pub const BLOCK_MOST: u64 = 2048;
/// Neighbours of a piece of a large vertex.
pub const PIECE: u64 = BLOCK_MOST;
/// Neighbours that four lanes wake.
pub const WAKE_TILE_MOST: u64 = 64;
/// Threads of every block.
pub const BLOCK: u32 = 256;
/// Bytes of shared memory of every block that counts.
pub const SHARED: u32 = 57344;

/// Bytes of shared memory of blocks of tiles: 32 vertices of each warp whose turns it ends.
pub const TILE_SHARED: u32 = 8 * 32 * 56;

/// What may be chosen differently from run to run. It changes nothing but speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Vertices of up to so many neighbours are counted by one block.
    pub scan_most: u32,
    /// Whether the phases of a round are one launch, whose blocks wait for one another, instead of
    /// some launches each.
    pub fused: bool,
    /// Parts of an `async` round, one after the other: what is done at once does not see itself.
    pub async_phases: u32,
    /// Whether vertices of low degree share warps and are counted in registers.
    pub packed: bool,
}

impl Tuning {
    /// Whether a run with these settings does a round in one launch.
    pub(super) fn is_fused(&self, settings: &Settings) -> bool {
        self.fused && matches!(settings.schedule.order, Order::Phased { .. })
    }

    /// The lowest class that a vertex can have, as in `field.cuh`.
    pub(super) fn least_class(&self) -> u32 {
        if self.packed { 0 } else { 4 }
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning { scan_most: 1 << 14, fused: true, async_phases: 2, packed: true }
    }
}
