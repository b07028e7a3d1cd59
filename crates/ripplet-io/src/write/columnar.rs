//! Writes Parquet and Arrow: batches are built in parallel and written in order.

use super::column::{Column, ColumnType};
use super::in_order;
use crate::Format;
use arrow_array::{
    ArrayRef, BooleanArray, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray,
    UInt32Array, UInt64Array,
};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::io::{self, Write};
use std::sync::Arc;

/// Returns the schema of some columns.
fn schema(columns: &[(&str, ColumnType)]) -> SchemaRef {
    let field = |&(name, kind): &(&str, ColumnType)| {
        let kind = match kind {
            ColumnType::U64 => DataType::UInt64,
            ColumnType::I64 => DataType::Int64,
            ColumnType::Text => DataType::Utf8,
            ColumnType::U32 => DataType::UInt32,
            ColumnType::F32 => DataType::Float32,
            ColumnType::F64 => DataType::Float64,
            ColumnType::Bool => DataType::Boolean,
        };
        Field::new(name, kind, false)
    };
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

impl Column {
    /// Moves the values into an array.
    fn array(self) -> io::Result<ArrayRef> {
        Ok(match self {
            Column::U64(values) => Arc::new(UInt64Array::from(values)),
            Column::I64(values) => Arc::new(Int64Array::from(values)),
            Column::Text { ends, bytes } => {
                let ends = OffsetBuffer::new(ScalarBuffer::from(ends));
                let texts = StringArray::try_new(ends, Buffer::from_vec(bytes), None);
                Arc::new(texts.map_err(io::Error::other)?)
            }
            Column::U32(values) => Arc::new(UInt32Array::from(values)),
            Column::F32(values) => Arc::new(Float32Array::from(values)),
            Column::F64(values) => Arc::new(Float64Array::from(values)),
            Column::Bool(values) => Arc::new(BooleanArray::from(values)),
        })
    }
}

/// Writes a table of the blocks `0..blocks`; `make` builds the columns of each in parallel.
pub(super) fn write_table(
    out: &mut (dyn Write + Send),
    format: Format,
    columns: &[(&str, ColumnType)],
    blocks: usize,
    make: impl Fn(usize) -> io::Result<Vec<Column>> + Sync,
) -> io::Result<()> {
    let mut file = TableFile::create(out, format, columns)?;
    file.append(blocks, make)?;
    file.finish().map(drop)
}

/// Returns a batch of the columns of a block.
fn batch_of(
    schema: &SchemaRef,
    block: usize,
    make: &(impl Fn(usize) -> io::Result<Vec<Column>> + Sync),
) -> io::Result<RecordBatch> {
    let columns = make(block)?.into_iter().map(Column::array);
    let columns = columns.collect::<io::Result<Vec<_>>>()?;
    RecordBatch::try_new(schema.clone(), columns).map_err(io::Error::other)
}

/// Table that stays in memory.
pub(super) struct TableBatches {
    pub(super) schema: SchemaRef,
    pub(super) batches: Vec<RecordBatch>,
}

impl TableBatches {
    /// Creates a table of some columns.
    pub(super) fn new(columns: &[(&str, ColumnType)]) -> TableBatches {
        TableBatches { schema: schema(columns), batches: Vec::new() }
    }

    /// Appends the batches `0..blocks`; `make` builds the columns of each in parallel.
    pub(super) fn append(
        &mut self,
        blocks: usize,
        make: impl Fn(usize) -> io::Result<Vec<Column>> + Sync,
    ) -> io::Result<()> {
        let TableBatches { schema, batches } = self;
        in_order(
            blocks,
            |block| batch_of(schema, block, &make),
            |batch| {
                let refused = |error| io::Error::new(io::ErrorKind::OutOfMemory, error);
                ripplet_graph::memory::push(batches, batch).map_err(refused)
            },
        )
    }
}

/// Table that is written batch by batch.
pub(super) struct TableFile<W: Write + Send> {
    schema: SchemaRef,
    encoder: Encoder<W>,
}

enum Encoder<W: Write + Send> {
    Arrow(FileWriter<W>),
    Parquet(ArrowWriter<RecoverableWriter<W>>),
}

impl<W: Write + Send> TableFile<W> {
    /// Creates a table of some columns, in Arrow IPC or otherwise Parquet.
    pub(super) fn create(
        out: W,
        format: Format,
        columns: &[(&str, ColumnType)],
    ) -> io::Result<TableFile<W>> {
        TableFile::with_schema(out, format, schema(columns))
    }

    /// Creates a table with a schema, in Arrow IPC or otherwise Parquet.
    pub(super) fn with_schema(
        out: W,
        format: Format,
        schema: SchemaRef,
    ) -> io::Result<TableFile<W>> {
        let encoder = match format {
            Format::Arrow => Encoder::Arrow(FileWriter::try_new(out, &schema).map_err(from_arrow)?),
            _ => {
                // Every reader of Parquet supports Snappy.
                let properties =
                    WriterProperties::builder().set_compression(Compression::SNAPPY).build();
                let file = ArrowWriter::try_new(
                    RecoverableWriter(Some(out)),
                    schema.clone(),
                    Some(properties),
                );
                Encoder::Parquet(file.map_err(from_parquet)?)
            }
        };
        Ok(TableFile { schema, encoder })
    }

    /// Writes the batches `0..blocks`; `columns` builds the columns of each in parallel.
    pub(super) fn append(
        &mut self,
        blocks: usize,
        make: impl Fn(usize) -> io::Result<Vec<Column>> + Sync,
    ) -> io::Result<()> {
        let TableFile { schema, encoder } = self;
        in_order(blocks, |block| batch_of(schema, block, &make), |batch| encoder.write(&batch))
    }

    /// Appends a batch.
    pub(super) fn append_batch(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.encoder.write(batch)
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

impl<W: Write + Send> Encoder<W> {
    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        match self {
            Encoder::Arrow(file) => file.write(batch).map_err(from_arrow),
            Encoder::Parquet(file) => file.write(batch).map_err(from_parquet),
        }
    }
}

/// Writer that can be taken back out of an encoder.
struct RecoverableWriter<W>(Option<W>);

impl<W: Write> Write for RecoverableWriter<W> {
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
