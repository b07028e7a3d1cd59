//! Merges a window's adjacency with a list of changes to the next window's adjacency.
//!
//! 1. For each changed list, compute how its length changes: a binary search for each change.
//! 2. From these lengths, compute the offsets of all lists.
//! 3. Write the lists, in parallel by ranges of vertices with about as many arcs: unchanged ranges are
//!    copied, and changes are inserted between.
//!
//! ```text
//! lists      a: b c e   b: a   c: a   e: a            b and c have no change: copied at once
//! changes    a: +d −e   d: +a  e: −a
//! merged     a: b c d   b: a   c: a   d: a
//! ```

use super::{Changed, WindowError};
use crate::days::{DayAdjacency, Delta};
use crate::weights::{BadWeight, WeightFunction};
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{Adjacency, Direction, Graph, MAX_SHARD_ARCS, Shard, VertexId, VertexIds};
use std::ops::Range;
use std::sync::Arc;

/// Merged window.
#[derive(Debug)]
pub struct Merged {
    /// Its graph.
    pub graph: Graph,
    /// Vertices whose lists or weights changed.
    pub changed: Changed,
}

/// Counts and amounts of each arc, and the rule that makes weights of them.
#[derive(Debug)]
pub struct Sums {
    weighing: Arc<WeightFunction>,
    /// Value of a smallest unit of amounts.
    unit_value: f64,
    /// Number of transactions of each arc; empty if these are the weights.
    counts: Vec<u32>,
    /// Amounts of each arc; empty if they are not needed.
    amounts: Vec<u64>,
}

/// Arrays of an expired window, for reuse: page faults of fresh memory cost as much as a second write.
#[derive(Debug, Default)]
pub(super) struct Arrays {
    offsets: Vec<u32>,
    neighbors: Vec<VertexId>,
    weights: Vec<u32>,
    counts: Vec<u32>,
    amounts: Vec<u64>,
}

impl Arrays {
    pub(super) fn bytes(&self) -> u64 {
        let words = self.offsets.capacity() + self.neighbors.capacity();
        let words = words + self.weights.capacity() + self.counts.capacity();
        (4 * words + 8 * self.amounts.capacity()) as u64
    }

    fn of(graph: Graph) -> Arrays {
        let (_, _, _, mut shards) = graph.into_shards();
        let Some(shard) = shards.pop() else { return Arrays::default() };
        let (_, out, _) = shard.into_parts();
        let (offsets, neighbors, weights) = out.into_columns();
        Arrays { offsets, neighbors, weights: weights.unwrap_or_default(), ..Arrays::default() }
    }
}

/// Sets an array's length without clearing it.
fn sized<T: Copy + Default + bytemuck::Zeroable>(
    array: &mut Vec<T>,
    length: usize,
) -> Result<(), OutOfMemory> {
    if array.capacity() < length {
        // Reserves a little more, so that the next windows fit.
        let room = length + length / 16;
        *array = Vec::new();
        *array = memory::zeros(room)?;
    }
    array.resize(length, T::default());
    Ok(())
}

/// Lists of arcs with counts and amounts.
#[derive(Clone, Copy)]
struct Lists<'a> {
    offsets: &'a [u32],
    neighbors: &'a [VertexId],
    weights: &'a [u32],
    counts: &'a [u32],
    amounts: &'a [u64],
}

impl Lists<'_> {
    /// Returns the arcs of a vertex; empty for a new one.
    fn arcs_of(&self, vertex: VertexId) -> Range<usize> {
        self.begin(vertex)..self.begin(vertex + 1)
    }

    /// Returns the offset of a vertex's arcs; the end of all arcs for a new vertex.
    fn begin(&self, vertex: VertexId) -> usize {
        let last = self.offsets.len() - 1;
        self.offsets[(vertex as usize).min(last)] as usize
    }

    /// Returns the position of a neighbour in the arcs of one vertex, and whether it is there.
    fn find(&self, arcs: Range<usize>, neighbor: VertexId) -> (usize, bool) {
        let list = &self.neighbors[arcs.clone()];
        // Galloping search: the neighbour is near the start more often than not.
        let mut step = 1;
        while step < list.len() && list[step] < neighbor {
            step *= 2;
        }
        let (low, high) = (step / 2, list.len().min(step + 1));
        let place = low + list[low..high].partition_point(|&other| other < neighbor);
        (arcs.start + place, list.get(place) == Some(&neighbor))
    }
}

/// Parts of the next lists that one task writes.
struct Part<'a> {
    vertices: Range<VertexId>,
    neighbors: &'a mut [VertexId],
    weights: &'a mut [u32],
    counts: &'a mut [u32],
    amounts: &'a mut [u64],
    /// Number of arcs written.
    at: usize,
}

/// An arc after a change.
struct Next {
    count: u32,
    amount: u64,
}

impl Sums {
    pub(super) fn new(weighing: Arc<WeightFunction>, unit_value: f64) -> Sums {
        Sums { weighing, unit_value, counts: Vec::new(), amounts: Vec::new() }
    }

    /// Returns a window's graph with the number of transactions as weights; `None` if its weights already are
    /// these.
    pub(super) fn counted(&self, graph: &Graph) -> Result<Option<Graph>, WindowError> {
        let Some(shard) = graph.shards().first().filter(|_| !self.weighing.is_count()) else {
            return Ok(None);
        };
        let out = shard.out();
        let counts = memory::copied(&self.counts[..out.neighbors().len()])?;
        let offsets = memory::copied(out.offsets())?;
        let lists = Adjacency::new(
            offsets.into(),
            memory::copied(out.neighbors())?.into(),
            Some(counts.into()),
        );
        let shards = vec![Shard::new(shard.vertices(), lists, None)];
        let (ids, scale) = (graph.ids().clone(), ripplet_graph::WeightScale::ONE);
        Ok(Some(Graph::from_shards(ids, Direction::Undirected, scale, shards)?))
    }

    /// Whether weights depend on amounts.
    pub(super) fn needs_amounts(&self) -> bool {
        !self.weighing.is_count()
    }

    /// Returns the size of a window's arrays in bytes.
    pub(super) fn bytes_for(&self, vertices: u32, arcs: u64) -> u64 {
        let arc = if self.weighing.is_count() { 8 } else { 20 };
        4 * (u64::from(vertices) + 1) + arc * arcs
    }

    pub(super) fn bytes(&self) -> u64 {
        (4 * self.counts.capacity() + 8 * self.amounts.capacity()) as u64
    }

    /// Merges the next window. `days` are all its days, with their ages in days; `spare` receives the
    /// previous arrays.
    pub(super) fn merged(
        &mut self,
        last: Option<Graph>,
        spare: &mut Arrays,
        delta: &Delta,
        days: &[(f32, &DayAdjacency)],
        vertices: u32,
    ) -> Result<Merged, WindowError> {
        let mut old = last.map(Arrays::of).unwrap_or_default();
        if old.offsets.is_empty() {
            (old.offsets, self.counts, self.amounts) = (vec![0], Vec::new(), Vec::new());
        }
        let lists = Lists {
            offsets: &old.offsets,
            neighbors: &old.neighbors,
            weights: &old.weights,
            counts: if self.weighing.is_count() { &old.weights } else { &self.counts },
            amounts: &self.amounts,
        };
        let mut new = std::mem::take(spare);
        offsets(lists, delta, vertices, &mut new.offsets)?;
        let arcs = new.offsets.last().copied().unwrap_or(0) as usize;
        sized(&mut new.neighbors, arcs)?;
        sized(&mut new.weights, arcs)?;
        if !self.weighing.is_count() {
            sized(&mut new.counts, arcs)?;
            sized(&mut new.amounts, arcs)?;
        }
        let merging = Merging { lists, delta, sums: self };
        let parts = parts(&mut new, vertices);
        parts.into_par_iter().try_for_each(|part| merging.write(part))?;
        if self.weighing.ages() {
            self.weigh(&mut new, vertices, days)?;
        }
        let changed = self.changed(delta);
        std::mem::swap(&mut self.counts, &mut new.counts);
        std::mem::swap(&mut self.amounts, &mut new.amounts);
        let out =
            Adjacency::new(new.offsets.into(), new.neighbors.into(), Some(new.weights.into()));
        *spare = Arrays { counts: new.counts, amounts: new.amounts, ..old };
        let graph = Graph::from_shards(
            VertexIds::Consecutive { first: 0, count: vertices },
            Direction::Undirected,
            self.weighing.scale(),
            vec![Shard::new(0..vertices, out, None)],
        )?;
        Ok(Merged { graph, changed })
    }

    fn changed(&self, delta: &Delta) -> Changed {
        if self.weighing.ages() {
            return Changed::All;
        }
        // If weights are counts, a changed amount alone is no change.
        let counts =
            |place: usize| delta.counts[delta.arcs_at(place)].iter().any(|&count| count != 0);
        let is_changed = |place: &usize| !self.weighing.is_count() || counts(*place);
        let places = (0..delta.vertices.len()).filter(is_changed);
        Changed::Some(places.map(|place| delta.vertices[place]).collect())
    }

    /// Sums the weights of each day's arcs at their age.
    fn weigh(
        &self,
        new: &mut Arrays,
        vertices: u32,
        days: &[(f32, &DayAdjacency)],
    ) -> Result<(), WindowError> {
        let ranges = ranges(&new.offsets, vertices);
        let (offsets, neighbors) = (&new.offsets, &new.neighbors);
        let lists = Lists { offsets, neighbors, weights: &[], counts: &[], amounts: &[] };
        let mut rest = &mut *new.weights;
        let mut parts = Vec::with_capacity(ranges.len());
        for range in ranges {
            let arcs = lists.begin(range.end) - lists.begin(range.start);
            let part = rest.split_off_mut(..arcs).unwrap_or_default();
            parts.push((range, part));
        }
        parts.into_par_iter().try_for_each(|(range, weights)| {
            weights.fill(0);
            let first = lists.begin(range.start);
            for &(age, run) in days {
                let from = run.vertices.partition_point(|&vertex| vertex < range.start);
                let until = run.vertices.partition_point(|&vertex| vertex < range.end);
                for place in from..until {
                    let vertex = run.vertices[place];
                    let mut arcs = lists.arcs_of(vertex);
                    for arc in run.arcs_at(place) {
                        let neighbor = run.neighbors[arc];
                        let (at, found) = lists.find(arcs.clone(), neighbor);
                        if !found {
                            return Err(WindowError::NotThere(vertex, neighbor));
                        }
                        arcs.start = at + 1;
                        let amount = run.amounts.get(arc).copied().unwrap_or(0);
                        let weight =
                            self.weighing.stored(run.counts[arc], amount, self.unit_value, age);
                        let weight = weight.and_then(|weight| {
                            let sum = u64::from(weights[at - first]) + u64::from(weight);
                            let large = BadWeight::TooLarge(self.weighing.scale().weight(sum));
                            u32::try_from(sum).map_err(|_| large)
                        });
                        weights[at - first] =
                            weight.map_err(|bad| bad_weight(vertex, neighbor, bad))?;
                    }
                }
            }
            Ok(())
        })
    }
}

fn bad_weight(source_vertex: VertexId, target_vertex: VertexId, bad: BadWeight) -> WindowError {
    WindowError::Weight { source_vertex, target_vertex, bad }
}

/// Returns the offsets of the changed lists.
fn offsets(
    lists: Lists<'_>,
    delta: &Delta,
    vertices: u32,
    offsets: &mut Vec<u32>,
) -> Result<(), WindowError> {
    const PLACES: usize = 1 << 12;
    let places = delta.vertices.len();
    let tasks: Vec<Range<usize>> = (0..places.div_ceil(PLACES).max(1))
        .map(|task| task * PLACES..places.min((task + 1) * PLACES))
        .collect();
    let growth_of = |place: usize| {
        let vertex = delta.vertices[place];
        let mut arcs = lists.arcs_of(vertex);
        let mut growth = 0i64;
        for change in delta.arcs_at(place) {
            let (at, found) = lists.find(arcs.clone(), delta.neighbors[change]);
            arcs.start = at + usize::from(found);
            let count = if found { i64::from(lists.counts[at]) } else { 0 };
            growth += match (found, count + delta.counts[change]) {
                (_, next) if next < 0 => {
                    return Err(WindowError::NotThere(vertex, delta.neighbors[change]));
                }
                (true, 0) => -1,
                (true, _) => 0,
                (false, next) => i64::from(next > 0),
            };
        }
        Ok(growth)
    };
    let growths: Vec<Vec<i64>> = tasks
        .par_iter()
        .map(|task| task.clone().map(growth_of).collect::<Result<Vec<i64>, WindowError>>())
        .collect::<Result<_, _>>()?;
    let mut all = lists.neighbors.len() as i64;
    let before: Vec<i64> = growths
        .iter()
        .map(|growths| {
            let before = all - lists.neighbors.len() as i64;
            all += growths.iter().sum::<i64>();
            before
        })
        .collect();
    if all as u64 > MAX_SHARD_ARCS {
        return Err(WindowError::TooLarge(all as u64));
    }
    sized(offsets, vertices as usize + 1)?;
    // Each task writes the offsets after its changed vertices, up to the next task's first.
    let mut rest = &mut offsets[..];
    let mut begin = 0;
    let mut parts = Vec::with_capacity(tasks.len());
    for (index, task) in tasks.iter().enumerate() {
        let end = match tasks.get(index + 1) {
            Some(next) => delta.vertices[next.start] as usize,
            None => vertices as usize + 1,
        };
        let part = rest.split_off_mut(..end - begin).unwrap_or_default();
        parts.push((begin, part, task.clone(), before[index], &growths[index]));
        begin = end;
    }
    parts.into_par_iter().for_each(|(first, part, task, before, growths)| {
        let (mut growth, mut written, length) = (before, 0, part.len());
        let mut write_until = |end: usize, growth: i64| {
            for (at, offset) in part[written..end].iter_mut().enumerate() {
                let old = lists.begin((first + written + at) as VertexId);
                *offset = (old as i64 + growth) as u32;
            }
            written = end;
        };
        for (place, more) in task.zip(growths) {
            write_until(delta.vertices[place] as usize + 1 - first, growth);
            growth += more;
        }
        write_until(length, growth);
    });
    Ok(())
}

/// Returns ranges of vertices with about as many arcs.
fn ranges(offsets: &[u32], vertices: u32) -> Vec<Range<VertexId>> {
    const PARTS_A_THREAD: u64 = 16;
    let parts = PARTS_A_THREAD * rayon::current_num_threads() as u64;
    let arcs = offsets.last().copied().map_or(0, u64::from);
    let end = |part: u64| match part == parts {
        true => vertices,
        false => {
            let share = part * arcs / parts;
            (offsets.partition_point(|&offset| u64::from(offset) < share) as u32).min(vertices)
        }
    };
    (0..parts).map(|part| end(part)..end(part + 1)).filter(|range| !range.is_empty()).collect()
}

/// Cuts the arrays by ranges of vertices.
fn parts(arrays: &mut Arrays, vertices: u32) -> Vec<Part<'_>> {
    let ranges = ranges(&arrays.offsets, vertices);
    let Arrays { offsets, neighbors, weights, counts, amounts } = arrays;
    let mut neighbors = &mut neighbors[..];
    let (mut weights, mut counts, mut amounts) =
        (&mut weights[..], &mut counts[..], &mut amounts[..]);
    let cut = |range: Range<VertexId>| {
        let begin = offsets[range.start as usize];
        let arcs = (offsets[range.end as usize] - begin) as usize;
        // Columns that are not kept are empty, and so are their parts.
        Part {
            vertices: range,
            neighbors: neighbors.split_off_mut(..arcs).unwrap_or_default(),
            weights: weights.split_off_mut(..arcs).unwrap_or_default(),
            counts: counts.split_off_mut(..arcs).unwrap_or_default(),
            amounts: amounts.split_off_mut(..arcs).unwrap_or_default(),
            at: 0,
        }
    };
    ranges.into_iter().map(cut).collect()
}

/// Inputs of a merge.
struct Merging<'a> {
    lists: Lists<'a>,
    delta: &'a Delta,
    sums: &'a Sums,
}

impl Merging<'_> {
    fn write(&self, mut part: Part<'_>) -> Result<(), WindowError> {
        let Merging { lists, delta, .. } = self;
        let place_of = |vertex| delta.vertices.partition_point(|&other| other < vertex);
        let mut copied = lists.begin(part.vertices.start);
        for place in place_of(part.vertices.start)..place_of(part.vertices.end) {
            let vertex = delta.vertices[place];
            let arcs = lists.arcs_of(vertex);
            let mut rest = arcs.clone();
            for change in delta.arcs_at(place) {
                let neighbor = delta.neighbors[change];
                let (at, found) = lists.find(rest.clone(), neighbor);
                part.copy(lists, copied..at);
                let next = self.next(found.then_some(at), change, vertex)?;
                if next.count > 0 {
                    let (value, amount) = (self.sums.unit_value, next.amount);
                    let weight = match self.sums.weighing.ages() {
                        true => Ok(0),
                        false => self.sums.weighing.stored(next.count, amount, value, 0.0),
                    };
                    let weight = weight.map_err(|bad| bad_weight(vertex, neighbor, bad))?;
                    part.push(neighbor, weight, next);
                }
                copied = at + usize::from(found);
                rest.start = copied;
            }
            part.copy(lists, copied..arcs.end);
            copied = arcs.end;
        }
        part.copy(lists, copied..lists.begin(part.vertices.end));
        Ok(())
    }

    /// Returns an arc after a change; it exists at a position or is new.
    fn next(
        &self,
        at: Option<usize>,
        change: usize,
        vertex: VertexId,
    ) -> Result<Next, WindowError> {
        let neighbor = self.delta.neighbors[change];
        let count = at.map_or(0, |at| i64::from(self.lists.counts[at]));
        let count = count + self.delta.counts[change];
        let count = u32::try_from(count).map_err(|_| match count {
            ..0 => WindowError::NotThere(vertex, neighbor),
            _ => WindowError::Count(vertex, neighbor),
        })?;
        let amount = at.and_then(|at| self.lists.amounts.get(at)).copied().unwrap_or(0);
        let more = self.delta.amounts.get(change).copied().unwrap_or(0);
        // If amounts are not kept, both sides are 0.
        Ok(Next { count, amount: amount.wrapping_add_signed(more) })
    }
}

impl Part<'_> {
    /// Copies unchanged arcs.
    fn copy(&mut self, lists: &Lists<'_>, arcs: Range<usize>) {
        let to = self.at..self.at + arcs.len();
        self.neighbors[to.clone()].copy_from_slice(&lists.neighbors[arcs.clone()]);
        self.weights[to.clone()].copy_from_slice(&lists.weights[arcs.clone()]);
        if !self.counts.is_empty() {
            self.counts[to.clone()].copy_from_slice(&lists.counts[arcs.clone()]);
            self.amounts[to.clone()].copy_from_slice(&lists.amounts[arcs]);
        }
        self.at = to.end;
    }

    fn push(&mut self, neighbor: VertexId, weight: u32, next: Next) {
        self.neighbors[self.at] = neighbor;
        self.weights[self.at] = weight;
        if !self.counts.is_empty() {
            self.counts[self.at] = next.count;
            self.amounts[self.at] = next.amount;
        }
        self.at += 1;
    }
}
