//! Labels as communities numbered from 0; vertices without a label are in none.

use crate::NO_LABEL;
use rayon::prelude::*;
use ripplet_graph::tasks::MIN_LEN;
use ripplet_graph::{OutOfMemory, as_atomic, memory};
use std::sync::atomic::Ordering::Relaxed;

/// The community of a vertex without a label. Communities have smaller numbers.
pub(super) const OUTSIDE: u32 = u32::MAX;

/// The community of each vertex, numbered from 0 in the order of the labels, or [`OUTSIDE`].
pub(super) struct Partition {
    pub(super) communities: Vec<u32>,
    /// The number of communities.
    pub(super) count: u32,
}

impl Partition {
    pub(super) fn of(labels: &[u32]) -> Result<Partition, OutOfMemory> {
        let named =
            labels.par_iter().with_min_len(MIN_LEN).copied().filter(|&label| label != NO_LABEL);
        let largest = named.clone().max().unwrap_or(0);
        let mut communities = memory::with_room(labels.len())?;
        // Labels are almost always vertices: a table can then rank them.
        if (largest as usize) < 2 * labels.len() {
            let ranks = ranks(labels, largest)?;
            let count = *ranks.last().expect("the table ends with the count");
            let rank = |&label: &u32| ranks.get(label as usize).copied().unwrap_or(OUTSIDE);
            communities.par_extend(labels.par_iter().with_min_len(MIN_LEN).map(rank));
            return Ok(Partition { communities, count });
        }
        let mut distinct: Vec<u32> = memory::with_room(labels.len())?;
        distinct.extend(labels.iter().filter(|&&label| label != NO_LABEL));
        distinct.par_sort_unstable();
        distinct.dedup();
        let rank = |label: &u32| match *label {
            NO_LABEL => OUTSIDE,
            label => distinct.partition_point(|&other| other < label) as u32,
        };
        communities.par_extend(labels.par_iter().with_min_len(MIN_LEN).map(rank));
        Ok(Partition { communities, count: distinct.len() as u32 })
    }

    /// Returns the number of vertices in each community.
    pub(super) fn sizes(&self) -> Result<Vec<u32>, OutOfMemory> {
        let mut sizes = memory::zeros(self.count as usize)?;
        let shared = as_atomic(&mut sizes);
        let inside = self
            .communities
            .par_iter()
            .with_min_len(MIN_LEN)
            .filter(|&&community| community != OUTSIDE);
        inside.for_each(|&community| _ = shared[community as usize].fetch_add(1, Relaxed));
        Ok(sizes)
    }
}

/// Returns for each value up to `largest` how many smaller values occur, and last how many occur.
fn ranks(labels: &[u32], largest: u32) -> Result<Vec<u32>, OutOfMemory> {
    let mut ranks = memory::zeros(largest as usize + 2)?;
    let occurs = as_atomic(&mut ranks);
    let named = labels.par_iter().with_min_len(MIN_LEN).filter(|&&label| label != NO_LABEL);
    named.for_each(|&label| occurs[label as usize].store(1, Relaxed));
    let mut before = 0;
    for rank in &mut ranks {
        let occurs = *rank;
        *rank = before;
        before += occurs;
    }
    Ok(ranks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn check(labels: &[u32]) {
        let mut distinct = BTreeSet::from_iter(labels.iter().copied());
        distinct.remove(&u32::MAX);
        let distinct: Vec<u32> = distinct.into_iter().collect();
        let partition = Partition::of(labels).unwrap();
        assert_eq!(partition.count as usize, distinct.len());
        let label = |&c: &u32| if c == u32::MAX { c } else { distinct[c as usize] };
        let restored = partition.communities.iter().map(label);
        assert!(restored.eq(labels.iter().copied()));
        let sizes = partition.sizes().unwrap();
        for (community, label) in distinct.iter().enumerate() {
            let size = labels.iter().filter(|&other| other == label).count();
            assert_eq!(sizes[community] as usize, size);
        }
    }

    proptest! {
        #[test]
        fn labels_are_numbered_in_their_order(
            small in prop::collection::vec(0u32..40, 0..60),
            any in prop::collection::vec(any::<u32>(), 0..60),
        ) {
            check(&small);
            check(&any);
            check(&[small, any].concat());
        }
    }

    #[test]
    fn vertices_without_a_label_are_in_no_community() {
        check(&[u32::MAX, 0, u32::MAX]);
        check(&[u32::MAX, u32::MAX - 1, u32::MAX]);
        check(&[u32::MAX]);
        check(&[]);
    }
}
