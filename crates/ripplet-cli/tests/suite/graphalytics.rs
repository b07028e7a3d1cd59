//! LDBC's graphs, exactly; and properties files that are wrong.

use crate::sandbox::{Sandbox, data};
use std::collections::BTreeMap;
use std::fs;

const FILES: [&str; 4] =
    ["example-directed", "example-undirected", "test-cdlp-directed", "test-cdlp-undirected"];

/// Graphs whose clustering coefficients LDBC gives.
const WITH_COEFFICIENTS: [&str; 4] =
    ["example-directed", "example-undirected", "test-lcc-directed", "test-lcc-undirected"];

/// A sandbox with LDBC's graph `name`, and its outputs as far as they are here.
fn sandbox(name: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    for folder in ["ripplet-lp", "ripplet-analytics"] {
        for suffix in [".properties", ".v", ".e", "-CDLP", "-LCC"] {
            let file = format!("{name}{suffix}");
            let from = data(&format!("{folder}/tests/data/ldbc/{file}"));
            if from.is_file() {
                fs::copy(from, sandbox.path(&file)).unwrap();
            }
        }
    }
    sandbox
}

#[test]
fn ldbc_coefficients_are_near() {
    for name in WITH_COEFFICIENTS {
        let sandbox = sandbox(name);
        for threads in [1, 2, 7] {
            let run = format!("graphalytics {name}.properties --algorithm lcc --threads {threads}");
            let text = sandbox.ok(&format!("{run} -o out.txt"));
            for part in ["validation  epsilon", "processing", "makespan", "lcc ", name] {
                assert!(text.contains(part), "{part} in {text}");
            }
            // The specification's own comparison, by hand.
            let values = |text: String| -> BTreeMap<u64, f64> {
                let row = |row: &str| {
                    let (id, value) = row.split_once(' ').unwrap();
                    (id.parse().unwrap(), value.parse().unwrap())
                };
                text.lines().map(row).collect()
            };
            let (found, wanted) =
                (values(sandbox.read("out.txt")), values(sandbox.read(&format!("{name}-LCC"))));
            assert!(found.keys().eq(wanted.keys()), "{name}");
            let near = |(s, r): (&f64, &f64)| (r - s).abs() <= 1e-4 * r.abs();
            assert!(found.values().zip(wanted.values()).all(near), "{name}: {found:?}");
        }
        // The command gives the same result.
        let directed = if name.ends_with("-directed") { "--directed" } else { "" };
        sandbox.ok(&format!("lcc {name}.e -o front.txt {directed}"));
        let rows = |file: &str| {
            let mut rows: Vec<String> = sandbox.read(file).lines().map(str::to_owned).collect();
            rows.sort();
            rows
        };
        assert_eq!(rows("front.txt"), rows("out.txt"), "{name}");
    }
}

#[test]
fn several_algorithms_and_repetitions_are_reported() {
    let name = "example-directed";
    let sandbox = sandbox(name);
    let run =
        format!("graphalytics {name}.properties --algorithm cdlp,lcc --repeat 3 --device cpu");
    let text = sandbox.ok(&format!("{run} --json report.json --html report.html"));
    for part in ["cdlp ", "lcc ", "validation  exact", "validation  epsilon", "medians of 3"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let report: serde_json::Value = serde_json::from_str(&sandbox.read("report.json")).unwrap();
    assert_eq!(report["graph"], name);
    assert_eq!((report["vertices"].as_u64(), report["edges"].as_u64()), (Some(10), Some(17)));
    assert!(report["machine"]["cores"].as_u64().unwrap() > 0);
    let load = report["load_seconds"].as_f64().unwrap();
    let algorithms = report["algorithms"].as_array().unwrap();
    for (measured, name) in algorithms.iter().zip(["cdlp", "lcc"]) {
        assert_eq!((&measured["algorithm"], &measured["device"]), (&name.into(), &"cpu".into()));
        assert_eq!(measured["validation"], "passed");
        assert_eq!(measured["runs"].as_array().unwrap().len(), 3);
        let [processing, makespan, evps] = ["processing_seconds", "makespan_seconds", "evps"]
            .map(|key| measured[key].as_f64().unwrap());
        assert!(processing > 0.0 && makespan >= load + processing, "{measured}");
        assert!((evps * processing - 27.0).abs() < 1e-6, "{measured}");
    }
    let page = sandbox.read("report.html");
    for part in ["<!doctype html>", name, "cdlp, 2 iterations", "class=\"passed\"", "Machine"] {
        assert!(page.contains(part), "{part} in {page}");
    }
}

#[test]
fn a_failed_validation_is_in_all_reports() {
    let name = "example-undirected";
    let sandbox = sandbox(name);
    let reference = format!("{name}-LCC");
    let changed: Vec<String> = (sandbox.read(&reference).lines())
        .map(|row| row.split(' ').next().unwrap().to_owned() + " 0.123")
        .collect();
    sandbox.write(&reference, changed.join("\n"));
    let run =
        format!("graphalytics {name}.properties --algorithm lcc,cdlp --json r.json --html r.html");
    let said = sandbox.run(&run);
    said.must_fail(&run, 1, &["9 of 9 vertices have another value", "-LCC", "0.123"]);
    // The algorithms after it run, too.
    assert!(
        said.out.contains("validation  failed") && said.out.contains("validation  exact"),
        "{said:?}"
    );
    let report: serde_json::Value = serde_json::from_str(&sandbox.read("r.json")).unwrap();
    assert_eq!(report["algorithms"][0]["validation"], "failed");
    assert_eq!(report["algorithms"][1]["validation"], "passed");
    assert!(sandbox.read("r.html").contains("class=\"failed\""));
    // The output is there, and it is said where.
    let run = format!("graphalytics {name}.properties --algorithm lcc -o out.txt");
    sandbox.run(&run).must_fail(&run, 1, &["out.txt has the output as it is"]);
    assert_eq!(sandbox.read("out.txt").lines().count(), 9);
    fs::remove_file(sandbox.path("out.txt")).unwrap();

    for (text, part) in [
        (changed[1..].join("\n"), "1 of 9 vertices has no number"),
        (format!("{}\n99 0.5", changed.join("\n")), ":10: `99` is no vertex"),
        (format!("{}\n{}", changed.join("\n"), changed[0]), ":10: vertex"),
        (changed.join("\n").replace("0.123", "much"), ":1: expected a number, not `much`"),
    ] {
        sandbox.write(&reference, text);
        sandbox.fails(&run, 2, &[&reference, part]);
        // Other algorithms, too, are not run.
        let both = format!("graphalytics {name}.properties --algorithm cdlp,lcc --json both.json");
        sandbox.fails(&both, 2, &[&reference, part]);
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let name = "example-directed";
    let sandbox = sandbox(name);
    for (options, parts) in [
        ("--algorithm cdlp,lcc -o out.txt", ["--output holds the output of one", "one by one"]),
        ("--algorithm lcc,lcc", ["names lcc twice", "--repeat"]),
        ("--device cpu --device-memory 1GiB", ["is for a GPU", "leave --device-memory out"]),
        ("--repeat 0", ["--repeat", "0 is not in 1.."]),
        ("--json - -o -", ["`-` is named for two outputs", "a file for the other"]),
        ("--json - --html -", ["`-` is named for two outputs", "a file for the other"]),
        ("--json r.json --html r.json", ["r.json is named twice", "another name"]),
        ("--algorithm lcc --json example-directed-LCC", ["is named twice", "another name"]),
    ] {
        sandbox.fails(&format!("graphalytics {name}.properties {options}"), 2, &parts);
    }
    // Without a reference there is nothing to validate, and nothing wrong.
    fs::remove_file(sandbox.path("example-directed-LCC")).unwrap();
    let text = sandbox.ok(&format!("graphalytics {name}.properties --algorithm lcc"));
    assert!(text.contains("validation  none: there is no example-directed-LCC"), "{text}");
}

#[test]
fn ldbc_labels_are_exact() {
    for name in FILES {
        let sandbox = sandbox(name);
        for threads in [1, 2, 7] {
            let run = format!("graphalytics {name}.properties --threads {threads} -o out.txt");
            let text = sandbox.ok(&run);
            for part in ["validation  exact", "processing", "makespan", name] {
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
        // The command gives the same result.
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
    assert!(said.out.contains("processing"), "the times are reported also then: {said:?}");

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
    sandbox.fails(&format!("graphalytics {file} --algorithm pr"), 2, &["cdlp", "lcc"]);
    sandbox.fails(&format!("graphalytics {file} -o {name}-CDLP"), 2, &[]);
}

#[test]
fn a_vertex_file_that_lacks_a_vertex() {
    let name = "example-undirected";
    let file = format!("{name}.properties");
    // The first line that names it, as the source of an edge or as the target.
    for (vertex, line) in [("3", 1), ("9", 10)] {
        let sandbox = sandbox(name);
        let edges = sandbox.read(&format!("{name}.e"));
        let names = |line: &str| line.split(' ').take(2).any(|end| end == vertex);
        assert_eq!(edges.lines().position(names), Some(line - 1), "{vertex} in {edges}");
        let vertices = sandbox.read(&format!("{name}.v"));
        let others: Vec<&str> = vertices.lines().filter(|id| *id != vertex).collect();
        assert_eq!(others.len(), 8, "{vertex} in {vertices}");
        sandbox.write(&format!("{name}.v"), others.join("\n"));
        let at = format!("{name}.e:{line}: vertex {vertex} is not in the vertex file");
        for algorithm in ["cdlp", "lcc"] {
            let run =
                format!("graphalytics {file} --algorithm {algorithm} -o out.txt --json r.json");
            sandbox.fails(&run, 2, &[&at]);
        }
    }
}

/// LDBC's edge files are sorted, and an undirected edge's smaller end stands first. Neither matters.
#[test]
fn edges_may_be_out_of_order() {
    for name in WITH_COEFFICIENTS.into_iter().chain(FILES) {
        let sandbox = sandbox(name);
        let run = |algorithm: &str, out: &str| {
            let reference = format!("{name}-{}", algorithm.to_ascii_uppercase());
            let validated = sandbox.path(&reference).is_file();
            let run = format!("graphalytics {name}.properties --algorithm {algorithm} -o {out}");
            let text = sandbox.ok(&run);
            assert_eq!(text.contains("validation  e"), validated, "{name} {algorithm}: {text}");
            (validated, sandbox.read(out))
        };
        let algorithms: &[&str] =
            if name.starts_with("test-lcc") { &["lcc"] } else { &["cdlp", "lcc"] };
        let sorted: Vec<_> = algorithms.iter().map(|algorithm| run(algorithm, "a.txt")).collect();
        assert!(sorted.iter().any(|(validated, _)| *validated), "{name} has an output");

        let edges = sandbox.read(&format!("{name}.e"));
        let mut lines: Vec<String> = edges.lines().map(str::to_owned).collect();
        lines.reverse();
        let half = lines.len() / 2;
        lines.rotate_left(half);
        if name.ends_with("-undirected") {
            for line in lines.iter_mut().step_by(2) {
                let mut fields: Vec<&str> = line.split(' ').collect();
                fields.swap(0, 1);
                *line = fields.join(" ");
            }
        }
        let source = |line: &String| line.split(' ').next().unwrap().parse::<u64>().unwrap();
        assert!(!lines.is_sorted_by_key(source), "{name}: {lines:?}");
        sandbox.write(&format!("{name}.e"), lines.join("\n"));
        for (algorithm, sorted) in algorithms.iter().zip(sorted) {
            assert_eq!(run(algorithm, "b.txt"), sorted, "{name} {algorithm}");
        }
    }
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
