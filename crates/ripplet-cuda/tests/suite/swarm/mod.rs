//! Distances and shortest ways in many graphs on a device: what the CPU finds, bit by bit, and what is a
//! device's alone.

#[path = "../../../../ripplet-analytics/tests/suite/graphs.rs"]
mod graphs;
mod machines;
mod promises;
mod values;
