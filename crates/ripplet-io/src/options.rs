//! Options of readers.

use crate::Format;
use ripplet_graph::Cancel;
use std::str::FromStr;

/// Options of readers.
///
/// # Examples
/// ```
/// use ripplet_io::{Format, ReadOptions, parse_edges};
///
/// let options = ReadOptions { weighted: true, ..ReadOptions::default() };
/// let edges = parse_edges(b"source,target,weight\nann,bob,2.5\n", Format::Csv, &options)?;
/// assert_eq!(edges.len(), 1);
/// # Ok::<(), ripplet_io::ReadError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Format of the file; by default that of its extension.
    pub format: Option<Format>,
    /// Whether weights are read; if not, a weight column is skipped.
    pub weighted: bool,
    /// Kind of ids.
    pub ids: IdKind,
    /// Columns of a table to read.
    pub columns: Columns,
    /// Whether the ends of an edge are the columns of `columns` also if these are the default ones: a table needs a header with
    /// `source` and `target`, and other known names do not count. Other names in `columns` imply it.
    pub named_ends: bool,
    /// Whether the first row of a text table is a header.
    pub header: Header,
    /// Separator of a text table; detected from the first rows by default.
    pub delimiter: Option<Delimiter>,
    /// Columns of ids and of labels in a table of communities, labels or seeds, by name or by number from 1;
    /// by default those with known names.
    pub label_columns: Option<[String; 2]>,
    /// Ends the reading of edges, between blocks of rows.
    pub cancel: Cancel,
}

impl ReadOptions {
    /// Whether the ends of an edge are the columns of `columns` alone, not others with known names.
    pub(crate) fn has_named_ends(&self) -> bool {
        let default = Columns::default();
        self.named_ends
            || self.columns.source != default.source
            || self.columns.target != default.target
    }

    /// Whether one of the columns was chosen.
    pub(crate) fn has_named_columns(&self) -> bool {
        self.named_ends || self.columns != Columns::default()
    }
}

/// Separator of a text table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delimiter {
    /// One byte; a field may be in double quotes.
    Byte(u8),
    /// A sequence of blanks and tabs.
    Blanks,
}

impl FromStr for Delimiter {
    type Err = String;

    /// Parses `tab`, `blanks`, or one character.
    fn from_str(text: &str) -> Result<Delimiter, String> {
        match text {
            "tab" | "\t" | "\\t" => Ok(Delimiter::Byte(b'\t')),
            "blanks" | " " => Ok(Delimiter::Blanks),
            _ => match *text.as_bytes() {
                [sign] if sign.is_ascii_punctuation() && !b"\"#%".contains(&sign) => {
                    Ok(Delimiter::Byte(sign))
                }
                _ => Err("expected `tab`, `blanks`, or one sign such as `;`".into()),
            },
        }
    }
}

/// Whether the first row of a text table is a header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// Detected from the first rows; an error if these are ambiguous.
    #[default]
    Auto,
    /// The first row names the columns.
    Present,
    /// The first row is an edge.
    Absent,
}

/// Columns of a table, by name, or by number from 1 (`"2"`) if no column has that name.
///
/// By default, the ends of an edge are the columns `source` and `target`, or others with known names, as the
/// first rows show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// One end of an edge.
    pub source: String,
    /// The other end.
    pub target: String,
    /// The weight.
    pub weight: String,
    /// Column with the graph of each edge, in a table of many graphs. By default `graph`, else the only
    /// column with a similar name (`Graph`, `graph_id`).
    pub graph: String,
}

impl Default for Columns {
    fn default() -> Self {
        let [source, target, weight, graph] =
            ["source", "target", "weight", "graph"].map(String::from);
        Columns { source, target, weight, graph }
    }
}

/// Kind of ids in a text file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdKind {
    /// Non-negative integers if those of the first edge are, else names.
    #[default]
    Auto,
    /// Non-negative integers below 2⁶⁴; anything else is an error.
    Unsigned,
    /// Integers from −2⁶³ to 2⁶³ − 1; anything else is an error.
    Signed,
    /// Strings of any form.
    Names,
}
