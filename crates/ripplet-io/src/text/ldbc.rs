//! LDBC Graphalytics: edges in a `.e` file, all vertices in the `.v` file beside it.
//!
//! Both hold one item a line, fields apart by blanks; the third field of an edge is its weight
//! (LDBC Graphalytics specification 1.0.5, section 2.2.1). Vertices without edges count.

use super::Text;
use super::layout::{Ids, Layout};
use super::row::Row;
use super::rows::{Edges, NameRows, NamesOfChunk, integers, line_of_row, not_an_id};
use super::separator::{BLANKS, fields, is_row};
use super::source::{Chunk, LineFault, lines};
use super::token::{self, show};
use crate::fault::Fault;
use crate::intern::{IdSlice, Ranks, Sign, into_column, pairs_into_columns};
use crate::names::NameIndex;
use crate::{IdKind, ReadErrorKind, ReadOptions};
use ripplet_graph::{EdgeTable, OutOfMemory, VertexId, VertexIds, memory};

/// Vertices of a `.v` file.
pub(crate) enum Vertices {
    Integers { ranks: Ranks, sign: Sign },
    Names { index: NameIndex, ids: VertexIds, rank: Vec<VertexId> },
}

impl Vertices {
    /// Reads a `.v` file.
    pub(crate) fn read(text: &mut Text<'_>, options: &ReadOptions) -> Result<Vertices, Fault> {
        text.skip_lines(|line| !is_row(line))?;
        let Some(first) = text.peek_line()? else {
            return Err(Fault::whole("the file has no vertices: expected a line with each id"));
        };
        let integer = id_of_line(first).map(|id| token::id(id, Sign::Unsigned));
        match options.ids {
            IdKind::Names => Vertices::read_names(text),
            IdKind::Auto if integer == Some(Err(token::NotAnId::NoNumber)) => {
                Vertices::read_names(text)
            }
            IdKind::Signed => Vertices::read_integers(text, Sign::Signed),
            IdKind::Auto | IdKind::Unsigned => Vertices::read_integers(text, Sign::Unsigned),
        }
    }

    fn read_integers(text: &mut Text<'_>, sign: Sign) -> Result<Vertices, Fault> {
        let parse = |chunk: Chunk<'_>| {
            let mut ids = memory::with_room(chunk.lines as usize)?;
            let rows = each_id(chunk, |field| {
                let id = token::id(field, sign).map_err(|why| not_an_id(field, sign, why))?;
                Ok(memory::push(&mut ids, id)?)
            })?;
            Ok((ids, rows))
        };
        let (mut blocks, mut all_rows) = (Vec::new(), Vec::new());
        text.parse_chunks(parse, |(ids, rows), _, line| {
            memory::push(&mut blocks, ids)?;
            Ok(memory::push(&mut all_rows, rows.after(line))?)
        })?;
        let slices = memory::collected(blocks.iter().map(|ids| IdSlice::Wide(ids)))?;
        let ranks = Ranks::of(&slices)?;
        if blocks.iter().map(Vec::len).sum::<usize>() > ranks.len() as usize {
            let mut seen = Seen::none_of(ranks.len() as usize)?;
            for (ids, rows) in blocks.iter().zip(&all_rows) {
                let again = |&id: &u64| ranks.rank(id).is_some_and(|rank| seen.again(rank));
                if let Some(row) = ids.iter().position(again) {
                    let vertex = Ranks::of(&[IdSlice::Wide(&ids[row..=row])])?.into_ids(sign)?;
                    let vertex = vertex.get(0).to_string();
                    return Err(Fault::line(rows.line_of(row), twice(&vertex)));
                }
            }
        }
        Ok(Vertices::Integers { ranks, sign })
    }

    fn read_names(text: &mut Text<'_>) -> Result<Vertices, Fault> {
        let like = NameIndex::default();
        let mut index = like.clone();
        let parse = |chunk: Chunk<'_>| {
            let mut ids = NameRows::reader(chunk, &like, 1)?;
            let rows = each_id(chunk, |field| ids.push_name(field))?;
            Ok((ids.finish()?, rows))
        };
        text.parse_batches(parse, |batch| {
            let (names, rows): (Vec<_>, Vec<_>) = batch
                .into_iter()
                .map(|parsed| {
                    let (names, rows) = parsed.outcome;
                    (names.of_chunk(parsed.chunk), rows.after(parsed.line))
                })
                .unzip();
            let before = index.snapshot();
            let numbers = NamesOfChunk::number(&names, &mut index)?;
            if before.len() + numbers.iter().map(Vec::len).sum::<usize>() == index.len() {
                return Ok(());
            }
            let mut seen = Seen::none_of(index.number_bound())?;
            for (numbers, rows) in numbers.iter().zip(&rows) {
                let again = |&number: &u32| before.has(number) || seen.again(number);
                if let Some(row) = numbers.iter().position(again) {
                    let vertex = show(index.name(numbers[row]));
                    return Err(Fault::line(rows.line_of(row), twice(&vertex)));
                }
            }
            Ok(())
        })?;
        let (ids, rank) = index.sorted()?;
        Ok(Vertices::Names { index, ids, rank })
    }

    /// Reads the `.e` file of these vertices.
    pub(crate) fn read_edges(
        self,
        text: &mut Text<'_>,
        options: &ReadOptions,
    ) -> Result<EdgeTable, Fault> {
        let ids = match self {
            Vertices::Integers { sign, .. } => Ids::Integers(sign),
            Vertices::Names { .. } => Ids::Names,
        };
        let layout = Layout::plain(ids, options.weighted);
        let (mut blocks, mut weights) = (Vec::new(), Vec::new());
        let parse = |chunk: Chunk<'_>| match &self {
            Vertices::Integers { ranks, sign } => ranked(chunk, &layout, *sign, ranks),
            Vertices::Names { index, rank, .. } => named(chunk, &layout, index, rank),
        };
        text.parse_chunks(parse, |(ends, some), _, _| {
            memory::push(&mut blocks, ends)?;
            Ok(memory::push(&mut weights, some)?)
        })?;
        let (sources, targets) = pairs_into_columns(blocks)?;
        let ids = match self {
            Vertices::Integers { ranks, sign } => ranks.into_ids(sign)?,
            Vertices::Names { ids, .. } => ids,
        };
        let table = EdgeTable::new(ids, sources, targets)?;
        match layout.weight {
            Some(_) => Ok(table.with_weights(into_column(weights)?)?),
            None => Ok(table),
        }
    }
}

type Ranked = (Vec<[VertexId; 2]>, Vec<f64>);

/// Returns the edges of a chunk whose ids are integers.
fn ranked(
    chunk: Chunk<'_>,
    layout: &Layout,
    sign: Sign,
    ranks: &Ranks,
) -> Result<Ranked, LineFault> {
    let Edges { ends, weights, .. } = integers(chunk, layout, sign)?;
    let mut edges = memory::with_room(ends.len())?;
    for (row, ends) in ends.iter().enumerate() {
        let [Some(source), Some(target)] = ends.map(|id| ranks.rank(id)) else {
            let line = line_of_row(chunk.bytes, row);
            let bytes = lines(chunk.bytes).nth(line as usize).unwrap_or_default();
            let missing = usize::from(ranks.rank(ends[0]).is_some());
            let field = fields(bytes, BLANKS).flatten().nth(missing).unwrap_or_default();
            return Err(LineFault::new(line, unlisted(&field)));
        };
        edges.push([source, target]);
    }
    Ok((edges, weights))
}

/// Returns the edges of a chunk whose ids are names.
fn named(
    chunk: Chunk<'_>,
    layout: &Layout,
    index: &NameIndex,
    rank: &[VertexId],
) -> Result<Ranked, LineFault> {
    let (mut edges, mut weights) = (memory::with_room(chunk.lines as usize)?, Vec::new());
    let vertex = |name: &[u8]| match index.find(name) {
        Some(number) => Ok(rank[number as usize]),
        None => Err(unlisted(name)),
    };
    for (line, bytes) in (0..).zip(lines(chunk.bytes)) {
        let mut read = || -> Result<(), ReadErrorKind> {
            let Some(row) = Row::of(bytes, layout)? else { return Ok(()) };
            memory::push(&mut edges, [vertex(&row.source)?, vertex(&row.target)?])?;
            if let Some(weight) = row.weight {
                memory::push(&mut weights, weight)?;
            }
            Ok(())
        };
        read().map_err(|why| LineFault::new(line, why))?;
    }
    Ok((edges, weights))
}

fn unlisted(id: &[u8]) -> String {
    format!("vertex {} is not in the vertex file: expected each vertex of an edge there", show(id))
}

fn twice(vertex: &str) -> String {
    format!("vertex {vertex} is listed twice: expected each vertex once")
}

/// Set of small numbers. Memory: a bit each.
struct Seen(Vec<u64>);

impl Seen {
    fn none_of(numbers: usize) -> Result<Seen, OutOfMemory> {
        memory::zeros(numbers.div_ceil(64)).map(Seen)
    }

    /// Adds a number; returns whether it was in the set.
    fn again(&mut self, number: u32) -> bool {
        let (word, bit) = (&mut self.0[number as usize / 64], 1 << (number % 64));
        let again = *word & bit != 0;
        *word |= bit;
        again
    }
}

/// Lines of a chunk that are rows.
struct RowLines {
    /// Number of the line before the first.
    before: u64,
    /// Lines, from 0, that are comments or blank.
    others: Vec<u32>,
}

impl RowLines {
    fn after(self, before: u64) -> RowLines {
        RowLines { before, ..self }
    }

    /// Returns the number of the line of a row, counted from 0.
    fn line_of(&self, row: usize) -> u64 {
        // Each other line up to the row's shifts it by one.
        let line = self
            .others
            .iter()
            .fold(row as u64, |line, &other| line + u64::from(u64::from(other) <= line));
        self.before + line + 1
    }
}

/// Returns the first field of a line; nothing if the line is a comment or blank.
fn id_of_line(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii();
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    is_row(line).then_some(&line[..end])
}

/// Calls `visit` for the id in each row; returns which lines are rows.
fn each_id(
    chunk: Chunk<'_>,
    mut visit: impl FnMut(&[u8]) -> Result<(), ReadErrorKind>,
) -> Result<RowLines, LineFault> {
    let mut others = Vec::new();
    for (line, bytes) in (0..).zip(lines(chunk.bytes)) {
        match id_of_line(bytes) {
            Some(field) => visit(field).map_err(|why| LineFault::new(line.into(), why))?,
            None => memory::push(&mut others, line)?,
        }
    }
    Ok(RowLines { before: 0, others })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_among_other_lines() {
        let bytes = b"# a\n7\n\n8\n9\n# b\n# c\n10\n";
        let chunk = Chunk { bytes, lines: 8 };
        let mut count = 0;
        let rows = each_id(chunk, |_| {
            count += 1;
            Ok(())
        });
        let rows = rows.unwrap().after(100);
        assert_eq!(count, 4);
        assert_eq!([0, 1, 2, 3].map(|row| rows.line_of(row)), [102, 104, 105, 108]);
    }
}
