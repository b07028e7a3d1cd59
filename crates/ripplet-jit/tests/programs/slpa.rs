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
        cumulative: [u32],
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
            let last: u32 = self.memory.wrapping_sub(1);
            if v.cumulative(last) == 0 && v.label != NO_LABEL {
                v.set_heard(0, v.label);
                for i in 0..self.memory {
                    v.set_cumulative(i, 1);
                }
            }
            // Find the label's place: the one that holds it, else the first empty one, else the
            // last one, which has the smallest count.
            let mut place: u32 = last;
            let mut before: u32 = 0;
            for i in 0..self.memory {
                let sum: u32 = v.cumulative(i);
                if sum == before || v.heard(i) == label || i == last {
                    place = i;
                    break;
                }
                before = sum;
            }
            // With one more, it belongs before all labels of the same count: it changes places with
            // the first of them.
            let count: u32 = v.cumulative(place).wrapping_sub(before);
            let mut first: u32 = place;
            before = 0;
            for i in 0..place {
                let sum: u32 = v.cumulative(i);
                if sum.wrapping_sub(before) == count {
                    first = i;
                    break;
                }
                before = sum;
            }
            v.set_heard(place, v.heard(first));
            v.set_heard(first, label);
            for i in first..self.memory {
                v.set_cumulative(i, v.cumulative(i).wrapping_add(1));
            }
            v.heard(0)
        }
    }

    /// Returns a label from the memory of a neighbour, drawn in proportion to its number of
    /// occurrences.
    fn spoken(u: Neighbor, memory: u32, random: u32) -> Label {
        let all: u32 = u.cumulative(memory.wrapping_sub(1));
        let drawn: u32 = ((random as u64 * all as u64) >> 32) as u32;
        for i in 0..memory {
            if drawn < u.cumulative(i) {
                return u.heard(i);
            }
        }
        u.label
    }
}
