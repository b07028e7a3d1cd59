//! Tests of label propagation through its public interface.

mod checked;
mod checkpoints;
mod conformance;
mod covers;
mod graphs;
mod ldbc;
mod machines;
mod oracle;
mod probe;
mod profile;
mod programs;
mod promises;
mod quality;
