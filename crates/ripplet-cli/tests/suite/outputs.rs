//! Outputs appear whole or not at all, and what cannot be written is found before the work.

use crate::sandbox::{Said, Sandbox};
use std::fs;
#[cfg(unix)]
use std::process::{Command, Stdio};

#[test]
fn places_are_checked_first() {
    let sandbox = Sandbox::with([("a.txt", "1 2\n")]);
    fs::create_dir(sandbox.path("folder")).unwrap();
    for (run, parts) in [
        ("communities a.txt -o no/out.txt", ["no/out.txt", "folder no does not exist"]),
        ("communities a.txt -o out.txt --stats no/s.json", ["no/s.json", "does not exist"]),
        ("communities a.txt -o folder", ["folder", "choose such a name"]),
        ("communities a.txt -o folder.txt/", ["folder.txt/ names a folder", "name"]),
        ("communities a.txt -o out.xlsx", ["out.xlsx", ".parquet"]),
        ("communities a.txt -o out.rg", ["out.rg", ".parquet"]),
        ("communities a.txt -o a.txt", ["a.txt is named twice", "choose another name"]),
        ("communities a.txt -o ./folder/../a.txt", ["named twice", "choose another name"]),
        ("communities a.txt -o out.txt --stats out.txt", ["named twice", "choose another name"]),
        ("convert a.txt a.txt", ["named twice", "choose another name"]),
        ("convert a.txt no/a.rg", ["no/a.rg", "does not exist"]),
        ("convert a.txt b.xlsx", ["b.xlsx", "does not tell the format"]),
        ("generate road -o no/a.rg", ["no/a.rg", "does not exist"]),
        ("generate swarm -o no/a.swarm", ["no/a.swarm", "does not exist"]),
        ("generate planted -o a.rg --truth a.rg", ["a.rg", ""]),
        ("generate planted -o a.csv --truth a.csv", ["named twice", "choose another name"]),
    ] {
        sandbox.fails(run, 2, &parts);
    }
    assert_eq!(sandbox.read("a.txt"), "1 2\n");
}

#[test]
fn formats_that_cannot_hold_the_ids_are_refused() {
    let sandbox = Sandbox::with([("a.tsv", "a b\tc\n"), ("gaps.txt", "1 5\n")]);
    sandbox.fails("communities a.tsv -o out.txt", 2, &["out.txt"]);
    sandbox.ok("communities a.tsv -o out.csv");
    sandbox.fails("convert gaps.txt out.mtx", 2, &["out.mtx", "gaps"]);
    sandbox.fails("convert a.tsv out.e", 2, &["out.e", "names"]);
}

#[test]
fn a_run_that_fails_leaves_the_old_output() {
    let sandbox = Sandbox::with([("bad.txt", "1 2\n1\n"), ("out.txt", "old\n")]);
    sandbox.fails("communities bad.txt -o out.txt --stats s.json", 2, &["bad.txt:2"]);
    assert_eq!(sandbox.read("out.txt"), "old\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let sandbox = Sandbox::new();
    sandbox.ok("generate road --scale 14 -o a.rg");
    let full = || Stdio::from(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    for run in
        ["communities a.rg -o -", "convert a.rg -", "info a.rg", "communities a.rg --estimate"]
    {
        let said = Said::of(sandbox.command(run).stdout(full()).output().unwrap());
        said.must_fail(run, 1, &["cannot write to standard output", "No space left"]);
    }
    std::os::unix::fs::symlink("/dev/full", sandbox.path("out.csv")).unwrap();
    sandbox.fails("communities a.rg -o out.csv", 1, &["cannot write out.csv", "No space left"]);
    sandbox.fails("convert a.rg out.csv", 1, &["cannot write out.csv", "No space left"]);
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_grow() {
    let sandbox = Sandbox::new();
    sandbox.ok("generate road --scale 14 -o a.rg");
    let binary = env!("CARGO_BIN_EXE_ripplet");
    for run in
        ["communities a.rg -o out.txt --stats s.json", "convert a.rg b.rg", "convert a.rg b.el"]
    {
        // Without the trap, the system would end the process instead of refusing to write.
        let limited = format!("trap '' XFSZ; ulimit -f 8; exec {binary} {run}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &limited]).current_dir(sandbox.path(""));
        let said = Said::of(shell.output().unwrap());
        said.must_fail(run, 1, &["cannot write", "File too large", "nothing was left behind"]);
        assert_eq!(sandbox.names(), ["a.rg"], "{run}");
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let sandbox = Sandbox::new();
    sandbox.ok("generate road --scale 16 -o a.rg");
    for run in ["convert a.rg -", "communities a.rg -o -"] {
        let mut command = sandbox.command(run);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let said = Said::of(child.wait_with_output().unwrap());
        said.must_fail(run, 1, &["cannot write to standard output", "Broken pipe"]);
    }
}
