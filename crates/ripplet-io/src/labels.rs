//! Labels in: a file with a line or a row a vertex, its id and its label.
//!
//! Any of the table formats will do: `.txt` (and names that tell no format, as LDBC's reference
//! outputs), `.tsv`, `.csv`, `.jsonl`, each also compressed, `.parquet` and `.arrow`: see `labelled.rs`.
//!
//! Memory: 12 bytes a row and 4 a vertex.

use crate::label_columns::LabelSummary;
use crate::labelled::{LabelTable, labelled_rows, shown, vertex};
use crate::memberships::MembershipForm;
use crate::text::Fault;
use crate::vertex_table::Source;
use crate::{Format, ReadError, ReadErrorKind, ReadOptions};
use ripplet_graph::{ExternalId, VertexId, VertexIds, memory};
use std::path::Path;

/// Reads labels that are vertices: what `--labels` starts from, or an output of ripplet.
///
/// `-` is standard input. The result has a vertex for each of `ids`: `labels[v]` is the label of
/// `v`.
///
/// # Errors
/// What cannot be read; an id or a label that is no vertex; a vertex with two labels, or none.
pub fn read_labels(
    path: &Path,
    options: &ReadOptions,
    ids: &VertexIds,
) -> Result<Vec<VertexId>, ReadError> {
    Ok(read_labels_with_summary(path, options, ids)?.0)
}

/// Reads labels as [`read_labels`] does, and tells what was read of the file.
///
/// # Errors
/// Those of [`read_labels`].
pub fn read_labels_with_summary(
    path: &Path,
    options: &ReadOptions,
    ids: &VertexIds,
) -> Result<(Vec<VertexId>, LabelSummary), ReadError> {
    labels(Source::File(path, options), options.label_columns.as_ref(), ids)
}

/// Reads labels from bytes, as [`read_labels`] does from a file; an error calls them `(bytes)`.
///
/// # Errors
/// Those of [`read_labels`].
pub fn parse_labels(
    bytes: &[u8],
    format: Format,
    ids: &VertexIds,
) -> Result<Vec<VertexId>, ReadError> {
    Ok(labels(Source::Bytes(bytes, format), None, ids)?.0)
}

/// No vertex: all are fewer.
const NONE: u32 = u32::MAX;

struct Row {
    vertex: VertexId,
    label: VertexId,
    /// The line or row, counted from the block's first.
    place: u32,
}

fn labels(
    source: Source<'_>,
    columns: Option<&[String; 2]>,
    ids: &VertexIds,
) -> Result<(Vec<VertexId>, LabelSummary), ReadError> {
    let form = MembershipForm::Auto;
    let table = LabelTable { ids, form, columns, has_forms: false, what: "labels" };
    let read = || {
        let mut labels = memory::filled(NONE, ids.len())?;
        let add =
            |rows: &mut Vec<Row>, id: ExternalId<'_>, label: Option<ExternalId<'_>>, place| {
                let vertex = vertex(ids, id)?;
                // An empty label is the vertex with an empty name if there is one. A vertex without a label is found
                // when all rows are read.
                let unnamed =
                    || Some(ExternalId::Name("")).filter(|name| ids.find(*name).is_some());
                let Some(label) = label.or_else(unnamed) else { return Ok(()) };
                let label = ids.find(label).ok_or_else(|| -> ReadErrorKind {
                    let label = shown(label);
                    format!("the label `{label}` is no vertex of the graph: expected a vertex id")
                        .into()
                })?;
                Ok(memory::push(rows, Row { vertex, label, place })?)
            };
        let summary = labelled_rows(source, &table, Vec::new, add, |rows, place_of| {
            for row in rows {
                let label = &mut labels[row.vertex as usize];
                if *label != NONE {
                    let id = ids.get(row.vertex);
                    let sentence = format!("vertex {id} has a second label");
                    return Err(Fault::at(place_of(row.place), sentence));
                }
                *label = row.label;
            }
            Ok(())
        })?;
        Ok((whole(labels, ids)?, summary))
    };
    read().map_err(|fault: Fault| fault.of(source.path()))
}

/// The labels, if every vertex has one.
fn whole(labels: Vec<u32>, ids: &VertexIds) -> Result<Vec<u32>, Fault> {
    let Some(first) = labels.iter().position(|&label| label == NONE) else { return Ok(labels) };
    let (missing, all) = (labels.iter().filter(|&&label| label == NONE).count(), labels.len());
    let id = ids.get(first as u32);
    let have = if missing == 1 { "has" } else { "have" };
    Err(Fault::whole(format!(
        "{missing} of {all} vertices {have} no label, the first of them vertex {id}: expected a \
         label for each"
    )))
}
