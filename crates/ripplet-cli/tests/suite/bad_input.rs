//! Every input that is wrong ends in one sentence that says where, code 2, and no output.

use crate::sandbox::Sandbox;
use std::fs;

/// Runs what reads a graph on `input`, each of which must say `parts`.
#[track_caller]
fn all_refuse(sandbox: &Sandbox, input: &str, flags: &str, parts: &[&str]) {
    sandbox.write("labels.txt", "1 1\n");
    for run in [
        format!("communities {input} -o out.txt --stats stats.json {flags}"),
        format!("lcc {input} -o out.txt --stats stats.json {flags}"),
        format!("convert {input} out.rg {flags}"),
        format!("info {input} {flags}"),
        format!("quality {input} labels.txt {flags}"),
    ] {
        if run.starts_with("lcc") && flags.contains("--weighted") {
            // It is unweighted, and does not look at the third field.
            continue;
        }
        let said = sandbox.fails(&run, 2, parts);
        assert_eq!(said.out, "", "{run}");
        let first = said.error.lines().next().unwrap();
        assert!(first.starts_with("error: "), "{run}: {said:?}");
        assert!(parts.iter().all(|part| first.contains(part)), "{run}: {said:?}");
    }
}

#[test]
fn files_that_cannot_be_read() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("folder.txt")).unwrap();
    fs::create_dir(sandbox.path("folder.rg")).unwrap();
    all_refuse(&sandbox, "missing.txt", "", &["missing.txt: No such file or directory"]);
    all_refuse(&sandbox, "missing.rg", "", &["missing.rg: No such file or directory"]);
    all_refuse(&sandbox, "missing.e", "", &["missing.e: No such file or directory"]);
    all_refuse(&sandbox, "missing.parquet", "", &["missing.parquet: No such file"]);
    // Folders are batches to those commands that take them.
    all_refuse(&sandbox, "folder.txt", "", &["folder.txt"]);
    all_refuse(&sandbox, "folder.rg", "", &["folder.rg"]);
    all_refuse(&sandbox, "missing.xlsx", "", &["missing.xlsx: No such file or directory"]);
    for name in ["graph.dat", "graph.ods", "graph.xlsx"] {
        sandbox.write(name, "");
    }
    all_refuse(
        &sandbox,
        "graph.dat",
        "",
        &["graph.dat: no format that is read has this extension"],
    );
    all_refuse(&sandbox, "graph.ods", "", &["graph.ods: a spreadsheet is not read"]);
    for (run, help) in [
        ("info missing.txt", "help: check the path"),
        ("info graph.dat", "help: name the format with --from: edgelist, tsv"),
        ("info graph.xlsx", "help: save it as CSV"),
    ] {
        let said = sandbox.fails(run, 2, &[help]);
        assert!(!said.error.contains("dot"), "{run} proposes what is only written: {said:?}");
    }
    sandbox.write("lonely.e", "1 2\n");
    all_refuse(&sandbox, "lonely.e", "", &["lonely.e: ", "lonely.v is missing"]);
}

#[test]
fn edge_lists() {
    let weighted = "--weighted";
    for (text, flags, parts) in [
        ("1 2\n3\n", "", ["a.txt:2: ", "3"]),
        ("# a\n\n1 2\n2 x\n", "", ["a.txt:4: ", "x"]),
        ("1 2\n2 -3\n", "", ["a.txt:2: ", "-3"]),
        ("1 18446744073709551616\n", "--ids unsigned", ["a.txt:1: ", "18446744073709551616"]),
        ("1 2\n1 18446744073709551616\n", "", ["a.txt:2: ", "18446744073709551616"]),
        ("1 9223372036854775808\n", "--ids signed", ["a.txt:1: ", "9223372036854775808"]),
        ("1 2 0.5\n2 3 NaN\n", weighted, ["a.txt:2: ", "NaN"]),
        ("1 2 0.5\n2 3 -1\n", weighted, ["a.txt:2: ", "-1"]),
        ("1 2 0.5\n2 3 inf\n", weighted, ["a.txt:2: ", "inf"]),
        ("1 2 0.5\n2 3\n", weighted, ["a.txt:2: ", "weight"]),
        ("1 2 0.5\n2 3 heavy\n", weighted, ["a.txt:2: ", "heavy"]),
        ("", "", ["a.txt: ", ""]),
        ("# nothing\n% here\n\n", "", ["a.txt: ", ""]),
    ] {
        let sandbox = Sandbox::with([("a.txt", text)]);
        all_refuse(&sandbox, "a.txt", flags, &parts);
    }
}

#[test]
fn tables() {
    let sandbox = Sandbox::with([("a.csv", "from,to\n1,2\n3\n"), ("b.csv", "a,b,c\n1,2,3\n")]);
    all_refuse(&sandbox, "a.csv", "--columns from,to", &["a.csv:3: "]);
    all_refuse(&sandbox, "b.csv", "--columns from,c", &["b.csv:1: ", "from"]);
    sandbox.write("a.parquet", "PAR1 and nothing else");
    all_refuse(&sandbox, "a.parquet", "", &["a.parquet"]);
    sandbox.write("a.arrow", "ARROW1 and nothing else");
    all_refuse(&sandbox, "a.arrow", "", &["a.arrow"]);
}

#[test]
fn matrices_and_metis() {
    let head = "%%MatrixMarket matrix coordinate pattern general\n";
    let sandbox = Sandbox::with([
        ("few.mtx", &format!("{head}3 3 3\n1 2\n2 3\n")),
        ("many.mtx", &format!("{head}3 3 1\n1 2\n2 3\n")),
        ("far.mtx", &format!("{head}3 3 1\n1 4\n")),
        ("far.graph", "3 2\n2 3\n1\n4\n"),
        ("few.graph", "3 2\n2\n1 3\n"),
        ("half.graph", "3 2\n2\n3\n2\n"),
    ]);
    all_refuse(&sandbox, "few.mtx", "", &["few.mtx:4: ", "ends after 2", "says 3"]);
    all_refuse(&sandbox, "many.mtx", "", &["many.mtx:4: "]);
    all_refuse(&sandbox, "far.mtx", "", &["far.mtx:3: ", "4"]);
    all_refuse(&sandbox, "far.graph", "", &["far.graph:4: ", "4"]);
    all_refuse(&sandbox, "few.graph", "", &["few.graph:3: ", "ends after 2", "says 3"]);
    all_refuse(&sandbox, "half.graph", "", &["half.graph:2: ", "both its ends"]);
}

#[test]
fn ldbc() {
    let sandbox = Sandbox::with([("a.v", "1\n2\n"), ("a.e", "1 2\n1 3\n")]);
    all_refuse(&sandbox, "a.e", "", &["a.e:2: ", "3"]);
    let sandbox = Sandbox::with([("a.v", "1\n2\n2\n"), ("a.e", "1 2\n")]);
    all_refuse(&sandbox, "a.e", "", &["a.v:3: ", "vertex 2 is listed twice"]);
}

#[test]
fn compressed_files_that_are_damaged() {
    let sandbox = Sandbox::new();
    sandbox.ok("generate road --scale 12 -o whole.el.gz");
    sandbox.ok("convert whole.el.gz whole.el.zst");
    for name in ["whole.el.gz", "whole.el.zst"] {
        let bytes = fs::read(sandbox.path(name)).unwrap();
        let cut = name.replace("whole", "cut");
        sandbox.write(&cut, &bytes[..bytes.len() - 7]);
        all_refuse(&sandbox, &cut, "", &[&format!("{cut}:")]);
        let half = name.replace("whole", "half");
        sandbox.write(&half, &bytes[..bytes.len() / 2]);
        all_refuse(&sandbox, &half, "", &[&format!("{half}:")]);
    }
    sandbox.write("no.el.gz", "1 2\n2 3\n");
    all_refuse(&sandbox, "no.el.gz", "", &["no.el.gz"]);
}

#[test]
fn finished_graphs_that_are_damaged() {
    let sandbox = Sandbox::new();
    for whole in ["whole.rg", "whole.rgz"] {
        sandbox.ok(&format!("generate road --scale 10 -o {whole}"));
    }
    let refuse = |name: &str, bytes: &[u8]| {
        sandbox.write(name, bytes);
        all_refuse(&sandbox, name, "", &[name]);
    };
    let whole = fs::read(sandbox.path("whole.rg")).unwrap();
    let flipped = |whole: &[u8], at: usize| {
        let mut flipped = whole.to_vec();
        flipped[at] ^= 0x10;
        flipped
    };
    for at in [0, 9, 40, 70, whole.len() / 2, whole.len() - 20, whole.len() - 1] {
        refuse("flipped.rg", &flipped(&whole, at));
    }
    for length in [0, 1, 63, 64, 100, whole.len() / 2, whole.len() - 1] {
        refuse("cut.rg", &whole[..length]);
    }
    refuse("text.rg", b"1 2\n2 3\n");
    // That each byte counts is held by the reader's own tests.
    refuse("plain.rgz", &whole);
    let whole = fs::read(sandbox.path("whole.rgz")).unwrap();
    for at in [9, whole.len() / 2, whole.len() - 1] {
        refuse("flipped.rgz", &flipped(&whole, at));
    }
    for length in [0, whole.len() / 2] {
        refuse("cut.rgz", &whole[..length]);
    }
    sandbox.write("flipped.rgz", flipped(&whole, whole.len() / 2));
    all_refuse(&sandbox, "flipped.rgz", "", &["shard 0: "]);
}

#[test]
fn labels() {
    for (labels, parts) in [
        ("1 1\n2 1\n3 1\n4 1\n", ["l.txt:4: ", "`4` is no vertex"]),
        ("1 1\n2 1\n2 1\n3 1\n", ["l.txt:3: ", "second label"]),
        ("1 1\n2\n3 1\n", ["l.txt:2: ", ""]),
        ("", ["l.txt: ", "no labels"]),
    ] {
        let sandbox = Sandbox::with([
            ("a.txt", "1 2\n2 3\n"),
            ("l.txt", labels),
            ("t.txt", "1 1\n2 1\n3 1\n"),
        ]);
        sandbox.fails("communities a.txt -o out.txt --labels l.txt", 2, &parts);
        // Communities that are measured may lack vertices, and share some.
        let (lacks, shares) = (parts[1].contains("no labels"), parts[1].contains("second"));
        if !lacks && !shares {
            sandbox.fails("quality a.txt l.txt", 2, &parts);
            sandbox.fails("quality a.txt t.txt --truth l.txt", 2, &parts);
        }
    }
    let sandbox = Sandbox::with([("a.txt", "1 2\n2 3\n"), ("l.txt", "1 9\n2 1\n3 1\n")]);
    // Labels, as a truth, may call communities anything.
    sandbox.ok("communities a.txt -o out.txt --labels l.txt");
    sandbox.ok("quality a.txt l.txt");
    sandbox.fails("communities a.txt -o out.txt --labels no.txt", 2, &["no.txt: No such file"]);
}

#[test]
fn tables_with_a_flipped_byte() {
    let sandbox = Sandbox::with([("a.txt", "1 2\n2 3\n3 1\n")]);
    for table in ["a.parquet", "a.arrow"] {
        sandbox.ok(&format!("convert a.txt {table}"));
        let whole = fs::read(sandbox.path(table)).unwrap();
        for at in (0..whole.len()).step_by(whole.len() / 60) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xff;
            fs::write(sandbox.path(table), damaged).unwrap();
            let said = sandbox.run(&format!("info {table}"));
            // A flipped id is another id; everything else must be said, and nothing but it.
            assert!(matches!(said.code, Some(0 | 2)), "byte {at} of {table}: {said:?}");
            assert!(!said.error.contains("panicked"), "byte {at} of {table}: {said:?}");
            assert_eq!(said.code == Some(2), said.error.starts_with("error: "), "{said:?}");
        }
    }
}
