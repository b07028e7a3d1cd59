//! Communities of a graph of which each process passes rows of its own, in processes that a launcher of MPI started.

use crate::array::Array;
use crate::communities::{Choices, ids_at};
use crate::error::{Class, Failure, of_table};
use crate::graph::load_options;
use crate::job::Watch;
use crate::options::Options;
use crate::ranks::comm_of;
use crate::table::Table;
use arrow_array::{ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::SchemaRef;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ripplet::graph::{EdgeTable, VertexId, memory};
use ripplet::io::columnar::edges_of_batches;
use ripplet::io::write::numbered_by_size;
use ripplet::io::{ReadError, edge_table};
use ripplet::lp::NO_LABEL;
use ripplet::lp::cpu::CpuExecutor;
use ripplet::lp::quality::Summary;
use ripplet::ranks::SharedComm;
use ripplet::{LoadOptions, LoadPartError};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

/// What a process knows of the communities of all.
#[pyclass(frozen, module = "ripplet._native")]
pub struct ClusterFound {
    rows: (SchemaRef, RecordBatch),
    vertices: u32,
    edges: u64,
    modularity: f64,
    sizes: Array,
    /// Changed and updated vertices, arcs that were read, and seconds, of each round.
    rounds: Vec<(u64, u64, u64, f64)>,
    reason: &'static str,
    seconds: f64,
    /// The number of this process, and of all.
    place: (usize, usize),
}

/// Finds communities together with the other processes, which call it at the same time.
///
/// `table` has the rows of this process; without one it has failed to make them, and the call ends in all processes.
#[pyfunction]
pub fn cluster_communities(
    py: Python<'_>,
    table: Option<&Table>,
    load: Bound<'_, PyDict>,
    options: Bound<'_, PyDict>,
) -> PyResult<ClusterFound> {
    let mut load = load_options(&Options(load))?;
    let options = Options(options);
    let choices = Choices::of(&options)?;
    let batches = table.map(|table| table.batches.clone());
    options.start()?.wait(py, move |watch| {
        (load.read.cancel, load.build.cancel) = (watch.cancel(), watch.cancel());
        let comm = comm_of(choices.ranks)?
            .ok_or_else(|| Failure::input("this process has no others: use ripplet.communities"))?;
        found(batches, &load, choices, &comm, watch)
    })
}

/// Finds communities of the rows of all processes; without `batches`, this one has failed to make its own.
fn found(
    batches: Option<Vec<RecordBatch>>,
    load: &LoadOptions,
    choices: Choices,
    comm: &SharedComm,
    watch: &mut Watch,
) -> Result<ClusterFound, Failure> {
    let begin = Instant::now();
    watch.stage("building the graph");
    let pool = CpuExecutor::new(choices.threads)?;
    let (place, part) = pool.install(|| {
        let edges = batches.map(|batches| edges_of(&batches, load)).transpose();
        let (edges, refused) =
            edges.map_or_else(|error| (None, Some(error)), |edges| (edges, None));
        let mut comm = comm.lock().unwrap_or_else(PoisonError::into_inner);
        // Communities are named by vertices of any process.
        let part = load.part_of_edges(edges, &mut comm, true);
        let part = part.map_err(|error| refused.map_or_else(|| of_part(error), of_table));
        ((comm.rank(), comm.size()), part)
    });
    let part = part?;
    watch.stage("running");
    let labels = choices.rank_labels;
    let search = choices.search((&part.graph).into());
    let search = search.ranks_with_parts(comm.clone(), part.parts.clone()).rank_labels(labels);
    let found = search.labels_with(watch)?;
    let Summary { modularity, .. } = pool.install(|| found.summary())?;
    let outcome = found.outcome();
    let rounds = outcome.rounds.iter();
    let rounds = rounds.map(|r| (r.changed, r.visited, r.scanned, r.seconds)).collect();
    let range = part.parts.of(place.0);
    let own = range.start as usize..range.end as usize;
    let numbers = numbered_by_size(found.labels(), found.labels().len())?;
    let sizes = sizes_of(&numbers)?;
    let placed = |&vertex: &VertexId| found.labels()[vertex as usize] != NO_LABEL;
    let mut vertices: Vec<VertexId> = memory::with_room(own.len())?;
    vertices.extend(range.filter(placed));
    let labels: Vec<VertexId> =
        memory::collected(vertices.iter().map(|&vertex| found.labels()[vertex as usize]))?;
    let number = |&vertex: &VertexId| numbers[vertex as usize];
    let numbers = memory::collected(vertices.iter().map(number))?;
    let ids = part.graph.ids();
    let rows = RecordBatch::try_from_iter([
        ("id", ids_at(ids, &vertices)?),
        ("community", ids_at(ids, &labels)?),
        ("number", Arc::new(UInt32Array::from(numbers)) as ArrayRef),
    ])
    .map_err(Failure::input)?;
    Ok(ClusterFound {
        rows: (rows.schema(), rows),
        vertices: part.graph.vertices(),
        edges: part.summary.map_or(0, |summary| summary.edges),
        modularity,
        sizes: Array::of(sizes),
        rounds,
        reason: outcome.reason.name(),
        seconds: begin.elapsed().as_secs_f64(),
        place,
    })
}

/// Returns the edges of rows, of which there may be none.
fn edges_of(batches: &[RecordBatch], load: &LoadOptions) -> Result<EdgeTable, ReadError> {
    if batches.iter().all(|batch| batch.num_rows() == 0) {
        return Ok(edge_table::<(u64, u64)>([]).expect("there is no row that could be wrong"));
    }
    edges_of_batches(batches, &load.read)
}

/// Returns the number of members of each community.
fn sizes_of(numbers: &[u32]) -> Result<Vec<u64>, Failure> {
    let placed = || numbers.iter().filter(|&&number| number != NO_LABEL);
    let communities = placed().max().map_or(0, |&last| last as usize + 1);
    let mut sizes = memory::filled(0u64, communities)?;
    placed().for_each(|&number| sizes[number as usize] += 1);
    Ok(sizes)
}

fn of_part(error: LoadPartError) -> Failure {
    match error {
        LoadPartError::Load(ripplet::LoadError::Read(error)) => of_table(error),
        LoadPartError::Load(error) => error.into(),
        LoadPartError::Elsewhere => Failure::new(
            Class::Run,
            "another process could not make its rows: its own error says why",
        ),
        error => Failure::new(Class::Run, error),
    }
}

#[pymethods]
impl ClusterFound {
    /// The rows of this process's vertices: `id`, `community` and `number`.
    #[getter]
    fn rows(&self) -> Table {
        let (schema, rows) = self.rows.clone();
        Table { schema, batches: vec![rows] }
    }

    /// Vertices, and rows of edges, of all processes.
    #[getter]
    fn counts(&self) -> (u32, u64) {
        (self.vertices, self.edges)
    }

    #[getter]
    fn modularity(&self) -> f64 {
        self.modularity
    }

    /// The number of members of each community, the largest first.
    #[getter]
    fn sizes(&self) -> Array {
        self.sizes.clone()
    }

    /// This process's number, and the number of processes.
    #[getter]
    fn place(&self) -> (usize, usize) {
        self.place
    }

    /// Changed and updated vertices, arcs that were read, and seconds, of each round.
    #[getter]
    fn rounds(&self) -> Vec<(u64, u64, u64, f64)> {
        self.rounds.clone()
    }

    #[getter]
    fn reason(&self) -> &str {
        self.reason
    }

    #[getter]
    fn seconds(&self) -> f64 {
        self.seconds
    }
}
