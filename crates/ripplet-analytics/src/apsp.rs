//! All-pairs shortest paths: the distance between every two vertices, row by row or summed.
//!
//! # What it returns
//! The distance d(s, t) is the least length of a path from s to t along the arcs' directions.
//! [`Lengths`] selects what a length is: the number of arcs, or the sum of their weights. The
//! distance from a vertex to itself is 0. Without a path it is [`NO_WAY`], or [`NO_WEIGHTED_PATH`] by
//! weights. Self-loops and repeated arcs change nothing.
//!
//! - [`rows`] and [`weighted_rows`] return the distances from each source, one row per source.
//! - [`summary`] returns each vertex's eccentricity, the diameter, the radius, and the sum of all
//!   distances, which gives the average distance and the Wiener index.
//!
//! Lengths by weights are sums of the stored weights: exact integers. The graph's [`WeightScale`]
//! converts them to real numbers.
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
//!
//! # Determinism
//! Distances are integers: they are equal for any number of threads and any shards. Rows come in
//! ascending order of their sources.
//!
//! # References
//! Ji, Liu, Huang, *SwarmGraph*, HPCC 2020. Wiener, *Structural determination of paraffin boiling
//! points*, Journal of the American Chemical Society 69, 1947.

pub use crate::pairs::{distances_of_batch, pairs_of_batch, plan_of_distances_of_batch};
pub use crate::reach::{Reach, plan_of_reach, plan_of_reach_of_batch, reach, reach_of_batch};

use crate::dijkstra::{Dijkstra, UNREACHED, bytes_of_dijkstra};
use crate::lists::{Along, Lists, Over, Sides, over};
use crate::pairs::Rows;
use crate::run::go_on;
use crate::search::{Search, bytes_of_search};
use crate::source_batches::{GROUP, SourceBatches, sources};
use crate::swarm::{PerGraph, PerVertex};
use crate::tally::{self, Extent};
use crate::weighted;
use crate::{Lengths, Observer, Plan, RunError};
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Direction, Graph, OutOfMemory, VertexId, WeightScale, memory};
use std::ops::Range;

/// The distance between two vertices without a path, in arcs.
pub const NO_WAY: u32 = u32::MAX;
/// The distance between two vertices without a path, by weights.
pub const NO_WEIGHTED_PATH: u64 = UNREACHED;

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
pub fn plan_of_summary(graph: &Graph, lengths: Lengths, threads: usize) -> Plan {
    let plan = match lengths.weigh_in(graph) {
        true => weighted::plan::<Reach>(graph, threads),
        false => tally::plan::<Extent>(graph, threads),
    };
    plan.with("eccentricities", 8 * u64::from(graph.vertices()))
}

/// Returns the memory that [`rows`] needs on `threads` threads beside the graph.
pub fn plan_of_rows(graph: &Graph, threads: usize) -> Plan {
    let (vertices, threads) = (u64::from(graph.vertices()), threads as u64);
    let searches = bytes_of_search::<u64>(graph.vertices());
    Plan::default()
        .with("searches, one a thread", threads.saturating_mul(searches))
        .with("rows, 64 a thread", threads.saturating_mul(4 * u64::from(GROUP) * vertices))
}

/// Returns the memory that [`weighted_rows`] needs on `threads` threads beside the graph.
pub fn plan_of_weighted_rows(graph: &Graph, threads: usize) -> Plan {
    let (vertices, threads) = (u64::from(graph.vertices()), threads as u64);
    let searches = bytes_of_dijkstra(graph.vertices());
    Plan::default()
        .with("searches, one a thread", threads.saturating_mul(searches))
        .with("rows, 64 a thread", threads.saturating_mul(8 * u64::from(GROUP) * vertices))
}

/// Returns the distance statistics of a graph, computed on rayon's current pool.
///
/// # Errors
/// If the observer cancels or memory is refused.
pub fn summary(
    graph: &Graph,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Summary, RunError> {
    observer.on_stage("measuring distances");
    let scale = lengths.scale_in(graph);
    let mut whole = GraphSummary::new(graph.vertices(), graph.direction(), scale);
    let mut eccentricities = memory::with_room(graph.vertices() as usize)?;
    if lengths.weigh_in(graph) {
        let found: Vec<Reach> = weighted::of_graph(graph, Along::Arcs, observer)?;
        eccentricities.extend(found.into_iter().map(|found| whole.add(found)));
    } else {
        // In a search against the arcs, a vertex counts the sources that it has a path to.
        let found: Vec<Extent> = tally::of_graph(graph, Along::Against, observer)?;
        eccentricities.extend(found.iter().map(|found| whole.add(found.into())));
    }
    Ok(Summary { eccentricities, whole })
}

/// Returns the memory that [`summary_of_batch`] needs on `threads` threads beside these graphs.
///
/// [`eccentricities_of_batch`] needs 8 bytes per vertex more.
pub fn plan_of_batch(graphs: BatchSlice<'_>, lengths: Lengths, threads: usize) -> Plan {
    let plan = match lengths.weigh_in_batch(graphs) {
        true => weighted::plan_of_batch::<Reach>(graphs, threads),
        false => tally::plan_of_batch::<Extent>(graphs, threads),
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
) -> Result<Vec<GraphSummary>, RunError> {
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
) -> Result<(Vec<GraphSummary>, Vec<u64>), RunError> {
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
) -> Result<Vec<GraphSummary>, RunError> {
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
        weighted::fill_batch(graphs, Along::Arcs, observer, places, finish)?;
    } else {
        let finish = |found: &[Extent], graph: BatchGraph<'_>, places: Places<'_>| {
            summarize(found.iter().map(Reach::from), whole(graph), places);
        };
        tally::fill_batch(graphs, Along::Against, observer, places, finish)?;
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

/// Passes the distances from each source to `take`, on rayon's current pool.
///
/// `take` receives the source and one distance in arcs per vertex, in ascending order of the
/// sources. An error of `take` ends the run.
///
/// # Errors
/// If `take` fails, the observer cancels, or memory is refused.
pub fn rows<E: From<RunError> + Send>(
    graph: &Graph,
    observer: &mut dyn Observer,
    take: impl FnMut(VertexId, &[u32]) -> Result<(), E>,
) -> Result<(), E> {
    observer.on_stage("measuring distances");
    over(graph, Along::Arcs, HandOut { take, observer })
}

/// Passes the distances by weights from each source to `take`, on rayon's current pool.
///
/// A distance is a sum of stored weights, or [`NO_WEIGHTED_PATH`]. In a graph without weights each
/// arc has length 1. Sources ascend, and an error of `take` ends the run.
///
/// # Errors
/// If `take` fails, the observer cancels, or memory is refused.
pub fn weighted_rows<E: From<RunError> + Send>(
    graph: &Graph,
    observer: &mut dyn Observer,
    take: impl FnMut(VertexId, &[u64]) -> Result<(), E>,
) -> Result<(), E> {
    observer.on_stage("measuring distances");
    let weigh = Lengths::Weights.weigh_in(graph);
    over(graph, Along::Arcs, HandOutWeighted { take, weigh, observer })
}

/// Passes rows of hop distances to a callback.
struct HandOut<'a, Take> {
    take: Take,
    observer: &'a dyn Observer,
}

impl<E, Take> Over for HandOut<'_, Take>
where
    E: From<RunError> + Send,
    Take: FnMut(VertexId, &[u32]) -> Result<(), E>,
{
    type Result = Result<(), E>;

    fn lists<L: Lists>(self, lists: Sides<L>) -> Result<(), E> {
        let search = |search: &mut Search<u64>, distances: &mut [u32], sources| {
            distances.fill(NO_WAY);
            let vertices = lists.vertices() as usize;
            search.run(lists, sources, &mut Rows { vertices, distances });
            Ok(())
        };
        hand_out(lists.vertices(), Search::new, search, self.take, self.observer)
    }
}

/// Passes rows of distances by weights to a callback; by hops if the graph has no weights.
struct HandOutWeighted<'a, Take> {
    take: Take,
    weigh: bool,
    observer: &'a dyn Observer,
}

impl<E, Take> Over for HandOutWeighted<'_, Take>
where
    E: From<RunError> + Send,
    Take: FnMut(VertexId, &[u64]) -> Result<(), E>,
{
    type Result = Result<(), E>;

    fn lists<L: Lists>(self, lists: Sides<L>) -> Result<(), E> {
        let HandOutWeighted { take, weigh, observer } = self;
        let row = lists.vertices() as usize;
        let search = |search: &mut Dijkstra, rows: &mut [u64], sources: Range<VertexId>| {
            for (source, row) in sources.zip(rows.chunks_mut(row)) {
                go_on(observer)?;
                match weigh {
                    true => search.run(lists.ahead, source),
                    false => search.run_hops(lists.ahead, source),
                }
                row.copy_from_slice(search.distances());
            }
            Ok(())
        };
        hand_out(lists.vertices(), Dijkstra::new, search, take, observer)
    }
}

/// Passes the rows that `search` fills for a group of sources to `take`.
fn hand_out<D, T, E>(
    vertices: u32,
    make: impl Fn(u32) -> Result<D, OutOfMemory>,
    search: impl Fn(&mut D, &mut [T], Range<VertexId>) -> Result<(), RunError> + Sync,
    mut take: impl FnMut(VertexId, &[T]) -> Result<(), E>,
    observer: &dyn Observer,
) -> Result<(), E>
where
    D: Send + Sync,
    T: Clone + Default + Send + Sync,
    E: From<RunError>,
{
    let row = vertices as usize;
    let make = |vertices| {
        let rows = memory::filled(T::default(), row.saturating_mul(GROUP as usize))?;
        Ok((make(vertices)?, rows))
    };
    let work = |(workspace, rows): &mut (D, Vec<T>), sources| search(workspace, rows, sources);
    let take = |first: VertexId, workspaces: &[(D, Vec<T>)]| {
        (first / GROUP..).zip(workspaces).try_for_each(|(group, (_, rows))| {
            let rows = rows.chunks(row);
            sources(group, vertices).zip(rows).try_for_each(|(source, row)| take(source, row))
        })
    };
    SourceBatches { make, work, take, observer }.run(vertices)
}
