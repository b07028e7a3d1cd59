//! Mean over draws with its bootstrap interval.

use super::numbers::Numbers;
use ripplet_graph::splitmix::finalize;

/// Mean over draws, and its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figure {
    /// Mean; NaN if no draw has the measure.
    pub mean: f64,
    /// Lower bound; NaN if it is undefined, as for a single draw.
    pub low: f64,
    /// Upper bound; NaN if it is undefined.
    pub high: f64,
}

/// Number of bootstrap resamples.
const RESAMPLES: usize = 2000;

impl Figure {
    pub(super) fn none() -> Figure {
        Figure { mean: f64::NAN, low: f64::NAN, high: f64::NAN }
    }

    /// Returns the mean of the values of draws.
    pub fn of(values: &[f64], seed: u64) -> Figure {
        Figure::bootstrap(values.len(), seed, |at| values[at], |_| 1.0)
    }

    /// Returns the ratio of the means of two measures over the same draws; NaN if the second mean is 0.
    pub fn of_ratio(values: &[f64], of: &[f64], seed: u64) -> Figure {
        Figure::bootstrap(values.len().min(of.len()), seed, |at| values[at], |at| of[at])
    }

    fn bootstrap(
        count: usize,
        seed: u64,
        above: impl Fn(usize) -> f64,
        below: impl Fn(usize) -> f64,
    ) -> Figure {
        if count == 0 {
            return Figure::none();
        }
        let ratio = |draws: &mut dyn Iterator<Item = usize>| {
            let sums = draws.fold((0.0, 0.0), |sums, at| (sums.0 + above(at), sums.1 + below(at)));
            if sums.1 == 0.0 { f64::NAN } else { sums.0 / sums.1 }
        };
        let mean = ratio(&mut (0..count));
        // A single draw has no interval.
        if count == 1 || mean.is_nan() {
            return Figure { mean, ..Figure::none() };
        }
        let mut numbers = Numbers(finalize(seed ^ 0x6669_6775_7265));
        let mut means: Vec<f64> =
            (0..RESAMPLES).map(|_| ratio(&mut (0..count).map(|_| numbers.below(count)))).collect();
        means.sort_by(f64::total_cmp);
        let outside = RESAMPLES / 40;
        Figure { mean, low: means[outside], high: means[RESAMPLES - 1 - outside] }
    }

    /// Formats mean and interval, as in `0.528 [0.527, 0.529]`; a dash for an undefined value.
    pub(super) fn text(&self, digits: usize) -> String {
        let number = |value: f64| match value.is_nan() {
            true => NOT_DEFINED.into(),
            false => format!("{value:.digits$}"),
        };
        let mean = number(self.mean);
        match self.low.is_nan() && self.high.is_nan() {
            true => mean,
            false => format!("{mean} [{}, {}]", number(self.low), number(self.high)),
        }
    }
}

/// Text of an undefined figure.
pub(super) const NOT_DEFINED: &str = "–";

/// Returns the mean of values; NaN if there are none.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_defined_is_a_dash_and_never_infinite() {
        let text = |above: &[f64], below: &[f64]| Figure::of_ratio(above, below, 0).text(2);
        assert_eq!(text(&[0.5, 0.5], &[0.0, 0.0]), "–");
        assert_eq!(text(&[0.0, 0.0], &[0.0, 0.0]), "–");
        assert_eq!(text(&[], &[]), "–");
        assert_eq!(text(&[0.5], &[0.25]), "2.00", "one draw has no interval");
        assert_eq!(text(&[0.5, 0.5], &[0.25, 0.25]), "2.00 [2.00, 2.00]");
        // In a quarter of the resamples, the second is 0 in both.
        assert_eq!(text(&[0.5, 0.5], &[0.5, 0.0]), "2.00 [1.00, –]");
    }
}
