//! Betweenness centrality: the fraction of shortest paths that pass through a vertex.
//!
//! # What it returns
//! For each vertex v, the sum of σ(s, t | v) / σ(s, t) over all pairs of other vertices s and t
//! that have a path: σ(s, t) is the number of shortest paths from s to t, and σ(s, t | v) the number of
//! shortest paths from s through v to t. On an undirected graph each pair counts once. [`Lengths`] selects what the
//! length of a path is. By weights, all arcs except self-loops must have a positive length: a path
//! could repeat an arc of length 0 without end. Self-loops and repeated arcs change nothing.
//! Normalized values are divided by the number of pairs of other vertices: (n − 1)(n − 2), or half
//! of that on an undirected graph.
//!
//! # Directed graphs
//! Paths follow the arcs' directions, and (s, t) and (t, s) are different pairs.
//!
//! # Algorithm
//! Brandes' algorithm. From each source, a forward pass counts the shortest paths to each vertex,
//! and a backward pass from the farthest vertices accumulates dependencies:
//!
//! ```text
//! σ(v)             1 at the source; else the sum of σ(u) over the predecessors u of v
//! δ(v) / σ(v)      the sum of (1 + δ(w)) / σ(w) over the successors w of v
//! ```
//!
//! σ(v) is the number of shortest paths from the source to v, and δ(v) the dependency of the source
//! on v. A successor's (1 + δ) / σ is computed as 1 / σ + δ / σ. By hops, the levels are those of
//! breadth-first searches from many sources at once. By weights, each source has a search of its
//! own, and vertices are ordered by distance.
//!
//! # Samples
//! [`sampled_betweenness`] searches from a random [`Sample`] of k vertices instead of from all n, in a time that grows
//! with k. Its values are estimates, whose mean over all samples is the betweenness. A value is the sum over the sampled
//! sources times (n − 1) / k, or (n − 1) / (k − 1) for a sampled vertex, whose own paths do not count: networkx's
//! factors. By Hoeffding's inequality, k = 1 + ln(2 n / p) / (2 e²) sources suffice for no normalized value to differ by more than e
//! from the betweenness, with probability 1 − p.
//!
//! # Memory
//! Beside the graph 8 bytes per vertex. Each thread needs:
//!
//! | graph | bytes per vertex | bytes per arc |
//! |---|---|---|
//! | small (at most 4096 vertices and 32,768 arcs) | 2233 | 528 |
//! | larger | 284 | 0 |
//! | by weights | 220, and at most 64 KiB | 0 |
//!
//! A sample needs 20 bytes per sampled vertex more. Its groups have k / 64 sources, a multiple of eight from 8 to 64, and
//! in small graphs 64; a group has one thread.
//!
//! For a batch, a thread needs this for the largest graphs, and 8 bytes per vertex more: [`plan`].
//!
//! On a compressed graph, each thread also holds one decoded list: 4 bytes per arc of the longest,
//! 8 by weights. Only small graphs are decoded as a whole: 4 bytes per vertex and arc.
//!
//! # Determinism
//! Results are bitwise equal for any number of threads and any shards. Stored lengths are integers,
//! so that comparing them is exact. Path counts add up in the order of the neighbours' ids,
//! dependencies in the reverse order. The dependencies of eight sources add up pairwise, these sums
//! in the order of the ids within a group of sources, 64 of all vertices, and the sums of the groups in that order,
//! too.
//!
//! # References
//! Brandes, *A faster algorithm for betweenness centrality*, Journal of Mathematical Sociology 25,
//! 2001. Brandes, Pich, *Centrality estimation in large networks*, International Journal of Bifurcation and Chaos 17, 2007 (samples).

use crate::brandes::{self, Vertices};
use crate::swarm::PerVertex;
use crate::{AnalysisError, Lengths, Plan, Sample};
use rayon::prelude::*;
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Direction, GraphView, Observer, memory};

/// Returns the memory that [`betweenness`] needs on `threads` threads beside the graph.
pub fn plan<'g>(graph: impl Into<GraphView<'g>>, lengths: Lengths, threads: usize) -> Plan {
    plan_in(graph.into(), lengths, None, threads)
}

fn plan_in(graph: GraphView<'_>, lengths: Lengths, chosen: Option<u32>, threads: usize) -> Plan {
    Plan::default().with("values", 8 * u64::from(graph.vertices())).with(
        "searches, one a thread",
        brandes::bytes_of_workspaces::<Vertices>(graph, lengths, chosen, threads),
    )
}

/// Returns the betweenness of each vertex, computed on rayon's current pool.
///
/// # Errors
/// If an edge other than a self-loop has length 0, the observer cancels, or memory is refused.
pub fn betweenness<'g>(
    graph: impl Into<GraphView<'g>>,
    normalized: bool,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, AnalysisError> {
    betweenness_in(graph.into(), normalized, lengths, None, observer)
}

fn betweenness_in(
    graph: GraphView<'_>,
    normalized: bool,
    lengths: Lengths,
    sample: Option<Sample>,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, AnalysisError> {
    let vertices = graph.vertices();
    let chosen = sample.map(|sample| sample.choose(vertices)).transpose()?.flatten();
    let mut values = brandes::of_graph::<Vertices>(graph, lengths, chosen.as_deref(), observer)?;
    let scale = scale(graph.direction(), vertices, normalized);
    let Some(chosen) = chosen else {
        values.par_iter_mut().for_each(|value| *value *= scale);
        return Ok(values);
    };
    let (others, count) = (f64::from(vertices) - 1.0, chosen.len() as f64);
    let scale = scale * others / count;
    values.par_iter_mut().for_each(|value| *value *= scale);
    // No path passes through its own source: the sum of a sampled vertex has one term less.
    let of_sampled = count / (count - 1.0);
    chosen.iter().for_each(|&vertex| values[vertex as usize] *= of_sampled);
    Ok(values)
}

/// Returns the memory that [`sampled_betweenness`] needs on `threads` threads beside the graph.
pub fn plan_of_sampled<'g>(
    graph: impl Into<GraphView<'g>>,
    lengths: Lengths,
    sample: Sample,
    threads: usize,
) -> Plan {
    let graph = graph.into();
    sample.plan(graph.vertices(), |chosen| plan_in(graph, lengths, chosen, threads))
}

/// Returns an estimate of the betweenness of each vertex by the paths from a sample of the vertices, computed on rayon's
/// current pool. If the sample is of all vertices, it is the betweenness.
///
/// # Errors
/// If the sample is of fewer than two vertices, an edge other than a self-loop has length 0, the observer cancels, or
/// memory is refused.
///
/// # Examples
/// ```
/// use ripplet_analytics::betweenness::sampled_betweenness;
/// use ripplet_analytics::{Lengths, Sample};
/// use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
///
/// // A star of 100 leaves: all paths lead through vertex 0.
/// let ids = VertexIds::Consecutive { first: 0, count: 101 };
/// let graph = GraphBuilder::new().build(EdgeTable::new(ids, vec![0; 100], (1..=100).collect())?)?;
/// let sample = Sample { vertices: 10, seed: 1 };
/// let values = sampled_betweenness(&graph, true, Lengths::Hops, sample, &mut ())?;
/// assert!((values[0] - 1.0).abs() < 1e-12 && values[1] == 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sampled_betweenness<'g>(
    graph: impl Into<GraphView<'g>>,
    normalized: bool,
    lengths: Lengths,
    sample: Sample,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, AnalysisError> {
    betweenness_in(graph.into(), normalized, lengths, Some(sample), observer)
}

/// Returns the memory that [`betweenness_of_batch`] needs beside these graphs on `threads` threads.
pub fn plan_of_batch(graphs: BatchSlice<'_>, lengths: Lengths, threads: usize) -> Plan {
    let workspaces = brandes::bytes_of_workspaces_of_batch::<Vertices>(graphs, lengths, threads);
    Plan::default().with("values", 8 * graphs.vertices()).with("searches, one a thread", workspaces)
}

/// Returns the betweenness of each vertex within its graph, for all these graphs.
///
/// Values come graph by graph, in the order of the vertices in their batch, with the bits that
/// [`betweenness`] returns for each graph. One thread works on each graph.
///
/// # Errors
/// See [`betweenness`]. If several graphs have edges of length 0, the error names the first graph.
pub fn betweenness_of_batch(
    graphs: BatchSlice<'_>,
    normalized: bool,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, AnalysisError> {
    let mut values = memory::zeros(graphs.vertices() as usize)?;
    let finish = |sums: &[f64], graph: BatchGraph<'_>, values: PerVertex<'_, f64>| {
        let scale = scale(graphs.batch().direction(), graph.vertices(), normalized);
        values.0.iter_mut().zip(sums).for_each(|(value, sum)| *value = sum * scale);
        Ok(())
    };
    let place = PerVertex(&mut values[..]);
    brandes::fill_batch::<Vertices, _>(graphs, lengths, observer, place, finish)?;
    Ok(values)
}

/// Returns the factor for the sums over ordered pairs.
fn scale(direction: Direction, vertices: u32, normalized: bool) -> f64 {
    let others = f64::from(vertices) - 1.0;
    let pairs = others * (others - 1.0);
    match (normalized, direction) {
        (false, Direction::Undirected) => 0.5,
        (false, Direction::Directed) => 1.0,
        // The sums are over ordered pairs: on an undirected graph, half of twice the number of
        // pairs.
        (true, _) if pairs > 0.0 => 1.0 / pairs,
        (true, _) => 0.0,
    }
}
