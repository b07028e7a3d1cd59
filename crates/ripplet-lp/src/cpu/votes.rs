//! The exact counter: every label that got votes, with their sum.

use crate::{Label, Vote};

/// No vertex has this id, so no label is it.
const FREE: Label = Label::MAX;

/// An open-addressing hash table from label to summed votes, for one vertex at a time.
///
/// The table holds twice as many slots as the vertex has arcs, so a probe is short, and a small
/// vertex uses a small part of it, which stays in the first-level cache:
///
/// ```text
/// votes  7 7 3 7 9      slots  · 9 · · 3 · 7 ·      used  6 4 1
///                               1     1   3          cleared by walking `used`
/// ```
#[derive(Debug)]
pub(super) struct Votes {
    slots: Vec<Slot>,
    used: Vec<u32>,
    /// 32 − log₂ of the slots in use for the current vertex.
    shift: u32,
    cast: u64,
}

/// A label and the sum of its votes, in 12 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
struct Slot {
    label: Label,
    weight: u64,
}

impl Votes {
    /// An empty table, which grows to the largest vertex that it meets.
    pub fn new() -> Votes {
        Votes { slots: Vec::new(), used: Vec::new(), shift: 31, cast: 0 }
    }

    /// Bytes that the table has occupied once it met a vertex of this degree.
    pub fn bytes_for(degree: u64) -> u64 {
        let slots = Self::slots_for(degree);
        (slots * size_of::<Slot>() + slots / 2 * size_of::<u32>()) as u64
    }

    fn slots_for(degree: u64) -> usize {
        (2 * degree).next_power_of_two().max(8) as usize
    }

    /// Makes room for a vertex of this degree; the table must be clear.
    #[inline]
    pub fn begin(&mut self, degree: u64) {
        debug_assert!(self.used.is_empty());
        let slots = Self::slots_for(degree);
        if slots > self.slots.len() {
            self.grow(slots);
        }
        self.shift = 32 - slots.trailing_zeros();
        self.cast = 0;
    }

    #[cold]
    fn grow(&mut self, slots: usize) {
        // The table is clear: free it first, so that the old and the new are never there together.
        (self.slots, self.used) = (Vec::new(), Vec::new());
        self.slots = vec![Slot { label: FREE, weight: 0 }; slots];
        self.used = Vec::with_capacity(slots / 2);
    }

    /// Adds a vote.
    #[inline]
    pub fn add(&mut self, vote: Vote) {
        let weight = u64::from(vote.weight);
        self.cast += weight;
        let mask = (1usize << (32 - self.shift)) - 1;
        // Fibonacci hashing: the golden ratio spreads consecutive labels over the table.
        let mut at = (vote.label.wrapping_mul(0x9e37_79b9) >> self.shift) as usize;
        loop {
            let slot = &mut self.slots[at];
            if slot.label == vote.label {
                slot.weight += weight;
                return;
            }
            if slot.label == FREE {
                *slot = Slot { label: vote.label, weight };
                self.used.push(at as u32);
                return;
            }
            at = (at + 1) & mask;
        }
    }

    /// The sum of all votes.
    #[inline]
    pub fn cast(&self) -> u64 {
        self.cast
    }

    /// Clears the table, calling `visit(label, sum)` for each label on the way.
    #[inline]
    pub fn drain(&mut self, mut visit: impl FnMut(Label, u64)) {
        for &at in &self.used {
            let slot = &mut self.slots[at as usize];
            visit(slot.label, slot.weight);
            slot.label = FREE;
        }
        self.used.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn sums_are_those_of_a_map(lists in prop::collection::vec(
            prop::collection::vec((0u32..40, 0u32..=u32::MAX), 0..60), 1..5)) {
            let mut votes = Votes::new();
            for list in lists {
                let mut expected = BTreeMap::new();
                votes.begin(list.len() as u64);
                for &(label, weight) in &list {
                    // Labels that collide: high bits only.
                    let label = label << 26 | label;
                    votes.add(Vote { label, weight });
                    *expected.entry(label).or_insert(0) += u64::from(weight);
                }
                prop_assert_eq!(votes.cast(), expected.values().sum::<u64>());
                let mut seen = BTreeMap::new();
                votes.drain(|label, sum| {
                    seen.insert(label, sum);
                });
                prop_assert_eq!(seen, expected);
            }
        }
    }

    #[test]
    fn planned_bytes_are_those_of_the_table() {
        for degree in [0, 1, 4, 5, 1000] {
            let mut votes = Votes::new();
            votes.begin(degree);
            let held = votes.slots.capacity() * 12 + votes.used.capacity() * 4;
            assert_eq!(Votes::bytes_for(degree), held as u64);
        }
    }
}
