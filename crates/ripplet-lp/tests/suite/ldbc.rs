//! LDBC's own outputs of CDLP, label by label.

use ripplet_graph::{Direction, EdgeTable, ExternalId, Graph, GraphBuilder, VertexIds};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::programs::Cdlp;
use ripplet_lp::{Executor, Program, Settings, Stop};
use std::path::PathBuf;

/// The rows of a file of blank-separated integers; fields that are none (weights) are left out.
fn rows(name: &str) -> Vec<Vec<u64>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/ldbc").join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    let fields = |line: &str| line.split_whitespace().filter_map(|id| id.parse().ok()).collect();
    text.lines().map(fields).collect()
}

fn graph(mut ids: Vec<u64>, edges: &[(u64, u64)], directed: bool) -> Graph {
    ids.sort_unstable();
    ids.dedup();
    let ids = VertexIds::Unsigned(ids.into());
    let vertex = |id: u64| ids.find(ExternalId::Unsigned(id)).unwrap();
    let (sources, targets) = edges.iter().map(|&(s, t)| (vertex(s), vertex(t))).unzip();
    let table = EdgeTable::new(ids.clone(), sources, targets).unwrap();
    let direction = if directed { Direction::Directed } else { Direction::Undirected };
    GraphBuilder::new().direction(direction).build(table).unwrap()
}

/// Runs CDLP on 1, 2 and 7 threads; every label must be the file's.
fn check(graph: &Graph, rounds: u32, expected: &str) {
    let settings = Settings {
        schedule: Cdlp.schedule(),
        stop: Stop::after(rounds),
        keep_disconnected: true,
        ..Settings::default()
    };
    let expected_rows = rows(expected);
    assert_eq!(expected_rows.len(), graph.vertices() as usize, "{expected}");
    for threads in [1, 2, 7] {
        let executor = CpuExecutor::new(Some(threads)).unwrap();
        let found = executor.run(graph, &Cdlp, &settings, &mut ()).unwrap();
        for row in &expected_rows {
            let v = graph.ids().find(ExternalId::Unsigned(row[0])).unwrap();
            let label = graph.ids().get(found.labels[v as usize]);
            assert_eq!(label, ExternalId::Unsigned(row[1]), "{expected}: vertex {}", row[0]);
        }
    }
}

#[test]
fn validation_graphs() {
    for (kind, directed) in [("dir", true), ("undir", false)] {
        let lists = rows(&format!("validation/{kind}-input"));
        let edges: Vec<(u64, u64)> =
            lists.iter().flat_map(|list| list[1..].iter().map(|&u| (list[0], u))).collect();
        let graph = graph(lists.concat(), &edges, directed);
        check(&graph, 5, &format!("validation/{kind}-output"));
    }
}

#[test]
fn example_graphs() {
    for (name, directed, rounds) in [
        ("example-directed", true, 2),
        ("example-undirected", false, 2),
        ("test-cdlp-directed", true, 5),
        ("test-cdlp-undirected", false, 5),
    ] {
        let edges: Vec<(u64, u64)> =
            rows(&format!("{name}.e")).iter().map(|row| (row[0], row[1])).collect();
        let graph = graph(rows(&format!("{name}.v")).concat(), &edges, directed);
        check(&graph, rounds, &format!("{name}-CDLP"));
    }
}
