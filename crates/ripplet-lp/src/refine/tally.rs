//! Sums of arc weights by label, for one vertex at a time.

use crate::Label;
use ripplet_graph::memory::{self, OutOfMemory};

/// Sums of all labels, which are 0 between vertices.
#[derive(Debug)]
pub(super) struct Tally {
    sums: Vec<u64>,
    /// Room for the labels of a vertex, and for one more.
    used: Vec<Label>,
}

/// The sums of one vertex; they are 0 again when this is dropped.
///
/// ```text
/// add (7, 2)   add (3, 1)   add (7, 5)        sums   0 0 0 1 0 0 0 7 0
///                                             used   7 3
/// ```
///
/// Adding has no branches: each label is written behind the list, which then grows if the label is
/// new. A hash table of the vertex's size would stay in the first-level cache, and costs a
/// mispredicted branch for about every other arc, which is more.
pub(super) struct Sums<'a> {
    sums: &'a mut [u64],
    used: &'a mut [Label],
    count: usize,
}

impl Tally {
    /// Creates the sums of labels below `labels`.
    pub fn new(labels: usize) -> Result<Tally, OutOfMemory> {
        Ok(Tally { sums: memory::zeros(labels)?, used: memory::zeros(labels + 1)? })
    }

    /// Returns the bytes of the arrays for labels below `labels`.
    pub fn bytes_for(labels: u64) -> u64 {
        12 * labels + 4
    }

    /// Begins a vertex.
    #[inline]
    pub fn begin(&mut self) -> Sums<'_> {
        Sums { sums: &mut self.sums, used: &mut self.used, count: 0 }
    }
}

impl Sums<'_> {
    /// Adds the weight, above 0, of an arc to a neighbour with this label.
    #[inline]
    pub fn add(&mut self, label: Label, weight: u64) {
        let sum = &mut self.sums[label as usize];
        self.used[self.count] = label;
        self.count += usize::from(*sum == 0);
        *sum += weight;
    }

    /// Adds the weight, above 0, of an arc if a condition holds that a branch would mispredict.
    #[inline]
    pub fn add_if(&mut self, is_added: bool, label: Label, weight: u64) {
        let sum = &mut self.sums[label as usize];
        self.used[self.count] = label;
        self.count += usize::from((*sum == 0) & is_added);
        *sum += if is_added { weight } else { 0 };
    }

    /// Returns the sum of a label.
    #[inline]
    pub fn of(&self, label: Label) -> u64 {
        self.sums[label as usize]
    }

    /// Yields each label with its sum, in the order of the labels' first arcs.
    #[inline]
    pub fn each(&self) -> impl ExactSizeIterator<Item = (Label, u64)> {
        self.used[..self.count].iter().map(|&label| (label, self.sums[label as usize]))
    }
}

impl Drop for Sums<'_> {
    #[inline]
    fn drop(&mut self) {
        for &label in &self.used[..self.count] {
            self.sums[label as usize] = 0;
        }
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
            prop::collection::vec((0u32..40, 1u64..1 << 40), 0..200), 1..5)) {
            let mut tally = Tally::new(40).unwrap();
            for list in lists {
                let mut sums = tally.begin();
                list.iter().for_each(|&(label, weight)| sums.add(label, weight));
                let mut expected: BTreeMap<Label, u64> = BTreeMap::new();
                list.iter().for_each(|&(label, w)| *expected.entry(label).or_default() += w);
                prop_assert_eq!(sums.each().count(), expected.len());
                for label in 0..40 {
                    prop_assert_eq!(sums.of(label), expected.get(&label).copied().unwrap_or(0));
                }
                prop_assert_eq!(sums.each().collect::<BTreeMap<_, _>>(), expected);
            }
        }
    }

    #[test]
    fn planned_bytes_are_those_of_the_arrays() {
        for labels in [0, 1, 8, 9, 1000] {
            let tally = Tally::new(labels).unwrap();
            let held = tally.sums.capacity() * 8 + tally.used.capacity() * 4;
            assert_eq!(Tally::bytes_for(labels as u64), held as u64);
        }
    }
}
