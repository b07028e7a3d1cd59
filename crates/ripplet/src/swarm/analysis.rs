//! What can be asked of a graph, or of each graph of a batch.

use super::answer::Edges;
use super::{Answer, Column, SwarmError};
use ripplet_analytics::apsp::{self, GraphSummary, Reach};
use ripplet_analytics::betweenness::{self, betweenness, betweenness_of_batch};
use ripplet_analytics::closeness::{self, Closeness, closeness, closeness_of_batch};
use ripplet_analytics::components::{self, components, components_of_batch};
use ripplet_analytics::edge_betweenness::{
    self, EdgeValues, edge_betweenness, edge_betweenness_of_batch,
};
use ripplet_analytics::lcc::Lcc;
use ripplet_analytics::pagerank::{End, PageRank};
use ripplet_analytics::{Item, Lengths, Observer, Plan};
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Graph, VertexId, WeightScale, memory};
use ripplet_io::write::{ColumnData, ColumnKind, Part, Rows, Subject};

/// What is asked of a graph.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// Each edge's betweenness: a column `value`.
    EdgeBetweenness {
        /// Whether it is normalized.
        normalized: bool,
        /// What the length of a way is.
        lengths: Lengths,
    },
    /// Each vertex's weakly connected component.
    Components,
    /// Each vertex's PageRank: a column `value`.
    PageRank(PageRank),
    /// Each vertex's clustering coefficient, a column `value`, and its `triangles` where they are asked for.
    Lcc(Lcc),
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
            Analysis::EdgeBetweenness { .. } => Rows::Edges,
            Analysis::Components => Rows::Components,
            Analysis::PageRank(_) | Analysis::Lcc(_) => Rows::Vertices,
            Analysis::Distances { .. } => Rows::Pairs,
            Analysis::Reach { .. } => Rows::Vertices,
            Analysis::Summary { .. } => Rows::Graphs,
        }
    }

    /// The columns of its answers: their names, and what they hold.
    pub fn columns(self) -> &'static [(&'static str, ColumnKind)] {
        match self {
            Analysis::Lcc(lcc) if lcc.has_triangles() => {
                &[("value", ColumnKind::F64), ("triangles", ColumnKind::U64)]
            }
            Analysis::Closeness { .. }
            | Analysis::Betweenness { .. }
            | Analysis::EdgeBetweenness { .. }
            | Analysis::PageRank(_)
            | Analysis::Lcc(_) => &[("value", ColumnKind::F64)],
            Analysis::Components => &[],
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
            Analysis::EdgeBetweenness { lengths, .. } => {
                with_ends(edge_betweenness::plan(graph, lengths, threads), graph.edges())
            }
            Analysis::Components => components::plan(graph),
            Analysis::PageRank(ranks) => ranks.plan(graph),
            Analysis::Lcc(lcc) => lcc.plan(graph, threads),
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
            Analysis::EdgeBetweenness { lengths, .. } => {
                let plan = edge_betweenness::plan_of_batch(graphs, lengths, threads);
                with_ends(plan, graphs.graphs().map(BatchGraph::edges).sum())
            }
            Analysis::Components => components::plan_of_batch(graphs),
            Analysis::PageRank(ranks) => ranks.plan_of_batch(graphs, threads),
            Analysis::Lcc(lcc) => lcc.plan_of_batch(graphs, threads),
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
    /// edge weighs nothing; for PageRank, where a setting is out of range or the tolerance is not reached.
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
            Analysis::EdgeBetweenness { normalized, lengths } => {
                let values = edge_betweenness(graph, normalized, lengths, observer)?;
                let starts = vec![0, values.len() as u64];
                of_edges(EdgeValues { starts, values }, edge_betweenness::ends(graph))?
            }
            Analysis::Components => Answer::Components(components(graph, observer)?.smallest),
            Analysis::PageRank(ranks) => {
                let found = ranks.run(graph, observer)?;
                settled(&[found.end])?;
                Answer::Vertices(vec![Column::F64(found.ranks)])
            }
            Analysis::Lcc(lcc) => {
                let found = lcc.run(graph, observer)?;
                of_triangles(found.coefficients, found.triangles)
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
    /// nothing; for PageRank, where a setting is out of range or the tolerance is not reached.
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
            Analysis::EdgeBetweenness { normalized, lengths } => {
                let values = edge_betweenness_of_batch(graphs, normalized, lengths, observer)?;
                of_edges(values, graphs.graphs().flat_map(edge_betweenness::ends_of_member))?
            }
            Analysis::Components => {
                Answer::Components(components_of_batch(graphs, observer)?.smallest)
            }
            Analysis::PageRank(ranks) => {
                let found = ranks.run_batch(graphs, observer)?;
                settled(&found.ends)?;
                Answer::Vertices(vec![Column::F64(found.ranks)])
            }
            Analysis::Lcc(lcc) => {
                let found = lcc.run_batch(graphs, observer)?;
                of_triangles(found.coefficients, found.triangles)
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

/// A plan, and the ends of so many edges beside it.
fn with_ends(mut plan: Plan, edges: u64) -> Plan {
    plan.items.push(Item { purpose: "ends of edges", bytes: edges.saturating_mul(8) });
    plan
}

/// Values of edges, with the ends of each.
fn of_edges(
    EdgeValues { starts, values }: EdgeValues,
    ends: impl Iterator<Item = (VertexId, VertexId)>,
) -> Result<Answer, SwarmError> {
    let mut sources = memory::with_room(values.len())?;
    let mut targets = memory::with_room(values.len())?;
    for (source, target) in ends {
        sources.push(source);
        targets.push(target);
    }
    let edges = Edges { starts, sources, targets };
    Ok(Answer::Edges { edges, columns: vec![Column::F64(values)] })
}

/// Clustering coefficients, and triangles where they were counted.
fn of_triangles(coefficients: Vec<f64>, triangles: Option<Vec<u64>>) -> Answer {
    let columns = [Column::F64(coefficients)].into_iter().chain(triangles.map(Column::U64));
    Answer::Vertices(columns.collect())
}

/// Refuses ranks that are not within their tolerance.
fn settled(ends: &[End]) -> Result<(), SwarmError> {
    match ends.iter().find(|end| !end.converged) {
        Some(&End { rounds, change, .. }) => Err(SwarmError::Unsettled { rounds, change }),
        None => Ok(()),
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
