//! Distances and shortest ways in many small graphs on a device: the same bits as on the CPU.
//!
//! # Algorithm
//! As [`ripplet_analytics::closeness`], [`ripplet_analytics::apsp`] and
//! [`ripplet_analytics::betweenness`]: searches from 64 sources at once, a bit of a mask for each, or from 8
//! where ways are counted. A graph has a team, a warp or a block, that keeps the state of a search, and the
//! lists where there is room, in shared memory. Teams take one graph after the other, those with the most work
//! first, until there are none: a million graphs are a few launches. The smaller the graphs, the more teams
//! share a multiprocessor (`schedule.rs`). A graph that others would wait for is split: its sources are
//! taken by many teams, and what they find is added up in order behind them. State that is too large for shared
//! memory is in the device's.
//!
//! # Memory
//! The lists that are read, 16 bytes a graph for its place in the work, and what is found, mostly 8 bytes a
//! vertex: [`DeviceSwarm::plan`] has it all. It is kept from run to run, and grows with the largest. Graphs that do not fit together are moved one part
//! after the other.
//!
//! # Determinism
//! Numbers of vertices and distances are integers. Each other sum is taken in one order, whoever takes it.

mod graphs;
mod layout;
mod profile;
mod run;
mod schedule;
mod source;

pub use profile::Step;
pub use source::source;

use crate::device::Device;
use crate::lp::{DeviceExecutor, failed};
use bytemuck::{Pod, Zeroable};
use graphs::{Alone, Graphs};
use layout::{Kind, Layout};
use ripplet_analytics::Observer;
use ripplet_analytics::closeness::Closeness;
use ripplet_graph::batch::BatchSlice;
use ripplet_graph::{Graph, OutOfMemory, memory};
use ripplet_lp::{Plan, RunError};
use run::Run;
use schedule::Machine;
use std::time::Instant;

/// The device's memory that the state of searches may have, where shared memory is too small: one part in
/// so many.
const SCRATCH: u64 = 8;
/// The most vertices of a graph whose distances are surely summed up in 64 bits.
const MOST_SUMMED: u32 = 1 << 21;

/// What is asked of each graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// How near each vertex is to all others.
    Closeness {
        /// Which number.
        measure: Closeness,
        /// As [`ripplet_analytics::closeness`] says.
        normalized: bool,
    },
    /// How many shortest ways lead through each vertex.
    Betweenness {
        /// As [`ripplet_analytics::betweenness`] says.
        normalized: bool,
    },
    /// What the distances from each vertex come to.
    Reach,
    /// What all distances of a graph come to.
    Summaries,
}

/// What the distances from a vertex come to; it does not count itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Reach {
    /// The sum of the distances.
    pub far: u64,
    /// How many vertices it has a way to.
    pub reached: u32,
    /// The largest distance, its eccentricity; 0 without any.
    pub farthest: u32,
}

/// What all distances of a graph come to. A pair is of two different vertices, in one order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct GraphSummary {
    /// How many pairs (s, t) have a way from s to t.
    pub pairs: u64,
    /// The sum of their distances.
    pub sum: u64,
    /// The largest distance.
    pub diameter: u32,
    /// The smallest eccentricity; 0 without vertices.
    pub radius: u32,
}

/// Where the seconds of a run went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SwarmSeconds {
    /// Compiling the kernels, or finding them compiled; nothing in a later run.
    pub kernels: f64,
    /// Putting the work in order, and moving it and the graphs to the device.
    pub upload: f64,
    /// Computing.
    pub compute: f64,
    /// Moving values back.
    pub download: f64,
}

/// What small graphs have no need of, and tests ask for. It changes nothing but speed and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Bytes of shared memory that a block has, where the device has more.
    pub most_shared: u32,
    /// A graph is split whose work is more than that of all over so many times the teams of its size that
    /// there are at once; for 0 none is.
    pub split_over: u64,
    /// Bytes of the partial sums of a wave, or more where one group of sources has more.
    pub partials: u64,
    /// Bytes of the device's memory for the state of searches, where it has more.
    pub most_scratch: u64,
    /// Items of the first launch of a size of team; the next ones have twice as many as long as they take
    /// milliseconds, so that a run is cancelled soon.
    pub first_items: u32,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning {
            most_shared: u32::MAX,
            split_over: 4,
            partials: 256 << 20,
            most_scratch: u64::MAX,
            first_items: 1 << 11,
        }
    }
}

/// Computes on an executor's device, within its memory.
///
/// It keeps compiled kernels and memory from run to run. Two of them, each with a device of its own on one GPU,
/// let one move graphs while the other computes.
pub struct DeviceSwarm<D: Device> {
    executor: DeviceExecutor<D>,
    tuning: Tuning,
    modules: Vec<(Kind, D::Module)>,
    memory: Option<(D::Memory, u64)>,
}

impl<D: Device> DeviceSwarm<D> {
    /// On this executor's device.
    pub fn new(executor: DeviceExecutor<D>) -> Self {
        DeviceSwarm { executor, tuning: Tuning::default(), modules: Vec::new(), memory: None }
    }

    /// The same with another tuning.
    #[must_use]
    pub fn with_tuning(self, tuning: Tuning) -> Self {
        DeviceSwarm { tuning, ..self }
    }

    /// Whose device it is.
    pub fn executor(&self) -> &DeviceExecutor<D> {
        &self.executor
    }

    /// The memory that a run over these graphs at once will need.
    ///
    /// Cost: some nanoseconds a graph.
    ///
    /// # Errors
    /// Where the host refuses memory.
    pub fn plan(&self, graphs: BatchSlice<'_>, question: Question) -> Result<Plan, OutOfMemory> {
        Ok(Layout::new(graphs.into(), question, self.machine(), self.tuning)?.plan)
    }

    /// The closeness of each vertex in its graph: graph by graph, as the vertices lie in their batch. What
    /// [`ripplet_analytics::closeness::closeness_of_batch`] finds, bit by bit.
    ///
    /// # Errors
    /// Where the observer cancels, memory is refused, or the device fails; so for all that follow.
    pub fn closeness(
        &mut self,
        graphs: BatchSlice<'_>,
        measure: Closeness,
        normalized: bool,
        observer: &dyn Observer,
    ) -> Result<(Vec<f64>, SwarmSeconds), RunError> {
        self.values(graphs.into(), Question::Closeness { measure, normalized }, observer)
    }

    /// The betweenness of each vertex in its graph, likewise. What
    /// [`ripplet_analytics::betweenness::betweenness_of_batch`] finds, bit by bit.
    ///
    /// # Errors
    /// As above.
    pub fn betweenness(
        &mut self,
        graphs: BatchSlice<'_>,
        normalized: bool,
        observer: &dyn Observer,
    ) -> Result<(Vec<f64>, SwarmSeconds), RunError> {
        self.values(graphs.into(), Question::Betweenness { normalized }, observer)
    }

    /// What the distances from each vertex to the others of its graph come to, likewise.
    ///
    /// # Errors
    /// As above; and where a graph has more than 2²¹ vertices, whose distances may come to more than
    /// is counted.
    pub fn reach(
        &mut self,
        graphs: BatchSlice<'_>,
        observer: &dyn Observer,
    ) -> Result<(Vec<Reach>, SwarmSeconds), RunError> {
        self.distances(graphs.into(), observer)
    }

    /// What all distances of each graph come to.
    ///
    /// # Errors
    /// As above.
    pub fn summaries(
        &mut self,
        graphs: BatchSlice<'_>,
        observer: &dyn Observer,
    ) -> Result<(Vec<GraphSummary>, SwarmSeconds), RunError> {
        let graphs = Graphs::from(graphs);
        check_sums(graphs)?;
        let mut summaries = memory::zeros(graphs.len()).map_err(refused)?;
        let to = Results { summaries: &mut summaries, ..Results::default() };
        let seconds = self.ask_all(graphs, Question::Summaries, to, observer)?;
        Ok((summaries, seconds))
    }

    /// The closeness of each vertex of a graph alone.
    ///
    /// # Errors
    /// As above; and where it has more than 2³¹ arcs.
    pub fn closeness_of_graph(
        &mut self,
        graph: &Graph,
        measure: Closeness,
        normalized: bool,
        observer: &dyn Observer,
    ) -> Result<(Vec<f64>, SwarmSeconds), RunError> {
        let question = Question::Closeness { measure, normalized };
        self.values(Alone::new(graph)?.graphs(), question, observer)
    }

    /// The betweenness of each vertex of a graph alone.
    ///
    /// # Errors
    /// As above.
    pub fn betweenness_of_graph(
        &mut self,
        graph: &Graph,
        normalized: bool,
        observer: &dyn Observer,
    ) -> Result<(Vec<f64>, SwarmSeconds), RunError> {
        let question = Question::Betweenness { normalized };
        self.values(Alone::new(graph)?.graphs(), question, observer)
    }

    /// What the distances from each vertex of a graph alone come to.
    ///
    /// # Errors
    /// As above.
    pub fn reach_of_graph(
        &mut self,
        graph: &Graph,
        observer: &dyn Observer,
    ) -> Result<(Vec<Reach>, SwarmSeconds), RunError> {
        self.distances(Alone::new(graph)?.graphs(), observer)
    }

    /// The memory that a run over a graph alone will need.
    ///
    /// # Errors
    /// Where the graph has more than 2³¹ arcs, or the host refuses memory.
    pub fn plan_of_graph(&self, graph: &Graph, question: Question) -> Result<Plan, RunError> {
        let alone = Alone::new(graph)?;
        let layout = Layout::new(alone.graphs(), question, self.machine(), self.tuning);
        Ok(layout.map_err(refused)?.plan)
    }

    fn machine(&self) -> Machine {
        let properties = self.executor.device().properties();
        Machine {
            multiprocessors: properties.multiprocessors,
            shared: properties.shared_per_block.min(self.tuning.most_shared),
            scratch: (properties.memory / SCRATCH).min(self.tuning.most_scratch),
        }
    }

    fn values(
        &mut self,
        graphs: Graphs<'_>,
        question: Question,
        observer: &dyn Observer,
    ) -> Result<(Vec<f64>, SwarmSeconds), RunError> {
        let mut values = memory::zeros(graphs.vertices() as usize).map_err(refused)?;
        let to = Results { values: &mut values, ..Results::default() };
        let seconds = self.ask_all(graphs, question, to, observer)?;
        Ok((values, seconds))
    }

    fn distances(
        &mut self,
        graphs: Graphs<'_>,
        observer: &dyn Observer,
    ) -> Result<(Vec<Reach>, SwarmSeconds), RunError> {
        check_sums(graphs)?;
        let mut reach = memory::zeros(graphs.vertices() as usize).map_err(refused)?;
        let to = Results { reach: &mut reach, ..Results::default() };
        let seconds = self.ask_all(graphs, Question::Reach, to, observer)?;
        Ok((reach, seconds))
    }

    fn ask_all(
        &mut self,
        graphs: Graphs<'_>,
        question: Question,
        to: Results<'_>,
        observer: &dyn Observer,
    ) -> Result<SwarmSeconds, RunError> {
        let mut seconds = SwarmSeconds::default();
        self.ask(graphs, question, to, &mut seconds, observer)?;
        Ok(seconds)
    }

    /// Asks all graphs at once, or where they do not fit, one half after the other.
    fn ask(
        &mut self,
        graphs: Graphs<'_>,
        question: Question,
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
                let (to_left, to_right) = to.split(left);
                self.ask(left, question, to_left, seconds, observer)?;
                return self.ask(right, question, to_right, seconds, observer);
            }
            fits?;
        }
        seconds.upload += start.elapsed().as_secs_f64();
        self.run(&layout, (graphs, question), to, seconds, observer)
    }

    fn run(
        &mut self,
        layout: &Layout,
        (graphs, question): (Graphs<'_>, Question),
        to: Results<'_>,
        seconds: &mut SwarmSeconds,
        observer: &dyn Observer,
    ) -> Result<(), RunError> {
        let start = Instant::now();
        self.module(Kind::new(question, graphs.is_directed()))?;
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
            to.read(run, graphs)?;
            lap(&mut seconds.download);
            Ok(())
        })
    }

    /// Does something with graphs that are on the device.
    fn with_run(
        &mut self,
        layout: &Layout,
        (graphs, question): (Graphs<'_>, Question),
        work: impl FnOnce(&Run<'_, D>) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let module = self.module(Kind::new(question, graphs.is_directed()))?;
        self.make_room(layout)?;
        let Some((memory, _)) = &self.memory else { return Ok(()) };
        let on_device = (&self.modules[module].1, memory);
        let device = self.executor.device();
        let run = Run::new(device, on_device, layout, (graphs, question), self.tuning);
        work(&run.map_err(failed)?)
    }

    /// Bytes of the device's memory that are kept.
    fn kept(&self) -> u64 {
        self.memory.as_ref().map_or(0, |(_, bytes)| *bytes)
    }

    /// The place of the kernels among those that are kept.
    fn module(&mut self, kind: Kind) -> Result<usize, RunError> {
        if let Some(place) = self.modules.iter().position(|(of, _)| *of == kind) {
            return Ok(place);
        }
        let module = self.executor.device().load(&source::of_kind(kind)).map_err(failed)?;
        self.modules.push((kind, module));
        Ok(self.modules.len() - 1)
    }

    /// Reserves memory, where what is kept does not suffice.
    fn make_room(&mut self, layout: &Layout) -> Result<(), RunError> {
        if self.memory.is_some() && self.kept() >= layout.bytes {
            return Ok(());
        }
        // Before more is asked for.
        self.memory = None;
        let memory = self.executor.device().reserve(layout.bytes).map_err(failed)?;
        self.memory = Some((memory, layout.bytes));
        Ok(())
    }
}

/// Where results go: as long as what is asked for, or empty.
#[derive(Default)]
struct Results<'a> {
    values: &'a mut [f64],
    reach: &'a mut [Reach],
    summaries: &'a mut [GraphSummary],
}

impl<'a> Results<'a> {
    /// Those of the first graphs, and the others'.
    fn split(self, left: Graphs<'_>) -> (Results<'a>, Results<'a>) {
        fn cut<T>(all: &mut [T], at: u64) -> (&mut [T], &mut [T]) {
            all.split_at_mut(all.len().min(at as usize))
        }
        let (values, more_values) = cut(self.values, left.vertices());
        let (reach, more_reach) = cut(self.reach, left.vertices());
        let (summaries, more_summaries) = cut(self.summaries, left.len() as u64);
        let others = Results { values: more_values, reach: more_reach, summaries: more_summaries };
        (Results { values, reach, summaries }, others)
    }

    fn read<D: Device>(self, run: &Run<'_, D>, graphs: Graphs<'_>) -> Result<(), RunError> {
        let layout = run.layout;
        run.read(&layout.values, self.values)?;
        run.read(&layout.reach, self.reach)?;
        run.read(&layout.summaries, self.summaries)?;
        for (graph, summary) in self.summaries.iter_mut().enumerate() {
            let turned = if graphs.vertices_of(graph) > 0 { summary.radius } else { u32::MAX };
            summary.radius = !turned;
        }
        Ok(())
    }
}

/// Refuses graphs whose distances may come to more than is counted.
fn check_sums(graphs: Graphs<'_>) -> Result<(), RunError> {
    let vertices = (0..graphs.len()).map(|graph| graphs.vertices_of(graph));
    match vertices.max() {
        Some(most) if most > MOST_SUMMED => Err(RunError::Device(format!(
            "a graph has {most} vertices, and a GPU sums up the distances of at most {MOST_SUMMED}; \
             compute on the CPU (--device cpu)"
        ))),
        _ => Ok(()),
    }
}

fn refused(error: OutOfMemory) -> RunError {
    RunError::OutOfMemory { bytes: error.bytes }
}
