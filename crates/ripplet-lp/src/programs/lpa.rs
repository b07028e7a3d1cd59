//! Label propagation with a guard against giants: the default program.
//!
//! A label's score is its frequency (the summed weight of the votes for it), as in Raghavan et al.
//! But a label may only be taken while it is used more than chance would have it:
//!
//! ```text
//! frequency · grand_total ≥ resolution · cast · total
//! ```
//!
//! with `cast` the vertex's weighted degree and `total` the summed degrees of the label's members.
//! That is modularity's null model as a veto: where communities are small it changes nothing, and
//! where plain label propagation collapses into one giant it does not let it. The vertex's own
//! label is always allowed. Resolution 0 is plain label propagation.
//!
//! Directed graphs: in- and out-neighbours vote alike, a reciprocal neighbour twice.
//!
//! Reference: Raghavan, Albert, Kumara, *Near linear time algorithm to detect community structures
//! in large-scale networks*, Physical Review E 76, 2007. The guard is ours; see the ADR on the
//! default schedule.

pub use program::Lpa;

use crate::hooks::label_program;
use thiserror::Error;

/// How much more than chance a label must be used by a vertex's neighbours, in steps of 2⁻¹⁶.
///
/// 0 switches the guard off; 1, the default, is modularity's own; higher cuts communities smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolution(u32);

/// The fixed point of [`Resolution`].
const STEPS: f64 = 65536.0;

/// A resolution outside of 0 to 65,535.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("a resolution is a number from 0 (plain label propagation) to 65535, not {0}")]
pub struct BadResolution(pub f64);

impl Resolution {
    /// No guard: plain label propagation.
    pub const OFF: Resolution = Resolution(0);

    /// A resolution, rounded to a multiple of 2⁻¹⁶.
    ///
    /// # Errors
    /// Where it is not a number from 0 to 65,535.
    pub fn new(resolution: f64) -> Result<Resolution, BadResolution> {
        let steps = (resolution * STEPS).round();
        let fits = (0.0..=65535.0 * STEPS).contains(&steps);
        fits.then_some(Resolution(steps as u32)).ok_or(BadResolution(resolution))
    }

    /// The resolution as a number.
    pub fn value(self) -> f64 {
        f64::from(self.0) / STEPS
    }
}

impl Default for Resolution {
    fn default() -> Self {
        Resolution(STEPS as u32)
    }
}

impl Default for Lpa {
    fn default() -> Self {
        Lpa::new(Resolution::default())
    }
}

impl Lpa {
    /// Label propagation with this resolution.
    pub fn new(resolution: Resolution) -> Lpa {
        Lpa { resolution: resolution.0 }
    }
}

#[label_program]
mod program {
    use crate::hooks::*;

    /// Label propagation, weighted where the graph is.
    #[derive(Clone, Copy, Debug)]
    pub struct Lpa {
        /// The resolution in steps of 2⁻¹⁶.
        pub(super) resolution: u32,
    }

    impl Program for Lpa {
        type Score = u64;

        fn name(&self) -> &str {
            "lpa"
        }

        fn wake(&self) -> Wake {
            Wake::Disagreement
        }

        fn label_total(&self) -> LabelTotal {
            if self.resolution == 0 { LabelTotal::None } else { LabelTotal::Volume }
        }

        fn falls_with_total(&self) -> bool {
            true
        }

        fn follows_frequency(&self) -> bool {
            true
        }

        fn label_score(&self, v: Vertex<'_>, candidate: Candidate<'_>) -> u64 {
            let allowed = candidate.label == v.label || exceeds_chance(self.resolution, candidate);
            if allowed { candidate.frequency } else { 0 }
        }

        fn score_bound(&self, frequency: u64) -> u64 {
            frequency
        }
    }

    /// Whether the votes for a label exceed what its size alone would bring.
    pub(super) fn exceeds_chance(resolution: u32, c: Candidate<'_>) -> bool {
        // Totals and the resolution have 32 bits, the sum of all totals 33: no factor overflows.
        let expected = u64::from(c.total()) * u64::from(resolution);
        products_ge(c.frequency, c.grand_total << 16, c.cast, expected)
    }
}

#[cfg(test)]
mod tests {
    use super::program::exceeds_chance;
    use super::*;
    use crate::hooks::{Candidate, Program};
    use crate::views::Total;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn resolutions() {
        assert_eq!(Resolution::default().value(), 1.0);
        assert_eq!(Resolution::new(0.75).unwrap().value(), 0.75);
        assert_eq!(Resolution::new(0.0).unwrap(), Resolution::OFF);
        for bad in [-1.0, 65536.0, f64::NAN, f64::INFINITY] {
            assert!(Resolution::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_program_without_columns_says_so() {
        assert!(!Lpa::default().has_columns() && Lpa::default().columns().is_empty());
    }

    #[test]
    fn the_guard_compares_exactly_at_the_extremes() {
        let resolution = Resolution::default().0;
        let exceeds = |frequency, cast, total, grand_total| {
            let totals = [AtomicU32::new(total)];
            let total = Total::Kept(&totals);
            let candidate = Candidate { label: 0, frequency, cast, grand_total, total };
            exceeds_chance(resolution, candidate)
        };
        assert!(exceeds(1, 4, 5, 20));
        assert!(!exceeds(1, 4, 6, 20));
        let (most, all) = (1 << 62, u64::from(u32::MAX));
        assert!(exceeds(most, most, u32::MAX, all));
        assert!(!exceeds(most - 1, most, u32::MAX, all));
    }
}
