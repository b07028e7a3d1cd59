//! Drivers and compilers of a sandbox's own, whatever the machine has.

use crate::sandbox::{Said, Sandbox};
use std::process::Command;

/// A driver without a GPU, written in C.
pub const FAKE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../ripplet-emulator/src/fakes/driver.c");

/// An NVRTC that compiles nothing, written in C.
pub const FAKE_NVRTC: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../ripplet-emulator/src/fakes/nvrtc.c");

/// The names under which a driver's library may be looked for.
const NAMES: [&str; 2] = ["libcuda.so", "libcuda.so.1"];
/// The names under which NVRTC's library may be looked for.
const NVRTC_NAMES: [&str; 4] =
    ["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11"];

/// Compiles C as the driver's library.
pub fn driver(sandbox: &Sandbox, source: &str) {
    compile(sandbox, source, &NAMES);
}

/// Compiles C as NVRTC's library.
pub fn compiler(sandbox: &Sandbox, source: &str) {
    compile(sandbox, source, &NVRTC_NAMES);
}

/// Compiles C as a library of these names.
fn compile(sandbox: &Sandbox, source: &str, names: &[&str]) {
    let name = sandbox.path(names[0]);
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o"]);
    let status = compiler.arg(&name).arg(source).status().expect("a C compiler");
    assert!(status.success(), "{source}");
    for other in &names[1..] {
        std::fs::copy(&name, sandbox.path(other)).expect("copied");
    }
}

/// Puts bytes that are no library where NVRTC's is looked for.
pub fn no_compiler(sandbox: &Sandbox) {
    NVRTC_NAMES.iter().for_each(|name| sandbox.write(name, b"this is no library"));
}

/// Puts bytes that are no library where the driver's is looked for.
pub fn no_driver(sandbox: &Sandbox, bytes: &[u8]) {
    NAMES.iter().for_each(|name| sandbox.write(name, bytes));
}

/// Runs `ripplet` with the sandbox's driver, and a cache of kernels there.
pub fn run(sandbox: &Sandbox, arguments: &str, environment: &[(&str, &str)]) -> Said {
    let mut command = sandbox.command(arguments);
    command.env("LD_LIBRARY_PATH", sandbox.path("")).env("RIPPLET_CACHE", sandbox.path("cache"));
    Said::of(command.envs(environment.iter().copied()).output().expect("it runs"))
}
