//! A run: cycles until the score stops to grow, then splitting.

use super::checkpoint::Progress;
use super::contract::{Contraction, named_labels};
use super::cycle::{CycleState, Cycles};
use super::fixed::rejoin;
use super::host::{HostGraph, HostSteps};
use super::input::{Input, OnInput, arcs_of, on_input};
use super::level::{ArcArrays, Level};
use super::options::{RefineError, RefineOptions};
use super::partition::Partition;
use super::phases::{Phases, Workers};
use super::ratio::{Ratio, ln};
use super::score::{NullModel, Sums};
use super::sizes::Sizes;
use super::steps::{BegunOn, DeviceInput, RefineDevice, RefineSteps};
use super::{NO_GAIN, Refined, SCANS};
use crate::communities::split_disconnected;
use crate::team::{ThreadTeam, with_whole_pool};
use crate::{Label, NO_LABEL, RoundObserver, RunError, StopReason};
use ripplet_graph::{GraphView, OutOfMemory, Plan, as_atomic, memory};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::atomic::AtomicU32;

/// Arcs read, in units of the graph's arcs, after which no iteration at a fixed resolution begins.
const MOST_SCANS: u64 = 28;
/// The arcs that all contracted graphs may have together, in units of the graph's arcs. If they need
/// more, contraction ends early.
const LISTS: u64 = 2;
/// Significant bits of an estimated resolution: its uncertainty is larger.
const ESTIMATE_BITS: i32 = 10;

/// Returns the arcs that all contracted graphs of a graph with this number of arcs may have together.
pub fn contracted_arcs(arcs: u64) -> u64 {
    LISTS.saturating_mul(arcs)
}

/// Returns the memory that [`refine`] needs beside the graph on `threads` threads.
pub fn plan<'g>(graph: impl Into<GraphView<'g>>, options: &RefineOptions, threads: usize) -> Plan {
    let graph = graph.into();
    let (vertices, arcs) = (u64::from(graph.vertices()), arcs_of(graph));
    let is_directed = options.objective.has_imbalances(graph.direction());
    let imbalances = if is_directed { 8 } else { 0 };
    let initial = if options.initial.is_some() { 4 * vertices } else { 0 };
    let fixed = size_of_val(&*options.fixed) as u64;
    let sizes = options.max_size.map_or(0, |_| Sizes::bytes_for(vertices));
    Plan { graph_host: graph.bytes(), ..Plan::default() }
        .with(
            "labels, masses and totals",
            (8 + 4 + imbalances) * vertices
                + Partition::bytes_for(vertices, is_directed)
                + initial
                + fixed
                + sizes,
        )
        .with("one phase", Phases::bytes_for(vertices))
        .with("parts of communities", Partition::bytes_for(vertices, is_directed))
        .with("contracted graphs", Contraction::bytes_for(vertices, is_directed))
        .with("their lists", ArcArrays::bytes_for(contracted_arcs(arcs)))
        .with("sums by label, one table a thread", Workers::bytes_for(vertices, threads as u64))
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
    refine_in(graph.into(), options, observer)
}

fn refine_in(
    graph: GraphView<'_>,
    options: &RefineOptions,
    observer: &mut dyn RoundObserver,
) -> Result<Refined, RefineError> {
    observer.on_stage("refining");
    let refined = refine_graph(graph, options, observer);
    refined.map_err(|error| error.planned(|| plan(graph, options, rayon::current_num_threads())))
}

/// Refines on the host, without a stage of its own; errors are of arrays.
pub(super) fn refine_graph(
    graph: GraphView<'_>,
    options: &RefineOptions,
    observer: &mut dyn RoundObserver,
) -> Result<Refined, RefineError> {
    options.check(graph.vertices())?;
    let refinement = HostRefinement { options, observer: &mut *observer };
    let refined = on_input(graph, options.objective, refinement)?;
    split(graph, options, refined, observer)
}

/// Finds the communities that [`refine`] finds, on a device; the host's threads do the rest.
///
/// # Errors
/// See [`RefineError`].
pub fn refine_on<'g>(
    device: &impl RefineDevice,
    graph: impl Into<GraphView<'g>>,
    options: &RefineOptions,
    observer: &mut dyn RoundObserver,
) -> Result<Refined, RefineError> {
    let graph = graph.into();
    options.check(graph.vertices())?;
    observer.on_stage("refining");
    let refinement = DeviceRefinement { device, graph, options, observer: &mut *observer };
    let refined = on_input(graph, options.objective, refinement)?;
    split(graph, options, refined, observer)
}

/// Splits the communities that are not connected, but for parts with fixed vertices.
fn split(
    graph: GraphView<'_>,
    options: &RefineOptions,
    mut refined: Refined,
    observer: &mut dyn RoundObserver,
) -> Result<Refined, RefineError> {
    observer.on_stage("splitting what is not connected");
    let is_cancelled = &|| observer.is_cancelled();
    let is_fixed = !options.fixed.is_empty();
    let communities = memory::copied(if is_fixed { &refined.labels[..] } else { &[] })?;
    refined.split = split_disconnected(graph, &mut refined.labels, is_cancelled)?;
    if is_fixed {
        refined.split -= rejoin(&options.fixed, &communities, &mut refined.labels)?;
    }
    Ok(refined)
}

/// A refinement on the host, before its input is known.
struct HostRefinement<'a> {
    options: &'a RefineOptions,
    observer: &'a mut dyn RoundObserver,
}

impl OnInput for HostRefinement<'_> {
    type Found = Refined;

    fn perform<L: Level>(self, input: Input, level: &L) -> Result<Refined, RefineError> {
        let HostRefinement { options, observer } = self;
        let mut input = input;
        let vertices = level.vertices();
        with_whole_pool(|team| {
            let (labels, done) = begin(team, &mut input, options, vertices)?;
            let mut partition = Partition::new(team, memory::copied(&labels)?, level)?;
            partition.fix(&options.fixed);
            if let Some(most) = options.max_size {
                partition.sizes = Some(initial_sizes(team, most, &partition.labels)?);
            }
            let arrays = ArcArrays::new(contracted_arcs(input.arcs))?;
            let steps = HostSteps::new(team, level, &arrays, labels)?;
            let begun = BegunOn { steps, graph: HostGraph::Input, partition };
            Run::new(begun, input, vertices, options, observer).go_on(done, options)
        })
    }
}

/// A refinement on a device, before its input is known.
struct DeviceRefinement<'a, D> {
    device: &'a D,
    graph: GraphView<'a>,
    options: &'a RefineOptions,
    observer: &'a mut dyn RoundObserver,
}

impl<D: RefineDevice> OnInput for DeviceRefinement<'_, D> {
    type Found = Refined;

    fn perform<L: Level>(self, input: Input, level: &L) -> Result<Refined, RefineError> {
        let DeviceRefinement { device, graph, options, observer } = self;
        let mut input = input;
        let imbalances = L::Null::IS_DIRECTED.then(|| level.imbalances());
        let (labels, done) = with_whole_pool(|team| {
            let (mut labels, done) = begin(team, &mut input, options, level.vertices())?;
            if let Some(most) = options.max_size {
                initial_sizes(team, most, as_atomic(&mut labels))?;
            }
            Ok::<_, RefineError>((labels, done))
        })?;
        let begun = device.begin(DeviceInput {
            graph,
            masses: level.masses(),
            imbalances,
            largest_weight: level.largest_weight(),
            labels: &labels,
            fixed: &options.fixed,
            max_size: options.max_size,
            room: contracted_arcs(input.arcs),
        })?;
        drop(labels);
        Run::new(begun, input, level.vertices(), options, observer).go_on(done, options)
    }
}

/// Returns the sizes of the communities to begin with, or why they may not have them.
fn initial_sizes(
    team: &ThreadTeam,
    most: NonZeroU32,
    labels: &[AtomicU32],
) -> Result<Sizes, RefineError> {
    let most = most.get();
    let sizes = Sizes::new(team, most, labels)?;
    match sizes.largest() {
        size if size > most => Err(RefineError::InitialSize { size, most }),
        _ => Ok(sizes),
    }
}

/// Returns the labels to begin with, and how far the run to resume is, whose resolution the input takes.
fn begin(
    team: &ThreadTeam,
    input: &mut Input,
    options: &RefineOptions,
    vertices: u32,
) -> Result<(Vec<Label>, Progress), RefineError> {
    let Some(checkpoint) = &options.resume else {
        let labels = initial(team, options.initial.as_deref(), vertices)?;
        return Ok((labels, Progress::default()));
    };
    let done = Progress::of(checkpoint, input, vertices, options.iterations)?;
    input.objective.ratio = done.ratio.unwrap_or(input.objective.ratio);
    Ok((memory::copied(&checkpoint.labels)?, done))
}

/// A run in progress.
struct Run<'a, S: RefineSteps> {
    graph: S::Graph,
    partition: S::Partition,
    input: Input,
    cycles: Cycles<'a, S>,
    /// The rounds after which a keeper was asked whether a checkpoint is due.
    asked: usize,
}

impl<'a, S: RefineSteps> Run<'a, S> {
    fn new(
        begun: BegunOn<S>,
        input: Input,
        vertices: u32,
        options: &RefineOptions,
        observer: &'a mut dyn RoundObserver,
    ) -> Run<'a, S> {
        let BegunOn { steps, graph, partition } = begun;
        let factors = input.objective.factors(input.total);
        let state = CycleState::new(factors, options.seed, vertices);
        let cycles = Cycles { steps, state, observer };
        Run { graph, partition, input, cycles, asked: 0 }
    }

    /// Performs the iterations that are left, with the counts and active vertices of the run to resume.
    fn go_on(mut self, done: Progress, options: &RefineOptions) -> Result<Refined, RefineError> {
        let Progress { iterations, step, scanned, rounds, .. } = done;
        if let Some(checkpoint) = &options.resume {
            self.asked = rounds.len();
            let state = &mut self.cycles.state;
            (state.step, state.scanned, state.rounds) = (step, scanned, rounds);
            self.cycles.steps.activate(&self.partition, &checkpoint.active)?;
        }
        self.iterate(iterations..options.iterations.max(1))
    }

    fn iterate(mut self, iterations: Range<u32>) -> Result<Refined, RefineError> {
        let arcs = self.input.arcs;
        let mut reason = StopReason::RoundLimit;
        let mut sums = self.sums()?;
        let end = iterations.end;
        for iteration in iterations {
            self.cycles.state.iteration = iteration;
            let before = self.cycles.state.scanned;
            self.cycles.cycle(&self.graph, &self.partition, 0)?;
            let found = self.sums()?;
            let factors = self.cycles.state.factors;
            let (score, old) = (factors.score(found), factors.score(sums));
            if score < old {
                reason = StopReason::Rule(NO_GAIN);
                break;
            }
            let is_same = self.cycles.steps.keep(&self.partition)?;
            sums = found;
            let last = self.cycles.state.scanned - before;
            let next = if iteration == 0 { last / 2 } else { last };
            let is_last = iteration + 1 == end;
            // The first communities are there to estimate a resolution from, and those after them
            // to estimate it better, so no such iteration is left out.
            let has_room = self.input.objective.is_estimated
                || self.cycles.state.scanned + next + arcs <= MOST_SCANS * arcs;
            let resolution = self.input.objective.ratio;
            if !is_last && has_room {
                self.estimate(sums)?;
            }
            if is_same && self.input.objective.ratio == resolution {
                reason = StopReason::Fixpoint;
                break;
            }
            if !is_last && !has_room {
                reason = StopReason::Rule(SCANS);
                break;
            }
            if !is_last {
                self.save(iteration + 1)?;
            }
        }
        let Run { input: Input { objective, .. }, cycles, .. } = self;
        let CycleState { iteration, rounds, scanned, .. } = cycles.state;
        let labels = cycles.steps.best()?;
        let resolution = objective.ratio.value() * objective.unit;
        let iterations = iteration + 1;
        Ok(Refined { labels, resolution, iterations, rounds, scanned, reason, split: 0 })
    }

    /// Saves the state after some iterations, if it is due.
    fn save(&mut self, iterations: u32) -> Result<(), RunError> {
        let Cycles { steps, state, observer, .. } = &mut self.cycles;
        let asked = std::mem::replace(&mut self.asked, state.rounds.len());
        let Some(keeper) = observer.keeper() else { return Ok(()) };
        let progress = Progress {
            iterations,
            step: state.step,
            scanned: state.scanned,
            ratio: Some(self.input.objective.ratio),
            rounds: state.rounds.clone(),
        };
        if !progress.is_due(asked, keeper) {
            return Ok(());
        }
        let (labels, active) = steps.state(&self.partition)?;
        progress.keep(keeper, &labels, &active)
    }

    /// Estimates the resolution of the next iteration, if it is to be estimated.
    fn estimate(&mut self, sums: Sums) -> Result<(), RunError> {
        if !self.input.objective.is_estimated {
            return Ok(());
        }
        if let Some(ratio) = estimate(sums, self.input.total)
            && ratio != self.input.objective.ratio
        {
            self.input.objective.ratio = ratio;
            self.cycles.state.factors = self.input.objective.factors(self.input.total);
            self.cycles.steps.activate_all(&self.partition)?;
        }
        Ok(())
    }

    /// Returns the sums of the current partition.
    fn sums(&mut self) -> Result<Sums, RunError> {
        let Sums { inner, squares } = self.cycles.steps.sums(&self.graph, &self.partition)?;
        Ok(Sums { inner: self.input.loops + inner, squares })
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
    (is_defined && Ratio::RANGE.contains(&resolution))
        .then(|| Ratio::rounded(resolution, ESTIMATE_BITS))
}

/// Returns the communities to begin with, each named by its smallest vertex.
pub(super) fn initial(
    team: &ThreadTeam,
    given: Option<&[Label]>,
    vertices: u32,
) -> Result<Vec<Label>, OutOfMemory> {
    let Some(given) = given else { return memory::collected(0..vertices) };
    if given.iter().all(|&label| label < vertices || label == NO_LABEL) {
        return named_labels(team, given);
    }
    let mut first = BTreeMap::new();
    let mut labels: Vec<Label> = memory::collected(0..vertices)?;
    for (v, &label) in given.iter().enumerate().filter(|(_, label)| **label != NO_LABEL) {
        labels[v] = *first.entry(label).or_insert(v as u32);
    }
    Ok(labels)
}
