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
            let mut n = c.frequency;
            while n != v.degree() as u64 {
                n *= 3;
            }
            while n < c.total_votes {
                if v.degree() > 3 {
                    n += 1;
                }
            }
            n
        }
    }
}

fn main() {}
