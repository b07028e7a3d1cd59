//! Graphs of a program's own edges, in memory.

#[cfg(feature = "columnar")]
use crate::{LoadError, LoadOptions};
use ripplet_graph::{BuildError, Graph, GraphBuilder};
#[cfg(any(feature = "petgraph", feature = "sprs"))]
use ripplet_graph::{Direction, EdgeTable, MAX_VERTICES, VertexId, VertexIds, memory};
#[cfg(feature = "columnar")]
use ripplet_io::columnar::{RecordBatch, edges_of_batches};
use ripplet_io::{Edge, EdgeListError, edge_table};
use thiserror::Error;

/// Error of a graph of a program's own edges.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum GraphError {
    /// The edges do not make a table: mixed ids, a bad weight, or too many vertices.
    #[error(transparent)]
    Edges(#[from] EdgeListError),
    /// The table does not make a graph.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// Builds an undirected graph from edges in any order, whose ids are integers or strings.
///
/// Edges are `(id, id)`, `[id; 2]` or `(id, id, weight)`, from a slice, a vector or an iterator.
/// Self-loops are dropped, and the weights of repeated edges are added. For other rules, pass
/// [`edge_table`] to a [`GraphBuilder`].
///
/// Memory: see [`edge_table`]; then the table and the graph.
///
/// ```
/// let graph = ripplet::graph_from_edges([("ann", "bob"), ("bob", "cid"), ("cid", "ann")])?;
/// assert_eq!((graph.vertices(), graph.edges()), (3, 3));
///
/// let calls = [(491_712_345_u64, 331_234_567_u64, 2.5), (331_234_567, 441_111_111, 1.0)];
/// let weighted = ripplet::graph_from_edges(&calls)?;
/// assert!(weighted.is_weighted());
///
/// let error = ripplet::graph_from_edges([("a", "b", f64::NAN)]).unwrap_err();
/// assert!(error.to_string().contains("weight NaN"));
/// # Ok::<(), ripplet::GraphError>(())
/// ```
///
/// # Errors
/// If ids are of different kinds or too many, a weight is NaN, infinite or negative, or memory is
/// refused.
pub fn graph_from_edges<E: Edge>(edges: impl IntoIterator<Item = E>) -> Result<Graph, GraphError> {
    Ok(GraphBuilder::new().build(edge_table(edges)?)?)
}

/// Builds a graph from Arrow batches of one schema, with one row per edge.
///
/// The options say which columns have the ends and the weight, as for a Parquet file, and how the
/// graph is built.
///
/// # Errors
/// If the schemas differ, a column is missing, a value is null, no id or no weight, or memory is
/// refused.
///
/// # Examples
/// ```
/// use ripplet::LoadOptions;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("calls.arrow");
/// # let graph = ripplet::graph_from_edges([("ann", "bob"), ("bob", "cid")])?;
/// # ripplet::io::write::write_graph(&graph, &path, None)?;
/// # use ripplet::io::{Format, tables::TableFile};
/// # let file = TableFile::open(&path, Format::Arrow)?;
/// # let batches = file.batches(&[0, 1])?.map(|rows| rows.map(|rows| rows.batch));
/// # let batches = batches.collect::<Result<Vec<_>, _>>()?;
///
/// // `batches` have the columns `source` and `target`, with two rows in all.
/// let graph = ripplet::graph_from_batches(&batches, &LoadOptions::default())?;
/// assert_eq!((graph.vertices(), graph.edges()), (3, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "columnar")]
pub fn graph_from_batches(
    batches: &[RecordBatch],
    options: &LoadOptions,
) -> Result<Graph, LoadError> {
    let edges = edges_of_batches(batches, &options.read)?;
    Ok(options.builder().build(edges)?)
}

/// Edges between numbered vertices, of graphs of other crates.
#[cfg(any(feature = "petgraph", feature = "sprs"))]
#[derive(Default)]
pub(crate) struct NumberedEdges {
    sources: Vec<VertexId>,
    targets: Vec<VertexId>,
    /// One per edge, or none at all.
    weights: Vec<f64>,
}

#[cfg(any(feature = "petgraph", feature = "sprs"))]
impl NumberedEdges {
    /// Returns the number of vertices as a graph counts them.
    ///
    /// # Errors
    /// If a graph cannot have as many.
    pub fn vertices(count: usize) -> Result<u32, GraphError> {
        let count = u32::try_from(count).ok().filter(|&count| count <= MAX_VERTICES);
        Ok(count.ok_or(EdgeListError::TooManyVertices)?)
    }

    /// Appends an edge; its ends are below the number of vertices.
    ///
    /// # Errors
    /// If memory is refused.
    pub fn push(&mut self, ends: [usize; 2], weight: Option<f64>) -> Result<(), GraphError> {
        let [source, target] = ends.map(|end| end as VertexId);
        let pushed = memory::push(&mut self.sources, source)
            .and_then(|()| memory::push(&mut self.targets, target))
            .and_then(|()| weight.map_or(Ok(()), |weight| memory::push(&mut self.weights, weight)));
        Ok(pushed.map_err(EdgeListError::from)?)
    }

    /// Builds the graph of vertices that are numbered from 0.
    ///
    /// # Errors
    /// If a weight is NaN, infinite or negative, or memory is refused.
    pub fn build(
        self,
        vertices: u32,
        direction: Direction,
        is_weighted: bool,
    ) -> Result<Graph, GraphError> {
        let ids = VertexIds::Consecutive { first: 0, count: vertices };
        let table = EdgeTable::new(ids, self.sources, self.targets).map_err(EdgeListError::from)?;
        let table = match is_weighted {
            true => table.with_weights(self.weights).map_err(EdgeListError::from)?,
            false => table,
        };
        Ok(GraphBuilder::new().direction(direction).build(table)?)
    }
}
