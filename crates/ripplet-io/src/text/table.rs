//! Edge lists: one edge a line, in `.txt`, `.tsv`, `.csv` and `.jsonl`.
//!
//! Lines that start with `#` or `%` are comments; blank lines are passed over. A row is a source, a
//! target and, where weights are read, a weight; more fields are passed over. Vertices are exactly
//! the ids that occur.
//!
//! - `.txt`: fields stand apart by blanks, tabs, commas or semicolons, as many as there are; where
//!   ids are names and the first row has a tab, by tabs only, so that a name may have blanks. Under a
//!   comment that begins with [`NAMED_TABS`], ids are names, and fields stand as in a `.tsv`.
//! - `.tsv`, `.csv`: fields stand apart by one tab or comma. A file that has none in its first row
//!   may use the other, or a semicolon, or blanks. A field in double quotes may hold the separator;
//!   a doubled quote in it is one quote (RFC 4180, but a field ends on its line).
//! - `.jsonl`: an object a line: see `json_lines.rs`.
//! - Whether the first row is a header, and which columns are read, is decided by the first rows: see
//!   `header.rs`.

use super::header::MOST_ROWS;
use super::layout::{Ids, Layout, NAMED_TABS, is_row};
use super::rows::{self, NameRows, NamesOfChunk};
use super::source::{Chunk, LineFault, lines};
use super::{Fault, Text};
use crate::intern::{Ends, Interned, intern_integers, intern_names, into_column};
use crate::names::NameIndex;
use crate::summary::{ReadColumns, ReadGraphColumns};
use crate::{Format, ReadOptions};
use ripplet_graph::{EdgeTable, memory};

/// Reads the edges of a table.
pub(super) fn read(
    text: &mut Text<'_>,
    format: Format,
    options: &ReadOptions,
) -> Result<(EdgeTable, ReadColumns), Fault> {
    let (layout, columns) = first_rows(text, |rows, comment| {
        let (layout, columns) = match format {
            Format::EdgeList if comment.starts_with(NAMED_TABS.as_bytes()) => {
                Layout::of_named_tabs(rows, options)?
            }
            Format::JsonLines => Layout::of_json_lines(rows, options)?,
            _ => Layout::of(rows, format, options)?,
        };
        check_two_ends(&layout, &columns)?;
        Ok((layout, columns))
    })?;
    if layout.header && layout.keys.is_none() {
        text.skip_line();
    }
    let (like, mut pairs) = Pairs::new();
    text.parse_batches(
        |chunk| Found::of(chunk, &layout, &like),
        |batch| pairs.take(batch.into_iter().map(|parsed| (parsed.outcome, parsed.chunk))),
    )?;
    let (interned, weights) = pairs.finish(&layout)?;
    let Interned { ids, sources, targets } = interned;
    let table = EdgeTable::new(ids, sources, targets)?;
    Ok(match weights {
        Some(weights) => (table.with_weights(weights)?, columns),
        None => (table, columns),
    })
}

/// Refuses one column as both ends of an edge.
fn check_two_ends(layout: &Layout, columns: &ReadColumns) -> Result<(), String> {
    match layout.source == layout.target {
        false => Ok(()),
        true => Err(format!(
            "--columns asks for {} as both ends of an edge: expected two columns",
            columns.source
        )),
    }
}

/// Edges of many graphs: a row an edge.
pub(crate) struct GraphRows {
    /// The ends, which are vertices of all graphs together.
    pub(crate) ends: Interned,
    pub(crate) weights: Option<Vec<f64>>,
    /// The graphs, each row's as both ends.
    pub(crate) graphs: Interned,
    /// Which columns they were read from.
    pub(crate) columns: ReadGraphColumns,
}

/// Reads the edges of a table with a column of graphs.
pub(crate) fn read_of_graphs(
    text: &mut Text<'_>,
    format: Format,
    options: &ReadOptions,
) -> Result<GraphRows, Fault> {
    let ([edges, graphs], columns) = first_rows(text, |rows, _| {
        let ([edges, graphs], columns) = Layout::of_graphs(rows, format, options)?;
        check_two_ends(&edges, &columns.edges)?;
        Ok(([edges, graphs], columns))
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
    let (graphs, _) = of_rows.finish(&graphs)?;
    Ok(GraphRows { ends, weights, graphs, columns })
}

/// What a chunk's rows hold: two ids each, and a weight where weights are read.
enum Found {
    Integers(Ends, Vec<f64>),
    Names(NameRows),
}

impl Found {
    fn of(chunk: Chunk<'_>, layout: &Layout, like: &NameIndex) -> Result<Found, LineFault> {
        match layout.ids {
            Ids::Integers(sign) => {
                let (ends, weights) = rows::integers(chunk, layout, sign)?;
                Ok(Found::Integers(ends, weights))
            }
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
}

impl Pairs {
    /// No pairs, and an empty index for the names of chunks.
    fn new() -> (NameIndex, Pairs) {
        let index = NameIndex::default();
        let (names, integers, weights) = (Vec::new(), Vec::new(), Vec::new());
        (index.clone(), Pairs { index, names, integers, weights })
    }

    /// Adds the rows of some chunks, in their order.
    fn take<'a>(&mut self, chunks: impl Iterator<Item = (Found, Chunk<'a>)>) -> Result<(), Fault> {
        let mut names = Vec::new();
        for (found, chunk) in chunks {
            match found {
                Found::Integers(ends, weights) => {
                    memory::push(&mut self.integers, ends)?;
                    memory::push(&mut self.weights, weights)?;
                }
                Found::Names(rows) => names.push(rows.of_chunk(chunk)),
            }
        }
        for numbers in NamesOfChunk::number(&names, &mut self.index)? {
            memory::push(&mut self.names, numbers)?;
        }
        for chunk in names {
            memory::push(&mut self.weights, chunk.rows.weights)?;
        }
        Ok(())
    }

    /// The vertices and the columns of all rows, of which there is one at least.
    fn finish(self, layout: &Layout) -> Result<(Interned, Option<Vec<f64>>), Fault> {
        let interned = match layout.ids {
            Ids::Integers(sign) => intern_integers(self.integers, sign)?,
            Ids::Names => intern_names(self.index, self.names)?,
        };
        if interned.sources.is_empty() {
            return Err(no_edges());
        }
        let weights = layout.weight.map(|_| into_column(self.weights)).transpose()?;
        Ok((interned, weights))
    }
}

/// Makes a layout of the first rows, which stay to be read, and of the first line if that is a comment.
fn first_rows<T>(
    text: &mut Text<'_>,
    layout: impl FnOnce(&[&[u8]], &[u8]) -> Result<T, String>,
) -> Result<T, Fault> {
    /// Rows further from the first than this are not looked at.
    const BYTES: usize = 256 << 10;
    /// A longer comment is none of ripplet's.
    const COMMENT: usize = 64;
    let first = text.peek_line()?.unwrap_or_default();
    let comment = first[..first.len().min(COMMENT)].to_vec();
    text.skip_lines(|line| !is_row(line))?;
    let line = text.line() + 1;
    let Some(length) = text.peek_line()?.map(<[u8]>::len) else { return Err(no_edges()) };
    let ahead = text.look_ahead(length + BYTES);
    let mut rows: Vec<&[u8]> = lines(ahead).filter(|line| is_row(line)).take(MOST_ROWS).collect();
    // A last line without its end may be but the beginning of one.
    if rows.len() > 2 && !ahead.ends_with(b"\n") {
        rows.pop();
    }
    layout(&rows, &comment).map_err(|why| Fault::line(line, why))
}

fn no_edges() -> Fault {
    Fault::whole("the file has no edges: expected a line with two vertex ids for each edge")
}
