//! Tests of the language of hooks.

mod differential;
mod hostile;
mod loops;
mod math;
mod programs;
mod promises;
mod random_program;
mod reference;
mod rust_side;
mod toolchain;
mod types;
mod views;
