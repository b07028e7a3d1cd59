//! Reports of a run on a device beside its labels.

use crate::graphs::cliques;
use crate::machines::machine;
use ripplet_cuda::DeviceExecutor;
use ripplet_cuda::lp::Tuning;
use ripplet_emulator::EmulatedDevice;
use ripplet_generate::{Rmat, Road, Social, Web};
use ripplet_gpu::Device;
use ripplet_graph::{EdgeTable, GraphBuilder, MAX_SHARD_ARCS, Observer};
use ripplet_lp::programs::Lpa;
use ripplet_lp::{DeviceSeconds, Executor, RoundObserver, RunError, Settings};

/// Records the stages.
#[derive(Default)]
struct Stages(Vec<&'static str>);

impl Observer for Stages {
    fn on_stage(&mut self, name: &'static str) {
        self.0.push(name);
    }
}

impl RoundObserver for Stages {}

#[test]
fn a_run_tells_what_the_device_does_and_how_long() {
    let graph = cliques(3, 4).graph(MAX_SHARD_ARCS);
    let (executor, mut stages) = (machine(0, Tuning::default()).executor, Stages::default());
    let found = executor.run(&graph, &Lpa::default(), &Settings::default(), &mut stages).unwrap();
    let DeviceSeconds { kernels, transfer } = found.device_seconds;
    assert!(kernels > 0.0 && transfer > 0.0, "{kernels} {transfer}");
    let device = ["compiling the kernels", "moving the graph to the device"];
    let all = ["round 1", "splitting what is not connected"];
    assert_eq!(stages.0, [device, all].concat());
}

#[test]
fn a_run_that_does_not_fit_is_refused_with_the_plan() {
    let graph = cliques(3, 4).graph(MAX_SHARD_ARCS);
    let (program, settings) = (Lpa::default(), Settings::default());
    let refused = |executor: DeviceExecutor<EmulatedDevice>, room, limited| {
        let plan = executor.plan(&graph, &program, &settings);
        let error = RunError::DeviceMemory {
            device: executor.device().properties().name.clone(),
            needed: plan.total_device(),
            graph: plan.graph_device,
            room,
            limited,
        };
        assert_eq!(executor.check_memory(&plan), Err(error.clone()));
        assert_eq!(executor.run(&graph, &program, &settings, &mut ()), Err(error));
    };
    let small = || EmulatedDevice::new().with_memory(1000);
    refused(DeviceExecutor::new(small()), 1000, false);
    refused(DeviceExecutor::new(small()).with_memory(Some(5000)), 1000, false);
    refused(DeviceExecutor::new(small()).with_memory(Some(10)), 10, true);
}

/// Bytes a vertex beside the graph and the tables of large vertices, on a graph of 2^18 vertices.
fn own_bytes(table: EdgeTable) -> f64 {
    let graph = GraphBuilder::new().build(table).expect("a graph");
    let executor = DeviceExecutor::new(EmulatedDevice::new());
    let plan = executor.plan(&graph, &Lpa::default(), &Settings::default());
    let own = plan.device_items.iter().filter(|item| !item.purpose.contains("large"));
    let own: u64 = own.map(|item| item.bytes).sum();
    own as f64 / f64::from(graph.vertices())
}

#[test]
fn a_vertex_takes_few_bytes_beside_the_graph() {
    // Labels 4, label totals 4, activity 1; and lists and choices of a phase's vertices.
    for (name, table, most) in [
        ("road", Road::new(18).generate(), 9.3),
        ("web", Web::new(18).generate(), 9.6),
        ("social", Social::new(18).generate(), 9.6),
        ("rmat", Rmat::new(18).generate(), 9.75),
    ] {
        let bytes = own_bytes(table.expect("it fits"));
        assert!(bytes <= most, "{name}: {bytes} bytes a vertex");
    }
}
