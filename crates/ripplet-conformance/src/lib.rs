//! Conformance of ripplet's executors, for tests alone.
//!
//! - [`oracle`]: label propagation as the documentation defines it, one vertex after another.
//! - [`graphs`]: test graphs, in the oracle's and in the engine's form.
//! - `hosts`: network namespaces as machines, for tests of ranks over a real network (Linux).
//! - [`launcher`]: MPICH's and Open MPI's, for tests over several processes.
//! - [`probe`]: a program whose every hook and column contributes to the labels.
//! - [`ranks`]: several executors of the CPU that share a run.
//! - [`recorded`]: a wire between ranks that records its traffic, and simulates a network, delays and deaths of ranks.
//!
//! The files in `suites/` are tests that every executor passes. A test target includes them by path
//! beside a module `machines`, which names the executors under test.
#![expect(missing_docs, reason = "fields of tests' values, which their names explain")]

pub mod graphs;
#[cfg(target_os = "linux")]
pub mod hosts;
pub mod launcher;
pub mod oracle;
pub mod probe;
pub mod ranks;
pub mod recorded;
