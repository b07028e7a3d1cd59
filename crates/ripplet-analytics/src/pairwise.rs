//! Sums of floating-point numbers in a fixed order, so that their bits are reproducible.
//!
//! ```text
//! eight   consecutive sources, pairwise: ((a + b) + (c + d)) + ((e + f) + (g + h)); missing ones are 0
//! group   of 64 sources: 0 + its sums of eight, in order
//! whole   0 + its groups, in order
//! ```
//!
//! The order suits vector units, which add eight numbers in parallel, and lets each group be summed
//! independently.

use crate::source_batches::GROUP;

/// The number of terms of a pairwise sum.
pub(crate) const EIGHT: usize = 8;

/// Returns the pairwise sum of eight numbers.
#[inline(always)]
pub(crate) fn sum_of([a, b, c, d, e, f, g, h]: [f64; EIGHT]) -> f64 {
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// Returns the sum of a term over all sources.
pub(crate) fn sum_over<T: Copy>(sources: &[T], term: impl Fn(T) -> f64) -> f64 {
    let of_eight = |sources: &[T]| {
        sum_of(std::array::from_fn(|lane| sources.get(lane).map_or(0.0, |&source| term(source))))
    };
    // Not `sum`, whose initial value is -0.
    let of_group =
        |group: &[T]| group.chunks(EIGHT).map(of_eight).fold(0.0, |sum, eight| sum + eight);
    sources.chunks(GROUP as usize).map(of_group).fold(0.0, |sum, group| sum + group)
}
