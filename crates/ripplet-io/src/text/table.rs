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
use super::rows::Block;
use super::source::lines;
use super::{Fault, Text};
use crate::intern::{Ends, Interned, NameSet, intern_integers, intern_names, into_column};
use crate::{Format, ReadOptions};
use ripplet_graph::EdgeTable;

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
    let mut edges = Edges::default();
    let like = NameSet::default();
    let parse = |chunk: super::source::Chunk<'_>| Block::of(chunk, &layout, &like);
    edges.names = like.alike();
    text.parse_chunks(parse, |block, _, line| edges.add(block, line))?;
    edges.into_table(&layout)
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

/// What was read so far.
#[derive(Default)]
struct Edges {
    integers: Vec<Ends>,
    names: NameSet,
    numbers: Vec<Vec<[u32; 2]>>,
    weights: Vec<Vec<f64>>,
}

impl Edges {
    fn add(&mut self, block: Block, line: u64) -> Result<(), Fault> {
        match block {
            Block::Integers(ends, weights) => {
                self.integers.push(ends);
                self.weights.push(weights);
            }
            Block::Names(names, mut ends, weights) => {
                let numbers = self.names.merge(&names);
                let numbers = numbers.map_err(|error| Fault::line(line, error.sentence()))?;
                for end in ends.as_flattened_mut() {
                    *end = numbers[*end as usize];
                }
                self.numbers.push(ends);
                self.weights.push(weights);
            }
        }
        Ok(())
    }

    fn into_table(self, layout: &Layout) -> Result<EdgeTable, Fault> {
        let interned = match layout.ids {
            Ids::Names => intern_names(&self.names, self.numbers),
            Ids::Integers(sign) => intern_integers(self.integers, sign)
                .map_err(|error| Fault::whole(error.sentence()))?,
        };
        let Interned { ids, sources, targets } = interned;
        if sources.is_empty() {
            return Err(no_edges());
        }
        let table = EdgeTable::new(ids, sources, targets)?;
        match layout.weight {
            Some(_) => Ok(table.with_weights(into_column(self.weights))?),
            None => Ok(table),
        }
    }
}
