//! Reads rows of a vertex and its label from a Parquet or Arrow table.

use super::{Table, Values, column_names, first_null, floats, id_kind};
use crate::fault::Fault;
use crate::label_table::LabelTable;
use crate::label_table::MembershipForm;
use crate::label_table::{Choice, LabelSummary, asked};
use crate::missing::is_missing_name;
use crate::shown::{shown, shown_number};
use crate::{Format, Place, ReadErrorKind};
use arrow_array::{Array, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Schema};
use bytes::Bytes;
use ripplet_graph::ExternalId;

/// Reads the rows of a table with typed columns.
pub(crate) fn label_rows<T: Send>(
    bytes: Bytes,
    format: Format,
    expected: &LabelTable<'_>,
    start: impl Fn() -> T + Sync,
    add: impl Fn(&mut T, ExternalId<'_>, Option<ExternalId<'_>>, u32) -> Result<(), ReadErrorKind>
    + Sync,
    mut take: impl FnMut(T, &dyn Fn(u32) -> Place) -> Result<(), Fault>,
) -> Result<LabelSummary, Fault> {
    let table = Table::open(bytes, format)?;
    let columns = columns(table.schema(), expected).map_err(Fault::whole)?;
    let [id, label] = columns;
    // Projected columns arrive in the order of the file.
    let (both, at) = match id < label {
        true => ([id, label], [0, 1]),
        false => ([label, id], [1, 0]),
    };
    let blocks = table.map(&both, |batch, first| {
        let mut block = start();
        let mut missing = 0;
        let without = rows_of_batch(&batch, at, first, |id, label, place| {
            let is_missing =
                |label| matches!(label, ExternalId::Name(name) if is_missing_name(name));
            missing += u64::from(label.is_some_and(is_missing));
            add(&mut block, id, label, place)
        })?;
        Ok((block, first, [without, missing]))
    })?;
    let (mut without_label, mut missing_names) = (0, 0);
    for (block, first, [without, missing]) in blocks {
        without_label += without;
        missing_names += missing;
        take(block, &|place| Place::Row(first + u64::from(place)))?;
    }
    let fields = table.schema().fields();
    let names = Some(columns.map(|at| fields[at].name().clone()));
    let ignored = fields.len() - 2;
    Ok(LabelSummary { names, columns, ignored, without_label, with_several: 0, missing_names })
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
    nulls: Option<NullBuffer>,
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
                    shown_number(number)
                )),
            },
        }
    }
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
            let names = column_names(schema);
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
        if id_kind(field.data_type()).is_none() && !(is_label && is_float) {
            let kind = shown(field.data_type());
            let name = shown(field.name());
            return Err(format!("the column `{name}` is {kind}: expected integers or strings"));
        }
    }
    Ok(found)
}
