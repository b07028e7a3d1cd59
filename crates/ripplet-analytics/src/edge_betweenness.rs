//! Edge betweenness centrality: the fraction of shortest paths that use an edge.
//!
//! # What it returns
//! For each edge, the sum of σ(s, t | e) / σ(s, t) over all pairs of vertices s and t that have a
//! path: σ(s, t) is the number of shortest paths from s to t, σ(s, t | e) the number of those along
//! the edge. On an undirected graph each pair counts once, and each edge has one value for both
//! directions. [`Lengths`] selects what the length of a path is. By weights, all arcs except
//! self-loops must have a positive length. Normalized values are divided by the number of pairs: n
//! (n − 1), or half of that on an undirected graph.
//!
//! Values come in the order of [`ends`]: for each vertex the edges to the neighbours in its list,
//! on an undirected graph without neighbours of a smaller id. Repeated edges count as one edge, and
//! each of them has its value (by weights, of the lightest one). The value of a self-loop is 0.
//!
//! # Directed graphs
//! Paths follow the arcs' directions, and each arc has its own value.
//!
//! # Algorithm
//! Brandes' algorithm: the dependency of a source on an arc from u to v is σ(u) · (1 + δ(v)) /
//! σ(v), with the quantities that [`betweenness`] defines.
//!
//! [`betweenness`]: crate::betweenness
//!
//! # Memory
//! Beside the graph 8 bytes per edge and 8 bytes per arc. Each thread needs:
//!
//! | graph | bytes per vertex | bytes per arc |
//! |---|---|---|
//! | small (at most 4096 vertices and 32,768 arcs) | 2233 | 544 |
//! | larger | 284 | 9 |
//! | by weights | 220, and at most 64 KiB | 9 |
//!
//! For a batch, 8 bytes per edge, and per thread this for the largest graphs and 8 bytes per arc and
//! vertex more: [`plan`]. Compressed graphs need what [`betweenness`] states in addition.
//!
//! # Samples
//! [`sampled_edge_betweenness`] searches from a random [`Sample`] of k of the n vertices, as
//! [`betweenness`](crate::betweenness) describes; a value is the sum over the sampled sources times n / k. It needs 20 bytes per
//! sampled vertex more.
//!
//! # Determinism
//! Results are bitwise equal for any number of threads and any shards. For each arc, the
//! dependencies of eight sources add up pairwise, these sums in the order of the ids within a group
//! of 64 sources, and the sums of the groups in that order, too. On an undirected graph, the two
//! arcs of an edge add up last.
//!
//! # References
//! Girvan, Newman, *Community structure in social and biological networks*, PNAS 99, 2002. Brandes,
//! *On variants of shortest-path betweenness centrality and their generic computation*, Social
//! Networks 30, 2008.

use crate::brandes::{self, Arcs};
use crate::sides::{Along, Sides, dispatch_sides, of_member};
use crate::swarm::{self, PerItem, Place, share};
use crate::{AnalysisError, Lengths, Plan, Sample};
use rayon::prelude::*;
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{Direction, GraphView, Observer, OutOfMemory, VertexId, memory};

/// Yields the ends of each edge, in the order of the values.
pub fn ends<'g>(
    graph: impl Into<GraphView<'g>>,
) -> impl Iterator<Item = (VertexId, VertexId)> + 'g {
    let graph = graph.into();
    let undirected = graph.direction() == Direction::Undirected;
    (0..graph.vertices()).flat_map(move |vertex| {
        let edges = graph.neighbors(vertex).filter(move |&to| represents(vertex, to, undirected));
        edges.map(move |to| (vertex, to))
    })
}

/// Yields the ends of each edge of a graph of a batch, in the order of the values.
pub fn ends_of_member(graph: BatchGraph<'_>) -> impl Iterator<Item = (VertexId, VertexId)> {
    let (out, undirected) = (graph.out(), graph.incoming().is_none());
    (0..graph.vertices()).flat_map(move |vertex| {
        let neighbors = out.of(vertex as usize).iter().copied();
        let edges = neighbors.filter(move |&to| represents(vertex, to, undirected));
        edges.map(move |to| (vertex, to))
    })
}

/// Returns whether an arc represents its edge: of an undirected edge, one of both arcs does.
#[inline]
fn represents(from: VertexId, to: VertexId, undirected: bool) -> bool {
    !undirected || from <= to
}

/// Returns the memory that [`edge_betweenness`] needs on `threads` threads beside the graph.
pub fn plan<'g>(graph: impl Into<GraphView<'g>>, lengths: Lengths, threads: usize) -> Plan {
    plan_in(graph.into(), lengths, None, threads)
}

fn plan_in(graph: GraphView<'_>, lengths: Lengths, chosen: Option<u32>, threads: usize) -> Plan {
    Plan::default().with("values", 8 * graph.edges()).with("sums", 8 * graph.arcs()).with(
        "searches, one a thread",
        brandes::bytes_of_workspaces::<Arcs>(graph, lengths, chosen, threads),
    )
}

/// Returns the betweenness of each edge, computed on rayon's current pool.
///
/// Values are in the order of [`ends`].
///
/// # Errors
/// If an edge other than a self-loop has length 0, the observer cancels, or memory is refused.
pub fn edge_betweenness<'g>(
    graph: impl Into<GraphView<'g>>,
    normalized: bool,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, AnalysisError> {
    edge_betweenness_in(graph.into(), normalized, lengths, None, observer)
}

fn edge_betweenness_in(
    graph: GraphView<'_>,
    normalized: bool,
    lengths: Lengths,
    sample: Option<Sample>,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, AnalysisError> {
    let vertices = graph.vertices();
    let chosen = sample.map(|sample| sample.choose(vertices)).transpose()?.flatten();
    let sums = brandes::of_graph::<Arcs>(graph, lengths, chosen.as_deref(), observer)?;
    let mut values = finished(graph, &sums, Listed::In, normalized)?;
    if let Some(chosen) = chosen {
        let factor = f64::from(vertices) / chosen.len() as f64;
        values.par_iter_mut().for_each(|value| *value *= factor);
    }
    Ok(values)
}

/// Returns the memory that [`sampled_edge_betweenness`] needs on `threads` threads beside the graph.
pub fn plan_of_sampled<'g>(
    graph: impl Into<GraphView<'g>>,
    lengths: Lengths,
    sample: Sample,
    threads: usize,
) -> Plan {
    let graph = graph.into();
    sample.plan(graph.vertices(), |chosen| plan_in(graph, lengths, chosen, threads))
}

/// Returns an estimate of the betweenness of each edge by the paths from a sample of k of the n vertices, computed on
/// rayon's current pool: the sum over the sampled sources times n / k. If the sample is of all vertices, it is the
/// betweenness.
///
/// Values are in the order of [`ends`]; their mean over all samples is the betweenness.
///
/// # Errors
/// If the sample is of fewer than two vertices, an edge other than a self-loop has length 0, the observer cancels, or
/// memory is refused.
///
/// # Examples
/// ```
/// use ripplet_analytics::edge_betweenness::sampled_edge_betweenness;
/// use ripplet_analytics::{Lengths, Sample};
/// use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
///
/// // Two stars whose centres, 0 and 1, are joined: half of all pairs have their path along that edge.
/// let ids = VertexIds::Consecutive { first: 0, count: 102 };
/// let sources = (0..101).map(|at| u32::from(at > 50)).collect();
/// let graph = GraphBuilder::new().build(EdgeTable::new(ids, sources, (1..=101).collect())?)?;
/// let sample = Sample { vertices: 20, seed: 1 };
/// let values = sampled_edge_betweenness(&graph, true, Lengths::Hops, sample, &mut ())?;
/// assert!((values[0] - 0.5).abs() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sampled_edge_betweenness<'g>(
    graph: impl Into<GraphView<'g>>,
    normalized: bool,
    lengths: Lengths,
    sample: Sample,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, AnalysisError> {
    edge_betweenness_in(graph.into(), normalized, lengths, Some(sample), observer)
}

/// A value for each edge of the graphs of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeValues {
    /// The begin of each graph's values, and the end of the last graph's.
    pub starts: Vec<u64>,
    /// A value for each edge, graph by graph, each in the order of [`ends_of_member`].
    pub values: Vec<f64>,
}

/// Returns the memory that [`edge_betweenness_of_batch`] needs beside these graphs on `threads`
/// threads.
///
/// Cost: one pass over the lists, to count the edges.
pub fn plan_of_batch(graphs: BatchSlice<'_>, lengths: Lengths, threads: usize) -> Plan {
    let edges: u64 = graphs.graphs().map(|graph| graph.edges()).sum();
    let places = (threads as u64).saturating_mul(8 * u64::from(swarm::largest(graphs)));
    let workspaces =
        brandes::bytes_of_workspaces_of_batch::<Arcs>(graphs, lengths, threads) + places;
    Plan::default()
        .with("values", 8 * edges + 8 * (graphs.len() as u64 + 1))
        .with("searches, one a thread", workspaces)
}

/// Returns the betweenness of each edge within its graph, for all these graphs.
///
/// The values have the bits that [`edge_betweenness`] returns for each graph. One thread works on
/// each graph.
///
/// # Errors
/// See [`edge_betweenness`]. If several graphs have edges of length 0, the error names the first
/// graph.
pub fn edge_betweenness_of_batch(
    graphs: BatchSlice<'_>,
    normalized: bool,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<EdgeValues, AnalysisError> {
    let starts = starts_of(graphs)?;
    let mut values = memory::zeros(starts[graphs.len()] as usize)?;
    let finish = |sums: &[f64], graph: BatchGraph<'_>, to: PerItem<'_, f64>| {
        let rule = Rule::new(graphs.batch().direction(), graph.vertices(), normalized);
        let mut places = memory::zeros(graph.vertices() as usize)?;
        let lists = of_member(graph, Along::Arcs);
        rule.finish(lists, sums, Listed::In, &mut places, to.items);
        Ok(())
    };
    let place = PerItem { starts: &starts, items: &mut values };
    brandes::fill_batch::<Arcs, _>(graphs, lengths, observer, place, finish)?;
    Ok(EdgeValues { starts, values })
}

/// Returns the begin of each graph's edges, and the end of the last graph's.
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

/// Returns the betweenness of each edge, given sums per arc that were computed elsewhere.
///
/// `sums` has the dependency of each arc over ordered pairs of vertices, in the order of the
/// out-lists; of repeated arcs the first one has it.
///
/// # Errors
/// If memory is refused.
///
/// # Panics
/// If `sums` does not have one number per arc.
pub fn values_of_arcs<'g>(
    graph: impl Into<GraphView<'g>>,
    sums: &[f64],
    normalized: bool,
) -> Result<Vec<f64>, OutOfMemory> {
    let graph = graph.into();
    assert_eq!(sums.len() as u64, graph.arcs(), "a sum for each arc");
    finished(graph, sums, Listed::Out, normalized)
}

/// Returns the values of a graph's edges.
fn finished(
    graph: GraphView<'_>,
    sums: &[f64],
    listed: Listed,
    normalized: bool,
) -> Result<Vec<f64>, OutOfMemory> {
    let mut values = memory::zeros(graph.edges() as usize)?;
    let mut places = memory::zeros(graph.vertices() as usize)?;
    let rule = Rule::new(graph.direction(), graph.vertices(), normalized);
    dispatch_sides!(graph, Along::Arcs, lists => {
        rule.finish(lists, sums, listed, &mut places, &mut values);
    });
    Ok(values)
}

/// Returns the betweenness of each edge of the graphs of a batch, given sums per arc that were
/// computed elsewhere.
///
/// `sums` has the numbers of one graph after the other, each as for [`values_of_arcs`]. Runs in
/// parallel over the graphs.
///
/// # Errors
/// If memory is refused.
///
/// # Panics
/// If `sums` does not have one number per arc.
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
            let mut places_of_arcs = memory::zeros(swarm::largest(graphs) as usize)?;
            for at in 0..graphs.len() {
                let ((values, sums), others) = places.cut(graphs.slice(at..at + 1));
                let graph = graphs.graph(at);
                let rule = Rule::new(graphs.batch().direction(), graph.vertices(), normalized);
                let lists = of_member(graph, Along::Arcs);
                rule.finish(lists, sums.0, Listed::Out, &mut places_of_arcs, values.items);
                places = others;
            }
            Ok::<_, OutOfMemory>(())
        },
    )?;
    Ok(EdgeValues { starts, values })
}

/// Input: a sum per arc.
struct PerArc<'a>(&'a [f64]);

impl Place for PerArc<'_> {
    fn cut(self, first: BatchSlice<'_>) -> (Self, Self) {
        let (first, rest) = self.0.split_at(first.arcs() as usize);
        (PerArc(first), PerArc(rest))
    }
}

/// Converts arcs' sums over ordered pairs to values of edges.
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

    /// Stores the values of a graph's edges. `places` is scratch with a number per vertex.
    fn finish<L: NeighborLists>(
        self,
        lists: Sides<L>,
        sums: &[f64],
        listed: Listed,
        places: &mut [u64],
        values: &mut [f64],
    ) {
        let Sides { ahead: out, behind: incoming } = lists;
        let Rule { undirected, scale } = self;
        let mut values = values.iter_mut();
        // The place of the next arc to each vertex among the incoming arcs of all vertices. Vertices
        // ascend, and so do the sources in a list: arcs to a vertex come in the order of its list.
        let mut end = 0;
        for (vertex, place) in places[..incoming.vertices()].iter_mut().enumerate() {
            *place = end;
            end += u64::from(incoming.degree_of(vertex));
        }
        let mut begin = 0;
        for vertex in 0..out.vertices() as VertexId {
            let mut arcs = out.each_of(vertex as usize).enumerate().peekable();
            while let Some((at, to)) = arcs.next() {
                let mut repeats = 1;
                while arcs.next_if(|&(_, next)| next == to).is_some() {
                    repeats += 1;
                }
                let (here, there) = (begin + at, &mut places[to as usize]);
                let sum_there = || sums[*there as usize];
                let sum = match (undirected, listed) {
                    // The edge's value is the sum of its two arcs, in either order of the sums.
                    (true, _) if to != vertex => sums[here] + sum_there(),
                    (false, Listed::In) => sum_there(),
                    _ => sums[here],
                };
                *there += repeats as u64;
                if represents(vertex, to, undirected) {
                    values.by_ref().take(repeats).for_each(|value| *value = sum * scale);
                }
            }
            begin += out.degree_of(vertex as usize) as usize;
        }
    }
}

/// The lists in whose order arcs have sums.
#[derive(Clone, Copy)]
enum Listed {
    /// The lists of outgoing arcs.
    Out,
    /// The lists of incoming arcs.
    In,
}
