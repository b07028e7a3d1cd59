//! Sparse matrices of the crate `sprs`.

use crate::GraphError;
use crate::own_edges::NumberedEdges;
use ripplet_graph::{Direction, Graph};
use sprs::{CsMatBase, SpIndex};
use std::ops::Deref;
use thiserror::Error;

/// Error of a matrix that is no graph.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum MatrixError {
    /// The matrix is not square.
    #[error("an adjacency matrix is square, and this one has {rows} rows and {columns} columns")]
    NotSquare {
        /// The number of rows.
        rows: usize,
        /// The number of columns.
        columns: usize,
    },
    /// The graph is undirected, and the matrix is not symmetric.
    #[error("entry ({row}, {column}) has no equal entry on the other side: the matrix is directed")]
    NotSymmetric {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
    },
    /// The entries do not make a graph.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

/// Builds a weighted graph from an adjacency matrix: entry (i, j) is the weight of the arc from i
/// to j. The id of a vertex is its row.
///
/// An undirected graph takes a symmetric matrix, of which it reads one triangle.
///
/// ```
/// use ripplet::graph::Direction;
/// use ripplet::sprs::graph_from_sprs;
/// use sprs::{CsMat, TriMat};
///
/// let mut entries = TriMat::new((3, 3));
/// for (i, j) in [(0, 1), (1, 2)] {
///     entries.add_triplet(i, j, 1.5);
///     entries.add_triplet(j, i, 1.5);
/// }
/// let matrix: CsMat<f64> = entries.to_csr();
/// let graph = graph_from_sprs(&matrix, Direction::Undirected)?;
/// assert_eq!((graph.vertices(), graph.edges()), (3, 2));
/// # Ok::<(), ripplet::sprs::MatrixError>(())
/// ```
///
/// # Errors
/// If the matrix is not square or, for an undirected graph, not symmetric; if a weight is NaN,
/// infinite or negative, or memory is refused.
pub fn graph_from_sprs<N, I, Iptr, IptrStorage, IndStorage, DataStorage>(
    matrix: &CsMatBase<N, I, IptrStorage, IndStorage, DataStorage, Iptr>,
    direction: Direction,
) -> Result<Graph, MatrixError>
where
    N: Copy + Into<f64>,
    I: SpIndex,
    Iptr: SpIndex,
    IptrStorage: Deref<Target = [Iptr]>,
    IndStorage: Deref<Target = [I]>,
    DataStorage: Deref<Target = [N]>,
{
    let (rows, columns) = matrix.shape();
    if rows != columns {
        return Err(MatrixError::NotSquare { rows, columns });
    }
    let vertices = NumberedEdges::vertices(rows)?;
    let mut edges = NumberedEdges::default();
    for (&value, (row, column)) in matrix {
        let (row, column, weight) = (row.index(), column.index(), value.into());
        if direction == Direction::Undirected {
            let other: Option<f64> = matrix.get(column, row).map(|&value| value.into());
            // NaN is equal to nothing: the table refuses it as a weight.
            if other != Some(weight) && !weight.is_nan() {
                return Err(MatrixError::NotSymmetric { row, column });
            }
            if row > column {
                continue;
            }
        }
        edges.push([row, column], Some(weight))?;
    }
    Ok(edges.build(vertices, direction, true)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sprs::{CsMat, TriMat};

    fn matrix(shape: (usize, usize), entries: &[(usize, usize, f64)]) -> CsMat<f64> {
        let mut triplets = TriMat::new(shape);
        entries.iter().for_each(|&(row, column, value)| triplets.add_triplet(row, column, value));
        triplets.to_csr()
    }

    #[test]
    fn what_is_no_graph_is_refused() {
        let error = |shape, entries: &[_], direction| {
            graph_from_sprs(&matrix(shape, entries), direction).unwrap_err()
        };
        let directed = Direction::Directed;
        let not_square = MatrixError::NotSquare { rows: 2, columns: 3 };
        assert_eq!(error((2, 3), &[], directed), not_square);
        let one_way = [(0, 1, 1.0)];
        let asymmetric = MatrixError::NotSymmetric { row: 0, column: 1 };
        assert_eq!(error((2, 2), &one_way, Direction::Undirected), asymmetric);
        for bad in [f64::NAN, -1.0, f64::INFINITY] {
            let entries = [(0, 1, bad), (1, 0, bad)];
            let error = error((2, 2), &entries, Direction::Undirected).to_string();
            assert!(error.contains("weight"), "{error}");
        }
    }

    #[test]
    fn a_directed_matrix_has_an_arc_per_entry() {
        let entries = [(0, 1, 1.0), (1, 0, 3.0), (2, 1, 2.0)];
        let by_rows = matrix((3, 3), &entries);
        let graph = graph_from_sprs(&by_rows, Direction::Directed).unwrap();
        assert_eq!((graph.vertices(), graph.edges()), (3, 3));
        assert_eq!(graph_from_sprs(&by_rows.to_csc(), Direction::Directed).unwrap(), graph);
    }
}
