//! A program that uses every feature of programs.

use ripplet_lp::hooks::label_program;

#[label_program]
pub mod program {
    use ripplet_lp::hooks::*;

    /// Labels lose strength with every hop; a vertex remembers the labels that it has had.
    #[derive(Clone, Debug)]
    pub struct HopAttenuated {
        /// The loss of strength per hop.
        pub attenuation: f32,
        /// The number of labels in a vertex's memory.
        pub memory: u32,
        pub members: bool,
    }

    #[columns]
    struct Columns {
        /// The strength of a vertex's label.
        #[default(1.0)]
        strength: f32,
        /// The labels that the vertex has had, plus one.
        #[len(memory)]
        #[default(0)]
        heard: [u32],
        /// The user supplies this column.
        trust: u32,
    }

    /// Steps per unit in the fixed-point form of strengths.
    const STEPS: f32 = 65536.0;

    impl Program for HopAttenuated {
        type Score = u64;

        fn label_total(&self) -> LabelTotal {
            if self.members { LabelTotal::Members } else { LabelTotal::None }
        }

        fn load_neighbor(&self, _v: Vertex, u: Neighbor<'_>) -> Vote {
            if u.trust() == 0 {
                return Vote::NONE;
            }
            Vote { label: u.label, weight: pull(u) }
        }

        fn label_score(&self, v: Vertex, c: Candidate) -> Self::Score {
            self.favour_own(v, c, 2)
        }

        fn carry(&self, _v: Vertex, u: Neighbor) -> f32 {
            u.strength()
        }

        fn update_vertex(&self, v: &mut VertexMut, label: Label, score: u64) -> Label {
            if label == v.label {
                return label;
            }
            let left = v.carried() - self.attenuation;
            v.set_strength(if score == 0 { 0.0 } else { left.max(0.0) });
            remember(v, self.memory);
            label
        }
    }

    impl HopAttenuated {
        /// Returns the program without attenuation.
        pub fn plain(memory: u32) -> Self {
            HopAttenuated { attenuation: 0.0, memory, ..HopAttenuated::new() }
        }

        fn new() -> Self {
            HopAttenuated { attenuation: 0.125, memory: 2, members: false }
        }

        fn favour_own(&self, v: Vertex, c: Candidate, times: u64) -> u64 {
            c.frequency * if c.label == v.label { times } else { 1 }
        }
    }

    fn pull(u: Neighbor) -> u32 {
        (STEPS * u.strength()) as u32 * u.weight.min(16)
    }

    fn remember(v: &mut VertexMut, memory: u32) {
        for i in 0..memory {
            if v.heard(i) == 0 {
                v.set_heard(i, v.label + 1);
                break;
            }
        }
    }
}
