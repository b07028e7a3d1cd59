//! Parses the columns of a TU data set: graphs of vertices, labels of graphs, and edges.

use super::Text;
use super::layout::Layout;
use super::rows::{Edges, integers, line_of_row};
use super::separator::{BLANKS, fields, is_row};
use super::source::{Chunk, LineFault, lines};
use super::token::{self, show};
use crate::ReadErrorKind;
use crate::fault::Fault;
use crate::intern::Sign;
use crate::slices::pieces;
use rayon::prelude::*;
use ripplet_graph::batch::{BatchIds, BatchRows, Members};
use ripplet_graph::{MAX_VERTICES, VertexId, VertexIds, memory};

/// Reads the labels of the graphs, one number per line.
pub(crate) fn read_labels(text: &mut Text<'_>) -> Result<Vec<f64>, Fault> {
    let label = |field: &[u8]| {
        let number = token::parse(field).filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| {
            format!("`{}` is no label: expected a number, that of one graph", show(field))
        })
    };
    let labels = read_column(text, label)?;
    if labels.is_empty() {
        return Err(Fault::whole("the file has no labels: expected a line with each graph's"));
    }
    if labels.len() > MAX_VERTICES as usize {
        let sentence = format!("more labels than the {MAX_VERTICES} graphs that a batch can have");
        return Err(Fault::whole(sentence));
    }
    Ok(labels)
}

/// The graph of each vertex.
pub(crate) struct Indicator {
    /// Each vertex's graph, counted from 0.
    graph_of: Vec<u32>,
    /// Each vertex's number in its graph; `None` if the graphs are in ascending order, as the number then
    /// follows from
    /// the start of the graph.
    number_of: Option<Vec<VertexId>>,
    members: Members,
}

impl Indicator {
    /// Reads one graph number per line, counted from 1: row `i` has the graph of vertex `i`.
    ///
    /// `graphs` is the number of graphs if another file gives it; graphs without vertices are then allowed.
    pub(crate) fn read(text: &mut Text<'_>, graphs: Option<usize>) -> Result<Indicator, Fault> {
        let most = graphs.unwrap_or(MAX_VERTICES as usize);
        let graph = |field: &[u8]| match (token::id(field, Sign::Unsigned), graphs) {
            (Ok(graph), _) if (1..=most as u64).contains(&graph) => Ok((graph - 1) as u32),
            (Ok(graph), Some(labels)) if graph > 0 => {
                Err(format!("graph {graph} has no label: the file of labels ends after {labels}"))
            }
            _ => Err(format!("`{}` is no graph: expected a number from 1 on", show(field))),
        };
        let graph_of = read_column(text, graph)?;
        if graph_of.is_empty() {
            return Err(Fault::whole(
                "the file has no vertices: expected a line with each vertex's graph",
            ));
        }
        let largest = graph_of.par_iter().max().map_or(0, |&graph| graph as usize + 1);
        let count = graphs.unwrap_or(largest);
        if graphs.is_none() {
            refuse_missing(&graph_of, count)?;
        }
        Indicator::of(graph_of, count)
    }

    fn of(graph_of: Vec<u32>, graphs: usize) -> Result<Indicator, Fault> {
        let mut starts = memory::zeros::<u64>(graphs + 1)?;
        for &graph in &graph_of {
            starts[graph as usize + 1] += 1;
        }
        if let Some(graph) = starts.iter().position(|&size| size > u64::from(MAX_VERTICES)) {
            let sentence = format!("graph {graph} has more vertices than {MAX_VERTICES}");
            return Err(Fault::whole(sentence));
        }
        for graph in 0..graphs {
            starts[graph + 1] += starts[graph];
        }
        let (number_of, ids) = if graph_of.is_sorted() {
            (None, BatchIds::InBatch { first: 1 })
        } else {
            let (numbers, ids) = numbers_and_ids(&graph_of, &starts)?;
            (Some(numbers), BatchIds::Unsigned(ids.into()))
        };
        let graph_ids = VertexIds::Consecutive { first: 1, count: graphs as u32 };
        let members = Members::new(graph_ids, starts.into(), ids);
        let members = members.map_err(|error| Fault::whole(error.to_string()))?;
        Ok(Indicator { graph_of, number_of, members })
    }

    /// Returns the number of vertices.
    fn vertices(&self) -> u64 {
        self.graph_of.len() as u64
    }

    /// Returns the graph of a vertex, from 1, and its number there.
    fn locate(&self, vertex: u64) -> (u32, VertexId) {
        let at = (vertex - 1) as usize;
        let graph = self.graph_of[at];
        let number = match &self.number_of {
            Some(numbers) => numbers[at],
            None => (at as u64 - self.members.vertex_starts()[graph as usize]) as VertexId,
        };
        (graph, number)
    }

    /// Reads the edges of these vertices, as lines `row, column`.
    pub(crate) fn read_rows(&self, text: &mut Text<'_>) -> Result<BatchRows, Fault> {
        let layout = Layout::indices(false);
        let mut blocks = Vec::new();
        let parse = |chunk: Chunk<'_>| self.rows_of(chunk, &layout);
        text.parse_chunks(parse, |rows, _, _| Ok(memory::push(&mut blocks, rows)?))?;
        let lengths = memory::collected(blocks.iter().map(Vec::len))?;
        let total: usize = lengths.iter().sum();
        if total == 0 {
            return Err(Fault::whole(
                "the file has no edges: expected a line `row, column` for each",
            ));
        }
        let mut columns = [memory::zeros(total)?, memory::zeros(total)?, memory::zeros(total)?];
        let [graphs, sources, targets] = &mut columns;
        let cut = pieces(graphs, &lengths).into_iter().zip(pieces(sources, &lengths));
        let cut = cut.zip(pieces(targets, &lengths)).zip(blocks);
        let work: Vec<_> = cut.collect();
        work.into_par_iter().for_each(|(((graphs, sources), targets), block)| {
            for (at, row) in block.into_iter().enumerate() {
                [graphs[at], sources[at], targets[at]] = row;
            }
        });
        let [graphs, sources, targets] = columns;
        Ok(BatchRows { graphs, sources, targets, weights: None })
    }

    /// Returns the graph and the ends of each edge of a chunk.
    fn rows_of(&self, chunk: Chunk<'_>, layout: &Layout) -> Result<Vec<[u32; 3]>, LineFault> {
        let Edges { ends, .. } = integers(chunk, layout, Sign::Unsigned)?;
        let mut rows = memory::with_room(ends.len())?;
        for (row, ends) in ends.iter().enumerate() {
            let edge = self.edge(ends);
            rows.push(edge.map_err(|why| LineFault::new(line_of_row(chunk.bytes, row), why))?);
        }
        Ok(rows)
    }

    fn edge(&self, ends: [u64; 2]) -> Result<[u32; 3], String> {
        let vertices = self.vertices();
        if let Some(outside) = ends.iter().find(|end| !(1..=vertices).contains(end)) {
            return Err(format!(
                "{outside} is no vertex: expected 1 to {vertices}, as many as the graph indicator \
                 has lines"
            ));
        }
        let [(graph, source), (other, target)] = ends.map(|end| self.locate(end));
        if graph != other {
            let ([a, b], [graph, other]) = (ends, [graph, other].map(|graph| u64::from(graph) + 1));
            return Err(format!(
                "the edge from {a} to {b} leads from graph {graph} to graph {other}: expected both \
                 ends in one graph"
            ));
        }
        Ok([graph, source, target])
    }

    /// Returns the graphs.
    pub(crate) fn into_members(self) -> Members {
        self.members
    }
}

/// Rejects empty graphs, which may be a mistake.
fn refuse_missing(graph_of: &[u32], graphs: usize) -> Result<(), Fault> {
    // If there are more graphs than vertices, one of the first `vertices + 1` graphs is empty.
    let looked_at = graphs.min(graph_of.len() + 1);
    let mut seen = memory::zeros::<u8>(looked_at)?;
    for &graph in graph_of {
        if let Some(seen) = seen.get_mut(graph as usize) {
            *seen = 1;
        }
    }
    match seen.iter().position(|&seen| seen == 0) {
        None => Ok(()),
        Some(missing) => Err(Fault::whole(format!(
            "graph {} has no vertex, but graph {graphs} has: expected every graph from 1 to \
             {graphs}, or a file of graph labels, which tells how many there are",
            missing + 1
        ))),
    }
}

/// Returns each vertex's number in its graph, and the ids of the vertices, graph by graph. In each graph they
/// keep
/// their order.
fn numbers_and_ids(graph_of: &[u32], starts: &[u64]) -> Result<(Vec<VertexId>, Vec<u64>), Fault> {
    let mut next = memory::copied(starts)?;
    let mut ids = memory::zeros(graph_of.len())?;
    let mut numbers = memory::with_room(graph_of.len())?;
    for (id, &graph) in (1..).zip(graph_of) {
        let place = &mut next[graph as usize];
        ids[*place as usize] = id;
        numbers.push((*place - starts[graph as usize]) as VertexId);
        *place += 1;
    }
    Ok((numbers, ids))
}

/// Reads one value per line with `value`, which gets the line's only field. Comments and blank lines are
/// skipped.
fn read_column<T: Copy + Send + Sync>(
    text: &mut Text<'_>,
    value: impl Fn(&[u8]) -> Result<T, String> + Sync,
) -> Result<Vec<T>, Fault> {
    let parse = |chunk: Chunk<'_>| {
        let mut values = memory::with_room(chunk.lines as usize)?;
        for (line, bytes) in (0..).zip(lines(chunk.bytes)) {
            if is_row(bytes) {
                let only = only_field(bytes).and_then(&value);
                values.push(only.map_err(|why| LineFault::new(line, ReadErrorKind::from(why)))?);
            }
        }
        Ok(values)
    };
    let mut column = Vec::new();
    text.parse_chunks(parse, |values, _, _| Ok(memory::extend(&mut column, &values)?))?;
    Ok(column)
}

fn only_field(line: &[u8]) -> Result<&[u8], String> {
    let mut rest = fields(line, BLANKS);
    match (rest.next(), rest.next()) {
        (Some(Ok(std::borrow::Cow::Borrowed(only))), None) => Ok(only),
        _ => Err(format!("`{}`: expected one number on the line", show(line.trim_ascii()))),
    }
}
