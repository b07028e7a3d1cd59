//! Counter-based random numbers: pure functions of (seed, round, stream, vertex).
//!
//! A run has no random state. Every draw of every round follows from the seed, on any device and in
//! any order: this makes parallel runs bit-identical.

use wide::u32x4;

/// Returns 32 bits with full avalanche: `lowbias32` by C. Wellons (2018), a bijection.
#[inline]
pub(crate) const fn mix(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// Returns [`mix`] of each lane.
#[inline]
pub(crate) fn mix_lanes(mut x: u32x4) -> u32x4 {
    x ^= x >> 16;
    x = x * u32x4::splat(0x7feb_352d);
    x ^= x >> 15;
    x = x * u32x4::splat(0x846c_a68b);
    x ^ (x >> 16)
}

/// Streams of draws within a round: draws of different streams are independent.
#[derive(Clone, Copy)]
pub(crate) enum Stream {
    Phase = 1,
    Tie = 2,
    Volume = 3,
    Start = 4,
    Merge = 5,
    /// Streams from here on belong to programs.
    Program = 16,
}

/// Seed and round: the inputs of a draw beside stream and vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    seed: u32,
    round: u32,
}

impl Clock {
    /// Returns the clock of a round, counted from 0.
    pub fn new(seed: u64, round: u32) -> Clock {
        Clock { seed: mix(seed as u32 ^ mix((seed >> 32) as u32)), round }
    }

    /// Returns the round, counted from 0.
    #[inline]
    pub fn round(self) -> u32 {
        self.round
    }

    /// Returns the seed, mixed into 32 bits.
    ///
    /// With `mix` the bijection [`lowbias32`] and all sums and differences in 32 bits,
    /// [`Vertex::random`] of a stream is `mix(id ^ mix(seed ^ mix(round ^ mix(stream + 16))))`.
    ///
    /// [`lowbias32`]: https://nullprogram.com/blog/2018/07/31/
    /// [`Vertex::random`]: crate::Vertex::random
    #[inline]
    pub fn seed(self) -> u32 {
        self.seed
    }

    /// Returns a draw for `x` in `0..below`; 0 if that is empty.
    #[inline]
    pub(crate) fn draw(self, stream: Stream, x: u32, below: u64) -> u64 {
        let drawn = u128::from(mix(x ^ self.key(stream as u32)));
        ((drawn * u128::from(below)) >> 32) as u64
    }

    /// Returns the key of a stream in this round; `mix(x ^ key)` is a draw for `x`.
    #[inline]
    pub(crate) fn key(self, stream: u32) -> u32 {
        mix(self.seed ^ mix(self.round ^ mix(stream)))
    }
}

/// Returns a draw in `0..parts` from the high bits of 32 hashed bits.
#[inline]
pub(crate) fn part_of(hashed: u32, parts: u32) -> u32 {
    ((u64::from(hashed) * u64::from(parts)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_stays() {
        // Stored labels of earlier runs depend on these values.
        assert_eq!([mix(0), mix(1), mix(!0)], [0, 0x6889_90c0, 0x6768_824a]);
        let key = Clock::new(7, 3).key(Stream::Tie as u32);
        assert_eq!(key, mix(mix(7 ^ mix(0)) ^ mix(3 ^ mix(2))));
    }

    #[test]
    fn lanes_are_mixed_like_single_values() {
        for first in [0, 1, 0x7fff_fff0, 0x846c_a68b, u32::MAX - 3] {
            let values = [first, first + 1, first + 2, first + 3];
            assert_eq!(mix_lanes(u32x4::from(values)).to_array(), values.map(mix));
        }
    }

    #[test]
    fn phases_are_even() {
        let key = Clock::new(1, 0).key(Stream::Phase as u32);
        let mut sizes = [0u32; 16];
        (0..1 << 16).for_each(|v| sizes[part_of(mix(v ^ key), 16) as usize] += 1);
        assert!(sizes.iter().all(|&n| (3900..4300).contains(&n)), "{sizes:?}");
    }
}
