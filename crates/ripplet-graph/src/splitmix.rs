//! SplitMix64: the hash and the steps of random draws of this workspace.
//!
//! Reference: Steele, Lea, Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014.

/// The increment of the generator's state: 2⁶⁴ over the golden ratio, odd.
pub const INCREMENT: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the finalizer of a number: a bijection with full avalanche, which maps 0 to 0.
#[inline]
pub const fn finalize(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Returns the first draw of a generator whose state is `seed`: a bijection with full avalanche.
#[inline]
pub const fn mix(seed: u64) -> u64 {
    finalize(seed.wrapping_add(INCREMENT))
}

/// Returns the next draw of a generator, and advances its state.
#[inline]
pub const fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(INCREMENT);
    finalize(*state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_those_of_the_reference() {
        // The reference implementation's draws from the seed 1234567.
        let mut state = 1_234_567;
        let draws = [(); 3].map(|()| next(&mut state));
        let expected =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(draws, expected);
        assert_eq!(mix(1_234_567), expected[0]);
    }
}
