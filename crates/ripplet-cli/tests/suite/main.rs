//! The command `ripplet` from the outside: processes, exit codes, sentences, files.

mod arguments;
mod bad_input;
mod devices;
mod flow;
mod graphalytics;
mod interrupt;
#[cfg(target_os = "linux")]
mod memory;
mod outputs;
mod programs;
mod regression;
mod sandbox;
