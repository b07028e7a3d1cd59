//! The omega index of two covers, without enumerating pairs of vertices.
//!
//! For a pair of vertices, let i be the number of communities of A that contain both, and j that of
//! B. The index needs the number of pairs for each i, for each j, and for i = j. Counting pairs one
//! by one costs the square of a community's size. Instead, vertices are counted for each set X of
//! communities of A together with each set Y of B:
//!
//! ```text
//! n(X, Y)           vertices that are in all communities of X and of Y
//! q(k, l)           Σ n(X, Y) (n(X, Y) − 1) / 2 over |X| = k, |Y| = l; this is Σ C(i, k) C(j, l) over all pairs
//! pairs of i = m    Σ (−1)^(k − m) C(k, m) q(k, 0) over k
//! pairs of i = j    Σ (−1)^(k + l) C(k + l, k) q(k, l) over k and l
//! ```
//!
//! The last two lines invert the binomials, the last one by Vandermonde's identity. All numbers are
//! integers, so that the result is exact and does not depend on the number of threads.
//!
//! Vertices in the same communities form a group, which is counted once with its size. A group in s
//! communities of A and t of B is in 2^(s + t) such sets. If these communities contain fewer groups
//! than that, the group's pairs are counted one by one.

use super::Cover;
use super::groups::Groups;
use super::pool::Pool;
use rayon::prelude::*;
use ripplet_graph::{OutOfMemory, memory};

/// The most steps of the omega index; if it needs more, it is absent. A step counts a vertex in a
/// set of communities, or a pair of groups. Half of this took three minutes on two cores shared
/// with other work.
pub const MOST_OMEGA_STEPS: u128 = 1 << 33;

/// The number of sets up to which a group is counted in sets even if its pairs are fewer: a set is
/// cheaper than a pair, which needs a lookup in an array of all vertices.
const FEW_SETS: u64 = 64;

/// The number of entries from which on all threads sort and process a list of members.
const LARGE: usize = 1 << 16;

/// The least number of communities per task.
const COMMUNITIES_PER_TASK: usize = 64;

/// Returns the omega index of two covers of `all` vertices, each of which is in a community of
/// both; `None` if it takes more than [`MOST_OMEGA_STEPS`].
pub(super) fn omega(a: &Cover, b: &Cover, all: u64) -> Result<Option<f64>, OutOfMemory> {
    let groups = Groups::of([a, b])?;
    let counting = Counting::of(&groups, FEW_SETS)?;
    if counting.work.steps > MOST_OMEGA_STEPS {
        return Ok(None);
    }
    Ok(Some(counting.counts(all)?.index()))
}

/// The choice of how the pairs of each group are counted.
struct Counting<'g> {
    groups: &'g Groups,
    /// For each group, whether its pairs are counted one by one.
    one_by_one: Vec<bool>,
    work: Work,
}

/// The cost of counting some groups.
#[derive(Clone, Copy, Default)]
struct Work {
    /// The most communities per side of a group that is counted in sets.
    most: [usize; 2],
    steps: u128,
}

impl Work {
    fn plus(self, other: Work) -> Work {
        let most = [0, 1].map(|side| self.most[side].max(other.most[side]));
        Work { most, steps: self.steps + other.steps }
    }
}

impl<'g> Counting<'g> {
    /// Chooses the cheaper method for each group that is in more than `few_sets` sets.
    fn of(groups: &'g Groups, few_sets: u64) -> Result<Counting<'g>, OutOfMemory> {
        let mut one_by_one = memory::filled(false, groups.sizes.len())?;
        let each = one_by_one.par_iter_mut().enumerate().with_min_len(1024);
        let work = each.map(|(group, one_by_one)| {
            let homes = groups.covers.each_ref().map(|cover| cover.communities_of(group as u32));
            let most = homes.map(<[u32]>::len);
            let sets = 1u64.checked_shl((most[0] + most[1]) as u32).unwrap_or(u64::MAX);
            let members = |side: usize| {
                let members = |&home: &u32| groups.covers[side].members(home as usize).len() as u64;
                homes[side].iter().map(members).sum::<u64>()
            };
            let pairs = if sets > few_sets { members(0) + members(1) } else { sets };
            *one_by_one = pairs < sets;
            let most = if *one_by_one { [0; 2] } else { most };
            Work { most, steps: pairs.min(sets).into() }
        });
        let work = work.reduce(Work::default, Work::plus);
        Ok(Counting { groups, one_by_one, work })
    }

    /// Counts the pairs of `all` vertices by the numbers of common communities.
    fn counts(&self, all: u64) -> Result<PairCounts, OutOfMemory> {
        let pairs = (u128::from(all) * u128::from(all.saturating_sub(1)) / 2) as u64;
        let singly = self.counted_inside()?.plus(&self.counted_singly()?)?;
        self.moments()?.counts(pairs)?.plus(singly)
    }

    /// Computes the moments of the groups that are counted in sets.
    fn moments(&self) -> Result<Moments, OutOfMemory> {
        let of_side = |side: usize| {
            let communities = (0..self.groups.covers[side].len()).into_par_iter();
            let counted = communities.with_min_len(COMMUNITIES_PER_TASK).fold(
                || Moments::zero(self.work.most),
                |moments, community| {
                    let mut moments = moments?;
                    let members = self.groups.covers[side].members(community).iter().copied();
                    let members = members.filter(|&group| !self.one_by_one[group as usize]);
                    let entries = entries(members.map(|group| (community as u32, group)))?;
                    self.count(&entries, Set::default().with(side), &mut moments)?;
                    Ok(moments)
                },
            );
            counted.reduce(|| Moments::zero(self.work.most), Moments::sum)
        };
        Moments::sum(of_side(0), of_side(1))
    }

    /// Counts a set of communities, given by an entry for each group in all of them, and
    /// recursively all sets that extend it by later communities.
    fn count(&self, shared: &[u64], set: Set, moments: &mut Moments) -> Result<(), OutOfMemory> {
        let [Some(first), Some(_)] = [shared.first(), shared.get(1)] else { return Ok(()) };
        moments.add(set, self.pairs(shared));
        let last = (first >> 32) as u32;
        for side in set.last_side..2 {
            let later = |&&community: &&u32| side > set.last_side || community > last;
            let of = |&entry: &u64| {
                let homes = self.groups.covers[side].communities_of(entry as u32);
                homes.iter().filter(later).map(move |&community| (community, entry as u32))
            };
            let mut entries = entries(shared.iter().flat_map(of))?;
            let (is_same, set) = (|a: &u64, b: &u64| a >> 32 == b >> 32, set.with(side));
            if entries.len() < LARGE {
                entries.sort_unstable();
                let mut runs = entries.chunk_by(is_same);
                runs.try_for_each(|run| self.count(run, set, moments))?;
                continue;
            }
            entries.par_sort_unstable();
            let counted = entries.par_chunk_by(is_same).fold(
                || Moments::zero(self.work.most),
                |moments, run| {
                    let mut moments = moments?;
                    self.count(run, set, &mut moments)?;
                    Ok(moments)
                },
            );
            moments.plus(&counted.reduce(|| Moments::zero(self.work.most), Moments::sum)?);
        }
        Ok(())
    }

    /// Returns the number of pairs of vertices in different groups.
    fn pairs(&self, entries: &[u64]) -> u128 {
        let (mut sum, mut squares) = (0, 0);
        for &entry in entries {
            let size = u128::from(self.groups.sizes[entry as u32 as usize]);
            sum += size;
            squares += size * size;
        }
        (sum * sum - squares) / 2
    }

    /// Counts the pairs of vertices in the same group.
    fn counted_inside(&self) -> Result<SinglePairs, OutOfMemory> {
        let mut pairs = SinglePairs::default();
        for (group, size) in (0..).zip(&self.groups.sizes).filter(|(_, size)| **size > 1) {
            let homes = |cover: &Cover| cover.communities_of(group).len() as u32;
            let inside = u64::from(*size) * u64::from(size - 1) / 2;
            pairs.add(self.groups.covers.each_ref().map(homes), inside)?;
        }
        Ok(pairs)
    }

    /// Counts the pairs of different groups that are counted one by one.
    fn counted_singly(&self) -> Result<SinglePairs, OutOfMemory> {
        let mut groups = Vec::new();
        for (group, _) in (0..).zip(&self.one_by_one).filter(|(_, is_single)| **is_single) {
            memory::push(&mut groups, group)?;
        }
        let pool = Pool::new([0; 2], self.one_by_one.len());
        let counted = groups.par_iter().with_min_len(64).fold(
            || Ok(SinglePairs::default()),
            |pairs: Result<SinglePairs, OutOfMemory>, &group| {
                let mut pairs = pairs?;
                self.count_pairs(group, &mut pool.borrow()?, &mut pairs)?;
                Ok(pairs)
            },
        );
        counted.reduce(|| Ok(SinglePairs::default()), |a, b| a?.plus(&b?))
    }

    /// Counts the pairs of a group with groups that are counted in sets, and with later ones.
    fn count_pairs(
        &self,
        group: u32,
        shared: &mut [[u32; 2]],
        pairs: &mut SinglePairs,
    ) -> Result<(), OutOfMemory> {
        let mut touched = Vec::new();
        for (side, cover) in self.groups.covers.iter().enumerate() {
            for &community in cover.communities_of(group) {
                for &member in cover.members(community as usize) {
                    if member <= group && self.one_by_one[member as usize] {
                        continue;
                    }
                    let counts = &mut shared[member as usize];
                    if *counts == [0; 2] {
                        memory::push(&mut touched, member)?;
                    }
                    counts[side] += 1;
                }
            }
        }
        let size = |group: u32| u64::from(self.groups.sizes[group as usize]);
        touched.into_iter().try_for_each(|member| {
            let shared = std::mem::take(&mut shared[member as usize]);
            pairs.add(shared, size(group) * size(member))
        })
    }
}

/// Packs pairs of a community and a group into integers that sort by community.
fn entries(pairs: impl Iterator<Item = (u32, u32)>) -> Result<Vec<u64>, OutOfMemory> {
    let mut entries = Vec::new();
    for (community, group) in pairs {
        memory::push(&mut entries, u64::from(community) << 32 | u64::from(group))?;
    }
    Ok(entries)
}

/// The number of communities of each side in a set; those of the first side come first.
#[derive(Clone, Copy, Default)]
struct Set {
    sizes: [usize; 2],
    last_side: usize,
}

impl Set {
    /// Returns the set with one more community.
    fn with(self, side: usize) -> Set {
        let mut sizes = self.sizes;
        sizes[side] += 1;
        Set { sizes, last_side: side }
    }
}

/// The moments q(k, l) of the module's documentation, for k and l from 0.
struct Moments {
    /// Row k has `columns` entries.
    values: Vec<u128>,
    columns: usize,
}

impl Moments {
    /// Creates zero moments, for at most `most` communities of each side.
    fn zero(most: [usize; 2]) -> Result<Moments, OutOfMemory> {
        let columns = most[1] + 1;
        Ok(Moments { values: memory::filled(0, (most[0] + 1) * columns)?, columns })
    }

    /// Adds the pairs of vertices that are in all communities of a set.
    fn add(&mut self, set: Set, pairs: u128) {
        let [k, l] = set.sizes;
        self.values[k * self.columns + l] += pairs;
    }

    fn plus(&mut self, other: &Moments) {
        self.values.iter_mut().zip(&other.values).for_each(|(sum, more)| *sum += more);
    }

    fn sum(
        a: Result<Moments, OutOfMemory>,
        b: Result<Moments, OutOfMemory>,
    ) -> Result<Moments, OutOfMemory> {
        let mut sum = a?;
        sum.plus(&b?);
        Ok(sum)
    }

    /// Returns the numbers of pairs that have these moments, of `all` pairs.
    ///
    /// Nothing overflows: k + l communities of a vertex take 2^(k + l) steps, so that binomials are
    /// below 2^34, and moments below 2^66.
    fn counts(&self, all: u64) -> Result<PairCounts, OutOfMemory> {
        let rows = self.values.len() / self.columns;
        let at = |k: usize, l: usize| self.values[k * self.columns + l] as i128;
        let shared = [inverted(rows, |k| at(k, 0))?, inverted(self.columns, |l| at(0, l))?];
        let cells = (0..rows).flat_map(|k| (0..self.columns).map(move |l| (k, l)));
        let terms = cells.map(|(k, l)| sign(k + l) * binomial(k + l, k) * at(k, l));
        let equal = i128::from(all) + terms.sum::<i128>();
        Ok(PairCounts { all, shared, equal: equal as u64 })
    }
}

/// Returns the numbers of pairs with m common communities of a side, for m from 1, from the side's
/// moments.
fn inverted(moments: usize, moment: impl Fn(usize) -> i128) -> Result<Vec<u64>, OutOfMemory> {
    let term = |k: usize, m: usize| sign(k - m) * binomial(k, m) * moment(k);
    let count = |m: usize| (m..moments).map(|k| term(k, m)).sum::<i128>() as u64;
    memory::collected((1..moments).map(count))
}

/// Returns (−1)^power.
fn sign(power: usize) -> i128 {
    if power.is_multiple_of(2) { 1 } else { -1 }
}

/// Returns the binomial coefficient n over k.
fn binomial(n: usize, k: usize) -> i128 {
    (0..k as i128).fold(1, |product, i| product * (n as i128 - i) / (i + 1))
}

/// The numbers of pairs of vertices by common communities.
struct PairCounts {
    /// All pairs, including those without a common community.
    all: u64,
    /// For each side, entry i: the pairs with i + 1 common communities.
    shared: [Vec<u64>; 2],
    /// The pairs with equal numbers on both sides.
    equal: u64,
}

impl PairCounts {
    /// Moves pairs from "no common community" to their counts in `singly`.
    fn plus(mut self, singly: SinglePairs) -> Result<PairCounts, OutOfMemory> {
        for (sums, more) in self.shared.iter_mut().zip(&singly.shared) {
            add(sums, more)?;
        }
        self.equal = self.equal + singly.equal - singly.touched;
        Ok(self)
    }

    /// Returns the omega index. Collins and Dent 1988.
    fn index(&self) -> f64 {
        if self.all == 0 {
            return 1.0;
        }
        let [of_a, of_b] = &self.shared;
        let all = self.all as f64;
        let apart = |counts: &[u64]| (self.all - counts.iter().sum::<u64>()) as f64;
        let together: f64 = of_a.iter().zip(of_b).map(|(&a, &b)| a as f64 * b as f64).sum();
        let observed = self.equal as f64 / all;
        let expected = (apart(of_a) * apart(of_b) + together) / all / all;
        if expected >= 1.0 { 1.0 } else { (observed - expected) / (1.0 - expected) }
    }
}

/// Pairs that were not counted in sets.
#[derive(Default)]
struct SinglePairs {
    /// For each side, entry i: the pairs with i + 1 common communities.
    shared: [Vec<u64>; 2],
    /// The pairs with equal numbers, at least one, on both sides.
    equal: u64,
    /// The pairs with a common community on any side.
    touched: u64,
}

impl SinglePairs {
    /// Adds `pairs` pairs with these numbers of common communities.
    fn add(&mut self, shared: [u32; 2], pairs: u64) -> Result<(), OutOfMemory> {
        for (counts, shared) in self.shared.iter_mut().zip(shared).filter(|(_, shared)| *shared > 0)
        {
            lengthen(counts, shared as usize)?;
            counts[shared as usize - 1] += pairs;
        }
        self.touched += pairs;
        self.equal += if shared[0] == shared[1] { pairs } else { 0 };
        Ok(())
    }

    fn plus(mut self, other: &SinglePairs) -> Result<SinglePairs, OutOfMemory> {
        for (sums, more) in self.shared.iter_mut().zip(&other.shared) {
            add(sums, more)?;
        }
        self.equal += other.equal;
        self.touched += other.touched;
        Ok(self)
    }
}

/// Adds counts to others, entry by entry.
fn add(sums: &mut Vec<u64>, more: &[u64]) -> Result<(), OutOfMemory> {
    lengthen(sums, more.len())?;
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    Ok(())
}

/// Appends zeros until an array has at least `len` entries.
fn lengthen(counts: &mut Vec<u64>, len: usize) -> Result<(), OutOfMemory> {
    if counts.len() < len {
        memory::reserve(counts, len - counts.len())?;
        counts.resize(len, 0);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const VERTICES: u32 = 24;

    type Communities = Vec<BTreeSet<u32>>;

    fn cover(communities: &[BTreeSet<u32>]) -> Cover {
        let memberships = (0..).zip(communities);
        let memberships =
            memberships.flat_map(|(at, members)| members.iter().map(move |&v| (v, at)));
        Cover::new(VERTICES, communities.len() as u32, memberships).unwrap()
    }

    /// Pairs by definition: the numbers for each count of common communities of each side, and of
    /// equal counts.
    fn tried(a: &Communities, b: &Communities) -> ([Vec<u64>; 2], u64) {
        let (mut shared, mut equal) = ([vec![0; 40], vec![0; 40]], 0);
        for u in 0..VERTICES {
            for v in 0..u {
                let of = |side: &Communities| {
                    side.iter()
                        .filter(|members| members.contains(&u) && members.contains(&v))
                        .count()
                };
                let counts = [of(a), of(b)];
                (0..2).for_each(|side| shared[side][counts[side]] += 1);
                equal += u64::from(counts[0] == counts[1]);
            }
        }
        (shared, equal)
    }

    proptest! {
        #[test]
        fn pairs_are_those_that_trying_finds(
            a in prop::collection::vec(prop::collection::btree_set(0..VERTICES, 0..20), 0..9),
            b in prop::collection::vec(prop::collection::btree_set(0..VERTICES, 0..20), 0..9),
            few_sets in prop::sample::select(vec![0, 2, 16, 64, 1 << 20]),
        ) {
            let (expected, equal) = tried(&a, &b);
            let (a, b) = (cover(&a), cover(&b));
            for threads in [1, 2, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let counts = pool.install(|| {
                    let groups = Groups::of([&a, &b]).unwrap();
                    Counting::of(&groups, few_sets).unwrap().counts(VERTICES.into()).unwrap()
                });
                prop_assert_eq!(counts.equal, equal);
                for (counts, expected) in counts.shared.iter().zip(&expected) {
                    let count = |at: usize| counts.get(at).copied().unwrap_or(0);
                    prop_assert!((1..40).all(|shared| count(shared - 1) == expected[shared]));
                }
            }
        }
    }

    #[test]
    fn a_vertex_of_many_communities_is_counted_the_cheaper_way() {
        // 30 communities of the same four vertices, which the other side distinguishes: 2^32 sets
        // of communities.
        let same: Communities = vec![BTreeSet::from([1, 2, 3, 4]); 30];
        let other = [BTreeSet::from([1, 2]), BTreeSet::from_iter(0..VERTICES)];
        let groups = Groups::of([&cover(&same), &cover(&other)]).unwrap();
        let counting = Counting::of(&groups, FEW_SETS).unwrap();
        assert!(counting.work.steps < 1000, "{} steps", counting.work.steps);
        assert_eq!(counting.one_by_one.iter().filter(|&&is_single| is_single).count(), 2);
        let counts = counting.counts(VERTICES.into()).unwrap();
        assert_eq!(counts.shared[0].last(), Some(&6));
        assert_eq!(counts.shared[1], [275, 1]);
    }
}
