//! Packs the GPU tests as binaries for a machine with a GPU. They need a driver and NVRTC there, but
//! no Rust and no repository.

use crate::{USAGE, cargo, root, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SCRIPT: &str = include_str!("gpu_test.sh");

/// Packages whose `suite` is carried, and the names of the binaries in the folder: the driver's
/// tests, and the engines'.
const SUITES: [(&str, &str); 2] = [("ripplet-gpu", "gpu"), ("ripplet-cuda", "engines")];

/// Makes the folder; if the first argument is `--run`, runs its script with the other arguments.
pub fn gpu_test(arguments: &[String]) -> Result<(), String> {
    let script_arguments = match arguments.split_first() {
        None => None,
        Some((option, rest)) if option == "--run" => Some(rest),
        Some((unknown, _)) => return Err(format!("gpu-test knows no {unknown}\n{USAGE}")),
    };
    let suites = build()?;
    let [first, ..] = &suites;
    let folder = target_of(first)?.join("gpu-test");
    let at = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(at)?;
    for (suite, (_, name)) in suites.iter().zip(SUITES) {
        // Not written in place, which fails if the existing file is running (ETXTBSY).
        let new = folder.join(format!("{name}.new"));
        fs::copy(suite, &new).map_err(at)?;
        fs::rename(&new, folder.join(name)).map_err(at)?;
    }
    let script = folder.join("run.sh");
    fs::write(&script, SCRIPT).map_err(at)?;
    make_executable(&script).map_err(at)?;
    println!("made {}: run `sh run.sh` in it on a machine with a GPU", folder.display());
    match script_arguments {
        Some(arguments) => run(Command::new("sh").arg(script).args(arguments)),
        None => Ok(()),
    }
}

/// Builds the suites and returns their paths, in the order of [`SUITES`].
fn build() -> Result<[PathBuf; 2], String> {
    let mut cargo = cargo();
    cargo.args(["test", "--no-run", "--locked", "--profile", "carried"]);
    cargo.args(SUITES.iter().flat_map(|(package, _)| ["--package", package]));
    cargo.args(["--test", "suite"]);
    cargo.args(["--message-format", "json-render-diagnostics"]);
    cargo.current_dir(root()).stderr(Stdio::inherit());
    let output = cargo.output().map_err(|error| format!("{cargo:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{cargo:?}: {}", output.status));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let path = |package: &str| {
        let executable = messages.lines().find_map(|message| executable(message, package));
        executable.ok_or_else(|| format!("{cargo:?} names no executable of {package}: {messages}"))
    };
    let [(gpu, _), (engines, _)] = SUITES;
    Ok([path(gpu)?, path(engines)?])
}

/// Returns the executable of a package that a message of cargo names.
fn executable(message: &str, package: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    // The manifest's path is the same in all versions of cargo; a package id is not.
    let manifest = Path::new(message["manifest_path"].as_str()?);
    let is_its = manifest.parent()?.ends_with(package);
    message["executable"].as_str().filter(|_| is_its).map(PathBuf::from)
}

/// Returns cargo's target folder: an executable is in its `PROFILE/deps`.
fn target_of(executable: &Path) -> Result<&Path, String> {
    let target = executable.ancestors().nth(3);
    target.ok_or_else(|| format!("{} is in no folder of cargo's", executable.display()))
}

#[cfg(unix)]
fn make_executable(file: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> std::io::Result<()> {
    Ok(())
}
