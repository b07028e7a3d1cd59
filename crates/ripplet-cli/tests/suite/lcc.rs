//! `ripplet lcc`: its output in every format, and what it refuses.

use crate::sandbox::{Said, Sandbox, data};
use serde_json::Value;
use std::fs;

/// A triangle, a square with one diagonal on it, an edge apart; a loop and a repeated edge.
const GRAPH: &str = "# comment\n1 2\n2 3\n3 1\n3 4\n4 5\n5 6\n6 3\n4 6\n8 9\n9 9\n2 1\n";

fn sandbox() -> Sandbox {
    Sandbox::with([("graph.txt", GRAPH)])
}

#[test]
fn coefficients_of_a_small_graph() {
    let sandbox = sandbox();
    let said = sandbox.run("lcc graph.txt -o out.txt --device cpu");
    assert_eq!(said.code, Some(0), "{said:?}");
    let third = 1.0 / 3.0;
    let two_thirds = 2.0 / 3.0;
    let expected = format!("1 1\n2 1\n3 {third}\n4 {two_thirds}\n5 1\n6 {two_thirds}\n8 0\n9 0\n");
    assert_eq!(sandbox.read("out.txt"), expected);
    assert_eq!((said.out.as_str(), said.error.lines().count()), ("", 2), "{said:?}");
    for part in ["mean 0.5833", "3 triangles", "out.txt"] {
        assert!(said.error.contains(part), "{part} in {said:?}");
    }
    let quiet = sandbox.run("lcc graph.txt -o out.csv --triangles --quiet --threads 2");
    assert_eq!((quiet.out.as_str(), quiet.error.as_str()), ("", ""));
    let expected = format!(
        "id,value,triangles\n1,1,1\n2,1,1\n3,{third},2\n4,{two_thirds},2\n5,1,1\n6,{two_thirds},2\n\
         8,0,0\n9,0,0\n"
    );
    assert_eq!(sandbox.read("out.csv"), expected);
    assert_eq!(sandbox.ok("lcc graph.txt -o -"), sandbox.read("out.txt"));
}

#[test]
fn directed_graphs_have_two_definitions() {
    let sandbox = Sandbox::with([("graph.txt", "1 2\n2 1\n2 3\n3 4\n4 2\n3 2\n1 3\n")]);
    let values = |flags: &str| {
        sandbox.ok(&format!("lcc graph.txt -o out.txt --directed {flags}"));
        let text = sandbox.read("out.txt");
        let value = |line: &str| line.split(' ').nth(1).unwrap().parse::<f64>().unwrap();
        text.lines().map(value).collect::<Vec<_>>()
    };
    // 2 knows 1, 3 and 4; between these go 1 → 3 and 3 → 4.
    assert_eq!(values(""), [1.0, 2.0 / 6.0, 3.0 / 6.0, 1.0]);
    assert_eq!(values(""), values("--definition ldbc"));
    // networkx.clustering of the DiGraph.
    let fagiolo = [1.0, 6.0 / 16.0, 6.0 / 10.0, 1.0];
    for (found, expected) in values("--definition fagiolo").into_iter().zip(fagiolo) {
        assert!((found - expected).abs() < 1e-15, "{found}, not {expected}");
    }
}

#[test]
fn formats_of_input_and_output() {
    let sandbox = sandbox();
    for flags in ["", "--directed"] {
        sandbox.ok(&format!("lcc graph.txt -o expected.tsv --triangles {flags}"));
        let expected = sandbox.read("expected.tsv");
        for input in ["b.rg", "b.csv", "b.tsv.gz", "b.el.zst", "b.parquet", "b.arrow"] {
            sandbox.ok(&format!("convert graph.txt {input} {flags}"));
            sandbox.ok(&format!("lcc {input} -o out.tsv --triangles {flags}"));
            assert_eq!(sandbox.read("out.tsv"), expected, "{input} {flags}");
        }
    }
    for out in ["out.txt.gz", "out.csv.zst", "out.tsv.gz", "out.parquet", "out.arrow"] {
        let bytes = |threads: u32| {
            sandbox.ok(&format!("lcc graph.txt -o {out} --triangles --threads {threads}"));
            fs::read(sandbox.path(out)).unwrap()
        };
        let one = bytes(1);
        assert!(!one.is_empty() && one == bytes(2) && one == bytes(7), "{out}");
    }
    let parquet = fs::read(sandbox.path("out.parquet")).unwrap();
    let names = String::from_utf8_lossy(&parquet);
    assert!(names.contains("value") && names.contains("triangles"), "{names}");
}

#[test]
fn ldbc_examples() {
    let sandbox = Sandbox::new();
    let folder = data("ripplet-analytics/tests/data/ldbc");
    for (name, flags) in [("test-lcc-directed", "--directed"), ("test-lcc-undirected", "")] {
        let graph = folder.join(format!("{name}.e"));
        sandbox.ok(&format!("lcc {} -o out.txt {flags}", graph.display()));
        let reference = fs::read_to_string(folder.join(format!("{name}-LCC"))).unwrap();
        let rows = |text: &str| -> Vec<(String, f64)> {
            let fields = text.lines().map(|line| line.split_once(' ').unwrap());
            fields.map(|(id, value)| (id.into(), value.parse().unwrap())).collect()
        };
        let (found, expected) = (rows(&sandbox.read("out.txt")), rows(&reference));
        assert_eq!(found.len(), expected.len());
        for ((id, found), (of, expected)) in found.into_iter().zip(expected) {
            assert!(
                id == of && (found - expected).abs() <= 1e-4 * expected,
                "{name} {id}: {found}"
            );
        }
    }
}

#[test]
fn statistics_and_estimate() {
    let sandbox = Sandbox::new();
    let graph = data("ripplet-lp/tests/data/altsoph/polblogs.edges");
    let graph = graph.display();
    let run = format!("lcc {graph} -o out.txt --stats stats.json --threads 2 --definition fagiolo");
    sandbox.ok(&run);
    let stats = sandbox.json("stats.json");
    for (name, value) in
        [("definition", "fagiolo"), ("device", "cpu"), ("version", env!("CARGO_PKG_VERSION"))]
    {
        assert_eq!(stats[name], value, "{name} in {stats}");
    }
    assert_eq!(stats["threads"], 2);
    assert!(stats["triangles"].as_u64().unwrap() > 10_000, "{stats}");
    assert!((0.2..0.5).contains(&stats["mean"].as_f64().unwrap()), "{stats}");
    assert!(stats["seconds"]["compute"].as_f64().unwrap() > 0.0, "{stats}");
    let bytes = |name: &str| stats["bytes"][name].as_u64().unwrap();
    assert_eq!(bytes("planned_host"), bytes("graph_host") + bytes("algorithm_host"));

    let estimate = sandbox.ok(&format!("lcc {graph} --estimate=json --threads 2"));
    let estimate: Value = serde_json::from_str(&estimate).unwrap();
    let needs = estimate["plan"].as_array().unwrap().iter();
    let sum: u64 = needs.map(|need| need["bytes"].as_u64().unwrap()).sum();
    assert_eq!((&estimate["algorithm_host"], sum), (&sum.into(), bytes("algorithm_host")));
    let text = sandbox.ok(&format!("lcc {graph} --estimate -o none.txt --stats none.json"));
    assert!(text.contains("each edge once, by rank") && text.contains("\ntotal "), "{text}");
    assert_eq!(sandbox.names(), ["out.txt", "stats.json"]);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let sandbox = sandbox();
    sandbox.ok("convert graph.txt a.rg");
    for (flags, parts) in [
        ("graph.txt -o b.txt --device tpu", ["expected auto, cpu", "--device"]),
        ("graph.txt -o b.txt --definition watts", ["ldbc", "fagiolo"]),
        ("graph.txt -o b.txt --weighted", ["unweighted", "leave --weighted out"]),
        ("graph.txt -o b.txt --threads 0", ["0", "--threads"]),
        ("graph.txt -o b.txt --host-memory lots", ["8GiB", "--host-memory"]),
        ("graph.txt -o b.txt --keep-loops", ["--keep-loops", ""]),
        ("graph.txt", ["--output", ""]),
        ("a.rg -o b.txt --directed", ["a.rg", "stored undirected"]),
        ("a.rg -o b.txt --ids names", ["finished graph", "convert"]),
        ("graph.txt -o b.xlsx", ["b.xlsx", ".parquet"]),
        ("graph.txt -o b.rg", ["values of vertices", ".parquet"]),
        ("graph.txt -o graph.txt", ["named twice", "choose another name"]),
        ("graph.txt -o b.txt --stats b.txt", ["named twice", "choose another name"]),
        ("graph.txt -o no/b.txt", ["no/b.txt", "does not exist"]),
        ("missing.txt -o b.txt", ["missing.txt", "No such file"]),
    ] {
        sandbox.fails(&format!("lcc {flags}"), 2, &parts);
    }
    assert_eq!(sandbox.read("graph.txt"), GRAPH);
    let said = sandbox.fails("lcc graph.txt -o b.txt --host-memory 100", 2, &["the run needs"]);
    let enough = said.error.split("allow --host-memory ").nth(1).unwrap();
    let enough = enough.split(',').next().unwrap();
    sandbox.ok(&format!("lcc graph.txt -o b.txt --host-memory {enough}"));
}

#[test]
fn outputs_are_whole_or_not_there() {
    let sandbox = Sandbox::with([("bad.txt", "1 2\n1\n"), ("out.txt", "old\n")]);
    sandbox.fails("lcc bad.txt -o out.txt --stats s.json", 2, &["bad.txt:2"]);
    assert_eq!(sandbox.read("out.txt"), "old\n");
    sandbox.write("names.tsv", "\"#b\"\tc\n");
    sandbox.fails("lcc names.tsv -o names.txt", 2, &["names.txt", "write .csv"]);
    sandbox.ok("lcc names.tsv -o names.csv");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_and_short_memory() {
    let sandbox = Sandbox::new();
    sandbox.ok("generate rmat --scale 14 -o a.rg");
    std::os::unix::fs::symlink("/dev/full", sandbox.path("out.csv")).unwrap();
    sandbox.fails("lcc a.rg -o out.csv", 1, &["cannot write out.csv", "No space left"]);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let said = Said::of(sandbox.command("lcc a.rg -o -").stdout(full).output().unwrap());
    said.must_fail("lcc", 1, &["cannot write to standard output", "No space left"]);
    // Whatever the limit: the whole output, or a sentence and none.
    let (mut refused, mut done) = (0, 0);
    for kibibytes in (8 << 10..160 << 10).step_by(8 << 10) {
        if sandbox.run_within(kibibytes, "--version").code != Some(0) {
            // Not even the program fits.
            continue;
        }
        let said = sandbox.run_within(kibibytes, "lcc a.rg -o out.txt --threads 2 --quiet");
        match said.code {
            Some(0) => {
                assert_eq!(sandbox.read("out.txt").lines().count(), 1 << 14);
                fs::remove_file(sandbox.path("out.txt")).unwrap();
                done += 1;
            }
            code => {
                assert_eq!(code, Some(1), "{kibibytes} KiB: {said:?}");
                assert!(said.error.contains("error: "), "{kibibytes} KiB: {said:?}");
                assert!(!sandbox.path("out.txt").exists(), "{kibibytes} KiB");
                refused += 1;
            }
        }
    }
    assert!(refused > 0 && done > 0, "{refused} refused, {done} done");
}
