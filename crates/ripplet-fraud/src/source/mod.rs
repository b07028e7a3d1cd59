//! Sources of transactions: files in folders, Delta tables, PostgreSQL, DuckDB, and tables in memory.
//!
//! ```text
//! files::find ─▶ files, in the order of their names ─▶ parquet, arrow ─┐
//! delta: files of a table's newest version ─────────▶ csv, tsv ────────┼▶ batches of columns ─▶ decode ─▶ Batch
//! a query ────▶ COPY (…) TO STDOUT (FORMAT binary) ─▶ postgres ────────┤
//! a query ────▶ the command duckdb ─▶ rows in a pipe ─▶ duckdb ────────┤
//! Arrow batches in memory ──────────────────────────▶ memory ────────┘
//! ```
//!
//! All sources yield the columns of the mapping as arrays, in batches ([`RawBatch`]). [`decode`] turns these
//! into times, amounts and ids ([`Batch`]). Memory: a few batches of 65,536 rows.

mod data_file;
pub mod decode;
mod delta;
pub mod duckdb;
pub mod files;
pub mod memory;
mod partitions;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(not(feature = "postgres"))]
#[path = "postgres_absent.rs"]
pub mod postgres;
pub mod reader;
pub(crate) mod row_hash;
mod statement;
pub mod text;

pub use decode::{Batch, Fault, FaultKind};
pub use memory::{MemoryTable, TableSource};

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use data_file::DataFile;
use ripplet_io::tables::TableFile;
use ripplet_io::{Compression, Format, NotBuiltIn, ReadError};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// Rows in a batch.
pub const ROWS: usize = 1 << 16;

/// Batch of rows as they are stored: the requested columns, in that order.
#[derive(Debug)]
pub struct RawBatch {
    /// The columns.
    pub columns: RecordBatch,
    /// Positions of the rows.
    pub places: Places,
    /// Number of fields of each column with surrounding blanks, which are trimmed in text; empty for typed
    /// tables.
    pub trimmed: Vec<u64>,
}

/// Positions of rows in their source.
#[derive(Clone, Debug)]
pub enum Places {
    /// Consecutive rows of a table from this one on, counted from 0 (messages count from 1).
    Rows(u64),
    /// Consecutive rows of a table in memory from this one on, counted from 0, also in messages.
    Memory(u64),
    /// Line numbers of a text, from 1, one for each row.
    Lines(Arc<[u64]>),
}

/// Iterator over the batches of a file or query.
pub type Batches = Box<dyn Iterator<Item = Result<RawBatch, SourceError>> + Send>;

/// Error of a source.
#[derive(Debug, Error)]
pub enum SourceError {
    /// The file cannot be read, or is damaged.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A column of the mapping is missing.
    #[error(
        "{origin}: there is no column `{column}`; the columns are {}: name one of them in the mapping",
        listed(.known)
    )]
    MissingColumn {
        /// File or query.
        origin: String,
        /// Name of the column.
        column: String,
        /// Columns that exist.
        known: Vec<String>,
    },
    /// Several columns have the name of one of the mapping's.
    #[error(
        "{origin}: {count} columns are called `{column}`, and it is ambiguous which of them is meant: rename the others"
    )]
    RepeatedColumn {
        /// File or query.
        origin: String,
        /// Name of the columns.
        column: String,
        /// Number of columns with this name.
        count: usize,
    },
    /// The type of a column does not fit its field.
    #[error("{origin}: the column `{column}` is {found}, but {expected}")]
    ColumnType {
        /// File or query.
        origin: String,
        /// Name of the column.
        column: String,
        /// Type of the column.
        found: String,
        /// Expected types.
        expected: &'static str,
    },
    /// The file's name has no known extension.
    #[error(
        "{}: tables are read from .parquet, .arrow, .csv and .tsv (text also .gz, .zst): \
         the name tells none of these",
        .0.display()
    )]
    Format(PathBuf),
    /// A server, which a build without the feature `postgres` cannot reach.
    #[error(transparent)]
    NotBuiltIn(#[from] NotBuiltIn),
    /// The address of the server is invalid, or root certificates cannot be read.
    #[error("the address of the PostgreSQL server: {why}")]
    Server {
        /// Reason.
        why: String,
    },
    /// The server rejects the query.
    #[error("PostgreSQL refuses the query: {why}")]
    Sql {
        /// Reason.
        why: String,
    },
    /// The server cannot be reached, does not answer, or the connection was lost.
    #[error("PostgreSQL: {why}")]
    Query {
        /// Reason.
        why: String,
    },
    /// Ranks cannot read one snapshot of a PostgreSQL database.
    #[error(
        "PostgreSQL: the ranks cannot read one snapshot of the database: {why}. Give the address of one server itself, not \
         of a pooler or of several servers, or run it in one process"
    )]
    Snapshot {
        /// Reason.
        why: String,
    },
    /// A Delta table cannot be read.
    #[error("the Delta table {table}: {why}")]
    Delta {
        /// The table, or the file of its log.
        table: String,
        /// Reason.
        why: String,
    },
    /// The type of a column differs between files.
    #[error(transparent)]
    OtherType(Box<TypeChange>),
    /// A row lies outside the span of time that its partition has according to the mapping.
    #[error(
        "{origin}{place}: the time {time} is not within the partition {partition}, by which files are passed over: take \
         `partition` out of the mapping's `time`"
    )]
    Partition {
        /// The file.
        origin: String,
        /// Position of the row.
        place: ripplet_io::Place,
        /// Time of the row.
        time: crate::Timestamp,
        /// Folder's name.
        partition: String,
    },
    /// Files cannot be listed, or a pattern is invalid.
    #[error("{what}: {why}")]
    Listing {
        /// The folder or pattern.
        what: String,
        /// Reason.
        why: String,
    },
}

/// Column whose type differs between files of one input.
#[derive(Debug, Error)]
#[error(
    "{origin}: the column `{column}` is {found}, and in {first} it is {there}: write the files alike, or read them in two \
     runs"
)]
pub struct TypeChange {
    /// The file.
    pub origin: String,
    /// Name of the column.
    pub column: String,
    /// Type of the column.
    pub found: String,
    /// Path of an earlier file.
    pub first: String,
    /// Type of the column there.
    pub there: String,
}

#[cfg(feature = "postgres")]
impl SourceError {
    /// Creates the error of a server's address.
    fn address(why: String) -> SourceError {
        SourceError::Server { why }
    }
}

/// Formats the names of columns, shortened if there are many.
fn listed(names: &[String]) -> String {
    const MOST: usize = 30;
    let more = names.len().saturating_sub(MOST);
    let all = names[..names.len() - more].join(", ");
    if more > 0 { format!("{all} and {more} more") } else { all }
}

/// Opens a file of transactions; batches have these columns in this order.
///
/// # Errors
/// If it cannot be read, or lacks a column.
pub fn open_file(path: &Path, columns: &[&str]) -> Result<Batches, SourceError> {
    match Format::of_path(path) {
        Some((format @ (Format::Parquet | Format::Arrow), Compression::None)) => {
            table(path, format, columns)
        }
        Some((Format::Csv, _)) => text::open(path, b',', columns),
        Some((Format::Tsv, _)) => text::open(path, b'\t', columns),
        _ => Err(SourceError::Format(path.into())),
    }
}

/// Returns the names of a file's columns.
///
/// # Errors
/// If it cannot be read.
pub fn columns_of(path: &Path) -> Result<Vec<String>, SourceError> {
    match Format::of_path(path) {
        Some((format @ (Format::Parquet | Format::Arrow), Compression::None)) => {
            let file = TableFile::open(path, format)?;
            Ok(file.schema().fields().iter().map(|field| field.name().clone()).collect())
        }
        Some((Format::Csv, _)) => text::columns_of(path, b','),
        Some((Format::Tsv, _)) => text::columns_of(path, b'\t'),
        _ => Err(SourceError::Format(path.into())),
    }
}

/// Opens a file with the columns that its folders or its table add.
///
/// # Errors
/// If it cannot be read, or lacks a column.
fn open_data(file: &DataFile, columns: &[&str]) -> Result<Batches, SourceError> {
    let DataFile { path, partitions, schema, .. } = file;
    if partitions.is_empty() && schema.is_none() {
        return open_file(path, columns);
    }
    let there = columns_of(path)?;
    // The log of a table counts, and else the file's own column.
    let in_file = |name: &str| there.iter().any(|known| known == name);
    let constant = |name: &str| {
        let partition = partitions.iter().find(|partition| partition.key == name);
        let later = schema.as_ref().is_some_and(|all| all.iter().any(|known| known == name));
        match partition {
            Some(partition) if schema.is_some() || !in_file(name) => Some(partition.value.clone()),
            _ => (later && !in_file(name)).then_some(None),
        }
    };
    let constants: Vec<Option<Option<String>>> =
        columns.iter().map(|name| constant(name)).collect();
    let of_file: Vec<&str> = columns
        .iter()
        .zip(&constants)
        .filter(|(_, of)| of.is_none())
        .map(|(name, _)| *name)
        .collect();
    if of_file.is_empty() {
        let sentence = "the file has none of the mapping's columns, only its folders do";
        return Err(ReadError::content(path, ripplet_io::Place::File, sentence).into());
    }
    if let Some(missing) = of_file.iter().find(|name| !in_file(name)) {
        let keys = partitions.iter().map(|partition| partition.key.clone());
        return Err(SourceError::MissingColumn {
            origin: path.display().to_string(),
            column: (*missing).into(),
            known: there.into_iter().chain(keys).collect(),
        });
    }
    let batches = open_file(path, &of_file)?;
    let names: Vec<String> = columns.iter().map(|&name| name.to_owned()).collect();
    let path = path.clone();
    Ok(Box::new(batches.map(move |raw| with_constants(raw?, &names, &constants, &path))))
}

/// Adds columns with the same value in all rows.
fn with_constants(
    raw: RawBatch,
    names: &[String],
    constants: &[Option<Option<String>>],
    path: &Path,
) -> Result<RawBatch, SourceError> {
    let RawBatch { columns, places, trimmed } = raw;
    let (rows, stored) = (columns.num_rows(), columns.schema());
    let mut of_file = columns.columns().iter().zip(stored.fields()).zip(0usize..);
    let (mut fields, mut arrays, mut blanks) = (Vec::new(), Vec::<ArrayRef>::new(), Vec::new());
    for (name, constant) in names.iter().zip(constants) {
        match constant {
            Some(value) => {
                let texts = std::iter::repeat_n(value.as_deref(), rows);
                let texts: StringArray = texts.collect();
                let constant = HashMap::from([(CONSTANT.to_owned(), String::new())]);
                fields.push(Field::new(name, DataType::Utf8, true).with_metadata(constant));
                arrays.push(Arc::new(texts));
                blanks.push(0);
            }
            None => {
                let Some(((array, field), place)) = of_file.next() else { continue };
                fields.push(field.as_ref().clone());
                arrays.push(array.clone());
                blanks.push(trimmed.get(place).copied().unwrap_or(0));
            }
        }
    }
    let columns = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(|error| {
        let sentence = format!("the columns do not fit: {error}");
        ReadError::content(path, ripplet_io::Place::File, sentence)
    })?;
    Ok(RawBatch { columns, places, trimmed: if trimmed.is_empty() { trimmed } else { blanks } })
}

/// Key of a field's metadata that marks a column of a partition.
const CONSTANT: &str = "ripplet.partition";

fn table(path: &Path, format: Format, columns: &[&str]) -> Result<Batches, SourceError> {
    let file = TableFile::open(path, format)?;
    let fields = file.schema().fields();
    let names: Vec<&str> = fields.iter().map(|field| &**field.name()).collect();
    let places = places_of(columns, &names, &path.display().to_string())?;
    let mut read = places.clone();
    read.sort_unstable();
    read.dedup();
    let order: Vec<usize> =
        places.iter().map(|place| read.partition_point(|other| other < place)).collect();
    let batches = file.batches(&read)?;
    let path = path.to_owned();
    Ok(Box::new(batches.map(move |rows| {
        let rows = rows?;
        let columns = rows.batch.project(&order).map_err(|error| {
            let place = ripplet_io::Place::Row(rows.first);
            ReadError::content(&path, place, format!("the columns do not fit: {error}"))
        })?;
        Ok(RawBatch { columns, places: Places::Rows(rows.first), trimmed: Vec::new() })
    })))
}

/// Returns the index of each requested column among those of a table.
///
/// # Errors
/// If a column is missing, or its name is ambiguous.
fn places_of(wanted: &[&str], names: &[&str], origin: &str) -> Result<Vec<usize>, SourceError> {
    let place = |column: &&str| {
        let found = || (0..names.len()).filter(|&place| names[place] == *column);
        let (origin, count) = (origin.to_owned(), found().count());
        match found().next() {
            Some(place) if count == 1 => Ok(place),
            Some(_) => Err(SourceError::RepeatedColumn { origin, column: (*column).into(), count }),
            None => {
                let known = names.iter().map(|&name| name.into()).collect();
                Err(SourceError::MissingColumn { origin, column: (*column).into(), known })
            }
        }
    };
    wanted.iter().map(place).collect()
}

impl Places {
    /// Returns the position of a row of the batch.
    pub fn of(&self, row: usize) -> ripplet_io::Place {
        match self {
            Places::Rows(first) => ripplet_io::Place::Row(first + row as u64),
            Places::Memory(first) => ripplet_io::Place::MemoryRow(first + row as u64),
            Places::Lines(lines) => lines
                .get(row)
                .map_or(ripplet_io::Place::File, |&line| ripplet_io::Place::Line(line)),
        }
    }
}
