use ripplet_lp::hooks::label_program;

#[label_program]
mod program {
    use ripplet_lp::hooks::*;

    pub struct Mine {
        pub name: String,
    }

    #[columns]
    struct Columns {
        age: u64,
        heard: [u32],
        #[default(-1)]
        votes: u32,
        degree: u32,
        #[colour(red)]
        hue: f32,
    }

    impl Program for Mine {
        type Score = u32;

        fn label_score(&self, _v: Vertex, c: Candidate) -> u32 {
            c.label
        }
    }
}

fn main() {}
