//! Graph500's recursive matrix: extreme degrees, no communities.
//!
//! Each edge walks down the adjacency matrix: at each of `scale` levels it enters one of four
//! quadrants with probabilities A, B, C, D. Ids are scrambled afterwards, as the benchmark asks.
//!
//! Rows are as the benchmark makes them: self-loops and duplicates are among them, and the graph
//! builder drops or merges them. Memory: the table. Reference: Chakrabarti, Zhan, Faloutsos,
//! *R-MAT*, SDM 2004; Graph500 specification 3.0, section 3.

use crate::permutation::Permutation;
use crate::random::{Stream, derive};
use crate::{GenerateError, VERTICES_PER_STREAM, columns, scaled, table};
use rayon::prelude::*;
use ripplet_graph::EdgeTable;

/// Parameters of an R-MAT graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Rmat {
    /// 2^scale vertices; at most 31.
    pub scale: u32,
    /// Rows per vertex; Graph500 says 16.
    pub edge_factor: u32,
    /// Probabilities of the first three quadrants, Graph500's 0.57, 0.19, 0.19; the fourth has
    /// the rest.
    pub quadrants: [f64; 3],
    /// Seed of the graph.
    pub seed: u64,
}

impl Rmat {
    /// Returns Graph500's parameters at the given scale.
    pub fn new(scale: u32) -> Rmat {
        Rmat { scale, edge_factor: 16, quadrants: [0.57, 0.19, 0.19], seed: 1 }
    }

    /// Returns the edges: `edge_factor · 2^scale` rows.
    ///
    /// # Errors
    /// If a parameter is out of range or memory allocation fails.
    pub fn generate(&self) -> Result<EdgeTable, GenerateError> {
        let (vertices, rows) = scaled(self.scale, self.edge_factor)?;
        let limits = self.limits()?;
        let scramble = Permutation::new(u64::from(vertices), derive(self.seed, "rmat ids"));
        let mut columns = columns(rows)?;
        for column in &mut columns {
            column.resize(rows as usize, 0);
        }
        let [sources, targets] = &mut columns;
        let rows_per_stream = 16 * VERTICES_PER_STREAM;
        let parts = sources.par_chunks_mut(rows_per_stream);
        let parts = parts.zip(targets.par_chunks_mut(rows_per_stream)).enumerate();
        parts.for_each(|(part, (sources, targets))| {
            let mut stream = Stream::new(self.seed, "rmat", part as u64);
            for (source, target) in sources.iter_mut().zip(targets) {
                let (s, t) = descend(&mut stream, self.scale, limits);
                *source = scramble.of(s) as u32;
                *target = scramble.of(t) as u32;
            }
        });
        Ok(table(vertices, columns))
    }

    /// Returns the quadrants' cumulative probabilities, in units of 2⁻³².
    pub(super) fn limits(&self) -> Result<[u64; 3], GenerateError> {
        let mut sum = 0.0;
        let limits = self.quadrants.map(|probability| {
            sum += probability;
            (sum * 2f64.powi(32)) as u64
        });
        // Thousandths more than 1 would be a mistake, a last digit more is rounding.
        if self.quadrants.iter().all(|p| (0.0..=1.0).contains(p)) && sum <= 1.0 + 1e-9 {
            return Ok(limits);
        }
        let value = format!("{:?}", self.quadrants);
        let expected = "three probabilities that add up to at most 1";
        Err(GenerateError::parameter("quadrants", value, expected))
    }
}

/// Draws one edge down the matrix: a row and a column.
#[inline]
pub(super) fn descend(stream: &mut Stream, scale: u32, [a, b, c]: [u64; 3]) -> (u64, u64) {
    let (mut source, mut target, mut bits) = (0u64, 0u64, 0u64);
    for level in 0..scale {
        // 32 bits decide a level: one draw serves two.
        bits = if level % 2 == 0 { stream.bits() } else { bits >> 32 };
        let at = bits & 0xffff_ffff;
        let (down, right) = (at >= b, (at >= a && at < b) || at >= c);
        source = source << 1 | u64::from(down);
        target = target << 1 | u64::from(right);
    }
    (source, target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{degrees, on_any_pool};

    #[test]
    fn degrees_are_skewed_as_graph500_says() {
        let table = on_any_pool(|| Rmat::new(13).generate().unwrap());
        assert_eq!(table.len(), 16 << 13);
        let mut degrees = degrees(&table);
        degrees.sort_unstable_by(|a, b| b.cmp(a));
        // Per level a source (or target) bit is 0 with probability .76: the densest vertex has
        // .76^13 of each end, 2 · 16 · 2^13 · .76^13 = 7393.
        assert!((6900..7900).contains(&degrees[0]), "{}", degrees[0]);
        let idle = degrees.iter().filter(|&&d| d == 0).count();
        assert!(idle > 1000, "many vertices have no edge: {idle}");
    }

    #[test]
    fn quadrants_get_their_shares() {
        let mut stream = Stream::new(1, "test", 0);
        let limits = Rmat::new(1).limits().unwrap();
        let mut counts = [0u32; 4];
        for _ in 0..100_000 {
            let (s, t) = descend(&mut stream, 1, limits);
            counts[(2 * s + t) as usize] += 1;
        }
        for (count, expected) in counts.into_iter().zip([57_000.0, 19_000.0, 19_000.0, 5_000.0]) {
            assert!((f64::from(count) - expected).abs() < 600.0, "{counts:?}");
        }
    }

    #[test]
    fn extremes() {
        assert_eq!(Rmat::new(0).generate().unwrap().len(), 16, "all loops");
        assert_eq!(Rmat { edge_factor: 0, ..Rmat::new(3) }.generate().unwrap().len(), 0);
        assert!(Rmat::new(64).generate().is_err());
        for quadrants in [[0.5, 0.5, 0.5], [-0.1, 0.5, 0.5], [f64::NAN, 0.0, 0.0]] {
            let error = Rmat { quadrants, ..Rmat::new(3) }.generate().unwrap_err();
            assert!(error.to_string().starts_with("quadrants is ["), "{error}");
        }
        let absurd = Rmat { edge_factor: u32::MAX, ..Rmat::new(31) };
        assert!(matches!(absurd.generate(), Err(GenerateError::OutOfMemory { .. })));
    }
}
