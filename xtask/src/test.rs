//! Runs all tests, several binaries side by side.
//!
//! `cargo test --workspace` runs one test binary after the other, and at the end of each its longest
//! test runs alone. Side by side, the next binary fills the cores meanwhile. The tests of the documentation, which
//! rustdoc builds one crate after the other on one core, run beside them.

use crate::{USAGE, cargo, documentation, root};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Packages whose tests take longest: they begin first, so that none of them ends alone.
const LONGEST: [&str; 5] =
    ["ripplet-cuda", "ripplet-cli", "ripplet-fraud", "ripplet-lp", "ripplet-io"];

/// The package whose tests wait most of their time, for servers and for processes that they start: they run beside
/// all others.
const WAITING: &str = "ripplet-python";

/// Binaries that run at a time beside those of [`WAITING`].
const AT_ONCE: usize = 2;

/// The longest time of a binary, which takes minutes: one that hangs is ended, and has failed.
const LIMIT: Duration = Duration::from_secs(30 * 60);

/// A test binary, and the package that it tests.
struct Suite {
    package: PathBuf,
    executable: PathBuf,
    name: String,
}

/// Builds and runs the tests of the named packages, or of the workspace, with those of the documentation.
pub fn test(packages: &[String]) -> Result<(), String> {
    if let Some(unknown) = packages.iter().find(|name| name.starts_with('-')) {
        return Err(format!("test knows no {unknown}\n{USAGE}"));
    }
    let mut suites = build(packages)?;
    let place = |suite: &Suite| {
        let begin = |package: &&str| suite.package.ends_with(package);
        LONGEST.iter().position(begin).unwrap_or(LONGEST.len())
    };
    suites.sort_by_key(place);
    let (waiting, busy) = suites.into_iter().partition(|suite| suite.package.ends_with(WAITING));
    let [waiting, busy]: [Mutex<VecDeque<Suite>>; 2] = [Mutex::new(waiting), Mutex::new(busy)];
    let failed = Mutex::new(Vec::new());
    let run_all = |suites: &Mutex<VecDeque<Suite>>| {
        while let Some(suite) = next(suites) {
            if let Err(message) = suite.run() {
                lock(&failed).push(message);
            }
        }
    };
    let documentation = std::thread::scope(|threads| {
        let documentation = threads.spawn(|| {
            let begin = Instant::now();
            documentation::test(&mut cargo_test(packages))?;
            println!("documentation ({:.0} s)", begin.elapsed().as_secs_f64());
            Ok(())
        });
        threads.spawn(|| run_all(&waiting));
        for _ in 0..AT_ONCE {
            threads.spawn(|| run_all(&busy));
        }
        documentation.join().unwrap_or_else(|_| Err("the tests of the documentation".to_owned()))
    });
    let mut failed = failed.into_inner().unwrap_or_default();
    failed.extend(documentation.err());
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// Returns `cargo test` of the named packages, or of the workspace.
fn cargo_test(packages: &[String]) -> Command {
    let mut cargo = cargo();
    cargo.args(["test", "--locked"]);
    match packages {
        [] => cargo.arg("--workspace"),
        named => cargo.args(named.iter().flat_map(|name| ["--package", name])),
    };
    cargo
}

fn next(waiting: &Mutex<VecDeque<Suite>>) -> Option<Suite> {
    lock(waiting).pop_front()
}

/// Locks a mutex; what it guards is valid at all times.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Builds what `cargo test` builds of these packages, and returns the test binaries.
fn build(packages: &[String]) -> Result<Vec<Suite>, String> {
    let mut cargo = cargo_test(packages);
    cargo.args(["--no-run", "--message-format", "json-render-diagnostics"]);
    let output = cargo.current_dir(root()).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("{cargo:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{cargo:?}: {}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(Suite::of).collect())
}

impl Suite {
    /// Returns the test binary that a message of cargo names.
    fn of(message: &str) -> Option<Suite> {
        let message: serde_json::Value = serde_json::from_str(message).ok()?;
        if message["profile"]["test"] != true {
            return None;
        }
        let package = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
        let executable = message["executable"].as_str()?.into();
        let name =
            format!("{}, {}", package.file_name()?.display(), message["target"]["name"].as_str()?);
        Some(Suite { package, executable, name })
    }

    /// Runs the tests in the folder of their package, as cargo does; prints all output of a failure.
    fn run(&self) -> Result<(), String> {
        let begin = Instant::now();
        let mut command = Command::new(&self.executable);
        command.current_dir(&self.package).env("CARGO_MANIFEST_DIR", &self.package);
        let (Output { status, stdout, stderr }, is_late) =
            output(&mut command).map_err(|error| format!("{}: {error}", self.name))?;
        let stdout = String::from_utf8_lossy(&stdout);
        let seconds = begin.elapsed().as_secs_f64();
        if is_late {
            // Of a test that is long, its binary has said so.
            println!("{stdout}{}", String::from_utf8_lossy(&stderr));
            return Err(format!("{} did not end within {LIMIT:?}", self.name));
        }
        if status.success() {
            let result =
                stdout.lines().rfind(|line| line.starts_with("test result")).unwrap_or_default();
            println!("{} ({seconds:.0} s): {result}", self.name);
            return Ok(());
        }
        println!("{stdout}{}", String::from_utf8_lossy(&stderr));
        Err(format!("{} failed: {status}", self.name))
    }
}

/// Runs a command, for no longer than the limit; returns what it printed, and whether it was ended then.
fn output(command: &mut Command) -> std::io::Result<(Output, bool)> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // What it starts is ended with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let child = command.spawn()?;
    let group = format!("-{}", child.id());
    let (ended, end) = channel::<()>();
    std::thread::scope(|threads| {
        let watch = threads.spawn(move || {
            let is_late = end.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout);
            if is_late {
                // If there is no such command, the binary is waited for.
                let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
            }
            is_late
        });
        let output = child.wait_with_output();
        drop(ended);
        Ok((output?, watch.join().unwrap_or(false)))
    })
}
