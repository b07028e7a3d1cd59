//! LDBC's reference outputs of LCC, by the specification's rule for them: within 0.01 %.

use super::graphs::Edges;
use super::machines::run;
use ripplet_analytics::lcc::Definition;
use std::collections::BTreeMap;

/// ε of the specification.
const EPSILON: f64 = 0.0001;

/// A graph of LDBC as text: its edges, vertices and coefficients.
struct Case {
    edges: &'static str,
    vertices: &'static str,
    reference: &'static str,
    directed: bool,
}

const EXAMPLES: [Case; 2] = [
    Case {
        edges: include_str!("../../../ripplet-lp/tests/data/ldbc/example-directed.e"),
        vertices: include_str!("../../../ripplet-lp/tests/data/ldbc/example-directed.v"),
        reference: include_str!("../data/ldbc/example-directed-LCC"),
        directed: true,
    },
    Case {
        edges: include_str!("../../../ripplet-lp/tests/data/ldbc/example-undirected.e"),
        vertices: include_str!("../../../ripplet-lp/tests/data/ldbc/example-undirected.v"),
        reference: include_str!("../data/ldbc/example-undirected-LCC"),
        directed: false,
    },
];

const TESTS: [Case; 2] = [
    Case {
        edges: include_str!("../data/ldbc/test-lcc-directed.e"),
        vertices: include_str!("../data/ldbc/test-lcc-directed.v"),
        reference: include_str!("../data/ldbc/test-lcc-directed-LCC"),
        directed: true,
    },
    Case {
        edges: include_str!("../data/ldbc/test-lcc-undirected.e"),
        vertices: include_str!("../data/ldbc/test-lcc-undirected.v"),
        reference: include_str!("../data/ldbc/test-lcc-undirected-LCC"),
        directed: false,
    },
];

/// Returns the fields of each line, a vertex and what follows, as numbers.
fn rows(text: &str) -> Vec<Vec<f64>> {
    let fields = |line: &str| line.split_whitespace().map(|field| field.parse().unwrap()).collect();
    text.lines().map(fields).collect()
}

fn check(case: &Case) {
    // Ids are small: a vertex's number is its id, and ids missing from the file are isolated
    // vertices.
    let listed = rows(case.vertices);
    let vertices = 1 + listed.iter().fold(0, |most, row| most.max(row[0] as u32));
    let edges = rows(case.edges);
    let pairs = edges.iter().map(|row| (row[0] as u32, row[1] as u32));
    let directed = case.directed;
    let graph = Edges { directed, ..Edges::undirected(vertices, pairs) }.graph();
    let reference = rows(case.reference);
    let expected: BTreeMap<usize, f64> =
        reference.iter().map(|row| (row[0] as usize, row[1])).collect();
    assert!(!expected.is_empty() && expected.len() == listed.len(), "directed {directed}");
    let matched = |r: f64, s: f64| (r - s).abs() <= EPSILON * r.abs();
    assert!(matched(0.0, 0.0) && !matched(0.0, 1e-9) && !matched(0.5, 0.50006));
    for threads in [1, 2, 7] {
        let found = run(&graph, Definition::Ldbc, threads).coefficients;
        for (&vertex, &r) in &expected {
            let found = found[vertex];
            assert!(matched(r, found), "directed {directed}: vertex {vertex} {found}, not {r}");
        }
    }
}

#[test]
fn example_graphs() {
    EXAMPLES.iter().for_each(check);
}

#[test]
fn test_graphs() {
    TESTS.iter().for_each(check);
}
