//! LDBC's graphs, exactly; and properties files that are wrong.

use crate::sandbox::{Sandbox, data};
use std::fs;

const FILES: [&str; 4] =
    ["example-directed", "example-undirected", "test-cdlp-directed", "test-cdlp-undirected"];

/// A sandbox with LDBC's graph `name`.
fn sandbox(name: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    for suffix in [".properties", ".v", ".e", "-CDLP"] {
        let file = format!("{name}{suffix}");
        fs::copy(data(&format!("ripplet-lp/tests/data/ldbc/{file}")), sandbox.path(&file)).unwrap();
    }
    sandbox
}

#[test]
fn ldbc_labels_are_exact() {
    for name in FILES {
        let sandbox = sandbox(name);
        for threads in [1, 2, 7] {
            let run = format!("graphalytics {name}.properties --threads {threads} -o out.txt");
            let text = sandbox.ok(&run);
            for part in ["validation  exact", "compute", "whole", name] {
                assert!(text.contains(part), "{part} in {text}");
            }
            let sorted = |text: String| {
                let mut rows: Vec<String> = text.lines().map(str::to_owned).collect();
                rows.sort();
                rows
            };
            let expected = sorted(sandbox.read(&format!("{name}-CDLP")));
            assert_eq!(sorted(sandbox.read("out.txt")), expected, "{name}");
        }
        // The same through the front door.
        let (directed, rounds) = (
            if name.ends_with("-directed") { "--directed" } else { "" },
            if name.starts_with("test") { 5 } else { 2 },
        );
        let run = format!("communities {name}.e -o front.txt --program cdlp --iterations {rounds}");
        sandbox.ok(&format!("{run} {directed}"));
        assert_eq!(sandbox.read("front.txt"), sandbox.read("out.txt"), "{name}");
    }
}

#[test]
fn wrong_labels_are_told() {
    let name = "example-directed";
    let sandbox = sandbox(name);
    let reference = format!("{name}-CDLP");
    let mut rows: Vec<String> = sandbox.read(&reference).lines().map(str::to_owned).collect();
    rows.sort_by_key(|row| row.split(' ').next().unwrap().parse::<u64>().unwrap());
    let id = |row: &str, field: usize| row.split(' ').nth(field).unwrap().to_string();
    let (vertex, label) = (id(&rows[3], 0), id(&rows[3], 1));
    let other = id(rows.iter().find(|row| id(row, 1) != label).unwrap(), 1);
    rows[3] = format!("{vertex} {other}");
    let own = id(&rows[7], 1);
    let last = id(&rows[7], 0);
    rows[7] = format!("{last} {}", if own == vertex { last.clone() } else { vertex.clone() });
    sandbox.write(&reference, rows.join("\n"));
    let difference = format!("vertex {vertex}: {label} instead of {other}");
    let parts = ["2 of 10 vertices", reference.as_str(), difference.as_str(), "2 iterations"];
    let said = sandbox.fails(&format!("graphalytics {name}.properties"), 1, &parts);
    assert!(said.out.contains("compute"), "the times are told even so: {said:?}");

    fs::remove_file(sandbox.path(&reference)).unwrap();
    let text = sandbox.ok(&format!("graphalytics {name}.properties"));
    assert!(text.contains("validation  none: there is no example-directed-CDLP"), "{text}");
}

#[test]
fn a_properties_file_that_is_wrong() {
    let name = "example-undirected";
    let file = format!("{name}.properties");
    let key = |key: &str| format!("graph.{name}.{key}");
    let whole = sandbox(name).read(&file);
    let [vertices, edges, directed] = ["meta.vertices", "meta.edges", "directed"].map(key);
    for (key, value, parts) in [
        ("vertex-file", None, vec!["graph.NAME.vertex-file"]),
        ("edge-file", None, vec!["example-undirected.edge-file` is missing"]),
        ("directed", None, vec![directed.as_str(), "is missing", "true or false"]),
        ("cdlp.max-iterations", None, vec!["cdlp.max-iterations` is missing", "whole number"]),
        ("directed", Some("maybe"), vec![":13: ", directed.as_str(), "`maybe`"]),
        ("cdlp.max-iterations", Some("-1"), vec!["`-1`", "whole number"]),
        ("meta.vertices", Some("8"), vec![":9: ", vertices.as_str(), "is 8", ".v has 9 vertices"]),
        ("meta.edges", Some("99"), vec![":10: ", edges.as_str(), "is 99", ".e has 12 edges"]),
        ("meta.edges", Some("many"), vec![":10: ", edges.as_str(), "`many`"]),
        ("vertex-file", Some("no.v"), vec!["no.v", "No such file"]),
        ("edge-file", Some("no.e"), vec!["no.e", "No such file"]),
    ] {
        let sandbox = sandbox(name);
        let changed = |line: &str| {
            let is = line.split('=').next().unwrap().trim() == format!("graph.{name}.{key}");
            match (is, value) {
                (false, _) => Some(line.to_string()),
                (true, Some(value)) => Some(format!("graph.{name}.{key} = {value}")),
                (true, None) => None,
            }
        };
        let text: Vec<String> = whole.lines().filter_map(changed).collect();
        assert_ne!(text.join("\n"), whole.trim_end(), "{key} stands in the file");
        sandbox.write(&file, text.join("\n"));
        sandbox.fails(&format!("graphalytics {file} -o out.txt"), 2, &parts);
    }
    let sandbox = sandbox(name);
    sandbox.fails("graphalytics no.properties", 2, &["no.properties", "No such file"]);
    sandbox.fails(&format!("graphalytics {file} --algorithm pr"), 2, &["cdlp"]);
    sandbox.fails(&format!("graphalytics {file} -o {name}-CDLP"), 2, &[]);
}

#[test]
fn files_may_lie_elsewhere() {
    let name = "test-cdlp-directed";
    let sandbox = sandbox(name);
    fs::create_dir(sandbox.path("files")).unwrap();
    for (from, to) in [(".v", "files/vertices.txt"), (".e", "edges.e")] {
        fs::rename(sandbox.path(&format!("{name}{from}")), sandbox.path(to)).unwrap();
    }
    let text = sandbox.read(&format!("{name}.properties"));
    let text = text
        .replace(&format!("= {name}.v"), "= files/vertices.txt")
        .replace(&format!("= {name}.e"), "= edges.e");
    sandbox.write(&format!("{name}.properties"), text);
    assert!(sandbox.ok(&format!("graphalytics {name}.properties")).contains("exact"));
}
