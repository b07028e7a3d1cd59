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
//! Brandes': along an arc from u to v lead ways(u) · passed(v) of the ways from a source, as `betweenness`
//! names them. Searches are breadth-first, or Dijkstra's, from one source after the other.
//!
//! # Memory
//! Beside the graph 8 bytes an edge and an arc, and for each thread 36 bytes a vertex and 72 an arc: [`plan`]. Of a
//! batch 8 bytes an edge, and for each thread 36 bytes a vertex and 80 an arc of the largest graph.
//!
//! # Determinism
//! The same bits on any number of threads and any shards, as `betweenness` has it: of each arc, what leads along
//! it from eight sources is summed up pairwise, eights up to 64 sources in the order of their ids, and these sums
//! in that order, too; on an undirected graph an edge's two arcs after that.
//!
//! # References
//! Girvan, Newman, *Community structure in social and biological networks*, PNAS 99, 2002. Brandes, *On
//! variants of shortest-path betweenness centrality and their generic computation*, Social Networks 30, 2008.

use crate::brandes::{Step, Ways, bytes_of_ways};
use crate::eights::{EIGHT, sum_of};
use crate::lists::{Along, Lists, Over, Sides, of_member, over};
use crate::no_length::{refuse_weightless, refuse_weightless_in};
use crate::run::go_on;
use crate::swarm::{self, PerItem, Place, Swarm, share};
use crate::waves::{GROUP, Waves, sources};
use crate::{Lengths, Observer, Plan, RunError};
use rayon::prelude::*;
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Direction, Graph, OutOfMemory, VertexId, memory};
use std::ops::Range;

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
pub fn plan(graph: &Graph, threads: usize) -> Plan {
    let desk = bytes_of_desk(graph.vertices(), graph.arcs());
    Plan::default()
        .with("values", 8 * graph.edges())
        .with("sums", 8 * graph.arcs())
        .with("searches, one a thread", (threads as u64).saturating_mul(desk))
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
    let weigh = lengths.weigh_in(graph);
    if weigh {
        refuse_weightless(graph)?;
    }
    observer.on_stage("finding shortest ways");
    let mut values = memory::zeros(graph.edges() as usize)?;
    let rule = Rule::new(graph.direction(), graph.vertices(), normalized);
    let to = &mut values[..];
    over(graph, Along::Arcs, Run { weigh, arcs: graph.arcs(), rule, to, observer })?;
    Ok(values)
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
pub fn plan_of_batch(graphs: BatchSlice<'_>, threads: usize) -> Plan {
    let edges: u64 = graphs.graphs().map(|graph| graph.edges()).sum();
    let arcs = most_arcs(graphs);
    let desk = bytes_of_desk(swarm::largest(graphs), arcs) + 8 * arcs;
    Plan::default()
        .with("values", 8 * edges + 8 * (graphs.len() as u64 + 1))
        .with("searches, one a thread", (threads as u64).saturating_mul(desk))
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
    let weigh = lengths.weigh_in_batch(graphs);
    if weigh {
        refuse_weightless_in(graphs)?;
    }
    observer.on_stage("finding shortest ways");
    let observer: &dyn Observer = observer;
    let starts = starts_of(graphs)?;
    let mut values = memory::zeros(starts[graphs.len()] as usize)?;
    let (vertices, arcs) = (swarm::largest(graphs), most_arcs(graphs));
    let make = || Ok((Desk::new(weigh, vertices, arcs)?, memory::zeros(arcs as usize)?));
    let work =
        |(desk, sums): &mut (Desk, Vec<f64>), graph: BatchGraph<'_>, to: PerItem<'_, f64>| {
            let (lists, arcs) = (of_member(graph, Along::Arcs), graph.arcs() as usize);
            sums[..arcs].fill(0.0);
            for group in 0..graph.vertices().div_ceil(GROUP) {
                desk.add_group(lists, sources(group, graph.vertices()), observer)?;
                sums.iter_mut().zip(&desk.sums[..arcs]).for_each(|(sum, more)| *sum += more);
            }
            let rule = Rule::new(graphs.batch().direction(), graph.vertices(), normalized);
            rule.finish(lists.ahead, sums, to.items);
            Ok(())
        };
    let place = PerItem { starts: &starts, items: &mut values };
    Swarm { make, work, observer }.fill(graphs, place)?;
    Ok(EdgeValues { starts, values })
}

/// The arcs of the graph that has most.
fn most_arcs(graphs: BatchSlice<'_>) -> u64 {
    graphs.graphs().map(|graph| graph.arcs()).max().unwrap_or(0)
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
    let mut values = memory::zeros(graph.edges() as usize)?;
    let rule = Rule::new(graph.direction(), graph.vertices(), normalized);
    over(graph, Along::Arcs, Finish { rule, sums, values: &mut values });
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
                rule.finish(of_member(graph, Along::Arcs).ahead, sums.0, values.items);
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

    fn finish<L: Lists>(self, lists: L, sums: &[f64], values: &mut [f64]) {
        let mut values = values.iter_mut();
        for vertex in 0..lists.vertices() {
            let list = lists.of(vertex);
            let mut at = first_of(list, vertex, self.undirected);
            for alike in list[at..].chunk_by(|a, b| a == b) {
                let mut sum = sums[lists.begin(vertex) + at];
                if self.undirected && alike[0] != vertex {
                    let back = lists.of(alike[0]).partition_point(|&to| to < vertex);
                    sum += sums[lists.begin(alike[0]) + back];
                }
                let value = sum * self.scale;
                values.by_ref().zip(alike).for_each(|(to, _)| *to = value);
                at += alike.len();
            }
        }
    }
}

/// Makes values of sums.
struct Finish<'a> {
    rule: Rule,
    sums: &'a [f64],
    values: &'a mut [f64],
}

impl Over for Finish<'_> {
    type Result = ();

    fn lists<L: Lists>(self, lists: Sides<L>) {
        self.rule.finish(lists.ahead, self.sums, self.values);
    }
}

struct Run<'a> {
    weigh: bool,
    arcs: u64,
    rule: Rule,
    to: &'a mut [f64],
    observer: &'a dyn Observer,
}

impl Over for Run<'_> {
    type Result = Result<(), RunError>;

    fn lists<L: Lists>(self, lists: Sides<L>) -> Self::Result {
        let mut sums: Vec<f64> = memory::zeros(self.arcs as usize)?;
        let make = |vertices| Desk::new(self.weigh, vertices, self.arcs);
        let work = |desk: &mut Desk, sources| desk.add_group(lists, sources, self.observer);
        let take = |_, desks: &[Desk]| {
            sums.par_iter_mut().enumerate().with_min_len(1 << 12).for_each(|(arc, sum)| {
                desks.iter().for_each(|desk| *sum += desk.sums[arc]);
            });
            Ok::<_, RunError>(())
        };
        Waves { make, work, take, observer: self.observer }.run(lists.vertices())?;
        self.rule.finish(lists.ahead, &sums, self.to);
        Ok(())
    }
}

/// What a thread works with, with room for so many vertices and arcs or more.
struct Desk {
    ways: Ways,
    /// What leads along each arc from each of eight sources.
    along: Vec<[f64; EIGHT]>,
    /// What leads along each arc from all sources of the group.
    sums: Vec<f64>,
}

fn bytes_of_desk(vertices: u32, arcs: u64) -> u64 {
    bytes_of_ways(vertices) + (8 * EIGHT as u64 + 8) * arcs
}

impl Desk {
    fn new(weigh: bool, vertices: u32, arcs: u64) -> Result<Desk, OutOfMemory> {
        let arcs = arcs as usize;
        let (along, sums) = (memory::zeros(arcs)?, memory::zeros(arcs)?);
        Ok(Desk { ways: Ways::new(weigh, vertices)?, along, sums })
    }

    /// Sums up what the shortest ways from a group of sources lead along.
    fn add_group<L: Lists>(
        &mut self,
        lists: Sides<L>,
        sources: Range<VertexId>,
        observer: &dyn Observer,
    ) -> Result<(), RunError> {
        let Desk { ways, along, sums } = self;
        let last = lists.vertices().saturating_sub(1);
        let arcs = lists.ahead.begin(last) + lists.ahead.of(last).len();
        let (along, sums) = (&mut along[..arcs], &mut sums[..arcs]);
        sums.fill(0.0);
        for first in sources.clone().step_by(EIGHT) {
            along.fill([0.0; EIGHT]);
            let eight = first..sources.end.min(first.saturating_add(EIGHT as u32));
            for (lane, source) in eight.enumerate() {
                go_on(observer)?;
                ways.search(lists, source);
                ways.go_back(
                    lists,
                    |_, _| (),
                    |Step { from, arc, through }| {
                        along[lists.ahead.begin(from) + arc][lane] = through;
                    },
                );
            }
            sums.iter_mut().zip(&*along).for_each(|(sum, along)| *sum += sum_of(*along));
        }
        Ok(())
    }
}
