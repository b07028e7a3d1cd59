//! The exact counter for vertices of low degree: all pairs of labels are compared, in vector registers.
//!
//! Loops over the votes of a vertex of low degree end at another count each time, which the
//! processor predicts badly. Here every loop has `N` steps: the votes, and behind them votes of
//! weight 0.

use super::votes::Count;
use crate::{Label, NO_LABEL, Vote};
use wide::u32x4;

/// The lanes of a vector, which every processor has.
const LANES: usize = 4;
/// Largest number of votes of a vertex that are counted by this counter.
pub(super) const MAX_DEGREE: usize = 16;
/// A bound of the weights: sums of [`MAX_DEGREE`] weights below it fit 32 bits.
const WEIGHTS: u32 = 1 << 27;

/// Up to `N` votes.
pub(super) struct LowDegreeVotes<const N: usize> {
    labels: [u32; N],
    /// 0 where there is no vote.
    weights: [u32; N],
}

/// Up to `N` votes, and the sum of each vote's label.
pub(super) struct LowDegreeSums<const N: usize> {
    labels: [u32; N],
    sums: Vectors,
    total: u32,
}

/// Vectors of at most [`MAX_DEGREE`] values. Of these, `N / LANES` are used: all have a register.
type Vectors = [u32x4; MAX_DEGREE / LANES];

impl<const N: usize> LowDegreeVotes<N> {
    /// Takes the first `degree` of these votes; `None` if a weight is too large for this counter.
    #[inline(always)]
    pub fn new(votes: &[Vote; N], degree: usize) -> Option<LowDegreeVotes<N>> {
        let (mut labels, mut weights) = ([0; N], [0; N]);
        for (vote, (label, weight)) in votes.iter().zip(labels.iter_mut().zip(&mut weights)) {
            (*label, *weight) = (vote.label, vote.weight);
        }
        let (behind, mut all) = (u32x4::splat(degree as u32), u32x4::ZERO);
        let mut index = u32x4::new([0, 1, 2, 3]);
        for (labels, weights) in vectors(&labels).zip(weights.as_chunks_mut::<LANES>().0) {
            let is_silent = labels.cmp_eq(u32x4::splat(NO_LABEL));
            let counted = u32x4::from(*weights) & index.cmp_lt(behind) & !is_silent;
            *weights = counted.to_array();
            (all, index) = (all | counted, index + u32x4::splat(LANES as u32));
        }
        let is_small = all.to_array().into_iter().fold(0, |all, weight| all | weight) < WEIGHTS;
        is_small.then_some(LowDegreeVotes { labels, weights })
    }

    /// Counts the votes for one label.
    #[inline(always)]
    pub fn count_one(&self, label: Label) -> Count {
        let (mut total, mut own) = (u32x4::ZERO, u32x4::ZERO);
        for (labels, weights) in vectors(&self.labels).zip(vectors(&self.weights)) {
            total += weights;
            own += labels.cmp_eq(u32x4::splat(label)) & weights;
        }
        Count { total_votes: sum(total).into(), top: sum(own).into() }
    }

    /// Counts the votes for every label.
    #[inline(always)]
    pub fn count(&self) -> LowDegreeSums<N> {
        let (mut lanes, mut sums): (Vectors, Vectors) = Default::default();
        lanes.iter_mut().zip(vectors(&self.labels)).for_each(|(lanes, labels)| *lanes = labels);
        for (&label, &weight) in self.labels.iter().zip(&self.weights) {
            let (label, weight) = (u32x4::splat(label), u32x4::splat(weight));
            for (lanes, sums) in lanes.iter().zip(&mut sums).take(N / LANES) {
                *sums += lanes.cmp_eq(label) & weight;
            }
        }
        LowDegreeSums { labels: self.labels, sums, total: self.weights.iter().sum() }
    }
}

impl<const N: usize> LowDegreeSums<N> {
    /// Returns the sum of the votes and the largest sum of a label.
    #[inline(always)]
    pub fn totals(&self) -> Count {
        let used = self.sums.iter().take(N / LANES);
        let top = used.fold(u32x4::ZERO, |top, &sums| top.max(sums));
        let top = top.to_array().into_iter().fold(0, u32::max);
        Count { total_votes: self.total.into(), top: top.into() }
    }

    /// Returns the label with the smallest rank among those whose votes sum up to `top`. Ranks of
    /// two labels must differ, and `top` must be the largest sum.
    #[inline(always)]
    pub fn leader(&self, top: u64, rank: impl Fn(u32x4) -> u32x4) -> Label {
        let top = u32x4::splat(top as u32);
        let (mut ranks, mut least): (Vectors, _) = (Vectors::default(), u32x4::splat(u32::MAX));
        for ((ranks, labels), sums) in ranks.iter_mut().zip(vectors(&self.labels)).zip(&self.sums) {
            *ranks = rank(labels) | !sums.cmp_eq(top);
            least = least.min(*ranks);
        }
        let least = least.to_array().into_iter().fold(u32::MAX, u32::min);
        let (least, mut leader) = (u32x4::splat(least), u32x4::ZERO);
        for ((ranks, labels), sums) in ranks.iter().zip(vectors(&self.labels)).zip(&self.sums) {
            leader |= labels & ranks.cmp_eq(least) & sums.cmp_eq(top);
        }
        leader.to_array().into_iter().fold(0, |all, label| all | label)
    }
}

/// Yields the values as vectors.
#[inline(always)]
fn vectors<const N: usize>(values: &[u32; N]) -> impl Iterator<Item = u32x4> {
    values.as_chunks::<LANES>().0.iter().map(|&values| u32x4::from(values))
}

/// Returns the sum of the lanes.
#[inline(always)]
fn sum(lanes: u32x4) -> u32 {
    lanes.to_array().into_iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{mix, mix_lanes};
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
            let rank = |labels| mix_lanes(labels ^ u32x4::splat(key));
            assert_eq!(sums.leader(top, rank), first);
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
