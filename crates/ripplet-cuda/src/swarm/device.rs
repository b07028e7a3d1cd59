//! Distances and centralities on a device.

use super::abi::{GROUP, Reach, Summary};
use super::graphs::{Flat, Graphs};
use super::kind::Kind;
use super::layout::Layout;
use super::run::Run;
use super::schedule::Machine;
use super::source;
use super::tuning::Tuning;
use crate::lp::{DeviceExecutor, failed};
use rayon::prelude::*;
use ripplet_analytics::PathAnalysis;
use ripplet_analytics::apsp::{self, GraphSummary};
use ripplet_analytics::closeness::Closeness;
use ripplet_analytics::edge_betweenness::{self, EdgeValues};
use ripplet_analytics::{Lengths, no_length};
use ripplet_gpu::Device;
use ripplet_graph::batch::{BatchGraph, Subject};
use ripplet_graph::{Graph, Observer, OutOfMemory, VertexId, WeightScale, memory};
use ripplet_lp::{Plan, RunError};
use std::ops::Range;
use std::time::Instant;

/// Divisor of the device's memory: this part of it is the limit for the state of searches that do
/// not fit shared memory.
const SCRATCH: u64 = 8;

/// Seconds of a run by step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SwarmSeconds {
    /// Compiling the kernels, or finding them in the cache; 0 in a later run.
    pub kernels: f64,
    /// Scheduling the work, and moving it and the graphs to the device.
    pub upload: f64,
    /// Computing.
    pub compute: f64,
    /// Moving values back.
    pub download: f64,
}

/// Computes distances and centralities of graphs on an executor's device, within its memory limit.
///
/// Compiled kernels and memory are kept from run to run. Two objects, each with a device of its own
/// on one GPU, can overlap transfers of one with computation of the other.
pub struct DeviceSwarm<D: Device> {
    pub(super) executor: DeviceExecutor<D>,
    pub(super) tuning: Tuning,
    modules: Vec<(Kind, D::Module)>,
    memory: Option<(D::Memory, u64)>,
}

impl<D: Device> DeviceSwarm<D> {
    /// Returns an analysis on an executor's device, with the default tuning.
    pub fn new(executor: DeviceExecutor<D>) -> Self {
        DeviceSwarm { executor, tuning: Tuning::default(), modules: Vec::new(), memory: None }
    }

    /// Sets the tuning.
    #[must_use]
    pub fn with_tuning(self, tuning: Tuning) -> Self {
        DeviceSwarm { tuning, ..self }
    }

    /// Returns the executor.
    pub fn executor(&self) -> &DeviceExecutor<D> {
        &self.executor
    }

    /// Returns the memory plan of a run over these graphs at once; for the distances of a single
    /// graph, of [`DeviceSwarm::rows`].
    ///
    /// Takes some nanoseconds a graph.
    ///
    /// # Errors
    /// If a single graph has more than 2³¹ arcs, or the host refuses memory.
    pub fn plan<'a>(
        &self,
        subject: impl Into<Subject<'a>>,
        question: PathAnalysis,
    ) -> Result<Plan, RunError> {
        let subject = subject.into();
        let flat = Flat::new(subject)?;
        let graphs = match (subject, question) {
            (Subject::Graph(graph), PathAnalysis::Distances { .. }) => {
                flat.graphs().of_groups(0..self.groups_at_once(graph))
            }
            _ => flat.graphs(),
        };
        let layout = Layout::new(graphs, question, self.machine(), self.tuning);
        Ok(layout.map_err(refused)?.plan)
    }

    /// Returns the closeness of each vertex in its graph, graph by graph in the order of the batch.
    /// The values have the same bits as those of [`ripplet_analytics::closeness`].
    ///
    /// # Errors
    /// If the observer cancels, memory is refused, the device fails, a single graph has more than
    /// 2³¹ arcs, or weights are so large that sums of distances may exceed 64 bits. The other
    /// functions have the same errors.
    pub fn closeness<'a>(
        &mut self,
        subject: impl Into<Subject<'a>>,
        measure: Closeness,
        normalized: bool,
        lengths: Lengths,
        observer: &dyn Observer,
    ) -> Result<(Vec<f64>, SwarmSeconds), RunError> {
        self.values(
            subject.into(),
            PathAnalysis::Closeness { measure, normalized, lengths },
            observer,
        )
    }

    /// Returns the betweenness of each vertex in its graph, graph by graph in the order of the
    /// batch. The values have the same bits as those of
    /// [`ripplet_analytics::betweenness`](mod@ripplet_analytics::betweenness).
    ///
    /// # Errors
    /// As for [`DeviceSwarm::closeness`]; also if paths have weights and an edge that is no loop
    /// has length 0.
    pub fn betweenness<'a>(
        &mut self,
        subject: impl Into<Subject<'a>>,
        normalized: bool,
        lengths: Lengths,
        observer: &dyn Observer,
    ) -> Result<(Vec<f64>, SwarmSeconds), RunError> {
        let subject = subject.into();
        refuse_weightless(subject, lengths)?;
        self.values(subject, PathAnalysis::Betweenness { normalized, lengths }, observer)
    }

    /// Returns the betweenness of each edge in its graph. The values have the same bits as those of
    /// [`ripplet_analytics::edge_betweenness`].
    ///
    /// # Errors
    /// As for [`DeviceSwarm::betweenness`].
    pub fn edge_betweenness<'a>(
        &mut self,
        subject: impl Into<Subject<'a>>,
        normalized: bool,
        lengths: Lengths,
        observer: &dyn Observer,
    ) -> Result<(EdgeValues, SwarmSeconds), RunError> {
        let subject = subject.into();
        refuse_weightless(subject, lengths)?;
        let question = PathAnalysis::EdgeBetweenness { normalized, lengths };
        let (arcs, mut seconds) = self.values(subject, question, observer)?;
        let start = Instant::now();
        let values = match subject {
            Subject::Batch(graphs) => {
                edge_betweenness::values_of_arcs_of_batch(graphs, &arcs, normalized)
                    .map_err(refused)?
            }
            Subject::Graph(graph) => {
                let values = edge_betweenness::values_of_arcs(graph, &arcs, normalized);
                let values = values.map_err(refused)?;
                EdgeValues { starts: vec![0, values.len() as u64], values }
            }
        };
        seconds.download += start.elapsed().as_secs_f64();
        Ok((values, seconds))
    }

    /// Returns the real distance from each vertex to each vertex of its graph, graph by graph and
    /// source by source; infinity if there is no path. The values have the same bits as those of
    /// [`ripplet_analytics::apsp::distances_of_batch`].
    ///
    /// # Errors
    /// As for [`DeviceSwarm::closeness`].
    pub fn distances<'a>(
        &mut self,
        subject: impl Into<Subject<'a>>,
        lengths: Lengths,
        observer: &dyn Observer,
    ) -> Result<(Vec<f64>, SwarmSeconds), RunError> {
        self.values(subject.into(), PathAnalysis::Distances { lengths }, observer)
    }

    /// Calls `take` with the real distances from some sources of a single graph at a time, in
    /// order, row after row. An error of `take` ends the run.
    ///
    /// # Errors
    /// As for [`DeviceSwarm::closeness`], and those of `take`.
    pub fn rows<E: From<RunError>>(
        &mut self,
        graph: &Graph,
        lengths: Lengths,
        observer: &dyn Observer,
        mut take: impl FnMut(Range<VertexId>, &[f64]) -> Result<(), E>,
    ) -> Result<SwarmSeconds, E> {
        let flat = Flat::new(graph.into())?;
        let (vertices, at_once) = (graph.vertices(), self.groups_at_once(graph));
        let groups = vertices.div_ceil(GROUP);
        let (mut first, mut seconds) = (0, SwarmSeconds::default());
        while first < groups {
            let end = first.saturating_add(at_once).min(groups);
            let some = flat.graphs().of_groups(first..end);
            let sources = first * GROUP..end.saturating_mul(GROUP).min(vertices);
            let values = self.compute_values(
                some,
                PathAnalysis::Distances { lengths },
                &mut seconds,
                observer,
            )?;
            observer.on_progress(f64::from(end) / f64::from(groups));
            take(sources, &values)?;
            first = end;
        }
        Ok(seconds)
    }

    /// Returns a summary of the distances from each vertex to the others of its graph, as
    /// [`ripplet_analytics::apsp::reach`] computes it.
    ///
    /// # Errors
    /// As for [`DeviceSwarm::closeness`].
    pub fn reach<'a>(
        &mut self,
        subject: impl Into<Subject<'a>>,
        lengths: Lengths,
        observer: &dyn Observer,
    ) -> Result<(Vec<apsp::Reach>, SwarmSeconds), RunError> {
        let flat = Flat::new(subject.into())?;
        let mut found: Vec<Reach> =
            memory::zeros(flat.graphs().vertices() as usize).map_err(refused)?;
        let to = Results { reach: &mut found, ..Results::default() };
        let seconds =
            self.compute_into(flat.graphs(), PathAnalysis::Reach { lengths }, to, observer)?;
        let reach = found.iter().map(|found| apsp::Reach {
            reached: found.reached.into(),
            far: found.far.into(),
            farthest: found.farthest,
        });
        Ok((memory::collected(reach).map_err(refused)?, seconds))
    }

    /// Returns a summary of all distances of each graph, as [`ripplet_analytics::apsp::summary`]
    /// computes it.
    ///
    /// # Errors
    /// As for [`DeviceSwarm::closeness`].
    pub fn summaries<'a>(
        &mut self,
        subject: impl Into<Subject<'a>>,
        lengths: Lengths,
        observer: &dyn Observer,
    ) -> Result<(Vec<GraphSummary>, SwarmSeconds), RunError> {
        let subject = subject.into();
        let flat = Flat::new(subject)?;
        let mut found: Vec<Summary> = memory::zeros(flat.graphs().len()).map_err(refused)?;
        let to = Results { summaries: &mut found, ..Results::default() };
        let seconds =
            self.compute_into(flat.graphs(), PathAnalysis::Summary { lengths }, to, observer)?;
        let summary = |found: &Summary, vertices, direction, scale| GraphSummary {
            vertices,
            pairs: found.pairs,
            sum: u128::from(found.low) + (u128::from(found.high) << 32),
            diameter: found.diameter,
            radius: if vertices == 0 { 0 } else { !found.radius_turned },
            direction,
            scale: if lengths == Lengths::Weights { scale } else { WeightScale::ONE },
        };
        let summaries = match subject {
            Subject::Batch(graphs) => {
                let direction = graphs.batch().direction();
                let summary = |(graph, found): (BatchGraph<'_>, &Summary)| {
                    summary(found, graph.vertices(), direction, graph.weight_scale())
                };
                memory::collected(graphs.graphs().zip(&found).map(summary)).map_err(refused)?
            }
            Subject::Graph(graph) => {
                // A graph without vertices is not sent to the device.
                let found = found.first().copied().unwrap_or_default();
                vec![summary(&found, graph.vertices(), graph.direction(), graph.weight_scale())]
            }
        };
        Ok((summaries, seconds))
    }

    /// Returns the number of groups of sources whose distances are passed on at a time.
    fn groups_at_once(&self, graph: &Graph) -> u32 {
        let of_group = 8 * u64::from(GROUP) * u64::from(graph.vertices());
        (self.tuning.rows / of_group.max(1)).clamp(1, u64::from(u32::MAX)) as u32
    }

    pub(super) fn machine(&self) -> Machine {
        let properties = self.executor.device().properties();
        Machine {
            multiprocessors: properties.multiprocessors,
            shared: properties.shared_per_block.min(self.tuning.most_shared),
            scratch: (properties.memory / SCRATCH).min(self.tuning.most_scratch),
        }
    }

    fn values(
        &mut self,
        subject: Subject<'_>,
        question: PathAnalysis,
        observer: &dyn Observer,
    ) -> Result<(Vec<f64>, SwarmSeconds), RunError> {
        let (flat, mut seconds) = (Flat::new(subject)?, SwarmSeconds::default());
        let values = self.compute_values(flat.graphs(), question, &mut seconds, observer)?;
        Ok((values, seconds))
    }

    fn compute_values(
        &mut self,
        graphs: Graphs<'_>,
        question: PathAnalysis,
        seconds: &mut SwarmSeconds,
        observer: &dyn Observer,
    ) -> Result<Vec<f64>, RunError> {
        check_sums(graphs, question)?;
        let count = Kind::of(question, graphs).values(graphs);
        let room = usize::try_from(count).unwrap_or(usize::MAX);
        let mut values = memory::zeros(room).map_err(refused)?;
        let to = Results { values: &mut values, ..Results::default() };
        self.compute(graphs, question, to, seconds, observer)?;
        Ok(values)
    }

    fn compute_into(
        &mut self,
        graphs: Graphs<'_>,
        question: PathAnalysis,
        to: Results<'_>,
        observer: &dyn Observer,
    ) -> Result<SwarmSeconds, RunError> {
        check_sums(graphs, question)?;
        let mut seconds = SwarmSeconds::default();
        self.compute(graphs, question, to, &mut seconds, observer)?;
        Ok(seconds)
    }

    /// Processes all graphs at once, or if they do not fit, one half after the other.
    fn compute(
        &mut self,
        graphs: Graphs<'_>,
        question: PathAnalysis,
        to: Results<'_>,
        seconds: &mut SwarmSeconds,
        observer: &dyn Observer,
    ) -> Result<(), RunError> {
        if observer.is_cancelled() {
            return Err(RunError::Cancelled);
        }
        let start = Instant::now();
        let layout = Layout::new(graphs, question, self.machine(), self.tuning);
        let layout = layout.map_err(refused)?;
        if layout.bytes > self.kept() {
            let fits = self.executor.check_memory_beside(&layout.plan, self.kept());
            if graphs.len() > 1 && matches!(fits, Err(RunError::DeviceMemory { .. })) {
                drop(layout);
                let middle = graphs.len() / 2;
                let (left, right) = (graphs.part(0..middle), graphs.part(middle..graphs.len()));
                let (to_left, to_right) = to.split(left, question);
                self.compute(left, question, to_left, seconds, observer)?;
                return self.compute(right, question, to_right, seconds, observer);
            }
            fits?;
        }
        seconds.upload += start.elapsed().as_secs_f64();
        self.run(&layout, (graphs, question), to, seconds, observer)
    }

    fn run(
        &mut self,
        layout: &Layout,
        (graphs, question): (Graphs<'_>, PathAnalysis),
        to: Results<'_>,
        seconds: &mut SwarmSeconds,
        observer: &dyn Observer,
    ) -> Result<(), RunError> {
        let start = Instant::now();
        self.module(Kind::of(question, graphs))?;
        seconds.kernels += start.elapsed().as_secs_f64();
        let mut watch = Instant::now();
        let mut lap = |seconds: &mut f64| {
            *seconds += watch.elapsed().as_secs_f64();
            watch = Instant::now();
        };
        self.with_run(layout, (graphs, question), |run| {
            lap(&mut seconds.upload);
            run.perform(observer)?;
            lap(&mut seconds.compute);
            to.read(run)?;
            lap(&mut seconds.download);
            Ok(())
        })
    }

    /// Moves graphs to the device, and calls `work`.
    pub(super) fn with_run(
        &mut self,
        layout: &Layout,
        (graphs, question): (Graphs<'_>, PathAnalysis),
        work: impl FnOnce(&Run<'_, D>) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let module = self.module(Kind::of(question, graphs))?;
        self.make_room(layout)?;
        let Some((memory, _)) = &self.memory else { return Ok(()) };
        let on_device = (&self.modules[module].1, memory);
        let device = self.executor.device();
        let run = Run::new(device, on_device, layout, (graphs, question), self.tuning);
        work(&run.map_err(failed)?)
    }

    /// Returns the bytes of the device's memory that are kept.
    pub(super) fn kept(&self) -> u64 {
        self.memory.as_ref().map_or(0, |(_, bytes)| *bytes)
    }

    /// Returns the index of the kernels in `modules`; loads them if they are not there.
    fn module(&mut self, kind: Kind) -> Result<usize, RunError> {
        if let Some(place) = self.modules.iter().position(|(of, _)| *of == kind) {
            return Ok(place);
        }
        let module = self.executor.device().load(&source::of_kind(kind)).map_err(failed)?;
        self.modules.push((kind, module));
        Ok(self.modules.len() - 1)
    }

    /// Reserves memory if the memory that is kept does not suffice.
    fn make_room(&mut self, layout: &Layout) -> Result<(), RunError> {
        if self.memory.is_some() && self.kept() >= layout.bytes {
            return Ok(());
        }
        // Freed before more is reserved.
        self.memory = None;
        let memory = self.executor.device().reserve(layout.bytes).map_err(failed)?;
        self.memory = Some((memory, layout.bytes));
        Ok(())
    }
}

/// Destinations of results: as long as what is requested, or empty.
#[derive(Default)]
struct Results<'a> {
    values: &'a mut [f64],
    reach: &'a mut [Reach],
    summaries: &'a mut [Summary],
}

impl<'a> Results<'a> {
    /// Divides the destinations into those of the first graphs, `left`, and of the others.
    fn split(self, left: Graphs<'_>, question: PathAnalysis) -> (Results<'a>, Results<'a>) {
        fn cut<T>(all: &mut [T], at: u64) -> (&mut [T], &mut [T]) {
            all.split_at_mut(all.len().min(at as usize))
        }
        let (values, more_values) = cut(self.values, Kind::of(question, left).values(left));
        let (reach, more_reach) = cut(self.reach, left.vertices());
        let (summaries, more_summaries) = cut(self.summaries, left.len() as u64);
        let others = Results { values: more_values, reach: more_reach, summaries: more_summaries };
        (Results { values, reach, summaries }, others)
    }

    fn read<D: Device>(self, run: &Run<'_, D>) -> Result<(), RunError> {
        let layout = run.layout;
        run.read(&layout.values, self.values)?;
        run.read(&layout.reach, self.reach)?;
        run.read(&layout.summaries, self.summaries)
    }
}

/// Refuses graphs for which the sum of a vertex's distances may exceed 64 bits.
fn check_sums(graphs: Graphs<'_>, question: PathAnalysis) -> Result<(), RunError> {
    if !Kind::of(question, graphs).weighs {
        return Ok(());
    }
    let largest = (0..graphs.len()).map(|graph| u128::from(graphs.vertices_of(graph))).max();
    let steps = largest.map_or(0, |most| most * most);
    // Nearly always the bound by the largest possible weight suffices.
    let fits = |weight: u32| steps * u128::from(weight) <= u128::from(u64::MAX);
    let weights = graphs.out.weights.unwrap_or_default();
    if fits(u32::MAX) || fits(weights.par_iter().copied().max().unwrap_or(0)) {
        return Ok(());
    }
    Err(RunError::Device(format!(
        "a graph has {} vertices and weights so large that the sum of its distances may exceed the 64 bits \
         that a GPU has for it; compute on the CPU (--device cpu)",
        largest.unwrap_or(0)
    )))
}

/// Refuses edges of length 0: shortest paths along them cannot be counted.
fn refuse_weightless(subject: Subject<'_>, lengths: Lengths) -> Result<(), RunError> {
    if lengths == Lengths::Hops {
        return Ok(());
    }
    let checked = match subject {
        Subject::Batch(graphs) => no_length::refuse_weightless_in(graphs),
        Subject::Graph(graph) => no_length::refuse_weightless(graph),
    };
    checked.map_err(|error| RunError::Device(error.to_string()))
}

pub(super) fn refused(error: OutOfMemory) -> RunError {
    RunError::Array(error)
}
