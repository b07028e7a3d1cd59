//! The phased order, and the assignment of vertices to the phases of a round.
//!
//! Vertices form blocks of consecutive ids. In every phase, one *unit* of each block is scheduled:
//! eight vertices that are close to one another but not adjacent in id order. The phases cycle
//! through the units of a block, from a unit that is drawn per block and round. The stride within a
//! unit is drawn anew each round, too.
//!
//! ```text
//! units of 4 instead of 8, 4 phases, stride 2: block 0 starts at unit 3, block 1 at unit 1
//!
//!           block 0: 0 1 2 3 4 5 6 7 8 9 a b c d e f    block 1: 0 1 2 3 4 5 6 7 8 9 a b c d e f
//! phase 0                             .   .   .   .                .   .   .   .
//! phase 1            .   .   .   .                                               .   .   .   .
//! ```
//!
//! The lists of a unit share pages and cache lines, which saves a quarter of a round's time.
//! Vertices with adjacent ids are in different units: in id order they see one another's changes
//! within a round, as in a sequential sweep, which speeds up convergence if ids are local. Vertices
//! 2, 4 or 6 apart are in one unit for some strides only, so that pairs that swap labels settle.
//! Vertices 8 apart are in one unit for each of the strides. From round 20 on, every fourth round
//! therefore has stride 1.

use super::{Parameter, Schedule, UpdateOrder, Visibility};
use crate::hash::{Clock, Stream, mix, part_of};

/// The phases of a round of [`Schedule::phased`](crate::Schedule::phased). Labels depend on it, so
/// that it is equal on every device.
///
/// More phases need fewer scans and more barriers; see the ADR on the default schedule.
pub const DEFAULT_PHASES: u32 = 32;

/// Vertices of a block that are scheduled together.
const UNIT: u64 = 8;
/// The number of strides that are drawn from: 2, 4 and 8.
const STRIDES: u32 = 3;
/// The vertices of a unit, as bits from its first one on, by the binary logarithm of the stride.
const PATTERNS: [u64; 4] = [0xff, 0x5555, 0x1111_1111, 0x0101_0101_0101_0101];
/// The first round whose stride is 1. Few runs take this many rounds, and runs that settle do not
/// need it.
const FIRST_PARTING: u32 = 20;
/// The period, from then on, of rounds with stride 1.
const PARTING_EVERY: u32 = 4;

/// Phased order: a round updates the vertices in phases, which are drawn for each round.
///
/// A vertex reads the labels of the phases before; changes within a phase are not visible.
/// Deterministic.
///
/// Each block of `8 · phases` consecutive vertices has `phases` units of eight. With `s` the
/// round's stride, unit `t` has the vertices `8 s ⌊t / s⌋ + t mod s + s k`, k from 0 to 7. In each
/// phase one unit of each block is scheduled, in ascending cyclic order from unit
/// `hash(block, seed, round) · phases >> 32`.
///
/// The stride is `2 << (hash(2³² − 1, seed, round) · 3 >> 32)`, or the largest power of two that
/// divides `phases` if that is less. In round 20 and every fourth round after it, it is 1, so that
/// no two vertices share a unit in all rounds if `phases` is a multiple of 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhasedOrder {
    /// Phases per round, at least 1.
    pub phases: u32,
}

impl UpdateOrder for PhasedOrder {
    fn name(&self) -> &'static str {
        "phased"
    }

    fn summary(&self) -> &'static str {
        "In phases drawn anew each round"
    }

    fn description(&self) -> String {
        format!("in {} phases a round", self.phases)
    }

    fn visibility(&self) -> Visibility {
        Visibility::EarlierPhases
    }

    fn phases(&self) -> u32 {
        self.phases
    }

    fn parameter(&self) -> Option<Parameter> {
        Some(Parameter::Phases(self.phases))
    }
}

/// The assignment of vertices to the phases of a round.
#[derive(Clone, Copy)]
pub(crate) struct UnitSchedule {
    key: u32,
    phases: u64,
    /// The binary logarithm of the stride.
    stride_log: u32,
}

impl UnitSchedule {
    /// The number of vertices of a unit.
    pub const UNIT: u64 = UNIT;

    pub fn new(clock: Clock, schedule: Schedule) -> UnitSchedule {
        let phases = schedule.phases();
        let key = clock.key(Stream::Phase as u32);
        // A stride that divides the phases leaves no gap at the end of a block. `u32::MAX` is not
        // the number of a block.
        let drawn = part_of(mix(u32::MAX ^ key), STRIDES);
        let round = clock.round();
        let stride_log = match round >= FIRST_PARTING && round.is_multiple_of(PARTING_EVERY) {
            true => 0,
            false => (1 + drawn).min(phases.trailing_zeros()),
        };
        UnitSchedule { key, phases: u64::from(phases), stride_log }
    }

    /// Returns the number of blocks of a graph.
    pub fn blocks(vertices: u64, phases: u32) -> u64 {
        vertices.div_ceil(UNIT * u64::from(phases.max(1)))
    }

    /// Returns the number of vertices of a block.
    pub fn block_size(self) -> u64 {
        UNIT * self.phases
    }

    /// Returns the first vertex of a block that is scheduled in a phase, and a pattern: bit `k` is 1
    /// if the vertex behind it by `k` is scheduled, too. Some may exceed the last vertex.
    #[inline]
    pub fn unit(self, block: u32, phase: u32) -> (u64, u64) {
        let start = part_of(mix(block ^ self.key), self.phases as u32);
        let unit = u64::from(start) + u64::from(phase);
        let unit = if unit < self.phases { unit } else { unit - self.phases };
        let (group, offset) = (unit >> self.stride_log, unit & ((1 << self.stride_log) - 1));
        let first =
            u64::from(block) * self.block_size() + ((group * UNIT) << self.stride_log) + offset;
        (first, PATTERNS[self.stride_log as usize])
    }
}

/// Returns the largest number of vertices of a phase.
pub(crate) fn largest_phase(vertices: u64, phases: u32) -> u64 {
    vertices.min(UnitSchedule::blocks(vertices, phases) * UNIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vertex_is_scheduled_once_a_round() {
        for (vertices, phases) in [(0, 1), (1, 32), (100, 1), (1000, 7), (1000, 32), (50, 1000)] {
            for round in 0..9 {
                let schedule = UnitSchedule::new(Clock::new(9, round), Schedule::phased_in(phases));
                let blocks = 0..u64::div_ceil(vertices, schedule.block_size()) as u32;
                let unit = |(first, pattern): (u64, u64)| {
                    (0..64).filter(move |bit| pattern >> bit & 1 == 1).map(move |bit| first + bit)
                };
                let in_phase =
                    |phase| blocks.clone().flat_map(move |block| unit(schedule.unit(block, phase)));
                let mut seen = Vec::new();
                for phase in 0..phases {
                    let before = seen.len();
                    seen.extend(in_phase(phase).filter(|&v| v < vertices));
                    assert!((seen.len() - before) as u64 <= largest_phase(vertices, phases));
                }
                seen.sort_unstable();
                assert_eq!(seen, (0..vertices).collect::<Vec<_>>());
            }
        }
    }
}
