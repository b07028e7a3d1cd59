//! Construction of a graph from an edge table, by counting.
//!
//! ```text
//! count arcs per vertex ─▶ split into shards ─▶ group the table's rows by range
//!                                        ─▶ for each range of about 1/24 of a shard's arcs:
//!                                             place the arcs, sort each list, merge, append
//! ```
//!
//! Memory: the table, the finished graph, and at most 5 % more. Arcs are therefore placed range by
//! range at the end of the finished array, instead of all at once: the next range uses the space
//! that merging duplicates frees. Rows are grouped in place (see `grouped.rs`), so that a range
//! reads only its own rows, and its output stays in the cache.

use crate::grouped::{Classes, Groups};
use crate::memory::{self, OutOfMemory};
use crate::{
    Adjacency, BuildOptions, Cancelled, Direction, Duplicates, EdgeTable, Graph, MAX_SHARD_ARCS,
    SelfLoops, Shard, VertexId, WeightLedger, WeightLoss, WeightScale,
};
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use thiserror::Error;

mod part;
mod rows;
mod scatter;

pub use part::{OwnArcs, PartError};
use rows::{Role, Rows};
use scatter::Arcs;

/// The number of ranges that a shard is built in: each needs about 1/24 of its arcs as scratch.
const RANGES: u64 = 24;
/// The least arcs of a range: smaller ranges would cost more than they save.
const MIN_RANGE_ARCS: u64 = 1 << 16;

/// Builds a graph from an edge table.
///
/// # Examples
/// ```
/// use ripplet_graph::{Direction, EdgeTable, GraphBuilder, VertexIds};
///
/// // 0 → 1 twice, and 1 → 2.
/// let ids = VertexIds::Consecutive { first: 0, count: 3 };
/// let edges = EdgeTable::new(ids, vec![0, 0, 1], vec![1, 1, 2])?;
/// let graph = GraphBuilder::new().direction(Direction::Directed).build(edges)?;
/// assert_eq!((graph.vertices(), graph.edges()), (3, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct GraphBuilder {
    options: BuildOptions,
    shard_arcs: u64,
}

/// The reason why an edge table cannot become a graph.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum BuildError {
    /// A vertex has more arcs than a shard can hold.
    #[error("vertex {id} has {arcs} arcs; one vertex may have at most {limit}")]
    TooManyArcs {
        /// The vertex's external id.
        id: String,
        /// The vertex's arcs, including duplicates.
        arcs: u64,
        /// The most arcs of a shard.
        limit: u64,
    },
    /// Some weights are so small compared with the largest that 32 bits cannot represent both, or smaller than any unit.
    #[error("{}", .0.refusal("the weights"))]
    CoarseWeights(WeightLoss),
    /// The arrays do not fit into memory.
    #[error("building the graph: {0}")]
    OutOfMemory(#[from] OutOfMemory),
    /// [`BuildOptions::cancel`] was set.
    #[error("building the graph: {0}")]
    Cancelled(#[from] Cancelled),
}

impl Default for GraphBuilder {
    fn default() -> Self {
        BuildOptions::default().into()
    }
}

impl From<BuildOptions> for GraphBuilder {
    fn from(options: BuildOptions) -> GraphBuilder {
        GraphBuilder { options, shard_arcs: MAX_SHARD_ARCS }
    }
}

impl GraphBuilder {
    /// Creates a builder with the defaults for community detection: undirected, self-loops dropped,
    /// duplicates merged.
    pub fn new() -> GraphBuilder {
        GraphBuilder::default()
    }

    /// Sets whether edges have a direction.
    pub fn direction(mut self, direction: Direction) -> Self {
        self.options.direction = direction;
        self
    }

    /// Sets how self-loops are treated.
    pub fn self_loops(mut self, self_loops: SelfLoops) -> Self {
        self.options.self_loops = self_loops;
        self
    }

    /// Sets how duplicates are treated.
    pub fn duplicates(mut self, duplicates: Duplicates) -> Self {
        self.options.duplicates = duplicates;
        self
    }

    /// Sets the most arcs (including duplicates) of a shard, at most [`MAX_SHARD_ARCS`].
    pub fn shard_arcs(mut self, arcs: u64) -> Self {
        self.shard_arcs = arcs.clamp(1, MAX_SHARD_ARCS);
        self
    }

    /// Sets the ledger, which decides whether weights may be stored coarsely and records changes.
    pub fn weight_ledger(mut self, ledger: &WeightLedger) -> Self {
        self.options.weights = ledger.clone();
        self
    }

    /// Builds the graph on rayon's current pool and drops the table.
    ///
    /// The result does not depend on the order of the rows or on the number of threads.
    ///
    /// # Errors
    /// If one vertex has more arcs than a shard can hold, if memory allocation fails, or if a weight
    /// would change by more than [`WeightLoss::LIMIT`] and the ledger does not allow it; or if it is cancelled.
    pub fn build(&self, edges: EdgeTable) -> Result<Graph, BuildError> {
        self.options.cancel.check()?;
        let mut edges = edges;
        let mut scale = edges.weights().map_or(WeightScale::ONE, WeightScale::fitting);
        let mut loss = self.loss(&edges, scale)?;
        let shards = loop {
            let sums = LargestSum::default();
            let shards = self.build_shards(&mut edges, scale, &sums)?;
            let Some(sum) = sums.overflow() else { break shards };
            scale = scale.coarser_for(sum);
            loss = self.loss(&edges, scale)?;
        };
        self.options.weights.note(loss);
        let graph = Graph::from_shards(edges.into_ids(), self.options.direction, scale, shards);
        Ok(graph.expect("the builder makes what a graph is"))
    }

    /// Returns the change of the weights at a scale.
    fn loss(&self, edges: &EdgeTable, scale: WeightScale) -> Result<WeightLoss, BuildError> {
        let loss = edges.weights().map(|weights| scale.loss(weights)).unwrap_or_default();
        match self.options.weights.refuses(&loss) {
            true => Err(BuildError::CoarseWeights(loss)),
            false => Ok(loss),
        }
    }

    fn build_shards(
        &self,
        edges: &mut EdgeTable,
        scale: WeightScale,
        sums: &LargestSum,
    ) -> Result<Vec<Shard>, BuildError> {
        let roles: &[Role] = match self.options.direction {
            Direction::Directed if !edges.is_in_both_directions() => &[Role::Out, Role::Incoming],
            _ => &[Role::Both],
        };
        let keep_loops = self.options.self_loops == SelfLoops::Keep;
        let rows = roles.iter().map(|&role| Rows { edges, role, keep_loops });
        let mut counts: Vec<_> = rows.map(|rows| rows.count()).collect::<Result<_, _>>()?;
        self.options.cancel.check()?;
        let shards = self.cut(&counts);
        let build = |vertices| self.build_shard(edges, scale, sums, roles, vertices, &mut counts);
        shards.into_iter().map(build).collect()
    }

    /// Builds the lists of `vertices`, for each role from its `counts`.
    fn build_shard(
        &self,
        edges: &mut EdgeTable,
        scale: WeightScale,
        sums: &LargestSum,
        roles: &[Role],
        vertices: Range<VertexId>,
        counts: &mut [Vec<u32>],
    ) -> Result<Shard, BuildError> {
        let counts = counts.iter_mut().map(|c| take_part(c, &vertices));
        let mut counts = counts.collect::<Result<Vec<_>, _>>()?;
        let classes: Vec<_> =
            counts.iter().map(|counts| Classes::new(ranges(counts, vertices.start))).collect();
        let groups = Groups::sort(edges, &classes[0], &classes[classes.len() - 1])?;
        self.options.cancel.check()?;
        let keep_loops = self.options.self_loops == SelfLoops::Keep;
        let mut lists = Vec::with_capacity(2);
        for ((&role, classes), counts) in roles.iter().zip(&classes).zip(&mut counts) {
            let arcs = Arcs { rows: Rows { edges, role, keep_loops }, groups: &groups, scale };
            let (neighbors, weights) = self.place(&arcs, classes.ranges(), counts, sums)?;
            let offsets = std::mem::take(counts);
            lists.push(Adjacency::new(offsets.into(), neighbors.into(), weights.map(Into::into)));
        }
        let mut lists = lists.into_iter();
        let out = lists.next().expect("every graph has an out list");
        let incoming = match (self.options.direction, lists.next()) {
            (Direction::Undirected, _) => None,
            (Direction::Directed, Some(incoming)) => Some(incoming),
            // Rows stand for both directions: incoming arcs equal outgoing ones.
            (Direction::Directed, None) => Some(out.try_clone()?),
        };
        Ok(Shard::new(vertices, out, incoming))
    }

    /// Splits the vertices before the one whose arcs would exceed a shard, in either direction.
    fn cut(&self, counts: &[Vec<u32>]) -> Vec<Range<VertexId>> {
        let vertices = counts[0].len() - 1;
        let limit = self.shard_arcs;
        cut_by(vertices, limit, |v| counts.iter().map(|c| u64::from(c[v])).max().unwrap_or(0))
            .map(|range| range.start as u32..range.end as u32)
            .collect()
    }

    /// Fills one shard's lists, range by range. `counts` holds each vertex's arcs and one more
    /// slot; it becomes the offsets.
    fn place(
        &self,
        arcs: &Arcs<'_>,
        ranges: &[Range<VertexId>],
        counts: &mut [u32],
        sums: &LargestSum,
    ) -> Result<(Vec<VertexId>, Option<Vec<u32>>), BuildError> {
        let slots = counts.len() - 1;
        let total: u64 = counts[..slots].iter().map(|&c| u64::from(c)).sum();
        let weighted = arcs.rows.edges.weights().is_some();
        // Zeroed pages that are not touched yet take no memory: a range touches those behind the ranges before.
        let mut neighbors = memory::zeros::<u32>(total as usize)?;
        let mut weights = memory::zeros::<u32>(if weighted { total as usize } else { 0 })?;

        let (mut end, mut rest) = (0u32, &mut counts[..]);
        for (class, range) in ranges.iter().enumerate() {
            self.options.cancel.check()?;
            let counts = rest.split_off_mut(..range.len()).expect("ranges cover the slots");
            let size = counts.iter().map(|&c| c as usize).sum::<usize>();
            let places = end as usize..end as usize + size;
            let tail = &mut neighbors[places.clone()];
            if weighted {
                let tail_weights = &mut weights[places];
                arcs.scatter_weighted(class, range.start, counts, tail, tail_weights)?;
                self.merge_weighted(counts, tail, tail_weights, sums)?;
            } else {
                arcs.scatter(class, range.start, counts, tail)?;
                self.merge(counts, tail)?;
            }
            for count in counts {
                let begin = end;
                end += *count;
                *count = begin;
            }
        }
        rest[0] = end;
        neighbors.truncate(end as usize);
        weights.truncate(end as usize);
        neighbors.shrink_to_fit();
        weights.shrink_to_fit();
        Ok((neighbors, weighted.then_some(weights)))
    }

    /// Sorts each list, merges duplicates and closes the gaps; `counts` becomes the lists' new
    /// lengths.
    fn merge(&self, counts: &mut [u32], arcs: &mut [VertexId]) -> Result<(), OutOfMemory> {
        let merge = self.options.duplicates.become_one();
        let before = memory::copied(counts)?;
        for_each_list(counts, arcs, &mut [], |count, list, _| {
            list.sort_unstable();
            if merge {
                *count = dedup(list) as u32;
            }
            Ok(())
        })?;
        close_gaps(&before, counts, arcs);
        Ok(())
    }

    fn merge_weighted(
        &self,
        counts: &mut [u32],
        arcs: &mut [VertexId],
        weights: &mut [u32],
        sums: &LargestSum,
    ) -> Result<(), OutOfMemory> {
        let merge = self.options.duplicates.become_one();
        let before = memory::copied(counts)?;
        for_each_list(counts, arcs, weights, |count, list, weights| {
            let pairs = list.iter().zip(&*weights);
            let mut pairs =
                memory::collected(pairs.map(|(&v, &w)| u64::from(v) << 32 | u64::from(w)))?;
            pairs.sort_unstable();
            let (mut kept, mut sum) = (0, 0);
            for pair in pairs {
                let (neighbor, weight) = ((pair >> 32) as u32, pair as u32);
                if merge && kept > 0 && list[kept - 1] == neighbor {
                    sum = self.options.duplicates.weight_of_two(sum, weight);
                    weights[kept - 1] = u32::try_from(sum).unwrap_or_else(|_| sums.note(sum));
                } else {
                    (list[kept], weights[kept]) = (neighbor, weight);
                    (kept, sum) = (kept + 1, u64::from(weight));
                }
            }
            *count = kept as u32;
            Ok(())
        })?;
        close_gaps(&before, counts, weights);
        close_gaps(&before, counts, arcs);
        Ok(())
    }
}

/// The largest sum of a repeated edge's weights, of all lists in any order, if 32 bits cannot hold it: all lists are then
/// built once more, with a coarser scale.
#[derive(Debug, Default)]
struct LargestSum(AtomicU64);

impl LargestSum {
    /// Notes a sum above 32 bits; returns the weight that stands for it.
    #[cold]
    fn note(&self, sum: u64) -> u32 {
        self.0.fetch_max(sum, Relaxed);
        u32::MAX
    }

    /// Returns the largest sum that was noted.
    fn overflow(&self) -> Option<u64> {
        Some(self.0.load(Relaxed)).filter(|&sum| sum > 0)
    }
}

/// Returns the counts of some vertices and one more slot. A single shard, the common case, takes
/// the array over; several shards copy their parts.
fn take_part(counts: &mut Vec<u32>, vertices: &Range<VertexId>) -> Result<Vec<u32>, OutOfMemory> {
    if vertices.len() + 1 == counts.len() {
        return Ok(std::mem::take(counts));
    }
    let mut part = memory::with_room(vertices.len() + 1)?;
    part.extend_from_slice(&counts[vertices.start as usize..vertices.end as usize]);
    part.push(0);
    Ok(part)
}

/// Returns the ranges in which a shard's lists are placed; `counts` has one more slot.
fn ranges(counts: &[u32], first: VertexId) -> Vec<Range<VertexId>> {
    let slots = counts.len() - 1;
    let total: u64 = counts[..slots].iter().map(|&c| u64::from(c)).sum();
    let limit = (total / RANGES).max(MIN_RANGE_ARCS);
    cut_by(slots, limit, |slot| u64::from(counts[slot]))
        .map(|range| first + range.start as u32..first + range.end as u32)
        .collect()
}

/// Splits `0..slots` from the left into the fewest ranges whose sizes add up to at most `limit`; a
/// larger slot is a range by itself.
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

/// Calls `visit(count, list, weights)` for each list, in parallel; `counts` are the lists' lengths.
fn for_each_list(
    counts: &mut [u32],
    arcs: &mut [u32],
    weights: &mut [u32],
    visit: impl Fn(&mut u32, &mut [u32], &mut [u32]) -> Result<(), OutOfMemory> + Sync + Copy + Send,
) -> Result<(), OutOfMemory> {
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

/// Removes duplicates of a sorted list; returns the number of distinct neighbours.
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

/// Closes the gaps of lists that shrank from `before` to `after`.
fn close_gaps(before: &[u32], after: &[u32], arcs: &mut [u32]) {
    let (mut from, mut to) = (0, 0);
    for (&before, &after) in before.iter().zip(after) {
        if from != to {
            arcs.copy_within(from..from + after as usize, to);
        }
        from += before as usize;
        to += after as usize;
    }
}
