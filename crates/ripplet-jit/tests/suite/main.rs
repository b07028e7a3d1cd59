//! Compiled hooks against the hooks as compiled by rustc, and tests of hostile inputs.

mod constants;
mod differential;
mod hostile;
mod programs;
mod views;

#[path = "../../../ripplet-hooks/tests/suite/random_program.rs"]
mod random_program;
#[path = "../../../ripplet-hooks/tests/suite/rust_side.rs"]
mod rust_side;
// The C++ compiler is not needed here.
#[allow(dead_code)]
#[path = "../../../ripplet-hooks/tests/suite/toolchain.rs"]
mod toolchain;
