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
mod detect;
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
mod row;
mod rows;
mod sample_error;
mod separator;
mod share;
mod source;
mod table;
pub(crate) mod token;
mod tu;
mod widths;

pub(crate) use decode::{compression_of, compression_of_named, decoder, is_trailing_bytes};
pub(crate) use header::{KnownEnds, known_ends, number};
pub(crate) use label_rows::{json_label_rows, label_rows};
pub(crate) use ldbc::Vertices;
pub(crate) use other_format::{is_json_lines, what_to_do_with_list};
pub(crate) use pairs::{members, pairs};
pub(crate) use records::records;
pub(crate) use share::read_share;
pub(crate) use source::{LONGEST_OF_WORDS, Text, is_damage, pass_over};
pub(crate) use table::{GraphRows, NO_EDGES, left_out_aside, read_of_graphs};
pub(crate) use tu::{Indicator, read_labels};

use crate::fault::Fault;
use crate::summary::ReadSummary;
use crate::{Format, ReadOptions};
use ripplet_graph::EdgeTable;

/// Reads the edges of a text in a single-file format, with a summary.
pub(crate) fn read(
    text: &mut Text<'_>,
    format: Format,
    options: &ReadOptions,
) -> Result<(EdgeTable, ReadSummary), Fault> {
    let edges = match format {
        Format::MatrixMarket => return matrix_market::read(text, options),
        Format::Metis => metis::read(text, options)?,
        _ => {
            let (edges, columns) = table::read(text, format, options)?;
            let summary = ReadSummary::of_table(&edges, columns)?;
            return Ok((edges, summary));
        }
    };
    let summary = ReadSummary::of_edges(&edges);
    Ok((edges, summary))
}
