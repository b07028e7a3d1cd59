//! Writes vertex tables: one row per vertex, with its id and columns.

use super::table::{ColumnData, Part, Subject, TableShape, TableWriter, Values};
use super::{Target, listing_format, refused, table_format};
use crate::{Compression, Format, WriteError};
use ripplet_graph::VertexIds;
use std::io;
use std::path::Path;

/// A column of a vertex table.
#[derive(Clone, Copy, Debug)]
pub struct VertexColumn<'a> {
    /// Name; with several values per vertex, suffixes `_0`, `_1`, … are added.
    pub name: &'a str,
    /// Values a vertex, at least 1.
    pub len: usize,
    /// `len` values for each vertex, vertex by vertex.
    pub values: ColumnData<'a>,
}

/// Writes a table with one row per vertex atomically.
///
/// The extension selects the format: `.tsv` or `.csv` with a header, or `.jsonl` (each also `.gz` or `.zst`),
/// `.parquet` or `.arrow`. The first column is `id`, followed by the given ones of type `UInt32`, `UInt64`,
/// `Float32` or `Float64`. A number is the shortest decimal with the same value.
///
/// # Errors
/// If the extension is unknown, the format cannot hold an id, a column has not `len` values per vertex, or the
/// operating system refuses; no partial file remains.
///
/// # Examples
/// ```
/// use ripplet_graph::VertexIds;
/// use ripplet_io::write::{ColumnData, VertexColumn, write_vertex_table};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("degrees.csv");
/// let ids = VertexIds::Consecutive { first: 0, count: 2 };
/// let column = VertexColumn { name: "degree", len: 1, values: ColumnData::U32(&[3, 1]) };
/// write_vertex_table(&path, &ids, &[column])?;
/// assert_eq!(std::fs::read_to_string(path)?, "id,degree\n0,3\n1,1\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_vertex_table(
    path: &Path,
    ids: &VertexIds,
    columns: &[VertexColumn<'_>],
) -> Result<(), WriteError> {
    write_in(
        format_for(path, ids, OF_VERTICES),
        path,
        ids,
        columns,
        Part::Vertices(Subject::Graph(ids)),
    )
}

/// Writes a table with one row per community atomically, as [`write_vertex_table`] does. The first column is
/// `community`, with the ids in `names`.
///
/// # Errors
/// See [`write_vertex_table`].
pub fn write_community_table(
    path: &Path,
    names: &VertexIds,
    columns: &[VertexColumn<'_>],
) -> Result<(), WriteError> {
    let part = Part::Groups(Subject::Graph(names));
    write_in(format_for(path, names, OF_COMMUNITIES), path, names, columns, part)
}

/// Writes a table of things with consecutive numbers atomically, as [`write_vertex_table`] does. The first
/// column has the given name, and the numbers from `first` on.
///
/// # Errors
/// See [`write_vertex_table`]; also if there are more than 2³² rows.
pub fn write_numbered_table(
    path: &Path,
    name: &'static str,
    first: u32,
    columns: &[VertexColumn<'_>],
) -> Result<(), WriteError> {
    let rows = columns.first().map_or(0, |column| column.values.len() / column.len.max(1));
    let numbers =
        u32::try_from(rows).map(|count| VertexIds::Consecutive { first: first.into(), count });
    let numbers = numbers.map_err(|_| WriteError {
        path: path.into(),
        source: refused("a table has at most 2³² − 1 rows"),
    })?;
    let part = Part::Numbered(name, Subject::Graph(&numbers));
    write_in(format_for(path, &numbers, "a table"), path, &numbers, columns, part)
}

/// Writes values of vertices atomically, as [`write_vertex_table`] does. In addition, `.txt` (also `.gz` or
/// `.zst`) is `id value …` a line, and `-` is standard output as `.txt`.
///
/// # Errors
/// See [`write_vertex_table`].
pub fn write_values<'a>(
    target: impl Into<Target<'a>>,
    ids: &VertexIds,
    columns: &[VertexColumn<'_>],
) -> Result<(), WriteError> {
    let part = Part::Vertices(Subject::Graph(ids));
    let target = target.into();
    write_in(listing_format(target, ids, VALUES), target.path(), ids, columns, part)
}

/// Checks the arguments before there are values: that the extension is known, and that the
/// format can hold the ids.
///
/// # Errors
/// See [`write_values`].
pub fn check_values<'a>(target: impl Into<Target<'a>>, ids: &VertexIds) -> Result<(), WriteError> {
    let target = target.into();
    let checked = listing_format(target, ids, VALUES);
    checked.map(|_| ()).map_err(|source| target.error(source))
}

/// Description of values in messages on formats.
const VALUES: &str = "values of vertices";

fn write_in(
    format: io::Result<(Format, Compression)>,
    path: &Path,
    ids: &VertexIds,
    columns: &[VertexColumn<'_>],
    part: Part<'_>,
) -> Result<(), WriteError> {
    let refuse = |source| WriteError { path: path.into(), source };
    let format = format.map_err(refuse)?;
    if let Some(wrong) = columns.iter().find(|column| !column.fits(ids.len())) {
        let (name, values, vertices) = (wrong.name, wrong.values.len(), ids.len());
        let sentence = format!("the column `{name}` has {values} values for {vertices} vertices");
        return Err(refuse(refused(sentence)));
    }
    let (names, values): (Vec<String>, Vec<Values<'_>>) =
        columns.iter().flat_map(|column| column.parts()).unzip();
    let kinds = values.iter().map(|values| values.data.kind());
    let columns: Vec<_> = names.iter().map(String::as_str).zip(kinds).collect();
    let shape = TableShape { rows: part.rows(), of_batch: false, columns: &columns };
    let mut table = TableWriter::create_as(format, path, shape)?;
    table.append_values(part, &values)?;
    table.finish()
}

/// Checks the arguments before there are values: that the extension is known, and that the
/// format can hold the ids.
///
/// # Errors
/// See [`write_vertex_table`].
pub fn check_vertex_table(path: &Path, ids: &VertexIds) -> Result<(), WriteError> {
    checked(path, format_for(path, ids, OF_VERTICES))
}

/// Checks the arguments of [`write_community_table`] before there are values, as [`check_vertex_table`] does.
///
/// # Errors
/// See [`write_community_table`].
pub fn check_community_table(path: &Path, names: &VertexIds) -> Result<(), WriteError> {
    checked(path, format_for(path, names, OF_COMMUNITIES))
}

/// Returns the error of a format with the path.
fn checked(path: &Path, format: io::Result<(Format, Compression)>) -> Result<(), WriteError> {
    format.map(drop).map_err(|source| WriteError { path: path.into(), source })
}

impl<'a> VertexColumn<'a> {
    fn fits(&self, vertices: usize) -> bool {
        self.len > 0 && vertices.checked_mul(self.len) == Some(self.values.len())
    }

    /// Iterates over one column per value, with its name.
    fn parts(self) -> impl Iterator<Item = (String, Values<'a>)> {
        let name = move |at: usize| match self.len {
            1 => self.name.to_owned(),
            _ => format!("{}_{at}", self.name),
        };
        let values = move |at| Values { data: self.values, len: self.len, at };
        (0..self.len).map(move |at| (name(at), values(at)))
    }
}

/// Descriptions of tables in messages on formats.
const OF_VERTICES: &str = "a table about vertices";
const OF_COMMUNITIES: &str = "a table about communities";

/// Returns the format of a table, which messages call `what`.
fn format_for(path: &Path, ids: &VertexIds, what: &str) -> io::Result<(Format, Compression)> {
    let otherwise = format!(
        "{what} is written as .tsv, .csv or .jsonl (each also .gz or .zst), .parquet or .arrow: choose such a name"
    );
    let is_meant = |format: Format| format.is_listing() && format != Format::EdgeList;
    table_format(path, Format::of_path(path), ids, is_meant, &otherwise)
}
