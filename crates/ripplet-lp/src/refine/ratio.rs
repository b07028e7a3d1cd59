//! Resolutions as fractions of integers, so that scores are exact.

use std::ops::RangeInclusive;

/// A fraction of positive integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ratio {
    pub num: u64,
    pub den: u64,
}

/// The largest numerator and denominator that the search for the simplest fraction accepts: enough
/// for six decimal places.
const SIMPLE: f64 = 1e6;
/// Significant bits of a resolution that is no simple fraction.
const BITS: i32 = 24;

impl Ratio {
    pub const ONE: Ratio = Ratio { num: 1, den: 1 };
    /// The values that have a fraction: from 2⁻³⁹ to 2³⁹.
    pub const RANGE: RangeInclusive<f64> = 1.0 / (1u64 << 39) as f64..=(1u64 << 39) as f64;

    /// Returns a value in [`Ratio::RANGE`] as a fraction: the simplest that rounds to it if that is
    /// simple, or its 24 leading bits.
    pub fn of(value: f64) -> Ratio {
        simplest(value).unwrap_or_else(|| Ratio::rounded(value, BITS))
    }

    /// Returns a value in [`Ratio::RANGE`], rounded to `bits` significant bits, at most 24.
    pub fn rounded(value: f64, bits: i32) -> Ratio {
        let exponent = exponent_of(value);
        let shift = bits - 1 - exponent;
        // Scaling by a power of two is exact.
        let mantissa = (value * 2f64.powi(shift)).round() as u64;
        let (mut num, mut den) = match shift {
            0.. => (mantissa, 1u64 << shift.min(63)),
            _ => (mantissa << -shift, 1),
        };
        let common = num.trailing_zeros().min(den.trailing_zeros());
        (num, den) = (num >> common, den >> common);
        Ratio { num, den }
    }

    /// Returns the value as a float.
    pub fn value(self) -> f64 {
        self.num as f64 / self.den as f64
    }
}

/// Returns the binary exponent of a normal positive float.
fn exponent_of(value: f64) -> i32 {
    ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023
}

/// Returns the first convergent of the value's continued fraction that rounds to the value.
fn simplest(value: f64) -> Option<Ratio> {
    let (mut num, mut den) = ((1.0f64, 0.0f64), (0.0f64, 1.0f64));
    let mut rest = value;
    loop {
        let whole = rest.floor();
        num = (whole * num.0 + num.1, num.0);
        den = (whole * den.0 + den.1, den.0);
        if num.0 > SIMPLE || den.0 > SIMPLE {
            return None;
        }
        if num.0 / den.0 == value {
            return Some(Ratio { num: num.0 as u64, den: den.0 as u64 });
        }
        rest = 1.0 / (rest - whole);
        if !rest.is_finite() {
            return None;
        }
    }
}

/// Returns the natural logarithm of a positive normal float, bit for bit equal on every machine.
///
/// The fraction of the binary logarithm comes bit by bit from squaring the mantissa: the square of a
/// number from 1 to 2 is 2 or more if and only if the next bit is 1. Error below 2⁻³⁹.
pub(super) fn ln(value: f64) -> f64 {
    const FRACTION_BITS: u32 = 40;
    // The mantissa, from 1 to 2, in units of 2⁻⁶³.
    let mut mantissa = (value.to_bits() & ((1 << 52) - 1) | 1 << 52) << 11;
    let mut log = i64::from(exponent_of(value));
    for _ in 0..FRACTION_BITS {
        // From 1 to 4 in units of 2⁻⁶²; the high half of the product.
        let square = ((u128::from(mantissa) * u128::from(mantissa)) >> 64) as u64;
        let bit = square >> 63;
        log = log << 1 | bit as i64;
        mantissa = if bit == 1 { square } else { square << 1 };
    }
    log as f64 / (1u64 << FRACTION_BITS) as f64 * std::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_fractions_stay_simple() {
        for (value, num, den) in [
            (1.0, 1, 1),
            (0.05, 1, 20),
            (2.5, 5, 2),
            (1.0 / 3.0, 1, 3),
            (0.123456, 1929, 15625),
            (1e6, 1_000_000, 1),
            (1e-6, 1, 1_000_000),
        ] {
            assert_eq!(Ratio::of(value), Ratio { num, den });
        }
    }

    #[test]
    fn other_values_keep_their_leading_bits() {
        for value in [std::f64::consts::PI, 1e-9, 1.234567891e-7, 1e9, 123_456.789_012, 0.1 + 0.2] {
            let ratio = Ratio::of(value);
            assert!((ratio.value() / value - 1.0).abs() < 1e-7, "{value}: {ratio:?}");
        }
        assert_eq!(Ratio::rounded(1.0, 10), Ratio::ONE);
        assert_eq!(Ratio::rounded(1.0 - 1e-9, 10), Ratio::ONE);
        assert_eq!(Ratio::rounded(std::f64::consts::PI, 10), Ratio { num: 201, den: 64 });
    }

    #[test]
    fn logarithms_are_right() {
        for value in [1.0, 2.0, 0.5, 1.5, 3.0, 1e-12, 1e12, 0.999_999, 1.000_001] {
            assert!((ln(value) - f64::ln(value)).abs() < 1e-11, "{value}: {}", ln(value));
        }
    }
}
