//! The language's tests.

mod differential;
mod random_program;
mod toolchain;
