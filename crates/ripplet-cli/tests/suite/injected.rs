//! Calls of the system fail in their turn: each allocation, opening or mapping of a file, read, write, sync,
//! rename and thread of small runs, one run for each, as SQLite is tested. Whatever fails, a command does what it
//! should, or ends with a sentence and code 1 and leaves nothing unfinished; calls that are only short or interrupted
//! change nothing.
//!
//! Of the calls that the same functions lead to, the first or the last fails, in the first of the runs that has them; of
//! allocations, which are most, in every third such place. With `RIPPLET_EVERY_CALL` set, all of them do, as in the weekly run.
//!
//! The calls fail in `injected.c`, a library that the command is started with.

use crate::sandbox::{Said, Sandbox};
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use tempfile::TempDir;

/// The failing call, and whether the run must succeed nevertheless.
#[derive(Clone, Copy)]
struct Fault {
    name: &'static str,
    /// Nothing is lost where a call does less than it could, or is to be made again.
    harmless: bool,
    /// Each call fails in its turn, or all do at once.
    each: bool,
}

const fn each(name: &'static str) -> Fault {
    Fault { name, harmless: false, each: true }
}

/// Of this many places that allocate, one fails.
const ALLOCATIONS_STEP: usize = 3;

const ALLOCATIONS: [Fault; 2] = [each("alloc"), each("alloc-on")];
const OTHERS: [Fault; 11] = [
    each("open"),
    each("map"),
    each("read"),
    Fault { harmless: true, ..each("read-interrupted") },
    Fault { name: "read-short", harmless: true, each: false },
    each("write-full"),
    Fault { harmless: true, ..each("write-interrupted") },
    Fault { name: "write-short", harmless: true, each: false },
    each("sync"),
    each("rename"),
    each("thread"),
];

/// A run, in a folder of its own, and what it gives where nothing fails.
struct Run {
    sandbox: Sandbox,
    arguments: &'static str,
    output: &'static str,
    library: PathBuf,
    before: Vec<String>,
    expected: (String, Option<Vec<u8>>),
}

/// `injected.c` as a library, in a folder of its own.
struct Library(TempDir);

impl Library {
    fn new() -> Library {
        let library = Library(tempfile::tempdir().expect("a folder"));
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/injected.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o"]);
        compiler.arg(library.path()).arg(source).arg("-ldl");
        assert!(compiler.status().expect("a C compiler").success());
        library
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("injected.so")
    }
}

impl Run {
    fn new(library: &Library, arguments: &'static str, output: &'static str) -> Run {
        let rows: String = (0..96)
            .map(|row: u32| {
                let (from, to) = (row * 7 % 17, row * 11 % 13);
                format!("u{from},u{to},2024-01-{:02}T{:02}:00:00Z\n", 1 + row / 12, row % 12)
            })
            .collect();
        let mapping = "time = \"at\"\n[source]\ncolumn = \"a\"\nkind = \"u\"\n\
                       [target]\ncolumn = \"b\"\nkind = \"u\"\n";
        let sandbox = Sandbox::with([
            (
                "a.csv",
                "source,target,weight\na,b,1\nb,c,2.5\nc,a,1\nc,d,0.25\nd,e,3\ne,f,1\nf,d,1\n",
            ),
            ("many.csv", "graph,source,target\n1,2,3\n1,3,4\n2,7,8\n2,8,9\n2,9,7\n"),
            ("t.csv", &*format!("a,b,at\n{rows}")),
            ("m.toml", mapping),
            ("known.csv", "id\nu1\nu2\n"),
            ("both.csv", "id,community\na,1\nb,1\nc,1\nc,2\nd,2\ne,2\n"),
            ("labels.csv", "id,community\na,1\nb,1\nc,1\nd,2\ne,2\nf,2\n"),
        ]);
        for made in ["a.csv.gz", "a.csv.zst", "a.rg", "a.parquet"] {
            sandbox.ok(&format!("convert a.csv {made} --weighted"));
        }
        let before = sandbox.names();
        let (library, expected) = (library.path(), Default::default());
        let mut run = Run { sandbox, arguments, output, library, before, expected };
        let said = run.with("none", 0, None);
        assert_eq!(said.code, Some(0), "{arguments}: {said:?}");
        run.expected = (said.out, run.take_output());
        assert_eq!(run.expected.1.is_some(), !output.is_empty());
        run
    }

    /// Runs it where a call fails.
    fn with(&self, fault: &str, at: u64, count_to: Option<&str>) -> Said {
        let mut command = self.sandbox.command(&format!("{} --threads 1 --quiet", self.arguments));
        command.env("LD_PRELOAD", &self.library).env_remove("RUST_BACKTRACE");
        command.env("FAULT", fault).env("FAULT_AT", at.to_string());
        if let Some(file) = count_to {
            command.env("FAULT_COUNT", self.sandbox.path(file));
        }
        Said::of(command.output().unwrap())
    }

    /// Numbers of the run's calls that are to fail, ascending: of each stack of callers that is not in `seen`, the
    /// first or, in turns, the last.
    fn calls(&self, fault: &str, seen: &mut HashSet<u64>) -> Vec<u64> {
        let said = self.with(fault, 0, Some("count"));
        assert_eq!(said.code, Some(0), "{said:?}");
        let noted = self.sandbox.read("count");
        fs::remove_file(self.sandbox.path("count")).unwrap();
        let _ = self.take_output();
        let mut numbers = BTreeSet::new();
        let mut count = 0;
        for line in noted.lines() {
            let values: Vec<u64> = line.split(' ').map(|value| value.parse().unwrap()).collect();
            match values[..] {
                [stack, first, last] if seen.insert(stack) => {
                    numbers.insert(if seen.len().is_multiple_of(2) { first } else { last });
                }
                [_, _, _] => {}
                [all] => count = all,
                _ => panic!("{line}"),
            }
        }
        if std::env::var_os("RIPPLET_EVERY_CALL").is_some() {
            return (1..=count).collect();
        }
        let step = if fault.starts_with("alloc") { ALLOCATIONS_STEP } else { 1 };
        numbers.into_iter().step_by(step).collect()
    }

    fn take_output(&self) -> Option<Vec<u8>> {
        let path = self.sandbox.path(self.output);
        if self.output.is_empty() || !path.exists() {
            return None;
        }
        let bytes = fs::read(&path).unwrap();
        fs::remove_file(path).unwrap();
        Some(bytes)
    }

    /// Lets calls from stacks that are not in `seen` fail in their turn; how many did.
    fn check(&self, fault: Fault, seen: &mut HashSet<u64>) -> usize {
        let calls = if fault.each { self.calls(fault.name, seen) } else { vec![1] };
        let mut refused = 0;
        for at in calls {
            let said = self.with(fault.name, at, None);
            let what = format!("{} where {} {at} fails", self.arguments, fault.name);
            let output = self.take_output();
            if said.code == Some(0) {
                assert!(
                    said.out == self.expected.0 && output == self.expected.1,
                    "{what}: {said:?}"
                );
            } else {
                assert!(!fault.harmless, "{what}: {said:?}");
                // The input is not to blame.
                assert_eq!(said.code, Some(1), "{what}: {said:?}");
                assert!(said.error.contains("error: "), "{what}: {said:?}");
                assert!(!said.error.contains("panicked"), "{what}: {said:?}");
                // Outputs that were finished before the fault are complete.
                assert!(output.is_none() || output == self.expected.1, "{what}: {said:?}");
                refused += 1;
            }
            assert_eq!(self.sandbox.names(), self.before, "{what} leaves files");
        }
        refused
    }
}

/// Checks runs by two threads; each fault that is not harmless must have ended some of them.
fn check_all(runs: &[(&'static str, &'static str)], faults: &[Fault]) {
    let (library, next) = (Library::new(), AtomicUsize::new(0));
    let work = || {
        let new = |&(arguments, output)| Run::new(&library, arguments, output);
        let runs: Vec<_> = runs.iter().map(new).collect();
        while let Some(fault) = faults.get(next.fetch_add(1, Relaxed)) {
            let mut seen = HashSet::new();
            let ended: usize = runs.iter().map(|run| run.check(*fault, &mut seen)).sum();
            assert_eq!(ended == 0, fault.harmless, "{}: {ended} runs failed", fault.name);
        }
    };
    thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
}

#[test]
fn every_allocation_is_refused_in_turn() {
    check_all(
        &[
            ("communities a.csv -o out.csv --weighted --device cpu", "out.csv"),
            ("convert a.csv.gz out.rg --weighted", "out.rg"),
            ("convert a.csv.zst out.csv.gz --weighted", "out.csv.gz"),
            ("convert many.csv out.swarm --batch", "out.swarm"),
            ("convert a.parquet out.arrow --weighted", "out.arrow"),
            ("quality a.csv labels.csv --weighted", ""),
            ("quality a.csv both.csv --truth labels.csv --per-community out.csv", "out.csv"),
        ],
        &ALLOCATIONS,
    );
}

#[test]
fn every_open_map_read_write_sync_rename_and_thread_fails_in_turn() {
    check_all(
        &[
            ("communities a.csv -o out.csv --weighted --device cpu", "out.csv"),
            ("communities a.rg -o - --device cpu", ""),
            ("convert a.csv.gz out.rg --weighted", "out.rg"),
            ("convert a.csv.zst out.csv.gz --weighted", "out.csv.gz"),
            ("convert a.parquet out.arrow --weighted", "out.arrow"),
            ("convert many.csv out.swarm --batch", "out.swarm"),
            ("quality a.csv labels.csv --weighted", ""),
            ("betweenness many.csv --batch -o out.tsv --device cpu", "out.tsv"),
        ],
        &OTHERS,
    );
}

/// The output of a fraud run without the seconds; all of it must be finished.
fn results(folder: &std::path::Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            assert!(!name.ends_with(".part"), "{} is left", path.display());
            if path.is_dir() {
                folders.push(path);
            } else if !["manifest.json", "report.html", "window.json"].contains(&&*name) {
                let bytes = fs::read(&path).unwrap();
                found.push((path, bytes));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_run_of_fraud_goes_on_after_any_fault() {
    let fraud = "fraud run t.csv --mapping m.toml --known-bad known.csv --window 4d --slide 2d \
                 --device cpu -o out";
    let faults = [each("read"), each("write-full"), each("sync"), each("rename")];
    let (library, next) = (Library::new(), AtomicUsize::new(0));
    let work = || {
        let run = Run::new(&library, fraud, "");
        let out = run.sandbox.path("out");
        let whole = results(&out);
        assert!(whole.len() > 9, "{whole:?}");
        while let Some(fault) = faults.get(next.fetch_add(1, Relaxed)) {
            let reset = || drop(fs::remove_dir_all(&out));
            reset();
            let (calls, mut refused) = (run.calls(fault.name, &mut HashSet::new()), 0);
            for at in calls {
                reset();
                let said = run.with(fault.name, at, None);
                let what = format!("{} {at}: {said:?}", fault.name);
                let _ = results(&out);
                if said.code != Some(0) {
                    assert!(matches!(said.code, Some(1 | 2)), "{what}");
                    assert!(said.error.contains("error: "), "{what}");
                    refused += 1;
                    // A run that did not begin leaves nothing to resume.
                    let begun = out.join("manifest.json").exists();
                    assert!(begun || !out.exists(), "{what} leaves a folder");
                    let resume = if begun { "--resume" } else { "" };
                    let again = run.sandbox.run(&format!("{fraud} --threads 1 --quiet {resume}"));
                    assert_eq!(again.code, Some(0), "{what}, then {again:?}");
                }
                assert!(results(&out) == whole, "{what}: another result");
            }
            assert!(refused > 0, "no {} mattered", fault.name);
        }
    };
    thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
}

/// Whatever is there that a run had not finished: hidden folders and files below a folder.
fn unfinished(folder: &std::path::Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with('.') || name.ends_with(".part") {
            found.push(path);
        } else if path.is_dir() {
            found.extend(unfinished(&path));
        }
    }
    found
}

/// Refuses each `step`th of the allocations of a run of fraud in its turn, alone and with all later ones.
fn refuse_allocations_of_fraud(step: usize) {
    let fraud = "fraud run t.csv --mapping m.toml --known-bad known.csv --window 4d --slide 4d \
                 --device cpu -o runs/out";
    let library = &Library::new();
    thread::scope(|scope| {
        for fault in ALLOCATIONS {
            scope.spawn(move || {
                let run = Run::new(library, fraud, "");
                let (parent, out) = (run.sandbox.path("runs"), run.sandbox.path("runs/out"));
                let whole = results(&out);
                let windows = fs::read_dir(out.join("windows")).unwrap().count();
                assert_eq!(windows, 2);
                let reset = || drop(fs::remove_dir_all(&parent));
                reset();
                let (calls, mut kept) = (run.calls(fault.name, &mut HashSet::new()), 0);
                let mut refused = Vec::new();
                for at in calls.into_iter().step_by(step) {
                    reset();
                    let said = run.with(fault.name, at, None);
                    let what = format!("{} {at}: {said:?}", fault.name);
                    assert_eq!(
                        unfinished(&run.sandbox.path("runs")),
                        Vec::<PathBuf>::new(),
                        "{what}"
                    );
                    if said.code == Some(0) {
                        assert!(results(&out) == whole, "{what}: another result");
                        continue;
                    }
                    assert_eq!(said.code, Some(1), "{what}");
                    assert!(said.error.contains("error: "), "{what}");
                    assert!(!said.error.contains("panicked"), "{what}");
                    let finished = fs::read_dir(out.join("windows")).into_iter().flatten().count();
                    refused.push(finished);
                    if finished == 0 {
                        assert!(!parent.exists(), "{what} leaves a folder");
                    } else if refused.len() % 4 == 0 {
                        let again =
                            run.sandbox.run(&format!("{fraud} --threads 1 --quiet --resume"));
                        assert_eq!(again.code, Some(0), "{what}, then {again:?}");
                        assert!(results(&out) == whole, "{what}: another result");
                        kept += 1;
                    }
                }
                // Before the first window, and behind it.
                assert!(refused.contains(&0) && refused.contains(&1) && kept > 0, "{refused:?}");
            });
        }
    });
}

#[test]
fn a_run_of_fraud_that_is_refused_memory_leaves_nothing_unfinished() {
    refuse_allocations_of_fraud(12);
}

/// Takes some minutes: `cargo test -p ripplet-cli --test suite -- --ignored every_allocation_of_a_run_of_fraud`.
/// One from each stack of callers, or all with `RIPPLET_EVERY_CALL`.
#[test]
#[ignore = "takes some minutes"]
fn every_allocation_of_a_run_of_fraud_is_refused_in_turn() {
    refuse_allocations_of_fraud(1);
}
