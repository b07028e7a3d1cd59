//! Distances between all vertices of a graph, summed up to a value per vertex.
//!
//! | module | what it holds |
//! |---|---|
//! | `measure.rs` | what a workspace of a thread does |
//! | `values.rs` | the values: counts, sums, and the largest distance |
//! | `hops.rs` | lengths in arcs: breadth-first searches from 64 sources at once |
//! | `per_source.rs` | lengths in arcs from chosen vertices: the same searches, of which each source sums up its own distances |
//! | `weights.rs` | lengths by weights: a search from each source, which sums up its own distances |
//! | `sampled.rs` | lengths by weights from a sample: a search from each source, whose distances all vertices sum up |
//!
//! This module runs workspaces over the sources of a graph, on all threads, and over the graphs of a
//! batch, one thread per graph. Values add up group of sources by group of sources, in the order of
//! their ids.

mod hops;
mod measure;
mod per_source;
mod sampled;
mod values;
mod weights;

pub(crate) use hops::ByHops;
use measure::Measure;
pub(crate) use per_source::PerSource;
pub(crate) use sampled::FromSample;
pub use values::Reach;
pub(crate) use values::{Distances, Extent, Nearness};
pub(crate) use weights::ByWeights;

use crate::run::go_on;
use crate::sides::{Along, dispatch_sides, of_member};
use crate::source_batches::{GROUP, Listed, SourceBatches, SourceIds, range, sources};
use crate::swarm::{self, PerVertex, Place, Swarm};
use crate::{AnalysisError, Plan};
use rayon::prelude::*;
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{GraphView, Observer, VertexId, memory};
use std::ops::Range;

/// Values of a task that adds up values.
const VALUES_PER_TASK: usize = 1 << 12;

/// Returns the memory of [`of_graph`] on `threads` threads.
pub(crate) fn plan<M: Measure>(graph: GraphView<'_>, threads: usize) -> Plan {
    let vertices = graph.vertices();
    Plan::default()
        .with("sums", size_of::<M::Value>() as u64 * u64::from(vertices))
        .with("searches, one a thread", (threads as u64).saturating_mul(M::bytes(vertices)))
}

/// Returns the value of each vertex of a graph by the distances from all vertices, computed on rayon's current pool.
pub(crate) fn of_graph<M: Measure>(
    graph: GraphView<'_>,
    along: Along,
    observer: &dyn Observer,
) -> Result<Vec<M::Value>, AnalysisError> {
    from::<M>(graph, along, None, observer)
}

/// Returns the value of each vertex of a graph by the distances from chosen vertices, or from all, computed on rayon's
/// current pool.
pub(crate) fn from<M: Measure>(
    graph: GraphView<'_>,
    along: Along,
    chosen: Option<&[VertexId]>,
    observer: &dyn Observer,
) -> Result<Vec<M::Value>, AnalysisError> {
    let of = Listed { vertices: graph.vertices(), chosen };
    let totals = memory::filled(M::Value::default(), of.vertices as usize)?;
    add_up::<M>(graph, along, (of, GROUP), totals, observer)
}

/// Returns the memory of [`of_each`] for `count` vertices on `threads` threads.
pub(crate) fn plan_of_each<M: Measure>(graph: GraphView<'_>, count: u32, threads: usize) -> Plan {
    let threads = threads.min(count as usize) as u64;
    Plan::default()
        .with("sums", size_of::<M::Value>() as u64 * u64::from(count))
        .with("searches, one a thread", threads.saturating_mul(M::bytes(graph.vertices())))
}

/// Returns the value of each of these vertices by the distances from it, computed on rayon's current pool. Workspaces are of
/// a kind whose sources have the values, [`PerSource`] or [`ByWeights`].
pub(crate) fn of_each<M: Measure>(
    graph: GraphView<'_>,
    along: Along,
    chosen: &[VertexId],
    observer: &dyn Observer,
) -> Result<Vec<M::Value>, AnalysisError> {
    let of = Listed { vertices: graph.vertices(), chosen: Some(chosen) };
    // A few sources are searched from on all threads; values do not depend on the groups.
    let group = of.len().div_ceil(rayon::current_num_threads() as u32).clamp(1, GROUP);
    let totals = memory::filled(M::Value::default(), chosen.len())?;
    add_up::<M>(graph, along, (of, group), totals, observer)
}

/// Adds what the groups of sources contribute to the values.
fn add_up<M: Measure>(
    graph: GraphView<'_>,
    along: Along,
    (of, group_size): (Listed<'_>, u32),
    mut totals: Vec<M::Value>,
    observer: &dyn Observer,
) -> Result<Vec<M::Value>, AnalysisError> {
    let take = |first: u32, workspaces: &[M]| {
        let chunks = totals.par_chunks_mut(VALUES_PER_TASK).enumerate();
        chunks.for_each(|(chunk, totals)| {
            for (group, workspace) in (first / group_size..).zip(workspaces) {
                let places = range(group, group_size, of.len());
                workspace.add_to(totals, chunk * VALUES_PER_TASK, places);
            }
        });
        Ok::<_, AnalysisError>(())
    };
    dispatch_sides!(graph, along, lists => {
        let work = |workspace: &mut M, places: Range<u32>| {
            workspace.measure(lists, &of.at(places), &|| go_on(observer))
        };
        let make = || M::new(of.vertices);
        SourceBatches { make, work, take, group: group_size, observer }
            .run(of.len())?;
    });
    Ok(totals)
}

/// Returns the memory of [`fill_batch`] on `threads` threads, without the output.
pub(crate) fn plan_of_batch<M: Measure>(graphs: BatchSlice<'_>, threads: usize) -> Plan {
    let vertices = swarm::largest(graphs);
    let workspace = M::bytes(vertices) + size_of::<M::Value>() as u64 * u64::from(vertices);
    Plan::default().with("searches, one a thread", (threads as u64).saturating_mul(workspace))
}

/// Returns `convert` of each vertex's value within its graph, graph by graph.
pub(crate) fn of_batch<M: Measure>(
    graphs: BatchSlice<'_>,
    along: Along,
    observer: &dyn Observer,
    convert: impl Fn(&M::Value, BatchGraph<'_>) -> f64 + Sync,
) -> Result<Vec<f64>, AnalysisError> {
    let mut values = memory::zeros(graphs.vertices() as usize)?;
    let finish = |found: &[M::Value], graph: BatchGraph<'_>, values: PerVertex<'_, f64>| {
        values.0.iter_mut().zip(found).for_each(|(to, found)| *to = convert(found, graph));
    };
    fill_batch::<M, _>(graphs, along, observer, PerVertex(&mut values), finish)?;
    Ok(values)
}

/// Calls `finish` for each graph with the values of its vertices and its part of the output.
pub(crate) fn fill_batch<M: Measure, P: Place>(
    graphs: BatchSlice<'_>,
    along: Along,
    observer: &dyn Observer,
    place: P,
    finish: impl Fn(&[M::Value], BatchGraph<'_>, P) + Sync,
) -> Result<(), AnalysisError> {
    let largest = swarm::largest(graphs);
    let make = || Ok((M::new(largest)?, memory::filled(M::Value::default(), largest as usize)?));
    let work = |(workspace, totals): &mut (M, Vec<M::Value>), graph: BatchGraph<'_>, place: P| {
        let vertices = graph.vertices();
        let totals = &mut totals[..vertices as usize];
        totals.fill(M::Value::default());
        for sources in (0..vertices.div_ceil(GROUP)).map(|group| sources(group, vertices)) {
            go_on(observer)?;
            let lists = of_member(graph, along);
            workspace.measure(lists, &SourceIds::from(sources.clone()), &|| go_on(observer))?;
            workspace.add_to(totals, 0, sources);
        }
        finish(totals, graph, place);
        Ok(())
    };
    Swarm { make, work, observer }.fill(graphs, place)
}
