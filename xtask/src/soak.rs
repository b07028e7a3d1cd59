//! The weekly soak run: what takes too long, or needs other tools, for every change.

use crate::{USAGE, cargo, features, fuzz, number_option, root, run};
use std::path::PathBuf;
use std::process::Command;
use std::{fs, io};

/// Unit tests of `unsafe` code that Miri can run, and of the code around it: packages and modules.
///
/// Not all unit tests of these packages: whole graphs run in them, and safe code has no undefined
/// behaviour to find. The other `unsafe` code calls CUDA, a C++ compiler or the operating system, or uses machine
/// code and instructions that Miri does not have.
const UNDER_MIRI: [(&str, &[&str]); 4] = [
    // Slices of integers as slices of atomics: graphs are built by them.
    ("ripplet-graph", &["atomic::", "batch::", "by_size::", "identity::"]),
    // The step that a thread team borrows from its leader; labels and active vertices as atomics.
    ("ripplet-lp", &["team::", "communities::", "cpu::active::"]),
    // Sums as atomics.
    ("ripplet-analytics", &["lcc::counts::"]),
    // Keys that are made of zeros.
    ("ripplet-io", &["names::"]),
];

/// Crates whose property tests take the number of cases from `PROPTEST_CASES`.
///
/// A case of the others runs all programs on several engines, or a compiler.
const WITH_PROPERTIES: [&str; 6] = [
    "ripplet-graph",
    "ripplet-analytics",
    "ripplet-io",
    "ripplet-hooks",
    "ripplet-draw",
    "ripplet-fraud",
];

/// Options of Miri: rayon's threads outlive the tests, crossbeam keeps pointers as integers, and
/// tests write files. Miri would take minutes to name the callers of a panic, and a test has a hundred.
const MIRI_FLAGS: &str = "-Zmiri-ignore-leaks -Zmiri-permissive-provenance -Zmiri-tree-borrows \
    -Zmiri-disable-isolation -Zmiri-env-set=RUST_BACKTRACE=0";

/// What the tests of the Python package need.
const PYTHON: &str = "pip install networkx igraph networkit scipy pandas polars pyarrow duckdb scikit-learn tqdm mpi4py mypy pytest hypothesis";

/// A part of the run: its name, its work, and how to install what it needs beyond stable Rust.
struct Part {
    name: &'static str,
    work: Box<dyn Fn() -> Result<(), String>>,
    needs: &'static str,
}

/// Runs all parts, or the named ones. Continues after a failure, and lists the failed parts at the end.
pub fn soak(arguments: &[String]) -> Result<(), String> {
    let (cases, rest) = number_option(arguments, "--cases", 1000)?;
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
        part("conformance", "", Box::new(conformance)),
        part("emulator", "a C++ compiler", Box::new(emulator)),
        part("faults", "a C compiler", Box::new(faults)),
        part("features", "", Box::new(|| features::features(&[]))),
        part(
            "fuzz",
            "cargo install --locked cargo-fuzz; rustup toolchain install nightly",
            Box::new(move || fuzz(&["--seconds".into(), seconds.to_string()])),
        ),
        part(
            "networkx",
            PYTHON,
            Box::new(|| {
                python("networkx_passes_its_tests_with_ripplet", ("RIPPLET_NETWORKX", "all"))
            }),
        ),
        part("kernels", "NVRTC 13, where the system finds libraries", Box::new(kernels)),
        part("miri", "rustup toolchain install nightly --component miri,rust-src", Box::new(miri)),
        part("properties", "", Box::new(move || properties(cases))),
        part(
            "python",
            PYTHON,
            Box::new(move || {
                python(
                    "the_tests_of_the_python_package_pass",
                    ("RIPPLET_FUZZ_CASES", &cases.to_string()),
                )
            }),
        ),
        part("site", "pip install -r docs/site/requirements.txt", Box::new(site)),
        part("wheel", "Python 3.11 with venv, and a network", Box::new(wheel)),
    ]
}

/// Builds the documentation site; a warning is an error.
pub fn site() -> Result<(), String> {
    let mut cargo = cargo();
    cargo.args(["test", "--quiet", "--locked", "--package", "ripplet-python", "--test", "suite"]);
    run(cargo.args(["--", "--ignored", "the_documentation_site_builds"]))?;
    println!("the site is in target/site: open target/site/site/index.html");
    Ok(())
}

/// Checks for known vulnerabilities, licences and sources of all dependencies.
pub fn deny() -> Result<(), String> {
    run(cargo().args(["deny", "check"]))
}

/// Lets every call of small runs of the command fail in its turn, and refuses them memory with every kind of file.
fn faults() -> Result<(), String> {
    let mut cargo = cargo();
    cargo.args(["test", "--package", "ripplet-cli", "--test", "suite", "--"]);
    cargo.args(["injected", "memory::refused", "--include-ignored"]);
    run(cargo.env("RIPPLET_EVERY_CALL", "1"))
}

/// Runs the CPU engine and the oracle on many random graphs.
fn conformance() -> Result<(), String> {
    let mut cargo = cargo();
    cargo.args(["test", "--package", "ripplet-lp", "--test", "suite", "any_graph"]);
    run(cargo.env("PROPTEST_CASES", "200"))
}

/// Runs the GPU engine on the emulator with more combinations of graphs, programs, schedules and machines.
fn emulator() -> Result<(), String> {
    let mut cargo = cargo();
    cargo.args(["test", "--package", "ripplet-cuda", "--test", "suite"]);
    run(cargo.env("RIPPLET_EVERY_COMBINATION", "1"))
}

/// Builds the command with kernels that it has compiled itself, and checks that they are whole and that it has them.
fn kernels() -> Result<(), String> {
    let folder = root().join("target/kernels");
    let devices = || {
        let mut cargo = cargo();
        cargo.args(["run", "--quiet", "--locked", "--package", "ripplet-cli", "--", "devices"]);
        cargo
    };
    let mut compile = devices();
    compile.args(["--compile-kernels", "--architectures", "90"]).env("RIPPLET_CACHE", &folder);
    run(&mut compile)?;
    let mut test = cargo();
    test.args(["test", "--quiet", "--package", "ripplet-gpu", "--lib", "kernels_of_the_build"]);
    run(test.env("RIPPLET_KERNELS", &folder))?;
    let listed = devices().env("RIPPLET_KERNELS", &folder).output();
    let listed = listed.map_err(|error| format!("ripplet devices: {error}"))?;
    match String::from_utf8_lossy(&listed.stdout).contains("files built in") {
        true => Ok(()),
        false => Err("the command was built with kernels, and does not have them".to_owned()),
    }
}

/// The most bytes of the Python package's wheel.
const WHEEL_BYTES: u64 = 25_000_000;

/// What an installed package does at least.
const INSTALLED: &str = r#"
import time, networkx, numpy
begin = time.perf_counter()
import ripplet
seconds = time.perf_counter() - begin
assert seconds < 0.1, f"import ripplet took {seconds} s after numpy"
found = ripplet.communities([("ann", "bob"), ("bob", "cid"), ("cid", "ann"), ("dan", "eve")])
assert sorted(found.sizes) == [2, 3], found
graph = networkx.karate_club_graph()
assert len(networkx.community.label_propagation_communities(graph, backend="ripplet")) == 3
"#;

/// Builds the wheel as `pip install .` does, installs it in an environment of its own, and uses it there.
fn wheel() -> Result<(), String> {
    let folder = root().join("target/wheel");
    let failed = |error: io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(failed)?;
    }
    let environment = folder.join("environment");
    let python = environment.join("bin/python");
    run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    let pip = || {
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "--disable-pip-version-check"]);
        pip
    };
    run(pip().args(["wheel", "--no-deps", "--wheel-dir"]).arg(&folder).arg(root()))?;
    let entries = fs::read_dir(&folder).map_err(failed)?.flatten();
    let is_wheel = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "whl");
    let wheel = entries.map(|entry| entry.path()).find(is_wheel).ok_or("pip has made no wheel")?;
    let bytes = fs::metadata(&wheel).map_err(failed)?.len();
    println!("{} has {bytes} bytes", wheel.display());
    if bytes > WHEEL_BYTES {
        return Err(format!("the wheel has {bytes} bytes, more than {WHEEL_BYTES}"));
    }
    run(pip().args(["install", "--quiet", "networkx"]).arg(&wheel))?;
    run(Command::new(environment.join("bin/ripplet")).arg("--version"))?;
    // In another folder than that of the package's source, which Python would import.
    run(Command::new(&python).args(["-c", INSTALLED]).current_dir(&folder))
}

/// Runs unit tests of `unsafe` code under Miri, with few cases of each property.
fn miri() -> Result<(), String> {
    for (package, modules) in UNDER_MIRI {
        let mut cargo = cargo();
        cargo.args(["+nightly", "miri", "test", "--lib", "--package", package, "--"]);
        run(cargo.args(modules).env("MIRIFLAGS", MIRI_FLAGS).env("PROPTEST_CASES", "4"))?;
    }
    Ok(())
}

/// Runs property tests with more cases than `cargo test` does, in its profile: optimized code that
/// checks for overflow.
fn properties(cases: u64) -> Result<(), String> {
    let mut cargo = cargo();
    cargo.args(["test", "--quiet", "--lib", "--tests", "--no-fail-fast"]);
    cargo.args(WITH_PROPERTIES.iter().flat_map(|package| ["--package", package]));
    run(cargo.env("PROPTEST_CASES", cases.to_string()))
}

/// Runs a test of the Python package that does more with a variable of the environment.
fn python(test: &str, variable: (&str, &str)) -> Result<(), String> {
    let mut cargo = cargo();
    // The tests of the package compare with the command, which is built with the tests of its package.
    cargo.args(["test", "--locked", "--package", "ripplet-python", "--package", "ripplet-cli"]);
    cargo.args(["--test", "suite", test]);
    run(cargo.envs([variable, ("RIPPLET_REQUIRE_PYTHON", "1")]))
}
