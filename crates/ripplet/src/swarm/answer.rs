//! The answer of a worker for the graphs of a part.

use ripplet_graph::batch::BatchSlice;
use ripplet_graph::{OutOfMemory, VertexId, memory};
use ripplet_io::WriteError;
use ripplet_io::write::{ColumnData, Part, Rows, Subject, TableWriter};

/// The results of an analysis of the graphs of a part.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A value per vertex in each column, graph by graph.
    Vertices(Vec<Column>),
    /// The vertex that names the community of each vertex, within its graph; graph by graph.
    Communities(Vec<VertexId>),
    /// The smallest vertex of each vertex's component, as an index within its graph; graph by
    /// graph.
    Components(Vec<VertexId>),
    /// A value per graph in each column.
    Graphs(Vec<Column>),
    /// A value per pair of vertices in each column, graph by graph and source by source.
    Pairs(Vec<Column>),
    /// A value per edge in each column, graph by graph.
    Edges {
        /// The edges.
        edges: Edges,
        /// The values.
        columns: Vec<Column>,
    },
}

/// Edges by their ends, as indices of vertices of their graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    /// The begin of each graph's edges, and the end of the last graph's.
    pub starts: Vec<u64>,
    /// The source of each edge.
    pub sources: Vec<VertexId>,
    /// The target of each edge.
    pub targets: Vec<VertexId>,
}

/// Figures of the clustering coefficients of a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clustering {
    /// The number of triangles.
    pub triangles: u64,
    /// The mean of all coefficients; 0 without vertices.
    pub mean: f64,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// 32-bit unsigned integers.
    U32(Vec<u32>),
    /// 64-bit unsigned integers.
    U64(Vec<u64>),
    /// Double-precision numbers.
    F64(Vec<f64>),
    /// Truth values.
    Bool(Vec<bool>),
}

impl Column {
    /// Copies values of a type that analyses have.
    pub(crate) fn of(values: ColumnData<'_>) -> Result<Column, OutOfMemory> {
        Ok(match values {
            ColumnData::U32(values) => Column::U32(memory::copied(values)?),
            ColumnData::U64(values) => Column::U64(memory::copied(values)?),
            ColumnData::F32(values) => {
                Column::F64(memory::collected(values.iter().map(|&value| value.into()))?)
            }
            ColumnData::F64(values) => Column::F64(memory::copied(values)?),
            ColumnData::Bool(values) => Column::Bool(memory::copied(values)?),
        })
    }

    /// Appends values of the column's type; values of another type are ignored.
    pub(crate) fn append(&mut self, values: ColumnData<'_>) -> Result<(), OutOfMemory> {
        match (self, values) {
            (Column::U32(all), ColumnData::U32(more)) => memory::extend(all, more),
            (Column::U64(all), ColumnData::U64(more)) => memory::extend(all, more),
            (Column::F64(all), ColumnData::F64(more)) => memory::extend(all, more),
            (Column::Bool(all), ColumnData::Bool(more)) => memory::extend(all, more),
            _ => Ok(()),
        }
    }

    /// Returns a value as a number: 1 for true.
    ///
    /// # Panics
    /// If there is no such value.
    pub fn number(&self, at: usize) -> f64 {
        match self {
            Column::U32(values) => f64::from(values[at]),
            Column::U64(values) => values[at] as f64,
            Column::F64(values) => values[at],
            Column::Bool(values) => f64::from(u8::from(values[at])),
        }
    }

    /// Returns the values for a writer.
    pub fn data(&self) -> ColumnData<'_> {
        match self {
            Column::U32(values) => ColumnData::U32(values),
            Column::U64(values) => ColumnData::U64(values),
            Column::F64(values) => ColumnData::F64(values),
            Column::Bool(values) => ColumnData::Bool(values),
        }
    }
}

impl Answer {
    /// Returns the kind of the rows of its table.
    pub fn rows(&self) -> Rows {
        match self {
            Answer::Vertices(_) => Rows::Vertices,
            Answer::Communities(_) => Rows::Communities,
            Answer::Components(_) => Rows::Components,
            Answer::Graphs(_) => Rows::Graphs,
            Answer::Pairs(_) => Rows::Pairs,
            Answer::Edges { .. } => Rows::Edges,
        }
    }

    /// Returns the values.
    pub fn columns(&self) -> &[Column] {
        match self {
            Answer::Communities(_) | Answer::Components(_) => &[],
            Answer::Edges { columns, .. } => columns,
            Answer::Vertices(columns) | Answer::Graphs(columns) | Answer::Pairs(columns) => columns,
        }
    }

    /// Returns the rows of the answer as a part of a table.
    pub fn part<'a>(&'a self, of: Subject<'a>) -> Part<'a> {
        match self {
            Answer::Vertices(_) => Part::Vertices(of),
            Answer::Communities(communities) => Part::Communities { of, communities },
            Answer::Components(components) => Part::Components { of, components },
            Answer::Graphs(_) => Part::Graphs(of),
            Answer::Pairs(_) => Part::Pairs { of, sources: 0..u32::MAX },
            Answer::Edges { edges: Edges { starts, sources, targets }, .. } => {
                Part::Edges { of, starts, sources, targets }
            }
        }
    }

    /// Appends the rows of these graphs, whose answer this is, to a table of a batch.
    ///
    /// # Errors
    /// See [`TableWriter::append`].
    pub fn append_to(
        &self,
        table: &mut TableWriter,
        graphs: BatchSlice<'_>,
    ) -> Result<(), WriteError> {
        let columns: Vec<ColumnData<'_>> = self.columns().iter().map(Column::data).collect();
        table.append(self.part(Subject::Batch(graphs)), &columns)
    }
}
