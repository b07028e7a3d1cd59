//! LDBC's own outputs of LCC, by the specification's rule for them: within 0.01 %.

use crate::graphs::{Edges, run};
use ripplet_analytics::lcc::Definition;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The specification's ε.
const EPSILON: f64 = 0.0001;

/// The first fields of each line: a vertex and what follows, as numbers.
fn rows(folder: &str, name: &str) -> Vec<Vec<f64>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder).join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    let fields = |line: &str| line.split_whitespace().map(|field| field.parse().unwrap()).collect();
    text.lines().map(fields).collect()
}

fn check(folder: &str, name: &str, directed: bool) {
    // Ids are small: a vertex is its id, and those that the file lacks are isolated here.
    let edges = rows(folder, &format!("{name}.e"));
    let listed = rows(folder, &format!("{name}.v"));
    let vertices = 1 + listed.iter().fold(0, |most, row| most.max(row[0] as u32));
    let pairs = edges.iter().map(|row| (row[0] as u32, row[1] as u32)).collect();
    let graph = Edges { vertices, pairs, directed }.graph();
    let reference = rows("tests/data/ldbc", &format!("{name}-LCC"));
    let expected: BTreeMap<usize, f64> =
        reference.iter().map(|row| (row[0] as usize, row[1])).collect();
    assert_eq!(expected.len(), listed.len(), "{name}");
    let matched = |r: f64, s: f64| (r - s).abs() <= EPSILON * r.abs();
    assert!(matched(0.0, 0.0) && !matched(0.0, 1e-9) && !matched(0.5, 0.50006));
    for threads in [1, 2, 7] {
        let found = run(&graph, Definition::Ldbc, threads).coefficients;
        for (&vertex, &r) in &expected {
            assert!(
                matched(r, found[vertex]),
                "{name}: vertex {vertex} {}, not {r}",
                found[vertex]
            );
        }
    }
}

#[test]
fn example_graphs() {
    let graphs = "../ripplet-lp/tests/data/ldbc";
    check(graphs, "example-directed", true);
    check(graphs, "example-undirected", false);
}

#[test]
fn test_graphs() {
    check("tests/data/ldbc", "test-lcc-directed", true);
    check("tests/data/ldbc", "test-lcc-undirected", false);
}
