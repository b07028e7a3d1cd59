//! Graphs whose lists are not all in a device's memory: what the CPU finds is what must be found, whatever the budget.

use crate::graphs::{Edges, Storage};
use ripplet_cuda::DeviceExecutor;
use ripplet_cuda::shim::ShimDevice;
use ripplet_graph::{GraphView, MAX_SHARD_ARCS};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::programs::{Cdlp, Lpa};
use ripplet_lp::{Executor, Order, Plan, Program, Schedule, Settings, Stop};

/// A web of communities with two hubs.
fn web(vertices: u32, directed: bool, weighted: bool) -> Edges {
    let mut state = 1u32;
    let mut draw = move |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (u64::from(state) * u64::from(below) >> 32) as u32
    };
    let mut pairs = Vec::new();
    for v in 2..vertices {
        for _ in 0..draw(60) {
            let near = (v / 100 * 100 + draw(100)).min(vertices - 1);
            pairs.push((v, if draw(2) == 0 { near } else { draw(vertices) }));
        }
        pairs.push((draw(2), v));
    }
    let edges = Edges::new(vertices, pairs);
    let _ = (directed, weighted);
    edges
}

fn settings(schedule: Schedule) -> Settings {
    Settings { schedule, stop: Stop::after(3), keep_disconnected: true, ..Settings::default() }
}

/// An executor that may have the least that a run needs, and this share of the rest.
fn executor<P: Program>(
    share: f64,
    graph: GraphView<'_>,
    program: &P,
    settings: &Settings,
) -> (DeviceExecutor<ShimDevice>, Plan) {
    let on =
        |limit| DeviceExecutor::new(ShimDevice::new().with_resident_blocks(2)).with_memory(limit);
    let whole = on(None).plan(graph, program, settings);
    let least = on(Some(0)).plan(graph, program, settings);
    assert!(least.total_device() < whole.total_device(), "{least:?} {whole:?}");
    let more = (whole.total_device() - least.total_device()) as f64 * share;
    let executor = on(Some(least.total_device() + more as u64));
    let plan = executor.plan(graph, program, settings);
    (executor, plan)
}

fn check<P: Program>(
    edges: &Edges,
    storage: Storage,
    program: &P,
    schedule: Schedule,
    shares: &[f64],
) {
    let settings = settings(schedule);
    let expected = CpuExecutor::new(Some(2)).unwrap();
    let expected = expected.run(&edges.graph(MAX_SHARD_ARCS), program, &settings, &mut ()).unwrap();
    for (shard_arcs, &share) in [MAX_SHARD_ARCS, 3000].into_iter().cycle().zip(shares) {
        let graph = edges.stored(shard_arcs, storage);
        let (executor, plan) = executor(share, graph.view(), program, &settings);
        assert!(plan.graph_streamed > 0, "{share}: {plan:?}");
        let found = executor.run(graph.view(), program, &settings, &mut ()).unwrap();
        assert_eq!(found.labels, expected.labels, "{share} {storage:?} {schedule:?}");
        let changed = |outcome: &ripplet_lp::Outcome| -> Vec<[u64; 3]> {
            outcome.rounds.iter().map(|r| [r.changed, r.visited, r.scanned]).collect()
        };
        assert_eq!(changed(&found), changed(&expected), "{share} {storage:?} {schedule:?}");
    }
}

#[test]
fn phases() {
    let edges = web(1500, false, false);
    for storage in [Storage::Plain, Storage::Compressed] {
        check(
            &edges,
            storage,
            &Lpa::default(),
            Schedule { order: Order::Phased { phases: 3 }, ..Schedule::phased() },
            &[0.0, 0.3, 0.6],
        );
    }
}

#[test]
fn all_at_once() {
    let edges = web(1500, false, false);
    for storage in [Storage::Plain, Storage::Compressed] {
        check(&edges, storage, &Cdlp, Schedule::sync(), &[0.0, 0.25, 0.7]);
    }
}
