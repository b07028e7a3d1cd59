//! Tests of the GPU engine: on the emulator and, if `RIPPLET_GPU` is set, on the first GPU.

#[path = "../../../ripplet-lp/tests/suite/checkpoints.rs"]
mod checkpoints;
mod compressed;
#[path = "../../../ripplet-lp/tests/suite/conformance.rs"]
mod conformance;
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
mod streamed;
mod swarm;
