#[label_program]
mod wary {
    use ripplet::lp::hooks::*;

    pub struct Wary {
        pub popular: u32,
    }

    #[columns]
    struct Columns {
        chargebacks: u32,
    }

    impl Program for Wary {
        type Score = u64;

        fn load_neighbor(&self, _v: Vertex, u: Neighbor) -> Vote {
            let trust = if u.degree() > self.popular { 1 } else { 16 };
            let known = u.chargebacks().min(100);
            Vote::new(u.label, trust * (1 + known))
        }

        fn label_score(&self, _v: Vertex, c: Candidate) -> u64 {
            c.frequency
        }
    }
}
