//! Label propagation with a guard against giant communities: the default program.
//!
//! The score of a label is its frequency (the summed weight of the votes for it), as in Raghavan et
//! al. But a vertex adopts a label only if it is more frequent among the votes than expected by
//! chance:
//!
//! ```text
//! frequency · grand_total ≥ guard · total_votes · total
//! ```
//!
//! where `total_votes` is the sum of the vertex's votes (its weighted degree), and `total` the summed degrees
//! of the label's members. This is modularity's null model as a constraint: it has no effect on
//! small communities, and it prevents the collapse into one giant community that plain label
//! propagation may end in. The vertex's own label is always allowed. A guard of 0 is plain label
//! propagation.
//!
//! Directed graphs: in- and out-neighbours vote equally, a reciprocal neighbour twice.
//!
//! Reference: Raghavan, Albert, Kumara, *Near linear time algorithm to detect community structures
//! in large-scale networks*, Physical Review E 76, 2007. The guard is new here; see the ADR on the
//! default schedule.

pub use program::Lpa;

use crate::hooks::label_program;
use crate::stop::DEFAULT_ROUNDS;
use crate::{Schedule, Stop};
use thiserror::Error;

/// The guard: how much more frequent than by chance a label must be, in steps of 2⁻¹⁶.
///
/// 0 disables it; 1, the default, is modularity's null model. A larger guard limits giants and
/// eventually makes all communities smaller. A smaller guard never makes communities larger than
/// plain label propagation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard(u32);

/// The fixed-point scale of [`Guard`].
const STEPS: f64 = 65536.0;

/// The guard is not from 0 to 65,535.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("a guard is a number from 0 (plain label propagation) to 65535, not {0}")]
pub struct BadGuard(pub f64);

impl Guard {
    /// No guard: plain label propagation.
    pub const OFF: Guard = Guard(0);

    /// Returns a guard, rounded to a multiple of 2⁻¹⁶.
    ///
    /// # Errors
    /// If it is not a number from 0 to 65,535.
    pub fn new(guard: f64) -> Result<Guard, BadGuard> {
        let steps = (guard * STEPS).round();
        let fits = (0.0..=65535.0 * STEPS).contains(&steps);
        fits.then_some(Guard(steps as u32)).ok_or(BadGuard(guard))
    }

    /// Returns the guard as a number.
    pub fn value(self) -> f64 {
        f64::from(self.0) / STEPS
    }
}

impl Default for Guard {
    fn default() -> Self {
        Guard(STEPS as u32)
    }
}

impl Default for Lpa {
    fn default() -> Self {
        Lpa::new(Guard::default())
    }
}

impl Lpa {
    /// Creates label propagation with this guard.
    pub fn new(guard: Guard) -> Lpa {
        Lpa { guard: guard.0 }
    }

    /// The share of vertices that may change in the last round of [`Lpa::stop`].
    ///
    /// Vertices that change later mostly go back and forth, and merging gains more.
    pub const TOLERANCE: f64 = 0.03;

    /// The phases of a round of [`Lpa::schedule`].
    ///
    /// Fewer phases have fewer barriers, and find communities as good; they read a few more arcs.
    pub const PHASES: u32 = 8;

    /// Returns the schedule that suits it if communities merge at the end.
    pub const fn schedule() -> Schedule {
        Schedule::phased_in(Lpa::PHASES)
    }

    /// Returns the stop rules that suit it if communities merge at the end
    /// ([`Settings::merge`](crate::Settings::merge)).
    pub fn stop() -> Stop {
        Stop::after(DEFAULT_ROUNDS).at_tolerance(Lpa::TOLERANCE).at_oscillation()
    }
}

#[label_program]
mod program {
    use crate::hooks::*;

    /// Label propagation with a guard, weighted if the graph is.
    #[derive(Clone, Copy, Debug)]
    pub struct Lpa {
        /// The guard in steps of 2⁻¹⁶.
        pub(super) guard: u32,
    }

    impl Program for Lpa {
        type Score = u64;

        fn name(&self) -> &str {
            "lpa"
        }

        fn activation(&self) -> Activation {
            Activation::Disagreement
        }

        fn label_total(&self) -> LabelTotal {
            if self.guard == 0 { LabelTotal::None } else { LabelTotal::Volume }
        }

        fn falls_with_total(&self) -> bool {
            true
        }

        fn follows_frequency(&self) -> bool {
            true
        }

        fn label_score(&self, v: Vertex<'_>, candidate: Candidate<'_>) -> u64 {
            let allowed = candidate.label == v.label || exceeds_chance(self.guard, candidate);
            if allowed { candidate.frequency } else { 0 }
        }

        fn score_bound(&self, frequency: u64) -> u64 {
            frequency
        }
    }

    /// Returns whether the votes for a label exceed those expected from its size.
    pub(super) fn exceeds_chance(guard: u32, c: Candidate<'_>) -> bool {
        // Totals and the guard have 32 bits, the sum of all totals 33: no factor overflows.
        let expected = u64::from(c.total()) * u64::from(guard);
        products_ge(c.frequency, c.grand_total << 16, c.total_votes, expected)
    }
}

#[cfg(test)]
mod tests {
    use super::program::exceeds_chance;
    use super::*;
    use crate::hooks::{Candidate, Hints, Program};
    use crate::views::Total;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn guards() {
        assert_eq!(Guard::default().value(), 1.0);
        assert_eq!(Guard::new(0.75).unwrap().value(), 0.75);
        assert_eq!(Guard::new(0.0).unwrap(), Guard::OFF);
        for bad in [-1.0, 65536.0, f64::NAN, f64::INFINITY] {
            assert!(Guard::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_program_without_columns_says_so() {
        assert!(!Lpa::default().has_columns() && Lpa::default().columns().is_empty());
    }

    #[test]
    fn the_guard_compares_exactly_at_the_extremes() {
        let guard = Guard::default().0;
        let exceeds = |frequency, total_votes, total, grand_total| {
            let totals = [AtomicU32::new(total)];
            let total = Total::Kept(&totals);
            let candidate = Candidate { label: 0, frequency, total_votes, grand_total, total };
            exceeds_chance(guard, candidate)
        };
        assert!(exceeds(1, 4, 5, 20));
        assert!(!exceeds(1, 4, 6, 20));
        let (most, all) = (1 << 62, u64::from(u32::MAX));
        assert!(exceeds(most, most, u32::MAX, all));
        assert!(!exceeds(most - 1, most, u32::MAX, all));
    }
}
