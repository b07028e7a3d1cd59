//! Memory that the system refuses, at whatever moment, ends in one sentence, code 1, and no output.

use crate::sandbox::{Said, Sandbox};
use std::fmt::Write;

/// One thread has a stack and a heap of its own, more have more: the figures below are for two.
const RUN: &str = "--threads 2 --quiet -o out.txt";
const VERTICES: u64 = 25_000;
const EDGES_PER_VERTEX: u64 = 5;
/// Limits that are tried between those at which the smallest graph and the whole one can be done.
const STEPS: u64 = 5;

/// A sandbox with the same edges among these vertices in every format, and the flags for each file.
fn sandbox(vertices: u64) -> (Sandbox, Vec<(&'static str, &'static str)>) {
    let sandbox = Sandbox::with([("tiny.txt", "1 2\n2 3\n")]);
    let random = |row: u64| 1 + row.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) % vertices;
    let (mut plain, mut names, mut weighted) = (String::new(), String::new(), String::new());
    for row in 0..vertices * EDGES_PER_VERTEX {
        // Each vertex has an edge, so that matrices, too, can hold the graph.
        let [s, t] = [1 + row % vertices, random(row)];
        let _ = writeln!(plain, "{s} {t}");
        let _ = writeln!(names, "a-vertex-with-the-name-{s},vertex-{t}");
        let _ = writeln!(weighted, "{s},{t},{}", row % 7);
    }
    sandbox.write("plain.txt", plain);
    sandbox.write("names.csv", format!("source,target\n{names}"));
    sandbox.write("weighted.csv", format!("source,target,weight\n{weighted}"));
    for out in ["a.txt.gz", "a.txt.zst", "a.e", "a.mtx", "a.rg", "a.parquet", "a.arrow"] {
        sandbox.ok(&format!("convert plain.txt {out}"));
    }
    sandbox.ok("convert a.mtx a.graph");
    sandbox.ok("convert names.csv names.parquet");
    sandbox.ok("convert names.csv names.arrow");
    let files = vec![
        ("plain.txt", ""),
        ("names.csv", ""),
        ("weighted.csv", "--weighted"),
        ("a.txt.gz", ""),
        ("a.txt.zst", ""),
        ("a.e", ""),
        ("a.mtx", "--directed"),
        ("a.graph", ""),
        ("a.parquet", ""),
        ("a.arrow", ""),
        ("names.parquet", ""),
        ("names.arrow", ""),
        ("a.rg", ""),
    ];
    (sandbox, files)
}

/// The least limit, in steps of 2 MiB, with which a run succeeds.
fn least(sandbox: &Sandbox, run: &str) -> u64 {
    let (mut fails, mut does) = (1 << 13, 1 << 19);
    while does - fails > 1 << 11 {
        let middle = fails + (does - fails) / 2;
        if sandbox.run_within(middle, run).code == Some(0) { does = middle } else { fails = middle }
    }
    let _ = std::fs::remove_file(sandbox.path("out.txt"));
    does
}

#[test]
fn refused_memory_is_a_sentence_in_some_formats() {
    refused_memory_is_a_sentence(0);
}

#[test]
fn refused_memory_is_a_sentence_in_all_others() {
    refused_memory_is_a_sentence(1);
}

/// Of every other file, from this one on: two of these run side by side. Of every fourth, if not in the weekly run
/// (`RIPPLET_EVERY_CALL`).
fn refused_memory_is_a_sentence(first: usize) {
    let (sandbox, files) = sandbox(VERTICES);
    let floor = least(&sandbox, &format!("communities tiny.txt {RUN}"));
    let apart = if std::env::var_os("RIPPLET_EVERY_CALL").is_some() { 2 } else { 4 };
    for (file, flags) in files.into_iter().skip(first).step_by(apart) {
        let run = format!("communities {file} {flags} {RUN}");
        let enough = least(&sandbox, &run);
        let (before, mut refused) = (sandbox.names(), 0);
        for step in 0..STEPS {
            let limit = floor + enough.saturating_sub(floor) * step / STEPS;
            let said = sandbox.run_within(limit, &run);
            let what = format!("{limit} KiB for {run}");
            if said.code == Some(0) {
                std::fs::remove_file(sandbox.path("out.txt")).unwrap();
                continue;
            }
            assert_eq!(said.code, Some(1), "{what}: {said:?}");
            let told =
                ["memory", "refused", "cannot start"].iter().any(|word| said.error.contains(word));
            assert!(told && said.error.contains("error: "), "{what}: {said:?}");
            assert!(!said.error.contains("panicked"), "{what}: {said:?}");
            assert_eq!(sandbox.names(), before, "{what} leaves files");
            refused += 1;
        }
        assert!(refused > 0 || file.ends_with(".rg"), "{file}: no limit was too low");
    }
}

#[test]
fn a_limit_of_ones_own_holds_while_reading() {
    // Storing the lists anew takes more than the least limit, 1 MiB.
    let (sandbox, files) = sandbox(2 * VERTICES);
    sandbox.ok("convert weighted.csv w.rg --weighted");
    sandbox.ok("convert w.rg w.rgz");
    // A graph that is opened takes memory if its lists get another storage.
    let kept_otherwise =
        [("w.rgz", "--storage plain"), ("w.rg", "--storage compressed --weighted")];
    let read = files.into_iter().filter(|(file, _)| !file.ends_with(".rg"));
    for (file, flags) in read.chain(kept_otherwise) {
        let run = format!("communities {file} {flags} {RUN}");
        let limited = format!("{run} --host-memory 1MiB");
        if file.ends_with(".parquet") {
            // That crate has no error for refused memory: the process says what it can.
            let mut command = sandbox.command(&limited);
            let said = Said::of(command.env_remove("RUST_BACKTRACE").output().unwrap());
            assert!(said.error.contains("error: "), "{said:?}");
            assert_eq!(said.code, Some(2), "{said:?}");
            assert!(!sandbox.path("out.txt").exists());
        } else {
            sandbox.fails(&limited, 2, &["needs more memory than 1.0 MiB", "--host-memory"]);
        }
        sandbox.ok(&format!("{run} --host-memory 1GiB"));
        std::fs::remove_file(sandbox.path("out.txt")).unwrap();
    }
}
