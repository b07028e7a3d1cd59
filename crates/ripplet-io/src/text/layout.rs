//! Layout of a table's rows: separator, columns, kind of ids.

use super::header::{Decision, Sample, is_number_like, is_padded};
use super::json_lines::{self, Keys};
use super::sample_error::SampleError;
use super::widths::FirstRow;
use super::{delimiter, token, widths};
use crate::intern::Sign;
use crate::summary::{ReadColumns, ReadGraphColumns};
use crate::{Format, Header, IdKind, ReadOptions};
use std::borrow::Cow;
use std::sync::Arc;

/// Layout of a table's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) separator: Separator,
    pub(super) ids: Ids,
    pub(super) source: usize,
    pub(super) target: usize,
    /// The column of the weight, if weights are read.
    pub(super) weight: Option<usize>,
    /// Whether the first row names the columns.
    pub(super) header: bool,
    /// Role of the ids.
    pub(super) of: IdRole,
    /// Whether integer ids must print as they are written: two texts are never one vertex unless the options
    /// declare ids as numbers.
    pub(super) exact: bool,
    /// Keys of JSON lines, for which columns and separator are unused.
    pub(super) keys: Option<Arc<Keys>>,
    /// Number of fields of a row, if more are an error: see `widths.rs`.
    pub(super) width: Option<usize>,
    /// Whether weights have a decimal comma.
    pub(super) decimal_comma: bool,
    /// A column with the same mark in each row.
    pub(super) mark: Option<(usize, Vec<u8>)>,
}

/// Separator of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    /// Any sequence of these bytes; leading and trailing ones do not count.
    Runs(&'static [u8]),
    /// One byte; a field may be in double quotes.
    Each(u8),
    /// Any sequence of blanks and tabs; a field may be in double quotes.
    QuotedBlanks,
}

/// Role of the ids, which names them in errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdRole {
    Vertices,
    /// Rows and columns of a matrix, which options do not change.
    Matrix,
    /// Graphs, in a table of many.
    Graphs,
}

/// Kind of the ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ids {
    Integers(Sign),
    Names,
}

/// Separators of integers, in any number.
pub(super) const BLANKS: Separator = Separator::Runs(b" \t,;");

/// Blanks and tabs alone, between fields that may contain commas.
pub(super) const PLAIN_BLANKS: Separator = Separator::Runs(b" \t");

/// Start of the first line of an edge list whose fields are separated as in a `.tsv` and whose ids are names.
/// It is a comment, so that no other program reads it as an edge. The names of the columns follow, separated
/// by tabs.
pub(crate) const NAMED_TABS: &str = "# names: ";

/// Whether a line is neither blank nor a comment.
pub(super) fn is_row(line: &[u8]) -> bool {
    let start = line.trim_ascii_start();
    !start.is_empty() && start[0] != b'#' && start[0] != b'%'
}

impl Layout {
    /// Returns blank-separated ids with optional weights, for formats without a header.
    pub(super) fn plain(ids: Ids, weighted: bool) -> Layout {
        let weight = weighted.then_some(2);
        let (header, of) = (false, IdRole::Vertices);
        let (separator, exact, keys, mark) = (BLANKS, false, None, None);
        let (width, decimal_comma) = (None, false);
        let (source, target) = (0, 1);
        Layout {
            separator,
            ids,
            source,
            target,
            weight,
            header,
            of,
            exact,
            keys,
            width,
            decimal_comma,
            mark,
        }
    }

    /// Returns rows and columns of a matrix with optional values.
    pub(super) fn indices(weighted: bool) -> Layout {
        Layout { of: IdRole::Matrix, ..Layout::plain(Ids::Integers(Sign::Unsigned), weighted) }
    }

    /// Returns the layout of a table that starts with these rows, and its columns; otherwise the error of one
    /// of them.
    pub(super) fn of(
        rows: &[&[u8]],
        format: Format,
        options: &ReadOptions,
    ) -> Result<(Layout, ReadColumns), SampleError> {
        let separator = delimiter::of_rows(rows, format, options)?;
        let mut sample = Sample::of(rows, separator)?;
        sample.ends_first |= format == Format::EdgeList;
        if options.header == Header::Absent {
            sample = sample.without_row_names();
        }
        let (mut layout, columns) = Layout::of_sample(&sample, separator, options)?;
        let is_asked = sample.is_asked_by_number(options) && !layout.header;
        if separator != BLANKS && !is_asked {
            layout.width = widths::check(rows, &layout, FirstRow::of(&sample))?;
        }
        Ok((layout, columns))
    }

    /// Returns the layout of a table whose first row has known names, if it has, and as many as the rows have fields.
    pub(super) fn of_known_names(
        rows: &[&[u8]],
        format: Format,
        options: &ReadOptions,
    ) -> Option<(Layout, ReadColumns)> {
        let separator = delimiter::of_rows(rows, format, options).ok()?;
        let names = fields(rows[0], separator).collect::<Result<Vec<_>, _>>().ok()?;
        let width = names.len();
        let is_even = rows.iter().all(|row| fields(row, separator).count() == width);
        let is_known = Sample::new(names, Vec::new()).has_known_names();
        let options = ReadOptions { header: Header::Present, ..options.clone() };
        (is_even && is_known).then(|| Layout::of(rows, format, &options).ok()).flatten()
    }

    /// Returns the layout of JSON lines that start with these: as [`Layout::of`].
    pub(super) fn of_json_lines(
        lines: &[&[u8]],
        options: &ReadOptions,
    ) -> Result<(Layout, ReadColumns), SampleError> {
        if options.header == Header::Absent {
            return Err(SampleError::from(
                "JSON lines name their columns by keys: leave --no-header out",
            ));
        }
        let mut sample = json_lines::sample(lines)?;
        sample.raw = lines.iter().take(2).copied().collect();
        let options = ReadOptions { header: Header::Present, ..options.clone() };
        let (layout, columns) = Layout::of_sample(&sample, BLANKS, &options)?;
        let key = |column| sample.name(column).filter(|_| layout.header);
        match (key(layout.source), key(layout.target)) {
            (Some(source), Some(target)) => {
                let weight = layout.weight.and_then(key);
                let keys = Some(Arc::new(Keys { source, target, weight }));
                Ok((Layout { keys, ..layout }, columns))
            }
            _ => Err("the first object has no keys for both ends of an edge: expected such as \
                      {\"source\": 1, \"target\": 2}"
                .into()),
        }
    }

    /// Returns the layout of an edge list under [`NAMED_TABS`]: as [`Layout::of`].
    pub(super) fn of_named_tabs(
        rows: &[&[u8]],
        options: &ReadOptions,
    ) -> Result<(Layout, ReadColumns), SampleError> {
        let mut options = options.clone();
        if options.header == Header::Auto {
            options.header = Header::Absent;
        }
        if options.ids == IdKind::Auto {
            options.ids = IdKind::Names;
        }
        let tab = Separator::Each(b'\t');
        let mut sample = Sample::of(rows, tab)?;
        sample.ends_known = true;
        Ok(Layout::of_sample(&sample, tab, &options)?)
    }

    fn of_sample(
        sample: &Sample<'_>,
        separator: Separator,
        options: &ReadOptions,
    ) -> Result<(Layout, ReadColumns), String> {
        let Decision { header, source, target, weight, mark } = sample.decide(options)?;
        let decimal_comma = options.weighted
            && separator != Separator::Each(b',')
            && separator != BLANKS
            && sample.has_decimal_commas(header, weight)?;
        let layout = Layout {
            separator,
            ids: ids_of(sample, header, [source, target], options.ids),
            source,
            target,
            weight: options.weighted.then_some(weight),
            header,
            of: IdRole::Vertices,
            exact: options.ids == IdKind::Auto,
            keys: None,
            width: None,
            decimal_comma,
            mark: mark.map(|column| (column, sample.first[column].to_vec())),
        };
        let columns = sample.columns(header, [source, target], layout.weight, mark);
        Ok((layout, columns))
    }

    /// Returns the layouts of the ends and of the graphs of a table of many graphs, and its columns; the
    /// graph of a row is both its ends.
    ///
    /// The ends are detected among the other columns as in a table of one graph.
    pub(super) fn of_graphs(
        rows: &[&[u8]],
        format: Format,
        options: &ReadOptions,
    ) -> Result<([Layout; 2], ReadGraphColumns), SampleError> {
        if format == Format::JsonLines {
            let formats = ".csv, .tsv, .parquet or .arrow";
            return Err(SampleError::from(format!(
                "a table of many graphs is read from {formats}, not from JSON lines"
            )));
        }
        let separator = delimiter::of_rows(rows, format, options)?;
        let mut sample = Sample::of(rows, separator)?;
        if options.header == Header::Absent {
            sample = sample.without_row_names();
        }
        let (graph, header) = sample.graph_column(options)?;
        sample.check_apart(graph, options)?;
        // Kind of the column, without a header and with one.
        let kind = if options.ids == IdKind::Names { IdKind::Names } else { IdKind::Auto };
        let ids = [false, true].map(|header| ids_of(&sample, header, [graph, graph], kind));
        let called = [false, true].map(|header| sample.read_column(graph, header));
        let first = FirstRow::of(&sample);
        let others = sample.without(graph);
        let of_edges = ReadOptions { header, ..options.clone() };
        let found = Layout::of_sample(&others, separator, &of_edges);
        let (edges, columns) = found.map_err(|why| {
            let graph = &called[usize::from(header == Header::Present)];
            format!("{why} (beside {graph}, the column of graphs)")
        })?;
        let place = |column| others.place_in_table(column);
        let edges = Layout {
            source: place(edges.source),
            target: place(edges.target),
            weight: edges.weight.map(place),
            mark: edges.mark.map(|(column, sign)| (place(column), sign)),
            ..edges
        };
        let edges = match separator == BLANKS {
            true => edges,
            false => Layout { width: widths::check(rows, &edges, first)?, ..edges },
        };
        let header = usize::from(edges.header);
        let graphs = Layout {
            ids: ids[header],
            source: graph,
            target: graph,
            weight: None,
            of: IdRole::Graphs,
            exact: kind == IdKind::Auto,
            mark: None,
            width: None,
            ..edges.clone()
        };
        let graph = called[header].clone();
        Ok(([edges, graphs], ReadGraphColumns { graph, edges: columns }))
    }

    /// Returns the largest index of a column that is read.
    pub(super) fn last_column(&self) -> usize {
        self.source.max(self.target).max(self.weight.unwrap_or(0))
    }
}

/// Returns the kind of ids, detected from the first edge unless the options fix it: names if any sampled id
/// is a padded number (`007`), whose value would be another id.
///
/// Integers that are negative or too large, and other numbers, are taken for wrong ids, not for names: a
/// silent change of kind would be a trap.
fn ids_of(sample: &Sample<'_>, header: bool, ends: [usize; 2], kind: IdKind) -> Ids {
    match kind {
        IdKind::Unsigned => Ids::Integers(Sign::Unsigned),
        IdKind::Signed => Ids::Integers(Sign::Signed),
        IdKind::Names => Ids::Names,
        IdKind::Auto => {
            let first = sample.data(header);
            let integers =
                ends.iter().filter_map(|&end| first.get(end)).all(|id| is_number_like(id));
            let padded = sample
                .rows(header)
                .any(|row| ends.iter().filter_map(|&end| row.get(end)).any(|id| is_padded(id)));
            if integers && !padded { Ids::Integers(Sign::Unsigned) } else { Ids::Names }
        }
    }
}

/// Iterates over the fields of a line, without surrounding blanks and quotes.
pub(super) fn fields(
    line: &[u8],
    separator: Separator,
) -> impl Iterator<Item = Result<Cow<'_, [u8]>, String>> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest?;
        match separator {
            Separator::Runs(set) => {
                let (field, others) = run_field(line, set)?;
                rest = Some(others);
                Some(Ok(Cow::Borrowed(field)))
            }
            Separator::Each(byte) => {
                let next = quoted_or_plain(line, byte);
                rest = next.as_ref().ok().and_then(|&(_, others)| others);
                Some(next.map(|(field, _)| field))
            }
            Separator::QuotedBlanks => {
                let start = line.iter().position(|byte| !is_blank(*byte))?;
                let next = quoted_or_blanks(&line[start..]);
                rest = next.as_ref().ok().and_then(|&(_, others)| others);
                Some(next.map(|(field, _)| field))
            }
        }
    })
}

/// Returns the first field, and what comes after it; nothing where only separators are left.
fn run_field<'a>(line: &'a [u8], set: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let start = line.iter().position(|byte| !set.contains(byte) && *byte != b' ')?;
    let line = &line[start..];
    let end = line.iter().position(|byte| set.contains(byte)).unwrap_or(line.len());
    Some((line[..end].trim_ascii_end(), &line[end..]))
}

type FieldAndRest<'a> = (Cow<'a, [u8]>, Option<&'a [u8]>);

fn quoted_or_plain(line: &[u8], separator: u8) -> Result<FieldAndRest<'_>, String> {
    let start = line.iter().position(|&byte| byte != b' ' && (byte != b'\t' || separator == b'\t'));
    if let Some(quoted) = start.and_then(|start| line[start..].strip_prefix(b"\"")) {
        return quoted_field(quoted, separator);
    }
    let end = memchr::memchr(separator, line);
    let (field, rest) = end.map_or((line, None), |end| (&line[..end], Some(&line[end + 1..])));
    Ok((Cow::Borrowed(field.trim_ascii()), rest))
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Returns the field at the start of a line whose fields stand between blanks, and what comes after it.
fn quoted_or_blanks(line: &[u8]) -> Result<FieldAndRest<'_>, String> {
    let Some(quoted) = line.strip_prefix(b"\"") else {
        let end = line.iter().position(|byte| is_blank(*byte)).unwrap_or(line.len());
        return Ok((Cow::Borrowed(line[..end].trim_ascii_end()), Some(&line[end..])));
    };
    let (field, rest) = quoted_text(quoted)?;
    match rest.first() {
        Some(byte) if !is_blank(*byte) => {
            Err(format!("expected a blank after the quoted field `{}`", token::show(&field)))
        }
        _ => Ok((field, Some(rest))),
    }
}

/// Returns a field after its opening quote, and what comes after the separator behind it.
fn quoted_field(line: &[u8], separator: u8) -> Result<FieldAndRest<'_>, String> {
    let (field, rest) = quoted_text(line)?;
    let after = rest.iter().position(|&byte| byte != b' ').unwrap_or(rest.len());
    match rest[after..].split_first() {
        None => Ok((field, None)),
        Some((&byte, others)) if byte == separator => Ok((field, Some(others))),
        Some(_) => Err(format!(
            "expected `{}` after the quoted field `{}`",
            token::show(&[separator]),
            token::show(&field)
        )),
    }
}

/// Returns the text up to the closing quote, and what comes after that (RFC 4180, but within one line).
fn quoted_text(line: &[u8]) -> Result<(Cow<'_, [u8]>, &[u8]), String> {
    let mut field = Cow::Borrowed(&line[..0]);
    let mut rest = line;
    loop {
        let Some(quote) = memchr::memchr(b'"', rest) else {
            return Err("a quoted field does not end on its line: expected a closing `\"`".into());
        };
        let part = &rest[..quote];
        rest = &rest[quote + 1..];
        let doubled = rest.first() == Some(&b'"');
        if field.is_empty() && !doubled {
            field = Cow::Borrowed(part);
        } else {
            field.to_mut().extend_from_slice(part);
        }
        if !doubled {
            return Ok((field, rest));
        }
        field.to_mut().push(b'"');
        rest = &rest[1..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Columns;

    fn split(line: &str, separator: Separator) -> Result<Vec<String>, String> {
        let text = |field: Cow<'_, [u8]>| String::from_utf8(field.into_owned()).unwrap();
        fields(line.as_bytes(), separator).map(|field| field.map(text)).collect()
    }

    #[test]
    fn fields_by_runs() {
        assert_eq!(split(" 1 \t 2, 3;4 ", BLANKS).unwrap(), ["1", "2", "3", "4"]);
        let tabs = Separator::Runs(b"\t");
        assert_eq!(split("New York\t\t Boston \t", tabs).unwrap(), ["New York", "Boston"]);
        assert!(split("  ", BLANKS).unwrap().is_empty());
    }

    #[test]
    fn fields_by_commas_and_quotes() {
        let comma = Separator::Each(b',');
        assert_eq!(split(" a , b,,", comma).unwrap(), ["a", "b", "", ""]);
        assert_eq!(split(r#""a,b" , "say ""hi""",c"#, comma).unwrap(), ["a,b", r#"say "hi""#, "c"]);
        assert_eq!(split("\"\"\"\",\"\"\"a\"\"\"", comma).unwrap(), ["\"", "\"a\""]);
        assert!(split(r#""a,b"#, comma).is_err(), "open");
        assert!(split(r#""a"b,c"#, comma).is_err(), "after the quote");
        assert_eq!(split("\t\"x\t\"\t", Separator::Each(b'\t')).unwrap(), ["", "x\t", ""]);
    }

    fn layout(rows: &str, format: Format, options: &ReadOptions) -> Result<Layout, String> {
        let lines: Vec<&[u8]> = rows.lines().map(str::as_bytes).collect();
        Ok(Layout::of(&lines, format, options)?.0)
    }

    fn of(rows: &str, format: Format) -> Layout {
        layout(rows, format, &ReadOptions::default()).unwrap()
    }

    #[test]
    fn the_first_row_tells_separator_and_ids() {
        let unsigned = Ids::Integers(Sign::Unsigned);
        assert_eq!(of("1 2", Format::Csv).separator, BLANKS);
        assert_eq!(of("1;2", Format::Csv).separator, Separator::Each(b';'));
        assert_eq!(of("\"a;b\",c", Format::Csv).separator, Separator::Each(b','));
        assert_eq!(of("1,2", Format::Tsv).separator, Separator::Each(b','));
        assert_eq!(of("a b\tc\nc\ta b", Format::EdgeList).separator, Separator::Each(b'\t'));
        assert_eq!(of("a b", Format::EdgeList).ids, Ids::Names);
        for numbers in ["1 2", "-1 2", "1 99999999999999999999", "1.5 2"] {
            assert_eq!(of(numbers, Format::EdgeList).ids, unsigned, "{numbers}");
        }
    }

    #[test]
    fn columns_are_found_by_name() {
        let [source, target, weight] = ["to", "by", "amount"].map(String::from);
        let columns = Columns { source, target, weight, ..Columns::default() };
        let options = ReadOptions { columns, weighted: true, ..ReadOptions::default() };
        let found = layout("by,day,amount,to\n1,x,2,3", Format::Csv, &options).unwrap();
        assert_eq!((found.source, found.target, found.weight), (3, 0, Some(2)));
        assert_eq!(found.ids, Ids::Integers(Sign::Unsigned));
        let missing = layout("by,day,to\n1,x,2,3", Format::Csv, &options).unwrap_err();
        assert!(missing.contains("`amount`") && missing.contains("by, day, to"), "{missing}");
        assert!(layout("1,2,3", Format::Csv, &options).is_err(), "no header");
        let wide: String = (0..5000).map(|at| format!(",y{at}")).collect();
        let many = format!("by,to,{}{wide}\n", "x".repeat(40));
        let message = layout(&many, Format::Csv, &options).unwrap_err();
        assert!(message.contains("and 4991 more") && message.len() < 300, "{message}");
    }
}
