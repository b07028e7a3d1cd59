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
//! Brandes': from each source the levels of a breadth-first search, forward how many shortest ways lead to each
//! vertex, and back, from the farthest, what each vertex passes on:
//!
//! ```text
//! ways(v)    1 at the source; else the sum of ways(u) over the neighbours u behind v, a level nearer
//! share(v)   the sum of passed(w) over the neighbours w ahead of v, a level farther
//! passed(v)  1 / ways(v) + share(v): what one of v's shortest ways passes on
//! ```
//!
//! Through v lead ways(v) · share(v). The levels are found from many sources at once: what two neighbours add
//! to one another is then told by the sources that their masks have in common, so that nothing is asked but
//! what counts. Graphs of up to 4096 vertices and 32,768 arcs take 64 sources and keep a list of all additions
//! (`linked.rs`), others eight (`levelled.rs`). By weights the distance is a level, and Dijkstra's search goes
//! from one source after the other (`dijkstra.rs`).
//!
//! # Memory
//! Beside the graph 8 bytes a vertex. For each thread, where the graph is so small, 1576 bytes a vertex and
//! 512 an arc; else 284 a vertex; by weights 108 a vertex: [`plan`].
//!
//! # Determinism
//! The same bits on any number of threads and any shards. Stored lengths are integers, so that it is certain
//! which ways are equally long. Ways add up in the order of the neighbours' ids,
//! shares against it. What the ways from eight sources lead through is summed up pairwise, eights up to 64
//! sources in the order of their ids, and these sums in that order, too.
//!
//! # References
//! Brandes, *A faster algorithm for betweenness centrality*, Journal of Mathematical Sociology 25, 2001.

mod dijkstra;
mod levelled;
mod linked;

use crate::eights::{EIGHT, sum_of};
use crate::lists::{Along, Lists, Over, Sides, of_member, over};
use crate::run::go_on;
use crate::swarm::{self, Swarm};
use crate::waves::{GROUP, Waves, sources};
use crate::{Lengths, Observer, Plan, RunError};
use levelled::Levelled;
use linked::Linked;
use rayon::prelude::*;
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Direction, Graph, OutOfMemory, VertexId, memory};
use std::ops::Range;

/// The memory that a run on so many threads will need beside the graph.
pub fn plan(graph: &Graph, lengths: Lengths, threads: usize) -> Plan {
    let desk = match lengths.weigh_in(graph) {
        true => dijkstra::bytes_of_desk(graph.vertices()),
        false => Sizes::default().with(graph.vertices(), graph.arcs()).bytes(),
    };
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
        true => dijkstra::values(graph, observer)?,
        false => over(graph, Along::Arcs, Run { observer, arcs: graph.arcs() })?,
    };
    let scale = scale(graph.direction(), graph.vertices(), normalized);
    values.par_iter_mut().for_each(|value| *value *= scale);
    Ok(values)
}

/// The memory that a run over these graphs will need beside them on so many threads.
pub fn plan_of_batch(graphs: BatchSlice<'_>, lengths: Lengths, threads: usize) -> Plan {
    let desk = match lengths.weigh_in_batch(graphs) {
        true => dijkstra::bytes_of_desk(swarm::largest(graphs)),
        false => Sizes::of(graphs).bytes(),
    };
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
        return dijkstra::values_of_batch(graphs, scale, observer);
    }
    let work = |desk: &mut Desk, graph: BatchGraph<'_>, values: &mut [f64]| {
        let vertices = graph.vertices();
        for group in 0..vertices.div_ceil(GROUP) {
            let lists = of_member(graph, Along::Arcs);
            desk.add_group(lists, graph.arcs(), sources(group, vertices), observer)?;
            let sums = desk.sums(vertices, graph.arcs());
            values.iter_mut().zip(sums).for_each(|(value, sum)| *value += sum);
        }
        let scale = scale(vertices);
        values.iter_mut().for_each(|value| *value *= scale);
        Ok(())
    };
    let sizes = Sizes::of(graphs);
    Swarm { make: || Desk::new(sizes), work, observer }.run(graphs)
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
    arcs: u64,
}

impl Over for Run<'_> {
    type Result = Result<Vec<f64>, RunError>;

    fn lists<L: Lists>(self, lists: Sides<L>) -> Self::Result {
        let vertices = lists.vertices();
        let mut values: Vec<f64> = memory::zeros(vertices as usize)?;
        let work =
            |desk: &mut Desk, sources| desk.add_group(lists, self.arcs, sources, self.observer);
        let take = |_, desks: &[Desk]| {
            values.par_iter_mut().enumerate().with_min_len(1 << 12).for_each(|(v, value)| {
                desks.iter().for_each(|desk| *value += desk.sums(vertices, self.arcs)[v]);
            });
            Ok::<_, RunError>(())
        };
        let make = |_| Desk::new(Sizes::default().with(vertices, self.arcs));
        Waves { make, work, take, observer: self.observer }.run(vertices)?;
        Ok(values)
    }
}

/// What a thread works with.
struct Desk {
    linked: Linked,
    levelled: Levelled,
}

/// What a desk has room for: the most vertices and arcs of small graphs, and the most vertices of large ones.
#[derive(Clone, Copy, Default)]
struct Sizes {
    small: (u32, u64),
    large: u32,
}

impl Sizes {
    fn of(graphs: BatchSlice<'_>) -> Sizes {
        let sizes = graphs.graphs().map(|graph| (graph.vertices(), graph.arcs()));
        sizes.fold(Sizes::default(), |sizes, (vertices, arcs)| sizes.with(vertices, arcs))
    }

    fn with(self, vertices: u32, arcs: u64) -> Sizes {
        let Sizes { small, large } = self;
        if Linked::takes(vertices, arcs) {
            Sizes { small: (small.0.max(vertices), small.1.max(arcs)), large }
        } else {
            Sizes { small, large: large.max(vertices) }
        }
    }

    fn bytes(self) -> u64 {
        Linked::bytes(self.small.0, self.small.1) + Levelled::bytes(self.large)
    }
}

impl Desk {
    fn new(sizes: Sizes) -> Result<Desk, OutOfMemory> {
        let Sizes { small: (vertices, arcs), large } = sizes;
        Ok(Desk { linked: Linked::new(vertices, arcs)?, levelled: Levelled::new(large)? })
    }

    /// Sums up what the shortest ways from a group of sources lead through, in a graph of so many arcs.
    fn add_group<L: Lists>(
        &mut self,
        lists: Sides<L>,
        arcs: u64,
        sources: Range<VertexId>,
        observer: &dyn Observer,
    ) -> Result<(), RunError> {
        if !Linked::takes(lists.vertices(), arcs) {
            return self.levelled.add_group(lists, sources, observer);
        }
        go_on(observer)?;
        self.linked.add_group(lists, sources);
        Ok(())
    }

    /// The sums of a graph of so many vertices and arcs.
    fn sums(&self, vertices: u32, arcs: u64) -> &[f64] {
        if Linked::takes(vertices, arcs) { &self.linked.sums } else { &self.levelled.sums }
    }
}

/// Adds what leads through each vertex, of rows of numbers, each of some eights.
fn add_up(sums: &mut [f64], row: usize, ways: &[f64], share: &[f64]) {
    let rows = ways.chunks_exact(row).zip(share.chunks_exact(row));
    for (sum, (ways, share)) in sums.iter_mut().zip(rows) {
        for (ways, share) in ways.chunks_exact(EIGHT).zip(share.chunks_exact(EIGHT)) {
            *sum += sum_of(std::array::from_fn(|lane| ways[lane] * share[lane]));
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ripplet_graph::{Duplicates, EdgeTable, GraphBuilder, SelfLoops, VertexIds};

    /// The sums of each group.
    struct Both(u64);

    impl Over for Both {
        type Result = Vec<[Vec<u64>; 2]>;

        fn lists<L: Lists>(self, lists: Sides<L>) -> Self::Result {
            let vertices = lists.vertices();
            let bits = |sums: &[f64]| sums.iter().map(|sum| sum.to_bits()).collect();
            let mut linked = Linked::new(vertices, self.0).unwrap();
            let mut levelled = Levelled::new(vertices).unwrap();
            let groups = (0..vertices.div_ceil(GROUP)).map(|group| sources(group, vertices));
            let sums = |sources: Range<u32>| {
                linked.add_group(lists, sources.clone());
                levelled.add_group(lists, sources, &()).unwrap();
                [bits(&linked.sums), bits(&levelled.sums)]
            };
            groups.map(sums).collect()
        }
    }

    proptest! {
        #[test]
        fn small_and_large_graphs_have_the_same_sums(
            (vertices, edges) in (1u32..100).prop_flat_map(|n| {
                (Just(n), prop::collection::vec((0..n, 0..n), 0..3 * n as usize))
            }),
            directed in any::<bool>(),
            keep in any::<bool>(),
        ) {
            let ids = VertexIds::Consecutive { first: 0, count: vertices };
            let (from, to) = edges.into_iter().unzip();
            let direction = if directed { Direction::Directed } else { Direction::Undirected };
            let mut builder = GraphBuilder::new().direction(direction);
            if keep {
                builder = builder.duplicates(Duplicates::Keep).self_loops(SelfLoops::Keep);
            }
            let graph = builder.build(EdgeTable::new(ids, from, to).unwrap()).unwrap();
            for [linked, levelled] in over(&graph, Along::Arcs, Both(graph.arcs())) {
                prop_assert_eq!(linked, levelled);
            }
        }
    }
}
