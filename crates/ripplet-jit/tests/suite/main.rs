//! Compiled hooks against the same hooks compiled by rustc, and against what must never happen.

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
