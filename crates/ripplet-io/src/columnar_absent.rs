//! Stubs of the Parquet and Arrow readers for a build without the feature `columnar`: each returns an error.

use crate::fault::Fault;
use crate::label_table::LabelSummary;
use crate::label_table::LabelTable;
use crate::source::Source;
use crate::summary::ReadColumns;
use crate::text::GraphRows;
use crate::vertex_rows::{Asked, Form, FoundColumns, VertexRow};
use crate::{Format, NotBuiltIn, Place, ReadError, ReadErrorKind, ReadOptions};
use bytes::Bytes;
use ripplet_graph::{EdgeTable, ExternalId};
use std::ops::Range;
use std::path::Path;

/// Returns the error for a file with edges.
pub(crate) fn read_source(
    source: &Source,
    format: Format,
    _: &ReadOptions,
) -> Result<(EdgeTable, ReadColumns), ReadError> {
    Err(refused(format).of(source.path()))
}

/// Returns the error for a share of a file.
pub(crate) fn read_share(
    source: &Source,
    format: Format,
    _: &ReadOptions,
    _: Range<u64>,
    _: u64,
) -> Result<(EdgeTable, ReadColumns), ReadError> {
    Err(refused(format).of(source.path()))
}

/// Returns the error for edges in memory.
pub(crate) fn parse_named(
    _: Bytes,
    format: Format,
    _: &ReadOptions,
    path: &Path,
) -> Result<(EdgeTable, ReadColumns), ReadError> {
    Err(refused(format).of(path))
}

/// Returns the error for a table with a column of graphs.
pub(crate) fn of_graphs(_: Bytes, format: Format, _: &ReadOptions) -> Result<GraphRows, Fault> {
    Err(refused(format))
}

/// Returns the error for a table of labels.
pub(crate) fn label_rows<T: Send>(
    _: Bytes,
    format: Format,
    _: &LabelTable<'_>,
    _: impl Fn() -> T + Sync,
    _: impl Fn(&mut T, ExternalId<'_>, Option<ExternalId<'_>>, u32) -> Result<(), ReadErrorKind> + Sync,
    _: impl FnMut(T, &dyn Fn(u32) -> Place) -> Result<(), Fault>,
) -> Result<LabelSummary, Fault> {
    Err(refused(format))
}

/// Returns the error for a vertex table.
pub(crate) fn vertex_rows(
    _: Bytes,
    format: Format,
    _: &[&[&str]],
    _: Form,
    _: Asked<'_>,
    _: impl FnMut(VertexRow<'_>) -> Result<(), Fault>,
) -> Result<FoundColumns, Fault> {
    Err(refused(format))
}

/// Creates the error for a format.
fn refused(format: Format) -> Fault {
    match NotBuiltIn::check_reader(format) {
        Err(absent) => Fault::whole(absent),
        Ok(()) => Fault::whole("a format without tables"),
    }
}
