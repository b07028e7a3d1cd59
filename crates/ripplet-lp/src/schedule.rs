//! Schedules: the order of updates, and the rule for ties.

use std::num::NonZeroU32;

/// The phases of a round of [`Schedule::phased`]. Labels depend on it, so that it is equal on every
/// device.
///
/// More phases need fewer scans and more barriers; see the ADR on the default schedule.
pub const DEFAULT_PHASES: u32 = 32;

/// The order of updates, and the rule for ties.
///
/// All schedules update only active vertices: those with a neighbour that changed since their last
/// update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The order of updates.
    pub order: Order,
    /// The rule for ties.
    pub ties: Ties,
}

/// The order of updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Synchronous: every vertex reads the labels of the round before. Deterministic. Labels may
    /// oscillate forever, for example between the sides of a bipartite graph.
    Sync,
    /// Phased: a round updates the vertices in phases, which are drawn for each round. A vertex
    /// reads the labels of the phases before; changes within a phase are not visible.
    /// Deterministic.
    ///
    /// Each block of `8 · phases` consecutive vertices has `phases` units of eight. With `s` the
    /// round's stride, unit `t` has the vertices `8 s ⌊t / s⌋ + t mod s + s k`, k from 0 to 7. In
    /// each phase one unit of each block is scheduled, in ascending cyclic order from unit
    /// `hash(block, seed, round) · phases >> 32`.
    ///
    /// The stride is `2 << (hash(2³² − 1, seed, round) · 3 >> 32)`, or the largest power of two
    /// that divides `phases` if that is less. In round 20 and every fourth round after it, it is 1,
    /// so that no two vertices share a unit in all rounds if `phases` is a multiple of 8.
    Phased {
        /// Phases per round, at least 1.
        phases: u32,
    },
    /// Asynchronous: each vertex reads the current labels. It converges fastest, and the result
    /// **differs from run to run** on more than one thread.
    Async {
        /// The period of *pick-less* rounds, beginning with round 0. In such a round a vertex may
        /// not adopt a label larger than its own. A vertex that would stays as it is, including its
        /// columns, and is active in the next round. This separates neighbours that swap labels. No
        /// stop rule except the limit of rounds applies after such a round. (Sahu, *ν-LPA*, 2024.)
        pick_less: Option<NonZeroU32>,
    },
}

/// The rule for several labels with the best score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// The smallest `hash(label, v, seed, round)` wins: no label has a permanent advantage.
    Hashed,
    /// The smallest label wins, as in LDBC's CDLP.
    Smallest,
}

impl Schedule {
    /// Returns [`Order::Sync`] with hashed ties.
    pub const fn sync() -> Schedule {
        Schedule { order: Order::Sync, ties: Ties::Hashed }
    }

    /// Returns [`Order::Phased`] with [`DEFAULT_PHASES`] and hashed ties: the default.
    pub const fn phased() -> Schedule {
        Schedule { order: Order::Phased { phases: DEFAULT_PHASES }, ties: Ties::Hashed }
    }

    /// Returns [`Order::Async`] with hashed ties and no pick-less rounds.
    pub const fn asynchronous() -> Schedule {
        Schedule { order: Order::Async { pick_less: None }, ties: Ties::Hashed }
    }

    /// Returns the schedule of LDBC's CDLP: synchronous, the smallest label wins a tie.
    pub const fn cdlp() -> Schedule {
        Schedule { order: Order::Sync, ties: Ties::Smallest }
    }

    /// Returns whether labels are the same bytes for any number of threads and any device.
    pub fn is_deterministic(self) -> bool {
        !matches!(self.order, Order::Async { .. })
    }

    /// Returns whether vertices may adopt only smaller labels in a round.
    pub fn is_pick_less(self, round: u32) -> bool {
        match self.order {
            Order::Async { pick_less: Some(every) } => round.is_multiple_of(every.get()),
            _ => false,
        }
    }

    /// Returns the name as the command line reads it.
    pub fn name(self) -> &'static str {
        match self.order {
            Order::Sync => "sync",
            Order::Phased { .. } => "phased",
            Order::Async { .. } => "async",
        }
    }
}

impl Default for Schedule {
    fn default() -> Self {
        Schedule::phased()
    }
}
