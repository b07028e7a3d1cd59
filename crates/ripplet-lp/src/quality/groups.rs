//! Groups of vertices that are in the same communities of two covers.

use super::Cover;
use crate::hash::mix;
use rayon::prelude::*;
use ripplet_graph::{OutOfMemory, VertexId, as_atomic, memory};
use std::sync::atomic::Ordering::Relaxed;

/// Groups of vertices that are in the same communities of two covers.
///
/// Different groups may have the same communities: results must not depend on that.
pub(super) struct Groups {
    /// The communities of one representative of each group, in the order of the representatives.
    pub(super) covers: [Cover; 2],
    /// The number of vertices of each group.
    pub(super) sizes: Vec<u32>,
}

impl Groups {
    /// Groups the vertices that are in a community.
    ///
    /// Memory: 20 bytes per vertex; the covers of the groups take at most as much as the given
    /// ones.
    pub(super) fn of(covers: [&Cover; 2]) -> Result<Groups, OutOfMemory> {
        let vertices = covers[0].vertices();
        let homes = |vertex: VertexId| covers.map(|cover| cover.communities_of(vertex));
        let mut keys: Vec<(u64, VertexId)> = memory::with_room(vertices as usize)?;
        keys.par_extend((0..vertices).into_par_iter().map(|v| (signature(homes(v)), v)));
        keys.par_sort_unstable();
        let mut sizes = memory::zeros::<u32>(vertices as usize)?;
        let first = as_atomic(&mut sizes);
        // Equal signatures may be a coincidence: a group also ends where the communities differ.
        let groups = keys.par_chunk_by(|a, b| a.0 == b.0 && homes(a.1) == homes(b.1));
        groups.for_each(|group| {
            if homes(group[0].1) != [&[]; 2] {
                first[group[0].1 as usize].store(group.len() as u32, Relaxed);
            }
        });
        drop(keys);
        let is_first = |vertex: VertexId| sizes[vertex as usize] > 0;
        let covers = [covers[0].of_some(is_first)?, covers[1].of_some(is_first)?];
        sizes.retain(|&size| size > 0);
        Ok(Groups { covers, sizes })
    }
}

/// Returns a hash of the communities of a vertex.
fn signature(homes: [&[u32]; 2]) -> u64 {
    /// 2^64 over the golden ratio, an odd number: multiplying by it spreads the bits.
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = homes[0].len() as u64;
    for community in homes.into_iter().flatten() {
        hash = (hash.rotate_left(29) ^ u64::from(mix(*community))).wrapping_mul(SPREAD);
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_of_the_same_communities_are_a_group() {
        let a = Cover::new(7, 3, [(0, 0), (1, 0), (2, 2), (4, 0), (4, 1), (5, 0), (6, 2)]).unwrap();
        let b = Cover::new(7, 2, [(0, 1), (1, 1), (2, 1), (4, 1), (5, 0), (6, 1)]).unwrap();
        let groups = Groups::of([&a, &b]).unwrap();
        // The groups of 0, 2, 4 and 5; 3 is in no community.
        assert_eq!(groups.sizes, [2, 2, 1, 1]);
        let [of_a, of_b] = &groups.covers;
        assert_eq!(
            (0..4).map(|v| of_a.communities_of(v)).collect::<Vec<_>>(),
            [&[0][..], &[2], &[0, 1], &[0]]
        );
        assert_eq!((of_a.members(0), of_b.members(1)), (&[0, 2, 3][..], &[0, 1, 2][..]));
        assert_eq!((of_a.vertices(), of_b.vertices(), of_a.len()), (4, 4, 3));
    }
}
