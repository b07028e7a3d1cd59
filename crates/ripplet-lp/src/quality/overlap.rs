//! Agreement of two covers: communities that may overlap.
//!
//! Only vertices in a community of both covers are compared; N is their number. The number of
//! common members of each pair of communities follows from the lists of both covers.
//!
//! | measure | definition |
//! |---|---|
//! | `nmi_lfk` | Lancichinetti, Fortunato, Kertész, *Detecting the overlapping and hierarchical community structure in complex networks*, New Journal of Physics 11, 2009, appendix B |
//! | `nmi_max` | McDaid, Greene, Hurley, *Normalized mutual information to evaluate overlapping community finding algorithms*, 2011: over the larger of both entropies |
//! | `omega` | Collins, Dent, *Omega: a general formulation of the Rand index of cluster recovery*, Multivariate Behavioral Research 23, 1988 |
//! | `f1` | Yang, Leskovec, *Overlapping community detection at scale*, WSDM 2013: mean over both directions of the mean of the best match's F1 |
//!
//! Determinism: floats are summed in the order of the communities; results are bitwise equal on any
//! number of threads.

use super::agreement::{SquaredSizes, squares};
use super::omega::omega;
use super::pool::{Borrowed, Pool};
use super::{Cover, QualityError};
use rayon::prelude::*;
use ripplet_graph::{OutOfMemory, memory};
use serde::Serialize;

/// Measures of the agreement of two covers. Equal covers have 1 in all of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OverlapAgreement {
    /// Normalized mutual information of covers after Lancichinetti, Fortunato and Kertész, from 0
    /// to 1.
    pub nmi_lfk: f64,
    /// Normalized mutual information of covers after McDaid, Greene and Hurley, from 0 to 1.
    pub nmi_max: f64,
    /// Omega index: 1 for equal covers, about 0 for unrelated ones. For disjoint communities it is
    /// the adjusted Rand index. Absent if it takes more than
    /// [`MOST_OMEGA_STEPS`](super::MOST_OMEGA_STEPS).
    pub omega: Option<f64>,
    /// The mean F1 score of each community's best match, averaged over both directions, from 0 to
    /// 1.
    pub f1: f64,
}

/// Returns the agreement of two covers of the same vertices; it is symmetric.
///
/// Cost: for each membership, the communities of its vertex on the other side; for the omega index
/// at most [`MOST_OMEGA_STEPS`](super::MOST_OMEGA_STEPS).
///
/// Memory:
///
/// - 56 bytes per community of the larger side, and 4 more per thread;
/// - a copy of both covers, if some vertex is in only one of them;
/// - for the omega index of overlapping covers at most another copy of both covers and 5 bytes per
///   vertex, but at least 20 bytes per vertex. For each thread, 16 bytes per membership of a large
///   community's groups of vertices, and 8 per group if some are counted one by one.
///
/// # Errors
/// If the numbers of vertices differ, or if memory is refused.
pub fn overlap_agreement(a: &Cover, b: &Cover) -> Result<OverlapAgreement, QualityError> {
    if a.vertices() != b.vertices() {
        let (labels, vertices) = (a.vertices() as usize, b.vertices() as usize);
        return Err(QualityError::Length { labels, vertices });
    }
    if a.is_within(b) && b.is_within(a) {
        return of_same_vertices(a, b);
    }
    of_same_vertices(&a.within(b)?, &b.within(a)?)
}

/// Returns the agreement of two covers that cover the same vertices.
fn of_same_vertices(a: &Cover, b: &Cover) -> Result<OverlapAgreement, QualityError> {
    let all = a.covered();
    let equal = OverlapAgreement { nmi_lfk: 1.0, nmi_max: 1.0, omega: Some(1.0), f1: 1.0 };
    if all == 0 || is_same(a, b)? {
        return Ok(equal);
    }
    let (of_a, of_b) = (Side::of(a, b, all)?, Side::of(b, a, all)?);
    let shared = (of_a.entropy - of_a.left + of_b.entropy - of_b.left) / 2.0;
    let most = of_a.entropy.max(of_b.entropy);
    Ok(OverlapAgreement {
        nmi_lfk: (1.0 - (of_a.share_left + of_b.share_left) / 2.0).clamp(0.0, 1.0),
        nmi_max: if most > 0.0 { (shared / most).clamp(0.0, 1.0) } else { 0.0 },
        omega: match a.is_disjoint() && b.is_disjoint() {
            true => Some(adjusted_rand(a, b, all, of_a.shared_squares)),
            false => omega(a, b, all)?,
        },
        f1: (of_a.f1 + of_b.f1) / 2.0,
    })
}

/// Returns the adjusted Rand index, which equals the omega index for disjoint communities.
fn adjusted_rand(a: &Cover, b: &Cover, vertices: u64, shared: u128) -> f64 {
    let of = |cover: &Cover| squares((0..cover.len()).map(|at| cover.members(at).len() as u32));
    SquaredSizes { vertices, shared, of_a: of(a), of_b: of(b) }.adjusted_rand()
}

/// Returns whether two covers have the same communities, in any order.
fn is_same(a: &Cover, b: &Cover) -> Result<bool, OutOfMemory> {
    if a.len() != b.len() {
        return Ok(false);
    }
    let sorted = |cover: &Cover| {
        let mut order = memory::collected(0..cover.len())?;
        order.par_sort_unstable_by(|&x, &y| cover.members(x).cmp(cover.members(y)));
        Ok(order)
    };
    let (order_a, order_b) = (sorted(a)?, sorted(b)?);
    Ok(order_a.iter().zip(order_b).all(|(&x, y)| a.members(x) == b.members(y)))
}

/// Returns −p ln p.
fn h(p: f64) -> f64 {
    if p <= 0.0 { 0.0 } else { -p * p.ln() }
}

/// Sums over one cover's communities, compared with the other cover.
struct Side {
    /// The sum of the communities' entropies.
    entropy: f64,
    /// The sum of the entropies conditional on the other cover.
    left: f64,
    /// The mean of the conditional entropies as fractions of the entropies.
    share_left: f64,
    /// The mean F1 of the best matches.
    f1: f64,
    /// The summed squares of the numbers of common members of two communities.
    shared_squares: u128,
}

/// One community compared with the other cover.
#[derive(Clone, Copy, Default)]
struct Match {
    entropy: f64,
    left: f64,
    f1: f64,
    shared_squares: u128,
}

impl Side {
    fn of(cover: &Cover, other: &Cover, all: u64) -> Result<Side, OutOfMemory> {
        let sizes = Sizes::of(other, all)?;
        let mut matches = memory::filled(Match::default(), cover.len())?;
        let each = matches.par_iter_mut().enumerate();
        let pool = Pool::new(0, other.len());
        each.try_for_each_init(
            || Scratch::of(&pool),
            |scratch, (community, found)| {
                let scratch = scratch.as_mut().map_err(|refused| *refused)?;
                *found = sizes.best(cover, community, other, scratch)?;
                Ok(())
            },
        )?;
        let count = matches.len() as f64;
        let sum = |of: fn(&Match) -> f64| matches.iter().map(of).sum::<f64>();
        Ok(Side {
            entropy: sum(|found| found.entropy),
            left: sum(|found| found.left),
            // A community of all vertices has no entropy: the other cover carries no information on
            // it.
            share_left: sum(
                |found| if found.entropy > 0.0 { found.left / found.entropy } else { 1.0 },
            ) / count,
            f1: sum(|found| found.f1) / count,
            shared_squares: matches.iter().map(|found| found.shared_squares).sum(),
        })
    }
}

struct Scratch<'p> {
    /// For each community of the other side, the number of common members.
    shared: Borrowed<'p, u32>,
    /// The communities of which it is not 0.
    touched: Vec<u32>,
    /// The sizes of these communities.
    sizes: Vec<usize>,
}

impl<'p> Scratch<'p> {
    fn of(pool: &'p Pool<u32>) -> Result<Scratch<'p>, OutOfMemory> {
        Ok(Scratch { shared: pool.borrow()?, touched: Vec::new(), sizes: Vec::new() })
    }
}

/// The sizes of the other side's communities.
struct Sizes {
    all: f64,
    /// The different sizes, ascending, each with its number of communities.
    counts: Vec<(usize, usize)>,
}

impl Sizes {
    fn of(cover: &Cover, all: u64) -> Result<Sizes, OutOfMemory> {
        let sizes = (0..cover.len()).map(|at| cover.members(at).len());
        let (mut sizes, mut counts) = (memory::collected(sizes)?, Vec::new());
        sizes.par_sort_unstable();
        let mut runs = sizes.chunk_by(|a, b| a == b);
        runs.try_for_each(|run| memory::push(&mut counts, (run[0], run.len())))?;
        Ok(Sizes { all: all as f64, counts })
    }

    /// Returns the best match of a community, and its conditional entropy.
    fn best(
        &self,
        cover: &Cover,
        community: usize,
        other: &Cover,
        scratch: &mut Scratch<'_>,
    ) -> Result<Match, OutOfMemory> {
        let members = cover.members(community);
        for &vertex in members {
            for &partner in other.communities_of(vertex) {
                if scratch.shared[partner as usize] == 0 {
                    memory::push(&mut scratch.touched, partner)?;
                }
                scratch.shared[partner as usize] += 1;
            }
        }
        let share = members.len() as f64 / self.all;
        let entropy = h(share) + h(1.0 - share);
        let mut found = Match { entropy, left: entropy, f1: 0.0, shared_squares: 0 };
        let sizes = &mut scratch.sizes;
        sizes.clear();
        memory::reserve(sizes, scratch.touched.len())?;
        for partner in scratch.touched.drain(..) {
            let shared = std::mem::take(&mut scratch.shared[partner as usize]);
            found.shared_squares += u128::from(shared).pow(2);
            let size = other.members(partner as usize).len();
            sizes.push(size);
            found.left = found.left.min(self.left(members.len(), size, shared as usize, entropy));
            found.f1 = found.f1.max(2.0 * f64::from(shared) / (members.len() + size) as f64);
        }
        found.left = found.left.min(self.left_by_disjoint(members.len(), sizes, entropy));
        Ok(found)
    }

    /// Returns the least entropy of a community conditional on one without common members. Such a
    /// community carries information only if either has more than 1/e of the vertices.
    fn left_by_disjoint(&self, size: usize, touched: &mut [usize], entropy: f64) -> f64 {
        let large = self.all / std::f64::consts::E;
        let least = if size as f64 > large { 0.0 } else { large };
        let begin = self.counts.partition_point(|&(other, _)| (other as f64) < least);
        let candidates = self.counts[begin..].iter();
        let candidates = candidates.filter(|(other, _)| (size + other) as f64 <= self.all);
        let mut left = entropy;
        touched.sort_unstable();
        for &(other, count) in candidates {
            let from = touched.partition_point(|&size| size < other);
            let touched = touched[from..].partition_point(|&size| size == other);
            if touched < count {
                left = left.min(self.left(size, other, 0, entropy));
            }
        }
        left
    }

    /// Returns the entropy of a community conditional on another, or `entropy` if the two are
    /// closer to complements (the constraint of the paper).
    fn left(&self, size: usize, other: usize, shared: usize, entropy: f64) -> f64 {
        let share = |count: usize| h(count as f64 / self.all);
        let all = self.all as usize;
        let (both, only, only_other) = (share(shared), share(size - shared), share(other - shared));
        let none = share(all + shared - size - other);
        if both + none > only + only_other {
            both + none + only + only_other - share(other) - share(all - other)
        } else {
            entropy
        }
    }
}
