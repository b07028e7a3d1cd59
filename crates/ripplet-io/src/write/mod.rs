//! Outputs: whole files or none.

mod atomic_file;

pub use atomic_file::{AtomicFile, OutputsStopped, remove_unfinished, whole_file};
