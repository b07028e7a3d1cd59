//! The distances between all vertices of a graph by weights, and what they come to for each.

use crate::dijkstra::{Dijkstra, bytes_of_dijkstra};
use crate::lists::{Along, Lists, Over, Sides, of_member, over};
use crate::run::go_on;
use crate::swarm::{self, Place, Swarm};
use crate::waves::{GROUP, Waves};
use crate::{Observer, Plan, RunError};
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Graph, OutOfMemory, VertexId, memory};
use std::ops::Range;

/// What the ways from a vertex to all others come to, in stored lengths.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    /// How many vertices a way leads to.
    pub reached: u64,
    /// The sum of their distances.
    pub far: u128,
    /// The sum of 1 / distance, from the nearest to the farthest; of those not at distance 0.
    pub near: f64,
    /// The largest distance.
    pub farthest: u64,
}

impl Sum {
    /// Some more vertices, farther than all before.
    pub fn add(&mut self, vertices: u64, distance: u64) {
        self.reached += vertices;
        self.far += u128::from(vertices) * u128::from(distance);
        if distance > 0 {
            self.near += vertices as f64 / distance as f64;
        }
        self.farthest = distance;
    }
}

/// The memory of [`of_graph`] on so many threads.
pub(crate) fn plan(graph: &Graph, threads: usize) -> Plan {
    let vertices = graph.vertices();
    let sum = size_of::<Sum>() as u64;
    let desk = bytes_of_dijkstra(vertices) + u64::from(GROUP) * sum;
    Plan::default()
        .with("sums", sum * u64::from(vertices))
        .with("searches, one a thread", (threads as u64).saturating_mul(desk))
}

/// What the ways of a graph come to for each vertex they begin at.
pub(crate) fn of_graph(
    graph: &Graph,
    along: Along,
    observer: &dyn Observer,
) -> Result<Vec<Sum>, RunError> {
    struct Run<'a> {
        observer: &'a dyn Observer,
        sums: Vec<Sum>,
    }
    impl Over for Run<'_> {
        type Result = Result<Vec<Sum>, RunError>;

        fn lists<L: Lists>(self, lists: Sides<L>) -> Self::Result {
            let Run { observer, mut sums } = self;
            let make = |vertices| {
                let of_group = memory::filled(Sum::default(), GROUP as usize)?;
                Ok((Dijkstra::new(vertices)?, of_group))
            };
            let work = |(search, sums): &mut (Dijkstra, Vec<Sum>), sources: Range<VertexId>| {
                sources.zip(sums).try_for_each(|(source, sum)| {
                    go_on(observer)?;
                    search.run(lists.ahead, source);
                    *sum = search.sum();
                    Ok(())
                })
            };
            let take = |first: VertexId, desks: &[(Dijkstra, Vec<Sum>)]| {
                let of_groups = sums[first as usize..].chunks_mut(GROUP as usize).zip(desks);
                of_groups.for_each(|(to, (_, sums))| to.copy_from_slice(&sums[..to.len()]));
                Ok::<_, RunError>(())
            };
            Waves { make, work, take, observer }.run(lists.vertices())?;
            Ok(sums)
        }
    }
    let sums = memory::filled(Sum::default(), graph.vertices() as usize)?;
    over(graph, along, Run { observer, sums })
}

/// The memory of [`fill_batch`] on so many threads, without the place.
pub(crate) fn plan_of_batch(graphs: BatchSlice<'_>, threads: usize) -> Plan {
    let vertices = swarm::largest(graphs);
    let desk = bytes_of_dijkstra(vertices) + size_of::<Sum>() as u64 * u64::from(vertices);
    Plan::default().with("searches, one a thread", (threads as u64).saturating_mul(desk))
}

/// Calls `finish` for each graph with what its ways come to for each vertex, and its part of a place.
pub(crate) fn fill_batch<P: Place>(
    graphs: BatchSlice<'_>,
    along: Along,
    observer: &dyn Observer,
    place: P,
    finish: impl Fn(&[Sum], BatchGraph<'_>, P) + Sync,
) -> Result<(), RunError> {
    let largest = swarm::largest(graphs);
    let make = || -> Result<_, OutOfMemory> {
        Ok((Dijkstra::new(largest)?, memory::filled(Sum::default(), largest as usize)?))
    };
    let work = |(search, sums): &mut (Dijkstra, Vec<Sum>), graph: BatchGraph<'_>, place: P| {
        let sums = &mut sums[..graph.vertices() as usize];
        for (source, sum) in (0..).zip(&mut *sums) {
            go_on(observer)?;
            search.run(of_member(graph, along).ahead, source);
            *sum = search.sum();
        }
        finish(sums, graph, place);
        Ok(())
    };
    Swarm { make, work, observer }.fill(graphs, place)
}
