//! Statistics of the sources that reach a vertex.

use crate::lists::{Along, Lists, Over, Sides, of_member, over};
use crate::run::go_on;
use crate::search::{Search, Visit, bytes_of_search};
use crate::source_batches::{GROUP, SourceBatches, sources};
use crate::swarm::{self, PerVertex, Place, Swarm};
use crate::{Observer, Plan, RunError};
use rayon::prelude::*;
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Graph, OutOfMemory, VertexId, memory};
use std::ops::Range;

/// The statistics of a vertex, accumulated during searches.
pub(crate) trait Tally: Copy + Default + Send + Sync {
    /// Adds `count` sources at distance `step`. Within a group of sources, steps ascend.
    fn arrive(&mut self, step: u32, count: u32);

    /// Adds the statistics of the next group of sources.
    fn merge(&mut self, next: &Self);
}

/// The number of sources that reach the vertex, and the sum of their distances.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Distances {
    pub reached: u64,
    pub far: u64,
}

impl Tally for Distances {
    #[inline]
    fn arrive(&mut self, step: u32, count: u32) {
        self.reached += u64::from(count);
        self.far += u64::from(count) * u64::from(step);
    }

    fn merge(&mut self, next: &Distances) {
        self.reached += next.reached;
        self.far += next.far;
    }
}

/// The sum of 1 / distance: within a group from the nearest to the farthest, and group after group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Nearness(pub f64);

impl Tally for Nearness {
    #[inline]
    fn arrive(&mut self, step: u32, count: u32) {
        self.0 += f64::from(count) / f64::from(step);
    }

    fn merge(&mut self, next: &Nearness) {
        self.0 += next.0;
    }
}

/// The distances, and the largest.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extent {
    pub distances: Distances,
    pub farthest: u32,
}

impl Tally for Extent {
    #[inline]
    fn arrive(&mut self, step: u32, count: u32) {
        self.distances.arrive(step, count);
        self.farthest = step;
    }

    fn merge(&mut self, next: &Extent) {
        self.distances.merge(&next.distances);
        self.farthest = self.farthest.max(next.farthest);
    }
}

/// Workspace of a thread for a group of sources.
struct Workspace<T> {
    search: Search<u64>,
    /// The statistics of the current group.
    tallies: Vec<T>,
}

impl<T: Tally> Workspace<T> {
    fn new(vertices: u32) -> Result<Workspace<T>, OutOfMemory> {
        let tallies = memory::filled(T::default(), vertices as usize)?;
        Ok(Workspace { search: Search::new(vertices)?, tallies })
    }

    fn collect<L: Lists>(&mut self, lists: Sides<L>, sources: Range<VertexId>) {
        self.tallies[..lists.vertices() as usize].fill(T::default());
        self.search.run(lists, sources, &mut Collect { tallies: &mut self.tallies });
    }
}

struct Collect<'a, T> {
    tallies: &'a mut [T],
}

impl<T: Tally> Visit<u64> for Collect<'_, T> {
    #[inline]
    fn arrive(&mut self, step: u32, vertex: VertexId, sources: u64, _here: &[u64]) {
        if step > 0 {
            self.tallies[vertex as usize].arrive(step, sources.count_ones());
        }
    }
}

/// Returns the memory of [`of_graph`] on `threads` threads.
pub(crate) fn plan<T>(graph: &Graph, threads: usize) -> Plan {
    let vertices = graph.vertices();
    let tallies = u64::from(vertices) * size_of::<T>() as u64;
    let workspace = bytes_of_search::<u64>(vertices) + tallies;
    Plan::default()
        .with("sums", tallies)
        .with("searches, one a thread", (threads as u64).saturating_mul(workspace))
}

/// Returns the statistics of each vertex over all sources that reach it.
pub(crate) fn of_graph<T: Tally>(
    graph: &Graph,
    along: Along,
    observer: &dyn Observer,
) -> Result<Vec<T>, RunError> {
    struct Run<'a, T> {
        observer: &'a dyn Observer,
        totals: Vec<T>,
    }
    impl<T: Tally> Over for Run<'_, T> {
        type Result = Result<Vec<T>, RunError>;

        fn lists<L: Lists>(self, lists: Sides<L>) -> Self::Result {
            let mut totals = self.totals;
            let work = |workspace: &mut Workspace<T>, sources| {
                workspace.collect(lists, sources);
                Ok(())
            };
            let take = |_, workspaces: &[Workspace<T>]| {
                totals.par_iter_mut().enumerate().with_min_len(1 << 12).for_each(|(v, total)| {
                    workspaces.iter().for_each(|workspace| total.merge(&workspace.tallies[v]));
                });
                Ok::<_, RunError>(())
            };
            SourceBatches { make: Workspace::new, work, take, observer: self.observer }
                .run(lists.vertices())?;
            Ok(totals)
        }
    }
    let totals = memory::filled(T::default(), graph.vertices() as usize)?;
    over(graph, along, Run { observer, totals })
}

/// Returns the memory of [`of_batch`] on `threads` threads, without the values.
pub(crate) fn plan_of_batch<T>(graphs: BatchSlice<'_>, threads: usize) -> Plan {
    let vertices = swarm::largest(graphs);
    let tallies = u64::from(vertices) * size_of::<T>() as u64;
    let workspace = bytes_of_search::<u64>(vertices) + 2 * tallies;
    Plan::default().with("searches, one a thread", (threads as u64).saturating_mul(workspace))
}

/// Returns `value` of each vertex's statistics within its graph, graph by graph.
pub(crate) fn of_batch<T: Tally>(
    graphs: BatchSlice<'_>,
    along: Along,
    observer: &dyn Observer,
    value: impl Fn(&T, BatchGraph<'_>) -> f64 + Sync,
) -> Result<Vec<f64>, RunError> {
    let mut values = memory::zeros(graphs.vertices() as usize)?;
    let finish = |found: &[T], graph: BatchGraph<'_>, values: PerVertex<'_, f64>| {
        values.0.iter_mut().zip(found).for_each(|(to, found)| *to = value(found, graph));
    };
    fill_batch(graphs, along, observer, PerVertex(&mut values), finish)?;
    Ok(values)
}

/// Calls `finish` for each graph with the statistics of its vertices and its part of the output.
pub(crate) fn fill_batch<T: Tally, P: Place>(
    graphs: BatchSlice<'_>,
    along: Along,
    observer: &dyn Observer,
    place: P,
    finish: impl Fn(&[T], BatchGraph<'_>, P) + Sync,
) -> Result<(), RunError> {
    let largest = swarm::largest(graphs);
    let make = || Ok((Workspace::new(largest)?, memory::filled(T::default(), largest as usize)?));
    let work =
        |(workspace, totals): &mut (Workspace<T>, Vec<T>), graph: BatchGraph<'_>, place: P| {
            let totals = &mut totals[..graph.vertices() as usize];
            collect_graph(workspace, totals, graph, along, observer)?;
            finish(totals, graph, place);
            Ok(())
        };
    Swarm { make, work, observer }.fill(graphs, place)
}

/// Accumulates the statistics of one graph of a batch.
fn collect_graph<T: Tally>(
    workspace: &mut Workspace<T>,
    totals: &mut [T],
    graph: BatchGraph<'_>,
    along: Along,
    observer: &dyn Observer,
) -> Result<(), RunError> {
    let vertices = graph.vertices();
    totals.fill(T::default());
    for group in 0..vertices.div_ceil(GROUP) {
        go_on(observer)?;
        workspace.collect(of_member(graph, along), sources(group, vertices));
        totals.iter_mut().zip(&workspace.tallies).for_each(|(total, next)| total.merge(next));
    }
    Ok(())
}
