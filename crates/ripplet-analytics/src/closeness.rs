//! Closeness: how near a vertex is to all others.
//!
//! # What it returns
//! Of each vertex s a number, by one of three [`Closeness`] measures, from the distances d(t, s) of all
//! other vertices t **to** it: the least length of a way along the arcs' directions, by one of two
//! [`Lengths`]. Self-loops and repeated arcs change nothing. Vertices that no way leads from do not count,
//! or count as infinitely far, as the measure says. Where arcs have length 0, a vertex at distance 0 adds
//! nothing to harmonic closeness, and the others are 0 where all that reach s are so near.
//!
//! # Algorithm
//! Searches against the arcs: breadth-first from 64 vertices at once, or Dijkstra's by weights. What is kept
//! of a search is how many vertices each distance has.
//!
//! # Memory
//! Beside the graph 8 bytes a vertex, and 32 bytes a vertex for each thread: [`plan`].
//!
//! # Determinism
//! The same bits on any number of threads and any shards: numbers of vertices and stored lengths are
//! integers, and a sum is taken from the nearest to the farthest. Real lengths are a power of two of the
//! stored ones, which is exact.
//!
//! # References
//! Ji, Liu, Huang, *SwarmGraph*, HPCC 2020, equations 1 and 2. Wasserman, Faust, *Social Network
//! Analysis*, 1994. Beauchamp, *An improved index of centrality*, Behavioral Science 10, 1965.

use crate::dijkstra::Dijkstra;
use crate::distances::{Distances, bytes_of_distances};
use crate::lists::{Along, over};
use crate::swarm::{self, Swarm};
use crate::waves::{Sum, Sums, Waves, WeighedSums, WeighedWaves};
use crate::{Lengths, Observer, Plan, RunError};
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Graph, VertexId, WeightScale, memory};
use std::ops::Range;

/// Which number. R is the set of the other vertices that a way leads from, r how many they are, n all
/// vertices; without any, every measure is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Closeness {
    /// 1 / Σ d(t, s) over R: the paper's equation 1 on the part that reaches s, and igraph's.
    /// Normalized r / Σ d(t, s): 1 where all of R are neighbours.
    #[default]
    Reciprocal,
    /// r / (n − 1) · r / Σ d(t, s): of Wasserman and Faust, and networkx's. It is normalized as it is.
    WassermanFaust,
    /// Σ 1 / d(t, s): the paper's equation 2. Normalized, over n − 1.
    Harmonic,
}

/// The memory that a run on so many threads will need beside the graph.
pub fn plan(graph: &Graph, lengths: Lengths, threads: usize) -> Plan {
    let searches = bytes_of_distances(lengths.weigh_in(graph), graph.vertices(), threads);
    Plan::default()
        .with("values", 8 * u64::from(graph.vertices()))
        .with("searches, one a thread", searches)
}

/// The closeness of each vertex, on rayon's current pool.
///
/// # Errors
/// Where the observer cancels, or memory is refused.
pub fn closeness(
    graph: &Graph,
    measure: Closeness,
    normalized: bool,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, RunError> {
    observer.on_stage("measuring distances");
    let observer: &dyn Observer = observer;
    let mut values = memory::zeros(graph.vertices() as usize)?;
    let value = Value::new(measure, normalized, graph.vertices(), lengths.scale_in(graph));
    let mut take = |sources: Range<VertexId>, sums: &[Sum]| {
        for (source, sum) in sources.zip(sums) {
            values[source as usize] = value.of(sum);
        }
        Ok::<_, RunError>(())
    };
    if lengths.weigh_in(graph) {
        let make = || Ok(WeighedSums::default());
        let keep = |sums: &mut WeighedSums, at: usize, search: &Dijkstra| sums[at] = search.sum();
        let take = |sources: Range<VertexId>, sums: &WeighedSums| take(sources, sums);
        over(graph, Along::Against, WeighedWaves { make, keep, take, observer })?;
    } else {
        let make = || Ok(Sums::default());
        let take = |sources: Range<VertexId>, sums: &Sums| take(sources, sums.of_sources());
        over(graph, Along::Against, Waves { make, take, observer })?;
    }
    Ok(values)
}

/// The memory that a run over these graphs will need beside them on so many threads.
pub fn plan_of_batch(graphs: BatchSlice<'_>, lengths: Lengths, threads: usize) -> Plan {
    let weigh = lengths.weigh_in_batch(graphs);
    let searches = bytes_of_distances(weigh, swarm::largest(graphs), threads);
    Plan::default().with("values", 8 * graphs.vertices()).with("searches, one a thread", searches)
}

/// The closeness of each vertex in its graph, of all these graphs: graph by graph, as the vertices
/// lie in their batch. What [`closeness`] finds of each graph, bit by bit; each is done by one thread.
///
/// # Errors
/// Where the observer cancels, or memory is refused.
pub fn closeness_of_batch(
    graphs: BatchSlice<'_>,
    measure: Closeness,
    normalized: bool,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, RunError> {
    observer.on_stage("measuring distances");
    let observer: &dyn Observer = observer;
    let (weigh, largest) = (lengths.weigh_in_batch(graphs), swarm::largest(graphs));
    let make = || Distances::new(weigh, largest);
    let work = |distances: &mut Distances, graph: BatchGraph<'_>, values: &mut [f64]| {
        let scale = lengths.scale_in_member(graph);
        let value = Value::new(measure, normalized, graph.vertices(), scale);
        distances.for_each(graph, Along::Against, observer, |source, sum| {
            values[source as usize] = value.of(sum);
        })
    };
    Swarm { make, work, observer }.run(graphs)
}

/// What makes a vertex's value of its sum, the same for all vertices of a graph.
struct Value {
    measure: Closeness,
    normalized: bool,
    others: f64,
    /// The real length that a stored 1 stands for: a power of two.
    unit: f64,
}

impl Value {
    fn new(measure: Closeness, normalized: bool, vertices: u32, scale: WeightScale) -> Value {
        Value { measure, normalized, others: f64::from(vertices) - 1.0, unit: scale.weight(1) }
    }

    fn of(&self, sum: &Sum) -> f64 {
        // Without a way, or with ways of length 0 alone.
        if sum.far == 0 {
            return 0.0;
        }
        let (reached, far) = (sum.reached as f64, sum.far as f64 * self.unit);
        let near = sum.near / self.unit;
        match self.measure {
            Closeness::Reciprocal if self.normalized => reached / far,
            Closeness::Reciprocal => 1.0 / far,
            Closeness::WassermanFaust => reached / self.others * (reached / far),
            Closeness::Harmonic if self.normalized => near / self.others,
            Closeness::Harmonic => near,
        }
    }
}
