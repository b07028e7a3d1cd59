//! Edge lists: one edge a line, in `.txt`, `.tsv` and `.csv`.
//!
//! Lines that start with `#` or `%` are comments; blank lines are passed over. A row is a source, a
//! target and, where weights are read, a weight; more fields are passed over. Vertices are exactly
//! the ids that occur.
//!
//! - `.txt`: fields stand apart by blanks, tabs, commas or semicolons, as many as there are; where
//!   ids are names and the first row has a tab, by tabs only, so that a name may have blanks.
//! - `.tsv`, `.csv`: fields stand apart by one tab or comma. A file that has none in its first row
//!   may use the other, or a semicolon, or blanks. A field in double quotes may hold the separator;
//!   a doubled quote in it is one quote (RFC 4180, but a field ends on its line).
//! - A first row with no numbers where the second has them is a header, as is one that has the names
//!   of [`crate::Columns`]; these then say which columns are read, else the first three are. In a
//!   `.txt` only a first row with well-known names (`source target`, `from to`, …) is a header.

use super::layout::{Ids, Layout, is_row};
use super::rows::{self, NameRows, NamesOfChunk};
use super::source::{Chunk, lines};
use super::{Fault, Text};
use crate::intern::{Interned, Sign, intern_integers, intern_names, into_column};
use crate::names::NameIndex;
use crate::{Format, ReadOptions};
use ripplet_graph::{EdgeTable, memory};

/// Reads the edges of a table.
pub(super) fn read(
    text: &mut Text<'_>,
    format: Format,
    options: &ReadOptions,
) -> Result<EdgeTable, Fault> {
    let layout = layout(text, format, options)?;
    if layout.header {
        text.skip_line();
    }
    match layout.ids {
        Ids::Integers(sign) => integers(text, &layout, sign),
        Ids::Names => names(text, &layout),
    }
}

fn integers(text: &mut Text<'_>, layout: &Layout, sign: Sign) -> Result<EdgeTable, Fault> {
    let (mut blocks, mut weights) = (Vec::new(), Vec::new());
    let parse = |chunk: Chunk<'_>| rows::integers(chunk, layout, sign);
    text.parse_chunks(parse, |(ends, some), _, _| {
        memory::push(&mut blocks, ends)?;
        Ok(memory::push(&mut weights, some)?)
    })?;
    table(intern_integers(blocks, sign)?, layout, weights)
}

fn names(text: &mut Text<'_>, layout: &Layout) -> Result<EdgeTable, Fault> {
    let like = NameIndex::default();
    let (mut index, mut blocks, mut weights) = (like.clone(), Vec::new(), Vec::new());
    let parse = |chunk: Chunk<'_>| NameRows::of(chunk, layout, &like);
    text.parse_batches(parse, |batch| {
        let chunks: Vec<_> =
            batch.into_iter().map(|parsed| parsed.outcome.of_chunk(parsed.chunk)).collect();
        for numbers in NamesOfChunk::number(&chunks, &mut index)? {
            memory::push(&mut blocks, numbers)?;
        }
        for chunk in chunks {
            memory::push(&mut weights, chunk.rows.weights)?;
        }
        Ok(())
    })?;
    table(intern_names(index, blocks)?, layout, weights)
}

fn table(interned: Interned, layout: &Layout, weights: Vec<Vec<f64>>) -> Result<EdgeTable, Fault> {
    let Interned { ids, sources, targets } = interned;
    if sources.is_empty() {
        return Err(no_edges());
    }
    let table = EdgeTable::new(ids, sources, targets)?;
    match layout.weight {
        Some(_) => Ok(table.with_weights(into_column(weights)?)?),
        None => Ok(table),
    }
}

/// Looks at the first rows, which stay to be read.
fn layout(text: &mut Text<'_>, format: Format, options: &ReadOptions) -> Result<Layout, Fault> {
    /// A second row further from the first than this is not looked for.
    const ROWS: usize = 64 << 10;
    text.skip_lines(|line| !is_row(line))?;
    let line = text.line() + 1;
    let Some(length) = text.peek_line()?.map(<[u8]>::len) else { return Err(no_edges()) };
    let ahead = text.look_ahead(length + ROWS);
    let mut rows = lines(ahead).filter(|line| is_row(line));
    let first = rows.next().unwrap_or_default();
    Layout::of(first, rows.next(), format, options).map_err(|why| Fault::line(line, why))
}

fn no_edges() -> Fault {
    Fault::whole("the file has no edges: expected a line with two vertex ids for each edge")
}
