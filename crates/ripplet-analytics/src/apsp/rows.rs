//! Rows of distances: from one source to all vertices.

use crate::dijkstra::{Dijkstra, UNREACHED, bytes_of_dijkstra};
use crate::run::go_on;
use crate::search::{Mask, Search, Visit, bytes_of_search};
use crate::sides::{Along, dispatch_sides};
use crate::source_batches::{GROUP, SourceBatches, SourceIds, sources};
use crate::{AnalysisError, Lengths, Plan};
use ripplet_graph::{GraphView, Observer, OutOfMemory, VertexId, dispatch_lists, memory};
use std::ops::Range;

/// The distance between two vertices without a path, in arcs.
pub const NO_PATH: u32 = u32::MAX;
/// The distance between two vertices without a path, by weights.
pub const NO_WEIGHTED_PATH: u64 = UNREACHED;

/// Returns the memory that [`rows`] needs on `threads` threads beside the graph.
pub fn plan_of_rows<'g>(graph: impl Into<GraphView<'g>>, threads: usize) -> Plan {
    let graph = graph.into();
    let (vertices, threads) = (u64::from(graph.vertices()), threads as u64);
    let searches = bytes_of_search::<u64>(graph.vertices());
    Plan::default()
        .with("searches, one a thread", threads.saturating_mul(searches))
        .with("rows, 64 a thread", threads.saturating_mul(4 * u64::from(GROUP) * vertices))
}

/// Returns the memory that [`weighted_rows`] needs on `threads` threads beside the graph.
pub fn plan_of_weighted_rows<'g>(graph: impl Into<GraphView<'g>>, threads: usize) -> Plan {
    let graph = graph.into();
    let (vertices, threads) = (u64::from(graph.vertices()), threads as u64);
    let searches = bytes_of_dijkstra(graph.vertices());
    Plan::default()
        .with("searches, one a thread", threads.saturating_mul(searches))
        .with("rows, 64 a thread", threads.saturating_mul(8 * u64::from(GROUP) * vertices))
}

/// Passes the distances from each source to `take`, on rayon's current pool.
///
/// `take` receives the source and one distance in arcs per vertex, in ascending order of the
/// sources. An error of `take` ends the run.
///
/// # Errors
/// If `take` fails, the observer cancels, or memory is refused.
pub fn rows<'g, E: From<AnalysisError> + Send>(
    graph: impl Into<GraphView<'g>>,
    observer: &mut dyn Observer,
    take: impl FnMut(VertexId, &[u32]) -> Result<(), E>,
) -> Result<(), E> {
    observer.on_stage("measuring distances");
    let graph = graph.into();
    let vertices = graph.vertices();
    dispatch_sides!(graph, Along::Arcs, lists => {
        let search = |search: &mut Search<u64>, distances: &mut [u32], sources| {
            distances.fill(NO_PATH);
            let sources = SourceIds::from(sources);
            search.run(lists, &sources, &mut Rows { vertices: vertices as usize, distances });
            Ok(())
        };
        hand_out(vertices, Search::new, search, take, observer)
    })
}

/// Passes the distances by weights from each source to `take`, on rayon's current pool.
///
/// A distance is a sum of stored weights, or [`NO_WEIGHTED_PATH`]. In a graph without weights each
/// arc has length 1. Sources ascend, and an error of `take` ends the run.
///
/// # Errors
/// If `take` fails, the observer cancels, or memory is refused.
pub fn weighted_rows<'g, E: From<AnalysisError> + Send>(
    graph: impl Into<GraphView<'g>>,
    observer: &mut dyn Observer,
    take: impl FnMut(VertexId, &[u64]) -> Result<(), E>,
) -> Result<(), E> {
    observer.on_stage("measuring distances");
    let graph = graph.into();
    let (vertices, weigh) = (graph.vertices(), Lengths::Weights.weigh_in(graph));
    let observer: &dyn Observer = observer;
    dispatch_lists!(graph, (out, _incoming) => {
        let search = |search: &mut Dijkstra, rows: &mut [u64], sources: Range<VertexId>| {
            for (source, row) in sources.zip(rows.chunks_mut(vertices as usize)) {
                go_on(observer)?;
                match weigh {
                    true => search.run(out, source),
                    false => search.run_hops(out, source),
                }
                row.copy_from_slice(search.distances());
            }
            Ok(())
        };
        hand_out(vertices, Dijkstra::new, search, take, observer)
    })
}

/// Passes the rows that `search` fills for a group of sources to `take`.
fn hand_out<D, T, E>(
    vertices: u32,
    make: impl Fn(u32) -> Result<D, OutOfMemory>,
    search: impl Fn(&mut D, &mut [T], Range<VertexId>) -> Result<(), AnalysisError> + Sync,
    mut take: impl FnMut(VertexId, &[T]) -> Result<(), E>,
    observer: &dyn Observer,
) -> Result<(), E>
where
    D: Send + Sync,
    T: Clone + Default + Send + Sync,
    E: From<AnalysisError>,
{
    let row = vertices as usize;
    let make = || {
        let rows = memory::filled(T::default(), row.saturating_mul(GROUP as usize))?;
        Ok((make(vertices)?, rows))
    };
    let work = |(workspace, rows): &mut (D, Vec<T>), sources| search(workspace, rows, sources);
    let take = |first: VertexId, workspaces: &[(D, Vec<T>)]| {
        (first / GROUP..).zip(workspaces).try_for_each(|(group, (_, rows))| {
            let rows = rows.chunks(row);
            sources(group, vertices).zip(rows).try_for_each(|(source, row)| take(source, row))
        })
    };
    SourceBatches { make, work, take, group: GROUP, observer }.run(vertices)
}

/// The rows of a group of sources, filled with distances in arcs by a search.
pub(super) struct Rows<'a, T> {
    pub vertices: usize,
    pub distances: &'a mut [T],
}

impl<T: From<u32>> Visit<u64> for Rows<'_, T> {
    #[inline]
    fn arrive(&mut self, step: u32, vertex: VertexId, mut sources: u64, _here: &[u64]) {
        while sources != 0 {
            let row = sources.first() as usize;
            self.distances[row * self.vertices + vertex as usize] = T::from(step);
            sources = sources.rest();
        }
    }
}
