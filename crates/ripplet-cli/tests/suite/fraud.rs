//! `ripplet fraud`: what it writes, says, and refuses, and its exit codes.

use crate::sandbox::Sandbox;
use std::path::Path;

const MAPPING: &str = "time = \"at\"\n[source]\ncolumn = \"from\"\nkind = \"user\"\n\
    [target]\ncolumn = \"to\"\nkind = \"shop\"\n";

fn example(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fraud");
    folder.join(name).display().to_string()
}

fn small() -> Sandbox {
    let rows: String = (1..6)
        .flat_map(|day| {
            ["a,s", "a,t", "b,s", "b,t", "c,u"].map(|ends| format!("{ends},2024-05-0{day}\n"))
        })
        .collect();
    let rows = format!("from,to,at\n{rows}");
    Sandbox::with([("rows.csv", &rows), ("m.toml", MAPPING), ("bad.csv", "id\na\nz\n")])
}

#[test]
fn the_readme_s_command_and_what_comes_after_it() {
    let sandbox = Sandbox::new();
    let feed = format!(
        "{} -m {} --window 30d --slide 5d",
        example("transactions.csv.gz"),
        example("mapping.toml")
    );
    let said = sandbox.run(&format!("fraud run {feed} -b {} -o rings", example("known.csv")));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.error.contains("23383 rows, 4 windows"), "{said:?}");
    let manifest = sandbox.json("rings/manifest.json");
    assert_eq!(manifest["windows"].as_array().unwrap().len(), 4);
    std::fs::remove_file(sandbox.path("rings/report.html")).unwrap();
    assert_eq!(sandbox.ok("fraud report rings"), "rings/report.html\n");
    assert!(sandbox.read("rings/report.html").starts_with("<!"));
    let said = sandbox.run(&format!("fraud run {feed} -b {} -o rings", example("known.csv")));
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.error.contains("has a run in it already"), "{said:?}");

    let tables = sandbox.ok(&format!(
        "fraud evaluate {feed} -c {} --draws 2 -o draws.csv",
        example("confirmed.csv")
    ));
    assert!(tables.contains("suspicion") && tables.contains("pagerank"), "{tables}");
    assert!(sandbox.read("draws.csv").lines().count() > 2);
}

#[test]
fn a_window_is_a_graph_for_other_commands() {
    let sandbox = small();
    let said =
        sandbox.run("fraud window rows.csv -m m.toml -w 2d -s 1d --until 2024-05-04 -o w.csv");
    assert_eq!(said.code, Some(0), "{said:?}");
    let mut lines: Vec<String> = sandbox.read("w.csv").lines().map(str::to_owned).collect();
    lines.sort();
    let expected = [
        "shop:s,user:a,2",
        "shop:s,user:b,2",
        "shop:t,user:a,2",
        "shop:t,user:b,2",
        "shop:u,user:c,2",
    ];
    assert_eq!(&lines[..5], expected);
    let said =
        sandbox.run("fraud window rows.csv -m m.toml -w 2d -s 1d --until 2030-01-01 -o w.csv");
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(
        said.error.contains("there are 4 windows, which end from 2024-05-03 to 2024-05-06"),
        "{said:?}"
    );
}

#[test]
fn what_is_wrong_is_told_with_what_to_do() {
    let sandbox = small();
    let run = |arguments: &str| {
        sandbox.run(&format!("fraud run -m m.toml -b bad.csv -w 2d -s 1d {arguments}"))
    };
    sandbox.write(
        "late.csv",
        "from,to,at\na,s,2024-05-01\na,s,2024-05-03\nb,s,2024-05-01\nb,,2024-05-03\n",
    );
    let said = run("late.csv -o one");
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.error.contains("late.csv:4: the transaction of 2024-05-01"), "{said:?}");
    assert!(said.error.contains("--late 2d"), "{said:?}");
    let said = run("late.csv -o two --skip-late-rows");
    assert!(said.error.contains("late.csv:5: the column `to` is empty"), "{said:?}");
    assert!(said.error.contains("--skip-bad-rows"), "{said:?}");
    let said = run("late.csv -o three --skip-late-rows --skip-bad-rows");
    assert_eq!(said.code, Some(3), "{said:?}");
    for part in [
        "1 rows were left out: null",
        "1 rows were left out: they came after",
        "1 entries of the lists",
    ] {
        assert!(said.error.contains(part), "{part} in {said:?}");
    }
    let said = run("rows.csv -o four --slide 3d");
    assert_eq!(said.code, Some(2), "{said:?}");
    let said = run("rows.csv -o five --resume");
    assert!(said.error.contains("has no run in it to go on with"), "{said:?}");
    sandbox.write("m.toml", "time = \"at\"\n[source]\ncolumn = \"from\"\n");
    let said = run("rows.csv -o six");
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.error.contains("m.toml"), "{said:?}");
}
