//! Betweenness: how many shortest ways lead through a vertex.
//!
//! # What it returns
//! Of each vertex v the sum, over all pairs of other vertices s and t between which there is a way, of the
//! share of the shortest ways from s to t that pass v. On an undirected graph each pair counts once. A
//! way's length is by one of two [`Lengths`]; by weights, all but those of self-loops have to be positive, as
//! ways could go along an arc of length 0 as often as they like. Self-loops and repeated arcs change nothing.
//! Normalized, over the number of pairs of other vertices: (n − 1)(n − 2), and half of that on an undirected
//! graph.
//!
//! # Algorithm
//! Brandes': from each source, forward, how many shortest ways lead to each vertex, and back, from the farthest,
//! what each vertex passes on:
//!
//! ```text
//! ways(v)    1 at the source; else the sum of ways(u) over the neighbours u behind v, a level nearer
//! share(v)   the sum of passed(w) over the neighbours w ahead of v, a level farther
//! passed(v)  1 / ways(v) + share(v): what one of v's shortest ways passes on
//! ```
//!
//! Through v lead ways(v) · share(v). By hops, levels are those of breadth-first searches from many sources at
//! once; by weights, the distances that searches find from one source after the other.
//!
//! # Memory
//! Beside the graph 8 bytes a vertex. For each thread, where the graph is small (4096 vertices and 32,768 arcs at
//! most), 2233 bytes a vertex and 528 an arc; else 284 a vertex; by weights 220 a vertex and at most 64 KiB;
//! of a batch, for its largest graphs, and 8 a vertex more: [`plan`].
//!
//! # Determinism
//! The same bits on any number of threads and any shards. Stored lengths are integers, so that it is certain
//! which ways are equally long. Ways add up in the order of the neighbours' ids,
//! shares against it. What the ways from eight sources lead through is summed up pairwise, eights up to 64
//! sources in the order of their ids, and these sums in that order, too.
//!
//! # References
//! Brandes, *A faster algorithm for betweenness centrality*, Journal of Mathematical Sociology 25, 2001.

use crate::brandes::{self, Vertices};
use crate::swarm::PerVertex;
use crate::{Lengths, Observer, Plan, RunError};
use rayon::prelude::*;
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Direction, Graph, memory};

/// The memory that a run on so many threads will need beside the graph.
pub fn plan(graph: &Graph, lengths: Lengths, threads: usize) -> Plan {
    Plan::default().with("values", 8 * u64::from(graph.vertices())).with(
        "searches, one a thread",
        brandes::bytes_of_desks::<Vertices>(graph, lengths, threads),
    )
}

/// The betweenness of each vertex, on rayon's current pool.
///
/// # Errors
/// Where an edge but a loop has length 0, the observer cancels, or memory is refused.
pub fn betweenness(
    graph: &Graph,
    normalized: bool,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, RunError> {
    let mut values = brandes::of_graph::<Vertices>(graph, lengths, observer)?;
    let scale = scale(graph.direction(), graph.vertices(), normalized);
    values.par_iter_mut().for_each(|value| *value *= scale);
    Ok(values)
}

/// The memory that a run over these graphs will need beside them on so many threads.
pub fn plan_of_batch(graphs: BatchSlice<'_>, lengths: Lengths, threads: usize) -> Plan {
    let desks = brandes::bytes_of_desks_of_batch::<Vertices>(graphs, lengths, threads);
    Plan::default().with("values", 8 * graphs.vertices()).with("searches, one a thread", desks)
}

/// The betweenness of each vertex in its graph, of all these graphs: graph by graph, as the vertices
/// lie in their batch. What [`betweenness`] finds of each graph, bit by bit; each is done by one thread.
///
/// # Errors
/// As [`betweenness`]; of several edges of length 0 that of the first graph is named.
pub fn betweenness_of_batch(
    graphs: BatchSlice<'_>,
    normalized: bool,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, RunError> {
    let mut values = memory::zeros(graphs.vertices() as usize)?;
    let finish = |sums: &[f64], graph: BatchGraph<'_>, values: PerVertex<'_, f64>| {
        let scale = scale(graphs.batch().direction(), graph.vertices(), normalized);
        values.0.iter_mut().zip(sums).for_each(|(value, sum)| *value = sum * scale);
    };
    let place = PerVertex(&mut values[..]);
    brandes::fill_batch::<Vertices, _>(graphs, lengths, observer, place, finish)?;
    Ok(values)
}

/// What the sums over ordered pairs are multiplied by.
fn scale(direction: Direction, vertices: u32, normalized: bool) -> f64 {
    let others = f64::from(vertices) - 1.0;
    let pairs = others * (others - 1.0);
    match (normalized, direction) {
        (false, Direction::Undirected) => 0.5,
        (false, Direction::Directed) => 1.0,
        // Half of the ordered pairs, over half of them.
        (true, _) if pairs > 0.0 => 1.0 / pairs,
        (true, _) => 0.0,
    }
}
