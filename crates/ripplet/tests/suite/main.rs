//! Tests of several crates together that do not depend on each other.

mod communities;
#[allow(dead_code, reason = "graphs for all programs")]
#[path = "../../../ripplet-lp/tests/suite/graphs.rs"]
mod graphs;
mod guide;
#[allow(dead_code, reason = "it knows all programs")]
#[path = "../../../ripplet-lp/tests/suite/oracle.rs"]
mod oracle;
mod suspicion;
