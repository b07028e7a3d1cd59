//! The text formats: edge lists, LDBC, MatrixMarket, METIS, TU data sets.
//!
//! ```text
//! file, stdin ─▶ decompress ─▶ Text ── batch of whole lines ──▶ chunks ─▶ parse (parallel) ─▶ take (in order)
//!                               └ reads the next batch meanwhile
//! ```
//!
//! Each format parses its header or banner line by line, then passes [`Text::parse_chunks`] a function from a
//! chunk of whole lines to their contents.
//!
//! Memory: two batches of 16 MiB beside the result, however large the file.
//!
//! Determinism: chunks are cut at positions that depend on the text alone, and their results are processed in
//! the order of the text. So the rows, and the line of the first error, do not depend on the number of
//! threads.

mod decode;
mod delimiter;
mod header;
mod json_lines;
mod label_rows;
mod layout;
mod ldbc;
mod matrix_market;
mod metis;
mod other_format;
mod pairs;
mod records;
mod rows;
mod sample_error;
mod source;
mod table;
pub(crate) mod token;
mod tu;
mod widths;

pub use header::{KNOWN_COLUMN_PAIRS, KNOWN_WEIGHT_NAMES, UNSPECIFIC_WORDS};

pub(crate) use decode::{compression_of, compression_of_named, decoder, is_trailing_bytes};
pub(crate) use header::{KnownEnds, is_graph_name, is_weight_name, known_ends, number};
pub(crate) use label_rows::{json_label_rows, label_rows};
pub(crate) use layout::NAMED_TABS;
pub(crate) use ldbc::Vertices;
pub(crate) use pairs::{members, pairs};
pub(crate) use records::records;
pub(crate) use source::{LONGEST_OF_WORDS, Text};
pub(crate) use table::{GraphRows, read_of_graphs};
pub(crate) use tu::{Indicator, read_labels};

use crate::exchange;
use crate::intern::InternError;
use crate::summary::ReadSummary;
use crate::{Format, Place, ReadError, ReadErrorKind, ReadOptions};
use ripplet_graph::{EdgeTable, EdgeTableError, OutOfMemory};
use std::path::Path;

/// Error in a text whose file is not named yet.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) place: Place,
    pub(crate) kind: ReadErrorKind,
}

impl Fault {
    /// Creates an error at a position; a failed memory allocation has no position.
    pub(crate) fn at(place: Place, why: impl Into<ReadErrorKind>) -> Fault {
        let kind = why.into();
        match kind {
            ReadErrorKind::OutOfMemory(_) => Fault { place: Place::File, kind },
            _ => Fault { place, kind },
        }
    }

    /// Creates an error of a line, counted from 1.
    pub(crate) fn line(line: u64, why: impl Into<ReadErrorKind>) -> Fault {
        Fault::at(Place::Line(line), why)
    }

    /// Creates an error of the text as a whole.
    pub(crate) fn whole(why: impl Into<ReadErrorKind>) -> Fault {
        Fault::at(Place::File, why)
    }

    /// Adds the file's name.
    pub(crate) fn of(self, path: &Path) -> ReadError {
        ReadError { path: path.into(), place: self.place, kind: self.kind }
    }
}

/// The parsers check what a table checks, with line numbers; this reports the remaining errors.
impl From<EdgeTableError> for Fault {
    fn from(error: EdgeTableError) -> Fault {
        Fault::whole(error.to_string())
    }
}

impl From<OutOfMemory> for Fault {
    fn from(error: OutOfMemory) -> Fault {
        Fault::whole(error)
    }
}

impl From<InternError> for Fault {
    fn from(error: InternError) -> Fault {
        Fault::whole(error)
    }
}

/// Reads the edges of a text in a single-file format, with a summary.
pub(crate) fn read(
    text: &mut Text<'_>,
    format: Format,
    options: &ReadOptions,
) -> Result<(EdgeTable, ReadSummary), Fault> {
    let edges = match format {
        Format::MatrixMarket => return matrix_market::read(text, options),
        Format::Metis => metis::read(text, options)?,
        format if format.is_exchange() => return exchange::read(text, format, options),
        _ => {
            let (edges, columns) = table::read(text, format, options)?;
            let summary = ReadSummary::of_table(&edges, columns);
            return Ok((edges, summary));
        }
    };
    let summary = ReadSummary::of_edges(&edges);
    Ok((edges, summary))
}
