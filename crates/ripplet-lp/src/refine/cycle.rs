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
use super::level::{Level, LevelGraph, ListPool};
use super::moves::{MoveRound, Moves, Partition};
use super::phases::{Counts, Draw, Phases, READ_PER_TASK, Tallies};
use super::score::{Factors, Gain};
use super::subdivide::Subdivision;
use crate::hash::Clock;
use crate::{Round, RoundObserver, RunError};
use rayon::prelude::*;
use ripplet_graph::VertexId;
use ripplet_graph::memory::{self, OutOfMemory};
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
    pub tallies: Tallies,
    /// The phases of the current round, of any level.
    pub phases: Phases,
    /// The parts of the current subdivision, of any level.
    pub parts: Partition,
    /// Arrays for the arcs of contracted graphs.
    pub pool: ListPool,
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
    fn before_contraction(depth: u32) -> Limits {
        Limits { rounds: if depth == 0 { 4 } else { 3 }, settled: 100 }
    }

    fn after_contraction(depth: u32) -> Limits {
        match depth {
            0 => Limits { rounds: 2, settled: 200 },
            _ => Limits { rounds: 1, settled: 100 },
        }
    }
}

impl Cycles<'_> {
    /// Performs a cycle on a level, `depth` levels above the input.
    pub fn cycle<L: Level>(
        &mut self,
        level: &L,
        partition: &Partition,
        depth: u32,
    ) -> Result<(), RunError> {
        let arcs = self.arcs(level);
        let limits = Limits::before_contraction(depth);
        self.moves(level, arcs, partition, depth, limits)?;
        if partition.is_singletons() {
            return Ok(());
        }
        let Some(contraction) = self.contract(level, arcs, partition)? else { return Ok(()) };
        let begin = contraction.lifted(partition).map_err(refused)?;
        let masses = &contraction.graph.masses;
        let own = memory::copied(&begin).map_err(refused)?;
        let coarse = Partition::new(own, masses).map_err(refused)?;
        self.cycle::<LevelGraph>(&contraction.graph, &coarse, depth + 1)?;
        self.lower(level, partition, &contraction, &begin, &coarse).map_err(refused)?;
        self.room += contraction.graph.vertices();
        self.pool.give_back(contraction.graph.lists);
        drop((begin, coarse));
        let limits = Limits::after_contraction(depth);
        self.moves(level, arcs, partition, depth, limits)
    }

    /// Returns the arcs of a level, and whether its gains fit 64 bits.
    fn arcs<L: Level>(&self, level: &L) -> Arcs {
        let vertices = (0..level.vertices()).into_par_iter().with_min_len(READ_PER_TASK);
        let sum = vertices.map(|v| u64::from(level.degree(v))).sum();
        let (largest, total) = level
            .masses()
            .par_iter()
            .with_min_len(READ_PER_TASK)
            .map(|&mass| (mass, mass))
            .reduce(|| (0, 0), |a, b| (a.0.max(b.0), a.1 + b.1));
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
        let (factors, tallies) = (self.factors.in_type::<T>(), &self.tallies);
        let observer = &*self.observer;
        let round = MoveRound { level, partition, tallies, observer, keeps_active };
        Moves { round, factors }.perform(&mut self.phases, draw)
    }

    /// Subdivides the communities and contracts the parts; `None` if no two vertices are in one part,
    /// or if the contracted graph has no room.
    fn contract<L: Level>(
        &mut self,
        level: &L,
        arcs: Arcs,
        communities: &Partition,
    ) -> Result<Option<Contraction>, RunError> {
        let draw = self.draw(PARTS);
        let counts = match arcs.fit_64 {
            true => self.subdivide::<L, i64>(level, communities, draw),
            false => self.subdivide::<L, i128>(level, communities, draw),
        }?;
        self.scanned += counts.scanned;
        if counts.changed == 0 {
            return Ok(None);
        }
        let mut contraction =
            Contraction::numbered(&self.parts, level.vertices()).map_err(refused)?;
        let Cycles { pool, parts, tallies, observer, .. } = self;
        if contraction.founders.len() > self.room as usize
            || !contraction.sum_up(pool, level, parts, tallies, &**observer)?
        {
            return Ok(None);
        }
        self.room -= contraction.graph.vertices();
        self.scanned += arcs.sum;
        Ok(Some(contraction))
    }

    fn subdivide<L: Level, T: Gain>(
        &mut self,
        level: &L,
        communities: &Partition,
        draw: Draw,
    ) -> Result<Counts, RunError> {
        let parts = &self.parts;
        parts.separate(level.masses());
        let (factors, tallies) = (self.factors.in_type::<T>(), &self.tallies);
        let observer = &*self.observer;
        Subdivision { level, communities, parts, factors, tallies, observer }
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
        let Contraction { vertex_of, founders, .. } = contraction;
        let count = founders.len();
        // The same names as before the cycle, so that vertices have moved only if their name has
        // changed.
        let names = named_by_smallest(count, count, |vertex| coarse.label(vertex))?;
        let all = || vertex_of.par_iter().enumerate().with_min_len(READ_PER_TASK / 16);
        all().for_each(|(v, &part)| {
            let label = founders[names[part as usize] as usize];
            partition.labels[v].store(label, Relaxed);
            partition.totals[v].store(0, Relaxed);
        });
        names.par_iter().enumerate().with_min_len(READ_PER_TASK).for_each(|(vertex, &name)| {
            if name as usize == vertex {
                let total = coarse.total(coarse.label(name));
                partition.totals[founders[vertex] as usize].store(total, Relaxed);
            }
        });
        let scanned = all().map(|(v, &part)| {
            if names[part as usize] == begin[part as usize] {
                return 0;
            }
            let (v, own) = (v as VertexId, partition.label(v as VertexId));
            let mut is_border = false;
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
        });
        self.scanned += scanned.sum::<u64>();
        Ok(())
    }

    /// Returns the phases of the next round.
    fn draw(&mut self, stream: u32) -> Draw {
        let key = Clock::new(self.seed, self.step).key(stream);
        self.step += 1;
        Draw { key, phases: PHASES }
    }
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
