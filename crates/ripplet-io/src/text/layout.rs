//! What the first rows of a table say about the rest: separator, header, columns, kind of ids.

use super::token::{self, NotAnId};
use crate::intern::Sign;
use crate::{Columns, Format, IdKind, ReadOptions};
use std::borrow::Cow;

/// How the rows of a table are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) separator: Separator,
    pub(super) ids: Ids,
    pub(super) source: usize,
    pub(super) target: usize,
    /// The column of the weight, where weights are read.
    pub(super) weight: Option<usize>,
    /// Whether the first row names the columns.
    pub(super) header: bool,
    /// What the ids are of.
    pub(super) of: Of,
    /// Whether integer ids must print as they are written: two texts are never one vertex unless the
    /// options say that ids are numbers.
    pub(super) exact: bool,
}

/// What stands between fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    /// Any run of these bytes; those at the ends of a line do not count.
    Runs(&'static [u8]),
    /// This byte, each time; a field may stand in double quotes.
    Each(u8),
}

/// What ids are of, which is what an error calls them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Vertices,
    /// Rows and columns of a matrix, so that no option can make anything else of them.
    Matrix,
    /// Graphs, of a table of many.
    Graphs,
}

/// What the ids are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ids {
    Integers(Sign),
    Names,
}

/// What may stand between integers, in whatever number.
pub(super) const BLANKS: Separator = Separator::Runs(b" \t,;");

/// Names of columns that are no names of vertices, beside those of [`Columns`].
const KNOWN_HEADERS: [(&str, &str); 5] =
    [("source", "target"), ("src", "dst"), ("from", "to"), ("fromnodeid", "tonodeid"), ("u", "v")];

/// Whether a line is neither blank nor a comment.
pub(super) fn is_row(line: &[u8]) -> bool {
    let start = line.trim_ascii_start();
    !start.is_empty() && start[0] != b'#' && start[0] != b'%'
}

impl Layout {
    /// Blank-separated ids and maybe weights, as in the formats that have no header row.
    pub(super) fn plain(ids: Ids, weighted: bool) -> Layout {
        let weight = weighted.then_some(2);
        let (header, of) = (false, Of::Vertices);
        Layout { separator: BLANKS, ids, source: 0, target: 1, weight, header, of, exact: false }
    }

    /// Rows and columns and maybe values, of a matrix.
    pub(super) fn indices(weighted: bool) -> Layout {
        Layout { of: Of::Matrix, ..Layout::plain(Ids::Integers(Sign::Unsigned), weighted) }
    }

    /// The layout of a table that starts with these rows; what is wrong with the first, else.
    pub(super) fn of(
        first: &[u8],
        second: Option<&[u8]>,
        format: Format,
        options: &ReadOptions,
    ) -> Result<Layout, String> {
        let separator = separator(first, format);
        let names = fields(first, separator).collect::<Result<Vec<_>, _>>()?;
        let second: Vec<_> =
            second.map_or_else(Vec::new, |line| fields(line, separator).flatten().collect());
        let header = is_header(&names, &second, format, options);
        let [source, target, weight] = positions(&names, header, options)?;
        let row = if header { &second } else { &names };
        let ids = ids_of(row.get(source), row.get(target), options.ids);
        let by_tabs = ids == Ids::Names && separator == BLANKS && first.contains(&b'\t');
        Ok(Layout {
            separator: if by_tabs { Separator::Runs(b"\t") } else { separator },
            ids,
            source,
            target,
            weight: options.weighted.then_some(weight),
            header,
            of: Of::Vertices,
            exact: options.ids == IdKind::Auto,
        })
    }

    /// The layouts of the ends and of the graphs of a table of many graphs, whose first row must name
    /// its columns; the graph of a row is both its ends.
    pub(super) fn of_graphs(
        first: &[u8],
        second: Option<&[u8]>,
        format: Format,
        options: &ReadOptions,
    ) -> Result<[Layout; 2], String> {
        let Columns { source, target, graph, .. } = &options.columns;
        let names = fields(first, separator(first, format)).collect::<Result<Vec<_>, _>>()?;
        if let Some(missing) =
            [graph, source, target].into_iter().find(|name| position(&names, name).is_none())
        {
            return Err(format!(
                "{}; a table of many graphs has a header row that names the columns of graph, source \
                 and target",
                no_column(missing, &names)
            ));
        }
        let mut edges = Layout::of(first, second, format, options)?;
        let columns =
            Columns { source: graph.clone(), target: graph.clone(), ..Columns::default() };
        let ids = if options.ids == IdKind::Names { IdKind::Names } else { IdKind::Auto };
        let options = ReadOptions { columns, ids, weighted: false, ..options.clone() };
        let graphs = Layout::of(first, second, format, &options)?;
        let mut graphs = Layout { of: Of::Graphs, ..graphs };
        // Where names may have blanks, so may those of the other column.
        let tabs = Separator::Runs(b"\t");
        if edges.separator == tabs || graphs.separator == tabs {
            (edges.separator, graphs.separator) = (tabs, tabs);
        }
        Ok([edges, graphs])
    }

    /// The largest index of a column that is read.
    pub(super) fn last_column(&self) -> usize {
        self.source.max(self.target).max(self.weight.unwrap_or(0))
    }
}

/// The separator that a row uses: the format's own if it occurs, else another, else blanks.
///
/// Files named `.csv` that are split by blanks are common enough to be read.
fn separator(row: &[u8], format: Format) -> Separator {
    let candidates: &[u8] = match format {
        Format::Csv => b",;\t",
        Format::Tsv => b"\t,;",
        _ => return BLANKS,
    };
    let occurs = |&&separator: &&u8| fields(row, Separator::Each(separator)).count() > 1;
    candidates.iter().find(occurs).map_or(BLANKS, |&separator| Separator::Each(separator))
}

/// Whether the first row is a header: it has the names asked for, or well-known ones, or (in a
/// table) no integers where the second row has two.
fn is_header(
    first: &[Cow<'_, [u8]>],
    second: &[Cow<'_, [u8]>],
    format: Format,
    options: &ReadOptions,
) -> bool {
    let Columns { source, target, .. } = &options.columns;
    let has = |name: &str| position(first, name).is_some();
    if has(source) && has(target) {
        return true;
    }
    let [Some(a), Some(b)] = [first.first(), first.get(1)] else { return false };
    let is_number = |field: &[u8]| token::id(field, Sign::Unsigned) != Err(NotAnId::NoNumber);
    if is_number(a) || is_number(b) {
        return false;
    }
    let is = |field: &Cow<'_, [u8]>, name: &str| field.eq_ignore_ascii_case(name.as_bytes());
    let known = KNOWN_HEADERS.iter().any(|(source, target)| is(a, source) && is(b, target));
    let integers = second.len() > 1 && second[..2].iter().all(|field| is_number_like(field));
    known && options.ids != IdKind::Names
        || format != Format::EdgeList && integers && options.ids != IdKind::Names
}

/// Where source, target and weight stand.
fn positions(
    names: &[Cow<'_, [u8]>],
    header: bool,
    options: &ReadOptions,
) -> Result<[usize; 3], String> {
    let columns = &options.columns;
    let asked =
        Columns { graph: Columns::default().graph, ..columns.clone() } != Columns::default();
    if !header {
        return if asked {
            Err(format!(
                "--columns names the columns {}, {}, but no row of the file does: \
                 expected a header row",
                columns.source, columns.target
            ))
        } else {
            Ok([0, 1, 2])
        };
    }
    let found = [&columns.source, &columns.target].map(|name| position(names, name));
    let [Some(source), Some(target)] = found else {
        let missing = if found[0].is_none() { &columns.source } else { &columns.target };
        return if asked { Err(no_column(missing, names)) } else { Ok([0, 1, 2]) };
    };
    match position(names, &columns.weight) {
        Some(weight) => Ok([source, target, weight]),
        None if options.weighted => Err(no_column(&columns.weight, names)),
        None => Ok([source, target, 0]),
    }
}

fn no_column(missing: &str, names: &[Cow<'_, [u8]>]) -> String {
    /// As many as a message can hold.
    const LISTED: usize = 12;
    let mut listed: Vec<String> = names.iter().take(LISTED).map(|name| token::show(name)).collect();
    if names.len() > LISTED {
        listed.push(format!("and {} more", names.len() - LISTED));
    }
    format!(
        "there is no column `{missing}`; the columns are: {} (--columns says which to read)",
        listed.join(", ")
    )
}

fn position(names: &[Cow<'_, [u8]>], name: &str) -> Option<usize> {
    names.iter().position(|field| **field == *name.as_bytes())
}

/// What the ids are, by the first edge where the options leave it open.
///
/// Integers that are negative or too large, and other numbers, are taken for ids gone wrong, not
/// for names: a silent change of kind would help nobody.
fn ids_of(source: Option<&Cow<'_, [u8]>>, target: Option<&Cow<'_, [u8]>>, kind: IdKind) -> Ids {
    match kind {
        IdKind::Unsigned => Ids::Integers(Sign::Unsigned),
        IdKind::Signed => Ids::Integers(Sign::Signed),
        IdKind::Names => Ids::Names,
        IdKind::Auto => {
            let integers =
                [source, target].into_iter().flatten().all(|field| is_number_like(field));
            if integers { Ids::Integers(Sign::Unsigned) } else { Ids::Names }
        }
    }
}

/// Whether a field is an integer id, or a number that was meant as one; `007` is a name.
fn is_number_like(field: &[u8]) -> bool {
    let read = token::exact_id(field, Sign::Unsigned);
    !matches!(read, Err(NotAnId::NoNumber | NotAnId::Padded))
}

/// The fields of a line, blanks around them and quotes taken off.
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
        }
    })
}

/// The first field, and what comes after it; nothing where only separators are left.
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

/// A field after its opening quote (RFC 4180, but within one line).
fn quoted_field(line: &[u8], separator: u8) -> Result<FieldAndRest<'_>, String> {
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
            break;
        }
        field.to_mut().push(b'"');
        rest = &rest[1..];
    }
    let after = rest.iter().position(|&byte| byte != b' ').unwrap_or(rest.len());
    match rest[after..].split_first() {
        None => Ok((field, None)),
        Some((&byte, others)) if byte == separator => Ok((field, Some(others))),
        Some(_) => Err(format!(
            "expected `{}` after the quoted field `{}`",
            separator as char,
            token::show(&field)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut lines = rows.lines().map(str::as_bytes);
        Layout::of(lines.next().unwrap(), lines.next(), format, options)
    }

    fn of(rows: &str, format: Format) -> Layout {
        layout(rows, format, &ReadOptions::default()).unwrap()
    }

    #[test]
    fn the_first_row_tells_separator_and_ids() {
        let unsigned = Ids::Integers(Sign::Unsigned);
        assert_eq!(of("1 2", Format::Csv).separator, BLANKS);
        assert_eq!(of("1;2", Format::Csv).separator, Separator::Each(b';'));
        assert_eq!(of("\"a;b\",2", Format::Csv).separator, Separator::Each(b','));
        assert_eq!(of("1,2", Format::Tsv).separator, Separator::Each(b','));
        assert_eq!(of("a b\tc", Format::EdgeList).separator, Separator::Runs(b"\t"));
        assert_eq!(of("1 b", Format::EdgeList).ids, Ids::Names);
        for numbers in ["1 2", "-1 2", "1 99999999999999999999", "1.5 2"] {
            assert_eq!(of(numbers, Format::EdgeList).ids, unsigned, "{numbers}");
        }
    }

    #[test]
    fn a_header_is_told_from_data() {
        assert!(of("follower,followed\n1,2", Format::Csv).header);
        assert!(of("source,target\nann,bob", Format::Csv).header);
        assert!(of("FromNodeId ToNodeId\n1 2", Format::EdgeList).header);
        assert!(!of("ann,bob\nbob,cy", Format::Csv).header);
        assert!(!of("a b\n1 2", Format::EdgeList).header);
        assert!(!of("1,2\n3,4", Format::Csv).header);
        let names = ReadOptions { ids: IdKind::Names, ..ReadOptions::default() };
        assert!(!layout("u,v\n1,2", Format::Csv, &names).unwrap().header);
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
        let many = format!("by,to,{}\n", "x".repeat(40) + &",y".repeat(5000));
        let message = layout(&many, Format::Csv, &options).unwrap_err();
        assert!(message.contains("and 4991 more") && message.len() < 300, "{message}");
    }
}
