//! Tables of edges of many graphs, as a reader produces them: unsorted rows, the input of a batch.

use super::{InvalidBatch, Members};
use crate::{OutOfMemory, VertexId, weight_flaw};
use rayon::prelude::*;
use thiserror::Error;

/// The columns of a [`BatchTable`]: one row per edge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchRows {
    /// The index of each edge's graph.
    pub graphs: Vec<u32>,
    /// One end of each edge: a vertex of its graph, counted from 0.
    pub sources: Vec<VertexId>,
    /// The other end of each edge, counted from 0 in its graph.
    pub targets: Vec<VertexId>,
    /// The weight of each edge, if there are weights.
    pub weights: Option<Vec<f64>>,
}

/// Unsorted edges of many graphs; rows of different graphs may be in any order.
///
/// Memory: 12 bytes per row, 20 with weights, plus the graphs' starts and the ids.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchTable {
    pub(super) members: Members,
    pub(super) rows: BatchRows,
    pub(super) both_directions: bool,
}

/// The reason why the columns of a batch's table are invalid.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum BatchTableError {
    /// The columns' lengths differ.
    #[error(
        "columns of different length: {graphs} graphs, {sources} sources, {targets} targets, \
         {weights} weights"
    )]
    Ragged {
        /// Rows in `graphs`.
        graphs: usize,
        /// Rows in `sources`.
        sources: usize,
        /// Rows in `targets`.
        targets: usize,
        /// Rows in `weights`.
        weights: usize,
    },
    /// A row names a graph that does not exist.
    #[error("edge {row} names graph {graph}, but there are {graphs} graphs")]
    NoSuchGraph {
        /// The row, counted from 0.
        row: usize,
        /// The graph that it names.
        graph: u32,
        /// The number of graphs.
        graphs: usize,
    },
    /// A row names a vertex that its graph does not have.
    #[error("edge {row} names vertex {vertex}, but graph {graph} has {vertices} vertices")]
    NoSuchVertex {
        /// The row, counted from 0.
        row: usize,
        /// The index of its graph.
        graph: u32,
        /// The vertex that it names.
        vertex: VertexId,
        /// The number of vertices of the graph.
        vertices: u32,
    },
    /// A weight is NaN, infinite, negative or above [`LARGEST_WEIGHT`](crate::LARGEST_WEIGHT).
    #[error("edge {row} has weight {weight}: a weight is {}", weight_flaw(*.weight).unwrap_or_default())]
    BadWeight {
        /// The row, counted from 0.
        row: usize,
        /// Its weight.
        weight: f64,
    },
    /// The graphs and their vertices are inconsistent.
    #[error(transparent)]
    Members(#[from] InvalidBatch),
    /// Memory allocation failed.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

/// Returns an error if the columns differ in length.
pub(super) fn flaw_of_columns(rows: &BatchRows) -> Option<BatchTableError> {
    let [graphs, sources, targets] =
        [&rows.graphs, &rows.sources, &rows.targets].map(|column| column.len());
    let weights = rows.weights.as_ref().map_or(0, Vec::len);
    let even =
        sources == graphs && targets == graphs && (rows.weights.is_none() || weights == graphs);
    (!even).then_some(BatchTableError::Ragged { graphs, sources, targets, weights })
}

impl BatchTable {
    /// Creates a table of edges of these graphs.
    ///
    /// # Errors
    /// If the columns are inconsistent, a row names a graph or a vertex that does not exist, or a
    /// weight is NaN, infinite or negative: the first such row.
    pub fn new(members: Members, rows: BatchRows) -> Result<BatchTable, BatchTableError> {
        if let Some(flaw) = flaw_of_columns(&rows) {
            return Err(flaw);
        }
        let length = rows.graphs.len();
        let wrong = |row| rows.flaw(row, &members);
        match (0..length).into_par_iter().with_min_len(1 << 14).find_map_first(wrong) {
            Some(flaw) => Err(flaw),
            None => Ok(BatchTable { members, rows, both_directions: false }),
        }
    }

    /// Sets that each row stands for both directions even if edges have one.
    pub fn in_both_directions(mut self) -> BatchTable {
        self.both_directions = true;
        self
    }

    /// Returns whether each row stands for both directions even if edges have one.
    pub fn is_in_both_directions(&self) -> bool {
        self.both_directions
    }

    /// Returns the graphs.
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// Returns the rows.
    pub fn rows(&self) -> &BatchRows {
        &self.rows
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows.graphs.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes that the columns, the graphs' starts and the ids occupy.
    pub fn bytes(&self) -> u64 {
        let row = 12 + if self.rows.weights.is_some() { 8 } else { 0 };
        let starts = size_of_val(self.members.vertex_starts()) as u64;
        self.len() as u64 * row + starts + self.members.id_bytes()
    }
}

impl BatchRows {
    /// Returns an error if a row is invalid.
    fn flaw(&self, row: usize, members: &Members) -> Option<BatchTableError> {
        let (graph, graphs) = (self.graphs[row], members.len());
        if graph as usize >= graphs {
            return Some(BatchTableError::NoSuchGraph { row, graph, graphs });
        }
        let vertices = members.vertices_of(graph as usize);
        let outside = [self.sources[row], self.targets[row]].into_iter().find(|&v| v >= vertices);
        if let Some(vertex) = outside {
            return Some(BatchTableError::NoSuchVertex { row, graph, vertex, vertices });
        }
        let weight = self.weights.as_ref()?[row];
        weight_flaw(weight).is_some().then_some(BatchTableError::BadWeight { row, weight })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(u32, u32, u32)], weights: Option<&[f64]>) -> Result<(), BatchTableError> {
        let rows = BatchRows {
            graphs: rows.iter().map(|row| row.0).collect(),
            sources: rows.iter().map(|row| row.1).collect(),
            targets: rows.iter().map(|row| row.2).collect(),
            weights: weights.map(<[f64]>::to_vec),
        };
        let members = Members::of_sizes([2, 0, 3].into_iter()).unwrap();
        BatchTable::new(members, rows).map(|_| ())
    }

    #[test]
    fn rows_are_checked() {
        assert_eq!(table(&[(0, 0, 1), (2, 2, 2)], Some(&[0.0, 1.0])), Ok(()));
        assert_eq!(
            table(&[(0, 0, 1), (3, 0, 0)], None),
            Err(BatchTableError::NoSuchGraph { row: 1, graph: 3, graphs: 3 })
        );
        assert_eq!(
            table(&[(0, 0, 2)], None),
            Err(BatchTableError::NoSuchVertex { row: 0, graph: 0, vertex: 2, vertices: 2 })
        );
        assert_eq!(
            table(&[(1, 0, 0), (0, 7, 7)], None),
            Err(BatchTableError::NoSuchVertex { row: 0, graph: 1, vertex: 0, vertices: 0 })
        );
        for weight in [-1.0, f64::INFINITY] {
            let found = table(&[(0, 0, 1)], Some(&[weight]));
            assert_eq!(found, Err(BatchTableError::BadWeight { row: 0, weight }));
        }
        let ragged = BatchTableError::Ragged { graphs: 1, sources: 1, targets: 1, weights: 2 };
        assert_eq!(table(&[(0, 0, 1)], Some(&[1.0, 1.0])), Err(ragged));
    }
}
