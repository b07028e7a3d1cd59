//! A mean over draws, and how far it may be trusted.

use super::numbers::{Numbers, mixed};

/// A mean over draws, and its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figure {
    /// The mean; NaN where no draw has the measure.
    pub mean: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// Resamples of a bootstrap.
const RESAMPLES: usize = 2000;

impl Figure {
    pub(super) fn none() -> Figure {
        Figure { mean: f64::NAN, low: f64::NAN, high: f64::NAN }
    }

    /// The mean of values of draws.
    pub fn of(values: &[f64], seed: u64) -> Figure {
        Figure::bootstrap(values.len(), seed, |at| values[at], |_| 1.0)
    }

    /// The ratio of the means of two measures of the same draws.
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
            sums.0 / sums.1
        };
        let mut numbers = Numbers(mixed(seed ^ 0x6669_6775_7265));
        let mut means: Vec<f64> =
            (0..RESAMPLES).map(|_| ratio(&mut (0..count).map(|_| numbers.below(count)))).collect();
        means.sort_by(f64::total_cmp);
        let outside = RESAMPLES / 40;
        let mean = ratio(&mut (0..count));
        Figure { mean, low: means[outside], high: means[RESAMPLES - 1 - outside] }
    }

    /// The mean and the interval, as in `0.528 [0.527, 0.529]`; a dash where there is none.
    pub(super) fn text(&self, digits: usize) -> String {
        if self.mean.is_nan() {
            return "–".into();
        }
        let Figure { mean, low, high } = self;
        format!("{mean:.digits$} [{low:.digits$}, {high:.digits$}]")
    }
}

/// NaN of none.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
