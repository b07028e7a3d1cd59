//! Speaker-listener label propagation as a program file: array columns, loops, random bits.

use ripplet_lp::hooks::label_program;

#[label_program]
pub mod program {
    use ripplet_lp::hooks::*;

    /// Each vertex has a memory of `memory` labels.
    pub struct Slpa {
        pub memory: u32,
    }

    #[columns]
    struct Columns {
        #[len(memory)]
        #[default(0)]
        heard: [u32],
        #[len(memory)]
        #[default(0)]
        times: [u32],
    }

    impl Program for Slpa {
        type Score = u64;

        fn activation(&self) -> Activation {
            Activation::Always
        }

        fn load_neighbor(&self, v: Vertex, u: Neighbor) -> Vote {
            Vote { label: spoken(u, self.memory, u.random(v.id)), weight: u.weight }
        }

        fn label_score(&self, _v: Vertex, c: Candidate) -> u64 {
            c.frequency
        }

        fn score_bound(&self, frequency: u64) -> u64 {
            frequency
        }

        fn update_vertex(&self, v: &mut VertexMut, label: Label, _score: u64) -> Label {
            if v.times(0) == 0 && v.label != NO_LABEL {
                v.set_heard(0, v.label);
                v.set_times(0, 1);
            }
            let mut place: u32 = 0;
            let mut least: u32 = u32::MAX;
            for i in 0..self.memory {
                if v.times(i) > 0 && v.heard(i) == label {
                    place = i;
                    break;
                }
                if v.times(i) < least {
                    place = i;
                    least = v.times(i);
                }
            }
            v.set_heard(place, label);
            v.set_times(place, v.times(place).wrapping_add(1));
            let mut best: u32 = 0;
            for i in 1..self.memory {
                if v.times(i) > v.times(best) {
                    best = i;
                }
            }
            v.heard(best)
        }
    }

    /// Returns a label from the memory of a neighbour, drawn in proportion to its number of
    /// occurrences.
    fn spoken(u: Neighbor, memory: u32, random: u32) -> Label {
        let mut sum: u32 = 0;
        for i in 0..memory {
            sum = sum.wrapping_add(u.times(i));
        }
        let mut drawn = ((random as u64 * sum as u64) >> 32) as u32;
        for i in 0..memory {
            // Read once: under `async`, the memory of u may change meanwhile.
            let times: u32 = u.times(i);
            if drawn < times {
                return u.heard(i);
            }
            drawn -= times;
        }
        u.label
    }
}
