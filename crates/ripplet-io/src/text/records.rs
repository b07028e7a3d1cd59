//! Reads rows of any number of fields, in order.

use super::pairs::separator;
use super::separator::{fields, is_row};
use super::{Text, token};
use crate::Format;
use crate::fault::Fault;
use std::borrow::Cow;

/// Calls `visit` for each row with its line, from 1, and its fields, in the order of the text.
///
/// Comments and blank lines are skipped. The first row decides on the separator. In a `.csv` or `.tsv` it is
/// a comma, tab or semicolon, and fields may be quoted. In other texts it is blanks, or tabs if `tabs` is set
/// and the first row has one.
///
/// # Errors
/// The first error of the text or of `visit`.
pub(crate) fn records(
    text: &mut Text<'_>,
    format: Format,
    tabs: bool,
    mut visit: impl FnMut(u64, &[Cow<'_, str>]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut known = None;
    loop {
        text.skip_lines(|line| !is_row(line))?;
        let line = text.line() + 1;
        let Some(row) = text.peek_line()? else { return Ok(()) };
        let separator = *known.get_or_insert_with(|| separator(format, row, tabs));
        let split = fields(row, separator).map(|field| utf8(field?)).collect::<Result<Vec<_>, _>>();
        visit(line, &split.map_err(|sentence| Fault::line(line, sentence))?)?;
        text.skip_line();
    }
}

fn utf8(field: Cow<'_, [u8]>) -> Result<Cow<'_, str>, String> {
    let wrong = |bytes: &[u8]| format!("`{}` is not UTF-8", token::show(bytes));
    match field {
        Cow::Borrowed(bytes) => {
            std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| wrong(bytes))
        }
        Cow::Owned(bytes) => {
            String::from_utf8(bytes).map(Cow::Owned).map_err(|error| wrong(error.as_bytes()))
        }
    }
}
