//! The GPU engine, on a machine without a GPU.

mod cache;
mod conformance;
mod cuda;
#[cfg(target_os = "linux")]
mod fake;
#[path = "../../../ripplet-lp/tests/suite/graphs.rs"]
mod graphs;
#[path = "../../../ripplet-lp/tests/suite/oracle.rs"]
mod oracle;
#[path = "../../../ripplet-lp/tests/suite/probe.rs"]
mod probe;
mod shim;
