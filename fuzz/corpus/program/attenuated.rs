use ripplet::lp::hooks::*;

/// Labels lose strength with every hop.
pub struct Attenuated {
    pub attenuation: f32,
    pub memory: u32,
}

#[columns]
struct Columns {
    #[default(1.0)]
    strength: f32,
    #[len(memory)]
    #[default(0)]
    heard: [u32],
}

impl Program for Attenuated {
    type Score = u64;

    fn activation(&self) -> Activation {
        Activation::Change
    }

    fn load_neighbor(&self, _v: Vertex, u: Neighbor) -> Vote {
        Vote { label: u.label, weight: pull(u) }
    }

    fn label_score(&self, _v: Vertex, c: Candidate) -> u64 {
        c.frequency
    }

    fn carry(&self, _v: Vertex, u: Neighbor) -> f32 {
        u.strength()
    }

    fn update_vertex(&self, v: &mut VertexMut, label: Label, _score: u64) -> Label {
        v.set_strength(v.carried() - self.attenuation);
        let mut i = 0;
        while i < self.memory && v.heard(i) != label {
            i += 1;
        }
        v.set_heard(i, label);
        label
    }
}

fn pull(u: Neighbor) -> u32 {
    (65536.0 * u.strength()) as u32
}
