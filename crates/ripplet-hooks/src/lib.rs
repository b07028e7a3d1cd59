//! The language of hooks: a plain subset of Rust, checked and translated.
//!
//! A label propagation program is one Rust module ([`expand`]) or one file ([`read_program`]), in
//! the same language. This crate reads it, checks it as rustc would, and translates it into one
//! intermediate representation, [`ir`]. From it come the CUDA C++ of the GPU ([`cpp`]) and, for a
//! file, the machine code of the CPU.
//!
//! ```text
//! tokens ──limits──> syn ──outline, signature──> items ──check──> tree ──lower──> ir ──> cpp
//!                                                                                   └──> native code
//! ```
//!
//! `check` resolves names and infers types in rustc's order and by its rules. `lower` takes control
//! flow out of expressions and refuses what cannot be checked until all types are known. The result
//! is always a program or errors with places: never a panic, and never unbounded stack or time.
//!
//! `docs/hooks.md` describes the language.

#[cfg(feature = "translate")]
mod bounds;
#[cfg(feature = "translate")]
mod check;
#[cfg(feature = "translate")]
mod constant;
pub mod cpp;
#[cfg(feature = "translate")]
mod error;
#[cfg(feature = "translate")]
mod file;
pub mod ir;
#[cfg(feature = "translate")]
mod limits;
#[cfg(feature = "translate")]
mod lower;
// The constants are written as the series need them, not as in `std`.
#[allow(clippy::approx_constant, clippy::excessive_precision)]
pub mod math;
#[cfg(feature = "translate")]
mod methods;
#[cfg(feature = "translate")]
mod native;
#[cfg(feature = "translate")]
mod outline;
#[cfg(feature = "translate")]
mod program;
#[cfg(feature = "translate")]
mod signature;
#[cfg(feature = "translate")]
mod tree;
#[cfg(feature = "translate")]
mod types;
#[cfg(feature = "translate")]
pub mod vocabulary;

#[cfg(feature = "translate")]
pub use error::{Diagnostic, ProgramError, ProgramErrors};
#[cfg(feature = "translate")]
pub use file::{check_balance, read_program};
#[cfg(feature = "translate")]
pub use limits::LARGEST_FILE;
#[cfg(feature = "translate")]
pub use native::expand;
#[cfg(feature = "translate")]
pub use program::translate;
