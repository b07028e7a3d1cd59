//! Community detection of LDBC Graphalytics (CDLP): the most frequent label wins, without a guard.
//!
//! The result is LDBC's with [`Schedule::cdlp`](crate::Schedule::cdlp) and a fixed number of
//! rounds: synchronous, the smallest label wins a tie, a vertex without neighbours keeps its label.
//! On a directed graph in- and out-neighbours are counted separately: a reciprocal neighbour votes
//! twice.
//!
//! Reference: *The LDBC Graphalytics Benchmark*, version 1.0.1, section 2.3.4.

pub use program::Cdlp;

use crate::Stop;
use crate::hooks::label_program;

/// The customary number of rounds in LDBC Graphalytics.
const ROUNDS: u32 = 10;

impl Cdlp {
    /// Returns the stop rule: after 10 rounds, as is customary in LDBC Graphalytics.
    pub fn stop() -> Stop {
        Stop::after(ROUNDS)
    }
}

#[label_program]
mod program {
    use crate::hooks::*;

    /// LDBC's CDLP: each neighbour has one vote, and the most frequent label wins.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Cdlp;

    impl Program for Cdlp {
        type Score = u64;

        fn name(&self) -> &str {
            "cdlp"
        }

        fn activation(&self) -> Activation {
            Activation::Disagreement
        }

        fn schedule(&self) -> Schedule {
            Schedule::cdlp()
        }

        fn load_neighbor(&self, _v: Vertex<'_>, u: Neighbor<'_>) -> Vote {
            Vote { label: u.label, weight: 1 }
        }

        fn label_score(&self, _v: Vertex<'_>, candidate: Candidate<'_>) -> u64 {
            candidate.frequency
        }

        fn score_bound(&self, frequency: u64) -> u64 {
            frequency
        }
    }
}
