//! A random permutation that is computed instead of stored.

use ripplet_graph::splitmix::mix;

/// A permutation of `0..count`: any element in constant time, without memory.
///
/// Rounds of "multiply by an odd number, fold the high half onto the low half" permute the next
/// power of two; a result beyond `count` goes through again until it lies inside (cycle walking),
/// on average less than twice. With a round's key k, a value v becomes
///
/// - (v ^ k >> 32) & mask,
/// - times (k | 1), & mask,
/// - ^ itself >> shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permutation {
    /// Number of elements.
    pub count: u64,
    /// The bits of the next power of two.
    pub mask: u64,
    /// Half of these bits, or one more.
    pub shift: u32,
    /// A key of each round.
    pub keys: [u64; Permutation::ROUNDS],
    /// The inverse of the multiplication by each key.
    pub inverses: [u64; Permutation::ROUNDS],
}

impl Permutation {
    /// Rounds. With fewer than four, the images of neighbours are visibly related.
    pub const ROUNDS: usize = 4;

    /// Returns a permutation of `0..count`, drawn by `seed`.
    pub(super) fn new(count: u64, seed: u64) -> Permutation {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        let mask = if bits == 0 { 0 } else { u64::MAX >> (u64::BITS - bits) };
        let keys: [u64; Permutation::ROUNDS] =
            std::array::from_fn(|round| mix(seed ^ mix(round as u64)));
        let inverses = keys.map(|key| inverse_of_odd(key | 1));
        Permutation { count, mask, shift: bits.div_ceil(2), keys, inverses }
    }

    /// Returns the image of `index`, which is below the count.
    #[inline]
    pub(super) fn of(&self, index: u64) -> u64 {
        debug_assert!(index < self.count);
        let mut value = index;
        loop {
            for key in self.keys {
                value = (value ^ (key >> 32)) & self.mask;
                value = value.wrapping_mul(key | 1) & self.mask;
                value ^= value >> self.shift;
            }
            if value < self.count {
                return value;
            }
        }
    }

    /// Returns the index whose image is `image`.
    #[inline]
    pub(super) fn inverse_of(&self, image: u64) -> u64 {
        debug_assert!(image < self.count);
        let mut value = image;
        loop {
            for (key, inverse) in self.keys.into_iter().zip(self.inverses).rev() {
                // The shift is at least half of the bits: folding twice changes nothing.
                value ^= value >> self.shift;
                value = value.wrapping_mul(inverse) & self.mask;
                value = (value ^ (key >> 32)) & self.mask;
            }
            if value < self.count {
                return value;
            }
        }
    }
}

/// Returns the inverse of an odd number modulo 2⁶⁴, by Newton's iteration: an odd number
/// is its own inverse modulo 8, and each step doubles the bits that are right.
fn inverse_of_odd(odd: u64) -> u64 {
    (0..5)
        .fold(odd, |inverse, _| inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_met_once() {
        for count in [1u64, 2, 3, 5, 16, 17, 1000, 4097, 65536] {
            for seed in 0..4 {
                let permutation = Permutation::new(count, seed);
                let mut image: Vec<u64> = (0..count).map(|i| permutation.of(i)).collect();
                let back = image.iter().map(|&image| permutation.inverse_of(image));
                assert!(back.eq(0..count), "count {count}, seed {seed}");
                image.sort_unstable();
                assert!(image.into_iter().eq(0..count), "count {count}, seed {seed}");
            }
        }
    }

    #[test]
    fn neighbours_part() {
        let count = 1 << 16;
        let permutation = Permutation::new(count, 3);
        let near = (1..count)
            .filter(|&i| permutation.of(i).abs_diff(permutation.of(i - 1)) < count / 64)
            .count();
        // Of random pairs, 1/32 lie that near.
        assert!((near as f64 / count as f64 - 1.0 / 32.0).abs() < 0.01, "{near}");
        assert_ne!(permutation.of(5), Permutation::new(count, 4).of(5));
    }
}
