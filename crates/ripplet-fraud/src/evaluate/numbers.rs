//! Deterministic random numbers for draws and resamples.

use ripplet_graph::splitmix;

/// Draws of SplitMix64.
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    pub(super) fn next(&mut self) -> u64 {
        splitmix::next(&mut self.0)
    }

    /// From 0 to below `end`; a bias of end / 2⁶⁴.
    pub(super) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }
}
