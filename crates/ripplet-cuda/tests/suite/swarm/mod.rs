//! Distances and shortest paths in many graphs on a device: the same bits as on the CPU, and tests
//! for devices only.

mod machines;
mod promises;
mod values;
