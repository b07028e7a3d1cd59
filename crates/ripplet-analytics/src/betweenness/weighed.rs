//! Betweenness where the lengths of ways are sums of weights: one source after the other.
//!
//! Of each vertex, what the ways from eight sources lead through is summed up pairwise, and these sums are
//! in the order of the sources' ids.

use super::sum;
use crate::brandes::{Ways, bytes_of_ways, weightless};
use crate::lists::{Along, BothWays, Lists, OverBoth, both_of_member, of_member, over, over_both};
use crate::run::{NoLength, go_on};
use crate::swarm::{self, Swarm};
use crate::waves::Groups;
use crate::{Observer, RunError};
use rayon::prelude::*;
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Graph, OutOfMemory, VertexId, memory};
use std::ops::Range;

/// Sources whose numbers lie side by side.
const LANES: usize = 8;

/// Bytes of what a thread works with, for so many vertices.
pub(super) fn bytes_of_desk(vertices: u32) -> u64 {
    bytes_of_ways(vertices) + (8 * LANES as u64 + 8) * u64::from(vertices)
}

/// The sums over ordered pairs of vertices.
pub(super) fn values(graph: &Graph, observer: &dyn Observer) -> Result<Vec<f64>, RunError> {
    refuse_weightless(graph)?;
    over_both(graph, Run { observer })
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
        for first in (0..vertices).step_by(LANES) {
            let sources = first..vertices.min(first.saturating_add(LANES as u32));
            desk.search(both_of_member(graph), sources, observer)?;
            values.iter_mut().zip(&desk.sums).for_each(|(value, sum)| *value += sum);
        }
        let scale = scale(vertices);
        values.iter_mut().for_each(|value| *value *= scale);
        Ok(())
    };
    Swarm { make: || Desk::new(largest), work, observer }.run(graphs)
}

/// An error where an arc weighs nothing: the number of shortest ways is not defined.
pub(crate) fn refuse_weightless(graph: &Graph) -> Result<(), RunError> {
    struct Look;
    impl crate::lists::Over for Look {
        type Result = Option<(VertexId, VertexId)>;

        fn lists<L: Lists>(self, lists: L) -> Self::Result {
            weightless(lists)
        }
    }
    let Some((from, to)) = over(graph, Along::Arcs, Look) else { return Ok(()) };
    let id = |vertex| graph.ids().get(vertex).to_string();
    Err(NoLength { graph: None, from: id(from), to: id(to) }.into())
}

/// The same of graphs of a batch: always the first graph.
pub(crate) fn refuse_weightless_in(graphs: BatchSlice<'_>) -> Result<(), RunError> {
    let look = |at: usize| {
        let graph = graphs.graph(at);
        let (from, to) = weightless(of_member(graph, Along::Arcs))?;
        let id = |vertex| graph.vertex_id(vertex).to_string();
        Some(NoLength { graph: Some(graph.id().to_string()), from: id(from), to: id(to) })
    };
    let found = (0..graphs.len()).into_par_iter().with_min_len(1 << 8).find_map_first(look);
    found.map_or(Ok(()), |found| Err(found.into()))
}

struct Run<'a> {
    observer: &'a dyn Observer,
}

impl OverBoth for Run<'_> {
    type Result = Result<Vec<f64>, RunError>;

    fn lists<L: Lists>(self, lists: BothWays<L>) -> Self::Result {
        let vertices = lists.out.vertices();
        let mut values: Vec<f64> = memory::zeros(vertices as usize)?;
        Groups {
            size: LANES as u32,
            make: || Desk::new(vertices),
            work: |desk: &mut Desk, sources| desk.search(lists, sources, self.observer),
            take: |_, desk: &Desk| {
                values.iter_mut().zip(&desk.sums).for_each(|(value, sum)| *value += sum);
                Ok::<_, RunError>(())
            },
            observer: self.observer,
        }
        .run(vertices)?;
        Ok(values)
    }
}

/// What a thread works with, with room for so many vertices or more.
struct Desk {
    ways: Ways,
    /// What the ways from each source lead through.
    through: Vec<[f64; LANES]>,
    /// What the ways from all of them lead through.
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

    /// Sums up what the shortest ways from some sources lead through.
    fn search<L: Lists>(
        &mut self,
        lists: BothWays<L>,
        sources: Range<VertexId>,
        observer: &dyn Observer,
    ) -> Result<(), RunError> {
        let Desk { ways, through, sums } = self;
        let vertices = lists.out.vertices() as usize;
        let (through, sums) = (&mut through[..vertices], &mut sums[..vertices]);
        through.fill([0.0; LANES]);
        for (lane, source) in sources.enumerate() {
            go_on(observer)?;
            ways.search(lists, source);
            ways.go_back(lists, |vertex, share| through[vertex as usize][lane] = share, |_| ());
        }
        sums.iter_mut().zip(through).for_each(|(total, row)| *total = sum(row));
        Ok(())
    }
}
