//! Building blocks of an executor: the run loop, the exchange between ranks, and items of a plan.
//!
//! An executor checks the settings ([`Settings::check`](crate::Settings::check)) and creates an
//! implementation of [`Rounds`], which performs one round after another. It passes it to
//! [`run_rounds`], which applies the stop rules. [`Schedule`](crate::Schedule) and
//! [`Program`](crate::Program) define a round; [`cpu`](crate::cpu) is an example. Executors that
//! share a run are [`Rank`]s of an [`Exchange`]; a [`CpuRank`] is one on the CPU.

pub use crate::ranks::{CpuRank, Exchange, Loads, Parts, Rank, SingleRank, Update, run_phase};
pub use crate::rounds::{Finished, Rounds, run_rounds};
pub use crate::volume::VolumeUnit;

use crate::ColumnSpec;

/// Returns the bytes of host memory that splitting disconnected communities takes after a run.
pub fn bytes_of_splitting(vertices: u32) -> u64 {
    crate::communities::bytes_for(vertices)
}

/// Returns the bytes of a run's [`State`](crate::State), of a program with these columns.
pub fn bytes_of_state(vertices: u32, columns: &[ColumnSpec]) -> u64 {
    crate::checkpoint::bytes_of_state(vertices, columns)
}

/// Returns the number of values of a column for `vertices` vertices.
pub fn values_of(column: &ColumnSpec, vertices: u32) -> u64 {
    crate::columns::values_of(column, vertices)
}
