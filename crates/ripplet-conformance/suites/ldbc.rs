//! LDBC's reference outputs of CDLP, compared label by label.

use crate::machines::machines;
use ripplet_graph::{Direction, EdgeTable, ExternalId, Graph, GraphBuilder, VertexIds};
use ripplet_lp::programs::Cdlp;
use ripplet_lp::{Executor, Program, Settings, Stop};

/// The text of a file of LDBC.
macro_rules! file {
    ($name:literal) => {
        include_str!(concat!("../../ripplet-lp/tests/data/ldbc/", $name))
    };
}

/// Returns rows of blank-separated integers; fields that are not integers (weights) are left out.
fn rows(text: &str) -> Vec<Vec<u64>> {
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

/// Runs CDLP on all machines and compares every label with the reference.
fn check(name: &str, graph: &Graph, rounds: u32, reference: &str) {
    let settings = Settings {
        schedule: Cdlp.schedule(),
        stop: Stop::after(rounds),
        keep_disconnected: true,
        ..Settings::default()
    };
    let expected = rows(reference);
    assert_eq!(expected.len(), graph.vertices() as usize, "{name}");
    for machine in machines() {
        let found = machine.executor.run(graph, &Cdlp, &settings, &mut ()).unwrap();
        for row in &expected {
            let v = graph.ids().find(ExternalId::Unsigned(row[0])).unwrap();
            let label = graph.ids().get(found.labels[v as usize]);
            let wanted = ExternalId::Unsigned(row[1]);
            assert_eq!(label, wanted, "{name} {}: vertex {}", machine.name, row[0]);
        }
    }
}

#[test]
fn validation_graphs() {
    for (name, directed, input, output) in [
        ("dir", true, file!("validation/dir-input"), file!("validation/dir-output")),
        ("undir", false, file!("validation/undir-input"), file!("validation/undir-output")),
    ] {
        let lists = rows(input);
        let edges: Vec<(u64, u64)> =
            lists.iter().flat_map(|list| list[1..].iter().map(|&u| (list[0], u))).collect();
        check(name, &graph(lists.concat(), &edges, directed), 5, output);
    }
}

#[test]
fn example_graphs() {
    for (name, directed, rounds, vertices, edges, reference) in [
        (
            "example-directed",
            true,
            2,
            file!("example-directed.v"),
            file!("example-directed.e"),
            file!("example-directed-CDLP"),
        ),
        (
            "example-undirected",
            false,
            2,
            file!("example-undirected.v"),
            file!("example-undirected.e"),
            file!("example-undirected-CDLP"),
        ),
        (
            "test-cdlp-directed",
            true,
            5,
            file!("test-cdlp-directed.v"),
            file!("test-cdlp-directed.e"),
            file!("test-cdlp-directed-CDLP"),
        ),
        (
            "test-cdlp-undirected",
            false,
            5,
            file!("test-cdlp-undirected.v"),
            file!("test-cdlp-undirected.e"),
            file!("test-cdlp-undirected-CDLP"),
        ),
    ] {
        let edges: Vec<(u64, u64)> = rows(edges).iter().map(|row| (row[0], row[1])).collect();
        check(name, &graph(rows(vertices).concat(), &edges, directed), rounds, reference);
    }
}
