//! `ripplet quality`: truths as people have them, and figures of each community.

use crate::sandbox::Sandbox;
use serde_json::Value;

/// Two triangles with an edge between them, and a pair.
const EDGES: &str = "1 2\n2 3\n3 1\n3 4\n4 5\n5 6\n6 4\n8 9\n";
const LABELS: &str = "1 a\n2 a\n3 a\n4 b\n5 b\n6 b\n8 c\n9 c\n";

fn measured(sandbox: &Sandbox, arguments: &str) -> Value {
    serde_json::from_str(&sandbox.ok(&format!("quality {arguments}"))).unwrap()
}

#[test]
fn a_truth_may_lack_vertices_and_come_as_lines_of_members() {
    let sandbox = Sandbox::with([
        ("g.txt", EDGES),
        ("labels.txt", LABELS),
        ("rows.txt", "1 x\n2 x\n3 x\n4 y\n5 y\n6 y\n"),
        ("members.txt", "# two communities\n1 2\t3\n6\t5 4\n"),
        ("other.txt", "8 x\n"),
    ]);
    let by_rows = measured(&sandbox, "g.txt labels.txt --truth rows.txt");
    let by_members =
        measured(&sandbox, "g.txt labels.txt --truth members.txt --truth-form members");
    assert_eq!(by_rows, by_members);
    let compared = &by_rows["compared"];
    let counts = ["vertices", "without_truth", "without_label"].map(|name| compared[name].as_u64());
    assert_eq!(counts, [Some(6), Some(2), Some(0)]);
    for name in
        ["nmi", "ami", "ari", "homogeneity", "completeness", "nmi_lfk", "nmi_max", "omega", "f1"]
    {
        assert_eq!(by_rows[name].as_f64(), Some(1.0), "{name}");
    }
    assert_eq!(by_rows["vi"].as_f64(), Some(0.0));
    assert_eq!(by_rows["communities"], 3);
    // Labels, too, may lack vertices and be lines of members.
    let some = measured(&sandbox, "g.txt members.txt --labels-form members --truth labels.txt");
    assert_eq!((&some["unassigned"], &some["communities"]), (&2.into(), &2.into()));
    assert_eq!(some["ari"].as_f64(), Some(1.0));
    sandbox.ok("quality g.txt labels.txt --truth other.txt");
    sandbox.write("none.txt", "");
    let empty = ["none.txt: no vertex has a community"];
    sandbox.fails("quality g.txt labels.txt --truth none.txt", 2, &empty);
    sandbox.fails("quality g.txt none.txt", 2, &empty);
    sandbox.fails("draw g.txt none.txt -o x.html", 2, &empty);
    // Lines of members are no rows, and rows may not be lines of members.
    sandbox.write("strange.txt", "1 2 77\n");
    sandbox.fails("quality g.txt strange.txt --labels-form members", 2, &["strange.txt:1", "`77`"]);
    sandbox.fails("quality g.txt labels.txt --truth-form members", 2, &["--truth"]);
}

#[test]
fn columns_of_labels_are_read_by_their_names_and_said() {
    let sandbox = Sandbox::with([
        ("g.txt", EDGES),
        ("labels.txt", LABELS),
        (
            "gephi.csv",
            "Id,Label,modularity_class\n1,9,0\n2,9,0\n3,9,0\n4,9,1\n5,9,1\n6,9,1\n8,9,2\n9,9,2\n",
        ),
        ("own.csv", "a,b,c\na,x,1\na,x,2\na,y,3\nb,x,4\nb,x,5\nb,y,6\nc,x,8\nc,x,9\n"),
        ("lfr.dat", "1\t1\n2\t1\n3\t1 2\n4\t2\n5\t2\n6\t2\n8\t3\n9\t3\n"),
        ("members.txt", "1 2 3\n4 5 6\n"),
        (
            "vertices.csv",
            "Id,Label,modularity_class\n1,x,1\n2,x,1\n3,x,1\n4,x,4\n5,x,4\n6,x,4\n8,x,8\n9,x,8\n",
        ),
    ]);
    let columns =
        "gephi.csv: id = \"Id\", community = \"modularity_class\"; 1 other column ignored";
    for arguments in ["quality g.txt gephi.csv", "draw g.txt gephi.csv -o x.html"] {
        let said = sandbox.run(arguments);
        assert!(said.code == Some(0) && said.error.contains(columns), "{said:?}");
    }
    let labels = measured(&sandbox, "g.txt labels.txt");
    assert_eq!(measured(&sandbox, "g.txt gephi.csv")["modularity"], labels["modularity"]);
    sandbox.fails(
        "quality g.txt own.csv",
        2,
        &["own.csv:1", "`a,b,c` and `a,x,1`", "--labels-columns"],
    );
    for columns in ["c,a", "3,1"] {
        let found = measured(&sandbox, &format!("g.txt own.csv --labels-columns {columns}"));
        assert_eq!(found["modularity"], labels["modularity"]);
        let truth = format!("g.txt labels.txt --truth own.csv --truth-columns {columns}");
        assert_eq!(measured(&sandbox, &truth)["ami"].as_f64(), Some(1.0));
        sandbox.ok(&format!("draw g.txt own.csv --labels-columns {columns} -o x.svg"));
    }
    sandbox.fails("quality g.txt own.csv --labels-columns c", 2, &["ID,LABEL"]);
    // Several communities a line, and lines of members that are not said to be such.
    let several = measured(&sandbox, "g.txt lfr.dat");
    assert_eq!(several["memberships"], 9);
    sandbox.fails("quality g.txt members.txt", 2, &["--labels-form rows, memberships or members"]);
    assert_eq!(measured(&sandbox, "g.txt members.txt --labels-form members")["communities"], 2);
    let found = measured(&sandbox, "g.txt members.txt --labels-form memberships");
    assert_eq!(found["memberships"], 4);
    // Labels to begin with, and seeds.
    let said = sandbox.run("communities g.txt --labels vertices.csv -o c.tsv");
    assert!(
        said.code == Some(0) && said.error.contains("community = \"modularity_class\""),
        "{said:?}"
    );
    sandbox.ok("communities g.txt --program seeded --seeds own.csv --seeds-columns c,a -o c.tsv");
    sandbox.fails("communities g.txt --labels-columns a,b -o d.tsv", 2, &["--labels"]);
}

#[test]
fn a_missing_community_is_none() {
    let sandbox = Sandbox::with([
        ("g.txt", EDGES),
        ("labels.csv", "id,community\n1,a\n2,a\n3,a\n4,\n5,\n6,\n8,b\n9,b\n"),
    ]);
    let said = sandbox.run("quality g.txt labels.csv");
    assert!(
        said.error.contains(
            "labels.csv: id = \"id\", community = \"community\"; 3 rows have no community"
        ),
        "{said:?}"
    );
    let found = measured(&sandbox, "g.txt labels.csv");
    assert_eq!((&found["unassigned"], &found["communities"]), (&3.into(), &2.into()));
    sandbox.ok("communities g.txt -o c.jsonl");
    assert_eq!(measured(&sandbox, "g.txt c.jsonl")["unassigned"], 0);
    sandbox.ok("communities g.txt -o c.graphml");
    sandbox.fails(
        "quality g.txt c.graphml",
        2,
        &["this is a graph: write its communities as such a table"],
    );
}

#[test]
fn a_vertex_may_have_several_communities() {
    let sandbox = Sandbox::with([
        ("g.txt", EDGES),
        ("labels.txt", LABELS),
        ("both.csv", "id,community\n1,x\n2,x\n3,x\n3,y\n4,y\n5,y\n6,y\n8,z\n9,z\n"),
    ]);
    let found = measured(&sandbox, "g.txt both.csv --truth labels.txt");
    let counts = ["communities", "memberships", "most_of_a_vertex", "unassigned"];
    assert_eq!(counts.map(|name| found[name].as_u64().unwrap()), [3, 9, 2, 0]);
    assert!(found.get("modularity").is_none() && found.get("ari").is_none(), "{found}");
    let f1 = found["f1"].as_f64().unwrap();
    // {1,2,3} and {8,9} are found; {3,4,5,6} shares three of four with {4,5,6}.
    assert!((f1 - (1.0 + 1.0 + 6.0 / 7.0) / 3.0).abs() < 1e-12, "{f1}");
    let same = measured(&sandbox, "g.txt both.csv --truth both.csv");
    assert_eq!((same["nmi_lfk"].as_f64(), same["omega"].as_f64()), (Some(1.0), Some(1.0)));
}

#[test]
fn what_programs_write_can_be_measured() {
    let sandbox =
        Sandbox::with([("g.txt", EDGES), ("seeds.txt", "1 red\n4 blue\n"), ("labels.txt", LABELS)]);
    for program in ["slpa", "seeded --seeds seeds.txt"] {
        for output in ["c.txt", "c.parquet"] {
            sandbox.ok(&format!("communities g.txt -o {output} --program {program}"));
            let found = measured(&sandbox, &format!("g.txt {output} --truth labels.txt"));
            assert!(found["f1"].as_f64().unwrap() > 0.5, "{program}: {found}");
        }
    }
    // The seeds reach all but the pair.
    let found = measured(&sandbox, "g.txt c.parquet --truth labels.txt");
    assert_eq!((&found["unassigned"], &found["compared"]["vertices"]), (&2.into(), &6.into()));
    sandbox.ok("draw g.txt c.parquet -o c.svg");
    sandbox.write("twice.txt", "1 a\n1 b\n");
    sandbox.fails("draw g.txt twice.txt -o d.svg", 2, &["vertex 1", "several communities"]);
}

#[test]
fn measuring_keeps_to_the_limit_of_memory() {
    let sandbox = Sandbox::with([("all.txt", "")]);
    sandbox.ok("generate planted --vertices 4000 --edges 400000 -o g.rg");
    sandbox.write("all.txt", (0..4000).map(|v| format!("{v} a\n")).collect::<String>());
    let run = "quality g.rg all.txt --per-community c.csv";
    let refused = ["measuring each community needs more memory than 1.0 MiB", "--host-memory"];
    sandbox.fails(&format!("{run} --host-memory 1MiB"), 2, &refused);
    assert!(!sandbox.path("c.csv").exists());
    sandbox.ok(&format!("{run} --host-memory 1GiB"));
    assert!(sandbox.read("c.csv").contains("a,4000,"));
}

#[test]
fn each_community_has_a_row() {
    let sandbox = Sandbox::with([("g.txt", EDGES), ("labels.txt", LABELS)]);
    sandbox.ok("quality g.txt labels.txt --per-community c.csv");
    let text = sandbox.read("c.csv");
    let mut lines = text.lines();
    let head = "community,size,inner_edges,outer_edges,inner_weight,outer_weight,conductance,density,modularity,\
                triangle_participation,connected";
    assert_eq!(lines.next(), Some(head));
    let a = format!("a,3,3,1,3,1,{},1,{},1,true", 1.0 / 7.0, 6.0 / 16.0 - (7.0f64 / 16.0).powi(2));
    assert_eq!(lines.next(), Some(&*a));
    assert_eq!(lines.clone().count(), 2);
    assert!(lines.last().unwrap().starts_with("c,2,1,0,1,0,0,1,"), "{text}");
    // Integers stay integers, in their order.
    sandbox.ok("communities g.txt -o c.txt");
    sandbox.ok("quality g.txt c.txt --per-community c.tsv");
    let names: Vec<String> =
        sandbox.read("c.tsv").lines().map(|line| line.split('\t').next().unwrap().into()).collect();
    assert_eq!(names, ["community", "1", "4", "8"]);
    for name in ["c.parquet", "c.arrow", "c.csv.gz"] {
        sandbox.ok(&format!("quality g.txt c.txt --per-community {name}"));
    }
    let refused = ["c.png", "a table about communities is written as", ".parquet"];
    sandbox.fails("quality g.txt c.txt --per-community c.png", 2, &refused);
    let refused = ["--per-community - asks for standard output", "name a file"];
    sandbox.fails("quality g.txt c.txt --per-community -", 2, &refused);
    sandbox.fails(
        "quality g.txt c.txt --per-community .",
        2,
        &[".: this is a folder: name a file in it, such as ./result.csv"],
    );
    sandbox.fails("quality g.txt c.txt --per-community c.txt", 2, &["c.txt"]);
    sandbox.fails("quality g.txt labels.csv --per-community labels.csv", 2, &["labels.csv"]);
}
