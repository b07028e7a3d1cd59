//! What the macro keeps and adds, against an equivalent program written without it.

use super::attenuated::program::HopAttenuated;
use ripplet_graph::{EdgeTable, Graph, GraphBuilder, VertexIds};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::hooks::*;
use ripplet_lp::{ColumnValues, Executor, Outcome, Settings};

/// [`HopAttenuated`] written by hand: columns by slot and index.
struct ByHand(HopAttenuated);

impl Program for ByHand {
    type Score = u64;

    fn name(&self) -> &str {
        "by_hand"
    }

    fn load_neighbor(&self, _v: Vertex<'_>, u: Neighbor<'_>) -> Vote {
        match u.column_u32(2, 0) {
            0 => Vote { label: NO_LABEL, weight: 0 },
            _ => {
                let weight = (65536.0 * u.column_f32(0, 0)) as u32 * u.weight.min(16);
                Vote { label: u.label, weight }
            }
        }
    }

    fn label_score(&self, v: Vertex<'_>, c: Candidate<'_>) -> u64 {
        if c.label == v.label { 2 * c.frequency } else { c.frequency }
    }

    fn carry(&self, _v: Vertex<'_>, u: Neighbor<'_>) -> f32 {
        u.column_f32(0, 0)
    }

    fn update_vertex(&self, v: &mut VertexMut<'_>, label: Label, _score: u64) -> Label {
        if label != v.label {
            v.set_column_f32(0, 0, (v.carried() - self.0.attenuation).max(0.0));
            let free = (0..self.0.memory).find(|&i| v.column_u32(1, i) == 0);
            let own = v.label + 1;
            free.into_iter().for_each(|i| v.set_column_u32(1, i, own));
        }
        label
    }

    fn columns(&self) -> Vec<ColumnSpec> {
        vec![
            ColumnSpec {
                name: "strength".into(),
                kind: ColumnKind::F32,
                len: 1,
                default: Some(Scalar::F32(1.0)),
                written: true,
            },
            ColumnSpec {
                name: "heard".into(),
                kind: ColumnKind::U32,
                len: self.0.memory,
                default: Some(Scalar::U32(0)),
                written: true,
            },
            ColumnSpec {
                name: "trust".into(),
                kind: ColumnKind::U32,
                len: 1,
                default: None,
                written: false,
            },
        ]
    }
}

impl Hints for ByHand {
    fn carries(&self) -> bool {
        true
    }
}

const VERTICES: u32 = 60;

/// Returns a ring with chords.
fn graph() -> Graph {
    let ids = VertexIds::Consecutive { first: 0, count: VERTICES };
    let sources = (0..VERTICES).chain(0..VERTICES).collect();
    let ring = (0..VERTICES).map(|v| (v + 1) % VERTICES);
    let targets = ring.chain((0..VERTICES).map(|v| (v * 7 + 3) % VERTICES)).collect();
    GraphBuilder::new().build(EdgeTable::new(ids, sources, targets).unwrap()).unwrap()
}

fn run(program: &impl Hints) -> Outcome {
    let mut settings = Settings::default();
    let trust = (0..VERTICES).map(|v| u32::from(v % 5 != 0)).collect();
    settings.columns.insert("trust".into(), ColumnValues::U32(trust));
    CpuExecutor::new(None).unwrap().run(&graph(), program, &settings, &mut ()).unwrap()
}

#[test]
fn the_module_computes_what_its_text_says() {
    let program = HopAttenuated { attenuation: 0.125, memory: 3, members: false };
    let (found, expected) = (run(&program), run(&ByHand(program)));
    assert_eq!(found.labels, expected.labels);
    assert_eq!(found.columns, expected.columns);
    assert!(found.rounds.len() > 2, "more than a round was compared");
}

#[test]
fn what_follows_from_the_text_is_added() {
    let program = HopAttenuated { attenuation: 0.5, memory: 3, members: true };
    assert_eq!(program.name(), "hop_attenuated");
    assert!(program.carries());
    assert_eq!(program.label_total(), LabelTotal::Members);
    let parameters = [Scalar::F32(0.5), Scalar::U32(3), Scalar::Bool(true)];
    assert_eq!(program.parameters(), parameters);
    assert!(program.has_columns());
    assert_eq!(program.columns(), ByHand(program).columns());
    assert_eq!(HopAttenuated::plain(2).parameters()[0], Scalar::F32(0.0));
}

#[test]
fn a_file_of_the_same_text_is_the_same_program() {
    let text = include_str!("attenuated.rs");
    let module = ripplet_hooks::read_program("attenuated.rs", text).unwrap();
    let source = HopAttenuated::plain(1).device_source().unwrap();
    assert_eq!(source.text, ripplet_hooks::cpp::emit(&module));
}
