//! A run: cycles until the score stops to grow, then splitting.

use super::contract::{Contraction, named_labels};
use super::cycle::Cycles;
use super::level::{ArcArrays, InputLevel, Level};
use super::moves::Partition;
use super::options::{Objective, RefineError, RefineOptions, Resolution};
use super::phases::{Phases, READ_PER_TASK, Team};
use super::ratio::{Ratio, ln};
use super::score::{Factors, Sums};
use super::{NO_GAIN, Refined, SCANS};
use crate::communities::split_disconnected;
use crate::crew::{Crew, with_whole_pool};
use crate::{Label, NO_LABEL, RoundObserver, StopReason};
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{
    Direction, GraphView, OutOfMemory, Plan, VertexId, as_atomic, as_atomic_words, dispatch_lists,
    memory,
};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Arcs read, in units of the graph's arcs, after which no iteration begins.
const MOST_SCANS: u64 = 28;
/// The arcs that all contracted graphs may have together, in units of the graph's arcs. If they need
/// more, contraction ends early.
const LISTS: u64 = 2;
/// Vertices of a task that reads their arcs.
const LISTS_PER_TASK: usize = 256;
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
    if graph.direction() == Direction::Directed {
        return Err(RefineError::Directed);
    }
    options.check(graph.vertices())?;
    let mut refined = with_whole_pool(
        |crew| dispatch_lists!(graph, (out, _incoming) => refine_lists(crew, out, graph, options, &mut *observer)),
    )?;
    observer.on_stage("splitting what is not connected");
    let is_cancelled = &|| observer.is_cancelled();
    refined.split = split_disconnected(graph, &mut refined.labels, is_cancelled)?;
    Ok(refined)
}

/// Performs all iterations.
fn refine_lists<N: NeighborLists>(
    crew: &Crew,
    lists: N,
    graph: GraphView<'_>,
    options: &RefineOptions,
    observer: &mut dyn RoundObserver,
) -> Result<Refined, RefineError> {
    observer.on_stage("refining");
    let weights = Weights::of(crew, lists)?;
    let masses = match options.objective {
        Objective::Modularity(_) => weights.strengths,
        Objective::Cpm(_) => memory::filled(1, lists.vertices())?,
    };
    let unit = graph.weight_scale().weight(1);
    let objective = Exact::of(options.objective, unit);
    objective.check(weights.total, lists.vertices() as u64)?;
    let Weights { total, largest: largest_weight, loops, .. } = weights;
    let begin = Begin { crew, options, objective, total, loops, arcs: lists.arcs(), observer };
    match lists.is_weighted() {
        true => begin.run(&InputLevel::<N, true> { lists, masses, largest_weight }),
        false => begin.run(&InputLevel::<N, false> { lists, masses, largest_weight }),
    }
}

/// What a run begins with, beside its level.
struct Begin<'a> {
    crew: &'a Crew,
    options: &'a RefineOptions,
    objective: Exact,
    /// The sum of all weights, from both ends.
    total: u64,
    /// The sum of the self-loops' weights, each counted twice.
    loops: u64,
    /// The number of stored arcs.
    arcs: u64,
    observer: &'a mut dyn RoundObserver,
}

impl Begin<'_> {
    /// Allocates the run's arrays and performs all iterations.
    fn run<L: Level>(self, level: &L) -> Result<Refined, RefineError> {
        let Begin { crew, options, objective, total, loops, arcs, observer } = self;
        let best = initial(crew, options.initial.as_deref(), level.vertices())?;
        let partition = Partition::new(crew, memory::copied(&best)?, level.masses())?;
        let vertices = best.len();
        let arrays = ArcArrays::new(LISTS * arcs)?;
        let cycles = Cycles {
            factors: objective.factors(total),
            seed: options.seed,
            team: Team::new(crew, vertices)?,
            phases: Phases::new(vertices)?,
            parts: Partition::new(crew, memory::zeros(vertices)?, level.masses())?,
            arrays: &arrays,
            room: level.vertices(),
            observer,
            step: 0,
            iteration: 0,
            rounds: Vec::new(),
            scanned: 0,
        };
        let run = Run { level, partition, best, objective, total, loops, arcs, cycles };
        run.iterate(options.iterations.max(1))
    }
}

/// A run in progress.
struct Run<'a, L> {
    level: &'a L,
    partition: Partition,
    /// The labels of the best partition so far.
    best: Vec<Label>,
    objective: Exact,
    /// The sum of all weights, from both ends.
    total: u64,
    /// The sum of the self-loops' weights, each counted twice.
    loops: u64,
    /// The number of stored arcs.
    arcs: u64,
    cycles: Cycles<'a>,
}

impl<L: Level> Run<'_, L> {
    fn iterate(mut self, iterations: u32) -> Result<Refined, RefineError> {
        let arcs = self.arcs;
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
            let resolution = self.objective.ratio;
            if iteration + 1 < iterations {
                self.estimate(sums);
            }
            if is_same && self.objective.ratio == resolution {
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
        let Run { best: labels, objective, cycles, .. } = self;
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
        if !self.objective.is_estimated {
            return;
        }
        if let Some(ratio) = estimate(sums, self.total)
            && ratio != self.objective.ratio
        {
            self.objective.ratio = ratio;
            self.cycles.factors = self.objective.factors(self.total);
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
            return Sums { inner: self.loops, squares };
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
        Sums { inner: self.loops + inner, squares }
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

/// The objective in stored weights.
#[derive(Clone, Copy)]
struct Exact {
    ratio: Ratio,
    is_cpm: bool,
    is_estimated: bool,
    /// The value of a stored unit of weight that γ depends on; 1 for modularity.
    unit: f64,
}

impl Exact {
    fn of(objective: Objective, unit: f64) -> Exact {
        let exact = Exact { ratio: Ratio::ONE, is_cpm: false, is_estimated: false, unit: 1.0 };
        match objective {
            Objective::Modularity(Resolution::Auto) => Exact { is_estimated: true, ..exact },
            Objective::Modularity(Resolution::Fixed(resolution)) => {
                Exact { ratio: Ratio::of(resolution), ..exact }
            }
            Objective::Cpm(resolution) => {
                Exact { ratio: Ratio::of(resolution / unit), is_cpm: true, unit, ..exact }
            }
        }
    }

    fn factors(self, total: u64) -> Factors {
        match self.is_cpm {
            true => Factors::of_cpm(self.ratio),
            false => Factors::of_modularity(self.ratio, total),
        }
    }

    /// Refuses sums for which scores would not be exact.
    fn check(self, total: u64, vertices: u64) -> Result<(), RefineError> {
        let mass = if self.is_cpm { vertices } else { total };
        match self.factors(total).fit(total, mass) {
            true => Ok(()),
            false => Err(RefineError::Weights { total: u128::from(total) }),
        }
    }
}

/// Weights of the input.
struct Weights {
    /// The sum of the weights of each vertex's arcs; a self-loop counts twice.
    strengths: Vec<u64>,
    total: u64,
    /// The largest strength.
    largest: u64,
    /// The sum of the self-loops' weights, each counted twice.
    loops: u64,
}

impl Weights {
    fn of<N: NeighborLists>(crew: &Crew, lists: N) -> Result<Weights, RefineError> {
        let mut strengths: Vec<u64> = memory::zeros(lists.vertices())?;
        let of_loops = AtomicU64::new(0);
        let to = as_atomic_words(&mut strengths);
        crew.ranges(to.len(), LISTS_PER_TASK, |range| {
            let mut all_loops = 0;
            for v in range {
                let (mut sum, mut loops) = (0u64, 0u64);
                lists.for_each_arc(v, |u, weight| {
                    sum += weight;
                    loops += if u as usize == v { weight } else { 0 };
                });
                to[v].store(sum + loops, Relaxed);
                all_loops += 2 * loops;
            }
            of_loops.fetch_add(all_loops, Relaxed);
        });
        let total: u128 = strengths.iter().map(|&strength| u128::from(strength)).sum();
        let largest = strengths.iter().copied().max().unwrap_or(0);
        let total = u64::try_from(total).map_err(|_| RefineError::Weights { total })?;
        Ok(Weights { strengths, total, largest, loops: of_loops.into_inner() })
    }
}

/// Returns the communities to begin with, each named by its smallest vertex.
fn initial(crew: &Crew, given: Option<&[Label]>, vertices: u32) -> Result<Vec<Label>, OutOfMemory> {
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
