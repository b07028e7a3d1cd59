//! Writes Parquet and Arrow: batches are built in parallel and written in order.

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

/// Type of a column.
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
    /// Strength of a membership.
    Strength,
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

/// Returns a schema of columns without nulls.
pub(super) fn schema(columns: &[(&str, Type)]) -> SchemaRef {
    let field = |(name, kind): &(&str, Type)| {
        let kind = match kind {
            Type::Unsigned => DataType::UInt64,
            Type::Signed => DataType::Int64,
            Type::Name => DataType::Utf8,
            Type::Number => DataType::UInt32,
            Type::Weight => DataType::Float64,
            Type::Strength => DataType::Float32,
        };
        Field::new(*name, kind, false)
    };
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

/// Writes the batches `0..blocks`; `columns` builds the columns of each.
pub(super) fn write_table(
    out: &mut (dyn Write + Send),
    format: Format,
    schema: SchemaRef,
    blocks: usize,
    columns: impl Fn(usize) -> io::Result<Vec<ArrayRef>> + Sync,
) -> io::Result<()> {
    let mut file = TableFile::create(out, format, schema)?;
    file.append(blocks, columns)?;
    file.finish().map(drop)
}

/// Table that is written batch by batch.
pub(super) struct TableFile<W: Write + Send> {
    schema: SchemaRef,
    encoder: Encoder<W>,
}

enum Encoder<W: Write + Send> {
    Arrow(FileWriter<W>),
    Parquet(ArrowWriter<Lent<W>>),
}

impl<W: Write + Send> TableFile<W> {
    /// Creates a table in Arrow IPC, or otherwise Parquet.
    pub(super) fn create(out: W, format: Format, schema: SchemaRef) -> io::Result<TableFile<W>> {
        let encoder = match format {
            Format::Arrow => Encoder::Arrow(FileWriter::try_new(out, &schema).map_err(from_arrow)?),
            _ => {
                // Every reader of Parquet supports Snappy.
                let properties =
                    WriterProperties::builder().set_compression(Compression::SNAPPY).build();
                let file = ArrowWriter::try_new(Lent(Some(out)), schema.clone(), Some(properties));
                Encoder::Parquet(file.map_err(from_parquet)?)
            }
        };
        Ok(TableFile { schema, encoder })
    }

    /// Writes the batches `0..blocks`; `columns` builds the columns of each in parallel.
    pub(super) fn append(
        &mut self,
        blocks: usize,
        columns: impl Fn(usize) -> io::Result<Vec<ArrayRef>> + Sync,
    ) -> io::Result<()> {
        let TableFile { schema, encoder } = self;
        let make =
            |block| RecordBatch::try_new(schema.clone(), columns(block)?).map_err(io::Error::other);
        in_order(blocks, make, |batch| match encoder {
            Encoder::Arrow(file) => file.write(&batch).map_err(from_arrow),
            Encoder::Parquet(file) => file.write(&batch).map_err(from_parquet),
        })
    }

    /// Writes the end of the file.
    pub(super) fn finish(self) -> io::Result<W> {
        match self.encoder {
            Encoder::Arrow(file) => file.into_inner().map_err(from_arrow),
            Encoder::Parquet(mut file) => {
                // `into_inner` would turn the operating system's error into text.
                file.finish().map_err(from_parquet)?;
                file.inner_mut().0.take().ok_or_else(gone)
            }
        }
    }
}

/// Writer that can be recovered.
struct Lent<W>(Option<W>);

impl<W: Write> Write for Lent<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.as_mut().ok_or_else(gone)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.as_mut().map_or(Ok(()), Write::flush)
    }
}

fn gone() -> io::Error {
    io::Error::other("the table is finished")
}

/// Returns the external ids of some vertices.
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
            // The array's offsets are 32 bits, and it panics if they do not suffice.
            let bytes: usize = names.clone().map(str::len).sum();
            if i32::try_from(bytes).is_err() {
                return Err(refused("the names are too long for Utf8 columns: write .csv"));
            }
            Arc::new(StringArray::from_iter_values(names))
        }
    })
}

/// Returns a column of community numbers.
pub(super) fn numbers(numbers: &[u32]) -> ArrayRef {
    Arc::new(UInt32Array::from(numbers.to_vec()))
}

/// Returns a column of strengths.
pub(super) fn strengths(strengths: &[f32]) -> ArrayRef {
    Arc::new(Float32Array::from(strengths.to_vec()))
}

/// Returns a column of weights.
pub(super) fn weights(weights: Vec<f64>) -> ArrayRef {
    Arc::new(Float64Array::from(weights))
}

/// Returns the operating system's error if there is one, so that its kind is kept.
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
