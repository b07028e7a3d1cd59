//! Tests of the GPU engine: on the shim and, if `RIPPLET_GPU` is set, on the first GPU.

mod cache;
#[path = "../../../ripplet-conformance/suites/checkpoints.rs"]
mod checkpoints;
mod compressed;
#[path = "../../../ripplet-conformance/suites/conformance.rs"]
mod conformance;
mod cuda;
#[cfg(target_os = "linux")]
mod fake;
mod families;
mod kernels;
mod large;
mod lcc;
#[path = "../../../ripplet-conformance/suites/ldbc.rs"]
mod ldbc;
mod machines;
mod profile;
mod runs;
mod several;
mod shim;
mod streamed;
mod swarm;

use ripplet_conformance::{graphs, oracle, probe};
