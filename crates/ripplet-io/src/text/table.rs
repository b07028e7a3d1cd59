//! Edge lists: one edge per line, in `.txt`, `.tsv`, `.csv` and `.jsonl`.
//!
//! Lines that start with `#` or `%` are comments; blank lines are skipped. A row is a source, a
//! target and, if weights are read, a weight; more fields are skipped. Vertices are exactly
//! the ids that occur.
//!
//! - `.txt`: integers are separated by any blanks, tabs, commas or semicolons; text by the separator that
//!   fits all rows: see `delimiter.rs`. Under a comment that begins with [`NAMED_TABS`], ids are names, and
//!   fields are separated as in a `.tsv`.
//! - `.tsv`, `.csv`: fields are separated by one tab or comma, or by another separator if that fits all rows
//!   and the format's own does not. A field in double quotes may contain the separator; a doubled quote in it
//!   is one quote (RFC 4180, but a field ends on its line).
//! - `.jsonl`: an object a line: see `json_lines.rs`.
//! - The first rows decide whether the first one is a header, and which columns are read: see
//!   `header/mod.rs`.

use super::header::MOST_ROWS;
use super::layout::{Ids, Layout};
use super::rows::{self, Edges, NameRows, NamesOfChunk, line_of_row};
use super::sample_error::SampleError;
use super::separator::{BLANKS, Separator, fields, is_row};
use super::source::{Chunk, LineFault, lines};
use super::{Text, delimiter, other_format, token};
use crate::fault::Fault;
use crate::format::NAMED_TABS;
use crate::intern::{Ends, Interned, intern_integers, intern_names, into_column};
use crate::names::NameIndex;
use crate::summary::{ReadColumns, ReadGraphColumns, grouped};
use crate::{Delimiter, Format, Header, ReadErrorKind, ReadOptions};
use ripplet_graph::{EdgeTable, memory};
use std::borrow::Cow;

/// Reads the edges of a table.
pub(super) fn read(
    text: &mut Text<'_>,
    format: Format,
    options: &ReadOptions,
) -> Result<(EdgeTable, ReadColumns), Fault> {
    let head = TableHead::of(text, format, options)?;
    let (edges, mut columns, left_out) = head.edges(text)?;
    if edges.is_empty() {
        return Err(no_edges());
    }
    columns.asides.extend(left_out_aside(left_out));
    Ok((edges, columns))
}

/// What the first rows of a table say about all.
pub(super) struct TableHead {
    layout: Layout,
    columns: ReadColumns,
    /// Whether a comment between rows is mentioned: it may have been meant as a row.
    mentions_comments: bool,
}

impl TableHead {
    /// Reads the head of a table; the next line of the text is that of the first edge, or a comment.
    pub(super) fn of(
        text: &mut Text<'_>,
        format: Format,
        options: &ReadOptions,
    ) -> Result<TableHead, Fault> {
        match format {
            Format::JsonLines => other_format::check_json_lines(text)?,
            _ => other_format::check(text)?,
        }
        let (layout, columns, has_header_row) =
            first_rows(text, |head| layout_of(head, format, options))?;
        if has_header_row {
            text.skip_line();
        }
        let mentions_comments = layout.header && format.is_delimited();
        Ok(TableHead { layout, columns, mentions_comments })
    }

    /// Reads the edges of all lines of a text that has this head, or of some of its lines; returns the number of comments
    /// between them that are to be mentioned, too.
    pub(super) fn edges(self, text: &mut Text<'_>) -> Result<(EdgeTable, ReadColumns, u64), Fault> {
        let TableHead { layout, columns, mentions_comments } = self;
        let (like, mut pairs) = Pairs::new();
        text.parse_batches(
            |chunk| Found::of(chunk, &layout, &like),
            |batch| pairs.take(batch.into_iter().map(|parsed| (parsed.outcome, parsed.chunk))),
        )?;
        let comments = if mentions_comments { pairs.comments } else { 0 };
        let (interned, weights) = pairs.finish(&layout)?;
        let Interned { ids, sources, targets } = interned;
        let table = EdgeTable::new(ids, sources, targets)?;
        Ok(match weights {
            Some(weights) => (table.with_weights(weights)?, columns, comments),
            None => (table, columns, comments),
        })
    }
}

/// Returns the clause about comments between rows, if there are some.
pub(crate) fn left_out_aside(comments: u64) -> Option<String> {
    let rows = if comments == 1 { "row that begins" } else { "rows that begin" };
    (comments > 0).then(|| format!("{} {rows} with # or % left out", grouped(comments)))
}

/// Rejects one column as both ends of an edge.
fn check_two_ends(layout: &Layout, columns: &ReadColumns) -> Result<(), String> {
    match layout.source == layout.target {
        false => Ok(()),
        true => Err(format!(
            "--columns asks for {} as both ends of an edge: expected two columns",
            columns.source
        )),
    }
}

/// Returns the layout of a table, its columns, and whether its first row is a header line.
fn layout_of(
    head: &Head<'_>,
    format: Format,
    options: &ReadOptions,
) -> Result<(Layout, ReadColumns, bool), SampleError> {
    let options = &*head.with_delimiter(options);
    let (layout, columns) = match format {
        Format::EdgeList if head.first_comment.starts_with(NAMED_TABS.as_bytes()) => {
            Layout::of_named_tabs(head.rows, options)?
        }
        Format::JsonLines => Layout::of_json_lines(head.rows, options)?,
        _ if head.is_matrix_market() => {
            return Err(
                "this is a MatrixMarket file, whose ids are rows and columns: use --from mtx"
                    .into(),
            );
        }
        _ => {
            if let Some(found) = header_in_comment(head, format, options) {
                let (layout, columns) = found?;
                check_two_ends(&layout, &columns)?;
                return Ok((layout, columns, false));
            }
            Layout::of(head.rows, format, options)?
        }
    };
    check_two_ends(&layout, &columns)?;
    let has_header_row = layout.header && layout.keys.is_none();
    Ok((layout, columns, has_header_row))
}

/// Returns the layout of a table whose header is a comment: known names after a `#`, as many as the rows have
/// fields.
fn header_in_comment(
    head: &Head<'_>,
    format: Format,
    options: &ReadOptions,
) -> Option<Result<(Layout, ReadColumns), SampleError>> {
    let names = head.header?.strip_prefix(b"#")?.trim_ascii();
    if options.header != Header::Auto || names.is_empty() {
        return None;
    }
    let names = match format.is_delimited() {
        true => Cow::Borrowed(names),
        false => Cow::Owned(names_as_row(names, head.rows, format, options)?),
    };
    let rows: Vec<&[u8]> = std::iter::once(&*names).chain(head.rows.iter().copied()).collect();
    let found = Layout::of_known_names(&rows, format, options)?;
    // The names are not among the rows of the file.
    Some(found.map_err(|error| SampleError { row: error.row.saturating_sub(1), ..error }))
}

/// Returns the names in a comment with the separator of the rows below it: SNAP separates names by tabs or blanks, whatever
/// is between the ids.
fn names_as_row(
    names: &[u8],
    rows: &[&[u8]],
    format: Format,
    options: &ReadOptions,
) -> Option<Vec<u8>> {
    let separator = delimiter::of_rows(rows, format, options).ok()?;
    let width = fields(rows.first()?, separator).count();
    if fields(names, separator).count() == width {
        return Some(names.to_vec());
    }
    let names: Vec<Cow<'_, [u8]>> = fields(names, BLANKS).flatten().collect();
    let between = if let Separator::Each(byte) = separator { byte } else { b' ' };
    (names.len() == width).then(|| names.join(&[between][..]))
}

/// Edges of many graphs, one a row.
pub(crate) struct GraphRows {
    /// The ends, which are vertices of all graphs together.
    pub(crate) ends: Interned,
    pub(crate) weights: Option<Vec<f64>>,
    /// The graphs, each row's as both ends.
    pub(crate) graphs: Interned,
    /// Columns of the table that were read.
    pub(crate) columns: ReadGraphColumns,
}

/// Reads the edges of a table with a column of graphs.
pub(crate) fn read_of_graphs(
    text: &mut Text<'_>,
    format: Format,
    options: &ReadOptions,
) -> Result<GraphRows, Fault> {
    other_format::check(text)?;
    let ([edges, graphs], columns) = first_rows(text, |head| {
        let options = head.with_delimiter(options);
        let ([edges, graphs], columns) = Layout::of_graphs(head.rows, format, &options)?;
        check_two_ends(&edges, &columns.edges)?;
        Ok::<_, SampleError>(([edges, graphs], columns))
    })?;
    if edges.header {
        text.skip_line();
    }
    let ((like_ends, mut ends), (like_graphs, mut of_rows)) = (Pairs::new(), Pairs::new());
    let parse = |chunk: Chunk<'_>| {
        let ends = Found::of(chunk, &edges, &like_ends);
        let graphs = Found::of(chunk, &graphs, &like_graphs);
        match (ends, graphs) {
            (Ok(ends), Ok(graphs)) => Ok((ends, graphs)),
            (Err(a), Err(b)) => Err(if b.line < a.line { b } else { a }),
            (Err(fault), _) | (_, Err(fault)) => Err(fault),
        }
    };
    text.parse_batches(parse, |batch| {
        let (mut of_ends, mut of_graphs) = (Vec::new(), Vec::new());
        for parsed in batch {
            let (ends, graphs) = parsed.outcome;
            of_ends.push((ends, parsed.chunk));
            of_graphs.push((graphs, parsed.chunk));
        }
        ends.take(of_ends.into_iter())?;
        of_rows.take(of_graphs.into_iter())
    })?;
    let (ends, weights) = ends.finish(&edges)?;
    if ends.sources.is_empty() {
        return Err(no_edges());
    }
    let (graphs, _) = of_rows.finish(&graphs)?;
    Ok(GraphRows { ends, weights, graphs, columns })
}

/// Rows of a chunk: two ids each, and a weight if weights are read.
enum Found {
    Integers(Edges),
    Names(NameRows),
}

impl Found {
    fn of(chunk: Chunk<'_>, layout: &Layout, like: &NameIndex) -> Result<Found, LineFault> {
        match layout.ids {
            Ids::Integers(sign) => rows::integers(chunk, layout, sign).map(Found::Integers),
            Ids::Names => NameRows::of(chunk, layout, like).map(Found::Names),
        }
    }
}

/// The pairs of ids of all rows so far.
struct Pairs {
    index: NameIndex,
    names: Vec<Vec<u32>>,
    integers: Vec<Ends>,
    weights: Vec<Vec<f64>>,
    /// Comments between rows.
    comments: u64,
}

impl Pairs {
    /// No pairs, and an empty index for the names of chunks.
    fn new() -> (NameIndex, Pairs) {
        let index = NameIndex::default();
        let (names, integers, weights) = (Vec::new(), Vec::new(), Vec::new());
        (index.clone(), Pairs { index, names, integers, weights, comments: 0 })
    }

    /// Adds the rows of some chunks, in their order.
    fn take<'a>(&mut self, chunks: impl Iterator<Item = (Found, Chunk<'a>)>) -> Result<(), Fault> {
        let mut names = Vec::new();
        for (found, chunk) in chunks {
            match found {
                Found::Integers(edges) => {
                    self.comments += edges.comments;
                    memory::push(&mut self.integers, edges.ends)?;
                    memory::push(&mut self.weights, edges.weights)?;
                }
                Found::Names(rows) => names.push(rows.of_chunk(chunk)),
            }
        }
        for numbers in NamesOfChunk::number(&names, &mut self.index)? {
            memory::push(&mut self.names, numbers)?;
        }
        for chunk in names {
            self.comments += chunk.rows.comments;
            memory::push(&mut self.weights, chunk.rows.weights)?;
        }
        Ok(())
    }

    /// Returns the vertices and the columns of all rows.
    fn finish(self, layout: &Layout) -> Result<(Interned, Option<Vec<f64>>), Fault> {
        let interned = match layout.ids {
            Ids::Integers(sign) => intern_integers(self.integers, sign)?,
            Ids::Names => intern_names(self.index, self.names)?,
        };
        let weights = layout.weight.map(|_| into_column(self.weights)).transpose()?;
        Ok((interned, weights))
    }
}

/// The first lines of a table.
struct Head<'a> {
    rows: &'a [&'a [u8]],
    /// Beginning of the first line, if it is a comment.
    first_comment: &'a [u8],
    /// The last comment above the rows.
    header: Option<&'a [u8]>,
    /// Separator that the first line declares, as Excel writes it: `sep=;`.
    delimiter: Option<Delimiter>,
}

impl Head<'_> {
    /// Returns the options, with the separator that the first line names if they name none.
    fn with_delimiter<'o>(&self, options: &'o ReadOptions) -> Cow<'o, ReadOptions> {
        let mut options = Cow::Borrowed(options);
        if options.delimiter.is_none() && self.delimiter.is_some() {
            options.to_mut().delimiter = self.delimiter;
        }
        options
    }

    /// Whether the rows are those of a MatrixMarket file: below its banner, the size, and entries within that. Some edge
    /// lists have the banner, and the size in a comment.
    fn is_matrix_market(&self) -> bool {
        let numbers = |row: &[u8]| -> Vec<u64> {
            fields(row, BLANKS).flatten().map_while(|field| token::parse(&field)).collect()
        };
        let Some((first, entries)) = self.rows.split_first() else { return false };
        let is_within = |rows: u64, columns: u64| {
            entries.iter().all(|entry| {
                let entry = numbers(entry);
                matches!(*entry, [row, column, ..] if row <= rows && column <= columns)
            })
        };
        self.first_comment.starts_with(b"%%MatrixMarket")
            && matches!(*numbers(first), [rows, columns, _] if is_within(rows, columns))
    }
}

/// Creates a layout from the first rows, which are not consumed, and from the lines above them.
fn first_rows<T, E: Into<SampleError>>(
    text: &mut Text<'_>,
    layout: impl FnOnce(&Head<'_>) -> Result<T, E>,
) -> Result<T, Fault> {
    /// Rows further from the first than this are not looked at.
    const BYTES: usize = 256 << 10;
    /// A longer comment was not written by ripplet, and is no header.
    const COMMENT: usize = 64 << 10;
    let first = text.peek_line()?.unwrap_or_default();
    let delimiter = excel_delimiter(first);
    let first_comment = first[..first.len().min(64)].to_vec();
    if delimiter.is_some() {
        text.skip_line();
    }
    let mut header = None;
    while let Some(line) = text.peek_line()?.filter(|line| !is_row(line)) {
        let line = line.trim_ascii_start();
        if !line.is_empty() {
            header = (line.len() < COMMENT).then(|| line.to_vec());
        }
        text.skip_line();
    }
    let before = text.line();
    let Some(length) = text.peek_line()?.map(<[u8]>::len) else { return Err(no_edges()) };
    let wanted = length + BYTES;
    let is_all = text.look_ahead(wanted).len() < wanted && !text.has_failed();
    let ahead = text.look_ahead(wanted);
    let mut rows: Vec<&[u8]> = lines(ahead).filter(|line| is_row(line)).take(MOST_ROWS).collect();
    // A last line without its end may be but the beginning of one.
    if rows.len() > 2 && !is_all && !ahead.ends_with(b"\n") {
        rows.pop();
    }
    let head =
        Head { rows: &rows, first_comment: &first_comment, header: header.as_deref(), delimiter };
    layout(&head).map_err(|refusal| {
        let SampleError { row, why } = refusal.into();
        Fault::line(before + 1 + line_of_row(ahead, row), why)
    })
}

/// Returns the delimiter in a first line such as `sep=;`.
fn excel_delimiter(line: &[u8]) -> Option<Delimiter> {
    match *line.trim_ascii().strip_prefix(b"sep=")? {
        [sign] if sign.is_ascii_punctuation() && sign != b'"' => Some(Delimiter::Byte(sign)),
        [] if line.ends_with(b"\t") => Some(Delimiter::Byte(b'\t')),
        _ => None,
    }
}

/// The error of a text without a row.
pub(crate) const NO_EDGES: &str =
    "the file has no edges: expected a line with two vertex ids for each edge";

fn no_edges() -> Fault {
    Fault::whole(ReadErrorKind::NoEdges(NO_EDGES))
}
