//! Distances in arcs from chosen vertices: statistics of the vertices that a source reaches.

use super::hops::Tally;
use super::measure::{Measure, store};
use crate::AnalysisError;
use crate::search::{Search, Visit, bytes_of_search};
use crate::sides::Sides;
use crate::source_batches::GROUP;
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{OutOfMemory, VertexId, memory};
use std::ops::Range;

/// The statistics of a source over the vertices of a block, [`GROUP`] consecutive ones.
#[derive(Clone, Copy, Debug, Default)]
struct Cell<T> {
    tally: T,
    /// The last step at which the source reached vertices of the block, and how many; they are not in `tally` yet.
    step: u32,
    count: u32,
}

impl<T: Tally> Cell<T> {
    fn close(&mut self) {
        if self.count > 0 {
            self.tally.arrive(self.step, self.count);
            self.count = 0;
        }
    }
}

/// Workspace of a thread: one search from all sources of a group, of which each has a value of its own.
///
/// A value adds up block of vertices by block, as [`ByHops`](super::ByHops) adds up group of sources by group, so that both
/// have the same bits.
pub(crate) struct PerSource<T> {
    search: Search<u64>,
    /// The statistics of each block, source by source.
    cells: Vec<Cell<T>>,
    /// The statistics of each source of the last group.
    sums: [T; GROUP as usize],
}

/// Returns the number of cells for `vertices` vertices.
fn cells(vertices: u32) -> usize {
    vertices.div_ceil(GROUP) as usize * GROUP as usize
}

impl<T: Tally> Measure for PerSource<T> {
    type Value = T;

    fn bytes(vertices: u32) -> u64 {
        let cells = (cells(vertices) * size_of::<Cell<T>>()) as u64;
        bytes_of_search::<u64>(vertices) + cells + size_of::<[T; GROUP as usize]>() as u64
    }

    fn new(vertices: u32) -> Result<PerSource<T>, OutOfMemory> {
        let cells = memory::filled(Cell::default(), cells(vertices))?;
        let sums = [T::default(); GROUP as usize];
        Ok(PerSource { search: Search::new(vertices)?, cells, sums })
    }

    fn measure<L: NeighborLists>(
        &mut self,
        lists: Sides<L>,
        sources: &[VertexId],
        _is_cancelled: &dyn Fn() -> Result<(), AnalysisError>,
    ) -> Result<(), AnalysisError> {
        let PerSource { search, cells, sums } = self;
        cells.fill(Cell::default());
        sums.fill(T::default());
        search.run(lists, sources, &mut Collect { cells });
        for block in cells.chunks_exact_mut(GROUP as usize) {
            for (cell, sum) in block.iter_mut().zip(&mut *sums) {
                cell.close();
                sum.merge(&cell.tally);
            }
        }
        Ok(())
    }

    /// Stores the statistics of the group's sources.
    fn add_to(&self, totals: &mut [T], begin: usize, places: Range<u32>) {
        store(&self.sums, totals, begin, places);
    }
}

struct Collect<'a, T> {
    cells: &'a mut [Cell<T>],
}

impl<T: Tally> Visit<u64> for Collect<'_, T> {
    #[inline]
    fn arrive(&mut self, step: u32, vertex: VertexId, mut sources: u64, _here: &[u64]) {
        if step == 0 {
            return;
        }
        let begin = (vertex / GROUP * GROUP) as usize;
        let block = &mut self.cells[begin..begin + GROUP as usize];
        while sources != 0 {
            let cell = &mut block[sources.trailing_zeros() as usize];
            if cell.step != step {
                cell.close();
                cell.step = step;
            }
            cell.count += 1;
            sources &= sources - 1;
        }
    }
}
