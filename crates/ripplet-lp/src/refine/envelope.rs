//! The best of several partitions at each resolution, exactly.
//!
//! A partition's score is a line over the resolution γ: `inner − γ · squares`, up to a positive factor.
//! The best partitions of all resolutions are the upper envelope of these lines, from the coarsest to the
//! finest:
//!
//! ```text
//! score                                inner     squares
//! │ \                 partition 0      largest   largest
//! │   \               partition 1         │         │
//! │     ' - .         partition 2      smallest  smallest
//! │           ' - - -
//! └────┴────┴───────── γ               two neighbours have equal scores at (inner − inner') / (squares − squares')
//! ```
//!
//! Reference: Weir, Emmons, Gibson, Taylor, Mucha, *Post-processing partitions to identify domains of
//! modularity optimization*, Algorithms 10, 2017.

use super::ratio::Ratio;
use std::cmp::Ordering;

/// The score of a partition at every resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// The score at γ = 0.
    pub inner: u128,
    /// By how much it falls where γ rises by 1.
    pub squares: u128,
}

/// A fraction, for resolutions at which scores are equal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fraction {
    num: u128,
    /// Above 0.
    den: u128,
}

impl Fraction {
    /// Returns the fraction as a float.
    pub fn value(self) -> f64 {
        self.num as f64 / self.den as f64
    }
}

impl From<Ratio> for Fraction {
    fn from(Ratio { num, den }: Ratio) -> Fraction {
        Fraction { num: num.into(), den: den.into() }
    }
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Fraction) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Fraction {}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Fraction) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Fraction) -> Ordering {
        product(self.num, other.den).cmp(&product(other.num, self.den))
    }
}

/// Returns the product as its high and its low half.
pub(super) fn product(a: u128, b: u128) -> [u128; 2] {
    let halves = |value: u128| [value >> 64, value & u128::from(u64::MAX)];
    let ([a1, a0], [b1, b0]) = (halves(a), halves(b));
    let low = a0 * b0;
    let middle = a1 * b0 + (low >> 64);
    let [carry, middle] = halves(middle);
    let middle = a0 * b1 + middle;
    [a1 * b1 + carry + (middle >> 64), middle << 64 | (low & u128::from(u64::MAX))]
}

/// Returns the resolution at which a coarser partition has the score of a finer one: below it the
/// coarser one is better.
///
/// `None` if there is none above 0: then one of both is at least as good everywhere.
pub(super) fn crossing(coarse: Line, fine: Line) -> Option<Fraction> {
    let num = coarse.inner.checked_sub(fine.inner)?;
    let den = coarse.squares.checked_sub(fine.squares)?;
    (num > 0 && den > 0).then_some(Fraction { num, den })
}

/// Keeps the partitions that are better than all others somewhere between two resolutions, from the
/// coarsest to the finest. Of partitions with the same scores, the first remains.
pub(super) fn keep_best<T>(found: &mut Vec<T>, line: impl Fn(&T) -> Line, range: [Fraction; 2]) {
    let [low, high] = range;
    found.sort_by(|a, b| {
        let (a, b) = (line(a), line(b));
        b.squares.cmp(&a.squares).then(b.inner.cmp(&a.inner))
    });
    let mut best: Vec<T> = Vec::with_capacity(found.len());
    for next in found.drain(..) {
        while let Some(last) = best.last() {
            // With as large squares, the last one has at least as much inner weight.
            if line(last).squares == line(&next).squares {
                break;
            }
            let begins = match best.len() {
                1 => None,
                len => crossing(line(&best[len - 2]), line(last)),
            };
            let ends = crossing(line(last), line(&next));
            let is_best = ends.is_some_and(|ends| begins.is_none_or(|begins| begins < ends));
            if is_best {
                break;
            }
            best.pop();
        }
        if best.last().is_none_or(|last| line(last).squares > line(&next).squares) {
            best.push(next);
        }
    }
    let crossing = |pair: &[T]| crossing(line(&pair[0]), line(&pair[1]));
    let first = best.windows(2).filter(|pair| crossing(pair).is_none_or(|end| end <= low)).count();
    let last = best.windows(2).filter(|pair| crossing(pair).is_some_and(|end| end < high)).count();
    best.truncate(last.max(first) + 1);
    best.drain(..first.min(best.len()));
    *found = best;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(low: u64, high: u64) -> [Fraction; 2] {
        [Ratio { num: low, den: 1 }.into(), Ratio { num: high, den: 1 }.into()]
    }

    proptest! {
        #[test]
        fn products_are_exact(a: u128, b: u128) {
            // Schoolbook multiplication in base 2³².
            let digits = |value: u128| [0, 32, 64, 96].map(|at| value >> at & 0xffff_ffff);
            let mut sums = [0u128; 9];
            for (i, a) in digits(a).into_iter().enumerate() {
                for (j, b) in digits(b).into_iter().enumerate() {
                    let term = a * b;
                    sums[i + j] += term & 0xffff_ffff;
                    sums[i + j + 1] += term >> 32;
                }
            }
            for at in 0..8 {
                sums[at + 1] += sums[at] >> 32;
                sums[at] &= 0xffff_ffff;
            }
            let joined = |digits: &[u128]| digits.iter().rev().fold(0, |sum, digit| sum << 32 | digit);
            prop_assert_eq!(product(a, b), [joined(&sums[4..8]), joined(&sums[..4])]);
        }

        #[test]
        fn the_best_of_all_remain(
            lines in prop::collection::vec((0u128..30, 0u128..30), 1..12),
            low in 0u64..3,
            more in 1u64..5,
        ) {
            let lines: Vec<Line> =
                lines.into_iter().map(|(inner, squares)| Line { inner, squares }).collect();
            let mut found: Vec<(usize, Line)> = lines.iter().copied().enumerate().collect();
            let (low, high) = (low, low + more);
            keep_best(&mut found, |found| found.1, range(low, high));
            // Scores at γ = (31 at + 1) / (31 · 1009). Two lines cross at fractions of at most 29, so at
            // none of these, and there is one of these between any two such fractions.
            let parts = 1009i128;
            let score = |line: Line, at: i128| {
                31 * parts * line.inner as i128 - (31 * at + 1) * line.squares as i128
            };
            let mut winners = Vec::new();
            for at in i128::from(low) * parts..i128::from(high) * parts {
                let best = lines.iter().map(|&line| score(line, at)).max().unwrap();
                let winner = lines.iter().position(|&line| score(line, at) == best).unwrap();
                if winners.last() != Some(&winner) {
                    winners.push(winner);
                }
            }
            let kept: Vec<usize> = found.iter().map(|found| found.0).collect();
            prop_assert_eq!(kept, winners);
        }
    }

    #[test]
    fn fractions_compare_beyond_128_bits() {
        let fraction = |num, den| Fraction { num, den };
        assert!(fraction(u128::MAX, u128::MAX - 1) > fraction(u128::MAX - 1, u128::MAX - 1));
        assert!(fraction(u128::MAX - 1, u128::MAX) < fraction(u128::MAX, u128::MAX));
        assert_eq!(fraction(u128::MAX, u128::MAX), fraction(1, 1));
    }
}
