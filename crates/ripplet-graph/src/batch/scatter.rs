//! Conversion of rows whose vertices are numbered over all graphs to rows numbered graph by graph.
//!
//! ```text
//! rows as read      each graph's vertices    rows of the table
//! 0: 5–7  1: 5–6 ─▶ 0: 5 7   1: 5 6       ─▶ 0: 0–1  1: 0–1
//! ```

use super::build::Grouped;
use super::table::flaw_of_columns;
use super::{BatchIds, BatchRows, BatchTable, BatchTableError, Members};
use crate::memory::{self, OutOfMemory};
use crate::{Names, VertexId, VertexIds, as_atomic};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

impl BatchTable {
    /// Creates a table of edges of graphs whose vertices are the ends of their rows.
    ///
    /// `graphs` of `rows` are indices of `graph_ids`. Sources and targets are indices of `ids`, the
    /// vertices of all graphs together; a vertex may be in several graphs.
    ///
    /// Memory, beside the rows: 8 bytes per vertex of each graph and its ids, and 8 bytes per row
    /// if the graphs of rows do not ascend. Runs on rayon's current pool.
    ///
    /// # Errors
    /// If the columns are inconsistent, a row names a graph or a vertex that does not exist, or a
    /// weight is NaN, infinite or negative (the first such row); if the ids do not ascend; or if
    /// memory allocation fails.
    pub fn of_ends(
        graph_ids: VertexIds,
        ids: &VertexIds,
        mut rows: BatchRows,
    ) -> Result<BatchTable, BatchTableError> {
        if let Some(flaw) = flaw_of_columns(&rows) {
            return Err(flaw);
        }
        refuse_strangers(&rows, graph_ids.len(), ids.len())?;
        let grouped = Grouped::of(&rows, graph_ids.len())?;
        let ends = Ends {
            grouped: &grouped,
            sources: as_atomic(&mut rows.sources),
            targets: as_atomic(&mut rows.targets),
        };
        let starts = ends.starts(graph_ids.len())?;
        let mut vertices = memory::zeros::<VertexId>(starts[graph_ids.len()] as usize)?;
        let places = as_atomic(&mut vertices);
        (0..graph_ids.len()).into_par_iter().try_for_each_init(
            Scratch::default,
            |scratch, graph| {
                let places = &places[starts[graph] as usize..starts[graph + 1] as usize];
                ends.number(graph, places, scratch)
            },
        )?;
        let vertex_ids = gathered(ids, &vertices, &starts)?;
        drop(vertices);
        let members = Members::new(graph_ids, starts.into(), vertex_ids)?;
        BatchTable::new(members, rows)
    }
}

/// Returns an error if a row names a graph or vertex that does not exist, before these are used as
/// indices.
fn refuse_strangers(
    rows: &BatchRows,
    graphs: usize,
    vertices: usize,
) -> Result<(), BatchTableError> {
    let wrong = |row: usize| {
        let graph = rows.graphs[row];
        if graph as usize >= graphs {
            return Some(BatchTableError::NoSuchGraph { row, graph, graphs });
        }
        let ends = [rows.sources[row], rows.targets[row]];
        let vertex = ends.into_iter().find(|&end| end as usize >= vertices)?;
        Some(BatchTableError::NoSuchVertex { row, graph, vertex, vertices: vertices as u32 })
    };
    let flaw = (0..rows.graphs.len()).into_par_iter().with_min_len(1 << 14).find_map_first(wrong);
    flaw.map_or(Ok(()), Err)
}

/// The ends of the rows, which graphs renumber concurrently, each its own rows.
struct Ends<'a> {
    grouped: &'a Grouped,
    sources: &'a [AtomicU32],
    targets: &'a [AtomicU32],
}

/// Scratch of a task, reused from graph to graph.
#[derive(Default)]
struct Scratch {
    rows: Vec<u64>,
    /// The vertices of a graph, ascending.
    vertices: Vec<VertexId>,
}

impl Ends<'_> {
    /// Returns the begin of each graph's vertices, and the end of the last graph's.
    fn starts(&self, graphs: usize) -> Result<Vec<u64>, OutOfMemory> {
        let mut starts = memory::zeros::<u64>(graphs + 1)?;
        let sizes = starts[1..].par_iter_mut().enumerate();
        sizes.try_for_each_init(Scratch::default, |scratch, (graph, size)| {
            self.load(graph, scratch)?;
            *size = scratch.vertices.len() as u64;
            Ok(())
        })?;
        for graph in 0..graphs {
            starts[graph + 1] += starts[graph];
        }
        Ok(starts)
    }

    /// Collects a graph's vertices in `scratch`.
    fn load(&self, graph: usize, scratch: &mut Scratch) -> Result<(), OutOfMemory> {
        let Scratch { rows, vertices } = scratch;
        vertices.clear();
        memory::reserve(vertices, 2 * self.grouped.count(graph) as usize)?;
        self.grouped.rows_of(graph, rows)?.for_each(|row| {
            vertices.extend([&self.sources[row], &self.targets[row]].map(|end| end.load(Relaxed)));
        });
        vertices.sort_unstable();
        vertices.dedup();
        Ok(())
    }

    /// Renumbers the ends of a graph's rows, and stores its vertices in `places`.
    fn number(
        &self,
        graph: usize,
        places: &[AtomicU32],
        scratch: &mut Scratch,
    ) -> Result<(), OutOfMemory> {
        self.load(graph, scratch)?;
        let Scratch { rows, vertices } = scratch;
        for (place, &vertex) in places.iter().zip(&*vertices) {
            place.store(vertex, Relaxed);
        }
        let number = |end: &AtomicU32| {
            let old = end.load(Relaxed);
            end.store(vertices.partition_point(|&vertex| vertex < old) as VertexId, Relaxed);
        };
        self.grouped.rows_of(graph, rows)?.for_each(|row| {
            number(&self.sources[row]);
            number(&self.targets[row]);
        });
        Ok(())
    }
}

/// Returns the ids of the vertices of each graph. Integers that are consecutive from the same first
/// one in each graph are not stored.
fn gathered(
    ids: &VertexIds,
    vertices: &[VertexId],
    starts: &[u64],
) -> Result<BatchIds, OutOfMemory> {
    let integers = |of: &dyn Fn(VertexId) -> u64| {
        let first = vertices.first().map_or(0, |&vertex| of(vertex));
        let consecutive = starts.windows(2).all(|pair| {
            let own = &vertices[pair[0] as usize..pair[1] as usize];
            // The largest id has no successor, which ranges end with.
            let next = |vertex| of(vertex).checked_add(1);
            (1..).zip(own).all(|(at, &vertex)| {
                next(vertex).is_some_and(|next| first.checked_add(at) == Some(next))
            })
        });
        if consecutive {
            return Ok(BatchIds::InGraph { first });
        }
        let ids = memory::collected(vertices.iter().map(|&vertex| of(vertex)))?;
        Ok(BatchIds::Unsigned(ids.into()))
    };
    match ids {
        VertexIds::Consecutive { first, .. } => integers(&|vertex| first + u64::from(vertex)),
        VertexIds::Unsigned(ids) => integers(&|vertex| ids[vertex as usize]),
        VertexIds::Signed(ids) => {
            let ids = memory::collected(vertices.iter().map(|&vertex| ids[vertex as usize]))?;
            Ok(BatchIds::Signed(ids.into()))
        }
        VertexIds::Names(names) => {
            let (mut offsets, mut bytes) = (memory::with_room(vertices.len() + 1)?, Vec::new());
            offsets.push(0);
            for &vertex in vertices {
                memory::extend(&mut bytes, names.get(vertex as usize).as_bytes())?;
                offsets.push(bytes.len() as u64);
            }
            let names = Names::from_parts(offsets.into(), bytes.into());
            Ok(BatchIds::Names(names.expect("each name was appended whole")))
        }
    }
}
