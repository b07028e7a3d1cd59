//! Sums of floating-point numbers in an order that is fixed, so that their bits are.
//!
//! ```text
//! eight   of neighbouring sources, pairwise: ((a + b) + (c + d)) + ((e + f) + (g + h)); 0 for missing ones
//! group   of 64 sources: its eights, one after the other, to 0
//! whole   its groups, one after the other, to 0
//! ```
//!
//! Whoever computes eight numbers at once adds them up at once, and whoever has a group needs nobody else's.

use crate::waves::GROUP;

/// Numbers that are summed up pairwise.
pub(crate) const EIGHT: usize = 8;

/// The sum of eight numbers, of pairs of pairs of pairs.
#[inline(always)]
pub(crate) fn sum_of([a, b, c, d, e, f, g, h]: [f64; EIGHT]) -> f64 {
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// The sum of what a term is made of, of all sources.
pub(crate) fn sum_over<T: Copy>(sources: &[T], term: impl Fn(T) -> f64) -> f64 {
    let of_eight = |sources: &[T]| {
        sum_of(std::array::from_fn(|lane| sources.get(lane).map_or(0.0, |&source| term(source))))
    };
    // Not `sum`, which begins with -0.
    let of_group =
        |group: &[T]| group.chunks(EIGHT).map(of_eight).fold(0.0, |sum, eight| sum + eight);
    sources.chunks(GROUP as usize).map(of_group).fold(0.0, |sum, group| sum + group)
}
