//! Label propagation from seeds as a program file: columns of both types, and `carry`.

use ripplet_lp::hooks::label_program;

#[label_program]
pub mod program {
    use ripplet_lp::hooks::*;

    /// Labels lose a share of their strength with every hop.
    pub struct Seeded {
        pub attenuation: f32,
        pub unit: u32,
    }

    #[columns]
    struct Columns {
        #[default(0)]
        fixed: u32,
        #[default(1.0)]
        strength: f32,
    }

    impl Program for Seeded {
        type Score = u64;

        fn load_neighbor(&self, _v: Vertex, u: Neighbor) -> Vote {
            let strength = (u.strength() * 65536.0) as u64;
            let loudest = u.weight as u64 * self.unit as u64;
            let weight = (loudest * strength.min(65536) + 65535) >> 16;
            Vote { label: u.label, weight: weight as u32 }
        }

        fn label_score(&self, _v: Vertex, c: Candidate) -> u64 {
            c.frequency
        }

        fn score_bound(&self, frequency: u64) -> u64 {
            frequency
        }

        fn carry(&self, _v: Vertex, u: Neighbor) -> f32 {
            u.strength()
        }

        fn update_vertex(&self, v: &mut VertexMut, label: Label, _score: u64) -> Label {
            if v.fixed() != 0 {
                return v.label;
            }
            v.set_strength(v.carried() * self.attenuation);
            label
        }
    }
}
