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

mod choices;
mod device;
mod found;
mod observer;
mod run;

pub use choices::AnalysisRun;
pub use device::AnalysisDevice;
pub use found::{Analysed, AnalysisReport};
pub use observer::AnalysisObserver;

use crate::device::{DeviceFailure, OpenWorkersError};
use crate::swarm::{Analysis, SwarmError};
use ripplet_analytics::closeness::Closeness;
use ripplet_analytics::lcc::{Definition, Lcc};
use ripplet_analytics::pagerank::PageRank;
use ripplet_analytics::{Lengths, PathAnalysis};
use ripplet_graph::GraphView;
use ripplet_io::write::{ColumnData, Part};
use ripplet_lp::RunError;
use std::fmt;
use std::str::FromStr;
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
/// compressed list when it reads it. A GPU reads plain lists only: compressed ones are analysed by the CPU.
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
    /// A GPU, or a limit of its memory, was asked for on several ranks.
    #[error(
        "a GPU is asked for, and ranks share analyses on their CPUs: leave the device and a limit of its memory out"
    )]
    GpuOnRanks,
    /// The ranks have different graphs or settings.
    #[error(transparent)]
    Ranks(RunError),
    /// The [observer](AnalysisObserver::allows) refused the plan of the run.
    #[error("the plan of the run was refused")]
    Refused,
    /// The values are not a number per vertex.
    #[error("the analysis has no column with a number per vertex")]
    NotByVertex,
}

impl DeviceFailure for AnalyseError {
    fn is_of_device(&self) -> bool {
        matches!(self, AnalyseError::Run(error) if error.is_of_device())
    }
}

/// Receiver of rows and their columns.
type Take<'a> = &'a mut dyn FnMut(Part<'_>, &[ColumnData<'_>]) -> Result<(), SwarmError>;
