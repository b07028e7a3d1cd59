//! Everything that label propagation promises, checked from outside.

mod checkpoints;
mod conformance;
mod graphs;
mod ldbc;
mod machines;
mod oracle;
mod probe;
mod programs;
mod promises;
mod quality;
