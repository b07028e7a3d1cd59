//! Edge tables, as a reader or a generator produces them: unsorted columns, the input of a graph.

use crate::{VertexId, VertexIds, weight_flaw};
use thiserror::Error;

/// Unsorted edges over vertices `0..ids.len()`: one row per edge.
///
/// Memory: 8 bytes per row, 16 with weights, plus the ids.
///
/// # Examples
/// ```
/// use ripplet_graph::{EdgeTable, VertexIds};
///
/// let ids = VertexIds::Consecutive { first: 1, count: 3 };
/// let edges = EdgeTable::new(ids, vec![0, 2], vec![1, 0])?;
/// assert_eq!((edges.len(), edges.ids().len()), (2, 3));
/// assert!(edges.weights().is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeTable {
    ids: VertexIds,
    sources: Vec<VertexId>,
    targets: Vec<VertexId>,
    weights: Option<Vec<f64>>,
    both_directions: bool,
}

/// The reason why the columns of an edge table are invalid.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum EdgeTableError {
    /// The columns' lengths differ.
    #[error("columns of different length: {sources} sources, {targets} targets, {weights} weights")]
    Ragged {
        /// Rows in `sources`.
        sources: usize,
        /// Rows in `targets`.
        targets: usize,
        /// Rows in `weights`.
        weights: usize,
    },
    /// A row names a vertex that does not exist.
    #[error("edge {row} names vertex {vertex}, but there are {vertices} vertices")]
    NoSuchVertex {
        /// The row, counted from 0.
        row: usize,
        /// The vertex that it names.
        vertex: VertexId,
        /// The number of vertices.
        vertices: usize,
    },
    /// A weight is NaN, infinite, negative or above [`LARGEST_WEIGHT`](crate::LARGEST_WEIGHT).
    #[error("edge {row} has weight {weight}: a weight is {}", weight_flaw(*.weight).unwrap_or_default())]
    BadWeight {
        /// The row, counted from 0.
        row: usize,
        /// Its weight.
        weight: f64,
    },
    /// The ids do not ascend, or there are more than 2³² − 2.
    #[error("the vertex ids do not strictly ascend, or are more than 4,294,967,294")]
    BadIds,
}

impl EdgeTable {
    /// Creates an unweighted table of edges `sources[i] – targets[i]`.
    ///
    /// # Errors
    /// If the columns are inconsistent, or a row names a vertex that `ids` lacks.
    pub fn new(
        ids: VertexIds,
        sources: Vec<VertexId>,
        targets: Vec<VertexId>,
    ) -> Result<EdgeTable, EdgeTableError> {
        if sources.len() != targets.len() {
            let (sources, targets) = (sources.len(), targets.len());
            return Err(EdgeTableError::Ragged { sources, targets, weights: 0 });
        }
        if !ids.is_valid() {
            return Err(EdgeTableError::BadIds);
        }
        let vertices = ids.len();
        for column in [&sources, &targets] {
            // The maximum vectorizes; the first row that is too large is searched for only if there
            // is one.
            let largest = column.iter().fold(0, |largest, &v| v.max(largest));
            if column.is_empty() || (largest as usize) < vertices {
                continue;
            }
            if let Some(row) = column.iter().position(|&v| v as usize >= vertices) {
                let vertex = column[row];
                return Err(EdgeTableError::NoSuchVertex { row, vertex, vertices });
            }
        }
        Ok(EdgeTable { ids, sources, targets, weights: None, both_directions: false })
    }

    /// Returns the table with a weight for each row.
    ///
    /// # Errors
    /// If the number of weights differs from that of the rows, or a weight is NaN, infinite,
    /// negative or above [`LARGEST_WEIGHT`](crate::LARGEST_WEIGHT).
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<EdgeTable, EdgeTableError> {
        if weights.len() != self.sources.len() {
            let (sources, targets) = (self.sources.len(), self.targets.len());
            return Err(EdgeTableError::Ragged { sources, targets, weights: weights.len() });
        }
        let bad = |&weight: &f64| weight_flaw(weight).is_some();
        if let Some(row) = weights.iter().position(bad) {
            return Err(EdgeTableError::BadWeight { row, weight: weights[row] });
        }
        self.weights = Some(weights);
        Ok(self)
    }

    /// Returns the table without its weights.
    pub fn without_weights(mut self) -> EdgeTable {
        self.weights = None;
        self
    }

    /// Sets that each row stands for both directions even in a directed graph, as in a file that
    /// stores one triangle of a symmetric matrix.
    pub fn in_both_directions(mut self) -> EdgeTable {
        self.both_directions = true;
        self
    }

    /// Returns whether each row stands for both directions even in a directed graph.
    pub fn is_in_both_directions(&self) -> bool {
        self.both_directions
    }

    /// Returns the ids of the vertices.
    pub fn ids(&self) -> &VertexIds {
        &self.ids
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Returns one end of each edge.
    pub fn sources(&self) -> &[VertexId] {
        &self.sources
    }

    /// Returns the other end of each edge.
    pub fn targets(&self) -> &[VertexId] {
        &self.targets
    }

    /// Returns the weight of each edge, if the table has weights.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// Returns the bytes that the columns and the ids occupy.
    pub fn bytes(&self) -> u64 {
        let row = 8 + if self.weights.is_some() { 8 } else { 0 };
        self.ids.bytes() + self.len() as u64 * row
    }

    /// Returns the columns for reordering the rows.
    pub(crate) fn columns_mut(&mut self) -> (&mut [VertexId], &mut [VertexId], Option<&mut [f64]>) {
        (&mut self.sources, &mut self.targets, self.weights.as_deref_mut())
    }

    /// Returns the sources and the targets.
    pub fn into_columns(self) -> [Vec<VertexId>; 2] {
        [self.sources, self.targets]
    }

    /// Returns the ids, the sources, the targets and the weights.
    pub fn into_parts(self) -> (VertexIds, Vec<VertexId>, Vec<VertexId>, Option<Vec<f64>>) {
        (self.ids, self.sources, self.targets, self.weights)
    }

    pub(crate) fn into_ids(self) -> VertexIds {
        self.ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_checked() {
        let ids = || VertexIds::Consecutive { first: 0, count: 3 };
        let table = EdgeTable::new(ids(), vec![0, 1], vec![1, 2]).unwrap();
        assert!(matches!(
            EdgeTable::new(ids(), vec![0], vec![]),
            Err(EdgeTableError::Ragged { sources: 1, targets: 0, .. })
        ));
        assert!(matches!(
            EdgeTable::new(ids(), vec![0, 1], vec![1, 3]),
            Err(EdgeTableError::NoSuchVertex { row: 1, vertex: 3, .. })
        ));
        for bad in [f64::NAN, -1.0, f64::INFINITY] {
            assert!(matches!(
                table.clone().with_weights(vec![1.0, bad]),
                Err(EdgeTableError::BadWeight { row: 1, .. })
            ));
        }
        assert!(table.clone().with_weights(vec![1.0]).is_err());
        assert_eq!(table.with_weights(vec![0.0, 2.5]).unwrap().bytes(), 32);
    }
}
