//! Layered label propagation: a label's score falls with the number of its members that are not
//! neighbours.
//!
//! The score of a label is k − γ (v − k), where k is the number of neighbours with the label, and v
//! the number of vertices of the graph with it: each member that is not a neighbour costs γ. γ = 0
//! is plain label propagation; the higher γ, the smaller and denser the communities. A [`sweep`]
//! over γ = 1, 1/2, 1/4, … yields communities at many resolutions, and [`layered_order`] computes
//! from them the order that the algorithm was designed for.
//!
//! γ is a multiple of 2⁻¹⁶, and scores are `i64`s in these steps: exact in any graph with γ up to
//! 32,768; beyond, they saturate. A vertex adopts the best label among those of its neighbours,
//! however low its score: its own label is a candidate only if a neighbour has it.
//!
//! Weights are ignored: k counts neighbours, as v counts vertices. Directed graphs: in- and
//! out-neighbours count equally, a reciprocal neighbour twice.
//!
//! Reference: Boldi, Rosa, Santini, Vigna, *Layered label propagation: a multiresolution
//! coordinate-free ordering for compressing social networks*, WWW 2011.
//!
//! [`layered_order`]: crate::programs::layered_order

pub use program::Llp;

use crate::hooks::label_program;
use thiserror::Error;

/// γ: the cost of a label's member that is not a neighbour, in steps of 2⁻¹⁶ of a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gamma(u32);

/// The fixed-point scale of [`Gamma`].
const STEPS: f64 = 65536.0;

/// The γ is not from 0 to 65,535.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("gamma is a number from 0 (plain label propagation) to 65535, not {0}")]
pub struct BadGamma(pub f64);

impl Gamma {
    /// γ = 0: plain label propagation.
    pub const ZERO: Gamma = Gamma(0);

    /// γ = 1: a member that is not a neighbour costs as much as a neighbour gains.
    pub const ONE: Gamma = Gamma(1 << 16);

    /// Returns a γ, rounded to a multiple of 2⁻¹⁶.
    ///
    /// # Errors
    /// If it is not a number from 0 to 65,535.
    pub fn new(gamma: f64) -> Result<Gamma, BadGamma> {
        let steps = (gamma * STEPS).round();
        let fits = (0.0..=65535.0 * STEPS).contains(&steps);
        fits.then_some(Gamma(steps as u32)).ok_or(BadGamma(gamma))
    }

    /// Returns γ as a number.
    pub fn value(self) -> f64 {
        f64::from(self.0) / STEPS
    }

    /// Returns 1, 1/2, … 2^−`halvings` and, last, 0: from the finest communities to the coarsest,
    /// as in the paper. `halvings` is limited to 16, as 2⁻¹⁷ is less than a step.
    pub fn halved(halvings: u32) -> Vec<Gamma> {
        let halved = (0..=halvings.min(16)).map(|i| Gamma((1 << 16) >> i));
        halved.chain([Gamma::ZERO]).collect()
    }
}

impl Llp {
    /// Creates layered label propagation at this γ.
    pub fn new(gamma: Gamma) -> Llp {
        Llp { gamma: gamma.0 }
    }
}

#[label_program]
mod program {
    use crate::hooks::*;

    /// Layered label propagation at one γ.
    #[derive(Clone, Copy, Debug)]
    pub struct Llp {
        /// γ in steps of 2⁻¹⁶.
        pub(super) gamma: u32,
    }

    impl Program for Llp {
        type Score = i64;

        fn name(&self) -> &str {
            "llp"
        }

        fn activation(&self) -> Activation {
            Activation::Change
        }

        fn label_total(&self) -> LabelTotal {
            LabelTotal::Members
        }

        fn falls_with_total(&self) -> bool {
            true
        }

        fn votes_for_own_label(&self) -> bool {
            true
        }

        fn load_neighbor(&self, _v: Vertex<'_>, u: Neighbor<'_>) -> Vote {
            Vote { label: u.label, weight: 1 }
        }

        fn label_score(&self, _v: Vertex<'_>, c: Candidate<'_>) -> i64 {
            score(c.frequency as i64, c.total() as i64, self.gamma)
        }

        /// Each neighbour votes at most twice, so that a label of k votes has at least k / 2
        /// members.
        fn score_bound(&self, frequency: u64) -> i64 {
            let k = frequency as i64;
            score(k, k - k / 2, self.gamma)
        }
    }

    /// Returns k − γ (v − k), in steps of 2⁻¹⁶.
    pub(super) fn score(k: i64, v: i64, gamma: u32) -> i64 {
        let others = v.saturating_sub(k).saturating_mul(gamma as i64);
        k.saturating_mul(65536).saturating_sub(others)
    }
}

#[cfg(test)]
mod tests {
    use super::program::score;
    use super::*;
    use crate::Hints;

    #[test]
    fn gammas() {
        assert_eq!(Gamma::new(0.5).unwrap().value(), 0.5);
        assert_eq!(Gamma::new(0.0).unwrap(), Gamma::ZERO);
        for bad in [-1.0, 65536.0, f64::NAN, f64::INFINITY] {
            assert!(Gamma::new(bad).is_err(), "{bad}");
        }
        let values: Vec<f64> = Gamma::halved(2).into_iter().map(Gamma::value).collect();
        assert_eq!(values, [1.0, 0.5, 0.25, 0.0]);
        assert_eq!(Gamma::halved(u32::MAX).len(), 18);
    }

    #[test]
    fn scores_are_the_papers_and_saturate() {
        assert_eq!(score(3, 10, 1 << 15), (3 << 16) - (7 << 15));
        assert_eq!(score(2, 1, 1 << 16), 3 << 16);
        assert_eq!(score(0, i64::from(u32::MAX), u32::MAX), -i64::MAX);
        assert_eq!(score(1 << 33, 0, u32::MAX), i64::MAX);
    }

    #[test]
    fn no_score_exceeds_its_bound() {
        for gamma in [0, 1, 77, 1 << 16, u32::MAX] {
            let llp = Llp { gamma };
            for k in (0..50).chain([(1 << 33) - 2]) {
                let fewest = (k as i64 + 1) / 2;
                for v in [fewest, fewest + 1, 2 * fewest + 5] {
                    assert!(score(k as i64, v, gamma) <= llp.score_bound(k));
                }
                assert!(k == 0 || llp.score_bound(k) >= llp.score_bound(k - 1));
            }
        }
    }
}
