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
