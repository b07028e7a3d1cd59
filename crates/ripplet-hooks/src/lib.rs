//! The language of hooks: a plain subset of Rust, checked and translated.
//!
//! A label propagation program is one Rust module or one file. This crate reads it, checks it as
//! rustc would, and turns it into one intermediate form, [`ir`], from which come the CUDA C++ of
//! the GPU and, for a file, the machine code of the CPU.

mod bounds;
mod check;
mod constant;
mod error;
mod file;
mod limits;
mod lower;
mod outline;
mod program;
mod signature;
mod tree;
mod types;

pub mod ir;
// Its constants are in the form that the series need, not those of `std`.
#[allow(clippy::approx_constant, clippy::excessive_precision)]
pub mod math;

pub use error::{Diagnostic, ProgramError, ProgramErrors};
pub use file::read_program;
pub use limits::LARGEST_FILE;
pub use program::translate;
