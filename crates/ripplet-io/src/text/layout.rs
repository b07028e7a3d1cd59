//! Layout of a table's rows: separator, columns, kind of ids.

use super::json_lines::Keys;
use super::separator::{BLANKS, Separator};
use crate::intern::Sign;
use std::sync::Arc;

/// Layout of a table's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) separator: Separator,
    pub(super) ids: Ids,
    pub(super) source: usize,
    pub(super) target: usize,
    /// The column of the weight, if weights are read.
    pub(super) weight: Option<usize>,
    /// Whether the first row names the columns.
    pub(super) header: bool,
    /// Role of the ids.
    pub(super) of: IdRole,
    /// Whether integer ids must print as they are written: two texts are never one vertex unless the options
    /// declare ids as numbers.
    pub(super) exact: bool,
    /// Keys of JSON lines, for which columns and separator are unused.
    pub(super) keys: Option<Arc<Keys>>,
    /// Number of fields of a row, if more are an error: see `widths.rs`.
    pub(super) width: Option<usize>,
    /// Whether weights have a decimal comma.
    pub(super) decimal_comma: bool,
    /// A column with the same mark in each row.
    pub(super) mark: Option<(usize, Vec<u8>)>,
}

/// Role of the ids, which names them in errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdRole {
    Vertices,
    /// Rows and columns of a matrix, which options do not change.
    Matrix,
    /// Graphs, in a table of many.
    Graphs,
}

/// Kind of the ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ids {
    Integers(Sign),
    Names,
}

impl Layout {
    /// Returns blank-separated ids with optional weights, for formats without a header.
    pub(super) fn plain(ids: Ids, weighted: bool) -> Layout {
        let weight = weighted.then_some(2);
        let (header, of) = (false, IdRole::Vertices);
        let (separator, exact, keys, mark) = (BLANKS, false, None, None);
        let (width, decimal_comma) = (None, false);
        let (source, target) = (0, 1);
        Layout {
            separator,
            ids,
            source,
            target,
            weight,
            header,
            of,
            exact,
            keys,
            width,
            decimal_comma,
            mark,
        }
    }

    /// Returns rows and columns of a matrix with optional values.
    pub(super) fn indices(weighted: bool) -> Layout {
        Layout { of: IdRole::Matrix, ..Layout::plain(Ids::Integers(Sign::Unsigned), weighted) }
    }

    /// Returns the largest index of a column that is read.
    pub(super) fn last_column(&self) -> usize {
        self.source.max(self.target).max(self.weight.unwrap_or(0))
    }
}
