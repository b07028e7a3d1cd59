//! Splitting and merging on a device find the communities and counts of the host, whose suite compares those with
//! their definitions.

use crate::families;
use crate::graphs::{Edges, Storage};
use crate::machines::{gpu, on_gpu};
use crate::refine::{
    ALL_ON_DEVICE, LARGE_AS_HUGE, Watch, both_ways, edges, hubs_among_cliques, list_lengths,
};
use proptest::prelude::*;
use ripplet_cuda::lp::Tuning;
use ripplet_cuda::refine::{self, DeviceRefinement};
use ripplet_cuda::{DeviceExecutor, DevicesExecutor};
use ripplet_emulator::EmulatedDevice;
use ripplet_generate::{Rmat, Road, Social, Web};
use ripplet_graph::{Direction, Graph, GraphBuilder, GraphView, MAX_SHARD_ARCS, Observer};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::engine::{Communities, Finishing, finish_on_host};
use ripplet_lp::programs::Lpa;
use ripplet_lp::refine::MergeShare;
use ripplet_lp::{DeviceSeconds, Executor, Label, Outcome, RoundObserver, RunError, Settings};
use std::sync::atomic::AtomicUsize;

/// Graphs of any size are finished on the device.
const ALL: fn() -> Tuning = || Tuning { finish_from: 0, ..Tuning::default() };

fn on_device(
    run: Finishing<'_>,
    tuning: refine::Tuning,
    order: u64,
) -> Result<Communities, RunError> {
    let finished = if on_gpu() {
        DeviceRefinement::new(gpu(Tuning::default())).with_tuning(tuning).finish(run, &mut ())
    } else {
        let executor = DeviceExecutor::new(EmulatedDevice::with_order(order));
        DeviceRefinement::new(&executor).with_tuning(tuning).finish(run, &mut ())
    };
    finished.map(|found| Communities { device_seconds: DeviceSeconds::default(), ..found })
}

fn check(graph: GraphView<'_>, labels: &[Label], tuning: refine::Tuning, seed: u64, name: &str) {
    for merge in [None, Some(MergeShare::default()), Some(MergeShare::new(0.0).unwrap())] {
        let settings = Settings { merge, seed, ..Settings::default() };
        let expected = finish_on_host(graph, labels.to_vec(), &settings, &mut ()).unwrap();
        let found = on_device(Finishing { graph, labels, merge, seed }, tuning, seed).unwrap();
        let differing = expected.labels.iter().zip(&found.labels).filter(|(a, b)| a != b).count();
        assert_eq!(differing, 0, "{name}, {merge:?}: vertices with another label");
        assert_eq!(expected, found, "{name}, {merge:?}");
    }
}

/// Labels of runs end as they are; every third vertex has that of another one, so that most communities
/// are not connected.
fn labels_of(vertices: u32) -> [Vec<Label>; 3] {
    let scattered =
        |v: u32| if v.is_multiple_of(3) { v.wrapping_mul(0x9e37_79b9) % vertices } else { v / 4 };
    [(0..vertices).collect(), vec![0; vertices as usize], (0..vertices).map(scattered).collect()]
}

#[test]
fn families_are_finished_as_on_the_host() {
    let scale = families::scale(8);
    let tables = [
        ("rmat", Rmat::new(scale).generate().unwrap()),
        ("social", Social::new(scale).generate().unwrap()),
        ("web", Web::new(scale).generate().unwrap()),
        ("road", Road::new(scale).generate().unwrap()),
    ];
    for (number, (name, table)) in (0..).zip(tables) {
        for direction in [Direction::Undirected, Direction::Directed] {
            let graph = GraphBuilder::new().direction(direction).build(table.clone()).unwrap();
            for labels in labels_of(graph.vertices()) {
                check((&graph).into(), &labels, ALL_ON_DEVICE, number, name);
                check((&graph).into(), &labels, refine::Tuning::default(), number, name);
            }
        }
    }
}

/// Two hubs among cliques: lists that a few lanes, a warp, a block and the grid read.
#[test]
fn lists_of_every_length_are_united_and_merged() {
    for &length in list_lengths() {
        let edges = hubs_among_cliques(length);
        for edges in [edges.clone(), both_ways(edges).directed()] {
            let graph = edges.graph(MAX_SHARD_ARCS);
            for labels in labels_of(graph.vertices()) {
                check((&graph).into(), &labels, ALL_ON_DEVICE, 1, &format!("{length} leaves"));
                check((&graph).into(), &labels, LARGE_AS_HUGE, 1, &format!("{length} leaves"));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if on_gpu() { 128 } else { 20 }))]

    #[test]
    fn any_graph_is_finished_as_on_the_host(
        edges in edges(),
        storage in prop::sample::select(vec![Storage::Plain, Storage::Compressed]),
        shard_arcs in 20u64..400,
        communities in 1u32..20,
        seed in 0u64..9,
    ) {
        let stored = edges.stored(shard_arcs, storage);
        let labels: Vec<Label> = (0..edges.vertices).map(|v| v * 7 % communities % edges.vertices).collect();
        check(stored.view(), &labels, ALL_ON_DEVICE, seed, "a drawn graph");
    }
}

#[test]
fn graphs_without_edges_keep_their_vertices_apart() {
    for vertices in [0, 1, 40] {
        for edges in [Edges::new(vertices, []), Edges::new(vertices, []).directed()] {
            let graph = edges.graph(MAX_SHARD_ARCS);
            let labels = vec![0; vertices as usize];
            check((&graph).into(), &labels, ALL_ON_DEVICE, 0, "no edges");
        }
    }
}

fn timeless(mut outcome: Outcome) -> Outcome {
    outcome.rounds.iter_mut().for_each(|round| round.seconds = 0.0);
    Outcome { device_seconds: DeviceSeconds::default(), lists_moved: Vec::new(), ..outcome }
}

/// The whole run, with room for the rounds alone, and with room for both.
#[test]
fn a_run_ends_on_the_device_or_on_the_host() {
    let graph = GraphBuilder::new().build(Road::new(9).generate().unwrap()).unwrap();
    let settings = Settings { merge: Some(MergeShare::default()), ..Settings::default() };
    let program = Lpa::default();
    let expected = CpuExecutor::new(None).unwrap().run(&graph, &program, &settings, &mut ());
    let expected = timeless(expected.unwrap());
    assert!(expected.merged > Some(0), "{:?}", expected.merged);
    let ends_on_device = |executor: &dyn Executor| {
        let mut stages = Stages::default();
        let outcome = executor.run_on((&graph).into(), &program, &settings, &mut stages);
        assert_eq!(timeless(outcome.unwrap()), expected);
        stages.0.iter().any(|stage| stage.contains("once more"))
    };
    let run =
        |executor: DeviceExecutor<EmulatedDevice>| ends_on_device(&executor.with_tuning(ALL()));
    assert!(run(DeviceExecutor::new(EmulatedDevice::new())));
    let devices = || DevicesExecutor::new(vec![EmulatedDevice::new(), EmulatedDevice::new()]);
    // The first of several devices.
    assert!(ends_on_device(&devices().unwrap().with_tuning(ALL())));
    assert!(!ends_on_device(&devices().unwrap()));
    let executor = DeviceExecutor::new(EmulatedDevice::new());
    let rounds = executor.plan(&graph, &program, &settings).total_device();
    // It is tried, and does not fit.
    assert!(run(DeviceExecutor::new(EmulatedDevice::new()).with_memory(Some(rounds))));
    let small = DeviceExecutor::new(EmulatedDevice::new()).with_tuning(Tuning::default());
    let mut stages = Stages::default();
    let outcome = small.run(&graph, &program, &settings, &mut stages).unwrap();
    assert_eq!(timeless(outcome), expected);
    assert!(!stages.0.iter().any(|stage| stage.contains("once more")));
}

fn web() -> Graph {
    GraphBuilder::new().build(Web::new(9).generate().unwrap()).unwrap()
}

/// The stages of a run.
#[derive(Default)]
struct Stages(Vec<String>);

impl Observer for Stages {
    fn on_stage(&mut self, stage: &str) {
        self.0.push(stage.into());
    }
}

impl RoundObserver for Stages {}

#[test]
fn a_merge_can_be_cancelled_and_a_lost_device_is_an_error() {
    let graph = web();
    let labels: Vec<Label> = (0..graph.vertices()).collect();
    let run = |device: EmulatedDevice, patience| {
        let executor = DeviceExecutor::new(device);
        let refinement = DeviceRefinement::new(&executor).with_tuning(ALL_ON_DEVICE);
        let mut watch = Watch { patience, asked: AtomicUsize::new(0) };
        let (merge, seed) = (Some(MergeShare::default()), 0);
        let run = Finishing { graph: (&graph).into(), labels: &labels, merge, seed };
        let finished = refinement.finish(run, &mut watch);
        (finished, watch.asked.into_inner())
    };
    let (finished, asked) = run(EmulatedDevice::new(), usize::MAX);
    assert!(finished.is_ok() && asked > 5, "{asked}");
    for patience in [0, 1, asked / 2] {
        let (finished, _) = run(EmulatedDevice::new(), patience);
        assert_eq!(finished, Err(RunError::Cancelled), "after {patience}");
    }
    for launches in [0, 5, 40] {
        let (finished, _) = run(EmulatedDevice::new().lost_after(launches), usize::MAX);
        assert!(matches!(finished, Err(RunError::Device(_))), "{launches}: {finished:?}");
    }
}
