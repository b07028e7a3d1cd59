//! Sources of transactions: files in folders, and PostgreSQL.
//!
//! ```text
//! files::find ─▶ files, in the order of their names ─▶ parquet, arrow ─┐
//!                                                      csv, tsv ───────┼▶ batches of columns ─▶ decode ─▶ Batch
//! a query ────▶ COPY (…) TO STDOUT (FORMAT binary) ─▶ postgres ────────┘
//! ```
//!
//! All sources yield the columns of the mapping as arrays, in batches ([`RawBatch`]). [`decode`] turns these
//! into times, amounts and ids ([`Batch`]). Memory: a few batches of 65,536 rows.

pub mod decode;
pub mod files;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(not(feature = "postgres"))]
#[path = "postgres_absent.rs"]
pub mod postgres;
pub mod reader;
pub mod text;

pub use decode::{Batch, Fault, FaultKind};

use arrow_array::RecordBatch;
use ripplet_io::tables::TableFile;
use ripplet_io::{Compression, Format, NotBuiltIn, ReadError};
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
    /// Files cannot be listed, or a pattern is invalid.
    #[error("{what}: {why}")]
    Listing {
        /// The folder or pattern.
        what: String,
        /// Reason.
        why: String,
    },
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
            Places::Lines(lines) => lines
                .get(row)
                .map_or(ripplet_io::Place::File, |&line| ripplet_io::Place::Line(line)),
        }
    }
}
