//! Runs that several processes share, which the launchers of MPICH and Open MPI start.

use crate::driver::no_driver;
use crate::sandbox::{Said, Sandbox, data, wait_for};
use ripplet_conformance::launcher::{Mpi, output};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The launcher in a sandbox, without arguments.
pub fn launcher(mpi: &Mpi, sandbox: &Sandbox) -> Command {
    let mut command = mpi.launcher();
    command.current_dir(sandbox.path(""));
    command
}

/// Runs `ripplet` with the same arguments on each of several ranks.
pub fn on_ranks(mpi: &Mpi, sandbox: &Sandbox, ranks: usize, arguments: &str) -> Said {
    let mut command = launcher(mpi, sandbox);
    command.args(["-n", &ranks.to_string(), env!("CARGO_BIN_EXE_ripplet")]);
    Said::of(output(command.args(arguments.split_whitespace())))
}

/// Runs `ripplet` with its own folder and arguments on each of several ranks.
pub fn on_each_rank(mpi: &Mpi, sandbox: &Sandbox, ranks: &[(&str, &str)]) -> Said {
    let mut command = launcher(mpi, sandbox);
    let folder = if mpi.is_open_mpi() { "--wdir" } else { "-wdir" };
    for (rank, (inside, arguments)) in ranks.iter().enumerate() {
        if rank > 0 {
            command.arg(":");
        }
        command.args(["-n", "1", folder]).arg(sandbox.path(inside));
        command.arg(env!("CARGO_BIN_EXE_ripplet")).args(arguments.split_whitespace());
    }
    Said::of(output(&mut command))
}

/// Checks that exactly one process printed an error, and that it has these parts.
#[track_caller]
pub fn one_error(said: &Said, code: i32, parts: &[&str]) {
    said.must_fail("ranks", code, parts);
    let errors = said.error.lines().filter(|line| line.starts_with("error: "));
    assert_eq!(errors.count(), 1, "{said:?}");
    assert_eq!(said.out, "");
}

/// Cliques in a ring, with weights, and a vertex between each two that belongs to neither.
fn ring() -> String {
    let mut text = String::from("source,target,weight\n");
    for clique in 0..12 {
        let first = 10 * clique;
        for a in first..first + 6 {
            for b in a + 1..first + 6 {
                text += &format!("{a},{b},{}\n", 1 + (a * b) % 5);
            }
        }
        let between = first + 6;
        let next = (first + 10) % 120;
        text += &format!("{first},{between},2\n{between},{next},2\n{next},{},1\n", first + 3);
    }
    text
}

#[test]
fn the_bytes_are_those_of_one_process() {
    let graph = data("../examples/graphs/power.graph");
    let sandbox = Sandbox::new();
    let run = format!("communities {} --threads 1 --stats s.json -o", graph.display());
    sandbox.ok(&format!("{run} one.csv"));
    let (expected, figures) = (sandbox.read("one.csv"), sandbox.json("s.json"));
    for mpi in Mpi::all() {
        for &ranks in if mpi.is_open_mpi() { &[2, 3][..] } else { &[1, 2, 3, 4, 7] } {
            let said = on_ranks(&mpi, &sandbox, ranks, &format!("{run} several.csv"));
            assert_eq!((said.code, &*said.out), (Some(0), ""), "{said:?}");
            assert_eq!(sandbox.read("several.csv"), expected, "{ranks} ranks");
            let of_ranks = sandbox.json("s.json");
            for figure in [
                "changed",
                "visited",
                "edges_scanned",
                "split",
                "merged",
                "modularity",
                "communities",
            ] {
                assert!(figures[figure] != serde_json::Value::Null, "{figure}");
                assert_eq!(of_ranks[figure], figures[figure], "{figure}, {ranks} ranks");
            }
            let last = if ranks == 1 { " s; see" } else { &*format!(" s on {ranks} ranks; see") };
            assert!(said.error.contains(last), "{said:?}");
            assert_eq!(said.error.matches("communities, median size").count(), 1, "{said:?}");
        }
    }
}

/// The figures of a run that do not depend on the number of ranks.
const FIGURES: [&str; 8] = [
    "changed",
    "visited",
    "edges_scanned",
    "split",
    "merged",
    "modularity",
    "communities",
    "edges",
];

#[test]
fn ranks_read_their_parts_of_an_rg() {
    let sandbox = Sandbox::with([("ring.csv", &*ring())]);
    // Vertices with names, a hub, and vertices that only have arcs that enter.
    let rows = (0..900).map(|row| format!("n{},n{},{}\n", row * row % 97, row % 211, 1 + row % 4));
    let hub = (0..100).map(|row| format!("n5,m{row},2\n"));
    sandbox.write("names.csv", rows.chain(hub).collect::<String>());
    sandbox.ok("convert ring.csv --weighted --keep-loops ring.rg");
    sandbox.ok("convert names.csv --weighted --directed --no-header names.rg");
    sandbox.ok("communities names.rg --iterations 1 -o start.csv --quiet");
    let inputs = ["ring.rg", "names.rg", "names.rg --labels start.csv --min-size 2"];
    for (mpi, input) in Mpi::all().flat_map(|mpi| inputs.map(|input| (mpi.clone(), input))) {
        if mpi.is_open_mpi() && input != "names.rg" {
            continue;
        }
        let run = format!("communities {input} --threads 1 --stats s.json -o");
        sandbox.ok(&format!("{run} one.csv"));
        let (expected, figures) = (sandbox.read("one.csv"), sandbox.json("s.json"));
        let sizes = if mpi.is_open_mpi() { &[2, 3][..] } else { &[1, 2, 3, 4, 7] };
        for &ranks in sizes {
            let said = on_ranks(&mpi, &sandbox, ranks, &format!("{run} several.csv --ranks mpi"));
            assert_eq!((said.code, &*said.out), (Some(0), ""), "{said:?}");
            assert_eq!(sandbox.read("several.csv"), expected, "{input}, {ranks} ranks");
            let found = sandbox.json("s.json");
            for figure in FIGURES {
                // With labels to begin with, communities do not merge.
                let is_known = figures[figure] != serde_json::Value::Null;
                assert!(is_known || (figure == "merged" && input.contains("--labels")), "{figure}");
                assert_eq!(found[figure], figures[figure], "{figure}, {input}, {ranks} ranks");
            }
            assert_eq!(found["ranks"]["graph"], "parts");
            assert!(!said.error.contains("the whole graph"), "{said:?}");
        }
    }
}

#[test]
fn ranks_read_their_shares_of_tables() {
    let sandbox = Sandbox::with([("ring.csv", &*ring())]);
    let rows = |from: u32| -> String {
        let row = |row: u32| format!("n{},n{},{}\n", row * row % 97, row % 211, 1 + row % 4);
        "from,to,amount\n"
            .chars()
            .chain((from..from + 450).flat_map(|at| row(at).chars().collect::<Vec<_>>()))
            .collect()
    };
    fs::create_dir(sandbox.path("days")).unwrap();
    for day in 0..3 {
        sandbox.write(&format!("days/{day}.csv"), rows(450 * day));
    }
    sandbox.ok("convert ring.csv --weighted ring.rg");
    sandbox.ok("communities ring.csv --iterations 1 -o start.csv --quiet");
    let inputs = [
        ("ring.csv --weighted --keep-loops", "read 216 edges: source = \"source\""),
        (
            "days/*.csv --directed --weighted",
            "read 1,350 edges: source = \"from\", target = \"to\", weight = \"amount\"; from 3 files",
        ),
        ("ring.csv --labels start.csv --min-size 2 --program llp --gamma 0.1", "read 216 edges"),
    ];
    for (mpi, (input, summary)) in
        Mpi::all().flat_map(|mpi| inputs.map(|input| (mpi.clone(), input)))
    {
        if mpi.is_open_mpi() && !input.starts_with("days") {
            continue;
        }
        let run = format!("communities {input} --threads 1 --stats s.json -o");
        sandbox.ok(&format!("{run} one.csv"));
        let (expected, figures) = (sandbox.read("one.csv"), sandbox.json("s.json"));
        for &ranks in if mpi.is_open_mpi() { &[2, 3][..] } else { &[1, 2, 3, 4, 7] } {
            let said = on_ranks(&mpi, &sandbox, ranks, &format!("{run} several.csv --ranks mpi"));
            assert_eq!((said.code, &*said.out), (Some(0), ""), "{said:?}");
            assert_eq!(sandbox.read("several.csv"), expected, "{input}, {ranks} ranks");
            assert_eq!(said.error.matches(summary).count(), 1, "{said:?}");
            let found = sandbox.json("s.json");
            for figure in FIGURES {
                assert_eq!(found[figure], figures[figure], "{figure}, {input}, {ranks} ranks");
            }
            assert_eq!(found["ranks"]["graph"], "parts");
        }
    }
    // A run of ranks goes on in one process, and from another file of the same graph.
    let Some(mpi) = Mpi::mpich() else { return };
    sandbox.ok("communities ring.csv --weighted -o one.csv --quiet");
    let said = on_ranks(
        &mpi,
        &sandbox,
        3,
        "communities ring.csv --weighted --iterations 1 --checkpoint c --checkpoint-every 1 -o o.csv",
    );
    assert_eq!(said.code, Some(0), "{said:?}");
    for input in ["ring.csv --weighted", "ring.rg"] {
        sandbox.ok(&format!("communities {input} --checkpoint c --resume -o o.csv"));
        assert_eq!(sandbox.read("o.csv"), sandbox.read("one.csv"));
    }
}

#[test]
fn analyses_give_the_bytes_of_one_process() {
    let sandbox = Sandbox::with([("ring.csv", &*ring()), ("some.txt", "3\n50\n")]);
    let rows = (0..900).map(|row| format!("n{},n{},{}\n", row * row % 97, row % 211, 1 + row % 4));
    sandbox.write("names.csv", rows.collect::<String>());
    sandbox.ok("convert names.csv --weighted --directed --no-header names.rg");
    sandbox.ok("convert ring.csv ring.gml");
    for (arguments, figures, graph) in [
        ("pagerank ring.csv --weighted", &["largest", "mean"][..], "parts"),
        ("pagerank names.rg --iterations 7", &["largest", "mean"], "parts"),
        ("pagerank ring.csv --personalize some.txt --damping 0.5", &["largest", "mean"], "parts"),
        ("components ring.csv", &["components"], "parts"),
        ("components names.rg", &["components"], "parts"),
        ("lcc ring.csv --triangles", &["triangles", "mean"], "parts"),
        ("lcc names.rg --definition fagiolo --triangles", &["triangles", "mean"], "parts"),
        ("lcc names.rg", &["triangles", "mean"], "parts"),
        ("lcc ring.csv --storage compressed", &["triangles", "mean"], "whole"),
        ("components ring.gml", &["components"], "whole"),
    ] {
        let run = format!("{arguments} --stats s.json --threads 1 -o");
        sandbox.ok(&format!("{run} one.csv"));
        let (expected, of_one) = (sandbox.read("one.csv"), sandbox.json("s.json"));
        for mpi in Mpi::all() {
            let is_tried = !mpi.is_open_mpi() || arguments.contains("names.rg");
            for &ranks in if mpi.is_open_mpi() { &[2][..] } else { &[1, 2, 5] } {
                if !is_tried {
                    continue;
                }
                let said =
                    on_ranks(&mpi, &sandbox, ranks, &format!("{run} several.csv --ranks mpi"));
                assert_eq!((said.code, &*said.out), (Some(0), ""), "{said:?}");
                assert_eq!(sandbox.read("several.csv"), expected, "{arguments}, {ranks} ranks");
                let found = sandbox.json("s.json");
                for figure in figures.iter().chain(&["vertices", "edges"]) {
                    assert!(of_one[figure] != serde_json::Value::Null, "{figure}");
                    assert_eq!(found[figure], of_one[figure], "{figure}, {arguments}");
                }
                assert_eq!(found["ranks"]["graph"], graph, "{arguments}");
                assert_eq!(found["ranks"]["peak_memory"].as_array().unwrap().len(), ranks);
                let last = format!(" s on {ranks} ranks; see several.csv");
                assert_eq!(said.error.matches(&last).count(), 1, "{said:?}");
            }
        }
    }
    let Some(mpi) = Mpi::mpich() else { return };
    let said = on_ranks(&mpi, &sandbox, 2, "lcc names.rg --estimate");
    assert!(said.out.contains("lists of other ranks, in messages"), "{said:?}");
    let said = on_ranks(&mpi, &sandbox, 2, "components ring.csv -o - --quiet");
    assert_eq!(
        (said.out, said.error),
        (sandbox.ok("components ring.csv -o - --quiet"), String::new())
    );
    let said = on_ranks(&mpi, &sandbox, 2, "components ring.csv -o /dev/full --to csv");
    one_error(&said, 1, &["error: rank 0 on ", ": cannot write /dev/full: No space left"]);
}

#[test]
fn ranks_convert_tables_to_the_file_of_one_process() {
    let sandbox = Sandbox::with([("ring.csv", &*ring())]);
    fs::create_dir(sandbox.path("days")).unwrap();
    for day in 0..3 {
        let row = |row: u32| format!("n{},n{},{}.5\n", row * row % 97, row % 211, 1 + row % 4);
        let rows =
            std::iter::once("from,to,eur\n".into()).chain((400 * day..400 * day + 400).map(row));
        sandbox.write(&format!("days/{day}.csv"), rows.collect::<String>());
    }
    for (arguments, shared) in
        [("ring.csv", "216 edges"), ("days/*.csv --weighted --directed --keep-loops", "edges")]
    {
        sandbox.ok(&format!("convert {arguments} one.rg"));
        for (mpi, ranks) in Mpi::all().flat_map(|mpi| [2, 3].map(|ranks| (mpi.clone(), ranks))) {
            let said = on_ranks(&mpi, &sandbox, ranks, &format!("convert {arguments} several.rg"));
            assert_eq!((said.code, &*said.out), (Some(0), ""), "{said:?}");
            assert!(
                said.error.contains(shared) && said.error.contains("; see several.rg"),
                "{said:?}"
            );
            let read = |name| fs::read(sandbox.path(name)).unwrap();
            assert!(read("one.rg") == read("several.rg"), "{arguments}, {ranks} ranks");
        }
    }
    let Some(mpi) = Mpi::mpich() else { return };
    let before = sandbox.names();
    for (arguments, part) in [
        ("convert ring.csv o.parquet", "writing o.parquet is not possible on several ranks"),
        ("convert one.rg o.rg", "converting one.rg is not possible on several ranks"),
        ("convert none.csv o.rg", "none.csv: No such file"),
        ("convert ring.csv no/o.rg", "no/o.rg"),
    ] {
        one_error(&on_ranks(&mpi, &sandbox, 2, arguments), 2, &[part]);
        assert_eq!(sandbox.names(), before, "{arguments}");
    }
}

#[test]
fn shares_that_are_wrong_are_refused_once() {
    let Some(mpi) = Mpi::mpich() else { return };
    let mut rows: Vec<String> = (0..200).map(|row| format!("{row},{},1", row + 1)).collect();
    rows.insert(0, "source,target,weight".into());
    rows[150] = "149,150,heavy".into();
    let sandbox = Sandbox::with([("g.csv", &*rows.join("\n"))]);
    for folder in ["a", "b"] {
        fs::create_dir(sandbox.path(folder)).unwrap();
    }
    sandbox.write("a/e.csv", "source,target\n1,2\n");
    sandbox.write("b/e.csv", "source,target\n1,2\n2,3\n");
    let said = on_ranks(&mpi, &sandbox, 3, "communities g.csv --weighted -o o.csv");
    one_error(&said, 2, &["error: rank 2 on ", ": g.csv:151: "]);
    let run = "communities e.csv -o o.csv";
    let said = on_each_rank(&mpi, &sandbox, &[("a", run), ("b", run)]);
    one_error(&said, 2, &["rank 1 has other input files than rank 0"]);
    let said = on_ranks(&mpi, &sandbox, 2, "communities g.csv --columns no,target -o o.csv");
    one_error(&said, 2, &["g.csv:1: ", "no"]);
    let said = on_ranks(&mpi, &sandbox, 2, "communities none*.csv -o o.csv");
    one_error(&said, 2, &["no file has such a name"]);
    assert!(!sandbox.path("o.csv").exists());
}

#[test]
fn what_needs_the_whole_graph_reads_it_and_says_so() {
    let Some(mpi) = Mpi::mpich() else { return };
    let sandbox = Sandbox::with([("g.csv", &*ring()), ("seeds.csv", "0,x\n50,y\n")]);
    sandbox.ok("convert g.csv --weighted g.rg");
    sandbox.ok("convert g.csv g.gml");
    for (options, reason) in [
        ("g.gml", "tables of edges and .rg are read in parts"),
        ("g.csv --weighted --names hub", "--names hub needs all of it"),
        ("g.rg --names hub", "--names hub needs all of it"),
        ("g.rg --min-size 8 --join-small", "--join-small needs all of it"),
        ("g.rg --storage compressed", "--storage compressed needs all of it"),
        ("g.rg --to graphml", "writing a graph needs all of it"),
        ("g.rg --program seeded --seeds seeds.csv", "--program seeded needs all of it"),
    ] {
        let run = format!("communities {options} --stats s.json -o");
        sandbox.ok(&format!("{run} one.tsv"));
        let said = on_ranks(&mpi, &sandbox, 2, &format!("{run} two.tsv"));
        assert_eq!(said.code, Some(0), "{said:?}");
        assert_eq!(sandbox.read("two.tsv"), sandbox.read("one.tsv"), "{options}");
        assert_eq!(
            said.error.matches("each rank reads the whole graph of g.").count(),
            1,
            "{said:?}"
        );
        assert!(said.error.contains(reason), "{said:?}");
        assert_eq!(sandbox.json("s.json")["ranks"]["graph"], "whole");
    }
}

#[test]
fn parts_of_files_that_differ_or_are_damaged_are_refused() {
    let Some(mpi) = Mpi::mpich() else { return };
    let sandbox = Sandbox::with([("g.csv", &*ring())]);
    sandbox.ok("convert g.csv --weighted g.rg");
    let good = fs::read(sandbox.path("g.rg")).unwrap();
    for (folder, seed) in [("a", 1), ("b", 2)] {
        fs::create_dir(sandbox.path(folder)).unwrap();
        // The number of vertices is the same.
        sandbox
            .ok(&format!("generate rmat --scale 8 --edge-factor 4 --seed {seed} -o {folder}/e.rg"));
    }
    let run = "communities e.rg -o o.csv";
    let said = on_each_rank(&mpi, &sandbox, &[("a", run), ("b", run)]);
    one_error(&said, 2, &["rank 1 has another graph, version or options"]);
    for at in [9, 100, good.len() / 2, good.len() - 3] {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        sandbox.write("bad.rg", &bad);
        let said = on_ranks(&mpi, &sandbox, 2, "communities bad.rg -o o.csv");
        one_error(&said, 2, &["bad.rg", "byte "]);
    }
    let said = on_ranks(&mpi, &sandbox, 2, "communities g.rg --undirected --directed -o o.csv");
    one_error(&said, 2, &["--directed"]);
    let said = on_ranks(&mpi, &sandbox, 2, "communities g.rg --directed -o o.csv");
    one_error(&said, 2, &["this graph was stored undirected"]);
    assert!(!sandbox.path("o.csv").exists());
}

/// The size of a file must be large against what a process takes anyway, so that the test takes a second.
#[test]
fn a_rank_has_its_share_of_the_lists_in_memory() {
    let Some(mpi) = Mpi::mpich() else { return };
    let sandbox = Sandbox::new();
    sandbox.ok("generate rmat --scale 14 --edge-factor 256 -o g.rg --quiet");
    let bytes = fs::metadata(sandbox.path("g.rg")).unwrap().len();
    assert!(bytes > 12 << 20, "{bytes}");
    let peak = |options: &str| -> Vec<u64> {
        let run = "communities g.rg --iterations 1 --merge off -o o.csv --threads 1 --stats s.json";
        let said = on_ranks(&mpi, &sandbox, 4, &format!("{run} {options}"));
        assert_eq!(said.code, Some(0), "{said:?}");
        let stats = sandbox.json("s.json");
        let peaks = stats["ranks"]["peak_memory"].as_array().unwrap();
        peaks.iter().map(|peak| peak.as_u64().unwrap()).collect()
    };
    let (whole, parts) = (peak("--names hub"), peak(""));
    assert_eq!((whole.len(), parts.len()), (4, 4));
    for (whole, parts) in whole.iter().zip(&parts) {
        // A quarter of the lists, and blocks of a mebibyte at its ends: some half of the file less.
        assert!(parts + bytes / 3 < *whole, "{parts} and {whole} of {bytes}");
    }
}

#[test]
fn programs_and_options_give_the_bytes_of_one_process() {
    let Some(mpi) = Mpi::mpich() else { return };
    let sandbox = Sandbox::with([("g.csv", &*ring()), ("seeds.csv", "0,x\n50,y\n")]);
    sandbox.ok("communities g.csv --weighted --iterations 1 -o start.csv");
    sandbox.ok("convert g.csv --weighted g.rgz");
    for options in [
        "g.csv --weighted --program llp --gamma 0.2 --names hub",
        "g.csv --program slpa --seed 5",
        "g.csv --weighted --program seeded --seeds seeds.csv --attenuation 0.4",
        "g.csv --directed --program cdlp",
        "g.rgz --schedule sync --counter mg:4 --merge off --keep-disconnected --min-size 3",
        "g.csv --labels start.csv --merge 0.2 --to graphml",
    ] {
        sandbox.ok(&format!("communities {options} -o one.tsv"));
        let said =
            on_ranks(&mpi, &sandbox, 3, &format!("communities {options} --threads 2 -o three.tsv"));
        assert_eq!(said.code, Some(0), "{said:?}");
        assert_eq!(sandbox.read("three.tsv"), sandbox.read("one.tsv"), "{options}");
    }
    let said = on_ranks(&mpi, &sandbox, 2, "communities g.csv -o - --quiet --device cpu");
    assert_eq!((said.code, &*said.error), (Some(0), ""));
    assert_eq!(said.out, sandbox.ok("communities g.csv -o - --quiet"));
    let said = on_ranks(&mpi, &sandbox, 2, "communities g.csv --top 2 --quiet");
    assert_eq!(said.out, sandbox.ok("communities g.csv --top 2 --quiet"));
    let said = on_ranks(&mpi, &sandbox, 2, "communities g.csv --estimate");
    assert!(said.out.contains("messages between ranks"), "{said:?}");
    assert_eq!(said.out.matches("total").count(), 2, "{said:?}");
    // What was read is said as by one process.
    for analysis in ["communities", "pagerank", "components", "lcc"] {
        let run = format!("{analysis} g.csv --estimate --device cpu");
        let alone = sandbox.run(&run);
        let read = alone.error.lines().find(|line| line.starts_with("read ")).unwrap();
        let said = on_ranks(&mpi, &sandbox, 2, &run);
        assert_eq!(said.error.matches(read).count(), 1, "{run}: {said:?}");
    }
}

/// A program with label totals whose votes are for the labels of neighbours, without saying so.
const COUNTED: &str = "
pub struct Counted {}

impl Program for Counted {
    type Score = u64;

    fn label_total(&self) -> LabelTotal {
        LabelTotal::Members
    }

    fn load_neighbor(&self, _v: Vertex, u: Neighbor) -> Vote {
        Vote { label: u.label, weight: 1 }
    }

    fn label_score(&self, _v: Vertex, c: Candidate) -> u64 {
        c.frequency * 1000 / (1000 + c.total() as u64).max(1)
    }
}
";

#[test]
fn either_labels_of_ranks_give_the_bytes_of_one_process() {
    let Some(mpi) = Mpi::mpich() else { return };
    let sandbox = Sandbox::with([("g.csv", &*ring()), ("counted.rs", COUNTED)]);
    let promised =
        "    fn votes_for_own_label(&self) -> bool {\n        true\n    }\n\n    fn load_neighbor";
    sandbox.write("promised.rs", COUNTED.replacen("    fn load_neighbor", promised, 1));
    let run = |options: &str, labels: &str| {
        let run = format!("communities g.csv {options} --threads 1 -o three.csv --stats s.json");
        let said = on_ranks(&mpi, &sandbox, 3, &format!("{run} --rank-labels {labels}"));
        let stats = (said.code == Some(0)).then(|| sandbox.json("s.json"));
        (said, stats.map(|stats| stats["ranks"]["labels"].as_str().unwrap().to_owned()))
    };
    for (options, chosen) in [
        ("--weighted", ["ghosts", "all", "ghosts"]),
        ("--program slpa", ["ghosts", "all", "ghosts"]),
        ("--program-file promised.rs", ["ghosts", "all", "ghosts"]),
        ("--program-file counted.rs", ["all", "all", ""]),
    ] {
        sandbox.ok(&format!("communities g.csv {options} -o one.csv"));
        for (labels, expected) in ["auto", "all", "ghosts"].into_iter().zip(chosen) {
            let (said, found) = run(options, labels);
            if expected.is_empty() {
                one_error(
                    &said,
                    2,
                    &["the program counted has label totals", "votes_for_own_label"],
                );
                continue;
            }
            assert_eq!(said.code, Some(0), "{said:?}");
            assert_eq!(sandbox.read("three.csv"), sandbox.read("one.csv"), "{options} {labels}");
            assert_eq!(found.as_deref(), Some(expected), "{options} {labels}: {said:?}");
            let remark = match expected {
                "ghosts" => {
                    "each rank has the labels of its vertices and their neighbours (ghosts)"
                }
                _ => "each rank has the labels of all vertices",
            };
            assert_eq!(said.error.matches(remark).count(), 1, "{said:?}");
        }
    }
    let said = on_ranks(&mpi, &sandbox, 3, "communities g.csv --estimate");
    assert!(said.error.contains("(ghosts)"), "{said:?}");
}

#[test]
fn what_ranks_cannot_do_is_refused_once_and_nothing_is_written() {
    let Some(mpi) = Mpi::mpich() else { return };
    let sandbox = Sandbox::with([("g.csv", &*ring())]);
    let before = sandbox.names();
    for (arguments, part) in [
        ("communities g.csv -o o.csv --refine modularity", "refinement is not possible on several"),
        ("communities g.csv -o o.csv --schedule async", "the schedule async is not possible on"),
        ("communities - -o o.csv", "standard input"),
        ("communities missing.csv -o o.csv", "missing.csv: No such file"),
        ("communities g.csv -o o.nonsense", "o.nonsense"),
        ("communities g.csv -o o.csv --nonsense", "--nonsense"),
        ("communities g.csv -o o.csv --preset nu-mg8", "--preset is not possible on several ranks"),
        (
            "communities g.csv -o o.csv --program llp --counter bm",
            "the counter bm keeps but a few frequent labels, and the program llp needs",
        ),
        ("communities g.csv -o o.csv --counter auto", "--counter auto is not possible"),
        ("communities g.csv -o o.csv --program llp --sweep 2", "--sweep is not possible"),
        (
            "communities . -o o.csv --rank-labels all",
            "--rank-labels of a batch is not possible on several ranks",
        ),
        ("communities g.csv -o o.csv --host-memory 1KB", "--host-memory allows"),
        ("communities g.csv -o o.csv --stats no/s.json", "rank 0 on "),
        ("info g.csv", "2 processes of this command were started together (PMI_RANK is"),
        ("lcc . -o o.csv --storage compressed", "and this is a batch"),
        ("closeness g.csv -o o.csv", "this analysis of one graph is not possible on several ranks"),
        ("apsp g.csv -o o.csv", "this analysis of one graph is not possible on several ranks"),
        ("kcore - -o o.csv", "reading standard input is not possible on several ranks"),
        ("pagerank g.csv -o o.csv --device cuda", "a GPU is not possible on several ranks"),
        ("pagerank - -o o.csv", "reading standard input is not possible on several ranks"),
        ("components g.csv -o o.csv --weighted", "--weighted would change nothing"),
        ("components g.csv -o o.nonsense", "o.nonsense"),
        ("pagerank g.csv -o o.csv --personalize none.txt", "none.txt: No such file"),
        ("lcc missing.csv -o o.csv", "missing.csv: No such file"),
        ("pagerank g.csv -o o.csv --host-memory 1KB", "--host-memory"),
    ] {
        let said = on_ranks(&mpi, &sandbox, 2, arguments);
        one_error(&said, 2, &[part]);
        assert_eq!(sandbox.names(), before, "{arguments}");
    }
    // The other rank waits while the first one writes.
    let said = on_ranks(&mpi, &sandbox, 2, "communities g.csv -o /dev/full --to csv");
    one_error(&said, 1, &["error: rank 0 on ", ": cannot write /dev/full: No space left"]);
    assert_eq!(sandbox.names(), before);
    let said = on_ranks(&mpi, &sandbox, 2, "--version");
    assert_eq!((said.code, said.out.lines().count()), (Some(0), 1), "{said:?}");
}

#[test]
fn a_gpu_that_does_not_work_ends_all_ranks_with_one_message() {
    let Some(mpi) = Mpi::mpich() else { return };
    let sandbox = Sandbox::with([("g.csv", &*ring())]);
    no_driver(&sandbox, b"this is no library");
    let before = sandbox.names();
    for (arguments, code, part) in [
        ("--device cuda:0,1", 1, "no NVIDIA driver"),
        ("--device-memory 1GiB", 2, "is for a GPU"),
        ("--device cuda --rank-labels ghosts", 1, "no NVIDIA driver"),
    ] {
        let mut command = launcher(&mpi, &sandbox);
        command.env("LD_LIBRARY_PATH", sandbox.path(""));
        command.args([
            "-n",
            "2",
            env!("CARGO_BIN_EXE_ripplet"),
            "communities",
            "g.csv",
            "-o",
            "o.csv",
        ]);
        one_error(&Said::of(output(command.args(arguments.split_whitespace()))), code, &[part]);
        assert_eq!(sandbox.names(), before, "{arguments}");
    }
}

#[test]
fn open_mpi_refuses_as_well() {
    let Some(mpi) = Mpi::open_mpi() else { return };
    let sandbox = Sandbox::with([("g.csv", &*ring())]);
    let said = on_ranks(&mpi, &sandbox, 2, "info g.csv");
    one_error(
        &said,
        2,
        &["(OMPI_COMM_WORLD_RANK is set), and this command does not share its work"],
    );
    let said = on_ranks(&mpi, &sandbox, 2, "communities missing.csv -o o.csv");
    one_error(&said, 2, &["error: missing.csv: No such file"]);
    assert_eq!(sandbox.names(), ["g.csv"]);
}

#[test]
fn the_mpi_of_a_launcher_is_found_without_a_search_path() {
    let sandbox = Sandbox::with([("g.csv", &*ring())]);
    for mpi in Mpi::all() {
        // A shell between launcher and rank, as users write it.
        let mut command = launcher(&mpi, &sandbox);
        command.env("PATH", "/usr/bin:/bin").args(["-n", "2", "/bin/sh", "-c"]);
        let run = format!("{} communities g.csv -o c.csv; exit $?", env!("CARGO_BIN_EXE_ripplet"));
        let said = Said::of(output(command.arg(run)));
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(said.error.contains(" on 2 ranks"), "{said:?}");
    }
}

#[test]
fn an_mpi_that_is_missing_is_reported_once_on_a_host() {
    let Some(mpi) = Mpi::mpich() else { return };
    let sandbox = Sandbox::with([("g.csv", &*ring())]);
    let mut command = launcher(&mpi, &sandbox);
    command.env("RIPPLET_MPI", "/nowhere/libmpi.so.12").args(["-n", "3"]);
    command.args([env!("CARGO_BIN_EXE_ripplet"), "communities", "g.csv", "-o", "c.csv"]);
    one_error(&Said::of(output(&mut command)), 2, &["error: cannot open /nowhere/libmpi.so.12"]);
    assert_eq!(sandbox.names(), ["g.csv"]);
}

#[test]
fn a_limit_on_memory_is_the_users_wherever_it_is_reached() {
    let Some(mpi) = Mpi::mpich() else { return };
    let edges = |i: u32| format!("{},{}\n", i % 5003, i.wrapping_mul(7919) % 49_999);
    let table: String = (0..60_000).map(edges).collect();
    let sandbox = Sandbox::with([("g.csv", &*format!("source,target\n{table}"))]);
    let mut codes = Vec::new();
    for kibibytes in (1024..=4096).step_by(256) {
        let run = format!("communities g.csv -o c.csv --host-memory {kibibytes}KiB");
        let said = on_ranks(&mpi, &sandbox, 2, &run);
        if said.code != Some(0) {
            one_error(&said, 2, &["--host-memory"]);
            assert_eq!(sandbox.names(), ["g.csv"]);
        }
        codes.push(said.code);
        let _absent_or_removed = fs::remove_file(sandbox.path("c.csv"));
    }
    assert_eq!((codes.first(), codes.last()), (Some(&Some(2)), Some(&Some(0))), "{codes:?}");
}

#[test]
fn ranks_that_differ_are_refused() {
    let Some(mpi) = Mpi::mpich() else { return };
    let sandbox = Sandbox::with([("g.csv", &*ring())]);
    for (folder, edges) in [("a", "1,2\n2,3\n3,1\n"), ("b", "1,2\n2,3\n3,4\n"), ("c", "")] {
        fs::create_dir(sandbox.path(folder)).unwrap();
        if !edges.is_empty() {
            sandbox.write(&format!("{folder}/e.csv"), edges);
            let list =
                if folder == "a" { "4 3\n2 4\n1 3\n2\n1\n" } else { "4 3\n2\n1 3\n2 4\n3\n" };
            sandbox.write(&format!("{folder}/e.graph"), list);
        }
    }
    let run = "communities e.csv -o o.csv";
    let other_options = format!("{run} --seed 7");
    let said = on_each_rank(&mpi, &sandbox, &[("a", run), ("a", &other_options)]);
    one_error(
        &said,
        2,
        &["rank 1 on ", " was started with another version of ripplet, or with other arg"],
    );
    let said = on_each_rank(&mpi, &sandbox, &[("a", run), ("b", run)]);
    one_error(&said, 2, &["rank 1 has other input files than rank 0"]);
    let run_whole = run.replace("e.csv", "e.graph");
    let said = on_each_rank(&mpi, &sandbox, &[("a", &run_whole), ("b", &run_whole)]);
    one_error(&said, 2, &["rank 1 has another graph, version or options"]);
    sandbox.write("a/some.txt", "1\n");
    sandbox.write("b/some.txt", "2\n");
    sandbox.write("b/e.csv", sandbox.read("a/e.csv"));
    let jumps = "pagerank e.csv --personalize some.txt -o o.csv";
    let said = on_each_rank(&mpi, &sandbox, &[("a", jumps), ("b", jumps)]);
    one_error(&said, 2, &["rank 1 has another graph, version or options"]);
    let said = on_each_rank(&mpi, &sandbox, &[("a", run), ("c", run)]);
    one_error(&said, 2, &["error: rank 1 on ", ": e.csv: No such file"]);
    let said = on_each_rank(&mpi, &sandbox, &[("c", run), ("a", run)]);
    one_error(&said, 2, &["error: rank 0 on ", ": e.csv: No such file"]);
    for folder in ["a", "b", "c"] {
        assert!(!sandbox.path(&format!("{folder}/o.csv")).exists(), "{folder}");
    }
}

#[test]
fn each_process_runs_all_only_on_request() {
    let Some(mpi) = Mpi::mpich() else { return };
    let sandbox = Sandbox::with([("g.csv", &*ring())]);
    let said = on_ranks(&mpi, &sandbox, 2, "communities g.csv --ranks none --top 1");
    assert_eq!((said.code, said.out.lines().count()), (Some(0), 4), "{said:?}");
    let said = on_ranks(&mpi, &sandbox, 1, "communities g.csv --ranks mpi --top 1");
    assert_eq!((said.code, said.out.lines().count()), (Some(0), 2), "{said:?}");
    // One process is no launcher's business.
    let said = on_ranks(&mpi, &sandbox, 1, "lcc g.csv -o l.csv");
    assert_eq!(said.code, Some(0), "{said:?}");
}

#[test]
fn the_environment_of_a_launcher_is_enough_to_refuse() {
    let sandbox = Sandbox::with([("g.csv", &*ring())]);
    let run = |arguments: &str, variables: &[(&str, &str)]| {
        let mut command = sandbox.command(arguments);
        for variable in ["PMI_RANK", "PMI_SIZE", "PMIX_RANK", "RIPPLET_MPI"] {
            command.env_remove(variable);
        }
        Said::of(command.envs(variables.iter().copied()).output().unwrap())
    };
    let info = "info g.csv";
    let slurm = [("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_STEP_ID", "0")];
    one_error(&run(info, &slurm), 2, &["8 processes of this command", "SLURM_PROCID"]);
    one_error(
        &run(info, &[("PMIX_RANK", "0")]),
        2,
        &["several processes of this command may have"],
    );
    let silent = run(info, &[("PMI_RANK", "1"), ("PMI_SIZE", "2")]);
    assert_eq!((silent.code, &*silent.out, &*silent.error), (Some(2), "", ""));
    let communities = "communities g.csv -o c.csv";
    let none = [("PMI_RANK", "0"), ("PMI_SIZE", "2"), ("RIPPLET_MPI", "/nowhere/libmpi.so.12")];
    one_error(&run(communities, &none), 2, &["cannot open /nowhere/libmpi.so.12", "RIPPLET_MPI"]);
    let mpi = format!("{communities} --ranks mpi");
    one_error(&run(&mpi, &[]), 2, &["--ranks mpi is for processes that a launcher of MPI started"]);
    assert_eq!(sandbox.names(), ["g.csv"]);
    let said = run(&format!("{communities} --ranks none"), &none);
    assert_eq!(said.code, Some(0), "{said:?}");
}

#[test]
fn ranks_on_a_machine_share_its_cores_and_memory() {
    for mpi in Mpi::all() {
        let sandbox = Sandbox::with([("g.csv", &*ring())]);
        let run = "communities g.csv -o o.csv --stats s.json";
        let threads = |options: &str| -> (Vec<u64>, String) {
            let said = on_ranks(&mpi, &sandbox, 2, &format!("{run} {options}"));
            assert_eq!(said.code, Some(0), "{said:?}");
            let stats = sandbox.json("s.json");
            let threads = stats["ranks"]["threads"].as_array().unwrap();
            let threads: Vec<_> = threads.iter().map(|count| count.as_u64().unwrap()).collect();
            assert_eq!(stats["threads"].as_u64(), threads.first().copied());
            (threads, said.error)
        };
        // Open MPI binds each rank to a core unless an option forbids it: then nothing is divided.
        let cores = std::thread::available_parallelism().unwrap().get() as u64;
        let (shared, said) = threads("");
        assert!(shared.iter().sum::<u64>() <= cores.max(2), "{shared:?} of {cores}");
        assert!(mpi.is_open_mpi() || shared == [(cores / 2).max(1); 2], "{shared:?} of {cores}");
        let host = sandbox.json("s.json")["ranks"]["hosts"][0].as_str().unwrap().to_owned();
        assert!(said.contains(&format!("2 ranks share {host}: ")), "{said}");
        assert!(said.contains(" and 1/2 of the memory that ripplet may take for each"), "{said}");
        let (given, said) = threads("--threads 3 --host-memory 1GiB");
        assert_eq!(given, [3, 3]);
        assert!(!said.contains("ranks share"), "{said}");
        let (_, said) = threads("--host-memory 1GiB");
        assert!(said.contains("ranks share") && !said.contains("memory"), "{said}");
    }
}

#[test]
fn figures_have_the_messages_of_each_rank() {
    let Some(mpi) = Mpi::mpich() else { return };
    let sandbox = Sandbox::with([("g.csv", &*ring())]);
    sandbox.ok("communities g.csv -o o.csv --stats one.json");
    assert!(sandbox.json("one.json").get("ranks").is_none());
    let said = on_ranks(&mpi, &sandbox, 3, "communities g.csv -o o.csv --stats s.json");
    assert_eq!(said.code, Some(0), "{said:?}");
    let stats = sandbox.json("s.json");
    let ranks = &stats["ranks"];
    let numbers = |name: &str| -> Vec<f64> {
        let all = ranks[name].as_array().unwrap_or_else(|| panic!("no {name} in {ranks}"));
        all.iter().map(|number| number.as_f64().unwrap()).collect()
    };
    assert!(ranks["mpi"].as_str().unwrap().contains("MPICH"), "{ranks}");
    assert_eq!(ranks["hosts"].as_array().unwrap().len(), 3);
    assert_eq!(numbers("threads").len(), 3);
    let (sent, received) = (numbers("sent"), numbers("received"));
    assert_eq!((sent.len(), received.len()), (3, 3));
    // What one sends, another one receives.
    assert_eq!(sent.iter().sum::<f64>(), received.iter().sum::<f64>());
    let of_rounds = numbers("round_sent");
    assert_eq!(of_rounds.len() as u64, stats["iterations"].as_u64().unwrap());
    // A label update of a changed vertex goes to two ranks: 8 bytes each.
    let changed = stats["changed"].as_array().unwrap();
    for (sent, changed) in of_rounds.iter().zip(changed) {
        assert!(*sent >= 16.0 * changed.as_f64().unwrap(), "{ranks}");
    }
    assert!(of_rounds.iter().sum::<f64>() < sent.iter().sum::<f64>());
    // Two exchanges in each of 8 phases, and the counts.
    assert!(ranks["calls"].as_f64().unwrap() >= 17.0 * of_rounds.len() as f64, "{ranks}");
    assert!(numbers("waiting").iter().all(|&seconds| seconds > 0.0));
    assert_eq!(ranks["round_waiting"].as_array().unwrap().len(), of_rounds.len());
}

/// Kills ranks of a run in a sandbox, by their processes.
mod deaths {
    use super::*;
    use std::process::{Child, ExitStatus};

    /// The processes of `ripplet` in a sandbox, by rank, once each has connected to the others.
    fn connected(sandbox: &Sandbox) -> Vec<(usize, u32)> {
        let folder = fs::canonicalize(sandbox.path("")).unwrap();
        let binary = fs::canonicalize(env!("CARGO_BIN_EXE_ripplet")).unwrap();
        let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let mut found = Vec::new();
        for process in entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()) {
            let at = |name: &str| format!("/proc/{process}/{name}");
            let is =
                |name: &str, path: &PathBuf| fs::read_link(at(name)).is_ok_and(|to| to == *path);
            if !is("cwd", &folder) || !is("exe", &binary) {
                continue;
            }
            let threads = fs::read_dir(at("task")).into_iter().flatten().filter_map(Result::ok);
            let names = threads.map(|thread| fs::read_to_string(thread.path().join("comm")));
            if !names.into_iter().any(|name| name.is_ok_and(|name| name.trim() == "signs of life"))
            {
                continue;
            }
            let variables = fs::read(at("environ")).unwrap_or_default();
            let variables = String::from_utf8_lossy(&variables).into_owned();
            let rank = variables.split('\0').find_map(|variable| {
                let (name, value) = variable.split_once('=')?;
                let is_rank = ["PMI_RANK", "OMPI_COMM_WORLD_RANK"].contains(&name);
                is_rank.then(|| value.parse().unwrap())
            });
            found.extend(rank.map(|rank| (rank, process)));
        }
        found
    }

    /// The processes of `ripplet` in a sandbox that have not ended.
    fn left(sandbox: &Sandbox) -> usize {
        let folder = fs::canonicalize(sandbox.path("")).unwrap();
        let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        entries
            .filter(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|to| to == folder))
            .count()
    }

    fn kill(sandbox: &Sandbox, ranks: usize, victim: usize) {
        let all = wait_for("ranks", || {
            let all = connected(sandbox);
            (all.len() == ranks).then_some(all)
        });
        let (_, process) = all.into_iter().find(|(rank, _)| *rank == victim).unwrap();
        let killed = Command::new("kill").args(["-9", &process.to_string()]).status().unwrap();
        assert!(killed.success());
    }

    fn ended(child: &mut Child) -> ExitStatus {
        wait_for("end", || child.try_wait().unwrap())
    }

    /// When a rank is killed.
    #[derive(Clone, Copy, Debug)]
    enum When {
        Reading,
        InRounds,
        Writing,
    }

    fn pipe(sandbox: &Sandbox, name: &str) {
        assert!(Command::new("mkfifo").arg(sandbox.path(name)).status().unwrap().success());
    }

    /// Begins a run of two ranks that stays where it is to be killed, and returns what it will do.
    fn begin(sandbox: &Sandbox, when: When, mut launcher: Command, shell: bool) -> Child {
        let arguments = match when {
            When::Reading => {
                pipe(sandbox, "pipe.csv");
                "communities pipe.csv -o out.csv"
            }
            // It never settles.
            When::InRounds => {
                "communities g.csv --program slpa --iterations 1000000 -o out.csv --checkpoint kept \
                 --checkpoint-every 1"
            }
            When::Writing => {
                pipe(sandbox, "pipe.csv");
                "communities g.csv -o pipe.csv --checkpoint kept --checkpoint-every 1"
            }
        };
        let run =
            format!("{} {arguments} --rank-deadline 3 --threads 1", env!("CARGO_BIN_EXE_ripplet"));
        launcher.args(["-n", "2"]);
        // MPICH sends the signal USR1 to what it has started when a process ends.
        match shell {
            true => launcher.args(["sh", "-c", &format!("trap : USR1; {run}; echo code $?")]),
            false => launcher.args(run.split_whitespace()),
        };
        let [out, error] =
            ["said.out", "said.error"].map(|name| fs::File::create(sandbox.path(name)).unwrap());
        let child = launcher.stdout(out).stderr(error).spawn().unwrap();
        match when {
            When::Reading => {}
            When::InRounds => wait_for("checkpoint", || {
                fs::read_dir(sandbox.path("kept"))
                    .ok()?
                    .filter_map(Result::ok)
                    .find(|entry| {
                        entry.path().extension().is_some_and(|extension| extension == "checkpoint")
                    })
                    .map(|_| ())
            }),
            When::Writing => {
                wait_for("ranks", || (connected(sandbox).len() == 2).then_some(()));
                sleep(Duration::from_millis(700));
            }
        }
        child
    }

    fn files(sandbox: &Sandbox) -> Vec<String> {
        let known = ["g.csv", "pipe.csv", "kept", "said.out", "said.error"];
        sandbox.names().into_iter().filter(|name| !known.contains(&&**name)).collect()
    }

    #[test]
    fn a_rank_that_is_killed_ends_the_others_within_the_deadline() {
        let Some(mpi) = Mpi::mpich() else { return };
        let cases = [When::Reading, When::InRounds, When::Writing];
        let cases = cases.into_iter().flat_map(|when| [(when, 0), (when, 1)]);
        // They wait: all at the same time.
        let run = |(when, victim): (When, usize)| {
            let sandbox = Sandbox::with([("g.csv", &*ring())]);
            let mut launcher = launcher(&mpi, &sandbox);
            // The launcher does not end the other rank.
            launcher.arg("-disable-auto-cleanup");
            let mut child = begin(&sandbox, when, launcher, true);
            let begun = Instant::now();
            kill(&sandbox, 2, victim);
            ended(&mut child);
            assert!(begun.elapsed() < Duration::from_secs(20), "{when:?} {victim}");
            let (out, error) = (sandbox.read("said.out"), sandbox.read("said.error"));
            let said = format!("{when:?}, rank {victim}: {out}{error}");
            assert!(out.contains("code 1\n") && out.contains("code 137\n"), "{said}");
            let errors: Vec<_> = error.lines().filter(|line| line.starts_with("error: ")).collect();
            let [only] = &errors[..] else { panic!("{said}") };
            let lost = ["is silent since ", "does not return since "];
            assert!(lost.iter().any(|lost| only.contains(lost)), "{said}");
            assert!(only.contains(" on "), "{said}");
            assert_eq!(files(&sandbox), [""; 0], "{said}");
            assert_eq!(left(&sandbox), 0, "{said}");
        };
        std::thread::scope(|scope| {
            let runs: Vec<_> = cases.map(|case| scope.spawn(move || run(case))).collect();
            runs.into_iter().for_each(|run| run.join().unwrap());
        });
    }

    #[test]
    fn launchers_end_what_a_killed_rank_leaves() {
        for mpi in Mpi::all() {
            let sandbox = Sandbox::with([("g.csv", &*ring())]);
            let mut child = begin(&sandbox, When::InRounds, launcher(&mpi, &sandbox), false);
            kill(&sandbox, 2, 1);
            assert!(!ended(&mut child).success());
            wait_for("end of all", || (left(&sandbox) == 0).then_some(()));
            assert_eq!(files(&sandbox), [""; 0], "{}", sandbox.read("said.error"));
        }
    }

    #[test]
    fn a_signal_to_the_launcher_ends_all() {
        for mpi in Mpi::all() {
            let sandbox = Sandbox::with([("g.csv", &*ring())]);
            let mut child = begin(&sandbox, When::InRounds, launcher(&mpi, &sandbox), false);
            let process = child.id().to_string();
            assert!(Command::new("kill").args(["-INT", &process]).status().unwrap().success());
            assert!(!ended(&mut child).success());
            wait_for("end of all", || (left(&sandbox) == 0).then_some(()));
            let error = sandbox.read("said.error");
            assert!(error.matches("interrupted;").count() <= 1, "{error}");
            assert!(!error.contains("error: rank"), "{error}");
            assert_eq!(files(&sandbox), [""; 0], "{error}");
        }
    }

    /// Resumes a run with this number of ranks: it has the bytes and the figures of the run that was not interrupted,
    /// `expected.csv` and `expected.json`.
    fn goes_on(mpi: &Mpi, sandbox: &Sandbox, ranks: usize, input: &str) {
        let run = format!("communities {input} --resume -o o.csv --stats s.json");
        let said = match ranks {
            1 => sandbox.run(&run),
            _ => on_ranks(mpi, sandbox, ranks, &run),
        };
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(said.error.contains("going on after round "), "{said:?}");
        assert_eq!(sandbox.read("o.csv"), sandbox.read("expected.csv"), "{ranks} ranks");
        let (found, expected) = (sandbox.json("s.json"), sandbox.json("expected.json"));
        for figure in FIGURES {
            assert_eq!(found[figure], expected[figure], "{figure}");
        }
        assert!(found["checkpoints"]["resumed_after"].as_u64() > Some(0), "{found}");
    }

    #[test]
    fn ranks_go_on_with_what_one_process_began() {
        let Some(mpi) = Mpi::mpich() else { return };
        let sandbox = Sandbox::with([("g.csv", &*ring())]);
        sandbox.ok("convert g.csv --weighted g.rg");
        sandbox.ok("communities g.rg -o expected.csv --stats expected.json");
        // One process, and two ranks, are killed while they write, after they kept a checkpoint.
        let begun = |folder: &str, ranks: usize| {
            pipe(&sandbox, &format!("{folder}.csv"));
            let run = format!(
                "communities g.rg -o {folder}.csv --checkpoint {folder} --checkpoint-every 1 --threads 1"
            );
            let mut command = match ranks {
                1 => sandbox.command(&run),
                _ => {
                    let mut launcher = launcher(&mpi, &sandbox);
                    launcher.args(["-n", &ranks.to_string(), env!("CARGO_BIN_EXE_ripplet")]);
                    launcher.args(run.split_whitespace());
                    launcher
                }
            };
            command.stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.spawn().unwrap();
            wait_for("checkpoint", || {
                let kept = fs::read_dir(sandbox.path(folder)).ok()?.filter_map(Result::ok);
                let is_kept = |name: PathBuf| name.extension().is_some_and(|e| e == "checkpoint");
                kept.map(|entry| entry.path()).any(is_kept).then_some(())
            });
            child.kill().unwrap();
            ended(&mut child);
            wait_for("end of all", || (left(&sandbox) == 0).then_some(()));
        };
        for (folder, begin, end) in [("one", 1, 3), ("two", 2, 1)] {
            begun(folder, begin);
            goes_on(&mpi, &sandbox, end, &format!("g.rg --checkpoint {folder}"));
        }
    }

    #[test]
    fn a_run_goes_on_with_another_number_of_ranks() {
        let Some(mpi) = Mpi::mpich() else { return };
        let sandbox = Sandbox::with([("g.csv", &*ring())]);
        let mut launcher = launcher(&mpi, &sandbox);
        launcher.arg("-disable-auto-cleanup");
        let mut child = begin(&sandbox, When::Writing, launcher, true);
        kill(&sandbox, 2, 1);
        ended(&mut child);
        let error = sandbox.read("said.error");
        assert!(
            error.contains("help: nothing unfinished was left; the run can --resume after round "),
            "{error}"
        );
        sandbox.ok("communities g.csv -o expected.csv --stats expected.json");
        let copy = |to: &str| {
            let mut copying = Command::new("cp");
            copying.arg("-r").arg(sandbox.path("kept")).arg(sandbox.path(to));
            assert!(copying.status().unwrap().success());
        };
        for ranks in 1..=3 {
            let kept = format!("kept{ranks}");
            copy(&kept);
            goes_on(&mpi, &sandbox, ranks, &format!("g.csv --checkpoint {kept}"));
            // What was written removes the checkpoints.
            assert!(fs::read_dir(sandbox.path(&kept)).map_or(0, Iterator::count) == 0);
        }
        let refused = "communities g.csv -o x.csv --seed 3 --checkpoint kept --resume";
        one_error(
            &on_ranks(&mpi, &sandbox, 2, refused),
            2,
            &["is a checkpoint of another run: seed: 0 there, 3"],
        );
        one_error(
            &on_ranks(&mpi, &sandbox, 2, "communities g.csv -o x.csv --checkpoint kept"),
            2,
            &["kept has a"],
        );
        assert!(!sandbox.path("x.csv").exists());
    }
}
