//! Weights as integers: quantized once, so that sums do not depend on their order.

use crate::{Alone, Reduce};
use rayon::prelude::*;
use std::convert::Infallible;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The scale of quantized weights: `stored = round(weight / unit)`.
///
/// Sums of integers are exact in any order, so that a run's labels do not depend on the number of
/// threads or the device. The unit is a power of two, or a negative power of ten if that represents
/// every weight exactly (amounts in cents). Integer weights keep the unit 1 and stay exact as long
/// as they fit. A positive weight never becomes 0. [`WeightLoss`] describes the changes of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightScale(Unit);

/// The value of one stored unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// 2^-exponent.
    Binary { exponent: i32 },
    /// 10^-digits.
    Decimal { digits: i32 },
}

/// Bits of the largest real weight: the other 4 of 32 are headroom for sums of duplicates.
const REAL_WEIGHT_BITS: i32 = 28;
/// Bits of the largest real weight if fewer lose too much: all bits of a stored weight.
const WIDE_WEIGHT_BITS: i32 = 32;
/// Bits of the sum over all arcs, at most, so that products of two sums fit 128 bits.
const TOTAL_BITS: i32 = 62;
/// The most decimal places of a decimal unit: 10^9 is the largest power of ten below 2^32.
const MOST_DIGITS: i32 = 9;
/// The offset of a decimal unit's digits in [`WeightScale::code`]: above all exponents of binary
/// units.
const DECIMAL: i32 = 1 << 12;
/// Weights per task.
const WEIGHTS_PER_TASK: usize = 1 << 14;

impl Default for WeightScale {
    fn default() -> WeightScale {
        WeightScale::ONE
    }
}

/// The largest weight of an edge: sums of as many as a graph can have are finite, and so are lengths of paths.
pub const LARGEST_WEIGHT: f64 = 1e298;

/// Returns what a number must be to be a weight, if it is none.
pub fn weight_flaw(number: f64) -> Option<&'static str> {
    match number {
        0.0..=LARGEST_WEIGHT => None,
        LARGEST_WEIGHT.. if number.is_finite() => {
            Some("a number up to 1e298, so that sums are finite")
        }
        _ => Some("a finite number, 0 or above"),
    }
}

impl WeightScale {
    /// The identity: integer weights, or none.
    pub const ONE: WeightScale = WeightScale(Unit::Binary { exponent: 0 });

    /// Returns the scale at which `weights` (finite, 0 or above) fit with the least loss.
    ///
    /// 1. The unit 1, if all are integers below 2^32.
    /// 2. A power of ten at which every weight is a whole number of units: cents, up to
    ///    42,949,672.95.
    /// 3. The power of two at which the largest weight takes 28 bits, if no weight changes by more
    ///    than [`WeightLoss::NEGLIGIBLE`].
    /// 4. The power of two at which the largest weight takes 32 bits.
    ///
    /// In any case the sum over all arcs stays below 2^62 units.
    pub fn fitting(weights: &[f64]) -> WeightScale {
        let alone: Result<WeightScale, Infallible> = WeightScale::fitting_all(weights, &mut Alone);
        alone.unwrap_or_else(|never| match never {})
    }

    /// Returns the scale that [`WeightScale::fitting`] has for the weights of all processes, of which this one has
    /// `weights`.
    ///
    /// # Errors
    /// The errors of `reduce`.
    pub fn fitting_all<R: Reduce>(
        weights: &[f64],
        reduce: &mut R,
    ) -> Result<WeightScale, R::Error> {
        let all = Figures::of(weights, reduce)?;
        if all.largest == 0.0 {
            return Ok(WeightScale::ONE);
        }
        // Each row may become two arcs, hence the 1.
        let by_total = TOTAL_BITS - all.total_bits - 1;
        if all.are_whole && all.largest <= f64::from(u32::MAX) {
            return Ok(WeightScale::binary(by_total.min(0)));
        }
        let of_bits = |bits_of_largest: i32| {
            WeightScale::binary(by_total.min(bits_of_largest - bits(all.largest)))
        };
        if let Some(decimal) = WeightScale::decimal(weights, &all, reduce)? {
            return Ok(decimal);
        }
        let usual = of_bits(REAL_WEIGHT_BITS);
        match usual.loss_of_all(weights, reduce)?.changed {
            0 => Ok(usual),
            _ => Ok(of_bits(WIDE_WEIGHT_BITS)),
        }
    }

    /// Returns the decimal scale that represents each of all weights exactly, if there is one.
    fn decimal<R: Reduce>(
        weights: &[f64],
        all: &Figures,
        reduce: &mut R,
    ) -> Result<Option<WeightScale>, R::Error> {
        let fits = |digits: &i32| {
            let factor = 10f64.powi(*digits);
            (all.largest * factor).round() <= f64::from(u32::MAX)
                && bits(all.total * factor) < TOTAL_BITS
        };
        let Some(most) = (1..=MOST_DIGITS).take_while(fits).last() else { return Ok(None) };
        // A weight that is exact with some digits is so with more: each weight only needs to add
        // digits.
        let digits_of = |weights: &[f64]| {
            weights.iter().try_fold(1, |digits, &weight| {
                let exact =
                    |digits: &i32| WeightScale(Unit::Decimal { digits: *digits }).is_exact(weight);
                (digits..=most).find(exact)
            })
        };
        let digits = weights.par_chunks(WEIGHTS_PER_TASK).map(digits_of);
        let digits = digits.try_reduce(|| 1, |a, b| Some(a.max(b)));
        let own = digits.map_or(u64::MAX, |digits| digits as u64);
        let digits = i32::try_from(reduce.largest("weight digits", own)?).ok();
        Ok(digits.map(|digits| WeightScale(Unit::Decimal { digits })))
    }

    /// Returns a scale whose unit is a power of two.
    fn binary(exponent: i32) -> WeightScale {
        WeightScale(Unit::Binary { exponent: exponent.clamp(-1022, 1023) })
    }

    /// Returns whether a weight is stored exactly.
    fn is_exact(self, weight: f64) -> bool {
        self.weight(u64::from(self.quantize(weight))) == weight
    }

    /// Returns the scale whose [`WeightScale::code`] this is.
    pub fn from_code(code: i32) -> Option<WeightScale> {
        match code {
            -1022..=1023 => Some(WeightScale(Unit::Binary { exponent: code })),
            _ => {
                let digits = code.checked_sub(DECIMAL)?;
                (1..=MOST_DIGITS).contains(&digits).then_some(WeightScale(Unit::Decimal { digits }))
            }
        }
    }

    /// Returns the scale as stored in files: `e` for a unit of `2^-e`, `4096 + d` for one of
    /// `10^-d`.
    pub fn code(self) -> i32 {
        match self.0 {
            Unit::Binary { exponent } => exponent,
            Unit::Decimal { digits } => DECIMAL + digits,
        }
    }

    /// Returns whether every stored weight represents a whole number.
    pub fn is_whole(self) -> bool {
        matches!(self.0, Unit::Binary { exponent: ..=0 })
    }

    /// Returns whether the unit is a negative power of ten, which represents decimals exactly.
    pub fn is_decimal(self) -> bool {
        matches!(self.0, Unit::Decimal { .. })
    }

    /// Returns the next coarser scale at which `sum`, a stored value too large for `u32`, fits.
    pub(crate) fn coarser_for(self, sum: u64) -> WeightScale {
        let over = |sum: u64| 64 - sum.leading_zeros() as i32 - 32;
        match self.0 {
            Unit::Binary { exponent } => WeightScale::binary(exponent - over(sum).max(1)),
            // The sum in whole units, rounded up.
            Unit::Decimal { .. } => WeightScale::binary(-over(self.weight(sum) as u64 + 1)),
        }
    }

    /// Returns the stored form of a weight, saturating at the largest `u32`.
    pub fn quantize(self, weight: f64) -> u32 {
        let scaled = (weight * self.factor()).round();
        if scaled < 1.0 && weight > 0.0 { 1 } else { scaled as u32 }
    }

    /// Returns the real value of a stored sum.
    pub fn weight(self, stored: u64) -> f64 {
        stored as f64 / self.factor()
    }

    /// Returns a real weight, or a sum of such, rounded to the decimals that the unit resolves: what is stored with a
    /// binary unit as 1910.4200019836426 is 1910.42. At least three digits stay.
    pub fn rounded(self, weight: f64) -> f64 {
        let Unit::Binary { exponent: exponent @ 1.. } = self.0 else { return weight };
        let decimals = (f64::from(exponent) * std::f64::consts::LOG10_2).floor() as i32;
        let rounded = match weight >= 100.0 * 10f64.powi(-decimals) {
            true => format!("{weight:.0$}", decimals.max(0) as usize),
            false => format!("{weight:.2e}"),
        };
        rounded.parse().unwrap_or(weight)
    }

    /// Returns the changes from storing `weights` (finite, 0 or above) at this scale.
    ///
    /// The result does not depend on the number of threads.
    pub fn loss(self, weights: &[f64]) -> WeightLoss {
        let of_some = |weights: &[f64]| {
            let mut loss = WeightLoss::default();
            weights.iter().for_each(|&weight| loss.add(weight, self));
            loss
        };
        if weights.len() <= WEIGHTS_PER_TASK {
            return of_some(weights);
        }
        let losses = weights.par_chunks(WEIGHTS_PER_TASK).map(of_some);
        losses.reduce(WeightLoss::default, WeightLoss::and)
    }

    /// Returns the changes from storing the weights of all processes, of which this one has `weights`.
    pub(crate) fn loss_of_all<R: Reduce>(
        self,
        weights: &[f64],
        reduce: &mut R,
    ) -> Result<WeightLoss, R::Error> {
        let own = self.loss(weights).words();
        let and = |a, b| WeightLoss::of_words(a).and(WeightLoss::of_words(b)).words();
        Ok(WeightLoss::of_words(reduce.reduce("weight loss", own, and)?))
    }

    /// Returns the number of stored units of a weight of 1.
    fn factor(self) -> f64 {
        match self.0 {
            // 2^exponent, from its bits: the exponent of a normal number.
            Unit::Binary { exponent } => f64::from_bits(((exponent + 1023) as u64) << 52),
            Unit::Decimal { digits } => 10f64.powi(digits),
        }
    }
}

/// Returns the position of the highest bit of a value above 0: the least `b` with `value < 2^b`. It is read from the
/// exponent, as a logarithm may differ between machines.
fn bits(value: f64) -> i32 {
    let exponent = (value.to_bits() >> 52 & 0x7ff) as i32;
    match exponent {
        // A subnormal number: its fraction in units of 2^-1074.
        0 => u64::BITS as i32 - value.to_bits().leading_zeros() as i32 - 1074,
        _ => exponent - 1022,
    }
}

/// What decides on the scale of weights.
struct Figures {
    largest: f64,
    /// Whether all are integers.
    are_whole: bool,
    /// The sum, about.
    total: f64,
    /// The position of the highest bit of the sum, which may be above all values of a float.
    total_bits: i32,
}

impl Figures {
    /// The bits of the largest weight in the unit of the sum.
    const BITS: i32 = 60;

    /// Returns the figures of all processes' weights, of which this one has `weights`.
    ///
    /// The sum is one of integers, so that it depends on no order.
    fn of<R: Reduce>(weights: &[f64], reduce: &mut R) -> Result<Figures, R::Error> {
        let chunks = || weights.par_chunks(WEIGHTS_PER_TASK);
        let largest = chunks().map(|some| some.iter().fold(0.0f64, |a, &w| a.max(w)));
        let largest = largest.reduce(|| 0.0, f64::max);
        // Bits of positive floats ascend as they do.
        let largest = f64::from_bits(reduce.largest("largest weight", largest.to_bits())?);
        if largest == 0.0 {
            return Ok(Figures { largest, are_whole: true, total: 0.0, total_bits: 0 });
        }
        let unit = bits(largest) - Figures::BITS;
        // In two steps, as one power of two may be beyond all floats.
        let [first, second] = [-unit / 2, -unit - (-unit / 2)].map(|power| 2f64.powi(power));
        let units = |weight: f64| u128::from((weight * first * second).ceil() as u64);
        let some = chunks().map(|some| {
            let total: u128 = some.iter().map(|&weight| units(weight)).sum();
            (total, some.iter().all(|weight| weight.fract() == 0.0))
        });
        let (total, are_whole) = some.reduce(|| (0, true), |a, b| (a.0 + b.0, a.1 && b.1));
        let own = [total as u64, (total >> 64) as u64, u64::from(!are_whole)];
        let wide = |low: u64, high: u64| u128::from(high) << 64 | u128::from(low);
        let [low, high, fractions] = reduce.reduce("weights", own, |a, b| {
            let sum = wide(a[0], a[1]).wrapping_add(wide(b[0], b[1]));
            [sum as u64, (sum >> 64) as u64, a[2] | b[2]]
        })?;
        let total = wide(low, high);
        let total_bits = u128::BITS as i32 - total.leading_zeros() as i32 + unit;
        let total = total as f64 / first / second;
        Ok(Figures { largest, are_whole: fractions == 0, total, total_bits })
    }
}

/// The changes of weights stored as integers: their number, and the largest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WeightLoss {
    /// The number of weights.
    pub weights: u64,
    /// The number of weights whose relative change exceeds [`WeightLoss::NEGLIGIBLE`].
    pub changed: u64,
    /// The largest relative change: `|stored - weight| / weight`.
    pub worst: f64,
    /// The weight with the largest relative change.
    pub weight: f64,
    /// Its stored value.
    pub stored: f64,
}

impl WeightLoss {
    /// The relative change up to which a weight counts as unchanged: one part in a million.
    pub const NEGLIGIBLE: f64 = 1e-6;
    /// The largest relative change at which a graph is built, unless coarse weights are allowed.
    pub const LIMIT: f64 = 0.01;

    /// Adds a weight that was stored at `scale`.
    #[inline]
    fn add(&mut self, weight: f64, scale: WeightScale) {
        self.weights += 1;
        let stored = scale.weight(u64::from(scale.quantize(weight)));
        let change = (stored - weight).abs();
        // A weight of 0 stays 0.
        if change > WeightLoss::NEGLIGIBLE * weight {
            self.changed += 1;
            // Of a tiny weight, the quotient exceeds all floats.
            let relative = (change / weight).min(f64::MAX);
            if relative > self.worst || relative == self.worst && weight < self.weight {
                (self.worst, self.weight, self.stored) = (relative, weight, stored);
            }
        }
    }

    /// Returns the loss as words, for [`Reduce`].
    fn words(self) -> [u64; 5] {
        let WeightLoss { weights, changed, worst, weight, stored } = self;
        [weights, changed, worst.to_bits(), weight.to_bits(), stored.to_bits()]
    }

    /// Returns the loss of [`WeightLoss::words`].
    fn of_words([weights, changed, rest @ ..]: [u64; 5]) -> WeightLoss {
        let [worst, weight, stored] = rest.map(f64::from_bits);
        WeightLoss { weights, changed, worst, weight, stored }
    }

    /// Returns the combination of two losses.
    #[must_use]
    pub fn and(self, other: WeightLoss) -> WeightLoss {
        // Of equal changes the smaller weight, so that the order does not matter.
        let key = |loss: &WeightLoss| (loss.worst, -loss.weight);
        let worse = if key(&other) > key(&self) { other } else { self };
        WeightLoss {
            weights: self.weights + other.weights,
            changed: self.changed + other.changed,
            ..worse
        }
    }

    /// Returns why weights of this loss are refused, and what to do: `whose` says which weights.
    pub(crate) fn refusal(&self, whose: &str) -> String {
        /// With the smallest unit, 2^-1023, the largest weight keeps 28 bits down to this.
        const SMALLEST: f64 = 3e-300;
        if self.weight < SMALLEST && self.stored < SMALLEST {
            return format!(
                "{whose} are too small to be stored, as weights below {SMALLEST:e} are: {self}; multiply all by the same \
                 number"
            );
        }
        format!(
            "{whose} differ too much in size: {self}; scale the largest down, or take the weights as they become with \
             --coarse-weights"
        )
    }

    /// Returns whether some weight changed by more than [`WeightLoss::LIMIT`].
    pub fn is_too_large(&self) -> bool {
        self.worst > WeightLoss::LIMIT
    }
}

impl fmt::Display for WeightLoss {
    /// `3 of 10 weights changed as they became integers of 32 bits, the worst by 2.4 % (0.01 to 0.0102)`.
    ///
    /// Numbers of more digits than anyone reads have an exponent.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WeightLoss { weights, changed, worst, weight, stored } = self;
        let [weight, stored] = [weight, stored].map(|&w| short(w));
        let percent = 100.0 * worst;
        let percent = match percent {
            10.0..1e9 => format!("{percent:.0}"),
            0.01..10.0 => format!("{percent:.2}"),
            f64::INFINITY => "more than 1e308".into(),
            _ => format!("{percent:.1e}"),
        };
        write!(
            f,
            "{changed} of {weights} weights changed as they became integers of 32 bits, the worst by \
             {percent} % ({weight} to {stored})"
        )
    }
}

/// Returns a number for a message: with an exponent if it has many digits without.
fn short(number: f64) -> String {
    match number == 0.0 || (1e-5..1e17).contains(&number) {
        true => number.to_string(),
        false => format!("{number:e}"),
    }
}

/// Decides whether weights may change by more than [`WeightLoss::LIMIT`], and records their
/// changes.
///
/// Clones share the record: a reader and a builder can use one ledger.
#[derive(Clone, Debug, Default)]
pub struct WeightLedger {
    coarse: bool,
    noted: Arc<Mutex<WeightLoss>>,
}

impl WeightLedger {
    /// Creates a ledger that allows coarse weights (`coarse`), or refuses them.
    pub fn new(coarse: bool) -> WeightLedger {
        WeightLedger { coarse, ..WeightLedger::default() }
    }

    /// Returns the changes recorded so far.
    pub fn loss(&self) -> WeightLoss {
        *self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a loss.
    pub(crate) fn note(&self, loss: WeightLoss) {
        if loss.weights > 0 {
            let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
            *noted = noted.and(loss);
        }
    }

    /// Returns whether a graph with this loss is refused.
    pub(crate) fn refuses(&self, loss: &WeightLoss) -> bool {
        !self.coarse && loss.is_too_large()
    }
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
        assert_eq!(scale.code(), -2);
        assert_eq!(scale.quantize((1u64 << 33) as f64), 1 << 31);
    }

    #[test]
    fn the_highest_bit_is_that_of_the_exponent() {
        let tiny = f64::from_bits(1);
        for (value, expected) in [
            (1.0, 1),
            (0.99, 0),
            (2.0, 2),
            (4_294_967_295.0, 32),
            (4_294_967_296.0, 33),
            (f64::MAX, 1024),
            (f64::MIN_POSITIVE, -1021),
            (f64::MIN_POSITIVE / 2.0, -1022),
            (tiny, -1073),
            (3.0 * tiny, -1072),
        ] {
            assert_eq!(bits(value), expected, "{value:e}");
        }
    }

    #[test]
    fn the_scale_does_not_depend_on_the_order() {
        // The sum of floats does: the small ones vanish beside the large one if they come after it.
        let mut weights = vec![1.5; 1 << 12];
        weights.push(2f64.powi(60));
        let scale = WeightScale::fitting(&weights);
        weights.reverse();
        assert_eq!(WeightScale::fitting(&weights), scale);
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

    #[test]
    fn amounts_in_cents_are_exact() {
        let cents = |amount: f64| WeightScale::fitting(&[0.01, 19.99, amount]);
        let scale = cents(42_949_672.95);
        assert_eq!((scale.code(), scale.weight(1)), (4098, 0.01));
        for weight in [0.01, 0.1, 19.99, 42_949_672.95] {
            assert_eq!(scale.weight(scale.quantize(weight).into()), weight);
        }
        // One cent more does not fit: the last resort is all bits of an integer.
        assert!(cents(42_949_672.96).code() < 1024);
        assert_eq!(WeightScale::from_code(scale.code()), Some(scale));
        for code in [1024, 4096, 4106, i32::MIN, i32::MAX, -1023] {
            assert_eq!(WeightScale::from_code(code), None, "{code}");
        }
    }

    #[test]
    fn few_decimals_come_before_powers_of_two() {
        for (weights, code) in [
            (&[0.5, 0.25, 3.0][..], 4098),
            (&[0.1, 0.2], 4097),
            (&[1e6 + 0.5, 1.5], 4097),
            // Too large, and too many decimals.
            (&[5e9, 1e9], -5),
            (&[1.0 / 3.0, 2.0], 26),
            (&[f64::from(0.1f32), 0.5], 28),
        ] {
            assert_eq!(WeightScale::fitting(weights).code(), code, "{weights:?}");
        }
    }

    #[test]
    fn sums_of_cents_are_those_of_decimals() {
        let scale = WeightScale::fitting(&[10.1, 20.2, 19.99]);
        let sum = u64::from(scale.quantize(10.1)) + u64::from(scale.quantize(20.2));
        assert_eq!(scale.weight(sum), 30.3);
    }

    #[test]
    fn what_changes_is_counted() {
        let weights = [0.01, 1.0, 1_000_000_000.5];
        let loss = WeightScale::fitting(&weights).loss(&weights);
        assert_eq!((loss.weights, loss.changed), (3, 1));
        // A unit is 1/4, and 0.01 must not vanish.
        assert_eq!((loss.weight, loss.stored, loss.worst), (0.01, 0.25, 24.0));
        assert!(loss.is_too_large());
        let none = WeightScale::ONE.loss(&[0.0, 7.0]);
        assert_eq!(none, WeightLoss { weights: 2, ..WeightLoss::default() });
    }

    #[test]
    fn a_decimal_sum_that_overflows_gets_a_binary_scale() {
        let scale = WeightScale::from_code(4098).unwrap();
        let sum = 100 * (u64::from(u32::MAX) + 1);
        let coarser = scale.coarser_for(sum);
        assert_eq!(coarser.code(), -1);
        // A sum of cents of 33 bits is about 2^26: whole units fit.
        assert_eq!(scale.coarser_for(1 << 32).code(), 6);
    }

    #[test]
    fn sums_are_rounded_to_what_the_unit_tells_apart() {
        // The unit is 2^-18, some 4 in a million.
        let scale = WeightScale::from_code(18).unwrap();
        for (sum, expected) in [
            (1_910.420_001_983_642_6, 1910.42),
            (0.099_998_474_121, 0.1),
            (scale.weight(1), 3.81e-6),
            (0.0, 0.0),
            (123_456_789.012_344, 123_456_789.012_34),
        ] {
            assert_eq!(scale.rounded(sum), expected, "{sum}");
        }
        for code in [0, -5, 4098] {
            let exact = WeightScale::from_code(code).unwrap();
            assert_eq!(exact.rounded(1_910.420_001_983_642_6), 1_910.420_001_983_642_6, "{code}");
        }
        let tiny = WeightScale::from_code(1023).unwrap();
        assert_eq!(tiny.rounded(1e-300), 1e-300);
    }

    #[test]
    fn equal_weights_fit_however_large_they_are() {
        for weight in [1e308, 1.7e308, 1e300, 1e-299] {
            let weights = [weight; 100];
            let loss = WeightScale::fitting(&weights).loss(&weights);
            assert!(loss.worst < 1e-6, "{weight:e}: {loss}");
        }
    }

    #[test]
    fn a_refusal_says_whether_weights_differ_or_are_too_small() {
        let refusal = |weights: &[f64]| {
            let loss = WeightScale::fitting(weights).loss(weights);
            assert!(loss.is_too_large(), "{weights:?}");
            loss.refusal("the weights")
        };
        let differ = refusal(&[1e-308, 1e308]);
        assert!(differ.contains("differ too much") && differ.len() < 250, "{differ}");
        assert!(
            differ.contains("the worst by more than 1e308 %") && !differ.contains("inf"),
            "{differ}"
        );
        let loss = WeightScale::fitting(&[1e-308, 1e308]).loss(&[2e-308, 1e-308, 3e-308]);
        assert_eq!((loss.worst, loss.weight), (f64::MAX, 1e-308), "the smallest of equals");
        let small = refusal(&[5e-324, 5e-324]);
        assert!(
            small.contains("too small") && small.contains("(5e-324 to 1.1125369292536007e-308)"),
            "{small}"
        );
    }

    proptest! {
        #[test]
        fn losses_do_not_depend_on_the_order(
            mut weights in prop::collection::vec(prop_oneof![Just(0.0), 1e-6f64..1e12], 0..60),
        ) {
            let scale = WeightScale::fitting(&weights);
            let forwards = scale.loss(&weights);
            weights.reverse();
            let parts = weights.chunks(7).map(|part| scale.loss(part));
            prop_assert_eq!(parts.fold(WeightLoss::default(), WeightLoss::and), forwards);
        }

        #[test]
        fn ten_times_more_is_kept_than_with_28_bits(
            exponents in prop::collection::vec(0.0f64..7.3, 2..50),
        ) {
            // A ratio of 2·10^7 between the largest and the smallest: 28 bits lose up to 10 % of
            // that.
            let weights: Vec<f64> = exponents.iter().map(|e| 10f64.powf(*e) / 7.0).collect();
            let loss = WeightScale::fitting(&weights).loss(&weights);
            prop_assert!(!loss.is_too_large(), "{}", loss);
        }
    }
}
