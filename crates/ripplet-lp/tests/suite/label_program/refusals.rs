//! What the macro refuses: the message, and its place at the user's own token.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs that the macro refuses, each with what the compiler says.
const FOLDER: &str = "tests/suite/label_program/refused";

/// The library that these tests were built with: of several, the newest.
fn library() -> PathBuf {
    let executable = std::env::current_exe().unwrap();
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libripplet_lp-") && name.ends_with(".rlib")
    };
    let files = executable.parent().unwrap().read_dir().unwrap();
    let libraries = files.map(|entry| entry.unwrap().path()).filter(is_library);
    libraries.max_by_key(|path| path.metadata().unwrap().modified().unwrap()).unwrap()
}

/// Compiles a program, which must fail; returns what the compiler says, without its last lines, which count errors.
fn refusal(program: &Path, library: &Path) -> String {
    let out = tempfile::tempdir().unwrap();
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition=2024", "--emit=metadata", "--cap-lints=allow", "--color=never"]);
    rustc.arg("--out-dir").arg(out.path());
    let mut named = OsString::from("ripplet_lp=");
    named.push(library);
    rustc.arg("--extern").arg(named).arg("-L").arg(library.parent().unwrap()).arg(program);
    let output = rustc.output().unwrap();
    assert!(!output.status.success(), "{} compiles", program.display());
    let said = String::from_utf8(output.stderr).unwrap();
    said.split("error: aborting due to").next().unwrap_or_default().trim_end().to_owned() + "\n"
}

/// `RIPPLET_WRITE_EXPECTED=1 cargo test -p ripplet-lp refused_programs` rewrites the expected messages.
#[test]
fn refused_programs_say_why_and_where() {
    let (library, mut count, mut differences) = (library(), 0, String::new());
    for entry in fs::read_dir(FOLDER).unwrap() {
        let program = Path::new(FOLDER).join(entry.unwrap().file_name());
        if program.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let (said, expected) = (refusal(&program, &library), program.with_extension("stderr"));
        if std::env::var_os("RIPPLET_WRITE_EXPECTED").is_some() {
            fs::write(&expected, &said).unwrap();
        }
        if fs::read_to_string(&expected).ok().as_ref() != Some(&said) {
            let _ = writeln!(differences, "{}:\n{said}", program.display());
        }
        count += 1;
    }
    assert!(count > 10, "{count} programs");
    assert!(differences.is_empty(), "other messages than expected\n{differences}");
}
