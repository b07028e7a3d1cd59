//! How far the ways of each vertex lead: of a graph, and of the graphs of a batch.

use crate::lists::Along;
use crate::tally::{self, Extent};
use crate::{Observer, Plan, RunError};
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Graph, memory};

/// What the distances from a vertex come to; it does not count itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// How many vertices it has a way to.
    pub reached: u64,
    /// The sum of their distances.
    pub far: u64,
    /// The largest of them, its eccentricity; 0 without any.
    pub farthest: u32,
}

impl Reach {
    /// The average distance of those that it has a way to; 0 without any.
    pub fn average(self) -> f64 {
        if self.reached == 0 { 0.0 } else { self.far as f64 / self.reached as f64 }
    }
}

impl From<&Extent> for Reach {
    fn from(found: &Extent) -> Reach {
        let (reached, far) = (found.distances.reached, found.distances.far);
        Reach { reached, far, farthest: found.farthest }
    }
}

/// The memory that [`reach`] will need on so many threads beside the graph.
pub fn plan_of_reach(graph: &Graph, threads: usize) -> Plan {
    let values = size_of::<Reach>() as u64 * u64::from(graph.vertices());
    tally::plan::<Extent>(graph, threads).with("values", values)
}

/// What the distances from each vertex come to, on rayon's current pool.
///
/// # Errors
/// Where the observer cancels, or memory is refused.
pub fn reach(graph: &Graph, observer: &mut dyn Observer) -> Result<Vec<Reach>, RunError> {
    observer.on_stage("measuring distances");
    // Against the arcs, a vertex collects those that it has a way to.
    let found: Vec<Extent> = tally::of_graph(graph, Along::Against, observer)?;
    Ok(memory::collected(found.iter().map(Reach::from))?)
}

/// The memory that [`reach_of_batch`] will need on so many threads beside the graphs.
pub fn plan_of_reach_of_batch(graphs: BatchSlice<'_>, threads: usize) -> Plan {
    let values = size_of::<Reach>() as u64 * graphs.vertices();
    tally::plan_of_batch::<Extent>(graphs, threads).with("values", values)
}

/// What the distances from each vertex to the others of its graph come to, graph by graph, as the vertices
/// lie in their batch; each graph is done by one thread.
///
/// # Errors
/// Where the observer cancels, or memory is refused.
pub fn reach_of_batch(
    graphs: BatchSlice<'_>,
    observer: &mut dyn Observer,
) -> Result<Vec<Reach>, RunError> {
    observer.on_stage("measuring distances");
    let mut values = memory::filled(Reach::default(), graphs.vertices() as usize)?;
    let value = |found: &Extent, _: BatchGraph<'_>| Reach::from(found);
    tally::fill_batch(graphs, Along::Against, observer, &mut values, value)?;
    Ok(values)
}
