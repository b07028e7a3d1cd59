//! Covers: communities that may overlap, and need not contain all vertices.

use super::QualityError;
use crate::NO_LABEL;
use rayon::prelude::*;
use ripplet_graph::tasks::MIN_LEN;
use ripplet_graph::{OutOfMemory, VertexId, memory};

/// Communities of the vertices `0..vertices`: a vertex may be in several, or in none.
///
/// Memory: 8 bytes per membership, 8 per vertex and 8 per community; 4 more per membership during
/// construction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cover {
    /// The members of each community, ascending.
    members: Lists,
    /// The communities of each vertex, ascending.
    communities: Lists,
}

/// Lists in one array, with offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Lists {
    offsets: Vec<usize>,
    values: Vec<u32>,
}

impl Lists {
    /// Returns the lists `0..count` from sorted pairs: list in the high half, value in the low
    /// half.
    fn of_sorted(pairs: &[u64], count: usize) -> Result<Lists, OutOfMemory> {
        let mut offsets = memory::zeros(count + 1)?;
        pairs.iter().for_each(|pair| offsets[(pair >> 32) as usize + 1] += 1);
        sum_up(&mut offsets);
        let mut values = memory::with_room(pairs.len())?;
        values.par_extend(pairs.par_iter().with_min_len(MIN_LEN).map(|&pair| pair as u32));
        Ok(Lists { offsets, values })
    }

    /// Returns for each value `0..count` the lists that contain it, ascending.
    fn transposed(&self, count: usize) -> Result<Lists, OutOfMemory> {
        let mut offsets = memory::zeros(count + 1)?;
        let mut values = memory::zeros(self.values.len())?;
        self.values.iter().for_each(|&value| offsets[value as usize] += 1);
        sum_up(&mut offsets);
        // Each offset is the end of its list, and moves back to its begin.
        for list in (0..self.len()).rev() {
            for &value in self.of(list) {
                let end = &mut offsets[value as usize];
                *end -= 1;
                values[*end] = list as u32;
            }
        }
        Ok(Lists { offsets, values })
    }

    /// Returns the lists that `keeps` accepts, with their values mapped by `value`.
    fn filtered(
        &self,
        keeps: impl Fn(usize) -> bool,
        value: impl Fn(usize, u32) -> Option<u32>,
    ) -> Result<Lists, OutOfMemory> {
        let mut offsets = memory::with_room(self.offsets.len())?;
        let mut values = memory::with_room(self.values.len())?;
        offsets.push(0);
        for list in (0..self.len()).filter(|&list| keeps(list)) {
            values.extend(self.of(list).iter().filter_map(|&old| value(list, old)));
            offsets.push(values.len());
        }
        Ok(Lists { offsets, values })
    }

    fn of(&self, list: usize) -> &[u32] {
        &self.values[self.offsets[list]..self.offsets[list + 1]]
    }

    fn len(&self) -> usize {
        self.offsets.len() - 1
    }
}

/// Replaces each number by its prefix sum.
fn sum_up(numbers: &mut [usize]) {
    let mut sum = 0;
    for number in numbers {
        sum += *number;
        *number = sum;
    }
}

impl Cover {
    /// Creates the communities `0..communities` with these members; duplicate memberships count
    /// once.
    ///
    /// # Errors
    /// If memory is refused.
    ///
    /// # Panics
    /// If the vertex or community of a membership does not exist.
    pub fn new(
        vertices: u32,
        communities: u32,
        memberships: impl IntoIterator<Item = (VertexId, u32)>,
    ) -> Result<Cover, QualityError> {
        let memberships = memberships.into_iter();
        let mut pairs: Vec<u64> = memory::with_room(memberships.size_hint().0)?;
        for (vertex, community) in memberships {
            assert!(vertex < vertices && community < communities, "{vertex} in {community}");
            memory::push(&mut pairs, u64::from(vertex) << 32 | u64::from(community))?;
        }
        // Files are usually in vertex order: sorting is then fast.
        pairs.par_sort_unstable();
        pairs.dedup();
        let of_vertices = Lists::of_sorted(&pairs, vertices as usize)?;
        drop(pairs);
        let members = of_vertices.transposed(communities as usize)?;
        Ok(Cover { members, communities: of_vertices })
    }

    /// Returns the number of communities, including empty ones.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns whether there is no community.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of vertices, including those in no community.
    pub fn vertices(&self) -> u32 {
        self.communities.len() as u32
    }

    /// Returns the members of a community, ascending.
    pub fn members(&self, community: usize) -> &[VertexId] {
        self.members.of(community)
    }

    /// Returns the communities of a vertex, ascending.
    pub fn communities_of(&self, vertex: VertexId) -> &[u32] {
        self.communities.of(vertex as usize)
    }

    /// Returns whether no vertex is in two communities.
    pub fn is_disjoint(&self) -> bool {
        self.communities.offsets.par_windows(2).all(|ends| ends[1] - ends[0] <= 1)
    }

    /// Returns the first community of each vertex, or [`NO_LABEL`].
    ///
    /// # Errors
    /// If memory is refused.
    pub fn labels(&self) -> Result<Vec<u32>, QualityError> {
        let mut labels = memory::with_room(self.communities.len())?;
        let first = |vertex: u32| self.communities_of(vertex).first().copied().unwrap_or(NO_LABEL);
        labels.par_extend((0..self.vertices()).into_par_iter().with_min_len(MIN_LEN).map(first));
        Ok(labels)
    }

    /// Returns the number of vertices in at least one community.
    pub fn covered(&self) -> u64 {
        self.communities
            .offsets
            .par_windows(2)
            .with_min_len(MIN_LEN)
            .filter(|ends| ends[1] > ends[0])
            .count() as u64
    }

    /// Returns the number of vertices that are in a community of this cover and in one of `other`.
    ///
    /// # Panics
    /// If `other` has fewer vertices.
    pub fn covered_by_both(&self, other: &Cover) -> u64 {
        let is_in = |vertex: u32| {
            !self.communities_of(vertex).is_empty() && !other.communities_of(vertex).is_empty()
        };
        (0..self.vertices())
            .into_par_iter()
            .with_min_len(MIN_LEN)
            .filter(|&vertex| is_in(vertex))
            .count() as u64
    }

    /// Returns the communities of some vertices, which are renumbered from 0 in their order.
    pub(super) fn of_some(&self, keeps: impl Fn(VertexId) -> bool) -> Result<Cover, OutOfMemory> {
        let keeps = |vertex: usize| keeps(vertex as VertexId);
        let communities = self.communities.filtered(keeps, |_, community| Some(community))?;
        let members = communities.transposed(self.len())?;
        Ok(Cover { members, communities })
    }

    /// Returns whether [`Cover::within`] would change nothing: each member is in a community of
    /// `other`, and no community is empty.
    ///
    /// # Panics
    /// If `other` has fewer vertices.
    pub fn is_within(&self, other: &Cover) -> bool {
        let has_members = |ends: &[usize]| ends[1] > ends[0];
        self.members.offsets.par_windows(2).all(has_members)
            && self.covered() == self.covered_by_both(other)
    }

    /// Returns the communities without the vertices that are in no community of `other`, and
    /// without communities that become empty.
    ///
    /// # Errors
    /// If memory is refused.
    ///
    /// # Panics
    /// If `other` has fewer vertices.
    pub fn within(&self, other: &Cover) -> Result<Cover, QualityError> {
        const NONE: u32 = u32::MAX;
        let is_kept = |vertex: u32| !other.communities_of(vertex).is_empty();
        let (mut numbers, mut left) = (memory::filled(NONE, self.len())?, 0);
        for (community, number) in numbers.iter_mut().enumerate() {
            if self.members(community).iter().any(|&vertex| is_kept(vertex)) {
                *number = left;
                left += 1;
            }
        }
        let members = self.members.filtered(
            |community| numbers[community] != NONE,
            |_, vertex| is_kept(vertex).then_some(vertex),
        )?;
        let number = |vertex: usize, community: u32| {
            is_kept(vertex as u32).then(|| numbers[community as usize])
        };
        Ok(Cover { members, communities: self.communities.filtered(|_| true, number)? })
    }
}
