//! Swarms: an analysis of each graph of a batch.

use crate::analyses::analysis_of;
use crate::communities::Choices;
use crate::error::{Class, Failure, of_table};
use crate::graph::load_options;
use crate::job::Watch;
use crate::options::Options;
use crate::table::Table;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ripplet::Device;
use ripplet::LoadOptions;
use ripplet::Observer;
use ripplet::analyses::AnalysisName;
use ripplet::analytics::lcc::{Definition, Lcc};
use ripplet::graph::batch::{BatchGraph, GraphBatch};
use ripplet::io::batch::{BatchOptions, BatchPart, BatchReader, OnError, graphs_of_batches};
use ripplet::io::write::{ArrowTableWriter, ColumnData, ColumnKind, Rows, Subject, TableShape};
use ripplet::io::{Place, ReadError, is_remote};
use ripplet::lp::cpu::CpuExecutor;
use ripplet::swarm::{
    Analysis, Column, CommunitiesWorker, CpuWorker, Cut, Parts, SwarmError, Worker,
};
use std::path::PathBuf;
use std::sync::Arc;

/// The arcs and vertices of a part, and the most rows of its answer, as the command has them.
const PART: u64 = 1 << 24;

/// Graphs of a batch: those of a table in memory, or of files that each run reads.
#[pyclass(frozen, module = "ripplet._native")]
pub struct Swarm(Arc<Source>);

enum Source {
    Table(Arc<GraphBatch>),
    Files(PathBuf, Box<BatchOptions>),
}

/// What a run found: the table, the device, why it is the CPU, and the graphs that were skipped.
type Found = (Table, String, Option<String>, Vec<(String, String)>);

#[pymethods]
impl Swarm {
    /// Builds the graphs of a table with a row for each edge.
    #[staticmethod]
    fn of_table(py: Python<'_>, table: &Table, options: Bound<'_, PyDict>) -> PyResult<Swarm> {
        let options = Options(options);
        let batch_options = batch_options(&options)?;
        let batches = table.batches.clone();
        let batch = options.start()?.run(py, move |watch| {
            watch.stage("building the graphs");
            graphs_of_batches(&batches, &batch_options).map_err(of_table)
        })?;
        Ok(Swarm(Arc::new(Source::Table(Arc::new(batch)))))
    }

    /// Returns the graphs of a folder, an archive, a file `.swarm` or a table in a file, which each run reads.
    #[staticmethod]
    fn of_files(path: PathBuf, options: Bound<'_, PyDict>) -> PyResult<Swarm> {
        if !is_remote(&path) && !path.exists() {
            let error = std::io::Error::from(std::io::ErrorKind::NotFound);
            return Err(Failure::from(ReadError::io(&path, Place::File, error)).into());
        }
        Ok(Swarm(Arc::new(Source::Files(path, Box::new(batch_options(&Options(options))?)))))
    }

    /// The numbers of graphs and of vertices, if the graphs are in memory.
    #[getter]
    fn size(&self) -> Option<(usize, u64)> {
        match &*self.0 {
            Source::Table(batch) => Some((batch.len(), batch.vertices())),
            Source::Files(..) => None,
        }
    }

    /// Runs an analysis of each graph by its name.
    fn analyse(&self, py: Python<'_>, name: &str, options: Bound<'_, PyDict>) -> PyResult<Found> {
        let options = Options(options);
        let name: AnalysisName = name.parse().map_err(Failure::input)?;
        let analysis = match (analysis_of(name, &options)?, options.flag("triangles")?) {
            (Analysis::Lcc(_), false) => {
                let definition = match options.text("definition")?.as_deref() {
                    Some("fagiolo") => Definition::Fagiolo,
                    _ => Definition::Ldbc,
                };
                Analysis::Lcc(Lcc::new(definition))
            }
            (analysis, _) => analysis,
        };
        let device = options.parsed("device")?.unwrap_or_else(Device::auto);
        let memory = options.count("device_memory", 1)?;
        let weighted = options.flag("weighted")?;
        let source = self.0.clone();
        options.start()?.run(py, move |watch| {
            watch.stage("running");
            let mut fallback = None;
            match device.open_workers(analysis, 1, memory)? {
                Err(reason) => fallback = Some(reason.reason),
                Ok(mut gpus) => {
                    if let Some(mut gpu) = gpus.pop() {
                        if !gpus.is_empty() {
                            let message =
                                "the device is several GPUs, and a swarm from Python runs on one";
                            return Err(Failure::input(message));
                        }
                        match run(&source, &mut gpu, shape_of(analysis), weighted, watch) {
                            Err(Ended::Swarm(error)) => match device.fallback(&error) {
                                Some(reason) => fallback = Some(reason.reason),
                                None => return Err(error.into()),
                            },
                            Err(Ended::Other(failure)) => return Err(failure),
                            Ok((table, skipped)) => {
                                return Ok((table, gpu.name(), None, skipped));
                            }
                        }
                    }
                }
            }
            let mut cpu = CpuWorker::new(analysis);
            let (table, skipped) = run(&source, &mut cpu, shape_of(analysis), weighted, watch)?;
            Ok((table, cpu.name(), fallback, skipped))
        })
    }

    /// Finds the communities of each graph.
    fn communities(&self, py: Python<'_>, options: Bound<'_, PyDict>) -> PyResult<Found> {
        let options = Options(options);
        let choices = Choices::of(&options)?;
        let (program, settings) = choices.of_each_graph()?;
        let source = self.0.clone();
        let threads = options.threads()?;
        options.start()?.wait(py, move |watch| {
            watch.stage("running");
            let pool = CpuExecutor::new(threads)?;
            let mut worker = CommunitiesWorker::new(program, settings, pool.threads())?;
            let shape = TableShape { rows: Rows::Communities, of_batch: true, columns: &[] };
            let (table, skipped) =
                pool.install(|| run(&source, &mut worker, shape, false, watch))?;
            Ok((table, worker.name(), None, skipped))
        })
    }
}

/// Returns the shape of the table of an analysis.
fn shape_of(analysis: Analysis) -> TableShape<'static> {
    let columns: &'static [(&'static str, ColumnKind)] = analysis.columns();
    TableShape { rows: analysis.rows(), of_batch: true, columns }
}

/// Why a run ended early.
enum Ended {
    Swarm(SwarmError),
    Other(Failure),
}

impl<E: Into<SwarmError>> From<E> for Ended {
    fn from(error: E) -> Ended {
        Ended::Swarm(error.into())
    }
}

impl From<Ended> for Failure {
    fn from(ended: Ended) -> Failure {
        match ended {
            Ended::Swarm(error) => error.into(),
            Ended::Other(failure) => failure,
        }
    }
}

/// One part of graphs in memory.
struct Once(Option<BatchPart>);

impl Parts for Once {
    fn next_part(&mut self) -> Result<Option<BatchPart>, ReadError> {
        Ok(self.0.take())
    }

    fn progress(&self) -> f64 {
        if self.0.is_none() { 1.0 } else { 0.0 }
    }
}

/// The table of a run, and the graphs that were skipped, with the reasons.
type Done = (Table, Vec<(String, String)>);

/// Lets a worker answer the graphs, part by part, on the current pool of threads.
fn run(
    source: &Source,
    worker: &mut dyn Worker,
    shape: TableShape<'_>,
    weighted: bool,
    watch: &mut Watch,
) -> Result<Done, Ended> {
    let weight: fn(BatchGraph<'_>) -> u64 = match shape.rows {
        Rows::Pairs => |graph| u64::from(graph.vertices()).pow(2),
        _ => |_| 0,
    };
    let mut table = ArrowTableWriter::new(shape);
    let skipped = match source {
        Source::Table(batch) => {
            let part = BatchPart { batch: batch.clone(), graphs: 0..batch.len() };
            let mut once = Once(Some(part));
            answer(&mut Cut::new(&mut once, PART, weight), worker, &mut table, weighted, watch)?;
            Vec::new()
        }
        Source::Files(path, options) => {
            let mut reader = BatchReader::open(path, options)?;
            answer(&mut Cut::new(&mut reader, PART, weight), worker, &mut table, weighted, watch)?;
            let skipped = reader.skipped().iter();
            skipped.map(|skipped| (skipped.graph.clone(), skipped.error.to_string())).collect()
        }
    };
    let (schema, batches) = table.finish()?;
    Ok((Table { schema, batches }, skipped))
}

fn answer(
    parts: &mut dyn Parts,
    worker: &mut dyn Worker,
    table: &mut ArrowTableWriter,
    weighted: bool,
    watch: &mut Watch,
) -> Result<(), Ended> {
    while let Some(part) = parts.next_part()? {
        if watch.is_cancelled() {
            return Err(SwarmError::Cancelled.into());
        }
        watch.on_progress(parts.progress());
        if weighted && !part.batch.is_weighted() {
            return Err(Ended::Other(Failure::input(
                "the graphs have no weights: make the swarm with weight=, or leave weighted out",
            )));
        }
        let graphs = part.slice();
        let found = worker.answer(graphs, &*watch)?;
        let columns: Vec<ColumnData<'_>> = found.columns().iter().map(Column::data).collect();
        table.append(found.part(Subject::Batch(graphs)), &columns)?;
    }
    Ok(())
}

/// Returns the options of a batch.
fn batch_options(options: &Options<'_>) -> PyResult<BatchOptions> {
    let LoadOptions { mut read, build, undirected_only, .. } = load_options(options)?;
    if let Some(graph) = options.text("graph")? {
        read.columns.graph = graph;
    }
    let on_error = match options.text("on_error")?.as_deref() {
        None | Some("stop") => OnError::Stop,
        Some("skip") => OnError::Skip,
        Some(other) => {
            let message = format!("on_error: expected stop or skip, not {other}");
            return Err(Failure::new(Class::Input, message).into());
        }
    };
    Ok(BatchOptions { read, build, undirected_only, on_error, part_size: PART })
}
