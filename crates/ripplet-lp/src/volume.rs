//! Weighted degrees as shares of label totals, which have 32 bits.

use crate::hash::{Clock, Stream, mix};
use ripplet_graph::VertexId;

/// In what unit a run counts weighted degrees: 2^s, so that all of them fit 32 bits; see
/// [`LabelTotal::Volume`](crate::LabelTotal::Volume).
#[derive(Clone, Copy, Debug)]
pub struct VolumeUnit {
    shift: u32,
    key: u32,
}

impl VolumeUnit {
    /// The unit where the degrees of all vertices sum up to `all`.
    ///
    /// Exact while that fits 32 bits; else half of them are used, as rounding may add.
    pub fn for_all(all: u64, seed: u64) -> VolumeUnit {
        let shift = if all <= u64::from(u32::MAX) { 0 } else { 33 - all.leading_zeros() };
        VolumeUnit { shift, key: Clock::new(seed, 0).key(Stream::Volume as u32) }
    }

    /// The s of 2^s.
    pub fn shift(self) -> u32 {
        self.shift
    }

    /// The share of a vertex of this weighted degree.
    #[inline]
    pub fn share(self, v: VertexId, strength: u64) -> u32 {
        if self.shift == 0 {
            return strength as u32;
        }
        let dither = u64::from(mix(v ^ self.key)) & ((1 << self.shift) - 1);
        ((strength + dither) >> self.shift) as u32
    }
}
