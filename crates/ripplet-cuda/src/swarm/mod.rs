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
//! The lists that are read, 16 bytes a graph, and 8 bytes a vertex for values: [`DeviceSwarm::plan`] has it all.
//! It is kept from run to run, and grows with the largest. Graphs that do not fit together are moved one part
//! after the other.
//!
//! # Determinism
//! Numbers of vertices and distances are integers. Each other sum is taken in one order, whoever takes it.

mod graphs;
mod layout;
mod run;
mod schedule;
mod source;

pub use source::source;

use crate::device::Device;
use crate::lp::{DeviceExecutor, failed};
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
    /// What all distances come to.
    Summaries {
        /// Whether each vertex's largest distance is asked for, too.
        eccentricities: bool,
    },
}

/// What all distances of a graph come to, as in [`ripplet_analytics::apsp::Summary`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphSummary {
    /// How many pairs (s, t) have a way from s to t.
    pub pairs: u64,
    /// The sum of their distances.
    pub sum: u64,
    /// The largest distance.
    pub diameter: u32,
    /// The smallest eccentricity.
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
    /// A graph is split whose work is more than that of all over so many times the multiprocessors; for 0
    /// none is.
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
pub struct DeviceSwarm<'a, D: Device> {
    executor: &'a DeviceExecutor<D>,
    tuning: Tuning,
    modules: Vec<(Kind, D::Module)>,
    memory: Option<(D::Memory, u64)>,
}

impl<'a, D: Device> DeviceSwarm<'a, D> {
    /// On this executor's device.
    pub fn new(executor: &'a DeviceExecutor<D>) -> Self {
        DeviceSwarm { executor, tuning: Tuning::default(), modules: Vec::new(), memory: None }
    }

    /// The same with another tuning.
    #[must_use]
    pub fn with_tuning(self, tuning: Tuning) -> Self {
        DeviceSwarm { tuning, ..self }
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

    /// What all distances of each graph come to.
    ///
    /// # Errors
    /// As above; and where a graph has more than 2²¹ vertices, whose distances may come to more than
    /// is counted.
    pub fn summaries(
        &mut self,
        graphs: BatchSlice<'_>,
        observer: &dyn Observer,
    ) -> Result<(Vec<GraphSummary>, SwarmSeconds), RunError> {
        let (summaries, _, seconds) = self.distances(graphs.into(), false, observer)?;
        Ok((summaries, seconds))
    }

    /// The same, and the eccentricity of each vertex in its graph.
    ///
    /// # Errors
    /// As above.
    pub fn eccentricities(
        &mut self,
        graphs: BatchSlice<'_>,
        observer: &dyn Observer,
    ) -> Result<(Vec<GraphSummary>, Vec<u32>, SwarmSeconds), RunError> {
        self.distances(graphs.into(), true, observer)
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

    /// What all distances of a graph come to, and the eccentricity of each vertex.
    ///
    /// # Errors
    /// As above.
    pub fn summary_of_graph(
        &mut self,
        graph: &Graph,
        observer: &dyn Observer,
    ) -> Result<(GraphSummary, Vec<u32>, SwarmSeconds), RunError> {
        let (summaries, eccentricities, seconds) =
            self.distances(Alone::new(graph)?.graphs(), true, observer)?;
        Ok((summaries.first().copied().unwrap_or_default(), eccentricities, seconds))
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
        let mut seconds = SwarmSeconds::default();
        let to = Results { values: &mut values, ..Results::default() };
        self.ask(graphs, question, to, &mut seconds, observer)?;
        Ok((values, seconds))
    }

    fn distances(
        &mut self,
        graphs: Graphs<'_>,
        eccentricities: bool,
        observer: &dyn Observer,
    ) -> Result<(Vec<GraphSummary>, Vec<u32>, SwarmSeconds), RunError> {
        let too_large = |graph: &usize| graphs.vertices_of(*graph) > MOST_SUMMED;
        if let Some(graph) = (0..graphs.len()).find(too_large) {
            return Err(RunError::Device(format!(
                "a graph has {} vertices, and a GPU sums up the distances of at most {MOST_SUMMED}; \
                 compute on the CPU (--device cpu)",
                graphs.vertices_of(graph)
            )));
        }
        let vertices = if eccentricities { graphs.vertices() } else { 0 };
        let mut of_vertices = memory::zeros(vertices as usize).map_err(refused)?;
        let nothing = GraphSummary::default();
        let mut of_graphs = memory::filled(nothing, graphs.len()).map_err(refused)?;
        let mut seconds = SwarmSeconds::default();
        let to = Results {
            summaries: &mut of_graphs,
            eccentricities: &mut of_vertices,
            ..Results::default()
        };
        let question = Question::Summaries { eccentricities };
        self.ask(graphs, question, to, &mut seconds, observer)?;
        Ok((of_graphs, of_vertices, seconds))
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
        let kept = self.memory.as_ref().map_or(0, |(_, bytes)| *bytes);
        if layout.bytes > kept {
            let fits = self.executor.check_memory_beside(&layout.plan, kept);
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
        let kind = Kind::new(question, graphs.is_directed());
        let mut watch = Instant::now();
        let mut lap = |seconds: &mut f64| {
            *seconds += watch.elapsed().as_secs_f64();
            watch = Instant::now();
        };
        let module = self.module(kind)?;
        lap(&mut seconds.kernels);
        self.make_room(layout)?;
        let Some((memory, _)) = &self.memory else { return Ok(()) };
        let device = self.executor.device();
        let on_device = (&self.modules[module].1, memory);
        let run = Run::new(device, on_device, layout, (graphs, question), self.tuning);
        let run = run.map_err(failed)?;
        lap(&mut seconds.upload);
        run.perform(observer)?;
        lap(&mut seconds.compute);
        to.read(&run, graphs)?;
        lap(&mut seconds.download);
        Ok(())
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
        if self.memory.as_ref().is_some_and(|(_, bytes)| *bytes >= layout.bytes) {
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
    summaries: &'a mut [GraphSummary],
    eccentricities: &'a mut [u32],
}

impl<'a> Results<'a> {
    /// Those of the first graphs, and the others'.
    fn split(self, left: Graphs<'_>) -> (Results<'a>, Results<'a>) {
        fn cut<T>(all: &mut [T], at: u64) -> (&mut [T], &mut [T]) {
            all.split_at_mut(all.len().min(at as usize))
        }
        let (values, more_values) = cut(self.values, left.vertices());
        let (summaries, more_summaries) = cut(self.summaries, left.len() as u64);
        let (eccentricities, more_eccentricities) = cut(self.eccentricities, left.vertices());
        let others = Results {
            values: more_values,
            summaries: more_summaries,
            eccentricities: more_eccentricities,
        };
        (Results { values, summaries, eccentricities }, others)
    }

    fn read<D: Device>(self, run: &Run<'_, D>, graphs: Graphs<'_>) -> Result<(), RunError> {
        let layout = run.layout;
        run.read(&layout.values, self.values)?;
        run.read(&layout.eccentricities, self.eccentricities)?;
        if self.summaries.is_empty() {
            return Ok(());
        }
        let mut wide: Vec<u64> = memory::zeros(graphs.len()).map_err(refused)?;
        let mut narrow: Vec<u32> = memory::zeros(graphs.len()).map_err(refused)?;
        run.read(&layout.pairs, &mut wide)?;
        self.summaries.iter_mut().zip(&wide).for_each(|(to, pairs)| to.pairs = *pairs);
        run.read(&layout.sums, &mut wide)?;
        self.summaries.iter_mut().zip(&wide).for_each(|(to, sum)| to.sum = *sum);
        run.read(&layout.diameters, &mut narrow)?;
        self.summaries.iter_mut().zip(&narrow).for_each(|(to, largest)| to.diameter = *largest);
        run.read(&layout.radii, &mut narrow)?;
        for (graph, (to, smallest)) in self.summaries.iter_mut().zip(&narrow).enumerate() {
            to.radius = if graphs.vertices_of(graph) > 0 { *smallest } else { 0 };
        }
        Ok(())
    }
}

fn refused(error: OutOfMemory) -> RunError {
    RunError::OutOfMemory { bytes: error.bytes }
}
