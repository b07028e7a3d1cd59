//! From an edge table to a graph, by counting.
//!
//! ```text
//! count arcs a vertex ─▶ cut into shards ─▶ for each range of about 1/24 of a shard's arcs:
//!                          scan the table, place the range's arcs, sort each list, merge, append
//! ```
//!
//! Memory: the table, the finished graph, and at most 5 % more. That is why arcs are placed range
//! by range, straight into the end of the finished array, instead of all at once: what merging
//! duplicates frees is used by the next range. Reading the table once a range costs little: it
//! streams, and the range that is written stays in the cache.

use crate::{Adjacency, Direction, EdgeTable, Graph, Shard, VertexId, WeightScale, as_atomic};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use thiserror::Error;

/// Arcs that a shard may hold: its offsets are `u32`.
pub const MAX_SHARD_ARCS: u64 = 1 << 31;

/// Ranges that a shard is built in: each needs about 1/24 of its arcs as working space.
const RANGES: u64 = 24;
/// Arcs below which a smaller range would cost more than it saves.
const MIN_RANGE_ARCS: u64 = 1 << 16;
/// Rows of the table that one task scans.
const ROWS_PER_TASK: usize = 1 << 16;

/// What becomes of an edge from a vertex to itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SelfLoops {
    /// Left out: a vertex has no vote in its own label.
    #[default]
    Drop,
    /// Kept, as one arc.
    Keep,
}

/// What becomes of several edges between the same two vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// They become one edge; where there are weights, they add up.
    #[default]
    Merge,
    /// They stay, as a multiset.
    Keep,
}

/// How to make a graph of an edge table.
#[derive(Clone, Debug)]
pub struct GraphBuilder {
    direction: Direction,
    self_loops: SelfLoops,
    duplicates: Duplicates,
    shard_arcs: u64,
}

/// Why an edge table cannot become a graph.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum BuildError {
    /// One vertex has more arcs than a shard may hold.
    #[error("vertex {id} has {arcs} arcs; one vertex may have at most {limit}")]
    TooManyArcs {
        /// The vertex's external id.
        id: String,
        /// Its arcs, duplicates included.
        arcs: u64,
        /// Arcs that a shard may hold.
        limit: u64,
    },
    /// The arrays do not fit the memory.
    #[error("the graph needs {bytes} bytes for the arcs of one shard, which this machine refused")]
    OutOfMemory {
        /// What was asked for.
        bytes: u64,
    },
}

impl Default for GraphBuilder {
    fn default() -> Self {
        GraphBuilder {
            direction: Direction::default(),
            self_loops: SelfLoops::default(),
            duplicates: Duplicates::default(),
            shard_arcs: MAX_SHARD_ARCS,
        }
    }
}

impl GraphBuilder {
    /// Undirected, self-loops dropped, duplicates merged: what communities want.
    pub fn new() -> GraphBuilder {
        GraphBuilder::default()
    }

    /// Whether edges have a direction.
    pub fn direction(mut self, direction: Direction) -> Self {
        self.direction = direction;
        self
    }

    /// What becomes of self-loops.
    pub fn self_loops(mut self, self_loops: SelfLoops) -> Self {
        self.self_loops = self_loops;
        self
    }

    /// What becomes of duplicates.
    pub fn duplicates(mut self, duplicates: Duplicates) -> Self {
        self.duplicates = duplicates;
        self
    }

    /// Arcs (duplicates included) that a shard may hold, at most [`MAX_SHARD_ARCS`].
    pub fn shard_arcs(mut self, arcs: u64) -> Self {
        self.shard_arcs = arcs.clamp(1, MAX_SHARD_ARCS);
        self
    }

    /// Builds the graph on rayon's current pool and drops the table.
    ///
    /// The result does not depend on the order of the rows or on the number of threads.
    ///
    /// # Errors
    /// Where one vertex has more arcs than a shard may hold, or memory is refused.
    pub fn build(&self, edges: EdgeTable) -> Result<Graph, BuildError> {
        let mut scale = edges.weights().map_or(WeightScale::ONE, WeightScale::fitting);
        let (scale, shards) = loop {
            match self.build_shards(&edges, scale) {
                Ok(shards) => break (scale, shards),
                Err(Failure::WeightOverflow { sum }) => scale = scale.coarser_for(sum),
                Err(Failure::Error(error)) => return Err(error),
            }
        };
        let graph = Graph::from_shards(edges.into_ids(), self.direction, scale, shards);
        Ok(graph.expect("the builder makes what a graph is"))
    }

    fn build_shards(&self, edges: &EdgeTable, scale: WeightScale) -> Result<Vec<Shard>, Failure> {
        let roles: &[Role] = match self.direction {
            Direction::Undirected => &[Role::Both],
            Direction::Directed if edges.is_in_both_directions() => &[Role::Both, Role::Both],
            Direction::Directed => &[Role::Out, Role::Incoming],
        };
        let sources: Vec<_> = roles
            .iter()
            .map(|&role| ArcSource {
                edges,
                role,
                keep_loops: self.self_loops == SelfLoops::Keep,
                scale,
            })
            .collect();
        // The counts become the finished offsets in place, shard by shard.
        let mut counts: Vec<Vec<u32>> =
            sources.iter().map(ArcSource::count).collect::<Result<_, _>>()?;
        let ranges = self.cut(&counts);
        let mut shards = Vec::with_capacity(ranges.len());
        for vertices in ranges {
            let mut lists = Vec::with_capacity(2);
            for (source, counts) in sources.iter().zip(&mut counts) {
                let slots = vertices.start as usize..vertices.end as usize;
                let alone = slots.len() + 1 == counts.len();
                // The common case, one shard, keeps the array; several copy their part out of it.
                let mut offsets = if alone {
                    std::mem::take(counts)
                } else {
                    let mut part = Vec::with_capacity(slots.len() + 1);
                    part.extend_from_slice(&counts[slots]);
                    part.push(0);
                    part
                };
                let adjacency = self.place(source, vertices.clone(), &mut offsets)?;
                lists.push(Adjacency::new(
                    offsets.into(),
                    adjacency.0.into(),
                    adjacency.1.map(Into::into),
                ));
            }
            let mut lists = lists.into_iter();
            let out = lists.next().expect("every graph has an out list");
            shards.push(Shard::new(vertices, out, lists.next()));
        }
        Ok(shards)
    }

    /// Cuts the vertices where the next one's arcs would exceed a shard, in either direction.
    fn cut(&self, counts: &[Vec<u32>]) -> Vec<Range<VertexId>> {
        let vertices = counts[0].len() - 1;
        let limit = self.shard_arcs;
        cut_by(vertices, limit, |v| counts.iter().map(|c| u64::from(c[v])).max().unwrap_or(0))
            .map(|range| range.start as u32..range.end as u32)
            .collect()
    }

    /// Fills one shard's lists. `counts` holds each vertex's arcs (and a last slot), and becomes
    /// the offsets.
    fn place(
        &self,
        source: &ArcSource<'_>,
        vertices: Range<VertexId>,
        counts: &mut [u32],
    ) -> Result<(Vec<VertexId>, Option<Vec<u32>>), Failure> {
        let slots = counts.len() - 1;
        let total: u64 = counts[..slots].iter().map(|&c| u64::from(c)).sum();
        let weighted = source.edges.weights().is_some();
        let mut neighbors: Vec<u32> = reserve(total)?;
        let mut weights: Vec<u32> = reserve(if weighted { total } else { 0 })?;

        let limit = (total / RANGES).max(MIN_RANGE_ARCS);
        let ranges: Vec<_> = cut_by(slots, limit, |slot| u64::from(counts[slot])).collect();
        let mut end = 0u32;
        for range in ranges {
            let part = vertices.start + range.start as u32..vertices.start + range.end as u32;
            let counts = &mut counts[range];
            let arcs = counts.iter().map(|&c| c as usize).sum::<usize>();
            let base = neighbors.len();
            neighbors.resize(base + arcs, 0);
            let tail = &mut neighbors[base..];
            let kept = if weighted {
                weights.resize(base + arcs, 0);
                let tail_weights = &mut weights[base..];
                source.scatter_weighted(part, counts, tail, tail_weights);
                self.merge_weighted(counts, tail, tail_weights)?
            } else {
                source.scatter(part, counts, tail);
                self.merge(counts, tail)
            };
            neighbors.truncate(base + kept);
            weights.truncate(if weighted { base + kept } else { 0 });
            for count in counts {
                let begin = end;
                end += *count;
                *count = begin;
            }
        }
        counts[slots] = end;
        neighbors.shrink_to_fit();
        weights.shrink_to_fit();
        Ok((neighbors, weighted.then_some(weights)))
    }

    /// Sorts each list, merges duplicates, closes the gaps; `counts` becomes what each list keeps.
    fn merge(&self, counts: &mut [u32], arcs: &mut [VertexId]) -> usize {
        let merge = self.duplicates == Duplicates::Merge;
        let before = counts.to_vec();
        for_each_list(counts, arcs, &mut [], |count, list, _| {
            list.sort_unstable();
            if merge {
                *count = dedup(list) as u32;
            }
            Ok(())
        })
        .expect("sorting does not fail");
        close_gaps(&before, counts, arcs)
    }

    fn merge_weighted(
        &self,
        counts: &mut [u32],
        arcs: &mut [VertexId],
        weights: &mut [u32],
    ) -> Result<usize, Failure> {
        let merge = self.duplicates == Duplicates::Merge;
        let before = counts.to_vec();
        for_each_list(counts, arcs, weights, |count, list, weights| {
            let mut pairs: Vec<u64> = list
                .iter()
                .zip(&*weights)
                .map(|(&v, &w)| u64::from(v) << 32 | u64::from(w))
                .collect();
            pairs.sort_unstable();
            let mut kept = 0;
            for pair in pairs {
                let (neighbor, weight) = ((pair >> 32) as u32, pair as u32);
                if merge && kept > 0 && list[kept - 1] == neighbor {
                    let sum = u64::from(weights[kept - 1]) + u64::from(weight);
                    weights[kept - 1] =
                        u32::try_from(sum).map_err(|_| Failure::WeightOverflow { sum })?;
                } else {
                    (list[kept], weights[kept]) = (neighbor, weight);
                    kept += 1;
                }
            }
            *count = kept as u32;
            Ok(())
        })?;
        close_gaps(&before, counts, weights);
        Ok(close_gaps(&before, counts, arcs))
    }
}

/// Why one attempt to build ended: for good, or for another attempt with a coarser weight scale.
#[derive(Debug)]
enum Failure {
    Error(BuildError),
    WeightOverflow { sum: u64 },
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        Failure::Error(error)
    }
}

/// Which end of a row owns its arc.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Out,
    Incoming,
    Both,
}

/// The arcs that a table's rows stand for, in one direction.
struct ArcSource<'a> {
    edges: &'a EdgeTable,
    role: Role,
    keep_loops: bool,
    scale: WeightScale,
}

impl ArcSource<'_> {
    /// Calls `visit(owner, neighbor, row)` for each arc, in parallel over rows.
    fn for_each(&self, visit: impl Fn(VertexId, VertexId, usize) + Sync) {
        let (sources, targets) = (self.edges.sources(), self.edges.targets());
        let parts = sources.par_chunks(ROWS_PER_TASK).zip(targets.par_chunks(ROWS_PER_TASK));
        parts.enumerate().for_each(|(part, (sources, targets))| {
            let first = part * ROWS_PER_TASK;
            for (row, (&s, &t)) in sources.iter().zip(targets).enumerate() {
                if s == t {
                    if self.keep_loops {
                        visit(s, t, first + row);
                    }
                    continue;
                }
                if self.role != Role::Incoming {
                    visit(s, t, first + row);
                }
                if self.role != Role::Out {
                    visit(t, s, first + row);
                }
            }
        });
    }

    /// Arcs of each vertex, and one more slot.
    fn count(&self) -> Result<Vec<u32>, BuildError> {
        let mut counts = vec![0u32; self.edges.ids().len() + 1];
        // A vertex can reach 2³² arcs only where there are as many; then count it wide.
        if self.edges.len() as u64 > u64::from(u32::MAX) / 2 {
            self.refuse_huge_vertices()?;
        }
        let shared = as_atomic(&mut counts);
        self.for_each(|owner, _, _| {
            shared[owner as usize].fetch_add(1, Relaxed);
        });
        let largest =
            counts.par_iter().enumerate().max_by_key(|(v, c)| (**c, std::cmp::Reverse(*v)));
        match largest {
            Some((vertex, &arcs)) if u64::from(arcs) > MAX_SHARD_ARCS => {
                Err(self.too_many(vertex, u64::from(arcs)))
            }
            _ => Ok(counts),
        }
    }

    fn refuse_huge_vertices(&self) -> Result<(), BuildError> {
        let mut counts = vec![0u64; self.edges.ids().len()];
        for (&s, &t) in self.edges.sources().iter().zip(self.edges.targets()) {
            counts[s as usize] += 1;
            counts[t as usize] += 1;
        }
        match counts.iter().position(|&arcs| arcs > MAX_SHARD_ARCS) {
            Some(vertex) => Err(self.too_many(vertex, counts[vertex])),
            None => Ok(()),
        }
    }

    fn too_many(&self, vertex: usize, arcs: u64) -> BuildError {
        let id = self.edges.ids().get(vertex as u32).to_string();
        BuildError::TooManyArcs { id, arcs, limit: MAX_SHARD_ARCS }
    }

    /// Places the neighbours of the vertices `part` in their lists, in any order.
    fn scatter(&self, part: Range<VertexId>, counts: &[u32], arcs: &mut [VertexId]) {
        let mut cursors = ends(counts);
        let (cursors, arcs) = (as_atomic(&mut cursors), as_atomic(arcs));
        self.for_each(|owner, neighbor, _| {
            if let Some(at) = claim(&part, cursors, owner) {
                arcs[at].store(neighbor, Relaxed);
            }
        });
    }

    fn scatter_weighted(
        &self,
        part: Range<VertexId>,
        counts: &[u32],
        arcs: &mut [VertexId],
        weights: &mut [u32],
    ) {
        let mut cursors = ends(counts);
        let (cursors, arcs) = (as_atomic(&mut cursors), as_atomic(arcs));
        let stored = as_atomic(weights);
        let real = self.edges.weights().expect("called where there are weights");
        self.for_each(|owner, neighbor, row| {
            if let Some(at) = claim(&part, cursors, owner) {
                arcs[at].store(neighbor, Relaxed);
                stored[at].store(self.scale.quantize(real[row]), Relaxed);
            }
        });
    }
}

/// The next free place in `owner`'s list, or `None` where `owner` is not in `part`.
#[inline]
fn claim(part: &Range<VertexId>, cursors: &[AtomicU32], owner: VertexId) -> Option<usize> {
    let cursor = cursors.get(owner.wrapping_sub(part.start) as usize)?;
    Some(cursor.fetch_sub(1, Relaxed) as usize - 1)
}

/// Where each list ends, counted from the first list's begin.
fn ends(counts: &[u32]) -> Vec<u32> {
    let mut end = 0;
    counts
        .iter()
        .map(|&count| {
            end += count;
            end
        })
        .collect()
}

/// Cuts `0..slots` into the fewest ranges, from the left, whose sizes add up to at most `limit`;
/// a single slot larger than that is a range of its own.
fn cut_by(
    slots: usize,
    limit: u64,
    size: impl Fn(usize) -> u64,
) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        if start == slots {
            return None;
        }
        let (mut end, mut sum) = (start, 0);
        while end < slots && (end == start || sum + size(end) <= limit) {
            sum += size(end);
            end += 1;
        }
        Some(std::mem::replace(&mut start, end)..end)
    })
}

/// An empty array that can grow to `arcs` without moving.
fn reserve(arcs: u64) -> Result<Vec<u32>, Failure> {
    let mut array = Vec::new();
    match array.try_reserve_exact(arcs as usize) {
        Ok(()) => Ok(array),
        Err(_) => Err(Failure::Error(BuildError::OutOfMemory { bytes: arcs * 4 })),
    }
}

/// Calls `visit(count, list, weights)` for each list, in parallel; `counts` are the lists' lengths.
fn for_each_list(
    counts: &mut [u32],
    arcs: &mut [u32],
    weights: &mut [u32],
    visit: impl Fn(&mut u32, &mut [u32], &mut [u32]) -> Result<(), Failure> + Sync + Copy + Send,
) -> Result<(), Failure> {
    const LISTS_PER_TASK: usize = 1024;
    if counts.len() > LISTS_PER_TASK {
        let middle = counts.len() / 2;
        let (left, right) = counts.split_at_mut(middle);
        let split = left.iter().map(|&c| c as usize).sum::<usize>();
        let (left_arcs, right_arcs) = arcs.split_at_mut(split);
        let (left_weights, right_weights) = weights.split_at_mut(split.min(weights.len()));
        let (a, b) = rayon::join(
            || for_each_list(left, left_arcs, left_weights, visit),
            || for_each_list(right, right_arcs, right_weights, visit),
        );
        return a.and(b);
    }
    let (mut arcs, mut weights) = (arcs, weights);
    for count in counts {
        let (list, rest) = arcs.split_at_mut(*count as usize);
        let (list_weights, rest_weights) = weights.split_at_mut(list.len().min(weights.len()));
        (arcs, weights) = (rest, rest_weights);
        visit(count, list, list_weights)?;
    }
    Ok(())
}

/// Moves equal neighbours of a sorted list together; returns how many remain.
fn dedup(list: &mut [u32]) -> usize {
    let mut kept = list.len().min(1);
    for at in 1..list.len() {
        if list[at] != list[kept - 1] {
            list[kept] = list[at];
            kept += 1;
        }
    }
    kept
}

/// Moves lists together that shrank from `before` to `after`; returns what they occupy.
fn close_gaps(before: &[u32], after: &[u32], arcs: &mut [u32]) -> usize {
    let (mut from, mut to) = (0, 0);
    for (&before, &after) in before.iter().zip(after) {
        if from != to {
            arcs.copy_within(from..from + after as usize, to);
        }
        from += before as usize;
        to += after as usize;
    }
    to
}
