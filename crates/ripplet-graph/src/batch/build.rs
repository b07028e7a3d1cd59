//! Construction of a batch from a table of edges of many graphs: one thread per graph, many graphs
//! at once.
//!
//! ```text
//! find each graph's rows ─▶ for each chunk of about 1/24 of the arcs, its graphs in parallel:
//!                              count arcs per vertex, place them, sort each list, merge
//!                           close the gaps that merging left, append
//! ```
//!
//! Memory: the table, the finished batch, and at most 5 % more. A chunk is built at the end of the
//! finished arrays, so that the next one uses the space that merging frees. Rows whose graphs do
//! not ascend are ordered by graph first, which takes 8 bytes per row; nothing if they ascend, as
//! in most files.

use super::{BatchAdjacency, BatchRows, BatchTable, GraphBatch, InvalidBatch, Members};
use crate::memory::{self, OutOfMemory};
use crate::{
    BuildOptions, Direction, Duplicates, MAX_SHARD_ARCS, SelfLoops, VertexId, WeightLedger,
    WeightLoss, WeightScale,
};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use thiserror::Error;

/// Number of chunks of graphs that the arrays are built in: each needs room for 1/24 of the arcs.
const CHUNKS: u64 = 24;
/// The least arcs of a chunk: smaller chunks would cost more than they save.
const MIN_CHUNK_ARCS: u64 = 1 << 18;
/// Rows and vertices of a task: enough for its overhead to be negligible.
const TASK: u64 = 1 << 13;

/// Builds a batch from a table: each graph becomes what [`crate::GraphBuilder`] makes of its rows,
/// with the same options and defaults.
#[derive(Clone, Debug, Default)]
pub struct BatchBuilder {
    pub(super) options: BuildOptions,
}

/// The reason why a table cannot become a batch.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum BatchError {
    /// A graph has more arcs than its offsets can represent.
    #[error("graph {graph} has {arcs} arcs; one graph of a batch may have at most {limit}")]
    TooManyArcs {
        /// The graph's external id.
        graph: String,
        /// The graph's arcs, including duplicates and self-loops.
        arcs: u64,
        /// The most arcs of a graph.
        limit: u64,
    },
    /// The graphs' ids do not ascend, or their number differs from that of the graphs.
    #[error("building the batch: {0}")]
    Members(#[from] InvalidBatch),
    /// Some graphs have weights and others do not.
    #[error("some graphs have weights and others have none: graph {graph} is unlike the first")]
    Weights {
        /// The external id of the first graph that differs from graph 0.
        graph: String,
    },
    /// Some weights of a graph are so small compared with its largest that 32 bits cannot represent
    /// both.
    #[error("{}", loss.refusal(&format!("the weights of graph {graph}")))]
    CoarseWeights {
        /// The graph's external id.
        graph: String,
        /// The change of the weights.
        loss: WeightLoss,
    },
    /// The arrays do not fit into memory.
    #[error("building the batch: {0}")]
    OutOfMemory(#[from] OutOfMemory),
}

impl From<BuildOptions> for BatchBuilder {
    fn from(options: BuildOptions) -> BatchBuilder {
        BatchBuilder { options }
    }
}

impl BatchBuilder {
    /// Creates a builder with the defaults: undirected, self-loops dropped, duplicates merged.
    pub fn new() -> BatchBuilder {
        BatchBuilder::default()
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

    /// Sets the ledger, which decides whether weights may be stored coarsely and records changes.
    pub fn weight_ledger(mut self, ledger: &WeightLedger) -> Self {
        self.options.weights = ledger.clone();
        self
    }

    /// Builds the batch on rayon's current pool and drops the table.
    ///
    /// Weights become integers graph by graph, each graph with its own scale, so that a graph's
    /// lists do not depend on other graphs. The result does not depend on the number of threads,
    /// nor on how rows of different graphs are interleaved. One thread builds each graph.
    ///
    /// # Errors
    /// If one graph has more than 2³¹ arcs in one direction, including self-loops and duplicates;
    /// if memory allocation fails; or if a weight would change by more than [`WeightLoss::LIMIT`] and the
    /// ledger does not allow it.
    pub fn build(&self, table: BatchTable) -> Result<GraphBatch, BatchError> {
        let BatchTable { members, rows, both_directions } = table;
        let grouped = Grouped::of(&rows, members.len())?;
        let directed = self.options.direction == Direction::Directed;
        let owner = if directed && !both_directions { Owner::Source } else { Owner::Both };
        let mut exponents = memory::zeros(if rows.weights.is_some() { members.len() } else { 0 })?;
        let work = Work { builder: self, members: &members, rows: &rows, grouped: &grouped };
        let out = work.build(owner, true, &mut exponents)?;
        let incoming = match (directed, owner) {
            (false, _) => None,
            // Incoming arcs equal outgoing ones.
            (true, Owner::Both) => Some(out.flat(&members, 0..members.len()).copied()?),
            // Sums of duplicates are equal in both directions, so that the scales fit here, too.
            (true, _) => Some(work.build(Owner::Target, false, &mut exponents)?),
        };
        let scales = rows.weights.is_some().then(|| exponents.into());
        drop((rows, grouped));
        let batch = GraphBatch::new(members, scales, out, incoming);
        Ok(batch.expect("the builder makes what a batch is"))
    }
}

/// The end of a row whose list holds the arc.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Source,
    Target,
    Both,
}

/// The rows of each graph.
pub(super) struct Grouped {
    /// The begin of each graph's rows, and the end of the last graph's.
    starts: Vec<u64>,
    /// The rows ordered by graph, in any order within a graph; `None` if the table is ordered.
    order: Option<Vec<AtomicU64>>,
}

impl Grouped {
    pub(super) fn of(rows: &BatchRows, graphs: usize) -> Result<Grouped, OutOfMemory> {
        let of_row = &rows.graphs[..];
        if of_row.par_windows(2).with_min_len(1 << 14).all(|pair| pair[0] <= pair[1]) {
            let mut starts = memory::zeros(graphs + 1)?;
            starts.par_iter_mut().enumerate().for_each(|(graph, start)| {
                *start = of_row.partition_point(|&g| (g as usize) < graph) as u64;
            });
            return Ok(Grouped { starts, order: None });
        }
        let zeros = |count: usize| memory::collected((0..count).map(|_| AtomicU64::new(0)));
        let (mut ends, order) = (zeros(graphs + 1)?, zeros(of_row.len())?);
        of_row.par_iter().with_min_len(1 << 14).for_each(|&graph| {
            ends[graph as usize].fetch_add(1, Relaxed);
        });
        let mut end = 0;
        for slot in &mut ends {
            end += *slot.get_mut();
            *slot.get_mut() = end;
        }
        // Each end moves down to its graph's begin; the last slot belongs to no graph and stays.
        of_row.par_iter().enumerate().with_min_len(1 << 14).for_each(|(row, &graph)| {
            let at = ends[graph as usize].fetch_sub(1, Relaxed) - 1;
            order[at as usize].store(row as u64, Relaxed);
        });
        let starts = memory::collected(ends.into_iter().map(AtomicU64::into_inner))?;
        Ok(Grouped { starts, order: Some(order) })
    }

    pub(super) fn count(&self, graph: usize) -> u64 {
        self.starts[graph + 1] - self.starts[graph]
    }

    /// Returns the rows of a graph, ascending, so that sums of weights do not depend on threads.
    pub(super) fn rows_of<'a>(
        &self,
        graph: usize,
        sorted: &'a mut Vec<u64>,
    ) -> Result<RowsOf<'a>, OutOfMemory> {
        let range = self.starts[graph] as usize..self.starts[graph + 1] as usize;
        let Some(order) = &self.order else { return Ok(RowsOf::Run(range)) };
        sorted.clear();
        memory::reserve(sorted, range.len())?;
        sorted.extend(order[range].iter().map(|row| row.load(Relaxed)));
        sorted.sort_unstable();
        Ok(RowsOf::Listed(sorted))
    }
}

/// The rows of one graph.
pub(super) enum RowsOf<'a> {
    Run(Range<usize>),
    Listed(&'a [u64]),
}

impl RowsOf<'_> {
    pub(super) fn for_each(&self, mut visit: impl FnMut(usize)) {
        match self {
            RowsOf::Run(rows) => rows.clone().for_each(visit),
            RowsOf::Listed(rows) => rows.iter().for_each(|&row| visit(row as usize)),
        }
    }
}

/// The inputs of a batch's construction.
#[derive(Clone, Copy)]
struct Work<'a> {
    builder: &'a BatchBuilder,
    members: &'a Members,
    rows: &'a BatchRows,
    grouped: &'a Grouped,
}

/// The construction of one direction.
#[derive(Clone, Copy)]
struct Side<'a> {
    work: Work<'a>,
    owner: Owner,
    /// Whether to fit the scales of weights; otherwise the other direction has.
    fit: bool,
}

/// Output: the lists of consecutive graphs.
struct Place<'a> {
    graphs: Range<usize>,
    offsets: &'a mut [u32],
    neighbors: &'a mut [VertexId],
    /// Empty without weights, as are `exponents`.
    weights: &'a mut [u32],
    /// The number of arcs that each graph keeps.
    kept: &'a mut [u64],
    exponents: &'a mut [i32],
}

/// Scratch of a task, reused from graph to graph.
#[derive(Default)]
struct Scratch {
    rows: Vec<u64>,
    weights: Vec<f64>,
    pairs: Vec<u64>,
    /// The change of the weights of all graphs so far.
    loss: WeightLoss,
}

/// The reason why merging ended early.
enum Refusal {
    OutOfMemory(OutOfMemory),
    /// A sum of weights that does not fit 32 bits.
    Overflow(u64),
}

impl From<OutOfMemory> for Refusal {
    fn from(error: OutOfMemory) -> Refusal {
        Refusal::OutOfMemory(error)
    }
}

impl<'a> Work<'a> {
    /// Builds the lists of one direction, chunk by chunk; `exponents` are those of the graphs'
    /// scales.
    fn build(
        self,
        owner: Owner,
        fit: bool,
        exponents: &mut [i32],
    ) -> Result<BatchAdjacency, BatchError> {
        let Work { members, grouped, .. } = self;
        let side = Side { work: self, owner, fit };
        side.refuse_huge_graphs()?;
        let weighted = self.rows.weights.is_some();
        let arcs = side.arcs(0..members.len());
        let mut arc_starts = memory::zeros::<u64>(members.len() + 1)?;
        let mut offsets = memory::zeros::<u32>(members.offsets(0..members.len()).end)?;
        let mut neighbors: Vec<u32> = memory::with_room(arcs as usize)?;
        let mut weights: Vec<u32> = memory::with_room(if weighted { arcs as usize } else { 0 })?;
        let limit = (arcs / CHUNKS).max(MIN_CHUNK_ARCS);
        let mut next = 0;
        while next < members.len() {
            // A graph larger than a chunk is a chunk by itself.
            let begun = grouped.starts[next] + limit / side.arcs_a_row();
            let end = grouped.starts.partition_point(|&start| start <= begun) - 1;
            let chunk = next..end.clamp(next + 1, members.len());
            next = chunk.end;
            let (base, size) = (neighbors.len(), side.arcs(chunk.clone()) as usize);
            neighbors.resize(base + size, 0);
            weights.resize(if weighted { base + size } else { 0 }, 0);
            let weights_base = base.min(weights.len());
            let exponents_of = if weighted { chunk.clone() } else { 0..0 };
            side.build(Place {
                graphs: chunk.clone(),
                offsets: &mut offsets[members.offsets(chunk.clone())],
                neighbors: &mut neighbors[base..],
                weights: &mut weights[weights_base..],
                kept: &mut arc_starts[chunk.start + 1..=chunk.end],
                exponents: &mut exponents[exponents_of],
            })?;
            let mut end = base;
            let mut from = base;
            for graph in chunk {
                let kept = arc_starts[graph + 1] as usize;
                if from != end {
                    neighbors.copy_within(from..from + kept, end);
                    if weighted {
                        weights.copy_within(from..from + kept, end);
                    }
                }
                from += side.arcs(graph..graph + 1) as usize;
                end += kept;
                arc_starts[graph + 1] = end as u64;
            }
            neighbors.truncate(end);
            weights.truncate(end);
        }
        neighbors.shrink_to_fit();
        weights.shrink_to_fit();
        Ok(BatchAdjacency {
            arc_starts: arc_starts.into(),
            offsets: offsets.into(),
            neighbors: neighbors.into(),
            weights: weighted.then(|| weights.into()),
        })
    }
}

impl<'a> Side<'a> {
    fn arcs_a_row(self) -> u64 {
        if self.owner == Owner::Both { 2 } else { 1 }
    }

    /// Returns an upper bound of the arcs of consecutive graphs: without merging, with all loops.
    fn arcs(self, graphs: Range<usize>) -> u64 {
        let starts = &self.work.grouped.starts;
        (starts[graphs.end] - starts[graphs.start]) * self.arcs_a_row()
    }

    fn refuse_huge_graphs(self) -> Result<(), BatchError> {
        let Work { members, grouped, .. } = self.work;
        let arcs = |graph: usize| grouped.count(graph) * self.arcs_a_row();
        let huge = |graph: &usize| arcs(*graph) > MAX_SHARD_ARCS;
        match (0..members.len()).into_par_iter().find_first(huge) {
            None => Ok(()),
            Some(graph) => Err(BatchError::TooManyArcs {
                graph: members.graph_ids().get(graph as u32).to_string(),
                arcs: arcs(graph),
                limit: MAX_SHARD_ARCS,
            }),
        }
    }

    /// Builds consecutive graphs, halving them recursively until they are one task. A graph's lists
    /// are placed as if it and all graphs before it kept all arcs.
    fn build(self, place: Place<'_>) -> Result<(), BatchError> {
        let Range { start, end } = place.graphs;
        let Some(middle) = self.middle(start..end) else { return self.build_task(place) };
        let Work { members, .. } = self.work;
        let graphs = middle - start;
        let (offsets, more_offsets) =
            place.offsets.split_at_mut(members.offsets(start..middle).len());
        let arcs = self.arcs(start..middle) as usize;
        let (neighbors, more_neighbors) = place.neighbors.split_at_mut(arcs);
        let (weights, more_weights) = place.weights.split_at_mut(arcs.min(place.weights.len()));
        let (kept, more_kept) = place.kept.split_at_mut(graphs);
        let (exponents, more_exponents) =
            place.exponents.split_at_mut(graphs.min(place.exponents.len()));
        let left = Place { graphs: start..middle, offsets, neighbors, weights, kept, exponents };
        let right = Place {
            graphs: middle..end,
            offsets: more_offsets,
            neighbors: more_neighbors,
            weights: more_weights,
            kept: more_kept,
            exponents: more_exponents,
        };
        let (a, b) = rayon::join(|| self.build(left), || self.build(right));
        a.and(b)
    }

    /// Returns the graph at about half of the work; `None` if the graphs are one task.
    fn middle(self, graphs: Range<usize>) -> Option<usize> {
        let Work { members, grouped, .. } = self.work;
        // Even an empty graph has a cost.
        let before =
            |graph: usize| grouped.starts[graph] + members.vertex_starts()[graph] + graph as u64;
        let (first, last) = (before(graphs.start), before(graphs.end));
        if graphs.len() < 2 || last - first <= TASK {
            return None;
        }
        let half = first + (last - first) / 2;
        let (mut low, mut high) = (graphs.start + 1, graphs.end - 1);
        while low < high {
            let graph = low + (high - low) / 2;
            if before(graph) < half { low = graph + 1 } else { high = graph }
        }
        Some(low)
    }

    /// Builds consecutive graphs, one after the other.
    fn build_task(self, place: Place<'_>) -> Result<(), BatchError> {
        let Place { graphs, mut offsets, mut neighbors, mut weights, kept, exponents } = place;
        let mut scratch = Scratch::default();
        for (at, graph) in graphs.enumerate() {
            let slots = self.work.members.vertices_of(graph) as usize + 1;
            let arcs = self.arcs(graph..graph + 1) as usize;
            let (own_offsets, more_offsets) = offsets.split_at_mut(slots);
            let (own_neighbors, more_neighbors) = neighbors.split_at_mut(arcs);
            let (own_weights, more_weights) = weights.split_at_mut(arcs.min(weights.len()));
            (offsets, neighbors, weights) = (more_offsets, more_neighbors, more_weights);
            let mut lists =
                Lists { offsets: own_offsets, neighbors: own_neighbors, weights: own_weights };
            let exponent = exponents.get_mut(at);
            kept[at] = self.build_graph(graph, &mut lists, exponent, &mut scratch)?;
        }
        self.work.builder.options.weights.note(scratch.loss);
        Ok(())
    }

    /// Builds one graph; returns the number of arcs that it keeps.
    fn build_graph(
        self,
        graph: usize,
        lists: &mut Lists<'_>,
        exponent: Option<&mut i32>,
        scratch: &mut Scratch,
    ) -> Result<u64, BatchError> {
        let rows = self.work.grouped.rows_of(graph, &mut scratch.rows)?;
        let duplicates = self.work.builder.options.duplicates;
        let (Some(exponent), Some(real)) = (exponent, &self.work.rows.weights) else {
            self.scatter(&rows, lists, |_, _, _| {});
            return Ok(lists.merge(duplicates.become_one()));
        };
        let mut scale = WeightScale::from_code(*exponent).unwrap_or_default();
        let weights = &mut scratch.weights;
        weights.clear();
        if self.fit {
            memory::reserve(weights, self.work.grouped.count(graph) as usize)?;
            rows.for_each(|row| weights.push(real[row]));
            scale = WeightScale::fitting(weights);
        }
        loop {
            let loss = self.loss(graph, scale, weights)?;
            self.scatter(&rows, lists, |weights, at, row| {
                weights[at] = scale.quantize(real[row]);
            });
            match lists.merge_weighted(duplicates, &mut scratch.pairs) {
                Ok(kept) => {
                    scratch.loss = scratch.loss.and(loss);
                    *exponent = scale.code();
                    return Ok(kept);
                }
                Err(Refusal::Overflow(sum)) => scale = scale.coarser_for(sum),
                Err(Refusal::OutOfMemory(error)) => return Err(error.into()),
            }
        }
    }

    /// Returns the change of a graph's weights at a scale; empty if the other direction has
    /// computed it.
    fn loss(
        self,
        graph: usize,
        scale: WeightScale,
        weights: &[f64],
    ) -> Result<WeightLoss, BatchError> {
        let loss = scale.loss(weights);
        if self.work.builder.options.weights.refuses(&loss) {
            let graph = self.work.members.graph_ids().get(graph as u32).to_string();
            return Err(BatchError::CoarseWeights { graph, loss });
        }
        Ok(loss)
    }

    /// Places the arcs of a graph in their owners' lists, in any order, and sets the offsets. Calls
    /// `also(weights, place, row)` for each arc.
    fn scatter(
        self,
        rows: &RowsOf<'_>,
        lists: &mut Lists<'_>,
        mut also: impl FnMut(&mut [u32], usize, usize),
    ) {
        let Lists { offsets, neighbors, weights } = lists;
        offsets.fill(0);
        self.for_each_arc(rows, |owner, _, _| offsets[owner as usize] += 1);
        let mut end = 0;
        for offset in offsets.iter_mut() {
            end += *offset;
            *offset = end;
        }
        // Each list's end moves down to its begin; the last offset belongs to no list and stays.
        self.for_each_arc(rows, |owner, neighbor, row| {
            let at = &mut offsets[owner as usize];
            *at -= 1;
            neighbors[*at as usize] = neighbor;
            also(weights, *at as usize, row);
        });
    }

    /// Calls `visit(owner, neighbour, row)` for each arc of a graph.
    fn for_each_arc(self, rows: &RowsOf<'_>, mut visit: impl FnMut(VertexId, VertexId, usize)) {
        let BatchRows { sources, targets, .. } = self.work.rows;
        let keep_loops = self.work.builder.options.self_loops == SelfLoops::Keep;
        rows.for_each(|row| {
            let (s, t) = (sources[row], targets[row]);
            // A loop is one arc, even if other rows have an arc at both ends.
            if s == t && !keep_loops {
                return;
            }
            if self.owner != Owner::Target {
                visit(s, t, row);
            }
            if self.owner == Owner::Target || self.owner == Owner::Both && s != t {
                visit(t, s, row);
            }
        });
    }
}

/// The arrays of one graph.
struct Lists<'a> {
    offsets: &'a mut [u32],
    neighbors: &'a mut [VertexId],
    weights: &'a mut [u32],
}

impl Lists<'_> {
    /// Sorts each list and merges duplicates if `merge`; closes the gaps and sets the offsets.
    /// Returns the number of arcs that remain.
    fn merge(&mut self, merge: bool) -> u64 {
        let neighbors = &mut *self.neighbors;
        let (mut begin, mut kept) = (0, 0);
        for vertex in 0..self.offsets.len() - 1 {
            let end = self.offsets[vertex + 1] as usize;
            let first = kept;
            self.offsets[vertex] = first as u32;
            neighbors[begin..end].sort_unstable();
            for at in begin..end {
                let neighbor = neighbors[at];
                if merge && kept > first && neighbors[kept - 1] == neighbor {
                    continue;
                }
                neighbors[kept] = neighbor;
                kept += 1;
            }
            begin = end;
        }
        self.finish(kept)
    }

    /// Sorts each weighted list, merges duplicates, closes the gaps and sets the offsets. Returns
    /// the number of arcs that remain.
    fn merge_weighted(
        &mut self,
        duplicates: Duplicates,
        pairs: &mut Vec<u64>,
    ) -> Result<u64, Refusal> {
        let merge = duplicates.become_one();
        let (neighbors, weights) = (&mut *self.neighbors, &mut *self.weights);
        let (mut begin, mut kept, mut largest) = (0, 0, 0);
        for vertex in 0..self.offsets.len() - 1 {
            let end = self.offsets[vertex + 1] as usize;
            let (first, mut sum) = (kept, 0);
            self.offsets[vertex] = first as u32;
            pairs.clear();
            memory::reserve(pairs, end - begin)?;
            let list = neighbors[begin..end].iter().zip(&weights[begin..end]);
            pairs.extend(list.map(|(&v, &w)| u64::from(v) << 32 | u64::from(w)));
            pairs.sort_unstable();
            for &pair in &*pairs {
                let (neighbor, weight) = ((pair >> 32) as u32, pair as u32);
                if merge && kept > first && neighbors[kept - 1] == neighbor {
                    sum = duplicates.weight_of_two(sum, weight);
                    (weights[kept - 1], largest) = (sum as u32, sum.max(largest));
                    continue;
                }
                (neighbors[kept], weights[kept]) = (neighbor, weight);
                (kept, sum) = (kept + 1, weight.into());
            }
            begin = end;
        }
        match u32::try_from(largest) {
            Ok(_) => Ok(self.finish(kept)),
            Err(_) => Err(Refusal::Overflow(largest)),
        }
    }

    /// Sets the end of the last list.
    fn finish(&mut self, kept: usize) -> u64 {
        if let Some(last) = self.offsets.last_mut() {
            *last = kept as u32;
        }
        kept as u64
    }
}
