//! The compilers of the differential tests: rustc, and the system's C++ compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns a directory for one test inside the build directory.
pub fn workspace(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&path).expect("the build directory can be written");
    path
}

fn run(command: &mut Command, what: &str) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{what} is needed: {error}"));
    let (out, err) = (output.stdout, String::from_utf8_lossy(&output.stderr).into_owned());
    assert!(output.status.success(), "{command:?} failed:\n{}", &err[..err.len().min(8000)]);
    String::from_utf8(out).expect("the programs print ASCII")
}

/// Compiles a Rust file as a release build would (integers wrap) and runs it.
pub fn run_rust(source: &Path) -> String {
    let program = source.with_extension("rust-program");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let mut compile = Command::new(rustc);
    compile.args(["--edition=2024", "-Copt-level=1", "-Coverflow-checks=off", "--cap-lints=allow"]);
    run(compile.arg("-o").arg(&program).arg(source), "rustc");
    run(&mut Command::new(&program), "the compiled program")
}

/// Compiles a C++ file and runs it.
pub fn run_cpp(source: &Path) -> String {
    run(&mut Command::new(compile_cpp(source)), "the compiled program")
}

/// Compiles a C++ file and returns the path of the program.
pub fn compile_cpp(source: &Path) -> PathBuf {
    let program = source.with_extension("cpp-program");
    let cxx = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    let mut compile = Command::new(cxx);
    compile.args(["-std=c++17", "-O1", "-ffp-contract=off", "-w"]);
    run(compile.arg("-o").arg(&program).arg(source), "a C++ compiler (c++, or $CXX)");
    program
}
