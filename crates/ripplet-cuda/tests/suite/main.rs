//! Tests of the GPU engine: on the emulator and, if `RIPPLET_GPU` is set, on the first GPU.

mod built_in;
#[path = "../../../ripplet-conformance/suites/checkpoints.rs"]
mod checkpoints;
mod compressed;
#[path = "../../../ripplet-conformance/suites/conformance.rs"]
mod conformance;
mod families;
mod finishing;
mod kernels;
mod large;
mod lcc;
#[path = "../../../ripplet-conformance/suites/ldbc.rs"]
mod ldbc;
mod machines;
mod processes;
mod profile;
mod refine;
mod runs;
mod several;
mod streamed;
mod swarm;

use ripplet_conformance::{graphs, oracle, probe};
