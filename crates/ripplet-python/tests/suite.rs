//! Runs python/tests with the module that cargo has built beside this binary.
//!
//! They need Python 3.11 or newer with numpy and pytest; without these they are skipped and say so, unless
//! `RIPPLET_REQUIRE_PYTHON` is set. `RIPPLET_PYTHON` names another interpreter.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const REQUIRED: &str = "RIPPLET_REQUIRE_PYTHON";

fn python() -> Command {
    let mut python =
        Command::new(env::var_os("RIPPLET_PYTHON").unwrap_or_else(|| "python3".into()));
    python.env("PYTHONDONTWRITEBYTECODE", "1");
    python
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Makes a folder with the packages, as installed ones: the code and the module.
fn install(folder: &Path, module: &Path) {
    for package in ["ripplet", "nx_ripplet"] {
        copy(&root().join("python/src").join(package), &folder.join(package));
    }
    fs::copy(module, folder.join("ripplet/_native.abi3.so")).unwrap();
}

/// Copies a folder with its folders, but without what Python has compiled.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for file in fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        match file.file_type().unwrap() {
            kind if kind.is_file() => {
                fs::copy(file.path(), to.join(file.file_name())).unwrap();
            }
            kind if kind.is_dir() && file.file_name() != "__pycache__" => {
                copy(&file.path(), &to.join(file.file_name()));
            }
            _ => {}
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_tests_of_the_python_package_pass() {
    let built = env::current_exe().unwrap();
    let built = built.parent().unwrap();
    let module = built.join("libripplet_python.so");
    assert!(module.is_file(), "cargo has not built {}", module.display());
    let found = python()
        .args(["-c", "import sys, numpy, pytest; assert sys.version_info >= (3, 11)"])
        .output();
    if !found.is_ok_and(|found| found.status.success()) {
        assert!(
            env::var_os(REQUIRED).is_none(),
            "{REQUIRED} is set, but there is no Python with numpy and pytest"
        );
        eprintln!("skipped: no Python 3.11 with numpy and pytest");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    install(folder.path(), &module);
    let mut path = folder.path().as_os_str().to_owned();
    if let Some(others) = env::var_os("PYTHONPATH") {
        path.push(OsString::from(":"));
        path.push(others);
    }
    let mut tests = python();
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=5", "python/tests"]);
    tests.current_dir(root()).env("PYTHONPATH", path);
    tests.env("RIPPLET_COMMAND", built.with_file_name("ripplet"));
    let done = tests.output().unwrap();
    let stdout = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{stdout}{}", String::from_utf8_lossy(&done.stderr));
    eprintln!("{stdout}");
}
