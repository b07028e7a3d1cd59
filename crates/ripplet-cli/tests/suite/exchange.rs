//! Communities as the graph with attributes, and graphs that other programs read and write.

use crate::sandbox::{Said, Sandbox, data};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// If it is set, tests fail without a Python with both libraries.
const REQUIRED: &str = "RIPPLET_REQUIRE_NETWORKX";

/// The Python with NetworkX and igraph: `RIPPLET_PYTHON`, or `python3`.
fn python() -> Option<String> {
    let python = std::env::var("RIPPLET_PYTHON").unwrap_or_else(|_| "python3".into());
    let imports = Command::new(&python).args(["-c", "import igraph, networkx"]).output();
    if imports.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    assert!(
        std::env::var_os(REQUIRED).is_none(),
        "{REQUIRED} is set, and {python} has no networkx and igraph: install them with its pip, or name another \
         Python in RIPPLET_PYTHON"
    );
    eprintln!("skipped: no Python with networkx and igraph; name one in RIPPLET_PYTHON");
    None
}

#[track_caller]
fn script(python: &str, command: &str, folder: &Path) -> String {
    let script = data("ripplet-cli/tests/suite/exchange.py");
    let mut run = Command::new(python);
    let said = Said::of(run.arg(script).arg(command).arg(folder).output().unwrap());
    assert_eq!(said.code, Some(0), "{said:?}");
    said.out
}

const EDGES: &str =
    "source,target,weight\nann & bob,zoe <é>,0.5\nzoe <é>,c d,2\nc d,ann & bob,1.25\nx,y,1\n";

/// The vertices with their communities and degrees, from a table and an edge list.
fn expected(communities: &str, directed: bool, weights: bool) -> Value {
    let mut degrees = std::collections::BTreeMap::<&str, u32>::new();
    let mut edges = Vec::new();
    for line in EDGES.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let mut ends = [fields[0], fields[1]];
        ends.iter().for_each(|end| *degrees.entry(end).or_default() += 1);
        if !directed {
            ends.sort_unstable();
        }
        let weight: f64 = if weights { fields[2].parse().unwrap() } else { 1.0 };
        edges.push((ends[0], ends[1], weight));
    }
    edges.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let mut vertices: Vec<[String; 3]> = communities
        .lines()
        .skip(1)
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .map(|row| [row[0].into(), row[1].into(), degrees[row[0]].to_string()])
        .collect();
    vertices.sort();
    let edges: Vec<Value> = edges.iter().map(|(s, t, w)| serde_json::json!([s, t, w])).collect();
    serde_json::json!({"directed": directed, "vertices": vertices, "edges": edges})
}

/// Every format is opened by the libraries, which find the same vertices, attributes, edges and weights.
#[test]
fn networkx_and_igraph_open_what_is_written() {
    let Some(python) = python() else { return };
    for (flags, directed, weights) in
        [("", false, false), ("--directed --weighted", true, true), ("--weighted", false, true)]
    {
        let sandbox = Sandbox::with([("edges.csv", EDGES)]);
        sandbox.ok(&format!("communities edges.csv {flags} -o table.tsv"));
        let expected = expected(&sandbox.read("table.tsv"), directed, weights);
        for format in ["graphml", "gexf", "gml", "json"] {
            sandbox.ok(&format!("communities edges.csv {flags} -o x.{format}"));
        }
        let found: Value =
            serde_json::from_str(&script(&python, "read", &sandbox.path("."))).unwrap();
        let found = found.as_object().unwrap();
        assert_eq!(found.len(), 6, "{found:?}");
        for (library, graph) in found {
            assert_eq!(*graph, without_entities(library, &expected), "{library}, {flags}");
        }
    }
}

/// igraph leaves the numbers of characters in GML as they stand.
fn without_entities(library: &str, expected: &Value) -> Value {
    match library {
        "igraph gml" => serde_json::from_str(&expected.to_string().replace("é", "&#233;")).unwrap(),
        _ => expected.clone(),
    }
}

/// Graphs with integers for ids, without attributes, in every format that `convert` writes.
#[test]
fn networkx_and_igraph_open_what_is_converted() {
    let Some(python) = python() else { return };
    let sandbox = Sandbox::with([("edges.txt", "10 7\n7 300\n300 10\n12 10\n")]);
    for format in ["graphml", "gexf", "gml", "net", "json"] {
        sandbox.ok(&format!("convert edges.txt x.{format} --directed"));
    }
    let found: Value = serde_json::from_str(&script(&python, "read", &sandbox.path("."))).unwrap();
    let edges = serde_json::json!([
        ["10", "7", 1.0],
        ["12", "10", 1.0],
        ["300", "10", 1.0],
        ["7", "300", 1.0]
    ]);
    let found = found.as_object().unwrap();
    assert_eq!(found.len(), 8, "{found:?}");
    for (library, graph) in found {
        assert_eq!(graph["edges"], edges, "{library}");
        assert_eq!(graph["directed"], true, "{library}");
        assert_eq!(graph["vertices"].as_array().unwrap().len(), 4, "{library}");
    }
}

#[test]
fn what_networkx_and_igraph_write_is_read() {
    let Some(python) = python() else { return };
    let sandbox = Sandbox::new();
    script(&python, "write", &sandbox.path("."));
    for (folder, flag, first) in
        [("undirected", "", "\"Ann & \"\"Bob\"\"\""), ("directed", "--directed", "Ann")]
    {
        let mut files: Vec<_> = std::fs::read_dir(sandbox.path(folder)).unwrap().collect();
        files.sort_by_key(|file| file.as_ref().unwrap().path());
        assert_eq!(files.len(), if flag.is_empty() { 6 } else { 9 });
        for file in files {
            let name = file.unwrap().file_name().into_string().unwrap();
            sandbox.ok(&format!("convert {folder}/{name} out.csv --weighted {flag}"));
            let mut lines: Vec<String> =
                sandbox.read("out.csv").lines().skip(1).map(str::to_owned).collect();
            lines.sort();
            let expected = match flag {
                "" => [format!("{first},Zoë,0.5"), "Zoë,c d,2".into()],
                _ => [format!("{first},Zoë,0.5"), "c d,Zoë,2".into()],
            };
            assert_eq!(lines, expected, "{name}");
            let info = sandbox.ok(&format!("info {folder}/{name}"));
            assert!(info.contains('4'), "{name} has a vertex without edges: {info}");
        }
    }
}

/// All output formats and both storages give equal communities.
#[test]
fn communities_of_a_real_graph_are_those_of_the_table() {
    let sandbox = Sandbox::new();
    let graph = data("../examples/graphs/pgp.graph");
    let graph = graph.display();
    sandbox.ok(&format!("communities {graph} -o table.tsv"));
    sandbox.ok(&format!("convert {graph} x.rgz"));
    sandbox.ok("communities x.rgz -o x.json.gz");
    sandbox.ok(&format!("communities {graph} -o x.json"));
    let json = sandbox.json("x.json");
    assert_eq!(json["edges"].as_array().unwrap().len(), 24_316);
    let mut table = String::from("id\tcommunity\n");
    for node in json["nodes"].as_array().unwrap() {
        table += &format!("{}\t{}\n", node["id"], node["community"]);
    }
    assert_eq!(table, sandbox.read("table.tsv"));
    sandbox.ok("convert x.json.gz a.graphml.zst");
    sandbox.ok("convert a.graphml.zst b.gexf");
    sandbox.ok("convert b.gexf c.gml");
    sandbox.ok("convert c.gml d.net.gz");
    sandbox.ok("convert d.net.gz x.rg");
    sandbox.ok(&format!("convert {graph} y.rg"));
    assert_eq!(
        std::fs::read(sandbox.path("x.rg")).unwrap(),
        std::fs::read(sandbox.path("y.rg")).unwrap()
    );
}

#[test]
fn overlapping_and_missing_communities_are_texts_and_gaps() {
    // Two cliques that share v9.
    let cliques: String = [0..10u32, 9..19]
        .into_iter()
        .flat_map(|clique| clique.clone().map(move |u| (u, u + 1..clique.end)))
        .flat_map(|(u, others)| others.map(move |v| format!("v{u} v{v}\n")))
        .collect();
    let sandbox = Sandbox::with([
        ("edges.txt", "a b\nb c\nc a\nc d\nd e\ne c\nx y\n"),
        ("cliques.txt", cliques.as_str()),
        ("seeds.txt", "a left\n"),
    ]);
    sandbox.ok("communities cliques.txt --program slpa -o table.tsv");
    sandbox.ok("communities cliques.txt --program slpa -o x.json");
    let json = sandbox.json("x.json");
    let mut of = std::collections::BTreeMap::<String, Vec<String>>::new();
    for line in sandbox.read("table.tsv").lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        of.entry(fields[0].into()).or_default().push(fields[1].into());
    }
    assert_eq!(of["v9"].len(), 2, "{of:?}");
    for node in json["nodes"].as_array().unwrap() {
        assert_eq!(node["community"], of[node["id"].as_str().unwrap()].join("|"));
    }
    sandbox.ok("communities edges.txt --program seeded --seeds seeds.txt -o y.json");
    let seeded = sandbox.json("y.json");
    let of = |id: &str| {
        let nodes = seeded["nodes"].as_array().unwrap();
        nodes.iter().find(|node| node["id"] == id).unwrap().get("community").cloned()
    };
    assert_eq!((of("b"), of("x")), (Some("left".into()), None));
}

#[test]
fn a_direction_that_is_left_out_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "x.gexf",
        "<gexf><graph defaultedgetype=\"directed\"><nodes><node id=\"1\"/></nodes></graph></gexf>",
    );
    let note = "note: x.gexf says that its edges have a direction: --directed keeps it";
    assert!(sandbox.run("info x.gexf").error.contains(note));
    assert!(!sandbox.run("info x.gexf --directed").error.contains(note));
    assert!(!sandbox.run("info x.gexf --quiet").error.contains(note));
}

#[test]
fn what_cannot_be_is_refused_before_the_work() {
    let sandbox = Sandbox::with([
        ("e.txt", "1 2\n2 3\n"),
        ("x.gv", "graph {}"),
        ("b.csv", "graph,source,target\n1,1,2\n"),
    ]);
    sandbox.fails(
        "communities e.txt -o x.net",
        2,
        &["x.net: a Pajek network holds no communities: write .graphml"],
    );
    sandbox.fails(
        "communities e.txt -o y.graphml --storage compressed",
        2,
        &["y.graphml is the whole graph", "help: leave --storage out"],
    );
    sandbox.fails(
        "communities b.csv --batch -o y.gexf",
        2,
        &["y.gexf would be one graph", "help: name a table"],
    );
    sandbox.fails("communities x.gv -o y.txt", 2, &["x.gv: dot is written, but not read"]);
    sandbox.write("c.csv", "source,target\na\u{1}b,c\n");
    sandbox.fails(
        "convert c.csv c.graphml",
        2,
        &["the vertex id \"a\\u{1}b\" holds a character that XML cannot hold"],
    );
    sandbox.fails(
        "communities c.csv -o c.gexf",
        2,
        &["the vertex id \"a\\u{1}b\" holds a character"],
    );
    assert!(sandbox.ok("convert e.txt - --to json").contains("\"edges\": ["));
}
