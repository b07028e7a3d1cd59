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
mod guide;
#[cfg(feature = "text")]
mod kept;
#[cfg(feature = "text")]
mod searches;
#[cfg(all(feature = "cuda", feature = "fraud"))]
mod suspicion;

#[cfg(all(feature = "cuda", feature = "fraud"))]
use ripplet_conformance::{graphs, oracle};
