//! `cdlp` of ripplet-lp, as a program file.

use ripplet_lp::hooks::label_program;

#[label_program]
pub mod program {
    use ripplet_lp::hooks::*;

    /// Each neighbour has one vote, and the most frequent label wins.
    pub struct Cdlp;

    impl Program for Cdlp {
        type Score = u64;

        fn activation(&self) -> Activation {
            Activation::Disagreement
        }

        fn schedule(&self) -> Schedule {
            Schedule::cdlp()
        }

        fn load_neighbor(&self, _v: Vertex, u: Neighbor) -> Vote {
            Vote { label: u.label, weight: 1 }
        }

        fn label_score(&self, _v: Vertex, c: Candidate) -> u64 {
            c.frequency
        }

        fn score_bound(&self, frequency: u64) -> u64 {
            frequency
        }
    }
}
