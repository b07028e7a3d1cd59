//! Finished vertices: without arcs, and alone in their community, so that nothing changes them any more.
//!
//! ```text
//! input        a-b-c   d-e   f          f is finished
//! level 1      {abc}   {de}  {f}        all are finished, if each component is one part
//! level 2      {abc, de, f}             one vertex, without arcs
//! ```
//!
//! They are isolated vertices, and connected components of which contraction has made one vertex. Contraction makes one
//! vertex of all that a level has, or else each would be a vertex of every level above, and take the room that other
//! vertices have there. That vertex is no community: below it, each finished vertex is again one of its own.

use super::level::{Level, READ_PER_TASK};
use super::partition::Partition;
use super::score::{Mass, NullModel};
use crate::team::ThreadTeam;
use ripplet_graph::VertexId;
use std::sync::atomic::Ordering::Relaxed;

/// Makes the finished vertices of a level one part; returns the first, and their number.
pub(super) fn unite<L: Level>(
    team: &ThreadTeam,
    level: &L,
    communities: &Partition,
    parts: &Partition,
) -> (Option<VertexId>, u64) {
    let is_finished = |&v: &VertexId| {
        let is_alone = || communities.total(communities.label(v)) == level.masses()[v as usize];
        level.degree(v) == 0 && is_alone() && !communities.is_fixed(v)
    };
    let all = team.reduce(
        level.vertices() as usize,
        READ_PER_TASK,
        |range| {
            let finished = (range.start as VertexId..range.end as VertexId).filter(is_finished);
            let each = finished.map(|v| Finished::one(v, level.mass(v)));
            each.fold(Finished::default(), Finished::plus)
        },
        Finished::plus,
    );
    let Some(first) = all.first else { return (None, 0) };
    team.ranges(level.vertices() as usize, READ_PER_TASK, |range| {
        for v in (range.start as VertexId..range.end as VertexId).filter(is_finished) {
            parts.labels[v as usize].store(first, Relaxed);
        }
    });
    parts.set_mass::<L::Null>(first, all.mass);
    (Some(first), all.count)
}

/// Makes a finished vertex a community of its own again.
pub(super) fn part<M: NullModel>(partition: &Partition, v: VertexId, mass: Mass) {
    partition.labels[v as usize].store(v, Relaxed);
    partition.set_mass::<M>(v, mass);
}

/// Some finished vertices.
#[derive(Clone, Copy, Default)]
struct Finished {
    first: Option<VertexId>,
    count: u64,
    mass: Mass,
}

impl Finished {
    fn one(v: VertexId, mass: Mass) -> Finished {
        Finished { first: Some(v), count: 1, mass }
    }

    fn plus(self, other: Finished) -> Finished {
        let first = self.first.into_iter().chain(other.first).min();
        let sum = self.mass.sum + other.mass.sum;
        let imbalance = self.mass.imbalance.wrapping_add(other.mass.imbalance);
        Finished { first, count: self.count + other.count, mass: Mass { sum, imbalance } }
    }
}
