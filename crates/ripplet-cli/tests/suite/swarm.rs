//! Batches: each graph's values are those of the graph alone, whatever the batch came as.

use crate::sandbox::Sandbox;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The first ten graphs of ENZYMES.
pub const TU: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../ripplet-io/tests/data/tu");

/// Analyses of graphs in these tests.
const COMMANDS: [&str; 14] = [
    "closeness",
    "closeness --normalized",
    "closeness --measure wasserman-faust --directed",
    "harmonic --directed",
    "betweenness",
    "betweenness --directed --normalized",
    "betweenness --edges",
    "betweenness --edges --directed --normalized",
    "pagerank",
    "pagerank --directed --iterations 20 --damping 0.5",
    "apsp",
    "apsp --directed",
    "apsp --rows vertices",
    "apsp --rows graphs --directed",
];

/// Writes each of the TU graphs as a graph of LDBC into a folder, where vertices without edges stay.
pub fn enzymes(sandbox: &Sandbox, folder: &str) -> Vec<String> {
    let read = |name: &str| fs::read_to_string(Path::new(TU).join(name)).unwrap();
    fs::create_dir(sandbox.path(folder)).unwrap();
    let mut files: BTreeMap<u32, [String; 2]> = BTreeMap::new();
    let graphs: Vec<u32> =
        read("ENZYMES_graph_indicator.txt").lines().map(|line| line.parse().unwrap()).collect();
    for (vertex, graph) in (1..).zip(&graphs) {
        let _ = writeln!(files.entry(*graph).or_default()[0], "{vertex}");
    }
    for line in read("ENZYMES_A.txt").lines() {
        let (source, target) = line.split_once(", ").unwrap();
        let graph = graphs[source.parse::<usize>().unwrap() - 1];
        let _ = writeln!(files.entry(graph).or_default()[1], "{source} {target}");
    }
    let mut names = Vec::new();
    for (graph, [vertices, edges]) in files {
        sandbox.write(&format!("{folder}/{graph}.v"), vertices);
        sandbox.write(&format!("{folder}/{graph}.e"), edges);
        names.push(graph.to_string());
    }
    names
}

/// Output of the commands for a batch, as lines without a header.
pub fn rows(sandbox: &Sandbox, command: &str, input: &str) -> Vec<String> {
    let (name, flags) = command.split_once(' ').unwrap_or((command, ""));
    sandbox.ok(&format!("{name} {input} -o - {flags}")).lines().map(String::from).collect()
}

/// The rows of each graph alone, with the graph's name before them.
pub fn rows_alone(sandbox: &Sandbox, command: &str, names: &[String], path: &str) -> Vec<String> {
    let mut all = Vec::new();
    for name in names {
        let rows = rows(sandbox, command, &path.replace("NAME", name));
        all.extend(rows.iter().map(|row| format!("{name} {row}")));
    }
    all
}

#[test]
fn a_tu_data_set_and_a_folder_are_their_graphs() {
    let sandbox = Sandbox::new();
    let names = enzymes(&sandbox, "graphs");
    let mut by_name = names.clone();
    by_name.sort();
    for command in COMMANDS {
        let expected = rows_alone(&sandbox, command, &names, "graphs/NAME.e");
        assert!(!expected.is_empty() && rows(&sandbox, command, TU) == expected, "{command}");
        // A folder's graphs ascend as names do.
        let expected = rows_alone(&sandbox, command, &by_name, "graphs/NAME.e");
        assert!(rows(&sandbox, command, "graphs") == expected, "{command}");
    }
}

/// Rows of several graphs, mixed: a path of names, an edge to itself, two edges apart.
const TABLE: &str = "graph,source,target,weight\nb,x,y,1.5\na,1,2,2\nc,7,7,1\nb,u,v,0.25\na,2,3,1\n\
                     a,3,4,0.5\na,2,1,1\na,4,1,4\n";

#[test]
fn a_table_has_a_column_of_graphs() {
    let sandbox = Sandbox::with([
        ("all.csv", TABLE),
        ("other.tsv", &TABLE.replace("graph", "molecule").replace(',', "\t")),
        ("a.csv", "source,target,weight\n1,2,2\n2,3,1\n3,4,0.5\n2,1,1\n4,1,4\n"),
        ("b.csv", "source,target,weight\nx,y,1.5\nu,v,0.25\n"),
        ("c.csv", "source,target,weight\n7,7,1\n"),
    ]);
    let names = ["a", "b", "c"].map(String::from);
    for command in COMMANDS {
        for command in [command.to_owned(), format!("{command} --weighted")] {
            let expected = rows_alone(&sandbox, &command, &names, "NAME.csv");
            assert_eq!(rows(&sandbox, &command, "all.csv --batch"), expected, "{command}");
            let renamed = rows(&sandbox, &command, "other.tsv --batch --graph-column molecule");
            assert_eq!(renamed, expected, "{command}");
        }
    }
    let found = rows(&sandbox, "apsp --rows graphs", "all.csv --batch");
    assert_eq!(
        found,
        ["a 4 4 12 2 2 1.3333333333333333 8 true", "b 4 2 4 1 1 1 2 false", "c 1 0 0 0 0 0 0 true",]
    );
    sandbox.ok("apsp all.csv --batch -o d.csv");
    let text = sandbox.read("d.csv");
    assert!(text.starts_with("graph,source,target,distance\na,1,2,1\na,1,3,2\na,1,4,1\na,2,1,1\n"));
    assert!(text.contains("\nb,u,v,1\nb,u,x,inf\n") && text.ends_with("\nb,y,x,1\n"), "{text}");
    sandbox.ok("apsp all.csv --batch -o v.tsv --rows vertices");
    let head =
        "graph\tid\teccentricity\treached\taverage_distance\na\t1\t2\t3\t1.3333333333333333\n";
    assert!(sandbox.read("v.tsv").starts_with(head), "{}", sandbox.read("v.tsv"));
    let found = rows(&sandbox, "apsp --rows graphs", "all.csv --batch --weighted");
    assert_eq!(found[0], "a 4 4 12 2.5 1.5 1.4166666666666667 8.5 true");
    // Without --batch the column is one of a graph's table.
    sandbox.fails("apsp other.tsv -o e.csv --columns source,goal", 2, &["goal"]);
    sandbox.fails("apsp a.csv --batch -o e.csv", 2, &["a.csv", "graph"]);
}

#[test]
fn distances_of_one_graph() {
    let sandbox = Sandbox::with([("graph.txt", "a b\nb c\nc a\nd e\ne e\n")]);
    let run = |flags: &str| {
        sandbox.ok(&format!("apsp graph.txt -o out.csv {flags}"));
        sandbox.read("out.csv")
    };
    let text = run("--directed");
    let expected = "source,target,distance\na,b,1\na,c,2\na,d,inf\na,e,inf\nb,a,2\nb,c,1\n";
    assert!(
        text.starts_with(expected) && text.ends_with("d,e,1\ne,a,inf\ne,b,inf\ne,c,inf\ne,d,inf\n"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1 + 5 * 4);
    let text = run("--rows vertices");
    let expected =
        "id,eccentricity,reached,average_distance\na,1,2,1\nb,1,2,1\nc,1,2,1\nd,1,1,1\ne,1,1,1\n";
    assert_eq!(text, expected);
    let text = run("--rows graphs --directed --stats stats.json");
    let expected = "vertices,edges,pairs,diameter,radius,average_distance,wiener,connected\n\
                    5,4,7,2,0,1.4285714285714286,10,false\n";
    assert_eq!(text, expected);
    let stats = sandbox.json("stats.json");
    assert_eq!((&stats["rows"], &stats["largest"]), (&"graphs".into(), &2.0.into()));
    run("--rows pairs --stats stats.json");
    let stats = sandbox.json("stats.json");
    assert_eq!((&stats["largest"], &stats["mean"]), (&1.0.into(), &1.0.into()));
    sandbox.fails("apsp graph.txt -o out.csv --on-error skip", 2, &["one graph", "--batch"]);
    sandbox.fails("apsp graph.txt -o b.csv --graph-column g", 2, &["--batch"]);
    sandbox.fails("apsp graph.txt -o b.csv --weighted", 2, &["graph.txt:1", "weight"]);
}

#[test]
fn the_bytes_do_not_depend_on_threads_or_memory() {
    let sandbox = Sandbox::new();
    let mut table = String::from("graph\tsource\ttarget\n");
    for graph in 0..2000u32 {
        let vertices = 2 + graph * 7 % 40;
        for edge in 0..3 * vertices {
            let [source, target] = [edge * 31 % vertices, edge * edge % vertices];
            let _ = writeln!(table, "{graph}\t{source}\t{target}");
        }
    }
    sandbox.write("all.tsv", table);
    let bytes = |name: &str| fs::read(sandbox.path(name)).unwrap();
    // The first in all formats, others in one each.
    let commands = [
        "closeness",
        "harmonic",
        "betweenness",
        "betweenness --edges",
        "pagerank",
        "components",
        "lcc",
        "apsp",
        "apsp --rows graphs",
        "communities",
    ];
    for (number, command) in commands.into_iter().enumerate() {
        let formats = ["csv.gz", "arrow", "parquet"];
        for extension in if number == 0 { &formats[..] } else { &formats[number % 3..][..1] } {
            let run = |name: &str, flags: &str| {
                let (name, output) = (format!("{name}.{extension}"), command.replace(' ', ""));
                sandbox.ok(&format!("{command} all.tsv --batch -o {output}{name} {flags}"));
                bytes(&format!("{output}{name}"))
            };
            let one = run("one", "--threads 1");
            assert!(one == run("two", "--threads 2"), "{command} {extension}");
            assert!(one == run("seven", "--threads 7"), "{command} {extension}");
        }
        // Little memory makes small parts.
        let run = |flags: &str| {
            sandbox.ok(&format!("{command} all.tsv --batch -o o.csv --stats s.json {flags}"));
            (sandbox.read("o.csv"), sandbox.json("s.json")["parts"].as_u64().unwrap())
        };
        let (whole, parts) = run("");
        assert_eq!(parts, 1);
        let (in_parts, parts) = run("--host-memory 16MiB");
        assert!(parts > 1 && whole == in_parts, "{command}: {parts} parts");
    }
}

#[test]
fn broken_graphs_stop_or_are_skipped() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("graphs")).unwrap();
    for graph in 0..30 {
        sandbox.write(&format!("graphs/g{graph:02}.txt"), "1 2\n2 3\n");
    }
    sandbox.write("graphs/README.md", "no graph");
    let expected: Vec<String> = rows(&sandbox, "closeness", "graphs");
    sandbox.write("graphs/g03x.csv.gz", "no gzip");
    sandbox.write("graphs/g07.txt", "1 2\n2\n");
    for stop in ["", "--on-error stop"] {
        let run = format!("closeness graphs -o out.txt --stats s.json {stop}");
        sandbox.fails(&run, 2, &["graphs/g03x.csv.gz"]);
        assert_eq!(sandbox.names(), ["graphs"]);
    }
    let said = sandbox.run("closeness graphs -o out.txt --stats s.json --on-error skip --quiet");
    assert_eq!(said.code, Some(3), "{said:?}");
    let lines: Vec<&str> = said.error.lines().collect();
    assert_eq!(lines.len(), 2, "{said:?}");
    assert!(lines[0].starts_with("note: skipped g03x: graphs/g03x.csv.gz"), "{said:?}");
    assert!(lines[1].starts_with("note: skipped g07: graphs/g07.txt:2"), "{said:?}");
    let written: Vec<String> = sandbox.read("out.txt").lines().map(String::from).collect();
    let without = |row: &&String| !row.starts_with("g07");
    assert_eq!(written, expected.iter().filter(without).cloned().collect::<Vec<_>>());
    let stats = sandbox.json("s.json");
    assert_eq!(stats["skipped"].as_array().unwrap().len(), 2, "{stats}");
    assert_eq!(stats["skipped"][1]["graph"], "g07");
    assert!(stats["skipped"][1]["error"].as_str().unwrap().contains("g07.txt:2"), "{stats}");
    assert_eq!(stats["graphs"], 29);
    // Many are counted.
    for graph in 0..25 {
        sandbox.write(&format!("graphs/g{graph:02}.txt"), "1 2\n2\n");
    }
    let said = sandbox.run("apsp graphs -o out.txt --on-error skip");
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(said.error.contains("note: 6 more were skipped"), "{said:?}");
    assert_eq!(said.error.matches("note: skipped").count(), 20, "{said:?}");
    // Nothing to skip is nothing amiss.
    sandbox.write("ok.csv", TABLE);
    sandbox.ok("apsp ok.csv --batch -o ok.txt --on-error skip");
}

#[test]
fn statistics_and_estimates() {
    let sandbox = Sandbox::new();
    for (command, largest) in
        [("closeness", 1.0 / 40.0), ("apsp", 12.0), ("apsp --rows graphs", 12.0)]
    {
        let run = format!("{command} {TU} -o out.txt --threads 2");
        sandbox.ok(&format!("{run} --stats stats.json"));
        let stats = sandbox.json("stats.json");
        let count = |name: &str| stats[name].as_u64().unwrap();
        assert_eq!((count("graphs"), count("parts"), count("threads")), (10, 1, 2), "{stats}");
        assert_eq!((&stats["device"], &stats["directed"]), (&"cpu".into(), &false.into()));
        let text = fs::read_to_string(Path::new(TU).join("ENZYMES_graph_indicator.txt")).unwrap();
        assert_eq!(count("vertices"), text.lines().count() as u64);
        let text = fs::read_to_string(Path::new(TU).join("ENZYMES_A.txt")).unwrap();
        assert_eq!(2 * count("edges"), text.lines().count() as u64);
        assert!(stats["largest"].as_f64().unwrap() > largest / 100.0, "{stats}");
        for stage in ["read", "compute", "write", "wall"] {
            assert!(stats["seconds"][stage].as_f64().unwrap() > 0.0, "{stage}: {stats}");
            let busy = stats["busy"][stage].as_f64().unwrap();
            assert!((0.0..=1.0).contains(&busy), "{stage}: {stats}");
        }
        assert_eq!(
            (&stats["busy"]["wall"], &stats["workers"][0]["name"]),
            (&1.0.into(), &"cpu".into())
        );
        assert_eq!(stats["workers"][0]["parts"], 1);
        assert_eq!(stats["skipped"], serde_json::json!([]));
        fs::remove_file(sandbox.path("out.txt")).unwrap();
        let text = sandbox.ok(&format!("{run} --estimate"));
        assert!(
            text.contains("of the first part: 10 graphs") && text.contains("\ntotal "),
            "{text}"
        );
        let estimate = sandbox.ok(&format!("{run} --estimate=json"));
        let estimate: serde_json::Value = serde_json::from_str(&estimate).unwrap();
        assert_eq!((&estimate["graphs"], &estimate["device"]), (&10.into(), &"cpu".into()));
        assert!(estimate["planned_host"].as_u64().unwrap() > 0);
        assert!(!sandbox.path("out.txt").exists());
    }
}

#[test]
fn what_is_wrong_with_a_batch_is_said() {
    let sandbox = Sandbox::with([("table.csv", "graph,source,target\na,1,2\na,2\n")]);
    fs::create_dir(sandbox.path("empty")).unwrap();
    fs::create_dir(sandbox.path("data")).unwrap();
    fs::create_dir(sandbox.path("small")).unwrap();
    sandbox.write("small/a.txt", "1 2\n");
    sandbox.write("data/DS_A.txt", "1, 2\n3, 4\n2, 3\n");
    sandbox.write("data/DS_graph_indicator.txt", "1\n1\n2\n2\n");
    for (run, code, parts) in [
        ("apsp empty -o out.txt", 2, ["empty", "graph"]),
        ("apsp missing.zip -o out.txt", 2, ["missing.zip", "No such file"]),
        ("apsp data -o out.txt", 2, ["DS_A.txt:3", "graph"]),
        ("apsp table.csv --batch -o out.txt --on-error skip", 2, ["table.csv:3", ""]),
        ("apsp data -o out.xlsx", 2, ["out.xlsx", ".parquet"]),
        ("apsp table.csv --batch -o table.csv", 2, ["named twice", ""]),
    ] {
        sandbox.fails(run, code, &parts);
    }
    // A data set is read whole, so nothing of it can be left out.
    let said = sandbox.run("apsp data -o out.txt");
    assert!(!said.error.contains("--on-error"), "{said:?}");
    let one = sandbox.ok("info small");
    assert!(one.contains(" 1 graph\n"), "{one}");
    let table: String = (0..20_000).fold("graph,source,target\n".into(), |text, edge| {
        format!("{text}{},{edge},{}\n", edge / 100, edge + 1)
    });
    sandbox.write("large.csv", table);
    let parts = ["--host-memory allows", "allow more --host-memory"];
    sandbox.fails("betweenness large.csv --batch -o out.txt --host-memory 1MiB", 2, &parts);
}

#[test]
fn batches_become_a_swarm_file_and_are_told_of() {
    let sandbox = Sandbox::with([("all.csv", TABLE), ("one.txt", "1 2\n2 2\n")]);
    sandbox.ok(&format!("convert {TU} tu.swarm"));
    sandbox.ok("convert all.csv all.swarm --batch --weighted");
    for command in COMMANDS {
        if !command.contains("--directed") {
            let expected = rows(&sandbox, command, TU);
            assert!(rows(&sandbox, command, "tu.swarm") == expected, "{command}");
            let command = format!("{command} --weighted");
            let expected = rows(&sandbox, &command, "all.csv --batch");
            assert_eq!(rows(&sandbox, &command, "all.swarm").len(), expected.len(), "{command}");
        }
    }
    sandbox.fails("apsp tu.swarm -o out.txt --directed", 2, &["tu.swarm", "stored undirected"]);
    sandbox.fails("convert tu.swarm out.rg", 2, &["many graphs", "OUT.swarm"]);
    sandbox.fails("convert one.txt out.swarm", 2, &["the input is one", "--batch"]);
    sandbox.fails("info one.txt --on-error stop", 2, &["one graph", "--batch"]);
    let info: serde_json::Value =
        serde_json::from_str(&sandbox.ok("info all.csv --batch --json")).unwrap();
    let count = |name: &str| info[name].as_u64().unwrap();
    assert_eq!([count("graphs"), count("vertices"), count("edges")], [3, 9, 7], "{info}");
    assert_eq!([count("self_loops"), count("empty"), count("most_vertices")], [1, 0, 4]);
    let sizes = serde_json::json!([
        { "vertices": [1, 1], "graphs": 1 }, { "vertices": [4, 7], "graphs": 2 },
    ]);
    assert_eq!((&info["sizes"], &info["first_graph"]), (&sizes, &"a".into()));
    let text = sandbox.ok("info all.csv --batch");
    assert!(text.contains(" 1 graph\n") && text.contains(" 2 graphs\n"), "{text}");
    let text = sandbox.ok("info tu.swarm");
    assert!(text.starts_with("graphs      10, 1 to 10\n") && text.contains("16–31"), "{text}");
    // The exit code shows skipped graphs here, too.
    fs::create_dir(sandbox.path("graphs")).unwrap();
    sandbox.write("graphs/a.txt", "1 2\n");
    sandbox.write("graphs/b.txt", "1\n");
    for command in ["info graphs", "convert graphs graphs.swarm"] {
        sandbox.fails(command, 2, &["graphs/b.txt:1"]);
        let said = sandbox.run(&format!("{command} --on-error skip"));
        assert_eq!(said.code, Some(3), "{said:?}");
        assert!(said.error.contains("note: skipped b: graphs/b.txt:1"), "{said:?}");
    }
    assert_eq!(rows(&sandbox, "apsp", "graphs.swarm"), ["a 1 2 1", "a 2 1 1"]);
}

#[test]
fn each_graph_has_the_communities_that_it_has_alone() {
    let sandbox = Sandbox::with([
        ("all.csv", TABLE),
        ("a.csv", "source,target,weight\n1,2,2\n2,3,1\n3,4,0.5\n2,1,1\n4,1,4\n"),
        ("b.csv", "source,target,weight\nx,y,1.5\nu,v,0.25\n"),
        ("c.csv", "source,target,weight\n7,7,1\n"),
        ("mine.rs", crate::gpu::LOUD),
    ]);
    let names = enzymes(&sandbox, "graphs");
    sandbox.ok(&format!("convert {TU} tu.swarm"));
    for command in [
        "communities",
        "communities --program cdlp",
        "communities --program cdlp --directed",
        "communities --program llp --gamma 0.5 --seed 7",
        "communities --schedule sync --counter mg:8 --keep-disconnected",
        "communities --preset nu-mg8",
        "communities --program-file mine.rs --param voice=3",
        "communities --names number",
        "communities --program cdlp --names number",
    ] {
        let expected = rows_alone(&sandbox, command, &names, "graphs/NAME.e");
        assert!(!expected.is_empty(), "{command}");
        for threads in [1, 2, 5] {
            let command = format!("{command} --threads {threads}");
            assert!(rows(&sandbox, &command, TU) == expected, "{command}");
        }
        if !command.contains("--directed") {
            assert!(rows(&sandbox, command, "tu.swarm") == expected, "{command}");
        }
    }
    let names = ["a", "b", "c"].map(String::from);
    for command in
        ["communities --weighted", "communities --names number", "communities --keep-loops"]
    {
        let expected = rows_alone(&sandbox, command, &names, "NAME.csv");
        assert_eq!(rows(&sandbox, command, "all.csv --batch"), expected, "{command}");
    }
    sandbox.ok("communities all.csv --batch -o out.csv --names number");
    let text = sandbox.read("out.csv");
    assert!(text.starts_with("graph,id,community\na,1,0\n"), "{text}");
    assert!(text.ends_with("\nb,x,1\nb,y,1\nc,7,0\n"), "{text}");
    let head = "graph\tid\tcommunity\n";
    sandbox.ok("communities all.csv --batch -o out.tsv");
    assert!(sandbox.read("out.tsv").starts_with(head), "{}", sandbox.read("out.tsv"));
}

#[test]
fn communities_of_a_batch_are_told_of() {
    let sandbox = Sandbox::with([("all.csv", TABLE), ("labels.txt", "1 1\n")]);
    let run = "communities all.csv --batch -o out.csv --stats s.json --threads 2 --program cdlp";
    let said = sandbox.run(&format!("{run} -v"));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.error.contains("running on the CPU: the communities of a batch"), "{said:?}");
    let (stats, text) = (sandbox.json("s.json"), sandbox.read("out.csv"));
    let column = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        [fields[0], fields[2]].map(String::from)
    };
    let communities: BTreeSet<[String; 2]> = text.lines().skip(1).map(column).collect();
    assert_eq!(stats["communities"], communities.len());
    for (name, value) in
        [("graphs", 3), ("vertices", 9), ("edges", 6), ("parts", 1), ("threads", 2)]
    {
        assert_eq!(stats[name], value, "{name}: {stats}");
    }
    let names = ["program", "schedule", "device", "counter"].map(|name| stats[name].as_str());
    assert_eq!(names, ["cdlp", "sync", "cpu", "exact"].map(Some));
    assert!(stats["busy"]["compute"].as_f64().unwrap() <= 1.0, "{stats}");
    assert_eq!(stats["workers"][0]["name"], "cpu");
    let estimate = sandbox.ok("communities all.csv --batch --estimate=json --threads 2");
    let estimate: serde_json::Value = serde_json::from_str(&estimate).unwrap();
    assert_eq!((&estimate["graphs"], &estimate["program"]), (&3.into(), &"lpa".into()));
    assert!(estimate["planned_host"].as_u64().unwrap() > 0, "{estimate}");
    let purposes = estimate["plan"].as_array().unwrap().iter().map(|need| &need["purpose"]);
    assert!(purposes.into_iter().any(|purpose| purpose == "each thread's graph"), "{estimate}");
    fs::create_dir(sandbox.path("graphs")).unwrap();
    sandbox.write("graphs/a.txt", "1 2\n2 3\n");
    sandbox.write("graphs/b.txt", "1\n");
    sandbox.fails("communities graphs -o c.txt", 2, &["graphs/b.txt:1"]);
    let said = sandbox.run("communities graphs -o c.txt --on-error skip --quiet");
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(said.error.contains("note: skipped b: graphs/b.txt:1"), "{said:?}");
    let expected = sandbox.ok("communities graphs/a.txt -o -");
    let expected: String = expected.lines().map(|row| format!("a {row}\n")).collect();
    assert_eq!(sandbox.read("c.txt"), expected);
}

/// A program with a column that must be given.
const NEEDS: &str = "struct Needs;
#[columns]
struct Columns { age: u32 }
impl Program for Needs {
    type Score = u64;
    fn label_score(&self, v: Vertex, c: Candidate) -> u64 { c.frequency + u64::from(v.age()) }
}
";

/// Vertices of many edges keep their labels, the others lose them.
const GONE: &str = "struct Gone;
impl Program for Gone {
    type Score = u64;
    fn label_score(&self, v: Vertex, c: Candidate) -> u64 { c.frequency }
    fn update_vertex(&self, v: &mut VertexMut, label: Label, score: u64) -> Label {
        if v.degree() > 1 { label } else { NO_LABEL }
    }
}
";

#[test]
fn what_is_about_one_graph_is_refused_for_a_batch() {
    let sandbox = Sandbox::with([
        ("all.csv", TABLE),
        ("one.txt", "1 2\n"),
        ("labels.txt", "1 1\n"),
        ("table.csv", "id,x\n1,1\n"),
        ("mine.rs", crate::gpu::LOUD),
        ("needs.rs", NEEDS),
        ("gone.rs", GONE),
    ]);
    for (flags, parts) in [
        ("--program slpa", ["slpa", "another --program"]),
        ("--program seeded --seeds labels.txt", ["seeded", "another --program"]),
        ("--program llp --sweep 3", ["--sweep", "leave --sweep out"]),
        ("--labels labels.txt", ["--labels", "leave --labels out"]),
        (
            "--program-file mine.rs --param voice=3 --columns-out c.csv",
            ["--columns-out", "one graph"],
        ),
        (
            "--program-file mine.rs --param voice=3 --vertex-table table.csv",
            ["--vertex-table", "one graph"],
        ),
        ("--program-file needs.rs", ["the column `age`", "#[default(VALUE)]"]),
        ("--program-file gone.rs", ["a vertex of the graph b without a label", "update_vertex"]),
        ("--program-file gone.rs --names hub", ["of the graph b without", "each graph alone"]),
        ("--counter auto", ["--counter auto", "one graph"]),
        ("--min-size 3", ["--min-size", "leave --min-size out"]),
        ("--min-size 3 --join-small", ["--min-size", "leave --min-size out"]),
        ("--top 3", ["--top", "leave --top out"]),
        ("--device cuda", ["for the CPU so far", "use --device cpu"]),
        ("--device cuda:0,1", ["for the CPU so far", "use --device cpu"]),
    ] {
        sandbox.fails(&format!("communities all.csv --batch -o out.txt {flags}"), 2, &parts);
    }
    sandbox.fails("communities one.txt -o out.txt --on-error skip", 2, &["one graph", "--batch"]);
    sandbox.fails("communities all.csv --batch -o all.csv", 2, &["named twice"]);
    let rows: String = (0..200_000).fold("graph,source,target\n".into(), |mut text, edge| {
        let _ = writeln!(text, "{},{edge},{}", edge / 1000, edge + 1);
        text
    });
    sandbox.write("large.csv", rows);
    let parts = ["--host-memory allows", "allow more --host-memory"];
    sandbox.fails("communities large.csv --batch -o out.txt --host-memory 1MiB", 2, &parts);
}

#[test]
fn a_batch_says_what_was_read_and_how_large_communities_are() {
    let table = "a,Graph_ID,b,amount\n1,x,2,9\n2,x,3,9\n3,x,1,9\n1,y,2,9\n2,y,1,9\n7,y,8,9\n";
    let sandbox = Sandbox::with([("t.csv", table), ("bare.csv", "1,1,2\n1,2,3\n")]);
    let sentence = "read 2 graphs, 7 vertices, 6 edges: graph = \"Graph_ID\", source = \"a\", target = \"b\"; \"amount\" \
                    ignored (--weighted reads it)";
    for names in ["vertex", "hub", "number"] {
        let run = "communities t.csv --batch --columns 1,3 -o c.csv --stats s.json --names";
        let said = sandbox.run(&format!("{run} {names}"));
        assert_eq!(said.code, Some(0), "{said:?}");
        assert_eq!(said.error.matches("read 2 graphs").count(), 1, "{said:?}");
        assert!(said.error.contains(sentence), "{said:?}");
        let line = "2 graphs, 7 vertices; 3 communities, median size 2, largest 3, in ";
        assert!(said.error.contains(line), "{said:?}");
        let stats = sandbox.json("s.json");
        assert_eq!(stats["input"], sentence);
        assert_eq!((&stats["communities"], &stats["median_size"]), (&3.into(), &2.0.into()));
        assert_eq!(stats["largest_size"], 3);
    }
    for (command, input) in [
        ("info", ""),
        ("components", "-o o.csv --stats s.json"),
        ("convert", "o.swarm"),
        ("apsp", "-o o.csv --rows graphs --stats s.json"),
    ] {
        let said = sandbox.run(&format!("{command} t.csv {input} --batch --columns a,b"));
        assert_eq!((said.code, said.error.matches(sentence).count()), (Some(0), 1), "{said:?}");
    }
    assert_eq!(sandbox.json("s.json")["input"], sentence);
    assert!(sandbox.ok("info t.csv --batch --columns 1,3").contains(sentence));
    let told = sandbox.ok("info t.csv --batch --columns 1,3 --json");
    assert!(told.contains("\"input\": \"read 2 graphs"), "{told}");
    assert!(sandbox.ok("info o.swarm").contains("read 2 graphs, 7 vertices, 5 edges\n"));
    let quiet = sandbox.run("components t.csv --batch --columns 1,3 -o o.csv --quiet");
    assert_eq!((quiet.code, &*quiet.error), (Some(0), ""));
    let bare = "components bare.csv --batch --no-header -o o.csv";
    sandbox.fails(bare, 2, &["no header", "--graph-column 1"]);
    let said = sandbox.run(&format!("{bare} --graph-column 1"));
    let expected = "graph = column 1, source = column 2, target = column 3; no header\n";
    assert!(said.error.contains(expected), "{said:?}");
}
