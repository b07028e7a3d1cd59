//! The exact counter: the sum of votes of every label.

use crate::{Label, NO_LABEL, Vote};

/// The least number of table slots per vote: most labels find their slot at once.
const SLOTS_PER_VOTE: usize = 3;

/// The most vertices of a graph whose labels index an array of sums: 512 KiB a thread, which the
/// second-level cache holds.
const DIRECT_VERTICES: u32 = 1 << 17;

/// The votes of one vertex at a time, and the sum of each label's votes.
///
/// Votes are first collected, then counted: collecting is bound by memory latency, counting runs in
/// the caches. In a graph of at most 2¹⁷ vertices, an array has the sum of every label; it is cleared
/// behind each vertex. In a larger graph, a hash table in the first-level cache has the sums.
/// [`LowDegreeSums`](super::low_degree::LowDegreeSums) counts the votes of vertices of low degree.
///
/// The hash table is never cleared: the tag of a slot carries the number of the vertex that wrote
/// it. It grows to the largest vertex that it meets; a vertex of low degree uses a small part.
///
/// ```text
/// ballots   7 7 3 7 9                      collect
/// sums      1 2 1 3 1                      count: the sum of each vote's label so far,
/// slots     · 9 · · 3 · 7 ·                         kept in its slot for the next vote
///             1     1   3
/// the highest sum, 3, is beside label 7: each label reaches its total once
/// ```
#[derive(Debug)]
pub(super) struct Votes {
    ballots: Vec<Vote>,
    /// The number of votes of the current vertex.
    count: usize,
    sums: Vec<u64>,
    /// The sum of every label if it is indexed directly, else empty; all 0 between two vertices.
    direct: Vec<u32>,
    slots: Vec<Slot>,
    /// The number of the current vertex; slots whose tags have other numbers are free.
    number: u32,
    /// Whether the current vertex was counted by `direct`.
    is_direct: bool,
}

/// A label, tagged with the number of its vertex, and the sum of its votes.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    tag: u64,
    sum: u64,
}

/// The counts of a vertex's votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count {
    /// The sum of all votes.
    pub total_votes: u64,
    /// The largest sum of a label; 0 without votes.
    pub top: u64,
}

impl Votes {
    /// Creates a counter of labels below `vertices`.
    pub fn new(vertices: u32) -> Votes {
        Votes {
            ballots: Vec::new(),
            count: 0,
            sums: Vec::new(),
            direct: vec![0; direct_labels(vertices)],
            slots: Vec::new(),
            number: 0,
            is_direct: false,
        }
    }

    /// Returns the bytes that the counter occupies after a vertex of this degree.
    pub fn bytes_for(vertices: u32, degree: u64) -> u64 {
        let (votes, slots) = (room_for(degree as usize), slots_for(room_for(degree as usize)));
        let direct = direct_labels(vertices) * size_of::<u32>();
        let votes = votes * (size_of::<Vote>() + size_of::<u64>()) + slots * size_of::<Slot>();
        (direct + votes) as u64
    }

    /// Begins a vertex with `degree` votes; the caller must write them into the returned slice.
    #[inline]
    pub fn begin(&mut self, degree: usize) -> &mut [Vote] {
        if degree > self.sums.len() {
            self.grow(degree);
        }
        self.count = degree;
        &mut self.ballots[..degree]
    }

    #[cold]
    fn grow(&mut self, degree: usize) {
        // Nothing is kept: free the old arrays first, so that the peak is not their sum.
        (self.ballots, self.sums, self.slots) = (Vec::new(), Vec::new(), Vec::new());
        self.number = 0;
        let votes = room_for(degree);
        self.ballots = vec![Vote::default(); votes];
        self.sums = vec![0; votes];
        self.slots = vec![Slot::default(); slots_for(votes)];
    }

    /// Counts the votes collected since [`Votes::begin`], whose sum is `total_votes`.
    #[inline]
    pub fn count(&mut self, total_votes: u64) -> Count {
        // Sums of 32 bits must not overflow.
        let is_small = !self.direct.is_empty() && u32::try_from(total_votes).is_ok();
        let direct = if is_small { self.count_direct() } else { None };
        self.is_direct = direct.is_some();
        Count { total_votes, top: direct.unwrap_or_else(|| self.count_hashed()) }
    }

    /// Writes each label's running sum into `sums`, by an array of all labels; returns the largest.
    /// Returns `None` if there are votes for a label that is not a vertex, as programs may cast.
    #[inline]
    fn count_direct(&mut self) -> Option<u64> {
        let ballots = &self.ballots[..self.count];
        let (mut top, mut outside) = (0, 0);
        for (ballot, running) in ballots.iter().zip(&mut self.sums) {
            let sum = match self.direct.get_mut(ballot.label as usize) {
                Some(sum) => {
                    *sum += ballot.weight;
                    *sum
                }
                None => {
                    outside |= ballot.weight;
                    0
                }
            };
            *running = u64::from(sum);
            top = top.max(sum);
        }
        clear(&mut self.direct, ballots);
        (outside == 0).then_some(u64::from(top))
    }

    /// Writes each label's running sum into `sums`, by the hash table; returns the largest.
    #[inline]
    fn count_hashed(&mut self) -> u64 {
        if self.number == u32::MAX {
            self.slots.fill(Slot::default());
            self.number = 0;
        }
        self.number += 1;
        let used = slots_for(self.count).min(self.slots.len());
        let slots = &mut self.slots[..used];
        let mut top = 0;
        for (ballot, running) in self.ballots[..self.count].iter().zip(&mut self.sums) {
            let slot = find(slots, self.number, ballot.label);
            let sum = if slot.tag == tag(self.number, ballot.label) { slot.sum } else { 0 };
            let sum = sum + u64::from(ballot.weight);
            *slot = Slot { tag: tag(self.number, ballot.label), sum };
            *running = sum;
            top = top.max(sum);
        }
        top
    }

    /// Returns the votes since [`Votes::begin`], in the order of the neighbours.
    #[inline]
    pub fn ballots(&self) -> &[Vote] {
        &self.ballots[..self.count]
    }

    /// Yields the labels whose votes sum up to `top`, each at least once.
    #[inline]
    pub fn leaders(&self, top: u64) -> impl Iterator<Item = Label> {
        let sums = self.ballots().iter().zip(&self.sums);
        sums.filter(move |(_, sum)| **sum == top).map(|(ballot, _)| ballot.label)
    }

    /// Yields every label with the sum of its votes, each at least once.
    pub fn all(&mut self) -> impl Iterator<Item = (Label, u64)> {
        let ballots = &self.ballots[..self.count];
        let sums = &mut self.sums[..self.count];
        // Running sums become totals.
        if self.is_direct {
            // Each label's largest running sum is its last.
            for (ballot, sum) in ballots.iter().zip(&*sums) {
                if let Some(total) = self.direct.get_mut(ballot.label as usize) {
                    *total = (*total).max(*sum as u32);
                }
            }
            for (ballot, sum) in ballots.iter().zip(&mut *sums) {
                *sum = self.direct.get(ballot.label as usize).map_or(0, |&of| u64::from(of));
            }
            clear(&mut self.direct, ballots);
        } else {
            let used = slots_for(self.count).min(self.slots.len());
            let slots = &mut self.slots[..used];
            for (ballot, sum) in ballots.iter().zip(&mut *sums) {
                *sum = find(slots, self.number, ballot.label).sum;
            }
        }
        ballots.iter().zip(&*sums).map(|(ballot, &sum)| (ballot.label, sum))
    }
}

/// Sets the sums of these votes' labels to 0.
#[inline]
fn clear(direct: &mut [u32], ballots: &[Vote]) {
    for ballot in ballots {
        if let Some(sum) = direct.get_mut(ballot.label as usize) {
            *sum = 0;
        }
    }
}

/// Counts the votes for one label, in one pass without the table; `top` is that label's sum.
///
/// It must be called before the other functions: it sets the weight of votes for [`NO_LABEL`] to 0.
#[inline]
pub(super) fn count_one(ballots: &mut [Vote], label: Label) -> Count {
    let mut silent = false;
    let count = |ballots: &[Vote], silent: &mut bool| {
        ballots.iter().fold(Count { total_votes: 0, top: 0 }, |count, ballot| {
            let weight = u64::from(ballot.weight);
            let own = if ballot.label == label { weight } else { 0 };
            *silent |= ballot.label == NO_LABEL;
            Count { total_votes: count.total_votes + weight, top: count.top + own }
        })
    };
    let counted = count(ballots, &mut silent);
    if !silent {
        return counted;
    }
    let unsaid = ballots.iter_mut().filter(|ballot| ballot.label == NO_LABEL);
    unsaid.for_each(|ballot| ballot.weight = 0);
    count(ballots, &mut silent)
}

/// Returns the slot of a label: the one that holds it, or a free one. The length of `slots` must be
/// a power of two, and one slot must be free.
#[inline]
fn find(slots: &mut [Slot], number: u32, label: Label) -> &mut Slot {
    let mask = slots.len() - 1;
    // Fibonacci hashing: the golden ratio spreads consecutive labels over the table.
    let spread = label.wrapping_mul(0x9e37_79b9);
    let mut at = ((u64::from(spread) * slots.len() as u64) >> 32) as usize;
    loop {
        let held = slots[at & mask].tag;
        let same = held == tag(number, label);
        let free = held >> 32 != u64::from(number);
        if same | free {
            return &mut slots[at & mask];
        }
        at += 1;
    }
}

#[inline]
fn tag(number: u32, label: Label) -> u64 {
    u64::from(number) << 32 | u64::from(label)
}

/// Returns the number of labels that are indexed directly in a graph of `vertices` vertices.
fn direct_labels(vertices: u32) -> usize {
    if vertices <= DIRECT_VERTICES { vertices as usize } else { 0 }
}

/// Returns the capacity in votes for a vertex of this degree.
fn room_for(degree: usize) -> usize {
    degree.next_power_of_two().max(64)
}

/// Returns the number of slots in use for `votes` votes.
#[inline]
fn slots_for(votes: usize) -> usize {
    (SLOTS_PER_VOTE * votes).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn sums_are_those_of_a_map(lists in prop::collection::vec(
            prop::collection::vec((0u32..40, 0u32..=u32::MAX), 0..200), 1..5),
            shift in prop::sample::select(vec![0, 26]), small: bool, vertices in 30u32..41) {
            // Labels of 26 bits more are not below the number of vertices.
            let mut votes = Votes::new(if shift == 0 { vertices } else { u32::MAX });
            // The number overflows within this test.
            votes.begin(1);
            votes.number = u32::MAX - 2;
            for list in lists {
                // Labels that differ in few bits, so that they collide.
                let ballot = |&(label, weight): &(u32, u32)| Vote {
                    label: label << shift | label,
                    weight: if small { weight >> 10 } else { weight },
                };
                let mut expected: BTreeMap<Label, u64> = BTreeMap::new();
                for vote in list.iter().map(ballot) {
                    *expected.entry(vote.label).or_default() += u64::from(vote.weight);
                }
                let ballots = votes.begin(list.len()).iter_mut().zip(&list);
                ballots.for_each(|(vote, said)| *vote = ballot(said));
                let count = votes.count(expected.values().sum());
                let top = expected.values().copied().max().unwrap_or(0);
                prop_assert_eq!(count, Count { total_votes: expected.values().sum(), top });
                prop_assert_eq!(&votes.all().collect::<BTreeMap<_, _>>(), &expected);
                let mut leaders: Vec<Label> = votes.leaders(top).collect();
                leaders.sort_unstable();
                leaders.dedup();
                expected.retain(|_, sum| *sum == top);
                prop_assert_eq!(leaders, expected.into_keys().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn votes_for_no_label_say_nothing() {
        let cases = [
            (vec![(NO_LABEL, 5), (3, 1), (NO_LABEL, 0)], 1, Count { total_votes: 1, top: 1 }),
            (vec![(NO_LABEL, 5)], 0, Count { total_votes: 0, top: 0 }),
            (vec![(NO_LABEL, 0), (2, 7), (3, 1)], 1, Count { total_votes: 8, top: 7 }),
        ];
        let runs = [9, u32::MAX]
            .into_iter()
            .flat_map(|vertices| cases.iter().map(move |case| (Votes::new(vertices), case)));
        for (mut votes, (list, own, expected)) in runs {
            let count_one_of = |votes: &mut Votes, label| {
                let said = list.iter().map(|&(label, weight)| Vote { label, weight });
                let ballots = votes.begin(list.len());
                ballots.iter_mut().zip(said).for_each(|(vote, said)| *vote = said);
                count_one(ballots, label)
            };
            let counted = count_one_of(&mut votes, 3);
            assert_eq!(counted, Count { total_votes: expected.total_votes, top: *own });
            assert_eq!(votes.count(counted.total_votes), *expected);
            assert!(votes.all().all(|(label, sum)| label != NO_LABEL || sum == 0));
            assert_eq!(count_one_of(&mut votes, NO_LABEL).top, 0);
        }
    }

    #[test]
    fn planned_bytes_are_those_of_the_arrays() {
        for degree in [1, 64, 65, 1000] {
            let mut votes = Votes::new(70);
            votes.begin(degree as usize);
            let held = votes.ballots.capacity() * 8
                + votes.sums.capacity() * 8
                + votes.direct.capacity() * 4
                + votes.slots.capacity() * 16;
            assert_eq!(Votes::bytes_for(70, degree), held as u64);
        }
    }
}
