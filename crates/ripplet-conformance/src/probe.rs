//! A program that uses everything that hooks offer; `oracle.rs` restates its meaning.

pub use program::Probe;

use ripplet_lp::hooks::label_program;

#[label_program]
mod program {
    use ripplet_lp::hooks::*;

    pub struct Probe {
        /// 0: disagreement, 1: change, 2: always.
        pub activation: u32,
        /// 0: nothing, 1: members, 2: volume.
        pub total: u32,
    }

    #[columns]
    struct Columns {
        #[len(3)]
        #[default(7)]
        tint: [u32],
        pull: f32,
        #[default(1.0)]
        gain: f32,
    }

    impl Program for Probe {
        type Score = f32;

        fn activation(&self) -> Activation {
            match self.activation {
                0 => Activation::Disagreement,
                1 => Activation::Change,
                _ => Activation::Always,
            }
        }

        fn label_total(&self) -> LabelTotal {
            match self.total {
                0 => LabelTotal::None,
                1 => LabelTotal::Members,
                _ => LabelTotal::Volume,
            }
        }

        /// Other votes are for a number that is not a vertex.
        fn votes_for_own_label(&self) -> bool {
            true
        }

        fn pick_label(&self, v: Vertex<'_>) -> Label {
            match v.random(1) % 8 {
                0 => NO_LABEL,
                _ => v.label,
            }
        }

        fn load_neighbor(&self, v: Vertex<'_>, u: Neighbor<'_>) -> Vote {
            let label = if u.id % 16 == 3 { u32::MAX - 7 } else { u.label };
            match u.random(2) % 5 {
                0 => Vote { label, weight: 0 },
                // Index 3 is out of range and reads 0.
                _ => Vote { label, weight: u.weight % 1000 + u.tint(v.id % 4) % 8 },
            }
        }

        fn label_score(&self, v: Vertex<'_>, c: Candidate<'_>) -> f32 {
            if c.label % 11 == 5 {
                return f32::NAN;
            }
            let gained = c.frequency as f32 * v.pull();
            gained - c.total() as f32 * 0.5 + c.total_votes as f32 / (c.grand_total as f32 + 1.0)
        }

        fn carry(&self, _v: Vertex<'_>, u: Neighbor<'_>) -> f32 {
            match u.id % 4 {
                0 => f32::NAN,
                2 => -u.gain(),
                _ => u.gain(),
            }
        }

        fn update_vertex(&self, v: &mut VertexMut<'_>, label: Label, score: f32) -> Label {
            v.set_gain(v.carried() * 0.5 + 1.0);
            let tint = v.tint(0).wrapping_add(v.frequency() as u32);
            // Index 3 is out of range; setting it has no effect.
            v.set_tint(v.round() % 4, tint);
            v.set_tint(1, score.to_bits() % 16);
            match label % 13 {
                7 => NO_LABEL,
                8 => u32::MAX - 9,
                _ => label,
            }
        }
    }
}
