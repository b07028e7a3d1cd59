//! All-pairs distances by weights, and their statistics per vertex.

use crate::dijkstra::{Dijkstra, UNREACHED};
use crate::lists::{Along, Lists, Over, Sides, of_member, over};
use crate::pairwise::sum_over;
use crate::reach::Reach;
use crate::run::go_on;
use crate::searches::{Searches, bytes_of_searches};
use crate::source_batches::{GROUP, SourceBatches, sources};
use crate::swarm::{self, PerVertex, Place, Swarm};
use crate::tally::Nearness;
use crate::{Observer, Plan, RunError};
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Graph, OutOfMemory, VertexId, memory};
use std::ops::Range;

/// Statistics of the distances from a vertex, in stored lengths.
pub(crate) trait Gather: Copy + Default + Send + Sync {
    /// Computes the statistics of a finished search in a graph of `vertices` vertices.
    fn gather(search: &Dijkstra, vertices: u32) -> Self;
}

impl Gather for Reach {
    fn gather(search: &Dijkstra, _: u32) -> Reach {
        let distances = search.found().iter().map(|&vertex| search.distances()[vertex as usize]);
        // The source is among them, at distance 0.
        Reach {
            reached: search.found().len() as u64 - 1,
            far: distances.clone().map(u128::from).sum(),
            farthest: distances.max().unwrap_or(0),
        }
    }
}

impl Gather for Nearness {
    fn gather(search: &Dijkstra, vertices: u32) -> Nearness {
        let near = |distance| match distance {
            // The source itself, and vertices at distance 0 from it.
            0 | UNREACHED => 0.0,
            _ => 1.0 / distance as f64,
        };
        Nearness(sum_over(&search.distances()[..vertices as usize], near))
    }
}

/// Computes the statistics of each source of a group.
fn gather<L: Lists, T: Gather>(
    search: &mut Searches,
    lists: Sides<L>,
    sources: Range<VertexId>,
    sums: &mut [T],
    observer: &dyn Observer,
) -> Result<(), RunError> {
    search.begin(lists, sources.clone());
    sources.zip(sums).try_for_each(|(source, sum)| {
        go_on(observer)?;
        search.run(lists, source);
        *sum = T::gather(search.found(), lists.vertices());
        Ok(())
    })
}

/// Returns the memory of [`of_graph`] on `threads` threads.
pub(crate) fn plan<T>(graph: &Graph, threads: usize) -> Plan {
    let vertices = graph.vertices();
    let sum = size_of::<T>() as u64;
    let workspace = bytes_of_searches(vertices) + u64::from(GROUP) * sum;
    Plan::default()
        .with("sums", sum * u64::from(vertices))
        .with("searches, one a thread", (threads as u64).saturating_mul(workspace))
}

/// Returns the statistics of each source vertex of a graph.
pub(crate) fn of_graph<T: Gather>(
    graph: &Graph,
    along: Along,
    observer: &dyn Observer,
) -> Result<Vec<T>, RunError> {
    struct Run<'a, T> {
        observer: &'a dyn Observer,
        sums: Vec<T>,
    }
    impl<T: Gather> Over for Run<'_, T> {
        type Result = Result<Vec<T>, RunError>;

        fn lists<L: Lists>(self, lists: Sides<L>) -> Self::Result {
            let Run { observer, mut sums } = self;
            let make = |vertices| {
                let of_group = memory::filled(T::default(), GROUP as usize)?;
                Ok((Searches::new(vertices)?, of_group))
            };
            let work = |(search, sums): &mut (Searches, Vec<T>), sources: Range<VertexId>| {
                gather(search, lists, sources, sums, observer)
            };
            let take = |first: VertexId, workspaces: &[(Searches, Vec<T>)]| {
                let of_groups = sums[first as usize..].chunks_mut(GROUP as usize).zip(workspaces);
                of_groups.for_each(|(to, (_, sums))| to.copy_from_slice(&sums[..to.len()]));
                Ok::<_, RunError>(())
            };
            SourceBatches { make, work, take, observer }.run(lists.vertices())?;
            Ok(sums)
        }
    }
    let sums = memory::filled(T::default(), graph.vertices() as usize)?;
    over(graph, along, Run { observer, sums })
}

/// Returns the memory of [`fill_batch`] on `threads` threads, without the output.
pub(crate) fn plan_of_batch<T>(graphs: BatchSlice<'_>, threads: usize) -> Plan {
    let vertices = swarm::largest(graphs);
    let workspace = bytes_of_searches(vertices) + size_of::<T>() as u64 * u64::from(vertices);
    Plan::default().with("searches, one a thread", (threads as u64).saturating_mul(workspace))
}

/// Returns `value` of each vertex's statistics, graph by graph.
pub(crate) fn of_batch<T: Gather>(
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
pub(crate) fn fill_batch<T: Gather, P: Place>(
    graphs: BatchSlice<'_>,
    along: Along,
    observer: &dyn Observer,
    place: P,
    finish: impl Fn(&[T], BatchGraph<'_>, P) + Sync,
) -> Result<(), RunError> {
    let largest = swarm::largest(graphs);
    let make = || -> Result<_, OutOfMemory> {
        Ok((Searches::new(largest)?, memory::filled(T::default(), largest as usize)?))
    };
    let work = |(search, sums): &mut (Searches, Vec<T>), graph: BatchGraph<'_>, place: P| {
        let sums = &mut sums[..graph.vertices() as usize];
        for (group, sums) in (0..).zip(sums.chunks_mut(GROUP as usize)) {
            let (lists, sources) = (of_member(graph, along), sources(group, graph.vertices()));
            gather(search, lists, sources, sums, observer)?;
        }
        finish(sums, graph, place);
        Ok(())
    };
    Swarm { make, work, observer }.fill(graphs, place)
}
