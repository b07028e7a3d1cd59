//! Parses the rows of a chunk of a table.
//!
//! Most lines of most files are two integers with one separator between them. A fast path parses these eight
//! bytes at a time. All other lines (a comment, several blanks, quotes, an error) take the slow path, which
//! is complete.

use super::layout::{IdRole, Layout};
use super::row::Row;
use super::separator::{Separator, fields, is_row};
use super::source::{Chunk, LineFault, lines};
use super::token::{self, NotAnId, show};
use super::widths;
use crate::ReadErrorKind;
use crate::intern::{Ends, Sign};
use crate::names::InternError;
use crate::names::{Entry, NameIndex, NameList, NameListBuilder};
use memchr::{memchr, memchr_iter, memchr2};
use ripplet_graph::{OutOfMemory, memory};
use std::borrow::Cow;

/// Error of a row.
type Sentence = String;

/// Returns the edges of a chunk whose ids are integers, and their weights if they are read.
pub(super) fn integers(chunk: Chunk<'_>, layout: &Layout, sign: Sign) -> Result<Edges, LineFault> {
    let mut edges = Edges::with_room(chunk.lines as usize, layout)?;
    let quick = Quick::of(layout, sign);
    let mut rest = chunk.bytes;
    let mut line = 0;
    while !rest.is_empty() {
        let row = match quick {
            Some(quick) => quick.row(rest, &mut edges)?,
            None => None,
        };
        if let Some(length) = row {
            rest = &rest[length..];
        } else {
            let end = memchr(b'\n', rest).unwrap_or(rest.len());
            let row = slow_row(&rest[..end], layout, sign, &mut edges);
            row.map_err(|why| LineFault::new(line, why))?;
            rest = rest.get(end + 1..).unwrap_or(&[]);
        }
        line += 1;
    }
    Ok(edges)
}

/// Edges of a chunk whose ids are integers.
pub(super) struct Edges {
    pub(super) ends: Ends,
    pub(super) weights: Vec<f64>,
    /// Number of comments between them.
    pub(super) comments: u64,
}

impl Edges {
    fn with_room(rows: usize, layout: &Layout) -> Result<Edges, OutOfMemory> {
        let weights = memory::with_room(if layout.weight.is_some() { rows } else { 0 })?;
        Ok(Edges { ends: Ends::with_room(rows)?, weights, comments: 0 })
    }

    fn push(&mut self, ends: [u64; 2], weight: Option<f64>) -> Result<(), OutOfMemory> {
        if let Some(weight) = weight {
            memory::push(&mut self.weights, weight)?;
        }
        self.ends.push(ends)
    }
}

/// Fast path for tables whose first columns are the ids.
#[derive(Clone, Copy)]
struct Quick {
    /// Separators that the fast path handles.
    separators: [u8; 3],
    weighted: bool,
    /// Separator of the fields after the last one that is read.
    separator: Separator,
    /// Largest number of these fields, if it is known.
    most_behind: Option<usize>,
}

impl Quick {
    fn of(layout: &Layout, sign: Sign) -> Option<Quick> {
        Quick::of_columns(layout).filter(|_| sign == Sign::Unsigned)
    }

    fn of_columns(layout: &Layout) -> Option<Quick> {
        let first = (layout.source, layout.target) == (0, 1) && layout.keys.is_none();
        let third = layout.weight.is_none_or(|column| column == 2);
        let weighted = layout.weight.is_some();
        let separators = match layout.separator {
            Separator::Each(one) => [one; 3],
            Separator::QuotedBlanks => [b' ', b'\t', b'\t'],
            // Blanks at the ends of a field are not separators.
            Separator::Runs(set) => {
                [b' ', b'\t', b','].map(|byte| if set.contains(&byte) { byte } else { b'\t' })
            }
        };
        let is_plain = layout.mark.is_none() && !layout.decimal_comma;
        let separator = layout.separator;
        let most_behind = layout.width.map(|width| width.saturating_sub(layout.last_column() + 1));
        let quick = Quick { separators, weighted, separator, most_behind };
        (first && third && is_plain).then_some(quick)
    }

    #[inline]
    fn separates(self, byte: u8) -> bool {
        let [a, b, c] = self.separators;
        byte == a || byte == b || byte == c
    }

    /// Parses the first row of `bytes` and returns its length, line end included; `None` if the fast path
    /// cannot.
    #[inline]
    fn row(self, bytes: &[u8], edges: &mut Edges) -> Result<Option<usize>, OutOfMemory> {
        let Some((ends, weight, length)) = self.fields(bytes) else { return Ok(None) };
        edges.push(ends, weight)?;
        Ok(Some(length))
    }

    #[inline(always)]
    fn fields(self, bytes: &[u8]) -> Option<([u64; 2], Option<f64>, usize)> {
        let (source, end) = token::exact_digits(bytes, 0)?;
        if !self.separates(*bytes.get(end)?) {
            return None;
        }
        let (target, end) = token::exact_digits(bytes, end + 1)?;
        let (weight, end) = self.weight(bytes, end)?;
        Some(([source, target], weight, self.rest_of_line(bytes, end)?))
    }

    /// Returns the weight after the ids, which end at `end`, if there is to be one, and where it ends.
    #[inline(always)]
    fn weight(self, bytes: &[u8], end: usize) -> Option<(Option<f64>, usize)> {
        if !self.weighted {
            return Some((None, end));
        }
        if !self.separates(*bytes.get(end)?) {
            return None;
        }
        let (weight, end) = token::decimal(bytes, end + 1)?;
        Some((Some(weight), end))
    }

    /// Returns the end of a line whose last relevant field ends at `end`.
    #[inline(always)]
    fn rest_of_line(self, bytes: &[u8], end: usize) -> Option<usize> {
        match *bytes.get(end)? {
            b'\n' => Some(end + 1),
            byte => self.more_of_line(bytes, end, byte),
        }
    }

    /// Returns the end of a line whose last field that matters ends at `end` with `byte`, which is no line end.
    fn more_of_line(self, bytes: &[u8], end: usize, byte: u8) -> Option<usize> {
        if byte != b'\r' && !self.separates(byte) {
            return None;
        }
        // The slow path rejects a carriage return elsewhere than before the line end.
        let stop = match (self.most_behind, self.separator) {
            (None, _) => end + memchr2(b'\n', b'\r', &bytes[end..])?,
            (Some(most), separator) => {
                let (stop, separators) = end_and_separators(bytes, end, self.separators)?;
                if separators > most && is_wider(&bytes[end..stop], separator, most) {
                    return None;
                }
                stop
            }
        };
        match (bytes[stop], bytes.get(stop + 1)) {
            (b'\n', _) => Some(stop + 1),
            (_, Some(b'\n')) => Some(stop + 2),
            _ => None,
        }
    }
}

/// Returns the first line end or carriage return from `at` on, and the number of separators before it. The separators
/// are two at most: the third is the second again.
#[inline]
fn end_and_separators(bytes: &[u8], at: usize, [a, b, _]: [u8; 3]) -> Option<(usize, usize)> {
    match a == b {
        true => end_and_marks(bytes, at, |word| equal_bytes(word, a)),
        false => end_and_marks(bytes, at, |word| equal_bytes(word, a) | equal_bytes(word, b)),
    }
}

/// The lowest bit of each byte, and the highest.
const LOWEST: u64 = u64::MAX / 0xff;
const HIGHEST: u64 = LOWEST << 7;

/// Returns a word with the highest bit of each byte that is `byte` set, and no other bit.
#[inline(always)]
fn equal_bytes(word: u64, byte: u8) -> u64 {
    let unlike = word ^ (LOWEST * u64::from(byte));
    !(((unlike & !HIGHEST) + !HIGHEST) | unlike | !HIGHEST)
}

/// Returns the first line end or carriage return, and the number of marked bytes before it: `marks` sets the highest bit
/// of these.
///
/// Eight bytes at a time: the rest of a line is some twenty bytes, too short for wider words to pay.
#[inline(always)]
fn end_and_marks(bytes: &[u8], at: usize, marks: impl Fn(u64) -> u64) -> Option<(usize, usize)> {
    let count = |marks: u64| ((marks >> 7).wrapping_mul(LOWEST) >> 56) as usize;
    // Correct up to the first zero byte: a borrow may only set bits after it.
    let zero = |word: u64| word.wrapping_sub(LOWEST) & !word;
    let (mut found, mut start) = (0, at);
    while let Some(eight) = bytes.get(start..).and_then(|rest| rest.first_chunk()) {
        let word = u64::from_le_bytes(*eight);
        let [line, carriage] = [b'\n', b'\r'].map(|byte| word ^ (LOWEST * u64::from(byte)));
        let ends = (zero(line) | zero(carriage)) & HIGHEST;
        let marks = marks(word);
        if ends != 0 {
            let before = marks & ((ends & ends.wrapping_neg()) - 1);
            return Some((start + ends.trailing_zeros() as usize / 8, found + count(before)));
        }
        found += count(marks);
        start += 8;
    }
    let rest = bytes.get(start..)?;
    let length = memchr2(b'\n', b'\r', rest)?;
    let behind = rest[..length].iter().map(|&byte| count(marks(u64::from(byte)) & 0x80));
    Some((start + length, found + behind.sum::<usize>()))
}

/// Whether the rest of a line has a non-empty field after the first `most`, or an error. Quotes may contain
/// separators.
#[cold]
fn is_wider(rest: &[u8], separator: Separator, most: usize) -> bool {
    let start = usize::from(matches!(separator, Separator::Each(_))).min(rest.len());
    fields(&rest[start..], separator)
        .skip(most)
        .any(|field| field.map_or(true, |field| !field.is_empty()))
}

/// Parses one line, if it is a row.
fn slow_row(
    line: &[u8],
    layout: &Layout,
    sign: Sign,
    edges: &mut Edges,
) -> Result<(), ReadErrorKind> {
    let Some(row) = Row::of(line, layout)? else {
        edges.comments += u64::from(is_comment(line));
        return Ok(());
    };
    let wrong = |field: &[u8], why| match layout.of {
        IdRole::Vertices => not_an_id(field, sign, why),
        IdRole::Matrix => {
            format!("`{}` is no row or column: expected a number from 1 on", show(field))
        }
        IdRole::Graphs => format!(
            "`{}` is no graph: expected a non-negative integer that prints as it is, as others are; \
             use --ids names to read names",
            show(field)
        ),
    };
    let read = if layout.exact { token::exact_id } else { token::number_id };
    let id = |field: &[u8]| read(field, sign).map_err(|why| wrong(field, why));
    let ends = [id(&row.source)?, id(&row.target)?];
    Ok(edges.push(ends, row.weight)?)
}

/// Edges of a chunk whose ids are names.
pub(super) struct NameRows {
    /// Source and target of each edge.
    list: NameList,
    /// Names that are not literally in the text (a quote in them is doubled there).
    apart: Vec<u8>,
    pub(super) weights: Vec<f64>,
    /// Number of comments between them.
    pub(super) comments: u64,
}

impl NameRows {
    /// Parses the edges of a chunk; their names will be added to an index like `like`.
    pub(super) fn of(
        chunk: Chunk<'_>,
        layout: &Layout,
        like: &NameIndex,
    ) -> Result<NameRows, LineFault> {
        let mut names = NameRows::reader(chunk, like, 2)?;
        let rows = if layout.weight.is_some() { chunk.lines as usize } else { 0 };
        names.weights = memory::with_room(rows)?;
        let quick = QuickNames::of(layout);
        let (mut at, mut line) = (0, 0);
        while at < chunk.bytes.len() {
            let row = quick.as_ref().and_then(|quick| quick.row(&chunk.bytes[at..]));
            let read = match row {
                Some(row) => {
                    at += row.length;
                    names.push([row.source, row.target], row.weight)
                }
                None => {
                    let rest = &chunk.bytes[at..];
                    let end = memchr(b'\n', rest).unwrap_or(rest.len());
                    at += end + 1;
                    names.slow_row(&rest[..end], layout)
                }
            };
            read.map_err(|why| LineFault::new(line, why))?;
            line += 1;
        }
        Ok(names.finish()?)
    }

    /// Creates an empty list for a chunk with the given number of names a line.
    pub(super) fn reader<'a>(
        chunk: Chunk<'a>,
        like: &NameIndex,
        a_line: usize,
    ) -> Result<NameReader<'a>, OutOfMemory> {
        let list = like.list(a_line * chunk.lines as usize)?;
        let utf8 = std::str::from_utf8(chunk.bytes).is_ok();
        let (apart, weights, comments) = (Vec::new(), Vec::new(), 0);
        Ok(NameReader { text: chunk.bytes, utf8, list, apart, weights, comments })
    }

    /// Combines the rows with their chunk.
    pub(super) fn of_chunk(self, chunk: Chunk<'_>) -> NamesOfChunk<'_> {
        NamesOfChunk { rows: self, text: chunk.bytes }
    }
}

/// Names with their positions.
pub(super) struct NamesOfChunk<'a> {
    pub(super) rows: NameRows,
    text: &'a [u8],
}

impl NamesOfChunk<'_> {
    /// Adds the names of some chunks to an index; returns the numbers of each chunk's names, in the order of
    /// the rows.
    pub(super) fn number(
        chunks: &[NamesOfChunk<'_>],
        index: &mut NameIndex,
    ) -> Result<Vec<Vec<u32>>, InternError> {
        let lists: Vec<&NameList> = chunks.iter().map(|chunk| &chunk.rows.list).collect();
        index.number(&lists, |at, entry: &Entry| {
            let NamesOfChunk { rows, text } = &chunks[at];
            let (start, length) = (entry.start as usize, entry.length as usize);
            match start.checked_sub(text.len()) {
                None => &text[start..][..length],
                Some(start) => &rows.apart[start..][..length],
            }
        })
    }
}

/// Builder of the names of a chunk's rows.
pub(super) struct NameReader<'a> {
    text: &'a [u8],
    /// Whether the whole text is UTF-8, and so each name.
    utf8: bool,
    list: NameListBuilder,
    apart: Vec<u8>,
    weights: Vec<f64>,
    comments: u64,
}

impl NameReader<'_> {
    fn slow_row(&mut self, line: &[u8], layout: &Layout) -> Result<(), ReadErrorKind> {
        let Some(row) = Row::of(line, layout)? else {
            self.comments += u64::from(is_comment(line));
            return Ok(());
        };
        self.push([&row.source, &row.target], row.weight)
    }

    #[inline]
    fn push(&mut self, ends: [&[u8]; 2], weight: Option<f64>) -> Result<(), ReadErrorKind> {
        ends.into_iter().try_for_each(|name| self.push_name(name))?;
        if let Some(weight) = weight {
            memory::push(&mut self.weights, weight)?;
        }
        Ok(())
    }

    /// Appends a name.
    #[inline]
    pub(super) fn push_name(&mut self, name: &[u8]) -> Result<(), ReadErrorKind> {
        if !self.utf8 && std::str::from_utf8(name).is_err() {
            return Err(not_utf8(name).into());
        }
        let start = match self.place_of(name) {
            Some(start) => start,
            None => {
                memory::extend(&mut self.apart, name)?;
                self.text.len() + self.apart.len() - name.len()
            }
        };
        // Neither a chunk nor its unescaped names reach 2³¹ bytes.
        Ok(self.list.push(name, start as u32, name.len() as u32)?)
    }

    /// Returns the appended names.
    pub(super) fn finish(self) -> Result<NameRows, OutOfMemory> {
        let (apart, weights, comments) = (self.apart, self.weights, self.comments);
        Ok(NameRows { list: self.list.finish()?, apart, weights, comments })
    }

    /// Position of a name in the text, if it has one.
    #[inline]
    fn place_of(&self, name: &[u8]) -> Option<usize> {
        let start = name.as_ptr().addr().checked_sub(self.text.as_ptr().addr())?;
        (start + name.len() <= self.text.len()).then_some(start)
    }
}

/// Fast path for rows of names: no quotes, no blanks around a field.
struct QuickNames {
    columns: Quick,
    /// Bytes that end a field.
    ends_field: [bool; 256],
}

/// Row of the fast path.
struct QuickRow<'a> {
    source: &'a [u8],
    target: &'a [u8],
    weight: Option<f64>,
    /// Bytes of the line, including its end.
    length: usize,
}

impl QuickNames {
    fn of(layout: &Layout) -> Option<QuickNames> {
        let columns = Quick::of_columns(layout)?;
        let mut ends_field = [false; 256];
        let separators: &[u8] = match &layout.separator {
            Separator::Each(byte) => std::slice::from_ref(byte),
            Separator::Runs(set) => set,
            Separator::QuotedBlanks => b" \t",
        };
        for &byte in separators.iter().chain(b"\r\n") {
            ends_field[usize::from(byte)] = true;
        }
        Some(QuickNames { columns, ends_field })
    }

    /// Parses the first row of `bytes`, if the fast path can.
    #[inline]
    fn row<'a>(&self, bytes: &'a [u8]) -> Option<QuickRow<'a>> {
        let source = self.field(bytes)?;
        let end = source.len();
        if matches!(source[0], b'#' | b'%') || !self.columns.separates(*bytes.get(end)?) {
            return None;
        }
        let target = self.field(&bytes[end + 1..])?;
        let (weight, end) = self.columns.weight(bytes, end + 1 + target.len())?;
        let length = self.columns.rest_of_line(bytes, end)?;
        Some(QuickRow { source, target, weight, length })
    }

    /// Returns the field at the start of `bytes`, if it needs no trimming.
    #[inline]
    fn field<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let length = bytes.iter().position(|&byte| self.ends_field[usize::from(byte)])?;
        let field = &bytes[..length];
        let (first, last) = (*field.first()?, *field.last()?);
        // Control characters may be blanks, too; the slow path handles them.
        (first > b' ' && first != b'"' && last > b' ').then_some(field)
    }
}

impl<'a> Row<'a> {
    /// Parses a line, if it is a row.
    pub(super) fn of(line: &'a [u8], layout: &Layout) -> Result<Option<Row<'a>>, Sentence> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !is_row(line) {
            return Ok(None);
        }
        if let Some(keys) = &layout.keys {
            return keys.row(line).map(Some);
        }
        if memchr(b'\r', line).is_some() {
            return Err(
                "a carriage return within the line: expected lines that end with \\n".into()
            );
        }
        let (mut source, mut target, mut weight) = (None, None, None);
        let mut count = 0;
        let mut all = fields(line, layout.separator);
        for (column, field) in all.by_ref().take(layout.last_column() + 1).enumerate() {
            let field = field?;
            count += 1;
            if layout.weight == Some(column) {
                weight = Some(weight_of(&field, column, layout)?);
            } else if let Some((_, mark)) = layout.mark.as_ref().filter(|mark| mark.0 == column) {
                check_mark(&field, mark, column)?;
            } else if column == layout.source {
                source = Some(field);
            } else if column == layout.target {
                target = Some(field);
            }
        }
        if layout.source == layout.target {
            target = source.clone();
        }
        let (Some(source), Some(target)) = (source, target) else {
            return Err(too_few_fields(count, line, layout));
        };
        if layout.weight.is_some() && weight.is_none() {
            return Err("expected a weight beside the two ids, found none".into());
        }
        if let Some(width) = layout.width {
            check_end(all, count, width, line, layout)?;
        }
        if source.is_empty() || target.is_empty() {
            return Err(match layout.of {
                IdRole::Graphs => {
                    "the value of the column of graphs is empty: expected an id or a name".into()
                }
                IdRole::Vertices | IdRole::Matrix => "a vertex id is empty".into(),
            });
        }
        Ok(Some(Row { source, target, weight }))
    }
}

/// Returns the weight in a column.
fn weight_of(field: &[u8], column: usize, layout: &Layout) -> Result<f64, Sentence> {
    let weight = match layout.decimal_comma {
        true => token::weight_with_comma(field),
        false => token::weight(field),
    };
    weight.map_err(|what| format!("{what} (in column {})", column + 1))
}

/// Rejects a mark between two ends that differs from the first row's.
fn check_mark(field: &[u8], mark: &[u8], column: usize) -> Result<(), Sentence> {
    match field == mark {
        true => Ok(()),
        false => Err(format!(
            "expected `{}` between the ends, as the first rows have it in column {}, found `{}`; \
             use --columns to read ids from two columns",
            show(mark),
            column + 1,
            show(field)
        )),
    }
}

/// Rejects non-empty fields after the `width` of the first rows; `rest` are the fields after the first
/// `count`.
fn check_end<'a>(
    rest: impl Iterator<Item = Result<Cow<'a, [u8]>, Sentence>>,
    count: usize,
    width: usize,
    line: &[u8],
    layout: &Layout,
) -> Result<(), Sentence> {
    let has_more = match layout.separator {
        Separator::Each(byte) => memchr_iter(byte, line).count() >= width,
        _ => true,
    };
    if !has_more {
        return Ok(());
    }
    for (found, field) in (count + 1..).zip(rest) {
        if !field?.is_empty() && found > width {
            return Err(format!(
                "the row has {found} fields, and the first ones {width}: `{}`; {}",
                show(line.trim_ascii()),
                widths::what_to_do(layout.separator)
            ));
        }
    }
    Ok(())
}

/// Whether a line that is no row is a comment, and not blank.
fn is_comment(line: &[u8]) -> bool {
    !line.trim_ascii().is_empty()
}

/// Returns the message for a name in another encoding.
fn not_utf8(name: &[u8]) -> Sentence {
    format!(
        "the name `{}` is not UTF-8: convert the file, such as with iconv -f LATIN1 -t UTF-8",
        show(name)
    )
}

fn too_few_fields(count: usize, line: &[u8], layout: &Layout) -> Sentence {
    let shown = show(line.trim_ascii());
    match (count, layout.last_column()) {
        (..=1, _) if layout.of == IdRole::Matrix => {
            format!("expected a row and a column, found only `{shown}`")
        }
        (..=1, 1 | 2) => {
            format!(
                "expected two vertex ids, found only `{shown}`; write one edge a line, not lists of neighbours"
            )
        }
        (_, last) => format!("expected at least {} fields, found {count}: `{shown}`", last + 1),
    }
}

/// Returns the message for a token that should be an id.
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
        NotAnId::Padded => format!(
            "the vertex id {shown} would come out as another text: use --ids names to keep it as it \
             is, or --ids {} to read numbers",
            if sign == Sign::Signed { "signed" } else { "unsigned" }
        ),
        NotAnId::MinusZero => format!(
            "the vertex id {shown} would be the vertex 0: use --ids names to keep them distinct, or write 0"
        ),
        NotAnId::Fraction if shown.ends_with(".0") => format!(
            "`{shown}` is not a vertex id: expected {kind}; pandas makes integers so if some are missing: write them \
             again after frame[column].astype(\"Int64\"), or use --ids names to read names"
        ),
        NotAnId::Fraction | NotAnId::NoNumber => {
            format!("`{shown}` is not a vertex id: expected {kind}; use --ids names to read names")
        }
    }
}

/// Returns the line of row `row` of a chunk: rows are counted while comments and blanks are not.
pub(super) fn line_of_row(chunk: &[u8], row: usize) -> u64 {
    let rows = (0..).zip(lines(chunk)).filter(|(_, line)| is_row(line));
    rows.map(|(line, _)| line).nth(row).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::layout::Ids;
    use super::super::separator::BLANKS;
    use super::*;
    use proptest::prelude::*;

    /// Parses a line by the fast path, if it can, and by the slow path.
    fn both_ways(line: &str, layout: &Layout) -> Option<[(String, String, Option<f64>); 2]> {
        let text = |field: &[u8]| String::from_utf8(field.to_vec()).unwrap();
        let bytes = line.as_bytes();
        let quick = QuickNames::of(layout)?.row(bytes)?;
        assert_eq!(quick.length, memchr(b'\n', bytes).map_or(0, |end| end + 1), "{line:?}");
        let slow = Row::of(&bytes[..quick.length - 1], layout).unwrap().unwrap();
        Some([
            (text(quick.source), text(quick.target), quick.weight),
            (text(&slow.source), text(&slow.target), slow.weight),
        ])
    }

    fn layout(separator: Separator, weighted: bool) -> Layout {
        Layout { separator, ..Layout::plain(Ids::Names, weighted) }
    }

    #[test]
    fn usual_rows_of_names_are_read_quickly() {
        for (line, separator, weighted) in [
            ("ann,bob\n", Separator::Each(b','), false),
            ("Ann Lee,#bob,x,\"y\r\n", Separator::Each(b','), false),
            ("ann\tbob\t0.50000000 \n", Separator::Runs(b"\t"), false),
            ("ann bob 2.50000000\n", BLANKS, true),
            ("Zo\u{eb} bo\"b\n", BLANKS, false),
        ] {
            let read = both_ways(line, &layout(separator, weighted));
            let [quick, slow] = read.unwrap_or_else(|| panic!("{line:?} goes the slow way"));
            assert_eq!(quick, slow, "{line:?}");
        }
        for line in ["#ann,bob\n", "\"ann\",bob\n", "ann, bob\n", "ann\n", ",bob\n", "ann,bob"] {
            assert!(both_ways(line, &layout(Separator::Each(b','), false)).is_none(), "{line:?}");
        }
    }

    proptest! {
        #[test]
        fn the_end_of_a_line_and_its_separators_are_found(
            line in "[ab,;\t\"é]{0,40}[\r\n]?[ab,]{0,9}",
            at in 0usize..3,
            separators in prop::sample::select(vec![[b','; 3], [b' ', b'\t', b'\t'], [b';', b',', b',']]),
        ) {
            let bytes = line.as_bytes();
            let rest = bytes.get(at..).unwrap_or_default();
            let end = rest.iter().position(|byte| b"\r\n".contains(byte));
            let expected = end.map(|end| {
                let count = rest[..end].iter().filter(|byte| separators.contains(byte)).count();
                (at + end, count)
            });
            prop_assert_eq!(end_and_separators(bytes, at, separators), expected);
        }

        #[test]
        fn the_quick_way_and_the_slow_way_agree(
            line in "[ab1#%\" \t,;\r.\u{b}\u{c}é]{0,12}\n[ab]{0,9}",
            separator in prop::sample::select(vec![
                BLANKS, Separator::Runs(b"\t"), Separator::Each(b','), Separator::Each(b'\t'),
            ]),
            weighted: bool,
        ) {
            if let Some([quick, slow]) = both_ways(&line, &layout(separator, weighted)) {
                prop_assert_eq!(quick, slow);
            }
        }
    }
}
