//! The weekly soak run: what takes too long, or needs other tools, for every change.

use crate::{USAGE, features, fuzz, number_option, run};
use std::process::Command;

/// Crates with `unsafe` code that Miri can run: their unit tests call no foreign function.
///
/// The others with `unsafe` call CUDA, a C++ compiler or the operating system, or generate machine
/// code.
const UNDER_MIRI: [&str; 4] = ["ripplet-graph", "ripplet-lp", "ripplet-analytics", "ripplet-io"];

/// Options of Miri: rayon's threads outlive the tests, crossbeam keeps pointers as integers, and
/// tests write files.
const MIRI_FLAGS: &str =
    "-Zmiri-ignore-leaks -Zmiri-permissive-provenance -Zmiri-tree-borrows -Zmiri-disable-isolation";

/// A part of the run: its name, its work, and how to install what it needs beyond stable Rust.
struct Part {
    name: &'static str,
    work: Box<dyn Fn() -> Result<(), String>>,
    needs: &'static str,
}

/// Runs all parts, or the named ones. Continues after a failure, and lists the failed parts at the end.
pub fn soak(arguments: &[String]) -> Result<(), String> {
    let (cases, rest) = number_option(arguments, "--cases", 5000)?;
    let (seconds, named) = number_option(&rest, "--seconds", 60)?;
    let parts = parts(cases, seconds);
    if let Some(unknown) = named.iter().find(|name| parts.iter().all(|part| part.name != **name)) {
        return Err(format!("soak knows no {unknown}\n{USAGE}"));
    }
    let mut failed = Vec::new();
    for part in
        parts.iter().filter(|part| named.is_empty() || named.iter().any(|name| name == part.name))
    {
        println!("soak: {}", part.name);
        if let Err(message) = (part.work)() {
            eprintln!("soak: {} failed: {message}", part.name);
            failed.push(part);
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    let lines = failed.iter().map(|part| match part.needs {
        "" => format!("{} failed", part.name),
        needs => format!("{} failed; it needs: {needs}", part.name),
    });
    Err(lines.collect::<Vec<_>>().join("\n"))
}

fn parts(cases: u64, seconds: u64) -> Vec<Part> {
    let part = |name, needs, work: Box<dyn Fn() -> Result<(), String>>| Part { name, work, needs };
    vec![
        part("deny", "cargo install --locked cargo-deny, and a network", Box::new(deny)),
        part("features", "", Box::new(|| features::features(&[]))),
        part(
            "fuzz",
            "cargo install --locked cargo-fuzz; rustup toolchain install nightly",
            Box::new(move || fuzz(&["--seconds".into(), seconds.to_string()])),
        ),
        part("miri", "rustup toolchain install nightly --component miri,rust-src", Box::new(miri)),
        part("properties", "", Box::new(move || properties(cases))),
    ]
}

/// Checks for known vulnerabilities, licences and sources of all dependencies.
pub fn deny() -> Result<(), String> {
    run(Command::new("cargo").args(["deny", "check"]))
}

/// Runs the unit tests of crates with `unsafe` under Miri, with few cases of each property.
fn miri() -> Result<(), String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["+nightly", "miri", "test", "--lib"]);
    cargo.args(UNDER_MIRI.iter().flat_map(|package| ["--package", package]));
    run(cargo.env("MIRIFLAGS", MIRI_FLAGS).env("PROPTEST_CASES", "4"))
}

/// Runs every property test much longer than `cargo test` does.
fn properties(cases: u64) -> Result<(), String> {
    run(Command::new("cargo")
        .args(["test", "--release", "--workspace"])
        .env("PROPTEST_CASES", cases.to_string()))
}
