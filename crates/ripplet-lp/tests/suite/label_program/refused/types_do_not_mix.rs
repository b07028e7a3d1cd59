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
            c.frequency + v.degree()
        }
    }
}

fn main() {}
