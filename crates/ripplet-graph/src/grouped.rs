//! Grouping of an edge table's rows by the classes of their ends, in place.
//!
//! The builder places arcs range by range, and would otherwise read the whole table for each range
//! to find a few rows. The table is therefore split into parts that fit a core's cache, and each
//! part is sorted by counting:
//!
//! ```text
//! part of the table    ends' classes       after grouping
//! 0–7  5–1  7–6  1–0   0·1 1·0 1·1 0·0     1–0 | 0–7 | 5–1 | 7–6
//!                                          0·0   0·1   1·0   1·1
//! ```
//!
//! The rows whose source has class c are then one run per part, and the rows whose target has it
//! one run per class of sources. Memory: half a percent of the table for the runs' bounds, and
//! during grouping 10 bytes (18 with weights) per row of the parts in progress.

use crate::memory::{self, OutOfMemory};
use crate::{EdgeTable, VertexId};
use rayon::prelude::*;
use std::ops::Range;

/// Rows of a part: 8 bytes each, so that a part and its copy fit a second-level cache.
const PART_ROWS: usize = 1 << 15;
/// The copies of the parts in progress may take 1/40 of the table …
const TABLE_PER_COPIES: usize = 40;
/// … or this many parts, whichever is more.
const MIN_COPIES: usize = 4;

/// Classes of vertices: numbered ranges, and one more class for all other vertices.
pub(crate) struct Classes {
    ranges: Vec<Range<VertexId>>,
    /// The class of the first vertex of each block of 2^shift vertices.
    of_block: Vec<u16>,
    shift: u32,
}

impl Classes {
    /// Creates classes from consecutive ranges, fewer than 2¹⁶.
    pub(crate) fn new(ranges: Vec<Range<VertexId>>) -> Classes {
        const BLOCKS_BITS: u32 = 12;
        let all = Classes::span(&ranges);
        let shift = (u32::BITS - (all.len() as u32).leading_zeros()).saturating_sub(BLOCKS_BITS);
        let mut class = 0;
        let of_block = all
            .clone()
            .step_by(1 << shift)
            .map(|first| {
                class += ranges[class..].partition_point(|range| range.end <= first);
                class as u16
            })
            .collect();
        Classes { ranges, of_block, shift }
    }

    pub(crate) fn ranges(&self) -> &[Range<VertexId>] {
        &self.ranges
    }

    /// Returns the number of classes, including that of all other vertices.
    fn count(&self) -> usize {
        self.ranges.len() + 1
    }

    fn span(ranges: &[Range<VertexId>]) -> Range<VertexId> {
        let start = ranges.first().map_or(0, |range| range.start);
        start..ranges.last().map_or(start, |range| range.end)
    }

    #[inline]
    fn of(&self, vertex: VertexId) -> usize {
        let all = Classes::span(&self.ranges);
        if !all.contains(&vertex) {
            return self.ranges.len();
        }
        let mut class = usize::from(self.of_block[((vertex - all.start) >> self.shift) as usize]);
        while self.ranges[class].end <= vertex {
            class += 1;
        }
        class
    }
}

/// The begins of the groups of each part.
pub(crate) struct Groups {
    source_classes: usize,
    target_classes: usize,
    /// The start of each group in each part, relative to the part's first row, and the part's end.
    bounds: Vec<u16>,
}

impl Groups {
    /// Reorders the table's rows, part by part, by the classes of their ends.
    pub(crate) fn sort(
        edges: &mut EdgeTable,
        sources: &Classes,
        targets: &Classes,
    ) -> Result<Groups, OutOfMemory> {
        let groups = sources.count() * targets.count();
        let parts = edges.len().div_ceil(PART_ROWS);
        let mut bounds = memory::zeros::<u16>(parts * (groups + 1))?;
        let at_once = (edges.len() / (PART_ROWS * TABLE_PER_COPIES)).max(MIN_COPIES);
        let (s, t, weights) = edges.columns_mut();
        let columns = s.par_chunks_mut(PART_ROWS).zip(t.par_chunks_mut(PART_ROWS));
        let columns = columns.zip(bounds.par_chunks_mut(groups + 1));
        let parts_a_copy = parts.div_ceil(at_once).max(1);
        let key = |s: VertexId, t: VertexId| sources.of(s) * targets.count() + targets.of(t);
        match weights {
            None => columns
                .with_min_len(parts_a_copy)
                .try_for_each_init(Copies::default, |copies, ((s, t), bounds)| {
                    copies.sort(s, t, &mut [], bounds, key)
                })?,
            Some(weights) => columns
                .zip(weights.par_chunks_mut(PART_ROWS))
                .with_min_len(parts_a_copy)
                .try_for_each_init(Copies::default, |copies, (((s, t), bounds), weights)| {
                    copies.sort(s, t, weights, bounds, key)
                })?,
        }
        let (source_classes, target_classes) = (sources.count(), targets.count());
        Ok(Groups { source_classes, target_classes, bounds })
    }

    /// Returns the number of parts.
    pub(crate) fn parts(&self) -> usize {
        self.bounds.len() / self.bounds_per_part()
    }

    /// Calls `visit(rows)` with runs that together are all rows of some parts whose source has the class.
    #[inline]
    pub(crate) fn with_source_in(
        &self,
        class: usize,
        parts: Range<usize>,
        mut visit: impl FnMut(Range<usize>),
    ) {
        let first = class * self.target_classes;
        for (start, bounds) in self.bounds_of(parts) {
            visit(run(start, bounds, first..first + self.target_classes));
        }
    }

    /// Calls `visit(rows)` with runs that together are all rows of some parts whose target has the class.
    #[inline]
    pub(crate) fn with_target_in(
        &self,
        class: usize,
        parts: Range<usize>,
        mut visit: impl FnMut(Range<usize>),
    ) {
        for (start, bounds) in self.bounds_of(parts) {
            for source in 0..self.source_classes {
                let group = source * self.target_classes + class;
                visit(run(start, bounds, group..group + 1));
            }
        }
    }

    /// Iterates over the first row and the bounds of parts.
    fn bounds_of(&self, parts: Range<usize>) -> impl Iterator<Item = (usize, &[u16])> {
        let bounds = self.bounds_per_part();
        let starts = parts.clone().map(|part| part * PART_ROWS);
        starts.zip(self.bounds[parts.start * bounds..parts.end * bounds].chunks_exact(bounds))
    }

    fn bounds_per_part(&self) -> usize {
        self.source_classes * self.target_classes + 1
    }
}

/// Returns the rows of some consecutive groups of the part that begins at row `start`.
fn run(start: usize, bounds: &[u16], groups: Range<usize>) -> Range<usize> {
    start + usize::from(bounds[groups.start])..start + usize::from(bounds[groups.end])
}

/// Scratch for sorting a part.
#[derive(Default)]
struct Copies {
    keys: Vec<u16>,
    sources: Vec<VertexId>,
    targets: Vec<VertexId>,
    weights: Vec<f64>,
}

impl Copies {
    /// Sorts a part's rows by `key`, stably, by counting; `bounds` becomes the groups' begins.
    fn sort(
        &mut self,
        sources: &mut [VertexId],
        targets: &mut [VertexId],
        weights: &mut [f64],
        bounds: &mut [u16],
        key: impl Fn(VertexId, VertexId) -> usize,
    ) -> Result<(), OutOfMemory> {
        self.keys.clear();
        memory::reserve(&mut self.keys, sources.len())?;
        self.keys.extend(sources.iter().zip(&*targets).map(|(&s, &t)| key(s, t) as u16));
        copy(&mut self.sources, sources)?;
        copy(&mut self.targets, targets)?;
        copy(&mut self.weights, weights)?;
        for &key in &self.keys {
            bounds[usize::from(key)] += 1;
        }
        let mut end = 0;
        for bound in &mut *bounds {
            end += *bound;
            *bound = end;
        }
        // From the back, for stability, each end moves down to its group's begin.
        for row in (0..self.keys.len()).rev() {
            let bound = &mut bounds[usize::from(self.keys[row])];
            *bound -= 1;
            let at = usize::from(*bound);
            (sources[at], targets[at]) = (self.sources[row], self.targets[row]);
            if let Some(weight) = weights.get_mut(at) {
                *weight = self.weights[row];
            }
        }
        Ok(())
    }
}

fn copy<T: Copy>(copy: &mut Vec<T>, of: &[T]) -> Result<(), OutOfMemory> {
    copy.clear();
    memory::extend(copy, of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::VertexIds;

    type Visit<'a> = dyn FnMut(Range<usize>) + 'a;

    #[test]
    fn classes_are_those_of_the_ranges() {
        for (start, step) in [(0u32, 1u32), (7, 3), (100, 5000)] {
            let ends: Vec<u32> = (0..9).map(|i| start + i * i * step).collect();
            let ranges: Vec<_> = ends.windows(2).map(|pair| pair[0]..pair[1]).collect();
            let classes = Classes::new(ranges.clone());
            for v in 0..ends[8] + 10 {
                let expected = ranges.iter().position(|range| range.contains(&v)).unwrap_or(8);
                assert_eq!(classes.of(v), expected, "{v} in {ranges:?}");
            }
        }
        assert_eq!(Classes::new(vec![]).of(0), 0);
        let whole = Classes::new(vec![0..10, 10..u32::MAX - 1]);
        assert_eq!((whole.of(9), whole.of(u32::MAX - 2), whole.of(u32::MAX - 1)), (0, 1, 2));
    }

    #[test]
    fn every_row_is_found_at_both_of_its_ends() {
        let rows = 2 * PART_ROWS + 77;
        let vertex = |row: usize, salt: usize| ((row * 7919 + salt) * 31 % 1000) as u32;
        let sources: Vec<u32> = (0..rows).map(|row| vertex(row, 1)).collect();
        let targets: Vec<u32> = (0..rows).map(|row| vertex(row * row, 5)).collect();
        let weights: Vec<f64> = (0..rows).map(|row| row as f64).collect();
        let ids = VertexIds::Consecutive { first: 0, count: 1000 };
        let mut table = EdgeTable::new(ids, sources.clone(), targets.clone())
            .and_then(|table| table.with_weights(weights))
            .unwrap();
        let source_classes = Classes::new(vec![100..300, 300..301, 301..900]);
        let target_classes = Classes::new(vec![0..500, 500..1000]);
        let groups = Groups::sort(&mut table, &source_classes, &target_classes).unwrap();

        // A row's weight is its old number: it shows whether the columns moved together.
        let moved = table.weights().unwrap();
        for (row, &old) in moved.iter().enumerate() {
            let (s, t) = (table.sources()[row], table.targets()[row]);
            assert_eq!((s, t), (sources[old as usize], targets[old as usize]));
        }
        let parts = groups.parts();
        assert_eq!(parts, 3);
        let found = |visit: &dyn Fn(Range<usize>, &mut Visit<'_>)| {
            let mut rows = Vec::new();
            // In two steps, as by two tasks.
            visit(0..2, &mut |run| rows.extend(run));
            visit(2..parts, &mut |run| rows.extend(run));
            rows.sort_unstable();
            rows
        };
        for class in 0..4 {
            let rows = found(&|parts, visit| groups.with_source_in(class, parts, visit));
            let expected =
                (0..moved.len()).filter(|&row| source_classes.of(table.sources()[row]) == class);
            assert!(rows.into_iter().eq(expected), "sources of class {class}");
        }
        for class in 0..3 {
            let rows = found(&|parts, visit| groups.with_target_in(class, parts, visit));
            let expected =
                (0..moved.len()).filter(|&row| target_classes.of(table.targets()[row]) == class);
            assert!(rows.into_iter().eq(expected), "targets of class {class}");
        }
    }
}
