//! The choices of an analysis of one graph.

use super::AnalysisDevice;
use crate::device::Device;
use crate::swarm::{Analysis, Selection, SwarmError};
use ripplet_analytics::pagerank::Jumps;
use ripplet_analytics::{Lengths, Sources};
use ripplet_graph::GraphView;
use ripplet_lp::engine::Parts;
use ripplet_ranks::SharedComm;
use std::sync::Arc;

/// Choices of an analysis of a graph: the device, the lengths of paths, jumps of PageRank.
///
/// [`analyse`](super::analyse) begins it by the analysis's name, [`AnalysisRun::new`] with an analysis that has settings of its own.
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
    pub(super) graph: GraphView<'g>,
    pub(super) analysis: Analysis,
    pub(super) device: Device,
    /// The limit of a GPU's memory.
    pub(super) memory: Option<u64>,
    /// The device if it is open, for this analysis, choice and limit.
    pub(super) opened: Option<Arc<AnalysisDevice>>,
    pub(super) jumps: Option<Jumps>,
    sources: Option<Sources>,
    vertices: Option<Sources>,
    pub(super) ranks: Option<SharedComm>,
    /// The vertices of each rank, if it has their lists alone.
    pub(super) parts: Option<Parts>,
}

impl<'g> AnalysisRun<'g> {
    /// Returns the choices of an analysis with settings of its own.
    pub fn new(graph: impl Into<GraphView<'g>>, analysis: Analysis) -> AnalysisRun<'g> {
        AnalysisRun {
            graph: graph.into(),
            analysis,
            device: Device::auto(),
            memory: None,
            opened: None,
            jumps: None,
            sources: None,
            vertices: None,
            ranks: None,
            parts: None,
        }
    }

    /// Returns the choices of the analysis for which a device was opened. It runs on this device, unless
    /// [`AnalysisRun::device`], [`AnalysisRun::device_memory`] or [`AnalysisRun::lengths`] makes another choice.
    pub fn on(device: AnalysisDevice, graph: impl Into<GraphView<'g>>) -> AnalysisRun<'g> {
        let run = AnalysisRun::new(graph, device.analysis).device(device.choice.clone());
        AnalysisRun { memory: device.memory, opened: Some(Arc::new(device)), ..run }
    }

    /// Chooses the device.
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        (self.device, self.opened) = (device, None);
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
        self.opened = None;
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
    /// message ([`SwarmError::NotOnRanks`], [`AnalyseError::GpuOnRanks`](super::AnalyseError::GpuOnRanks)). After any other
    /// error, for instance if graphs or choices differ ([`AnalyseError::Ranks`](super::AnalyseError::Ranks)), the observer's
    /// [`on_failure`](super::AnalysisObserver::on_failure) ends the other ranks.
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
        (self.ranks, self.parts) = (Some(comm), None);
        self
    }

    /// Shares the run with other ranks as [`AnalysisRun::ranks`] does, with the vertices of each: its graph then needs the
    /// lists of these alone. Whether all have parts of the same graph is for the caller to compare, as
    /// [`LoadOptions::load_part`](crate::LoadOptions::load_part) does.
    #[must_use]
    pub fn ranks_with_parts(mut self, comm: SharedComm, parts: Parts) -> Self {
        (self.ranks, self.parts) = (Some(comm), Some(parts));
        self
    }

    /// Limits the bytes of a GPU's memory that the run may use; by default all that is free.
    #[must_use]
    pub fn device_memory(mut self, bytes: u64) -> Self {
        (self.memory, self.opened) = (Some(bytes), None);
        self
    }

    /// Returns the vertices that the analysis is about.
    ///
    /// # Errors
    /// If one of them is not for this analysis, as all but one of several are.
    pub(super) fn selection(&self) -> Result<Selection<'_>, SwarmError> {
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
}
