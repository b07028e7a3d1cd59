//! Devices: the choice of what computes, its rules of fallback, and executors on the chosen device.
//!
//! [`Device`] is the choice: `auto`, `cpu`, `cuda:0`, or several GPUs. Opening it happens in two
//! steps, because a GPU should be checked before a large graph is read, and the CPU's threads
//! should not exist while the graph is read:
//!
//! ```text
//! Device ──open──▶ Opened ──(the graph is read)──start──▶ AnyExecutor
//!                    └ fallback: the reason why `auto` is the CPU
//! ```
//!
//! [`AnyExecutor`] runs label propagation and clustering coefficients. [`Device::open_workers`]
//! returns workers for the other analyses ([`swarm`](crate::swarm)).
//!
//! | rule | `auto` | `cpu` | `cuda:…` |
//! |---|---|---|---|
//! | the GPU cannot be opened | CPU, with the reason | | error |
//! | the GPU has no kernel for the work | CPU, with the reason | | error |
//! | the run fails on the GPU, or does not fit its memory | [`Device::fallback`] returns the reason | | error |
//! | an analysis of compressed lists ([`Device::for_lists`]) | CPU, with the reason | | error |
//! | a limit of device memory, and no GPU | error | error | error |
//! | the feature `cuda` is off | CPU, with the reason | | error that names the feature |
//!
//! ```
//! use ripplet::Device;
//! use ripplet::lp::{Executor, Settings, programs::Lpa};
//!
//! let (device, reason) = Device::cpu().open(None)?.start(None)?;
//! assert!(reason.is_none());
//! # let ids = ripplet::graph::VertexIds::Consecutive { first: 0, count: 2 };
//! # let edges = ripplet::graph::EdgeTable::new(ids, vec![0], vec![1])?;
//! # let graph = ripplet::graph::GraphBuilder::new().build(edges)?;
//! let found = device.run(&graph, &Lpa::default(), &Settings::default(), &mut ())?;
//! assert_eq!(found.labels, [0, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod choice;
mod counter;
mod executor;
mod fallback;
#[cfg(feature = "cuda")]
mod gpu;
#[cfg(not(feature = "cuda"))]
#[path = "gpu_absent.rs"]
mod gpu;
mod gpu_types;
mod host_memory;
mod kernels;
mod lcc;
mod list;
mod open;
mod profile;
mod ranks;
mod refine;
mod workers;

pub use choice::{BadDevice, Device};
pub use executor::AnyExecutor;
pub use fallback::{DeviceFailure, Fallback};
pub use gpu_types::{
    CompiledKernels, Exchanged, GpuCounting, GpuInfo, GpuList, LccError, RunSeconds,
};
pub use host_memory::{HostLimit, available_memory, machine_memory, peak_memory};
pub use kernels::{built_in_kernels, compile_kernels};
pub use list::gpus;
pub use open::{OpenError, Opened};
pub use ranks::{threads_beside, threads_of_rank};
pub use workers::{GpuWorker, OpenWorkersError, Workers};

use ripplet_graph::GraphView;
use ripplet_lp::Plan;

/// Returns the plan of an analysis on the CPU, with the memory of its graph.
pub fn plan_on_cpu<'g>(graph: impl Into<GraphView<'g>>, plan: ripplet_analytics::Plan) -> Plan {
    let graph = graph.into();
    Plan { graph_host: graph.bytes(), ..plan }
}
