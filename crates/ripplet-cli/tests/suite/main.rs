//! The command `ripplet` from the outside: processes, exit codes, sentences, files.

mod arguments;
mod bad_input;
mod flow;
mod graphalytics;
mod interrupt;
mod outputs;
mod programs;
mod regression;
mod sandbox;
