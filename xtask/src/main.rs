//! Chores beside `cargo test`: `cargo xtask test`, `cargo xtask circles`, `cargo xtask features`,
//! `cargo xtask soak`, `cargo xtask site`, `cargo xtask fuzz`, `cargo xtask deny`, `cargo xtask gpu-test`.

mod circles;
mod documentation;
mod features;
mod gpu_test;
mod soak;
mod test;

use std::env;
use std::path::Path;
use std::process::{Command, ExitCode};

const USAGE: &str = "\
cargo xtask test [PACKAGE…]                runs all tests, two binaries side by side
cargo xtask circles                        fails if files of a crate use each other in a circle
cargo xtask features [--quick]             checks that the library and the command build with each pair
                                           of their features; with --quick, with the fewest
cargo xtask soak [--cases N] [--seconds N] [PART…]
                                           the weekly run, all or some of its parts: conformance (the CPU
                                           engine on many random graphs), deny, emulator (the GPU engine
                                           with more combinations), faults (every call of small runs
                                           fails), features, fuzz (N seconds a target, default 60),
                                           kernels (a build with compiled kernels), networkx (NetworkX's
                                           own tests with ripplet), miri, properties (property tests with
                                           N cases each, default 1000), python (the package's tests, N
                                           cases of each that has random input), site, wheel (the Python
                                           package as pip builds and installs it)
cargo xtask site                           builds the documentation site in target/site: the guides, the
                                           notebooks and the reference of the Python package; needs
                                           `pip install -r docs/site/requirements.txt`
cargo xtask fuzz [--seconds N] [TARGET…]   fuzzes each reader for N seconds (default 180);
                                           needs `cargo install cargo-fuzz` and a nightly toolchain
cargo xtask deny                           checks for known vulnerabilities, and for licences and
                                           sources that deny.toml does not allow; needs
                                           `cargo install cargo-deny` and a network
cargo xtask gpu-test                       makes target/gpu-test: the GPU tests as two binaries,
                                           and run.sh, to be carried to a machine with a GPU
cargo xtask gpu-test --run [ARGUMENT…]     makes it and runs it here; arguments are run.sh's";

fn main() -> ExitCode {
    let outcome = documentation::in_place_of_rustdoc().unwrap_or_else(chore);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Does the chore that the arguments name.
fn chore() -> Result<(), String> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.split_first() {
        Some((verb, rest)) if verb == "test" => test::test(rest),
        Some((verb, [])) if verb == "circles" => circles::circles(),
        Some((verb, rest)) if verb == "features" => features::features(rest),
        Some((verb, rest)) if verb == "soak" => soak::soak(rest),
        Some((verb, rest)) if verb == "fuzz" => fuzz(rest),
        Some((verb, [])) if verb == "site" => soak::site(),
        Some((verb, [])) if verb == "deny" => soak::deny(),
        Some((verb, rest)) if verb == "gpu-test" => gpu_test::gpu_test(rest),
        _ => Err(USAGE.to_owned()),
    }
}

/// Fuzzes the named targets, or all, one after the other.
fn fuzz(arguments: &[String]) -> Result<(), String> {
    let (seconds, named) = number_option(arguments, "--seconds", 180)?;
    let targets = if named.is_empty() { all_targets()? } else { named };
    for target in targets {
        println!("fuzzing {target} for {seconds} s");
        let limit = format!("-max_total_time={seconds}");
        run(cargo().args(["+nightly", "fuzz", "run", &target, "--", &limit]))?;
    }
    Ok(())
}

/// Lists the fuzz targets: the files of `fuzz/fuzz_targets`.
fn all_targets() -> Result<Vec<String>, String> {
    let folder = root().join("fuzz/fuzz_targets");
    let entries = folder.read_dir().map_err(|error| format!("{}: {error}", folder.display()))?;
    let stem = |entry: std::fs::DirEntry| entry.path().file_stem()?.to_str().map(str::to_owned);
    let mut targets: Vec<String> = entries.filter_map(Result::ok).filter_map(stem).collect();
    targets.sort();
    Ok(targets)
}

/// Returns the value of a numeric option, and the other arguments.
fn number_option(
    arguments: &[String],
    name: &str,
    default: u64,
) -> Result<(u64, Vec<String>), String> {
    let mut rest = arguments.to_vec();
    let Some(at) = rest.iter().position(|argument| argument == name) else {
        return Ok((default, rest));
    };
    let value = rest.get(at + 1).and_then(|value| value.parse().ok());
    let value = value.ok_or_else(|| format!("{name} wants a whole number\n{USAGE}"))?;
    rest.drain(at..=at + 1);
    Ok((value, rest))
}

/// Returns cargo without what the one that started this program has said of it: build scripts that read the name of a
/// package would run again, and all that follows would be compiled once more.
fn cargo() -> Command {
    let mut cargo = Command::new("cargo");
    let is_of_this =
        |name: &str| ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|of| name.starts_with(of));
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_of_this)) {
        cargo.env_remove(name);
    }
    cargo
}

fn run(command: &mut Command) -> Result<(), String> {
    let status = command.current_dir(root()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?}: {status}")),
        Err(error) => Err(format!("{command:?}: {error}")),
    }
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}
