//! Real and random graphs against networkx and igraph; `tests/data/make_lcc.py` made the numbers.

use super::graphs::Edges;
use super::machines::run;
use ripplet_analytics::lcc::Definition;
use serde::Deserialize;
use std::collections::BTreeSet;

#[derive(Deserialize)]
struct Cases {
    files: Vec<FileCase>,
    small: Vec<SmallCase>,
}

#[derive(Deserialize)]
struct FileCase {
    graph: String,
    step: usize,
    triangles_sum: u64,
    ldbc_sum: f64,
    fagiolo_sum: f64,
    #[serde(flatten)]
    expected: Expected,
}

#[derive(Deserialize)]
struct SmallCase {
    pairs: Vec<(u32, u32)>,
    #[serde(flatten)]
    expected: Expected,
}

#[derive(Deserialize)]
struct Expected {
    directed: bool,
    triangles: Vec<u64>,
    ldbc: Vec<f64>,
    fagiolo: Vec<f64>,
}

fn cases() -> Cases {
    serde_json::from_str(include_str!("../data/lcc.json")).unwrap()
}

/// Real graphs as edge lists; the `LICENSE` beside them names their origin.
const GRAPHS: [(&str, &str); 6] = [
    ("karate", include_str!("../../../ripplet-lp/tests/data/altsoph/karate.edges")),
    ("dolphins", include_str!("../../../ripplet-lp/tests/data/altsoph/dolphins.edges")),
    ("polbooks", include_str!("../../../ripplet-lp/tests/data/altsoph/polbooks.edges")),
    ("football", include_str!("../../../ripplet-lp/tests/data/altsoph/football.edges")),
    ("polblogs", include_str!("../../../ripplet-lp/tests/data/altsoph/polblogs.edges")),
    ("eu-core", include_str!("../../../ripplet-lp/tests/data/altsoph/eu-core.edges")),
];

/// Returns the edges of a real graph, with vertices numbered in the order of their ids.
pub fn edges(name: &str, directed: bool) -> Edges {
    let (_, text) = GRAPHS.iter().find(|(graph, _)| *graph == name).unwrap();
    let ids: Vec<u32> = text.split_whitespace().map(|id| id.parse().unwrap()).collect();
    let known: Vec<u32> = ids.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    let vertex = |id: u32| known.binary_search(&id).unwrap() as u32;
    let pairs = ids.chunks(2).map(|pair| (vertex(pair[0]), vertex(pair[1])));
    Edges { directed, ..Edges::undirected(known.len() as u32, pairs) }
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-12 * expected.abs().max(1.0)
}

impl Expected {
    /// Compares every `step`th vertex and returns the sums over all vertices: triangles, LDBC's and
    /// Fagiolo's coefficients.
    fn check(&self, case: &str, edges: &Edges, step: usize) -> (u64, [f64; 2]) {
        let graph = edges.graph();
        let (mut triangles, mut sums) = (0, [0.0; 2]);
        let definitions = [(Definition::Ldbc, &self.ldbc), (Definition::Fagiolo, &self.fagiolo)];
        for ((definition, expected), sum) in definitions.into_iter().zip(&mut sums) {
            let found = run(&graph, definition, 2);
            let sample: Vec<f64> = found.coefficients.iter().copied().step_by(step).collect();
            assert_eq!(sample.len(), expected.len(), "{case}");
            for (at, (&found, &expected)) in sample.iter().zip(expected).enumerate() {
                let vertex = at * step;
                assert!(
                    close(found, expected),
                    "{case} {definition:?} {vertex}: {found}, not {expected}"
                );
            }
            let all = found.triangles.unwrap();
            assert!(all.iter().step_by(step).eq(&self.triangles), "{case}");
            triangles = all.iter().sum();
            assert_eq!(triangles, 3 * found.triangle_count);
            *sum = found.coefficients.iter().sum();
        }
        (triangles, sums)
    }
}

#[test]
fn real_graphs() {
    let files = cases().files;
    assert_eq!(files.len(), 12);
    for case in files {
        let directed = case.expected.directed;
        let edges = edges(&case.graph, directed);
        let name = format!("{} directed {directed}", case.graph);
        let (triangles, [ldbc, fagiolo]) = case.expected.check(&name, &edges, case.step);
        assert_eq!(triangles, case.triangles_sum, "{name}");
        assert!((ldbc - case.ldbc_sum).abs() < 1e-9, "{name}: {ldbc}, not {}", case.ldbc_sum);
        assert!((fagiolo - case.fagiolo_sum).abs() < 1e-9, "{name}: {fagiolo}");
    }
}

#[test]
fn random_graphs() {
    for (at, case) in cases().small.into_iter().enumerate() {
        let vertices = 1 + case.pairs.iter().map(|&(s, t)| s.max(t)).max().unwrap();
        let edges =
            Edges { directed: case.expected.directed, ..Edges::undirected(vertices, case.pairs) };
        case.expected.check(&format!("small {at}"), &edges, 1);
    }
}
