//! Clustering coefficients on a device: the CPU's suite, and tests for devices only.

mod device;
#[path = "../../../../ripplet-analytics/tests/suite/graphs.rs"]
pub mod graphs;
#[path = "../../../../ripplet-analytics/tests/suite/ldbc.rs"]
mod ldbc;
mod machines;
#[path = "../../../../ripplet-analytics/tests/suite/oracle.rs"]
mod oracle;
#[path = "../../../../ripplet-analytics/tests/suite/others.rs"]
mod others;
#[path = "../../../../ripplet-analytics/tests/suite/random.rs"]
mod random;
#[path = "../../../../ripplet-analytics/tests/suite/shapes.rs"]
mod shapes;
