//! Writes general tables batch by batch, for data other than vertices and edges.
//!
//! The extension selects the format: `.tsv` or `.csv` with a header, `.jsonl` (each also `.gz` or `.zst`), `.parquet`
//! or `.arrow`. In text, null is an empty field (`null` in JSON, if a time is a string), a decimal has all
//! its digits, an instant is `2024-05-31T12:30:00Z`, and a number is the shortest decimal with the same
//! value.
//!
//! Memory: the appended rows, and for Parquet a row group while it is compressed.

use super::columnar::TableFile;
use super::{Target, absent, refused, unfit};
use crate::output::Output;
use crate::output::text::{
    Fields, Line, push_integer, push_shortest, write_blocks, write_end, write_head,
};
use crate::{Compression, Format, NotBuiltIn, WriteError};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType,
    UInt8Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, SchemaRef, TimeUnit};
use ripplet_graph::ExternalId;
use std::io;
use std::path::PathBuf;

/// Rows of text in a block.
const ROWS: usize = 1 << 14;

/// Writer of a table in batches, which appears atomically when it is finished.
pub struct RecordWriter {
    path: PathBuf,
    schema: SchemaRef,
    /// `None` after an error: the file is incomplete then.
    sink: Option<Sink>,
}

enum Sink {
    Text { out: Output, line: Line, compression: Compression, is_empty: bool },
    Columnar(Box<TableFile<Output>>),
}

impl RecordWriter {
    /// Creates a table with these columns, which will be the target.
    ///
    /// # Errors
    /// If neither the name nor the given format is that of a table, text has no form for a column's type, or
    /// the operating system refuses.
    pub fn create<'a>(
        target: impl Into<Target<'a>>,
        schema: SchemaRef,
    ) -> Result<RecordWriter, WriteError> {
        let target = target.into();
        let sink = Self::begin(target, &schema)?;
        Ok(RecordWriter { path: target.path().into(), schema, sink: Some(sink) })
    }

    /// Checks the target before there are rows: that the extension is known, unless a format is given.
    ///
    /// # Errors
    /// If it is unknown.
    pub fn check<'a>(target: impl Into<Target<'a>>) -> Result<(), WriteError> {
        let target = target.into();
        format_of(target).map(drop).map_err(|source| target.error(source))
    }

    fn begin(target: Target<'_>, schema: &SchemaRef) -> Result<Sink, WriteError> {
        let refuse = |source| target.error(source);
        let (format, compression) = format_of(target).map_err(refuse)?;
        let unknown = schema.fields().iter().find(|field| !has_form(field.data_type()));
        if let Some(field) = unknown {
            let sentence = format!("the column `{}` is {}", field.name(), field.data_type());
            return Err(refuse(refused(sentence)));
        }
        let mut out = Output::create(target.path())?;
        let Some(fields) = Fields::of(format) else {
            let file = TableFile::with_schema(out, format, schema.clone()).map_err(refuse)?;
            return Ok(Sink::Columnar(Box::new(file)));
        };
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let is_empty =
            !write_head(&mut out, compression, &fields.header(&names)).map_err(refuse)?;
        Ok(Sink::Text { out, line: Line::new(fields, names), compression, is_empty })
    }

    /// Appends rows. After an error, further rows are rejected.
    ///
    /// # Errors
    /// If the rows have other columns, text cannot hold a name, or the operating system refuses.
    pub fn append(&mut self, batch: &RecordBatch) -> Result<(), WriteError> {
        let refuse = |source| WriteError { path: self.path.clone(), source };
        let sink = self.sink.take().ok_or_else(|| refuse(refused("an error ended this table")))?;
        if batch.schema() != self.schema {
            return Err(refuse(refused("these rows have other columns than the table")));
        }
        self.sink = Some(sink.append(batch).map_err(refuse)?);
        Ok(())
    }

    /// Completes the table, which then appears.
    ///
    /// # Errors
    /// If the operating system refuses, or an earlier call failed; no partial file remains.
    pub fn finish(mut self) -> Result<(), WriteError> {
        let out = match self.sink.take() {
            None => Err(refused("an error ended this table")),
            Some(Sink::Text { mut out, compression, is_empty, .. }) => {
                write_end(&mut out, compression, is_empty).map(|()| out)
            }
            Some(Sink::Columnar(file)) => file.finish(),
        };
        out.map_err(|source| WriteError { path: self.path.clone(), source })?.finish()
    }
}

impl Sink {
    fn append(mut self, batch: &RecordBatch) -> io::Result<Sink> {
        match &mut self {
            Sink::Columnar(file) => file.append_batch(batch)?,
            Sink::Text { out, line, compression, is_empty } => {
                let blocks = batch.num_rows().div_ceil(ROWS);
                *is_empty &= blocks == 0;
                write_blocks(out, *compression, blocks, |block, text| {
                    let rows = block * ROWS..batch.num_rows().min((block + 1) * ROWS);
                    rows.into_iter().try_for_each(|row| push_row(line, text, batch, row))
                })?;
            }
        }
        Ok(self)
    }
}

fn push_row(line: &Line, text: &mut Vec<u8>, batch: &RecordBatch, row: usize) -> io::Result<()> {
    for (place, column) in batch.columns().iter().enumerate() {
        line.begin(text, place);
        if !column.is_null(row) {
            line.fields.push_value(text, column, row)?;
        } else if line.fields == Fields::Json {
            text.extend_from_slice(b"null");
        }
    }
    line.end(text);
    Ok(())
}

impl Fields {
    fn push_value(self, text: &mut Vec<u8>, column: &dyn Array, row: usize) -> io::Result<()> {
        match column.data_type() {
            DataType::Utf8 => {
                let name = column.as_string::<i32>().value(row);
                self.check_name(name)?;
                self.push_external(text, ExternalId::Name(name));
            }
            DataType::Boolean => {
                let value = column.as_boolean().value(row);
                text.extend_from_slice(if value { b"true" } else { b"false" });
            }
            DataType::UInt8 => push_integer(text, column.as_primitive::<UInt8Type>().value(row)),
            DataType::UInt32 => push_integer(text, column.as_primitive::<UInt32Type>().value(row)),
            DataType::UInt64 => push_integer(text, column.as_primitive::<UInt64Type>().value(row)),
            DataType::Int32 => push_integer(text, column.as_primitive::<Int32Type>().value(row)),
            DataType::Int64 => push_integer(text, column.as_primitive::<Int64Type>().value(row)),
            DataType::Float32 => {
                self.push_number(text, column.as_primitive::<Float32Type>().value(row));
            }
            DataType::Float64 => {
                self.push_number(text, column.as_primitive::<Float64Type>().value(row));
            }
            DataType::Decimal128(..) => {
                let decimals = column.as_primitive::<Decimal128Type>();
                push_shortest(text, decimals.value_as_string(row));
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                let times = column.as_primitive::<TimestampMicrosecondType>();
                match times.value_as_datetime(row) {
                    // The standard form of an instant.
                    Some(time) if self == Fields::Json => {
                        push_shortest(text, format_args!("\"{time:?}Z\""));
                    }
                    Some(time) => push_shortest(text, format_args!("{time:?}Z")),
                    None => push_integer(text, times.value(row)),
                }
            }
            other => return Err(refused(format!("there is no text for {other}"))),
        }
        Ok(())
    }
}

/// Whether [`Fields::push_value`] has a form for it.
fn has_form(kind: &DataType) -> bool {
    use DataType::{
        Boolean, Decimal128, Float32, Float64, Int32, Int64, Timestamp, UInt8, UInt32, UInt64, Utf8,
    };
    matches!(
        kind,
        Utf8 | Boolean
            | UInt8
            | UInt32
            | UInt64
            | Int32
            | Int64
            | Float32
            | Float64
            | Decimal128(..)
            | Timestamp(TimeUnit::Microsecond, _)
    )
}

fn format_of(target: Target<'_>) -> io::Result<(Format, Compression)> {
    let fits = |&(format, compression): &(Format, Compression)| match format {
        Format::Tsv | Format::Csv | Format::JsonLines => true,
        Format::Parquet | Format::Arrow => compression == Compression::None,
        _ => false,
    };
    let resolved = target.resolved_format().filter(fits);
    let resolved = resolved.ok_or_else(|| {
        unfit(
            target.path(),
            "this table is written as .tsv, .csv or .jsonl (each also .gz or .zst), .parquet or .arrow: \
             choose such a name, or give its format as --to",
        )
    })?;
    NotBuiltIn::check_writer(resolved.0, resolved.1).map_err(absent)?;
    Ok(resolved)
}
