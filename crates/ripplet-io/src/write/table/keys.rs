//! Key columns of a table: external ids, as arrays.

use crate::output::refused;
use crate::write::column::{Column, ColumnType, end_of};
use ripplet_graph::batch::{BatchIds, BatchSlice};
use ripplet_graph::{ExternalId, Names, OutOfMemory, VertexId, VertexIds, memory};
use std::io;
use std::ops::Range;

/// External ids of the vertices of one graph, or of consecutive graphs, by index.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ids<'a> {
    /// Consecutive integers from this one on.
    From(u64),
    Unsigned(&'a [u64]),
    Signed(&'a [i64]),
    /// Number of names from which this is used.
    Names(&'a Names, usize),
}

/// Kind of the ids in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    Unsigned,
    Signed,
    Name,
}

impl<'a> Ids<'a> {
    /// Returns all of a graph's vertices.
    pub fn of_graph(ids: &'a VertexIds) -> Ids<'a> {
        match ids {
            VertexIds::Consecutive { first, .. } => Ids::From(*first),
            VertexIds::Unsigned(ids) => Ids::Unsigned(ids),
            VertexIds::Signed(ids) => Ids::Signed(ids),
            VertexIds::Names(names) => Ids::Names(names, 0),
        }
    }

    /// Returns the vertices of one graph of a slice.
    pub fn of_member(graphs: BatchSlice<'a>, graph: usize) -> Ids<'a> {
        let starts = graphs.vertex_starts();
        let places = starts[graph] as usize..starts[graph + 1] as usize;
        match graphs.batch().members().vertex_ids() {
            BatchIds::InGraph { first } => Ids::From(*first),
            BatchIds::InBatch { first } => Ids::From(first + starts[graph]),
            BatchIds::Unsigned(ids) => Ids::Unsigned(&ids[places]),
            BatchIds::Signed(ids) => Ids::Signed(&ids[places]),
            BatchIds::Names(names) => Ids::Names(names, places.start),
        }
    }

    pub fn get(self, vertex: VertexId) -> ExternalId<'a> {
        match self {
            Ids::From(first) => ExternalId::Unsigned(first + u64::from(vertex)),
            Ids::Unsigned(ids) => ExternalId::Unsigned(ids[vertex as usize]),
            Ids::Signed(ids) => ExternalId::Signed(ids[vertex as usize]),
            Ids::Names(names, first) => ExternalId::Name(names.get(first + vertex as usize)),
        }
    }

    pub fn kind(self) -> KeyKind {
        match self {
            Ids::From(_) | Ids::Unsigned(_) => KeyKind::Unsigned,
            Ids::Signed(_) => KeyKind::Signed,
            Ids::Names(..) => KeyKind::Name,
        }
    }
}

impl From<KeyKind> for ColumnType {
    fn from(kind: KeyKind) -> ColumnType {
        match kind {
            KeyKind::Unsigned => ColumnType::U64,
            KeyKind::Signed => ColumnType::I64,
            KeyKind::Name => ColumnType::Text,
        }
    }
}

/// Column of ids that is being filled. Integers become names in a column of names; any other mix of kinds is
/// rejected.
pub(super) enum KeyColumn {
    Unsigned(Vec<u64>),
    Signed(Vec<i64>),
    Names { ends: Vec<i32>, bytes: Vec<u8> },
}

impl KeyColumn {
    pub fn with_room(kind: KeyKind, rows: usize) -> Result<KeyColumn, OutOfMemory> {
        Ok(match kind {
            KeyKind::Unsigned => KeyColumn::Unsigned(memory::with_room(rows)?),
            KeyKind::Signed => KeyColumn::Signed(memory::with_room(rows)?),
            KeyKind::Name => {
                let mut ends = memory::with_room(rows + 1)?;
                ends.push(0);
                KeyColumn::Names { ends, bytes: Vec::new() }
            }
        })
    }

    /// Appends the ids of consecutive vertices, one row each.
    pub fn extend(&mut self, ids: Ids<'_>, vertices: Range<VertexId>) -> io::Result<()> {
        let range = vertices.start as usize..vertices.end as usize;
        match (&mut *self, ids) {
            (KeyColumn::Unsigned(column), Ids::From(first)) => {
                column.extend(first + range.start as u64..first + range.end as u64);
            }
            (KeyColumn::Unsigned(column), Ids::Unsigned(ids)) => {
                column.extend_from_slice(&ids[range]);
            }
            (KeyColumn::Signed(column), Ids::Signed(ids)) => column.extend_from_slice(&ids[range]),
            _ => return vertices.into_iter().try_for_each(|vertex| self.push(ids.get(vertex))),
        }
        Ok(())
    }

    /// Appends one id for several rows.
    pub fn repeat(&mut self, id: ExternalId<'_>, rows: usize) -> io::Result<()> {
        match (&mut *self, id) {
            (KeyColumn::Unsigned(column), ExternalId::Unsigned(id)) => {
                column.extend(std::iter::repeat_n(id, rows));
            }
            _ => return (0..rows).try_for_each(|_| self.push(id)),
        }
        Ok(())
    }

    /// Appends one id.
    pub fn push(&mut self, id: ExternalId<'_>) -> io::Result<()> {
        match (&mut *self, id) {
            (KeyColumn::Unsigned(column), ExternalId::Unsigned(id)) => column.push(id),
            (KeyColumn::Signed(column), ExternalId::Signed(id)) => column.push(id),
            (KeyColumn::Unsigned(column), ExternalId::Signed(signed)) => {
                column.push(u64::try_from(signed).map_err(|_| of_another_kind(id))?);
            }
            (KeyColumn::Signed(column), ExternalId::Unsigned(unsigned)) => {
                column.push(i64::try_from(unsigned).map_err(|_| of_another_kind(id))?);
            }
            (KeyColumn::Names { ends, bytes }, id) => {
                match id {
                    ExternalId::Name(name) => memory::extend(bytes, name.as_bytes()),
                    integer => memory::extend(bytes, integer.to_string().as_bytes()),
                }
                .map_err(no_memory)?;
                ends.push(end_of(bytes)?);
            }
            (KeyColumn::Unsigned(_) | KeyColumn::Signed(_), ExternalId::Name(_)) => {
                return Err(of_another_kind(id));
            }
        }
        Ok(())
    }

    pub fn column(self) -> Column {
        match self {
            KeyColumn::Unsigned(column) => Column::U64(column),
            KeyColumn::Signed(column) => Column::I64(column),
            KeyColumn::Names { ends, bytes } => Column::Text { ends, bytes },
        }
    }
}

fn of_another_kind(id: ExternalId<'_>) -> io::Error {
    refused(format!(
        "the id {id} does not go into a column of integers like those before it: write .csv or \
         .tsv, or read all ids as names"
    ))
}

/// Converts a failed memory allocation to a writer's error.
pub(super) fn no_memory(error: OutOfMemory) -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, error)
}
