//! The sketch counters; `crate::counters` defines them.

use crate::counters::{PART, Parts, Rule, Sketch, Slots};
use crate::{Label, NO_LABEL, Vote};

/// Votes that are loaded at a time.
pub(super) const CHUNK: usize = 1024;
const _: () = assert!(CHUNK.is_multiple_of(PART));

const MOST: usize = Slots::MOST as usize;

/// The most merge levels of parts: a vertex has fewer than 2^33 arcs.
const LEVELS: usize = 33 - PART.trailing_zeros() as usize;

/// `Candidates`: the candidates of a sketch, each in its slot.
///
/// A free slot has weight 0 and [`NO_LABEL`], which no vote has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidates {
    labels: [Label; MOST],
    weights: [u64; MOST],
}

impl Candidates {
    const NOTHING: Candidates = Candidates { labels: [NO_LABEL; MOST], weights: [0; MOST] };

    /// Yields the candidates with the weights of their slots.
    pub fn candidates(&self) -> impl Iterator<Item = (Label, u64)> {
        self.labels.into_iter().zip(self.weights).filter(|(_, weight)| *weight > 0)
    }

    /// Sets all weights to 0, for [`Candidates::recount`]; the slots are no valid sketch any more.
    pub fn forget_weights(&mut self) {
        self.weights = [0; MOST];
    }

    /// Adds the votes for the candidates to their weights.
    #[inline]
    pub fn recount(&mut self, slots: usize, votes: &[Vote]) {
        for vote in votes.iter().filter(|vote| vote.weight > 0) {
            if let Some(at) =
                self.labels[..slots].iter().position(|&candidate| candidate == vote.label)
            {
                self.weights[at] += u64::from(vote.weight);
            }
        }
    }

    #[inline]
    fn take(&mut self, rule: Rule, label: Label, weight: u64) {
        match rule {
            Rule::MisraGries(slots) => self.take_by_slots(slots.get() as usize, label, weight),
            Rule::BoyerMoore => self.take_by_majority(label, weight),
        }
    }

    #[inline]
    fn take_by_slots(&mut self, slots: usize, label: Label, mut weight: u64) {
        let (labels, weights) = (&mut self.labels[..slots], &mut self.weights[..slots]);
        if let Some(at) = labels.iter().position(|&candidate| candidate == label) {
            weights[at] += weight;
            return;
        }
        let mut free = weights.iter().position(|&weight| weight == 0);
        if free.is_none() {
            let least = weights.iter().fold(weight, |least, &weight| least.min(weight));
            weight -= least;
            for (at, (slot, label)) in weights.iter_mut().zip(labels.iter_mut()).enumerate() {
                *slot -= least;
                if *slot == 0 {
                    *label = NO_LABEL;
                    free = free.or(Some(at));
                }
            }
        }
        if let Some(at) = free.filter(|_| weight > 0) {
            (labels[at], weights[at]) = (label, weight);
        }
    }

    #[inline]
    fn take_by_majority(&mut self, label: Label, weight: u64) {
        if self.labels[0] == label {
            self.weights[0] += weight;
        } else if self.weights[0] > weight {
            self.weights[0] -= weight;
        } else {
            (self.labels[0], self.weights[0]) = (label, weight);
        }
    }

    /// Merges the sketch of the next part into this one.
    fn merge(&mut self, rule: Rule, right: &Candidates) {
        match rule {
            Rule::MisraGries(slots) => {
                let slots = slots.get() as usize;
                right
                    .candidates()
                    .for_each(|(label, weight)| self.take_by_slots(slots, label, weight));
            }
            Rule::BoyerMoore if right.weights[0] > self.weights[0] => *self = *right,
            Rule::BoyerMoore => {}
        }
    }
}

/// `VoteSketch`: the sketch of a vertex's votes, built as they are loaded.
/// ```text
/// parts      0   1   2   3   4
/// merged     └─┬─┘   └─┬─┘   │     on the stack: the sketches of parts 0–3 and of part 4
///              └───┬───┘     │
///                  └────┬────┘     when finished
/// ```
#[derive(Debug)]
pub(super) struct VoteSketch {
    sketch: Sketch,
    /// The votes of a chunk.
    pub chunk: Vec<Vote>,
    /// The number of votes in `chunk` if it holds all votes of the vertex, else 0.
    pub count: usize,
    /// Sketches of complete parts that wait for a partner; lower ones cover more parts.
    stack: Vec<Candidates>,
    /// The number of parts in `stack`.
    parts: u64,
    /// The sketch of the current part.
    part: Candidates,
    /// Arcs in the current part.
    arcs: usize,
}

impl VoteSketch {
    pub fn new(sketch: Sketch) -> VoteSketch {
        let (chunk, stack) = (vec![Vote::default(); CHUNK], Vec::with_capacity(LEVELS));
        VoteSketch { sketch, chunk, count: 0, stack, parts: 0, part: Candidates::NOTHING, arcs: 0 }
    }

    /// Returns the bytes that a sketch occupies.
    pub const fn bytes() -> u64 {
        (CHUNK * size_of::<Vote>() + LEVELS * size_of::<Candidates>()) as u64
    }

    /// Returns the votes of the vertex in the order of its arcs, or nothing if they did not fit
    /// into one chunk.
    pub fn ballots(&self) -> &[Vote] {
        &self.chunk[..self.count]
    }

    /// Adds the next votes; parts continue across calls.
    pub fn take(&mut self, votes: &[Vote]) {
        let Sketch { rule, parts, .. } = self.sketch;
        if parts == Parts::One {
            return self.part.take_all(rule, votes);
        }
        let mut votes = votes;
        while !votes.is_empty() {
            let (here, rest) = votes.split_at(votes.len().min(PART - self.arcs));
            self.part.take_all(rule, here);
            self.arcs += here.len();
            if self.arcs == PART {
                self.end_part();
            }
            votes = rest;
        }
    }

    fn end_part(&mut self) {
        self.stack.push(std::mem::replace(&mut self.part, Candidates::NOTHING));
        self.arcs = 0;
        self.parts += 1;
        // Merges like the carries of a binary counter.
        for _ in 0..self.parts.trailing_zeros() {
            self.merge_last();
        }
    }

    fn merge_last(&mut self) {
        if let Some(right) = self.stack.pop()
            && let Some(left) = self.stack.last_mut()
        {
            left.merge(self.sketch.rule, &right);
        }
    }

    /// Returns the candidates of all votes since the last call, and resets the sketch.
    pub fn finish(&mut self) -> Candidates {
        if self.stack.is_empty() {
            self.arcs = 0;
            return std::mem::replace(&mut self.part, Candidates::NOTHING);
        }
        if self.arcs > 0 {
            self.stack.push(std::mem::replace(&mut self.part, Candidates::NOTHING));
        }
        while self.stack.len() > 1 {
            self.merge_last();
        }
        (self.parts, self.arcs) = (0, 0);
        self.stack.pop().unwrap_or(Candidates::NOTHING)
    }
}

impl Candidates {
    #[inline]
    fn take_all(&mut self, rule: Rule, votes: &[Vote]) {
        for vote in votes.iter().filter(|vote| vote.label != NO_LABEL && vote.weight > 0) {
            self.take(rule, vote.label, u64::from(vote.weight));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn sums(votes: &[Vote]) -> BTreeMap<Label, u64> {
        let mut sums = BTreeMap::new();
        for vote in votes.iter().filter(|vote| vote.weight > 0) {
            *sums.entry(vote.label).or_default() += u64::from(vote.weight);
        }
        sums
    }

    fn sketched(rule: Rule, votes: &[Vote]) -> Candidates {
        let mut candidates = Candidates::NOTHING;
        candidates.take_all(rule, votes);
        candidates
    }

    /// Votes of few labels or many, of small weights or any.
    fn any_votes() -> impl Strategy<Value = Vec<Vote>> {
        let vote = |labels: u32| {
            let weight = prop_oneof![0u32..4, any::<u32>()];
            (0..labels, weight).prop_map(|(label, weight)| Vote { label, weight })
        };
        let some = |labels| prop::collection::vec(vote(labels), 0..200);
        prop_oneof![some(4), some(20), some(1000)]
    }

    proptest! {
        /// In any order of merges, a label with more than 1/(K + 1) of all votes is a candidate. No
        /// slot holds more than the true sum, nor less than it minus the weight that all slots
        /// lost.
        #[test]
        fn heavy_hitters_are_candidates_after_any_merges(
            slots in 1u32..=32,
            lists in prop::collection::vec(any_votes(), 1..6),
            order in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 5),
        ) {
            let rule = Rule::MisraGries(Slots::new(slots).unwrap());
            let mut sketches: Vec<Candidates> = lists.iter().map(|list| sketched(rule, list)).collect();
            for (left, right) in order {
                if sketches.len() == 1 {
                    break;
                }
                let right = sketches.swap_remove(right.index(sketches.len()));
                let left = left.index(sketches.len());
                sketches[left].merge(rule, &right);
            }
            while sketches.len() > 1 {
                let right = sketches.pop().unwrap();
                sketches[0].merge(rule, &right);
            }
            let truth = sums(&lists.concat());
            let all: u64 = truth.values().sum();
            let candidates: BTreeMap<Label, u64> = sketches[0].candidates().collect();
            prop_assert!(candidates.len() <= slots as usize);
            let lost = (all - candidates.values().sum::<u64>()) / u64::from(slots + 1);
            for (label, &sum) in &truth {
                let weight = candidates.get(label).copied().unwrap_or(0);
                prop_assert!(weight <= sum && sum - weight <= lost, "{label}: {weight} of {sum}");
                if sum * u64::from(slots + 1) > all {
                    prop_assert!(weight > 0, "{label} has {sum} of {all}");
                }
            }
        }

        #[test]
        fn votes_come_in_any_pieces(votes in any_votes(), cuts in prop::collection::vec(1usize..70, 40)) {
            for sketch in ["mg:3", "mg:3:one", "bm", "bm:one"] {
                let Ok(sketch) = sketch.parse::<crate::Sketch>() else { unreachable!() };
                let mut vote_sketch = VoteSketch::new(sketch);
                vote_sketch.take(&votes);
                let whole = vote_sketch.finish();
                let mut rest = &votes[..];
                for cut in cuts.iter().chain(std::iter::repeat(&50)) {
                    let (here, behind) = rest.split_at(rest.len().min(*cut));
                    vote_sketch.take(here);
                    rest = behind;
                    if rest.is_empty() {
                        break;
                    }
                }
                prop_assert_eq!(vote_sketch.finish(), whole);
                prop_assert!(vote_sketch.stack.capacity() <= LEVELS);
            }
        }

        #[test]
        fn few_labels_are_counted_exactly(votes in prop::collection::vec((0u32..8, 0u32..9), 0..300)) {
            let votes: Vec<Vote> = votes.iter().map(|&(label, weight)| Vote { label, weight }).collect();
            let mut vote_sketch = VoteSketch::new(Sketch::NU_MG8);
            vote_sketch.take(&votes);
            let mut candidates = vote_sketch.finish();
            prop_assert_eq!(&candidates.candidates().collect::<BTreeMap<_, _>>(), &sums(&votes));
            let before = candidates;
            candidates.forget_weights();
            candidates.recount(8, &votes);
            prop_assert_eq!(candidates, before);
        }

        #[test]
        fn a_majority_of_equal_votes_is_the_candidate(
            labels in prop::collection::vec(0u32..4, 1..50),
            weight in 1u32..9,
        ) {
            let votes: Vec<Vote> = labels.iter().map(|&label| Vote { label, weight }).collect();
            let candidates = sketched(Rule::BoyerMoore, &votes);
            for (label, sum) in sums(&votes) {
                if 2 * sum > labels.len() as u64 * u64::from(weight) {
                    prop_assert_eq!(candidates.labels[0], label);
                }
            }
        }
    }

    /// The steps of the definition, worked out by hand.
    #[test]
    fn steps_of_the_definition() {
        let two = Rule::MisraGries(Slots::new(2).unwrap());
        let mut candidates = Candidates::NOTHING;
        let slots = |candidates: &Candidates| {
            let slots = |at: usize| (candidates.labels[at], candidates.weights[at]);
            [slots(0), slots(1)]
        };
        candidates.take(two, 7, 3);
        candidates.take(two, 5, 2);
        assert_eq!(slots(&candidates), [(7, 3), (5, 2)]);
        // All lose 2; the rest of the vote takes the slot that this frees.
        candidates.take(two, 9, 6);
        assert_eq!(slots(&candidates), [(7, 1), (9, 4)]);
        candidates.take(two, 5, 1);
        assert_eq!(slots(&candidates), [(NO_LABEL, 0), (9, 3)]);
        candidates.take(two, 4, 3);
        candidates.take(two, 6, 3);
        assert_eq!(slots(&candidates), [(NO_LABEL, 0), (NO_LABEL, 0)]);

        let mut candidates = Candidates::NOTHING;
        for (label, weight, expected) in
            [(7, 3, (7, 3)), (5, 2, (7, 1)), (5, 2, (5, 2)), (5, 1, (5, 3))]
        {
            candidates.take(Rule::BoyerMoore, label, weight);
            assert_eq!(slots(&candidates)[0], expected);
        }
    }
}
