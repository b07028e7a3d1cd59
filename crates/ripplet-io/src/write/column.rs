//! Columns of a table for a binary format.

use super::refused;
use ripplet_graph::{ExternalId, VertexId, VertexIds};
use std::io;

/// Type of a column without nulls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnType {
    /// 64-bit unsigned integers.
    U64,
    /// 64-bit signed integers.
    I64,
    /// UTF-8 strings.
    Text,
    /// 32-bit unsigned integers.
    U32,
    /// Single-precision numbers.
    F32,
    /// Double-precision numbers.
    F64,
    /// Truth values.
    Bool,
}

/// Values of a column in some rows.
pub(super) enum Column {
    /// [`ColumnType::U64`].
    U64(Vec<u64>),
    /// [`ColumnType::I64`].
    I64(Vec<i64>),
    /// [`ColumnType::Text`]: 0 and the end of each string, and the bytes of all.
    Text { ends: Vec<i32>, bytes: Vec<u8> },
    /// [`ColumnType::U32`].
    U32(Vec<u32>),
    /// [`ColumnType::F32`].
    F32(Vec<f32>),
    /// [`ColumnType::F64`].
    F64(Vec<f64>),
    /// [`ColumnType::Bool`].
    Bool(Vec<bool>),
}

impl From<&VertexIds> for ColumnType {
    fn from(ids: &VertexIds) -> ColumnType {
        match ids {
            VertexIds::Consecutive { .. } | VertexIds::Unsigned(_) => ColumnType::U64,
            VertexIds::Signed(_) => ColumnType::I64,
            VertexIds::Names(_) => ColumnType::Text,
        }
    }
}

impl Column {
    /// Returns the external ids of some vertices.
    ///
    /// # Errors
    /// If the names take 2 GiB or more.
    pub(super) fn of_ids(
        ids: &VertexIds,
        vertices: impl Iterator<Item = VertexId>,
    ) -> io::Result<Column> {
        Ok(match ids {
            VertexIds::Consecutive { first, .. } => {
                Column::U64(vertices.map(|v| first + u64::from(v)).collect())
            }
            VertexIds::Unsigned(ids) => Column::U64(vertices.map(|v| ids[v as usize]).collect()),
            VertexIds::Signed(ids) => Column::I64(vertices.map(|v| ids[v as usize]).collect()),
            VertexIds::Names(_) => {
                let (mut ends, mut bytes) = (vec![0], Vec::new());
                for vertex in vertices {
                    if let ExternalId::Name(name) = ids.get(vertex) {
                        bytes.extend_from_slice(name.as_bytes());
                    }
                    ends.push(end_of(&bytes)?);
                }
                Column::Text { ends, bytes }
            }
        })
    }
}

/// Returns the length of the bytes of strings, which a column counts in 31 bits.
///
/// # Errors
/// If there are 2 GiB or more.
pub(super) fn end_of(bytes: &[u8]) -> io::Result<i32> {
    i32::try_from(bytes.len())
        .map_err(|_| refused("the names are too long for Utf8 columns: write .csv"))
}
