//! Results of a run in a PostgreSQL database, beside the run folder.
//!
//! ```text
//! window's folder, complete but for its name ──▶ BEGIN; DELETE; COPY … (FORMAT binary) per table; COMMIT ──▶ rename
//! ```
//!
//! A schema (`ripplet` by default) has these tables. [`Database::open`] creates them if they are absent.
//!
//! | table | rows |
//! |---|---|
//! | `ripplet_schema` | one: `version`, [`VERSION`] |
//! | `runs` | one a run: its id, version of ripplet, options, state, and when it began |
//! | `windows` | one a window: range, counts, and the contents of `window.json` |
//! | `clusters`, `members`, `known_bad`, `entities`, `reasons` | those of the files of the same names, with the run's id before |
//!
//! A window is written in one transaction, which first removes an older window of the same run and number. So a
//! window is there completely or not at all, and writing it again changes nothing. The transaction is committed
//! before the window's folder gets its name: a killed run resumes at this window, and replaces its rows. Rows are
//! read from the window's Parquet files, so that both have the same contents.
//!
//! Memory: a batch of a file's rows, and a buffer of 64 KiB.

#[cfg(feature = "postgres")]
mod connection;
#[cfg(not(feature = "postgres"))]
#[path = "connection_absent.rs"]
mod connection;
#[cfg(feature = "postgres")]
mod rows;
mod tables;

pub use connection::Database;

use crate::folder::Manifest;
use crate::source::SourceError;
use ripplet_io::ReadError;
use std::fmt;
use std::path::PathBuf;
use thiserror::Error;

/// Version of the tables. Tables of version 1, which lack `reasons` and the column `features` of `entities`, are
/// changed to this version, unless the user added one of these; those of any other version are refused.
pub const VERSION: i32 = 2;

/// Name of the schema by default.
pub const SCHEMA: &str = "ripplet";

/// Where results are written to.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseOptions {
    /// Address of the server, in libpq's forms; it may have a password.
    pub server: String,
    /// Name of the schema: 1 to 63 bytes.
    pub schema: String,
}

impl fmt::Debug for DatabaseOptions {
    /// Formats the schema alone: the address may have a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatabaseOptions").field("schema", &self.schema).finish_non_exhaustive()
    }
}

/// Run whose windows are written.
#[derive(Clone, Copy, Debug)]
pub struct RunIdentity<'a> {
    /// Id of the run.
    pub id: &'a str,
    /// Version of ripplet.
    pub version: &'a str,
    /// Its options as JSON.
    pub options: &'a str,
}

impl<'a> RunIdentity<'a> {
    /// Returns the identity of a run; `options` are [`Manifest::options_json`].
    pub fn of(run: &'a Manifest, options: &'a str) -> RunIdentity<'a> {
        RunIdentity { id: &run.run_id, version: &run.ripplet, options }
    }
}

/// Windows of the same run that a window replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// The one with its number.
    Same,
    /// The one with its number and all later ones.
    Later,
}

/// Error of a database.
#[derive(Debug, Error)]
pub enum DatabaseError {
    /// The address is invalid, the server cannot be reached, or this build has no PostgreSQL.
    #[error(transparent)]
    Server(#[from] SourceError),
    /// The schema's name is no name.
    #[error("`{0}` is no name of a schema: expected 1 to 63 bytes")]
    Name(String),
    /// The schema has tables of another version.
    #[error(
        "the schema `{schema}` of the database has tables of version {there}, and ripplet {} writes version {VERSION}: name \
         a new schema, or use a ripplet that writes version {there}",
        env!("CARGO_PKG_VERSION")
    )]
    Version {
        /// The schema.
        schema: String,
        /// Version of its tables.
        there: String,
    },
    /// The schema has a table that differs from what ripplet creates.
    #[error(
        "the table `{table}` in the schema `{schema}` of the database {why}: name a new schema"
    )]
    Table {
        /// The schema.
        schema: String,
        /// The table.
        table: String,
        /// The difference.
        why: String,
    },
    /// The user lacks a right.
    #[error("PostgreSQL refuses {what}: {why}")]
    Rights {
        /// What was attempted.
        what: String,
        /// Reason.
        why: String,
    },
    /// The server refuses a value or a statement.
    #[error("PostgreSQL refuses {what}: {why}")]
    Refused {
        /// What was attempted.
        what: String,
        /// Reason.
        why: String,
    },
    /// The connection was lost, or the server failed.
    #[error("PostgreSQL failed at {what}: {why}")]
    Lost {
        /// What was attempted.
        what: String,
        /// Reason.
        why: String,
    },
    /// A file of the window cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file of the window has other columns or values than the table holds.
    #[error("{}: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The difference.
        why: String,
    },
}
