//! A program that uses all that hooks offer; `oracle.rs` says what it does once more.

use ripplet_lp::hooks::*;

pub struct Probe {
    pub wake: Wake,
    pub total: LabelTotal,
}

/// Column numbers.
const TINT: usize = 0;
const PULL: usize = 1;
const GAIN: usize = 2;

impl Program for Probe {
    type Score = f32;

    fn name(&self) -> &str {
        "probe"
    }

    fn wake(&self) -> Wake {
        self.wake
    }

    fn label_total(&self) -> LabelTotal {
        self.total
    }

    fn pick_label(&self, v: Vertex<'_>) -> Label {
        if v.random(1).is_multiple_of(8) { NO_LABEL } else { v.label }
    }

    fn load_neighbor(&self, v: Vertex<'_>, u: Neighbor<'_>) -> Vote {
        if u.random(2).is_multiple_of(5) {
            return Vote { label: u.label, weight: 0 };
        }
        let label = if u.id % 16 == 3 { u32::MAX - 7 } else { u.label };
        Vote { label, weight: u.weight % 1000 + u.column_u32(TINT, v.id % 4) % 8 }
    }

    fn label_score(&self, v: Vertex<'_>, c: Candidate<'_>) -> f32 {
        if c.label % 11 == 5 {
            return f32::NAN;
        }
        let gained = c.frequency as f32 * v.column_f32(PULL, 0);
        gained - c.total() as f32 * 0.5 + c.cast as f32 / (c.grand_total as f32 + 1.0)
    }

    fn carries(&self) -> bool {
        true
    }

    fn carry(&self, _v: Vertex<'_>, u: Neighbor<'_>) -> f32 {
        match u.id % 4 {
            0 => f32::NAN,
            2 => -u.column_f32(GAIN, 0),
            _ => u.column_f32(GAIN, 0),
        }
    }

    fn update_vertex(&self, v: &mut VertexMut<'_>, label: Label, score: f32) -> Label {
        v.set_column_f32(GAIN, 0, v.carried() * 0.5 + 1.0);
        v.set_column_f32(PULL, 0, 99.0); // Not declared as written: ignored.
        let tint = v.column_u32(TINT, 0).wrapping_add(v.frequency() as u32);
        v.set_column_u32(TINT, v.round() % 4, tint); // Number 3 is not there: ignored.
        v.set_column_u32(TINT, 1, score.to_bits() % 16);
        match label % 13 {
            7 => NO_LABEL,
            8 => u32::MAX - 9,
            _ => label,
        }
    }

    fn columns(&self) -> Vec<ColumnSpec> {
        vec![
            ColumnSpec {
                name: "tint".into(),
                kind: ColumnKind::U32,
                len: 3,
                default: Some(Scalar::U32(7)),
                written: true,
            },
            ColumnSpec {
                name: "pull".into(),
                kind: ColumnKind::F32,
                len: 1,
                default: None,
                written: false,
            },
            ColumnSpec {
                name: "gain".into(),
                kind: ColumnKind::F32,
                len: 1,
                default: Some(Scalar::F32(1.0)),
                written: true,
            },
        ]
    }
}
