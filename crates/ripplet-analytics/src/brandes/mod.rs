//! Brandes' algorithm from all vertices, summed per vertex or per arc.
//!
//! `path_counts`, `share` and `passed` are defined in [`betweenness`](crate::betweenness).
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

mod levelled;
mod linked;
mod small;
mod sums;
mod sweep;
mod swept;
mod weighted;

pub(crate) use sums::{Arcs, Target, Vertices};

use crate::lists::{Along, Lists, Over, Sides, of_member, over};
use crate::no_length::{refuse_weightless, refuse_weightless_in};
use crate::run::go_on;
use crate::source_batches::{GROUP, SourceBatches, sources};
use crate::swarm::{Place, Swarm};
use crate::{Lengths, Observer, RunError};
use levelled::Levelled;
use rayon::prelude::*;
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Graph, OutOfMemory, VertexId, memory};
use small::Small;
use std::marker::PhantomData;
use std::ops::Range;
use sums::Sums;
use weighted::Weighted;

/// Returns the bytes of the workspaces of `threads` threads in [`of_graph`], without its sums.
pub(crate) fn bytes_of_desks<T: Target>(graph: &Graph, lengths: Lengths, threads: usize) -> u64 {
    let (vertices, arcs) = (graph.vertices(), graph.arcs());
    let engine = Engine::of(lengths.weigh_in(graph), vertices, arcs);
    let workspace = Sizes::default().with(engine, vertices, arcs).bytes::<T>();
    (threads as u64).saturating_mul(workspace)
}

/// Returns the sums over ordered pairs of a graph's vertices, computed on rayon's current pool.
///
/// # Errors
/// If an edge other than a self-loop has length 0, the observer cancels, or memory is refused.
pub(crate) fn of_graph<T: Target>(
    graph: &Graph,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, RunError> {
    struct Run<'a, T> {
        weigh: bool,
        observer: &'a dyn Observer,
        target: PhantomData<T>,
    }
    impl<T: Target> Over for Run<'_, T> {
        type Result = Result<Vec<f64>, RunError>;

        fn lists<L: Lists>(self, lists: Sides<L>) -> Self::Result {
            let Run { weigh, observer, .. } = self;
            let (vertices, arcs) = (lists.vertices(), lists.ahead.arcs());
            let engine = Engine::of(weigh, vertices, arcs);
            let mut totals: Vec<f64> = memory::zeros(T::count(vertices, arcs) as usize)?;
            let make = |_| Workspace::<T>::new(Sizes::default().with(engine, vertices, arcs));
            let work = |workspace: &mut Workspace<T>, sources| {
                workspace.add_group(engine, lists, sources, observer)
            };
            let take = |_, workspaces: &[Workspace<T>]| {
                totals.par_iter_mut().enumerate().with_min_len(1 << 12).for_each(|(at, total)| {
                    workspaces.iter().for_each(|workspace| *total += workspace.sums(engine)[at]);
                });
                Ok::<_, RunError>(())
            };
            SourceBatches { make, work, take, observer }.run(vertices)?;
            Ok(totals)
        }
    }
    observer.on_stage(STAGE);
    let weigh = lengths.weigh_in(graph);
    if weigh {
        refuse_weightless(graph)?;
    }
    over(graph, Along::Arcs, Run::<T> { weigh, observer, target: PhantomData })
}

/// The name of the stage for an observer.
const STAGE: &str = "finding shortest path_counts";

/// Returns the bytes of the workspaces of `threads` threads in [`fill_batch`].
pub(crate) fn bytes_of_desks_of_batch<T: Target>(
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
    finish: impl Fn(&[f64], BatchGraph<'_>, P) + Sync,
) -> Result<(), RunError> {
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
            workspace.add_group(engine, lists, sources(group, vertices), observer)?;
            totals.iter_mut().zip(workspace.sums(engine)).for_each(|(total, sum)| *total += sum);
        }
        finish(totals, graph, place);
        Ok(())
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
#[derive(Clone, Copy)]
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
}

/// The largest numbers of vertices and arcs of the graphs of each engine.
#[derive(Clone, Copy, Default)]
struct Sizes {
    small: (u32, u64),
    levelled: (u32, u64),
    weighted: (u32, u64),
}

impl Sizes {
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
        let Sizes { small, levelled, weighted } = self;
        Small::<T::Sums<_>>::bytes(small.0, small.1)
            + Levelled::<T::Sums<_>>::bytes(levelled.0, levelled.1)
            + Weighted::<T::Sums<_>>::bytes(weighted.0, weighted.1)
    }
}

/// Workspace of a thread: one part per engine.
struct Workspace<T: Target> {
    small: Small<T::Sums<small::Sources>>,
    levelled: Levelled<T::Sums<levelled::Sources>>,
    weighted: Weighted<T::Sums<weighted::Sources>>,
}

impl<T: Target> Workspace<T> {
    fn new(Sizes { small, levelled, weighted }: Sizes) -> Result<Workspace<T>, OutOfMemory> {
        Ok(Workspace {
            small: Small::new(small.0, small.1)?,
            levelled: Levelled::new(levelled.0, levelled.1)?,
            weighted: Weighted::new(weighted.0, weighted.1)?,
        })
    }

    /// Sums up the dependencies of a group of sources.
    fn add_group<L: Lists>(
        &mut self,
        engine: Engine,
        lists: Sides<L>,
        sources: Range<VertexId>,
        observer: &dyn Observer,
    ) -> Result<(), RunError> {
        match engine {
            Engine::Small => {
                go_on(observer)?;
                self.small.add_group(lists, sources);
                Ok(())
            }
            Engine::Levelled => self.levelled.add_group(lists, sources, observer),
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

/// Yields each distinct vertex of a sorted list once, with the place at which the iterator first
/// meets it.
#[inline(always)]
fn once<'a>(
    list: impl Iterator<Item = (usize, &'a VertexId)>,
) -> impl Iterator<Item = (usize, VertexId)> {
    // Not a vertex: the initial value differs from all of them.
    let mut last = VertexId::MAX;
    list.filter_map(move |(at, &vertex)| {
        let new = vertex != last;
        last = vertex;
        new.then_some((at, vertex))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ripplet_graph::{Direction, Duplicates, EdgeTable, GraphBuilder, SelfLoops, VertexIds};

    /// The sums of each group of sources, by the three hop engines.
    struct Each<T>(PhantomData<T>);

    impl<T: Target> Over for Each<T> {
        type Result = Vec<[Vec<u64>; 3]>;

        fn lists<L: Lists>(self, lists: Sides<L>) -> Self::Result {
            let (vertices, arcs) = (lists.vertices(), lists.ahead.arcs());
            let bits = |sums: &[f64]| sums.iter().map(|sum| sum.to_bits()).collect();
            let mut small = Small::<T::Sums<_>>::new(vertices, arcs).unwrap();
            let mut levelled = Levelled::<T::Sums<_>>::new(vertices, arcs).unwrap();
            let groups = (0..vertices.div_ceil(GROUP)).map(|group| sources(group, vertices));
            let sums = |sources: Range<u32>| {
                let Small { linked, swept, path_counts, inverse, share, sums } = &mut small;
                sums.clear(lists.behind);
                linked.add_group(lists, sources.clone(), [path_counts, inverse, share], sums);
                let of_links = bits(sums.sums());
                sums.clear(lists.behind);
                swept.sweep.search(lists.ahead, sources.start);
                swept.add_group(lists, sources.clone(), [path_counts, inverse, share], sums);
                let of_sweeps = bits(sums.sums());
                levelled.add_group(lists, sources, &()).unwrap();
                [of_links, of_sweeps, bits(levelled.sums.sums())]
            };
            groups.map(sums).collect()
        }
    }

    fn check<T: Target>(graph: &Graph) {
        for [linked, swept, levelled] in over(graph, Along::Arcs, Each::<T>(PhantomData)) {
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
