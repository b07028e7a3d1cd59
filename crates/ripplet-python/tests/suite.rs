//! Runs python/tests, and NetworkX's own tests, with the module that cargo has built beside this binary.
//!
//! They need Python 3.11 or newer with numpy and pytest, and NetworkX; without these they are skipped and say so, unless
//! `RIPPLET_REQUIRE_PYTHON` is set: then a test that lacks any package or the command fails. `RIPPLET_PYTHON` names another
//! interpreter.

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
    for package in ["ripplet", "ripplet_command", "nx_ripplet"] {
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

/// Returns the module that cargo has built.
fn module() -> PathBuf {
    let built = env::current_exe().unwrap();
    let module = built.parent().unwrap().join("libripplet_python.so");
    assert!(module.is_file(), "cargo has not built {}", module.display());
    module
}

/// Returns the command, which cargo builds beside the folder of the module if it builds `ripplet-cli`, too. Tests that compare
/// with it are skipped without it, or fail if [`REQUIRED`] is set.
fn command(module: &Path) -> PathBuf {
    module.ancestors().nth(2).unwrap().join("ripplet")
}

/// Returns whether Python has these modules, and panics if it must.
fn has(modules: &str) -> bool {
    let check = format!("import sys, {modules}; assert sys.version_info >= (3, 11)");
    let found = python().args(["-c", &check]).output();
    let has = found.is_ok_and(|found| found.status.success());
    assert!(
        has || env::var_os(REQUIRED).is_none(),
        "{REQUIRED} is set, but there is no Python 3.11 with {modules}"
    );
    if !has {
        eprintln!("skipped: no Python 3.11 with {modules}");
    }
    has
}

/// Returns `folders` in front of Python's path.
fn python_path(folders: &[&Path]) -> OsString {
    let others = env::var_os("PYTHONPATH");
    let others = others.iter().flat_map(|path| env::split_paths(path).collect::<Vec<_>>());
    let folders = folders.iter().map(|folder| folder.to_path_buf());
    env::join_paths(folders.chain(others)).unwrap()
}

/// Runs pytest, and panics with its output if a test fails.
fn pytest(path: OsString, arguments: &[&str], variables: &[(&str, OsString)]) {
    let mut tests = python();
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=5"]).args(arguments);
    tests.current_dir(root()).env("PYTHONPATH", path).envs(variables.iter().cloned());
    let done = tests.output().unwrap();
    let stdout = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{stdout}{}", String::from_utf8_lossy(&done.stderr));
    eprintln!("{stdout}");
}

/// Writes the metadata of an installed package: the entry points of pyproject.toml, by which NetworkX finds backends.
fn install_metadata(folder: &Path) {
    let project = fs::read_to_string(root().join("pyproject.toml")).unwrap();
    let mut entry_points = String::new();
    let mut within = false;
    for line in project.lines() {
        if let Some(group) = line.strip_prefix("[project.entry-points.") {
            within = true;
            entry_points += &format!("[{}\n", group.replace('"', ""));
        } else if line.starts_with('[') {
            within = false;
        } else if within {
            entry_points += &format!("{}\n", line.replace('"', ""));
        }
    }
    let metadata = folder.join("ripplet-0.dist-info");
    fs::create_dir(&metadata).unwrap();
    fs::write(metadata.join("METADATA"), "Metadata-Version: 2.1\nName: ripplet\nVersion: 0\n")
        .unwrap();
    fs::write(metadata.join("entry_points.txt"), entry_points).unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn the_tests_of_the_python_package_pass() {
    let module = module();
    if !has("numpy, pytest") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    install(folder.path(), &module);
    pytest(
        python_path(&[folder.path()]),
        &["python/tests"],
        &[("RIPPLET_COMMAND", command(&module).into_os_string())],
    );
}

/// Builds the documentation site in `target/site`; a warning is an error.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "`cargo xtask site` runs it: it needs the packages of docs/site/requirements.txt"]
fn the_documentation_site_builds() {
    let module = module();
    let folder = tempfile::tempdir().unwrap();
    install(folder.path(), &module);
    let mut sphinx = python();
    sphinx.args(["-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-c", "docs/site"]);
    sphinx.arg("-d").arg(folder.path().join("doctrees")).args(["docs", "target/site"]);
    let done = sphinx.current_dir(root()).env("PYTHONPATH", python_path(&[folder.path()])).output();
    let done = done.unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(root().join("target/site/site/index.html").is_file());
}

/// NetworkX's own tests: those of the functions that ripplet backs, or with `RIPPLET_NETWORKX=all` all of them.
#[test]
#[cfg(target_os = "linux")]
fn networkx_passes_its_tests_with_ripplet() {
    let module = module();
    if !has("numpy, pytest, networkx, scipy") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    install(folder.path(), &module);
    install_metadata(folder.path());
    let part = env::var_os("RIPPLET_NETWORKX").unwrap_or_else(|| "short".into());
    pytest(
        python_path(&[folder.path(), &root().join("python/tests")]),
        &["-p", "networkx_suite", "--pyargs", "networkx"],
        &[
            ("NETWORKX_TEST_BACKEND", "ripplet".into()),
            ("NETWORKX_FALLBACK_TO_NX", "True".into()),
            ("RIPPLET_NETWORKX", part),
        ],
    );
}
