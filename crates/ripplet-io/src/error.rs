//! Errors of readers and writers, with a hint on how to fix the file.

use crate::NotBuiltIn;
use crate::names::InternError;
use ripplet_graph::batch::{BatchError, BatchTableError, InvalidBatch};
use ripplet_graph::{Cancelled, OutOfMemory};
use std::fmt;
use std::io;
use std::path::{Display, Path, PathBuf};
use thiserror::Error;

/// Error of reading an input: file, position and the expected contents.
#[derive(Debug, Error)]
#[error("{}{place}: {kind}", shown(path, "standard input"))]
pub struct ReadError {
    /// The file, or `-` for standard input.
    pub path: PathBuf,
    /// Position in the file.
    pub place: Place,
    /// Kind of the error.
    #[source]
    pub kind: ReadErrorKind,
}

/// Position in a file; prints as `:12`, ` at byte 12`, ` at row 12` (rows counted from 1, as lines are), or
/// nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    File,
    /// A line, from 1.
    Line(u64),
    /// A byte, from 0.
    Byte(u64),
    /// A row of a table, from 0; it prints from 1.
    Row(u64),
    /// A row of a table in memory, from 0, as it prints.
    MemoryRow(u64),
}

/// Kind of read error.
#[derive(Debug, Error)]
pub enum ReadErrorKind {
    /// The operating system returned an error.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The content does not match the format; the message says what was expected.
    #[error("{0}")]
    Content(String),
    /// A table without edges; the message says what was expected.
    #[error("{0}")]
    NoEdges(&'static str),
    /// Memory allocation failed, or the process reached its memory limit.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// [`ReadOptions::cancel`](crate::ReadOptions::cancel) was set.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// No known format has this extension.
    #[error("no format that is read has this extension")]
    UnknownFormat,
    /// A spreadsheet: `.xlsx`, `.xls`, `.ods`.
    #[error("a spreadsheet is not read")]
    Spreadsheet,
    /// A format that a cargo feature adds to the build.
    #[error(transparent)]
    NotBuiltIn(#[from] NotBuiltIn),
}

/// Returns a file for a message; `standard` is the meaning of `-`.
fn shown<'p>(path: &'p Path, standard: &'p str) -> Display<'p> {
    if path == Path::new("-") { Path::new(standard).display() } else { path.display() }
}

/// Error of writing an output; no partial file remains.
#[derive(Debug, Error)]
#[error("{}: {source}", shown(path, "standard output"))]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// Reason.
    pub source: io::Error,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File => Ok(()),
            Place::Line(line) => write!(f, ":{line}"),
            Place::Byte(byte) => write!(f, " at byte {byte}"),
            Place::Row(row) => write!(f, " at row {}", row.saturating_add(1)),
            Place::MemoryRow(row) => write!(f, " at row {row} (the first is 0)"),
        }
    }
}

impl From<String> for ReadErrorKind {
    fn from(sentence: String) -> Self {
        ReadErrorKind::Content(sentence)
    }
}

impl From<&str> for ReadErrorKind {
    fn from(sentence: &str) -> Self {
        ReadErrorKind::Content(sentence.into())
    }
}

impl From<BatchTableError> for ReadErrorKind {
    fn from(error: BatchTableError) -> Self {
        match error {
            BatchTableError::OutOfMemory(refused)
            | BatchTableError::Members(InvalidBatch::OutOfMemory(refused)) => refused.into(),
            error => ReadErrorKind::Content(error.to_string()),
        }
    }
}

impl From<BatchError> for ReadErrorKind {
    fn from(error: BatchError) -> Self {
        match error {
            BatchError::OutOfMemory(refused)
            | BatchError::Members(InvalidBatch::OutOfMemory(refused)) => refused.into(),
            error => ReadErrorKind::Content(error.to_string()),
        }
    }
}

impl From<InternError> for ReadErrorKind {
    fn from(error: InternError) -> Self {
        match error {
            InternError::TooManyVertices => ReadErrorKind::Content(error.to_string()),
            InternError::OutOfMemory(error) => error.into(),
        }
    }
}

impl ReadError {
    /// Whether memory allocation failed: the file may be valid.
    pub fn is_out_of_memory(&self) -> bool {
        match &self.kind {
            ReadErrorKind::OutOfMemory(_) => true,
            ReadErrorKind::Io(error) => error.kind() == io::ErrorKind::OutOfMemory,
            ReadErrorKind::Content(_)
            | ReadErrorKind::NoEdges(_)
            | ReadErrorKind::Cancelled(_)
            | ReadErrorKind::UnknownFormat
            | ReadErrorKind::Spreadsheet
            | ReadErrorKind::NotBuiltIn(_) => false,
        }
    }

    /// Creates an error of content.
    pub fn content(path: impl Into<PathBuf>, place: Place, sentence: impl Into<String>) -> Self {
        ReadError { path: path.into(), place, kind: ReadErrorKind::Content(sentence.into()) }
    }

    /// Creates an error of the operating system.
    pub fn io(path: impl Into<PathBuf>, place: Place, error: io::Error) -> Self {
        ReadError { path: path.into(), place, kind: error.into() }
    }
}
