//! Guarantees of runs: memory, cancelling, and that parts give the same results as the whole.

use super::machines::{Found, Weighing, batch, bits, on_cpu, on_device, weighted_batch};
use crate::lcc::graphs::Edges;
use ripplet_analytics::Lengths;
use ripplet_analytics::PathAnalysis;
use ripplet_analytics::closeness::Closeness;
use ripplet_cuda::DeviceExecutor;
use ripplet_cuda::swarm::{DeviceSwarm, Tuning};
use ripplet_emulator::EmulatedDevice;
use ripplet_gpu::{CudaDevice, Device};
use ripplet_graph::Graph;
use ripplet_graph::Observer;
use ripplet_graph::batch::GraphBatch;
use ripplet_lp::RunError;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

const HOPS: Lengths = Lengths::Hops;

/// A question of each kind.
const QUESTIONS: [PathAnalysis; 7] = [
    PathAnalysis::Closeness { measure: Closeness::Reciprocal, normalized: false, lengths: HOPS },
    PathAnalysis::Closeness { measure: Closeness::Harmonic, normalized: true, lengths: HOPS },
    PathAnalysis::Betweenness { normalized: true, lengths: HOPS },
    PathAnalysis::EdgeBetweenness { normalized: true, lengths: HOPS },
    PathAnalysis::Distances { lengths: HOPS },
    PathAnalysis::Reach { lengths: HOPS },
    PathAnalysis::Summary { lengths: HOPS },
];

fn rings(directed: bool) -> GraphBatch {
    let ring = |n: u32| Edges::undirected(n, (0..n).map(|v| (v, (v + 1) % n)));
    batch(&(0..40).map(|at| ring(at * 3 % 50)).collect::<Vec<_>>(), directed, false)
}

fn ask(
    swarm: &mut DeviceSwarm<EmulatedDevice>,
    batch: &GraphBatch,
    question: PathAnalysis,
) -> Result<Found, RunError> {
    on_device(swarm, batch.all(), question, &())
}

fn on_emulator() -> DeviceSwarm<EmulatedDevice> {
    DeviceSwarm::new(DeviceExecutor::new(EmulatedDevice::new()))
}

fn on_emulator_with(limit: u64, tuning: Tuning) -> DeviceSwarm<EmulatedDevice> {
    let executor = DeviceExecutor::new(EmulatedDevice::new()).with_memory(Some(limit));
    DeviceSwarm::new(executor).with_tuning(tuning)
}

#[test]
fn a_run_needs_what_is_planned_and_no_more() {
    for (directed, tuning) in [
        (false, Tuning::default()),
        (
            true,
            Tuning { split_over: u64::MAX, partials: 0, most_shared: 4096, ..Tuning::default() },
        ),
    ] {
        let graphs = rings(directed);
        for question in QUESTIONS {
            let planned = on_emulator().with_tuning(tuning).plan(graphs.all(), question);
            let needed = planned.unwrap().total_device();
            let mut swarm = on_emulator_with(needed, tuning);
            let expected = ask(&mut swarm, &graphs, question).unwrap();
            let device = swarm.executor().device();
            let taken = device.properties().memory - device.free_memory().unwrap();
            assert_eq!(taken, needed, "{question:?}");
            // With half of it, one part after the other.
            let found = ask(&mut on_emulator_with(needed / 2, tuning), &graphs, question);
            assert_eq!(found, Ok(expected), "{question:?}");
        }
    }
}

#[test]
fn a_graph_that_does_not_fit_is_refused_with_its_plan() {
    let graphs = rings(false);
    for question in QUESTIONS {
        let executor = DeviceExecutor::new(EmulatedDevice::new().with_memory(1500));
        let mut swarm = DeviceSwarm::new(executor);
        let refused = ask(&mut swarm, &graphs, question);
        let Err(RunError::DeviceMemory { needed, room: 1500, limited: false, .. }) = refused else {
            panic!("{refused:?}");
        };
        assert!(needed > 1500);
    }
}

/// Cancels after a number of checks.
struct Watch {
    patience: usize,
    asked: AtomicUsize,
}

impl Observer for Watch {
    fn on_progress(&self, done: f64) {
        assert!((0.0..=1.0).contains(&done), "{done}");
    }

    fn is_cancelled(&self) -> bool {
        self.asked.fetch_add(1, Relaxed) >= self.patience
    }
}

#[test]
fn a_run_can_be_ended_and_another_begun() {
    let graphs = rings(true);
    let tuning = Tuning { first_items: 2, split_over: 1, ..Tuning::default() };
    let mut swarm = on_emulator().with_tuning(tuning);
    for question in QUESTIONS {
        let watch = |patience| Watch { patience, asked: AtomicUsize::new(0) };
        let patient = watch(usize::MAX);
        let expected = on_device(&mut swarm, graphs.all(), question, &patient).unwrap();
        let asked = patient.asked.load(Relaxed);
        assert!(asked > 4, "{question:?}: {asked}");
        for patience in [0, 1, asked / 2, asked - 1] {
            let found = on_device(&mut swarm, graphs.all(), question, &watch(patience));
            assert_eq!(found, Err(RunError::Cancelled), "{question:?} after {patience}");
        }
        assert_eq!(ask(&mut swarm, &graphs, question), Ok(expected), "{question:?}");
    }
}

#[test]
fn a_batch_of_nothing() {
    let mut swarm = on_emulator();
    for question in QUESTIONS {
        let none = batch(&[], true, false);
        assert_eq!(ask(&mut swarm, &none, question), Ok(on_cpu(none.all(), question)));
    }
}

/// A pipeline has one on a thread of its own.
#[test]
fn it_can_be_handed_to_a_thread() {
    fn is_send<T: Send>() {}
    is_send::<DeviceSwarm<CudaDevice>>();
}

#[test]
fn some_graphs_of_a_batch() {
    let whole = rings(true);
    let mut swarm = on_emulator();
    let all = swarm.betweenness(whole.all(), false, HOPS, &()).unwrap().0;
    let some = swarm.betweenness(whole.slice(13..29), false, HOPS, &()).unwrap().0;
    let skipped = whole.slice(0..13).vertices() as usize;
    assert_eq!(bits(&some), bits(&all[skipped..skipped + some.len()]));
}

/// A single graph, and the same as a batch of one.
fn alone(directed: bool) -> (Graph, GraphBatch) {
    let edges = Edges::undirected(100, (0..300).map(|i| (i * 7 % 100, i * i % 97)));
    let edges = Edges { directed, ..edges };
    (edges.graph(), batch(&[edges], directed, false))
}

#[test]
fn a_graph_alone() {
    let mut swarm = on_emulator();
    for (graph, batch) in [alone(false), alone(true)] {
        let all = batch.all();
        let found = swarm.betweenness(&graph, true, HOPS, &()).unwrap().0;
        assert_eq!(found, swarm.betweenness(all, true, HOPS, &()).unwrap().0);
        let near = Closeness::Harmonic;
        let found = swarm.closeness(&graph, near, true, HOPS, &()).unwrap().0;
        assert_eq!(found, swarm.closeness(all, near, true, HOPS, &()).unwrap().0);
        let found = swarm.reach(&graph, HOPS, &()).unwrap().0;
        assert_eq!(found, swarm.reach(all, HOPS, &()).unwrap().0);
        let found = swarm.edge_betweenness(&graph, true, HOPS, &()).unwrap().0;
        assert_eq!(found, swarm.edge_betweenness(all, true, HOPS, &()).unwrap().0);
        let plan =
            swarm.plan(&graph, PathAnalysis::Betweenness { normalized: true, lengths: HOPS });
        assert!(plan.unwrap().total_device() > 0);
    }
    let edges = Edges::undirected(50, (0..200).map(|i| (i * 7 % 50, i * 11 % 50)));
    let sharded = edges.graph_of(60, true);
    assert!(sharded.shards().len() > 1);
    let refused = swarm.betweenness(&sharded, true, HOPS, &()).unwrap_err();
    assert!(refused.to_string().contains("--device cpu"), "{refused}");
}

/// Rows of some sources at a time are all rows; an error of `take` ends the run.
#[test]
fn rows_of_a_graph_alone() {
    let mut swarm = on_emulator().with_tuning(Tuning { rows: 1, ..Tuning::default() });
    let (graph, batch) = alone(true);
    let expected = swarm.distances(batch.all(), HOPS, &()).unwrap().0;
    let mut found = Vec::new();
    let take = |sources: std::ops::Range<u32>, rows: &[f64]| {
        assert_eq!(found.len(), sources.start as usize * 100);
        assert_eq!(rows.len(), sources.len() * 100);
        found.extend_from_slice(rows);
        Ok::<_, RunError>(())
    };
    swarm.rows(&graph, HOPS, &(), take).unwrap();
    assert_eq!(bits(&found), bits(&expected));
    let mut taken = 0;
    let ended = swarm.rows(&graph, HOPS, &(), |_, _| {
        taken += 1;
        Err(RunError::Cancelled)
    });
    assert_eq!((ended, taken), (Err(RunError::Cancelled), 1));
}

#[test]
fn edges_without_length_are_refused_where_ways_are_counted() {
    let graphs = [Edges::undirected(40, (1..40).map(|v| (0, v)))];
    let graphs = weighted_batch(&graphs, false, false, Weighing::FewAndNone);
    let (mut swarm, lengths) = (on_emulator(), Lengths::Weights);
    let refused = [
        swarm.betweenness(graphs.all(), false, lengths, &()).unwrap_err(),
        swarm.edge_betweenness(graphs.all(), false, lengths, &()).unwrap_err(),
    ];
    for refused in refused {
        assert!(refused.to_string().contains("has weight 0"), "{refused}");
    }
    assert!(swarm.betweenness(graphs.all(), false, HOPS, &()).is_ok());
}

#[test]
fn distances_that_may_add_up_to_more_than_64_bits_are_refused() {
    let path = |n: u32| [Edges::undirected(n, (1..n).map(|v| (v - 1, v)))];
    let (mut swarm, lengths) = (on_emulator(), Lengths::Weights);
    let graphs = weighted_batch(&path(70_000), false, false, Weighing::Huge);
    let refused = swarm.reach(graphs.all(), lengths, &()).unwrap_err().to_string();
    assert!(refused.contains("64 bits") && refused.contains("--device cpu"), "{refused}");
    // The limit concerns weights only.
    let graphs = weighted_batch(&path(50), false, false, Weighing::Huge);
    let question = PathAnalysis::Summary { lengths };
    let found = on_device(&mut swarm, graphs.all(), question, &()).unwrap();
    assert_eq!(found, on_cpu(graphs.all(), question));
}
