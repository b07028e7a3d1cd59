//! Betweenness: how many shortest ways lead through a vertex.
//!
//! # What it returns
//! Of each vertex v the sum, over all pairs of other vertices s and t between which there is a way, of the
//! share of the shortest ways from s to t that pass v. On an undirected graph each pair counts once. A
//! way's length is its number of arcs: weights, self-loops and repeated arcs change nothing. Normalized,
//! over the number of pairs of other vertices: (n − 1)(n − 2), and half of that on an undirected graph.
//!
//! # Algorithm
//! Brandes': from each source a breadth-first search that counts the shortest ways to each vertex; then,
//! from the farthest back to the source, what each vertex passes on.
//!
//! # Memory
//! Beside the graph 8 bytes a vertex, and 32 bytes a vertex for each thread: [`plan`].
//!
//! # Determinism
//! The same bits on any number of threads and any shards: sums are of 64 sources, in the order of their ids,
//! and sums of sums in that order, too.
//!
//! # References
//! Brandes, *A faster algorithm for betweenness centrality*, Journal of Mathematical Sociology 25, 2001.

use crate::lists::{Along, Lists, Over, of_member, over};
use crate::run::go_on;
use crate::search::SOURCES;
use crate::swarm::{self, Swarm};
use crate::waves::sources;
use crate::{Observer, Plan, RunError};
use rayon::prelude::*;
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Direction, Graph, OutOfMemory, VertexId, memory};

/// The memory that a run on so many threads will need beside the graph.
pub fn plan(graph: &Graph, threads: usize) -> Plan {
    let desk = BYTES_OF_DESK * u64::from(graph.vertices());
    Plan::default()
        .with("values", 8 * u64::from(graph.vertices()))
        .with("searches, one a thread", (threads as u64).saturating_mul(desk))
}

/// The betweenness of each vertex, on rayon's current pool.
///
/// # Errors
/// Where the observer cancels, or memory is refused.
pub fn betweenness(
    graph: &Graph,
    normalized: bool,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, RunError> {
    observer.on_stage("finding shortest ways");
    let observer: &dyn Observer = observer;
    let mut values = over(graph, Along::Arcs, Run { observer })?;
    let scale = scale(graph.direction(), graph.vertices(), normalized);
    values.par_iter_mut().for_each(|value| *value *= scale);
    Ok(values)
}

/// The memory that a run over these graphs will need beside them on so many threads.
pub fn plan_of_batch(graphs: BatchSlice<'_>, threads: usize) -> Plan {
    let desk = BYTES_OF_DESK * u64::from(swarm::largest(graphs));
    Plan::default()
        .with("values", 8 * graphs.vertices())
        .with("searches, one a thread", (threads as u64).saturating_mul(desk))
}

/// The betweenness of each vertex in its graph, of all these graphs: graph by graph, as the vertices
/// lie in their batch. What [`betweenness`] finds of each graph, bit by bit; each is done by one thread.
///
/// # Errors
/// Where the observer cancels, or memory is refused.
pub fn betweenness_of_batch(
    graphs: BatchSlice<'_>,
    normalized: bool,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, RunError> {
    observer.on_stage("finding shortest ways");
    let observer: &dyn Observer = observer;
    let largest = swarm::largest(graphs);
    let work = |desk: &mut Desk, graph: BatchGraph<'_>, values: &mut [f64]| {
        let vertices = graph.vertices();
        for group in 0..vertices.div_ceil(SOURCES) {
            desk.add_group(of_member(graph, Along::Arcs), group, observer)?;
            values.iter_mut().zip(&desk.sums).for_each(|(value, sum)| *value += sum);
        }
        let scale = scale(graphs.batch().direction(), vertices, normalized);
        values.iter_mut().for_each(|value| *value *= scale);
        Ok(())
    };
    Swarm { make: || Desk::new(largest), work, observer }.run(graphs)
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

struct Run<'a> {
    observer: &'a dyn Observer,
}

impl Over for Run<'_> {
    type Result = Result<Vec<f64>, RunError>;

    fn lists<L: Lists>(self, lists: L) -> Self::Result {
        let vertices = lists.vertices();
        let mut values: Vec<f64> = memory::zeros(vertices as usize)?;
        let groups = vertices.div_ceil(SOURCES);
        let threads = rayon::current_num_threads().min(groups as usize);
        let mut desks = memory::with_room(threads)?;
        for _ in 0..threads {
            desks.push(Desk::new(vertices)?);
        }
        // As many groups at a time as there are threads: their sums wait for one another.
        for first in (0..groups).step_by(threads.max(1)) {
            let of_groups = desks.par_iter_mut().zip(first..groups).with_max_len(1);
            of_groups.try_for_each(|(desk, group)| desk.add_group(lists, group, self.observer))?;
            let done = (groups - first).min(threads as u32);
            let desks = &desks[..done as usize];
            values.par_iter_mut().enumerate().with_min_len(1 << 12).for_each(|(v, value)| {
                desks.iter().for_each(|desk| *value += desk.sums[v]);
            });
            self.observer.on_progress(f64::from(first + done) / f64::from(groups));
        }
        Ok(values)
    }
}

/// What a thread works with, with room for so many vertices or more.
struct Desk {
    /// How far from the source; [`UNSEEN`] between two searches.
    distance: Vec<u32>,
    /// How many shortest ways there are from the source. As in the literature and in others' programs it is
    /// a float, which does not overflow.
    ways: Vec<f64>,
    /// What each shortest way to a vertex passes on: its share of the vertex, and of all behind it.
    passed: Vec<f64>,
    /// The vertices as they were found.
    found: Vec<VertexId>,
    /// What was found from all sources of the group.
    sums: Vec<f64>,
}

const BYTES_OF_DESK: u64 = 4 + 8 + 8 + 4 + 8;
const UNSEEN: u32 = u32::MAX;

impl Desk {
    fn new(vertices: u32) -> Result<Desk, OutOfMemory> {
        let vertices = vertices as usize;
        Ok(Desk {
            distance: memory::filled(UNSEEN, vertices)?,
            ways: memory::zeros(vertices)?,
            passed: memory::zeros(vertices)?,
            found: memory::with_room(vertices)?,
            sums: memory::zeros(vertices)?,
        })
    }

    /// Sums up what the shortest ways from a group of sources lead through.
    fn add_group<L: Lists>(
        &mut self,
        lists: L,
        group: u32,
        observer: &dyn Observer,
    ) -> Result<(), RunError> {
        self.sums[..lists.vertices() as usize].fill(0.0);
        for source in sources(group, lists.vertices()) {
            go_on(observer)?;
            self.add(lists, source);
        }
        Ok(())
    }

    /// Adds what the shortest ways from a source lead through.
    fn add<L: Lists>(&mut self, lists: L, source: VertexId) {
        let Desk { distance, ways, passed, found, sums } = self;
        (distance[source as usize], ways[source as usize]) = (0, 1.0);
        found.push(source);
        let mut at = 0;
        while let Some(&vertex) = found.get(at) {
            at += 1;
            let (next, ways_here) = (distance[vertex as usize] + 1, ways[vertex as usize]);
            for_each_once(lists.of(vertex), |neighbor| {
                let to = neighbor as usize;
                if distance[to] == UNSEEN {
                    (distance[to], ways[to]) = (next, ways_here);
                    found.push(neighbor);
                } else if distance[to] == next {
                    ways[to] += ways_here;
                }
            });
        }
        for &vertex in found.iter().rev() {
            let (next, ways_here) = (distance[vertex as usize] + 1, ways[vertex as usize]);
            let mut share = 0.0;
            for_each_once(lists.of(vertex), |neighbor| {
                if distance[neighbor as usize] == next {
                    share += passed[neighbor as usize];
                }
            });
            let through = ways_here * share;
            passed[vertex as usize] = (1.0 + through) / ways_here;
            if vertex != source {
                sums[vertex as usize] += through;
            }
        }
        for vertex in found.drain(..) {
            distance[vertex as usize] = UNSEEN;
        }
    }
}

/// Visits each vertex of a list that ascends, once.
#[inline]
fn for_each_once(list: &[VertexId], mut visit: impl FnMut(VertexId)) {
    // Which no vertex is.
    let mut last = VertexId::MAX;
    for &vertex in list {
        if vertex != last {
            visit(vertex);
        }
        last = vertex;
    }
}
