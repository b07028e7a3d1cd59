//! What can be wrong with a file, said so that its owner can mend it.

use std::fmt;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// An input that cannot be read: which, where, and what was expected.
#[derive(Debug, Error)]
#[error("{}{place}: {kind}", path.display())]
pub struct ReadError {
    /// The file, or `-` for standard input.
    pub path: PathBuf,
    /// Where in the file.
    pub place: Place,
    /// What is wrong.
    #[source]
    pub kind: ReadErrorKind,
}

/// A place in a file; prints as `:12`, ` at byte 12`, ` at row 12`, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    File,
    /// A line, from 1.
    Line(u64),
    /// A byte, from 0.
    Byte(u64),
    /// A row of a table, from 0.
    Row(u64),
}

/// What is wrong with an input.
#[derive(Debug, Error)]
pub enum ReadErrorKind {
    /// The operating system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The content is not what the format asks for; the sentence says what was expected.
    #[error("{0}")]
    Content(String),
    /// The extension says no format that is known.
    #[error(
        "the name does not tell the format; use --format with one of: {}",
        crate::Format::names()
    )]
    UnknownFormat,
}

/// An output that could not be written; nothing of it is left behind.
#[derive(Debug, Error)]
#[error("{}: {source}", path.display())]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File => Ok(()),
            Place::Line(line) => write!(f, ":{line}"),
            Place::Byte(byte) => write!(f, " at byte {byte}"),
            Place::Row(row) => write!(f, " at row {row}"),
        }
    }
}

impl ReadError {
    /// An error of content.
    pub fn content(path: impl Into<PathBuf>, place: Place, sentence: impl Into<String>) -> Self {
        ReadError { path: path.into(), place, kind: ReadErrorKind::Content(sentence.into()) }
    }

    /// An error of the operating system.
    pub fn io(path: impl Into<PathBuf>, place: Place, error: io::Error) -> Self {
        ReadError { path: path.into(), place, kind: error.into() }
    }
}
