//! Conversion of results, of a graph or of the graphs of a batch, to an answer's columns.

use super::answer::Edges;
use super::{Answer, Column, SwarmError};
use ripplet_analytics::Lengths;
use ripplet_analytics::apsp::{GraphSummary, Reach};
use ripplet_analytics::edge_betweenness::{EdgeValues, ends, ends_of_member};
use ripplet_graph::batch::Subject;
use ripplet_graph::{GraphView, OutOfMemory, VertexId, WeightScale, memory};
use ripplet_io::write::ColumnKind;

/// The columns of graph summaries.
pub(super) const SUMMARY: &[(&str, ColumnKind)] = &[
    ("vertices", ColumnKind::U32),
    ("edges", ColumnKind::U64),
    ("pairs", ColumnKind::U64),
    ("diameter", ColumnKind::F64),
    ("radius", ColumnKind::F64),
    ("average_distance", ColumnKind::F64),
    ("wiener", ColumnKind::F64),
    ("connected", ColumnKind::Bool),
];

/// Converts values of edges, and adds the ends of each edge.
pub(super) fn columns_of_edges(
    EdgeValues { starts, values }: EdgeValues,
    of: Subject<'_, GraphView<'_>>,
) -> Result<Answer, SwarmError> {
    let mut edges = Edges {
        starts,
        sources: memory::with_room(values.len())?,
        targets: memory::with_room(values.len())?,
    };
    let push = |(source, target): (VertexId, VertexId)| {
        edges.sources.push(source);
        edges.targets.push(target);
    };
    match of {
        Subject::Batch(graphs) => graphs.graphs().flat_map(ends_of_member).for_each(push),
        Subject::Graph(graph) => ends(graph).for_each(push),
    }
    Ok(Answer::Edges { edges, columns: vec![Column::F64(values)] })
}

/// Converts distance statistics: eccentricity, number of reached vertices and average distance per
/// vertex.
pub(super) fn columns_of_reach(
    reach: &[Reach],
    of: Subject<'_, GraphView<'_>>,
    lengths: Lengths,
) -> Result<Answer, SwarmError> {
    let mut eccentricity = memory::with_room(reach.len())?;
    let mut average = memory::with_room(reach.len())?;
    let mut rest = reach;
    let mut add = |vertices: u32, scale: WeightScale| {
        let (of_graph, others) = rest.split_at(vertices as usize);
        let unit = if lengths == Lengths::Weights { scale.weight(1) } else { 1.0 };
        eccentricity.extend(of_graph.iter().map(|reach| reach.farthest as f64 * unit));
        average.extend(of_graph.iter().map(|reach| reach.average() * unit));
        rest = others;
    };
    match of {
        Subject::Batch(graphs) => {
            graphs.graphs().for_each(|graph| add(graph.vertices(), graph.weight_scale()));
        }
        Subject::Graph(graph) => add(graph.vertices(), graph.weight_scale()),
    }
    let reached = memory::collected(reach.iter().map(|reach| reach.reached))?;
    let [eccentricity, average] = [eccentricity, average].map(Column::F64);
    Ok(Answer::Vertices(vec![eccentricity, Column::U64(reached), average]))
}

/// Converts graph summaries to columns in the order of [`SUMMARY`].
pub(super) fn columns_of_summaries(
    summaries: &[GraphSummary],
    of: Subject<'_, GraphView<'_>>,
) -> Result<Answer, SwarmError> {
    let edges = match of {
        Subject::Batch(graphs) => graphs.edges_of_each()?,
        Subject::Graph(graph) => vec![graph.edges()],
    };
    let column = |value: fn(&GraphSummary) -> f64| -> Result<Column, OutOfMemory> {
        memory::collected(summaries.iter().map(value)).map(Column::F64)
    };
    Ok(Answer::Graphs(vec![
        Column::U32(memory::collected(summaries.iter().map(|summary| summary.vertices))?),
        Column::U64(edges),
        Column::U64(memory::collected(summaries.iter().map(|summary| summary.pairs))?),
        column(|summary| summary.length(summary.diameter.into()))?,
        column(|summary| summary.length(summary.radius.into()))?,
        column(GraphSummary::average)?,
        column(|summary| summary.length(summary.wiener()))?,
        Column::Bool(memory::collected(summaries.iter().map(GraphSummary::is_connected))?),
    ]))
}
