//! Outputs appear whole or not at all, and what cannot be written is found before the work.

use crate::sandbox::{Said, Sandbox};
use std::fs;
#[cfg(unix)]
use std::process::Stdio;

#[test]
fn places_are_checked_first() {
    let sandbox = Sandbox::with([("a.txt", "1 2\n")]);
    fs::create_dir(sandbox.path("folder")).unwrap();
    for (run, parts) in [
        ("communities a.txt -o no/out.txt", ["no/out.txt", "folder no does not exist"]),
        ("communities a.txt -o out.txt --stats no/s.json", ["no/s.json", "does not exist"]),
        ("communities a.txt -o folder", ["folder: this is a folder", "name a file in it, such as"]),
        ("communities a.txt -o .", [".: this is a folder", "name a file in it, such as"]),
        ("lcc a.txt -o .", [".: this is a folder", "name a file in it, such as"]),
        ("convert a.txt folder", ["folder is a folder, not a file", "add the file's name"]),
        ("generate road -o .", [". is a folder, not a file", "add the file's name"]),
        ("draw a.txt a.txt -o .", [". is a folder, not a file", "add the file's name"]),
        ("communities a.txt -o out.txt --stats s.json/", ["s.json/ names a folder", "name"]),
        ("communities a.txt -o out.xlsx", ["out.xlsx", ".graphml"]),
        ("communities a.txt -o out.rg", ["out.rg", ".parquet"]),
        ("communities a.txt -o a.txt", ["a.txt is named twice", "choose another name"]),
        ("communities a.txt -o ./folder/../a.txt", ["named twice", "choose another name"]),
        ("communities a.txt -o out.txt --stats out.txt", ["named twice", "choose another name"]),
        ("convert a.txt a.txt", ["named twice", "choose another name"]),
        ("convert a.txt no/a.rg", ["no/a.rg", "does not exist"]),
        ("convert a.txt b.xlsx", ["b.xlsx", "does not show its format"]),
        // What a name shows is refused before the input, which is not there, is opened.
        ("convert none.txt b.rg.gz", ["b.rg.gz", "only text formats go out as .gz or .zst"]),
        (
            "convert a.txt x.dat --from edgelist",
            ["x.dat does not show its format", "--to: edgelist, tsv"],
        ),
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
    let sandbox = Sandbox::with([("a.tsv", "\"#b\"\tc\n"), ("gaps.txt", "1 5\n")]);
    sandbox.fails("communities a.tsv -o out.txt", 2, &["out.txt", "as a comment", "--to csv"]);
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

/// Runs what writes `output` on disks that are full at its first byte, in its middle and before its last
/// byte: it fails with a sentence, leaves nothing, and an older file is as it was.
#[cfg(unix)]
#[track_caller]
fn fills_up(sandbox: &Sandbox, run: &str, output: &str) {
    let line = format!("{run} {output}");
    sandbox.ok(&line);
    let path = sandbox.path(output);
    let bytes = fs::metadata(&path).unwrap().len();
    fs::remove_file(&path).unwrap();
    let others = sandbox.names();
    for (blocks, old) in [
        (0, None),
        (bytes / 1024, None),
        ((bytes - 1) / 512, None),
        (bytes / 1024, Some("old\n")),
        ((bytes - 1) / 512, Some("old\n")),
    ] {
        old.iter().for_each(|old| fs::write(&path, old).unwrap());
        let said = sandbox.run_with_blocks(blocks, &line);
        let sentence = format!("cannot write {output}: File too large");
        said.must_fail(&line, 1, &[&sentence, "nothing of it was left behind"]);
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), old, "{line}, {blocks} blocks");
        let _ = fs::remove_file(&path);
        assert_eq!(sandbox.names(), others, "{line}, {blocks} blocks");
    }
}

#[cfg(unix)]
#[test]
fn a_disk_that_fills_up_while_a_graph_is_written() {
    let sandbox = Sandbox::new();
    sandbox.ok("generate road --scale 13 -o a.rg");
    for output in [
        "b.rg",
        "b.rgz",
        "b.parquet",
        "b.arrow",
        "b.el",
        "b.tsv",
        "b.csv.gz",
        "b.csv.zst",
        "b.mtx",
        "b.graph",
    ] {
        fills_up(&sandbox, "convert a.rg", output);
    }
    let run = "generate transactions --scale 0.00001 --shard-arcs 9000 -o";
    for output in ["b.rg", "b.rgz", "b.parquet", "b.csv"] {
        fills_up(&sandbox, run, output);
    }
    fills_up(&sandbox, "generate swarm --graphs 200 -o", "b.swarm");
}

#[cfg(unix)]
#[test]
fn a_disk_that_fills_up_while_results_are_written() {
    let sandbox = Sandbox::new();
    sandbox.ok("generate road --scale 13 -o a.rg");
    sandbox.ok("generate swarm --graphs 200 -o a.swarm");
    for output in ["b.txt", "b.csv", "b.csv.gz", "b.parquet", "b.arrow"] {
        fills_up(&sandbox, "communities a.rg --device cpu -o", output);
    }
    fills_up(&sandbox, "communities a.swarm --device cpu -o", "b.parquet");
    fills_up(&sandbox, "lcc a.rg --device cpu -o", "b.csv");
    fills_up(&sandbox, "communities a.rg --device cpu -o - --stats", "b.json");
}

/// An LDBC graph is two files: none of them, or both.
#[cfg(unix)]
#[test]
fn a_disk_that_fills_up_at_the_second_of_two_files() {
    let sandbox = Sandbox::with([("c.v", "1\n2\n"), ("c.e", "1 2\n")]);
    sandbox.ok("generate road --scale 10 -o a.rg");
    sandbox.ok("convert a.rg b.e");
    let size = |name| fs::metadata(sandbox.path(name)).unwrap().len();
    let (vertices, edges) = (size("b.v"), size("b.e"));
    assert!(vertices + 512 < edges && edges < 1 << 16, "the edges wait for the file's end");
    ["b.v", "b.e"].iter().for_each(|name| fs::remove_file(sandbox.path(name)).unwrap());
    for (blocks, full) in [(0, "v"), ((edges - 1) / 512, "e")] {
        for name in ["b", "c"] {
            let line = format!("convert a.rg {name}.e");
            let sentence = format!("cannot write {name}.{full}: File too large");
            sandbox.run_with_blocks(blocks, &line).must_fail(&line, 1, &[&sentence]);
            assert_eq!(sandbox.names(), ["a.rg", "c.e", "c.v"], "{line}, {blocks} blocks");
            assert_eq!(
                (sandbox.read("c.v"), sandbox.read("c.e")),
                ("1\n2\n".into(), "1 2\n".into())
            );
        }
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
        assert_eq!(
            (said.code, said.error.lines().any(|line| line.contains("rror"))),
            (Some(141), false)
        );
    }
}

/// Links are followed to their ends, also where there is nothing yet.
#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_keeps_leading_there() {
    let sandbox = Sandbox::with([("a.txt", "1 2\n")]);
    fs::create_dir(sandbox.path("other")).unwrap();
    for (link, to) in [("b.csv", "other/c.csv"), ("a.csv", "b.csv"), ("d.csv", "none/e.csv")] {
        std::os::unix::fs::symlink(to, sandbox.path(link)).unwrap();
    }
    sandbox.ok("communities a.txt -o a.csv");
    assert_eq!(sandbox.read("other/c.csv"), "id,community\n1,1\n2,1\n");
    for link in ["a.csv", "b.csv"] {
        assert!(fs::symlink_metadata(sandbox.path(link)).unwrap().is_symlink(), "{link}");
    }
    sandbox.fails("communities a.txt -o d.csv", 2, &["d.csv", "none", "does not exist"]);
}

/// A batch streams its rows; what is wrong before the first of them leaves standard output empty.
#[test]
fn standard_output_has_no_header_of_what_fails() {
    let sandbox = Sandbox::with([
        ("bad.csv", "graph,source,target\na,1,2\nb,,2\n"),
        ("none.csv", "graph,source,target\n"),
        ("good.csv", "graph,source,target\na,1,2\n"),
    ]);
    let said = sandbox.fails("components bad.csv --batch -o - --to csv", 2, &["bad.csv:3"]);
    assert_eq!(said.out, "");
    let found = sandbox.ok("components good.csv --batch -o - --to csv");
    assert_eq!(found, "graph,id,component\na,1,1\na,2,1\n");
}

#[test]
fn a_graph_without_vertices_is_written_where_it_can_be_read() {
    let sandbox = Sandbox::new();
    sandbox.ok("generate planted --vertices 0 -o none.rg");
    for name in ["none.mtx", "none.graph", "none.e"] {
        sandbox.fails(&format!("convert none.rg {name}"), 2, &[name, "without vertices", ".json"]);
    }
    sandbox.ok("convert none.rg none.json");
    sandbox.ok("info none.json");
}
