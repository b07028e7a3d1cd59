//! One cycle through the levels: move, subdivide, contract, recurse, move again.
//!
//! ```text
//! cycle(level, partition):
//!     move rounds
//!     parts = subdivide the communities; all finished vertices are one part (`finished.rs`)
//!     coarse = contract the parts;   return if there are as many as vertices
//!     cycle(coarse, the same communities of its vertices)
//!     each vertex takes its part's community
//!     activate the vertices whose part moved and their neighbours, at borders of communities
//!     move rounds
//! ```
//!
//! The last step, moves while uncoarsening, is not in Leiden's publication, and gains most of what
//! this scheme has over it.

use super::RefineRound;
use super::host::{HostGraph, HostSteps};
use super::level::{ArcArrays, Level, LevelGraph};
use super::partition::Partition;
use super::score::{Directed, Factors, NullModel, Undirected};
use super::sizes::Sizes;
use super::steps::{Draw, Figures, HostLevel, RefineSteps, Rule};
use crate::hash::Clock;
use crate::team::{ThreadTeam, with_whole_pool};
use crate::{Label, Round, RoundObserver, RunError};
use ripplet_graph::memory::{self, OutOfMemory};
use std::marker::PhantomData;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// The stream of phases of move rounds, and that of subdivisions.
const MOVES: u32 = 8;
const PARTS: u32 = 9;

/// Phases of a round.
pub(super) const PHASES: u32 = 8;

/// A run of cycles on a device.
pub(super) struct Cycles<'a, S> {
    pub steps: S,
    pub state: CycleState,
    pub observer: &'a mut dyn RoundObserver,
}

/// What all levels share.
#[derive(Default)]
pub(super) struct CycleState {
    pub factors: Factors,
    pub seed: u64,
    /// The vertices that further contracted graphs may have, together: bounds the memory.
    pub room: u32,
    /// The number of rounds and subdivisions so far: the clock of draws.
    pub step: u32,
    /// The current iteration.
    pub iteration: u32,
    pub rounds: Vec<RefineRound>,
    /// Arcs read, by all steps.
    pub scanned: u64,
}

/// When the move rounds of a level end.
#[derive(Clone, Copy)]
struct Limits {
    rounds: u32,
    /// They end after a round in which at most one of this number of vertices moved.
    settled: u32,
}

impl Limits {
    const BEFORE_CONTRACTION: Limits = Limits { rounds: 3, settled: 100 };

    fn after_contraction(depth: u32) -> Limits {
        match depth {
            0 => Limits { rounds: 2, settled: 200 },
            _ => Limits { rounds: 1, settled: 100 },
        }
    }
}

impl CycleState {
    /// Returns the state before the first cycle.
    pub fn new(factors: Factors, seed: u64, vertices: u32) -> CycleState {
        CycleState { factors, seed, room: vertices, ..CycleState::default() }
    }

    /// Returns the rule of the next round, with new phases.
    fn rule(&mut self, figures: Figures, stream: u32) -> Rule {
        let key = Clock::new(self.seed, self.step).key(stream);
        self.step += 1;
        Rule { factors: self.factors, figures, draw: Draw { key, phases: PHASES } }
    }
}

impl<S: RefineSteps> Cycles<'_, S> {
    /// Performs a cycle on a level, `depth` levels above the input.
    pub fn cycle(
        &mut self,
        graph: &S::Graph,
        partition: &S::Partition,
        depth: u32,
    ) -> Result<(), RunError> {
        if let Some(level) = self.steps.to_host(graph, partition)? {
            let labels = with_whole_pool(|team| {
                let (state, observer) = (&mut self.state, &mut *self.observer);
                cycle_on_host(team, level, depth, state, observer)
            })?;
            return self.steps.take_labels(graph, partition, &labels);
        }
        let figures = self.steps.figures(graph)?;
        self.moves(graph, figures, partition, depth, Limits::BEFORE_CONTRACTION)?;
        if self.steps.is_singletons(partition)? {
            return Ok(());
        }
        let room = self.state.room;
        let Some(contraction) = self.contract(graph, figures, partition)? else {
            return Ok(());
        };
        let (coarse, communities) = S::contracted(&contraction);
        self.cycle(coarse, communities, depth + 1)?;
        self.state.scanned += self.steps.lower(graph, partition, contraction)?;
        self.state.room = room;
        self.moves(graph, figures, partition, depth, Limits::after_contraction(depth))
    }

    /// Performs the move rounds of a level.
    fn moves(
        &mut self,
        graph: &S::Graph,
        figures: Figures,
        partition: &S::Partition,
        depth: u32,
        limits: Limits,
    ) -> Result<(), RunError> {
        // From single vertices nearly all move in the first round.
        let mut keeps_active = depth == 0 && self.steps.is_singletons(partition)?;
        for _ in 0..limits.rounds {
            let start = Instant::now();
            let rule = self.state.rule(figures, MOVES);
            let observer = &*self.observer;
            let counts = self.steps.move_round(graph, partition, rule, keeps_active, observer)?;
            keeps_active = false;
            self.state.scanned += counts.scanned;
            let round = Round {
                changed: counts.changed,
                visited: counts.visited,
                scanned: counts.scanned,
                seconds: start.elapsed().as_secs_f64(),
                ..Round::default()
            };
            self.observer.on_round(self.state.rounds.len(), &round);
            let (iteration, vertices) = (self.state.iteration, figures.vertices);
            self.state.rounds.push(RefineRound { iteration, level: depth, vertices, round });
            if counts.changed * u64::from(limits.settled) <= u64::from(vertices) {
                break;
            }
        }
        Ok(())
    }

    /// Subdivides the communities and contracts the parts; `None` if no two vertices are in one part,
    /// or if the contracted graph has no room.
    pub fn contract(
        &mut self,
        graph: &S::Graph,
        figures: Figures,
        communities: &S::Partition,
    ) -> Result<Option<S::Contraction>, RunError> {
        let Cycles { steps, state, observer, .. } = self;
        let rule = state.rule(figures, PARTS);
        let counts = steps.subdivide(graph, communities, rule, &**observer)?;
        state.scanned += counts.scanned;
        // Each change joined one part to another, or one finished vertex to the others.
        let parts = figures.vertices - counts.changed as u32;
        if counts.changed == 0 || parts > state.room {
            return Ok(None);
        }
        state.scanned += figures.arcs;
        let contraction = steps.contract(graph, communities, &**observer)?;
        state.room -= if contraction.is_some() { parts } else { 0 };
        Ok(contraction)
    }
}

/// Performs a cycle on a contracted graph that a device leaves to the host; returns its labels.
fn cycle_on_host(
    team: &ThreadTeam,
    level: HostLevel,
    depth: u32,
    state: &mut CycleState,
    observer: &mut dyn RoundObserver,
) -> Result<Vec<Label>, RunError> {
    match level.imbalances {
        Some(_) => cycle_under::<Directed>(team, level, depth, state, observer),
        None => cycle_under::<Undirected>(team, level, depth, state, observer),
    }
}

/// [`cycle_on_host`] under a null model.
fn cycle_under<M: NullModel>(
    team: &ThreadTeam,
    level: HostLevel,
    depth: u32,
    state: &mut CycleState,
    observer: &mut dyn RoundObserver,
) -> Result<Vec<Label>, RunError> {
    let HostLevel { masses, imbalances, begins, degrees, largest_weight, labels, room, .. } = level;
    let arcs = level.neighbors.len() as u64;
    let input = ArcArrays::of(level.neighbors, level.weights);
    let graph = LevelGraph::<M> {
        masses,
        imbalances: imbalances.unwrap_or_default(),
        begins,
        degrees,
        arcs: &input,
        largest_weight,
        null_model: PhantomData,
    };
    // Each contracted graph has fewer vertices, and no more arcs, than that below it.
    let most = arcs.saturating_mul(u64::from(graph.vertices()));
    let arrays = ArcArrays::new(room.min(most)).map_err(refused)?;
    let mut partition = Partition::new(team, labels, &graph).map_err(refused)?;
    partition.fix(&level.fixed);
    if let Some(sizes) = level.sizes {
        let sizes = Sizes::of(team, level.most_size, sizes, &partition.labels);
        partition.sizes = Some(sizes.map_err(refused)?);
    }
    let steps = HostSteps::new(team, &graph, &arrays, Vec::new()).map_err(refused)?;
    let mut cycles = Cycles { steps, state: std::mem::take(state), observer };
    cycles.cycle(&HostGraph::Input, &partition, depth)?;
    *state = cycles.state;
    memory::collected(partition.labels.iter().map(|label| label.load(Relaxed))).map_err(refused)
}

fn refused(error: OutOfMemory) -> RunError {
    RunError::Array(error)
}
