//! Tests of the GPU engine: on the shim and, if `RIPPLET_GPU` is set, on the first GPU.

mod cache;
#[path = "../../../ripplet-lp/tests/suite/checkpoints.rs"]
mod checkpoints;
mod compressed;
#[path = "../../../ripplet-lp/tests/suite/conformance.rs"]
mod conformance;
mod cuda;
#[cfg(target_os = "linux")]
mod fake;
mod families;
#[path = "../../../ripplet-lp/tests/suite/graphs.rs"]
mod graphs;
mod kernels;
mod large;
mod lcc;
#[path = "../../../ripplet-lp/tests/suite/ldbc.rs"]
mod ldbc;
mod machines;
#[path = "../../../ripplet-lp/tests/suite/oracle.rs"]
mod oracle;
#[path = "../../../ripplet-lp/tests/suite/probe.rs"]
mod probe;
mod profile;
mod runs;
mod several;
mod shim;
mod streamed;
mod swarm;
