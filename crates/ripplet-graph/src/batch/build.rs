//! From a table of edges of many graphs to a batch: every graph by one thread, many at once.
//!
//! ```text
//! find each graph's rows ─▶ for each wave of about 1/24 of the arcs, its graphs in parallel:
//!                              count arcs a vertex, place them, sort each list, merge
//!                           close the gaps that merging left, append
//! ```
//!
//! Memory: the table, the finished batch, and at most 5 % more, because a wave is built at the end
//! of the finished arrays, where what merging frees is used by the next one. Rows whose graphs do not
//! ascend are numbered by graph first, which takes 8 bytes a row; where they ascend, as in most
//! files, nothing.

use super::{BatchAdjacency, BatchRows, BatchTable, GraphBatch, InvalidBatch, Members};
use crate::memory::{self, OutOfMemory};
use crate::{
    Direction, Duplicates, MAX_SHARD_ARCS, SelfLoops, VertexId, WeightLedger, WeightLoss,
    WeightScale,
};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use thiserror::Error;

/// Waves that the arrays are built in: each needs room for 1/24 of the arcs.
const WAVES: u64 = 24;
/// Arcs below which a smaller wave would cost more than it saves.
const MIN_WAVE_ARCS: u64 = 1 << 18;
/// Rows and vertices that one task takes: enough that a task costs nothing beside them.
const TASK: u64 = 1 << 13;

/// How to make a batch of a table: each graph becomes what [`crate::GraphBuilder`] makes of its
/// rows, with the same options and the same defaults.
#[derive(Clone, Debug, Default)]
pub struct BatchBuilder {
    pub(super) direction: Direction,
    self_loops: SelfLoops,
    duplicates: Duplicates,
    ledger: WeightLedger,
}

/// Why a table cannot become a batch.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum BatchError {
    /// One graph has more arcs than its offsets can count.
    #[error("graph {graph} has {arcs} arcs; one graph of a batch may have at most {limit}")]
    TooManyArcs {
        /// The graph's external id.
        graph: String,
        /// Its arcs, duplicates and self-loops included.
        arcs: u64,
        /// Arcs that one graph may have.
        limit: u64,
    },
    /// The graphs' ids do not ascend, or are not as many as the graphs.
    #[error("building the batch: {0}")]
    Members(#[from] InvalidBatch),
    /// Some graphs have weights and others have none.
    #[error("some graphs have weights and others have none: graph {graph} is unlike the first")]
    Weights {
        /// The external id of the first graph that is unlike the first of all.
        graph: String,
    },
    /// Some weights of a graph are so small beside its largest that 32 bits cannot hold both.
    #[error(
        "the weights of graph {graph} differ too much in size: {loss}; scale the largest down, or take \
         the weights as they become with --coarse-weights"
    )]
    CoarseWeights {
        /// The graph's external id.
        graph: String,
        /// What would change.
        loss: WeightLoss,
    },
    /// The arrays do not fit the memory.
    #[error("building the batch: {0}")]
    OutOfMemory(#[from] OutOfMemory),
}

impl BatchBuilder {
    /// Undirected, self-loops dropped, duplicates merged.
    pub fn new() -> BatchBuilder {
        BatchBuilder::default()
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

    /// Whether weights may become coarse, and where is noted what changed.
    pub fn weight_ledger(mut self, ledger: &WeightLedger) -> Self {
        self.ledger = ledger.clone();
        self
    }

    /// Builds the batch on rayon's current pool and drops the table.
    ///
    /// Weights become integers graph by graph, each graph by a scale of its own, so that a graph's
    /// lists do not depend on the others. The result does not depend on the number of threads, nor
    /// on how rows of different graphs are mixed. A graph is built by one thread.
    ///
    /// # Errors
    /// If one graph has more than 2³¹ arcs in one direction, self-loops and duplicates counted, memory is
    /// refused, or a weight would change by more than [`WeightLoss::LIMIT`] and the ledger does not allow
    /// that.
    pub fn build(&self, table: BatchTable) -> Result<GraphBatch, BatchError> {
        let BatchTable { members, rows, both_directions } = table;
        let grouped = Grouped::of(&rows, members.len())?;
        let directed = self.direction == Direction::Directed;
        let owner = if directed && !both_directions { Owner::Source } else { Owner::Both };
        let mut exponents = memory::zeros(if rows.weights.is_some() { members.len() } else { 0 })?;
        let work = Work { builder: self, members: &members, rows: &rows, grouped: &grouped };
        let out = work.build(owner, true, &mut exponents)?;
        let incoming = match (directed, owner) {
            (false, _) => None,
            // What enters is what leaves.
            (true, Owner::Both) => Some(out.flat(&members, 0..members.len()).copied()?),
            // The sums of duplicates are those of the other direction, so its scales suffice.
            (true, _) => Some(work.build(Owner::Target, false, &mut exponents)?),
        };
        let scales = rows.weights.is_some().then(|| exponents.into());
        drop((rows, grouped));
        let batch = GraphBatch::new(members, scales, out, incoming);
        Ok(batch.expect("the builder makes what a batch is"))
    }
}

/// Which end of a row owns its arc.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Source,
    Target,
    Both,
}

/// Which rows belong to which graph.
pub(super) struct Grouped {
    /// Where each graph's rows begin, and after them the end of the last.
    starts: Vec<u64>,
    /// The rows, graph by graph in any order, where the table's do not stand so.
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
        // Each end moves down to its graph's begin; that of the last slot stays.
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

    /// The rows of a graph, ascending, so that sums of weights do not depend on threads.
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

/// What a batch is built from.
#[derive(Clone, Copy)]
struct Work<'a> {
    builder: &'a BatchBuilder,
    members: &'a Members,
    rows: &'a BatchRows,
    grouped: &'a Grouped,
}

/// Work in one direction.
#[derive(Clone, Copy)]
struct Side<'a> {
    work: Work<'a>,
    owner: Owner,
    /// Whether the scales of weights are found here, or were by the other direction.
    fit: bool,
}

/// Where the lists of neighbouring graphs go.
struct Place<'a> {
    graphs: Range<usize>,
    offsets: &'a mut [u32],
    neighbors: &'a mut [VertexId],
    /// Empty where there are no weights, as are `exponents`.
    weights: &'a mut [u32],
    /// For each graph, the arcs that it keeps.
    kept: &'a mut [u64],
    exponents: &'a mut [i32],
}

/// Working space of a task, kept from graph to graph.
#[derive(Default)]
struct Scratch {
    rows: Vec<u64>,
    weights: Vec<f64>,
    pairs: Vec<u64>,
    /// What the weights of all graphs so far became.
    loss: WeightLoss,
}

/// Why merging ended early.
enum Refusal {
    OutOfMemory(OutOfMemory),
    /// A sum of weights that 32 bits do not hold.
    Overflow(u64),
}

impl From<OutOfMemory> for Refusal {
    fn from(error: OutOfMemory) -> Refusal {
        Refusal::OutOfMemory(error)
    }
}

impl<'a> Work<'a> {
    /// Builds the lists of one direction, wave by wave; `exponents` are those of the graphs' scales.
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
        let limit = (arcs / WAVES).max(MIN_WAVE_ARCS);
        let mut next = 0;
        while next < members.len() {
            // A graph larger than a wave is one of its own.
            let begun = grouped.starts[next] + limit / side.arcs_a_row();
            let end = grouped.starts.partition_point(|&start| start <= begun) - 1;
            let wave = next..end.clamp(next + 1, members.len());
            next = wave.end;
            let (base, size) = (neighbors.len(), side.arcs(wave.clone()) as usize);
            neighbors.resize(base + size, 0);
            weights.resize(if weighted { base + size } else { 0 }, 0);
            let weights_base = base.min(weights.len());
            let exponents_of = if weighted { wave.clone() } else { 0..0 };
            side.build(Place {
                graphs: wave.clone(),
                offsets: &mut offsets[members.offsets(wave.clone())],
                neighbors: &mut neighbors[base..],
                weights: &mut weights[weights_base..],
                kept: &mut arc_starts[wave.start + 1..=wave.end],
                exponents: &mut exponents[exponents_of],
            })?;
            let mut end = base;
            let mut from = base;
            for graph in wave {
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

    /// Arcs of neighbouring graphs, at most: none merged, no loop dropped.
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

    /// Builds neighbouring graphs, halved until they are one task's. A graph's lists stand where
    /// they would if it and all before it kept all arcs.
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

    /// The graph before which about half of the work is; `None` where it is one task's.
    fn middle(self, graphs: Range<usize>) -> Option<usize> {
        let Work { members, grouped, .. } = self.work;
        // A graph costs something even where it has nothing.
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

    /// Builds neighbouring graphs, one after the other.
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
        self.work.builder.ledger.note(scratch.loss);
        Ok(())
    }

    /// Builds one graph; answers how many arcs it keeps.
    fn build_graph(
        self,
        graph: usize,
        lists: &mut Lists<'_>,
        exponent: Option<&mut i32>,
        scratch: &mut Scratch,
    ) -> Result<u64, BatchError> {
        let rows = self.work.grouped.rows_of(graph, &mut scratch.rows)?;
        let duplicates = self.work.builder.duplicates;
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

    /// What becomes of a graph's weights at a scale; empty where the other direction has said it.
    fn loss(
        self,
        graph: usize,
        scale: WeightScale,
        weights: &[f64],
    ) -> Result<WeightLoss, BatchError> {
        let loss = scale.loss(weights);
        if self.work.builder.ledger.refuses(&loss) {
            let graph = self.work.members.graph_ids().get(graph as u32).to_string();
            return Err(BatchError::CoarseWeights { graph, loss });
        }
        Ok(loss)
    }

    /// Places the arcs of a graph in their owners' lists, in any order; the offsets become theirs.
    /// Calls `also(weights, place, row)` for each.
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
        // Each list's end moves down to its begin; the last offset belongs to none and stays.
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
        let keep_loops = self.work.builder.self_loops == SelfLoops::Keep;
        rows.for_each(|row| {
            let (s, t) = (sources[row], targets[row]);
            // A loop is one arc, also where both ends of other rows have one.
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
    /// Sorts each list and merges duplicates, if they are to be; the offsets become those of what
    /// is kept, which moves together. Answers how many arcs that is.
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

    /// The same with weights.
    fn merge_weighted(
        &mut self,
        duplicates: Duplicates,
        pairs: &mut Vec<u64>,
    ) -> Result<u64, Refusal> {
        let merge = duplicates.become_one();
        let (neighbors, weights) = (&mut *self.neighbors, &mut *self.weights);
        let (mut begin, mut kept) = (0, 0);
        for vertex in 0..self.offsets.len() - 1 {
            let end = self.offsets[vertex + 1] as usize;
            let first = kept;
            self.offsets[vertex] = first as u32;
            pairs.clear();
            memory::reserve(pairs, end - begin)?;
            let list = neighbors[begin..end].iter().zip(&weights[begin..end]);
            pairs.extend(list.map(|(&v, &w)| u64::from(v) << 32 | u64::from(w)));
            pairs.sort_unstable();
            for &pair in &*pairs {
                let (neighbor, weight) = ((pair >> 32) as u32, pair as u32);
                if merge && kept > first && neighbors[kept - 1] == neighbor {
                    let one = duplicates.weight_of_two(weights[kept - 1], weight);
                    weights[kept - 1] = one.map_err(Refusal::Overflow)?;
                    continue;
                }
                (neighbors[kept], weights[kept]) = (neighbor, weight);
                kept += 1;
            }
            begin = end;
        }
        Ok(self.finish(kept))
    }

    /// Sets the end of the last list.
    fn finish(&mut self, kept: usize) -> u64 {
        if let Some(last) = self.offsets.last_mut() {
            *last = kept as u32;
        }
        kept as u64
    }
}
