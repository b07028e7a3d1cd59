//! All-pairs shortest paths: the distance between every two vertices, row by row or summed.
//!
//! # What it returns
//! The distance d(s, t) is the least length of a path from s to t along the arcs' directions.
//! [`Lengths`] selects what a length is: the number of arcs, or the sum of their weights. The
//! distance from a vertex to itself is 0. Without a path it is [`NO_PATH`], or [`NO_WEIGHTED_PATH`] by
//! weights. Self-loops and repeated arcs change nothing.
//!
//! - [`rows`] and [`weighted_rows`] return the distances from each vertex, one row per source;
//!   [`rows_from`] and [`weighted_rows_from`] those from chosen [`Sources`](crate::Sources) alone.
//! - [`summary`] returns each vertex's eccentricity, the diameter, the radius, and the sum of all
//!   distances, which gives the average distance and the Wiener index.
//!
//! Lengths by weights are sums of the stored weights: exact integers. The graph's [`WeightScale`]
//! converts them to real numbers.
//!
//! # Directed graphs
//! Paths follow the arcs' directions: d(s, t) and d(t, s) may differ, and one may be infinite.
//!
//! # Algorithm
//! Lengths by hops: breadth-first searches along the arcs, from 64 sources at once. Lengths by
//! weights: Dijkstra's algorithm from each vertex. Except for rows, graphs of at most 128 vertices
//! use Bellman-Ford rounds from 64 sources at once instead.
//!
//! # Memory
//! Beside the graph:
//!
//! - searches: 32 bytes per vertex and thread (20 by weights);
//! - rows: 256 bytes per vertex and thread more (512 by weights);
//! - a summary: 24 bytes per vertex and thread more, and 32 bytes per vertex once (by weights at
//!   most 66 KiB per thread, and 40 bytes per vertex once).
//!
//! [`plan_of_rows`], [`plan_of_weighted_rows`] and [`plan_of_summary`] return the exact bounds.
//! Compressed lists are decoded as they are read, without further memory.
//!
//! # Determinism
//! Distances are integers: they are equal for any number of threads and any shards. Rows come in
//! ascending order of their sources.
//!
//! # References
//! Ji, Liu, Huang, *SwarmGraph*, HPCC 2020. Wiener, *Structural determination of paraffin boiling
//! points*, Journal of the American Chemical Society 69, 1947.

mod pairs;
mod reach;
mod rows;

pub use crate::distances::Reach;
pub use pairs::{distances_of_batch, pairs_of_batch, plan_of_distances_of_batch};
pub use reach::{plan_of_reach, plan_of_reach_of_batch, reach, reach_of_batch};
pub use rows::{
    NO_PATH, NO_WEIGHTED_PATH, plan_of_rows, plan_of_weighted_rows, rows, rows_from, weighted_rows,
    weighted_rows_from,
};

use crate::distances::{self, ByHops, ByWeights, Extent};
use crate::sides::Along;
use crate::swarm::{PerGraph, PerVertex};
use crate::{AnalysisError, Lengths, Plan};
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Direction, GraphView, Observer, WeightScale, memory};

/// Distance statistics of a graph: number of connected pairs, sum, diameter, radius.
///
/// A pair is an ordered pair of two different vertices. Lengths are integers: numbers of arcs, or
/// sums of stored weights, which [`GraphSummary::length`] converts to real numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphSummary {
    /// The number of vertices.
    pub vertices: u32,
    /// The number of pairs (s, t) with a path from s to t.
    pub pairs: u64,
    /// The sum of the distances of these pairs.
    pub sum: u128,
    /// The largest finite distance.
    pub diameter: u64,
    /// The smallest eccentricity.
    pub radius: u64,
    /// Whether edges have a direction.
    pub direction: Direction,
    /// The scale that converts stored lengths to real ones.
    pub scale: WeightScale,
}

/// Distance statistics of a graph with the eccentricity of each vertex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The eccentricity of each vertex: the largest finite distance from it; 0 if it reaches no
    /// other vertex.
    pub eccentricities: Vec<u64>,
    /// The statistics of the whole graph.
    pub whole: GraphSummary,
}

impl GraphSummary {
    fn new(vertices: u32, direction: Direction, scale: WeightScale) -> GraphSummary {
        let (pairs, sum, diameter) = (0, 0, 0);
        let radius = if vertices == 0 { 0 } else { u64::MAX };
        GraphSummary { vertices, pairs, sum, diameter, radius, direction, scale }
    }

    /// Adds the distances from one vertex; returns its eccentricity.
    fn add(&mut self, of_vertex: Reach) -> u64 {
        let Reach { reached, far, farthest } = of_vertex;
        self.pairs += reached;
        self.sum += far;
        self.diameter = self.diameter.max(farthest);
        self.radius = self.radius.min(farthest);
        farthest
    }

    /// Returns the real length of a stored one.
    pub fn length(&self, stored: u128) -> f64 {
        stored as f64 * self.scale.weight(1)
    }

    /// Returns the average real distance over the pairs with a path; 0 without such pairs.
    pub fn average(&self) -> f64 {
        if self.pairs == 0 { 0.0 } else { self.length(self.sum) / self.pairs as f64 }
    }

    /// Returns the Wiener index: the sum of the distances, counting each pair of an undirected
    /// graph once.
    pub fn wiener(&self) -> u128 {
        match self.direction {
            Direction::Undirected => self.sum / 2,
            Direction::Directed => self.sum,
        }
    }

    /// Returns whether every vertex has a path to every other.
    pub fn is_connected(&self) -> bool {
        let vertices = u64::from(self.vertices);
        self.pairs == vertices * vertices.saturating_sub(1)
    }
}

/// Returns the memory that [`summary`] needs on `threads` threads beside the graph.
pub fn plan_of_summary<'g>(
    graph: impl Into<GraphView<'g>>,
    lengths: Lengths,
    threads: usize,
) -> Plan {
    let graph = graph.into();
    let plan = match lengths.weigh_in(graph) {
        true => distances::plan::<ByWeights<Reach>>(graph, threads),
        false => distances::plan::<ByHops<Extent>>(graph, threads),
    };
    plan.with("eccentricities", 8 * u64::from(graph.vertices()))
}

/// Returns the distance statistics of a graph, computed on rayon's current pool.
///
/// # Errors
/// If the observer cancels or memory is refused.
pub fn summary<'g>(
    graph: impl Into<GraphView<'g>>,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Summary, AnalysisError> {
    summary_in(graph.into(), lengths, observer)
}

fn summary_in(
    graph: GraphView<'_>,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Summary, AnalysisError> {
    observer.on_stage("measuring distances");
    let scale = lengths.scale_in(graph);
    let mut whole = GraphSummary::new(graph.vertices(), graph.direction(), scale);
    let mut eccentricities = memory::with_room(graph.vertices() as usize)?;
    if lengths.weigh_in(graph) {
        let found = distances::of_graph::<ByWeights<Reach>>(graph, Along::Arcs, observer)?;
        eccentricities.extend(found.into_iter().map(|found| whole.add(found)));
    } else {
        // In a search against the arcs, a vertex counts the sources that it has a path to.
        let found = distances::of_graph::<ByHops<Extent>>(graph, Along::Against, observer)?;
        eccentricities.extend(found.iter().map(|found| whole.add(found.into())));
    }
    Ok(Summary { eccentricities, whole })
}

/// Returns the memory that [`summary_of_batch`] needs on `threads` threads beside these graphs.
///
/// [`eccentricities_of_batch`] needs 8 bytes per vertex more.
pub fn plan_of_batch(graphs: BatchSlice<'_>, lengths: Lengths, threads: usize) -> Plan {
    let plan = match lengths.weigh_in_batch(graphs) {
        true => distances::plan_of_batch::<ByWeights<Reach>>(graphs, threads),
        false => distances::plan_of_batch::<ByHops<Extent>>(graphs, threads),
    };
    plan.with("summaries", size_of::<GraphSummary>() as u64 * graphs.len() as u64)
}

/// Returns the distance statistics of each of these graphs, as [`summary`] computes them.
///
/// One thread works on each graph.
///
/// # Errors
/// If the observer cancels or memory is refused.
pub fn summary_of_batch(
    graphs: BatchSlice<'_>,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Vec<GraphSummary>, AnalysisError> {
    observer.on_stage("measuring distances");
    summarized(graphs, lengths, &mut [], observer)
}

/// Returns the distance statistics of each graph and the eccentricity of each vertex.
///
/// Eccentricities come graph by graph, in the order of the vertices in their batch.
///
/// # Errors
/// If the observer cancels or memory is refused.
pub fn eccentricities_of_batch(
    graphs: BatchSlice<'_>,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<(Vec<GraphSummary>, Vec<u64>), AnalysisError> {
    observer.on_stage("measuring distances");
    let mut eccentricities = memory::zeros(graphs.vertices() as usize)?;
    let summaries = summarized(graphs, lengths, &mut eccentricities, observer)?;
    Ok((summaries, eccentricities))
}

/// Output: a summary per graph and, if requested, an eccentricity per vertex.
type Places<'a> = (PerGraph<'a, GraphSummary>, PerVertex<'a, u64>);

fn summarized(
    graphs: BatchSlice<'_>,
    lengths: Lengths,
    eccentricities: &mut [u64],
    observer: &dyn Observer,
) -> Result<Vec<GraphSummary>, AnalysisError> {
    let direction = graphs.batch().direction();
    let empty = GraphSummary::new(0, direction, WeightScale::ONE);
    let mut summaries = memory::filled(empty, graphs.len())?;
    let whole = |graph: BatchGraph<'_>| {
        GraphSummary::new(graph.vertices(), direction, lengths.scale_in_member(graph))
    };
    let places = (PerGraph(&mut summaries[..]), PerVertex(eccentricities));
    if lengths.weigh_in_batch(graphs) {
        let finish = |found: &[Reach], graph: BatchGraph<'_>, places: Places<'_>| {
            summarize(found.iter().copied(), whole(graph), places);
        };
        distances::fill_batch::<ByWeights<Reach>, _>(
            graphs,
            Along::Arcs,
            observer,
            places,
            finish,
        )?;
    } else {
        let finish = |found: &[Extent], graph: BatchGraph<'_>, places: Places<'_>| {
            summarize(found.iter().map(Reach::from), whole(graph), places);
        };
        distances::fill_batch::<ByHops<Extent>, _>(
            graphs,
            Along::Against,
            observer,
            places,
            finish,
        )?;
    }
    Ok(summaries)
}

/// Adds the distances of a graph's vertices to its statistics and stores both.
fn summarize(found: impl Iterator<Item = Reach>, mut whole: GraphSummary, places: Places<'_>) {
    let (PerGraph(summaries), PerVertex(eccentricities)) = places;
    for (vertex, found) in found.enumerate() {
        let farthest = whole.add(found);
        if let Some(eccentricity) = eccentricities.get_mut(vertex) {
            *eccentricity = farthest;
        }
    }
    summaries[0] = whole;
}
