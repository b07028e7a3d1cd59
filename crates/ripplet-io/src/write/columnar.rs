//! Parquet and Arrow out: batches made in parallel, written in order.

use super::{in_order, refused};
use crate::Format;
use arrow_array::{
    ArrayRef, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray, UInt32Array,
    UInt64Array,
};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use ripplet_graph::{ExternalId, VertexId, VertexIds};
use std::io::{self, Write};
use std::sync::Arc;

/// What a column holds.
pub(super) enum Type {
    /// External ids that are not negative.
    Unsigned,
    /// External ids, some of which are negative.
    Signed,
    /// External ids that are names.
    Name,
    /// Numbers of communities.
    Number,
    /// Weights.
    Weight,
    /// How strongly a vertex belongs to its community.
    Strength,
    /// How many of something.
    Count,
    /// Numbers of double precision.
    Value,
}

impl From<&VertexIds> for Type {
    fn from(ids: &VertexIds) -> Type {
        match ids {
            VertexIds::Consecutive { .. } | VertexIds::Unsigned(_) => Type::Unsigned,
            VertexIds::Signed(_) => Type::Signed,
            VertexIds::Names(_) => Type::Name,
        }
    }
}

/// Columns without nulls.
pub(super) fn schema(columns: &[(&str, Type)]) -> SchemaRef {
    let field = |(name, kind): &(&str, Type)| {
        let kind = match kind {
            Type::Unsigned | Type::Count => DataType::UInt64,
            Type::Signed => DataType::Int64,
            Type::Name => DataType::Utf8,
            Type::Number => DataType::UInt32,
            Type::Weight | Type::Value => DataType::Float64,
            Type::Strength => DataType::Float32,
        };
        Field::new(*name, kind, false)
    };
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

/// Writes the batches `0..blocks`, whose columns `columns` makes.
pub(super) fn write_table(
    out: &mut (dyn Write + Send),
    format: Format,
    schema: SchemaRef,
    blocks: usize,
    columns: impl Fn(usize) -> io::Result<Vec<ArrayRef>> + Sync,
) -> io::Result<()> {
    let make =
        |block| RecordBatch::try_new(schema.clone(), columns(block)?).map_err(io::Error::other);
    if format == Format::Arrow {
        let mut file = FileWriter::try_new(out, &schema).map_err(from_arrow)?;
        in_order(blocks, make, |batch| file.write(&batch).map_err(from_arrow))?;
        return file.finish().map_err(from_arrow);
    }
    // Snappy is what every reader of Parquet knows.
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut file =
        ArrowWriter::try_new(out, schema.clone(), Some(properties)).map_err(from_parquet)?;
    in_order(blocks, make, |batch| file.write(&batch).map_err(from_parquet))?;
    file.close().map_err(from_parquet).map(drop)
}

/// The external ids of some vertices.
pub(super) fn ids(
    ids: &VertexIds,
    vertices: impl Iterator<Item = VertexId> + Clone,
) -> io::Result<ArrayRef> {
    Ok(match ids {
        VertexIds::Consecutive { first, .. } => {
            Arc::new(UInt64Array::from_iter_values(vertices.map(|v| first + u64::from(v))))
        }
        VertexIds::Unsigned(ids) => {
            Arc::new(UInt64Array::from_iter_values(vertices.map(|v| ids[v as usize])))
        }
        VertexIds::Signed(ids) => {
            Arc::new(Int64Array::from_iter_values(vertices.map(|v| ids[v as usize])))
        }
        VertexIds::Names(_) => {
            let names = vertices.map(|v| match ids.get(v) {
                ExternalId::Name(name) => name,
                _ => "",
            });
            // The array's offsets are i32, and it panics where they do not suffice.
            let bytes: usize = names.clone().map(str::len).sum();
            if i32::try_from(bytes).is_err() {
                return Err(refused("the names are too long for Utf8 columns: write .csv"));
            }
            Arc::new(StringArray::from_iter_values(names))
        }
    })
}

/// Numbers of communities.
pub(super) fn numbers(numbers: &[u32]) -> ArrayRef {
    Arc::new(UInt32Array::from(numbers.to_vec()))
}

/// Strengths.
pub(super) fn strengths(strengths: &[f32]) -> ArrayRef {
    Arc::new(Float32Array::from(strengths.to_vec()))
}

/// How many of something.
pub(super) fn counts(counts: impl Iterator<Item = u64>) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(counts))
}

/// Numbers of double precision.
pub(super) fn values(values: impl Iterator<Item = f64>) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values(values))
}

/// Weights.
pub(super) fn weights(weights: Vec<f64>) -> ArrayRef {
    Arc::new(Float64Array::from(weights))
}

/// The operating system's error where there is one, so that its kind is not lost.
fn from_arrow(error: arrow_schema::ArrowError) -> io::Error {
    match error {
        arrow_schema::ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    }
}

fn from_parquet(error: parquet::errors::ParquetError) -> io::Error {
    match error {
        parquet::errors::ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
