//! Outputs in parts: the rows of one file for any number of ranks, and a folder that appears whole or not at all.

use crate::ranks::{on_each_rank, on_ranks, one_error};
use crate::sandbox::Sandbox;
use ripplet_conformance::launcher::Mpi;
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Cliques in a ring, with weights.
fn ring() -> String {
    let mut text = String::from("source,target,weight\n");
    for clique in 0..12 {
        let first = 10 * clique;
        for a in first..first + 6 {
            for b in a + 1..first + 6 {
                text += &format!("{a},{b},{}\n", 1 + (a * b) % 5);
            }
        }
        text += &format!("{first},{},1\n", (first + 13) % 120);
    }
    text
}

/// Edges of vertices with names, of which some have a blank.
fn names() -> String {
    let row = |row: u32| format!("n {},n {},{}\n", row * row % 97, row % 211, 1 + row % 4);
    "from,to,weight\n"
        .chars()
        .chain((0..900).flat_map(|at| row(at).chars().collect::<Vec<_>>()))
        .collect()
}

/// The manifest of a folder, whose parts are the files in it.
#[track_caller]
fn manifest(sandbox: &Sandbox, folder: &str) -> Value {
    let manifest = sandbox.json(&format!("{folder}/manifest.json"));
    let mut names: Vec<String> = fs::read_dir(sandbox.path(folder))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let parts = manifest["parts"].as_array().unwrap();
    let mut listed: Vec<&str> = parts.iter().map(|part| part["name"].as_str().unwrap()).collect();
    listed.insert(0, "manifest.json");
    assert_eq!(names, listed);
    for part in parts {
        let path = sandbox.path(folder).join(part["name"].as_str().unwrap());
        assert_eq!(part["bytes"].as_u64(), Some(fs::metadata(path).unwrap().len()), "{part}");
    }
    let rows = parts.iter().map(|part| part["rows"].as_u64().unwrap()).sum::<u64>();
    assert_eq!(manifest["rows"].as_u64(), Some(rows));
    manifest
}

/// The lines of all parts in order, under one header.
#[track_caller]
fn joined(sandbox: &Sandbox, folder: &str) -> String {
    let manifest = manifest(sandbox, folder);
    let mut all = String::new();
    for part in manifest["parts"].as_array().unwrap() {
        let text = sandbox.read(&format!("{folder}/{}", part["name"].as_str().unwrap()));
        let (header, rows) = text.split_once('\n').unwrap();
        if all.is_empty() {
            all = format!("{header}\n");
        }
        assert!(all.starts_with(header), "{header}");
        let ids: Vec<&str> = rows.lines().map(|row| row.split(',').next().unwrap()).collect();
        assert_eq!(part["rows"].as_u64(), Some(ids.len() as u64));
        for (end, id) in [("first", ids.first()), ("last", ids.last())] {
            let value = match &part[end] {
                Value::Null => None,
                Value::String(name) => Some(name.clone()),
                number => Some(number.to_string()),
            };
            assert_eq!(value.as_deref(), id.copied(), "{end} of {part}");
        }
        all += rows;
    }
    all
}

#[test]
fn one_process_writes_a_folder() {
    let sandbox =
        Sandbox::with([("g.csv", &*ring()), ("many/a.csv", "1,2\n"), ("many/b.csv", "1,2\n")]);
    sandbox.ok("communities g.csv --weighted -o one.csv");
    sandbox.ok("communities g.csv --weighted -o out/");
    let found = manifest(&sandbox, "out");
    assert_eq!(found["parts_format"], "parquet");
    assert_eq!(found["format"], "ripplet-parts");
    assert_eq!(found["columns"][1]["name"], "community");
    assert_eq!(found["columns"][1]["type"], "UInt64");
    assert_eq!(found["parts"][0]["name"], "part-00000.parquet");
    assert_eq!((&found["parts"][0]["first"], &found["parts"][0]["last"]), (&0.into(), &115.into()));
    sandbox.ok("communities g.csv --weighted -o text/ --to csv");
    assert_eq!(joined(&sandbox, "text"), sandbox.read("one.csv"));
    // Readers of labels take the folder, or its files.
    let expected = sandbox.ok("quality g.csv one.csv --weighted");
    for labels in ["out/", "out", "out/part-*.parquet", "text/", "text/part-*.csv"] {
        assert_eq!(sandbox.ok(&format!("quality g.csv {labels} --weighted")), expected, "{labels}");
        let begin = |labels: &str, out: &str| {
            sandbox.ok(&format!(
                "communities g.csv --weighted --labels {labels} --iterations 1 -o {out}"
            ));
        };
        begin(labels, "from.csv");
        begin("one.csv", "expected.csv");
        assert_eq!(sandbox.read("from.csv"), sandbox.read("expected.csv"), "{labels}");
    }
    for to in ["tsv", "jsonl", "arrow", "edgelist"] {
        sandbox.ok(&format!("communities g.csv --weighted -o {to}/ --to {to}"));
        assert_eq!(sandbox.ok(&format!("quality g.csv {to}/ --weighted")), expected, "{to}");
    }
    fs::write(sandbox.path("file"), "").unwrap();
    for (run, parts) in [
        (
            "communities g.csv -o out/",
            ["out/: a folder of this name exists already", "choose another name"],
        ),
        // Before the work.
        ("communities none.csv -o out/", ["out/: a folder of this name exists already", ""]),
        ("communities g.csv -o file/", ["file/: a file of this name exists already", ""]),
        ("communities g.csv -o no/out/", ["the folder no does not exist: create it", ""]),
        ("communities g.csv -o new/ --to graphml", ["graphml is a whole graph", "--to parquet"]),
        ("communities g.csv -o new/ --to rg", ["choose such a name", ""]),
        ("communities g.csv -o one.csv --stats new/", ["new/ names a folder, not a file", ""]),
        ("communities many -o new/", ["new/ names a folder, not a file", "add the file's name"]),
        ("lcc g.csv -o new/", ["new/ names a folder, not a file", "add the file's name"]),
        ("pagerank g.csv -o new/", ["new/ names a folder, not a file", "add the file's name"]),
        ("quality g.csv many", ["many: it has no manifest.json", "such as …/*.parquet"]),
    ] {
        sandbox.fails(run, 2, &parts);
    }
    sandbox.ok("communities g.csv -o new/ --estimate");
    assert!(!sandbox.path("new").exists());
}

#[test]
fn a_folder_that_is_not_whole_is_not_read() {
    let sandbox = Sandbox::with([("g.csv", &*ring())]);
    sandbox.ok("communities g.csv -o out/ --to csv");
    let manifest = sandbox.read("out/manifest.json");
    let part = sandbox.read("out/part-00000.csv");
    sandbox.write("out/part-00000.csv", &part[..part.len() - 2]);
    sandbox.fails(
        "quality g.csv out/",
        2,
        &["part-00000.csv", "and the manifest says", "copy the folder"],
    );
    sandbox.write("out/part-00000.csv", &part);
    for (from, to, sentence) in [
        ("\"version\": 1", "\"version\": 2", "another format than"),
        ("part-00000.csv", "../g.csv", "`../g.csv` is no name of a part"),
        ("\"parts_format\": \"csv\"", "\"parts_format\": \"gml\"", "no format of tables"),
        ("{", "", "no manifest of a table in parts"),
    ] {
        assert!(manifest.contains(from));
        sandbox.write("out/manifest.json", manifest.replacen(from, to, 1));
        sandbox.fails("quality g.csv out/", 2, &["manifest.json", sentence]);
    }
    // A row of a part that is wrong is named with its file.
    sandbox.ok("communities g.csv -o more/ --to csv");
    sandbox.write("more/part-00001.csv", "id,community\n0,0\nx,0\n");
    sandbox.fails("quality g.csv more/part-*.csv", 2, &["more/part-00001.csv:3: `x` is no vertex"]);
    sandbox.write("more/part-00001.csv", "community,id\n0,0\n");
    let parts = ["more/part-00001.csv: its columns are not those of more/part-00000.csv"];
    sandbox.fails("quality g.csv more/part-*.csv", 2, &parts);
}

#[test]
fn ranks_write_the_rows_of_one_file() {
    let sandbox = Sandbox::with([
        ("g.csv", &*ring()),
        ("names.csv", &*names()),
        ("few.csv", "1,2\n2,3\n3,1\n"),
        ("seeds.csv", "0,x\n50,y\n"),
    ]);
    sandbox.ok("convert names.csv --weighted --directed names.rg");
    for (options, every_size) in [
        ("g.csv --weighted", true),
        ("names.rg", true),
        ("few.csv", true),
        ("g.csv --names number --min-size 7", false),
        ("g.csv --weighted --names hub", false),
        ("g.csv --weighted --rank-labels ghosts --program slpa --seed 5", false),
        ("g.csv --program seeded --seeds seeds.csv", false),
        ("names.csv --weighted --directed --rank-labels all", false),
    ] {
        sandbox.ok(&format!("communities {options} -o one.csv"));
        let expected = sandbox.read("one.csv");
        for mpi in Mpi::all() {
            let sizes: &[usize] = match (mpi.is_open_mpi(), every_size) {
                (true, true) => &[2],
                (true, false) => &[],
                (false, true) => &[1, 2, 3, 4, 7],
                (false, false) => &[3],
            };
            for &ranks in sizes {
                let run = format!("communities {options} --threads 1 --ranks mpi -o out/ --to csv");
                let said = on_ranks(&mpi, &sandbox, ranks, &run);
                assert_eq!((said.code, &*said.out), (Some(0), ""), "{said:?}");
                assert_eq!(said.error.matches("; see out/").count(), 1, "{said:?}");
                assert_eq!(joined(&sandbox, "out"), expected, "{options}, {ranks} ranks");
                let parts = manifest(&sandbox, "out")["parts"].as_array().unwrap().len();
                assert_eq!(parts, ranks, "{options}");
                fs::remove_dir_all(sandbox.path("out")).unwrap();
            }
        }
    }
    let Some(mpi) = Mpi::mpich() else { return };
    for (input, ranks) in [("g.csv", 3), ("few.csv", 7)] {
        let said = on_ranks(&mpi, &sandbox, ranks, &format!("communities {input} -o out/"));
        assert_eq!(said.code, Some(0), "{said:?}");
        sandbox.ok(&format!("communities {input} -o one.csv"));
        let expected = sandbox.ok(&format!("quality {input} one.csv"));
        assert_eq!(sandbox.ok(&format!("quality {input} out/")), expected, "{input}");
        assert_eq!(sandbox.ok(&format!("quality {input} out/part-*.parquet")), expected, "{input}");
        fs::remove_dir_all(sandbox.path("out")).unwrap();
    }
}

#[test]
fn what_fails_on_a_rank_leaves_no_folder() {
    let Some(mpi) = Mpi::mpich() else { return };
    let sandbox =
        Sandbox::with([("g.csv", &*ring()), ("a/e.csv", "1,2\n2,3\n"), ("b/e.csv", "1,2\n2,3\n")]);
    fs::create_dir(sandbox.path("out")).unwrap();
    let before = sandbox.names();
    for (run, part) in [
        ("communities g.csv -o out/", "out/: a folder of this name exists already"),
        ("communities g.csv -o no/out/", "the folder no does not exist"),
        ("communities g.csv -o new/ --to gml", "gml is a whole graph"),
        ("communities a -o new/", "new/ names a folder, not a file"),
    ] {
        one_error(&on_ranks(&mpi, &sandbox, 3, run), 2, &[part]);
        assert_eq!(sandbox.names(), before, "{run}");
    }
    // Each rank in a folder of its own, as on disks that are not shared.
    let run = "communities e.csv -o out/";
    let said = on_each_rank(&mpi, &sandbox, &[("a", run), ("b", run)]);
    one_error(
        &said,
        2,
        &["error: rank 1 on ", "this one does not see it", "that all machines share"],
    );
    for folder in ["a", "b"] {
        let left: Vec<_> = fs::read_dir(sandbox.path(folder)).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}

/// Whether a temporary folder of parts has a file in it.
fn is_writing(sandbox: &Sandbox) -> bool {
    let is_temporary = |name: &&String| name.starts_with(".ripplet-") && name.ends_with(".part");
    let names = sandbox.names();
    let folder = names.iter().find(is_temporary).map(|name| sandbox.path(name));
    folder
        .and_then(|folder| fs::read_dir(folder).ok())
        .is_some_and(|mut files| files.next().is_some())
}

#[test]
fn an_interruption_leaves_no_folder() {
    let sandbox = Sandbox::new();
    sandbox.ok("generate road --scale 20 -o g.rg");
    let run = |command: &mut Command| {
        command.current_dir(sandbox.path("")).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while !is_writing(&sandbox) && child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < Duration::from_secs(120), "it does not begin to write");
            sleep(Duration::from_millis(1));
        }
        let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        let status = child.wait().unwrap();
        // A folder that is renamed before the signal is whole.
        let is_whole = sandbox.path("out/manifest.json").exists();
        assert!(kill.success() && (is_whole || !status.success()), "{status:?}");
        let gone = || {
            let names = sandbox.names();
            let all = ["g.rg", "out"];
            names == all[..1] || (names == all && sandbox.path("out/manifest.json").exists())
        };
        // Ranks may end after their launcher.
        let begun = Instant::now();
        while !gone() {
            assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", sandbox.names());
            sleep(Duration::from_millis(20));
        }
        let _ = fs::remove_dir_all(sandbox.path("out"));
    };
    let arguments = "communities g.rg --iterations 1 --threads 1 --quiet -o out/ --to csv";
    run(&mut sandbox.command(arguments));
    let Some(mpi) = Mpi::mpich() else { return };
    let mut command = crate::ranks::launcher(&mpi, &sandbox);
    command.args(["-n", "2", env!("CARGO_BIN_EXE_ripplet")]);
    run(command.args(arguments.split_whitespace()));
}
