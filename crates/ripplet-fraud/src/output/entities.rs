//! Tables of entities: their ids, scores and evidence, and which of them have transactions in a window.
//!
//! Both have the run's vertex numbers, which stay across windows.

use super::tables::{Kind, ROWS, Table, names, narrow, numbers, some_numbers};
use super::{ColumnSpec, WindowFindings};
use crate::entity_table::MISSING;
use crate::evidence::{ALL, Definition};
use arrow_array::BooleanArray;
use rayon::prelude::*;
use ripplet_graph::VertexId;
use ripplet_io::WriteError;
use std::path::Path;
use std::sync::Arc;

const ENTITIES: [(&str, Kind, bool); 7] = [
    ("window", Kind::Number, false),
    ("vertex", Kind::Number, false),
    ("kind", Kind::Name, false),
    ("id", Kind::Name, false),
    ("known_bad", Kind::Flag, false),
    ("score", Kind::Narrow, true),
    ("rank", Kind::Number, true),
];

const ACTIVE: [(&str, Kind, bool); 1] = [("active", Kind::Flag, false)];

/// Returns the columns of the table of entities, without those of features of the user's own table.
pub(super) fn columns() -> Vec<ColumnSpec> {
    ENTITIES.into_iter().chain(ALL.map(|of| (of.key, Kind::Narrow, true))).collect()
}

/// Writes the table of the entities with transactions with others in the window, and of those from number
/// `before` on, which were first seen since the previous window; by number.
///
/// Score, rank and evidence are null without transactions with others, and without a model.
///
/// # Errors
/// If the path has no table extension, or the operating system refuses.
pub fn write_entities(
    path: &Path,
    found: WindowFindings<'_>,
    before: VertexId,
) -> Result<(), WriteError> {
    let (index, entities, graph) = (found.window.index, found.entities, &found.window.graph);
    // Without a model, the columns of the fixed kinds of evidence are empty.
    let evidence: &[Definition] = found.scores.map_or(&ALL, |scores| scores.evidence.columns());
    let columns = evidence.iter().map(|of| (of.key, Kind::Narrow, true));
    let columns: Vec<ColumnSpec> = ENTITIES.into_iter().chain(columns).collect();
    let mut table = Table::create(path, &columns)?;
    for block in blocks(0, graph.vertices()) {
        let is_row = |&v: &VertexId| v >= before || graph.degree(v) > 0;
        let rows: Vec<VertexId> = block.filter(is_row).collect();
        if rows.is_empty() {
            continue;
        }
        let scores: Vec<Option<(f32, u32)>> = rows.iter().map(|&v| found.scores?.of(v)).collect();
        let bad = rows.iter().map(|&v| Some(found.is_known_bad(v)));
        let mut arrays = vec![
            numbers(rows.iter().map(|_| index)),
            numbers(rows.iter().copied()),
            names(rows.iter().map(|&vertex| entities.kind_name_of(vertex))),
            names(rows.iter().map(|&vertex| entities.id_of(vertex))),
            Arc::new(bad.collect::<BooleanArray>()),
            narrow(scores.iter().map(|score| score.map(|score| score.0))),
            some_numbers(scores.iter().map(|score| score.map(|score| score.1))),
        ];
        let of = |kind: usize| {
            let each = rows.iter().zip(&scores);
            narrow(each.map(|(&v, score)| {
                let value = score.and(found.scores)?.value(kind, v);
                Some(value).filter(|&value| value != MISSING)
            }))
        };
        arrays.par_extend((0..evidence.len()).into_par_iter().map(of));
        table.append(arrays)?;
    }
    table.finish()
}

/// Writes whether each entity seen so far has transactions with others in the window: one row each, by number
/// from 0.
///
/// # Errors
/// See [`write_entities`].
pub fn write_active(path: &Path, found: WindowFindings<'_>) -> Result<(), WriteError> {
    let graph = &found.window.graph;
    let mut table = Table::create(path, &ACTIVE)?;
    for rows in blocks(0, graph.vertices()) {
        let active = rows.map(|vertex| Some(graph.degree(vertex) > 0));
        table.append(vec![Arc::new(active.collect::<BooleanArray>())])?;
    }
    table.finish()
}

/// Iterates over ranges of at most [`ROWS`] numbers.
fn blocks(from: VertexId, until: VertexId) -> impl Iterator<Item = std::ops::Range<VertexId>> {
    let starts = (from..until).step_by(ROWS);
    starts.map(move |start| start..until.min(start.saturating_add(ROWS as VertexId)))
}
