//! A program without a purpose that reads everything that a view offers, in every hook that takes
//! it.

use ripplet_lp::hooks::label_program;

#[label_program]
pub mod program {
    use ripplet_lp::hooks::*;

    pub struct Everything {
        pub shift: u32,
        pub scale: i32,
        pub mask: u64,
        pub offset: i64,
        pub pull: f32,
        pub modest: bool,
    }

    #[columns]
    struct Columns {
        #[default(3)]
        taste: u32,
        #[default(0.5)]
        warmth: f32,
        #[len(shift)]
        #[default(1)]
        seen: [u32],
        #[len(shift)]
        #[default(0.25)]
        trace: [f32],
        #[len(shift)]
        #[default(7)]
        fixed: [u32],
    }

    impl Program for Everything {
        type Score = f32;

        fn activation(&self) -> Activation {
            if self.modest { Activation::Change } else { Activation::Always }
        }

        fn label_total(&self) -> LabelTotal {
            match self.shift {
                0..=2 => LabelTotal::None,
                3 => LabelTotal::Members,
                _ => LabelTotal::Volume,
            }
        }

        fn pick_label(&self, v: Vertex) -> Label {
            let dice = v.random(self.shift + v.round()) % 16;
            if dice == 0 {
                NO_LABEL
            } else if dice == 1 && v.degree() > 2 {
                v.seen(v.taste() % 3)
            } else {
                v.label
            }
        }

        fn load_neighbor(&self, v: Vertex, u: Neighbor) -> Vote {
            if mood(v, u) < 0.0 {
                return Vote::NONE;
            }
            let weight = 1
                + u.weight.min(1000) / 7
                + u.taste() % 5
                + v.taste() % 3
                + (u.degree() ^ v.degree()) % 4
                + u.random(v.id) % 2
                + u.round() % 3
                + u.fixed(1)
                + u.fixed(4_000_000_000);
            let weight = weight.wrapping_add(v.seen(v.label % 8));
            Vote::new(u.label, weight & 0xffff)
        }

        fn label_score(&self, v: Vertex, c: Candidate) -> f32 {
            if c.frequency % 11 == 3 {
                return f32::NAN;
            }
            let share = c.frequency as f32 / (1.0 + c.total_votes as f32);
            let size = log2(2.0 + c.total() as f32 / (1.0 + c.grand_total as f32));
            let own = if c.label == v.label { self.pull } else { v.warmth() };
            share * 8.0 + own - size + (c.label & 3) as f32 * 0.125
        }

        fn carry(&self, v: Vertex, u: Neighbor) -> f32 {
            if u.id % 13 == 5 {
                return f32::NAN;
            }
            mood(v, u) - u.trace(2) * 0.5
        }

        fn update_vertex(&self, v: &mut VertexMut, label: Label, score: f32) -> Label {
            let before = v.warmth();
            v.set_warmth((before + score.min(4.0)) * 0.5 + v.carried());
            v.set_taste(v.taste().wrapping_mul(3) ^ v.frequency() as u32 ^ v.total_votes() as u32);
            for i in 0..=self.shift {
                // The last index is out of range.
                v.set_seen(i, v.seen(i).rotate_left(3) ^ label);
                v.set_trace(i, v.trace(i) * 0.75 + v.warmth());
                if i > 5 && v.trace(i) > 2.0 {
                    break;
                }
            }
            let far = (v.id as i64 - self.offset).abs_diff(self.scale as i64) & self.mask;
            if far % 29 == 0 {
                NO_LABEL
            } else if far % 31 == 0 {
                v.fixed(0) + v.round()
            } else {
                label
            }
        }
    }

    fn mood(v: Vertex, u: Neighbor) -> f32 {
        let mut mood = u.warmth() - v.warmth() * 0.25;
        for i in 0..3 {
            mood += u.trace(i) * 0.125 + near(u.seen(i), v.fixed(i));
        }
        mood
    }

    fn near(a: u32, b: u32) -> f32 {
        let far = a.abs_diff(b) % 8;
        1.0 / (1.0 + far as f32)
    }
}
