//! `#[label_program]` as users write it.

mod attenuated;
mod native;
mod refusals;
// The compilers of the language's own tests.
#[path = "../../../../ripplet-hooks/tests/suite/toolchain.rs"]
#[allow(dead_code)]
mod toolchain;
mod translated;
