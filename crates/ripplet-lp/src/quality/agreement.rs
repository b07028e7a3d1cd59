//! Agreement of two partitions of the same vertices.
//!
//! All measures follow from the contingency table: the number of vertices with label a in one and
//! label b in the other. The table is a sorted list of pairs, read run by run, so that memory is
//! linear for any number of communities. References: Vinh, Epps, Bailey, *Information theoretic
//! measures for clusterings comparison*, JMLR 11, 2010; Hubert and Arabie, *Comparing partitions*,
//! 1985. Degenerate cases follow scikit-learn.

use super::QualityError;
use super::partition::Partition;
use crate::NO_LABEL;
use rayon::prelude::*;
use ripplet_graph::tasks::MIN_LEN;
use ripplet_graph::{OutOfMemory, memory};
use serde::Serialize;

/// Measures of the agreement of two partitions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// Normalized mutual information, from 0 to 1: mutual information over the mean of both
    /// entropies.
    pub nmi: f64,
    /// Adjusted mutual information: `nmi` corrected for chance; 1 for equal partitions, about 0 for
    /// unrelated ones. Vinh, Epps and Bailey 2010.
    pub ami: f64,
    /// Adjusted Rand index: 1 for equal partitions, about 0 for unrelated ones, below 0 for worse.
    pub ari: f64,
    /// Variation of information in nats: 0 for equal partitions, at most ln(vertices). Meilă 2007.
    pub vi: f64,
    /// Homogeneity: 1 if each community has members of only one true community, 0 if communities
    /// carry no information on the truth. Rosenberg and Hirschberg 2007.
    pub homogeneity: f64,
    /// Completeness: 1 if all members of each true community are in one community, 0 if the truth
    /// carries no information on the communities.
    pub completeness: f64,
}

/// Returns the agreement of labels `a` with a truth `b` for the same vertices.
///
/// It is symmetric except for homogeneity and completeness, which swap. Only vertices with a label
/// in both are compared.
///
/// Cost: a sort of one pair of labels per vertex, and for the expected mutual information a sum of
/// a few standard deviations of terms for each pair of different sizes. Memory: 16 bytes per
/// vertex, 8 more if some vertices have no label, and 8 per community of either side.
///
/// # Errors
/// If the numbers of labels differ, or if memory is refused.
pub fn agreement(a: &[u32], b: &[u32]) -> Result<Agreement, QualityError> {
    if a.len() != b.len() {
        return Err(QualityError::Length { labels: a.len(), vertices: b.len() });
    }
    if a.par_iter().chain(b).with_min_len(MIN_LEN).any(|&label| label == NO_LABEL) {
        let labelled = a.iter().zip(b).filter(|(a, b)| **a != NO_LABEL && **b != NO_LABEL);
        let count = labelled.clone().count();
        let (mut of_a, mut of_b) = (memory::with_room(count)?, memory::with_room(count)?);
        labelled.for_each(|(&a, &b)| {
            of_a.push(a);
            of_b.push(b);
        });
        return agreement(&of_a, &of_b);
    }
    let (a, b) = (Partition::of(a)?, Partition::of(b)?);
    let mut pairs: Vec<u64> = memory::with_room(a.communities.len())?;
    let ends = a.communities.par_iter().zip(&b.communities).with_min_len(MIN_LEN);
    pairs.par_extend(ends.map(|(&a, &b)| u64::from(a) << 32 | u64::from(b)));
    pairs.par_sort_unstable();
    let (sizes_a, sizes_b) = (a.sizes()?, b.sizes()?);
    let joint = Joint::of(&pairs, &sizes_a, &sizes_b)?;
    Ok(joint.agreement(&sizes_a, &sizes_b)?)
}

/// Sums over the cells of the contingency table.
#[derive(Clone, Copy, Default)]
struct Joint {
    vertices: f64,
    mutual_information: f64,
    squares: u128,
}

impl Joint {
    fn of(pairs: &[u64], sizes_a: &[u32], sizes_b: &[u32]) -> Result<Joint, OutOfMemory> {
        /// Fixed, because it determines the order in which floats are added.
        const PAIRS_PER_TASK: usize = 1 << 16;
        let vertices = pairs.len() as f64;
        // A task has the runs that begin in its part.
        let begin = |part: usize| {
            let at = (part * PAIRS_PER_TASK).min(pairs.len());
            let before = pairs[..at].last();
            at + pairs[at..].partition_point(|pair| Some(pair) == before)
        };
        let tasks = pairs.len().div_ceil(PAIRS_PER_TASK);
        let mut sums = memory::filled(Joint::default(), tasks)?;
        sums.par_iter_mut().enumerate().for_each(|(part, sums)| {
            for run in pairs[begin(part)..begin(part + 1)].chunk_by(|a, b| a == b) {
                let (a, b) = ((run[0] >> 32) as usize, run[0] as u32 as usize);
                let (cell, a, b) = (run.len() as f64, sizes_a[a], sizes_b[b]);
                let chance = f64::from(a) * f64::from(b) / vertices;
                sums.mutual_information += cell / vertices * (cell / chance).ln();
                sums.squares += (run.len() as u128).pow(2);
            }
        });
        let zero = Joint { vertices, ..Joint::default() };
        Ok(sums.iter().fold(zero, |all, part| Joint {
            vertices,
            mutual_information: all.mutual_information + part.mutual_information,
            squares: all.squares + part.squares,
        }))
    }

    fn agreement(&self, sizes_a: &[u32], sizes_b: &[u32]) -> Result<Agreement, OutOfMemory> {
        let squared = SquaredSizes {
            vertices: self.vertices as u64,
            shared: self.squares,
            of_a: squares(sizes_a.iter().copied()),
            of_b: squares(sizes_b.iter().copied()),
        };
        if squared.are_equal() {
            // Equal by definition, and not by sums of logarithms: of vertices alone, these leave 0 over 0.
            let [nmi, ami, ari, homogeneity, completeness] = [1.0; 5];
            return Ok(Agreement { nmi, ami, ari, vi: 0.0, homogeneity, completeness });
        }
        let ari = squared.adjusted_rand();
        let (own_a, own_b) = (self.entropy(sizes_a), self.entropy(sizes_b));
        // Values below the rounding error are 0.
        let mutual = match self.mutual_information {
            mutual if mutual <= f64::EPSILON => 0.0,
            mutual => mutual.min(own_a).min(own_b),
        };
        let mean = (own_a + own_b) / 2.0;
        let share = |of: f64| if of <= 0.0 { 1.0 } else { mutual / of };
        Ok(Agreement {
            nmi: if mean <= 0.0 { 0.0 } else { mutual / mean },
            ami: adjusted(mutual, expected_information(sizes_a, sizes_b)?, mean),
            ari,
            vi: (own_a + own_b - 2.0 * mutual).max(0.0),
            homogeneity: share(own_b),
            completeness: share(own_a),
        })
    }

    fn entropy(&self, sizes: &[u32]) -> f64 {
        let part = |size: &u32| {
            let share = f64::from(*size) / self.vertices;
            -share * share.ln()
        };
        sizes.iter().map(part).sum()
    }
}

/// Sums of squares of two partitions, from which the adjusted Rand index follows.
#[derive(Clone, Copy, Debug)]
pub(super) struct SquaredSizes {
    /// The number of vertices.
    pub(super) vertices: u64,
    /// The summed squares of the contingency table's cells.
    pub(super) shared: u128,
    /// The summed squares of the sizes of each side's communities.
    pub(super) of_a: u128,
    pub(super) of_b: u128,
}

impl SquaredSizes {
    /// Returns whether the partitions are equal: vertices that are together in one are together in the other.
    fn are_equal(self) -> bool {
        self.of_a == self.shared && self.of_b == self.shared
    }

    /// Returns the adjusted Rand index. Hubert and Arabie 1985.
    pub(super) fn adjusted_rand(self) -> f64 {
        let vertices = u128::from(self.vertices);
        // Ordered pairs of different vertices: together in both, in one only, in none.
        let both = self.shared - vertices;
        let only_a = self.of_a - self.shared;
        let only_b = self.of_b - self.shared;
        let none = vertices.pow(2) - only_a - only_b - self.shared;
        if only_a == 0 && only_b == 0 {
            return 1.0;
        }
        let [both, only_a, only_b, none] = [both, only_a, only_b, none].map(|pairs| pairs as f64);
        2.0 * (both * none - only_a * only_b)
            / ((both + only_a) * (only_a + none) + (both + only_b) * (only_b + none))
    }
}

/// Returns the summed squares of sizes.
pub(super) fn squares(sizes: impl Iterator<Item = u32>) -> u128 {
    sizes.map(|size| u128::from(size).pow(2)).sum()
}

/// Returns (mutual − expected) / (mean − expected), with a denominator of at least ε in absolute
/// value.
fn adjusted(mutual: f64, expected: f64, mean: f64) -> f64 {
    let most = mean - expected;
    let most = if most < 0.0 { most.min(-f64::EPSILON) } else { most.max(f64::EPSILON) };
    (mutual - expected) / most
}

/// Returns the expected mutual information of random partitions with these sizes.
///
/// For each pair of sizes the number of common vertices is hypergeometric. Its weights are computed
/// from the mode outwards by their ratios, without factorials, until they are negligible.
fn expected_information(sizes_a: &[u32], sizes_b: &[u32]) -> Result<f64, OutOfMemory> {
    let vertices: u64 = sizes_a.iter().map(|&size| u64::from(size)).sum();
    let (counts_a, counts_b) = (by_size(sizes_a)?, by_size(sizes_b)?);
    // Floats are added in the order of the sizes, whichever thread computes them.
    let of_size = |&(a, count_a): &(u32, u64)| {
        let terms = counts_b.iter().map(|&(b, count_b)| {
            (count_a * count_b) as f64 * expected_term(u64::from(a), u64::from(b), vertices)
        });
        terms.sum::<f64>()
    };
    let mut parts = memory::zeros::<f64>(counts_a.len())?;
    parts.par_iter_mut().zip(&counts_a).for_each(|(part, size)| *part = of_size(size));
    Ok(parts.iter().sum())
}

/// Returns the different sizes, each with its number of communities.
fn by_size(sizes: &[u32]) -> Result<Vec<(u32, u64)>, OutOfMemory> {
    let mut sizes = memory::copied(sizes)?;
    sizes.par_sort_unstable();
    let mut counts = Vec::new();
    let mut runs = sizes.chunk_by(|a, b| a == b);
    runs.try_for_each(|run| memory::push(&mut counts, (run[0], run.len() as u64)))?;
    Ok(counts)
}

/// Returns the mean of n/N · ln(N n / (a b)), where n is the number of common vertices of two
/// random sets of a and b of N vertices.
fn expected_term(a: u64, b: u64, all: u64) -> f64 {
    /// Weights below this fraction of the largest are negligible.
    const NEGLIGIBLE: f64 = 1e-20;
    let (least, most) = ((a + b).saturating_sub(all), a.min(b));
    let likely = ((u128::from(a + 1) * u128::from(b + 1)) / u128::from(all + 2)) as u64;
    let likely = likely.clamp(least, most);
    let information = |n: u64| {
        let n = n as f64;
        if n == 0.0 { 0.0 } else { n / all as f64 * (n / a as f64 * (all as f64 / b as f64)).ln() }
    };
    // p(n + 1) / p(n)
    let ratio = |n: u64| {
        let above = (a - n) as f64 * (b - n) as f64;
        above / ((n + 1) as f64 * (all + n + 1 - a - b) as f64)
    };
    let (mut weights, mut sum) = (1.0, information(likely));
    let (mut weight, mut n) = (1.0, likely);
    while n < most && weight > NEGLIGIBLE {
        weight *= ratio(n);
        n += 1;
        weights += weight;
        sum += weight * information(n);
    }
    (weight, n) = (1.0, likely);
    while n > least && weight > NEGLIGIBLE {
        n -= 1;
        weight /= ratio(n);
        weights += weight;
        sum += weight * information(n);
    }
    sum / weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edges_of_the_definition() {
        let of = |a: &[u32], b: &[u32]| {
            let Agreement { nmi, ari, .. } = agreement(a, b).unwrap();
            (nmi, ari)
        };
        assert_eq!(of(&[], &[]), (1.0, 1.0));
        assert_eq!(of(&[7], &[9]), (1.0, 1.0));
        assert_eq!(of(&[1, 1, 1], &[2, 2, 2]), (1.0, 1.0));
        assert_eq!(of(&[1, 1, 1], &[1, 2, 3]), (0.0, 0.0));
        assert_eq!(of(&[1, 2, 3], &[u32::MAX - 1, 0, 5]).1, 1.0);
        // Vertices without a label on one side are not compared.
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
            prop_assert!((ab.homogeneity - ba.completeness).abs() < 1e-12);
            prop_assert!((ab.ami - ba.ami).abs() < 1e-9 && ab.ami <= 1.0 + 1e-12 && ab.vi >= 0.0);
            let renamed: Vec<u32> = a.iter().map(|&label| u32::MAX - 1000 * label).collect();
            let same = agreement(&a, &renamed).unwrap();
            prop_assert!((same.nmi - 1.0).abs() < 1e-12 && same.ari == 1.0);
        }
    }
}
