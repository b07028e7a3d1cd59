//! Betweenness: how many shortest ways lead through a vertex.
//!
//! # What it returns
//! Of each vertex v the sum, over all pairs of other vertices s and t between which there is a way, of the
//! share of the shortest ways from s to t that pass v. On an undirected graph each pair counts once. A
//! way's length is its number of arcs: weights, self-loops and repeated arcs change nothing. Normalized,
//! over the number of pairs of other vertices: (n − 1)(n − 2), and half of that on an undirected graph.
//!
//! # Algorithm
//! Brandes': from each source the levels of a breadth-first search, forward how many shortest ways lead to each
//! vertex, and back, from the farthest, what each vertex passes on:
//!
//! ```text
//! ways(v)    1 at the source; else the sum of ways(u) over the neighbours u behind v, a level nearer
//! share(v)   the sum of passed(w) over the neighbours w ahead of v, a level farther
//! passed(v)  1 / ways(v) + share(v): what one of v's shortest ways passes on
//! ```
//!
//! Through v lead ways(v) · share(v). The levels are found from 64 sources at once, or from 8 in a large
//! graph: what neighbours add to one another is then the sources that two masks have in common, so that
//! nothing is asked but what counts.
//!
//! # Memory
//! Beside the graph 8 bytes a vertex, and for each thread 2616 bytes a vertex of a graph of up to 4096, or 284
//! of a larger one: [`plan`].
//!
//! # Determinism
//! The same bits on any number of threads and any shards. Ways add up in the order of the neighbours' ids,
//! shares against it. What the ways from eight sources lead through is summed up pairwise, eights up to 64
//! sources in the order of their ids, and these sums in that order, too.
//!
//! # References
//! Brandes, *A faster algorithm for betweenness centrality*, Journal of Mathematical Sociology 25, 2001.

use crate::lists::{Along, Lists, Over, Sides, of_member, over};
use crate::run::go_on;
use crate::search::{Mask, Search, Visit, bytes_of_search};
use crate::swarm::{self, Swarm};
use crate::waves::{GROUP, Waves, sources};
use crate::{Observer, Plan, RunError};
use rayon::prelude::*;
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Direction, Graph, OutOfMemory, VertexId, memory};
use std::ops::Range;

/// The memory that a run on so many threads will need beside the graph.
pub fn plan(graph: &Graph, threads: usize) -> Plan {
    let desk = bytes_of_desk(graph.vertices());
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
    let desk = bytes_of_desk(swarm::largest(graphs));
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
    if largest <= MANY_LANES_UP_TO {
        swarm_of::<u64>(graphs, normalized, observer, largest)
    } else {
        swarm_of::<u8>(graphs, normalized, observer, largest)
    }
}

fn swarm_of<M: Mask>(
    graphs: BatchSlice<'_>,
    normalized: bool,
    observer: &dyn Observer,
    largest: u32,
) -> Result<Vec<f64>, RunError> {
    let work = |desk: &mut Desk<M>, graph: BatchGraph<'_>, values: &mut [f64]| {
        let vertices = graph.vertices();
        for group in 0..vertices.div_ceil(GROUP) {
            let lists = of_member(graph, Along::Arcs);
            desk.add_group(lists, sources(group, vertices), observer)?;
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

    fn lists<L: Lists>(self, lists: Sides<L>) -> Self::Result {
        if lists.vertices() <= MANY_LANES_UP_TO {
            self.with::<u64, L>(lists)
        } else {
            self.with::<u8, L>(lists)
        }
    }
}

impl Run<'_> {
    fn with<M: Mask, L: Lists>(self, lists: Sides<L>) -> Result<Vec<f64>, RunError> {
        let mut values: Vec<f64> = memory::zeros(lists.vertices() as usize)?;
        let work = |desk: &mut Desk<M>, sources| desk.add_group(lists, sources, self.observer);
        let take = |_, desks: &[Desk<M>]| {
            values.par_iter_mut().enumerate().with_min_len(1 << 12).for_each(|(v, value)| {
                desks.iter().for_each(|desk| *value += desk.sums[v]);
            });
            Ok::<_, RunError>(())
        };
        Waves { make: Desk::new, work, take, observer: self.observer }.run(lists.vertices())?;
        Ok(values)
    }
}

/// Vertices of the largest graph whose rows of 64 numbers are worth their memory.
const MANY_LANES_UP_TO: u32 = 1 << 12;

/// What a thread works with, with room for so many vertices or more.
///
/// A row has a number for each source that is searched from at once.
struct Desk<M> {
    search: Search<M>,
    levels: Levels<M>,
    /// The sources for which a vertex is in the level next to the one looked at; none between two searches.
    beside: Vec<M>,
    /// Rows: how many shortest ways there are from each source. As in the literature and in others'
    /// programs it is a float, which does not overflow.
    ways: Vec<f64>,
    /// Rows: 1 over it.
    inverse: Vec<f64>,
    /// Rows: what the vertices behind pass on.
    share: Vec<f64>,
    /// What was found from all sources of the group.
    sums: Vec<f64>,
}

/// The vertices as they were found, and by which sources; in a level they ascend.
struct Levels<M> {
    found: Vec<(VertexId, M)>,
    /// Where the levels begin.
    begins: Vec<usize>,
}

/// Numbers that are summed up pairwise; a row has a multiple of them.
const EIGHT: usize = 8;

fn bytes_of_desk(vertices: u32) -> u64 {
    fn of<M: Mask>(vertices: u32) -> u64 {
        let found = size_of::<(VertexId, M)>() + 3 * size_of::<f64>();
        let bytes = M::LANES as usize * found + 8 + size_of::<M>() + size_of::<f64>();
        bytes_of_search::<M>(vertices) + bytes as u64 * u64::from(vertices)
    }
    if vertices <= MANY_LANES_UP_TO { of::<u64>(vertices) } else { of::<u8>(vertices) }
}

impl<M: Mask> Visit<M> for Levels<M> {
    const IN_ORDER: bool = true;

    #[inline]
    fn arrive(&mut self, step: u32, vertex: VertexId, sources: M) {
        if self.begins.len() == step as usize {
            self.begins.push(self.found.len());
        }
        self.found.push((vertex, sources));
    }
}

impl<M: Mask> Levels<M> {
    /// A level, from 0; nobody is in those behind the last.
    fn level(&self, level: usize) -> &[(VertexId, M)] {
        let begin = |level| self.begins.get(level).copied().unwrap_or(self.found.len());
        &self.found[begin(level)..begin(level + 1)]
    }
}

impl<M: Mask> Desk<M> {
    fn new(vertices: u32) -> Result<Desk<M>, OutOfMemory> {
        let count = vertices as usize;
        let numbers = count.saturating_mul(M::LANES as usize);
        Ok(Desk {
            search: Search::new(vertices)?,
            levels: Levels {
                found: memory::with_room(numbers)?,
                begins: memory::with_room(count)?,
            },
            beside: memory::filled(M::NONE, count)?,
            ways: memory::zeros(numbers)?,
            inverse: memory::zeros(numbers)?,
            share: memory::zeros(numbers)?,
            sums: memory::zeros(count)?,
        })
    }

    /// Sums up what the shortest ways from a group of sources lead through.
    fn add_group<L: Lists>(
        &mut self,
        lists: Sides<L>,
        sources: Range<VertexId>,
        observer: &dyn Observer,
    ) -> Result<(), RunError> {
        self.sums[..lists.vertices() as usize].fill(0.0);
        let end = sources.end;
        for first in sources.step_by(M::LANES as usize) {
            go_on(observer)?;
            self.add(lists, first..end.min(first.saturating_add(M::LANES)));
        }
        Ok(())
    }

    /// Adds what the shortest ways from some sources lead through.
    fn add<L: Lists>(&mut self, lists: Sides<L>, sources: Range<VertexId>) {
        let row = sources.len().next_multiple_of(EIGHT);
        let numbers = row * lists.vertices() as usize;
        self.levels.found.clear();
        self.levels.begins.clear();
        self.search.run(lists, sources, &mut self.levels);
        self.count_ways(lists.behind, row, numbers);
        self.share_out(lists.ahead, row, numbers);
        let ways = self.ways[..numbers].chunks_exact(row);
        let rows = ways.zip(self.share[..numbers].chunks_exact(row));
        for (sum, (ways, share)) in self.sums.iter_mut().zip(rows) {
            for (ways, share) in ways.chunks_exact(EIGHT).zip(share.chunks_exact(EIGHT)) {
                let through: [f64; EIGHT] = std::array::from_fn(|lane| ways[lane] * share[lane]);
                let [a, b, c, d, e, f, g, h] = through;
                *sum += ((a + b) + (c + d)) + ((e + f) + (g + h));
            }
        }
    }

    /// Counts the ways to all vertices, level by level.
    fn count_ways<L: Lists>(&mut self, behind: L, row: usize, numbers: usize) {
        let Desk { levels, beside, ways, inverse, .. } = self;
        ways[..numbers].fill(0.0);
        for &(source, lane) in levels.level(0) {
            ways[source as usize * row + lane.first() as usize] = 1.0;
        }
        for level in 1..levels.begins.len() {
            enter(beside, levels.level(level - 1));
            for &(vertex, sources) in levels.level(level) {
                let to = vertex as usize * row;
                for_each_once(behind.of(vertex).iter(), |from| {
                    let mut both = sources & beside[from as usize];
                    while both != M::NONE {
                        let lane = both.first() as usize;
                        ways[to + lane] += ways[from as usize * row + lane];
                        both = both.rest();
                    }
                });
            }
            leave(beside, levels.level(level - 1));
        }
        let rows = inverse[..numbers].iter_mut().zip(&ways[..numbers]);
        rows.for_each(|(inverse, ways)| *inverse = 1.0 / ways);
    }

    /// Passes on what each vertex has, from the farthest level to the first.
    fn share_out<L: Lists>(&mut self, ahead: L, row: usize, numbers: usize) {
        let Desk { levels, beside, inverse, share, .. } = self;
        share[..numbers].fill(0.0);
        // Nothing leads through a source.
        for level in (1..levels.begins.len()).rev() {
            enter(beside, levels.level(level + 1));
            for &(vertex, sources) in levels.level(level) {
                let to = vertex as usize * row;
                for_each_once(ahead.of(vertex).iter().rev(), |from| {
                    let mut both = sources & beside[from as usize];
                    while both != M::NONE {
                        let lane = both.first() as usize;
                        let at = from as usize * row + lane;
                        share[to + lane] += inverse[at] + share[at];
                        both = both.rest();
                    }
                });
            }
            leave(beside, levels.level(level + 1));
        }
    }
}

fn enter<M: Mask>(beside: &mut [M], level: &[(VertexId, M)]) {
    level.iter().for_each(|&(vertex, sources)| beside[vertex as usize] = sources);
}

fn leave<M: Mask>(beside: &mut [M], level: &[(VertexId, M)]) {
    level.iter().for_each(|&(vertex, _)| beside[vertex as usize] = M::NONE);
}

/// Visits each vertex of a list, in which equal ones are neighbours, once.
#[inline]
fn for_each_once<'a>(list: impl Iterator<Item = &'a VertexId>, mut visit: impl FnMut(VertexId)) {
    // Which no vertex is.
    let mut last = VertexId::MAX;
    for &vertex in list {
        if vertex != last {
            visit(vertex);
        }
        last = vertex;
    }
}
