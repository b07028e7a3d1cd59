//! What a worker found of the graphs of a part.

use ripplet_graph::VertexId;
use ripplet_graph::batch::BatchSlice;
use ripplet_io::WriteError;
use ripplet_io::write::{ColumnData, Part, Rows, Subject, TableWriter};

/// What was found of the graphs of a part.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A value of each vertex in each column, graph by graph.
    Vertices(Vec<Column>),
    /// Of each vertex the vertex of its graph that its community is called by, graph by graph.
    Communities(Vec<VertexId>),
    /// Of each vertex the smallest vertex of its component, counted as its graph's are, graph by graph.
    Components(Vec<VertexId>),
    /// A value of each graph in each column.
    Graphs(Vec<Column>),
    /// Of each graph a value of each vertex from each vertex, source by source.
    Pairs(Vec<Column>),
    /// A value of each edge in each column, graph by graph.
    Edges {
        /// The edges.
        edges: Edges,
        /// The values.
        columns: Vec<Column>,
    },
}

/// Edges by their ends, which are numbers of vertices of their graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    /// Where each graph's edges begin, and after them the end of the last.
    pub starts: Vec<u64>,
    /// Where each edge begins.
    pub sources: Vec<VertexId>,
    /// Where it ends.
    pub targets: Vec<VertexId>,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Whole numbers.
    U32(Vec<u32>),
    /// Whole numbers that may be large.
    U64(Vec<u64>),
    /// Numbers of double precision.
    F64(Vec<f64>),
    /// Whether something holds.
    Bool(Vec<bool>),
}

impl Column {
    /// The values, as a writer takes them.
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
    /// What the rows of a table of it are about.
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

    /// The values.
    pub fn columns(&self) -> &[Column] {
        match self {
            Answer::Communities(_) | Answer::Components(_) => &[],
            Answer::Edges { columns, .. } => columns,
            Answer::Vertices(columns) | Answer::Graphs(columns) | Answer::Pairs(columns) => columns,
        }
    }

    /// Whose rows they are, in a table.
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

    /// Appends the rows of these graphs, of which this is the answer, to a table of a batch.
    ///
    /// # Errors
    /// Those of [`TableWriter::append`].
    pub fn append_to(
        &self,
        table: &mut TableWriter,
        graphs: BatchSlice<'_>,
    ) -> Result<(), WriteError> {
        let columns: Vec<ColumnData<'_>> = self.columns().iter().map(Column::data).collect();
        table.append(self.part(Subject::Batch(graphs)), &columns)
    }
}
