//! Closeness: how near a vertex is to all others.
//!
//! # What it returns
//! Of each vertex s a number, by one of three [`Closeness`] measures, from the distances d(t, s) of all
//! other vertices t **to** it: the least number of arcs on a way, along their directions. Weights,
//! self-loops and repeated arcs change nothing. Vertices that no way leads from do not count, or count
//! as infinitely far, as the measure says.
//!
//! # Algorithm
//! Breadth-first searches against the arcs, from 64 vertices at once. What is kept of a search is how many
//! vertices each distance has.
//!
//! # Memory
//! Beside the graph 8 bytes a vertex, and 32 bytes a vertex for each thread: [`plan`].
//!
//! # Determinism
//! The same bits on any number of threads and any shards: numbers of vertices are integers, and a sum
//! is taken from the nearest to the farthest.
//!
//! # References
//! Ji, Liu, Huang, *SwarmGraph*, HPCC 2020, equations 1 and 2. Wasserman, Faust, *Social Network
//! Analysis*, 1994. Beauchamp, *An improved index of centrality*, Behavioral Science 10, 1965.

use crate::lists::{Along, of_member, over};
use crate::run::go_on;
use crate::search::{SOURCES, Search};
use crate::swarm::{self, Swarm};
use crate::waves::{Findings, Sum, Sums, Waves, bytes_of_searches, sources};
use crate::{Observer, Plan, RunError};
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Graph, VertexId, memory};
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
pub fn plan(graph: &Graph, threads: usize) -> Plan {
    Plan::default()
        .with("values", 8 * u64::from(graph.vertices()))
        .with("searches, one a thread", bytes_of_searches(graph.vertices(), threads))
}

/// The closeness of each vertex, on rayon's current pool.
///
/// # Errors
/// Where the observer cancels, or memory is refused.
pub fn closeness(
    graph: &Graph,
    measure: Closeness,
    normalized: bool,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, RunError> {
    observer.on_stage("measuring distances");
    let mut values = memory::zeros(graph.vertices() as usize)?;
    let others = f64::from(graph.vertices()) - 1.0;
    let take = |sources: Range<VertexId>, found: &Sums| {
        for (source, sum) in sources.zip(found.of_sources()) {
            values[source as usize] = measure.of(sum, normalized, others);
        }
        Ok::<_, RunError>(())
    };
    let make = || Ok(Sums::default());
    over(graph, Along::Against, Waves { make, take, observer })?;
    Ok(values)
}

/// The memory that a run over these graphs will need beside them on so many threads.
pub fn plan_of_batch(graphs: BatchSlice<'_>, threads: usize) -> Plan {
    Plan::default()
        .with("values", 8 * graphs.vertices())
        .with("searches, one a thread", bytes_of_searches(swarm::largest(graphs), threads))
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
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, RunError> {
    observer.on_stage("measuring distances");
    let observer: &dyn Observer = observer;
    let largest = swarm::largest(graphs);
    let make = || Ok((Search::new(largest)?, Sums::default()));
    let work = |(search, sums): &mut (Search, Sums), graph: BatchGraph<'_>, values: &mut [f64]| {
        let others = f64::from(graph.vertices()) - 1.0;
        for (group, values) in (0..).zip(values.chunks_mut(SOURCES as usize)) {
            go_on(observer)?;
            sums.clear();
            let sources = sources(group, graph.vertices());
            search.run(of_member(graph, Along::Against), sources, sums);
            for (value, sum) in values.iter_mut().zip(sums.of_sources()) {
                *value = measure.of(sum, normalized, others);
            }
        }
        Ok(())
    };
    Swarm { make, work, observer }.run(graphs)
}

impl Closeness {
    /// A vertex's, of so many others.
    fn of(self, sum: &Sum, normalized: bool, others: f64) -> f64 {
        if sum.reached == 0 {
            return 0.0;
        }
        let (reached, far) = (sum.reached as f64, sum.far as f64);
        match self {
            Closeness::Reciprocal if normalized => reached / far,
            Closeness::Reciprocal => 1.0 / far,
            Closeness::WassermanFaust => reached / others * (reached / far),
            Closeness::Harmonic if normalized => sum.near / others,
            Closeness::Harmonic => sum.near,
        }
    }
}
