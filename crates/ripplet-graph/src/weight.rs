//! Weights as integers: quantized once, so that sums do not depend on their order.

/// How real weights became integers: `stored = round(weight · 2^exponent)`.
///
/// Sums of integers are exact in any order, which is what makes a run's labels the same on any
/// number of threads and on any device. Integer weights keep exponent 0 and stay exact as long as
/// they fit; a positive weight never becomes 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WeightScale {
    exponent: i32,
}

/// Bits that the largest single real weight takes: the rest of 32 is room for duplicates' sums.
const REAL_WEIGHT_BITS: i32 = 28;
/// Bits that the sum over all arcs may take, so that products of two sums fit 128 bits.
const TOTAL_BITS: i32 = 62;

impl WeightScale {
    /// The identity: integer weights, or none at all.
    pub const ONE: WeightScale = WeightScale { exponent: 0 };

    /// The finest scale at which `weights` (finite, 0 or above) fit.
    pub fn fitting(weights: &[f64]) -> WeightScale {
        let largest = weights.iter().fold(0.0f64, |a, &w| a.max(w));
        let total: f64 = weights.iter().sum();
        if largest == 0.0 {
            return WeightScale::ONE;
        }
        let whole = largest <= f64::from(u32::MAX) && weights.iter().all(|w| w.fract() == 0.0);
        let by_largest = if whole { 0 } else { REAL_WEIGHT_BITS - bits(largest) };
        // Each row may become two arcs, hence the 1.
        let by_total = TOTAL_BITS - bits(total) - 1;
        WeightScale { exponent: by_largest.min(by_total).clamp(-1022, 1023) }
    }

    /// The scale from its exponent, as a file stores it.
    pub fn from_exponent(exponent: i32) -> Option<WeightScale> {
        (-1022..=1023).contains(&exponent).then_some(WeightScale { exponent })
    }

    /// The exponent.
    pub fn exponent(self) -> i32 {
        self.exponent
    }

    /// The next scale at which `sum`, a stored value too large for `u32`, fits.
    pub(crate) fn coarser_for(self, sum: u64) -> WeightScale {
        let over = 64 - sum.leading_zeros() as i32 - 32;
        WeightScale { exponent: (self.exponent - over.max(1)).max(-1022) }
    }

    /// The stored form of a weight, saturating at the largest `u32`.
    pub fn quantize(self, weight: f64) -> u32 {
        let scaled = (weight * self.factor()).round();
        if scaled < 1.0 && weight > 0.0 { 1 } else { scaled as u32 }
    }

    /// The weight that a stored sum stands for.
    pub fn weight(self, stored: u64) -> f64 {
        stored as f64 / self.factor()
    }

    fn factor(self) -> f64 {
        // 2^exponent, from its bits: the exponent of a normal number.
        f64::from_bits(((self.exponent + 1023) as u64) << 52)
    }
}

/// The position of the highest bit: the least `b` with `value < 2^b`.
fn bits(value: f64) -> i32 {
    value.log2().floor() as i32 + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn integers_stay_as_they_are() {
        let scale = WeightScale::fitting(&[1.0, 3.0, 4_000_000_000.0]);
        assert_eq!(scale, WeightScale::ONE);
        assert_eq!(scale.quantize(4_000_000_000.0), 4_000_000_000);
        assert_eq!(scale.quantize(0.0), 0);
        assert_eq!(WeightScale::fitting(&[]), WeightScale::ONE);
        assert_eq!(WeightScale::fitting(&[0.0]), WeightScale::ONE);
    }

    #[test]
    fn a_positive_weight_never_vanishes() {
        let scale = WeightScale::fitting(&[1e-30, 1e30]);
        assert_eq!(scale.quantize(1e-30), 1);
        assert!(scale.quantize(1e30) > 1 << 26);
        assert!(WeightScale::fitting(&[f64::MAX, f64::MIN_POSITIVE]).quantize(f64::MAX) > 1 << 26);
        assert!(WeightScale::fitting(&[f64::MIN_POSITIVE]).quantize(f64::MIN_POSITIVE) >= 1);
    }

    #[test]
    fn a_sum_that_overflows_gets_a_coarser_scale() {
        let scale = WeightScale::ONE.coarser_for(1 << 33);
        assert_eq!(scale.exponent(), -2);
        assert_eq!(scale.quantize((1u64 << 33) as f64), 1 << 31);
    }

    proptest! {
        #[test]
        fn quantizing_keeps_27_bits(weights in prop::collection::vec(1e-3f64..1e9, 1..50)) {
            let scale = WeightScale::fitting(&weights);
            let largest = weights.iter().fold(0.0f64, |a, &w| a.max(w));
            for weight in weights {
                let error = (scale.weight(u64::from(scale.quantize(weight))) - weight).abs();
                prop_assert!(error <= largest / f64::from(1 << 27));
            }
        }
    }
}
