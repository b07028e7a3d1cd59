use ripplet_lp::hooks::label_program;

#[label_program]
mod program {
    use ripplet_lp::hooks::*;

    pub struct Mine {
        pub decay: f32,
    }

    impl Program for Mine {
        type Score = u64;

        fn label_score(&self, v: Vertex, c: Candidate) -> u64 {
            let half = 0.5;
            c.frequency >> (half as u32)
        }
    }
}

fn main() {}
