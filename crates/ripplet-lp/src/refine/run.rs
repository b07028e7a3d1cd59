//! A run: cycles until the score stops to grow, then splitting.

use super::contract::{Contraction, named_labels};
use super::cycle::Cycles;
use super::input::{Input, LISTS_PER_TASK, OnInput, on_input};
use super::level::{ArcArrays, Level};
use super::moves::Partition;
use super::options::{RefineError, RefineOptions};
use super::phases::{Phases, READ_PER_TASK, Team};
use super::ratio::{Ratio, ln};
use super::score::Sums;
use super::{NO_GAIN, Refined, SCANS};
use crate::communities::split_disconnected;
use crate::crew::{Crew, with_whole_pool};
use crate::{Label, NO_LABEL, RoundObserver, StopReason};
use ripplet_graph::{GraphView, OutOfMemory, Plan, VertexId, as_atomic, memory};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// Arcs read, in units of the graph's arcs, after which no iteration begins.
const MOST_SCANS: u64 = 28;
/// The arcs that all contracted graphs may have together, in units of the graph's arcs. If they need
/// more, contraction ends early.
pub(super) const LISTS: u64 = 2;
/// Significant bits of an estimated resolution: its uncertainty is larger.
const ESTIMATE_BITS: i32 = 10;

/// Returns the memory that [`refine`] needs beside the graph on `threads` threads.
pub fn plan<'g>(graph: impl Into<GraphView<'g>>, options: &RefineOptions, threads: usize) -> Plan {
    let graph = graph.into();
    let (vertices, arcs) = (u64::from(graph.vertices()), graph.arcs());
    let initial = if options.initial.is_some() { 4 * vertices } else { 0 };
    Plan { graph_host: graph.bytes(), ..Plan::default() }
        .with(
            "labels, masses and totals",
            (8 + 4) * vertices + Partition::bytes_for(vertices) + initial,
        )
        .with("one phase", Phases::bytes_for(vertices))
        .with("parts of communities", Partition::bytes_for(vertices))
        .with("contracted graphs", Contraction::bytes_for(vertices))
        .with("their lists", ArcArrays::bytes_for(LISTS * arcs))
        .with("sums by label, one table a thread", Team::bytes_for(vertices, threads as u64))
}

/// Finds communities that increase a score, on rayon's current pool.
///
/// # Errors
/// See [`RefineError`].
///
/// # Examples
/// Two triangles with one edge between them:
///
/// ```
/// use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
/// use ripplet_lp::refine::{Objective, RefineOptions, Resolution, refine};
///
/// let ids = VertexIds::Consecutive { first: 0, count: 6 };
/// let edges = EdgeTable::new(ids, vec![0, 1, 2, 3, 4, 5, 2], vec![1, 2, 0, 4, 5, 3, 3])?;
/// let graph = GraphBuilder::new().build(edges)?;
///
/// let options = RefineOptions::new(Objective::Modularity(Resolution::Fixed(1.0)));
/// assert_eq!(refine(&graph, &options, &mut ())?.labels, [0, 0, 0, 3, 3, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn refine<'g>(
    graph: impl Into<GraphView<'g>>,
    options: &RefineOptions,
    observer: &mut dyn RoundObserver,
) -> Result<Refined, RefineError> {
    let graph = graph.into();
    options.check(graph.vertices())?;
    observer.on_stage("refining");
    let refinement = Refinement { options, observer: &mut *observer };
    let mut refined = with_whole_pool(|crew| on_input(crew, graph, options.objective, refinement))?;
    observer.on_stage("splitting what is not connected");
    let is_cancelled = &|| observer.is_cancelled();
    refined.split = split_disconnected(graph, &mut refined.labels, is_cancelled)?;
    Ok(refined)
}

/// A refinement, before its input is known.
struct Refinement<'a> {
    options: &'a RefineOptions,
    observer: &'a mut dyn RoundObserver,
}

impl OnInput for Refinement<'_> {
    type Found = Refined;

    /// Allocates the run's arrays and performs all iterations.
    fn perform<L: Level>(self, input: Input<'_>, level: &L) -> Result<Refined, RefineError> {
        let Refinement { options, observer } = self;
        let best = initial(input.crew, options.initial.as_deref(), level.vertices())?;
        let partition = Partition::new(input.crew, memory::copied(&best)?, level.masses())?;
        let arrays = ArcArrays::new(LISTS * input.arcs)?;
        let cycles = Cycles::new(&input, level, options.seed, &arrays, observer)?;
        let run = Run { level, partition, best, input, cycles };
        run.iterate(options.iterations.max(1))
    }
}

/// A run in progress.
struct Run<'a, L> {
    level: &'a L,
    partition: Partition,
    /// The labels of the best partition so far.
    best: Vec<Label>,
    input: Input<'a>,
    cycles: Cycles<'a>,
}

impl<L: Level> Run<'_, L> {
    fn iterate(mut self, iterations: u32) -> Result<Refined, RefineError> {
        let arcs = self.input.arcs;
        let mut reason = StopReason::RoundLimit;
        let mut sums = self.sums();
        for iteration in 0..iterations {
            self.cycles.iteration = iteration;
            let before = self.cycles.scanned;
            self.cycles.cycle(self.level, &self.partition, 0)?;
            let found = self.sums();
            let factors = self.cycles.factors;
            let (score, old) = (factors.score(found), factors.score(sums));
            if score < old {
                reason = StopReason::Rule(NO_GAIN);
                break;
            }
            let is_same = self.keep();
            sums = found;
            let resolution = self.input.objective.ratio;
            if iteration + 1 < iterations {
                self.estimate(sums);
            }
            if is_same && self.input.objective.ratio == resolution {
                reason = StopReason::Fixpoint;
                break;
            }
            let last = self.cycles.scanned - before;
            let next = if iteration == 0 { last / 2 } else { last };
            let is_last = iteration + 1 == iterations;
            if !is_last && self.cycles.scanned + next + arcs > MOST_SCANS * arcs {
                reason = StopReason::Rule(SCANS);
                break;
            }
        }
        let Run { best: labels, input: Input { objective, .. }, cycles, .. } = self;
        let Cycles { iteration, rounds, scanned, .. } = cycles;
        let resolution = objective.ratio.value() * objective.unit;
        let iterations = iteration + 1;
        Ok(Refined { labels, resolution, iterations, rounds, scanned, reason, split: 0 })
    }

    /// Copies the partition to the best one; returns whether it is the same.
    fn keep(&mut self) -> bool {
        let (partition, best) = (&self.partition, as_atomic(&mut self.best));
        let changed = self.cycles.team.crew.sum(best.len(), READ_PER_TASK, |range| {
            let labels = best[range.clone()].iter().zip(&partition.labels[range]);
            labels
                .map(|(best, label)| {
                    let label = label.load(Relaxed);
                    let before = best.load(Relaxed);
                    best.store(label, Relaxed);
                    u64::from(before != label)
                })
                .sum()
        });
        changed == 0
    }

    /// Estimates the resolution of the next iteration, if it is to be estimated.
    fn estimate(&mut self, sums: Sums) {
        if !self.input.objective.is_estimated {
            return;
        }
        if let Some(ratio) = estimate(sums, self.input.total)
            && ratio != self.input.objective.ratio
        {
            self.input.objective.ratio = ratio;
            self.cycles.factors = self.input.objective.factors(self.input.total);
            self.partition.active.iter().for_each(|active| active.store(true, Relaxed));
        }
    }

    /// Returns the sums of the current partition.
    fn sums(&self) -> Sums {
        let (level, partition) = (self.level, &self.partition);
        let (crew, vertices) = (self.cycles.team.crew, partition.labels.len());
        let square = |label: usize| u128::from(partition.total(label as Label)).pow(2);
        let squares = |range: Range<usize>| range.map(square).sum::<u128>();
        let squares = crew.reduce(vertices, READ_PER_TASK, squares, |a, b| a + b);
        if partition.is_singletons() {
            return Sums { inner: self.input.loops, squares };
        }
        let inner = crew.sum(vertices, LISTS_PER_TASK, |range| {
            let weight = |v: VertexId| {
                let own = partition.label(v);
                let weights =
                    level.arcs(v).map(|(u, w)| if partition.label(u) == own { w } else { 0 });
                weights.sum::<u64>()
            };
            range.map(|v| weight(v as VertexId)).sum()
        });
        Sums { inner: self.input.loops + inner, squares }
    }
}

/// Returns the resolution at which this partition would be the most likely one, if there is one.
fn estimate(sums: Sums, total: u64) -> Option<Ratio> {
    let total = total as f64;
    let inside = sums.inner as f64 / total;
    let expected = sums.squares as f64 / total / total;
    let (within, between) = (inside / expected, (1.0 - inside) / (1.0 - expected));
    // Without edges between communities, or with a single one, there is nothing to estimate from.
    let is_defined = within.is_finite() && between.is_finite() && between > 0.0 && within > between;
    let resolution = (within - between) / (ln(within) - ln(between));
    (is_defined && resolution.is_finite()).then(|| Ratio::rounded(resolution, ESTIMATE_BITS))
}

/// Returns the communities to begin with, each named by its smallest vertex.
pub(super) fn initial(
    crew: &Crew,
    given: Option<&[Label]>,
    vertices: u32,
) -> Result<Vec<Label>, OutOfMemory> {
    let Some(given) = given else { return memory::collected(0..vertices) };
    if given.iter().all(|&label| label < vertices || label == NO_LABEL) {
        return named_labels(crew, given);
    }
    let mut first = BTreeMap::new();
    let mut labels: Vec<Label> = memory::collected(0..vertices)?;
    for (v, &label) in given.iter().enumerate().filter(|(_, label)| **label != NO_LABEL) {
        labels[v] = *first.entry(label).or_insert(v as u32);
    }
    Ok(labels)
}
