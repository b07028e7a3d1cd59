//! The tests of the documentation, which also find links in it that lead nowhere.
//!
//! `cargo doc` would compile all crates once more to find them. Tests of the documentation are given all that is
//! needed, so this program stands in rustdoc's place there: it lets rustdoc write the pages of the library first.

use crate::run;
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// In the environment of this program when cargo calls it for rustdoc: the rustdoc that it stands for.
const RUSTDOC: &str = "RIPPLET_XTASK_RUSTDOC";

/// Arguments of `rustdoc --test` that have a value, and that no page needs.
const OF_TESTS: [&str; 3] = ["--test-run-directory", "--test-args", "--test-builder"];

/// Runs the tests of the documentation by this command of cargo; a warning is an error.
pub fn test(cargo_test: &mut Command) -> Result<(), String> {
    let this = env::current_exe().map_err(|error| format!("this program: {error}"))?;
    let rustdoc = env::var_os("RUSTDOC").unwrap_or_else(|| "rustdoc".into());
    run(cargo_test.args(["--doc", "--quiet"]).env("RUSTDOC", this).env(RUSTDOC, rustdoc))
}

/// Does what rustdoc does, if cargo calls this program in its place; before tests, the pages are written.
pub fn in_place_of_rustdoc() -> Option<Result<(), String>> {
    let rustdoc = env::var_os(RUSTDOC)?;
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let call = |arguments| run(Command::new(&rustdoc).args(arguments).env_remove(RUSTDOC));
    let pages = of_pages(&arguments).map_or(Ok(()), call);
    Some(pages.and_then(|()| call(arguments)))
}

/// Returns the arguments that write pages instead of running tests, if these run tests.
fn of_pages(arguments: &[OsString]) -> Option<Vec<OsString>> {
    if !arguments.iter().any(|argument| argument == "--test") {
        return None;
    }
    let mut pages = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if OF_TESTS.iter().any(|known| argument == known) {
            rest.next();
        } else if argument != "--test" && argument != "--no-run" {
            pages.push(argument.clone());
        }
    }
    let folder: PathBuf = env::current_exe().ok()?.with_file_name("documentation");
    pages.extend(["--deny=warnings".into(), "--out-dir".into(), folder.into_os_string()]);
    Some(pages)
}
