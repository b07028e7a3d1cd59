//! Reads vertex tables: one row per vertex, with its id, and columns by name.
//!
//! `.tsv` and `.csv` (each also compressed) have a header; `.parquet` and `.arrow` name their columns. The id
//! is the column `id` (or `vertex`, `node`, `name`), else the first one. Other columns are skipped.
//!
//! Memory: 4 bytes per vertex and column; for Parquet and Arrow also the decoded columns.
//!
//! Determinism: one thread reads the rows in their order.

use crate::columnar;
use crate::fault::Fault;
use crate::label_table::listed;
use crate::map::map;
use crate::read::{in_memory, open};
use crate::text::{Text, records};
use crate::vertex_rows::{
    Asked, Form, FoundColumns, IDS, Labelled, Positions, Value, ValueKind, VertexRow,
};
use crate::{Format, Place, ReadError, ReadOptions};
use bytes::Bytes;
use ripplet_graph::{ExternalId, OutOfMemory, VertexId, VertexIds, memory};
use std::path::Path;

/// Column of a vertex table: one value per vertex.
#[derive(Clone, Debug, PartialEq)]
pub enum VertexValues {
    /// Integers.
    U32(Vec<u32>),
    /// Numbers.
    F32(Vec<f32>),
}

/// Columns of a vertex table.
#[derive(Clone, Debug, PartialEq)]
pub struct VertexTable {
    /// Values of each requested column; `None` if the table lacks it.
    pub columns: Vec<Option<VertexValues>>,
    /// Number of rows whose ids are no vertices of the graph.
    pub skipped: u64,
}

/// Reads columns of a vertex table; `wanted` are their names and types.
///
/// # Errors
/// If the table cannot be read, a value is missing, null or of another type, or a vertex has two rows or
/// none.
///
/// # Examples
/// See [`parse_vertex_table`].
pub fn read_vertex_table(
    path: &Path,
    options: &ReadOptions,
    ids: &VertexIds,
    wanted: &[(&str, ValueKind)],
) -> Result<VertexTable, ReadError> {
    vertex_table(Source::File(path, options), ids, wanted)
}

/// Parses an uncompressed vertex table in memory, as [`read_vertex_table`] does; errors name the input
/// `(bytes)`.
///
/// # Errors
/// The errors of [`read_vertex_table`].
///
/// # Examples
/// ```
/// use ripplet_graph::VertexIds;
/// use ripplet_io::{Format, ValueKind, VertexValues, parse_vertex_table};
///
/// let ids = VertexIds::Consecutive { first: 1, count: 2 };
/// let wanted = [("chargebacks", ValueKind::U32), ("age", ValueKind::F32)];
/// let table = parse_vertex_table(b"id,chargebacks\n2,3\n1,0\n", Format::Csv, &ids, &wanted)?;
/// assert!(matches!(&table.columns[0], Some(VertexValues::U32(values)) if values[..] == [0, 3]));
/// assert!(table.columns[1].is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parse_vertex_table(
    bytes: &[u8],
    format: Format,
    ids: &VertexIds,
    wanted: &[(&str, ValueKind)],
) -> Result<VertexTable, ReadError> {
    vertex_table(Source::Bytes(bytes, format), ids, wanted)
}

fn vertex_table(
    source: Source<'_>,
    ids: &VertexIds,
    wanted: &[(&str, ValueKind)],
) -> Result<VertexTable, ReadError> {
    let read = || {
        let names: Vec<&[&str]> =
            wanted.iter().map(|(name, _)| std::slice::from_ref(name)).collect();
        let mut columns: Vec<Building> = wanted.iter().map(|_| Building::default()).collect();
        let (mut seen, mut skipped) = (memory::filled(false, ids.len())?, 0);
        let found = vertex_rows(source, ids, &names, Form::Table, |row| {
            let Some(vertex) = ids.find(row.id) else {
                skipped += 1;
                return Ok(());
            };
            if std::mem::replace(&mut seen[vertex as usize], true) {
                return Err(row.fault(format!("vertex {} has a second row", ids.get(vertex))));
            }
            for ((column, (name, kind)), value) in columns.iter_mut().zip(wanted).zip(row.values) {
                if let Some(value) = value {
                    let bits = value.bits(*kind).map_err(|sentence| {
                        row.fault(format!("the column `{name}`: {sentence}"))
                    })?;
                    column.set(vertex, bits, ids.len())?;
                }
            }
            Ok(())
        })?;
        if let Some(missing) = seen.iter().position(|seen| !seen) {
            let count = seen.iter().filter(|seen| !**seen).count();
            let id = ids.get(missing as VertexId);
            let have = if count == 1 { "has" } else { "have" };
            return Err(Fault::whole(format!(
                "{count} of {} vertices {have} no row, the first of them vertex {id}: expected a row \
                 for each",
                ids.len()
            )));
        }
        let columns = columns
            .into_iter()
            .zip(wanted)
            .zip(found.wanted)
            .map(|((column, wanted), found)| found.map(|_| column.finish(wanted.1)));
        Ok(VertexTable { columns: columns.collect(), skipped })
    };
    read().map_err(|fault: Fault| fault.of(source.path()))
}

/// Builder of a column, with values as bits.
#[derive(Default)]
struct Building {
    bits: Vec<u32>,
}

impl Building {
    fn set(&mut self, vertex: VertexId, bits: u32, vertices: usize) -> Result<(), OutOfMemory> {
        if self.bits.is_empty() {
            self.bits = memory::zeros(vertices)?;
        }
        self.bits[vertex as usize] = bits;
        Ok(())
    }

    fn finish(self, kind: ValueKind) -> VertexValues {
        match kind {
            ValueKind::U32 => VertexValues::U32(self.bits),
            ValueKind::F32 => {
                VertexValues::F32(self.bits.into_iter().map(f32::from_bits).collect())
            }
        }
    }
}

/// Location of a table.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    File(&'a Path, &'a ReadOptions),
    Bytes(&'a [u8], Format),
}

impl<'a> Source<'a> {
    /// Returns its name in errors.
    pub(crate) fn path(self) -> &'a Path {
        match self {
            Source::File(path, _) => path,
            Source::Bytes(..) => Path::new("(bytes)"),
        }
    }

    /// Returns the given format, else that of the extension, else lines of fields between blanks.
    pub(crate) fn format(self) -> Format {
        match self {
            Source::File(path, options) => {
                let named = || Format::of_path(path).map(|(format, _)| format);
                options.format.or_else(named).unwrap_or(Format::EdgeList)
            }
            Source::Bytes(_, format) => format,
        }
    }

    /// Returns the requested columns of ids and of labels.
    fn label_columns(self) -> Asked<'a> {
        match self {
            Source::File(_, options) => options.label_columns.as_ref(),
            Source::Bytes(..) => None,
        }
    }

    pub(crate) fn bytes(self) -> Result<Bytes, Fault> {
        match self {
            Source::File(path, _) => Ok(Bytes::from_owner(map(path).map_err(Fault::unnamed)?)),
            Source::Bytes(bytes, _) => Ok(Bytes::copy_from_slice(bytes)),
        }
    }

    pub(crate) fn text(self) -> Result<Text<'a>, Fault> {
        match self {
            Source::File(path, _) => open(path),
            Source::Bytes(bytes, _) => in_memory(bytes),
        }
    }
}

/// Calls `visit` for each row of a table, in order, and returns which columns were read. Each of `wanted` is
/// a column, by any of its names.
pub(crate) fn vertex_rows(
    source: Source<'_>,
    ids: &VertexIds,
    wanted: &[&[&str]],
    form: Form,
    visit: impl FnMut(VertexRow<'_>) -> Result<(), Fault>,
) -> Result<FoundColumns, Fault> {
    let asked = source.label_columns();
    let format = source.format();
    match format {
        Format::Parquet | Format::Arrow => {
            columnar::vertex_rows(source.bytes()?, format, wanted, form, asked, visit)
        }
        Format::Tsv | Format::Csv => {
            let options = TextOptions { format, ids, form, asked };
            source.text()?.read_by(|text| of_text(text, options, wanted, visit))
        }
        Format::EdgeList if form != Form::Table => {
            let options = TextOptions { format, ids, form, asked };
            source.text()?.read_by(|text| of_text(text, options, wanted, visit))
        }
        _ if form != Form::Table => Err(Fault::whole(
            "a table about vertices is .txt, .tsv, .csv (each also .gz or .zst), .parquet or .arrow",
        )),
        _ => Err(Fault::whole(
            "a table with named columns is .tsv or .csv (each also .gz or .zst), .parquet or .arrow",
        )),
    }
}

/// Options of reading a text.
#[derive(Clone, Copy)]
struct TextOptions<'a> {
    format: Format,
    ids: &'a VertexIds,
    form: Form,
    asked: Asked<'a>,
}

impl TextOptions<'_> {
    /// Finds the columns by the first row, and decides whether that row is a header.
    fn first_row(&self, names: &[&str], wanted: &[&[&str]]) -> Result<FirstRow, String> {
        let mut named = Positions::by_name(names, wanted);
        let owned = || names.iter().map(|name| (*name).to_owned()).collect();
        if self.form == Form::Table {
            named.check_distinct(names)?;
            let (names, width) = (Some(owned()), names.len());
            return Ok(FirstRow { positions: named, names, width, may_vary: false });
        }
        let labelled = named.set_labelled(names, self.asked)?;
        let id = names.get(named.id).copied().unwrap_or_default();
        let is_vertex = || self.ids.find(ExternalId::Name(id)).is_some();
        // A row of separators has no field.
        let first = names.first().copied().unwrap_or_default();
        let is_known = |name: &str| IDS.iter().any(|id| name.eq_ignore_ascii_case(id));
        let is_header = match labelled {
            Labelled::ByName => true,
            Labelled::Known => !is_vertex(),
            // Several fields of a list need a header, which may have the ids anywhere.
            Labelled::No if self.form == Form::List && named.id > 0 => !is_vertex(),
            // Several fields of a list are names, as ids stand alone.
            Labelled::No if self.form == Form::List && width_of(names) > 1 => is_known(first),
            Labelled::No | Labelled::ByNumber => {
                if is_known(first) && self.ids.find(ExternalId::Name(first)).is_some() {
                    return Err(name_or_vertex(first));
                }
                is_known(first)
            }
        };
        if is_header {
            named.check_distinct(names)?;
        } else if self.form == Form::List {
            if width_of(names) > 1 {
                return Err(self.several(names));
            }
            named = Positions { id: 0, wanted: vec![None; wanted.len()] };
        } else if labelled != Labelled::ByNumber {
            if width_of(names) > wanted.len() + 1 {
                return Err(unnamed(names));
            }
            let width = width_of(names);
            let wanted = (1..=wanted.len()).map(|at| (at < width).then_some(at));
            named = Positions { id: 0, wanted: wanted.collect() };
        } else {
            named.wanted.iter_mut().skip(1).for_each(|at| *at = None);
        }
        let width = if is_header { names.len() } else { width_of(names) };
        let may_vary = !is_header && labelled == Labelled::ByNumber;
        Ok(FirstRow { positions: named, names: is_header.then(owned), width, may_vary })
    }

    /// Returns the message for a line of a list with several fields.
    fn several(&self, row: &[&str]) -> String {
        let quotes = match self.format {
            Format::EdgeList => "",
            _ => ", or put an id that holds the separator in double quotes",
        };
        format!(
            "the line has {} fields, and a list has an id a line: `{}`; write each id on a line of its own{quotes}; a list with \
             further columns needs their names in the first row, such as `id` and `note`",
            width_of(row),
            listed(row)
        )
    }

    /// Rejects a row that is longer than the first one.
    fn check_width(&self, row: &[&str], first: &FirstRow) -> Result<(), String> {
        let width = width_of(row);
        if width <= first.width || first.may_vary {
            return Ok(());
        }
        if self.form == Form::List && first.width == 1 {
            return Err(self.several(row));
        }
        let what = if first.names.is_some() { "the header" } else { "the first row" };
        let remedy = match self.format {
            Format::EdgeList => {
                "separate fields by tabs if one holds blanks, or use a .csv with that field in double quotes"
            }
            _ => "put a field that holds the separator in double quotes",
        };
        Err(format!(
            "the row has {width} fields, and {what} {}: `{}`; {remedy}",
            first.width,
            listed(row)
        ))
    }
}

/// Returns the number of fields a row has, up to the last that is not empty.
fn width_of(fields: &[&str]) -> usize {
    fields.iter().rposition(|field| !field.is_empty()).map_or(0, |last| last + 1)
}

/// Returns the message for a first row that is a known name of the column of ids, and a vertex.
fn name_or_vertex(first: &str) -> String {
    let others = IDS.iter().filter(|name| !first.eq_ignore_ascii_case(name));
    let others: Vec<String> = others.map(|name| format!("`{name}`")).collect();
    format!(
        "the first row may be the name of the column, or the vertex `{}`: for the vertex, write another row or a header first; for          the name, write {}",
        crate::shown::shown(first),
        others.join(" or ")
    )
}

/// Returns the message for seeds without a header and with too many fields.
fn unnamed(row: &[&str]) -> String {
    format!(
        "the row has {} fields, and no header names them: `{}`; expected an id, a cluster and a strength, or use \
         --seeds-columns with the columns of ids and clusters, such as --seeds-columns 1,2",
        width_of(row),
        listed(row)
    )
}

/// Contents of the first row of a text.
struct FirstRow {
    positions: Positions,
    /// The names of the columns, if it is a header.
    names: Option<Vec<String>>,
    /// Number of fields.
    width: usize,
    /// Whether rows may be longer: only some columns of a table without names were requested.
    may_vary: bool,
}

fn of_text(
    text: &mut Text<'_>,
    options: TextOptions<'_>,
    wanted: &[&[&str]],
    mut visit: impl FnMut(VertexRow<'_>) -> Result<(), Fault>,
) -> Result<FoundColumns, Fault> {
    let mut first: Option<FirstRow> = None;
    let TextOptions { format, ids, form, .. } = options;
    records(text, format, form, ids, |line, fields| {
        let names: Vec<&str> = fields.iter().map(AsRef::as_ref).collect();
        let fault = |why| Fault::line(line, why);
        let first = match &mut first {
            Some(first) => first,
            None => {
                let first = first.insert(options.first_row(&names, wanted).map_err(fault)?);
                if first.names.is_some() {
                    return Ok(());
                }
                first
            }
        };
        options.check_width(&names, first).map_err(fault)?;
        let positions = &first.positions;
        let field = |at: usize| match names.get(at) {
            Some(&"") => Err(Fault::line(line, format!("field {} is empty", at + 1))),
            Some(&text) => Ok(ExternalId::Name(text)),
            None => Err(Fault::line(line, format!("field {} is missing", at + 1))),
        };
        let id = field(positions.id)?;
        let values =
            positions.wanted.iter().map(|at| Ok(at.map(field).transpose()?.map(Value::Id)));
        let values = values.collect::<Result<Vec<_>, Fault>>()?;
        visit(VertexRow { place: Place::Line(line), id, values: &values })
    })?;
    let none = || FoundColumns { wanted: vec![None; wanted.len()], ..FoundColumns::default() };
    Ok(first.map_or_else(none, |first| first.positions.found(first.names, first.width)))
}
