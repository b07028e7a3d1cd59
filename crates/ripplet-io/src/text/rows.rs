//! The rows of a chunk of a table.
//!
//! Nearly all lines of nearly all files are two integers with one separator between them: these
//! take a quick way that looks at eight bytes at a time. Whatever else a line may be (a comment,
//! several blanks, quotes, an error) takes the slow way, which knows everything.

use super::layout::{Ids, Layout, Separator, fields, is_row};
use super::source::{Chunk, LineFault, lines};
use super::token::{self, NotAnId, show};
use crate::intern::{Ends, NameSet, Sign};
use memchr::{memchr, memchr2};
use std::borrow::Cow;

/// What is wrong with a row.
type Sentence = String;

/// The edges of a chunk whose ids are integers, and their weights where they are read.
pub(super) fn integers(
    chunk: Chunk<'_>,
    layout: &Layout,
    sign: Sign,
) -> Result<(Ends, Vec<f64>), LineFault> {
    let mut edges = Edges::with_capacity(chunk.lines as usize, layout);
    let quick = Quick::of(layout, sign);
    let mut rest = chunk.bytes;
    let mut line = 0;
    while !rest.is_empty() {
        if let Some(length) = quick.and_then(|quick| quick.row(rest, &mut edges)) {
            rest = &rest[length..];
        } else {
            let end = memchr(b'\n', rest).unwrap_or(rest.len());
            slow_row(&rest[..end], layout, sign, &mut edges)
                .map_err(|sentence| LineFault { line, sentence })?;
            rest = rest.get(end + 1..).unwrap_or(&[]);
        }
        line += 1;
    }
    Ok((edges.ends, edges.weights))
}

struct Edges {
    ends: Ends,
    weights: Vec<f64>,
}

impl Edges {
    fn with_capacity(rows: usize, layout: &Layout) -> Edges {
        let weights = Vec::with_capacity(if layout.weight.is_some() { rows } else { 0 });
        Edges { ends: Ends::with_capacity(rows), weights }
    }
}

/// The quick way, for tables whose first columns are the ids.
#[derive(Clone, Copy)]
struct Quick {
    separator: Separator,
    weighted: bool,
}

impl Quick {
    fn of(layout: &Layout, sign: Sign) -> Option<Quick> {
        let first = (layout.source, layout.target) == (0, 1);
        let third = layout.weight.is_none_or(|column| column == 2);
        let weighted = layout.weight.is_some();
        (first && third && sign == Sign::Unsigned)
            .then_some(Quick { separator: layout.separator, weighted })
    }

    #[inline]
    fn separates(self, byte: u8) -> bool {
        match self.separator {
            Separator::Each(one) => byte == one,
            // Those of a run that are worth the quick way.
            Separator::Runs(_) => matches!(byte, b' ' | b'\t' | b','),
        }
    }

    /// Reads the first row of `bytes` and says how long it is, line end included; or does nothing.
    #[inline]
    fn row(self, bytes: &[u8], edges: &mut Edges) -> Option<usize> {
        let (source, end) = token::digits(bytes, 0)?;
        if !self.separates(*bytes.get(end)?) {
            return None;
        }
        let (target, end) = token::digits(bytes, end + 1)?;
        if self.weighted {
            if !self.separates(*bytes.get(end)?) {
                return None;
            }
            let (weight, end) = token::decimal(bytes, end + 1)?;
            let length = self.rest_of_line(bytes, end)?;
            edges.weights.push(weight);
            edges.ends.push([source, target]);
            Some(length)
        } else {
            let length = self.rest_of_line(bytes, end)?;
            edges.ends.push([source, target]);
            Some(length)
        }
    }

    /// Where the line ends whose last field that matters ends at `end`.
    #[inline]
    fn rest_of_line(self, bytes: &[u8], end: usize) -> Option<usize> {
        let byte = *bytes.get(end)?;
        if byte == b'\n' {
            return Some(end + 1);
        }
        if byte != b'\r' && !self.separates(byte) {
            return None;
        }
        // A carriage return elsewhere than before the line end is for the slow way to refuse.
        let stop = end + memchr2(b'\n', b'\r', &bytes[end..])?;
        match (bytes[stop], bytes.get(stop + 1)) {
            (b'\n', _) => Some(stop + 1),
            (_, Some(b'\n')) => Some(stop + 2),
            _ => None,
        }
    }
}

/// Reads one line, if it is a row.
fn slow_row(line: &[u8], layout: &Layout, sign: Sign, edges: &mut Edges) -> Result<(), Sentence> {
    let Some(row) = Row::of(line, layout)? else { return Ok(()) };
    let wrong = |field: &[u8], why| match layout.indices {
        true => format!("`{}` is no row or column: expected a number from 1 on", show(field)),
        false => not_an_id(field, sign, why),
    };
    let id = |field: &[u8]| token::id(field, sign).map_err(|why| wrong(field, why));
    let ends = [id(&row.source)?, id(&row.target)?];
    edges.weights.extend(row.weight);
    edges.ends.push(ends);
    Ok(())
}

/// The edges of a chunk whose ids are names: numbers in the set, which holds the chunk's names.
fn names(chunk: Chunk<'_>, layout: &Layout, mut set: NameSet) -> Result<Block, LineFault> {
    let mut ends = Vec::with_capacity(chunk.lines as usize);
    let mut weights = Vec::new();
    for (line, bytes) in (0..).zip(lines(chunk.bytes)) {
        let mut read = || {
            let Some(row) = Row::of(bytes, layout)? else { return Ok(()) };
            ends.push([name(&row.source, &mut set)?, name(&row.target, &mut set)?]);
            weights.extend(row.weight);
            Ok(())
        };
        read().map_err(|sentence| LineFault { line, sentence })?;
    }
    Ok(Block::Names(set, ends, weights))
}

/// The number of a name in a set.
pub(super) fn name(field: &[u8], set: &mut NameSet) -> Result<u32, Sentence> {
    match set.number_of_bytes(field) {
        Some(number) => number.map_err(|too_many| too_many.sentence()),
        None => Err(format!("the name `{}` is not UTF-8", show(field))),
    }
}

/// The fields of a row that are read.
pub(super) struct Row<'a> {
    pub(super) source: Cow<'a, [u8]>,
    pub(super) target: Cow<'a, [u8]>,
    pub(super) weight: Option<f64>,
}

impl<'a> Row<'a> {
    /// The row of a line, if it is one and no comment nor blank.
    pub(super) fn of(line: &'a [u8], layout: &Layout) -> Result<Option<Row<'a>>, Sentence> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !is_row(line) {
            return Ok(None);
        }
        if memchr(b'\r', line).is_some() {
            return Err(
                "a carriage return within the line: expected lines that end with \\n".into()
            );
        }
        let (mut source, mut target, mut weight) = (None, None, None);
        let mut count = 0;
        for (column, field) in
            fields(line, layout.separator).take(layout.last_column() + 1).enumerate()
        {
            let field = field?;
            count += 1;
            if layout.weight == Some(column) {
                weight = Some(token::weight(&field)?);
            } else if column == layout.source {
                source = Some(field);
            } else if column == layout.target {
                target = Some(field);
            }
        }
        let (Some(source), Some(target)) = (source, target) else {
            return Err(too_few_fields(count, line, layout));
        };
        if layout.weight.is_some() && weight.is_none() {
            return Err("expected a weight beside the two ids, found none".into());
        }
        if source.is_empty() || target.is_empty() {
            return Err("a vertex id is empty".into());
        }
        Ok(Some(Row { source, target, weight }))
    }
}

fn too_few_fields(count: usize, line: &[u8], layout: &Layout) -> Sentence {
    let shown = show(line.trim_ascii());
    match (count, layout.last_column()) {
        (..=1, _) if layout.indices => format!("expected a row and a column, found only `{shown}`"),
        (..=1, 1 | 2) => format!("expected two vertex ids, found only `{shown}`"),
        (_, last) => format!("expected at least {} fields, found {count}: `{shown}`", last + 1),
    }
}

/// What is wrong with a token that should be an id.
pub(super) fn not_an_id(token: &[u8], sign: Sign, why: NotAnId) -> Sentence {
    let shown = show(token);
    let (kind, most) = match sign {
        Sign::Unsigned => ("non-negative integers", "18446744073709551615"),
        Sign::Signed => ("integers", "9223372036854775807"),
    };
    match why {
        NotAnId::Negative => {
            format!("the vertex id {shown} is negative; use --ids signed, or --ids names")
        }
        NotAnId::TooLarge => {
            format!("the vertex id {shown} does not fit 64 bits (at most {most}); use --ids names")
        }
        NotAnId::Fraction | NotAnId::NoNumber => {
            format!("`{shown}` is not a vertex id: expected {kind}; use --ids names to read names")
        }
    }
}

/// The line of row `row` of a chunk: rows are counted while comments and blanks are not.
pub(super) fn line_of_row(chunk: &[u8], row: usize) -> u64 {
    let rows = (0..).zip(lines(chunk)).filter(|(_, line)| is_row(line));
    rows.map(|(line, _)| line).nth(row).unwrap_or(0)
}

/// The edges of a chunk, with whatever ids, and their weights where they are read.
pub(super) enum Block {
    Integers(Ends, Vec<f64>),
    Names(NameSet, Vec<[u32; 2]>, Vec<f64>),
}

impl Block {
    /// The edges of a chunk; names are numbered in a set like `like`.
    pub(super) fn of(
        chunk: Chunk<'_>,
        layout: &Layout,
        like: &NameSet,
    ) -> Result<Block, LineFault> {
        match layout.ids {
            Ids::Integers(sign) => {
                let (ends, weights) = integers(chunk, layout, sign)?;
                Ok(Block::Integers(ends, weights))
            }
            Ids::Names => names(chunk, layout, like.alike_with_room(chunk.lines as usize)),
        }
    }
}
