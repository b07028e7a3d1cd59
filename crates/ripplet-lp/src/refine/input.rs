//! The input of a refinement: its first level, and sums of its weights.
//!
//! The arcs of a directed graph are read from both ends: one from 0 to 1 is an arc of 0 to 1 and of 1 to
//! 0, and counts in the mass of both.

use super::level::{BothEnds, InputArcs, InputLevel, Level, Lists};
use super::options::{Objective, RefineError, Resolution};
use super::ratio::Ratio;
use super::score::{Directed, Factors, NullModel, Undirected};
use crate::team::{ThreadTeam, with_whole_pool};
use ripplet_graph::storage::{GraphLists, NeighborLists};
use ripplet_graph::{
    Direction, GraphView, as_atomic_words, dispatch_lists, dispatch_storage, memory,
};
use std::marker::PhantomData;
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
    /// The number of arcs of all vertices: see [`arcs_of`].
    pub arcs: u64,
}

/// Work on a graph, whatever its storage and weights are.
pub(super) trait OnInput {
    /// The result.
    type Found;

    /// Performs the work.
    fn perform<L: Level>(self, input: Input, level: &L) -> Result<Self::Found, RefineError>;
}

/// Returns the number of arcs of all vertices, as a refinement reads them: those of a directed graph have
/// two ends.
pub fn arcs_of<'g>(graph: impl Into<GraphView<'g>>) -> u64 {
    let graph = graph.into();
    match graph.direction() {
        Direction::Undirected => graph.arcs(),
        Direction::Directed => 2 * graph.arcs(),
    }
}

/// Performs work on a graph.
pub(super) fn on_input<W: OnInput>(
    graph: GraphView<'_>,
    objective: Objective,
    work: W,
) -> Result<W::Found, RefineError> {
    let opening = Opening { graph, objective, work };
    match graph.direction() {
        Direction::Undirected => dispatch_lists!(graph, (out, _incoming) => {
            match out.is_weighted() {
                false => opening.undirected(Lists::<_, false>(out)),
                true => opening.undirected(Lists::<_, true>(out)),
            }
        }),
        // Lists of a single shard are not compiled apart: they differ by a branch a list, and a third of
        // the code.
        Direction::Directed => dispatch_storage!(graph, graph => {
            let (out, incoming) = GraphLists::of(graph.shards());
            match out.is_weighted() {
                false => opening.directed(Lists::<_, false>(out), Lists::<_, false>(incoming)),
                true => opening.directed(Lists::<_, true>(out), Lists::<_, true>(incoming)),
            }
        }),
    }
}

/// An input whose weights are not summed up yet.
struct Opening<'a, W> {
    graph: GraphView<'a>,
    objective: Objective,
    work: W,
}

impl<W: OnInput> Opening<'_, W> {
    fn undirected<N: NeighborLists, const WEIGHTED: bool>(
        self,
        lists: Lists<N, WEIGHTED>,
    ) -> Result<W::Found, RefineError>
    where
        Lists<N, WEIGHTED>: InputArcs,
    {
        let weights = with_whole_pool(|team| Weights::of_undirected(team, lists.0))?;
        self.perform::<_, Undirected>(lists, weights)
    }

    fn directed<N: NeighborLists, const WEIGHTED: bool>(
        self,
        out: Lists<N, WEIGHTED>,
        incoming: Lists<N, WEIGHTED>,
    ) -> Result<W::Found, RefineError>
    where
        Lists<N, WEIGHTED>: InputArcs,
    {
        let has_imbalances = self.objective.has_imbalances(Direction::Directed);
        let weights =
            with_whole_pool(|team| Weights::of_directed(team, out.0, incoming.0, has_imbalances))?;
        let arcs = BothEnds { out, incoming };
        match has_imbalances {
            true => self.perform::<_, Directed>(arcs, weights),
            false => self.perform::<_, Undirected>(arcs, weights),
        }
    }

    fn perform<A: InputArcs, M: NullModel>(
        self,
        arcs: A,
        weights: Weights,
    ) -> Result<W::Found, RefineError> {
        let Opening { graph, objective, work } = self;
        let masses = match objective {
            Objective::Modularity(_) => weights.strengths,
            Objective::Cpm(_) => memory::filled(1, weights.strengths.len())?,
        };
        let objective = Exact::of(objective, graph)?;
        objective.check(weights.total, masses.len() as u64)?;
        let Weights { imbalances, total, largest: largest_weight, loops, .. } = weights;
        let input = Input { objective, total, loops, arcs: arcs_of(graph) };
        let null_model = PhantomData::<M>;
        let level = InputLevel { arcs, masses, imbalances, largest_weight, null_model };
        work.perform(input, &level)
    }
}

/// The objective in stored weights.
#[derive(Clone, Copy)]
pub(super) struct Exact {
    pub ratio: Ratio,
    pub is_cpm: bool,
    /// How many arcs a pair of vertices may have.
    directions: u64,
    pub is_estimated: bool,
    /// The value of a stored unit of weight that γ depends on; 1 for modularity.
    pub unit: f64,
}

impl Exact {
    /// # Errors
    /// [`RefineError::Scale`] if weights and resolution are too far apart to be compared exactly.
    fn of(objective: Objective, graph: GraphView<'_>) -> Result<Exact, RefineError> {
        let directions = if graph.direction() == Direction::Directed { 2 } else { 1 };
        let ratio = Ratio::ONE;
        let exact = Exact { ratio, is_cpm: false, directions, is_estimated: false, unit: 1.0 };
        Ok(match objective {
            Objective::Modularity(Resolution::Auto) => Exact { is_estimated: true, ..exact },
            Objective::Modularity(Resolution::Fixed(resolution)) => {
                Exact { ratio: Ratio::of(resolution), ..exact }
            }
            Objective::Cpm(resolution) => {
                let unit = graph.weight_scale().weight(1);
                let ratio = resolution / unit;
                if !Ratio::RANGE.contains(&ratio) {
                    return Err(RefineError::Scale { resolution, unit });
                }
                Exact { ratio: Ratio::of(ratio), is_cpm: true, unit, ..exact }
            }
        })
    }

    /// Returns the objective at another resolution.
    pub fn at(self, ratio: Ratio) -> Exact {
        Exact { ratio, ..self }
    }

    pub fn factors(self, total: u64) -> Factors {
        match self.is_cpm {
            true => Factors::of_cpm(self.ratio, self.directions),
            false => Factors::of_modularity(self.ratio, total),
        }
    }

    /// Refuses sums for which scores would not be exact.
    pub fn check(self, total: u64, vertices: u64) -> Result<(), RefineError> {
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
    /// What the arcs out of each vertex weigh more than those in, modulo 2⁶⁴, if that counts.
    imbalances: Vec<u64>,
    total: u64,
    /// The largest strength.
    largest: u64,
    /// The sum of the self-loops' weights, each counted twice.
    loops: u64,
}

/// Sums of the weights of a list.
#[derive(Clone, Copy)]
struct Strength {
    all: u64,
    loops: u64,
}

impl Strength {
    /// Returns the sums of a vertex's list.
    fn of<N: NeighborLists>(lists: N, v: usize) -> Strength {
        let mut strength = Strength { all: 0, loops: 0 };
        lists.for_each_arc(v, |u, weight| {
            strength.all += weight;
            strength.loops += if u as usize == v { weight } else { 0 };
        });
        strength
    }
}

impl Weights {
    fn of_undirected<N: NeighborLists>(
        team: &ThreadTeam,
        lists: N,
    ) -> Result<Weights, RefineError> {
        let sum = |v: usize| {
            let Strength { all, loops } = Strength::of(lists, v);
            Strength { all: all + loops, loops: 2 * loops }
        };
        Weights::summed(team, lists.vertices(), sum)
    }

    /// Sums up the weights of both lists, which both have the self-loops.
    fn of_directed<N: NeighborLists>(
        team: &ThreadTeam,
        out: N,
        incoming: N,
        has_imbalances: bool,
    ) -> Result<Weights, RefineError> {
        let mut imbalances: Vec<u64> =
            memory::zeros(if has_imbalances { out.vertices() } else { 0 })?;
        let to = as_atomic_words(&mut imbalances);
        let sum = |v: usize| {
            let (out, incoming) = (Strength::of(out, v), Strength::of(incoming, v));
            if has_imbalances {
                to[v].store(out.all.wrapping_sub(incoming.all), Relaxed);
            }
            Strength { all: out.all + incoming.all, loops: out.loops + incoming.loops }
        };
        let weights = Weights::summed(team, out.vertices(), sum)?;
        Ok(Weights { imbalances, ..weights })
    }

    /// Sums up the strengths of all vertices.
    fn summed(
        team: &ThreadTeam,
        vertices: usize,
        strength: impl Fn(usize) -> Strength + Sync,
    ) -> Result<Weights, RefineError> {
        let mut strengths: Vec<u64> = memory::zeros(vertices)?;
        let of_loops = AtomicU64::new(0);
        let to = as_atomic_words(&mut strengths);
        team.ranges(to.len(), LISTS_PER_TASK, |range| {
            let mut all_loops = 0;
            for v in range {
                let Strength { all, loops } = strength(v);
                to[v].store(all, Relaxed);
                all_loops += loops;
            }
            of_loops.fetch_add(all_loops, Relaxed);
        });
        let total: u128 = strengths.iter().map(|&strength| u128::from(strength)).sum();
        let largest = strengths.iter().copied().max().unwrap_or(0);
        let total = u64::try_from(total).map_err(|_| RefineError::Weights { total })?;
        let (imbalances, loops) = (Vec::new(), of_loops.into_inner());
        Ok(Weights { strengths, imbalances, total, largest, loops })
    }
}
