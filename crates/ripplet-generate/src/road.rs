//! A road network's shape: a grid with a part of its edges removed.
//!
//! Degrees are at most 4, distances are long, ids (row by row) are local. With 45 % removed, the
//! grid is just above the point (50 %, bond percolation on the square lattice: Kesten 1980) at
//! which it falls apart: one winding component beside many small ones.
//!
//! Memory: the table.

use crate::random::Stream;
use crate::{GenerateError, VERTICES_PER_STREAM, columns, table, vertex_count};
use rayon::prelude::*;
use ripplet_graph::EdgeTable;

/// Parameters of a road-like graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Road {
    /// Rows of the grid.
    pub rows: u32,
    /// Columns of the grid.
    pub columns: u32,
    /// Probability of removing an edge of the grid: 0.45.
    pub removed: f64,
    /// Seed of the graph.
    pub seed: u64,
}

impl Road {
    /// Returns the parameters of a grid as near to square as 2^scale vertices allow. A scale above 31 is refused by
    /// [`Road::generate`].
    pub fn new(scale: u32) -> Road {
        let side = |exponent: u32| 1u32.checked_shl(exponent).unwrap_or(u32::MAX);
        let columns = side(scale.div_ceil(2));
        Road { rows: side(scale / 2), columns, removed: 0.45, seed: 1 }
    }

    /// Returns the edges, each once, from a vertex to the one on its right or below it.
    ///
    /// # Errors
    /// If there are too many vertices, `removed` is not a share, or memory allocation fails.
    pub fn generate(&self) -> Result<EdgeTable, GenerateError> {
        if !(0.0..=1.0).contains(&self.removed) {
            return Err(GenerateError::parameter("removed", self.removed, "from 0 to 1"));
        }
        let vertices = vertex_count(u64::from(self.rows) * u64::from(self.columns))?;
        // Twice over the same streams: count, then write to the place that the counts give.
        let parts = (vertices as usize).div_ceil(VERTICES_PER_STREAM);
        let counts: Vec<usize> = (0..parts)
            .into_par_iter()
            .map(|part| {
                let mut count = 0;
                self.for_each_edge(part, vertices, |_, _| count += 1);
                count
            })
            .collect();
        let rows: usize = counts.iter().sum();
        let mut columns = columns(rows as u64)?;
        for column in &mut columns {
            column.resize(rows, 0);
        }
        let [sources, targets] = &mut columns;
        let (mut sources, mut targets) = (&mut sources[..], &mut targets[..]);
        let mut slices = Vec::with_capacity(parts);
        for count in counts {
            let part_sources = sources.split_off_mut(..count).expect("counted");
            slices.push((part_sources, targets.split_off_mut(..count).expect("counted")));
        }
        slices.into_par_iter().enumerate().for_each(|(part, (sources, targets))| {
            let mut row = 0;
            self.for_each_edge(part, vertices, |source, target| {
                (sources[row], targets[row]) = (source, target);
                row += 1;
            });
        });
        Ok(table(vertices, columns))
    }

    /// Calls `visit` for the edges that remain to the right of and below a part's vertices.
    fn for_each_edge(&self, part: usize, vertices: u32, mut visit: impl FnMut(u32, u32)) {
        let first = part * VERTICES_PER_STREAM;
        let end = (first + VERTICES_PER_STREAM).min(vertices as usize);
        let mut stream = Stream::new(self.seed, "road", part as u64);
        for vertex in first as u32..end as u32 {
            let (right, below) = (!stream.chance(self.removed), !stream.chance(self.removed));
            if right && vertex % self.columns + 1 < self.columns {
                visit(vertex, vertex + 1);
            }
            if below && vertex / self.columns + 1 < self.rows {
                visit(vertex, vertex + self.columns);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{degrees, on_any_pool};

    #[test]
    fn a_share_of_the_grid_remains() {
        let road = Road::new(15);
        assert_eq!((road.rows, road.columns), (128, 256));
        let table = on_any_pool(|| road.generate().unwrap());
        let whole = Road { removed: 0.0, ..road.clone() }.generate().unwrap();
        assert_eq!(whole.len(), 128 * 255 + 127 * 256, "a whole grid");
        let share = table.len() as f64 / whole.len() as f64;
        assert!((share - 0.55).abs() < 0.01, "{share}");
        assert!(degrees(&table).iter().all(|&d| d <= 4));
        for (s, t) in table.sources().iter().zip(table.targets()) {
            assert!(t - s == 256 || (t - s == 1 && t % 256 != 0), "{s} to {t}");
        }
        assert_ne!(table, Road { seed: 2, ..road }.generate().unwrap());
    }

    #[test]
    fn extremes() {
        for (rows, columns, edges) in [(0, 5, 0), (5, 0, 0), (1, 1, 0), (1, 9, 8), (9, 1, 8)] {
            let road = Road { rows, columns, removed: 0.0, seed: 1 };
            assert_eq!(road.generate().unwrap().len(), edges, "{rows} x {columns}");
        }
        assert!(Road { removed: 1.0, ..Road::new(8) }.generate().unwrap().is_empty());
        assert!(Road { removed: f64::NAN, ..Road::new(8) }.generate().is_err());
        assert!(Road { removed: 1.5, ..Road::new(8) }.generate().is_err());
        for scale in [32, 64, 65, u32::MAX] {
            let error = Road::new(scale).generate().unwrap_err();
            assert!(matches!(error, GenerateError::TooManyVertices { .. }), "{scale}: {error}");
        }
    }
}
