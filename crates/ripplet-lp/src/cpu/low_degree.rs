//! The exact counter for vertices of low degree: all pairs of labels are compared, in vector registers.
//!
//! Loops over the votes of a vertex of low degree end at another count each time, which the
//! processor predicts badly. Here every loop has `N` steps: the votes, and behind them votes of
//! weight 0.

use super::votes::Count;
use crate::{Label, NO_LABEL, Vote};
use wide::{CmpEq, i32x4};

/// The lanes of a vector, which every processor has.
const LANES: usize = 4;
/// Largest number of votes of a vertex that are counted by this counter.
pub(super) const MAX_DEGREE: usize = 16;
/// A bound of the weights: sums of [`MAX_DEGREE`] weights below it fit 32 bits.
const WEIGHTS: u32 = 1 << 27;

/// Up to `N` votes.
pub(super) struct LowDegreeVotes<const N: usize> {
    labels: [i32; N],
    weights: [i32; N],
}

/// Up to `N` votes, and the sum of each vote's label.
pub(super) struct LowDegreeSums<const N: usize> {
    labels: [i32; N],
    sums: [i32; N],
    total: i32,
}

impl<const N: usize> LowDegreeVotes<N> {
    /// Takes the first `degree` of these votes; `None` if a weight is too large for this counter.
    #[inline(always)]
    pub fn new(votes: &[Vote; N], degree: usize) -> Option<LowDegreeVotes<N>> {
        let (mut labels, mut weights) = ([0; N], [0; N]);
        for (index, vote) in votes.iter().enumerate() {
            labels[index] = vote.label as i32;
            let counts = (index < degree) & (vote.label != NO_LABEL);
            weights[index] = if counts { vote.weight as i32 } else { 0 };
        }
        let is_small = weights.iter().fold(0, |all, &weight| all | weight as u32) < WEIGHTS;
        is_small.then_some(LowDegreeVotes { labels, weights })
    }

    /// Counts the votes for one label.
    #[inline(always)]
    pub fn count_one(&self, label: Label) -> Count {
        let (mut total, mut own) = (i32x4::ZERO, i32x4::ZERO);
        let (labels, weights) =
            (self.labels.as_chunks::<LANES>().0, self.weights.as_chunks::<LANES>().0);
        for (&labels, &weights) in labels.iter().zip(weights) {
            let weights = i32x4::from(weights);
            total += weights;
            own += i32x4::from(labels).cmp_eq(i32x4::splat(label as i32)) & weights;
        }
        Count { total_votes: total.reduce_add() as u64, top: own.reduce_add() as u64 }
    }

    /// Counts the votes for every label.
    #[inline(always)]
    pub fn count(&self) -> LowDegreeSums<N> {
        let LowDegreeVotes { labels, weights } = *self;
        // Of these vectors, N / LANES are used: all have a register.
        let (mut lanes, mut found) =
            ([i32x4::ZERO; MAX_DEGREE / LANES], [i32x4::ZERO; MAX_DEGREE / LANES]);
        for (lanes, &labels) in lanes.iter_mut().zip(labels.as_chunks::<LANES>().0) {
            *lanes = i32x4::from(labels);
        }
        for (&label, &weight) in labels.iter().zip(&weights) {
            let (label, weight) = (i32x4::splat(label), i32x4::splat(weight));
            for (lanes, found) in lanes.iter().zip(&mut found).take(N / LANES) {
                *found += lanes.cmp_eq(label) & weight;
            }
        }
        let mut sums = [0; N];
        for (sums, found) in sums.chunks_exact_mut(LANES).zip(&found) {
            sums.copy_from_slice(found.as_array_ref());
        }
        LowDegreeSums { labels, sums, total: weights.iter().sum() }
    }
}

impl<const N: usize> LowDegreeSums<N> {
    /// Returns the sum of the votes and the largest sum of a label.
    #[inline(always)]
    pub fn totals(&self) -> Count {
        let top = self.sums.iter().fold(0, |top, &sum| top.max(sum));
        Count { total_votes: self.total as u64, top: top as u64 }
    }

    /// Returns the label with the smallest rank among those whose votes sum up to `top`. Ranks of
    /// two labels must differ, and `top` must be the largest sum.
    #[inline(always)]
    pub fn leader(&self, top: u64, rank: impl Fn(Label) -> u32) -> Label {
        let mut least = u64::MAX;
        for (&label, &sum) in self.labels.iter().zip(&self.sums) {
            let label = label as Label;
            let ranked = u64::from(rank(label)) << 32 | u64::from(label);
            least = least.min(if sum as u64 == top { ranked } else { u64::MAX });
        }
        least as Label
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Counts votes for labels below 8, or for none if it is 8, in `N` lanes and by a map.
    fn check_against_a_map<const N: usize>(list: &[(u32, u32)], key: u32) {
        let list = &list[..list.len().min(N)];
        let mut votes = [Vote { label: 3, weight: 7 }; N];
        let said =
            |&(label, weight)| Vote { label: if label == 8 { NO_LABEL } else { label }, weight };
        votes.iter_mut().zip(list.iter().map(said)).for_each(|(to, vote)| *to = vote);
        let mut expected: BTreeMap<Label, u64> = BTreeMap::new();
        for vote in votes[..list.len()].iter().filter(|vote| vote.label != NO_LABEL) {
            *expected.entry(vote.label).or_default() += u64::from(vote.weight);
        }
        let low_degree = LowDegreeVotes::new(&votes, list.len()).unwrap();
        let one = low_degree.count_one(5);
        assert_eq!(one.top, expected.get(&5).copied().unwrap_or(0));
        assert_eq!(one.total_votes, expected.values().sum::<u64>());
        let sums = low_degree.count();
        let top = expected.values().copied().max().unwrap_or(0);
        assert_eq!(sums.totals(), Count { total_votes: expected.values().sum(), top });
        expected.retain(|_, sum| *sum == top);
        if top > 0 {
            let first = expected.into_keys().min_by_key(|label| mix(label ^ key)).unwrap();
            assert_eq!(sums.leader(top, |label| mix(label ^ key)), first);
        }
    }

    proptest! {
        #[test]
        fn counts_are_those_of_a_map(list in prop::collection::vec((0u32..9, 0u32..4), 1..=MAX_DEGREE), key: u32) {
            check_against_a_map::<{ MAX_DEGREE / 4 }>(&list, key);
            check_against_a_map::<{ MAX_DEGREE / 2 }>(&list, key);
            check_against_a_map::<MAX_DEGREE>(&list, key);
        }
    }

    #[test]
    fn weights_that_might_overflow_are_left_to_the_other_counter() {
        let votes = [Vote { label: 1, weight: WEIGHTS - 1 }; MAX_DEGREE];
        let sums = LowDegreeVotes::new(&votes, MAX_DEGREE).unwrap().count();
        assert_eq!(sums.totals().top, (MAX_DEGREE as u64) * u64::from(WEIGHTS - 1));
        let mut large = votes;
        large[MAX_DEGREE - 1].weight = WEIGHTS;
        assert!(LowDegreeVotes::new(&large, MAX_DEGREE).is_none());
        assert!(LowDegreeVotes::new(&large, MAX_DEGREE - 1).is_some());
    }
}
