//! All-pairs distances of each graph of a batch.

use super::rows::Rows;
use crate::dijkstra::UNREACHED;
use crate::run::go_on;
use crate::search::{Search, bytes_of_search};
use crate::searches::{Searches, bytes_of_searches};
use crate::sides::{Along, of_member};
use crate::source_batches::{GROUP, SourceIds, sources};
use crate::swarm::{self, Place, Swarm};
use crate::{AnalysisError, Lengths, Plan};
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Observer, OutOfMemory, memory};

/// Returns the number of ordered pairs of vertices of these graphs, including each vertex with
/// itself: the length of [`distances_of_batch`]'s result.
pub fn pairs_of_batch(graphs: BatchSlice<'_>) -> u64 {
    let pairs = |graph: BatchGraph<'_>| u64::from(graph.vertices()).pow(2);
    graphs.graphs().map(pairs).fold(0, u64::saturating_add)
}

/// Returns the memory that [`distances_of_batch`] needs on `threads` threads beside the graphs.
pub fn plan_of_distances_of_batch(
    graphs: BatchSlice<'_>,
    lengths: Lengths,
    threads: usize,
) -> Plan {
    let largest = swarm::largest(graphs);
    let search = match lengths.weigh_in_batch(graphs) {
        true => bytes_of_searches(largest),
        false => bytes_of_search::<u64>(largest),
    };
    Plan::default()
        .with("distances", pairs_of_batch(graphs).saturating_mul(size_of::<f64>() as u64))
        .with("searches, one a thread", (threads as u64).saturating_mul(search))
}

/// Returns the real distance from each vertex to each vertex of its graph; infinity without a path.
///
/// Distances come graph by graph and source by source. One thread works on each graph.
///
/// # Errors
/// If the observer cancels or memory is refused.
pub fn distances_of_batch(
    graphs: BatchSlice<'_>,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, AnalysisError> {
    observer.on_stage("measuring distances");
    let observer: &dyn Observer = observer;
    let pairs = pairs_of_batch(graphs);
    let room = usize::try_from(pairs).map_err(|_| OutOfMemory::of::<f64>(usize::MAX))?;
    let mut distances = memory::zeros(room)?;
    let (place, largest) = (PerPair(&mut distances), swarm::largest(graphs));
    if lengths.weigh_in_batch(graphs) {
        let work = |search: &mut Searches, graph: BatchGraph<'_>, place: PerPair<'_>| {
            weigh(search, graph, place, observer)
        };
        Swarm { make: || Searches::new(largest), work, observer }.fill(graphs, place)?;
    } else {
        let work = |search: &mut Search<u64>, graph: BatchGraph<'_>, place: PerPair<'_>| {
            count(search, graph, place, observer)
        };
        Swarm { make: || Search::new(largest), work, observer }.fill(graphs, place)?;
    }
    Ok(distances)
}

/// Fills in the distances of one graph by weights.
fn weigh(
    search: &mut Searches,
    graph: BatchGraph<'_>,
    place: PerPair<'_>,
    observer: &dyn Observer,
) -> Result<(), AnalysisError> {
    let unit = graph.weight_scale().weight(1);
    let (lists, vertices) = (of_member(graph, Along::Arcs), graph.vertices());
    for (source, row) in (0..).zip(place.0.chunks_mut(vertices.max(1) as usize)) {
        go_on(observer)?;
        if source % GROUP == 0 {
            search.begin(lists, &SourceIds::from(sources(source / GROUP, vertices)));
        }
        search.run(lists, source, (source % GROUP) as usize);
        for (to, &distance) in row.iter_mut().zip(search.found().distances()) {
            *to = if distance == UNREACHED { f64::INFINITY } else { distance as f64 * unit };
        }
    }
    Ok(())
}

/// Fills in the distances of one graph by numbers of arcs.
fn count(
    search: &mut Search<u64>,
    graph: BatchGraph<'_>,
    place: PerPair<'_>,
    observer: &dyn Observer,
) -> Result<(), AnalysisError> {
    let vertices = graph.vertices();
    place.0.fill(f64::INFINITY);
    let groups = place.0.chunks_mut(GROUP as usize * vertices.max(1) as usize);
    for (group, distances) in (0..).zip(groups) {
        go_on(observer)?;
        let mut rows = Rows { vertices: vertices as usize, distances };
        let group = SourceIds::from(sources(group, vertices));
        search.run(of_member(graph, Along::Arcs), &group, &mut rows);
    }
    Ok(())
}

/// Output: a place for each pair of vertices of a graph.
struct PerPair<'a>(&'a mut [f64]);

impl Place for PerPair<'_> {
    fn cut(self, first: BatchSlice<'_>) -> (Self, Self) {
        let (first, rest) = self.0.split_at_mut(pairs_of_batch(first) as usize);
        (PerPair(first), PerPair(rest))
    }
}
