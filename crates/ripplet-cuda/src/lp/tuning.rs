//! Bounds between degree classes. Those that `field.cuh` has as well are part of the kernels.

/// The largest degree of each class but the last two.
pub const MOST: [u64; 10] = [4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096];
/// Arcs of a piece of a vertex that many blocks share.
pub const PIECE: u64 = 4096;
/// Threads of a block, and of one that scans.
pub const BLOCK: u32 = 256;
pub const SCAN_BLOCK: u32 = 1024;
/// Bytes of shared memory of a block that counts.
pub const SHARED: u32 = 57344;

/// What may be chosen differently from run to run. It changes nothing but speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Vertices of up to so many neighbours are counted by one block.
    pub scan_most: u32,
    /// Bytes of shared memory of such a block: as many as the device allows, up to this.
    pub scan_shared: u32,
    /// Where more than one arc in so many is of a vertex that changed, sleeping vertices ask their
    /// neighbours whether they did, instead of being told.
    pub waking_share: u32,
    /// Parts of an `async` round, one after the other: what is done at once does not see itself.
    pub async_phases: u32,
    /// Whether vertices of low degree share warps and are counted in registers.
    pub packed: bool,
}

impl Tuning {
    /// The lowest class that a vertex can have, as in `field.cuh`.
    pub(super) fn least_class(&self) -> u32 {
        if self.packed { 0 } else { 9 }
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning {
            scan_most: 1 << 14,
            scan_shared: 200 << 10,
            waking_share: 3,
            async_phases: 2,
            packed: true,
        }
    }
}
