//! Analyses of a graph, or of each graph of a batch.

use super::columns::{SUMMARY, columns_of_edges, columns_of_reach, columns_of_summaries};
use super::{Answer, Clustering, Column, SwarmError};
use ripplet_analytics::apsp;
use ripplet_analytics::betweenness::{
    self, betweenness, betweenness_of_batch, sampled_betweenness,
};
use ripplet_analytics::closeness::{
    self, Closeness, closeness, closeness_of_batch, closeness_of_some, sampled_closeness,
};
use ripplet_analytics::components::{self, components, components_of_batch, components_on_ranks};
use ripplet_analytics::edge_betweenness::{
    self, EdgeValues, edge_betweenness, edge_betweenness_of_batch, sampled_edge_betweenness,
};
use ripplet_analytics::kcore::{self, coreness, coreness_of_batch};
use ripplet_analytics::lcc::{Coefficients, Lcc};
use ripplet_analytics::pagerank::{End, Jumps, PageRank, Ranks};
use ripplet_analytics::{Item, Lengths, PathAnalysis, Plan, RankPart, Sample, Sources};
use ripplet_graph::batch::{self, BatchGraph, BatchSlice};
use ripplet_graph::{GraphView, Observer, VertexId, memory};
use ripplet_io::write::{ColumnData, ColumnKind, Part, Rows, Subject};
use std::ops::Range;
use thiserror::Error;

/// An analysis of a graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Analysis {
    /// An analysis of shortest paths.
    ///
    /// | analysis | columns |
    /// |---|---|
    /// | closeness, betweenness | `value` per vertex |
    /// | edge betweenness | `value` per edge |
    /// | distances | `distance` per pair; infinite without a path |
    /// | reach | `eccentricity`, `reached`, `average_distance` per vertex |
    /// | summary | per graph, see below |
    ///
    /// Columns of a summary:
    /// - `vertices`, `edges`: their numbers;
    /// - `pairs`: the number of ordered pairs of different vertices with a path;
    /// - `diameter`: the largest distance of these pairs;
    /// - `radius`: the smallest eccentricity;
    /// - `average_distance`: their average distance;
    /// - `wiener`: the sum of all distances, with each pair of an undirected graph counted once;
    /// - `connected`: whether all pairs have a path.
    Paths(PathAnalysis),
    /// An estimate of the closeness of each vertex, by the distances from a sample of the vertices of one graph: a column
    /// `value`.
    SampledCloseness {
        /// The closeness measure.
        measure: Closeness,
        /// Whether values are normalized, as those of all distances.
        normalized: bool,
        /// The definition of a path's length.
        lengths: Lengths,
        /// The vertices from which paths are searched.
        sample: Sample,
    },
    /// An estimate of the betweenness of each vertex or edge, by the shortest paths from a sample of the vertices of one
    /// graph: a column `value`.
    SampledBetweenness {
        /// Whether values are those of edges.
        edges: bool,
        /// Whether values are normalized, as those of all paths.
        normalized: bool,
        /// The definition of a path's length.
        lengths: Lengths,
        /// The vertices from which paths are searched.
        sample: Sample,
    },
    /// The weakly connected component of each vertex.
    Components,
    /// The coreness of each vertex: a column `coreness`.
    KCore,
    /// The PageRank of each vertex: a column `value`.
    PageRank(PageRank),
    /// The clustering coefficient of each vertex, a column `value`, and its `triangles` if
    /// requested.
    Lcc(Lcc),
}

/// The vertices that an analysis of one graph is about, if it is not about all alike.
#[derive(Clone, Copy, Debug, Default)]
pub enum Selection<'a> {
    /// All vertices alike.
    #[default]
    All,
    /// Walks jump to these instead of to any: personalized PageRank.
    JumpsTo(&'a Jumps),
    /// Distances from these alone.
    From(&'a Sources),
    /// Closeness of these alone, each once and ascending.
    Of(&'a Sources),
}

/// Whether an analysis of one graph is about all of its vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// About all; walks may jump to some.
    All,
    /// About distances from chosen vertices, or their closeness.
    Chosen,
}

impl Selection<'_> {
    pub(crate) fn scope(self) -> Scope {
        match self {
            Selection::All | Selection::JumpsTo(_) => Scope::All,
            Selection::From(_) | Selection::Of(_) => Scope::Chosen,
        }
    }
}

/// An analysis that has no kernel yet.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("there is no kernel for {0} so far: they are for the CPU")]
pub struct NotOnDevice(&'static str);

impl From<PathAnalysis> for Analysis {
    fn from(paths: PathAnalysis) -> Analysis {
        Analysis::Paths(paths)
    }
}

/// The most distances that are passed to the sink at once, unless one row has more.
const PAIRS: usize = 1 << 18;

impl Analysis {
    /// Returns the analysis of closeness by the distances from all vertices, or from a sample.
    pub fn closeness(
        measure: Closeness,
        normalized: bool,
        lengths: Lengths,
        sample: Option<Sample>,
    ) -> Analysis {
        match sample {
            Some(sample) => Analysis::SampledCloseness { measure, normalized, lengths, sample },
            None => PathAnalysis::Closeness { measure, normalized, lengths }.into(),
        }
    }

    /// Returns the analysis for a device, of all vertices of a graph or of each graph of a batch.
    ///
    /// Clustering coefficients of one graph have a kernel outside batches: see [`Analysis::on_device_for`].
    ///
    /// # Errors
    /// If devices have no kernel for it.
    pub fn on_device(self) -> Result<PathAnalysis, NotOnDevice> {
        match self {
            Analysis::Paths(paths) => Ok(paths),
            Analysis::SampledBetweenness { .. } => Err(NotOnDevice("sampled betweenness")),
            Analysis::SampledCloseness { .. } => Err(NotOnDevice("sampled closeness")),
            Analysis::Components => Err(NotOnDevice("components")),
            Analysis::KCore => Err(NotOnDevice("coreness")),
            Analysis::PageRank(_) => Err(NotOnDevice("PageRank's values")),
            Analysis::Lcc(_) => Err(NotOnDevice("clustering coefficients of a batch")),
        }
    }

    /// Returns whether a GPU does the analysis of one graph.
    ///
    /// # Errors
    /// If devices have no kernel for it.
    pub fn on_device_for(self, scope: Scope) -> Result<(), NotOnDevice> {
        match (self, scope) {
            // By `AnyExecutor::run_lcc`.
            (Analysis::Lcc(_), Scope::All) => Ok(()),
            (_, Scope::All) => self.on_device().map(drop),
            (Analysis::Paths(PathAnalysis::Distances { .. }), Scope::Chosen) => {
                Err(NotOnDevice("distances from chosen vertices"))
            }
            (_, Scope::Chosen) => Err(NotOnDevice("closeness of chosen vertices")),
        }
    }

    /// Returns whether its first column has a number per vertex.
    pub fn has_value_per_vertex(self) -> bool {
        matches!(self.rows(), Rows::Vertices | Rows::Components)
    }

    /// Returns the kind of the rows of its table.
    pub fn rows(self) -> Rows {
        match self {
            Analysis::Paths(PathAnalysis::Closeness { .. })
            | Analysis::Paths(PathAnalysis::Betweenness { .. })
            | Analysis::SampledCloseness { .. } => Rows::Vertices,
            Analysis::Paths(PathAnalysis::EdgeBetweenness { .. })
            | Analysis::SampledBetweenness { edges: true, .. } => Rows::Edges,
            Analysis::SampledBetweenness { edges: false, .. } => Rows::Vertices,
            Analysis::Components => Rows::Components,
            Analysis::KCore | Analysis::PageRank(_) | Analysis::Lcc(_) => Rows::Vertices,
            Analysis::Paths(PathAnalysis::Distances { .. }) => Rows::Pairs,
            Analysis::Paths(PathAnalysis::Reach { .. }) => Rows::Vertices,
            Analysis::Paths(PathAnalysis::Summary { .. }) => Rows::Graphs,
        }
    }

    /// Returns the columns of its answers: names and types.
    pub fn columns(self) -> &'static [(&'static str, ColumnKind)] {
        match self {
            Analysis::Lcc(lcc) if lcc.has_triangles() => {
                &[("value", ColumnKind::F64), ("triangles", ColumnKind::U64)]
            }
            Analysis::Paths(PathAnalysis::Closeness { .. })
            | Analysis::Paths(PathAnalysis::Betweenness { .. })
            | Analysis::Paths(PathAnalysis::EdgeBetweenness { .. })
            | Analysis::SampledBetweenness { .. }
            | Analysis::SampledCloseness { .. }
            | Analysis::PageRank(_)
            | Analysis::Lcc(_) => &[("value", ColumnKind::F64)],
            Analysis::Components => &[],
            Analysis::KCore => &[("coreness", ColumnKind::U32)],
            Analysis::Paths(PathAnalysis::Distances { .. }) => &[("distance", ColumnKind::F64)],
            Analysis::Paths(PathAnalysis::Reach { .. }) => &[
                ("eccentricity", ColumnKind::F64),
                ("reached", ColumnKind::U64),
                ("average_distance", ColumnKind::F64),
            ],
            Analysis::Paths(PathAnalysis::Summary { .. }) => SUMMARY,
        }
    }

    /// Returns the memory that the CPU needs beside a graph on `threads` threads.
    fn plan(self, graph: GraphView<'_>, threads: usize) -> Plan {
        match self {
            Analysis::Paths(PathAnalysis::Closeness { measure, lengths, .. }) => {
                closeness::plan(graph, measure, lengths, threads)
            }
            Analysis::Paths(PathAnalysis::Betweenness { lengths, .. }) => {
                betweenness::plan(graph, lengths, threads)
            }
            Analysis::Paths(PathAnalysis::EdgeBetweenness { lengths, .. }) => {
                with_ends(edge_betweenness::plan(graph, lengths, threads), graph.edges())
            }
            Analysis::SampledCloseness { measure, lengths, sample, .. } => {
                closeness::plan_of_sampled(graph, measure, lengths, sample, threads)
            }
            Analysis::SampledBetweenness { edges: false, lengths, sample, .. } => {
                betweenness::plan_of_sampled(graph, lengths, sample, threads)
            }
            Analysis::SampledBetweenness { edges: true, lengths, sample, .. } => {
                let plan = edge_betweenness::plan_of_sampled(graph, lengths, sample, threads);
                with_ends(plan, graph.edges())
            }
            Analysis::Components => components::plan(graph),
            Analysis::KCore => kcore::plan(graph),
            Analysis::PageRank(ranks) => ranks.plan(graph),
            Analysis::Lcc(lcc) => lcc.plan(graph, threads),
            Analysis::Paths(PathAnalysis::Distances { lengths }) => {
                plan_of_rows(graph, lengths, None, threads)
            }
            Analysis::Paths(PathAnalysis::Reach { lengths }) => {
                apsp::plan_of_reach(graph, lengths, threads)
            }
            Analysis::Paths(PathAnalysis::Summary { lengths }) => {
                apsp::plan_of_summary(graph, lengths, threads)
            }
        }
    }

    /// Returns the memory that the CPU needs beside a graph for [`Analysis::of_graph_for`], that of the selection
    /// included.
    pub(crate) fn plan_for(
        self,
        graph: GraphView<'_>,
        selection: Selection<'_>,
        threads: usize,
    ) -> Result<Plan, SwarmError> {
        Ok(match self.selected(selection)? {
            Computation::All(analysis) => analysis.plan(graph, threads),
            Computation::Personalized(ranks, _) => ranks.plan_personalized(graph),
            Computation::Distances(lengths, sources) => {
                let plan = plan_of_rows(graph, lengths, Some(sources), threads);
                plan.with("sources", 4 * sources.vertices().len() as u64)
            }
            Computation::Closeness { measure, lengths, of, .. } => {
                let plan = closeness::plan_of_some(graph, of, measure, lengths, threads);
                plan.with("chosen vertices", 4 * of.vertices().len() as u64)
            }
        })
    }

    /// Returns the memory that the CPU needs beside these graphs on `threads` threads, including
    /// the answer: nothing for samples, which a batch refuses.
    pub fn plan_of_batch(self, graphs: BatchSlice<'_>, threads: usize) -> Plan {
        match self {
            Analysis::Paths(PathAnalysis::Closeness { measure, lengths, .. }) => {
                closeness::plan_of_batch(graphs, measure, lengths, threads)
            }
            Analysis::Paths(PathAnalysis::Betweenness { lengths, .. }) => {
                betweenness::plan_of_batch(graphs, lengths, threads)
            }
            Analysis::Paths(PathAnalysis::EdgeBetweenness { lengths, .. }) => {
                let plan = edge_betweenness::plan_of_batch(graphs, lengths, threads);
                with_ends(plan, graphs.graphs().map(BatchGraph::edges).sum())
            }
            Analysis::SampledBetweenness { .. } | Analysis::SampledCloseness { .. } => {
                Plan::default()
            }
            Analysis::Components => components::plan_of_batch(graphs),
            Analysis::KCore => kcore::plan_of_batch(graphs, threads),
            Analysis::PageRank(ranks) => ranks.plan_of_batch(graphs, threads),
            Analysis::Lcc(lcc) => lcc.plan_of_batch(graphs, threads),
            Analysis::Paths(PathAnalysis::Distances { lengths }) => {
                apsp::plan_of_distances_of_batch(graphs, lengths, threads)
            }
            Analysis::Paths(PathAnalysis::Reach { lengths }) => {
                apsp::plan_of_reach_of_batch(graphs, lengths, threads)
            }
            Analysis::Paths(PathAnalysis::Summary { lengths }) => {
                apsp::plan_of_batch(graphs, lengths, threads)
            }
        }
    }

    /// Analyses one graph on rayon's current pool, and passes the rows and their columns to `take`:
    /// in several parts if they are pairs.
    pub(super) fn of_graph(
        self,
        graph: GraphView<'_>,
        observer: &mut dyn Observer,
        take: impl FnMut(Part<'_>, &[ColumnData<'_>]) -> Result<(), SwarmError>,
    ) -> Result<Option<Clustering>, SwarmError> {
        let answer = match self {
            Analysis::Paths(PathAnalysis::Distances { lengths }) => {
                return hand_out(graph, lengths, None, observer, take).map(|()| None);
            }
            Analysis::Paths(PathAnalysis::Closeness { measure, normalized, lengths }) => {
                let values = closeness(graph, measure, normalized, lengths, observer)?;
                Answer::Vertices(vec![Column::F64(values)])
            }
            Analysis::Paths(PathAnalysis::Betweenness { normalized, lengths }) => {
                let values = betweenness(graph, normalized, lengths, observer)?;
                Answer::Vertices(vec![Column::F64(values)])
            }
            Analysis::Paths(PathAnalysis::EdgeBetweenness { normalized, lengths }) => {
                let values = edge_betweenness(graph, normalized, lengths, observer)?;
                of_edges(values, graph)?
            }
            Analysis::SampledCloseness { measure, normalized, lengths, sample } => {
                let values =
                    sampled_closeness(graph, measure, normalized, lengths, sample, observer)?;
                Answer::Vertices(vec![Column::F64(values)])
            }
            Analysis::SampledBetweenness { edges: false, normalized, lengths, sample } => {
                let values = sampled_betweenness(graph, normalized, lengths, sample, observer)?;
                Answer::Vertices(vec![Column::F64(values)])
            }
            Analysis::SampledBetweenness { edges: true, normalized, lengths, sample } => {
                let values =
                    sampled_edge_betweenness(graph, normalized, lengths, sample, observer)?;
                of_edges(values, graph)?
            }
            Analysis::Components => Answer::Components(components(graph, observer)?.smallest),
            Analysis::KCore => Answer::Vertices(vec![Column::U32(coreness(graph, observer)?)]),
            Analysis::PageRank(ranks) => ranked(ranks.run(graph, observer)?)?,
            Analysis::Lcc(lcc) => {
                let (answer, clustering) = of_coefficients(lcc.run(graph, observer)?);
                return pass(answer, graph, take).map(|()| Some(clustering));
            }
            Analysis::Paths(PathAnalysis::Reach { lengths }) => {
                let reach = apsp::reach(graph, lengths, observer)?;
                columns_of_reach(&reach, batch::Subject::Graph(graph), lengths)?
            }
            Analysis::Paths(PathAnalysis::Summary { lengths }) => {
                let summary = apsp::summary(graph, lengths, observer)?.whole;
                columns_of_summaries(&[summary], batch::Subject::Graph(graph))?
            }
        };
        pass(answer, graph, take).map(|()| None)
    }

    /// Analyses one graph as [`Analysis::of_graph`] does, about chosen vertices: personalized PageRank, distances from
    /// some vertices, or the closeness of some. Returns figures of clustering coefficients.
    pub(crate) fn of_graph_for(
        self,
        graph: GraphView<'_>,
        selection: Selection<'_>,
        observer: &mut dyn Observer,
        mut take: impl FnMut(Part<'_>, &[ColumnData<'_>]) -> Result<(), SwarmError>,
    ) -> Result<Option<Clustering>, SwarmError> {
        match self.selected(selection)? {
            Computation::All(analysis) => return analysis.of_graph(graph, observer, take),
            Computation::Personalized(ranks, jumps) => {
                pass(ranked(ranks.run_personalized(graph, jumps, observer)?)?, graph, take)
            }
            Computation::Distances(lengths, sources) => {
                hand_out(graph, lengths, Some(sources), observer, take)
            }
            Computation::Closeness { measure, normalized, lengths, of } => {
                let values = closeness_of_some(graph, of, measure, normalized, lengths, observer)?;
                let part = Part::Chosen { ids: graph.ids(), vertices: of.vertices() };
                take(part, &[ColumnData::F64(&values)])
            }
        }?;
        Ok(None)
    }

    /// Returns the memory that a rank needs beside its part of a graph for [`Analysis::of_graph_on_ranks`]: it has the
    /// vertices `own`.
    pub(crate) fn plan_on_ranks(
        self,
        graph: GraphView<'_>,
        own: Range<VertexId>,
        jumps: Option<&Jumps>,
    ) -> Result<Plan, SwarmError> {
        match self {
            Analysis::Components => Ok(components::plan_on_ranks(graph)),
            Analysis::PageRank(ranks) => Ok(ranks.plan_on_ranks(graph, jumps.is_some())),
            Analysis::Lcc(lcc) => Ok(lcc.plan_on_ranks(graph, own)),
            _ => Err(SwarmError::NotOnRanks),
        }
    }

    /// Analyses a graph together with other ranks, each of which has the lists of its own vertices: PageRank, also
    /// personalized, components and clustering coefficients. Each rank has the whole answer, that of one process.
    pub(crate) fn of_graph_on_ranks(
        self,
        graph: GraphView<'_>,
        jumps: Option<&Jumps>,
        part: &mut RankPart<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(Answer, Option<Clustering>), SwarmError> {
        let answer = match self {
            Analysis::Components => {
                Answer::Components(components_on_ranks(graph, part, observer)?.smallest)
            }
            Analysis::PageRank(ranks) => ranked(ranks.run_on_ranks(graph, jumps, part, observer)?)?,
            Analysis::Lcc(lcc) => {
                let (answer, of) = of_coefficients(lcc.run_on_ranks(graph, part, observer)?);
                return Ok((answer, Some(of)));
            }
            _ => return Err(SwarmError::NotOnRanks),
        };
        Ok((answer, None))
    }

    /// Returns what is computed of a selection.
    ///
    /// # Errors
    /// If the selection is not for this analysis.
    fn selected(self, selection: Selection<'_>) -> Result<Computation<'_>, SwarmError> {
        match (self, selection) {
            (analysis, Selection::All) => Ok(Computation::All(analysis)),
            (Analysis::PageRank(ranks), Selection::JumpsTo(jumps)) => {
                Ok(Computation::Personalized(ranks, jumps))
            }
            (Analysis::Paths(PathAnalysis::Distances { lengths }), Selection::From(sources)) => {
                Ok(Computation::Distances(lengths, sources))
            }
            (
                Analysis::Paths(PathAnalysis::Closeness { measure, normalized, lengths }),
                Selection::Of(of),
            ) => Ok(Computation::Closeness { measure, normalized, lengths, of }),
            (_, Selection::JumpsTo(_)) => Err(SwarmError::NotPersonalizable),
            (_, Selection::From(_)) => Err(SwarmError::NotFromSources),
            (_, Selection::Of(_)) => Err(SwarmError::NotOfVertices),
        }
    }

    /// Refuses a selection that is not for this analysis.
    pub(crate) fn check(self, selection: Selection<'_>) -> Result<(), SwarmError> {
        self.selected(selection).map(drop)
    }

    /// Returns the work of a graph relative to that of others, for [`run_on_ranks`](super::run_on_ranks): vertices times
    /// vertices and arcs if shortest paths from all vertices are searched, otherwise vertices and arcs.
    pub fn work(self, graph: BatchGraph<'_>) -> u64 {
        let vertices = u64::from(graph.vertices());
        let size = vertices.saturating_add(graph.arcs());
        match self {
            Analysis::Paths(_) => size.saturating_mul(vertices),
            _ => size,
        }
    }

    /// Analyses each graph of a batch on rayon's current pool.
    ///
    /// # Errors
    /// If the observer cancels, or memory is refused; for betweenness by weights, if an edge has
    /// length 0; for PageRank, if a setting is out of range or the tolerance is not reached; for
    /// samples, which are of one graph.
    pub fn of_batch(
        self,
        graphs: BatchSlice<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Answer, SwarmError> {
        Ok(match self {
            Analysis::Paths(PathAnalysis::Closeness { measure, normalized, lengths }) => {
                let values = closeness_of_batch(graphs, measure, normalized, lengths, observer)?;
                Answer::Vertices(vec![Column::F64(values)])
            }
            Analysis::Paths(PathAnalysis::Betweenness { normalized, lengths }) => {
                let values = betweenness_of_batch(graphs, normalized, lengths, observer)?;
                Answer::Vertices(vec![Column::F64(values)])
            }
            Analysis::Paths(PathAnalysis::EdgeBetweenness { normalized, lengths }) => {
                let values = edge_betweenness_of_batch(graphs, normalized, lengths, observer)?;
                columns_of_edges(values, batch::Subject::Batch(graphs))?
            }
            Analysis::SampledBetweenness { .. } | Analysis::SampledCloseness { .. } => {
                return Err(SwarmError::SampleOfBatch);
            }
            Analysis::Components => {
                Answer::Components(components_of_batch(graphs, observer)?.smallest)
            }
            Analysis::KCore => {
                Answer::Vertices(vec![Column::U32(coreness_of_batch(graphs, observer)?)])
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
            Analysis::Paths(PathAnalysis::Distances { lengths }) => {
                let distances = apsp::distances_of_batch(graphs, lengths, observer)?;
                Answer::Pairs(vec![Column::F64(distances)])
            }
            Analysis::Paths(PathAnalysis::Reach { lengths }) => {
                let reach = apsp::reach_of_batch(graphs, lengths, observer)?;
                columns_of_reach(&reach, batch::Subject::Batch(graphs), lengths)?
            }
            Analysis::Paths(PathAnalysis::Summary { lengths }) => {
                let summaries = apsp::summary_of_batch(graphs, lengths, observer)?;
                columns_of_summaries(&summaries, batch::Subject::Batch(graphs))?
            }
        })
    }
}

/// What is computed of a selection of vertices.
enum Computation<'a> {
    All(Analysis),
    Personalized(PageRank, &'a Jumps),
    Distances(Lengths, &'a Sources),
    Closeness { measure: Closeness, normalized: bool, lengths: Lengths, of: &'a Sources },
}

/// Returns the memory of rows of distances.
fn plan_of_rows(
    graph: GraphView<'_>,
    lengths: Lengths,
    sources: Option<&Sources>,
    threads: usize,
) -> Plan {
    let plan = match lengths {
        Lengths::Hops => apsp::plan_of_rows(graph, sources, threads),
        Lengths::Weights => apsp::plan_of_weighted_rows(graph, sources, threads),
    };
    let distances = at_once(graph, sources) as u64;
    plan.with("rows to be passed on", distances.saturating_mul(size_of::<f64>() as u64))
}

/// Returns the most distances that are passed on together.
fn at_once(graph: GraphView<'_>, sources: Option<&Sources>) -> usize {
    let vertices = graph.vertices() as usize;
    let count = sources.map_or(vertices, |sources| sources.vertices().len());
    PAIRS.max(vertices).min(vertices.saturating_mul(count))
}

/// Passes the answer of a whole graph.
pub(crate) fn pass(
    answer: Answer,
    graph: GraphView<'_>,
    mut take: impl FnMut(Part<'_>, &[ColumnData<'_>]) -> Result<(), SwarmError>,
) -> Result<(), SwarmError> {
    let columns: Vec<ColumnData<'_>> = answer.columns().iter().map(Column::data).collect();
    take(answer.part(Subject::Graph(graph.ids())), &columns)
}

/// Returns the values of a graph's edges as an answer.
fn of_edges(values: Vec<f64>, graph: GraphView<'_>) -> Result<Answer, SwarmError> {
    let starts = vec![0, values.len() as u64];
    columns_of_edges(EdgeValues { starts, values }, batch::Subject::Graph(graph))
}

/// Returns ranks as an answer.
fn ranked(found: Ranks) -> Result<Answer, SwarmError> {
    settled(&[found.end])?;
    Ok(Answer::Vertices(vec![Column::F64(found.ranks)]))
}

/// Adds the ends of `edges` edges to a plan.
fn with_ends(mut plan: Plan, edges: u64) -> Plan {
    plan.items.push(Item { purpose: "ends of edges", bytes: edges.saturating_mul(8) });
    plan
}

/// Returns clustering coefficients, and triangles if they were counted, as an answer.
fn of_triangles(coefficients: Vec<f64>, triangles: Option<Vec<u64>>) -> Answer {
    let columns = [Column::F64(coefficients)].into_iter().chain(triangles.map(Column::U64));
    Answer::Vertices(columns.collect())
}

/// Returns the clustering coefficients of a graph as an answer, and their figures.
pub(crate) fn of_coefficients(found: Coefficients) -> (Answer, Clustering) {
    let clustering = Clustering { triangles: found.triangle_count, mean: found.mean() };
    (of_triangles(found.coefficients, found.triangles), clustering)
}

/// Returns an error if ranks are not within their tolerance.
fn settled(ends: &[End]) -> Result<(), SwarmError> {
    match ends.iter().find(|end| !end.converged) {
        Some(&End { rounds, change, .. }) => Err(SwarmError::Unsettled { rounds, change }),
        None => Ok(()),
    }
}

/// Passes the distances of a graph to `take`, those of consecutive sources together.
fn hand_out(
    graph: GraphView<'_>,
    lengths: Lengths,
    sources: Option<&Sources>,
    observer: &mut dyn Observer,
    mut take: impl FnMut(Part<'_>, &[ColumnData<'_>]) -> Result<(), SwarmError>,
) -> Result<(), SwarmError> {
    let of = Subject::Graph(graph.ids());
    let vertices = graph.vertices() as usize;
    let mut waiting = memory::with_room(at_once(graph, sources))?;
    let mut of_waiting: Range<VertexId> = 0..0;
    let mut pass_on = |of_waiting: Range<VertexId>, waiting: &mut Vec<f64>| {
        let part = Part::Pairs { of, sources: of_waiting };
        let passed = match waiting.is_empty() {
            true => Ok(()),
            false => take(part, &[ColumnData::F64(waiting)]),
        };
        waiting.clear();
        passed
    };
    let mut hand_over = |source: VertexId, row: &mut dyn Iterator<Item = f64>| {
        let has_room = waiting.len() + vertices <= PAIRS.max(vertices);
        if of_waiting.end != source || !has_room {
            pass_on(of_waiting.clone(), &mut waiting)?;
            of_waiting.start = source;
        }
        waiting.extend(row);
        of_waiting.end = source + 1;
        Ok::<(), SwarmError>(())
    };
    match lengths {
        Lengths::Hops => {
            let hand_over = |source, row: &[u32]| {
                let distance = |&distance: &u32| match distance {
                    apsp::NO_PATH => f64::INFINITY,
                    distance => f64::from(distance),
                };
                hand_over(source, &mut row.iter().map(distance))
            };
            match sources {
                None => apsp::rows(graph, observer, hand_over),
                Some(sources) => apsp::rows_from(graph, sources, observer, hand_over),
            }
        }
        Lengths::Weights => {
            let unit = graph.weight_scale().weight(1);
            let hand_over = |source, row: &[u64]| {
                let distance = |&distance: &u64| match distance {
                    apsp::NO_WEIGHTED_PATH => f64::INFINITY,
                    distance => distance as f64 * unit,
                };
                hand_over(source, &mut row.iter().map(distance))
            };
            match sources {
                None => apsp::weighted_rows(graph, observer, hand_over),
                Some(sources) => apsp::weighted_rows_from(graph, sources, observer, hand_over),
            }
        }
    }?;
    pass_on(of_waiting, &mut waiting)
}
