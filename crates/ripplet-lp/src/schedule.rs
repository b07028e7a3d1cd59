//! Which vertices update when, and how ties end.

use std::num::NonZeroU32;

/// Phases a round of [`Schedule::phased`] has; part of the result, so the same on every device.
///
/// More phases need fewer scans and more barriers; see the ADR on the default schedule.
pub const DEFAULT_PHASES: u32 = 32;

/// Which vertices update when, and how ties end.
///
/// All schedules look only at active vertices: those with a neighbour that changed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Which vertices update when.
    pub order: Order,
    /// Which of several best labels wins.
    pub ties: Ties,
}

/// Which vertices update when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// All at once: every vertex sees the labels of the round before. Deterministic. May swap
    /// labels for ever, for example between the sides of a bipartite graph.
    Sync,
    /// In phases that are drawn anew each round. Each block of `8 · phases` consecutive vertices
    /// has `phases` units of eight; with `s` the round's stride, unit `t` has the vertices
    /// `8 s ⌊t / s⌋ + t mod s + s k`, k from 0 to 7. One unit of each block is at its turn in each
    /// phase, beginning with the one at `hash(block, seed, round) · phases >> 32` and going on in
    /// order. The stride is `2 << (hash(2³² − 1, seed, round) · 3 >> 32)`, or the largest power of two
    /// that divides `phases` where that is less; in round 20 and every fourth round after it, it is 1, so
    /// that no two vertices share a unit in all rounds if `phases` is a multiple of 8. A vertex sees the
    /// labels of the phases before, and nobody within a phase sees anybody's change. Deterministic.
    Phased {
        /// Phases a round, at least 1.
        phases: u32,
    },
    /// Each vertex sees whatever is there: fastest to settle, and **different from run to run**
    /// on more than one thread.
    Async {
        /// In round 0 and every so many rounds after it a vertex may not take a label larger than
        /// its own; one that would stays as it is, columns and all, and is looked at again in the
        /// next round. Such *pick-less* rounds part neighbours that swap labels. A
        /// run does not end by what one of them changed, or did not. (Sahu, *ν-LPA*, 2024.)
        pick_less: Option<NonZeroU32>,
    },
}

/// Which of several labels of the best score wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// The smallest `hash(label, v, seed, round)`: no label has a standing advantage.
    Hashed,
    /// The smallest label, as LDBC wants it.
    Smallest,
}

impl Schedule {
    /// [`Order::Sync`] with hashed ties.
    pub const fn sync() -> Schedule {
        Schedule { order: Order::Sync, ties: Ties::Hashed }
    }

    /// [`Order::Phased`] with [`DEFAULT_PHASES`] and hashed ties: the default.
    pub const fn phased() -> Schedule {
        Schedule { order: Order::Phased { phases: DEFAULT_PHASES }, ties: Ties::Hashed }
    }

    /// [`Order::Async`] with hashed ties and no pick-less rounds.
    pub const fn asynchronous() -> Schedule {
        Schedule { order: Order::Async { pick_less: None }, ties: Ties::Hashed }
    }

    /// What LDBC's CDLP asks for: synchronous, the smallest label.
    pub const fn cdlp() -> Schedule {
        Schedule { order: Order::Sync, ties: Ties::Smallest }
    }

    /// Whether labels are the same bytes for any number of threads and any device.
    pub fn is_deterministic(self) -> bool {
        !matches!(self.order, Order::Async { .. })
    }

    /// Whether vertices may only take smaller labels in a round.
    pub fn is_pick_less(self, round: u32) -> bool {
        match self.order {
            Order::Async { pick_less: Some(every) } => round.is_multiple_of(every.get()),
            _ => false,
        }
    }

    /// The name, as the command line knows it.
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
