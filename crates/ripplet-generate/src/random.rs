//! Random numbers: one stream for each part of the work, bounded integers, and power laws.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use ripplet_graph::splitmix::mix;

/// A source of random numbers.
pub(super) struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// Returns the stream of part `part` of the work `purpose`; different triples give independent
    /// streams.
    pub(super) fn new(seed: u64, purpose: &str, part: u64) -> Stream {
        Stream(Xoshiro256PlusPlus::seed_from_u64(mix(derive(seed, purpose) ^ mix(part))))
    }

    pub(super) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Draws uniformly from `0..bound`, by Lemire's multiplication (ACM TOMACS 2019), without its rejection:
    /// the bias of at most bound / 2⁶⁴ is below what any graph could show.
    ///
    /// A bound of 0 gives 0.
    #[inline]
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Draws uniformly from `0.0..1.0`, with 53 bits.
    #[inline]
    pub(super) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Returns true with the given probability.
    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Shuffles values (Fisher and Yates).
    pub(super) fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// Derives a seed for a purpose.
pub(super) fn derive(seed: u64, purpose: &str) -> u64 {
    purpose.bytes().fold(mix(seed), |hash, byte| mix(hash ^ u64::from(byte)))
}

/// Real numbers from `low` to `high` with density proportional to x^−exponent.
#[derive(Clone, Copy, Debug)]
pub(super) struct PowerLaw {
    low: f64,
    high: f64,
    exponent: f64,
}

impl PowerLaw {
    /// `0 < low <= high`.
    pub(super) fn new(low: f64, high: f64, exponent: f64) -> PowerLaw {
        PowerLaw { low, high, exponent }
    }

    /// Returns the law up to `high` with the given mean, or `None` if no lower end gives it.
    pub(super) fn with_mean(mean: f64, high: f64, exponent: f64) -> Option<PowerLaw> {
        let law = |low| PowerLaw::new(low, high, exponent);
        let mut range = (high * 1e-12, high);
        if !(law(range.0).mean()..=high).contains(&mean) {
            return None;
        }
        // The mean grows with the lower end; 100 halvings exhaust the digits of a double.
        for _ in 0..100 {
            let middle = f64::midpoint(range.0, range.1);
            if law(middle).mean() < mean { range.0 = middle } else { range.1 = middle }
        }
        Some(law(range.1))
    }

    /// Returns the quantile of `unit`: the value below which that share of the numbers lies.
    #[inline]
    pub(super) fn quantile(&self, unit: f64) -> f64 {
        let power = 1.0 - self.exponent;
        let ratio = self.high / self.low;
        let value = if power.abs() < 1e-9 {
            self.low * libm::pow(ratio, unit)
        } else {
            let spread = libm::pow(ratio, power) - 1.0;
            self.low * libm::pow(1.0 + unit * spread, 1.0 / power)
        };
        value.clamp(self.low, self.high)
    }

    fn mean(&self) -> f64 {
        if self.low == self.high {
            return self.low;
        }
        // ∫ x^-e and ∫ x·x^-e from 1 to the ratio, in units of `low`.
        let ratio = self.high / self.low;
        let integral = |power: f64| {
            if power.abs() < 1e-9 {
                libm::log(ratio)
            } else {
                (libm::pow(ratio, power) - 1.0) / power
            }
        };
        self.low * integral(2.0 - self.exponent) / integral(1.0 - self.exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_and_repeat() {
        let first = |seed, purpose, part| Stream::new(seed, purpose, part).bits();
        assert_eq!(first(1, "a", 0), first(1, "a", 0));
        let all = [first(1, "a", 0), first(2, "a", 0), first(1, "b", 0), first(1, "a", 1)];
        assert!((1..4).all(|i| !all[..i].contains(&all[i])), "{all:?}");
    }

    #[test]
    fn bounded_numbers_cover_their_range() {
        let mut stream = Stream::new(7, "test", 0);
        let mut seen = [0u32; 10];
        (0..10_000).for_each(|_| seen[stream.below(10) as usize] += 1);
        assert!(seen.iter().all(|&n| (850..1150).contains(&n)), "{seen:?}");
        assert_eq!(stream.below(0), 0);
        let mut values: Vec<u32> = (0..100).collect();
        stream.shuffle(&mut values);
        assert_ne!(values, (0..100).collect::<Vec<_>>());
        values.sort_unstable();
        assert_eq!(values, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn a_power_law_has_the_mean_it_was_asked_for() {
        for exponent in [1.0, 1.5, 2.0, 2.5, 3.0] {
            let law = PowerLaw::with_mean(20.0, 300.0, exponent).unwrap();
            let steps = 1_000_000;
            let sum: f64 = (0..steps).map(|i| law.quantile((i as f64 + 0.5) / steps as f64)).sum();
            assert!((sum / steps as f64 - 20.0).abs() < 0.01, "{exponent}: {}", sum / steps as f64);
        }
        assert!(PowerLaw::with_mean(20.0, 10.0, 2.5).is_none(), "mean above the largest");
        assert!(PowerLaw::with_mean(1.0, 300.0, 0.5).is_none(), "too flat for so low a mean");
        let constant = PowerLaw::with_mean(5.0, 5.0, 2.5).unwrap().quantile(0.3);
        assert!((constant - 5.0).abs() < 1e-6, "{constant}");
    }
}
