//! How far two covers agree: communities that may overlap.
//!
//! Only vertices that are in a community of both are compared; N is their number. Of each pair of communities
//! it is known how many members they share, from the lists of both.
//!
//! | measure | definition |
//! |---|---|
//! | `nmi_lfk` | Lancichinetti, Fortunato, Kertész, *Detecting the overlapping and hierarchical community structure in complex networks*, New Journal of Physics 11, 2009, appendix B |
//! | `nmi_max` | McDaid, Greene, Hurley, *Normalized mutual information to evaluate overlapping community finding algorithms*, 2011: over the larger of both entropies |
//! | `omega` | Collins, Dent, *Omega: a general formulation of the Rand index of cluster recovery*, Multivariate Behavioral Research 23, 1988 |
//! | `f1` | Yang, Leskovec, *Overlapping community detection at scale*, WSDM 2013: mean over both directions of the mean of the best match's F1 |
//!
//! Determinism: floats are summed in the order of the communities; the same bits on any number of threads.

use super::agreement::{SquaredSizes, squares};
use super::{Cover, QualityError};
use rayon::prelude::*;
use serde::Serialize;

/// How far two covers agree. Equal covers have 1 everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OverlapAgreement {
    /// Normalized mutual information of overlapping communities after Lancichinetti, Fortunato and Kertész, 0 to 1.
    pub nmi_lfk: f64,
    /// The same after McDaid, Greene and Hurley, 0 to 1.
    pub nmi_max: f64,
    /// Omega index: 1 for equal covers, about 0 for unrelated ones. For disjoint communities the adjusted Rand
    /// index. Absent where communities are so large that [`MOST_PAIRS`] are not enough.
    pub omega: Option<f64>,
    /// The F1 of the best match of a community, as a mean, and of both directions, 0 to 1.
    pub f1: f64,
}

/// Pairs of members of one community, over all communities, that the omega index looks at; beyond, it is absent.
pub const MOST_PAIRS: u128 = 1 << 33;

/// The agreement of two covers of the same vertices; it is symmetric.
///
/// Cost: for each membership the communities of its vertex on the other side; omega: all pairs of members of a
/// community. Memory: both covers once more, and 12 bytes a vertex and thread.
///
/// # Errors
/// Where the covers are not of equally many vertices, or memory is refused.
pub fn overlap_agreement(a: &Cover, b: &Cover) -> Result<OverlapAgreement, QualityError> {
    if a.vertices() != b.vertices() {
        let (labels, vertices) = (a.vertices() as usize, b.vertices() as usize);
        return Err(QualityError::Length { labels, vertices });
    }
    let (a, b) = (&a.within(b)?, &b.within(a)?);
    let all = a.covered();
    let equal = OverlapAgreement { nmi_lfk: 1.0, nmi_max: 1.0, omega: Some(1.0), f1: 1.0 };
    if all == 0 || is_same(a, b) {
        return Ok(equal);
    }
    let (of_a, of_b) = (Side::of(a, b, all), Side::of(b, a, all));
    let shared = (of_a.entropy - of_a.left + of_b.entropy - of_b.left) / 2.0;
    let most = of_a.entropy.max(of_b.entropy);
    Ok(OverlapAgreement {
        nmi_lfk: (1.0 - (of_a.share_left + of_b.share_left) / 2.0).clamp(0.0, 1.0),
        nmi_max: if most > 0.0 { (shared / most).clamp(0.0, 1.0) } else { 0.0 },
        omega: omega(a, b, all, of_a.shared_squares),
        f1: (of_a.f1 + of_b.f1) / 2.0,
    })
}

/// Whether two covers have the same communities, in whatever order.
fn is_same(a: &Cover, b: &Cover) -> bool {
    let sorted = |cover: &Cover| -> Vec<usize> {
        let mut order: Vec<usize> = (0..cover.len()).collect();
        order.par_sort_unstable_by(|&x, &y| cover.members(x).cmp(cover.members(y)));
        order
    };
    let pairs = || sorted(a).into_iter().zip(sorted(b));
    a.len() == b.len() && pairs().all(|(x, y)| a.members(x) == b.members(y))
}

/// −p ln p
fn h(p: f64) -> f64 {
    if p <= 0.0 { 0.0 } else { -p * p.ln() }
}

/// What one cover's communities have in the other.
struct Side {
    /// The summed entropies of the communities.
    entropy: f64,
    /// The summed entropies that are left where the other cover is known.
    left: f64,
    /// The mean of the shares that are left.
    share_left: f64,
    /// The mean F1 of the best matches.
    f1: f64,
    /// The summed squares of the numbers of members that a community of each side shares.
    shared_squares: u128,
}

/// The same of one community.
struct Match {
    entropy: f64,
    left: f64,
    f1: f64,
    shared_squares: u128,
}

impl Side {
    fn of(cover: &Cover, other: &Cover, all: u64) -> Side {
        let sizes = Sizes::of(other, all);
        let scratch = || Scratch { shared: vec![0; other.len()], touched: Vec::new() };
        let matches: Vec<Match> = (0..cover.len())
            .into_par_iter()
            .map_init(scratch, |scratch, community| sizes.best(cover, community, other, scratch))
            .collect();
        let count = matches.len() as f64;
        let sum = |of: fn(&Match) -> f64| matches.iter().map(of).sum::<f64>();
        Side {
            entropy: sum(|found| found.entropy),
            left: sum(|found| found.left),
            // A community of all vertices has no entropy: nothing tells anything of it.
            share_left: sum(
                |found| if found.entropy > 0.0 { found.left / found.entropy } else { 1.0 },
            ) / count,
            f1: sum(|found| found.f1) / count,
            shared_squares: matches.iter().map(|found| found.shared_squares).sum(),
        }
    }
}

struct Scratch {
    /// For each community of the other side the members that are shared.
    shared: Vec<u32>,
    /// Those of them that are not 0.
    touched: Vec<u32>,
}

/// The sizes of the other side's communities.
struct Sizes {
    all: f64,
    /// The different sizes, ascending, and how many communities have each.
    counts: Vec<(usize, usize)>,
}

impl Sizes {
    fn of(cover: &Cover, all: u64) -> Sizes {
        let mut sizes: Vec<usize> = (0..cover.len()).map(|at| cover.members(at).len()).collect();
        sizes.sort_unstable();
        let counts = sizes.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect();
        Sizes { all: all as f64, counts }
    }

    /// The best match of a community, and what is left of its entropy.
    fn best(&self, cover: &Cover, community: usize, other: &Cover, scratch: &mut Scratch) -> Match {
        let members = cover.members(community);
        for &vertex in members {
            for &partner in other.communities_of(vertex) {
                if scratch.shared[partner as usize] == 0 {
                    scratch.touched.push(partner);
                }
                scratch.shared[partner as usize] += 1;
            }
        }
        let share = members.len() as f64 / self.all;
        let entropy = h(share) + h(1.0 - share);
        let mut found = Match { entropy, left: entropy, f1: 0.0, shared_squares: 0 };
        let mut of_size = Vec::with_capacity(scratch.touched.len());
        for partner in scratch.touched.drain(..) {
            let shared = std::mem::take(&mut scratch.shared[partner as usize]);
            found.shared_squares += u128::from(shared).pow(2);
            let size = other.members(partner as usize).len();
            of_size.push(size);
            found.left = found.left.min(self.left(members.len(), size, shared as usize, entropy));
            found.f1 = found.f1.max(2.0 * f64::from(shared) / (members.len() + size) as f64);
        }
        found.left = found.left.min(self.left_by_strangers(members.len(), of_size, entropy));
        found
    }

    /// What is left of a community's entropy where one is known that shares no member: it tells something
    /// only where one of them has more than one in e of the vertices.
    fn left_by_strangers(&self, size: usize, mut touched: Vec<usize>, entropy: f64) -> f64 {
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

    /// What is left of a community's entropy where another is known, unless they are more like opposites.
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

/// The omega index, where it is not too much work.
fn omega(a: &Cover, b: &Cover, all: u64, shared: u128) -> Option<f64> {
    let of = |cover: &Cover| squares((0..cover.len()).map(|at| cover.members(at).len() as u32));
    let (of_a, of_b) = (of(a), of(b));
    if a.is_disjoint() && b.is_disjoint() {
        return Some(SquaredSizes { vertices: all, shared, of_a, of_b }.adjusted_rand());
    }
    if of_a + of_b > MOST_PAIRS {
        return None;
    }
    let counted = (0..a.vertices()).into_par_iter().with_min_len(64).fold(
        || (PairCounts::default(), PairScratch::default()),
        |(mut counts, mut scratch), vertex| {
            counts.add(a, b, vertex, &mut scratch);
            (counts, scratch)
        },
    );
    let counts = counted.map(|(counts, _)| counts).reduce(PairCounts::default, PairCounts::plus);
    let pairs = all as f64 * (all as f64 - 1.0) / 2.0;
    if pairs == 0.0 {
        return Some(1.0);
    }
    let apart = |counts: &[u64]| pairs - counts.iter().map(|&count| count as f64).sum::<f64>();
    let observed = (pairs - counts.touched as f64 + counts.equal as f64) / pairs;
    let together = counts.of_a.iter().zip(&counts.of_b).map(|(&a, &b)| a as f64 * b as f64);
    let expected =
        (apart(&counts.of_a) * apart(&counts.of_b) + together.sum::<f64>()) / pairs / pairs;
    let index = if expected >= 1.0 { 1.0 } else { (observed - expected) / (1.0 - expected) };
    Some(index)
}

/// Pairs of vertices by the number of communities that they share.
#[derive(Default)]
struct PairCounts {
    /// Entry i: the pairs that share i + 1 of the one side.
    of_a: Vec<u64>,
    of_b: Vec<u64>,
    /// Pairs that share equally many, one at least, on both.
    equal: u64,
    /// Pairs that share one on any side.
    touched: u64,
}

#[derive(Default)]
struct PairScratch {
    shared: Vec<[u32; 2]>,
    touched: Vec<u32>,
}

impl PairCounts {
    /// Counts the pairs of a vertex and those after it.
    fn add(&mut self, a: &Cover, b: &Cover, vertex: u32, scratch: &mut PairScratch) {
        let PairScratch { shared, touched } = scratch;
        shared.resize(a.vertices() as usize, [0; 2]);
        for (side, cover) in [a, b].into_iter().enumerate() {
            for &community in cover.communities_of(vertex) {
                let members = cover.members(community as usize);
                let after = members.partition_point(|&member| member <= vertex);
                for &member in &members[after..] {
                    let counts = &mut shared[member as usize];
                    if *counts == [0; 2] {
                        touched.push(member);
                    }
                    counts[side] += 1;
                }
            }
        }
        self.touched += touched.len() as u64;
        for member in touched.drain(..) {
            let [of_a, of_b] = std::mem::take(&mut shared[member as usize]);
            count(&mut self.of_a, of_a);
            count(&mut self.of_b, of_b);
            self.equal += u64::from(of_a == of_b);
        }
    }

    fn plus(mut self, other: PairCounts) -> PairCounts {
        let add = |into: &mut Vec<u64>, from: &[u64]| {
            into.resize(into.len().max(from.len()), 0);
            into.iter_mut().zip(from).for_each(|(sum, more)| *sum += more);
        };
        add(&mut self.of_a, &other.of_a);
        add(&mut self.of_b, &other.of_b);
        let (equal, touched) = (self.equal + other.equal, self.touched + other.touched);
        PairCounts { equal, touched, ..self }
    }
}

fn count(counts: &mut Vec<u64>, shared: u32) {
    if shared > 0 {
        counts.resize(counts.len().max(shared as usize), 0);
        counts[shared as usize - 1] += 1;
    }
}
