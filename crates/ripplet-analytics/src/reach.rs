//! Distance statistics per vertex: of a graph, and of the graphs of a batch.

use crate::lists::Along;
use crate::swarm::PerVertex;
use crate::tally::{self, Extent};
use crate::weighted;
use crate::{Lengths, Observer, Plan, RunError};
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Graph, memory};

/// Distance statistics of a vertex: number of reachable vertices, sum and maximum of the distances.
///
/// The vertex itself does not count. Distances are sums of stored weights, or numbers of arcs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// The number of vertices that it has a path to.
    pub reached: u64,
    /// The sum of the distances to them.
    pub far: u128,
    /// The largest of these distances, the vertex's eccentricity; 0 without any.
    pub farthest: u64,
}

impl Reach {
    /// Returns the average distance to the reachable vertices; 0 without any.
    pub fn average(self) -> f64 {
        if self.reached == 0 { 0.0 } else { self.far as f64 / self.reached as f64 }
    }
}

impl From<&Extent> for Reach {
    fn from(found: &Extent) -> Reach {
        let (reached, far) = (found.distances.reached, u128::from(found.distances.far));
        Reach { reached, far, farthest: u64::from(found.farthest) }
    }
}

/// Returns the memory that [`reach`] needs on `threads` threads beside the graph.
pub fn plan_of_reach(graph: &Graph, lengths: Lengths, threads: usize) -> Plan {
    if lengths.weigh_in(graph) {
        return weighted::plan::<Reach>(graph, threads);
    }
    let values = size_of::<Reach>() as u64 * u64::from(graph.vertices());
    tally::plan::<Extent>(graph, threads).with("values", values)
}

/// Returns the distance statistics of each vertex, computed on rayon's current pool.
///
/// # Errors
/// If the observer cancels or memory is refused.
pub fn reach(
    graph: &Graph,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Vec<Reach>, RunError> {
    observer.on_stage("measuring distances");
    if lengths.weigh_in(graph) {
        return weighted::of_graph(graph, Along::Arcs, observer);
    }
    // In a search against the arcs, a vertex counts the sources that it has a path to.
    let found: Vec<Extent> = tally::of_graph(graph, Along::Against, observer)?;
    Ok(memory::collected(found.iter().map(Reach::from))?)
}

/// Returns the memory that [`reach_of_batch`] needs on `threads` threads beside the graphs.
pub fn plan_of_reach_of_batch(graphs: BatchSlice<'_>, lengths: Lengths, threads: usize) -> Plan {
    let values = size_of::<Reach>() as u64 * graphs.vertices();
    let plan = match lengths.weigh_in_batch(graphs) {
        true => weighted::plan_of_batch::<Reach>(graphs, threads),
        false => tally::plan_of_batch::<Extent>(graphs, threads),
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
) -> Result<Vec<Reach>, RunError> {
    observer.on_stage("measuring distances");
    let mut values = memory::filled(Reach::default(), graphs.vertices() as usize)?;
    let place = PerVertex(&mut values[..]);
    if lengths.weigh_in_batch(graphs) {
        let finish = |found: &[Reach], _: BatchGraph<'_>, place: PerVertex<'_, Reach>| {
            place.0.copy_from_slice(found);
        };
        weighted::fill_batch(graphs, Along::Arcs, observer, place, finish)?;
    } else {
        let finish = |found: &[Extent], _: BatchGraph<'_>, place: PerVertex<'_, Reach>| {
            place.0.iter_mut().zip(found).for_each(|(to, found)| *to = Reach::from(found));
        };
        tally::fill_batch(graphs, Along::Against, observer, place, finish)?;
    }
    Ok(values)
}
