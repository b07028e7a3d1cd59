//! Who runs the conformance suite here: the kernels on the shim, in launches and in one.

use crate::graphs::Edges;
use crate::oracle::{Rules, Variant};
use ripplet_cuda::DeviceExecutor;
use ripplet_cuda::lp::Tuning;
use ripplet_cuda::shim::ShimDevice;

/// An executor under test.
pub struct Machine {
    pub name: String,
    pub executor: DeviceExecutor<ShimDevice>,
}

pub fn machines() -> Vec<Machine> {
    let on = |(order, fused)| Machine {
        name: format!("on the shim in order {order}, {}", if fused { "fused" } else { "staged" }),
        executor: DeviceExecutor::new(ShimDevice::with_order(order))
            .with_tuning(Tuning { fused, ..Tuning::default() }),
    };
    [(0, false), (1, true)].map(on).into()
}

/// Whether these rules are run on this graph here. Each kind of graph and program is compiled
/// anew, so not all are.
pub fn takes(_: &Edges, rules: Rules) -> bool {
    !matches!(rules.variant, Variant::Probe { .. })
}
