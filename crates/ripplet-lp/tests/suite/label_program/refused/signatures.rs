use ripplet_lp::hooks::label_program;

#[label_program]
mod program {
    use ripplet_lp::hooks::*;

    pub struct Mine;

    impl Program for Mine {
        type Score = f32;

        fn load_neighbor(&self, u: Neighbor) -> Vote {
            Vote { label: u.label, weight: 1 }
        }

        fn label_score(&self, _v: Vertex, c: Candidate) -> u64 {
            c.frequency
        }

        fn parameters(&self) -> Vec<Scalar> {
            Vec::new()
        }

        fn colour(&self) -> u32 {
            3
        }
    }
}

fn main() {}
