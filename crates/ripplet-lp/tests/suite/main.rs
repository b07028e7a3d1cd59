//! Tests of label propagation through its public interface.

mod checked;
#[path = "../../../ripplet-conformance/suites/checkpoints.rs"]
mod checkpoints;
#[path = "../../../ripplet-conformance/suites/conformance.rs"]
mod conformance;
mod covers;
mod definitions;
mod dendrograms;
mod hierarchy;
mod label_program;
#[path = "../../../ripplet-conformance/suites/ldbc.rs"]
mod ldbc;
mod machines;
mod merging;
mod profile;
mod programs;
mod promises;
mod quality;
mod ranked;
mod refine;
mod refine_checkpoints;
mod refine_directed;
mod refine_limits;
mod resolutions;

use ripplet_conformance::{graphs, oracle, probe};
