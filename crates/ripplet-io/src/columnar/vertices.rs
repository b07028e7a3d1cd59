//! Reads rows of vertices from a Parquet or Arrow table.

use super::{Table, Values, floats, id_kind};
use crate::fault::Fault;
use crate::shown::shown;
use crate::vertex_rows::{Asked, Form, FoundColumns, Positions, Value, VertexRow};
use crate::{Format, Place};
use arrow_array::Array;
use bytes::Bytes;

/// Calls `visit` for each row, in order, and returns which columns were read.
pub(crate) fn vertex_rows(
    bytes: Bytes,
    format: Format,
    wanted: &[&[&str]],
    form: Form,
    asked: Asked<'_>,
    mut visit: impl FnMut(VertexRow<'_>) -> Result<(), Fault>,
) -> Result<FoundColumns, Fault> {
    let table = Table::open(bytes, format)?;
    let fields = table.schema().fields();
    let names: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
    if names.is_empty() {
        return Err(Fault::whole("the table has no column"));
    }
    let mut positions = Positions::by_name(&names, wanted);
    if form != Form::Table {
        positions.set_labelled(&names, asked).map_err(Fault::whole)?;
    }
    positions.check_distinct(&names).map_err(Fault::whole)?;
    let mut read: Vec<usize> =
        positions.wanted.iter().copied().flatten().chain([positions.id]).collect();
    read.sort_unstable();
    read.dedup();
    let batches = table.map(&read, |batch, first| Ok((batch, first)))?;
    for (batch, first) in batches {
        let cells = batch.columns().iter().map(|column| Cells::of(column));
        let cells = cells.collect::<Result<Vec<_>, _>>()?;
        let cells_of = |column: usize| &cells[read.partition_point(|&c| c < column)];
        let id = cells_of(positions.id);
        let wanted: Vec<Option<&Cells<'_>>> =
            positions.wanted.iter().map(|at| at.map(cells_of)).collect();
        for row in 0..batch.num_rows() {
            let place = first + row as u64;
            let null = || Fault::row(place, "a null: expected a value");
            let id = match id.get(row) {
                Some(Value::Id(id)) => id,
                _ => return Err(Fault::row(place, "no id: expected an integer or a string")),
            };
            let values = wanted
                .iter()
                .map(|cells| cells.map(|cells| cells.get(row).ok_or_else(null)).transpose());
            let values = values.collect::<Result<Vec<_>, _>>()?;
            visit(VertexRow { place: Place::Row(place), id, values: &values })?;
        }
    }
    let names: Vec<String> = names.into_iter().map(String::from).collect();
    let width = names.len();
    Ok(positions.found(Some(names), width))
}

/// Column of a batch.
enum Cells<'a> {
    /// With the column's nulls.
    Ids(Values<'a>, &'a dyn Array),
    Numbers(Vec<f64>, &'a dyn Array),
}

impl<'a> Cells<'a> {
    fn of(column: &'a dyn Array) -> Result<Cells<'a>, Fault> {
        if id_kind(column.data_type()).is_some() {
            return Ok(Cells::Ids(Values::of(column)?, column));
        }
        floats(column)?.map(|numbers| Cells::Numbers(numbers, column)).ok_or_else(|| {
            let kind = shown(column.data_type());
            Fault::whole(format!("a column is {kind}: expected numbers or strings"))
        })
    }

    fn get(&self, row: usize) -> Option<Value<'_>> {
        match self {
            Cells::Ids(values, column) if column.is_valid(row) => values.get(row).map(Value::Id),
            Cells::Numbers(numbers, column) if column.is_valid(row) => {
                Some(Value::Number(numbers[row]))
            }
            _ => None,
        }
    }
}
