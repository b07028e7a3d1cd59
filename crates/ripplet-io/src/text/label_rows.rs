//! Reads labels of vertices as text: a line is a vertex and its label, or a vertex and all its labels.
//!
//! ```text
//! the first row names the columns      the columns with known names, else the first of two
//! two fields in every row              a vertex and its label
//! a vertex, a tab, integers            a vertex and all its labels (LFR's memberships)
//! three fields, the third a share      a vertex, its label, and how strongly it belongs there (slpa, seeded)
//! other rows of more than two fields   an error: these may be rows, memberships or members
//! ```

use super::json_lines::{self, Keys};
use super::pairs::separator;
use super::separator::{BLANKS, Separator, fields, is_row};
use super::source::{Chunk, LineFault, lines};
use super::{Text, other_format, token};
use crate::fault::Fault;
use crate::label_table::{
    Choice, LabelSummary, LabelTable, MembershipForm, asked, is_heading, listed, place_of,
};
use crate::missing::is_missing_name;
use crate::{Format, ReadErrorKind};
use memchr::memchr;
use ripplet_graph::{ExternalId, VertexIds};
use std::borrow::Cow;

/// Rows that are examined before the first is read.
const MOST_ROWS: usize = 4096;

/// End of the message for ambiguous rows.
const FORMS: &str = "it may be a vertex and its label beside other columns, a vertex and its labels, or the members of \
                     a community: use --labels-form rows, memberships or members (of a truth: --truth-form)";

/// Reads rows chunk by chunk, in parallel. `add` appends a vertex's id and its label, if it has one, to a
/// chunk made by `start`. `take` receives each chunk in the order of the text, with the number of the line
/// before it.
///
/// # Errors
/// The first error of the text.
pub(crate) fn label_rows<T: Send>(
    text: &mut Text<'_>,
    format: Format,
    table: &LabelTable<'_>,
    start: impl Fn() -> T + Sync,
    add: impl Fn(&mut T, u32, &str, Option<&str>) -> Result<(), ReadErrorKind> + Sync,
    mut take: impl FnMut(T, u64) -> Result<(), Fault>,
) -> Result<LabelSummary, Fault> {
    let Some(layout) = layout(text, format, table)? else { return Ok(LabelSummary::default()) };
    if layout.has_header_row {
        text.skip_line();
    }
    let parse = |chunk: Chunk<'_>| {
        let (mut rows, mut without_label, mut with_several, mut missing) = (start(), 0, 0, 0);
        for (line, bytes) in (1..).zip(lines(chunk.bytes)).filter(|(_, bytes)| is_row(bytes)) {
            let add = |id: &str, label: Option<&str>| {
                missing += u64::from(label.is_some_and(is_missing_name));
                add(&mut rows, line, id, label)
            };
            match layout.read(bytes, add) {
                Ok(0) => without_label += 1,
                Ok(1) => {}
                Ok(_) => with_several += 1,
                Err(why) => return Err(LineFault::new(u64::from(line) - 1, why)),
            }
        }
        Ok((rows, [without_label, with_several, missing]))
    };
    let mut counts = [0; 3];
    text.parse_chunks(parse, |(rows, more), _, line| {
        counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
        take(rows, line)
    })?;
    Ok(layout.summary(counts))
}

/// Reads JSON lines as [`label_rows`] reads rows: the keys of the first object name the columns.
///
/// # Errors
/// The first error of the text.
pub(crate) fn json_label_rows<T: Send>(
    text: &mut Text<'_>,
    table: &LabelTable<'_>,
    start: impl Fn() -> T + Sync,
    add: impl Fn(&mut T, u32, &str, Option<&str>) -> Result<(), ReadErrorKind> + Sync,
    mut take: impl FnMut(T, u64) -> Result<(), Fault>,
) -> Result<LabelSummary, Fault> {
    text.skip_lines(|line| !is_row(line))?;
    other_format::check_json_lines(text)?;
    let at = text.line() + 1;
    let Some(first) = text.peek_line()? else { return Ok(LabelSummary::default()) };
    let (keys, mut summary) = keys_of(first, table).map_err(|why| Fault::line(at, why))?;
    let parse = |chunk: Chunk<'_>| {
        let (mut rows, mut without_label, mut missing) = (start(), 0, 0);
        for (line, bytes) in (1..).zip(lines(chunk.bytes)).filter(|(_, bytes)| is_row(bytes)) {
            let fault = |why: ReadErrorKind| LineFault::new(u64::from(line) - 1, why);
            let invalid = |why: String| fault(why.into());
            let (id, label) = keys.labelled(bytes).map_err(invalid)?;
            let (id, label) = (text_of(&id), label.as_deref().map(text_of).transpose());
            let (id, label) = (id.map_err(invalid)?, label.map_err(invalid)?);
            missing += u64::from(label.is_some_and(is_missing_name));
            without_label += u64::from(label.is_none());
            add(&mut rows, line, id, label).map_err(fault)?;
        }
        Ok((rows, [without_label, missing]))
    };
    text.parse_chunks(parse, |(rows, [without_label, missing]), _, line| {
        summary.without_label += without_label;
        summary.missing_names += missing;
        take(rows, line)
    })?;
    Ok(summary)
}

/// Returns the keys of ids and of labels, by the first object.
fn keys_of(first: &[u8], table: &LabelTable<'_>) -> Result<(Keys, LabelSummary), String> {
    if table.form == MembershipForm::Memberships {
        return Err("a line with a vertex and its labels is text: .txt, .tsv or .csv".into());
    }
    let sample = json_lines::sample(&[first])?;
    let names: Vec<String> = (0..).map_while(|at| sample.name(at)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let columns = match (table.columns, Choice::of(&names)) {
        (Some([id, label]), _) => [asked(&names, id)?.0, asked(&names, label)?.0],
        (None, Choice::Known(both) | Choice::Half(both)) => both,
        _ => {
            return Err(format!(
                "expected the keys `id` and `community`, but there are: {}; use --labels-columns (of a truth: \
                 --truth-columns) with two of them",
                listed(&names)
            ));
        }
    };
    let [source, target] = columns.map(|at| names[at].to_owned());
    let summary = LabelSummary {
        names: Some([source.clone(), target.clone()]),
        columns,
        ignored: names.len() - 2,
        ..LabelSummary::default()
    };
    Ok((Keys { source, target, weight: None }, summary))
}

/// Layout of rows.
struct LabelLayout<'a> {
    table: &'a LabelTable<'a>,
    separator: Separator,
    /// Names of all columns, if the first row or a comment above it has them.
    header: Option<Vec<String>>,
    /// Whether the first row has the names.
    has_header_row: bool,
    /// Indices of the columns of ids and of labels.
    columns: [usize; 2],
    shape: Shape,
    /// Number of columns that are not read.
    ignored: usize,
}

/// Fields of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// A vertex and a label.
    Pairs,
    /// A vertex, a label, and a number from 0 to 1.
    Strengths,
    /// Fields of columns, at most as many as have names.
    Columns(usize),
    /// Fields of columns, any number.
    Any,
    /// A vertex, and then labels.
    Memberships,
}

/// Returns the layout of a text, whose first row stays to be read; nothing if there is no row.
fn layout<'a>(
    text: &mut Text<'_>,
    format: Format,
    table: &'a LabelTable<'a>,
) -> Result<Option<LabelLayout<'a>>, Fault> {
    /// Rows beyond this distance from the first are not examined.
    const BYTES: usize = 256 << 10;
    /// A longer comment is no header.
    const COMMENT: usize = 64 << 10;
    let mut comment = None;
    while let Some(line) = text.peek_line()?.filter(|line| !is_row(line)) {
        let line = line.trim_ascii_start();
        if !line.is_empty() {
            comment = (line.len() < COMMENT).then(|| line.to_vec());
        }
        text.skip_line();
    }
    let line = text.line() + 1;
    let Some(length) = text.peek_line()?.map(<[u8]>::len) else { return Ok(None) };
    let ahead = text.look_ahead(length + BYTES);
    let mut rows: Vec<&[u8]> = lines(ahead).filter(|line| is_row(line)).take(MOST_ROWS).collect();
    // A last line without its end may be incomplete.
    if rows.len() > 2 && !ahead.ends_with(b"\n") {
        rows.pop();
    }
    let decided = LabelLayout::of(&rows, format, table, comment.as_deref());
    decided.map(Some).map_err(|why| Fault::line(line, why))
}

impl<'a> LabelLayout<'a> {
    fn of(
        rows: &[&[u8]],
        format: Format,
        table: &'a LabelTable<'a>,
        comment: Option<&[u8]>,
    ) -> Result<LabelLayout<'a>, String> {
        let first = rows.first().copied().unwrap_or_default();
        let tabs = matches!(table.ids, VertexIds::Names(_));
        let separator = separator(format, first, tabs);
        let names = row_of(first, separator)?;
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        let choice = Choice::of(&names);
        let head = |at: usize| is_heading(table.ids, format, names.get(at).unwrap_or(&""));
        let is_vertex = |at: usize| table.ids.find(ExternalId::Name(names[at])).is_some();
        let mut header = match choice {
            Choice::Known([id, _]) | Choice::Half([id, _]) | Choice::Several([id, _]) => {
                !is_vertex(id)
            }
            Choice::Unknown => head(0),
        };
        let mut layout = LabelLayout {
            table,
            separator,
            header: None,
            has_header_row: false,
            columns: [0, 1],
            shape: Shape::Any,
            ignored: names.len().saturating_sub(2),
        };
        if table.form == MembershipForm::Memberships {
            (layout.shape, layout.ignored) = (Shape::Memberships, 0);
        } else if let Some(wanted) = table.columns {
            // Numbers are places, unless a header has them as names: a row may begin with the field `1`.
            let is_headed = header || head(0);
            let place = |wanted: &String| match place_of(wanted, names.len()) {
                Some(at) if !is_headed => Ok((at, false)),
                _ => asked(&names, wanted),
            };
            let [id, label] = [place(&wanted[0])?, place(&wanted[1])?];
            if id.0 == label.0 {
                return Err(
                    "--labels-columns names one column twice: ids and labels are two".into()
                );
            }
            layout.columns = [id.0, label.0];
            header = id.1 || label.1 || header || head(id.0);
        } else if header {
            layout.columns = of_names(choice, &names, rows)?;
        } else if let Some((named, columns)) = in_comment(comment, names.len(), separator) {
            (layout.header, layout.columns) = (Some(named), columns);
            layout.shape = Shape::Columns(names.len());
        } else if table.form == MembershipForm::Auto {
            layout.shape = layout.shape_of(rows, names.len())?;
            // A further field is another label of the vertex.
            if layout.shape == Shape::Pairs {
                layout.ignored = 0;
            }
        }
        layout.has_header_row = header;
        if header {
            layout.header = Some(names.iter().map(|name| (*name).to_owned()).collect());
            if layout.shape == Shape::Any {
                layout.shape = Shape::Columns(names.len());
            }
        }
        Ok(layout)
    }

    /// Returns the shape of rows without a header.
    fn shape_of(&self, rows: &[&[u8]], width: usize) -> Result<Shape, String> {
        let first = rows.first().copied().unwrap_or_default();
        let pairs = LabelLayout { header: None, shape: Shape::Pairs, ..*self };
        if width <= 2 || pairs.several(first).is_some() {
            return Ok(Shape::Pairs);
        }
        let strength = |row: &&[u8]| {
            row_of(row, self.separator)
                .is_ok_and(|fields| fields.len() == 3 && is_share(&fields[2]))
        };
        if rows.iter().all(strength) && !self.may_be_labels(rows) {
            return Ok(Shape::Strengths);
        }
        let first_rows = first_rows(rows);
        let forms = if self.table.has_forms { FORMS } else { "only two are expected" };
        Err(format!(
            "a row has {width} fields, and no header names them; {first_rows}; {forms}, or \
             --labels-columns with two columns, such as --labels-columns 1,2"
        ))
    }

    /// Whether the third fields may be labels or members: some are 0, or some differ from 1, and none has a
    /// fraction.
    fn may_be_labels(&self, rows: &[&[u8]]) -> bool {
        let thirds = || {
            let third = |row: &&[u8]| {
                row_of(row, self.separator).ok()?.get(2).map(|field| field.clone().into_owned())
            };
            rows.iter().filter_map(third)
        };
        let is_whole = |field: &String| field == "0" || field == "1";
        thirds().all(|field| is_whole(&field)) && (rows.len() < 2 || thirds().any(|f| f == "0"))
    }

    /// Calls `add` for each label of a row, or once without if it has none; returns the number of labels.
    fn read(
        &self,
        line: &[u8],
        mut add: impl FnMut(&str, Option<&str>) -> Result<(), ReadErrorKind>,
    ) -> Result<usize, ReadErrorKind> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Some((id, labels)) = self.several(line) {
            let mut count = 0;
            for label in labels.split_ascii_whitespace() {
                add(id, Some(label))?;
                count += 1;
            }
            return Ok(count);
        }
        if self.shape == Shape::Memberships {
            return self.read_memberships(line, add);
        }
        let (mut id, mut label, mut width) = (None, None, 0);
        for (at, field) in fields(line, self.separator).enumerate() {
            let field = field?;
            if !field.is_empty() {
                width = at + 1;
            }
            if at == self.columns[0] {
                id = Some(field);
            } else if at == self.columns[1] {
                label = Some(field);
            } else if at == 2 && self.shape == Shape::Strengths && !is_share_of(&field) {
                return Err(self.too_wide(width).into());
            }
        }
        self.check_width(width)?;
        let missing = |what: &str| format!("{what} is missing: expected a vertex id and a label");
        let id = id.ok_or_else(|| missing("the vertex id"))?;
        let label = label.ok_or_else(|| missing("the label"))?;
        let label = text_of(&label)?;
        add(text_of(&id)?, Some(label).filter(|label| !label.is_empty()))?;
        Ok(usize::from(!label.is_empty()))
    }

    fn read_memberships(
        &self,
        line: &[u8],
        mut add: impl FnMut(&str, Option<&str>) -> Result<(), ReadErrorKind>,
    ) -> Result<usize, ReadErrorKind> {
        let mut fields = fields(line, self.separator);
        let id = fields.next().unwrap_or(Ok(Cow::Borrowed(b"")))?;
        let id = text_of(&id)?;
        let mut count = 0;
        for label in fields {
            let label = label?;
            // A tab before labels, and blanks between them: names may contain blanks if ids are names.
            if !label.is_empty() {
                add(id, Some(text_of(&label)?))?;
                count += 1;
            }
        }
        if count == 0 {
            add(id, None)?;
        }
        Ok(count)
    }

    /// Returns the vertex and the labels of a row that is a vertex, a tab, and several integers with blanks
    /// between them that are not together a name of the graph.
    fn several<'l>(&self, line: &'l [u8]) -> Option<(&'l str, &'l str)> {
        let has_two = matches!(self.shape, Shape::Pairs | Shape::Memberships | Shape::Columns(2));
        if !has_two || matches!(self.separator, Separator::Each(b',' | b';')) {
            return None;
        }
        let tab = memchr(b'\t', line)?;
        let (id, labels) = (line[..tab].trim_ascii(), line[tab + 1..].trim_ascii());
        if labels.contains(&b'\t')
            || self.separator == BLANKS && id.iter().any(|b| b" ,;".contains(b))
        {
            return None;
        }
        let integer = |part: &[u8]| part.iter().all(u8::is_ascii_digit) && !part.is_empty();
        let parts = || labels.split(|byte| *byte == b' ').filter(|part| !part.is_empty());
        if parts().nth(1).is_none() || !parts().all(integer) {
            return None;
        }
        let (id, labels) = (std::str::from_utf8(id).ok()?, std::str::from_utf8(labels).ok()?);
        self.table.ids.find(ExternalId::Name(labels)).is_none().then_some((id, labels))
    }

    /// Rejects a row with more fields than known.
    fn check_width(&self, width: usize) -> Result<(), String> {
        match self.shape {
            Shape::Pairs if width > 2 => Err(self.too_wide(width)),
            Shape::Strengths if width != 3 => Err(self.too_wide(width)),
            Shape::Columns(named) if width > named => Err(format!(
                "the row has {width} fields, but the header names {named} columns: quote fields that hold the \
                 separator"
            )),
            _ => Ok(()),
        }
    }

    fn too_wide(&self, width: usize) -> String {
        let expected =
            if self.shape == Shape::Pairs { "two" } else { "a vertex, a label and a share" };
        match self.table.has_forms {
            true => {
                format!("the row has {width} fields, and those before it have {expected}; {FORMS}")
            }
            false => format!(
                "the row has {width} fields, and those before it have {expected}: use --labels-columns with two \
                 columns, such as --labels-columns 1,2, if only these are meant"
            ),
        }
    }

    fn summary(self, [without_label, with_several, missing_names]: [u64; 3]) -> LabelSummary {
        let LabelLayout { columns, ignored, .. } = self;
        let names = self.header.and_then(|names| {
            let name = |at: usize| names.get(at).cloned();
            Some([name(columns[0])?, name(columns[1])?])
        });
        LabelSummary { names, columns, ignored, without_label, with_several, missing_names }
    }
}

/// Returns the names in a comment above rows of `width` fields, and the columns, if two have known names.
fn in_comment(
    comment: Option<&[u8]>,
    width: usize,
    separator: Separator,
) -> Option<(Vec<String>, [usize; 2])> {
    let comment = comment?.strip_prefix(b"#")?;
    [separator, BLANKS].into_iter().find_map(|separator| {
        let names = row_of(comment, separator).ok().filter(|names| names.len() == width)?;
        match Choice::of(&names.iter().map(AsRef::as_ref).collect::<Vec<&str>>()) {
            Choice::Known(both) => Some((names.into_iter().map(Cow::into_owned).collect(), both)),
            _ => None,
        }
    })
}

/// Returns the columns by the names of a header.
fn of_names(choice: Choice, names: &[&str], rows: &[&[u8]]) -> Result<[usize; 2], String> {
    let mut likely = [0, 1];
    let why = match choice {
        Choice::Known(both) | Choice::Half(both) => return Ok(both),
        Choice::Unknown if names.len() <= 2 => return Ok([0, 1]),
        Choice::Several([a, b]) => {
            likely = Choice::without(names, b).unwrap_or(likely);
            let [a, b] = [a, b].map(|at| crate::shown::shown(names[at]));
            format!("the columns `{a}` and `{b}` may both be meant")
        }
        Choice::Unknown => {
            format!("the columns {} are ambiguous: which have ids and labels", listed(names))
        }
    };
    let (first_rows, [id, label]) = (first_rows(rows), likely.map(|at| at + 1));
    Err(format!(
        "{why}; {first_rows}: use --labels-columns (of a truth: --truth-columns, of seeds: \
         --seeds-columns) with two names or numbers, such as --labels-columns {id},{label}"
    ))
}

/// Returns the fields of a row without empty ones at its end.
fn row_of(line: &[u8], separator: Separator) -> Result<Vec<Cow<'_, str>>, String> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut found = fields(line, separator)
        .map(|field| {
            Ok::<_, String>(match field? {
                Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
                Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    while found.last().is_some_and(|field| field.is_empty()) {
        found.pop();
    }
    Ok(found)
}

/// Formats the first two rows of the file, or the only one.
fn first_rows(rows: &[&[u8]]) -> String {
    let shown = |row: &&[u8]| format!("`{}`", token::show_row(row.trim_ascii()));
    let verb = if rows.len() == 1 { "row is" } else { "rows are" };
    let shown = rows.iter().take(2).map(shown).collect::<Vec<_>>().join(" and ");
    format!("the first {verb} {shown}")
}

/// Whether a field is a number from 0 to 1.
fn is_share(field: &str) -> bool {
    field.parse::<f64>().is_ok_and(|number| (0.0..=1.0).contains(&number))
}

fn is_share_of(field: &[u8]) -> bool {
    std::str::from_utf8(field).is_ok_and(is_share)
}

fn text_of(field: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(field).map_err(|_| format!("`{}` is not UTF-8", token::show(field)))
}
