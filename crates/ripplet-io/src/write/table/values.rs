//! Values of a table's columns, as text and as arrays.

use crate::output::text::{Fields, push_integer, push_shortest};
use crate::write::column::{Column, ColumnType};
use ripplet_graph::{OutOfMemory, memory};
use std::ops::Range;

/// The values of a column.
#[derive(Clone, Copy, Debug)]
pub enum ColumnData<'a> {
    /// 32-bit integers.
    U32(&'a [u32]),
    /// 64-bit integers.
    U64(&'a [u64]),
    /// Single-precision numbers.
    F32(&'a [f32]),
    /// Double-precision numbers.
    F64(&'a [f64]),
    /// Booleans: `true` and `false` in text.
    Bool(&'a [bool]),
}

/// Type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// [`ColumnData::U32`], `UInt32` in Parquet and Arrow.
    U32,
    /// [`ColumnData::U64`], `UInt64`.
    U64,
    /// [`ColumnData::F32`], `Float32`.
    F32,
    /// [`ColumnData::F64`], `Float64`.
    F64,
    /// [`ColumnData::Bool`], `Boolean`.
    Bool,
}

impl ColumnData<'_> {
    /// Returns the number of values.
    pub fn len(self) -> usize {
        match self {
            ColumnData::U32(values) => values.len(),
            ColumnData::U64(values) => values.len(),
            ColumnData::F32(values) => values.len(),
            ColumnData::F64(values) => values.len(),
            ColumnData::Bool(values) => values.len(),
        }
    }

    /// Whether it is empty.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the type of the values.
    pub fn kind(self) -> ColumnKind {
        match self {
            ColumnData::U32(_) => ColumnKind::U32,
            ColumnData::U64(_) => ColumnKind::U64,
            ColumnData::F32(_) => ColumnKind::F32,
            ColumnData::F64(_) => ColumnKind::F64,
            ColumnData::Bool(_) => ColumnKind::Bool,
        }
    }
}

impl From<ColumnKind> for ColumnType {
    fn from(kind: ColumnKind) -> ColumnType {
        match kind {
            ColumnKind::U32 => ColumnType::U32,
            ColumnKind::U64 => ColumnType::U64,
            ColumnKind::F32 => ColumnType::F32,
            ColumnKind::F64 => ColumnType::F64,
            ColumnKind::Bool => ColumnType::Bool,
        }
    }
}

/// Strided view of `data`: the value at position `at` of each row of `len`.
#[derive(Clone, Copy, Debug)]
pub(in crate::write) struct Values<'a> {
    pub data: ColumnData<'a>,
    pub len: usize,
    pub at: usize,
}

impl<'a> Values<'a> {
    /// Creates a view with one value per row.
    pub fn single(data: ColumnData<'a>) -> Values<'a> {
        Values { data, len: 1, at: 0 }
    }

    /// Appends a value to a text.
    pub fn push(self, fields: Fields, text: &mut Vec<u8>, index: usize) {
        let index = index * self.len + self.at;
        match self.data {
            ColumnData::U32(values) => push_integer(text, values[index]),
            ColumnData::U64(values) => push_integer(text, values[index]),
            ColumnData::F32(values) => fields.push_number(text, values[index]),
            ColumnData::F64(values) => fields.push_number(text, values[index]),
            ColumnData::Bool(values) => push_shortest(text, values[index]),
        }
    }

    /// Returns the values of several ranges of indices, concatenated.
    pub fn column(self, stretches: &[Range<usize>]) -> Result<Column, OutOfMemory> {
        Ok(match self.data {
            ColumnData::U32(all) => Column::U32(self.picked(all, stretches)?),
            ColumnData::U64(all) => Column::U64(self.picked(all, stretches)?),
            ColumnData::F32(all) => Column::F32(self.picked(all, stretches)?),
            ColumnData::F64(all) => Column::F64(self.picked(all, stretches)?),
            ColumnData::Bool(all) => Column::Bool(self.picked(all, stretches)?),
        })
    }

    fn picked<T: Copy>(self, all: &[T], blocks: &[Range<usize>]) -> Result<Vec<T>, OutOfMemory> {
        let mut picked = memory::with_room(blocks.iter().map(Range::len).sum())?;
        for indices in blocks.iter().cloned() {
            match self.len {
                1 => picked.extend_from_slice(&all[indices]),
                len => picked.extend(indices.map(|index| all[index * len + self.at])),
            }
        }
        Ok(picked)
    }
}
