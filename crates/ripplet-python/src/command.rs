//! The command `ripplet`, for the console script.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command `ripplet` with these arguments, the first of which is its name, and ends the process with its exit code.
///
/// Python neither handles signals meanwhile nor ends the interpreter afterwards: nothing of Python must be open.
#[pyfunction]
pub fn command(py: Python<'_>, arguments: Vec<OsString>) {
    py.detach(|| std::process::exit(i32::from(ripplet_cli::run(arguments))))
}
