//! The hierarchy of a partition: its communities, in ever larger connected parts.
//!
//! ```text
//! subdivide the communities, contract the parts; on each level again, with the same communities:
//!
//! vertices       0 1 2 3 4 5 6 7 8
//! first parts    0 0 2 2 4 4 4 7 7
//! second parts   0 0 0 0 4 4 4 7 7
//! communities    0 0 0 0 4 4 4 4 4
//! ```
//!
//! The parts are those that the cycles of a refinement move as one: a part joins another part of its
//! community if that raises the score.

use super::contract::named_by_smallest;
use super::cycle::{CycleState, Cycles};
use super::host::{HostContraction, HostGraph, HostSteps};
use super::input::{Input, OnInput, on_input};
use super::level::{ArcArrays, Level};
use super::options::{Objective, RefineError, RefineOptions};
use super::partition::Partition;
use super::run::{contracted_arcs, initial, plan};
use super::steps::RefineSteps;
use crate::team::{ThreadTeam, with_whole_pool};
use crate::{Label, RoundObserver};
use ripplet_graph::{GraphView, memory};

/// The most levels of a hierarchy. Each has about half as many parts as that before.
pub const MOST_LEVELS: usize = 8;

/// Returns partitions of a graph's vertices, the finest first: the parts of the given communities, the
/// parts of which these are made, and so on. The communities themselves are not repeated.
///
/// Each part is connected, lies within one part of the next partition and within one community, and is
/// named by its smallest vertex. There are at most [`MOST_LEVELS`] partitions. Parts stay as they are if
/// joining would lower the score; so the last partition may be finer than the communities.
///
/// Labels are the same bytes for any number of threads and either kind of lists. Memory: at most that
/// of [`refine`](super::refine) on the same threads, and [`hierarchy_bytes`].
///
/// # Errors
/// See [`RefineError`]; the number of labels must be that of the vertices. An estimated resolution counts
/// as 1.
///
/// # Examples
/// A path of six vertices, as one community:
///
/// ```
/// use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
/// use ripplet_lp::refine::{Objective, hierarchy};
///
/// let ids = VertexIds::Consecutive { first: 0, count: 6 };
/// let edges = EdgeTable::new(ids, vec![0, 1, 2, 3, 4], vec![1, 2, 3, 4, 5])?;
/// let graph = GraphBuilder::new().build(edges)?;
///
/// let levels = hierarchy(&graph, Objective::Cpm(0.01), 0, &[0; 6], &mut ())?;
/// assert!(levels.iter().all(|parts| parts.len() == 6));
/// assert_eq!(levels.last(), Some(&vec![0; 6]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn hierarchy<'g>(
    graph: impl Into<GraphView<'g>>,
    objective: Objective,
    seed: u64,
    labels: &[Label],
    observer: &mut dyn RoundObserver,
) -> Result<Vec<Vec<Label>>, RefineError> {
    hierarchy_in(graph.into(), objective, seed, labels, observer)
}

fn hierarchy_in(
    graph: GraphView<'_>,
    objective: Objective,
    seed: u64,
    labels: &[Label],
    observer: &mut dyn RoundObserver,
) -> Result<Vec<Vec<Label>>, RefineError> {
    if labels.len() != graph.vertices() as usize {
        return Err(RefineError::Length { labels: labels.len(), vertices: graph.vertices() });
    }
    objective.check()?;
    observer.on_stage("finding the parts of communities");
    let work = Hierarchy { seed, labels, observer };
    on_input(graph, objective, work).map_err(|error| {
        let threads = rayon::current_num_threads();
        let plan = plan(graph, &RefineOptions::new(objective), threads);
        error.planned(|| plan.with("levels", hierarchy_bytes(graph.vertices().into())))
    })
}

/// Returns the bytes of the partitions of a hierarchy of `vertices` vertices, at most.
pub fn hierarchy_bytes(vertices: u64) -> u64 {
    vertices.saturating_mul((size_of::<Label>() * MOST_LEVELS) as u64)
}

struct Hierarchy<'a> {
    seed: u64,
    labels: &'a [Label],
    observer: &'a mut dyn RoundObserver,
}

impl OnInput for Hierarchy<'_> {
    type Found = Vec<Vec<Label>>;

    fn perform<L: Level>(self, input: Input, level: &L) -> Result<Self::Found, RefineError> {
        with_whole_pool(|team| self.levels(team, &input, level))
    }
}

impl Hierarchy<'_> {
    fn levels<L: Level>(
        self,
        team: &ThreadTeam,
        input: &Input,
        level: &L,
    ) -> Result<Vec<Vec<Label>>, RefineError> {
        let vertices = level.vertices();
        let communities = initial(team, Some(self.labels), vertices)?;
        let arrays = ArcArrays::new(contracted_arcs(input.arcs))?;
        let mut communities = Partition::new(team, communities, level)?;
        let steps = HostSteps::new(team, level, &arrays, Vec::new())?;
        let factors = input.objective.factors(input.total);
        let state = CycleState::new(factors, self.seed, vertices);
        let mut cycles = Cycles { steps, state, observer: self.observer };
        let mut found: Vec<Vec<Label>> = Vec::new();
        // The part of each vertex on the current level.
        let mut parts = memory::collected(0..vertices)?;
        let mut graph = HostGraph::Input;
        while found.len() < MOST_LEVELS {
            let figures = cycles.steps.figures(&graph)?;
            let Some(next) = cycles.contract(&graph, figures, &communities)? else { break };
            let HostContraction { map, graph: above, partition, .. } = next;
            parts.iter_mut().for_each(|part| *part = map.vertex_of[*part as usize]);
            let count = map.founders.len();
            let mut named = named_by_smallest(team, parts.len(), count, |v| parts[v as usize])?;
            // Finished vertices are one vertex of the level, but no community.
            if let Some(finished) = map.finished_part() {
                let are_finished = (0..vertices).filter(|&v| parts[v as usize] == finished);
                are_finished.for_each(|v| {
                    named[v as usize] = found.last().map_or(v, |below| below[v as usize]);
                });
            }
            found.push(named);
            (graph, communities) = (above, partition);
        }
        Ok(found)
    }
}
