//! Layered label propagation as a program file: signed scores, and the number of members of each
//! label.

use ripplet_lp::hooks::label_program;

#[label_program]
pub mod program {
    use ripplet_lp::hooks::*;

    /// The score k - gamma (v - k), with gamma in steps of 2^-16.
    pub struct Llp {
        pub gamma: u32,
    }

    const ONE: i64 = 65536;

    impl Program for Llp {
        type Score = i64;

        fn activation(&self) -> Activation {
            Activation::Always
        }

        fn label_total(&self) -> LabelTotal {
            LabelTotal::Members
        }

        fn falls_with_total(&self) -> bool {
            true
        }

        fn load_neighbor(&self, _v: Vertex, u: Neighbor) -> Vote {
            Vote::new(u.label, 1)
        }

        fn label_score(&self, _v: Vertex, c: Candidate) -> i64 {
            let known = c.frequency as i64;
            let others = (c.total() as i64).saturating_sub(known);
            known.saturating_mul(ONE).saturating_sub(others.saturating_mul(self.gamma as i64))
        }
    }
}
