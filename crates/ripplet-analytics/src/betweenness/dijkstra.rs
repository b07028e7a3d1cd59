//! By weights: Dijkstra's search from one source after the other.

use crate::brandes::{Ways, bytes_of_ways};
use crate::eights::{EIGHT, sum_of};
use crate::lists::{Along, Lists, Over, Sides, of_member, over};
use crate::no_length::{refuse_weightless, refuse_weightless_in};
use crate::run::go_on;
use crate::swarm::{self, Swarm};
use crate::waves::{GROUP, Waves, sources};
use crate::{Observer, RunError};
use rayon::prelude::*;
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Graph, OutOfMemory, VertexId, memory};
use std::ops::Range;

/// Bytes of what a thread works with, for so many vertices.
pub(super) fn bytes_of_desk(vertices: u32) -> u64 {
    bytes_of_ways(vertices) + (8 * EIGHT as u64 + 8) * u64::from(vertices)
}

/// The sums over ordered pairs of vertices.
pub(super) fn values(graph: &Graph, observer: &dyn Observer) -> Result<Vec<f64>, RunError> {
    refuse_weightless(graph)?;
    over(graph, Along::Arcs, Run { observer })
}

/// The same of graphs of a batch, of each multiplied by its `scale`.
pub(super) fn values_of_batch(
    graphs: BatchSlice<'_>,
    scale: impl Fn(u32) -> f64 + Sync,
    observer: &dyn Observer,
) -> Result<Vec<f64>, RunError> {
    refuse_weightless_in(graphs)?;
    let largest = swarm::largest(graphs);
    let work = |desk: &mut Desk, graph: BatchGraph<'_>, values: &mut [f64]| {
        let vertices = graph.vertices();
        for group in 0..vertices.div_ceil(GROUP) {
            let lists = of_member(graph, Along::Arcs);
            desk.add_group(lists, sources(group, vertices), observer)?;
            values.iter_mut().zip(&desk.sums).for_each(|(value, sum)| *value += sum);
        }
        let scale = scale(vertices);
        values.iter_mut().for_each(|value| *value *= scale);
        Ok(())
    };
    Swarm { make: || Desk::new(largest), work, observer }.run(graphs)
}

struct Run<'a> {
    observer: &'a dyn Observer,
}

impl Over for Run<'_> {
    type Result = Result<Vec<f64>, RunError>;

    fn lists<L: Lists>(self, lists: Sides<L>) -> Self::Result {
        let mut values: Vec<f64> = memory::zeros(lists.vertices() as usize)?;
        let work = |desk: &mut Desk, sources| desk.add_group(lists, sources, self.observer);
        let take = |_, desks: &[Desk]| {
            values.par_iter_mut().enumerate().with_min_len(1 << 12).for_each(|(v, value)| {
                desks.iter().for_each(|desk| *value += desk.sums[v]);
            });
            Ok::<_, RunError>(())
        };
        Waves { make: Desk::new, work, take, observer: self.observer }.run(lists.vertices())?;
        Ok(values)
    }
}

/// What a thread works with, with room for so many vertices or more.
struct Desk {
    ways: Ways,
    /// What the ways from each of eight sources lead through.
    through: Vec<[f64; EIGHT]>,
    /// What was found from all sources of the group.
    sums: Vec<f64>,
}

impl Desk {
    fn new(vertices: u32) -> Result<Desk, OutOfMemory> {
        Ok(Desk {
            ways: Ways::new(true, vertices)?,
            through: memory::zeros(vertices as usize)?,
            sums: memory::zeros(vertices as usize)?,
        })
    }

    /// Sums up what the shortest ways from a group of sources lead through.
    fn add_group<L: Lists>(
        &mut self,
        lists: Sides<L>,
        sources: Range<VertexId>,
        observer: &dyn Observer,
    ) -> Result<(), RunError> {
        let Desk { ways, through, sums } = self;
        let vertices = lists.vertices() as usize;
        let (through, sums) = (&mut through[..vertices], &mut sums[..vertices]);
        sums.fill(0.0);
        for first in sources.clone().step_by(EIGHT) {
            through.fill([0.0; EIGHT]);
            let eight = first..sources.end.min(first.saturating_add(EIGHT as u32));
            for (lane, source) in eight.enumerate() {
                go_on(observer)?;
                ways.search(lists, source);
                ways.go_back(lists, |vertex, share| through[vertex as usize][lane] = share, |_| ());
            }
            sums.iter_mut().zip(&*through).for_each(|(sum, through)| *sum += sum_of(*through));
        }
        Ok(())
    }
}
