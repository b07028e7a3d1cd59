//! Sizes of communities, where a run limits them.
//!
//! A vertex of a contracted level has the size of its part. A community is full for a vertex if it
//! would exceed the limit with it; a vertex considers no full community. The vertices of a phase choose
//! at once, so that a community may be chosen by more than it has room for:
//!
//! ```text
//! claim   each choice adds its vertex's size to that of the community
//! admit   a community above the limit takes its choices off, then admits one after the other, by
//!         hash(vertex), each that still fits; the others stay where they are, and are active again
//! leave   each admitted choice takes its vertex's size off that of the community before
//! ```
//!
//! Vertices that leave in a phase make room in the next one only. Sums and the order by hash do not depend
//! on threads.

use super::level::READ_PER_TASK;
use crate::team::ThreadTeam;
use crate::{Label, NO_LABEL};
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{VertexId, as_atomic};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// The sizes of a level's vertices and communities, and the limit.
pub(super) struct Sizes {
    most: u32,
    /// The number of input vertices in each vertex.
    of_vertices: Vec<u32>,
    /// The sum of the members' sizes, by label.
    of_communities: Vec<AtomicU32>,
}

impl Sizes {
    /// Creates the sizes of the input's vertices, which are 1, and of its communities.
    pub fn new(team: &ThreadTeam, most: u32, labels: &[AtomicU32]) -> Result<Sizes, OutOfMemory> {
        Sizes::of(team, most, memory::filled(1, labels.len())?, labels)
    }

    /// Creates the sizes of vertices, and of their communities.
    pub fn of(
        team: &ThreadTeam,
        most: u32,
        of_vertices: Vec<u32>,
        labels: &[AtomicU32],
    ) -> Result<Sizes, OutOfMemory> {
        let of_communities = memory::zeros(labels.len())?;
        let sizes = Sizes { most, of_vertices, of_communities };
        sizes.sum_up(team, labels);
        Ok(sizes)
    }

    /// Creates the sizes of a contracted level with these communities.
    pub fn contracted(
        &self,
        team: &ThreadTeam,
        vertex_of: &[VertexId],
        labels: &[AtomicU32],
    ) -> Result<Sizes, OutOfMemory> {
        let mut of_vertices = memory::zeros(labels.len())?;
        let to = as_atomic(&mut of_vertices);
        team.ranges(vertex_of.len(), READ_PER_TASK, |range| {
            for (&part, &size) in vertex_of[range.clone()].iter().zip(&self.of_vertices[range]) {
                to[part as usize].fetch_add(size, Relaxed);
            }
        });
        Sizes::of(team, self.most, of_vertices, labels)
    }

    /// Returns the bytes of all levels' sizes, and of the choices that one phase admits.
    pub fn bytes_for(vertices: u64) -> u64 {
        (2 * (4 + 4) + size_of::<Claim>() as u64) * vertices
    }

    /// Computes the sizes of the communities.
    pub fn sum_up(&self, team: &ThreadTeam, labels: &[AtomicU32]) {
        team.ranges(labels.len(), READ_PER_TASK, |range| {
            self.of_communities[range].iter().for_each(|size| size.store(0, Relaxed));
        });
        team.ranges(labels.len(), READ_PER_TASK, |range| {
            for (label, &size) in labels[range.clone()].iter().zip(&self.of_vertices[range]) {
                self.community(label.load(Relaxed)).fetch_add(size, Relaxed);
            }
        });
    }

    /// Returns the size of the largest community.
    pub fn largest(&self) -> u32 {
        self.of_communities.iter().map(|size| size.load(Relaxed)).max().unwrap_or(0)
    }

    fn community(&self, label: Label) -> &AtomicU32 {
        &self.of_communities[label as usize]
    }

    /// Claims room in a community for a vertex.
    pub fn claim(&self, label: Label, v: VertexId) {
        // No vertex claims room where it is a member, so that no sum exceeds the number of vertices.
        self.community(label).fetch_add(self.of_vertices[v as usize], Relaxed);
    }

    /// Returns whether a community has claims beyond its room.
    pub fn is_overfull(&self, label: Label) -> bool {
        self.community(label).load(Relaxed) > self.most
    }

    /// Takes a vertex off the community that it leaves.
    pub fn leave(&self, label: Label, v: VertexId) {
        self.community(label).fetch_sub(self.of_vertices[v as usize], Relaxed);
    }

    /// Admits claims of overfull communities as long as these have room; keeps those that are refused.
    pub fn admit(&self, claims: &mut Vec<Claim>) {
        claims.sort_unstable();
        for of_one in claims.chunk_by_mut(|a, b| a.label == b.label) {
            let size = |claim: &Claim| self.of_vertices[claim.vertex as usize];
            let claimed: u32 = of_one.iter().map(size).sum();
            let community = self.community(of_one[0].label);
            let mut all = community.load(Relaxed) - claimed;
            for claim in of_one {
                if size(claim) <= self.most - all {
                    all += size(claim);
                    claim.label = NO_LABEL;
                }
            }
            community.store(all, Relaxed);
        }
        claims.retain(|claim| claim.label != NO_LABEL);
    }
}

/// A choice of an overfull community, in the order in which they are admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Claim {
    pub label: Label,
    pub hash: u32,
    pub vertex: VertexId,
    /// The place of the choice among the changes of the phase.
    pub place: u32,
}

/// The communities that vertices may join: all, or those with room.
pub(super) trait Room: Sync {
    /// Returns whether a community has room for a vertex that is no member.
    fn admits(&self, label: Label, v: VertexId) -> bool;

    /// Returns whether a community has no members.
    fn is_empty(&self, label: Label) -> bool;
}

impl Room for Sizes {
    #[inline]
    fn admits(&self, label: Label, v: VertexId) -> bool {
        let size = self.community(label).load(Relaxed);
        // No community exceeds the limit between phases.
        self.of_vertices[v as usize] <= self.most - size
    }

    #[inline]
    fn is_empty(&self, label: Label) -> bool {
        self.community(label).load(Relaxed) == 0
    }
}
