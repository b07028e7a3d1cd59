//! Analyses of a graph: centralities, distances, components, cores, ranks, clustering coefficients.

use crate::array::Array;
use crate::error::{Class, Failure};
use crate::graph::Graph;
use crate::options::{Options, vertices};
use crate::ranks::{self, Shared, comm_of};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ripplet::Device;
use ripplet::analyses::{AnalysisName, AnalysisRun};
use ripplet::analytics::closeness::Closeness;
use ripplet::analytics::lcc::{Definition, Lcc};
use ripplet::analytics::pagerank::{Jumps, JumpsError, PageRank, Stop};
use ripplet::analytics::{Lengths, PathAnalysis, Sample, Sources, SourcesError};
use ripplet::device::threads_beside;
use ripplet::graph::{GraphView, VertexId, memory};
use ripplet::lp::cpu::CpuExecutor;
use ripplet::lp::{Item, Plan};
use ripplet::swarm::{Analysis, Column};

/// Values of an analysis.
#[pyclass(frozen, module = "ripplet._native")]
pub struct Values {
    columns: Vec<(&'static str, Array)>,
    ends: Option<(Array, Array)>,
    device: String,
    fallback: Option<String>,
}

#[pymethods]
impl Values {
    /// The columns by name.
    #[getter]
    fn columns(&self) -> Vec<(&'static str, Array)> {
        self.columns.clone()
    }

    /// The vertices at both ends of each edge with a value.
    #[getter]
    fn ends(&self) -> Option<(Array, Array)> {
        self.ends.clone()
    }

    #[getter]
    fn device(&self) -> &str {
        &self.device
    }

    #[getter]
    fn fallback(&self) -> Option<&str> {
        self.fallback.as_deref()
    }
}

/// Networkx's tolerance of ranks, and the rounds within which it has to be reached, as the command has them.
const TOLERANCE: f64 = 1e-6;
const MOST_ROUNDS: u32 = 1000;

/// Memory of a run: the graph and the needs beside it by purpose, on the host and on a device, lists that stay on the host, and
/// the name of the device.
pub type Planned = ((u64, Vec<(&'static str, u64)>), (u64, Vec<(&'static str, u64)>), u64, String);

/// Returns a plan as Python takes it.
pub fn planned(plan: &Plan, device: String) -> Planned {
    let needs = |items: &[Item]| items.iter().map(|item| (item.purpose, item.bytes)).collect();
    let host = (plan.graph_host, needs(&plan.items));
    (host, (plan.graph_device, needs(&plan.device_items)), plan.graph_streamed, device)
}

/// An analysis and its device, as options name them.
struct Asked {
    analysis: Analysis,
    device: Device,
    memory_of_device: Option<u64>,
    /// The vertices to which walks jump, with their weights.
    personalize: Option<Vec<(VertexId, f64)>>,
    /// The vertices from which distances are searched.
    sources: Option<Vec<VertexId>>,
    /// The vertices of which values are computed.
    vertices: Option<Vec<VertexId>>,
    /// Which processes share the run, and the time after which one is lost.
    ranks: Shared,
    threads: Option<usize>,
}

impl Asked {
    fn read(name: &str, options: &Options<'_>) -> PyResult<Asked> {
        let name: AnalysisName = name.parse().map_err(Failure::input)?;
        let chosen = |name| match options.any(name)? {
            Some(chosen) => vertices(&chosen, name).map(Some),
            None => Ok(None),
        };
        Ok(Asked {
            analysis: analysis_of(name, options)?,
            device: options.parsed("device")?.unwrap_or_else(Device::auto),
            memory_of_device: options.count("device_memory", 1)?,
            personalize: options.weighted_vertices("personalize")?,
            sources: chosen("sources")?,
            vertices: chosen("vertices")?,
            ranks: ranks::of(options)?,
            threads: options.threads()?,
        })
    }

    /// Returns the analysis of a graph.
    fn of(self, graph: GraphView<'_>) -> Result<AnalysisRun<'_>, Failure> {
        let mut run = AnalysisRun::new(graph, self.analysis).device(self.device);
        if let Some(bytes) = self.memory_of_device {
            run = run.device_memory(bytes);
        }
        if let Some(vertices) = self.personalize {
            let jumps = Jumps::to(graph.vertices(), vertices);
            run = run.personalize(jumps.map_err(|error| match error {
                JumpsError::OutOfMemory(error) => error.into(),
                // The library has numbers of vertices, and the user their ids.
                JumpsError::Weight { vertex, weight } => Failure::input(format!(
                    "personalize: the weight {weight:?} of {} is no finite number, 0 or above, or makes the sum of all too \
                     large",
                    graph.ids().get(vertex)
                )),
                error => Failure::input(error),
            })?);
        }
        let of_graph = |vertices| match Sources::new(graph.vertices(), vertices) {
            Ok(sources) => Ok(sources),
            Err(SourcesError::OutOfMemory(error)) => Err(error.into()),
            Err(error) => Err(Failure::input(error)),
        };
        if let Some(vertices) = self.sources {
            run = run.sources(of_graph(vertices)?);
        }
        if let Some(vertices) = self.vertices {
            run = run.vertices(of_graph(vertices)?);
        }
        Ok(run)
    }
}

/// Returns the memory that an analysis needs.
#[pyfunction]
pub fn plan_analysis(
    py: Python<'_>,
    graph: &Graph,
    name: &str,
    options: Bound<'_, PyDict>,
) -> PyResult<Planned> {
    let options = Options(options);
    let asked = Asked::read(name, &options)?;
    let stored = graph.stored.clone();
    options.start()?.run(py, move |_| {
        let (plan, device) = asked.of(stored.view())?.plan(rayon::current_num_threads())?;
        Ok(planned(&plan, device))
    })
}

/// Runs an analysis by its name.
#[pyfunction]
pub fn analyse(
    py: Python<'_>,
    graph: &Graph,
    name: &str,
    options: Bound<'_, PyDict>,
) -> PyResult<Values> {
    let options = Options(options);
    let asked = Asked::read(name, &options)?;
    let stored = graph.stored.clone();
    options.start()?.run(py, move |watch| {
        watch.stage("running");
        let ranks = asked.ranks;
        let threads = asked.threads;
        let run = asked.of(stored.view())?;
        let found = match comm_of(ranks)? {
            None => run.run_with(watch)?,
            Some(comm) => {
                let threads = threads_beside(threads, &comm)
                    .map_err(|error| Failure::new(Class::Run, error))?;
                CpuExecutor::new(threads)?.install(|| run.ranks(comm).run_with(watch))?
            }
        };
        let mut columns = Vec::new();
        for (name, column) in found.columns() {
            let array = match column {
                Column::U32(values) => Array::of(memory::copied(values)?),
                Column::U64(values) => Array::of(memory::copied(values)?),
                Column::F64(values) => Array::of(memory::copied(values)?),
                Column::Bool(values) => Array::of(memory::copied(values)?),
            };
            columns.push((*name, array));
        }
        let ends = match found.edges() {
            None => None,
            Some([sources, targets]) => {
                Some((Array::of(memory::copied(sources)?), Array::of(memory::copied(targets)?)))
            }
        };
        let fallback = found.fallback().map(|fallback| fallback.reason.clone());
        Ok(Values { columns, ends, device: found.device().into(), fallback })
    })
}

/// Returns the sample of the vertices, if one is requested.
fn sample(options: &Options<'_>) -> PyResult<Option<Sample>> {
    match (options.count32("samples", 2)?, options.count("seed", 0)?) {
        (None, Some(_)) => {
            Err(Failure::input("seed is for a sample: give samples, or leave it out").into())
        }
        (vertices, seed) => {
            Ok(vertices.map(|vertices| Sample { vertices, seed: seed.unwrap_or(0) }))
        }
    }
}

pub fn analysis_of(name: AnalysisName, options: &Options<'_>) -> PyResult<Analysis> {
    let normalized = options.flag("normalized")?;
    let lengths = match options.flag("weighted")? {
        true => Lengths::Weights,
        false => Lengths::Hops,
    };
    Ok(match name {
        AnalysisName::Closeness => {
            let measure = match options.text("measure")?.as_deref() {
                None | Some("reciprocal") => Closeness::Reciprocal,
                Some("wasserman-faust") if normalized => {
                    let message =
                        "normalized would change nothing: this measure is normalized as it is";
                    return Err(Failure::input(message).into());
                }
                Some("wasserman-faust") => Closeness::WassermanFaust,
                Some(other) => {
                    let message =
                        format!("measure: expected reciprocal or wasserman-faust, not {other}");
                    return Err(Failure::input(message).into());
                }
            };
            let normalized = normalized || measure == Closeness::WassermanFaust;
            Analysis::closeness(measure, normalized, lengths, sample(options)?)
        }
        AnalysisName::Harmonic => {
            Analysis::closeness(Closeness::Harmonic, normalized, lengths, sample(options)?)
        }
        AnalysisName::Betweenness | AnalysisName::EdgeBetweenness => {
            let edges = name == AnalysisName::EdgeBetweenness;
            match (sample(options)?, edges) {
                (Some(sample), _) => {
                    Analysis::SampledBetweenness { edges, normalized, lengths, sample }
                }
                (None, false) => PathAnalysis::Betweenness { normalized, lengths }.into(),
                (None, true) => PathAnalysis::EdgeBetweenness { normalized, lengths }.into(),
            }
        }
        AnalysisName::PageRank => {
            let damping = options.number("damping")?.unwrap_or(0.85);
            let rounds = options.count32("iterations", 0)?;
            let tolerance = options.number("tolerance")?;
            if rounds.is_some() && tolerance.is_some() {
                return Err(Failure::input(
                    "iterations is an exact number of rounds: leave tolerance out",
                )
                .into());
            }
            let most = options.count32("most_rounds", 1)?.unwrap_or(MOST_ROUNDS);
            let stop = match rounds {
                Some(rounds) => Stop::Rounds(rounds),
                None => Stop::Tolerance { tolerance: tolerance.unwrap_or(TOLERANCE), rounds: most },
            };
            Analysis::PageRank(PageRank { damping, stop, weighted: lengths == Lengths::Weights })
        }
        AnalysisName::Lcc => {
            let definition = match options.text("definition")?.as_deref() {
                None | Some("ldbc") => Definition::Ldbc,
                Some("fagiolo") => Definition::Fagiolo,
                Some(other) => {
                    let message = format!("definition: expected ldbc or fagiolo, not {other}");
                    return Err(Failure::input(message).into());
                }
            };
            Analysis::Lcc(Lcc::new(definition).with_triangles())
        }
        name => name.analysis(lengths),
    })
}
