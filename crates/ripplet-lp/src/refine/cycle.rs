//! One cycle through the levels: move, subdivide, contract, recurse, move again.
//!
//! ```text
//! cycle(level, partition):
//!     move rounds
//!     parts = subdivide the communities
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
use super::contract::{Contraction, named_by_smallest};
use super::level::{ArcArrays, Level, LevelGraph};
use super::moves::{MoveRound, Moves, Partition};
use super::phases::{Counts, Draw, Phases, READ_PER_TASK, Team};
use super::score::{Factors, Gain};
use super::subdivide::Subdivision;
use crate::hash::Clock;
use crate::{Round, RoundObserver, RunError};
use ripplet_graph::VertexId;
use ripplet_graph::memory::{self, OutOfMemory};
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// The stream of phases of move rounds, and that of subdivisions.
const MOVES: u32 = 8;
const PARTS: u32 = 9;

/// Phases of a round.
pub(super) const PHASES: u32 = 8;

/// A run of cycles: what all levels share.
pub(super) struct Cycles<'a> {
    pub factors: Factors,
    pub seed: u64,
    pub team: Team<'a>,
    /// The phases of the current round, of any level.
    pub phases: Phases,
    /// The parts of the current subdivision, of any level.
    pub parts: Partition,
    /// The arcs of contracted graphs.
    pub arrays: &'a ArcArrays,
    /// The vertices that further contracted graphs may have, together: bounds the memory.
    pub room: u32,
    pub observer: &'a mut dyn RoundObserver,
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

impl<'a> Cycles<'a> {
    /// Performs a cycle on a level, `depth` levels above the input.
    pub fn cycle<L: Level>(
        &mut self,
        level: &L,
        partition: &Partition,
        depth: u32,
    ) -> Result<(), RunError> {
        let arcs = self.arcs(level);
        self.moves(level, arcs, partition, depth, Limits::BEFORE_CONTRACTION)?;
        if partition.is_singletons() {
            return Ok(());
        }
        let below = self.arrays.len();
        let Some((contraction, graph)) = self.contract(level, arcs, partition)? else {
            return Ok(());
        };
        let crew = self.team.crew;
        let begin = contraction.lifted(crew, partition).map_err(refused)?;
        let own = memory::copied(&begin).map_err(refused)?;
        let coarse = Partition::new(crew, own, &graph.masses).map_err(refused)?;
        self.cycle(&graph, &coarse, depth + 1)?;
        self.lower(level, partition, &contraction, &begin, &coarse).map_err(refused)?;
        self.room += graph.vertices();
        self.arrays.truncate(below);
        drop((begin, coarse));
        let limits = Limits::after_contraction(depth);
        self.moves(level, arcs, partition, depth, limits)
    }

    /// Returns the arcs of a level, and whether its gains fit 64 bits.
    fn arcs<L: Level>(&self, level: &L) -> Arcs {
        let (crew, masses) = (self.team.crew, level.masses());
        let sum = crew.sum(masses.len(), READ_PER_TASK, |range| {
            range.map(|v| u64::from(level.degree(v as VertexId))).sum()
        });
        let largest_and_total = |range: Range<usize>| {
            let masses = &masses[range];
            (masses.iter().copied().max().unwrap_or(0), masses.iter().sum::<u64>())
        };
        let (largest, total) =
            crew.reduce(masses.len(), READ_PER_TASK, largest_and_total, |a, b| {
                (a.0.max(b.0), a.1 + b.1)
            });
        let weight = level.largest_weight();
        Arcs { sum, fit_64: self.factors.gains_fit_64(weight, largest, total) }
    }

    /// Performs the move rounds of a level.
    fn moves<L: Level>(
        &mut self,
        level: &L,
        arcs: Arcs,
        partition: &Partition,
        depth: u32,
        limits: Limits,
    ) -> Result<(), RunError> {
        self.phases.begin_level(level.vertices(), arcs.sum);
        // From single vertices nearly all move in the first round.
        let mut keeps_active = depth == 0 && partition.is_singletons();
        for _ in 0..limits.rounds {
            let start = Instant::now();
            let draw = self.draw(MOVES);
            let counts = match arcs.fit_64 {
                true => self.move_round::<L, i64>(level, partition, keeps_active, draw),
                false => self.move_round::<L, i128>(level, partition, keeps_active, draw),
            }?;
            keeps_active = false;
            self.scanned += counts.scanned;
            let round = Round {
                changed: counts.changed,
                visited: counts.visited,
                scanned: counts.scanned,
                seconds: start.elapsed().as_secs_f64(),
                ..Round::default()
            };
            self.observer.on_round(self.rounds.len(), &round);
            let vertices = level.vertices();
            self.rounds.push(RefineRound {
                iteration: self.iteration,
                level: depth,
                vertices,
                round,
            });
            if counts.changed * u64::from(limits.settled) <= u64::from(vertices) {
                break;
            }
        }
        Ok(())
    }

    fn move_round<L: Level, T: Gain>(
        &mut self,
        level: &L,
        partition: &Partition,
        keeps_active: bool,
        draw: Draw,
    ) -> Result<Counts, RunError> {
        let (factors, team) = (self.factors.in_type::<T>(), &self.team);
        let observer = &*self.observer;
        let round = MoveRound { level, partition, team, observer, keeps_active };
        Moves { round, factors }.perform(&mut self.phases, draw)
    }

    /// Subdivides the communities and contracts the parts; `None` if no two vertices are in one part,
    /// or if the contracted graph has no room.
    fn contract<L: Level>(
        &mut self,
        level: &L,
        arcs: Arcs,
        communities: &Partition,
    ) -> Result<Option<(Contraction, LevelGraph<'a>)>, RunError> {
        let draw = self.draw(PARTS);
        let counts = match arcs.fit_64 {
            true => self.subdivide::<L, i64>(level, communities, draw),
            false => self.subdivide::<L, i128>(level, communities, draw),
        }?;
        self.scanned += counts.scanned;
        if counts.changed == 0 {
            return Ok(None);
        }
        let Cycles { arrays, ref parts, ref team, ref observer, .. } = *self;
        let contraction = Contraction::new(team.crew, level.vertices(), parts).map_err(refused)?;
        if contraction.founders.len() > self.room as usize {
            return Ok(None);
        }
        self.scanned += arcs.sum;
        let below = arrays.len();
        let Some(graph) = contraction.graph(arrays, level, parts, team, &**observer)? else {
            arrays.truncate(below);
            return Ok(None);
        };
        self.room -= graph.vertices();
        Ok(Some((contraction, graph)))
    }

    fn subdivide<L: Level, T: Gain>(
        &mut self,
        level: &L,
        communities: &Partition,
        draw: Draw,
    ) -> Result<Counts, RunError> {
        let parts = &self.parts;
        parts.separate(self.team.crew, level.masses());
        let (factors, team) = (self.factors.in_type::<T>(), &self.team);
        let observer = &*self.observer;
        Subdivision { level, communities, parts, factors, team, observer }
            .round(&mut self.phases, draw)
    }

    /// Gives each vertex the community of its part, and activates what may move.
    fn lower<L: Level>(
        &mut self,
        level: &L,
        partition: &Partition,
        contraction: &Contraction,
        begin: &[VertexId],
        coarse: &Partition,
    ) -> Result<(), OutOfMemory> {
        let Contraction { vertex_of, founders } = contraction;
        let (crew, count) = (self.team.crew, founders.len());
        // The same names as before the cycle, so that vertices have moved only if their name has
        // changed.
        let names = named_by_smallest(crew, count, count, |vertex| coarse.label(vertex))?;
        crew.ranges(vertex_of.len(), READ_PER_TASK, |range| {
            for v in range {
                let label = founders[names[vertex_of[v] as usize] as usize];
                partition.labels[v].store(label, Relaxed);
                partition.totals[v].store(0, Relaxed);
            }
        });
        crew.ranges(count, READ_PER_TASK, |range| {
            for vertex in range.filter(|&vertex| names[vertex] as usize == vertex) {
                let total = coarse.total(coarse.label(vertex as VertexId));
                partition.totals[founders[vertex] as usize].store(total, Relaxed);
            }
        });
        self.scanned += crew.sum(vertex_of.len(), READ_PER_TASK / 16, |range| {
            let has_moved = |v: &usize| {
                let part = vertex_of[*v] as usize;
                names[part] != begin[part]
            };
            let moved = range.filter(has_moved).map(|v| v as VertexId);
            moved.map(|v| activate_at_border(level, partition, v)).sum()
        });
        Ok(())
    }

    /// Returns the phases of the next round.
    fn draw(&mut self, stream: u32) -> Draw {
        let key = Clock::new(self.seed, self.step).key(stream);
        self.step += 1;
        Draw { key, phases: PHASES }
    }
}

/// Activates a moved vertex and its neighbours in other communities, if there are any; returns the
/// arcs read.
fn activate_at_border<L: Level>(level: &L, partition: &Partition, v: VertexId) -> u64 {
    let (own, mut is_border) = (partition.label(v), false);
    for (u, _) in level.arcs(v) {
        if partition.label(u) != own {
            is_border = true;
            partition.activate(u);
        }
    }
    if is_border {
        partition.activate(v);
    }
    u64::from(level.degree(v))
}

/// Figures of a level's arcs.
#[derive(Clone, Copy)]
struct Arcs {
    sum: u64,
    fit_64: bool,
}

fn refused(OutOfMemory { bytes }: OutOfMemory) -> RunError {
    RunError::OutOfMemory { bytes }
}
