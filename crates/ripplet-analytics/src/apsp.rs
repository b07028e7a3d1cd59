//! All-pairs shortest paths: how far every vertex is from every other, row by row or in sum.
//!
//! # What it returns
//! The distance d(s, t) is the least number of arcs on a way from s to t, along their directions; 0 from a
//! vertex to itself, [`NO_WAY`] where there is none. Weights, self-loops and repeated arcs change nothing.
//! [`rows`] hands out the row of each source, and [`summary`] keeps what is asked of them most: each
//! vertex's eccentricity, and with these the diameter and the radius; the sum of all distances, and with
//! it their average and Wiener's index.
//!
//! # Algorithm
//! Breadth-first searches along the arcs, from 64 vertices at once.
//!
//! # Memory
//! Beside the graph 32 bytes a vertex for each thread; for rows 256 bytes a vertex more for each thread, and
//! for a summary 24, and 28 beside: [`plan_of_rows`], [`plan_of_summary`].
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

use crate::lists::{Along, Lists, Over, Sides, over};
use crate::search::{Search, Visit, bytes_of_search};
use crate::tally::{self, Extent};
use crate::waves::{GROUP, Waves, sources};
use crate::{Observer, Plan, RunError};
use ripplet_graph::{Direction, Graph, OutOfMemory, VertexId, memory};

/// The distance where there is no way.
pub const NO_WAY: u32 = u32::MAX;

/// What all distances of a graph come to. A pair is of two different vertices, in one order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Of each vertex the distance to the farthest of those that a way leads to; 0 where there are none.
    pub eccentricities: Vec<u32>,
    /// How many pairs (s, t) have a way from s to t.
    pub pairs: u64,
    /// The sum of their distances.
    pub sum: u128,
    direction: Direction,
}

impl Summary {
    /// The largest distance: of pairs that have a way.
    pub fn diameter(&self) -> u32 {
        self.eccentricities.iter().copied().max().unwrap_or(0)
    }

    /// The smallest eccentricity.
    pub fn radius(&self) -> u32 {
        self.eccentricities.iter().copied().min().unwrap_or(0)
    }

    /// The average distance, of pairs that have a way; 0 without any.
    pub fn average(&self) -> f64 {
        if self.pairs == 0 { 0.0 } else { self.sum as f64 / self.pairs as f64 }
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
        let vertices = self.eccentricities.len() as u64;
        self.pairs == vertices * vertices.saturating_sub(1)
    }
}

/// The memory that [`summary`] will need on so many threads beside the graph.
pub fn plan_of_summary(graph: &Graph, threads: usize) -> Plan {
    let eccentricities = 4 * u64::from(graph.vertices());
    tally::plan::<Extent>(graph, threads).with("eccentricities", eccentricities)
}

/// The memory that [`rows`] will need on so many threads beside the graph.
pub fn plan_of_rows(graph: &Graph, threads: usize) -> Plan {
    let (vertices, threads) = (u64::from(graph.vertices()), threads as u64);
    let searches = bytes_of_search::<u64>(graph.vertices());
    Plan::default()
        .with("searches, one a thread", threads.saturating_mul(searches))
        .with("rows, 64 a thread", threads.saturating_mul(4 * u64::from(GROUP) * vertices))
}

/// What all distances come to, on rayon's current pool.
///
/// # Errors
/// Where the observer cancels, or memory is refused.
pub fn summary(graph: &Graph, observer: &mut dyn Observer) -> Result<Summary, RunError> {
    observer.on_stage("measuring distances");
    // Against the arcs, a vertex collects those that it has a way to.
    let found: Vec<Extent> = tally::of_graph(graph, Along::Against, observer)?;
    let mut eccentricities = memory::with_room(found.len())?;
    eccentricities.extend(found.iter().map(|found| found.farthest));
    let pairs = found.iter().map(|found| found.distances.reached).sum();
    let sum = found.iter().map(|found| u128::from(found.distances.far)).sum();
    Ok(Summary { eccentricities, pairs, sum, direction: graph.direction() })
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

    fn lists<L: Lists>(mut self, lists: Sides<L>) -> Result<(), E> {
        let work = |(search, rows): &mut (Search<u64>, Rows), sources| {
            rows.distances.fill(NO_WAY);
            search.run(lists, sources, rows);
            Ok(())
        };
        let vertices = lists.vertices();
        let take = |first: VertexId, desks: &[(Search<u64>, Rows)]| {
            (first / GROUP..).zip(desks).try_for_each(|(group, (_, found))| {
                let rows = found.distances.chunks(vertices as usize);
                sources(group, vertices).zip(rows).try_for_each(|(s, row)| (self.take)(s, row))
            })
        };
        let make = |vertices| Ok((Search::new(vertices)?, Rows::new(vertices as usize)?));
        Waves { make, work, take, observer: self.observer }.run(vertices)
    }
}

/// The distances from 64 sources, row behind row.
struct Rows {
    vertices: usize,
    distances: Vec<u32>,
}

impl Rows {
    fn new(vertices: usize) -> Result<Rows, OutOfMemory> {
        let distances = memory::filled(NO_WAY, vertices.saturating_mul(GROUP as usize))?;
        Ok(Rows { vertices, distances })
    }
}

impl Visit<u64> for Rows {
    #[inline]
    fn arrive(&mut self, step: u32, vertex: VertexId, mut sources: u64, _here: &[u64]) {
        while sources != 0 {
            let row = sources.trailing_zeros() as usize;
            self.distances[row * self.vertices + vertex as usize] = step;
            sources &= sources - 1;
        }
    }
}
