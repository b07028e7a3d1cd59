//! What an executor is built of, for those who write one: the run loop, and what a plan counts.
//!
//! An executor checks the settings ([`Settings::check`](crate::Settings::check)), makes something
//! that does one round after another ([`Rounds`]), and hands it to [`run_rounds`], which knows when to
//! stop. What a round must do is said by [`Schedule`](crate::Schedule) and
//! [`Program`](crate::Program), and shown by [`cpu`](crate::cpu). Executors that share a run are [`Rank`]s of
//! an [`Exchange`].

pub use crate::ranks::{Alone, Exchange, Loads, Parts, Rank, do_phase};
pub use crate::rounds::{Finished, Rounds, run_rounds};
pub use crate::volume::VolumeUnit;

use crate::ColumnSpec;

/// Host memory, in bytes, that splitting communities that are not connected takes after a run.
pub fn bytes_of_splitting(vertices: u32) -> u64 {
    crate::communities::bytes_for(vertices)
}

/// Bytes of a run's [`State`](crate::State), of a program with these columns.
pub fn bytes_of_state(vertices: u32, columns: &[ColumnSpec]) -> u64 {
    crate::checkpoint::bytes_of_state(vertices, columns)
}

/// Values of a column of so many vertices.
pub fn values_of(column: &ColumnSpec, vertices: u32) -> u64 {
    crate::columns::values_of(column, vertices)
}
