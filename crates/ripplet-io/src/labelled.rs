//! Rows of a vertex and its label, of any table: what labels and memberships have in common.
//!
//! In text the first two fields of a line count, and a heading is passed over; in a Parquet or Arrow table the columns
//! `id` and `community` (or `label`), or its only two.
//!
//! Determinism: blocks are taken in the order of the file, so nothing depends on the number of threads, the first
//! error included.

use crate::columnar::{Table, Values};
use crate::text::{Fault, pairs};
use crate::vertex_table::Source;
use crate::{Format, Place, ReadErrorKind};
use arrow_array::RecordBatch;
use arrow_schema::Schema;
use ripplet_graph::{ExternalId, VertexIds};

/// Reads the rows in blocks, in parallel: `add` puts a vertex's id and its label into what `start` makes, with their
/// place in the block, and `take` gets the blocks in the order of the file, with what tells the place of a row in it.
///
/// # Errors
/// The first of the file; `what` is read, in the words of the error for a format that has no such rows.
pub(crate) fn labelled_rows<T: Send>(
    source: Source<'_>,
    ids: &VertexIds,
    what: &str,
    start: impl Fn() -> T + Sync,
    add: impl Fn(&mut T, [ExternalId<'_>; 2], u32) -> Result<(), ReadErrorKind> + Sync,
    mut take: impl FnMut(T, &dyn Fn(u32) -> Place) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let format = source.format();
    match format {
        Format::EdgeList | Format::Tsv | Format::Csv => {
            let tabs = matches!(ids, VertexIds::Names(_));
            let row = |block: &mut T, line: u32, id: &str, label: &str| {
                add(block, [ExternalId::Name(id), ExternalId::Name(label)], line)
            };
            let heading = |field: &str| is_heading(ids, format, field);
            pairs(&mut source.text()?, format, tabs, heading, start, row, |block, line| {
                take(block, &|place| Place::Line(line + u64::from(place)))
            })
        }
        Format::Parquet | Format::Arrow => {
            let table = Table::open(source.bytes()?, format)?;
            let [id, label] = columns(table.schema()).map_err(Fault::whole)?;
            // The columns arrive in the order of the file.
            let (both, at) = match id < label {
                true => ([id, label], [0, 1]),
                false => ([label, id], [1, 0]),
            };
            let blocks = table.map(&both, |batch, first| {
                let mut block = start();
                rows_of_batch(&batch, at, first, |row, place| add(&mut block, row, place))?;
                Ok((block, first))
            })?;
            let mut blocks = blocks.into_iter();
            blocks.try_for_each(|(block, first)| {
                take(block, &|place| Place::Row(first + u64::from(place)))
            })
        }
        _ => {
            let formats = ".txt, .tsv, .csv, .parquet or .arrow";
            Err(Fault::whole(format!("{what} are read from {formats}")))
        }
    }
}

/// Calls `add` for each row of a batch whose first row is number `first` of the table.
fn rows_of_batch(
    batch: &RecordBatch,
    [id, label]: [usize; 2],
    first: u64,
    mut add: impl FnMut([ExternalId<'_>; 2], u32) -> Result<(), ReadErrorKind>,
) -> Result<(), Fault> {
    let columns = [id, label].map(|at| batch.column(at).as_ref());
    let null = columns.iter().filter_map(|column| crate::columnar::first_null(*column)).min();
    let rows = null.unwrap_or(batch.num_rows());
    let [vertices, labels] = columns.map(Values::of);
    let (vertices, labels) = (vertices?, labels?);
    for row in 0..rows {
        let fault = |why: ReadErrorKind| Fault::row(first + row as u64, why);
        let (Some(id), Some(label)) = (vertices.get(row), labels.get(row)) else {
            return Err(fault("a value that its dictionary lacks".into()));
        };
        add([id, label], row as u32).map_err(fault)?;
    }
    match null {
        Some(row) => Err(Fault::row(first + row as u64, "a null: expected an id and a label")),
        None => Ok(()),
    }
}

/// The vertex of an id.
///
/// # Errors
/// An id that is no vertex, as a sentence.
pub(crate) fn vertex(ids: &VertexIds, id: ExternalId<'_>) -> Result<u32, String> {
    ids.find(id).ok_or_else(|| format!("`{}` is no vertex of the graph", shown(id)))
}

/// Whether a first field is a column's name: no vertex, and either a usual name or, in a table, no
/// integer where ids are integers.
pub(crate) fn is_heading(ids: &VertexIds, format: Format, field: &str) -> bool {
    const USUAL: [&str; 6] = ["id", "vertex", "node", "vertex_id", "node_id", "name"];
    let integers = !matches!(ids, VertexIds::Names(_));
    let letters = integers && format != Format::EdgeList && field.parse::<i128>().is_err();
    ids.find(ExternalId::Name(field)).is_none()
        && (letters || USUAL.iter().any(|usual| field.eq_ignore_ascii_case(usual)))
}

/// The columns with ids and with labels.
fn columns(schema: &Schema) -> Result<[usize; 2], String> {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let find = |name: &str| names.iter().position(|&known| known == name);
    let found = match (find("id"), find("community").or(find("label")), names.len()) {
        (Some(id), Some(label), _) => [id, label],
        (_, _, 2) => [0, 1],
        _ => {
            let names = crate::columnar::column_names(schema);
            return Err(format!("expected columns `id` and `community`, but there are: {names}"));
        }
    };
    for column in found {
        let field = schema.field(column);
        if crate::columnar::id_kind(field.data_type()).is_none() {
            let kind = crate::columnar::shown(field.data_type());
            let name = crate::columnar::shown(field.name());
            return Err(format!("the column `{name}` is {kind}: expected integers or strings"));
        }
    }
    Ok(found)
}

/// An id, or another field, for a message, which must not be as long as the file.
pub(crate) fn shown(id: ExternalId<'_>) -> String {
    let text = id.to_string();
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", text[..end].escape_debug()),
        None => text.escape_debug().to_string(),
    }
}
