//! Betweenness: how many shortest ways lead through a vertex.
//!
//! # What it returns
//! Of each vertex v the sum, over all pairs of other vertices s and t between which there is a way, of the
//! share of the shortest ways from s to t that pass v. On an undirected graph each pair counts once. A
//! way's length is by one of two [`Lengths`]; by weights, all but those of loops have to be positive, as ways
//! could go along an arc of length 0 as often as they like. Self-loops and repeated arcs change nothing.
//! Normalized, over the number of pairs of other vertices: (n − 1)(n − 2), and half of that on an undirected
//! graph.
//!
//! # Algorithm
//! Brandes': from each source a breadth-first search that counts the shortest ways to each vertex; then,
//! from the farthest back to the source, what each vertex passes on. Eight sources go together: a list is
//! read once for all of them that arrive at the same step, and their numbers lie side by side. By weights the
//! search is Dijkstra's, from one source after the other.
//!
//! # Memory
//! Beside the graph 8 bytes a vertex, and 151 bytes a vertex for each thread, 120 by weights: [`plan`].
//!
//! # Determinism
//! The same bits on any number of threads and any shards. Ways to a vertex add up in the order of the
//! vertices before them, and shares in the order of those behind. Of each vertex, what the ways from eight
//! sources lead through is summed up by steps, the farthest first, and in a step pairwise; then eight by
//! eight, up to 64; and these sums in the order of the sources' ids. By weights all that the ways from eight
//! sources lead through is summed up pairwise, and then eight by eight in the order of their ids. Stored
//! lengths are integers, so that it is certain which ways are equally long.
//!
//! # References
//! Brandes, *A faster algorithm for betweenness centrality*, Journal of Mathematical Sociology 25, 2001.

mod weighed;

use crate::lists::{Along, Lists, Over, of_member, over};
use crate::run::go_on;
use crate::search::SOURCES;
use crate::swarm::{self, Swarm};
use crate::waves::sources;
use crate::{Lengths, Observer, Plan, RunError};
use rayon::prelude::*;
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Direction, Graph, OutOfMemory, VertexId, memory};
use std::ops::Range;

/// The memory that a run on so many threads will need beside the graph.
pub fn plan(graph: &Graph, lengths: Lengths, threads: usize) -> Plan {
    let desk = bytes_of_desk(lengths.weigh_in(graph), graph.vertices());
    Plan::default()
        .with("values", 8 * u64::from(graph.vertices()))
        .with("searches, one a thread", (threads as u64).saturating_mul(desk))
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
    observer.on_stage("finding shortest ways");
    let observer: &dyn Observer = observer;
    let mut values = match lengths.weigh_in(graph) {
        true => weighed::values(graph, observer)?,
        false => over(graph, Along::Arcs, Run { observer })?,
    };
    let scale = scale(graph.direction(), graph.vertices(), normalized);
    values.par_iter_mut().for_each(|value| *value *= scale);
    Ok(values)
}

/// The memory that a run over these graphs will need beside them on so many threads.
pub fn plan_of_batch(graphs: BatchSlice<'_>, lengths: Lengths, threads: usize) -> Plan {
    let desk = bytes_of_desk(lengths.weigh_in_batch(graphs), swarm::largest(graphs));
    Plan::default()
        .with("values", 8 * graphs.vertices())
        .with("searches, one a thread", (threads as u64).saturating_mul(desk))
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
    observer.on_stage("finding shortest ways");
    let observer: &dyn Observer = observer;
    let scale = |vertices| scale(graphs.batch().direction(), vertices, normalized);
    if lengths.weigh_in_batch(graphs) {
        return weighed::values_of_batch(graphs, scale, observer);
    }
    let largest = swarm::largest(graphs);
    let work = |desk: &mut Desk, graph: BatchGraph<'_>, values: &mut [f64]| {
        let vertices = graph.vertices();
        for group in 0..vertices.div_ceil(SOURCES) {
            desk.add_group(of_member(graph, Along::Arcs), group, observer)?;
            values.iter_mut().zip(&desk.sums).for_each(|(value, sum)| *value += sum);
        }
        let scale = scale(vertices);
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

/// What a thread works with, with room for so many vertices or more. Between two searches nobody is
/// anywhere: `here` and `there` are empty.
struct Desk {
    /// The sources, as bits, that have found a vertex.
    seen: Vec<Sources>,
    /// The sources that are at a vertex at one step, and at the next.
    here: Vec<Sources>,
    there: Vec<Sources>,
    /// How many shortest ways there are from each source; on the way back, what each of them passes on:
    /// its share of the vertex, and of all behind it. As in the literature and in others' programs these
    /// are floats, which do not overflow.
    ways: Vec<Lanes>,
    /// The vertices as they were found, step after step, and by whom; in a step they ascend.
    found: Vec<(VertexId, Sources)>,
    /// Where the steps begin among them.
    steps: Vec<usize>,
    /// The vertices of a step, before they are in order.
    reached: Vec<VertexId>,
    /// What was found from all sources of the group.
    sums: Vec<f64>,
}

/// A set of sources that are searched from at once: a bit each.
type Sources = u8;
/// How many these are.
const AT_ONCE: u32 = Sources::BITS;
/// A number for each of them.
type Lanes = [f64; AT_ONCE as usize];

/// Bytes of what a thread works with, for so many vertices.
fn bytes_of_desk(weigh: bool, vertices: u32) -> u64 {
    if weigh { weighed::bytes_of_desk(vertices) } else { BYTES_OF_DESK * u64::from(vertices) }
}

const BYTES_OF_DESK: u64 = 3 + 64 + 8 * 8 + 8 + 4 + 8;

impl Desk {
    fn new(vertices: u32) -> Result<Desk, OutOfMemory> {
        let vertices = vertices as usize;
        Ok(Desk {
            seen: memory::zeros(vertices)?,
            here: memory::zeros(vertices)?,
            there: memory::zeros(vertices)?,
            ways: memory::zeros(vertices)?,
            found: memory::with_room(vertices.saturating_mul(AT_ONCE as usize))?,
            steps: memory::with_room(vertices)?,
            reached: memory::with_room(vertices)?,
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
        let sources = sources(group, lists.vertices());
        for first in sources.clone().step_by(AT_ONCE as usize) {
            go_on(observer)?;
            self.search(lists, first..sources.end.min(first.saturating_add(AT_ONCE)));
            self.go_back(lists);
        }
        Ok(())
    }

    /// Finds all that some sources have a way to, and how many shortest ones each has.
    fn search<L: Lists>(&mut self, lists: L, sources: Range<VertexId>) {
        let vertices = lists.vertices() as usize;
        let Desk { seen, here, there, ways, found, steps, reached, .. } = self;
        seen[..vertices].fill(0);
        ways[..vertices].fill(Lanes::default());
        for (lane, source) in sources.enumerate() {
            seen[source as usize] = 1 << lane;
            ways[source as usize][lane] = 1.0;
            found.push((source, 1 << lane));
        }
        let mut begin = 0;
        while begin < found.len() {
            let end = found.len();
            steps.push(begin);
            // They ascend, so that the ways to a vertex add up in the order of those before it.
            for &(vertex, sources) in &found[begin..end] {
                let of_vertex = ways[vertex as usize];
                for_each_once(lists.of(vertex), |neighbor| {
                    let to = neighbor as usize;
                    let new = sources & !seen[to];
                    if new != 0 {
                        if there[to] == 0 {
                            reached.push(neighbor);
                        }
                        there[to] |= new;
                        add(&mut ways[to], &of_vertex, new);
                    }
                });
            }
            // Where many were reached, looking at all is cheaper than sorting.
            if reached.len() > vertices / 16 {
                reached.clear();
                let all = (0..).zip(&there[..vertices]);
                reached.extend(all.filter(|(_, sources)| **sources != 0).map(|(vertex, _)| vertex));
            } else {
                reached.sort_unstable();
            }
            for vertex in reached.drain(..) {
                let sources = std::mem::take(&mut there[vertex as usize]);
                seen[vertex as usize] |= sources;
                found.push((vertex, sources));
            }
            begin = end;
        }
        debug_assert!(here.iter().chain(&*there).all(|sources| *sources == 0));
    }

    /// Adds what the ways just found lead through, from the farthest vertices back to the sources.
    fn go_back<L: Lists>(&mut self, lists: L) {
        let Desk { here, there, ways, found, steps, sums, .. } = self;
        // The first step has the sources, which the ways lead from.
        let mut end = found.len();
        while let Some(begin) = steps.pop().filter(|begin| *begin > 0) {
            for &(vertex, sources) in &found[begin..end] {
                let mut share = Lanes::default();
                for_each_once(lists.of(vertex), |neighbor| {
                    let behind = sources & there[neighbor as usize];
                    if behind != 0 {
                        add(&mut share, &ways[neighbor as usize], behind);
                    }
                });
                let of_vertex = &mut ways[vertex as usize];
                let mut through = Lanes::default();
                for lane in 0..through.len() {
                    if sources >> lane & 1 == 1 {
                        through[lane] = of_vertex[lane] * share[lane];
                        of_vertex[lane] = (1.0 + through[lane]) / of_vertex[lane];
                    }
                }
                sums[vertex as usize] += sum(&through);
                here[vertex as usize] = sources;
            }
            for &(vertex, _) in &found[end..] {
                there[vertex as usize] = 0;
            }
            std::mem::swap(here, there);
            found.truncate(end);
            end = begin;
        }
        for (vertex, _) in found.drain(..) {
            there[vertex as usize] = 0;
        }
    }
}

/// Adds the numbers of some sources to those of a row. To add 0 for the others changes nothing: no
/// number is below it.
#[inline]
fn add(to: &mut Lanes, numbers: &Lanes, sources: Sources) {
    /// All bits of a lane, for each lane of half a row that there can be.
    const KEEP: [[u64; 4]; 16] = {
        let mut keep = [[0; 4]; 16];
        let mut at = 0;
        while at < 64 {
            keep[at / 4][at % 4] = if at / 4 >> (at % 4) & 1 == 1 { u64::MAX } else { 0 };
            at += 1;
        }
        keep
    };
    let (low, high) = (KEEP[usize::from(sources & 15)], KEEP[usize::from(sources >> 4)]);
    for lane in 0..4 {
        to[lane] += f64::from_bits(numbers[lane].to_bits() & low[lane]);
        to[lane + 4] += f64::from_bits(numbers[lane + 4].to_bits() & high[lane]);
    }
}

/// The sum of a row, of pairs of pairs of pairs.
#[inline]
fn sum(row: &Lanes) -> f64 {
    ((row[0] + row[1]) + (row[2] + row[3])) + ((row[4] + row[5]) + (row[6] + row[7]))
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
