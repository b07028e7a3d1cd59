//! MatrixMarket: a square sparse matrix as a graph; entry (i, j) is an edge from i to j.
//!
//! ```text
//! %%MatrixMarket matrix coordinate real symmetric     banner: pattern, real or integer; general,
//! % a comment                                         symmetric or skew-symmetric
//! 4 4 2                                               rows, columns, entries
//! 2 1 0.5                                             row, column, and the value as a weight
//! 4 1 1.5
//! ```
//!
//! Vertices are all of 1..n. An entry of a symmetric matrix represents both directions. A file without a
//! banner is read as `coordinate general`, with a note. If weights are not read, values may be anything.
//! Entries with value 0 are edges.
//!
//! Reference: Boisvert, Pozo, Remington, *The Matrix Market Exchange Formats* (NISTIR 5935, 1996).

use super::Text;
use super::layout::Layout;
use super::rows::{Edges, integers, line_of_row};
use super::separator::{BLANKS, fields};
use super::source::{Chunk, LineFault};
use super::token::{self, show};
use crate::ReadOptions;
use crate::fault::Fault;
use crate::intern::{Sign, into_column, pairs_into_columns};
use crate::summary::ReadSummary;
use ripplet_graph::{EdgeTable, MAX_VERTICES, VertexId, VertexIds, memory};

/// Reads a matrix.
pub(super) fn read(
    text: &mut Text<'_>,
    options: &ReadOptions,
) -> Result<(EdgeTable, ReadSummary), Fault> {
    let banner = Banner::read(text)?;
    if options.weighted {
        banner.check_weights()?;
    }
    let size = Size::read(text)?;
    let layout = Layout::indices(options.weighted);
    let (mut blocks, mut weights) = (Vec::new(), Vec::new());
    let mut entries = 0;
    let parse = |chunk: Chunk<'_>| entries_of(chunk, &layout, size.vertices);
    text.parse_chunks(parse, |(ends, some), chunk, line| {
        if ends.len() as u64 > size.entries - entries {
            let extra = line_of_row(chunk.bytes, (size.entries - entries) as usize);
            return Err(Fault::line(
                line + extra + 1,
                format!("one entry more than the {} that line {} says", size.entries, size.line),
            ));
        }
        entries += ends.len() as u64;
        memory::push(&mut blocks, ends)?;
        Ok(memory::push(&mut weights, some)?)
    })?;
    if entries < size.entries {
        let (all, line) = (size.entries, size.line);
        let sentence = format!("the file ends after {entries} entries: line {line} says {all}");
        return Err(Fault::line(text.line(), sentence));
    }
    let (sources, targets) = pairs_into_columns(blocks)?;
    let ids = VertexIds::Consecutive { first: 1, count: size.vertices };
    let mut table = EdgeTable::new(ids, sources, targets)?;
    if options.weighted {
        table = table.with_weights(into_column(weights)?)?;
    }
    let table =
        if banner.symmetry == Symmetry::General { table } else { table.in_both_directions() };
    let mut summary = ReadSummary::of_edges(&table);
    if banner.is_assumed {
        summary.notes.push(
            "the file has no MatrixMarket banner: it was read as `coordinate general`, an entry (i, j) as one edge \
             from i to j"
                .into(),
        );
    }
    Ok((table, summary))
}

type Entries = (Vec<[VertexId; 2]>, Vec<f64>);

/// Returns the entries of a chunk, from 0.
fn entries_of(chunk: Chunk<'_>, layout: &Layout, vertices: u32) -> Result<Entries, LineFault> {
    let Edges { ends, weights, .. } = integers(chunk, layout, Sign::Unsigned)?;
    let mut edges = memory::with_room(ends.len())?;
    for (row, ends) in ends.iter().enumerate() {
        if let Some(outside) = ends.iter().find(|&&end| end == 0 || end > u64::from(vertices)) {
            let sentence = format!("{outside} is outside of the matrix: expected 1 to {vertices}");
            return Err(LineFault::new(line_of_row(chunk.bytes, row), sentence));
        }
        edges.push(ends.map(|end| (end - 1) as VertexId));
    }
    Ok((edges, weights))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

/// The first line. If it is missing, the values' type is unknown.
#[derive(Clone, Copy, Debug)]
struct Banner {
    line: u64,
    /// Whether the file has no banner.
    is_assumed: bool,
    pattern: bool,
    symmetry: Symmetry,
}

impl Banner {
    fn read(text: &mut Text<'_>) -> Result<Banner, Fault> {
        const MARK: &[u8] = b"%%MatrixMarket";
        let line = text.line() + 1;
        let Some(first) = text.peek_line()? else {
            return Err(Fault::whole("the file is empty: expected a MatrixMarket matrix"));
        };
        let mut words = first.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        if !words.next().is_some_and(|word| word.eq_ignore_ascii_case(MARK)) {
            return Ok(Banner {
                line,
                is_assumed: true,
                pattern: false,
                symmetry: Symmetry::General,
            });
        }
        let words: Vec<String> = words.map(|word| show(word).to_ascii_lowercase()).collect();
        let banner = Banner::of(line, &words).map_err(|sentence| Fault::line(line, sentence));
        text.skip_line();
        banner
    }

    fn of(line: u64, words: &[String]) -> Result<Banner, String> {
        let word = |at: usize| words.get(at).map_or("", String::as_str);
        match (word(0), word(1)) {
            ("matrix", "coordinate") => {}
            ("matrix", "array") => {
                return Err("the matrix is dense (`array`): expected `coordinate`, one entry \
                            for each edge"
                    .into());
            }
            _ => return Err("expected `%%MatrixMarket matrix coordinate …`".into()),
        }
        let pattern = match word(2) {
            "pattern" => true,
            "real" | "double" | "integer" => false,
            "complex" => {
                return Err("the matrix is complex: expected `pattern`, `real` or `integer`".into());
            }
            other => {
                return Err(format!("`{other}`: expected `pattern`, `real` or `integer`"));
            }
        };
        let symmetry = match word(3) {
            "general" => Symmetry::General,
            "symmetric" => Symmetry::Symmetric,
            "skew-symmetric" => Symmetry::Skew,
            other => {
                return Err(format!(
                    "`{other}`: expected `general`, `symmetric` or `skew-symmetric`"
                ));
            }
        };
        Ok(Banner { line, is_assumed: false, pattern, symmetry })
    }

    /// Rejects missing or invalid weights.
    fn check_weights(&self) -> Result<(), Fault> {
        if self.pattern {
            let sentence = "the matrix is a `pattern`: it has no weights; leave out --weighted";
            return Err(Fault::line(self.line, sentence));
        }
        if self.symmetry == Symmetry::Skew {
            let sentence = "the matrix is skew-symmetric, so half of its values are negative and \
                            no weights; leave out --weighted";
            return Err(Fault::line(self.line, sentence));
        }
        Ok(())
    }
}

/// Line with the size of the matrix.
#[derive(Clone, Copy, Debug)]
struct Size {
    line: u64,
    vertices: u32,
    entries: u64,
}

impl Size {
    fn read(text: &mut Text<'_>) -> Result<Size, Fault> {
        text.skip_lines(|line| line.trim_ascii().is_empty() || line.starts_with(b"%"))?;
        let line = text.line() + 1;
        let Some(bytes) = text.peek_line()? else {
            return Err(Fault::whole("the matrix has no size: expected `rows columns entries`"));
        };
        let size = Size::of(line, bytes).map_err(|sentence| Fault::line(line, sentence));
        text.skip_line();
        size
    }

    fn of(line: u64, bytes: &[u8]) -> Result<Size, String> {
        let expected =
            || format!("`{}`: expected the size, `rows columns entries`", show(bytes.trim_ascii()));
        let numbers: Option<Vec<u64>> =
            fields(bytes, BLANKS).map(|field| token::parse(&field.ok()?)).collect();
        let [rows, columns, entries] = numbers.ok_or_else(expected)?[..] else {
            return Err(expected());
        };
        if rows != columns {
            return Err(format!(
                "the matrix has {rows} rows and {columns} columns: expected as many rows as \
                 columns, one each for a vertex"
            ));
        }
        match u32::try_from(rows) {
            Ok(0) => Err("the matrix has no rows: expected at least one vertex".into()),
            Ok(vertices) if vertices <= MAX_VERTICES => Ok(Size { line, vertices, entries }),
            _ => Err(format!("the matrix has {rows} rows: a graph has at most {MAX_VERTICES}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banners() {
        let of = |text: &str| {
            let words: Vec<String> = text.split(' ').map(String::from).collect();
            Banner::of(1, &words)
        };
        assert_eq!(
            of("matrix coordinate integer skew-symmetric").unwrap().symmetry,
            Symmetry::Skew
        );
        assert!(of("matrix coordinate pattern symmetric").unwrap().pattern);
        for (refused, why) in [
            ("matrix array real general", "dense"),
            ("matrix coordinate complex general", "complex"),
            ("matrix coordinate real hermitian", "hermitian"),
            ("matrix coordinate quaternion general", "quaternion"),
            ("vector coordinate real general", "expected"),
            ("matrix coordinate real", "expected"),
        ] {
            assert!(of(refused).unwrap_err().contains(why), "{refused}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(Size::of(1, b" 3 3  5 ").unwrap().entries, 5);
        for refused in ["3 4 5", "0 0 0", "3 3", "3 3 3 3", "3 3 x", "4294967295 4294967295 1"] {
            assert!(Size::of(1, refused.as_bytes()).is_err(), "{refused}");
        }
    }
}
