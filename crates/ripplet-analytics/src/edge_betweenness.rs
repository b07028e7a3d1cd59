//! Betweenness of edges: how many shortest ways lead along an edge.
//!
//! # What it returns
//! Of each edge the sum, over all pairs of vertices s and t between which there is a way, of the share of the
//! shortest ways from s to t that lead along it. On an undirected graph each pair counts once, and so does
//! each edge, whichever way it is gone. A way's length is by one of two [`Lengths`]; by weights, all but
//! those of self-loops have to be positive. Normalized, over the number of pairs: n (n − 1), and half of that
//! on an undirected graph.
//!
//! Values come in the order of the edges' ends, as [`ends`] goes through them: of each vertex those to the
//! neighbours in its list, on an undirected graph to none of a smaller id. Repeated edges are one, and each
//! of them has its value (by weights, of the least). Nothing leads along a self-loop.
//!
//! # Algorithm
//! Brandes': along an arc from u to v lead ways(u) · passed(v) of the ways from a source, as [`betweenness`] names
//! and finds them.
//!
//! [`betweenness`]: crate::betweenness
//!
//! # Memory
//! Beside the graph 8 bytes an edge and an arc. For each thread, where the graph is small (4096 vertices and
//! 32,768 arcs at most), 2225 bytes a vertex and 544 an arc; else 276 and 9; by weights 212 and 9, and at most
//! 64 KiB: [`plan`]. Of a batch 8 bytes an edge, and for each thread the same for its largest graphs and 8 an arc more.
//!
//! # Determinism
//! The same bits on any number of threads and any shards, as `betweenness` has it: of each arc, what leads along
//! it from eight sources is summed up pairwise, eights up to 64 sources in the order of their ids, and these sums
//! in that order, too; on an undirected graph an edge's two arcs after that.
//!
//! # References
//! Girvan, Newman, *Community structure in social and biological networks*, PNAS 99, 2002. Brandes, *On
//! variants of shortest-path betweenness centrality and their generic computation*, Social Networks 30, 2008.

use crate::brandes::{self, Arcs};
use crate::lists::{Along, Lists, Over, Sides, of_member, over};
use crate::swarm::{PerItem, Place, share};
use crate::{Lengths, Observer, Plan, RunError};
use rayon::prelude::*;
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Direction, Graph, OutOfMemory, VertexId, memory};

/// The ends of each edge, in the order of the values.
pub fn ends(graph: &Graph) -> impl Iterator<Item = (VertexId, VertexId)> {
    let undirected = graph.direction() == Direction::Undirected;
    graph.shards().iter().flat_map(move |shard| {
        shard.vertices().enumerate().flat_map(move |(local, vertex)| {
            let list = shard.out().of(local);
            list[first_of(list, vertex, undirected)..].iter().map(move |&to| (vertex, to))
        })
    })
}

/// The same of a graph of a batch.
pub fn ends_of_member(graph: BatchGraph<'_>) -> impl Iterator<Item = (VertexId, VertexId)> {
    let (out, undirected) = (graph.out(), graph.incoming().is_none());
    (0..graph.vertices()).flat_map(move |vertex| {
        let list = out.of(vertex as usize);
        list[first_of(list, vertex, undirected)..].iter().map(move |&to| (vertex, to))
    })
}

/// The first arc of a vertex's list that is an edge of its own.
fn first_of(list: &[VertexId], vertex: VertexId, undirected: bool) -> usize {
    if undirected { list.partition_point(|&to| to < vertex) } else { 0 }
}

/// The memory that a run on so many threads will need beside the graph.
pub fn plan(graph: &Graph, lengths: Lengths, threads: usize) -> Plan {
    Plan::default()
        .with("values", 8 * graph.edges())
        .with("sums", 8 * graph.arcs())
        .with("searches, one a thread", brandes::bytes_of_desks::<Arcs>(graph, lengths, threads))
}

/// The betweenness of each edge, on rayon's current pool.
///
/// # Errors
/// Where an edge but a loop has length 0, the observer cancels, or memory is refused.
pub fn edge_betweenness(
    graph: &Graph,
    normalized: bool,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, RunError> {
    let sums = brandes::of_graph::<Arcs>(graph, lengths, observer)?;
    Ok(finished(graph, &sums, Listed::In, normalized)?)
}

/// What is found of the edges of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeValues {
    /// Where each graph's values begin, and after them the end of the last.
    pub starts: Vec<u64>,
    /// A value for each edge, graph by graph, each in the order of [`ends_of_member`].
    pub values: Vec<f64>,
}

/// The memory that a run over these graphs will need beside them on so many threads.
///
/// Cost: a look at each list, for the number of edges.
pub fn plan_of_batch(graphs: BatchSlice<'_>, lengths: Lengths, threads: usize) -> Plan {
    let edges: u64 = graphs.graphs().map(|graph| graph.edges()).sum();
    let desks = brandes::bytes_of_desks_of_batch::<Arcs>(graphs, lengths, threads);
    Plan::default()
        .with("values", 8 * edges + 8 * (graphs.len() as u64 + 1))
        .with("searches, one a thread", desks)
}

/// The betweenness of each edge in its graph, of all these graphs. What [`edge_betweenness`] finds of each
/// graph, bit by bit; each is done by one thread.
///
/// # Errors
/// As [`edge_betweenness`]; of several edges of length 0 that of the first graph is named.
pub fn edge_betweenness_of_batch(
    graphs: BatchSlice<'_>,
    normalized: bool,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<EdgeValues, RunError> {
    let starts = starts_of(graphs)?;
    let mut values = memory::zeros(starts[graphs.len()] as usize)?;
    let finish = |sums: &[f64], graph: BatchGraph<'_>, to: PerItem<'_, f64>| {
        let rule = Rule::new(graphs.batch().direction(), graph.vertices(), normalized);
        rule.finish(of_member(graph, Along::Arcs), sums, Listed::In, to.items);
    };
    let place = PerItem { starts: &starts, items: &mut values };
    brandes::fill_batch::<Arcs, _>(graphs, lengths, observer, place, finish)?;
    Ok(EdgeValues { starts, values })
}

/// Where each graph's edges begin.
fn starts_of(graphs: BatchSlice<'_>) -> Result<Vec<u64>, OutOfMemory> {
    let mut starts = memory::zeros(graphs.len() + 1)?;
    starts[1..].par_iter_mut().enumerate().with_min_len(1 << 8).for_each(|(at, edges)| {
        *edges = graphs.graph(at).edges();
    });
    let mut end = 0;
    for start in &mut starts {
        end += *start;
        *start = end;
    }
    Ok(starts)
}

/// The betweenness of each edge, of what leads along each arc over ordered pairs of vertices: the arcs of the
/// out lists, in their order, of repeated ones the first. For whoever has summed it up elsewhere.
///
/// # Errors
/// Where memory is refused.
///
/// # Panics
/// Where `sums` has not one for each arc.
pub fn values_of_arcs(
    graph: &Graph,
    sums: &[f64],
    normalized: bool,
) -> Result<Vec<f64>, OutOfMemory> {
    assert_eq!(sums.len() as u64, graph.arcs(), "a sum for each arc");
    finished(graph, sums, Listed::Out, normalized)
}

/// The values of a graph's edges.
fn finished(
    graph: &Graph,
    sums: &[f64],
    listed: Listed,
    normalized: bool,
) -> Result<Vec<f64>, OutOfMemory> {
    let mut values = memory::zeros(graph.edges() as usize)?;
    let rule = Rule::new(graph.direction(), graph.vertices(), normalized);
    over(graph, Along::Arcs, Finish { rule, sums, listed, values: &mut values });
    Ok(values)
}

/// The same of graphs of a batch, whose lists lie one graph behind the other; in parallel over the graphs.
///
/// # Errors
/// Where memory is refused.
///
/// # Panics
/// As [`values_of_arcs`].
pub fn values_of_arcs_of_batch(
    graphs: BatchSlice<'_>,
    sums: &[f64],
    normalized: bool,
) -> Result<EdgeValues, OutOfMemory> {
    assert_eq!(sums.len() as u64, graphs.arcs(), "a sum for each arc");
    let starts = starts_of(graphs)?;
    let mut values = memory::zeros(starts[graphs.len()] as usize)?;
    let places = (PerItem { starts: &starts, items: &mut values }, PerArc(sums));
    share(
        graphs,
        places,
        &|graphs: BatchSlice<'_>, mut places: (PerItem<'_, f64>, PerArc<'_>)| {
            for at in 0..graphs.len() {
                let ((values, sums), others) = places.cut(graphs.slice(at..at + 1));
                let graph = graphs.graph(at);
                let rule = Rule::new(graphs.batch().direction(), graph.vertices(), normalized);
                rule.finish(of_member(graph, Along::Arcs), sums.0, Listed::Out, values.items);
                places = others;
            }
            Ok::<_, OutOfMemory>(())
        },
    )?;
    Ok(EdgeValues { starts, values })
}

/// What was found of each arc.
struct PerArc<'a>(&'a [f64]);

impl Place for PerArc<'_> {
    fn cut(self, first: BatchSlice<'_>) -> (Self, Self) {
        let (first, rest) = self.0.split_at(first.arcs() as usize);
        (PerArc(first), PerArc(rest))
    }
}

/// How arcs' sums over ordered pairs become values of edges.
#[derive(Clone, Copy)]
struct Rule {
    undirected: bool,
    scale: f64,
}

impl Rule {
    fn new(direction: Direction, vertices: u32, normalized: bool) -> Rule {
        let undirected = direction == Direction::Undirected;
        let vertices = f64::from(vertices);
        let pairs = vertices * (vertices - 1.0);
        let scale = match normalized {
            true if pairs > 0.0 => 1.0 / pairs,
            true => 0.0,
            false if undirected => 0.5,
            false => 1.0,
        };
        Rule { undirected, scale }
    }

    fn finish<L: Lists>(self, lists: Sides<L>, sums: &[f64], listed: Listed, values: &mut [f64]) {
        let Sides { ahead: out, behind: incoming } = lists;
        let mut values = values.iter_mut();
        for vertex in 0..out.vertices() {
            let list = out.of(vertex);
            let mut at = first_of(list, vertex, self.undirected);
            for alike in list[at..].chunk_by(|a, b| a == b) {
                let (to, here) = (alike[0], out.begin(vertex) + at);
                let there = || {
                    let place = incoming.of(to).partition_point(|&from| from < vertex);
                    incoming.begin(to) + place
                };
                let sum = match (self.undirected, listed) {
                    // Both arcs, whoever lists which.
                    (true, _) if to != vertex => sums[here] + sums[there()],
                    (false, Listed::In) => sums[there()],
                    _ => sums[here],
                };
                let value = sum * self.scale;
                values.by_ref().zip(alike).for_each(|(to, _)| *to = value);
                at += alike.len();
            }
        }
    }
}

/// In the order of which lists arcs have sums.
#[derive(Clone, Copy)]
enum Listed {
    /// Of outgoing arcs.
    Out,
    /// Of incoming arcs.
    In,
}

/// Makes values of sums.
struct Finish<'a> {
    rule: Rule,
    sums: &'a [f64],
    listed: Listed,
    values: &'a mut [f64],
}

impl Over for Finish<'_> {
    type Result = ();

    fn lists<L: Lists>(self, lists: Sides<L>) {
        self.rule.finish(lists, self.sums, self.listed, self.values);
    }
}
