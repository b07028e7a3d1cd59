//! `lpa` of ripplet-lp, as a program file.

use ripplet_lp::hooks::label_program;

#[label_program]
pub mod program {
    use ripplet_lp::hooks::*;

    /// Label propagation with a guard against giant communities; the guard is in steps of 2^-16.
    pub struct Lpa {
        pub guard: u32,
    }

    impl Program for Lpa {
        type Score = u64;

        fn activation(&self) -> Activation {
            Activation::Disagreement
        }

        fn label_total(&self) -> LabelTotal {
            if self.guard == 0 { LabelTotal::None } else { LabelTotal::Volume }
        }

        fn falls_with_total(&self) -> bool {
            true
        }

        fn label_score(&self, v: Vertex, c: Candidate) -> u64 {
            if c.label == v.label || exceeds_chance(self.guard, c) { c.frequency } else { 0 }
        }

        fn score_bound(&self, frequency: u64) -> u64 {
            frequency
        }
    }

    fn exceeds_chance(guard: u32, c: Candidate) -> bool {
        let expected = c.total() as u64 * guard as u64;
        products_ge(c.frequency, c.grand_total << 16, c.total_votes, expected)
    }
}
