//! Distances and shortest ways in many graphs on a device: what the CPU finds, bit by bit, and what is a
//! device's alone.

mod machines;
mod promises;
mod values;
