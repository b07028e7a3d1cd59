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

use super::level::{ArcArrays, Level, LevelGraph, READ_PER_TASK};
use super::partition::Partition;
use super::phases::{ARCS_TOGETHER, Scratch, Workers};
use super::score::NullModel;
use crate::team::ThreadTeam;
use crate::{Label, NO_LABEL, RunError};
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::storage::PREFETCH_DISTANCE;
use ripplet_graph::{Observer, VertexId, as_atomic, as_atomic_words};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Mutex, PoisonError};

/// Parts of a task that sums up arcs: few, as parts differ in size.
const PARTS_PER_TASK: usize = 64;
/// Members of a task that sums up the arcs of a huge part: few, as degrees differ.
const MEMBERS_PER_TASK: usize = 64;
/// The fewest arcs of a huge part: one thread reads them in less than a millisecond.
const LEAST_HUGE: u64 = 1 << 16;

/// How the vertices of a contracted level correspond to those of the level below.
pub(super) struct Contraction {
    /// For each vertex of the level below, the vertex that it became a part of.
    pub vertex_of: Vec<VertexId>,
    /// For each vertex of the contracted level, the founder of its part.
    pub founders: Vec<VertexId>,
    /// The founder of the part of finished vertices, if the level has some.
    pub finished: Option<VertexId>,
}

impl Contraction {
    /// Numbers the parts of the vertices `0..vertices`; the finished ones among them are in one part.
    pub fn new(
        team: &ThreadTeam,
        vertices: u32,
        parts: &Partition,
        finished: Option<VertexId>,
    ) -> Result<Contraction, OutOfMemory> {
        let vertices = vertices as usize;
        let founders_of = |range: Range<usize>| {
            (range.start as VertexId..range.end as VertexId).filter(|&v| parts.label(v) == v)
        };
        let mut firsts: Vec<u32> = memory::zeros(vertices.div_ceil(READ_PER_TASK))?;
        let counts = as_atomic(&mut firsts);
        team.ranges(vertices, READ_PER_TASK, |range| {
            let task = range.start / READ_PER_TASK;
            counts[task].store(founders_of(range).count() as u32, Relaxed);
        });
        let mut count = 0;
        firsts.iter_mut().for_each(|first| count += std::mem::replace(first, count));
        let mut founders = memory::zeros(count as usize)?;
        let mut vertex_of = memory::zeros(vertices)?;
        let (to, numbers) = (as_atomic(&mut founders), as_atomic(&mut vertex_of));
        team.ranges(vertices, READ_PER_TASK, |range| {
            let first = firsts[range.start / READ_PER_TASK];
            for (number, v) in (first..).zip(founders_of(range)) {
                to[number as usize].store(v, Relaxed);
                numbers[v as usize].store(number, Relaxed);
            }
        });
        // Founders keep their numbers, and so may be read while others are written.
        team.ranges(vertices, READ_PER_TASK, |range| {
            for v in range {
                let founder = parts.label(v as VertexId) as usize;
                if founder != v {
                    numbers[v].store(numbers[founder].load(Relaxed), Relaxed);
                }
            }
        });
        Ok(Contraction { vertex_of, founders, finished })
    }

    /// Returns the vertex that the finished vertices have become, if there are some.
    pub fn finished_part(&self) -> Option<VertexId> {
        self.finished.map(|founder| self.vertex_of[founder as usize])
    }

    /// Sums up the masses and the arcs of the parts; `None` if the arrays have no space for the arcs.
    pub fn graph<'a, L: Level>(
        &self,
        arcs: &'a ArcArrays,
        level: &L,
        parts: &Partition,
        workers: &Workers<'_>,
        observer: &dyn Observer,
    ) -> Result<Option<LevelGraph<'a, L::Null>>, RunError> {
        let refused = RunError::Array;
        let (members, ends) = self.grouped(workers.team).map_err(refused)?;
        let group_begin = |part: usize| if part == 0 { 0 } else { ends[part - 1] as usize };
        let group = |part: usize| &members[group_begin(part)..ends[part] as usize];
        let count = self.founders.len();
        let mut masses = memory::zeros(count).map_err(refused)?;
        let directed = if L::Null::IS_DIRECTED { count } else { 0 };
        let mut imbalances = memory::zeros(directed).map_err(refused)?;
        let mut begins = memory::zeros(count).map_err(refused)?;
        let mut degrees = memory::zeros(count).map_err(refused)?;
        let (mass_to, begin_to) = (as_atomic_words(&mut masses), as_atomic_words(&mut begins));
        let (degree_to, imbalance_to) = (as_atomic(&mut degrees), as_atomic_words(&mut imbalances));
        let largest = AtomicU64::new(0);
        let tasks = count.div_ceil(PARTS_PER_TASK);
        let huge = Mutex::new(Vec::new());
        let least_huge = least_huge(level, workers.team);
        workers.each_task(tasks, observer, |task, Scratch { tally, arcs: buffer }| {
            let mut most = 0;
            let mut lists = Lists { arrays: arcs, begins: begin_to, buffer, waiting: 0..0 };
            let first = task * PARTS_PER_TASK;
            for part in first..count.min(first + PARTS_PER_TASK) {
                let mass = parts.mass::<L::Null>(self.founders[part]);
                mass_to[part].store(mass.sum, Relaxed);
                if L::Null::IS_DIRECTED {
                    imbalance_to[part].store(mass.imbalance as u64, Relaxed);
                }
                if arcs_of(level, group(part)) >= least_huge {
                    huge.lock().unwrap_or_else(PoisonError::into_inner).push(part);
                    continue;
                }
                let mut sums = tally.begin();
                for (at, &v) in (group_begin(part)..).zip(group(part)) {
                    prefetch_behind(level, &members, at);
                    level.each_arc(v, |u, weight| {
                        let other = self.vertex_of[u as usize];
                        sums.add_if(other as usize != part, other, weight);
                    });
                }
                degree_to[part].store(sums.each().len() as u32, Relaxed);
                most = most.max(sums.each().map(|(_, weight)| weight).sum());
                lists.push(part, sums.each());
            }
            lists.flush();
            largest.fetch_max(most, Relaxed);
        })?;
        let mut sums = Vec::new();
        for part in huge.into_inner().unwrap_or_else(PoisonError::into_inner) {
            if observer.is_cancelled() {
                return Err(RunError::Cancelled);
            }
            if sums.is_empty() {
                sums = memory::zeros(count).map_err(refused)?;
            }
            let sums = as_atomic_words(&mut sums);
            self.add_arcs(workers.team, level, part as VertexId, group(part), sums);
            begin_to[part].store(arcs.len(), Relaxed);
            let (degree, weight) = append_sums(workers.team, sums, arcs);
            degree_to[part].store(degree as u32, Relaxed);
            largest.fetch_max(weight, Relaxed);
        }
        let largest_weight = largest.into_inner();
        let null_model = PhantomData;
        let graph =
            LevelGraph { masses, imbalances, begins, degrees, arcs, largest_weight, null_model };
        Ok(arcs.is_enough().then_some(graph))
    }

    /// Adds the weights of the members' arcs to the sums of the other ends' parts, by all threads.
    fn add_arcs<L: Level>(
        &self,
        team: &ThreadTeam,
        level: &L,
        part: VertexId,
        members: &[VertexId],
        sums: &[AtomicU64],
    ) {
        team.ranges(members.len(), MEMBERS_PER_TASK, |range| {
            for &v in &members[range] {
                level.each_arc(v, |u, weight| {
                    let other = self.vertex_of[u as usize];
                    if other != part {
                        sums[other as usize].fetch_add(weight, Relaxed);
                    }
                });
            }
        });
    }

    /// Returns the vertices grouped by part, ascending in each group, and the end of each group.
    ///
    /// A counting sort: each thread has a range of vertices, and counts for it.
    fn grouped(&self, team: &ThreadTeam) -> Result<(Vec<VertexId>, Vec<u32>), OutOfMemory> {
        let (vertices, parts) = (self.vertex_of.len(), self.founders.len());
        // The counts take no more memory than the members.
        let ranges = team.adders(vertices).min(vertices / parts.max(1)).max(1);
        let range = |number: usize| vertices * number / ranges..vertices * (number + 1) / ranges;
        let mut places: Vec<u32> = memory::zeros(ranges * parts)?;
        let counts = as_atomic(&mut places);
        team.run(ranges, |number| {
            let counts = &counts[number * parts..][..parts];
            for &part in &self.vertex_of[range(number)] {
                add_alone(&counts[part as usize], 1);
            }
        });
        let mut begin = 0;
        for part in 0..parts {
            for number in 0..ranges {
                begin += std::mem::replace(&mut places[number * parts + part], begin);
            }
        }
        let mut members = memory::zeros(vertices)?;
        let (to, next) = (as_atomic(&mut members), as_atomic(&mut places));
        team.run(ranges, |number| {
            let next = &next[number * parts..][..parts];
            for v in range(number) {
                let place = add_alone(&next[self.vertex_of[v] as usize], 1);
                to[place as usize].store(v as VertexId, Relaxed);
            }
        });
        // The last range's places have moved to the ends.
        places.drain(..(ranges - 1) * parts);
        Ok((members, places))
    }

    /// Returns the communities of the level below as communities of this level's vertices, each
    /// named by its smallest vertex.
    pub fn lifted(
        &self,
        team: &ThreadTeam,
        below: &Partition,
    ) -> Result<Vec<VertexId>, OutOfMemory> {
        named_by_smallest(team, self.founders.len(), below.labels.len(), |vertex| {
            below.label(self.founders[vertex as usize])
        })
    }

    /// Returns the bytes of all contractions of a graph of `vertices` vertices, without their lists:
    /// of the graph's vertices, and of at most as many contracted ones.
    pub fn bytes_for(vertices: u64, is_directed: bool) -> u64 {
        // vertex_of, members while arcs are summed up.
        let below = 4 + 4;
        // masses, begins, degrees; founders, begin; vertex_of of the next level, ends and names; sums of a huge part.
        let contracted = 8 + 8 + 4 + 4 + 4 + 4 + 4 + 4 + 8;
        let imbalances = if is_directed { 8 } else { 0 };
        vertices.saturating_mul(below + contracted + imbalances)
            + Partition::bytes_for(vertices, is_directed)
    }
}

/// Adds to a sum to which no other thread adds meanwhile; returns the sum before.
#[inline]
fn add_alone(sum: &AtomicU32, value: u32) -> u32 {
    let before = sum.load(Relaxed);
    sum.store(before + value, Relaxed);
    before
}

/// Returns the fewest arcs of a part that all threads sum up together, as one thread would be busy with it for as long
/// as all are with the others. At most twice as many parts as threads have as many.
fn least_huge<L: Level>(level: &L, team: &ThreadTeam) -> u64 {
    let threads = team.threads() as u64;
    if threads == 1 {
        return u64::MAX;
    }
    let degrees = |range: Range<usize>| range.map(|v| u64::from(level.degree(v as VertexId))).sum();
    let arcs = team.sum(level.vertices() as usize, READ_PER_TASK, degrees);
    (arcs / (2 * threads)).max(LEAST_HUGE)
}

/// Returns the arcs of vertices.
fn arcs_of<L: Level>(level: &L, vertices: &[VertexId]) -> u64 {
    vertices.iter().map(|&v| u64::from(level.degree(v))).sum()
}

/// Prefetches the lists of the members behind the one at a place: a group's vertices are anywhere, so that each list
/// would be waited for.
#[inline]
fn prefetch_behind<L: Level>(level: &L, members: &[VertexId], at: usize) {
    if let Some(&v) = members.get(at + 2 * PREFETCH_DISTANCE) {
        level.prefetch_place(v);
    }
    if let Some(&v) = members.get(at + PREFETCH_DISTANCE) {
        level.prefetch_list(v);
    }
}

/// Appends the sums above 0 to the arcs, and sets them to 0; returns their number and their sum.
fn append_sums(team: &ThreadTeam, sums: &[AtomicU64], arcs: &ArcArrays) -> (u64, u64) {
    let weight = AtomicU64::new(0);
    let degree = team.sum(sums.len(), READ_PER_TASK, |range| {
        let has_arc = |&other: &usize| sums[other].load(Relaxed) > 0;
        let count = range.clone().filter(has_arc).count();
        let mut own = 0;
        let mut each = range.filter(has_arc).map(|other| {
            let sum = sums[other].swap(0, Relaxed);
            own += sum;
            (other as VertexId, sum)
        });
        arcs.append((0..count).map(|_| each.next().unwrap_or_default()));
        drop(each);
        weight.fetch_add(own, Relaxed);
        count as u64
    });
    (degree, weight.into_inner())
}

/// Lists of a task that are appended to the arrays together: threads that claim space for each list
/// would wait for one another.
struct Lists<'a> {
    arrays: &'a ArcArrays,
    /// The place of each part's list.
    begins: &'a [AtomicU64],
    buffer: &'a mut Vec<(VertexId, u64)>,
    /// The parts whose lists are in the buffer.
    waiting: Range<usize>,
}

impl Lists<'_> {
    /// Appends the list of the next part.
    fn push(&mut self, part: usize, list: impl ExactSizeIterator<Item = (VertexId, u64)>) {
        if self.buffer.len() + list.len() > ARCS_TOGETHER {
            self.flush();
        }
        if list.len() > ARCS_TOGETHER {
            self.begins[part].store(self.arrays.append(list), Relaxed);
        } else {
            if self.waiting.is_empty() {
                self.waiting = part..part;
            }
            self.begins[part].store(self.buffer.len() as u64, Relaxed);
            self.buffer.extend(list);
            self.waiting.end = part + 1;
        }
    }

    /// Empties the buffer.
    fn flush(&mut self) {
        let begin = self.arrays.append(self.buffer.drain(..));
        for place in &self.begins[std::mem::take(&mut self.waiting)] {
            place.store(begin + place.load(Relaxed), Relaxed);
        }
    }
}

/// Returns communities of the vertices `0..vertices`, each named by its smallest vertex.
///
/// `community` returns the community of a vertex, below `communities`.
pub(super) fn named_by_smallest(
    team: &ThreadTeam,
    vertices: usize,
    communities: usize,
    community: impl Fn(VertexId) -> u32 + Sync,
) -> Result<Vec<VertexId>, OutOfMemory> {
    let mut smallest = memory::filled(u32::MAX, communities)?;
    let names = as_atomic(&mut smallest);
    team.ranges(vertices, READ_PER_TASK, |range| {
        for v in range {
            let name = &names[community(v as VertexId) as usize];
            // Most vertices are not the smallest so far: a load is cheaper than an update.
            if name.load(Relaxed) > v as VertexId {
                name.fetch_min(v as VertexId, Relaxed);
            }
        }
    });
    let mut named = memory::zeros(vertices)?;
    let to = as_atomic(&mut named);
    team.ranges(vertices, READ_PER_TASK, |range| {
        for v in range {
            let name = names[community(v as VertexId) as usize].load(Relaxed);
            to[v].store(name, Relaxed);
        }
    });
    Ok(named)
}

/// Returns communities given by labels, each named by its smallest vertex; a vertex without a label is
/// one of its own. Labels are vertices or [`NO_LABEL`].
pub(super) fn named_labels(
    team: &ThreadTeam,
    labels: &[Label],
) -> Result<Vec<VertexId>, OutOfMemory> {
    let vertices = labels.len();
    // All vertices without a label are one more community, until each is named by itself.
    let label = |v: VertexId| labels[v as usize].min(vertices as VertexId);
    let mut named = named_by_smallest(team, vertices, vertices + 1, label)?;
    let has_none = |&(v, _): &(usize, &mut VertexId)| labels[v] == NO_LABEL;
    named.iter_mut().enumerate().filter(has_none).for_each(|(v, name)| *name = v as VertexId);
    Ok(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::team::with_whole_pool;
    use rayon::ThreadPoolBuilder;

    #[test]
    fn members_are_grouped_the_same_by_any_number_of_threads() {
        let vertex_of: Vec<VertexId> = (0..100).map(|v| (3 * v + v / 7) % 5).collect();
        let members_of = |part| (0..100).filter(move |v| (3 * v + v / 7) % 5 == part);
        let expected: Vec<VertexId> = (0..5).flat_map(members_of).collect();
        let contraction = Contraction { vertex_of, founders: vec![0; 5], finished: None };
        for threads in [1, 2, 4] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let grouped = pool.install(|| with_whole_pool(|team| contraction.grouped(team)));
            let (members, ends) = grouped.unwrap();
            assert_eq!(members, expected, "{threads} threads");
            let sizes = (0..5).map(|part| members_of(part).count() as u32);
            let before = |end: &mut u32, size| {
                *end += size;
                Some(*end)
            };
            assert_eq!(ends, sizes.scan(0, before).collect::<Vec<_>>(), "{threads} threads");
        }
    }

    #[test]
    fn nothing_is_grouped_into_nothing() {
        let contraction =
            Contraction { vertex_of: Vec::new(), founders: Vec::new(), finished: None };
        let grouped = with_whole_pool(|team| contraction.grouped(team));
        assert_eq!(grouped, Ok((Vec::new(), Vec::new())));
    }
}
