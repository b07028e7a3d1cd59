//! What runs promise: their memory, that they can be ended, and that parts make the whole.

use super::machines::{batch, bits};
use crate::lcc::graphs::Edges;
use ripplet_analytics::Lengths;
use ripplet_analytics::Observer;
use ripplet_analytics::apsp::reach;
use ripplet_analytics::betweenness::betweenness;
use ripplet_analytics::closeness::{Closeness, closeness};
use ripplet_cuda::device::Device;
use ripplet_cuda::shim::ShimDevice;
use ripplet_cuda::swarm::{DeviceSwarm, GraphSummary, Question, Reach, Tuning};
use ripplet_cuda::{CudaDevice, DeviceExecutor};
use ripplet_graph::Graph;
use ripplet_graph::batch::GraphBatch;
use ripplet_lp::RunError;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

const QUESTIONS: [Question; 5] = [
    Question::Closeness { measure: Closeness::Reciprocal, normalized: false },
    Question::Closeness { measure: Closeness::Harmonic, normalized: true },
    Question::Betweenness { normalized: true },
    Question::Reach,
    Question::Summaries,
];

fn rings(directed: bool) -> GraphBatch {
    let ring = |n: u32| Edges::undirected(n, (0..n).map(|v| (v, (v + 1) % n)));
    batch(&(0..40).map(|at| ring(at * 3 % 50)).collect::<Vec<_>>(), directed, false)
}

fn ask(
    swarm: &mut DeviceSwarm<ShimDevice>,
    batch: &GraphBatch,
    question: Question,
) -> Result<Vec<u64>, RunError> {
    ask_watched(swarm, batch, question, &())
}

/// All that is found, as bits.
fn ask_watched(
    swarm: &mut DeviceSwarm<ShimDevice>,
    batch: &GraphBatch,
    question: Question,
    observer: &dyn Observer,
) -> Result<Vec<u64>, RunError> {
    let all = batch.all();
    Ok(match question {
        Question::Closeness { measure, normalized } => {
            bits(&swarm.closeness(all, measure, normalized, observer)?.0)
        }
        Question::Betweenness { normalized } => {
            bits(&swarm.betweenness(all, normalized, observer)?.0)
        }
        Question::Reach => {
            let found = swarm.reach(all, observer)?.0;
            let bits = |of: &Reach| [of.far, of.reached.into(), of.farthest.into()];
            found.iter().flat_map(bits).collect()
        }
        Question::Summaries => {
            let found = swarm.summaries(all, observer)?.0;
            let bits = |of: &GraphSummary| [of.pairs, of.sum, of.diameter.into(), of.radius.into()];
            found.iter().flat_map(bits).collect()
        }
    })
}

fn on_shim() -> DeviceSwarm<ShimDevice> {
    DeviceSwarm::new(DeviceExecutor::new(ShimDevice::new()))
}

fn on_shim_with(limit: u64, tuning: Tuning) -> DeviceSwarm<ShimDevice> {
    let executor = DeviceExecutor::new(ShimDevice::new()).with_memory(Some(limit));
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
            let planned = on_shim().with_tuning(tuning).plan(graphs.all(), question);
            let needed = planned.unwrap().total_device();
            let mut swarm = on_shim_with(needed, tuning);
            let expected = ask(&mut swarm, &graphs, question).unwrap();
            let device = swarm.executor().device();
            let taken = device.properties().memory - device.free_memory().unwrap();
            assert_eq!(taken, needed, "{question:?}");
            // Half of it: one part after the other.
            let found = ask(&mut on_shim_with(needed / 2, tuning), &graphs, question);
            assert_eq!(found, Ok(expected), "{question:?}");
        }
    }
}

#[test]
fn a_graph_that_does_not_fit_is_refused_with_its_plan() {
    let graphs = rings(false);
    for question in QUESTIONS {
        let executor = DeviceExecutor::new(ShimDevice::new().with_memory(1500));
        let mut swarm = DeviceSwarm::new(executor);
        let refused = ask(&mut swarm, &graphs, question);
        let Err(RunError::DeviceMemory { needed, room: 1500, limited: false, .. }) = refused else {
            panic!("{refused:?}");
        };
        assert!(needed > 1500);
    }
}

/// Cancels when it was asked so often.
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
    let mut swarm = on_shim().with_tuning(tuning);
    for question in QUESTIONS {
        let watch = |patience| Watch { patience, asked: AtomicUsize::new(0) };
        let patient = watch(usize::MAX);
        let expected = ask_watched(&mut swarm, &graphs, question, &patient).unwrap();
        let asked = patient.asked.load(Relaxed);
        assert!(asked > 4, "{question:?}: {asked}");
        for patience in [0, 1, asked / 2, asked - 1] {
            let found = ask_watched(&mut swarm, &graphs, question, &watch(patience));
            assert_eq!(found, Err(RunError::Cancelled), "{question:?} after {patience}");
        }
        assert_eq!(ask(&mut swarm, &graphs, question), Ok(expected), "{question:?}");
    }
}

#[test]
fn a_batch_of_nothing() {
    let mut swarm = on_shim();
    for question in QUESTIONS {
        assert_eq!(ask(&mut swarm, &batch(&[], true, false), question), Ok(Vec::new()));
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
    let mut swarm = on_shim();
    let all = swarm.betweenness(whole.all(), false, &()).unwrap().0;
    let some = swarm.betweenness(whole.slice(13..29), false, &()).unwrap().0;
    let skipped = whole.slice(0..13).vertices() as usize;
    assert_eq!(bits(&some), bits(&all[skipped..skipped + some.len()]));
}

fn alone(directed: bool) -> Graph {
    let edges = Edges::undirected(100, (0..300).map(|i| (i * 7 % 100, i * i % 97)));
    Edges { directed, ..edges }.graph()
}

#[test]
fn a_graph_alone() {
    let mut swarm = on_shim();
    for graph in [alone(false), alone(true)] {
        let found = swarm.betweenness_of_graph(&graph, true, &()).unwrap().0;
        assert_eq!(bits(&found), bits(&betweenness(&graph, true, Lengths::Hops, &mut ()).unwrap()));
        let near = Closeness::Harmonic;
        let found = swarm.closeness_of_graph(&graph, near, true, &()).unwrap().0;
        assert_eq!(
            bits(&found),
            bits(&closeness(&graph, near, true, Lengths::Hops, &mut ()).unwrap())
        );
        let found = swarm.reach_of_graph(&graph, &()).unwrap().0;
        let expected = reach(&graph, Lengths::Hops, &mut ()).unwrap();
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            let of_device = (u128::from(found.far), u64::from(found.farthest));
            assert_eq!(of_device, (expected.far, expected.farthest));
            assert_eq!(u64::from(found.reached), expected.reached);
        }
        let plan = swarm.plan_of_graph(&graph, Question::Betweenness { normalized: true });
        assert!(plan.unwrap().total_device() > 0);
    }
    let edges = Edges::undirected(50, (0..200).map(|i| (i * 7 % 50, i * 11 % 50)));
    let sharded = edges.graph_of(60, true);
    assert!(sharded.shards().len() > 1);
    let refused = swarm.betweenness_of_graph(&sharded, true, &()).unwrap_err();
    assert!(refused.to_string().contains("--device cpu"), "{refused}");
}
