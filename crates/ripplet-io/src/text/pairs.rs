//! Reads lines of two fields: a vertex and a value.

use super::separator::{BARS, BLANKS, Separator, fields, is_row};
use super::source::{Chunk, LineFault, lines};
use super::{Text, token};
use crate::fault::Fault;
use crate::{Format, ReadErrorKind};
use ripplet_graph::{VertexId, memory};

/// Reads the rows of a text chunk by chunk, in parallel. `row` appends one to a chunk made by `start`, and
/// `take` receives each chunk in the order of the text, with the number of the line before it.
///
/// A row's line counts from 1 in its chunk. Comments, blank lines and further fields are skipped. So is the
/// first row if `header` decides that its first field is no vertex. If `tabs` is set and the first row of a
/// `.txt` has a tab, fields are separated by tabs and may contain blanks.
///
/// # Errors
/// The first error of the text.
pub(crate) fn pairs<T: Send>(
    text: &mut Text<'_>,
    format: Format,
    tabs: bool,
    header: impl Fn(&str) -> bool,
    start: impl Fn() -> T + Sync,
    row: impl Fn(&mut T, u32, &str, &str) -> Result<(), ReadErrorKind> + Sync,
    mut take: impl FnMut(T, u64) -> Result<(), Fault>,
) -> Result<(), Fault> {
    text.skip_lines(|line| !is_row(line))?;
    let first = text.peek_line()?.unwrap_or_default();
    let separator = separator(format, first, tabs);
    let heading = fields(first, separator).next().and_then(Result::ok);
    if heading.is_some_and(|field| std::str::from_utf8(&field).is_ok_and(&header)) {
        text.skip_line();
    }
    let parse = |chunk: Chunk<'_>| {
        let mut rows = start();
        for (line, bytes) in (1..).zip(lines(chunk.bytes)) {
            if is_row(bytes) {
                let read = with_pair(bytes, separator, |id, value| row(&mut rows, line, id, value));
                read.map_err(|why| LineFault::new(u64::from(line) - 1, why))?;
            }
        }
        Ok(rows)
    };
    text.parse_chunks(parse, |rows, _, line| take(rows, line))
}

/// Reads lines of members, each a community, chunk by chunk, in parallel: `find` returns the vertex of an id, and `take`
/// gets the lines of a chunk in the order of the text. Comments and blank lines are skipped.
///
/// # Errors
/// The first of the text.
pub(crate) fn members(
    text: &mut Text<'_>,
    format: Format,
    tabs: bool,
    find: impl Fn(&str) -> Result<VertexId, ReadErrorKind> + Sync,
    mut take: impl FnMut(Vec<Vec<VertexId>>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    text.skip_lines(|line| !is_row(line))?;
    let first = text.peek_line()?.unwrap_or_default();
    let separator = separator(format, first, tabs);
    let of_line = |line: &[u8]| -> Result<Vec<VertexId>, ReadErrorKind> {
        let mut found = Vec::new();
        for field in fields(line, separator) {
            let field = field?;
            let id = std::str::from_utf8(&field)
                .map_err(|_| format!("`{}` is not UTF-8", token::show(&field)))?;
            if !id.is_empty() {
                let vertex = find(id).map_err(|why| match why {
                    ReadErrorKind::Content(sentence) if found.is_empty() => format!(
                        "{sentence} (if lines begin with a name: leave it out, lines are members alone)"
                    )
                    .into(),
                    why => why,
                })?;
                memory::push(&mut found, vertex)?;
            }
        }
        Ok(found)
    };
    let parse = |chunk: Chunk<'_>| {
        let mut found = Vec::new();
        for (line, bytes) in (0..).zip(lines(chunk.bytes)).filter(|(_, bytes)| is_row(bytes)) {
            let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
            found.push(of_line(bytes).map_err(|why| LineFault::new(line, why))?);
        }
        Ok(found)
    };
    text.parse_chunks(parse, |lines, _, _| take(lines))
}

/// Returns the separator of a table with one row per vertex, by its first row.
pub(super) fn separator(format: Format, first: &[u8], tabs: bool) -> Separator {
    let has = |byte: &u8| first.contains(byte);
    match format {
        Format::Tsv if has(&b'\t') => Separator::Each(b'\t'),
        Format::Tsv | Format::Csv => {
            b",\t;|".iter().copied().find(has).map_or(BLANKS, Separator::Each)
        }
        _ if tabs && has(&b'\t') => Separator::Runs(b"\t"),
        // Beside blanks, a bar may belong to an id or a label.
        _ if has(&b'|') && !b" ,\t;".iter().any(has) => BARS,
        _ => BLANKS,
    }
}

fn with_pair(
    line: &[u8],
    separator: Separator,
    visit: impl FnOnce(&str, &str) -> Result<(), ReadErrorKind>,
) -> Result<(), ReadErrorKind> {
    let mut fields = fields(line, separator);
    let mut next = |what: &str| match fields.next() {
        Some(field) => field,
        None => Err(format!("{what} is missing: expected a vertex id and a label")),
    };
    let (id, value) = (next("the vertex id")?, next("the label")?);
    let utf8 = |field| {
        std::str::from_utf8(field).map_err(|_| format!("`{}` is not UTF-8", token::show(field)))
    };
    visit(utf8(&id)?, utf8(&value)?)
}
