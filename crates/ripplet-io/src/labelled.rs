//! Rows of a vertex and its label, from any table: the common part of labels and memberships.
//!
//! The columns are chosen by known names (see `label_columns.rs`) in a header, in the columns of a Parquet or
//! Arrow table, or in the keys of JSON lines; without names, they are the first two fields of a line. Rows
//! whose label is empty or null have none.
//!
//! Determinism: blocks are processed in the order of the file, so the result and the first error do not
//! depend on the number of threads.

use crate::columnar::{Table, Values, first_null, floats};
use crate::label_columns::{Choice, LabelSummary, asked};
use crate::memberships::MembershipForm;
use crate::text::{Fault, json_label_rows, label_rows};
use crate::vertex_table::Source;
use crate::{Format, Place, ReadErrorKind};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};
use ripplet_graph::{ExternalId, VertexIds};

/// Expected contents of a table of labels.
#[derive(Clone, Copy)]
pub(crate) struct LabelTable<'a> {
    /// The vertices of the graph.
    pub(crate) ids: &'a VertexIds,
    /// Meaning of a line: a row, memberships, or detected.
    pub(crate) form: MembershipForm,
    /// Requested columns of ids and of labels, by name or by number from 1.
    pub(crate) columns: Option<&'a [String; 2]>,
    /// Whether the caller has an option for the form.
    pub(crate) has_forms: bool,
    /// Description of the contents for an error.
    pub(crate) what: &'a str,
}

/// Reads the rows in blocks, in parallel. `add` appends a vertex's id and its label, if it has one, to a
/// block made by `start`, with the row's position in the block. `take` receives the blocks in the order of
/// the file, with a function from a row's position in its block to its position in the file.
///
/// # Errors
/// The first error in the file.
pub(crate) fn labelled_rows<T: Send>(
    source: Source<'_>,
    table: &LabelTable<'_>,
    start: impl Fn() -> T + Sync,
    add: impl Fn(&mut T, ExternalId<'_>, Option<ExternalId<'_>>, u32) -> Result<(), ReadErrorKind>
    + Sync,
    mut take: impl FnMut(T, &dyn Fn(u32) -> Place) -> Result<(), Fault>,
) -> Result<LabelSummary, Fault> {
    let row = |block: &mut T, line: u32, id: &str, label: Option<&str>| {
        add(block, ExternalId::Name(id), label.map(ExternalId::Name), line)
    };
    match source.format() {
        format @ (Format::EdgeList | Format::Tsv | Format::Csv) => {
            let take = |block, before| take(block, &|line| line_at(before, line));
            label_rows(&mut source.text()?, format, table, start, row, take)
        }
        Format::JsonLines => {
            let take = |block, before| take(block, &|line| line_at(before, line));
            json_label_rows(&mut source.text()?, table, start, row, take)
        }
        format @ (Format::Parquet | Format::Arrow) => {
            of_columns(&Table::open(source.bytes()?, format)?, table, start, add, take)
        }
        format => Err(Fault::whole(unfit(format, table.what))),
    }
}

/// Returns the position of a line that counts from the one after `before`.
fn line_at(before: u64, line: u32) -> Place {
    Place::Line(before + u64::from(line))
}

/// Returns the message for a format without rows about vertices.
fn unfit(format: Format, what: &str) -> String {
    let formats = ".txt, .tsv, .csv, .jsonl, .parquet or .arrow";
    match format.is_exchange() {
        true => format!(
            "{what} are read from {formats}, and this is a graph: write its communities as such a table, as `ripplet \
             communities -o communities.tsv` does"
        ),
        false => format!("{what} are read from {formats}"),
    }
}

/// Reads the rows of a table with typed columns.
fn of_columns<T: Send>(
    table: &Table,
    expected: &LabelTable<'_>,
    start: impl Fn() -> T + Sync,
    add: impl Fn(&mut T, ExternalId<'_>, Option<ExternalId<'_>>, u32) -> Result<(), ReadErrorKind>
    + Sync,
    mut take: impl FnMut(T, &dyn Fn(u32) -> Place) -> Result<(), Fault>,
) -> Result<LabelSummary, Fault> {
    let columns = columns(table.schema(), expected).map_err(Fault::whole)?;
    let [id, label] = columns;
    // Projected columns arrive in the order of the file.
    let (both, at) = match id < label {
        true => ([id, label], [0, 1]),
        false => ([label, id], [1, 0]),
    };
    let blocks = table.map(&both, |batch, first| {
        let mut block = start();
        let without =
            rows_of_batch(&batch, at, first, |id, label, place| add(&mut block, id, label, place))?;
        Ok((block, first, without))
    })?;
    let mut without_label = 0;
    for (block, first, without) in blocks {
        without_label += without;
        take(block, &|place| Place::Row(first + u64::from(place)))?;
    }
    let fields = table.schema().fields();
    let names = Some(columns.map(|at| fields[at].name().clone()));
    let ignored = fields.len() - 2;
    Ok(LabelSummary { names, columns, ignored, without_label, with_several: 0 })
}

/// Calls `add` for each row of a batch whose first row has number `first` in the table; returns the number of
/// rows without a label.
fn rows_of_batch(
    batch: &RecordBatch,
    [id, label]: [usize; 2],
    first: u64,
    mut add: impl FnMut(ExternalId<'_>, Option<ExternalId<'_>>, u32) -> Result<(), ReadErrorKind>,
) -> Result<u64, Fault> {
    let null = first_null(batch.column(id).as_ref());
    let vertices = Values::of(batch.column(id).as_ref())?;
    let labels = Labels::of(batch.column(label).as_ref())?;
    let mut without = 0;
    for row in 0..null.unwrap_or(batch.num_rows()) {
        let fault = |why: ReadErrorKind| Fault::row(first + row as u64, why);
        let Some(id) = vertices.get(row) else {
            return Err(fault("a value that its dictionary lacks".into()));
        };
        let label = labels.get(row).map_err(|why| fault(why.into()))?;
        without += u64::from(label.is_none());
        add(id, label, row as u32).map_err(fault)?;
    }
    match null {
        Some(row) => Err(Fault::row(first + row as u64, "a null: expected an id")),
        None => Ok(without),
    }
}

/// Column of labels; null means none.
struct Labels<'a> {
    values: LabelValues<'a>,
    nulls: Option<arrow_buffer::NullBuffer>,
}

enum LabelValues<'a> {
    Ids(Values<'a>),
    /// Integers that pandas stores as floats, because some are missing.
    Floats(Vec<f64>),
}

impl<'a> Labels<'a> {
    fn of(column: &'a dyn Array) -> Result<Labels<'a>, Fault> {
        let values = match floats(column)? {
            Some(floats) => LabelValues::Floats(floats),
            None => LabelValues::Ids(Values::of(column)?),
        };
        Ok(Labels { values, nulls: column.logical_nulls() })
    }

    fn get(&self, row: usize) -> Result<Option<ExternalId<'_>>, String> {
        /// Above, not every integer is an `f64`.
        const EXACT: f64 = (1u64 << 53) as f64;
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return Ok(None);
        }
        match &self.values {
            LabelValues::Ids(values) => match values.get(row) {
                None => Err("a value that its dictionary lacks".into()),
                Some(label) => Ok(Some(label).filter(|label| *label != ExternalId::Name(""))),
            },
            LabelValues::Floats(numbers) => match numbers[row] {
                number if number.is_nan() => Ok(None),
                number if number.fract() == 0.0 && number.abs() <= EXACT => {
                    Ok(Some(ExternalId::Signed(number as i64)))
                }
                number => Err(format!(
                    "the label {} is no whole number: expected an integer or a string",
                    crate::columnar::shown_number(number)
                )),
            },
        }
    }
}

/// Returns the vertex of an id.
///
/// # Errors
/// If the id is no vertex, as a sentence.
pub(crate) fn vertex(ids: &VertexIds, id: ExternalId<'_>) -> Result<u32, String> {
    ids.find(id).ok_or_else(|| {
        format!(
            "`{}` is no vertex of the graph: give the graph of the run, with the --columns and --ids of the run; \
             --labels-columns (of a truth: --truth-columns) says which column has the ids",
            shown(id)
        )
    })
}

/// Whether a first field is a column's name: no vertex, and either a common name or, in a table with integer
/// ids, no integer.
pub(crate) fn is_heading(ids: &VertexIds, format: Format, field: &str) -> bool {
    const USUAL: [&str; 6] = ["id", "vertex", "node", "vertex_id", "node_id", "name"];
    let integers = !matches!(ids, VertexIds::Names(_));
    let letters = integers && format != Format::EdgeList && field.parse::<i128>().is_err();
    ids.find(ExternalId::Name(field)).is_none()
        && (letters || USUAL.iter().any(|usual| field.eq_ignore_ascii_case(usual)))
}

/// Finds the columns of ids and of labels.
fn columns(schema: &Schema, expected: &LabelTable<'_>) -> Result<[usize; 2], String> {
    if expected.form == MembershipForm::Memberships {
        return Err("a line with a vertex and its labels is text: .txt, .tsv or .csv".into());
    }
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let found = match (expected.columns, Choice::of(&names)) {
        (Some([id, label]), _) => [asked(&names, id)?.0, asked(&names, label)?.0],
        (None, Choice::Known(both) | Choice::Half(both)) => both,
        (None, Choice::Unknown) if names.len() == 2 => [0, 1],
        (None, _) => {
            let names = crate::columnar::column_names(schema);
            return Err(format!(
                "expected columns `id` and `community`, but there are: {names}; use --labels-columns (of a truth: \
                 --truth-columns) with two of them"
            ));
        }
    };
    if found[0] == found[1] {
        return Err("--labels-columns names one column twice: ids and labels are two".into());
    }
    for (column, is_label) in found.into_iter().zip([false, true]) {
        let field = schema.field(column);
        let is_float =
            matches!(field.data_type(), DataType::Float16 | DataType::Float32 | DataType::Float64);
        if crate::columnar::id_kind(field.data_type()).is_none() && !(is_label && is_float) {
            let kind = crate::columnar::shown(field.data_type());
            let name = crate::columnar::shown(field.name());
            return Err(format!("the column `{name}` is {kind}: expected integers or strings"));
        }
    }
    Ok(found)
}

/// Formats an id or another field for a message, shortened.
pub(crate) fn shown(id: ExternalId<'_>) -> String {
    let text = id.to_string();
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", text[..end].escape_debug()),
        None => text.escape_debug().to_string(),
    }
}
