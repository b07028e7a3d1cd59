//! How far the ways of each vertex lead: of a graph, and of the graphs of a batch.

use crate::lists::Along;
use crate::swarm::PerVertex;
use crate::tally::{self, Extent};
use crate::weighed;
use crate::{Lengths, Observer, Plan, RunError};
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Graph, memory};

/// What the distances from a vertex come to; it does not count itself. Distances are sums of stored
/// weights, or numbers of arcs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// How many vertices it has a way to.
    pub reached: u64,
    /// The sum of their distances.
    pub far: u128,
    /// The largest of them, its eccentricity; 0 without any.
    pub farthest: u64,
}

impl Reach {
    /// The average distance of those that it has a way to; 0 without any.
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

/// The memory that [`reach`] will need on so many threads beside the graph.
pub fn plan_of_reach(graph: &Graph, lengths: Lengths, threads: usize) -> Plan {
    if lengths.weigh_in(graph) {
        return weighed::plan::<Reach>(graph, threads);
    }
    let values = size_of::<Reach>() as u64 * u64::from(graph.vertices());
    tally::plan::<Extent>(graph, threads).with("values", values)
}

/// What the distances from each vertex come to, on rayon's current pool.
///
/// # Errors
/// Where the observer cancels, or memory is refused.
pub fn reach(
    graph: &Graph,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Vec<Reach>, RunError> {
    observer.on_stage("measuring distances");
    if lengths.weigh_in(graph) {
        return weighed::of_graph(graph, Along::Arcs, observer);
    }
    // Against the arcs, a vertex collects those that it has a way to.
    let found: Vec<Extent> = tally::of_graph(graph, Along::Against, observer)?;
    Ok(memory::collected(found.iter().map(Reach::from))?)
}

/// The memory that [`reach_of_batch`] will need on so many threads beside the graphs.
pub fn plan_of_reach_of_batch(graphs: BatchSlice<'_>, lengths: Lengths, threads: usize) -> Plan {
    let values = size_of::<Reach>() as u64 * graphs.vertices();
    let plan = match lengths.weigh_in_batch(graphs) {
        true => weighed::plan_of_batch::<Reach>(graphs, threads),
        false => tally::plan_of_batch::<Extent>(graphs, threads),
    };
    plan.with("values", values)
}

/// What the distances from each vertex to the others of its graph come to, graph by graph, as the vertices
/// lie in their batch; each graph is done by one thread.
///
/// # Errors
/// Where the observer cancels, or memory is refused.
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
        weighed::fill_batch(graphs, Along::Arcs, observer, place, finish)?;
    } else {
        let finish = |found: &[Extent], _: BatchGraph<'_>, place: PerVertex<'_, Reach>| {
            place.0.iter_mut().zip(found).for_each(|(to, found)| *to = Reach::from(found));
        };
        tally::fill_batch(graphs, Along::Against, observer, place, finish)?;
    }
    Ok(values)
}
