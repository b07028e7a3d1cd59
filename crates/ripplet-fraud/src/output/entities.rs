//! Tables of all entities: their ids, and which of them have transactions in a window.
//!
//! Both are indexed by the run's vertex numbers, which stay across windows. So a run writes an entity's id
//! once, and one bit a window says whether it is active.

use super::WindowFindings;
use super::tables::{Kind, ROWS, Table, names, numbers};
use arrow_array::BooleanArray;
use ripplet_graph::VertexId;
use ripplet_io::WriteError;
use std::path::Path;
use std::sync::Arc;

const ENTITIES: [(&str, Kind, bool); 4] = [
    ("window", Kind::Number, false),
    ("vertex", Kind::Number, false),
    ("kind", Kind::Name, false),
    ("id", Kind::Name, false),
];

const ACTIVE: [(&str, Kind, bool); 1] = [("active", Kind::Flag, false)];

/// Writes the table of entities from number `before` on: those first seen since the previous window.
///
/// # Errors
/// If the path has no table extension, or the operating system refuses.
pub fn write_entities(
    path: &Path,
    found: WindowFindings<'_>,
    before: VertexId,
) -> Result<(), WriteError> {
    let (index, entities) = (found.window.index, found.entities);
    let mut table = Table::create(path, &ENTITIES)?;
    for rows in blocks(before, found.window.graph.vertices()) {
        table.append(vec![
            numbers(rows.clone().map(|_| index)),
            numbers(rows.clone()),
            names(rows.clone().map(|vertex| entities.kind_name_of(vertex))),
            names(rows.map(|vertex| entities.id_of(vertex))),
        ])?;
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
