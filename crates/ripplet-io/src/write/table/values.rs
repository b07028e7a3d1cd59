//! The values of a table's columns, as text and as columns.

use crate::write::column::{Column, ColumnType};
use crate::write::text::{Fields, push_integer, push_shortest};
use ripplet_graph::{OutOfMemory, memory};
use std::ops::Range;

/// The values of a column.
#[derive(Clone, Copy, Debug)]
pub enum ColumnData<'a> {
    /// Whole numbers.
    U32(&'a [u32]),
    /// Whole numbers that may be large.
    U64(&'a [u64]),
    /// Numbers.
    F32(&'a [f32]),
    /// Numbers of double precision.
    F64(&'a [f64]),
    /// Whether something holds: `true` and `false` in text.
    Bool(&'a [bool]),
}

/// What the values of a column are.
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
    /// How many values there are.
    pub fn len(self) -> usize {
        match self {
            ColumnData::U32(values) => values.len(),
            ColumnData::U64(values) => values.len(),
            ColumnData::F32(values) => values.len(),
            ColumnData::F64(values) => values.len(),
            ColumnData::Bool(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// What the values are.
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

/// One of the values that stand together in `data`, `len` of them for each row: that at `at`.
#[derive(Clone, Copy, Debug)]
pub(in crate::write) struct Values<'a> {
    pub data: ColumnData<'a>,
    pub len: usize,
    pub at: usize,
}

impl<'a> Values<'a> {
    /// Values of which each is a row's only one.
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

    /// The values of some stretches of indices, one behind the other.
    pub fn column(self, stretches: &[Range<usize>]) -> Result<Column, OutOfMemory> {
        Ok(match self.data {
            ColumnData::U32(all) => Column::U32(self.picked(all, stretches)?),
            ColumnData::U64(all) => Column::U64(self.picked(all, stretches)?),
            ColumnData::F32(all) => Column::F32(self.picked(all, stretches)?),
            ColumnData::F64(all) => Column::F64(self.picked(all, stretches)?),
            ColumnData::Bool(all) => Column::Bool(self.picked(all, stretches)?),
        })
    }

    fn picked<T: Copy>(self, all: &[T], stretches: &[Range<usize>]) -> Result<Vec<T>, OutOfMemory> {
        let mut picked = memory::with_room(stretches.iter().map(Range::len).sum())?;
        for indices in stretches.iter().cloned() {
            match self.len {
                1 => picked.extend_from_slice(&all[indices]),
                len => picked.extend(indices.map(|index| all[index * len + self.at])),
            }
        }
        Ok(picked)
    }
}
