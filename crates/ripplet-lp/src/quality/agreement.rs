//! How far two partitions of the same vertices agree.
//!
//! Both measures come from the contingency table: how many vertices have label a here and label b
//! there. It is the sorted list of the pairs, run by run, so that memory is linear however many
//! communities there are. Reference: Vinh, Epps, Bailey, *Information theoretic measures for
//! clusterings comparison*, JMLR 11, 2010; Hubert and Arabie, *Comparing partitions*, 1985. The
//! cases at the edges follow scikit-learn.

use super::QualityError;
use super::partition::{Partition, with_capacity};
use crate::NO_LABEL;
use rayon::prelude::*;
use serde::Serialize;

/// How far two partitions agree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// Normalized mutual information, from 0 to 1: the information that the partitions share, over
    /// the mean of their own.
    pub nmi: f64,
    /// Adjusted Rand index: 1 for equal partitions, about 0 for unrelated ones, below 0 for worse.
    pub ari: f64,
}

/// The agreement of two labellings of the same vertices; it is symmetric.
///
/// Only vertices that have a label in both are compared.
///
/// Cost: a sort of one pair of labels for each vertex. Memory: 24 bytes a vertex, and 8 more where
/// some vertices have no label.
///
/// # Errors
/// Where there are not equally many labels, or memory is refused.
pub fn agreement(a: &[u32], b: &[u32]) -> Result<Agreement, QualityError> {
    if a.len() != b.len() {
        return Err(QualityError::Length { labels: a.len(), vertices: b.len() });
    }
    if a.par_iter().chain(b).any(|&label| label == NO_LABEL) {
        let labelled = a.iter().zip(b).filter(|(a, b)| **a != NO_LABEL && **b != NO_LABEL);
        let (a, b): (Vec<u32>, Vec<u32>) = labelled.map(|(&a, &b)| (a, b)).unzip();
        return agreement(&a, &b);
    }
    let (a, b) = (Partition::of(a)?, Partition::of(b)?);
    let mut pairs: Vec<u64> = with_capacity(a.communities.len())?;
    let ends = a.communities.par_iter().zip(&b.communities);
    pairs.par_extend(ends.map(|(&a, &b)| u64::from(a) << 32 | u64::from(b)));
    pairs.par_sort_unstable();
    let (sizes_a, sizes_b) = (a.sizes(), b.sizes());
    let joint = Joint::of(&pairs, &sizes_a, &sizes_b);
    Ok(Agreement { nmi: joint.nmi(&sizes_a, &sizes_b), ari: joint.ari(&sizes_a, &sizes_b) })
}

/// Sums over the cells of the contingency table.
#[derive(Clone, Copy, Default)]
struct Joint {
    vertices: f64,
    mutual_information: f64,
    squares: u128,
}

impl Joint {
    fn of(pairs: &[u64], sizes_a: &[u32], sizes_b: &[u32]) -> Joint {
        /// Fixed, because it decides the order in which floats are added.
        const PAIRS_PER_TASK: usize = 1 << 16;
        let vertices = pairs.len() as f64;
        // A task has the runs that begin in its part.
        let begin = |part: usize| {
            let at = (part * PAIRS_PER_TASK).min(pairs.len());
            let before = pairs[..at].last();
            at + pairs[at..].partition_point(|pair| Some(pair) == before)
        };
        let tasks = pairs.len().div_ceil(PAIRS_PER_TASK);
        let sums: Vec<Joint> = (0..tasks)
            .into_par_iter()
            .map(|part| {
                let mut sums = Joint::default();
                for run in pairs[begin(part)..begin(part + 1)].chunk_by(|a, b| a == b) {
                    let (a, b) = ((run[0] >> 32) as usize, run[0] as u32 as usize);
                    let (cell, a, b) = (run.len() as f64, sizes_a[a], sizes_b[b]);
                    let chance = f64::from(a) * f64::from(b) / vertices;
                    sums.mutual_information += cell / vertices * (cell / chance).ln();
                    sums.squares += (run.len() as u128).pow(2);
                }
                sums
            })
            .collect();
        let zero = Joint { vertices, ..Joint::default() };
        sums.iter().fold(zero, |all, part| Joint {
            vertices,
            mutual_information: all.mutual_information + part.mutual_information,
            squares: all.squares + part.squares,
        })
    }

    fn nmi(&self, sizes_a: &[u32], sizes_b: &[u32]) -> f64 {
        if sizes_a.len() == sizes_b.len() && sizes_a.len() <= 1 {
            return 1.0;
        }
        let mean = (self.entropy(sizes_a) + self.entropy(sizes_b)) / 2.0;
        // What is left of nothing in common is rounding.
        if self.mutual_information <= f64::EPSILON || mean <= 0.0 {
            return 0.0;
        }
        (self.mutual_information / mean).min(1.0)
    }

    fn entropy(&self, sizes: &[u32]) -> f64 {
        let part = |size: &u32| {
            let share = f64::from(*size) / self.vertices;
            -share * share.ln()
        };
        sizes.iter().map(part).sum()
    }

    fn ari(&self, sizes_a: &[u32], sizes_b: &[u32]) -> f64 {
        let squares =
            |sizes: &[u32]| sizes.iter().map(|&size| u128::from(size).pow(2)).sum::<u128>();
        let all = (self.vertices as u128).pow(2);
        // Ordered pairs of different vertices: together in both, in one only, in none.
        let both = self.squares - self.vertices as u128;
        let only_a = squares(sizes_a) - self.squares;
        let only_b = squares(sizes_b) - self.squares;
        let none = all - only_a - only_b - self.squares;
        if only_a == 0 && only_b == 0 {
            return 1.0;
        }
        let [both, only_a, only_b, none] = [both, only_a, only_b, none].map(|pairs| pairs as f64);
        2.0 * (both * none - only_a * only_b)
            / ((both + only_a) * (only_a + none) + (both + only_b) * (only_b + none))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edges_of_the_definition() {
        let of = |a: &[u32], b: &[u32]| {
            let Agreement { nmi, ari } = agreement(a, b).unwrap();
            (nmi, ari)
        };
        assert_eq!(of(&[], &[]), (1.0, 1.0));
        assert_eq!(of(&[7], &[9]), (1.0, 1.0));
        assert_eq!(of(&[1, 1, 1], &[2, 2, 2]), (1.0, 1.0));
        assert_eq!(of(&[1, 1, 1], &[1, 2, 3]), (0.0, 0.0));
        assert_eq!(of(&[1, 2, 3], &[u32::MAX - 1, 0, 5]).1, 1.0);
        // What has no label on one side is not compared.
        let (a, b) = ([1, 1, 2, 2, NO_LABEL], [5, NO_LABEL, 6, 6, 5]);
        assert_eq!(of(&a, &b), (1.0, 1.0));
        assert_eq!(of(&a, &[5, 6, 6, 5, 6]), of(&a[..4], &[5, 6, 6, 5]));
        assert_eq!(of(&[NO_LABEL], &[3]), (1.0, 1.0));
        assert!(agreement(&[1], &[]).is_err());
    }

    proptest! {
        #[test]
        fn it_is_symmetric_and_blind_to_names(
            rows in prop::collection::vec((0u32..6, 0u32..6), 1..200),
        ) {
            let (a, b): (Vec<u32>, Vec<u32>) = rows.into_iter().unzip();
            let (ab, ba) = (agreement(&a, &b).unwrap(), agreement(&b, &a).unwrap());
            prop_assert!((ab.nmi - ba.nmi).abs() < 1e-12 && (ab.ari - ba.ari).abs() < 1e-12);
            prop_assert!((0.0..=1.0).contains(&ab.nmi) && ab.ari <= 1.0);
            let renamed: Vec<u32> = a.iter().map(|&label| u32::MAX - 1000 * label).collect();
            let same = agreement(&a, &renamed).unwrap();
            prop_assert!((same.nmi - 1.0).abs() < 1e-12 && same.ari == 1.0);
        }
    }
}
