/// Label propagation with hop attenuation and node preference (Leung, Hui, Liò, Crowcroft, *Towards
/// real-time community detection in large networks*, Physical Review E 79, 2009).
///
/// A label loses strength with every hop from where it began, so that none spreads over the whole
/// graph; and a neighbour's vote counts by its degree to the power of `preference`.
///
/// The paper's votes are real numbers. Here they are whole, in steps of 1/4096, so that their sums
/// do not depend on an order.
#[label_program]
mod hop_attenuation {
    use ripplet::lp::hooks::*;

    pub struct HopAttenuation {
        /// What a hop costs, the paper's δ: 0.05 to 0.1.
        pub attenuation: f32,
        /// The power of the degree, the paper's m: 0.1; 0 is none.
        pub preference: f32,
    }

    #[columns]
    struct Columns {
        /// The strength of the vertex's label.
        #[default(1.0)]
        strength: f32,
    }

    impl Program for HopAttenuation {
        type Score = u64;

        fn load_neighbor(&self, _v: Vertex, u: Neighbor) -> Vote {
            let preference = powf(u.degree() as f32, self.preference);
            let vote = u.strength() * preference * u.weight as f32;
            Vote::new(u.label, (vote * 4096.0) as u32)
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
            // Keeping a label costs nothing. Otherwise strengths would fall although no label changes.
            let cost = if label == v.label { 0.0 } else { self.attenuation };
            v.set_strength((v.carried() - cost).max(0.0));
            label
        }
    }
}
