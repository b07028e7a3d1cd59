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
//! Searches along the arcs: breadth-first from 64 vertices at once, or Dijkstra's by weights.
//!
//! # Memory
//! Beside the graph 32 bytes a vertex for each thread; for rows 256 bytes a vertex more for each thread (by
//! weights 64), and for a summary 8 bytes a vertex: [`plan_of_rows`], [`plan_of_summary`].
//!
//! # Determinism
//! Distances are integers: the same on any number of threads and any shards. Rows come in the order of
//! their sources.
//!
//! # References
//! Ji, Liu, Huang, *SwarmGraph*, HPCC 2020. Wiener, *Structural determination of paraffin boiling points*,
//! Journal of the American Chemical Society 69, 1947.

use crate::dijkstra::{Dijkstra, UNREACHED};
use crate::distances::{Distances, bytes_of_distances};
use crate::lists::{Along, over};
use crate::search::{SOURCES, Visit};
use crate::swarm::{self, PerGraph, PerVertex, Swarm};
use crate::waves::{Findings, Sum, Sums, WEIGHED, Waves, WeighedSums, WeighedWaves};
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

    fn add(&mut self, of_source: &Sum) {
        self.pairs += of_source.reached;
        self.sum += of_source.far;
        self.diameter = self.diameter.max(of_source.farthest);
        self.radius = self.radius.min(of_source.farthest);
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
    let searches = bytes_of_distances(lengths.weigh_in(graph), graph.vertices(), threads);
    Plan::default()
        .with("eccentricities", 8 * u64::from(graph.vertices()))
        .with("searches, one a thread", searches)
}

/// The memory that [`rows`] will need on so many threads beside the graph.
pub fn plan_of_rows(graph: &Graph, threads: usize) -> Plan {
    let rows = 4 * u64::from(SOURCES) * u64::from(graph.vertices());
    Plan::default()
        .with("searches, one a thread", bytes_of_distances(false, graph.vertices(), threads))
        .with("rows, 64 a thread", (threads as u64).saturating_mul(rows))
}

/// The memory that [`weighed_rows`] will need on so many threads beside the graph.
pub fn plan_of_weighed_rows(graph: &Graph, threads: usize) -> Plan {
    let rows = 8 * u64::from(WEIGHED) * u64::from(graph.vertices());
    Plan::default()
        .with("searches, one a thread", bytes_of_distances(true, graph.vertices(), threads))
        .with("rows, 8 a thread", (threads as u64).saturating_mul(rows))
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
    let observer: &dyn Observer = observer;
    let mut eccentricities = memory::zeros(graph.vertices() as usize)?;
    let scale = lengths.scale_in(graph);
    let mut whole = GraphSummary::new(graph.vertices(), graph.direction(), scale);
    let mut take = |sources: Range<VertexId>, sums: &[Sum]| {
        for (source, sum) in sources.zip(sums) {
            eccentricities[source as usize] = sum.farthest;
            whole.add(sum);
        }
        Ok::<_, RunError>(())
    };
    if lengths.weigh_in(graph) {
        let make = || Ok(WeighedSums::default());
        let keep = |sums: &mut WeighedSums, at: usize, search: &Dijkstra| sums[at] = search.sum();
        let take = |sources: Range<VertexId>, sums: &WeighedSums| take(sources, sums);
        over(graph, Along::Arcs, WeighedWaves { make, keep, take, observer })?;
    } else {
        let make = || Ok(Sums::default());
        let take = |sources: Range<VertexId>, sums: &Sums| take(sources, sums.of_sources());
        over(graph, Along::Arcs, Waves { make, take, observer })?;
    }
    Ok(Summary { eccentricities, whole })
}

/// The memory that [`summary_of_batch`] will need on so many threads beside these graphs, or
/// [`eccentricities_of_batch`].
pub fn plan_of_batch(
    graphs: BatchSlice<'_>,
    lengths: Lengths,
    eccentricities: bool,
    threads: usize,
) -> Plan {
    let searches =
        bytes_of_distances(lengths.weigh_in_batch(graphs), swarm::largest(graphs), threads);
    let plan = Plan::default()
        .with("summaries", size_of::<GraphSummary>() as u64 * graphs.len() as u64)
        .with("searches, one a thread", searches);
    if eccentricities { plan.with("eccentricities", 8 * graphs.vertices()) } else { plan }
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

/// Summaries, and eccentricities where there is room for them.
fn summarized(
    graphs: BatchSlice<'_>,
    lengths: Lengths,
    eccentricities: &mut [u64],
    observer: &dyn Observer,
) -> Result<Vec<GraphSummary>, RunError> {
    let (weigh, largest) = (lengths.weigh_in_batch(graphs), swarm::largest(graphs));
    let direction = graphs.batch().direction();
    let empty = GraphSummary::new(0, direction, WeightScale::ONE);
    let mut summaries = memory::filled(empty, graphs.len())?;
    type Places<'a> = (PerGraph<'a, GraphSummary>, PerVertex<'a, u64>);
    let make = || Distances::new(weigh, largest);
    let work = |distances: &mut Distances, graph: BatchGraph<'_>, places: Places<'_>| {
        let (PerGraph(summaries), PerVertex(eccentricities)) = places;
        let scale = lengths.scale_in_member(graph);
        let mut whole = GraphSummary::new(graph.vertices(), direction, scale);
        distances.for_each(graph, Along::Arcs, observer, |source, sum| {
            whole.add(sum);
            if let Some(eccentricity) = eccentricities.get_mut(source as usize) {
                *eccentricity = sum.farthest;
            }
        })?;
        summaries[0] = whole;
        Ok(())
    };
    let places = (PerGraph(&mut summaries[..]), PerVertex(eccentricities));
    Swarm { make, work, observer }.fill(graphs, places)?;
    Ok(summaries)
}

/// Hands out the distances from each source, in their order, on rayon's current pool: the source, and a
/// distance for each vertex. An error of `take` ends the run.
///
/// # Errors
/// Where `take` fails, the observer cancels, or memory is refused.
pub fn rows<E: From<RunError> + Send>(
    graph: &Graph,
    observer: &mut dyn Observer,
    mut take: impl FnMut(VertexId, &[u32]) -> Result<(), E>,
) -> Result<(), E> {
    observer.on_stage("measuring distances");
    let observer: &dyn Observer = observer;
    let vertices = graph.vertices() as usize;
    let make = || Rows::new(vertices);
    let take = |sources: Range<VertexId>, found: &Rows| {
        let rows = found.distances.chunks(vertices.max(1));
        sources.zip(rows).try_for_each(|(source, row)| take(source, row))
    };
    over(graph, Along::Arcs, Waves { make, take, observer })
}

/// Hands out the distances by weights from each source, likewise: sums of stored weights, or
/// [`NO_WEIGHED_WAY`]. In a graph without weights each arc has length 1.
///
/// # Errors
/// As [`rows`].
pub fn weighed_rows<E: From<RunError> + Send>(
    graph: &Graph,
    observer: &mut dyn Observer,
    mut take: impl FnMut(VertexId, &[u64]) -> Result<(), E>,
) -> Result<(), E> {
    let vertices = graph.vertices() as usize;
    if !Lengths::Weights.weigh_in(graph) {
        let mut wide = memory::zeros(vertices).map_err(RunError::from)?;
        return rows(graph, observer, |source, row| {
            for (wide, &distance) in wide.iter_mut().zip(row) {
                *wide = if distance == NO_WAY { NO_WEIGHED_WAY } else { u64::from(distance) };
            }
            take(source, &wide)
        });
    }
    observer.on_stage("measuring distances");
    let observer: &dyn Observer = observer;
    let make = || memory::zeros(vertices.saturating_mul(WEIGHED as usize));
    let keep = |rows: &mut Vec<u64>, at: usize, search: &Dijkstra| {
        rows[at * vertices..(at + 1) * vertices].copy_from_slice(search.distances());
    };
    let take = |sources: Range<VertexId>, rows: &Vec<u64>| {
        let rows = rows.chunks(vertices.max(1));
        sources.zip(rows).try_for_each(|(source, row)| take(source, row))
    };
    over(graph, Along::Arcs, WeighedWaves { make, keep, take, observer })
}

/// The distances from 64 sources, row behind row.
struct Rows {
    vertices: usize,
    distances: Vec<u32>,
}

impl Rows {
    fn new(vertices: usize) -> Result<Rows, OutOfMemory> {
        let distances = memory::filled(NO_WAY, vertices.saturating_mul(SOURCES as usize))?;
        Ok(Rows { vertices, distances })
    }
}

impl Visit for Rows {
    #[inline]
    fn arrive(&mut self, step: u32, vertex: VertexId, mut sources: u64) {
        while sources != 0 {
            let row = sources.trailing_zeros() as usize;
            self.distances[row * self.vertices + vertex as usize] = step;
            sources &= sources - 1;
        }
    }
}

impl Findings for Rows {
    fn clear(&mut self) {
        self.distances.fill(NO_WAY);
    }
}
