//! Weighted degrees as contributions to label totals, which have 32 bits.

use crate::hash::{Clock, Stream, mix};
use ripplet_graph::VertexId;

/// The unit of weighted degrees in label totals: 2^s, so that their sum fits 32 bits; see
/// [`LabelTotal::Volume`](crate::LabelTotal::Volume).
#[derive(Clone, Copy, Debug)]
pub struct VolumeUnit {
    shift: u32,
    key: u32,
}

impl VolumeUnit {
    /// Returns the unit for degrees that sum up to `all`.
    ///
    /// It is 1 while `all` fits 32 bits; beyond, the sum uses half of the 32-bit range, as rounding
    /// may add.
    pub fn for_all(all: u64, seed: u64) -> VolumeUnit {
        let shift = if all <= u64::from(u32::MAX) { 0 } else { 33 - all.leading_zeros() };
        VolumeUnit { shift, key: Clock::new(seed, 0).key(Stream::Volume as u32) }
    }

    /// Returns the s of 2^s.
    pub fn shift(self) -> u32 {
        self.shift
    }

    /// Returns the contribution of a vertex with this weighted degree.
    #[inline]
    pub fn share(self, v: VertexId, strength: u64) -> u32 {
        if self.shift == 0 {
            return strength as u32;
        }
        let dither = u64::from(mix(v ^ self.key)) & ((1 << self.shift) - 1);
        ((strength + dither) >> self.shift) as u32
    }
}
