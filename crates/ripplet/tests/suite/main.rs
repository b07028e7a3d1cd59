//! Tests of several crates together that do not depend on each other.

mod guide;
mod suspicion;

use ripplet_conformance::{graphs, oracle};
