//! Small words of the command: what options are called, and what helps where something is mistaken for something else.

use crate::sandbox::Sandbox;

#[test]
fn an_input_has_one_name_for_its_format() {
    let sandbox = Sandbox::with([("graph", "1,2\n2,3\n"), ("c", "1 a\n2 a\n3 a\n")]);
    for command in [
        "communities graph -o out.txt",
        "lcc graph -o out.txt",
        "convert graph out.rg",
        "info graph",
        "quality graph c",
        "draw graph c -o out.svg",
    ] {
        sandbox.ok(&format!("{command} --from csv"));
        // As it was called in most commands.
        sandbox.ok(&format!("{command} --format csv"));
        sandbox.fails(command, 2, &["graph: ", "--from"]);
    }
}

#[test]
fn what_is_usual_may_be_said() {
    let sandbox = Sandbox::with([("g.txt", "1 2\n2 3\n")]);
    sandbox.ok("communities g.txt -o a.txt --undirected");
    sandbox.ok("communities g.txt -o b.txt");
    assert_eq!(sandbox.read("a.txt"), sandbox.read("b.txt"));
    sandbox.fails(
        "communities g.txt -o a.txt --undirected --directed",
        2,
        &["cannot be used with"],
    );
    sandbox.fails("communities g.txt -o a.txt -v -q", 2, &["cannot be used with"]);
}

#[test]
fn a_program_in_another_language_is_told_what_is_expected() {
    let sandbox = Sandbox::with([("g.txt", "1 2\n"), ("mine.py", "def label_score(): pass\n")]);
    let parts = ["mine.py is Python", "subset of Rust", "your-own-variant.md"];
    sandbox.fails("communities g.txt -o a.txt --program-file mine.py", 2, &parts);
}

#[test]
fn a_broken_graph_among_others_may_be_left_out() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("all")).unwrap();
    sandbox.write("all/a.txt", "1 2\n");
    sandbox.write("all/b.txt", "1 2\n3\n");
    for command in
        ["communities all -o out.csv", "lcc all -o out.csv", "info all", "convert all out.swarm"]
    {
        sandbox.fails(command, 2, &["b.txt", "help: --on-error skip"]);
        assert!(sandbox.run(&format!("{command} --on-error skip")).error.contains("b.txt"));
    }
    // Of one graph there is nothing to leave out.
    sandbox.write("c.txt", "1 2\n3\n");
    let said = sandbox.fails("communities c.txt -o out.txt", 2, &["c.txt:2"]);
    assert!(!said.error.contains("--on-error"), "{said:?}");
}

#[test]
fn generators_say_what_they_draw() {
    let help = Sandbox::new().ok("generate --help");
    let line = |name: &str| {
        help.lines().find(|line| line.trim_start().starts_with(name)).unwrap().to_owned()
    };
    assert!(line("web").contains("crawl") && line("social").contains("social network"), "{help}");
}

#[test]
fn standard_output_is_in_the_format_that_is_asked_for() {
    let sandbox =
        Sandbox::with([("g.csv", "source,target\nAnn Lee,Bob Ray\nBob Ray,\"Cy, Jr\"\n")]);
    let communities = "communities g.csv -o - --quiet";
    // Names with blanks stand between tabs where there is no header.
    assert!(sandbox.ok(communities).starts_with("Ann Lee\t"));
    let csv = sandbox.ok(&format!("{communities} --to csv"));
    assert!(csv.starts_with("id,community\nAnn Lee,") && csv.contains("\n\"Cy, Jr\","), "{csv}");
    let tsv = sandbox.ok(&format!("{communities} --to tsv"));
    assert!(tsv.starts_with("id\tcommunity\nAnn Lee\t"), "{tsv}");
    let rows = sandbox.ok(&format!("{communities} --to jsonl"));
    assert!(rows.starts_with("{\"id\":\"Ann Lee\",\"community\":"), "{rows}");
    assert!(rows.contains("\n{\"id\":\"Cy, Jr\","), "{rows}");
    for command in ["lcc", "pagerank", "components", "closeness", "apsp"] {
        let rows = sandbox.ok(&format!("{command} g.csv -o - --quiet --to jsonl"));
        assert!(rows.contains("\"Ann Lee\""), "{command}: {rows}");
        for row in rows.lines() {
            let row: serde_json::Value = serde_json::from_str(row).expect(row);
            assert!(row.as_object().unwrap().len() > 1, "{command}: {row}");
        }
        let txt = sandbox.ok(&format!("{command} g.csv -o - --quiet"));
        assert!(txt.contains("Ann Lee\t"), "{command}: {txt}");
        let csv = sandbox.ok(&format!("{command} g.csv -o - --quiet --to csv"));
        assert!(csv.lines().next().unwrap().contains(','), "{command}: {csv}");
        assert!(csv.contains("Ann Lee,"), "{command}: {csv}");
    }
    // Binary tables and graphs go there as well, without a name that implies the format.
    for (format, name) in [("parquet", "c.parquet"), ("arrow", "c.arrow"), ("graphml", "c.graphml")]
    {
        sandbox.ok(&format!("communities g.csv -o {name} --quiet"));
        sandbox.ok(&format!("communities g.csv -o other --quiet --to {format}"));
        let bytes = |name: &str| std::fs::read(sandbox.path(name)).unwrap();
        assert!(bytes(name) == bytes("other"), "{format}");
        let out = sandbox
            .command(&format!("communities g.csv -o - --quiet --to {format}"))
            .output()
            .unwrap();
        assert!(out.status.success() && out.stdout == bytes(name), "{format}");
    }
    sandbox.fails("communities g.csv -o out.csv --to rg", 2, &[".csv"]);
    sandbox.fails("lcc g.csv -o out.csv --to graphml", 2, &[".csv"]);
}

#[test]
fn weights_that_no_vote_counts_are_said() {
    let sandbox = Sandbox::with([("g.csv", "from,to,weight\n1,2,3\n2,3,1\n")]);
    for (options, is_said) in [
        ("--program llp --weighted", true),
        ("--program llp --sweep 2 --weighted", true),
        ("--program llp", false),
        ("--program lpa --weighted", false),
    ] {
        let said = sandbox.run(&format!("communities g.csv -o a.csv {options}"));
        assert_eq!(said.code, Some(0), "{said:?}");
        assert_eq!(said.error.contains("votes of llp count neighbours"), is_said, "{said:?}");
    }
}
