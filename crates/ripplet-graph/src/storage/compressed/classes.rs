//! Values in four width classes: selection of the widths for a shard, and the tokens of a list.

use super::LEAST_RUN;
use super::bits::length;
use crate::VertexId;

/// A histogram of values by length in bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths([u64; 33]);

impl Default for Lengths {
    fn default() -> Lengths {
        Lengths([0; 33])
    }
}

impl Lengths {
    #[inline]
    pub(super) fn count(&mut self, value: u32) {
        self.0[length(value.into()) as usize] += 1;
    }

    pub(super) fn add(&mut self, other: &Lengths) {
        self.0.iter_mut().zip(other.0).for_each(|(count, more)| *count += more);
    }

    pub(super) fn values(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns the `CLASSES` widths, ascending, with which the values take the fewest bits, and
    /// these bits. Each value takes the least width that it fits; the last width fits all values.
    pub(super) fn best<const CLASSES: usize>(&self) -> ([u8; CLASSES], u64) {
        let most = self.0.iter().rposition(|&count| count > 0).unwrap_or(0);
        // Dynamic programming: for values up to each length, the fewest bits and the widths, with
        // that length as the last width.
        let mut best = [([0u8; CLASSES], 0u64); 33];
        let mut values = 0;
        for (end, (widths, bits)) in best.iter_mut().enumerate() {
            values += self.0[end];
            (*widths, *bits) = ([end as u8; CLASSES], values * end as u64);
        }
        for class in 1..CLASSES {
            for end in (1..=most).rev() {
                let mut values = 0;
                for before in (0..end).rev() {
                    values += self.0[before + 1];
                    let bits = best[before].1 + values * end as u64;
                    if bits < best[end].1 {
                        let mut widths = best[before].0;
                        widths[class..].fill(end as u8);
                        best[end] = (widths, bits);
                    }
                }
            }
        }
        best[most]
    }
}

/// The four widths, and the class of a value of each length.
#[derive(Clone, Copy)]
pub(super) struct Classes {
    pub(super) widths: [u8; 4],
    of_length: [u8; 33],
}

impl Classes {
    /// Assigns each value to the least of the first `classes` widths, which ascend, that it fits.
    pub(super) fn new(widths: [u8; 4], classes: usize) -> Classes {
        let fits = |bits: usize| {
            let least = widths[..classes].iter().position(|&width| usize::from(width) >= bits);
            least.unwrap_or(classes - 1) as u8
        };
        Classes { widths, of_length: std::array::from_fn(fits) }
    }

    #[inline]
    pub(super) fn of(&self, value: u32) -> u8 {
        self.of_length[length(value.into()) as usize]
    }
}

/// A token of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token {
    /// A neighbour: its folded difference from the list's vertex, or its difference from the
    /// neighbour before minus the least difference.
    Gap(u32),
    /// A run of this many neighbours more than [`LEAST_RUN`], each the successor of the one before.
    Run(u32),
}

/// Returns a difference modulo 2³² in zigzag encoding: small for small differences of either sign.
#[inline]
pub(super) fn folded(difference: u32) -> u32 {
    difference << 1 ^ (difference as i32 >> 31) as u32
}

/// Returns the difference that [`folded`] encodes.
#[inline]
pub(super) fn unfolded(value: u32) -> u32 {
    value >> 1 ^ (value & 1).wrapping_neg()
}

/// Calls `visit` with the tokens of an ascending segment of the list of vertex `v`.
///
/// `least_gap` is 1 if no list holds a neighbour twice, else 0.
#[inline]
pub(super) fn each_token(
    v: VertexId,
    segment: &[VertexId],
    least_gap: u32,
    runs: bool,
    mut visit: impl FnMut(Token),
) {
    let Some((&first, mut rest)) = segment.split_first() else { return };
    visit(Token::Gap(folded(first.wrapping_sub(v))));
    let mut before = first;
    while let Some(&next) = rest.first() {
        let run = if runs { successors(before, rest) } else { 0 };
        if run >= LEAST_RUN as usize {
            visit(Token::Run(run as u32 - LEAST_RUN));
            (before, rest) = (rest[run - 1], &rest[run..]);
        } else {
            visit(Token::Gap(next - before - least_gap));
            (before, rest) = (next, &rest[1..]);
        }
    }
}

/// Returns the length of the longest prefix of consecutive successors of `before`.
#[inline]
fn successors(before: VertexId, list: &[VertexId]) -> usize {
    let follows = |&(&u, at): &(&VertexId, u64)| u64::from(u) == at;
    list.iter().zip(u64::from(before) + 1..).take_while(follows).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_widths_are_the_best_of_all() {
        let mut lengths = Lengths::default();
        for (value, times) in [(0u32, 70), (3, 11), (4, 90), (100, 7), (5000, 30), (1 << 19, 3)] {
            (0..times).for_each(|_| lengths.count(value));
        }
        let cost = |widths: [usize; 4]| -> u64 {
            let fitting = |bits: usize| widths.into_iter().filter(|&width| width >= bits).min();
            let of = |(bits, count): (usize, u64)| Some(fitting(bits)? as u64 * count);
            lengths
                .0
                .into_iter()
                .enumerate()
                .filter(|&(_, count)| count > 0)
                .map(|each| of(each).unwrap())
                .sum()
        };
        let all =
            (0..20).flat_map(|a| (a..20).flat_map(move |b| (b..20).map(move |c| [a, b, c, 20])));
        let (widths, bits) = lengths.best::<4>();
        assert_eq!(bits, all.map(cost).min().unwrap());
        assert_eq!(bits, cost(widths.map(usize::from)));
        assert!(widths.is_sorted());
        assert_eq!(lengths.best::<1>(), ([20], 20 * lengths.values()));
        assert_eq!(Lengths::default().best::<4>(), ([0; 4], 0));
    }

    #[test]
    fn folding_is_undone() {
        for difference in [0, 1, u32::MAX, 7, 1 << 31, (1 << 31) - 1, (1 << 31) + 1, 0x1234_5678] {
            assert_eq!(unfolded(folded(difference)), difference);
        }
        assert_eq!([0, u32::MAX, 1, u32::MAX - 1].map(folded), [0, 1, 2, 3]);
    }

    #[test]
    fn runs_begin_after_a_neighbour() {
        let mut tokens = Vec::new();
        each_token(16, &[12, 18, 19, 20, 21, 30, 31], 1, true, |token| tokens.push(token));
        let gaps = [7, 5, 8, 0].map(Token::Gap);
        assert_eq!(tokens, [gaps[0], gaps[1], Token::Run(0), gaps[2], gaps[3]]);
        tokens.clear();
        let last = [u32::MAX - 3, u32::MAX - 2, u32::MAX - 1, u32::MAX];
        each_token(0, &last, 0, true, |token| tokens.push(token));
        assert_eq!(tokens, [Token::Gap(7), Token::Run(0)]);
    }
}
