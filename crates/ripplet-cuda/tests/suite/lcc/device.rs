//! What a device does differently: classes of lists, slices, parts; and the guarantees of its runs.

use super::graphs::Edges;
use super::machines::{run, run_lcc};
use crate::families;
use crate::machines::is_thorough;
use ripplet_analytics::lcc::{Definition, Lcc};
use ripplet_cuda::DeviceExecutor;
use ripplet_cuda::lcc::DeviceLcc;
use ripplet_emulator::EmulatedDevice;
use ripplet_generate::{Rmat, Road, Social, Web};
use ripplet_graph::Observer;
use ripplet_graph::{Direction, EdgeTable, GraphBuilder};
use ripplet_lp::RunError;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// Compares with the CPU, whose suite compares it with everything else.
fn check(table: EdgeTable, name: &str) {
    for direction in [Direction::Undirected, Direction::Directed] {
        let graph = GraphBuilder::new().direction(direction).build(table.clone()).unwrap();
        for definition in [Definition::Ldbc, Definition::Fagiolo] {
            let lcc = Lcc::new(definition).with_triangles();
            let expected = lcc.run(&graph, &mut ()).unwrap();
            for order in 0..3 {
                let found = run_lcc(&graph, lcc, order);
                assert!(found == expected, "{name}, {direction:?}, {definition:?}, {order}");
            }
            let without = run_lcc(&graph, Lcc::new(definition), 1);
            assert_eq!(without.triangles, None);
            assert!(without.coefficients == expected.coefficients, "{name}, {direction:?}");
            assert_eq!(without.triangle_count, expected.triangle_count);
        }
    }
}

#[test]
fn families() {
    let scale = families::scale(8);
    check(Rmat::new(scale).generate().unwrap(), "rmat");
    check(Social::new(scale).generate().unwrap(), "social");
    check(Web::new(scale).generate().unwrap(), "web");
    check(Road::new(scale).generate().unwrap(), "road");
}

/// A clique, and as many vertices that are neighbours of its first half: lists of every class up to
/// more than a table holds, with neighbours in no part of the table.
#[test]
fn lists_of_every_length() {
    let sizes: &[u32] = if is_thorough() { &[33, 513, 1025, 4097, 9000] } else { &[33, 513, 600] };
    for &size in sizes {
        let clique = (0..size).flat_map(|a| (0..a).map(move |b| (a, b)));
        let more = (0..40u32).flat_map(|more| (0..size / 2).map(move |b| (size + more, b)));
        for directed in [false, true] {
            let edges = Edges {
                directed,
                ..Edges::undirected(size + 40, clique.clone().chain(more.clone()))
            };
            let graph = edges.graph();
            let expected = Lcc::new(Definition::Fagiolo).with_triangles();
            let expected = expected.run(&graph, &mut ()).unwrap();
            let found = run(&graph, Definition::Fagiolo, 1);
            assert!(found == expected, "{size}, directed {directed}");
        }
    }
}

/// Records stages, and cancels after a number of checks.
struct Watch {
    patience: usize,
    asked: AtomicUsize,
    stages: Vec<&'static str>,
}

impl Watch {
    fn new(patience: usize) -> Watch {
        Watch { patience, asked: AtomicUsize::new(0), stages: Vec::new() }
    }
}

impl Observer for Watch {
    fn on_stage(&mut self, name: &'static str) {
        self.stages.push(name);
    }

    fn on_progress(&self, done: f64) {
        assert!((0.0..=1.0).contains(&done), "{done}");
    }

    fn is_cancelled(&self) -> bool {
        self.asked.fetch_add(1, Relaxed) >= self.patience
    }
}

#[test]
fn a_run_says_what_it_does_and_can_be_ended() {
    let graph = GraphBuilder::new().build(Rmat::new(8).generate().unwrap()).unwrap();
    let executor = DeviceExecutor::new(EmulatedDevice::new());
    let (on_device, lcc) = (DeviceLcc::new(&executor), Lcc::new(Definition::Ldbc));
    let mut watch = Watch::new(usize::MAX);
    let (_, seconds) = on_device.run(&graph, lcc, &mut watch).unwrap();
    assert!(seconds.kernels > 0.0 && seconds.transfer > 0.0);
    assert_eq!(
        watch.stages,
        [
            "compiling the kernels",
            "moving the graph to the device",
            "listing each edge once",
            "counting triangles",
            "moving the coefficients from the device"
        ]
    );
    let asked = watch.asked.load(Relaxed);
    assert!(asked > 5, "{asked}");
    for patience in [0, 1, asked / 2, asked - 1] {
        let found = on_device.run(&graph, lcc, &mut Watch::new(patience));
        assert_eq!(found, Err(RunError::Cancelled), "after {patience}");
    }
}

#[test]
fn a_run_that_does_not_fit_is_refused_with_the_plan() {
    let graph = Edges::undirected(9, (0..9).map(|v| (v, (v + 1) % 9))).graph();
    let executor = DeviceExecutor::new(EmulatedDevice::new().with_memory(1000));
    let (on_device, lcc) = (DeviceLcc::new(&executor), Lcc::new(Definition::Ldbc));
    let plan = on_device.plan(&graph, lcc);
    let refused = on_device.run(&graph, lcc, &mut ());
    let Err(RunError::DeviceMemory { needed, room: 1000, limited: false, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(needed, plan.total_device());
}

#[test]
fn it_takes_the_lists_and_sixteen_bytes_a_vertex() {
    for (name, table) in [
        ("road", Road::new(18).generate().unwrap()),
        ("web", Web::new(18).generate().unwrap()),
        ("rmat", Rmat::new(18).generate().unwrap()),
    ] {
        let graph = GraphBuilder::new().build(table).unwrap();
        let executor = DeviceExecutor::new(EmulatedDevice::new());
        let plan = DeviceLcc::new(&executor).plan(&graph, Lcc::new(Definition::Ldbc));
        let lists = 4.0 * graph.edges() as f64;
        let own = (plan.algorithm_device() as f64 - lists) / f64::from(graph.vertices());
        assert!(own < 16.1 + 0.02 * lists / f64::from(graph.vertices()), "{name}: {own}");
    }
}

#[test]
fn steps_are_measured() {
    let graph = GraphBuilder::new().build(Rmat::new(8).generate().unwrap()).unwrap();
    let executor = DeviceExecutor::new(EmulatedDevice::new());
    let found = DeviceLcc::new(&executor).profile(&graph).unwrap();
    let expected = Lcc::new(Definition::Ldbc).run(&graph, &mut ()).unwrap();
    assert_eq!((found.edges, found.triangles), (graph.edges(), expected.triangle_count));
    let steps: Vec<&str> = found.steps.iter().map(|(name, _)| *name).collect();
    for step in ["list_edges", "set_bits", "count_by_block", "count_by_warp", "divide"] {
        assert!(steps.contains(&&*format!("ripplet_{step}")), "{step}: {steps:?}");
    }
}
