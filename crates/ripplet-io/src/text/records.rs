//! Reads rows of any number of fields, in order.

use super::pairs;
use super::separator::{BARS, BLANKS, Separator, fields, is_row};
use super::{Text, token};
use crate::Format;
use crate::fault::Fault;
use crate::vertex_rows::{Form, IDS};
use ripplet_graph::{ExternalId, VertexIds};
use std::borrow::Cow;

/// Calls `visit` for each row with its line, from 1, and its fields, in the order of the text.
///
/// Comments and blank lines are skipped. The first row decides on the separator:
///
/// ```text
/// .csv, .tsv   a comma, tab, semicolon or bar; without one, a row is one field. Fields may be in quotes.
/// .txt         integers as ids    blanks
///              a tab              tabs
///              a bar              bars, if a vertex or the name of the column of ids is before the first one
///              a list             none: a line is an id, unless the first is a header of several names
///              seeds              blanks, unless the first row is the name `id` alone, or a vertex whose id has blanks
/// ```
///
/// # Errors
/// The first error of the text or of `visit`.
pub(crate) fn records(
    text: &mut Text<'_>,
    format: Format,
    form: Form,
    ids: &VertexIds,
    mut visit: impl FnMut(u64, &[Cow<'_, str>]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut known = None;
    loop {
        text.skip_lines(|line| !is_row(line))?;
        let line = text.line() + 1;
        let Some(row) = text.peek_line()? else { return Ok(()) };
        let separator = match known {
            Some(separator) => separator,
            None => {
                let found = separator(row, format, form, ids);
                *known.insert(found.map_err(|sentence| Fault::line(line, sentence))?)
            }
        };
        let split = fields(row, separator).map(|field| utf8(field?)).collect::<Result<Vec<_>, _>>();
        visit(line, &split.map_err(|sentence| Fault::line(line, sentence))?)?;
        text.skip_line();
    }
}

/// One field a row, or fields between tabs.
const LINES: Separator = Separator::Runs(b"\t");

/// Returns the separator of rows about vertices, by the first one.
///
/// # Errors
/// If a row of seeds may be a vertex whose id has blanks, or another vertex and its cluster.
fn separator(row: &[u8], format: Format, form: Form, ids: &VertexIds) -> Result<Separator, String> {
    let are_names = matches!(ids, VertexIds::Names(_));
    let found = pairs::separator(format, row, are_names);
    if form == Form::Table {
        return Ok(found);
    }
    let is_vertex = |id: &[u8]| {
        std::str::from_utf8(id).is_ok_and(|id| ids.find(ExternalId::Name(id)).is_some())
    };
    let is_name = |field: &[u8]| IDS.iter().any(|id| field.eq_ignore_ascii_case(id.as_bytes()));
    let line = row.trim_ascii();
    let has_bars = found == BARS || found == BLANKS && line.contains(&b'|');
    // An id may have bars.
    if has_bars && !is_vertex(line) {
        let first = fields(row, BARS).next().and_then(Result::ok).unwrap_or_default();
        if found == BARS || is_vertex(&first) || is_name(&first) {
            return Ok(BARS);
        }
    } else if found != BLANKS && found != BARS {
        return Ok(found);
    }
    match format {
        Format::Csv => return Ok(Separator::Each(b',')),
        Format::Tsv => return Ok(Separator::Each(b'\t')),
        _ if !are_names => return Ok(BLANKS),
        _ => {}
    }
    let mut parts = fields(row, BLANKS).flatten();
    let (first, has_more) = (parts.next().unwrap_or_default(), parts.next().is_some());
    let is_name = is_name(&first);
    Ok(match form {
        Form::List if is_name && has_more && !is_vertex(line) => BLANKS,
        Form::List => LINES,
        _ if !has_more => {
            if is_name {
                LINES
            } else {
                BLANKS
            }
        }
        _ if !is_vertex(line) => BLANKS,
        _ if !is_vertex(&first) => LINES,
        _ => {
            return Err(format!(
                "the row may be the seed `{}`, or the seed `{}` and its cluster: write a first row `id`, or `id` and \
                 `cluster` with a tab between the fields of each row",
                token::show(line),
                token::show(&first)
            ));
        }
    })
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
