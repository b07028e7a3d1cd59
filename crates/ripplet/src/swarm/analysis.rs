//! What can be asked of a graph, or of each graph of a batch.

use super::{Answer, Column, SwarmError};
use ripplet_analytics::apsp::{self, GraphSummary, Reach};
use ripplet_analytics::betweenness::{self, betweenness, betweenness_of_batch};
use ripplet_analytics::closeness::{self, Closeness, closeness, closeness_of_batch};
use ripplet_analytics::{Lengths, Observer, Plan};
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Graph, VertexId, WeightScale, memory};
use ripplet_io::write::{ColumnData, ColumnKind, Part, Rows, Subject};

/// What is asked of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Analysis {
    /// Each vertex's closeness: a column `value`.
    Closeness {
        /// Which closeness.
        measure: Closeness,
        /// Whether it is normalized.
        normalized: bool,
        /// What the length of a way is.
        lengths: Lengths,
    },
    /// Each vertex's betweenness: a column `value`.
    Betweenness {
        /// Whether it is normalized.
        normalized: bool,
        /// What the length of a way is.
        lengths: Lengths,
    },
    /// From each vertex to each other the `distance`, which is infinite where there is no way.
    Distances {
        /// What the length of a way is.
        lengths: Lengths,
    },
    /// Of each vertex the `eccentricity`, how many others it has a way to (`reached`), and their
    /// `average_distance`; 0 without any.
    Reach {
        /// What the length of a way is.
        lengths: Lengths,
    },
    /// Of each graph the numbers of `vertices`, of `edges`, and of `pairs` of different vertices, in one
    /// order, that have a way; of these the largest distance (`diameter`), the `average_distance` and the
    /// sum of all distances (`wiener`, on an undirected graph of each two vertices once); the smallest
    /// eccentricity (`radius`); and whether all pairs have a way (`connected`).
    Summary {
        /// What the length of a way is.
        lengths: Lengths,
    },
}

/// The columns of [`Analysis::Summary`].
const SUMMARY: &[(&str, ColumnKind)] = &[
    ("vertices", ColumnKind::U32),
    ("edges", ColumnKind::U64),
    ("pairs", ColumnKind::U64),
    ("diameter", ColumnKind::F64),
    ("radius", ColumnKind::F64),
    ("average_distance", ColumnKind::F64),
    ("wiener", ColumnKind::F64),
    ("connected", ColumnKind::Bool),
];

/// How numbers of arcs stand for lengths.
const ONE: WeightScale = WeightScale::ONE;
/// Distances that are handed over at once, or those from one vertex.
const PAIRS: usize = 1 << 18;

impl Analysis {
    /// What the rows of its table are about.
    pub fn rows(self) -> Rows {
        match self {
            Analysis::Closeness { .. } | Analysis::Betweenness { .. } => Rows::Vertices,
            Analysis::Distances { .. } => Rows::Pairs,
            Analysis::Reach { .. } => Rows::Vertices,
            Analysis::Summary { .. } => Rows::Graphs,
        }
    }

    /// The columns of its answers: their names, and what they hold.
    pub fn columns(self) -> &'static [(&'static str, ColumnKind)] {
        match self {
            Analysis::Closeness { .. } | Analysis::Betweenness { .. } => {
                &[("value", ColumnKind::F64)]
            }
            Analysis::Distances { .. } => &[("distance", ColumnKind::F64)],
            Analysis::Reach { .. } => &[
                ("eccentricity", ColumnKind::F64),
                ("reached", ColumnKind::U64),
                ("average_distance", ColumnKind::F64),
            ],
            Analysis::Summary { .. } => SUMMARY,
        }
    }

    /// The memory that the CPU needs beside a graph on so many threads.
    pub fn plan(self, graph: &Graph, threads: usize) -> Plan {
        match self {
            Analysis::Closeness { measure, lengths, .. } => {
                closeness::plan(graph, measure, lengths, threads)
            }
            Analysis::Betweenness { lengths, .. } => betweenness::plan(graph, lengths, threads),
            Analysis::Distances { lengths: Lengths::Hops } => apsp::plan_of_rows(graph, threads),
            Analysis::Distances { lengths: Lengths::Weights } => {
                apsp::plan_of_weighed_rows(graph, threads)
            }
            Analysis::Reach { lengths } => apsp::plan_of_reach(graph, lengths, threads),
            Analysis::Summary { lengths } => apsp::plan_of_summary(graph, lengths, threads),
        }
    }

    /// The memory that the CPU needs beside these graphs on so many threads, answer included.
    pub fn plan_of_batch(self, graphs: BatchSlice<'_>, threads: usize) -> Plan {
        match self {
            Analysis::Closeness { measure, lengths, .. } => {
                closeness::plan_of_batch(graphs, measure, lengths, threads)
            }
            Analysis::Betweenness { lengths, .. } => {
                betweenness::plan_of_batch(graphs, lengths, threads)
            }
            Analysis::Distances { lengths } => {
                apsp::plan_of_distances_of_batch(graphs, lengths, threads)
            }
            Analysis::Reach { lengths } => apsp::plan_of_reach_of_batch(graphs, lengths, threads),
            Analysis::Summary { lengths } => apsp::plan_of_batch(graphs, lengths, threads),
        }
    }

    /// Asks it of one graph, on rayon's current pool: hands over the rows and their columns, which are many
    /// times some where they are pairs.
    ///
    /// # Errors
    /// Where `take` fails, the observer cancels, or memory is refused; for betweenness by weights, where an
    /// edge weighs nothing.
    pub fn of_graph(
        self,
        graph: &Graph,
        observer: &mut dyn Observer,
        mut take: impl FnMut(Part<'_>, &[ColumnData<'_>]) -> Result<(), SwarmError>,
    ) -> Result<(), SwarmError> {
        let answer = match self {
            Analysis::Distances { lengths } => return hand_out(graph, lengths, observer, take),
            Analysis::Closeness { measure, normalized, lengths } => {
                let values = closeness(graph, measure, normalized, lengths, observer)?;
                Answer::Vertices(vec![Column::F64(values)])
            }
            Analysis::Betweenness { normalized, lengths } => {
                let values = betweenness(graph, normalized, lengths, observer)?;
                Answer::Vertices(vec![Column::F64(values)])
            }
            Analysis::Reach { lengths } => {
                let reach = apsp::reach(graph, lengths, observer)?;
                let unit = if lengths == Lengths::Weights { graph.weight_scale() } else { ONE };
                columns_of_reach(&reach, std::iter::once((reach.len(), unit)))?
            }
            Analysis::Summary { lengths } => {
                let summary = apsp::summary(graph, lengths, observer)?.whole;
                columns_of_summaries(&[summary], Column::U64(vec![graph.edges()]))?
            }
        };
        let columns: Vec<ColumnData<'_>> = answer.columns().iter().map(Column::data).collect();
        take(answer.part(Subject::Graph(graph.ids())), &columns)
    }

    /// Asks it of each graph of a batch, on rayon's current pool.
    ///
    /// # Errors
    /// Where the observer cancels, or memory is refused; for betweenness by weights, where an edge weighs
    /// nothing.
    pub fn of_batch(
        self,
        graphs: BatchSlice<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Answer, SwarmError> {
        Ok(match self {
            Analysis::Closeness { measure, normalized, lengths } => {
                let values = closeness_of_batch(graphs, measure, normalized, lengths, observer)?;
                Answer::Vertices(vec![Column::F64(values)])
            }
            Analysis::Betweenness { normalized, lengths } => {
                let values = betweenness_of_batch(graphs, normalized, lengths, observer)?;
                Answer::Vertices(vec![Column::F64(values)])
            }
            Analysis::Distances { lengths } => {
                let distances = apsp::distances_of_batch(graphs, lengths, observer)?;
                Answer::Pairs(vec![Column::F64(distances)])
            }
            Analysis::Reach { lengths } => {
                let reach = apsp::reach_of_batch(graphs, lengths, observer)?;
                let unit = |graph: BatchGraph<'_>| match lengths {
                    Lengths::Hops => ONE,
                    Lengths::Weights => graph.weight_scale(),
                };
                let graphs = graphs.graphs();
                let units = graphs.map(|graph| (graph.vertices() as usize, unit(graph)));
                columns_of_reach(&reach, units)?
            }
            Analysis::Summary { lengths } => {
                let summaries = apsp::summary_of_batch(graphs, lengths, observer)?;
                let edges = graphs.edges_of_each()?;
                columns_of_summaries(&summaries, Column::U64(edges))?
            }
        })
    }
}

/// Hands over the distances of a graph, some sources at a time.
fn hand_out(
    graph: &Graph,
    lengths: Lengths,
    observer: &mut dyn Observer,
    mut take: impl FnMut(Part<'_>, &[ColumnData<'_>]) -> Result<(), SwarmError>,
) -> Result<(), SwarmError> {
    let of = Subject::Graph(graph.ids());
    let vertices = graph.vertices() as usize;
    let mut waiting = memory::with_room(PAIRS.max(vertices).min(vertices.pow(2)))?;
    let mut first: VertexId = 0;
    let mut hand_over = |source: VertexId, row: &mut dyn Iterator<Item = f64>| {
        waiting.extend(row);
        let is_last = source + 1 == graph.vertices();
        if is_last || waiting.len() + vertices > PAIRS.max(vertices) {
            let part = Part::Pairs { of, sources: first..source + 1 };
            take(part, &[ColumnData::F64(&waiting)])?;
            waiting.clear();
            first = source + 1;
        }
        Ok(())
    };
    match lengths {
        Lengths::Hops => apsp::rows(graph, observer, |source, row: &[u32]| {
            hand_over(
                source,
                &mut row.iter().map(|&distance| match distance {
                    apsp::NO_WAY => f64::INFINITY,
                    distance => f64::from(distance),
                }),
            )
        }),
        Lengths::Weights => {
            let unit = graph.weight_scale().weight(1);
            apsp::weighed_rows(graph, observer, |source, row: &[u64]| {
                hand_over(
                    source,
                    &mut row.iter().map(|&distance| match distance {
                        apsp::NO_WEIGHED_WAY => f64::INFINITY,
                        distance => distance as f64 * unit,
                    }),
                )
            })
        }
    }
}

/// Of graph after graph: how many vertices it has, and how its lengths stand for real ones.
pub(super) fn columns_of_reach(
    reach: &[Reach],
    graphs: impl Iterator<Item = (usize, WeightScale)>,
) -> Result<Answer, SwarmError> {
    let mut eccentricity = memory::with_room(reach.len())?;
    let mut average = memory::with_room(reach.len())?;
    let mut rest = reach;
    for (vertices, scale) in graphs {
        let (of_graph, others) = rest.split_at(vertices);
        let unit = scale.weight(1);
        eccentricity.extend(of_graph.iter().map(|reach| reach.farthest as f64 * unit));
        average.extend(of_graph.iter().map(|reach| reach.average() * unit));
        rest = others;
    }
    let reached = memory::collected(reach.iter().map(|reach| reach.reached))?;
    let [eccentricity, average] = [eccentricity, average].map(Column::F64);
    Ok(Answer::Vertices(vec![eccentricity, Column::U64(reached), average]))
}

/// In the order of [`SUMMARY`]; `edges` are the graphs' numbers of edges.
pub(super) fn columns_of_summaries(
    summaries: &[GraphSummary],
    edges: Column,
) -> Result<Answer, SwarmError> {
    let column = |value: fn(&GraphSummary) -> f64| {
        memory::collected(summaries.iter().map(value)).map(Column::F64)
    };
    Ok(Answer::Graphs(vec![
        Column::U32(memory::collected(summaries.iter().map(|summary| summary.vertices))?),
        edges,
        Column::U64(memory::collected(summaries.iter().map(|summary| summary.pairs))?),
        column(|summary| summary.length(summary.diameter.into()))?,
        column(|summary| summary.length(summary.radius.into()))?,
        column(GraphSummary::average)?,
        column(|summary| summary.length(summary.wiener()))?,
        Column::Bool(memory::collected(summaries.iter().map(GraphSummary::is_connected))?),
    ]))
}
