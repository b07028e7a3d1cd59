//! Graphs: built of columns, streams and files, and what Python reads of them.

use crate::array::Array;
use crate::arrow::table_of;
use crate::column::{check_nulls, column_of, kind_of, numbers_of};
use crate::error::{Class, Failure, of_table};
use crate::job::{Start, Watch};
use crate::options::Options;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt, PyList, PyString};
use ripplet::graph::{
    BuildOptions, Direction, Duplicates, EdgeTable, ExternalId, GraphView, Names, SelfLoops,
    VertexId, VertexIds, WeightLedger, memory,
};
use ripplet::io::columnar::{self, edges_of_batches};
use ripplet::io::{Columns, Delimiter, Format, Header, IdKind, ReadOptions, write};
use ripplet::{Input, LoadOptions, Storage, StoredGraph};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// A graph, which does not change.
#[pyclass(frozen, module = "ripplet._native")]
pub struct Graph {
    pub stored: Arc<StoredGraph>,
    /// What the reader of a file says about it.
    summary: Option<String>,
    /// What weights lost when they became integers, if they did.
    loss: Option<String>,
    /// The number of edges, once it is known: the loops of an undirected graph are counted.
    edges: OnceLock<u64>,
}

/// A graph, and what was found while it was built.
struct Built {
    graph: StoredGraph,
    summary: Option<String>,
}

impl Graph {
    /// Builds a graph without the GIL.
    fn build(
        py: Python<'_>,
        options: &Options<'_>,
        read: impl FnOnce(&LoadOptions, &mut Watch) -> Result<Input, Failure> + Send + 'static,
    ) -> PyResult<Graph> {
        let mut load = load_options(options)?;
        let storage = storage(options)?;
        let ledger = load.build.weights.clone();
        let built = options.start()?.run(py, move |watch| {
            watch.stage("reading");
            (load.read.cancel, load.build.cancel) = (watch.cancel(), watch.cancel());
            let input = read(&load, watch)?;
            let summary = input.summary().map(ToString::to_string);
            watch.stage("building the graph");
            Ok(Built { graph: load.store(input, storage)?, summary })
        })?;
        let loss = ledger.loss();
        Ok(Graph {
            stored: Arc::new(built.graph),
            summary: built.summary,
            loss: (loss.changed > 0).then(|| loss.to_string()),
            edges: OnceLock::new(),
        })
    }

    pub fn view(&self) -> GraphView<'_> {
        self.stored.view()
    }

    /// Returns the graph with what its reader says about it.
    pub fn with_summary(self, summary: String) -> Graph {
        Graph { summary: Some(summary), ..self }
    }
}

impl From<ripplet::graph::Graph> for Graph {
    fn from(graph: ripplet::graph::Graph) -> Graph {
        Graph { stored: Arc::new(graph.into()), summary: None, loss: None, edges: OnceLock::new() }
    }
}

#[pymethods]
impl Graph {
    /// Builds a graph of an object with the method `__arrow_c_stream__`: a row for each edge.
    #[staticmethod]
    fn of_stream(table: &Bound<'_, PyAny>, options: Bound<'_, PyDict>) -> PyResult<Graph> {
        let options = Options(options);
        let Some(rows) = table_of(table)? else {
            let message = format!("{} has no method __arrow_c_stream__", kind_of(table));
            return Err(Failure::new(Class::Type, message).into());
        };
        Graph::build(table.py(), &options, move |load, watch| {
            let batches = rows.batches(&watch.cancel())?;
            watch.stage("collecting edges");
            edges_of(&batches, load)
        })
    }

    /// Builds a graph of columns with a row for each edge, whose vertices are the ids that occur.
    #[staticmethod]
    fn of_columns(
        source: &Bound<'_, PyAny>,
        target: &Bound<'_, PyAny>,
        weight: Option<&Bound<'_, PyAny>>,
        options: Bound<'_, PyDict>,
    ) -> PyResult<Graph> {
        let options = Options(options);
        let columns = edge_columns(source, target, weight)?;
        Graph::build(source.py(), &options, move |load, _| {
            let batch = RecordBatch::try_from_iter(columns)
                .map_err(|error| Failure::input(format!("the columns make no table: {error}")))?;
            edges_of(&[batch], load)
        })
    }

    /// Builds a graph of edges between numbered vertices, with these ids, which ascend, or else the numbers.
    #[staticmethod]
    fn numbered(
        source: &Bound<'_, PyAny>,
        target: &Bound<'_, PyAny>,
        weight: Option<&Bound<'_, PyAny>>,
        vertices: u64,
        ids: Option<&Bound<'_, PyAny>>,
        options: Bound<'_, PyDict>,
    ) -> PyResult<Graph> {
        let options = Options(options);
        let columns = edge_columns(source, target, weight)?;
        let ids = ids.map(|ids| column_of(ids, "ids")).transpose()?;
        Graph::build(source.py(), &options, move |_, _| {
            let ids = match ids {
                Some(ids) => ids_of(&ids)?,
                None => {
                    let too_many = |_| {
                        Failure::input(format!(
                            "a graph has at most 4,294,967,294 vertices, not {vertices}"
                        ))
                    };
                    VertexIds::Consecutive {
                        first: 0,
                        count: u32::try_from(vertices).map_err(too_many)?,
                    }
                }
            };
            if ids.len() as u64 != vertices {
                return Err(Failure::input(format!("{} ids for {vertices} vertices", ids.len())));
            }
            let mut columns = columns.into_iter().map(|(_, column)| column);
            let (Some(source), Some(target)) = (columns.next(), columns.next()) else {
                return Err(Failure::input("an edge has two ends"));
            };
            let [sources, targets] = [(source, "source"), (target, "target")]
                .map(|(column, name)| numbers_of(&column, name, vertices));
            let table = EdgeTable::new(ids, sources?, targets?)?;
            let table = match columns.next() {
                Some(weights) => table.with_weights(weights_of(&weights)?)?,
                None => table,
            };
            Ok(edges(table))
        })
    }

    /// Loads a graph from a file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, options: Bound<'_, PyDict>) -> PyResult<Graph> {
        let options = Options(options);
        Graph::build(py, &options, move |load, _| Ok(load.read(&path)?))
    }

    /// Returns the graph of the bytes of an `.rg` file.
    #[staticmethod]
    fn of_bytes(py: Python<'_>, bytes: &Bound<'_, PyBytes>) -> PyResult<Graph> {
        let owned: Arc<Vec<u8>> =
            Arc::new(memory::copied(bytes.as_bytes()).map_err(Failure::from)?);
        let graph = Start::default().run(py, move |_| {
            Ok(ripplet::io::rg::from_bytes(owned, std::path::Path::new("(pickle)"))?)
        })?;
        Ok(graph.into())
    }

    /// Writes the graph to a file: `.rg`, or any format of edges.
    fn write(&self, py: Python<'_>, path: PathBuf, format: Option<&str>) -> PyResult<()> {
        let format = format.map(format_of).transpose()?;
        let stored = self.stored.clone();
        Options(PyDict::new(py)).start()?.run(py, move |_| {
            let plain = stored.view().to_plain()?;
            write::write_graph(&plain, &path, format)?;
            Ok(())
        })
    }

    /// The number of vertices.
    #[getter]
    fn vertices(&self) -> u32 {
        self.view().vertices()
    }

    /// The number of edges.
    #[getter]
    fn edges(&self, py: Python<'_>) -> PyResult<u64> {
        if let Some(&edges) = self.edges.get() {
            return Ok(edges);
        }
        let stored = self.stored.clone();
        let edges = Start::default().run(py, move |_| Ok(stored.view().edges()))?;
        Ok(*self.edges.get_or_init(|| edges))
    }

    /// The number of arcs, two for each undirected edge that is no loop.
    #[getter]
    fn arcs(&self) -> u64 {
        self.view().arcs()
    }

    #[getter]
    fn directed(&self) -> bool {
        self.view().direction() == Direction::Directed
    }

    #[getter]
    fn weighted(&self) -> bool {
        self.view().is_weighted()
    }

    #[getter]
    fn storage(&self) -> &'static str {
        self.stored.storage().name()
    }

    /// Bytes of memory, with those of a mapped file.
    #[getter]
    fn bytes(&self) -> u64 {
        self.view().bytes()
    }

    #[getter]
    fn summary(&self) -> Option<&str> {
        self.summary.as_deref()
    }

    #[getter]
    fn loss(&self) -> Option<&str> {
        self.loss.as_deref()
    }

    /// The ids: the first of consecutive ones, an array of integers, or a list of strings.
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let stored = self.stored.clone();
        Ok(match self.view().ids() {
            VertexIds::Consecutive { first, .. } => first.into_pyobject(py)?.into_any(),
            VertexIds::Unsigned(_) => Bound::new(py, Array::within(stored, unsigned))?.into_any(),
            VertexIds::Signed(_) => Bound::new(py, Array::within(stored, signed))?.into_any(),
            VertexIds::Names(names) => {
                PyList::new(py, (0..names.len()).map(|at| names.get(at)))?.into_any()
            }
        })
    }

    /// Returns the vertex with an id, if there is one.
    fn find(&self, id: &Bound<'_, PyAny>) -> Option<VertexId> {
        let ids = self.view().ids();
        if let Ok(name) = id.cast::<PyString>() {
            let VertexIds::Names(_) = ids else { return None };
            return ids.find(ExternalId::Name(&name.to_cow().ok()?));
        }
        let is_integer = id.is_instance_of::<PyInt>() || id.hasattr("__index__").unwrap_or(false);
        if !is_integer || matches!(ids, VertexIds::Names(_)) {
            return None;
        }
        match id.extract::<i64>() {
            Ok(id) => ids.find(ExternalId::Signed(id)),
            Err(_) => ids.find(ExternalId::Unsigned(id.extract::<u64>().ok()?)),
        }
    }

    /// Returns the number of arcs of each vertex.
    fn degrees(&self, py: Python<'_>) -> PyResult<Array> {
        let stored = self.stored.clone();
        Options(PyDict::new(py)).start()?.run(py, move |_| {
            let graph = stored.view();
            Ok(Array::of(memory::collected((0..graph.vertices()).map(|v| graph.degree(v)))?))
        })
    }
}

/// Returns the ids of a graph if they are integers of no sign.
fn unsigned(stored: &Arc<StoredGraph>) -> &[u64] {
    match stored.view().ids() {
        VertexIds::Unsigned(ids) => ids.as_slice(),
        _ => &[],
    }
}

/// Returns the ids of a graph if they are integers with a sign.
fn signed(stored: &Arc<StoredGraph>) -> &[i64] {
    match stored.view().ids() {
        VertexIds::Signed(ids) => ids.as_slice(),
        _ => &[],
    }
}

/// Returns the places of the columns of an edge's ends, and of its weight if weights are read, by the names of a table's columns
/// and what they hold: `int`, `float`, `text` or anything else.
#[pyfunction]
pub fn columns_of_edges(
    columns: Vec<(String, String)>,
    options: Bound<'_, PyDict>,
) -> PyResult<(usize, usize, Option<usize>)> {
    let field = |(name, kind): (String, String)| {
        let kind = match kind.as_str() {
            "int" => DataType::Int64,
            "float" => DataType::Float64,
            "text" => DataType::Utf8,
            _ => DataType::Boolean,
        };
        Field::new(name, kind, true)
    };
    let schema = Schema::new(columns.into_iter().map(field).collect::<Vec<_>>());
    let load = load_options(&Options(options))?;
    let found = columnar::edge_columns(&schema, &load.read).map_err(Failure::input)?;
    Ok((found.source, found.target, found.weight))
}

/// Returns the named columns of edges, which have the same length.
fn edge_columns(
    source: &Bound<'_, PyAny>,
    target: &Bound<'_, PyAny>,
    weight: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<(&'static str, ArrayRef)>> {
    let mut columns =
        vec![("source", column_of(source, "source")?), ("target", column_of(target, "target")?)];
    if let Some(weight) = weight {
        columns.push(("weight", column_of(weight, "weight")?));
    }
    check_lengths(&columns)?;
    Ok(columns)
}

/// Refuses columns of different lengths.
fn check_lengths(columns: &[(&str, ArrayRef)]) -> Result<(), Failure> {
    let shown: Vec<String> =
        columns.iter().map(|(name, column)| format!("{} {name}s", column.len())).collect();
    let same = columns.windows(2).all(|pair| pair[0].1.len() == pair[1].1.len());
    match same {
        true => Ok(()),
        false => Err(Failure::input(format!("columns of different length: {}", shown.join(", ")))),
    }
}

/// Returns the edges of a table in memory.
fn edges_of(batches: &[RecordBatch], load: &LoadOptions) -> Result<Input, Failure> {
    Ok(edges(edges_of_batches(batches, &load.read).map_err(of_table)?))
}

fn edges(table: EdgeTable) -> Input {
    let summary = ripplet::io::ReadSummary::of_edges(&table);
    Input::Edges(table, summary)
}

fn weights_of(column: &ArrayRef) -> Result<Vec<f64>, Failure> {
    fn of<T: ArrowPrimitiveType>(
        column: &ArrayRef,
        number: impl Fn(T::Native) -> f64,
    ) -> Result<Vec<f64>, Failure> {
        let values = column.as_primitive::<T>().values();
        // No negative zero: sums and prints do not need two.
        Ok(memory::collected(values.iter().map(|&value| number(value) + 0.0))?)
    }
    check_nulls(column, "weight")?;
    match column.data_type() {
        DataType::Int8 => of::<Int8Type>(column, f64::from),
        DataType::Int16 => of::<Int16Type>(column, f64::from),
        DataType::Int32 => of::<Int32Type>(column, f64::from),
        DataType::Int64 => of::<Int64Type>(column, |value| value as f64),
        DataType::UInt8 => of::<UInt8Type>(column, f64::from),
        DataType::UInt16 => of::<UInt16Type>(column, f64::from),
        DataType::UInt32 => of::<UInt32Type>(column, f64::from),
        DataType::UInt64 => of::<UInt64Type>(column, |value| value as f64),
        DataType::Float32 => of::<Float32Type>(column, f64::from),
        DataType::Float64 => of::<Float64Type>(column, |value| value),
        _ if column.is_empty() => Ok(Vec::new()),
        other => Err(Failure::new(Class::Type, format!("weight: expected numbers, not {other}"))),
    }
}

/// Returns the ids of a column, which ascend.
pub fn ids_of(column: &ArrayRef) -> Result<VertexIds, Failure> {
    Ok(match column.data_type() {
        DataType::Int64 => {
            let ids = column.as_primitive::<Int64Type>().values();
            match ids.iter().any(|&id| id < 0) {
                true => VertexIds::Signed(memory::copied(ids)?.into()),
                false => {
                    VertexIds::Unsigned(memory::collected(ids.iter().map(|&id| id as u64))?.into())
                }
            }
        }
        DataType::UInt64 => VertexIds::Unsigned(
            memory::copied(column.as_primitive::<UInt64Type>().values())?.into(),
        ),
        DataType::LargeUtf8 => VertexIds::Names(Names::new(
            column.as_string::<i64>().iter().map(|name| name.unwrap_or_default()),
        )),
        other => {
            return Err(Failure::new(
                Class::Type,
                format!("ids: expected integers or strings, not {other}"),
            ));
        }
    })
}

/// Returns the format of a name.
pub fn format_of(name: &str) -> Result<Format, Failure> {
    let unknown =
        || Failure::input(format!("format: expected one of {}, not {name}", Format::names_read()));
    Format::of_name(name).ok_or_else(unknown)
}

fn storage(options: &Options<'_>) -> PyResult<Option<Storage>> {
    let Some(name) = options.text("storage")? else { return Ok(None) };
    Storage::named(&name).map(Some).ok_or_else(|| {
        let names = Storage::NAMED.map(Storage::name).join(" or ");
        Failure::input(format!("storage: expected {names}, not {name}")).into()
    })
}

pub fn load_options(options: &Options<'_>) -> PyResult<LoadOptions> {
    let directed = options.choice("directed")?;
    let weighted = options.flag("weighted")?;
    let ids = match options.text("id_kind")?.as_deref() {
        None | Some("auto") => IdKind::Auto,
        Some("unsigned") => IdKind::Unsigned,
        Some("signed") => IdKind::Signed,
        Some("names") => IdKind::Names,
        Some(other) => {
            let message = format!("id_kind: expected auto, unsigned, signed or names, not {other}");
            return Err(Failure::input(message).into());
        }
    };
    let columns = Columns::default();
    let [source, target] = [options.text("source")?, options.text("target")?];
    let named_ends = source.is_some() && target.is_some();
    let columns = Columns {
        source: source.unwrap_or(columns.source),
        target: target.unwrap_or(columns.target),
        weight: options.text("weight")?.unwrap_or(columns.weight),
        graph: columns.graph,
    };
    let header = match options.choice("header")? {
        None => Header::Auto,
        Some(true) => Header::Present,
        Some(false) => Header::Absent,
    };
    Ok(LoadOptions {
        read: ReadOptions {
            format: options.text("format")?.map(|name| format_of(&name)).transpose()?,
            weighted,
            ids,
            columns,
            named_ends,
            header,
            delimiter: options.parsed::<Delimiter>("delimiter")?,
            ..ReadOptions::default()
        },
        build: BuildOptions {
            direction: match directed {
                Some(true) => Direction::Directed,
                _ => Direction::Undirected,
            },
            self_loops: match options.flag("keep_loops")? {
                true => SelfLoops::Keep,
                false => SelfLoops::Drop,
            },
            duplicates: match options.flag("keep_duplicates")? {
                true => Duplicates::Keep,
                false => Duplicates::Merge,
            },
            weights: WeightLedger::new(options.flag("coarse_weights")?),
            ..BuildOptions::default()
        },
        undirected_only: directed == Some(false),
    })
}
