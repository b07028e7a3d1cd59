//! Distance statistics per vertex: of a graph, and of the graphs of a batch.

use crate::distances::{self, ByHops, ByWeights, Extent, Reach};
use crate::sides::Along;
use crate::swarm::PerVertex;
use crate::{AnalysisError, Lengths, Plan};
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{GraphView, Observer, memory};

/// Returns the memory that [`reach`] needs on `threads` threads beside the graph.
pub fn plan_of_reach<'g>(
    graph: impl Into<GraphView<'g>>,
    lengths: Lengths,
    threads: usize,
) -> Plan {
    let graph = graph.into();
    if lengths.weigh_in(graph) {
        return distances::plan::<ByWeights<Reach>>(graph, threads);
    }
    let values = size_of::<Reach>() as u64 * u64::from(graph.vertices());
    distances::plan::<ByHops<Extent>>(graph, threads).with("values", values)
}

/// Returns the distance statistics of each vertex, computed on rayon's current pool.
///
/// # Errors
/// If the observer cancels or memory is refused.
pub fn reach<'g>(
    graph: impl Into<GraphView<'g>>,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Vec<Reach>, AnalysisError> {
    reach_in(graph.into(), lengths, observer)
}

fn reach_in(
    graph: GraphView<'_>,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Vec<Reach>, AnalysisError> {
    observer.on_stage("measuring distances");
    if lengths.weigh_in(graph) {
        return distances::of_graph::<ByWeights<Reach>>(graph, Along::Arcs, observer);
    }
    // In a search against the arcs, a vertex counts the sources that it has a path to.
    let found = distances::of_graph::<ByHops<Extent>>(graph, Along::Against, observer)?;
    Ok(memory::collected(found.iter().map(Reach::from))?)
}

/// Returns the memory that [`reach_of_batch`] needs on `threads` threads beside the graphs.
pub fn plan_of_reach_of_batch(graphs: BatchSlice<'_>, lengths: Lengths, threads: usize) -> Plan {
    let values = size_of::<Reach>() as u64 * graphs.vertices();
    let plan = match lengths.weigh_in_batch(graphs) {
        true => distances::plan_of_batch::<ByWeights<Reach>>(graphs, threads),
        false => distances::plan_of_batch::<ByHops<Extent>>(graphs, threads),
    };
    plan.with("values", values)
}

/// Returns the distance statistics of each vertex within its graph.
///
/// Values come graph by graph, in the order of the vertices in their batch. One thread works on
/// each graph.
///
/// # Errors
/// If the observer cancels or memory is refused.
pub fn reach_of_batch(
    graphs: BatchSlice<'_>,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Vec<Reach>, AnalysisError> {
    observer.on_stage("measuring distances");
    let mut values = memory::filled(Reach::default(), graphs.vertices() as usize)?;
    let place = PerVertex(&mut values[..]);
    if lengths.weigh_in_batch(graphs) {
        let finish = |found: &[Reach], _: BatchGraph<'_>, place: PerVertex<'_, Reach>| {
            place.0.copy_from_slice(found);
        };
        distances::fill_batch::<ByWeights<Reach>, _>(graphs, Along::Arcs, observer, place, finish)?;
    } else {
        let finish = |found: &[Extent], _: BatchGraph<'_>, place: PerVertex<'_, Reach>| {
            place.0.iter_mut().zip(found).for_each(|(to, found)| *to = Reach::from(found));
        };
        distances::fill_batch::<ByHops<Extent>, _>(
            graphs,
            Along::Against,
            observer,
            place,
            finish,
        )?;
    }
    Ok(values)
}
