//! Refinement on a device: the same bytes as on the CPU.
//!
//! # Algorithm
//! That of [`ripplet_lp::refine`], which also has what is no step of a level: iterations, levels, and the
//! end. Moves, subdivision, contraction and sums run on the device. Vertices of a phase are sorted by
//! degree; 4 lanes, a warp or a block sum up a vertex's arcs in a hash table. Small contracted graphs are
//! moved to the host, which continues from there.
//!
//! # Memory
//! On the device, beside the graph: 24 bytes for each arc, for contracted graphs; 138 to 162 bytes for
//! each vertex, 40 more with imbalances, 2 with fixed vertices, and 32 with a limit of sizes; at least 48 MiB
//! for tables. An arc of a directed graph counts twice, as it is read from both ends. See
//! [`DeviceRefinement::plan`].
//!
//! # Determinism
//! Scores are integers; what threads write at once are sums, minima or distinct values.
//!
//! # Modules
//! Imports point upwards in this list only:
//!
//! | modules | what they have |
//! |---|---|
//! | `tuning`, `state`, `source` | tuning; structs that host and kernels share; the kernels' text |
//! | `places`, `upload` | places of all arrays; the upload of a graph |
//! | `launch` | memory and launches |
//! | `steps` | the steps of a level |
//! | `device` | runs |
//! | `merge` | the end of a run of label propagation |

mod device;
mod launch;
mod merge;
mod places;
mod source;
mod state;
mod steps;
mod tuning;
mod upload;

pub use device::DeviceRefinement;
pub use source::{merging_source, source};
pub use state::Kind;
pub use steps::{DeviceContraction, DeviceGraph, DevicePartition, DeviceSteps};
pub use tuning::Tuning;
