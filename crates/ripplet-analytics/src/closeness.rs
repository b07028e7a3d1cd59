//! Closeness: how near a vertex is to all others.
//!
//! # What it returns
//! Of each vertex s a number, by one of three [`Closeness`] measures, from the distances d(t, s) of all
//! other vertices t **to** it: the least length of a way along the arcs' directions, by one of two
//! [`Lengths`]. Self-loops and repeated arcs change nothing. Vertices that no way leads from do not count,
//! or count as infinitely far, as the measure says. Where arcs have length 0, a vertex at distance 0 adds
//! nothing to harmonic closeness, and the others are 0 where all that reach s are so near.
//!
//! # Algorithm
//! Breadth-first searches along the arcs, from 64 vertices at once, of which each vertex collects how many
//! arrive at which distance; by weights, Dijkstra's searches against the arcs, or in graphs of up to 128 vertices
//! rounds of shorter ways for 64 at once.
//!
//! # Memory
//! Beside the graph 24 bytes a vertex (harmonic: 16), and for each thread 48 (40); by weights 40 (16), and for
//! each thread 20 and at most 66 KiB: [`plan`].
//!
//! # Determinism
//! The same bits on any number of threads and any shards: numbers and distances are integers, and sums of
//! 1 / distance are of 64 sources, from the nearest to the farthest, and sums of sums in the order of
//! the sources' ids. By weights each source has a term, 0 where it has no way or is at distance 0; eight
//! neighbouring ones are summed up pairwise, eights up to 64 in the order of their ids, and these sums in that
//! order, too. Real lengths are stored ones times a power of two, which is exact.
//!
//! # References
//! Ji, Liu, Huang, *SwarmGraph*, HPCC 2020, equations 1 and 2. Wasserman, Faust, *Social Network
//! Analysis*, 1994. Beauchamp, *An improved index of centrality*, Behavioral Science 10, 1965.

use crate::lists::Along;
use crate::reach::Reach;
use crate::tally::{self, Distances, Nearness};
use crate::weighed;
use crate::{Lengths, Observer, Plan, RunError};
use rayon::prelude::*;
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Graph, WeightScale, memory};

/// Which number. R is the set of the other vertices that a way leads from, r how many they are, n all
/// vertices; without any, every measure is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Closeness {
    /// 1 / Σ d(t, s) over R: the paper's equation 1 on the part that reaches s, and igraph's.
    /// Normalized r / Σ d(t, s): 1 where all of R are neighbours.
    #[default]
    Reciprocal,
    /// r / (n − 1) · r / Σ d(t, s): of Wasserman and Faust, and networkx's. It is normalized as it is.
    WassermanFaust,
    /// Σ 1 / d(t, s): the paper's equation 2. Normalized, over n − 1.
    Harmonic,
}

/// The memory that a run on so many threads will need beside the graph.
pub fn plan(graph: &Graph, measure: Closeness, lengths: Lengths, threads: usize) -> Plan {
    let plan = match measure {
        Closeness::Harmonic if lengths.weigh_in(graph) => weighed::plan::<Nearness>(graph, threads),
        _ if lengths.weigh_in(graph) => weighed::plan::<Reach>(graph, threads),
        Closeness::Harmonic => tally::plan::<Nearness>(graph, threads),
        _ => tally::plan::<Distances>(graph, threads),
    };
    plan.with("values", 8 * u64::from(graph.vertices()))
}

/// The closeness of each vertex, on rayon's current pool.
///
/// # Errors
/// Where the observer cancels, or memory is refused.
pub fn closeness(
    graph: &Graph,
    measure: Closeness,
    normalized: bool,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, RunError> {
    observer.on_stage("measuring distances");
    let scale = Scale::new(measure, normalized, graph.vertices(), lengths.scale_in(graph));
    let weigh = lengths.weigh_in(graph);
    let (along, against) = (Along::Arcs, Along::Against);
    match (weigh, measure) {
        (true, Closeness::Harmonic) => {
            scaled(&weighed::of_graph(graph, against, observer)?, |found| scale.near(found))
        }
        (true, _) => {
            scaled(&weighed::of_graph(graph, against, observer)?, |found| scale.reach(found))
        }
        (false, Closeness::Harmonic) => {
            scaled(&tally::of_graph(graph, along, observer)?, |found| scale.near(found))
        }
        (false, _) => scaled(&tally::of_graph(graph, along, observer)?, |found| scale.far(found)),
    }
}

/// The value of each vertex.
fn scaled<T: Sync>(found: &[T], value: impl Fn(&T) -> f64 + Sync) -> Result<Vec<f64>, RunError> {
    let mut values = memory::zeros(found.len())?;
    values.par_iter_mut().zip(found).for_each(|(to, found)| *to = value(found));
    Ok(values)
}

/// The memory that a run over these graphs will need beside them on so many threads.
pub fn plan_of_batch(
    graphs: BatchSlice<'_>,
    measure: Closeness,
    lengths: Lengths,
    threads: usize,
) -> Plan {
    let plan = match measure {
        Closeness::Harmonic if lengths.weigh_in_batch(graphs) => {
            weighed::plan_of_batch::<Nearness>(graphs, threads)
        }
        _ if lengths.weigh_in_batch(graphs) => weighed::plan_of_batch::<Reach>(graphs, threads),
        Closeness::Harmonic => tally::plan_of_batch::<Nearness>(graphs, threads),
        _ => tally::plan_of_batch::<Distances>(graphs, threads),
    };
    plan.with("values", 8 * graphs.vertices())
}

/// The closeness of each vertex in its graph, of all these graphs: graph by graph, as the vertices
/// lie in their batch. What [`closeness`] finds of each graph, bit by bit; each is done by one thread.
///
/// # Errors
/// Where the observer cancels, or memory is refused.
pub fn closeness_of_batch(
    graphs: BatchSlice<'_>,
    measure: Closeness,
    normalized: bool,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, RunError> {
    observer.on_stage("measuring distances");
    let scale = |graph: BatchGraph<'_>| {
        Scale::new(measure, normalized, graph.vertices(), lengths.scale_in_member(graph))
    };
    let weigh = lengths.weigh_in_batch(graphs);
    let (along, against) = (Along::Arcs, Along::Against);
    match (weigh, measure) {
        (true, Closeness::Harmonic) => {
            weighed::of_batch(graphs, against, observer, |found, graph| scale(graph).near(found))
        }
        (true, _) => {
            weighed::of_batch(graphs, against, observer, |found, graph| scale(graph).reach(found))
        }
        (false, Closeness::Harmonic) => {
            tally::of_batch(graphs, along, observer, |found, graph| scale(graph).near(found))
        }
        (false, _) => {
            tally::of_batch(graphs, along, observer, |found, graph| scale(graph).far(found))
        }
    }
}

/// What makes a value of a vertex's sums.
#[derive(Clone, Copy)]
struct Scale {
    measure: Closeness,
    normalized: bool,
    others: f64,
    /// The real length that a stored 1 stands for: a power of two.
    unit: f64,
}

impl Scale {
    fn new(measure: Closeness, normalized: bool, vertices: u32, lengths: WeightScale) -> Scale {
        Scale { measure, normalized, others: f64::from(vertices) - 1.0, unit: lengths.weight(1) }
    }

    fn reach(&self, found: &Reach) -> f64 {
        self.farness(found.reached as f64, found.far as f64)
    }

    fn far(&self, found: &Distances) -> f64 {
        self.farness(found.reached as f64, found.far as f64)
    }

    fn farness(&self, reached: f64, far: f64) -> f64 {
        let length = far * self.unit;
        match (self.measure, self.normalized) {
            // Nobody, or nobody who is not there already.
            _ if far == 0.0 => 0.0,
            (Closeness::WassermanFaust, _) => reached / self.others * (reached / length),
            (_, true) => reached / length,
            (_, false) => 1.0 / length,
        }
    }

    fn near(&self, &Nearness(near): &Nearness) -> f64 {
        let near = near / self.unit;
        // A vertex without others is near to none of them.
        if self.normalized && near > 0.0 { near / self.others } else { near }
    }
}
