//! All-pairs shortest paths: how far every vertex is from every other, row by row or in sum.
//!
//! # What it returns
//! The distance d(s, t) is the least length of a way from s to t along the arcs' directions, by one of two
//! [`Lengths`]; 0 from a vertex to itself, [`NO_WAY`] or [`NO_WEIGHED_WAY`] where there is none. Self-loops
//! and repeated arcs change nothing. [`rows`] and [`weighed_rows`] hand out the row of each source, and
//! [`summary`] keeps what is asked of them most: each vertex's eccentricity, and with these the diameter
//! and the radius; the sum of all distances, and with it their average and Wiener's index.
//!
//! Lengths by weights are sums of the weights as the graph stores them: exact, and integers. The graph's
//! [`WeightScale`] leads to real ones.
//!
//! # Algorithm
//! Breadth-first searches along the arcs, from 64 vertices at once; by weights, Dijkstra's from each vertex, or but
//! for rows, in graphs of up to 128 vertices, rounds of shorter ways from 64 at once.
//!
//! # Memory
//! Beside the graph 32 bytes a vertex for each thread (by weights 20); for rows 256 bytes a vertex more for each
//! thread (by weights 512), and for a summary 24, and 32 beside (by weights at most 66 KiB a thread, and 40
//! beside): [`plan_of_rows`], [`plan_of_weighed_rows`], [`plan_of_summary`].
//!
//! # Determinism
//! Distances are integers: the same on any number of threads and any shards. Rows come in the order of
//! their sources.
//!
//! # References
//! Ji, Liu, Huang, *SwarmGraph*, HPCC 2020. Wiener, *Structural determination of paraffin boiling points*,
//! Journal of the American Chemical Society 69, 1947.

pub use crate::pairs::{distances_of_batch, pairs_of_batch, plan_of_distances_of_batch};
pub use crate::reach::{Reach, plan_of_reach, plan_of_reach_of_batch, reach, reach_of_batch};

use crate::dijkstra::{Dijkstra, UNREACHED, bytes_of_dijkstra};
use crate::lists::{Along, Lists, Over, Sides, over};
use crate::pairs::Rows;
use crate::run::go_on;
use crate::search::{Search, bytes_of_search};
use crate::swarm::{PerGraph, PerVertex};
use crate::tally::{self, Extent};
use crate::waves::{GROUP, Waves, sources};
use crate::weighed;
use crate::{Lengths, Observer, Plan, RunError};
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Direction, Graph, OutOfMemory, VertexId, WeightScale, memory};
use std::ops::Range;

/// The distance where there is no way.
pub const NO_WAY: u32 = u32::MAX;
/// The distance by weights where there is no way.
pub const NO_WEIGHED_WAY: u64 = UNREACHED;

/// What all distances of a graph come to. A pair is of two different vertices, in one order.
///
/// Lengths are integers: numbers of arcs, or sums of stored weights, which [`GraphSummary::length`] makes
/// real.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphSummary {
    /// How many vertices there are.
    pub vertices: u32,
    /// How many pairs (s, t) have a way from s to t.
    pub pairs: u64,
    /// The sum of their distances.
    pub sum: u128,
    /// The largest distance: of pairs that have a way.
    pub diameter: u64,
    /// The smallest eccentricity.
    pub radius: u64,
    /// Whether edges have a direction.
    pub direction: Direction,
    /// How lengths stand for real ones.
    pub scale: WeightScale,
}

/// The same with what it is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Of each vertex the distance to the farthest of those that a way leads to; 0 where there are none.
    pub eccentricities: Vec<u64>,
    /// Of the graph.
    pub whole: GraphSummary,
}

impl GraphSummary {
    fn new(vertices: u32, direction: Direction, scale: WeightScale) -> GraphSummary {
        let (pairs, sum, diameter) = (0, 0, 0);
        let radius = if vertices == 0 { 0 } else { u64::MAX };
        GraphSummary { vertices, pairs, sum, diameter, radius, direction, scale }
    }

    /// Adds what one vertex's ways come to.
    fn add(&mut self, of_vertex: Reach) -> u64 {
        let Reach { reached, far, farthest } = of_vertex;
        self.pairs += reached;
        self.sum += far;
        self.diameter = self.diameter.max(farthest);
        self.radius = self.radius.min(farthest);
        farthest
    }

    /// The real length that one of these stands for.
    pub fn length(&self, stored: u128) -> f64 {
        stored as f64 * self.scale.weight(1)
    }

    /// The average distance, real, of pairs that have a way; 0 without any.
    pub fn average(&self) -> f64 {
        if self.pairs == 0 { 0.0 } else { self.length(self.sum) / self.pairs as f64 }
    }

    /// Wiener's index: the sum of the distances, on an undirected graph of each two vertices once.
    pub fn wiener(&self) -> u128 {
        match self.direction {
            Direction::Undirected => self.sum / 2,
            Direction::Directed => self.sum,
        }
    }

    /// Whether every vertex has a way to every other.
    pub fn is_connected(&self) -> bool {
        let vertices = u64::from(self.vertices);
        self.pairs == vertices * vertices.saturating_sub(1)
    }
}

/// The memory that [`summary`] will need on so many threads beside the graph.
pub fn plan_of_summary(graph: &Graph, lengths: Lengths, threads: usize) -> Plan {
    let plan = match lengths.weigh_in(graph) {
        true => weighed::plan::<Reach>(graph, threads),
        false => tally::plan::<Extent>(graph, threads),
    };
    plan.with("eccentricities", 8 * u64::from(graph.vertices()))
}

/// The memory that [`rows`] will need on so many threads beside the graph.
pub fn plan_of_rows(graph: &Graph, threads: usize) -> Plan {
    let (vertices, threads) = (u64::from(graph.vertices()), threads as u64);
    let searches = bytes_of_search::<u64>(graph.vertices());
    Plan::default()
        .with("searches, one a thread", threads.saturating_mul(searches))
        .with("rows, 64 a thread", threads.saturating_mul(4 * u64::from(GROUP) * vertices))
}

/// The memory that [`weighed_rows`] will need on so many threads beside the graph.
pub fn plan_of_weighed_rows(graph: &Graph, threads: usize) -> Plan {
    let (vertices, threads) = (u64::from(graph.vertices()), threads as u64);
    let searches = bytes_of_dijkstra(graph.vertices());
    Plan::default()
        .with("searches, one a thread", threads.saturating_mul(searches))
        .with("rows, 64 a thread", threads.saturating_mul(8 * u64::from(GROUP) * vertices))
}

/// What all distances come to, on rayon's current pool.
///
/// # Errors
/// Where the observer cancels, or memory is refused.
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
        let found: Vec<Reach> = weighed::of_graph(graph, Along::Arcs, observer)?;
        eccentricities.extend(found.into_iter().map(|found| whole.add(found)));
    } else {
        // Against the arcs, a vertex collects those that it has a way to.
        let found: Vec<Extent> = tally::of_graph(graph, Along::Against, observer)?;
        eccentricities.extend(found.iter().map(|found| whole.add(found.into())));
    }
    Ok(Summary { eccentricities, whole })
}

/// The memory that [`summary_of_batch`] will need on so many threads beside these graphs;
/// [`eccentricities_of_batch`] needs 8 bytes a vertex more.
pub fn plan_of_batch(graphs: BatchSlice<'_>, lengths: Lengths, threads: usize) -> Plan {
    let plan = match lengths.weigh_in_batch(graphs) {
        true => weighed::plan_of_batch::<Reach>(graphs, threads),
        false => tally::plan_of_batch::<Extent>(graphs, threads),
    };
    plan.with("summaries", size_of::<GraphSummary>() as u64 * graphs.len() as u64)
}

/// What all distances of each of these graphs come to: what [`summary`] finds of each; each is done by one
/// thread.
///
/// # Errors
/// Where the observer cancels, or memory is refused.
pub fn summary_of_batch(
    graphs: BatchSlice<'_>,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Vec<GraphSummary>, RunError> {
    observer.on_stage("measuring distances");
    summarized(graphs, lengths, &mut [], observer)
}

/// The same with each vertex's eccentricity, graph by graph, as the vertices lie in their batch.
///
/// # Errors
/// As [`summary_of_batch`].
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

/// A summary for each graph, and an eccentricity for each vertex, where there is room for them.
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
        weighed::fill_batch(graphs, Along::Arcs, observer, places, finish)?;
    } else {
        let finish = |found: &[Extent], graph: BatchGraph<'_>, places: Places<'_>| {
            summarize(found.iter().map(Reach::from), whole(graph), places);
        };
        tally::fill_batch(graphs, Along::Against, observer, places, finish)?;
    }
    Ok(summaries)
}

/// Adds what was found of a graph's vertices to what is there without them.
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

/// Hands out the distances from each source, in their order, on rayon's current pool: the source, and a
/// distance for each vertex. An error of `take` ends the run.
///
/// # Errors
/// Where `take` fails, the observer cancels, or memory is refused.
pub fn rows<E: From<RunError> + Send>(
    graph: &Graph,
    observer: &mut dyn Observer,
    take: impl FnMut(VertexId, &[u32]) -> Result<(), E>,
) -> Result<(), E> {
    observer.on_stage("measuring distances");
    over(graph, Along::Arcs, HandOut { take, observer })
}

/// Hands out the distances by weights from each source, likewise: sums of stored weights, or
/// [`NO_WEIGHED_WAY`]. In a graph without weights each arc has length 1.
///
/// # Errors
/// As [`rows`].
pub fn weighed_rows<E: From<RunError> + Send>(
    graph: &Graph,
    observer: &mut dyn Observer,
    take: impl FnMut(VertexId, &[u64]) -> Result<(), E>,
) -> Result<(), E> {
    observer.on_stage("measuring distances");
    let weigh = Lengths::Weights.weigh_in(graph);
    over(graph, Along::Arcs, HandOutWeighed { take, weigh, observer })
}

/// Hands out rows.
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

/// Hands out rows by weights, where there are any.
struct HandOutWeighed<'a, Take> {
    take: Take,
    weigh: bool,
    observer: &'a dyn Observer,
}

impl<E, Take> Over for HandOutWeighed<'_, Take>
where
    E: From<RunError> + Send,
    Take: FnMut(VertexId, &[u64]) -> Result<(), E>,
{
    type Result = Result<(), E>;

    fn lists<L: Lists>(self, lists: Sides<L>) -> Result<(), E> {
        let HandOutWeighed { take, weigh, observer } = self;
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

/// Hands out the rows that `search` fills, of a group of sources at once.
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
    let work = |(desk, rows): &mut (D, Vec<T>), sources| search(desk, rows, sources);
    let take = |first: VertexId, desks: &[(D, Vec<T>)]| {
        (first / GROUP..).zip(desks).try_for_each(|(group, (_, rows))| {
            let rows = rows.chunks(row);
            sources(group, vertices).zip(rows).try_for_each(|(source, row)| take(source, row))
        })
    };
    Waves { make, work, take, observer }.run(vertices)
}
