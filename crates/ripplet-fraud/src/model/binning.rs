//! Intervals of values that end at quantiles.

/// Number of intervals per octave of the number of rows above, at the upper end; the lower end has 2.
const UPPER_PER_OCTAVE: f64 = 3.0;
const LOWER_PER_OCTAVE: f64 = 2.0;
const UPPER: u32 = 40;
const LOWER: u32 = 28;

/// Returns the upper ends of the intervals of a sorted column, ascending and distinct. A value belongs to the
/// first interval whose end is not below it; larger values belong to a last interval without end.
pub(super) fn ends_of(sorted: &[f32]) -> Vec<f32> {
    let count = sorted.len();
    if count == 0 {
        return Vec::new();
    }
    let upper = (0..UPPER).map(|k| 1.0 - (-f64::from(k) / UPPER_PER_OCTAVE).exp2());
    let lower = (1..LOWER).map(|k| (-f64::from(k) / LOWER_PER_OCTAVE).exp2());
    let mut shares: Vec<f64> = upper.chain(lower).collect();
    shares.sort_by(f64::total_cmp);
    let at = |share: f64| ((share * count as f64) as usize).min(count - 1);
    let mut ends: Vec<f32> = shares.into_iter().map(|share| sorted[at(share)]).collect();
    ends.dedup();
    ends
}

/// Returns the interval of a value.
#[inline]
pub(super) fn interval(ends: &[f32], value: f32) -> usize {
    ends.partition_point(|&end| end < value)
}
