//! `ripplet components`, `pagerank`, `lcc` over a batch, and `betweenness --edges`: values, figures, refusals.

use crate::sandbox::{Sandbox, data};
use crate::swarm::{TU, enzymes, rows, rows_alone};
use serde::Deserialize;

/// Results of networkx and igraph for a graph: `crates/ripplet-analytics/tests/data/make_swarms.py`.
#[derive(Deserialize)]
struct Case {
    pagerank: Vec<f64>,
    components: Vec<usize>,
    edges: Vec<(usize, usize, f64)>,
    pairs_of_edges: Vec<(usize, usize, f64)>,
}

/// Returns the expected results for the graphs in [`TU`].
fn cases() -> Vec<Case> {
    #[derive(Deserialize)]
    struct Cases {
        batch: Vec<Case>,
    }
    let text = std::fs::read(data("ripplet-analytics/tests/data/swarms.json")).unwrap();
    serde_json::from_slice::<Cases>(&text).unwrap().batch
}

/// The fields of a table's lines, graph by graph: all but that of the graph.
fn graphs(lines: &[String]) -> Vec<Vec<Vec<&str>>> {
    let lines: Vec<Vec<&str>> = lines.iter().map(|line| line.split(' ').collect()).collect();
    let graphs = lines.chunk_by(|one, other| one[0] == other[0]);
    graphs.map(|lines| lines.iter().map(|line| line[1..].to_vec()).collect()).collect()
}

#[track_caller]
fn near(found: &str, expected: f64) {
    let found: f64 = found.parse().unwrap();
    let most = 1e-9 * expected.abs().max(1e-3);
    assert!((found - expected).abs() <= most, "{found}, not {expected}");
}

#[test]
fn ranks_and_components_are_networkx_s() {
    let sandbox = Sandbox::new();
    let cases = cases();
    let lines = rows(&sandbox, "pagerank --tolerance 1e-14", TU);
    let found = graphs(&lines);
    assert_eq!(found.len(), cases.len());
    for (case, found) in cases.iter().zip(found) {
        assert_eq!(found.len(), case.pagerank.len());
        found.iter().zip(&case.pagerank).for_each(|(row, expected)| near(row[1], *expected));
    }
    let lines = rows(&sandbox, "components", TU);
    for (case, found) in cases.iter().zip(graphs(&lines)) {
        let expected = case.components.iter().map(|&smallest| found[smallest][0]);
        assert!(found.iter().map(|row| row[1]).eq(expected), "{found:?}");
    }
}

#[test]
fn betweenness_of_edges_is_networkx_s() {
    let sandbox = Sandbox::new();
    let (plain, normalized) = (
        rows(&sandbox, "betweenness --edges", TU),
        rows(&sandbox, "betweenness --edges --normalized", TU),
    );
    let mut first = 0;
    for ((case, found), normalized) in cases().iter().zip(graphs(&plain)).zip(graphs(&normalized)) {
        let vertices = case.pagerank.len();
        let pairs = (vertices * (vertices - 1) / 2) as f64;
        let mut expected = case.edges.clone();
        expected.sort_by_key(|edge| (edge.0, edge.1));
        assert_eq!(found.len(), expected.len());
        for ((row, normalized), (source, target, value)) in
            found.iter().zip(&normalized).zip(expected)
        {
            // Ids go on from graph to graph, and begin with 1.
            let ends = [source, target].map(|end| (first + end + 1).to_string());
            assert_eq!((row[0], row[1]), (&*ends[0], &*ends[1]));
            assert_eq!(row[..2], normalized[..2]);
            near(row[2], value);
            near(normalized[2], value / pairs);
        }
        first += vertices;
    }
}

/// The coefficients of a graph, from its matrix.
fn coefficients(case: &Case) -> Vec<f64> {
    let n = case.pagerank.len();
    let mut adjacent = vec![vec![false; n]; n];
    for &(a, b, _) in case.pairs_of_edges.iter().filter(|edge| edge.0 != edge.1) {
        adjacent[a][b] = true;
        adjacent[b][a] = true;
    }
    let of = |v: usize| {
        let near: Vec<usize> = (0..n).filter(|&u| adjacent[v][u]).collect();
        let arcs = near.iter().flat_map(|&u| near.iter().map(move |&w| (u, w)));
        let count = arcs.filter(|&(u, w)| adjacent[u][w]).count() as f64;
        let all = (near.len() * near.len().saturating_sub(1)) as f64;
        if all > 0.0 { count / all } else { 0.0 }
    };
    (0..n).map(of).collect()
}

#[test]
fn each_graph_has_the_coefficients_and_components_that_it_has_alone() {
    let sandbox = Sandbox::new();
    let names = enzymes(&sandbox, "graphs");
    for command in [
        "components",
        "components --directed",
        "kcore",
        "kcore --directed",
        "lcc",
        "lcc --triangles",
        "lcc --directed --definition fagiolo",
    ] {
        let expected = rows_alone(&sandbox, command, &names, "graphs/NAME.e");
        assert!(!expected.is_empty() && rows(&sandbox, command, TU) == expected, "{command}");
    }
    let lines = rows(&sandbox, "lcc", TU);
    for (case, found) in cases().iter().zip(graphs(&lines)) {
        let expected = coefficients(case);
        assert_eq!(found.len(), expected.len());
        found.iter().zip(expected).for_each(|(row, expected)| near(row[1], expected));
    }
}

#[test]
fn coreness_is_igraph_s() {
    #[derive(Deserialize)]
    struct Case {
        directed: bool,
        edges: Vec<(usize, usize)>,
        coreness: Vec<u32>,
    }
    let text = std::fs::read(data("ripplet-analytics/tests/data/kcore.json")).unwrap();
    // The first graphs are networks: without loops, and each edge once.
    let cases: Vec<Case> = serde_json::from_slice(&text).unwrap();
    for case in &cases[..6] {
        let edges: String = case.edges.iter().map(|(s, t)| format!("{s} {t}\n")).collect();
        let sandbox = Sandbox::with([("graph.txt", edges.as_str())]);
        let directed = if case.directed { "--directed" } else { "" };
        sandbox.ok(&format!("kcore graph.txt -o out.csv --stats stats.json {directed}"));
        let table = sandbox.read("out.csv");
        let mut lines = table.lines();
        assert_eq!(lines.next(), Some("id,coreness"));
        let mut found = vec![None; case.coreness.len()];
        for line in lines {
            let (id, coreness) = line.split_once(',').unwrap();
            found[id.parse::<usize>().unwrap()] = Some(coreness.parse::<u32>().unwrap());
        }
        assert!(
            found.iter().zip(&case.coreness).all(|(found, expected)| *found == Some(*expected))
        );
        let largest = f64::from(*case.coreness.iter().max().unwrap());
        assert_eq!(sandbox.json("stats.json")["largest"], largest);
    }
}

/// Graphs of several components, of names, and of one vertex.
const TABLE: &str = "graph,source,target\nb,y,x\nb,z,z\nb,v,u\na,3,2\na,1,3\na,5,4\nc,7,7\n";

#[test]
fn components_are_called_by_a_vertex() {
    let sandbox = Sandbox::with([("all.csv", TABLE), ("one.txt", "c b\nd a\nb e\n")]);
    sandbox.ok("components one.txt -o out.tsv --stats stats.json");
    let text = sandbox.read("out.tsv");
    assert_eq!(text.lines().next(), Some("id\tcomponent"));
    let of = |id: &str| {
        let mut rows = text.lines().map(|row| row.split_once('\t').unwrap());
        rows.find(|row| row.0 == id).unwrap().1
    };
    assert_eq!([of("b"), of("e"), of("a")], [of("c"), of("c"), of("d")]);
    assert!(of("c") != of("d"), "{text}");
    let stats = sandbox.json("stats.json");
    assert_eq!((&stats["components"], &stats["vertices"]), (&2.into(), &5.into()));
    assert_eq!(stats.get("largest"), None);
    let said = sandbox.run("components all.csv --batch -o out.csv --stats stats.json");
    assert!(said.code == Some(0) && said.error.contains("; 6 components, in"), "{said:?}");
    let text = sandbox.read("out.csv");
    assert!(text.starts_with("graph,id,component\na,1,1\na,2,1\na,3,1\na,4,4\na,5,4\n"), "{text}");
    assert!(text.ends_with("\nc,7,7\n"), "{text}");
    assert_eq!(sandbox.json("stats.json")["components"], 6);
    sandbox.ok("components all.csv --batch -o out.parquet");
    sandbox.ok("convert out.parquet --columns id,component back.rg --ids names");
    let text = sandbox.ok("components all.csv --batch -o out.csv --estimate");
    assert!(text.contains("components") && text.contains("\ntotal "), "{text}");
}

#[test]
fn ranks_of_a_small_graph() {
    let sandbox = Sandbox::with([("graph.txt", "a b 3\na c 1\nb a 1\n")]);
    let ranks = |flags: &str| {
        let run = format!("pagerank graph.txt -o out.txt --directed --stats stats.json {flags}");
        sandbox.ok(&run);
        let text = sandbox.read("out.txt");
        let value = |line: &str| line.split(' ').nth(1).unwrap().parse::<f64>().unwrap();
        text.lines().map(value).collect::<Vec<f64>>()
    };
    let check = |found: Vec<f64>, expected: [f64; 3]| {
        let near = |(found, expected): (&f64, f64)| (found - expected).abs() < 1e-15;
        assert!(found.len() == 3 && found.iter().zip(expected).all(near), "{found:?}");
    };
    check(ranks("--iterations 0"), [1.0 / 3.0; 3]);
    // b's third goes to a, a's half each to b and c, and c's third to all.
    let [a, b, c] = [1.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0].map(|from| from + 1.0 / 9.0);
    check(ranks("--iterations 1 --damping 1"), [a, b, c]);
    check(ranks("--iterations 1 --damping 0"), [1.0 / 3.0; 3]);
    let [b, c] = [0.25, 1.0 / 12.0].map(|from| from + 1.0 / 9.0);
    check(ranks("--iterations 1 --damping 1 --weighted"), [a, b, c]);
    let stats = sandbox.json("stats.json");
    assert_eq!((&stats["damping"], &stats["iterations"]), (&1.0.into(), &1.into()));
    assert_eq!((&stats["tolerance"], &stats["by_weights"]), (&().into(), &true.into()));
    let sum: f64 = ranks("").iter().sum();
    assert!((sum - 1.0).abs() < 1e-12, "{sum}");
    assert_eq!(sandbox.json("stats.json")["tolerance"], 1e-6);
    // To a alone, from c as well; what was read is in the figures.
    sandbox.write("known.txt", "a\n");
    let personalized = |flags: &str| ranks(&format!("--personalize known.txt {flags}"));
    check(personalized("--iterations 1 --damping 0"), [1.0, 0.0, 0.0]);
    check(personalized("--iterations 1 --damping 1"), [0.0, 0.5, 0.5]);
    assert_eq!(sandbox.json("stats.json")["personalized"], true);
    let run = "pagerank graph.txt -o out.txt --directed --personalize known.txt";
    assert!(sandbox.ok(&format!("{run} --estimate")).contains("jumps"));
    for output in ["-o known.txt", "-o out.txt --stats known.txt"] {
        let run = format!("pagerank graph.txt {output} --personalize known.txt");
        sandbox.fails(&run, 2, &["known.txt is named twice", "choose another name"]);
        assert_eq!(sandbox.read("known.txt"), "a\n");
    }
    for flags in ["--tolerance -1", "--damping -1"] {
        let part = if flags.starts_with("--t") { "a number above 0" } else { "from 0 to 1" };
        sandbox.fails(&format!("pagerank graph.txt -o new.txt {flags}"), 2, &[part]);
    }
    // Files that are not there yet, by another path to them.
    for flags in ["-o new.txt --stats ./new.txt", "-o ./new.txt --stats new.txt"] {
        sandbox.fails(&format!("pagerank graph.txt {flags}"), 2, &["new.txt is named twice"]);
        assert!(!sandbox.path("new.txt").exists());
    }
    for (text, parts) in [("", ["has no vertices", "--personalize"]), ("z\n", ["known.txt:1", "z"])]
    {
        sandbox.write("known.txt", text);
        sandbox.fails(run, 2, &parts);
    }
    // In proportion to a column of weights.
    sandbox.write("known.csv", "id,note,weight\na,x,3\nb,y,1\n");
    let run = "pagerank graph.txt -o out.txt --iterations 1 --damping 0 --personalize known.csv";
    let said = sandbox.run(run);
    let columns =
        "to jump to from known.csv: id = \"id\", weight = \"weight\"; 1 other column ignored";
    assert!(said.code == Some(0) && said.error.contains(columns), "{said:?}");
    assert_eq!(sandbox.read("out.txt"), "a 0.75\nb 0.25\nc 0\n");
    for (text, parts) in [
        ("id,weight\na,-1\n", ["known.csv:2", "`-1` is not a weight"]),
        ("id,weight\na,x\n", ["known.csv:2", "`x` is not a weight"]),
        ("id,weight\na,\n", ["known.csv:2", "field 2 is empty"]),
        ("id,weight\na,0\n", ["at least one", "a weight above 0"]),
        ("a,3\nb,1\n", ["known.csv:1", "an id a line"]),
    ] {
        sandbox.write("known.csv", text);
        sandbox.fails(run, 2, &parts);
    }
    // A walk that never jumps goes back and forth for ever.
    sandbox.write("star.txt", "a b\na c\n");
    let parts = ["after 1000 rounds", "still change", "--iterations"];
    sandbox.fails("pagerank star.txt -o ranks.txt --damping 1", 2, &parts);
    sandbox.write("stars.csv", "graph,source,target\nx,a,b\ny,a,b\ny,a,c\n");
    sandbox.fails("pagerank stars.csv --batch -o ranks.txt --damping 1", 2, &parts);
    let run = "pagerank stars.csv --batch -o ranks.txt --personalize known.txt";
    sandbox.fails(run, 2, &["--personalize names vertices of one graph", "one by one"]);
}

#[test]
fn closeness_by_a_sample() {
    let sandbox = Sandbox::new();
    sandbox.ok("generate rmat --scale 8 -o graph.rg");
    for command in ["closeness", "closeness --measure wasserman-faust", "harmonic"] {
        let of = |flags: &str| sandbox.ok(&format!("{command} graph.rg -o - {flags}"));
        let exact = of("");
        assert_eq!(of("--samples 256"), exact);
        let sampled = of("--samples 100 --seed 7 --stats stats.json");
        assert_eq!(sampled, of("--samples 100 --seed 7 --threads 1 --storage compressed"));
        assert!(sampled != exact && sampled != of("--samples 100"), "{command}");
        let stats = sandbox.json("stats.json");
        assert_eq!((&stats["samples"], &stats["seed"]), (&100.into(), &7.into()));
        let fails = |flags: &str, parts: &[&str]| {
            sandbox.fails(&format!("{command} graph.rg -o out.txt {flags}"), 2, parts);
        };
        fails("--seed 7", &["--samples"]);
        fails("--samples 1", &["--samples"]);
        fails("--samples 9 --device cuda", &["no kernel for sampled closeness", "--device cpu"]);
    }
    sandbox.write("many.csv", "graph,source,target\nx,a,b\ny,a,b\n");
    sandbox.fails(
        "closeness many.csv --batch -o out.txt --samples 9",
        2,
        &["of one graph", "--samples"],
    );
}

#[test]
fn distances_from_chosen_vertices_are_those_of_all_pairs() {
    let sandbox =
        Sandbox::with([("graph.txt", "a b 2\nb c 1\nd d 1\ne f 4\n"), ("from.txt", "e\nb\n")]);
    for flags in ["", "--weighted", "--directed", "--directed --weighted", "--storage compressed"] {
        let all = rows(&sandbox, &format!("apsp {flags}"), "graph.txt");
        let some = rows(&sandbox, &format!("apsp --sources from.txt {flags}"), "graph.txt");
        let expected: Vec<&String> =
            all.iter().filter(|row| row.starts_with('b') || row.starts_with('e')).collect();
        assert_eq!(some.iter().collect::<Vec<_>>(), expected, "{flags}");
        assert_eq!(some.len(), 10);
    }
    let run = "apsp graph.txt -o out.csv --sources from.txt";
    sandbox.ok(&format!("{run} --stats stats.json"));
    let stats = sandbox.json("stats.json");
    assert_eq!((&stats["from_sources"], &stats["largest"]), (&true.into(), &1.0.into()));
    assert!(sandbox.ok(&format!("{run} --estimate")).contains("sources"));
    sandbox.fails(&format!("{run} --rows vertices"), 2, &["--sources is for distances of pairs"]);
    sandbox.fails(
        &format!("{run} --device cuda"),
        2,
        &["no kernel for distances from chosen vertices"],
    );
    for (text, parts) in [("", ["has no vertices", "--sources"]), ("b\nz\n", ["from.txt:2", "z"])] {
        sandbox.write("from.txt", text);
        sandbox.fails(run, 2, &parts);
    }
    sandbox.write("from.txt", "a\n");
    sandbox.write("many.csv", "graph,source,target\nx,a,b\ny,a,b\n");
    sandbox.write("from.txt", "a b\n");
    sandbox.fails(run, 2, &["from.txt:1: `a b` is no vertex", "an id a line"]);
    let run = "apsp many.csv --batch -o out.txt --sources from.txt";
    sandbox.fails(run, 2, &["--sources names vertices of one graph", "one by one"]);
}

#[test]
fn closeness_of_chosen_vertices_is_that_of_all() {
    let sandbox = Sandbox::with([
        ("graph.txt", "a b 2\nb c 1\nd d 1\ne f 4\nc f 3\n"),
        ("some.txt", "f\nb\n"),
    ]);
    let commands =
        ["closeness", "closeness --normalized", "closeness --measure wasserman-faust", "harmonic"];
    for command in commands {
        for flags in
            ["", "--weighted", "--directed", "--directed --weighted", "--storage compressed"]
        {
            let all = rows(&sandbox, &format!("{command} {flags}"), "graph.txt");
            let some =
                rows(&sandbox, &format!("{command} --vertices some.txt {flags}"), "graph.txt");
            let expected: Vec<&String> =
                all.iter().filter(|row| row.starts_with('b') || row.starts_with('f')).collect();
            assert_eq!(some.iter().collect::<Vec<_>>(), expected, "{command} {flags}");
            assert_eq!(some.len(), 2);
        }
    }
    let run = "harmonic graph.txt -o out.csv --vertices some.txt";
    sandbox.ok(&format!("{run} --stats stats.json"));
    let stats = sandbox.json("stats.json");
    assert_eq!(
        (&stats["of_vertices"], &stats["largest"]),
        (&true.into(), &(2.5_f64 + 1.0 / 3.0).into())
    );
    assert!(sandbox.ok(&format!("{run} --estimate")).contains("chosen vertices"));
    sandbox.fails(&format!("{run} --samples 3"), 2, &["--vertices", "--samples"]);
    sandbox.fails(
        &format!("{run} --device cuda"),
        2,
        &["no kernel for closeness of chosen vertices"],
    );
    for (text, parts) in [("", ["has no vertices", "--vertices"]), ("b\nz\n", ["some.txt:2", "z"])]
    {
        sandbox.write("some.txt", text);
        sandbox.fails(run, 2, &parts);
    }
    sandbox.write("some.txt", "a\n");
    sandbox.write("many.csv", "graph,source,target\nx,a,b\ny,a,b\n");
    // Ids with blanks, of which one begins with another.
    sandbox.write("names.csv", "source,target\nAnn Lee,Bob\nBob,Cid Poe\nAnn,Bob\nAnn,Dan\n");
    for (list, text) in [
        ("one.txt", "Ann Lee\nCid Poe\n"),
        ("one.csv", "id\nAnn Lee\nCid Poe\n"),
        ("one.tsv", "id\n\"Ann Lee\"\n\"Cid Poe\"\n"),
    ] {
        sandbox.write(list, text);
        sandbox.ok(&format!("closeness names.csv -o out.csv --vertices {list}"));
        let ids = sandbox.read("out.csv");
        let ids: Vec<&str> = ids.lines().filter_map(|row| row.split(',').next()).collect();
        assert_eq!(ids, ["id", "Ann Lee", "Cid Poe"], "{list}");
    }
    let run = "closeness many.csv --batch -o out.txt --vertices some.txt";
    sandbox.fails(run, 2, &["--vertices names vertices of one graph", "one by one"]);
}

#[test]
fn betweenness_of_the_edges_of_a_path() {
    let sandbox = Sandbox::with([("graph.txt", "a b 2\nb c 1\nc a 9\nc c 1\n")]);
    let edges = |flags: &str| rows(&sandbox, &format!("betweenness --edges {flags}"), "graph.txt");
    assert_eq!(edges(""), ["a b 1", "a c 1", "b c 1"]);
    assert_eq!(edges("--weighted"), ["a b 2", "a c 0", "b c 2"]);
    assert_eq!(edges("--directed"), ["a b 3", "b c 3", "c a 3"]);
    assert_eq!(edges("--directed --normalized"), ["a b 0.5", "b c 0.5", "c a 0.5"]);
    sandbox.ok("betweenness --edges graph.txt -o out.csv --stats stats.json");
    assert!(sandbox.read("out.csv").starts_with("source,target,value\na,b,1\n"));
    let stats = sandbox.json("stats.json");
    assert_eq!((&stats["measure"], &stats["mean"]), (&"edge-betweenness".into(), &1.0.into()));
    let text = sandbox.ok("betweenness --edges graph.txt -o out.csv --estimate");
    assert!(text.contains("ends of edges"), "{text}");
    sandbox.write("zero.txt", "a b 1\nb c 0\n");
    let sentence = "the edge from b to c has weight 0";
    sandbox.fails("betweenness --edges zero.txt -o b.txt --weighted", 2, &[sentence]);
}

#[test]
fn the_bytes_do_not_depend_on_threads() {
    let sandbox = Sandbox::new();
    sandbox.ok("generate rmat --scale 9 -o graph.rg");
    for command in ["components", "kcore", "pagerank", "betweenness --edges"] {
        sandbox.ok(&format!("{command} graph.rg -o one.parquet --threads 1"));
        sandbox.ok(&format!("{command} graph.rg -o two.parquet --threads 7"));
        let bytes = |name: &str| std::fs::read(sandbox.path(name)).unwrap();
        assert!(bytes("one.parquet") == bytes("two.parquet"), "{command}");
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let sandbox = Sandbox::with([("graph.txt", "a b\n"), ("all.csv", TABLE)]);
    for (run, parts) in [
        ("components graph.txt -o o.txt --weighted", ["components are unweighted", "leave"]),
        ("components graph.txt -o o.txt --on-error skip", ["one graph", "--batch"]),
        ("components graph.txt", ["--output", ""]),
        (
            "components graph.txt -o o.txt --device cuda",
            ["no kernel for components", "--device cpu"],
        ),
        ("kcore graph.txt -o o.txt --weighted", ["counts edges", "leave"]),
        ("kcore graph.txt -o o.txt --device cuda", ["no kernel for coreness", "--device cpu"]),
        ("pagerank graph.txt -o o.txt --damping 1.5", ["--damping", "from 0 to 1"]),
        ("pagerank graph.txt -o o.txt --damping NaN", ["--damping", "from 0 to 1"]),
        ("pagerank graph.txt -o o.txt --tolerance 0", ["--tolerance", "above 0"]),
        ("pagerank graph.txt -o o.txt --tolerance NaN", ["--tolerance", "above 0"]),
        (
            "pagerank graph.txt -o o.txt --tolerance 1 --iterations 2",
            ["--tolerance", "--iterations"],
        ),
        ("pagerank graph.txt -o o.txt --weighted", ["graph.txt:1", "weight"]),
        ("pagerank graph.txt -o o.txt --personalize none.txt", ["none.txt", "No such file"]),
        ("pagerank graph.txt -o o.txt --device cuda", ["no kernel for PageRank", "--device cpu"]),
        ("lcc all.csv --batch -o o.txt --weighted", ["are unweighted", "leave"]),
        ("lcc all.csv --batch -o o.txt --device cuda", ["coefficients of a batch", "--device cpu"]),
        ("lcc graph.txt -o o.txt --on-error skip", ["one graph", "--batch"]),
        ("closeness --edges graph.txt -o o.txt", ["--edges", ""]),
    ] {
        sandbox.fails(run, 2, &parts);
    }
    // Left to choose, the CPU does it, and an answer is the same.
    for (run, batch) in [("components", ""), ("pagerank", "--batch"), ("lcc", "--batch")] {
        let input = if batch.is_empty() { "graph.txt" } else { "all.csv" };
        let run = format!("{run} {input} {batch} -o -");
        assert_eq!(sandbox.ok(&run), sandbox.ok(&format!("{run} --device cpu")));
    }
}
