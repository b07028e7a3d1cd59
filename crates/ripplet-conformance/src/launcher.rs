//! The launchers of MPICH and Open MPI, as tests use them.
//!
//! `RIPPLET_MPICH` and `RIPPLET_OPENMPI` name the folders in which each is installed, such as a virtual
//! environment with the package `mpich` or `openmpi`. Without them, the tests say so and do nothing;
//! with `RIPPLET_REQUIRE_MPI`, they fail.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// The longest time of a run, which takes seconds: one that hangs fails its test.
const LIMIT: Duration = Duration::from_secs(300);

/// An installed MPI.
#[derive(Clone, Debug)]
pub struct Mpi {
    folder: PathBuf,
    is_open_mpi: bool,
}

impl Mpi {
    /// Returns MPICH, if it is to be tested.
    pub fn mpich() -> Option<Mpi> {
        Some(Mpi { folder: folder("RIPPLET_MPICH")?, is_open_mpi: false })
    }

    /// Returns Open MPI, if it is to be tested.
    pub fn open_mpi() -> Option<Mpi> {
        Some(Mpi { folder: folder("RIPPLET_OPENMPI")?, is_open_mpi: true })
    }

    /// Yields those that are to be tested.
    pub fn all() -> impl Iterator<Item = Mpi> {
        [Mpi::mpich, Mpi::open_mpi].into_iter().filter_map(|installed| installed())
    }

    /// Returns whether this is Open MPI.
    pub fn is_open_mpi(&self) -> bool {
        self.is_open_mpi
    }

    /// Returns the path of a library of this name.
    pub fn library(&self, name: &str) -> PathBuf {
        self.folder.join("lib").join(name)
    }

    /// Returns the launcher, without arguments, and without input.
    pub fn launcher(&self) -> Command {
        let mut command = Command::new(self.folder.join("bin/mpirun"));
        if self.is_open_mpi {
            command.arg("--oversubscribe");
        }
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        let path = env::var_os("PATH").unwrap_or_default();
        let own = [self.folder.join("bin")].into_iter().chain(env::split_paths(&path));
        command.env("PATH", env::join_paths(own).unwrap()).env_remove("RIPPLET_MPI");
        command.stdin(Stdio::null());
        command
    }
}

fn folder(variable: &str) -> Option<PathBuf> {
    let Some(folder) = env::var_os(variable) else {
        assert!(env::var_os("RIPPLET_REQUIRE_MPI").is_none(), "{variable} is not set");
        eprintln!("not tested: {variable} is not set");
        return None;
    };
    Some(folder.into())
}

/// Runs a command to its end, and returns what it printed.
///
/// # Panics
/// If it does not begin, or does not end within five minutes: it is killed then with all processes that it
/// started, and the message has what it printed.
#[track_caller]
pub fn output(command: &mut Command) -> Output {
    output_within(command, LIMIT)
}

#[track_caller]
fn output_within(command: &mut Command, limit: Duration) -> Output {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let process = child.id();
    let (ended, end) = channel::<()>();
    let watch = thread::spawn(move || {
        let is_late = end.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
        if is_late {
            kill(&tree(process));
        }
        is_late
    });
    let output = child.wait_with_output();
    drop(ended);
    let is_late = watch.join().unwrap();
    let output = output.unwrap();
    assert!(!is_late, "{command:?} did not end within {limit:?}: {output:?}");
    output
}

/// Returns a process and all that descend from it.
fn tree(root: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| parent(&entry.ok()?.path()))
        .collect();
    let mut tree = vec![root];
    let mut at = 0;
    while let Some(&process) = tree.get(at) {
        tree.extend(parents.iter().filter(|(_, of)| *of == process).map(|(child, _)| child));
        at += 1;
    }
    tree
}

/// Returns a process and its parent, of its folder in `/proc`.
fn parent(folder: &Path) -> Option<(u32, u32)> {
    let process = folder.file_name()?.to_str()?.parse().ok()?;
    // `12 (name) S 11 …`, and the name may have parentheses.
    let line = fs::read_to_string(folder.join("stat")).ok()?;
    let parent = line.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
    Some((process, parent))
}

fn kill(processes: &[u32]) {
    let processes = processes.iter().map(u32::to_string);
    // One that has ended by itself cannot be killed.
    let _ = Command::new("kill").arg("-KILL").args(processes).stderr(Stdio::null()).status();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_command_that_hangs_is_ended_with_what_it_started() {
        let begun = Instant::now();
        let hung = std::panic::catch_unwind(|| {
            let mut command = Command::new("sh");
            // A child that is stopped, and keeps the output open.
            command.args(["-c", "echo before it hung; sh -c 'kill -STOP $$' & wait"]);
            output_within(&mut command, Duration::from_millis(300))
        });
        let message = *hung.unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains("did not end within 300ms"), "{message}");
        assert!(message.contains("before it hung"), "{message}");
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
}
