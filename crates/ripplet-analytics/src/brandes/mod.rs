//! Brandes' algorithm from all vertices, or from some, summed per vertex or per arc.
//!
//! σ and δ are defined in [`betweenness`](crate::betweenness).
//!
//! By hops, breadth-first searches from many sources at once find the levels. The intersection of
//! two neighbours' source masks then gives the sources for which an arc is on a shortest path, so
//! that only these arcs add numbers.
//!
//! | engine | sources at once | graphs |
//! |---|---|---|
//! | `linked.rs` | 64 | small, short paths: a list of all additions |
//! | `swept.rs` | 64 | small, long paths: sweeps over the vertices until all are done |
//! | `levelled.rs` | 8 | large: level by level |
//! | `weighted.rs` | 1 | by weights: vertices in the order of their distance |
//!
//! All engines compute the same numbers and add them in the same order: path counts from the first
//! neighbour of a list to the last, dependencies from the last to the first.

mod distinct;
mod levelled;
mod linked;
mod rows;
mod small;
mod sums;
mod sweep;
mod swept;
mod weighted;

pub(crate) use sums::{Arcs, Target, Vertices};

use crate::no_length::{refuse_weightless, refuse_weightless_in};
use crate::pairwise::EIGHT;
use crate::run::go_on;
use crate::sides::{Along, Sides, dispatch_sides, of_member};
use crate::source_batches::{GROUP, Listed, SourceBatches, SourceIds, sources};
use crate::swarm::{Place, Swarm};
use crate::{AnalysisError, Lengths};
use levelled::Levelled;
use rayon::prelude::*;
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{GraphView, Neighbors, Observer, OutOfMemory, VertexId, memory};
use small::Small;
use std::ops::Range;
use sums::Sums;
use weighted::Weighted;

/// Returns the bytes of the workspaces of `threads` threads in [`of_graph`], without its sums; from all vertices, or from
/// this number of chosen sources.
pub(crate) fn bytes_of_workspaces<T: Target>(
    graph: GraphView<'_>,
    lengths: Lengths,
    chosen: Option<u32>,
    threads: usize,
) -> u64 {
    let engine = Engine::of(lengths.weigh_in(graph), graph.vertices(), graph.arcs());
    // A group has one thread.
    let threads = match chosen {
        Some(count) => threads.min(count.div_ceil(engine.group(chosen)) as usize),
        None => threads,
    };
    let workspace = Sizes::of_graph(engine, graph).bytes::<T>();
    let flat = if engine == Engine::Small { graph.bytes_of_flat() } else { 0 };
    (threads as u64).saturating_mul(workspace) + flat
}

/// Returns the sums over ordered pairs of a graph's vertices, computed on rayon's current pool; if sources are chosen,
/// which ascend, over the pairs whose first vertex is one of them.
///
/// # Errors
/// If an edge other than a self-loop has length 0, the observer cancels, or memory is refused.
pub(crate) fn of_graph<T: Target>(
    graph: GraphView<'_>,
    lengths: Lengths,
    chosen: Option<&[VertexId]>,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, AnalysisError> {
    observer.on_stage(STAGE);
    let weigh = lengths.weigh_in(graph);
    if weigh {
        refuse_weightless(graph)?;
    }
    let engine = Engine::of(weigh, graph.vertices(), graph.arcs());
    let sizes = Sizes::of_graph(engine, graph);
    let (vertices, arcs) = (graph.vertices(), graph.arcs());
    let run = Run { engine, sizes, vertices, arcs, chosen, observer };
    if engine == Engine::Small {
        let flat = graph.flat()?;
        let (out, incoming) = flat.lists();
        let lists = Sides::of(Along::Arcs, out, incoming);
        return run.totals(|workspace: &mut Workspace<T>, sources| {
            workspace.add_flat_group(engine, lists, sources, observer)
        });
    }
    dispatch_sides!(graph, Along::Arcs, lists => {
        run.totals(|workspace: &mut Workspace<T>, sources| {
            workspace.add_group(engine, lists, sources, observer)
        })
    })
}

/// A run over the sources of one graph.
struct Run<'a> {
    engine: Engine,
    sizes: Sizes,
    vertices: u32,
    arcs: u64,
    /// The sources, if not all vertices.
    chosen: Option<&'a [VertexId]>,
    observer: &'a dyn Observer,
}

impl Run<'_> {
    /// Returns the totals of the sums that `add` computes for each group of sources.
    fn totals<T: Target>(
        self,
        add: impl Fn(&mut Workspace<T>, &[VertexId]) -> Result<(), AnalysisError> + Sync,
    ) -> Result<Vec<f64>, AnalysisError> {
        let Run { engine, sizes, vertices, arcs, chosen, observer } = self;
        let mut totals: Vec<f64> = memory::zeros(T::count(vertices, arcs) as usize)?;
        let make = || Workspace::<T>::new(sizes);
        let of = Listed { vertices, chosen };
        let work =
            |workspace: &mut Workspace<T>, places: Range<u32>| add(workspace, &of.at(places));
        let take = |_, workspaces: &[Workspace<T>]| {
            totals.par_iter_mut().enumerate().with_min_len(1 << 12).for_each(|(at, total)| {
                workspaces.iter().for_each(|workspace| *total += workspace.sums(engine)[at]);
            });
            Ok::<_, AnalysisError>(())
        };
        let count = of.len();
        let group = engine.group(chosen.map(|_| count));
        SourceBatches { make, work, take, group, observer }.run(count)?;
        Ok(totals)
    }
}

/// The name of the stage for an observer.
const STAGE: &str = "finding shortest paths";

/// Returns the bytes of the workspaces of `threads` threads in [`fill_batch`].
pub(crate) fn bytes_of_workspaces_of_batch<T: Target>(
    graphs: BatchSlice<'_>,
    lengths: Lengths,
    threads: usize,
) -> u64 {
    let (sizes, most) = room_for::<T>(graphs, lengths.weigh_in_batch(graphs));
    (threads as u64).saturating_mul(sizes.bytes::<T>() + 8 * most)
}

/// Calls `finish` for each graph with the sums over ordered pairs of its vertices and its part of
/// the output.
///
/// # Errors
/// See [`of_graph`]. If several graphs have edges of length 0, the error names the first graph.
pub(crate) fn fill_batch<T: Target, P: Place>(
    graphs: BatchSlice<'_>,
    lengths: Lengths,
    observer: &mut dyn Observer,
    place: P,
    finish: impl Fn(&[f64], BatchGraph<'_>, P) -> Result<(), OutOfMemory> + Sync,
) -> Result<(), AnalysisError> {
    observer.on_stage(STAGE);
    let observer: &dyn Observer = observer;
    let weigh = lengths.weigh_in_batch(graphs);
    if weigh {
        refuse_weightless_in(graphs)?;
    }
    let (sizes, most) = room_for::<T>(graphs, weigh);
    let make = || Ok((Workspace::<T>::new(sizes)?, memory::zeros(most as usize)?));
    let work = |(workspace, totals): &mut (Workspace<T>, Vec<f64>),
                graph: BatchGraph<'_>,
                place: P| {
        let (vertices, arcs) = (graph.vertices(), graph.arcs());
        let engine = Engine::of(weigh, vertices, arcs);
        let totals = &mut totals[..T::count(vertices, arcs) as usize];
        totals.fill(0.0);
        for group in 0..vertices.div_ceil(GROUP) {
            let lists = of_member(graph, Along::Arcs);
            let sources = SourceIds::from(sources(group, vertices));
            workspace.add_flat_group(engine, lists, &sources, observer)?;
            totals.iter_mut().zip(workspace.sums(engine)).for_each(|(total, sum)| *total += sum);
        }
        Ok(finish(totals, graph, place)?)
    };
    Swarm { make, work, observer }.fill(graphs, place)
}

/// Returns the sizes of a workspace for all these graphs, and the largest number of sums of a
/// graph.
fn room_for<T: Target>(graphs: BatchSlice<'_>, weigh: bool) -> (Sizes, u64) {
    graphs.graphs().fold((Sizes::default(), 0), |(sizes, most), graph| {
        let (vertices, arcs) = (graph.vertices(), graph.arcs());
        let engine = Engine::of(weigh, vertices, arcs);
        (sizes.with(engine, vertices, arcs), most.max(T::count(vertices, arcs)))
    })
}

/// The implementation that finds the shortest paths of a graph.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Engine {
    Small,
    Levelled,
    Weighted,
}

impl Engine {
    /// Returns the engine for a graph of this size; `weigh` is whether lengths are weights.
    fn of(weigh: bool, vertices: u32, arcs: u64) -> Engine {
        match weigh {
            true => Engine::Weighted,
            false if small::takes(vertices, arcs) => Engine::Small,
            false => Engine::Levelled,
        }
    }

    /// Returns the number of sources of a group, on which one thread works, of all vertices or of this number of chosen
    /// ones. These are 64 groups or more, so that as many threads have work, of as many sources as are searched from at once.
    fn group(self, chosen: Option<u32>) -> u32 {
        match (self, chosen) {
            (Engine::Levelled | Engine::Weighted, Some(count)) => {
                let eight = EIGHT as u32;
                (count / GROUP / eight * eight).clamp(eight, GROUP)
            }
            _ => GROUP,
        }
    }
}

/// The largest numbers of vertices and arcs of the graphs of each engine.
#[derive(Clone, Copy, Default)]
struct Sizes {
    small: (u32, u64),
    levelled: (u32, u64),
    weighted: (u32, u64),
    /// The length of the longest list that an engine other than [`Small`] decodes.
    longest_decoded: usize,
}

impl Sizes {
    fn of_graph(engine: Engine, graph: GraphView<'_>) -> Sizes {
        let longest_decoded = if engine == Engine::Small { 0 } else { graph.longest_decoded() };
        let sizes = Sizes { longest_decoded, ..Sizes::default() };
        sizes.with(engine, graph.vertices(), graph.arcs())
    }

    fn with(mut self, engine: Engine, vertices: u32, arcs: u64) -> Sizes {
        let size = match engine {
            Engine::Small => &mut self.small,
            Engine::Levelled => &mut self.levelled,
            Engine::Weighted => &mut self.weighted,
        };
        *size = (size.0.max(vertices), size.1.max(arcs));
        self
    }

    /// Returns the bytes of a workspace.
    fn bytes<T: Target>(self) -> u64 {
        let [levelled, weighted] = self.decoded();
        Small::<T::Sums<_>>::bytes(self.small.0, self.small.1)
            + Levelled::<T::Sums<_>>::bytes(self.levelled.0, self.levelled.1, levelled)
            + Weighted::<T::Sums<_>>::bytes(self.weighted.0, self.weighted.1, weighted)
    }

    /// Returns the longest decoded lists of the engines for large graphs: 0 without graphs.
    fn decoded(self) -> [usize; 2] {
        [self.levelled, self.weighted].map(|(vertices, _)| match vertices {
            0 => 0,
            _ => self.longest_decoded,
        })
    }
}

/// Workspace of a thread: one part per engine.
struct Workspace<T: Target> {
    small: Small<T::Sums<small::Sources>>,
    levelled: Levelled<T::Sums<levelled::Sources>>,
    weighted: Weighted<T::Sums<weighted::Sources>>,
}

impl<T: Target> Workspace<T> {
    fn new(sizes: Sizes) -> Result<Workspace<T>, OutOfMemory> {
        let [levelled, weighted] = sizes.decoded();
        Ok(Workspace {
            small: Small::new(sizes.small.0, sizes.small.1)?,
            levelled: Levelled::new(sizes.levelled.0, sizes.levelled.1, levelled)?,
            weighted: Weighted::new(sizes.weighted.0, sizes.weighted.1, weighted)?,
        })
    }

    /// Sums up the dependencies of a group of sources of a graph of flat lists, by any engine.
    fn add_flat_group(
        &mut self,
        engine: Engine,
        lists: Sides<Neighbors<'_>>,
        sources: &[VertexId],
        observer: &dyn Observer,
    ) -> Result<(), AnalysisError> {
        if engine == Engine::Small {
            go_on(observer)?;
            self.small.add_group(lists, sources);
            return Ok(());
        }
        self.add_group(engine, lists, sources, observer)
    }

    /// Sums up the dependencies of a group of sources, by an engine other than [`Small`].
    fn add_group<L: NeighborLists>(
        &mut self,
        engine: Engine,
        lists: Sides<L>,
        sources: &[VertexId],
        observer: &dyn Observer,
    ) -> Result<(), AnalysisError> {
        match engine {
            Engine::Small | Engine::Levelled => self.levelled.add_group(lists, sources, observer),
            Engine::Weighted => self.weighted.add_group(lists, sources, observer),
        }
    }

    /// Returns the sums of the engine's last group.
    fn sums(&self, engine: Engine) -> &[f64] {
        match engine {
            Engine::Small => self.small.sums.sums(),
            Engine::Levelled => self.levelled.sums.sums(),
            Engine::Weighted => self.weighted.sums.sums(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ripplet_graph::{
        Direction, Duplicates, EdgeTable, Graph, GraphBuilder, SelfLoops, VertexIds,
    };

    /// Returns the sums of each group of sources, by the three hop engines.
    fn sums_of_engines<T: Target>(lists: Sides<Neighbors<'_>>) -> Vec<[Vec<u64>; 3]> {
        let (vertices, arcs) = (lists.vertices(), NeighborLists::arcs(lists.ahead));
        let bits = |sums: &[f64]| sums.iter().map(|sum| sum.to_bits()).collect();
        let mut small = Small::<T::Sums<_>>::new(vertices, arcs).unwrap();
        let mut levelled = Levelled::<T::Sums<_>>::new(vertices, arcs, 0).unwrap();
        let groups = (0..vertices.div_ceil(GROUP)).map(|group| sources(group, vertices));
        let sums = |sources: Range<u32>| {
            let sources = &*SourceIds::from(sources);
            let Small { linked, swept, path_counts, inverse, share, sums } = &mut small;
            sums.clear(lists.behind);
            linked.add_group(lists, sources, [path_counts, inverse, share], sums);
            let of_links = bits(sums.sums());
            sums.clear(lists.behind);
            swept.sweep.search(lists.ahead, sources[0]);
            swept.add_group(lists, sources, [path_counts, inverse, share], sums);
            let of_sweeps = bits(sums.sums());
            levelled.add_group(lists, sources, &()).unwrap();
            [of_links, of_sweeps, bits(levelled.sums.sums())]
        };
        groups.map(sums).collect()
    }

    fn check<T: Target>(graph: &Graph) {
        let flat = GraphView::from(graph).flat().unwrap();
        let (out, incoming) = flat.lists();
        let lists = Sides::of(Along::Arcs, out, incoming);
        for [linked, swept, levelled] in sums_of_engines::<T>(lists) {
            assert_eq!(linked, levelled);
            assert_eq!(swept, levelled);
        }
    }

    proptest! {
        #[test]
        fn all_find_the_same_sums(
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
            check::<Vertices>(&graph);
            check::<Arcs>(&graph);
        }
    }
}
