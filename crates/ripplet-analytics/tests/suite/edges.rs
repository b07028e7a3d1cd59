//! Betweenness of edges against its definition.

use super::graphs::Edges;
use super::random::any_edges;
use super::weighed::{Oracle, weighed_edges};
use proptest::prelude::*;
use ripplet_analytics::edge_betweenness::{self, edge_betweenness, ends};
use ripplet_analytics::{Lengths, RunError};
use ripplet_graph::Graph;

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-12 * expected.abs().max(1.0)
}

fn check(edges: &Edges, graph: &Graph, lengths: Lengths) {
    let oracle = Oracle::new(edges);
    let (ways, n) = (oracle.ways(), oracle.n() as f64);
    let found = edge_betweenness(graph, false, lengths, &mut ()).unwrap();
    let normalized = edge_betweenness(graph, true, lengths, &mut ()).unwrap();
    let ends: Vec<_> = ends(graph).collect();
    assert_eq!((ends.len() as u64, found.len()), (graph.edges(), ends.len()));
    for (&(from, to), (found, normalized)) in ends.iter().zip(found.into_iter().zip(normalized)) {
        let along = |from: u32, to: u32| oracle.along(&ways, from as usize, to as usize);
        assert!(edges.directed || from <= to);
        let one_way = along(from, to);
        let expected = if edges.directed { one_way } else { (one_way + along(to, from)) / 2.0 };
        assert!(close(found, expected), "{from} {to}: {found}, not {expected}");
        let pairs = (n * (n - 1.0)).max(1.0) / if edges.directed { 1.0 } else { 2.0 };
        assert!(close(normalized, expected / pairs), "{from} {to}: {normalized}");
    }
}

proptest! {
    #[test]
    fn values_are_the_definitions(edges in any_edges(), keep in any::<bool>()) {
        check(&edges, &edges.graph_of(1 << 20, keep), Lengths::Hops);
        check(&edges, &edges.graph_of(1 << 20, keep), Lengths::Weights);
    }

    #[test]
    fn by_weights_too(edges in weighed_edges(1), keep in any::<bool>()) {
        check(&edges, &edges.graph_of(1 << 20, keep), Lengths::Weights);
    }
}

#[test]
fn threads_and_shards_change_no_bit() {
    let ring = (0..300u32).map(|v| (v, (v + 1) % 300));
    let chords = (0..300u32).step_by(7).map(|v| (v, (v * v + 11) % 300));
    let edges = Edges::undirected(304, ring.chain(chords).chain([(300, 301), (301, 302)]));
    let weights = (0..edges.pairs.len()).map(|at| 0.1 + (at * 37 % 11) as f64).collect();
    let edges = Edges { weights: Some(weights), ..edges };
    for directed in [false, true] {
        let edges = Edges { directed, ..edges.clone() };
        for lengths in [Lengths::Hops, Lengths::Weights] {
            let bits = |graph: &Graph| -> Vec<u64> {
                let found = edge_betweenness(graph, false, lengths, &mut ()).unwrap();
                found.into_iter().map(f64::to_bits).collect()
            };
            let expected = bits(&edges.graph());
            for graph in [edges.graph(), edges.graph_of(40, false)] {
                assert!(ends(&graph).eq(ends(&edges.graph())));
                for threads in [1, 2, 7] {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                    let found = pool.unwrap().install(|| bits(&graph));
                    assert!(found == expected, "{directed}, {lengths:?}, {threads} threads");
                }
            }
        }
    }
}

#[test]
fn graphs_of_nothing_refusals_and_plans() {
    for vertices in [0, 1, 5] {
        let graph = Edges::undirected(vertices, []).graph();
        assert_eq!(edge_betweenness(&graph, true, Lengths::Hops, &mut ()), Ok(Vec::new()));
    }
    let weights = Some(vec![1.0, 0.0]);
    let graph = Edges { weights, ..Edges::undirected(3, [(0, 1), (1, 2)]) }.graph();
    let error = edge_betweenness(&graph, false, Lengths::Weights, &mut ()).unwrap_err();
    assert!(matches!(error, RunError::NoLength(_)), "{error}");
    assert!(edge_betweenness(&graph, false, Lengths::Hops, &mut ()).is_ok());
    let bytes = edge_betweenness::plan(&graph, 2).bytes();
    assert_eq!(bytes, 8 * 2 + 8 * 4 + 2 * (36 * 3 + 8 * 4));
}
