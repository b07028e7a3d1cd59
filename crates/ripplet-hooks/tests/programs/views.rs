// Every hook, and everything that a view offers.
use super::hooks::*;

pub struct Views {
    pub bias: f32,
    pub memory: u32,
    pub offset: i64,
    pub strict: bool,
}

#[columns]
struct Columns {
    #[default(1.0)]
    strength: f32,
    #[len(memory)]
    #[default(0)]
    heard: [u32],
    #[default(NO_LABEL)]
    home: u32,
}

const SHARE: u64 = 3;

impl Program for Views {
    type Score = f32;

    fn pick_label(&self, v: Vertex) -> Label {
        if v.random(7) & 3 == 0 { NO_LABEL } else { v.label ^ v.home() }
    }

    fn load_neighbor(&self, v: Vertex, u: Neighbor) -> Vote {
        let near = v.id.abs_diff(u.id) < u.degree().min(v.degree()) + u.round();
        let mut weight = u.weight.saturating_mul(u.heard(1)) ^ u.random(v.round());
        let vote = if near && !self.strict {
            Vote::new(u.label, weight)
        } else {
            if u.strength() < 0.5 {
                return Vote { weight: { weight += 1; weight }, label: u.label + weight };
            }
            Vote::NONE
        };
        Vote { label: vote.label, weight: vote.weight | 1 }
    }

    fn label_score(&self, v: Vertex, c: Candidate) -> f32 {
        let expected = c.total_votes as f32 / c.grand_total as f32;
        let own = if c.label == v.label { self.bias } else { 0.0 };
        ln(c.frequency as f32 + 1.0) - expected * c.total() as f32 + own + exp2(-v.strength())
    }

    fn score_bound(&self, frequency: u64) -> f32 {
        powf(frequency as f32, 0.75) + self.offset as f32
    }

    fn carry(&self, _v: Vertex, u: Neighbor) -> f32 {
        u.strength() - self.bias
    }

    fn update_vertex(&self, v: &mut VertexMut, label: Label, score: f32) -> Label {
        let before = v.strength();
        v.set_strength(v.carried() * 0.5);
        // A column that was set reads as it was set.
        v.set_strength(v.strength() + before + score);
        let free = first_free(v, self.memory);
        v.set_heard(free, label);
        v.set_heard(self.memory, 77);
        v.set_home((v.frequency() / SHARE) as u32 + (v.total_votes() % 100) as u32 + v.heard(free));
        let met = remember(v, label) + remember(v, v.label);
        if met > 1 { label + v.degree() } else { v.label + v.round() + v.random(1) % 5 + v.id }
    }
}

fn first_free(v: &mut VertexMut, memory: u32) -> u32 {
    for i in 0..memory {
        if v.heard(i) == 0 {
            return i;
        }
    }
    0
}

fn remember(v: &mut VertexMut, label: Label) -> u32 {
    let mut met = 0;
    for i in 0..=2 {
        if v.heard(i) == label {
            met += 1;
        } else if i == 1 {
            v.set_heard(i, v.heard(i) + 1);
            continue;
        }
    }
    met
}
