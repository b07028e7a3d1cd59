//! Fake libraries of NVIDIA, in C: a driver whose device memory is the host's, NCCL within a process,
//! and an NVRTC that compiles nothing. Environment variables set their behaviour; each file lists
//! its own.

use std::path::Path;
use std::process::Command;

/// Path of the source of a fake driver.
pub const DRIVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/fakes/driver.c");
/// Path of the source of a fake NCCL.
pub const NCCL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/fakes/nccl.c");
/// Path of the source of a fake NVRTC.
pub const NVRTC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/fakes/nvrtc.c");

/// Compiles the source of a library to a file, with `cc`.
///
/// # Panics
/// If there is no C compiler, or the source does not compile.
pub fn compile(source: &str, library: &Path) {
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o"]);
    let status = compiler.arg(library).arg(source).status().expect("a C compiler");
    assert!(status.success(), "{source}");
}
