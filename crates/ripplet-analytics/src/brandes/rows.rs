//! Rows of numbers: one per source of a group, for each vertex.

use crate::pairwise::EIGHT;
use ripplet_graph::{OutOfMemory, memory};

/// Rows of one number per source for each vertex. Their length is a multiple of eight; unused lanes
/// are 0.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    /// The length of a row.
    pub row: usize,
    /// The number of shortest paths σ from each source; 0 without a path.
    pub path_counts: &'a [f64],
    /// 1 / σ.
    pub inverse: &'a [f64],
    /// δ / σ, accumulated from the successors; 0 at the source.
    pub share: &'a [f64],
}

/// Owned rows for at most eight sources. Path counts are floats, as in the literature and in other
/// libraries: they do not overflow.
pub(super) struct EightRows {
    pub path_counts: Vec<f64>,
    pub inverse: Vec<f64>,
    pub share: Vec<f64>,
}

impl EightRows {
    /// Returns the bytes of rows for `vertices` vertices.
    pub fn bytes(vertices: u32) -> u64 {
        (3 * size_of::<f64>() * EIGHT) as u64 * u64::from(vertices)
    }

    pub fn new(vertices: u32) -> Result<EightRows, OutOfMemory> {
        let numbers = (vertices as usize).saturating_mul(EIGHT);
        Ok(EightRows {
            path_counts: memory::zeros(numbers)?,
            inverse: memory::zeros(numbers)?,
            share: memory::zeros(numbers)?,
        })
    }

    /// Returns the rows of the first `vertices` vertices.
    pub fn first(&self, vertices: u32) -> Rows<'_> {
        let [path_counts, inverse, share] = [&self.path_counts, &self.inverse, &self.share]
            .map(|rows| &rows[..EIGHT * vertices as usize]);
        Rows { row: EIGHT, path_counts, inverse, share }
    }
}

/// Owned rows for at most 64 sources, aligned to a cache line.
pub(super) struct AlignedRows(Vec<f64>);

/// The numbers of a cache line.
const LINE: usize = 8;
/// The longest row.
const LONGEST: usize = u64::BITS as usize;

impl AlignedRows {
    /// Returns the bytes of rows for `vertices` vertices.
    pub fn bytes(vertices: u32) -> u64 {
        8 * (u64::from(vertices) * LONGEST as u64 + LINE as u64)
    }

    pub fn new(vertices: u32) -> Result<AlignedRows, OutOfMemory> {
        Ok(AlignedRows(memory::zeros(vertices as usize * LONGEST + LINE)?))
    }

    /// Returns the first `count` numbers, from a cache line's begin.
    #[inline(always)]
    pub fn first(&mut self, count: usize) -> &mut [f64] {
        let begin = self.0.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE);
        &mut self.0[begin..][..count]
    }
}
