//! How far the ways of each vertex lead: of a graph, and of the graphs of a batch.

use crate::lists::Along;
use crate::swarm::PerVertex;
use crate::tally::{self, Extent};
use crate::weighed::{self, Sum};
use crate::{Lengths, Observer, Plan, RunError};
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Graph, WeightScale, memory};

/// What the distances from a vertex come to, in real lengths; it does not count itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reach {
    /// The largest distance of a vertex that it has a way to; 0 without any.
    pub eccentricity: f64,
    /// How many vertices it has a way to.
    pub reached: u64,
    /// Their average distance; 0 without any.
    pub average: f64,
}

/// How many vertices the ways from one lead to, how far these are together, and the farthest of them, in
/// stored lengths.
pub(crate) struct Ways {
    pub reached: u64,
    pub far: u128,
    pub farthest: u64,
}

impl From<&Extent> for Ways {
    fn from(found: &Extent) -> Ways {
        let (reached, far) = (found.distances.reached, u128::from(found.distances.far));
        Ways { reached, far, farthest: u64::from(found.farthest) }
    }
}

impl From<&Sum> for Ways {
    fn from(&Sum { reached, far, farthest, .. }: &Sum) -> Ways {
        Ways { reached, far, farthest }
    }
}

impl Reach {
    fn new(ways: impl Into<Ways>, scale: WeightScale) -> Reach {
        let (Ways { reached, far, farthest }, unit) = (ways.into(), scale.weight(1));
        let average = if reached == 0 { 0.0 } else { far as f64 * unit / reached as f64 };
        Reach { eccentricity: farthest as f64 * unit, reached, average }
    }
}

/// The memory that [`reach`] will need on so many threads beside the graph.
pub fn plan_of_reach(graph: &Graph, lengths: Lengths, threads: usize) -> Plan {
    let plan = match lengths.weigh_in(graph) {
        true => weighed::plan(graph, threads),
        false => tally::plan::<Extent>(graph, threads),
    };
    plan.with("values", size_of::<Reach>() as u64 * u64::from(graph.vertices()))
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
    let scale = lengths.scale_in(graph);
    if lengths.weigh_in(graph) {
        let found = weighed::of_graph(graph, Along::Arcs, observer)?;
        return Ok(memory::collected(found.iter().map(|found| Reach::new(found, scale)))?);
    }
    // Against the arcs, a vertex collects those that it has a way to.
    let found: Vec<Extent> = tally::of_graph(graph, Along::Against, observer)?;
    Ok(memory::collected(found.iter().map(|found| Reach::new(found, scale)))?)
}

/// The memory that [`reach_of_batch`] will need on so many threads beside the graphs.
pub fn plan_of_reach_of_batch(graphs: BatchSlice<'_>, lengths: Lengths, threads: usize) -> Plan {
    let plan = match lengths.weigh_in_batch(graphs) {
        true => weighed::plan_of_batch(graphs, threads),
        false => tally::plan_of_batch::<Extent>(graphs, threads),
    };
    plan.with("values", size_of::<Reach>() as u64 * graphs.vertices())
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
        let finish = |found: &[Sum], graph: BatchGraph<'_>, place: PerVertex<'_, Reach>| {
            fill(place, found, lengths.scale_in_member(graph));
        };
        weighed::fill_batch(graphs, Along::Arcs, observer, place, finish)?;
    } else {
        let finish = |found: &[Extent], graph: BatchGraph<'_>, place: PerVertex<'_, Reach>| {
            fill(place, found, lengths.scale_in_member(graph));
        };
        tally::fill_batch(graphs, Along::Against, observer, place, finish)?;
    }
    Ok(values)
}

fn fill<'a, T>(place: PerVertex<'_, Reach>, found: &'a [T], scale: WeightScale)
where
    &'a T: Into<Ways>,
{
    place.0.iter_mut().zip(found).for_each(|(to, found)| *to = Reach::new(found, scale));
}
