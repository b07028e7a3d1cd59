//! Tests of several crates together that do not depend on each other.

#[cfg(not(any(
    feature = "archives",
    feature = "columnar",
    feature = "graphml",
    feature = "zstd"
)))]
mod absent;
#[cfg(feature = "text")]
mod analyses;
#[cfg(feature = "columnar")]
mod batches;
#[cfg(feature = "text")]
mod communities;
#[cfg(all(feature = "cuda", feature = "fraud"))]
#[allow(dead_code, reason = "graphs for all programs")]
#[path = "../../../ripplet-lp/tests/suite/graphs.rs"]
mod graphs;
mod guide;
#[cfg(all(feature = "cuda", feature = "fraud"))]
#[allow(dead_code, reason = "it knows all programs")]
#[path = "../../../ripplet-lp/tests/suite/oracle.rs"]
mod oracle;
#[cfg(all(feature = "cuda", feature = "fraud"))]
mod suspicion;
