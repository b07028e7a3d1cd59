//! Drivers of a sandbox's own, whatever driver the machine has.

use crate::sandbox::{Said, Sandbox};
use std::process::Command;

/// A driver without a GPU, written in C.
pub const FAKE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../ripplet-cuda/tests/fake_driver.c");

/// The names under which a driver's library may be looked for.
const NAMES: [&str; 2] = ["libcuda.so", "libcuda.so.1"];

/// Compiles C as the driver's library.
pub fn driver(sandbox: &Sandbox, source: &str) {
    let [name, other] = NAMES.map(|name| sandbox.path(name));
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o"]);
    let status = compiler.arg(&name).arg(source).status().expect("a C compiler");
    assert!(status.success(), "{source}");
    std::fs::copy(name, other).expect("copied");
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
