//! A folder of its own for each test, and the command in it.

use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
#[cfg(target_os = "linux")]
use std::thread::sleep;
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

pub struct Sandbox {
    folder: tempfile::TempDir,
}

/// Output and exit code of a command.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub error: String,
}

impl Sandbox {
    pub fn new() -> Sandbox {
        Sandbox { folder: tempfile::tempdir().unwrap() }
    }

    /// A sandbox with files in it.
    pub fn with<const N: usize>(files: [(&str, &str); N]) -> Sandbox {
        let sandbox = Sandbox::new();
        files.iter().for_each(|(name, text)| sandbox.write(name, text));
        sandbox
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, and makes its folder.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// The names of all files here, hidden ones too.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// `ripplet` with blank-separated arguments, in this folder.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ripplet"));
        command.args(arguments.split_whitespace()).current_dir(self.folder.path());
        command.stdin(Stdio::null());
        command
    }

    /// Runs `ripplet` in this folder, with this many KiB of addresses (`ulimit -v`).
    #[cfg(target_os = "linux")]
    pub fn run_within(&self, kibibytes: u64, arguments: &str) -> Said {
        let mut command = Command::new("sh");
        let binary = env!("CARGO_BIN_EXE_ripplet");
        command.args(["-c", &format!("ulimit -v {kibibytes}; exec {binary} {arguments}")]);
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command.env_remove("RUST_BACKTRACE");
        Said::of(command.output().unwrap())
    }

    /// Runs `ripplet` in this folder, on a disk that is full when a file has `blocks` blocks of 512 bytes
    /// (`ulimit -f`).
    #[cfg(unix)]
    pub fn run_with_blocks(&self, blocks: u64, arguments: &str) -> Said {
        let mut command = Command::new("sh");
        let binary = env!("CARGO_BIN_EXE_ripplet");
        let line = format!("ulimit -f {blocks}; exec {binary} {arguments}");
        command.args(["-c", &line]).current_dir(self.folder.path()).stdin(Stdio::null());
        Said::of(command.output().unwrap())
    }

    pub fn run(&self, arguments: &str) -> Said {
        Said::of(self.command(arguments).output().unwrap())
    }

    /// Runs what must succeed; returns its standard output.
    #[track_caller]
    pub fn ok(&self, arguments: &str) -> String {
        let said = self.run(arguments);
        assert_eq!(said.code, Some(0), "{arguments}: {said:?}");
        said.out
    }

    /// Runs what must fail with `code`, say each of `parts`, leave no new file, and not panic.
    #[track_caller]
    pub fn fails(&self, arguments: &str, code: i32, parts: &[&str]) -> Said {
        let before = self.names();
        let said = self.run(arguments);
        said.must_fail(arguments, code, parts);
        assert_eq!(self.names(), before, "{arguments} leaves files");
        said
    }
}

impl Said {
    pub fn of(output: Output) -> Said {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Said { code: output.status.code(), out: text(output.stdout), error: text(output.stderr) }
    }

    #[track_caller]
    pub fn must_fail(&self, what: &str, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "{what}: {self:?}");
        for part in parts {
            assert!(self.error.contains(part), "{what}: no `{part}` in {self:?}");
        }
        let panicked = ["panicked", "RUST_BACKTRACE", "unwrap"];
        assert!(!panicked.iter().any(|word| self.error.contains(word)), "{what}: {self:?}");
        assert!(!self.error.trim().is_empty(), "{what} fails without a word");
    }
}

/// Longer than anything that tests wait for takes on a busy machine.
#[cfg(target_os = "linux")]
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until `look` finds something.
#[cfg(target_os = "linux")]
#[track_caller]
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "no {what}");
        sleep(Duration::from_millis(5));
    }
}

/// A file of another crate's test data.
pub fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}
