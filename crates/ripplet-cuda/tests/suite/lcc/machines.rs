//! Devices under test: the kernels on the emulator and, if `RIPPLET_GPU` is set, on the first GPU.

use crate::machines::{gpu, on_gpu};
use ripplet_analytics::lcc::{Coefficients, Definition, Lcc};
use ripplet_cuda::DeviceExecutor;
use ripplet_cuda::lcc::{DeviceLcc, Tuning};
use ripplet_emulator::EmulatedDevice;
use ripplet_graph::Graph;

/// Runs with triangles; on the emulator, `order` sets the order of threads. Of three orders, one has
/// wide numbers of edges, and one has launches of few blocks and no hubs.
pub fn run(graph: &Graph, definition: Definition, order: usize) -> Coefficients {
    run_lcc(graph, Lcc::new(definition).with_triangles(), order)
}

pub fn run_lcc(graph: &Graph, lcc: Lcc, order: usize) -> Coefficients {
    let usual = Tuning::default();
    let tuning = match order % 3 {
        0 => Tuning { wide_from: 0, ..usual },
        1 => usual,
        _ => Tuning { first_blocks: 1, most_hubs: 0, ..usual },
    };
    let found = if on_gpu() {
        DeviceLcc::new(gpu(Default::default())).with_tuning(tuning).run(graph, lcc, &mut ())
    } else {
        let executor = DeviceExecutor::new(EmulatedDevice::with_order(order as u64));
        DeviceLcc::new(&executor).with_tuning(tuning).run(graph, lcc, &mut ())
    };
    found.unwrap().0
}
