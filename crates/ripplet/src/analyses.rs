//! Analyses of a graph by name, on a device that is chosen at run time.
//!
//! | name | values |
//! |---|---|
//! | `closeness`, `harmonic`, `betweenness` | a number per vertex |
//! | `edge-betweenness` | a number per edge |
//! | `distances` | a number per pair of vertices |
//! | `reach` | eccentricity, reached vertices and average distance per vertex |
//! | `summary` | diameter, radius, average distance and others, for the graph |
//! | `components` | a component per vertex |
//! | `kcore`, `pagerank`, `lcc` | a number per vertex |
//!
//! ```
//! let graph = ripplet::graph_from_edges([("ann", "bob"), ("bob", "cid")])?;
//! let found = ripplet::analyse(&graph, "betweenness")?.device("cpu".parse()?).run()?;
//! let values: Vec<_> = found.by_vertex()?.map(|(id, value)| (id.to_string(), value)).collect();
//! assert_eq!(values, [("ann".into(), 0.0), ("bob".into(), 1.0), ("cid".into(), 0.0)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::device::{
    AnyExecutor, Device, Fallback, GpuWorker, LccError, OpenError, OpenWorkersError, Opened,
    plan_on_cpu,
};
use crate::swarm::{
    Analysis, Column, NotOnDevice, Selection, SwarmError, Worker, of_triangles, pass,
};
use ripplet_analytics::closeness::Closeness;
use ripplet_analytics::lcc::{Definition, Lcc};
use ripplet_analytics::pagerank::{Jumps, PageRank};
use ripplet_analytics::{AnalysisError, Lengths, PathAnalysis, RankPart, Sources};
use ripplet_graph::{ExternalId, Graph, GraphView, Observer, VertexId, memory};
use ripplet_io::write::{ColumnData, Part};
use ripplet_lp::engine::Parts;
use ripplet_lp::{Plan, RunError};
use ripplet_ranks::{Comm, SharedComm};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::str::FromStr;
use std::sync::PoisonError;
use thiserror::Error;

/// Name of an analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnalysisName {
    /// Closeness: the reciprocal of the sum of distances.
    Closeness,
    /// Harmonic centrality: the sum of the reciprocals of distances.
    Harmonic,
    /// Betweenness of vertices.
    Betweenness,
    /// Betweenness of edges.
    EdgeBetweenness,
    /// Distances of all pairs.
    Distances,
    /// Eccentricity, reached vertices and average distance of each vertex.
    Reach,
    /// Statistics of all distances.
    Summary,
    /// Weakly connected components.
    Components,
    /// Coreness.
    KCore,
    /// PageRank.
    PageRank,
    /// Local clustering coefficients.
    Lcc,
}

/// Error of a name that no analysis has.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("there is no analysis {0}: expected {names}", names = AnalysisName::listed())]
pub struct UnknownAnalysis(pub String);

impl AnalysisName {
    /// All analyses, in the order of the help.
    pub const ALL: [AnalysisName; 11] = [
        AnalysisName::Closeness,
        AnalysisName::Harmonic,
        AnalysisName::Betweenness,
        AnalysisName::EdgeBetweenness,
        AnalysisName::Distances,
        AnalysisName::Reach,
        AnalysisName::Summary,
        AnalysisName::Components,
        AnalysisName::KCore,
        AnalysisName::PageRank,
        AnalysisName::Lcc,
    ];

    /// Returns the name as text, and a line of help.
    fn entry(self) -> (&'static str, &'static str) {
        match self {
            AnalysisName::Closeness => {
                ("closeness", "The reciprocal of the sum of distances to a vertex")
            }
            AnalysisName::Harmonic => {
                ("harmonic", "The sum of the reciprocals of distances to a vertex")
            }
            AnalysisName::Betweenness => {
                ("betweenness", "The number of shortest paths through a vertex")
            }
            AnalysisName::EdgeBetweenness => {
                ("edge-betweenness", "The number of shortest paths along an edge")
            }
            AnalysisName::Distances => ("distances", "The distance of each pair of vertices"),
            AnalysisName::Reach => {
                ("reach", "Eccentricity, reached vertices and average distance of a vertex")
            }
            AnalysisName::Summary => ("summary", "Diameter, radius and average distance"),
            AnalysisName::Components => ("components", "Weakly connected components"),
            AnalysisName::KCore => ("kcore", "The coreness of a vertex"),
            AnalysisName::PageRank => ("pagerank", "The PageRank of a vertex"),
            AnalysisName::Lcc => {
                ("lcc", "The clustering coefficient of a vertex, as LDBC defines it")
            }
        }
    }

    /// Returns the name as text.
    pub fn as_str(self) -> &'static str {
        self.entry().0
    }

    /// Returns a line of help.
    pub fn help(self) -> &'static str {
        self.entry().1
    }

    /// Returns the analysis with its default settings, and this definition of a path's length if it
    /// measures paths.
    pub fn analysis(self, lengths: Lengths) -> Analysis {
        let normalized = false;
        let closeness = |measure| PathAnalysis::Closeness { measure, normalized, lengths };
        match self {
            AnalysisName::Closeness => closeness(Closeness::Reciprocal).into(),
            AnalysisName::Harmonic => closeness(Closeness::Harmonic).into(),
            AnalysisName::Betweenness => PathAnalysis::Betweenness { normalized, lengths }.into(),
            AnalysisName::EdgeBetweenness => {
                PathAnalysis::EdgeBetweenness { normalized, lengths }.into()
            }
            AnalysisName::Distances => PathAnalysis::Distances { lengths }.into(),
            AnalysisName::Reach => PathAnalysis::Reach { lengths }.into(),
            AnalysisName::Summary => PathAnalysis::Summary { lengths }.into(),
            AnalysisName::Components => Analysis::Components,
            AnalysisName::KCore => Analysis::KCore,
            AnalysisName::PageRank => Analysis::PageRank(PageRank::default()),
            AnalysisName::Lcc => Analysis::Lcc(Lcc::new(Definition::Ldbc)),
        }
    }

    fn listed() -> String {
        AnalysisName::ALL.map(AnalysisName::as_str).join(", ")
    }
}

impl fmt::Display for AnalysisName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for AnalysisName {
    type Err = UnknownAnalysis;

    fn from_str(text: &str) -> Result<AnalysisName, UnknownAnalysis> {
        let found = AnalysisName::ALL.into_iter().find(|name| name.as_str() == text);
        found.ok_or_else(|| UnknownAnalysis(text.into()))
    }
}

/// Starts the choices of an analysis by name, with its default settings.
///
/// The graph has plain or compressed lists; the values are the same, bit by bit. The CPU decodes a
/// compressed list when it reads it. A GPU needs plain lists: the whole graph is decoded first.
///
/// # Examples
/// ```
/// use ripplet::graph::compressed::CompressedGraph;
/// use ripplet::{Device, analyse, graph_from_edges};
///
/// let graph = graph_from_edges([(1, 2), (2, 3), (3, 1), (3, 4)])?;
/// let found = analyse(&graph, "pagerank")?.device(Device::cpu()).run()?;
/// let compressed = CompressedGraph::copied(&graph)?;
/// let again = analyse(&compressed, "pagerank")?.device(Device::cpu()).run()?;
/// assert_eq!(found.columns(), again.columns());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no analysis of this name.
pub fn analyse<'g>(
    graph: impl Into<GraphView<'g>>,
    name: &str,
) -> Result<AnalysisRun<'g>, UnknownAnalysis> {
    Ok(AnalysisRun::new(graph, name.parse::<AnalysisName>()?.analysis(Lengths::Hops)))
}

/// Choices of an analysis of a graph: the device, the lengths of paths, jumps of PageRank.
///
/// [`analyse`] begins it by the analysis's name, [`AnalysisRun::new`] with an analysis that has settings of its own.
///
/// # Examples
/// ```
/// use ripplet::analyses::AnalysisRun;
/// use ripplet::analytics::lcc::{Definition, Lcc};
/// use ripplet::swarm::Analysis;
/// use ripplet::{Device, graph_from_edges};
///
/// // A triangle, and a vertex beside it.
/// let graph = graph_from_edges([(1, 2), (2, 3), (3, 1), (3, 4)])?;
/// let analysis = Analysis::Lcc(Lcc::new(Definition::Ldbc));
/// let found = AnalysisRun::new(&graph, analysis).device(Device::cpu()).run()?;
/// let coefficients: Vec<f64> = found.by_vertex()?.map(|(_, value)| value).collect();
/// assert_eq!(coefficients, [1.0, 1.0, 1.0 / 3.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct AnalysisRun<'g> {
    graph: GraphView<'g>,
    analysis: Analysis,
    device: Device,
    memory: Option<u64>,
    jumps: Option<Jumps>,
    sources: Option<Sources>,
    vertices: Option<Sources>,
    ranks: Option<SharedComm>,
}

/// Error of an analysis.
#[derive(Debug, Error)]
pub enum AnalyseError {
    /// The device cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenWorkersError),
    /// Several GPUs share batches of graphs, but not a single graph.
    #[error("the device is several GPUs, and one graph runs on one")]
    SeveralGpus,
    /// The analysis failed.
    #[error(transparent)]
    Run(#[from] SwarmError),
    /// A GPU was asked for on several ranks.
    #[error("the device is a GPU, and ranks share analyses on their CPUs: leave the device out")]
    GpuOnRanks,
    /// The ranks have different graphs or settings.
    #[error(transparent)]
    Ranks(RunError),
    /// The values are not a number per vertex.
    #[error("the analysis has no column with a number per vertex")]
    NotByVertex,
}

impl<'g> AnalysisRun<'g> {
    /// Returns the choices of an analysis with settings of its own.
    pub fn new(graph: impl Into<GraphView<'g>>, analysis: Analysis) -> AnalysisRun<'g> {
        AnalysisRun {
            graph: graph.into(),
            analysis,
            device: Device::auto(),
            memory: None,
            jumps: None,
            sources: None,
            vertices: None,
            ranks: None,
        }
    }

    /// Chooses the device.
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// Chooses what the length of a path is, if the analysis measures paths: arcs by default.
    #[must_use]
    pub fn lengths(mut self, chosen: Lengths) -> Self {
        match &mut self.analysis {
            Analysis::Paths(paths) => *paths = paths.with_lengths(chosen),
            Analysis::SampledBetweenness { lengths, .. }
            | Analysis::SampledCloseness { lengths, .. } => *lengths = chosen,
            _ => {}
        }
        self
    }

    /// Personalizes PageRank: walks jump to these vertices instead of to any. Other analyses are then refused.
    ///
    /// # Examples
    /// ```
    /// use ripplet::analytics::pagerank::Jumps;
    /// use ripplet::{analyse, graph_from_edges};
    ///
    /// let graph = graph_from_edges([(7, 8), (8, 9)])?;
    /// let jumps = Jumps::to(3, [(0, 1.0)])?;
    /// let near = analyse(&graph, "pagerank")?.personalize(jumps.clone()).run()?;
    /// let values: Vec<f64> = near.by_vertex()?.map(|(_, value)| value).collect();
    /// assert!(values[0] > values[2]);
    /// assert!(analyse(&graph, "kcore")?.personalize(jumps).run().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn personalize(mut self, jumps: Jumps) -> Self {
        self.jumps = Some(jumps);
        self
    }

    /// Chooses the vertices from which distances are searched, instead of all: the values are then those of their pairs
    /// with all vertices, source by source. The CPU computes them. Other analyses are then refused.
    ///
    /// # Examples
    /// ```
    /// use ripplet::analytics::Sources;
    /// use ripplet::swarm::Column;
    /// use ripplet::{analyse, graph_from_edges};
    ///
    /// let graph = graph_from_edges([(7, 8), (8, 9)])?;
    /// let last = Sources::new(3, [2])?;
    /// let found = analyse(&graph, "distances")?.sources(last.clone()).run()?;
    /// assert_eq!(found.columns(), [("distance", Column::F64(vec![2.0, 1.0, 0.0]))]);
    /// assert!(analyse(&graph, "closeness")?.sources(last).run().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sources(mut self, sources: Sources) -> Self {
        self.sources = Some(sources);
        self
    }

    /// Chooses the vertices whose closeness is computed, instead of that of all, in ascending order: in a time that grows with
    /// their number. The CPU computes it. Other analyses, and samples, are then refused.
    ///
    /// # Examples
    /// ```
    /// use ripplet::analytics::Sources;
    /// use ripplet::{analyse, graph_from_edges};
    ///
    /// let graph = graph_from_edges([(7, 8), (8, 9)])?;
    /// let last = Sources::new(3, [2])?;
    /// let found = analyse(&graph, "harmonic")?.vertices(last.clone()).run()?;
    /// let values: Vec<_> = found.by_vertex()?.map(|(id, value)| (id.to_string(), value)).collect();
    /// assert_eq!(values, [("9".into(), 1.5)]);
    /// assert!(analyse(&graph, "betweenness")?.vertices(last).run().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn vertices(mut self, vertices: Sources) -> Self {
        self.vertices = Some(vertices);
        self
    }

    /// Shares the run with other ranks: each of them runs the same analysis at the same time, with the same graph and
    /// choices, and has all values, bit for bit those of one process. Ranks share PageRank, also personalized, components,
    /// and clustering coefficients with their triangles.
    ///
    /// Each rank has the whole graph, computes the values of a part of the vertices on its CPU, and sends them to all others
    /// (of PageRank, in each round). An analysis that ranks do not share, or a GPU that is named, is refused before the first
    /// message ([`SwarmError::NotOnRanks`], [`AnalyseError::GpuOnRanks`]). After any other error, for instance
    /// if graphs or choices differ ([`AnalyseError::Ranks`]), the communicator is aborted, which ends the other ranks.
    ///
    /// # Examples
    /// ```
    /// use ripplet::ranks::Threads;
    /// use ripplet::{analyse, graph_from_edges};
    /// use std::sync::{Arc, Mutex};
    /// use std::time::Duration;
    ///
    /// let graph = graph_from_edges([(1, 2), (2, 3), (3, 1), (3, 4)])?;
    /// let alone = analyse(&graph, "pagerank")?.run()?;
    /// // Processes that `mpirun` started call `ripplet::ranks::mpi::open` instead.
    /// let shared = Threads::run(2, Duration::from_secs(10), |comm| {
    ///     analyse(&graph, "pagerank").unwrap().ranks(Arc::new(Mutex::new(comm))).run()
    /// });
    /// for values in shared {
    ///     assert_eq!(values?.columns(), alone.columns());
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn ranks(mut self, comm: SharedComm) -> Self {
        self.ranks = Some(comm);
        self
    }

    /// Limits the bytes of a GPU's memory that the run may use; by default all that is free.
    #[must_use]
    pub fn device_memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Returns the memory that the run needs beside its values, on the device that it would run on, and the name of that
    /// device. `threads` are those of the CPU: rayon's current pool has as many when the analysis runs.
    ///
    /// # Errors
    /// If the device cannot be opened, or the analysis is not one for its jumps or sources.
    pub fn plan(&self, threads: usize) -> Result<(Plan, String), AnalyseError> {
        if let Some(comm) = &self.ranks {
            let own = self.own(&comm.lock().unwrap_or_else(PoisonError::into_inner));
            return Ok((plan_on_cpu(self.graph, self.plan_of_rank(own)?), "cpu".into()));
        }
        if let Ok(Some((gpu, graph))) = self.opened()? {
            return Ok((gpu.plan(graph, threads)?, gpu.name()));
        }
        let plan = self.analysis.plan_for(self.graph, self.selection()?, threads)?;
        Ok((plan_on_cpu(self.graph, plan), "cpu".into()))
    }

    /// Runs the analysis; the CPU uses rayon's current pool. Under [`Device::auto`], a run that
    /// fails on the GPU is repeated on the CPU.
    ///
    /// Memory: that of the analysis, and its values. Compressed lists are analysed by the CPU, as they are.
    ///
    /// # Errors
    /// If the device cannot be opened, compressed lists are for a GPU, memory is refused, the analysis fails, or it is not one for its jumps or sources.
    pub fn run(&self) -> Result<Analysed<'g>, AnalyseError> {
        self.run_with(&mut ())
    }

    /// Runs the analysis as [`AnalysisRun::run`] does, with an observer, which may cancel.
    ///
    /// # Errors
    /// See [`AnalysisRun::run`]; also if the observer cancels.
    pub fn run_with(&self, observer: &mut dyn Observer) -> Result<Analysed<'g>, AnalyseError> {
        if let Some(comm) = &self.ranks {
            // What ranks do not share is refused on all of them, before the first message.
            self.plan_of_rank(0..0)?;
            let mut comm = comm.lock().unwrap_or_else(PoisonError::into_inner);
            return self.run_on_ranks(&mut comm, observer).inspect_err(|_| comm.abort(1));
        }
        let fallback = match self.opened()? {
            Err(reason) => Some(reason),
            Ok(None) => None,
            Ok(Some((mut gpu, graph))) => {
                let mut values = Collected::default();
                let take = |part: Part<'_>, columns: &[ColumnData<'_>]| values.add(&part, columns);
                match gpu.answer(graph, observer, take) {
                    Ok(()) => return Ok(self.analysed(values, gpu.name(), None)),
                    Err(error) => Some(self.device.fallback(&error).ok_or(error)?),
                }
            }
        };
        let mut values = Collected::default();
        let take = |part: Part<'_>, columns: &[ColumnData<'_>]| values.add(&part, columns);
        self.analysis.of_graph_for(self.graph, self.selection()?, observer, take)?;
        Ok(self.analysed(values, "cpu".into(), fallback))
    }

    /// Returns the vertices whose values a rank computes.
    fn own(&self, comm: &Comm) -> Range<VertexId> {
        Parts::of_ranks(self.graph, comm.size()).of(comm.rank())
    }

    /// Returns the memory that a rank with the vertices `own` needs.
    ///
    /// # Errors
    /// If ranks do not share such a run.
    fn plan_of_rank(&self, own: Range<VertexId>) -> Result<Plan, AnalyseError> {
        if !self.device.is_auto() && !self.device.is_cpu() {
            return Err(AnalyseError::GpuOnRanks);
        }
        match self.selection()? {
            Selection::All | Selection::JumpsTo(_) => {}
            Selection::From(_) | Selection::Of(_) => return Err(SwarmError::NotOnRanks.into()),
        }
        Ok(self.analysis.plan_on_ranks(self.graph, own, self.jumps.as_ref())?)
    }

    fn run_on_ranks(
        &self,
        comm: &mut Comm,
        observer: &mut dyn Observer,
    ) -> Result<Analysed<'g>, AnalyseError> {
        let mut choices = DefaultHasher::new();
        // Numbers are written with all their digits.
        format!("{:?} {:?}", self.analysis, self.jumps).hash(&mut choices);
        let own = [self.graph.identity(), choices.finish()];
        let all = comm.all_gather("graph and choices", &own);
        let all = all.map_err(|error| SwarmError::from(AnalysisError::from(error)))?;
        if let Some(rank) = all.other_than_first() {
            return Err(AnalyseError::Ranks(RunError::RanksDiffer { rank }));
        }
        let part = &mut RankPart::new(self.own(comm), comm);
        let jumps = self.jumps.as_ref();
        let answer = self.analysis.of_graph_on_ranks(self.graph, jumps, part, observer)?;
        let mut values = Collected::default();
        pass(answer, self.graph, |part, columns| values.add(&part, columns))?;
        Ok(self.analysed(values, "cpu".into(), None))
    }

    /// Returns the vertices that the analysis is about.
    ///
    /// # Errors
    /// If one of them is not for this analysis, as all but one of several are.
    fn selection(&self) -> Result<Selection<'_>, SwarmError> {
        let chosen = [
            self.jumps.as_ref().map(Selection::JumpsTo),
            self.sources.as_ref().map(Selection::From),
            self.vertices.as_ref().map(Selection::Of),
        ];
        let mut chosen = chosen.into_iter().flatten();
        chosen.clone().try_for_each(|selection| self.analysis.check(selection))?;
        // Different ones are for different analyses, so there is no further one.
        Ok(chosen.next().unwrap_or_default())
    }

    /// Opens the GPU of the choice, with the lists that it reads: none for the CPU, with the reason if the choice
    /// allowed a GPU.
    fn opened(&self) -> Result<Result<Option<GpuAndLists<'g>>, Fallback>, AnalyseError> {
        // Before a GPU is opened, which knows no selection.
        let selection = self.selection()?;
        if let Analysis::Lcc(lcc) = self.analysis {
            return self.opened_for_lcc(lcc);
        }
        let kernel = match selection {
            Selection::From(_) => Err(NotOnDevice::FROM_SOURCES),
            Selection::Of(_) => Err(NotOnDevice::OF_VERTICES),
            Selection::All | Selection::JumpsTo(_) => self.analysis.on_device(),
        };
        let (workers, fallback) = match kernel {
            Err(why) => (self.device.workers_without_kernel(why, self.memory), None),
            Ok(_) => {
                let chosen = self.device.for_lists(self.graph.into(), self.memory);
                let (device, fallback) = chosen.map_err(OpenWorkersError::from)?;
                (device.open_workers(self.analysis, 1, self.memory), fallback)
            }
        };
        let mut workers = match workers? {
            Err(reason) => return Ok(Err(reason)),
            Ok(workers) if workers.len() > 1 => return Err(AnalyseError::SeveralGpus),
            Ok(workers) => workers,
        };
        Ok(match (workers.pop().zip(self.graph.as_plain()), fallback) {
            (Some((worker, graph)), _) => Ok(Some((Gpu::Paths(Box::new(worker)), graph))),
            (None, Some(reason)) => Err(reason),
            (None, None) => Ok(None),
        })
    }

    /// Opens the GPU for clustering coefficients, as [`AnalysisRun::opened`] does for other analyses.
    fn opened_for_lcc(
        &self,
        lcc: Lcc,
    ) -> Result<Result<Option<GpuAndLists<'g>>, Fallback>, AnalyseError> {
        let chosen = self.device.for_lists(self.graph.into(), self.memory);
        let (device, fallback) = chosen.map_err(OpenWorkersError::from)?;
        let opened = device.open_one(self.memory).map_err(|error| match error {
            OpenError::SeveralGpus => AnalyseError::SeveralGpus,
            error => OpenWorkersError::from(error).into(),
        })?;
        Ok(match (opened, self.graph.as_plain()) {
            (Opened::Gpu(executor), Some(graph)) => Ok(Some((Gpu::Lcc(executor, lcc), graph))),
            // Compressed lists are for the CPU, which the choice is then.
            (Opened::Gpu(_), None) => Ok(None),
            (Opened::Cpu { fallback: other }, _) => match fallback.or(other) {
                Some(reason) => Err(reason),
                None => Ok(None),
            },
        })
    }

    fn analysed(
        &self,
        values: Collected,
        device: String,
        fallback: Option<Fallback>,
    ) -> Analysed<'g> {
        let Collected { columns, ends, vertices } = values;
        let names: Vec<&str> = match self.analysis {
            Analysis::Components => vec!["component"],
            analysis => analysis.columns().iter().map(|&(name, _)| name).collect(),
        };
        let columns = names.into_iter().zip(columns).collect();
        let (graph, analysis) = (self.graph, self.analysis);
        Analysed { graph, analysis, columns, ends, vertices, device, fallback }
    }
}

/// A GPU, and the lists that it reads.
type GpuAndLists<'g> = (Gpu, &'g Graph);

/// A GPU that was opened for an analysis of one graph.
enum Gpu {
    /// For analyses of paths.
    Paths(Box<GpuWorker>),
    /// For clustering coefficients.
    Lcc(AnyExecutor, Lcc),
}

impl Gpu {
    /// Returns its number and model.
    fn name(&self) -> String {
        match self {
            Gpu::Paths(worker) => worker.name(),
            Gpu::Lcc(executor, _) => executor.name(),
        }
    }

    /// Returns the memory that the analysis of a graph needs; on the CPU with `threads` threads.
    fn plan(&self, graph: &Graph, threads: usize) -> Result<Plan, SwarmError> {
        match self {
            Gpu::Paths(worker) => worker.plan_graph(graph).map_err(SwarmError::from),
            Gpu::Lcc(executor, lcc) => Ok(executor.plan_lcc(graph, *lcc, threads)),
        }
    }

    /// Analyses a graph.
    fn answer(
        &mut self,
        graph: &Graph,
        observer: &mut dyn Observer,
        take: impl FnMut(Part<'_>, &[ColumnData<'_>]) -> Result<(), SwarmError>,
    ) -> Result<(), SwarmError> {
        match self {
            Gpu::Paths(worker) => worker.answer_graph(graph, &*observer, take),
            Gpu::Lcc(executor, lcc) => {
                let (found, _) =
                    executor.run_lcc(graph, *lcc, observer).map_err(|error| match error {
                        LccError::Cpu(error) => SwarmError::from(error),
                        LccError::Device(error) => error.into(),
                        error @ (LccError::Compressed | LccError::SeveralGpus) => {
                            RunError::Device(error.to_string()).into()
                        }
                    })?;
                pass(of_triangles(found.coefficients, found.triangles), graph.into(), take)
            }
        }
    }
}

/// The values so far.
#[derive(Default)]
struct Collected {
    columns: Vec<Column>,
    ends: Option<[Vec<VertexId>; 2]>,
    vertices: Option<Vec<VertexId>>,
}

impl Collected {
    fn add(&mut self, part: &Part<'_>, columns: &[ColumnData<'_>]) -> Result<(), SwarmError> {
        if let Part::Components { components, .. } = part {
            self.columns.push(Column::U32(memory::copied(components)?));
        }
        if let Part::Edges { sources, targets, .. } = part {
            self.ends = Some([memory::copied(sources)?, memory::copied(targets)?]);
        }
        if let Part::Chosen { vertices, .. } = part {
            self.vertices = Some(memory::copied(vertices)?);
        }
        for (at, values) in columns.iter().enumerate() {
            match self.columns.get_mut(at) {
                Some(column) => column.append(*values)?,
                None => self.columns.push(Column::of(*values)?),
            }
        }
        Ok(())
    }
}

/// Values of an analysis of a graph.
#[derive(Clone, Debug)]
pub struct Analysed<'g> {
    graph: GraphView<'g>,
    analysis: Analysis,
    columns: Vec<(&'static str, Column)>,
    ends: Option<[Vec<VertexId>; 2]>,
    vertices: Option<Vec<VertexId>>,
    device: String,
    fallback: Option<Fallback>,
}

impl<'g> Analysed<'g> {
    /// Returns the columns, by name: a value per vertex, chosen ones ascending, per edge ([`Analysed::edges`]), or per pair
    /// of vertices, source by source.
    pub fn columns(&self) -> &[(&'static str, Column)] {
        &self.columns
    }

    /// Returns the vertices at both ends of each edge that has a value.
    pub fn edges(&self) -> Option<[&[VertexId]; 2]> {
        self.ends.as_ref().map(|[sources, targets]| [&sources[..], &targets[..]])
    }

    /// Returns each vertex's id and number, if the first column has a number per vertex.
    ///
    /// # Errors
    /// If it has not.
    pub fn by_vertex(&self) -> Result<impl Iterator<Item = (ExternalId<'g>, f64)>, AnalyseError> {
        let first = self.columns.first().filter(|_| self.analysis.has_value_per_vertex());
        let Some((_, column)) = first else { return Err(AnalyseError::NotByVertex) };
        let (ids, chosen) = (self.graph.ids(), self.vertices.as_deref());
        let count = chosen.map_or(self.graph.vertices(), |chosen| chosen.len() as u32);
        Ok((0..count).map(move |at| {
            let vertex = chosen.map_or(at, |chosen| chosen[at as usize]);
            (ids.get(vertex), column.number(at as usize))
        }))
    }

    /// Returns the name of the device that computed them: `cpu`, or the GPU's number and model.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// Returns the reason why it was the CPU, if the choice allowed a GPU.
    pub fn fallback(&self) -> Option<&Fallback> {
        self.fallback.as_ref()
    }
}
