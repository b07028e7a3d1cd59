//! Checked mode: it finds each broken promise, and none of the programs that come with ripplet.

use crate::graphs::{any_edges, cliques, shapes};
use proptest::prelude::*;
use ripplet_graph::{Graph, MAX_SHARD_ARCS, Observer};
use ripplet_lp::check::{BrokenPromise, CheckError, Evidence, Promise, ROUNDS, check_program};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::programs::{Cdlp, Gamma, Guard, Llp, Lpa, Seeded, Slpa};
use ripplet_lp::{
    Activation, Candidate, ColumnKind, ColumnSpec, DynProgram, Hints, Label, LabelTotal, Neighbor,
    NeighborList, Program, RunError, Scalar, Settings, SettingsError, Vertex, Vote,
};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// The number of vertices that are tested.
const SAMPLE: u32 = 200;

/// A program that makes one promise and breaks it.
struct Breaks {
    promise: Promise,
    calls: AtomicU32,
}

impl Breaks {
    fn is(&self, promise: Promise) -> bool {
        self.promise == promise
    }
}

impl Program for Breaks {
    type Score = u64;

    fn name(&self) -> &str {
        "breaks"
    }

    fn activation(&self) -> Activation {
        match self.promise {
            Promise::Disagreement => Activation::Disagreement,
            _ => Activation::Change,
        }
    }

    fn label_total(&self) -> LabelTotal {
        LabelTotal::Members
    }

    fn pick_label(&self, v: Vertex<'_>) -> Label {
        match self.is(Promise::Pure("pick_label")) {
            true => self.calls.fetch_add(1, Relaxed) % 7,
            false => v.label,
        }
    }

    fn load_neighbor(&self, _v: Vertex<'_>, u: Neighbor<'_>) -> Vote {
        match self.is(Promise::Pure("load_neighbor")) {
            true => Vote::new(u.label, self.calls.fetch_add(1, Relaxed)),
            false if self.is(Promise::VotesForOwnLabel) => Vote::new(u.label / 2, u.weight),
            false => Vote::new(u.label, u.weight),
        }
    }

    fn label_score(&self, _v: Vertex<'_>, c: Candidate<'_>) -> u64 {
        match self.promise {
            Promise::Pure("label_score") => u64::from(self.calls.fetch_add(1, Relaxed)),
            Promise::FallsWithTotal => c.frequency + u64::from(c.total()),
            Promise::FollowsFrequency | Promise::Disagreement => 1 + c.total_votes - c.frequency,
            _ => c.frequency,
        }
    }

    fn carry(&self, _v: Vertex<'_>, u: Neighbor<'_>) -> f32 {
        match self.is(Promise::Pure("carry")) {
            true => self.calls.fetch_add(1, Relaxed) as f32,
            false => u.id as f32,
        }
    }

    fn columns(&self) -> Vec<ColumnSpec> {
        let (kind, default) = (ColumnKind::U32, Some(Scalar::U32(0)));
        let column = ColumnSpec { name: "updates".into(), kind, len: 1, default, written: true };
        if self.is(Promise::HasColumns) { vec![column] } else { Vec::new() }
    }

    fn update_vertex(
        &self,
        _v: &mut ripplet_lp::VertexMut<'_>,
        label: Label,
        _score: u64,
    ) -> Label {
        match self.is(Promise::Pure("update_vertex")) {
            true => self.calls.fetch_add(1, Relaxed) % 7,
            false => label,
        }
    }
}

impl Hints for Breaks {
    fn falls_with_total(&self) -> bool {
        self.is(Promise::FallsWithTotal)
    }

    fn follows_frequency(&self) -> bool {
        self.is(Promise::FollowsFrequency)
    }

    fn votes_for_own_label(&self) -> bool {
        self.is(Promise::VotesForOwnLabel)
    }

    fn score_bound(&self, frequency: u64) -> u64 {
        if self.is(Promise::ScoreBound) { frequency / 2 } else { u64::MAX }
    }

    fn carries(&self) -> bool {
        !self.is(Promise::Carries)
    }

    fn has_columns(&self) -> bool {
        false
    }

    fn load_neighbors(&self, v: Vertex<'_>, list: NeighborList<'_>, votes: &mut [Vote]) {
        list.load_each(self, v, votes);
        if self.is(Promise::LoadNeighbors) {
            votes.iter_mut().for_each(|vote| vote.weight += 1);
        }
    }

    fn carry_most(
        &self,
        v: Vertex<'_>,
        list: NeighborList<'_>,
        votes: &[Vote],
        label: Label,
    ) -> Option<f32> {
        let most = list.carried(self, v, votes, label);
        if self.is(Promise::CarryMost) { most.map(|most| most + 1.0) } else { most }
    }
}

fn graph() -> Graph {
    cliques(4, 6).graph(MAX_SHARD_ARCS)
}

/// Returns the first broken promise that is found, on one thread: impure hooks count their calls.
fn found(program: &dyn DynProgram) -> BrokenPromise {
    let check = || check_program(&graph(), program, &Settings::default(), SAMPLE, &());
    match CpuExecutor::new(Some(1)).unwrap().install(check) {
        Err(CheckError::Broken(broken)) => broken,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_broken_promise_is_found() {
    for promise in [
        Promise::Pure("pick_label"),
        Promise::Pure("load_neighbor"),
        Promise::Pure("label_score"),
        Promise::Pure("carry"),
        Promise::Pure("update_vertex"),
        Promise::FallsWithTotal,
        Promise::FollowsFrequency,
        Promise::VotesForOwnLabel,
        Promise::ScoreBound,
        Promise::Disagreement,
        Promise::LoadNeighbors,
        Promise::CarryMost,
        Promise::Carries,
        Promise::HasColumns,
    ] {
        let broken = found(&Breaks { promise, calls: AtomicU32::new(0) });
        assert_eq!(broken.promise, promise);
        let (text, name) = (broken.to_string(), promise.name());
        let at = format!("`{name}` does not hold at vertex {} in round ", broken.vertex);
        assert!(text.starts_with(&at), "{text}");
        assert!(promise.meaning().split(' ').count() > 4);
    }
}

/// A program whose bound falls as the frequency rises.
struct Falling;

impl Program for Falling {
    type Score = f32;

    fn name(&self) -> &str {
        "falling"
    }

    fn label_score(&self, _v: Vertex<'_>, _c: Candidate<'_>) -> f32 {
        -1e9
    }
}

impl Hints for Falling {
    fn score_bound(&self, frequency: u64) -> f32 {
        -(frequency as f32)
    }
}

#[test]
fn a_falling_bound_is_found_with_its_numbers() {
    let broken = found(&Falling);
    assert_eq!(broken.promise, Promise::ScoreBound);
    let Evidence::FallingBound([low, high]) = &broken.evidence else { panic!("{broken:?}") };
    assert!(low.0 < high.0 && low.1 == format!("-{}", low.0), "{broken:?}");
    assert!(broken.describe(|v| format!("<{v}>")).contains(&format!("vertex <{}>", broken.vertex)));
}

/// Checks the programs that come with ripplet on a graph.
fn check_all(name: &str, graph: &Graph) {
    let programs: [Box<dyn DynProgram>; 8] = [
        Lpa::default().into(),
        Lpa::new(Guard::OFF).into(),
        Lpa::new(Guard::new(3.0).unwrap()).into(),
        Cdlp.into(),
        Llp::new(Gamma::new(1.0).unwrap()).into(),
        Llp::new(Gamma::new(0.03).unwrap()).into(),
        Slpa::default().into(),
        Seeded::new(graph, 0.9).unwrap().into(),
    ];
    for program in programs {
        let checked = check_program(graph, &*program, &Settings::default(), SAMPLE, &());
        let checked = checked.unwrap_or_else(|error| panic!("{name}: {error}"));
        let vertices = graph.vertices().min(SAMPLE) * ROUNDS;
        assert_eq!(checked.vertices, u64::from(vertices), "{name}");
    }
}

#[test]
fn shipped_programs_keep_their_promises() {
    for (name, edges) in shapes() {
        check_all(name, &edges.graph(MAX_SHARD_ARCS));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn shipped_programs_keep_their_promises_on_any_graph(edges in any_edges()) {
        check_all("any", &edges.graph(MAX_SHARD_ARCS));
    }
}

/// An observer that cancels at once.
struct Cancels;

impl Observer for Cancels {
    fn is_cancelled(&self) -> bool {
        true
    }
}

#[test]
fn checks_are_refused_and_cancelled_as_runs_are() {
    let settings = Settings { initial: Some(vec![0]), ..Settings::default() };
    let refused = check_program(&graph(), &Cdlp, &settings, SAMPLE, &());
    let error =
        RunError::Settings(SettingsError::LabelCount { labels: 1, vertices: graph().vertices() });
    assert_eq!(refused, Err(CheckError::Run(error)));
    let cancelled = check_program(&graph(), &Cdlp, &Settings::default(), SAMPLE, &Cancels);
    assert_eq!(cancelled, Err(CheckError::Run(RunError::Cancelled)));
}
