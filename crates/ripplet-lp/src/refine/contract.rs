//! Contraction: each part of a level's subdivision becomes a vertex of the next level.
//!
//! ```text
//! number   founders of parts get consecutive numbers, in ascending order
//! group    the members of each part side by side
//! sum up   for each part: the weights of its members' arcs by the other end's part
//! ```
//!
//! Masses add up; arcs within a part are left out. Everything is parallel over vertices or parts.
//! Members are grouped in any order: the sums do not depend on it, nor does anything that reads the
//! lists.

use super::level::{Level, LevelGraph, ListPool};
use super::moves::Partition;
use super::phases::{READ_PER_TASK, Tallies};
use crate::{Label, NO_LABEL, RunError};
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{Observer, VertexId, as_atomic, as_atomic_words};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Parts of a task that sums up arcs: few, as parts differ in size.
const PARTS_PER_TASK: usize = 64;

/// A contracted level, and how its vertices correspond to those of the level below.
pub(super) struct Contraction {
    pub graph: LevelGraph,
    /// For each vertex of the level below, the vertex that it became a part of.
    pub vertex_of: Vec<VertexId>,
    /// For each vertex of the contracted level, the founder of its part.
    pub founders: Vec<VertexId>,
}

impl Contraction {
    /// Numbers the parts; the graph is still without vertices.
    pub fn numbered(parts: &Partition, vertices: u32) -> Result<Contraction, OutOfMemory> {
        let vertices = vertices as usize;
        let is_founder = |&v: &VertexId| parts.label(v) == v;
        let tasks = (0..vertices).into_par_iter().step_by(READ_PER_TASK);
        let of_task = |first: usize| first as u32..(first + READ_PER_TASK).min(vertices) as u32;
        let mut firsts: Vec<u32> =
            tasks.map(|first| of_task(first).filter(is_founder).count() as u32).collect();
        let mut count = 0;
        firsts.iter_mut().for_each(|first| count += std::mem::replace(first, count));
        let mut founders = memory::zeros(count as usize)?;
        let mut vertex_of = memory::zeros(vertices)?;
        let (to, numbers) = (as_atomic(&mut founders), as_atomic(&mut vertex_of));
        firsts.par_iter().enumerate().for_each(|(task, &first)| {
            for (number, v) in (first..).zip(of_task(task * READ_PER_TASK).filter(is_founder)) {
                to[number as usize].store(v, Relaxed);
                numbers[v as usize].store(number, Relaxed);
            }
        });
        // Founders keep their numbers, and so may be read while others are written.
        (0..vertices as u32).into_par_iter().with_min_len(READ_PER_TASK).for_each(|v| {
            let founder = parts.label(v);
            if founder != v {
                let number = numbers[founder as usize].load(Relaxed);
                numbers[v as usize].store(number, Relaxed);
            }
        });
        Ok(Contraction { graph: LevelGraph::default(), vertex_of, founders })
    }

    /// Sums up the masses and the arcs of the parts; returns false if the pool has no room for the
    /// arcs.
    pub fn sum_up<L: Level>(
        &mut self,
        pool: &mut ListPool,
        level: &L,
        parts: &Partition,
        tallies: &Tallies,
        observer: &dyn Observer,
    ) -> Result<bool, RunError> {
        let refused = |OutOfMemory { bytes }| RunError::OutOfMemory { bytes };
        let (members, ends) = self.grouped(level).map_err(refused)?;
        let count = self.founders.len();
        let mut masses = memory::with_room(count).map_err(refused)?;
        let founders = self.founders.par_iter().with_min_len(READ_PER_TASK);
        masses.par_extend(founders.map(|&founder| parts.total(founder)));
        let group = |part: usize| {
            let begin = if part == 0 { 0 } else { ends[part - 1] };
            &members[begin as usize..ends[part] as usize]
        };
        let mut begins: Vec<u64> = memory::with_room(count).map_err(refused)?;
        begins.par_extend((0..count).into_par_iter().with_min_len(PARTS_PER_TASK).map(|part| {
            let arcs = group(part).iter().map(|&v| u64::from(level.degree(v))).sum::<u64>();
            // A list never has more arcs than there are other vertices.
            arcs.min(count as u64)
        }));
        let mut end = 0;
        begins.iter_mut().for_each(|begin| end += std::mem::replace(begin, end));
        let mut degrees = memory::zeros(count).map_err(refused)?;
        let Some(mut lists) = pool.take(end).map_err(refused)? else { return Ok(false) };
        let (to, weight_to) =
            (as_atomic(&mut lists.neighbors), as_atomic_words(&mut lists.weights));
        let vertex_of = &self.vertex_of;
        let tasks = degrees.par_chunks_mut(PARTS_PER_TASK).enumerate();
        let largest_weight = tasks.map(|(task, degrees)| {
            if observer.is_cancelled() {
                return Err(RunError::Cancelled);
            }
            tallies.with(|tally| {
                let mut largest = 0;
                for (part, degree) in (task * PARTS_PER_TASK..).zip(degrees) {
                    let begin = begins[part] as usize;
                    let mut sums = tally.begin();
                    for &v in group(part) {
                        for (u, weight) in level.arcs(v) {
                            let other = vertex_of[u as usize];
                            sums.add_if(other as usize != part, other, weight);
                        }
                    }
                    let mut sum = 0;
                    for (at, (other, weight)) in (begin..).zip(sums.each()) {
                        sum += weight;
                        to[at].store(other, Relaxed);
                        weight_to[at].store(weight, Relaxed);
                        *degree += 1;
                    }
                    largest = largest.max(sum);
                }
                Ok(largest)
            })
        });
        let largest_weight = largest_weight.try_reduce(|| 0u64, |a, b| Ok(a.max(b)))?;
        self.graph = LevelGraph { masses, begins, degrees, lists, largest_weight };
        Ok(true)
    }

    /// Returns the vertices grouped by part, and the end of each group.
    fn grouped<L: Level>(&self, level: &L) -> Result<(Vec<VertexId>, Vec<u32>), OutOfMemory> {
        let vertices = level.vertices() as usize;
        let mut ends: Vec<u32> = memory::zeros(self.founders.len())?;
        let all = || self.vertex_of.par_iter().enumerate().with_min_len(READ_PER_TASK);
        let sizes: &[AtomicU32] = as_atomic(&mut ends);
        all().for_each(|(_, &part)| _ = sizes[part as usize].fetch_add(1, Relaxed));
        let mut begin = 0;
        ends.iter_mut().for_each(|end| begin += std::mem::replace(end, begin));
        let mut members = memory::zeros(vertices)?;
        let (to, places) = (as_atomic(&mut members), as_atomic(&mut ends));
        all().for_each(|(v, &part)| {
            let place = places[part as usize].fetch_add(1, Relaxed);
            to[place as usize].store(v as u32, Relaxed);
        });
        Ok((members, ends))
    }

    /// Returns the communities of the level below as communities of this level's vertices, each
    /// named by its smallest vertex.
    pub fn lifted(&self, below: &Partition) -> Result<Vec<VertexId>, OutOfMemory> {
        named_by_smallest(self.founders.len(), below.labels.len(), |vertex| {
            below.label(self.founders[vertex as usize])
        })
    }

    /// Returns the bytes of all contractions of a graph of `vertices` vertices, without their lists:
    /// of the graph's vertices, and of at most as many contracted ones.
    pub fn bytes_for(vertices: u64) -> u64 {
        // vertex_of, members while arcs are summed up.
        let below = 4 + 4;
        // masses, begins, degrees; founders, begin; vertex_of of the next level, ends and names.
        let contracted = 8 + 8 + 4 + 4 + 4 + 4 + 4 + 4;
        vertices.saturating_mul(below + contracted) + Partition::bytes_for(vertices)
    }
}

/// Returns communities of the vertices `0..vertices`, each named by its smallest vertex.
///
/// `community` returns the community of a vertex, below `communities`.
pub(super) fn named_by_smallest(
    vertices: usize,
    communities: usize,
    community: impl Fn(VertexId) -> u32 + Sync,
) -> Result<Vec<VertexId>, OutOfMemory> {
    let mut smallest = memory::filled(u32::MAX, communities)?;
    let names = as_atomic(&mut smallest);
    let all = || (0..vertices as VertexId).into_par_iter().with_min_len(READ_PER_TASK);
    all().for_each(|v| {
        let name = &names[community(v) as usize];
        // Most vertices are not the smallest so far: a load is cheaper than an update.
        if name.load(Relaxed) > v {
            name.fetch_min(v, Relaxed);
        }
    });
    let mut named = memory::with_room(vertices)?;
    named.par_extend(all().map(|v| names[community(v) as usize].load(Relaxed)));
    Ok(named)
}

/// Returns communities given by labels, each named by its smallest vertex; a vertex without a label is
/// one of its own. Labels are vertices or [`NO_LABEL`].
pub(super) fn named_labels(labels: &[Label]) -> Result<Vec<VertexId>, OutOfMemory> {
    let vertices = labels.len();
    let label = |v: VertexId| labels[v as usize];
    // All vertices without a label are one more community, until each is named by itself.
    let mut named =
        named_by_smallest(vertices, vertices + 1, |v| label(v).min(vertices as VertexId))?;
    let all = named.par_iter_mut().zip(0..vertices as VertexId).with_min_len(READ_PER_TASK);
    all.filter(|&(_, v)| label(v) == NO_LABEL).for_each(|(name, v)| *name = v);
    Ok(named)
}
