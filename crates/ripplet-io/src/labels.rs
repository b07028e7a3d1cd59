//! Reads labels: a file with one line or row per vertex, its id and its label.
//!
//! A reference assigns a label to each vertex, and labels are vertices ([`read_labels`]). The initial labels
//! of a run may be any output of ripplet with one community per vertex: communities by name or by number, and
//! vertices without one ([`read_initial_labels`]).
//!
//! All table formats are supported: `.txt` (and names without a known extension, such as LDBC's reference
//! outputs), `.tsv`, `.csv`, `.jsonl`, each also compressed, `.parquet` and `.arrow`: see `labelled.rs`.
//!
//! Memory: 12 bytes per row and 4 per vertex. For initial labels 8 per vertex, and the communities' names.

use crate::fault::Fault;
use crate::label_table::{LabelSummary, LabelTable, MembershipForm};
use crate::labelled::{labelled_rows, vertex};
use crate::names::NameSet;
use crate::shown::shown_id;
use crate::vertex_table::Source;
use crate::{Format, Place, ReadError, ReadErrorKind, ReadOptions};
use ripplet_graph::{ExternalId, VertexId, VertexIds, memory};
use std::path::Path;

/// Reads labels that are vertices, one for each vertex.
///
/// `-` is standard input. The result has one element for each of `ids`: `labels[v]` is the label of `v`.
///
/// # Errors
/// If the file cannot be read, an id or a label is no vertex, or a vertex has two labels or none.
///
/// # Examples
/// See [`parse_labels`].
pub fn read_labels(
    path: &Path,
    options: &ReadOptions,
    ids: &VertexIds,
) -> Result<Vec<VertexId>, ReadError> {
    labels(Source::File(path, options), options.label_columns.as_ref(), ids)
}

/// Parses labels that are vertices, as [`read_labels`] does; errors name the input `(bytes)`.
///
/// # Errors
/// The errors of [`read_labels`].
///
/// # Examples
/// ```
/// use ripplet_graph::VertexIds;
/// use ripplet_io::{Format, parse_labels};
///
/// let ids = VertexIds::Consecutive { first: 10, count: 3 };
/// let labels = parse_labels(b"10 10\n11 10\n12 12\n", Format::EdgeList, &ids)?;
/// assert_eq!(labels, [0, 0, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parse_labels(
    bytes: &[u8],
    format: Format,
    ids: &VertexIds,
) -> Result<Vec<VertexId>, ReadError> {
    labels(Source::Bytes(bytes, format), None, ids)
}

/// Initial labels of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitialLabels {
    /// For each vertex a representative vertex of its community; `u32::MAX` for none.
    pub labels: Vec<VertexId>,
    /// Number of communities.
    pub communities: u64,
    /// Number of vertices without a community.
    pub unlabelled: u64,
    /// Whether some community has a name that is no vertex of the graph. Then the first member of each
    /// community represents it; otherwise the vertex that names it.
    pub are_named: bool,
    /// Columns and rows that were read.
    pub summary: LabelSummary,
}

/// Reads the initial labels of a run: any output of ripplet with one community per vertex.
///
/// Vertices without a row, or with an empty label, have none. If a label is no vertex of the graph, all
/// labels are names, and each name is a community.
///
/// `-` is standard input.
///
/// # Errors
/// If the file cannot be read or has no rows, an id is no vertex, or a vertex has two labels.
///
/// # Examples
/// See [`parse_initial_labels`].
pub fn read_initial_labels(
    path: &Path,
    options: &ReadOptions,
    ids: &VertexIds,
) -> Result<InitialLabels, ReadError> {
    let source = Source::File(path, options);
    initial_labels(source, options.label_columns.as_ref(), ids)
        .map_err(|fault| fault.of(source.path()))
}

/// Parses initial labels, as [`read_initial_labels`] does; errors name the input `(bytes)`.
///
/// # Errors
/// The errors of [`read_initial_labels`].
///
/// # Examples
/// ```
/// use ripplet_graph::VertexIds;
/// use ripplet_io::{Format, parse_initial_labels};
///
/// // Vertex 12 has no row: it begins without a label.
/// let ids = VertexIds::Consecutive { first: 10, count: 3 };
/// let found = parse_initial_labels(b"id,community\n10,red\n11,red\n", Format::Csv, &ids)?;
/// assert_eq!(found.labels, [0, 0, u32::MAX]);
/// assert_eq!((found.communities, found.unlabelled), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parse_initial_labels(
    bytes: &[u8],
    format: Format,
    ids: &VertexIds,
) -> Result<InitialLabels, ReadError> {
    let source = Source::Bytes(bytes, format);
    initial_labels(source, None, ids).map_err(|fault| fault.of(source.path()))
}

/// Rows in order, and the distinct names of their communities.
struct NamedRows {
    rows: Vec<Row>,
    names: NameSet,
}

fn initial_labels(
    source: Source<'_>,
    columns: Option<&[String; 2]>,
    ids: &VertexIds,
) -> Result<InitialLabels, Fault> {
    let form = MembershipForm::Auto;
    let table = LabelTable { ids, form, columns, has_forms: false, what: "labels" };
    let mut labels = memory::filled(NONE, ids.len())?;
    let mut names = NameSet::default();
    let like = names.alike();
    let start = || NamedRows { rows: Vec::new(), names: like.alike() };
    let add = |block: &mut NamedRows, id: ExternalId<'_>, label: Option<ExternalId<'_>>, place| {
        let vertex = vertex(ids, id)?;
        let label = match label {
            None => return Ok(()),
            Some(ExternalId::Name(name)) => block.names.number(name)?,
            Some(integer) => block.names.number(&integer.to_string())?,
        };
        Ok::<_, ReadErrorKind>(memory::push(&mut block.rows, Row { vertex, label, place })?)
    };
    let summary = labelled_rows(source, &table, start, add, |block, place_of| {
        let numbers = names.merge(&block.names)?;
        block.rows.into_iter().try_for_each(|row| {
            set_label(&mut labels, ids, Row { label: numbers[row.label as usize], ..row }, place_of)
        })
    })?;
    if names.len() == 0 && !ids.is_empty() {
        return Err(Fault::whole(
            "the file has no labels: expected a vertex id and a label a line",
        ));
    }
    stand_for(labels, &names, ids, summary)
}

/// Replaces the number of each community's name by its representative vertex.
fn stand_for(
    mut labels: Vec<u32>,
    names: &NameSet,
    ids: &VertexIds,
    summary: LabelSummary,
) -> Result<InitialLabels, Fault> {
    let mut stands = memory::with_room(names.len())?;
    // Names were read from text, so they are UTF-8.
    let text = |number| String::from_utf8_lossy(names.name(number));
    let found = |number| ids.find(ExternalId::Name(&text(number)));
    stands.extend((0..names.len() as u32).map_while(found));
    let are_named = stands.len() < names.len();
    if are_named {
        stands = memory::filled(NONE, names.len())?;
        let labelled = (0..).zip(&labels).filter(|&(_, &number)| number != NONE);
        for (vertex, &number) in labelled {
            let first: &mut u32 = &mut stands[number as usize];
            *first = (*first).min(vertex);
        }
    }
    let mut unlabelled = 0;
    for label in &mut labels {
        match stands.get(*label as usize) {
            Some(&vertex) => *label = vertex,
            None => unlabelled += 1,
        }
    }
    let communities = names.len() as u64;
    Ok(InitialLabels { labels, communities, unlabelled, are_named, summary })
}

/// Sets the label of a vertex.
///
/// # Errors
/// If it already has one.
fn set_label(
    labels: &mut [u32],
    ids: &VertexIds,
    row: Row,
    place_of: &dyn Fn(u32) -> Place,
) -> Result<(), Fault> {
    let label = &mut labels[row.vertex as usize];
    if *label != NONE {
        let sentence = format!("vertex {} has a second label", ids.get(row.vertex));
        return Err(Fault::at(place_of(row.place), sentence));
    }
    *label = row.label;
    Ok(())
}

/// Marks a vertex without a label; all vertices are smaller.
const NONE: u32 = u32::MAX;

struct Row {
    vertex: VertexId,
    label: VertexId,
    /// Line or row, counted from the block's first.
    place: u32,
}

fn labels(
    source: Source<'_>,
    columns: Option<&[String; 2]>,
    ids: &VertexIds,
) -> Result<Vec<VertexId>, ReadError> {
    let form = MembershipForm::Auto;
    let table = LabelTable { ids, form, columns, has_forms: false, what: "labels" };
    let read = || {
        let mut labels = memory::filled(NONE, ids.len())?;
        let add =
            |rows: &mut Vec<Row>, id: ExternalId<'_>, label: Option<ExternalId<'_>>, place| {
                let vertex = vertex(ids, id)?;
                // An empty label is the vertex with an empty name if there is one. Vertices without a label
                // are found after all rows.
                let unnamed =
                    || Some(ExternalId::Name("")).filter(|name| ids.find(*name).is_some());
                let Some(label) = label.or_else(unnamed) else { return Ok(()) };
                let label = ids.find(label).ok_or_else(|| -> ReadErrorKind {
                    let label = shown_id(label);
                    format!("the label `{label}` is no vertex of the graph: expected a vertex id")
                        .into()
                })?;
                Ok(memory::push(rows, Row { vertex, label, place })?)
            };
        labelled_rows(source, &table, Vec::new, add, |rows, place_of| {
            rows.into_iter().try_for_each(|row| set_label(&mut labels, ids, row, place_of))
        })?;
        whole(labels, ids)
    };
    read().map_err(|fault: Fault| fault.of(source.path()))
}

/// Returns the labels, if every vertex has one.
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
