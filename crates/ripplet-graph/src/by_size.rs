//! Order of communities: by size, then by first member.

use crate::{OutOfMemory, as_atomic, memory};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::sync::atomic::Ordering::Relaxed;

/// A community in the order of size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranked {
    /// Its label.
    pub label: u32,
    /// The number of its rows.
    pub size: u32,
}

/// The largest communities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranking {
    /// By size descending, then by first row.
    pub largest: Vec<Ranked>,
    /// Number of communities.
    pub total: u32,
}

/// Ranks communities by size, the largest first; of equal ones the one whose first row comes first.
///
/// `communities` has a label for each row. Labels that are not below `labels` stand for no community. The
/// `most` largest are returned.
///
/// Memory: 12 bytes per label, and 8 per returned community. Determinism: independent of threads.
///
/// # Errors
/// If memory allocation fails.
pub fn ranked_by_size(
    communities: &[u32],
    labels: usize,
    most: usize,
) -> Result<Ranking, OutOfMemory> {
    let mut sizes = memory::zeros::<u32>(labels)?;
    let mut first_rows = memory::filled(u32::MAX, labels)?;
    let (counts, firsts) = (as_atomic(&mut sizes), as_atomic(&mut first_rows));
    communities.par_iter().enumerate().for_each(|(row, &label)| {
        let Some(count) = counts.get(label as usize) else { return };
        count.fetch_add(1, Relaxed);
        let first = &firsts[label as usize];
        // Rows behind the 2³²nd, of overlapping communities, count as one: of these the smaller label comes first.
        let row = u32::try_from(row).unwrap_or(u32::MAX);
        // Most rows are not the first: a read is cheaper than a write that changes nothing.
        if row < first.load(Relaxed) {
            first.fetch_min(row, Relaxed);
        }
    });
    let count = sizes.iter().filter(|&&size| size > 0).count();
    let mut ranked = memory::with_room(count)?;
    ranked.extend((0..labels as u32).filter(|&label| sizes[label as usize] > 0));
    let order = |&label: &u32| (Reverse(sizes[label as usize]), first_rows[label as usize], label);
    if most < ranked.len() {
        if most > 0 {
            ranked.select_nth_unstable_by_key(most - 1, order);
        }
        ranked.truncate(most);
    }
    ranked.sort_unstable_by_key(order);
    let of = |label: u32| Ranked { label, size: sizes[label as usize] };
    Ok(Ranking { largest: memory::collected(ranked.into_iter().map(of))?, total: count as u32 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(communities: &[u32], labels: usize, most: usize) -> Vec<(u32, u32)> {
        let ranked = ranked_by_size(communities, labels, most).unwrap();
        ranked.largest.iter().map(|community| (community.label, community.size)).collect()
    }

    #[test]
    fn communities_of_one_size_are_in_the_order_of_their_first_rows() {
        let rows = [4, 0, 2, 2, 2, 0, 3, 4];
        assert_eq!(labels(&rows, 5, 9), [(2, 3), (4, 2), (0, 2), (3, 1)]);
        assert_eq!(labels(&rows, 5, 2), [(2, 3), (4, 2)]);
        assert_eq!(labels(&rows, 5, 0), []);
        assert_eq!(labels(&[], 5, 1), []);
        assert_eq!(ranked_by_size(&rows, 5, 2).unwrap().total, 4);
    }

    #[test]
    fn what_is_no_label_is_in_no_community() {
        assert_eq!(labels(&[u32::MAX, 1, 7, 1, 0], 2, 9), [(1, 2), (0, 1)]);
    }
}
