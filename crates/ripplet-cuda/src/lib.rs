//! GPU engines: label propagation, refinement, clustering coefficients, and swarms of graphs.
//!
//! | module | contents |
//! |---|---|
//! | [`lp`] | label propagation on one device, or on several that share a run |
//! | [`lcc`] | local clustering coefficients |
//! | [`refine`] | communities of high modularity |
//! | [`swarm`] | questions about many small graphs at once |
//! | [`compressed`] | reading compressed neighbour lists |
//!
//! Each engine is generic over a [`Device`](ripplet_gpu::Device), and brings the source text of its
//! kernels.
//!
//! # Examples
//! Communities and clustering coefficients of a graph on the first GPU:
//! ```no_run
//! use ripplet_analytics::lcc::Lcc;
//! use ripplet_cuda::DeviceExecutor;
//! use ripplet_cuda::lcc::DeviceLcc;
//! use ripplet_gpu::CudaDevice;
//! use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
//! use ripplet_lp::{Executor, Settings, programs::Lpa};
//!
//! // Two triangles with one edge between them.
//! let ids = VertexIds::Consecutive { first: 0, count: 6 };
//! let edges = EdgeTable::new(ids, vec![0, 1, 2, 3, 4, 5, 2], vec![1, 2, 0, 4, 5, 3, 3])?;
//! let graph = GraphBuilder::new().build(edges)?;
//!
//! let executor = DeviceExecutor::new(CudaDevice::new(0)?);
//! let found = executor.run(&graph, &Lpa::default(), &Settings::default(), &mut ())?;
//! assert_eq!(found.labels, [0, 0, 0, 3, 3, 3]);
//! let (found, seconds) = DeviceLcc::new(&executor).run(&graph, Lcc::default(), &mut ())?;
//! assert_eq!(found.coefficients[0], 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod built_in;
pub mod compressed;
mod executor;
pub mod lcc;
mod lists;
pub mod lp;
pub mod refine;
pub mod swarm;

pub use built_in::built_in;
pub use lp::{DeviceExecutor, DevicesExecutor};
