//! Tables about vertices out: a row for each, its id, and columns.

use super::text::{Fields, push_integer, push_shortest, write_text};
use super::{columnar, listing_format, refused, table_format, whole_file};
use crate::{Compression, Format, WriteError};
use arrow_array::ArrayRef;
use ripplet_graph::VertexIds;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

/// A column of a vertex table.
#[derive(Clone, Copy, Debug)]
pub struct VertexColumn<'a> {
    /// Its name; where there are several values a vertex, `_0`, `_1`, … are added to it.
    pub name: &'a str,
    /// Values a vertex, at least 1.
    pub len: usize,
    /// `len` values for each vertex, one vertex behind the other.
    pub values: ColumnData<'a>,
}

/// The values of a column.
#[derive(Clone, Copy, Debug)]
pub enum ColumnData<'a> {
    /// Whole numbers.
    U32(&'a [u32]),
    /// Whole numbers that may be large.
    U64(&'a [u64]),
    /// Numbers.
    F32(&'a [f32]),
    /// Numbers of double precision.
    F64(&'a [f64]),
}

/// Rows in a block.
const ROWS: usize = 1 << 15;

/// Writes a table with a row a vertex, whole or not at all.
///
/// The name tells the format: `.tsv` or `.csv` (each also `.gz` or `.zst`) with a header,
/// `.parquet` or `.arrow`. The first column is `id`; then come those given, `UInt32`, `UInt64`, `Float32`
/// or `Float64`. A number is the shortest decimal that reads back as the same.
///
/// # Errors
/// Where the name tells no such format, the format cannot hold an id, a column has not `len` values
/// a vertex, or the operating system refuses; nothing is left behind.
pub fn write_vertex_table(
    path: &Path,
    ids: &VertexIds,
    columns: &[VertexColumn<'_>],
) -> Result<(), WriteError> {
    write_in(format_for(path, ids), path, ids, columns)
}

/// Writes values of vertices, whole or not at all: as [`write_vertex_table`], but for `.txt` (also
/// `.gz` or `.zst`), which is `id value …` a line, and `-`, which is standard output as `.txt`.
///
/// # Errors
/// As [`write_vertex_table`].
pub fn write_values(
    path: &Path,
    ids: &VertexIds,
    columns: &[VertexColumn<'_>],
) -> Result<(), WriteError> {
    write_in(listing_format(path, ids, VALUES), path, ids, columns)
}

/// Checks what can be checked before there are values: that the name tells a format, and that the
/// format can hold the ids.
///
/// # Errors
/// As [`write_values`].
pub fn check_values(path: &Path, ids: &VertexIds) -> Result<(), WriteError> {
    let checked = listing_format(path, ids, VALUES);
    checked.map(|_| ()).map_err(|source| WriteError { path: path.into(), source })
}

/// What the formats of values are introduced with.
const VALUES: &str = "values of vertices";

fn write_in(
    format: io::Result<(Format, Compression)>,
    path: &Path,
    ids: &VertexIds,
    columns: &[VertexColumn<'_>],
) -> Result<(), WriteError> {
    let refuse = |source| WriteError { path: path.into(), source };
    let (format, compression) = format.map_err(refuse)?;
    if let Some(wrong) = columns.iter().find(|column| !column.fits(ids.len())) {
        let (name, values, vertices) = (wrong.name, wrong.values.len(), ids.len());
        let sentence = format!("the column `{name}` has {values} values for {vertices} vertices");
        return Err(refuse(refused(sentence)));
    }
    let parts: Vec<Part<'_>> = columns.iter().flat_map(|column| column.parts()).collect();
    whole_file(path, |out| write_to(out, format, compression, ids, &parts))
}

/// Checks what can be checked before there are values: that the name tells a format, and that the
/// format can hold the ids.
///
/// # Errors
/// As [`write_vertex_table`].
pub fn check_vertex_table(path: &Path, ids: &VertexIds) -> Result<(), WriteError> {
    let checked = format_for(path, ids);
    checked.map(|_| ()).map_err(|source| WriteError { path: path.into(), source })
}

impl ColumnData<'_> {
    fn len(self) -> usize {
        match self {
            ColumnData::U32(values) => values.len(),
            ColumnData::U64(values) => values.len(),
            ColumnData::F32(values) => values.len(),
            ColumnData::F64(values) => values.len(),
        }
    }
}

/// One value a vertex of a column.
struct Part<'a> {
    name: String,
    column: VertexColumn<'a>,
    at: usize,
}

impl<'a> VertexColumn<'a> {
    fn fits(&self, vertices: usize) -> bool {
        self.len > 0 && vertices.checked_mul(self.len) == Some(self.values.len())
    }

    fn parts(self) -> impl Iterator<Item = Part<'a>> {
        let name = move |at: usize| match self.len {
            1 => self.name.to_owned(),
            _ => format!("{}_{at}", self.name),
        };
        (0..self.len).map(move |at| Part { name: name(at), column: self, at })
    }
}

impl Part<'_> {
    fn index(&self, row: usize) -> usize {
        row * self.column.len + self.at
    }

    fn push(&self, text: &mut Vec<u8>, row: usize) {
        match self.column.values {
            ColumnData::U32(values) => push_integer(text, values[self.index(row)]),
            ColumnData::U64(values) => push_integer(text, values[self.index(row)]),
            ColumnData::F32(values) => push_shortest(text, values[self.index(row)]),
            ColumnData::F64(values) => push_shortest(text, values[self.index(row)]),
        }
    }

    fn kind(&self) -> columnar::Type {
        match self.column.values {
            ColumnData::U32(_) => columnar::Type::Number,
            ColumnData::U64(_) => columnar::Type::Count,
            ColumnData::F32(_) => columnar::Type::Strength,
            ColumnData::F64(_) => columnar::Type::Value,
        }
    }

    fn array(&self, rows: Range<usize>) -> ArrayRef {
        let rows = rows.map(|row| self.index(row));
        match self.column.values {
            ColumnData::U32(values) => {
                columnar::numbers(&rows.map(|at| values[at]).collect::<Vec<_>>())
            }
            ColumnData::U64(values) => columnar::counts(rows.map(|at| values[at])),
            ColumnData::F32(values) => {
                columnar::strengths(&rows.map(|at| values[at]).collect::<Vec<_>>())
            }
            ColumnData::F64(values) => columnar::values(rows.map(|at| values[at])),
        }
    }
}

fn format_for(path: &Path, ids: &VertexIds) -> io::Result<(Format, Compression)> {
    table_format(
        Format::of_path(path),
        ids,
        &[Format::Tsv, Format::Csv, Format::Parquet, Format::Arrow],
        "a table about vertices is written as .tsv or .csv (each also .gz or .zst), .parquet or \
         .arrow: choose such a name",
    )
}

fn write_to(
    out: &mut (dyn Write + Send),
    format: Format,
    compression: Compression,
    ids: &VertexIds,
    parts: &[Part<'_>],
) -> io::Result<()> {
    let blocks = ids.len().div_ceil(ROWS);
    let rows = |block: usize| block * ROWS..ids.len().min((block + 1) * ROWS);
    let Some(fields) = Fields::of(format) else {
        let mut columns = vec![("id", ids.into())];
        columns.extend(parts.iter().map(|part| (part.name.as_str(), part.kind())));
        return columnar::write_table(out, format, columnar::schema(&columns), blocks, |block| {
            let rows = rows(block);
            let mut columns = vec![columnar::ids(ids, rows.start as u32..rows.end as u32)?];
            columns.extend(parts.iter().map(|part| part.array(rows.clone())));
            Ok(columns)
        });
    };
    let mut header = vec!["id"];
    header.extend(parts.iter().map(|part| part.name.as_str()));
    write_text(out, compression, &fields.header(&header), blocks, |block, text| {
        for row in rows(block) {
            fields.push_id(text, ids, row as u32);
            for part in parts {
                text.push(fields.separator());
                part.push(text, row);
            }
            text.push(b'\n');
        }
    })
}
