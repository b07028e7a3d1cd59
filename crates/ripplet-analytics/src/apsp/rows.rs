//! Rows of distances: from one source to all vertices.

use crate::dijkstra::{Dijkstra, UNREACHED, bytes_of_dijkstra};
use crate::run::go_on;
use crate::search::{Mask, Search, Visit, bytes_of_search};
use crate::sides::{Along, dispatch_sides};
use crate::source_batches::{GROUP, Listed, SourceBatches, SourceIds, sources};
use crate::{AnalysisError, Lengths, Plan, Sources};
use ripplet_graph::{GraphView, Observer, OutOfMemory, VertexId, dispatch_lists, memory};

/// The distance between two vertices without a path, in arcs.
pub const NO_PATH: u32 = u32::MAX;
/// The distance between two vertices without a path, by weights.
pub const NO_WEIGHTED_PATH: u64 = UNREACHED;

/// Returns the memory that [`rows`] and [`rows_from`] need on `threads` threads beside the graph and the sources.
pub fn plan_of_rows<'g>(
    graph: impl Into<GraphView<'g>>,
    sources: Option<&Sources>,
    threads: usize,
) -> Plan {
    let graph = graph.into();
    plan(graph, sources, threads, bytes_of_search::<u64>(graph.vertices()), size_of::<u32>())
}

/// Returns the memory that [`weighted_rows`] and [`weighted_rows_from`] need on `threads` threads beside the graph and
/// the sources.
pub fn plan_of_weighted_rows<'g>(
    graph: impl Into<GraphView<'g>>,
    sources: Option<&Sources>,
    threads: usize,
) -> Plan {
    let graph = graph.into();
    plan(graph, sources, threads, bytes_of_dijkstra(graph.vertices()), size_of::<u64>())
}

/// Returns the memory of searches of `search` bytes each, and of rows with `distance` bytes per vertex.
fn plan(
    graph: GraphView<'_>,
    sources: Option<&Sources>,
    threads: usize,
    search: u64,
    distance: usize,
) -> Plan {
    let vertices = u64::from(graph.vertices());
    let count = sources.map_or(vertices, |sources| sources.vertices().len() as u64);
    let threads = match sources {
        None => threads as u64,
        Some(_) => count.div_ceil(u64::from(GROUP)).min(threads as u64),
    };
    let rows = (count.min(u64::from(GROUP)) * vertices).saturating_mul(distance as u64);
    Plan::default()
        .with("searches, one a thread", threads.saturating_mul(search))
        .with("rows, up to 64 a thread", threads.saturating_mul(rows))
}

/// Passes the distances from each vertex to `take`, on rayon's current pool.
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
    rows_of(graph.into(), None, observer, take)
}

/// Passes the distances from each of these sources to `take`, as [`rows`] does.
///
/// # Errors
/// See [`rows`]; also if the sources are of a graph with another number of vertices.
///
/// # Examples
/// ```
/// use ripplet_analytics::apsp::rows_from;
/// use ripplet_analytics::{AnalysisError, Sources};
/// use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
///
/// // A path of three vertices, from its end.
/// let ids = VertexIds::Consecutive { first: 0, count: 3 };
/// let graph = GraphBuilder::new().build(EdgeTable::new(ids, vec![0, 1], vec![1, 2])?)?;
/// rows_from(&graph, &Sources::new(3, [2])?, &mut (), |source, distances| {
///     assert_eq!((source, distances), (2, &[2, 1, 0][..]));
///     Ok::<(), AnalysisError>(())
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn rows_from<'g, E: From<AnalysisError> + Send>(
    graph: impl Into<GraphView<'g>>,
    sources: &Sources,
    observer: &mut dyn Observer,
    take: impl FnMut(VertexId, &[u32]) -> Result<(), E>,
) -> Result<(), E> {
    rows_of(graph.into(), Some(sources), observer, take)
}

fn rows_of<E: From<AnalysisError> + Send>(
    graph: GraphView<'_>,
    sources: Option<&Sources>,
    observer: &mut dyn Observer,
    take: impl FnMut(VertexId, &[u32]) -> Result<(), E>,
) -> Result<(), E> {
    observer.on_stage("measuring distances");
    let of = listed(graph, sources)?;
    let vertices = graph.vertices();
    dispatch_sides!(graph, Along::Arcs, lists => {
        let search = |search: &mut Search<u64>, distances: &mut [u32], sources: &SourceIds| {
            distances.fill(NO_PATH);
            search.run(lists, sources, &mut Rows { vertices: vertices as usize, distances });
            Ok(())
        };
        hand_out(of, Search::new, search, take, observer)
    })
}

/// Passes the distances by weights from each vertex to `take`, on rayon's current pool.
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
    weighted_rows_of(graph.into(), None, observer, take)
}

/// Passes the distances by weights from each of these sources to `take`, as [`weighted_rows`] does.
///
/// # Errors
/// See [`weighted_rows`]; also if the sources are of a graph with another number of vertices.
pub fn weighted_rows_from<'g, E: From<AnalysisError> + Send>(
    graph: impl Into<GraphView<'g>>,
    sources: &Sources,
    observer: &mut dyn Observer,
    take: impl FnMut(VertexId, &[u64]) -> Result<(), E>,
) -> Result<(), E> {
    weighted_rows_of(graph.into(), Some(sources), observer, take)
}

fn weighted_rows_of<E: From<AnalysisError> + Send>(
    graph: GraphView<'_>,
    sources: Option<&Sources>,
    observer: &mut dyn Observer,
    take: impl FnMut(VertexId, &[u64]) -> Result<(), E>,
) -> Result<(), E> {
    observer.on_stage("measuring distances");
    let of = listed(graph, sources)?;
    let (vertices, weigh) = (graph.vertices(), Lengths::Weights.weigh_in(graph));
    let observer: &dyn Observer = observer;
    dispatch_lists!(graph, (out, _incoming) => {
        let search = |search: &mut Dijkstra, rows: &mut [u64], sources: &SourceIds| {
            for (&source, row) in sources.iter().zip(rows.chunks_mut(vertices as usize)) {
                go_on(observer)?;
                match weigh {
                    true => search.run(out, source),
                    false => search.run_hops(out, source),
                }
                row.copy_from_slice(search.distances());
            }
            Ok(())
        };
        hand_out(of, Dijkstra::new, search, take, observer)
    })
}

/// Returns all vertices of a graph, or these sources of it, by their places.
fn listed<'a>(
    graph: GraphView<'_>,
    sources: Option<&'a Sources>,
) -> Result<Listed<'a>, AnalysisError> {
    sources.map_or(Ok(()), |sources| sources.check(graph))?;
    Ok(Listed { vertices: graph.vertices(), chosen: sources.map(Sources::vertices) })
}

/// Passes the rows that `search` fills for a group of sources to `take`.
fn hand_out<D, T, E>(
    of: Listed<'_>,
    make: impl Fn(u32) -> Result<D, OutOfMemory>,
    search: impl Fn(&mut D, &mut [T], &SourceIds) -> Result<(), AnalysisError> + Sync,
    mut take: impl FnMut(VertexId, &[T]) -> Result<(), E>,
    observer: &dyn Observer,
) -> Result<(), E>
where
    D: Send + Sync,
    T: Clone + Default + Send + Sync,
    E: From<AnalysisError>,
{
    let row = of.vertices as usize;
    let make = || {
        let rows = row.saturating_mul(of.len().min(GROUP) as usize);
        let rows = memory::filled(T::default(), rows)?;
        Ok((make(of.vertices)?, rows))
    };
    let work =
        |(workspace, rows): &mut (D, Vec<T>), places| search(workspace, rows, &of.at(places));
    let take = |first: u32, workspaces: &[(D, Vec<T>)]| {
        (first / GROUP..).zip(workspaces).try_for_each(|(group, (_, rows))| {
            let sources = of.at(sources(group, of.len()));
            let mut each = sources.iter().zip(rows.chunks(row));
            each.try_for_each(|(&source, row)| take(source, row))
        })
    };
    SourceBatches { make, work, take, group: GROUP, observer }.run(of.len())
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
