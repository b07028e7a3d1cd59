//! The options that make communities larger, smaller, fewer, and call them by other names.

use crate::sandbox::{Sandbox, data};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Real graphs of three kinds: a web of trust, a power grid, co-authors.
const GRAPHS: [&str; 3] = ["pgp.graph", "power.graph", "hep-th.graph"];

fn graph(name: &str) -> String {
    data(&format!("../examples/graphs/{name}")).display().to_string()
}

/// The communities of a table with a header.
fn communities(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut communities: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let (id, community) = line.split_once(',').unwrap();
        communities.entry(community.into()).or_default().insert(id.into());
    }
    communities
}

fn found(sandbox: &Sandbox, name: &str, flags: &str) -> BTreeMap<String, BTreeSet<String>> {
    sandbox.ok(&format!("communities {} -o c.csv --quiet {flags}", graph(name)));
    communities(&sandbox.read("c.csv"))
}

#[test]
fn what_the_page_says_makes_communities_larger_and_smaller_does() {
    let sandbox = Sandbox::new();
    for name in GRAPHS {
        let usual = found(&sandbox, name, "").len();
        let smaller = found(&sandbox, name, "--program llp --gamma 0.1").len();
        assert!(smaller > usual, "{name}: {smaller} with a gamma, {usual} as usual");
        let apart = found(&sandbox, name, "--merge off").len();
        assert!(apart > usual, "{name}: {apart} before they merge, {usual} as usual");
        let guarded = found(&sandbox, name, "--merge off --guard 64").len();
        assert!(guarded > apart, "{name}: {guarded} with a guard, {apart} with the usual one");
        let mut before = usual;
        for least in [5, 20, 80] {
            let larger = found(&sandbox, name, &format!("--min-size {least} --join-small"));
            assert!(larger.len() <= before, "{name}: {} of {least} and more", larger.len());
            assert!(larger.values().all(|members| members.len() >= least), "{name}: {least}");
            before = larger.len();
        }
        assert!(before < usual, "{name}: {before} of 80 and more, {usual} as usual");
    }
}

#[test]
fn one_community_is_said_in_the_singular() {
    let sandbox = Sandbox::with([
        ("g.txt", "1 2\n2 3\n3 1\n"),
        ("all.csv", "graph,source,target\n1,1,2\n1,2,3\n1,3,1\n"),
    ]);
    let said = sandbox.run("communities g.txt -o c.csv");
    assert!(said.error.contains("\n1 community, median size 3, largest 3, "), "{said:?}");
    let said = sandbox.run("communities g.txt -o c.csv --iterations 1");
    assert!(said.error.contains(", after 1 round ("), "{said:?}");
    let said = sandbox.run("communities all.csv --batch -o b.csv");
    assert!(
        said.error.contains("1 graph, 3 vertices; 1 community, median size 3, largest 3, in "),
        "{said:?}"
    );
}

#[test]
fn small_communities_are_left_out_or_join_a_neighbour() {
    // Two triangles with a pair between them, and a pair alone.
    let edges = "1 2\n2 3\n3 1\n4 5\n5 6\n6 4\n3 7\n7 8\n8 7\n20 21\n";
    let sandbox = Sandbox::with([
        ("g.txt", edges),
        ("start.txt", "1 1\n2 1\n3 1\n4 4\n5 4\n6 4\n7 7\n8 7\n20 20\n21 20\n"),
    ]);
    let run = "communities g.txt --labels start.txt --iterations 0 -o c.csv";
    let said = sandbox.run(&format!("{run} --min-size 3"));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(
        said.error.contains("4 vertices of communities with fewer than 3 are left out"),
        "{said:?}"
    );
    assert!(said.error.contains("2 communities, median size 3, largest 3"), "{said:?}");
    assert_eq!(sandbox.read("c.csv"), "id,community\n1,1\n2,1\n3,1\n4,4\n5,4\n6,4\n");
    let said = sandbox.run(&format!("{run} --min-size 3 --join-small --stats s.json"));
    assert!(said.error.contains("1 community with fewer than 3 vertices joined"), "{said:?}");
    assert!(
        said.error.contains("2 vertices of communities with fewer than 3 are left out"),
        "{said:?}"
    );
    assert_eq!(sandbox.read("c.csv"), "id,community\n1,1\n2,1\n3,1\n4,4\n5,4\n6,4\n7,1\n8,1\n");
    assert_eq!(sandbox.json("s.json")["communities"], 2);
    sandbox.fails(&format!("{run} --join-small"), 2, &["--min-size"]);
    sandbox.fails(&format!("{run} --min-size 0"), 2, &["--min-size"]);
    let slpa = "communities g.txt -o c.csv --program slpa";
    sandbox.ok(&format!("{slpa} --min-size 3"));
    assert!(communities_of_rows(&sandbox.read("c.csv")).values().all(|&size| size >= 3));
    sandbox.fails(&format!("{slpa} --min-size 3 --join-small"), 2, &["--join-small", "several"]);
    sandbox.fails(&format!("{slpa} --top 3"), 2, &["--top", "several"]);
}

/// Number of rows of each community, in a table with strengths.
fn communities_of_rows(text: &str) -> BTreeMap<String, usize> {
    let mut sizes = BTreeMap::new();
    for line in text.lines().skip(1) {
        *sizes.entry(line.split(',').nth(1).unwrap().to_owned()).or_default() += 1;
    }
    sizes
}

#[test]
fn communities_are_called_as_asked() {
    let sandbox = Sandbox::new();
    for name in GRAPHS {
        let groups = |named: &BTreeMap<String, BTreeSet<String>>| -> BTreeSet<BTreeSet<String>> {
            named.values().cloned().collect()
        };
        let usual = found(&sandbox, name, "");
        let by_hub = found(&sandbox, name, "--names hub");
        let by_size = found(&sandbox, name, "--names number");
        assert_eq!(groups(&usual), groups(&by_hub), "{name}");
        assert_eq!(groups(&usual), groups(&by_size), "{name}");
        let sizes: Vec<usize> =
            (0..by_size.len()).map(|number| by_size[&number.to_string()].len()).collect();
        assert!(sizes.is_sorted_by(|a, b| a >= b), "{name}: {sizes:?}");
        // The lists of a METIS file are the degrees.
        let text = std::fs::read_to_string(graph(name)).unwrap();
        let lists: Vec<usize> = text
            .lines()
            .filter(|line| !line.starts_with('%'))
            .skip(1)
            .map(|line| line.split_whitespace().count())
            .collect();
        let degree = |id: &String| lists[id.parse::<usize>().unwrap() - 1];
        for (hub, members) in &by_hub {
            let most = members.iter().map(degree).max().unwrap();
            assert!(members.contains(hub) && degree(hub) == most, "{name}: {hub}");
        }
    }
    let sandbox = Sandbox::with([("g.txt", "1 2\n"), ("seeds.txt", "1 red\n")]);
    let run = "communities g.txt -o c.txt --program seeded --seeds seeds.txt";
    sandbox.fails(&format!("{run} --names hub"), 2, &["have one"]);
}

#[test]
fn the_largest_are_shown_in_a_table() {
    let edges = "a b\nb c\nc a\nc d\nd e\ne f\nf d\nf g\ng d\n";
    let start = "a a\nb a\nc a\nd d\ne d\nf d\ng d\n";
    let sandbox = Sandbox::with([("g.txt", edges), ("start.txt", start)]);
    let run = "communities g.txt --labels start.txt --iterations 0 --quiet";
    let expected = "\
community  size  inner edges  conductance  members
d             4            5       0.1429  d, f, e
a             3            3       0.1429  a, b, c
";
    assert_eq!(sandbox.ok(&format!("{run} --top 5")), expected);
    assert_eq!(sandbox.ok(&format!("{run} --top 2 -o c.csv")), expected);
    let one = sandbox.ok(&format!("{run} --top 1 --names number"));
    assert!(one.ends_with("\n0             4            5       0.1429  d, f, e\n"), "{one}");
    let said = sandbox.run("communities g.txt --top 1 -o -");
    assert!(said.out.starts_with("a ") && said.error.contains("conductance"), "{said:?}");
    sandbox.fails("communities g.txt --top 0", 2, &["--top"]);
    let unknown = "communities g.txt -o c --to nosuch";
    let listed = "expected one of: edgelist, tsv, csv, graphml, gexf, gml, json, dot, jsonl, parquet, arrow\n";
    sandbox.fails(unknown, 2, &[listed]);
    let tables = "expected one of: edgelist, tsv, csv, jsonl, parquet, arrow\n";
    sandbox.fails("lcc g.txt -o c --to nosuch", 2, &[tables]);
    for format in ["mtx", "rg"] {
        let refused = format!("communities g.txt -o c --to {format}");
        sandbox.fails(&refused, 2, &[".parquet or .arrow", ".graphml, .gexf, .gml, .json or .dot"]);
    }
    sandbox.fails("communities g.txt", 2, &["--output"]);
}

/// Amounts in cents are sums of binary fractions, and are shown as the decimals that they were.
#[test]
fn sums_of_weights_are_shown_as_decimals() {
    let edges = "a,b,955.21\na,b,955.21\nb,c,0.1\nc,d,63741.3\nc,d,0.07\n";
    let sandbox =
        Sandbox::with([("g.csv", edges), ("c.csv", "id,community\na,1\nb,1\nc,2\nd,2\n")]);
    let read = "g.csv --weighted --quiet";
    let table = sandbox.ok(&format!("communities {read} --top 2 --labels c.csv --iterations 0"));
    let inner: Vec<&str> =
        table.lines().skip(1).map(|line| line.split_whitespace().nth(2).unwrap()).collect();
    assert_eq!(inner, ["1910.42", "63741.37"], "{table}");
    sandbox.ok(&format!("quality {read} c.csv --per-community p.csv"));
    let rows = sandbox.read("p.csv");
    assert!(rows.contains(",1910.42,0.1,") && rows.contains(",63741.37,0.1,"), "{rows}");
    let svg = sandbox.ok(&format!("draw {read} c.csv -o - --to svg"));
    assert!(svg.contains("weight 1910.42 within, 0.1 to others"), "{svg}");
    let written = sandbox.ok(&format!("convert {read} - --to csv"));
    assert!(written.contains(",1910.42\n") && written.contains(",63741.37\n"), "{written}");
}

/// The largest communities by name: what `--top` prints of each, three members at most.
fn named_members(table: &str) -> Vec<(String, Vec<String>)> {
    let row = |line: &str| {
        let (name, rest) = line.split_once(' ').unwrap();
        let (_, members) = rest.rsplit_once("  ").unwrap();
        (name.to_owned(), members.split(", ").map(String::from).collect())
    };
    table.lines().skip(1).map(row).collect()
}

#[test]
fn the_table_and_the_output_call_communities_the_same() {
    let sandbox = Sandbox::new();
    for name in GRAPHS {
        let mut flags = vec![String::new()];
        flags.extend([5, 20, 80].map(|least| format!("--min-size {least}")));
        flags.extend([5, 20, 80].map(|least| format!("--min-size {least} --join-small")));
        for flags in flags {
            for names in ["number", "hub", "vertex"] {
                let run = format!("communities {} -o c.csv --quiet {flags}", graph(name));
                let table = sandbox.ok(&format!("{run} --top 100 --names {names}"));
                let written = communities(&sandbox.read("c.csv"));
                let named = named_members(&table);
                assert_eq!(named.len(), written.len().min(100), "{name} {flags}");
                for (community, members) in named {
                    let all = &written[&community];
                    let lost = members.iter().find(|member| !all.contains(*member));
                    assert_eq!(lost, None, "{name} {flags} --names {names}: {community}");
                }
            }
        }
    }
}

#[test]
fn a_resolution_is_refused_with_what_helps() {
    let sandbox = Sandbox::with([("g.txt", "1 2\n")]);
    let parts = ["no resolution", "--refine", "--join-small", "--gamma", "--guard"];
    sandbox.fails("communities g.txt -o c.txt --resolution 0.5", 2, &parts);
}

#[test]
fn the_parts_of_communities_are_columns_of_a_table() {
    let sandbox = Sandbox::new();
    sandbox.write("g.txt", "1 2\n2 3\n3 1\n4 5\n5 6\n6 4\n3 4\n6 7\n");
    let run = "communities g.txt --refine cpm --resolution 0.01 --levels levels.csv --names number";
    sandbox.ok(&format!("{run} -o out.csv"));
    let levels = sandbox.read("levels.csv");
    let header: Vec<&str> = levels.lines().next().unwrap().split(',').collect();
    assert_eq!((header[0], header[1]), ("id", "part_1"));
    assert_eq!(header.last(), Some(&"community"));
    // The last column is that of the communities.
    let last = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        format!("{},{}", fields[0], fields[fields.len() - 1])
    };
    let communities: Vec<String> = levels.lines().map(last).collect();
    assert_eq!(communities, sandbox.read("out.csv").lines().collect::<Vec<_>>());
    sandbox.ok(&format!("{run} -o out.csv"));
    assert_eq!(sandbox.read("levels.csv"), levels);

    let refused = |arguments: &str, parts: &[&str]| {
        let before = sandbox.names();
        sandbox.run(&format!("communities g.txt {arguments}")).must_fail("communities", 2, parts);
        assert_eq!(sandbox.names(), before);
    };
    refused("--levels l.csv -o o.csv", &["--refine"]);
    refused("--refine cpm --resolution 0.1 --levels l.csv --min-size 2 -o o.csv", &["--min-size"]);
    refused("--refine cpm --resolution 0.1 --levels l.xyz -o o.csv", &["l.xyz", ".csv"]);
    refused("--refine cpm --resolution 0.1 --levels g.txt -o o.csv", &["g.txt"]);
    refused("--refine modularity --levels a.csv -o a.csv", &["a.csv"]);
}

#[test]
fn refinement_finds_communities_of_a_high_score() {
    // Two triangles with one edge between them.
    let sandbox = Sandbox::with([("g.txt", "1 2\n2 3\n3 1\n4 5\n5 6\n6 4\n3 4\n")]);
    let run = |flags: &str| {
        sandbox.ok(&format!("communities g.txt -o c.txt {flags}"));
        sandbox.read("c.txt")
    };
    let triangles = "1 1\n2 1\n3 1\n4 4\n5 4\n6 4\n";
    sandbox.write("l.txt", triangles);
    assert_eq!(run("--refine modularity"), triangles);
    assert_eq!(run("--refine modularity --resolution 1 --device cpu --threads 2"), triangles);
    assert_eq!(run("--refine modularity --resolution auto --storage compressed"), triangles);
    assert_eq!(run("--refine cpm --resolution 0.5"), triangles);
    assert_eq!(run("--refine cpm --resolution 2"), "1 1\n2 2\n3 3\n4 4\n5 5\n6 6\n");
    assert_eq!(run("--refine cpm --resolution 1e-3"), "1 1\n2 1\n3 1\n4 1\n5 1\n6 1\n");
    assert_eq!(run("--refine modularity --seed 7 --labels l.txt"), triangles);
    assert_eq!(run("--refine modularity --min-size 3 --join-small"), triangles);
    for flags in ["--directed", "--directed --storage compressed --threads 2"] {
        assert_eq!(run(&format!("--refine modularity --resolution 1 {flags}")), triangles);
    }
    // Six arcs of one direction in each triangle are half of all ordered pairs.
    assert_eq!(run("--refine cpm --resolution 0.3 --directed"), triangles);
    assert_eq!(run("--refine cpm --resolution 0.6 --directed"), "1 1\n2 2\n3 3\n4 4\n5 5\n6 6\n");
    sandbox.ok("communities g.txt -o c.txt --refine modularity --resolution 1 --stats s.json");
    let stats = sandbox.json("s.json");
    assert_eq!(stats["program"], "modularity");
    assert_eq!(stats["deterministic"], true);
    assert_eq!(stats["refinement"]["resolution"], 1.0);
    assert_eq!((&stats["merge"], &stats["merged"]), (&Value::Null, &Value::Null));
    sandbox.ok("communities g.txt -o d.txt --merge 0.25 --stats m.json");
    assert_eq!(sandbox.json("m.json")["merge"], 0.25);
    let rounds = stats["iterations"].as_u64().unwrap() as usize;
    for list in ["round_levels", "round_iterations", "round_vertices"] {
        assert_eq!(stats["refinement"][list].as_array().unwrap().len(), rounds);
    }
    let plan = sandbox.ok("communities g.txt --refine modularity --estimate");
    assert!(plan.contains("contracted graphs"), "{plan}");
}

#[test]
fn a_dendrogram_is_a_linkage() {
    // Two triangles with an edge between them, and one apart.
    let sandbox = Sandbox::with([("g.txt", "1 2\n2 3\n3 1\n4 5\n5 6\n6 4\n3 4\n7 8\n8 9\n9 7\n")]);
    let run = "communities g.txt -o c.csv --names number --dendrogram d.csv --refine";
    sandbox.ok(&format!("{run} cpm --resolution 0.5"));
    let header = "cluster,left,right,distance,size,vertices,resolution,inner\n";
    let ninth = 1.0f64 / 9.0;
    let first = format!("3,0,1,{},2,6,{ninth},1\n", 1.0 / ninth);
    assert_eq!(sandbox.read("d.csv"), format!("{header}{first}4,2,3,inf,3,9,0,1\n"));
    for form in ["tsv", "jsonl", "parquet", "arrow"] {
        sandbox.ok(&format!(
            "communities g.txt -o c.csv --refine modularity --dendrogram d.{form} --levels l.csv \
             --resolution-profile p.csv"
        ));
    }
    for flags in ["", "--resolution-profile p.csv"] {
        let plan = sandbox.ok(&format!("{run} modularity {flags} --estimate"));
        assert!(plan.contains("a dendrogram"), "{plan}");
    }
    sandbox.fails(
        &format!("{run} modularity --host-memory 1KiB"),
        2,
        &["the run needs", "--host-memory allows"],
    );
    for (flags, parts) in [
        ("--dendrogram d.csv", &["--refine"][..]),
        ("--refine modularity --dendrogram d.csv --min-size 2", &["--min-size"]),
        ("--refine modularity --dendrogram d.xyz", &["d.xyz", ".csv"]),
        ("--refine modularity --dendrogram d.csv --directed", &["undirected", "--directed out"]),
        ("--refine modularity --dendrogram x.csv --levels x.csv", &["x.csv"]),
    ] {
        sandbox.fails(&format!("communities g.txt -o out.txt {flags}"), 2, parts);
    }
}

#[test]
fn a_profile_is_a_table_of_partitions() {
    let sandbox = Sandbox::with([("g.txt", "1 2\n2 3\n3 1\n4 5\n5 6\n6 4\n3 4\n")]);
    let run = "communities g.txt -o c.txt --refine";
    let profile = "--resolution-profile p.csv";
    sandbox.ok(&format!("{run} cpm {profile} --resolution 0.01..2 --stats s.json"));
    let header = "partition,communities,chosen,resolution_from,resolution_to,width,inner,modularity,nmi_next,\
                  ari_next,nmi_seeds,ari_seeds";
    let table = sandbox.read("p.csv");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0].join(","), header);
    // One community, two triangles, single vertices: 2 of 18 and 12 of 12 pairs have an edge.
    let counts: Vec<[&str; 5]> =
        rows[1..].iter().map(|row| [row[0], row[1], row[2], row[3], row[4]]).collect();
    let ninth = (1.0f64 / 9.0).to_string();
    let expected = [
        ["0", "1", "false", "0.01", &ninth],
        ["1", "2", "true", &ninth, "1"],
        ["2", "6", "false", "1", "2"],
    ];
    assert_eq!(counts, expected);
    assert_eq!(rows[3][8..10], ["NaN", "NaN"]);
    assert_eq!(sandbox.read("c.txt"), "1 1\n2 1\n3 1\n4 4\n5 4\n6 4\n");
    let stats = sandbox.json("s.json");
    let figures = &stats["refinement"]["profile"];
    assert_eq!((&figures["partitions"], &figures["chosen"]), (&3.into(), &1.into()));
    assert_eq!(figures["is_cut"], false);
    let rounds = stats["iterations"].as_u64().unwrap() as usize;
    assert_eq!(stats["refinement"]["round_levels"].as_array().unwrap().len(), rounds);

    for form in ["tsv", "jsonl", "parquet", "arrow", "csv.gz"] {
        sandbox.ok(&format!("{run} modularity --resolution-profile p.{form} --levels l.csv"));
    }
    let said = sandbox.run(&format!("{run} modularity {profile} --profile-runs 2"));
    assert!(said.error.contains("--profile-runs 4"), "{}", said.error);
    let plan = sandbox
        .ok(&format!("communities g.txt --refine cpm {profile} --estimate --profile-runs 9"));
    assert!(plan.contains("partitions"), "{plan}");

    for (flags, parts) in [
        ("--refine cpm --resolution-profile p.csv --resolution 0.5", &["a range, such as"][..]),
        ("--refine modularity --resolution-profile p.csv --resolution auto", &["a range, such as"]),
        ("--refine modularity --resolution 1..2", &["add --resolution-profile"]),
        ("--refine modularity --resolution-profile p.csv --resolution 2..1", &["0.1..10"]),
        ("--refine modularity --resolution-profile p.csv --resolution 1..1", &["0.1..10"]),
        ("--refine modularity --resolution-profile p.csv --resolution 0..1", &["0.1..10"]),
        ("--refine modularity --resolution-profile p.csv --resolution 1..nan", &["0.1..10"]),
        ("--refine modularity --resolution-profile p.csv --resolution ..", &["0.1..10"]),
        ("--refine modularity --resolution-profile p.csv --profile-runs 1", &["--profile-runs"]),
        ("--refine modularity --profile-runs 9", &["--resolution-profile"]),
        ("--resolution-profile p.csv", &["--refine"]),
        ("--refine modularity --resolution-profile p.xyz", &["p.xyz", ".csv"]),
        ("--refine modularity --resolution-profile g.txt", &["g.txt"]),
        ("--refine modularity --resolution-profile c.csv --levels c.csv", &["c.csv"]),
    ] {
        sandbox.fails(&format!("communities g.txt -o out.txt {flags}"), 2, parts);
    }
}

#[test]
fn refinement_keeps_fixed_vertices_and_sizes() {
    let sandbox = Sandbox::with([("g.txt", "1 2\n2 3\n3 1\n4 5\n5 6\n6 4\n3 4\n")]);
    let run = |flags: &str| {
        let run = format!("communities g.txt -o c.csv --refine modularity --resolution 1 {flags}");
        sandbox.ok(&run);
        communities(&sandbox.read("c.csv"))
    };
    sandbox.write("fixed.txt", "1\n2\n");
    sandbox.write("fixed.csv", "id,note\n1,first\n2,second\n");
    let are_together = |found: &BTreeMap<String, BTreeSet<String>>, ids: [&str; 2]| {
        found.values().any(|members| ids.iter().all(|id| members.contains(*id)))
    };
    for file in ["fixed.txt", "fixed.csv"] {
        let found = run(&format!("--fixed {file}"));
        assert!(!are_together(&found, ["1", "2"]) && are_together(&found, ["5", "6"]), "{found:?}");
        assert_eq!(run(&format!("--fixed {file} --threads 2 --storage compressed")), found);
    }
    // All edges say that 1 and 6 are apart, and the labels that they are not.
    sandbox.write("labels.txt", "1 1\n2 2\n3 3\n4 4\n5 5\n6 1\n");
    sandbox.write("apart.txt", "1\n6\n");
    assert!(are_together(&run("--labels labels.txt --fixed apart.txt"), ["1", "6"]));
    assert!(!are_together(&run("--labels labels.txt"), ["1", "6"]));
    assert!(run("--max-size 2").values().all(|members| members.len() <= 2));
    assert_eq!(run("--max-size 3").len(), 2);
    assert!(run("--max-size 2 --min-size 2").values().all(|members| members.len() == 2));
    let plan = sandbox
        .ok("communities g.txt --refine modularity --fixed fixed.txt --max-size 3 --estimate");
    assert!(plan.contains("labels, masses and totals"), "{plan}");

    sandbox.write("unknown.txt", "1\n9\n");
    sandbox.write("twice.txt", "1\n1\n");
    sandbox.write("none.txt", "# nothing\n");
    sandbox.write("one.txt", "1 1\n2 1\n3 1\n4 4\n5 4\n6 4\n");
    for (flags, parts) in [
        ("--refine modularity --fixed unknown.txt", &["unknown.txt:2", "`9`"][..]),
        ("--refine modularity --fixed twice.txt", &["twice.txt:2", "twice"]),
        ("--refine modularity --fixed none.txt", &["none.txt has no vertices"]),
        ("--fixed fixed.txt", &["--refine"]),
        ("--max-size 2", &["--refine"]),
        ("--refine modularity --max-size 0", &["--max-size"]),
        (
            "--refine modularity --max-size 2 --labels one.txt",
            &["3 vertices", "2 at most", "--max-size"],
        ),
        ("--refine modularity --max-size 3 --min-size 2 --join-small", &["--join-small"]),
        ("--refine modularity --fixed c.txt", &["c.txt"]),
        (
            "--refine modularity --fixed fixed.txt --resolution-profile p.csv",
            &["--resolution-profile"],
        ),
        ("--refine modularity --max-size 3 --resolution-profile p.csv", &["--resolution-profile"]),
    ] {
        sandbox.fails(&format!("communities g.txt -o c.txt {flags}"), 2, parts);
    }
}

#[test]
fn what_refinement_does_not_do_is_refused() {
    let sandbox = Sandbox::with([("g.txt", "1 2\n")]);
    for (flags, parts) in [
        ("cpm", &["no resolution that suits", "--resolution a number"][..]),
        ("cpm --resolution auto", &["no resolution that suits"]),
        ("modularity --resolution 0", &["1e-9"]),
        ("modularity --resolution -1", &["1e-9"]),
        ("modularity --resolution nan", &["1e-9"]),
        ("modularity --resolution 1e10", &["1e-9"]),
        ("modularity --device cuda:0,1", &["this runs on one"]),
        (
            "modularity --resolution-profile p.csv --device cuda",
            &["--resolution-profile runs on the CPU"],
        ),
        ("modularity --schedule sync", &["--schedule"]),
        ("modularity --program lpa", &["--program"]),
    ] {
        sandbox.fails(&format!("communities g.txt -o c.txt --refine {flags}"), 2, parts);
    }
}

/// A run can begin with the output of another, for all names of communities and with vertices left out.
#[test]
fn an_output_is_labels_to_begin_with() {
    let sandbox = Sandbox::new();
    for name in GRAPHS {
        for flags in
            ["", "--names hub", "--names number", "--min-size 9", "--min-size 9 --names number"]
        {
            for file in ["l.csv", "l.parquet"] {
                let first = found(&sandbox, name, flags);
                let graph = graph(name);
                sandbox.ok(&format!("communities {graph} -o {file} --quiet {flags}"));
                let run = format!("communities {graph} --labels {file} -o c.csv --iterations 0");
                let said = sandbox.run(&run);
                assert_eq!(said.code, Some(0), "{said:?}");
                let groups = |named: BTreeMap<String, BTreeSet<String>>| -> BTreeSet<_> {
                    named.into_values().collect()
                };
                let count = first.len();
                let again = groups(communities(&sandbox.read("c.csv")));
                assert_eq!(again, groups(first), "{name} {flags} {file}");
                assert!(said.error.contains(&format!("{file}: {count} communities")), "{said:?}");
                let lacks = said.error.contains("without one");
                assert_eq!(lacks, flags.contains("--min-size"), "{said:?}");
                // A vertex without a label takes one of a neighbour.
                let run = format!("communities {graph} --labels {file} -o c.csv --quiet");
                sandbox.ok(&run);
                let all = communities(&sandbox.read("c.csv")).values().map(BTreeSet::len).sum();
                let labelled: usize = again.iter().map(BTreeSet::len).sum();
                assert!(labelled <= all, "{name} {flags}: {labelled} at first, {all} then");
            }
        }
    }
}

#[test]
fn the_sizes_are_in_the_figures_of_a_run() {
    let sandbox = Sandbox::with([("g.txt", "1 2\n2 3\n3 1\n4 5\n")]);
    sandbox.ok("communities g.txt -o c.csv --stats s.json");
    let stats = sandbox.json("s.json");
    assert_eq!((&stats["median_size"], &stats["largest_size"]), (&2.5.into(), &3.into()));
}
