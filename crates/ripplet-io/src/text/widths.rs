//! Checks for rows that are wider than the first row: an unquoted separator within a field.

use super::header::Sample;
use super::layout::{Ids, Layout};
use super::sample_error::SampleError;
use super::separator::{Separator, fields};
use super::token::show;
use std::borrow::Cow;

/// The number of fields in the first row.
#[derive(Clone, Copy)]
pub(super) struct FirstRow {
    /// The number of fields, plus one if the column of row names has no heading.
    width: usize,
    /// Whether the column of row names has no heading.
    row_names: bool,
}

impl FirstRow {
    pub(super) fn of(sample: &Sample<'_>) -> FirstRow {
        FirstRow { width: sample.first.len(), row_names: sample.row_names }
    }
}

/// Returns the number of fields that a row may have, or `None` if longer rows are allowed.
///
/// The limit is the width of the first row. Without a header, rows of integers may be wider, unless all of
/// them end
/// with the last column that is read.
///
/// # Errors
/// The first row that is too wide; with blanks as separators, also the first that is too short.
pub(super) fn check(
    rows: &[&[u8]],
    layout: &Layout,
    first: FirstRow,
) -> Result<Option<usize>, SampleError> {
    let width = first.width;
    let is_each = matches!(layout.separator, Separator::Each(_));
    let may_vary = matches!(layout.ids, Ids::Integers(_)) && !(is_each && layout.header);
    let mut is_closed = layout.last_column() + 1 == width;
    for (at, row) in (0..).zip(rows).skip(1) {
        let Some((count, filled)) = count(row, layout.separator) else { continue };
        is_closed &= count == width;
        let is_wrong = filled > width || !is_each && count < width;
        if is_wrong && !may_vary {
            return Err(SampleError {
                row: at,
                why: sentence(row, filled.max(count.min(width)), layout, first),
            });
        }
    }
    Ok((!may_vary || is_closed).then_some(width))
}

/// Returns the number of fields in a row, and the number up to the last one that is not empty. Returns `None`
/// for a row
/// that is reported when it is read.
fn count(row: &[u8], separator: Separator) -> Option<(usize, usize)> {
    let (mut count, mut filled) = (0, 0);
    for field in fields(row, separator) {
        count += 1;
        if !field.ok()?.is_empty() {
            filled = count;
        }
    }
    Some((count, filled))
}

fn sentence(row: &[u8], count: usize, layout: &Layout, first: FirstRow) -> String {
    let what = if layout.header { "the header" } else { "the first row" };
    let names = first.width - usize::from(first.row_names);
    format!(
        "the row has {count} fields, and {what} {names}: `{}`; {}",
        show(row.trim_ascii()),
        what_to_do(layout.separator)
    )
}

/// Returns advice on a row that is wider than the first.
pub(super) fn what_to_do(separator: Separator) -> Cow<'static, str> {
    match separator {
        Separator::Each(byte) => format!(
            "put a field that holds `{}` in double quotes, or use --delimiter if something else stands between fields",
            show(&[byte])
        )
        .into(),
        _ => "use --delimiter if something else than blanks stands between fields, such as --delimiter tab".into(),
    }
}
