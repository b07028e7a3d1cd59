//! Direct calls of hooks in the middle of a run, with lists cut short where that is allowed.

use crate::programs::{compiled, everything};
use ripplet_generate::Planted;
use ripplet_graph::{Graph, GraphBuilder};
use ripplet_jit::CompiledProgram;
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::{
    Candidate, ColumnSpec, Executor, Hints, Label, LabelTotal, Neighbor, NeighborList, Program,
    Scalar, Settings, Stop, Total, Vertex, VertexMut, Vote,
};

/// A program that makes every call of the engine, and more, on both programs and compares the
/// results.
struct Both<N, J>(N, J);

/// A value beyond the votes of a list, which must not be overwritten.
const CANARY: Vote = Vote { label: 0xdead, weight: 0xbeef };

impl<N: Hints<Score = f32>, J: Hints<Score = f32>> Both<N, J> {
    /// Loads the votes of a list by both programs into arrays longer than `room`, and compares.
    fn check(&self, v: Vertex<'_>, list: NeighborList<'_>, room: usize) {
        let Both(native, jit) = self;
        let mut expected = vec![CANARY; list.ids.len() + 2];
        let mut found = expected.clone();
        native.load_neighbors(v, list, &mut expected[..room]);
        jit.load_neighbors(v, list, &mut found[..room]);
        assert_eq!(found, expected);
        for (label, &said) in (0..4).chain(list.ids.iter().copied()).zip(&expected) {
            for label in [label, said.label] {
                let votes = &expected[..room];
                let [jit, native] = [
                    jit.carry_most(v, list, votes, label),
                    native.carry_most(v, list, votes, label),
                ];
                assert_eq!(jit.map(f32::to_bits), native.map(f32::to_bits));
            }
        }
    }
}

impl<N: Hints<Score = f32>, J: Hints<Score = f32>> Program for Both<N, J> {
    type Score = f32;

    fn name(&self) -> &str {
        "both"
    }

    fn label_total(&self) -> LabelTotal {
        self.0.label_total()
    }

    fn pick_label(&self, v: Vertex<'_>) -> Label {
        assert_eq!(self.0.pick_label(v), self.1.pick_label(v));
        self.0.pick_label(v)
    }

    fn load_neighbor(&self, v: Vertex<'_>, u: Neighbor<'_>) -> Vote {
        assert_eq!(self.0.load_neighbor(v, u), self.1.load_neighbor(v, u));
        assert_eq!(self.0.carry(v, u).to_bits(), self.1.carry(v, u).to_bits());
        self.0.load_neighbor(v, u)
    }

    fn label_score(&self, v: Vertex<'_>, c: Candidate<'_>) -> f32 {
        let totals = [Total::AtMost(7), Total::AtMost(u32::MAX), Total::Kept(&[]), c.total];
        for total in totals {
            let c = Candidate { total, ..c };
            let [native, jit] = [self.0.label_score(v, c), self.1.label_score(v, c)];
            assert!(native.to_bits() == jit.to_bits() || native.is_nan() && jit.is_nan());
        }
        self.0.label_score(v, c)
    }

    fn carry(&self, v: Vertex<'_>, u: Neighbor<'_>) -> f32 {
        self.0.carry(v, u)
    }

    fn update_vertex(&self, v: &mut VertexMut<'_>, label: Label, score: f32) -> Label {
        let before = v.draft().to_vec();
        let expected = (self.0.update_vertex(v, label, score), v.draft().to_vec());
        v.draft().copy_from_slice(&before);
        let found = (self.1.update_vertex(v, label, score), v.draft().to_vec());
        assert_eq!(found, expected);
        found.0
    }

    fn columns(&self) -> Vec<ColumnSpec> {
        self.1.columns()
    }
}

impl<N: Hints<Score = f32>, J: Hints<Score = f32>> Hints for Both<N, J> {
    fn load_neighbors(&self, v: Vertex<'_>, list: NeighborList<'_>, votes: &mut [Vote]) {
        let len = list.ids.len();
        self.check(v, list, len);
        self.check(v, list, len / 2);
        self.check(v, NeighborList { ids: &list.ids[len / 3..], weights: None, ..list }, len / 2);
        // Missing labels read as no label.
        self.check(v, NeighborList { labels: &list.labels[..list.labels.len() / 2], ..list }, len);
        self.check(v, NeighborList { weights: list.weights.map(|w| &w[..len / 2]), ..list }, len);
        list.load_each(self, v, votes);
    }

    fn carries(&self) -> bool {
        true
    }
}

fn graph() -> Graph {
    GraphBuilder::new().build(Planted::new(300, 2000, 0.4).generate().unwrap().edges).unwrap()
}

#[test]
fn compiled_hooks_keep_to_what_they_are_given() {
    let (shift, scale, mask, offset, pull, modest) = (4, -3, 0xffff, 17, 0.25, false);
    let file = compiled(
        include_str!("../programs/everything.rs"),
        &[
            ("shift", Scalar::U32(shift)),
            ("scale", Scalar::I32(scale)),
            ("mask", Scalar::U64(mask)),
            ("offset", Scalar::I64(offset)),
            ("pull", Scalar::F32(pull)),
            ("modest", Scalar::Bool(modest)),
        ],
    );
    let CompiledProgram::F32(jit) = file else { panic!("its scores are f32") };
    let native = everything::program::Everything { shift, scale, mask, offset, pull, modest };
    let settings = Settings { stop: Stop::after(6), ..Settings::default() };
    let executor = CpuExecutor::new(Some(2)).unwrap();
    executor.run(&graph(), &Both(native, jit), &settings, &mut ()).unwrap();
}
