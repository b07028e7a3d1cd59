//! Where transactions come from: files in folders, and PostgreSQL.
//!
//! ```text
//! files::find ─▶ files, in the order of their names ─▶ parquet, arrow ─┐
//!                                                      csv, tsv ───────┼▶ batches of columns ─▶ decode ─▶ Batch
//! a query ────▶ COPY (…) TO STDOUT (FORMAT binary) ─▶ postgres ────────┘
//! ```
//!
//! All give the columns of the mapping as arrays, some rows at a time ([`RawBatch`]), and [`decode`] makes times,
//! amounts and ids of them ([`Batch`]). Memory: some batches of 65,536 rows.

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

/// Rows that are read at a time.
pub const ROWS: usize = 1 << 16;

/// Some rows as they are stored: the columns that were asked for, in that order.
#[derive(Debug)]
pub struct RawBatch {
    /// The columns.
    pub columns: RecordBatch,
    /// Where the rows are.
    pub places: Places,
    /// How many fields of each column had blanks around them, which text has without meaning; none of typed tables.
    pub trimmed: Vec<u64>,
}

/// Where rows are in what they come from.
#[derive(Clone, Debug)]
pub enum Places {
    /// Rows of a table from this one on, counted from 0 (messages count from 1).
    Rows(u64),
    /// The lines of a text, from 1, one for each row.
    Lines(Arc<[u64]>),
}

/// What rows come from: a file, or a query.
pub type Batches = Box<dyn Iterator<Item = Result<RawBatch, SourceError>> + Send>;

/// Transactions that cannot be read.
#[derive(Debug, Error)]
pub enum SourceError {
    /// The file cannot be read, or is damaged.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A column of the mapping is not there.
    #[error(
        "{origin}: there is no column `{column}`; the columns are {}: name one of them in the mapping",
        listed(.known)
    )]
    MissingColumn {
        /// The file, or the query.
        origin: String,
        /// The column.
        column: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// Several columns have the name of one of the mapping's.
    #[error(
        "{origin}: {count} columns are called `{column}`, and which of them is meant cannot be told: rename the others"
    )]
    RepeatedColumn {
        /// The file, or the query.
        origin: String,
        /// The name.
        column: String,
        /// How many have it.
        count: usize,
    },
    /// A column is of a type that cannot be what it is mapped to.
    #[error("{origin}: the column `{column}` is {found}, but {expected}")]
    ColumnType {
        /// The file, or the query.
        origin: String,
        /// The column.
        column: String,
        /// Its type.
        found: String,
        /// What it must be.
        expected: &'static str,
    },
    /// The file's name does not tell its format.
    #[error(
        "{}: tables are read from .parquet, .arrow, .csv and .tsv (text also .gz, .zst): \
         the name tells none of these",
        .0.display()
    )]
    Format(PathBuf),
    /// A server, which a build without the feature `postgres` cannot reach.
    #[error(transparent)]
    NotBuiltIn(#[from] NotBuiltIn),
    /// A server's address that is none, or root certificates that cannot be read.
    #[error("the address of the PostgreSQL server: {why}")]
    Server {
        /// Why.
        why: String,
    },
    /// A query that is wrong, by what the server says of it.
    #[error("PostgreSQL refuses the query: {why}")]
    Sql {
        /// Why.
        why: String,
    },
    /// A server that is not reached or does not answer, or a connection that was lost.
    #[error("PostgreSQL: {why}")]
    Query {
        /// Why.
        why: String,
    },
    /// Files that cannot be listed, or a pattern that is none.
    #[error("{what}: {why}")]
    Listing {
        /// The folder or pattern.
        what: String,
        /// Why.
        why: String,
    },
}

/// The names of columns, of which there may be very many.
fn listed(names: &[String]) -> String {
    const MOST: usize = 30;
    let more = names.len().saturating_sub(MOST);
    let all = names[..names.len() - more].join(", ");
    if more > 0 { format!("{all} and {more} more") } else { all }
}

/// Opens a file of transactions, to give these columns in this order.
///
/// # Errors
/// Where it cannot be read, or lacks a column.
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

/// The names of a file's columns.
///
/// # Errors
/// Where it cannot be read.
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

/// Returns where each of these columns is among those of a table.
///
/// # Errors
/// If a column is not there, or its name is that of several.
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
    /// The place of a row of the batch.
    pub fn of(&self, row: usize) -> ripplet_io::Place {
        match self {
            Places::Rows(first) => ripplet_io::Place::Row(first + row as u64),
            Places::Lines(lines) => lines
                .get(row)
                .map_or(ripplet_io::Place::File, |&line| ripplet_io::Place::Line(line)),
        }
    }
}
