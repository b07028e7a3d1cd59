//! Table of many graphs: a row is an edge, and a column has its graph.

use super::{BatchOptions, Format, ReadLog};
use crate::fault::Fault;
use crate::map::map;
use crate::read::{format_of, in_memory, open};
use crate::text::{GraphRows, Text, read_of_graphs};
use crate::{ReadError, columnar};
use bytes::Bytes;
use ripplet_graph::batch::{BatchRows, BatchTable, GraphBatch};
use std::path::Path;

/// Reads all graphs of a table.
pub(super) fn read(
    path: &Path,
    options: &BatchOptions,
    log: &mut ReadLog,
) -> Result<GraphBatch, ReadError> {
    let rows = match format_of(path, &options.read)? {
        format @ (Format::Parquet | Format::Arrow) => {
            let bytes = map(path)?;
            columnar::of_graphs(Bytes::from_owner(bytes), format, &options.read)
        }
        format => {
            let read = |text: &mut Text<'_>| read_of_graphs(text, format, &options.read);
            tabular(format).and_then(|()| open(path)?.read_by(read))
        }
    };
    let rows = rows.map_err(|fault| fault.of(path))?;
    log.summary.edges += rows.ends.sources.len() as u64;
    log.summary.table = Some(rows.columns.clone());
    batch(rows, options).map_err(|fault| fault.of(path))
}

/// Parses the graphs of an uncompressed table in memory, as [`super::BatchReader`] does; errors name the
/// input `(bytes)`.
///
/// # Errors
/// The errors of the reader, or if the format is no table.
pub fn parse_table(
    bytes: Vec<u8>,
    format: Format,
    options: &BatchOptions,
) -> Result<GraphBatch, ReadError> {
    let rows = match format {
        Format::Parquet | Format::Arrow => columnar::of_graphs(bytes.into(), format, &options.read),
        _ => tabular(format)
            .and_then(|()| read_of_graphs(&mut in_memory(&bytes)?, format, &options.read)),
    };
    rows.and_then(|rows| batch(rows, options)).map_err(|fault| fault.of(Path::new("(bytes)")))
}

/// Builds the graphs of batches in memory, which have one schema: a row is an edge, and a column has its graph. The columns
/// are found by name as those of a file; an error names the source `(batches)`.
///
/// # Errors
/// If the schemas differ, a column is missing, there is no row, a value is null, no id or no weight, or memory is
/// refused.
#[cfg(feature = "columnar")]
pub fn graphs_of_batches(
    batches: &[columnar::RecordBatch],
    options: &BatchOptions,
) -> Result<GraphBatch, ReadError> {
    let rows = columnar::graphs_of_batches(batches, &options.read);
    rows.and_then(|rows| batch(rows, options)).map_err(|fault| fault.of(Path::new("(batches)")))
}

fn tabular(format: Format) -> Result<(), Fault> {
    match format {
        Format::EdgeList | Format::Tsv | Format::Csv => Ok(()),
        _ => Err(Fault::whole(format!(
            "a file of the format {} is one graph: expected a folder, an archive, or a table with a \
             column of graphs",
            format.name()
        ))),
    }
}

fn batch(rows: GraphRows, options: &BatchOptions) -> Result<GraphBatch, Fault> {
    let GraphRows { ends, weights, graphs, .. } = rows;
    // The graph of each row is stored as both its ends.
    let columns =
        BatchRows { graphs: graphs.sources, sources: ends.sources, targets: ends.targets, weights };
    drop(graphs.targets);
    let table = BatchTable::of_ends(graphs.ids, &ends.ids, columns).map_err(Fault::whole)?;
    options.builder().build(table).map_err(Fault::whole)
}
