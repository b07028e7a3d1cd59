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
//! for a summary 4 bytes a vertex: [`plan_of_rows`], [`plan_of_summary`].
//!
//! # Determinism
//! Distances are integers: the same on any number of threads and any shards. Rows come in the order of
//! their sources.
//!
//! # References
//! Ji, Liu, Huang, *SwarmGraph*, HPCC 2020. Wiener, *Structural determination of paraffin boiling points*,
//! Journal of the American Chemical Society 69, 1947.

use crate::lists::{Along, over};
use crate::search::{SOURCES, Visit};
use crate::waves::{Findings, Sums, Waves, bytes_of_searches};
use crate::{Observer, Plan, RunError};
use ripplet_graph::{Direction, Graph, OutOfMemory, VertexId, memory};
use std::ops::Range;

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
    Plan::default()
        .with("eccentricities", 4 * u64::from(graph.vertices()))
        .with("searches, one a thread", bytes_of_searches(graph.vertices(), threads))
}

/// The memory that [`rows`] will need on so many threads beside the graph.
pub fn plan_of_rows(graph: &Graph, threads: usize) -> Plan {
    let rows = 4 * u64::from(SOURCES) * u64::from(graph.vertices());
    Plan::default()
        .with("searches, one a thread", bytes_of_searches(graph.vertices(), threads))
        .with("rows, 64 a thread", (threads as u64).saturating_mul(rows))
}

/// What all distances come to, on rayon's current pool.
///
/// # Errors
/// Where the observer cancels, or memory is refused.
pub fn summary(graph: &Graph, observer: &mut dyn Observer) -> Result<Summary, RunError> {
    observer.on_stage("measuring distances");
    let mut eccentricities = memory::zeros(graph.vertices() as usize)?;
    let (mut pairs, mut sum) = (0, 0);
    let take = |sources: Range<VertexId>, found: &Sums| {
        for (source, of_source) in sources.zip(found.of_sources()) {
            eccentricities[source as usize] = of_source.farthest;
            pairs += of_source.reached;
            sum += of_source.far;
        }
        Ok::<_, RunError>(())
    };
    let make = || Ok(Sums::default());
    over(graph, Along::Arcs, Waves { make, take, observer })?;
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
    mut take: impl FnMut(VertexId, &[u32]) -> Result<(), E>,
) -> Result<(), E> {
    observer.on_stage("measuring distances");
    let vertices = graph.vertices() as usize;
    let make = || Rows::new(vertices);
    let take = |sources: Range<VertexId>, found: &Rows| {
        let rows = found.distances.chunks(vertices.max(1));
        sources.zip(rows).try_for_each(|(source, row)| take(source, row))
    };
    over(graph, Along::Arcs, Waves { make, take, observer })
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
