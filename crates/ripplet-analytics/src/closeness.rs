//! Closeness centrality: how short the shortest paths to a vertex are.
//!
//! # What it returns
//! For each vertex s, one of three [`Closeness`] measures over the distances d(t, s) from all other
//! vertices t **to** s. A distance is the least length of a path along the arcs' directions;
//! [`Lengths`] selects what a length is. Self-loops and repeated arcs change nothing. Vertices
//! without a path to s are left out, or count as infinitely far: see the measure. If arcs have
//! length 0, a vertex at distance 0 adds nothing to harmonic closeness; the other measures are 0 if
//! all vertices that reach s are at distance 0.
//!
//! # Directed graphs
//! Only paths **to** s count. The closeness by paths from s is that of the graph with reversed arcs.
//!
//! # Algorithm
//! Lengths by hops: breadth-first searches along the arcs, from 64 sources at once; each vertex
//! counts the sources that arrive at each distance. Lengths by weights: Dijkstra's algorithm
//! against the arcs, or in graphs of at most 128 vertices Bellman-Ford rounds for 64 sources at
//! once.
//!
//! # Samples
//! [`sampled_closeness`] searches from a random [`Sample`] of k vertices instead of from all n, in a time that
//! grows with k. The numbers and sums over the sampled sources are taken times (n − 1) / k, or (n − 1) / (k − 1) for a
//! sampled vertex, which is no source of its own: their means over all samples are those over all vertices. Harmonic
//! closeness is such a sum; the other measures are quotients of two, and their means are near the closeness, not equal to
//! it. By Hoeffding's inequality, k = 1 + ln(2 n / p) / (2 e²) sources suffice for no normalized harmonic closeness by hops
//! to differ by more than e, with probability 1 − p.
//!
//! # Chosen vertices
//! [`closeness_of_some`] returns the closeness of chosen vertices, with the bits that [`closeness`] has for them, by the
//! searches from these alone: against the arcs, in a time that grows with their number.
//!
//! # Memory
//! Beside the graph, in bytes per vertex ([`plan`]):
//!
//! | lengths | once (harmonic) | per thread (harmonic) |
//! |---|---|---|
//! | hops | 24 (16) | 48 (40) |
//! | weights | 40 (16) | 20, and at most 66 KiB |
//! | weights, a sample | 40 (16) | 52 (28), and at most 64 KiB |
//!
//! A sample needs 20 bytes per sampled vertex more; no more than k / 64 threads work. Chosen vertices need 56 bytes per
//! vertex and thread by hops (48), and the bytes per vertex "once" for the chosen ones alone.
//!
//! Compressed lists are decoded as they are read, without further memory.
//!
//! # Determinism
//! Results are bitwise equal for any number of threads and any shards. Counts and distances are
//! integers. By hops, the sum of 1 / distance runs over a group of 64 sources from the nearest to
//! the farthest, then over the groups in the order of their ids. By weights, each source has a
//! term, 0 if it has no path or is at distance 0. Eight consecutive terms add up pairwise, these
//! sums in order within a group of 64 sources, and the sums of the groups in order, too. Real
//! lengths are the stored ones times a power of two, which is exact.
//!
//! # References
//! Ji, Liu, Huang, *SwarmGraph*, HPCC 2020, equations 1 and 2. Wasserman, Faust, *Social Network
//! Analysis*, 1994. Beauchamp, *An improved index of centrality*, Behavioral Science 10, 1965. Eppstein, Wang, *Fast
//! approximation of centrality*, Journal of Graph Algorithms and Applications 8, 2004 (samples).

use crate::distances::{
    self, ByHops, ByWeights, Distances, FromSample, Nearness, PerSource, Reach,
};
use crate::sides::Along;
use crate::source_batches::GROUP;
use crate::{AnalysisError, Lengths, Plan, Sample, Sources};
use rayon::prelude::*;
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{GraphView, Observer, VertexId, WeightScale, memory};

/// The closeness measure.
///
/// R is the set of the other vertices with a path to s, r their number, and n the number of all
/// vertices. Every measure is 0 if R is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Closeness {
    /// 1 / Σ d(t, s) over R: the paper's equation 1 restricted to R, and igraph's. Normalized, r /
    /// Σ d(t, s): 1 if all of R are neighbours.
    #[default]
    Reciprocal,
    /// r / (n − 1) · r / Σ d(t, s): that of Wasserman and Faust, and networkx's. It is always
    /// normalized.
    WassermanFaust,
    /// Σ 1 / d(t, s): the paper's equation 2. Normalized, over n − 1.
    Harmonic,
}

/// Returns the memory that [`closeness`] needs on `threads` threads beside the graph.
pub fn plan<'g>(
    graph: impl Into<GraphView<'g>>,
    measure: Closeness,
    lengths: Lengths,
    threads: usize,
) -> Plan {
    let graph = graph.into();
    let plan = match measure {
        Closeness::Harmonic if lengths.weigh_in(graph) => {
            distances::plan::<ByWeights<Nearness>>(graph, threads)
        }
        _ if lengths.weigh_in(graph) => distances::plan::<ByWeights<Reach>>(graph, threads),
        Closeness::Harmonic => distances::plan::<ByHops<Nearness>>(graph, threads),
        _ => distances::plan::<ByHops<Distances>>(graph, threads),
    };
    plan.with("values", 8 * u64::from(graph.vertices()))
}

/// Returns the closeness of each vertex, computed on rayon's current pool.
///
/// # Errors
/// If the observer cancels or memory is refused.
///
/// # Examples
/// ```
/// use ripplet_analytics::Lengths;
/// use ripplet_analytics::closeness::{Closeness, closeness};
/// use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
///
/// // A path of three vertices.
/// let ids = VertexIds::Consecutive { first: 0, count: 3 };
/// let graph = GraphBuilder::new().build(EdgeTable::new(ids, vec![0, 1], vec![1, 2])?)?;
/// let values = closeness(&graph, Closeness::Harmonic, false, Lengths::Hops, &mut ())?;
/// assert_eq!(values, [1.5, 2.0, 1.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn closeness<'g>(
    graph: impl Into<GraphView<'g>>,
    measure: Closeness,
    normalized: bool,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, AnalysisError> {
    closeness_in(graph.into(), measure, normalized, lengths, observer)
}

fn closeness_in(
    graph: GraphView<'_>,
    measure: Closeness,
    normalized: bool,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, AnalysisError> {
    observer.on_stage("measuring distances");
    let scale = Scale::new(measure, normalized, graph.vertices(), lengths.scale_in(graph));
    let weigh = lengths.weigh_in(graph);
    let (along, against) = (Along::Arcs, Along::Against);
    match (weigh, measure) {
        (true, Closeness::Harmonic) => {
            let found = distances::of_graph::<ByWeights<Nearness>>(graph, against, observer)?;
            scaled(&found, |found| scale.near(found))
        }
        (true, _) => {
            let found = distances::of_graph::<ByWeights<Reach>>(graph, against, observer)?;
            scaled(&found, |found| scale.reach(found))
        }
        (false, Closeness::Harmonic) => {
            let found = distances::of_graph::<ByHops<Nearness>>(graph, along, observer)?;
            scaled(&found, |found| scale.near(found))
        }
        (false, _) => {
            let found = distances::of_graph::<ByHops<Distances>>(graph, along, observer)?;
            scaled(&found, |found| scale.far(found))
        }
    }
}

/// Returns the memory that [`closeness_of_some`] needs on `threads` threads beside the graph and the chosen vertices.
pub fn plan_of_some<'g>(
    graph: impl Into<GraphView<'g>>,
    vertices: &Sources,
    measure: Closeness,
    lengths: Lengths,
    threads: usize,
) -> Plan {
    let (graph, count) = (graph.into(), vertices.vertices().len() as u32);
    let plan = match (lengths.weigh_in(graph), measure) {
        (true, Closeness::Harmonic) => {
            distances::plan_of_each::<ByWeights<Nearness>>(graph, count, threads)
        }
        (true, _) => distances::plan_of_each::<ByWeights<Reach>>(graph, count, threads),
        (false, Closeness::Harmonic) => {
            distances::plan_of_each::<PerSource<Nearness>>(graph, count, threads)
        }
        (false, _) => distances::plan_of_each::<PerSource<Distances>>(graph, count, threads),
    };
    plan.with("values", 8 * u64::from(count))
}

/// Returns the closeness of chosen vertices, in ascending order of the vertices, computed on rayon's current pool: the values
/// of [`closeness`], by the searches from these vertices alone.
///
/// # Errors
/// If the vertices are of a graph with another number of vertices, the observer cancels, or memory is refused.
///
/// # Examples
/// ```
/// use ripplet_analytics::closeness::{Closeness, closeness_of_some};
/// use ripplet_analytics::{Lengths, Sources};
/// use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
///
/// // A path of three vertices: the last, and the one in the middle.
/// let ids = VertexIds::Consecutive { first: 0, count: 3 };
/// let graph = GraphBuilder::new().build(EdgeTable::new(ids, vec![0, 1], vec![1, 2])?)?;
/// let (some, hops) = (Sources::new(3, [2, 1])?, Lengths::Hops);
/// let values = closeness_of_some(&graph, &some, Closeness::Harmonic, false, hops, &mut ())?;
/// assert_eq!(values, [2.0, 1.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn closeness_of_some<'g>(
    graph: impl Into<GraphView<'g>>,
    vertices: &Sources,
    measure: Closeness,
    normalized: bool,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, AnalysisError> {
    let (graph, against) = (graph.into(), Along::Against);
    vertices.check(graph)?;
    observer.on_stage("measuring distances");
    let scale = Scale::new(measure, normalized, graph.vertices(), lengths.scale_in(graph));
    let some = vertices.vertices();
    match (lengths.weigh_in(graph), measure) {
        (true, Closeness::Harmonic) => {
            let found = distances::of_each::<ByWeights<Nearness>>(graph, against, some, observer)?;
            scaled(&found, |found| scale.near(found))
        }
        (true, _) => {
            let found = distances::of_each::<ByWeights<Reach>>(graph, against, some, observer)?;
            scaled(&found, |found| scale.reach(found))
        }
        (false, Closeness::Harmonic) => {
            let found = distances::of_each::<PerSource<Nearness>>(graph, against, some, observer)?;
            scaled(&found, |found| scale.near(found))
        }
        (false, _) => {
            let found = distances::of_each::<PerSource<Distances>>(graph, against, some, observer)?;
            scaled(&found, |found| scale.far(found))
        }
    }
}

/// Returns the memory that [`sampled_closeness`] needs on `threads` threads beside the graph.
pub fn plan_of_sampled<'g>(
    graph: impl Into<GraphView<'g>>,
    measure: Closeness,
    lengths: Lengths,
    sample: Sample,
    threads: usize,
) -> Plan {
    let graph = graph.into();
    sample.plan(graph.vertices(), |chosen| {
        let Some(chosen) = chosen else { return plan(graph, measure, lengths, threads) };
        let threads = threads.min(chosen.div_ceil(GROUP) as usize);
        let plan = match (lengths.weigh_in(graph), measure) {
            (true, Closeness::Harmonic) => distances::plan::<FromSample<Nearness>>(graph, threads),
            (true, _) => distances::plan::<FromSample<Reach>>(graph, threads),
            (false, Closeness::Harmonic) => distances::plan::<ByHops<Nearness>>(graph, threads),
            (false, _) => distances::plan::<ByHops<Distances>>(graph, threads),
        };
        plan.with("values", 8 * u64::from(graph.vertices()))
    })
}

/// Returns an estimate of the closeness of each vertex by the distances from a sample of the vertices, computed on rayon's
/// current pool. If the sample is of all vertices, it is the closeness.
///
/// # Errors
/// If the sample is of fewer than two vertices, the observer cancels, or memory is refused.
///
/// # Examples
/// ```
/// use ripplet_analytics::closeness::{Closeness, sampled_closeness};
/// use ripplet_analytics::{Lengths, Sample};
/// use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
///
/// // A star of 100 leaves: vertex 0 is at distance 1 from all others.
/// let ids = VertexIds::Consecutive { first: 0, count: 101 };
/// let graph = GraphBuilder::new().build(EdgeTable::new(ids, vec![0; 100], (1..=100).collect())?)?;
/// let sample = Sample { vertices: 10, seed: 1 };
/// let hops = Lengths::Hops;
/// let values = sampled_closeness(&graph, Closeness::Reciprocal, true, hops, sample, &mut ())?;
/// assert!(values[0] == 1.0 && values[1] < 0.6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sampled_closeness<'g>(
    graph: impl Into<GraphView<'g>>,
    measure: Closeness,
    normalized: bool,
    lengths: Lengths,
    sample: Sample,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, AnalysisError> {
    let graph = graph.into();
    let Some(chosen) = sample.choose(graph.vertices())? else {
        return closeness_in(graph, measure, normalized, lengths, observer);
    };
    observer.on_stage("measuring distances");
    let scale = Scale::new(measure, normalized, graph.vertices(), lengths.scale_in(graph));
    let estimate = Estimate { chosen: &chosen, others: scale.others };
    let (along, from) = (Along::Arcs, Some(&chosen[..]));
    match (lengths.weigh_in(graph), measure) {
        (true, Closeness::Harmonic) => {
            let found = distances::from::<FromSample<Nearness>>(graph, along, from, observer)?;
            estimate.values(&found, |found, times| scale.near(&Nearness(found.0 * times)))
        }
        (true, _) => {
            let found = distances::from::<FromSample<Reach>>(graph, along, from, observer)?;
            estimate.values(&found, |found, times| {
                scale.farness(found.reached as f64 * times, found.far as f64 * times)
            })
        }
        (false, Closeness::Harmonic) => {
            let found = distances::from::<ByHops<Nearness>>(graph, along, from, observer)?;
            estimate.values(&found, |found, times| scale.near(&Nearness(found.0 * times)))
        }
        (false, _) => {
            let found = distances::from::<ByHops<Distances>>(graph, along, from, observer)?;
            estimate.values(&found, |found, times| {
                scale.farness(found.reached as f64 * times, found.far as f64 * times)
            })
        }
    }
}

/// Estimates by a sample of the vertices.
struct Estimate<'a> {
    chosen: &'a [VertexId],
    /// The number of vertices but one.
    others: f64,
}

impl Estimate<'_> {
    /// Returns the value of each vertex by what was found from the sample, and how many times it stands for all.
    fn values<T: Sync>(
        &self,
        found: &[T],
        value: impl Fn(&T, f64) -> f64 + Sync,
    ) -> Result<Vec<f64>, AnalysisError> {
        let count = self.chosen.len() as f64;
        let mut values = scaled(found, |found| value(found, self.others / count))?;
        // A sampled vertex is no source of its own.
        let times = self.others / (count - 1.0);
        let each = self.chosen.iter().map(|&vertex| vertex as usize);
        each.for_each(|vertex| values[vertex] = value(&found[vertex], times));
        Ok(values)
    }
}

/// Returns the value of each vertex.
fn scaled<T: Sync>(
    found: &[T],
    value: impl Fn(&T) -> f64 + Sync,
) -> Result<Vec<f64>, AnalysisError> {
    let mut values = memory::zeros(found.len())?;
    values.par_iter_mut().zip(found).for_each(|(to, found)| *to = value(found));
    Ok(values)
}

/// Returns the memory that [`closeness_of_batch`] needs beside these graphs on `threads` threads.
pub fn plan_of_batch(
    graphs: BatchSlice<'_>,
    measure: Closeness,
    lengths: Lengths,
    threads: usize,
) -> Plan {
    let plan = match measure {
        Closeness::Harmonic if lengths.weigh_in_batch(graphs) => {
            distances::plan_of_batch::<ByWeights<Nearness>>(graphs, threads)
        }
        _ if lengths.weigh_in_batch(graphs) => {
            distances::plan_of_batch::<ByWeights<Reach>>(graphs, threads)
        }
        Closeness::Harmonic => distances::plan_of_batch::<ByHops<Nearness>>(graphs, threads),
        _ => distances::plan_of_batch::<ByHops<Distances>>(graphs, threads),
    };
    plan.with("values", 8 * graphs.vertices())
}

/// Returns the closeness of each vertex within its graph, for all these graphs.
///
/// Values come graph by graph, in the order of the vertices in their batch, with the bits that
/// [`closeness`] returns for each graph. One thread works on each graph.
///
/// # Errors
/// If the observer cancels or memory is refused.
pub fn closeness_of_batch(
    graphs: BatchSlice<'_>,
    measure: Closeness,
    normalized: bool,
    lengths: Lengths,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>, AnalysisError> {
    observer.on_stage("measuring distances");
    let scale = |graph: BatchGraph<'_>| {
        Scale::new(measure, normalized, graph.vertices(), lengths.scale_in_member(graph))
    };
    let weigh = lengths.weigh_in_batch(graphs);
    let (along, against) = (Along::Arcs, Along::Against);
    match (weigh, measure) {
        (true, Closeness::Harmonic) => {
            let near = |found: &Nearness, graph: BatchGraph<'_>| scale(graph).near(found);
            distances::of_batch::<ByWeights<Nearness>>(graphs, against, observer, near)
        }
        (true, _) => {
            let reach = |found: &Reach, graph: BatchGraph<'_>| scale(graph).reach(found);
            distances::of_batch::<ByWeights<Reach>>(graphs, against, observer, reach)
        }
        (false, Closeness::Harmonic) => {
            let near = |found: &Nearness, graph: BatchGraph<'_>| scale(graph).near(found);
            distances::of_batch::<ByHops<Nearness>>(graphs, along, observer, near)
        }
        (false, _) => {
            let far = |found: &Distances, graph: BatchGraph<'_>| scale(graph).far(found);
            distances::of_batch::<ByHops<Distances>>(graphs, along, observer, far)
        }
    }
}

/// Converts a vertex's sums to its closeness.
#[derive(Clone, Copy)]
struct Scale {
    measure: Closeness,
    normalized: bool,
    others: f64,
    /// The real length of a stored 1: a power of two.
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
            // No vertex reaches s, or all that do are at distance 0.
            _ if far == 0.0 => 0.0,
            (Closeness::WassermanFaust, _) => reached / self.others * (reached / length),
            (_, true) => reached / length,
            (_, false) => 1.0 / length,
        }
    }

    fn near(&self, &Nearness(near): &Nearness) -> f64 {
        let near = near / self.unit;
        // `others` may be 0, if the vertex is alone: then `near` is 0.
        if self.normalized && near > 0.0 { near / self.others } else { near }
    }
}
