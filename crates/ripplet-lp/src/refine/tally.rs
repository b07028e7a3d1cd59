//! Sums of arc weights by label, for one vertex at a time.

use crate::Label;
use ripplet_graph::memory::{self, OutOfMemory};

/// The least number of slots for each label that a vertex may have: most labels find theirs at once.
const SLOTS_PER_LABEL: usize = 2;
/// The least number of slots.
const LEAST_SLOTS: usize = 16;

/// A hash table from label to the sum of its weights, which one vertex after the other uses.
///
/// The table is never cleared: a slot carries the number of the vertex that wrote it, and slots of
/// other numbers are free. A vertex of low degree uses a small part of the table, which stays in the
/// first-level cache.
#[derive(Debug, Default)]
pub(super) struct Tally {
    slots: Vec<Slot>,
    /// The slots of the current vertex, in the order of their labels' first arcs.
    used: Vec<u32>,
    /// The number of labels of the current vertex.
    labels: usize,
    number: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    label: Label,
    number: u32,
    weight: u64,
}

/// The table while the arcs of a vertex are added.
pub(super) struct Adding<'a> {
    slots: &'a mut [Slot],
    used: &'a mut [u32],
    labels: usize,
    number: u32,
}

impl Tally {
    /// Grows the table for vertices with at most `labels` different labels among their neighbours.
    pub fn reserve(&mut self, labels: usize) -> Result<(), OutOfMemory> {
        if labels > self.used.len() || self.slots.is_empty() {
            // Nothing is kept: free the old arrays first, so that the peak is not their sum.
            *self = Tally::default();
            self.slots = memory::filled(Slot::default(), slots_for(labels))?;
            self.used = memory::zeros(labels)?;
        }
        Ok(())
    }

    /// Returns the bytes of a table for vertices with at most `labels` different labels.
    pub fn bytes_for(labels: u64) -> u64 {
        (slots_for(labels as usize) * size_of::<Slot>()) as u64 + 4 * labels
    }

    /// Adds up the weights of a vertex with at most `labels` labels; `add_all` adds its arcs.
    #[inline]
    pub fn count(&mut self, labels: usize, add_all: impl FnOnce(&mut Adding<'_>)) {
        if self.number == u32::MAX {
            self.slots.fill(Slot::default());
            self.number = 0;
        }
        self.number += 1;
        let slots = &mut self.slots[..slots_for(labels)];
        let used = &mut self.used[..labels];
        let mut adding = Adding { slots, used, labels: 0, number: self.number };
        add_all(&mut adding);
        self.labels = adding.labels;
    }

    /// Yields each label with the sum of its weights, once.
    #[inline]
    pub fn sums(&self) -> impl Iterator<Item = (Label, u64)> {
        self.used[..self.labels].iter().map(|&at| {
            let slot = self.slots[at as usize];
            (slot.label, slot.weight)
        })
    }
}

impl Adding<'_> {
    /// Adds the weight of an arc to a neighbour with this label.
    #[inline]
    pub fn add(&mut self, label: Label, weight: u64) {
        let mask = self.slots.len() - 1;
        // Fibonacci hashing: the golden ratio spreads consecutive labels over the table.
        let spread = label.wrapping_mul(0x9e37_79b9);
        let mut at = ((u64::from(spread) * self.slots.len() as u64) >> 32) as usize;
        loop {
            let slot = &mut self.slots[at & mask];
            if slot.number != self.number {
                *slot = Slot { label, number: self.number, weight };
                self.used[self.labels] = (at & mask) as u32;
                self.labels += 1;
                return;
            }
            if slot.label == label {
                slot.weight += weight;
                return;
            }
            at += 1;
        }
    }
}

/// Returns the number of slots in use for a vertex with at most `labels` labels.
#[inline]
fn slots_for(labels: usize) -> usize {
    (SLOTS_PER_LABEL * labels).next_power_of_two().max(LEAST_SLOTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn sums_are_those_of_a_map(lists in prop::collection::vec(
            prop::collection::vec((0u32..40, 1u64..1 << 40), 0..200), 1..5)) {
            let mut tally = Tally::default();
            tally.reserve(200).unwrap();
            // The number overflows within this test.
            tally.number = u32::MAX - 2;
            for list in lists {
                // Labels that differ in few bits, so that they collide.
                let label = |small: u32| small << 26 | small;
                tally.count(list.len(), |adding| {
                    list.iter().for_each(|&(small, weight)| adding.add(label(small), weight));
                });
                let mut expected: BTreeMap<Label, u64> = BTreeMap::new();
                list.iter().for_each(|&(small, w)| *expected.entry(label(small)).or_default() += w);
                prop_assert_eq!(tally.sums().count(), expected.len());
                prop_assert_eq!(tally.sums().collect::<BTreeMap<_, _>>(), expected);
            }
        }
    }

    #[test]
    fn planned_bytes_are_those_of_the_arrays() {
        for labels in [0, 1, 8, 9, 1000] {
            let mut tally = Tally::default();
            tally.reserve(labels).unwrap();
            let held = tally.slots.capacity() * 16 + tally.used.capacity() * 4;
            assert_eq!(Tally::bytes_for(labels as u64), held as u64);
        }
    }
}
