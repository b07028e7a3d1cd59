//! The input of a refinement: its first level, and sums of its weights.

use super::level::{InputLevel, Level};
use super::options::{Objective, RefineError, Resolution};
use super::ratio::Ratio;
use super::score::Factors;
use crate::crew::{Crew, with_whole_pool};
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{Direction, GraphView, as_atomic_words, dispatch_lists, memory};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Vertices of a task that reads their arcs.
pub(super) const LISTS_PER_TASK: usize = 256;

/// The input of a refinement, beside its level.
pub(super) struct Input {
    pub objective: Exact,
    /// The sum of all weights, from both ends.
    pub total: u64,
    /// The sum of the self-loops' weights, each counted twice.
    pub loops: u64,
    /// The number of stored arcs.
    pub arcs: u64,
}

/// Work on a graph, whatever its storage and weights are.
pub(super) trait OnInput {
    /// The result.
    type Found;

    /// Performs the work.
    fn perform<L: Level>(self, input: Input, level: &L) -> Result<Self::Found, RefineError>;
}

/// Performs work on a graph.
pub(super) fn on_input<W: OnInput>(
    graph: GraphView<'_>,
    objective: Objective,
    work: W,
) -> Result<W::Found, RefineError> {
    if graph.direction() == Direction::Directed {
        return Err(RefineError::Directed);
    }
    dispatch_lists!(graph, (out, _incoming) => on_lists(out, graph, objective, work))
}

fn on_lists<N: NeighborLists, W: OnInput>(
    lists: N,
    graph: GraphView<'_>,
    objective: Objective,
    work: W,
) -> Result<W::Found, RefineError> {
    let weights = with_whole_pool(|crew| Weights::of(crew, lists))?;
    let masses = match objective {
        Objective::Modularity(_) => weights.strengths,
        Objective::Cpm(_) => memory::filled(1, lists.vertices())?,
    };
    let objective = Exact::of(objective, graph.weight_scale().weight(1));
    objective.check(weights.total, lists.vertices() as u64)?;
    let Weights { total, largest: largest_weight, loops, .. } = weights;
    let input = Input { objective, total, loops, arcs: lists.arcs() };
    match lists.is_weighted() {
        true => work.perform(input, &InputLevel::<N, true> { lists, masses, largest_weight }),
        false => work.perform(input, &InputLevel::<N, false> { lists, masses, largest_weight }),
    }
}

/// The objective in stored weights.
#[derive(Clone, Copy)]
pub(super) struct Exact {
    pub ratio: Ratio,
    is_cpm: bool,
    pub is_estimated: bool,
    /// The value of a stored unit of weight that γ depends on; 1 for modularity.
    pub unit: f64,
}

impl Exact {
    fn of(objective: Objective, unit: f64) -> Exact {
        let exact = Exact { ratio: Ratio::ONE, is_cpm: false, is_estimated: false, unit: 1.0 };
        match objective {
            Objective::Modularity(Resolution::Auto) => Exact { is_estimated: true, ..exact },
            Objective::Modularity(Resolution::Fixed(resolution)) => {
                Exact { ratio: Ratio::of(resolution), ..exact }
            }
            Objective::Cpm(resolution) => {
                Exact { ratio: Ratio::of(resolution / unit), is_cpm: true, unit, ..exact }
            }
        }
    }

    /// Returns the objective at another resolution.
    pub fn at(self, ratio: Ratio) -> Exact {
        Exact { ratio, ..self }
    }

    pub fn factors(self, total: u64) -> Factors {
        match self.is_cpm {
            true => Factors::of_cpm(self.ratio),
            false => Factors::of_modularity(self.ratio, total),
        }
    }

    /// Refuses sums for which scores would not be exact.
    fn check(self, total: u64, vertices: u64) -> Result<(), RefineError> {
        let mass = if self.is_cpm { vertices } else { total };
        match self.factors(total).fit(total, mass) {
            true => Ok(()),
            false => Err(RefineError::Weights { total: u128::from(total) }),
        }
    }
}

/// Weights of the input.
struct Weights {
    /// The sum of the weights of each vertex's arcs; a self-loop counts twice.
    strengths: Vec<u64>,
    total: u64,
    /// The largest strength.
    largest: u64,
    /// The sum of the self-loops' weights, each counted twice.
    loops: u64,
}

impl Weights {
    fn of<N: NeighborLists>(crew: &Crew, lists: N) -> Result<Weights, RefineError> {
        let mut strengths: Vec<u64> = memory::zeros(lists.vertices())?;
        let of_loops = AtomicU64::new(0);
        let to = as_atomic_words(&mut strengths);
        crew.ranges(to.len(), LISTS_PER_TASK, |range| {
            let mut all_loops = 0;
            for v in range {
                let (mut sum, mut loops) = (0u64, 0u64);
                lists.for_each_arc(v, |u, weight| {
                    sum += weight;
                    loops += if u as usize == v { weight } else { 0 };
                });
                to[v].store(sum + loops, Relaxed);
                all_loops += 2 * loops;
            }
            of_loops.fetch_add(all_loops, Relaxed);
        });
        let total: u128 = strengths.iter().map(|&strength| u128::from(strength)).sum();
        let largest = strengths.iter().copied().max().unwrap_or(0);
        let total = u64::try_from(total).map_err(|_| RefineError::Weights { total })?;
        Ok(Weights { strengths, total, largest, loops: of_loops.into_inner() })
    }
}
