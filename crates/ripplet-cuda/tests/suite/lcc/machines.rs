//! Who runs the suite here: the kernels on the shim, and where `RIPPLET_GPU` is set, on the first GPU.

use crate::machines::{gpu, on_gpu};
use ripplet_analytics::lcc::{Definition, Lcc, Outcome};
use ripplet_cuda::DeviceExecutor;
use ripplet_cuda::lcc::DeviceLcc;
use ripplet_cuda::lp::Tuning;
use ripplet_cuda::shim::ShimDevice;
use ripplet_graph::Graph;

/// Runs with triangles: on the shim with threads in an order that `order` draws; edges of every second
/// order have wide numbers.
pub fn run(graph: &Graph, definition: Definition, order: usize) -> Outcome {
    run_lcc(graph, Lcc::new(definition).with_triangles(), order)
}

pub fn run_lcc(graph: &Graph, lcc: Lcc, order: usize) -> Outcome {
    let wide_from = if order.is_multiple_of(2) { 0 } else { 1 << 32 };
    let found = if on_gpu() {
        let lcc_on = DeviceLcc::new(gpu(Tuning::default())).with_wide_numbers_from(wide_from);
        lcc_on.run(graph, lcc, &mut ())
    } else {
        let executor = DeviceExecutor::new(ShimDevice::with_order(order as u64));
        let lcc_on = DeviceLcc::new(&executor).with_wide_numbers_from(wide_from);
        lcc_on.run(graph, lcc, &mut ())
    };
    found.unwrap().0
}
