//! Construction of a batch from graphs that were read one by one.
//!
//! The tables' columns are concatenated; for a moment this takes 12 bytes per row (20 with weights)
//! twice. Ids are stored as one kind of integers if that kind fits the ids of all graphs, else as
//! names, with integers as printed.

use super::Members;
use super::{BatchBuilder, BatchError, BatchIds, BatchRows, BatchTable, GraphBatch, InvalidBatch};
use crate::memory::{self, OutOfMemory};
use crate::{Direction, EdgeTable, ExternalId, Names, VertexId, VertexIds};

impl BatchBuilder {
    /// Builds a batch of tables, each of which becomes one graph, as [`crate::GraphBuilder`] builds
    /// it with the same options.
    ///
    /// `graph_ids` are the graphs' ids, in the order of the tables. Vertices keep the order of
    /// their ids in each graph. If some graphs have names and others integers (or some negative
    /// integers and others 2⁶³ and above), all become names, in the order of names.
    ///
    /// # Errors
    /// If the ids do not ascend or their number differs from that of the tables, if some tables
    /// have weights and others do not, if one graph has more than 2³¹ arcs in one direction, or if
    /// memory allocation fails.
    pub fn collect(
        &self,
        graph_ids: VertexIds,
        graphs: Vec<EdgeTable>,
    ) -> Result<GraphBatch, BatchError> {
        if graph_ids.len() != graphs.len() {
            return Err(InvalidBatch::GraphIds.into());
        }
        let weighted = graphs.first().is_some_and(|graph| graph.weights().is_some());
        if let Some(graph) = graphs.iter().position(|graph| graph.weights().is_some() != weighted) {
            let graph = graph_ids.get(graph as u32).to_string();
            return Err(BatchError::Weights { graph });
        }
        let kind = Kind::of(&graphs);
        let members = members(graph_ids, &graphs, kind)?;
        let in_both = InBothDirections::of(&graphs, self.options.direction);
        let mut rows = Rows::with_room(&graphs, in_both, weighted)?;
        for (number, graph) in (0..).zip(graphs) {
            rows.append(number, graph, kind, in_both)?;
        }
        let table =
            BatchTable { members, rows: rows.0, both_directions: in_both == InBothDirections::All };
        self.build(table)
    }
}

/// The common representation of the ids of all graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Consecutive integers from `first` on in each graph: `first, first + 1, …`.
    InGraph(u64),
    Unsigned,
    Signed,
    Names,
}

impl Kind {
    fn of(graphs: &[EdgeTable]) -> Kind {
        let mut kind = None;
        for ids in graphs.iter().map(EdgeTable::ids).filter(|ids| !ids.is_empty()) {
            let one = match ids {
                VertexIds::Consecutive { first, .. } => Kind::InGraph(*first),
                VertexIds::Unsigned(_) => Kind::Unsigned,
                VertexIds::Signed(_) => Kind::Signed,
                VertexIds::Names(_) => return Kind::Names,
            };
            kind = match kind {
                None => Some(one),
                Some(kind) if kind == one => Some(kind),
                Some(Kind::Signed) => Some(Kind::Signed),
                Some(_) if one == Kind::Signed => Some(Kind::Signed),
                Some(_) => Some(Kind::Unsigned),
            };
        }
        let kind = kind.unwrap_or(Kind::InGraph(0));
        let large = |graph: &EdgeTable| {
            let last = graph.ids().len().checked_sub(1);
            last.is_some_and(|last| as_signed(graph.ids().get(last as VertexId)).is_none())
        };
        if kind == Kind::Signed && graphs.iter().any(large) { Kind::Names } else { kind }
    }
}

fn as_unsigned(id: ExternalId<'_>) -> Option<u64> {
    match id {
        ExternalId::Unsigned(id) => Some(id),
        ExternalId::Signed(_) | ExternalId::Name(_) => None,
    }
}

fn as_signed(id: ExternalId<'_>) -> Option<i64> {
    match id {
        ExternalId::Unsigned(id) => i64::try_from(id).ok(),
        ExternalId::Signed(id) => Some(id),
        ExternalId::Name(_) => None,
    }
}

fn members(
    graph_ids: VertexIds,
    graphs: &[EdgeTable],
    kind: Kind,
) -> Result<Members, InvalidBatch> {
    let mut starts = memory::with_room(graphs.len() + 1)?;
    starts.push(0u64);
    let mut end = 0;
    for graph in graphs {
        end += graph.ids().len() as u64;
        starts.push(end);
    }
    let all = || graphs.iter().map(EdgeTable::ids);
    let each = || all().flat_map(|ids| (0..ids.len()).map(|vertex| ids.get(vertex as VertexId)));
    let vertices = end as usize;
    let vertex_ids = match kind {
        Kind::InGraph(first) => BatchIds::InGraph { first },
        Kind::Unsigned => {
            let mut ids = memory::with_room(vertices)?;
            ids.extend(each().filter_map(as_unsigned));
            BatchIds::Unsigned(ids.into())
        }
        Kind::Signed => {
            let mut ids = memory::with_room(vertices)?;
            ids.extend(each().filter_map(as_signed));
            BatchIds::Signed(ids.into())
        }
        Kind::Names => BatchIds::Names(names(all(), vertices)?),
    };
    Members::new(graph_ids, starts.into(), vertex_ids)
}

/// Returns the names of all graphs' vertices, ascending within each graph.
fn names<'a>(
    all: impl Iterator<Item = &'a VertexIds>,
    vertices: usize,
) -> Result<Names, OutOfMemory> {
    let mut offsets = memory::with_room(vertices + 1)?;
    offsets.push(0);
    let mut bytes = Vec::new();
    for ids in all {
        let mut append = |name: &str| {
            memory::extend(&mut bytes, name.as_bytes())?;
            memory::push(&mut offsets, bytes.len() as u64)
        };
        match ids {
            VertexIds::Names(names) => {
                (0..names.len()).try_for_each(|at| append(names.get(at)))?;
            }
            integers => printed(integers)?.iter().try_for_each(|(name, _)| append(name))?,
        }
    }
    Ok(Names::from_parts(offsets.into(), bytes.into()).expect("each name was appended whole"))
}

/// Returns the integers as printed, in the order of names, each with its vertex.
fn printed(integers: &VertexIds) -> Result<Vec<(String, VertexId)>, OutOfMemory> {
    let print = |vertex: usize| {
        let vertex = vertex as VertexId;
        (integers.get(vertex).to_string(), vertex)
    };
    let mut printed = memory::collected((0..integers.len()).map(print))?;
    printed.sort_unstable();
    Ok(printed)
}

/// Which tables have rows that stand for both directions of a directed graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InBothDirections {
    All,
    None,
    /// Only some: each of their rows is split into two.
    Some,
}

impl InBothDirections {
    fn of(graphs: &[EdgeTable], direction: Direction) -> InBothDirections {
        let both = graphs.iter().filter(|graph| graph.is_in_both_directions()).count();
        match both {
            // Undirected: it makes no difference.
            _ if direction == Direction::Undirected => InBothDirections::None,
            0 => InBothDirections::None,
            both if both == graphs.len() => InBothDirections::All,
            _ => InBothDirections::Some,
        }
    }

    fn splits(self, graph: &EdgeTable) -> bool {
        self == InBothDirections::Some && graph.is_in_both_directions()
    }
}

/// The concatenated rows of all graphs.
struct Rows(BatchRows);

impl Rows {
    fn with_room(
        graphs: &[EdgeTable],
        in_both: InBothDirections,
        weighted: bool,
    ) -> Result<Rows, OutOfMemory> {
        let of = |graph: &EdgeTable| graph.len() * if in_both.splits(graph) { 2 } else { 1 };
        let rows = graphs.iter().map(of).sum();
        Ok(Rows(BatchRows {
            graphs: memory::with_room(rows)?,
            sources: memory::with_room(rows)?,
            targets: memory::with_room(rows)?,
            weights: if weighted { Some(memory::with_room(rows)?) } else { None },
        }))
    }

    /// Appends the rows of a graph, for which capacity is reserved.
    fn append(
        &mut self,
        number: u32,
        graph: EdgeTable,
        kind: Kind,
        in_both: InBothDirections,
    ) -> Result<(), OutOfMemory> {
        let renumbered = match (kind, graph.ids()) {
            (Kind::Names, VertexIds::Names(_)) => None,
            (Kind::Names, integers) => {
                let mut number_of = memory::zeros::<VertexId>(integers.len())?;
                for (number, (_, vertex)) in (0..).zip(printed(integers)?) {
                    number_of[vertex as usize] = number;
                }
                Some(number_of)
            }
            _ => None,
        };
        let number_of = |&vertex: &VertexId| match &renumbered {
            Some(numbers) => numbers[vertex as usize],
            None => vertex,
        };
        let splits = in_both.splits(&graph);
        for row in 0..graph.len() {
            let (source, target) = (&graph.sources()[row], &graph.targets()[row]);
            let weight = graph.weights().map(|weights| weights[row]);
            self.push(number, number_of(source), number_of(target), weight);
            // A loop is one arc.
            if splits && source != target {
                self.push(number, number_of(target), number_of(source), weight);
            }
        }
        Ok(())
    }

    fn push(&mut self, graph: u32, source: VertexId, target: VertexId, weight: Option<f64>) {
        let BatchRows { graphs, sources, targets, weights } = &mut self.0;
        graphs.push(graph);
        sources.push(source);
        targets.push(target);
        if let (Some(weights), Some(weight)) = (weights, weight) {
            weights.push(weight);
        }
    }
}
