//! Edge betweenness against its definition.

use super::graphs::Edges;
use super::random::any_edges;
use super::weighted::{Oracle, weighted_edges};
use proptest::prelude::*;
use ripplet_analytics::edge_betweenness::{
    self, EdgeValues, edge_betweenness, ends, values_of_arcs, values_of_arcs_of_batch,
};
use ripplet_analytics::no_length::refuse_weightless;
use ripplet_analytics::{AnalysisError, Lengths};
use ripplet_graph::batch::{BatchBuilder, BatchRows, BatchTable, Members};
use ripplet_graph::{Direction, Duplicates, Graph, SelfLoops};

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-12 * expected.abs().max(1.0)
}

fn check(edges: &Edges, graph: &Graph, lengths: Lengths) {
    let oracle = Oracle::new(edges);
    let (path_counts, n) = (oracle.path_counts(), oracle.n() as f64);
    let found = edge_betweenness(graph, false, lengths, &mut ()).unwrap();
    let normalized = edge_betweenness(graph, true, lengths, &mut ()).unwrap();
    let ends: Vec<_> = ends(graph).collect();
    assert_eq!((ends.len() as u64, found.len()), (graph.edges(), ends.len()));
    for (&(from, to), (found, normalized)) in ends.iter().zip(found.into_iter().zip(normalized)) {
        let along = |from: u32, to: u32| oracle.along(&path_counts, from as usize, to as usize);
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
    fn by_weights_too(edges in weighted_edges(1), keep in any::<bool>()) {
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

/// Every arc has a different sum, so that no two can be confused.
#[test]
fn sums_of_arcs_become_values_of_edges() {
    let sums = |arcs: u64| (0..arcs).map(|arc| (1u64 << arc) as f64).collect::<Vec<_>>();
    // Lists: 0 → 1, 1, 2 · 1 → 0, 0, 1 · 2 → 0 · 3 →; and 0 → 1, 1 · 1 → 1 · 2 → 0 · 3 →.
    let (pairs, n) = ([(0, 1), (0, 1), (1, 1), (2, 0)], 4);
    let undirected = Edges::undirected(n, pairs).graph_of(1 << 20, true);
    let directed = Edges::directed(n, pairs).graph_of(1 << 20, true);
    assert_eq!((undirected.arcs(), directed.arcs()), (7, 4));
    let (both_ways, one_way) = ([4.5, 4.5, 34.0, 16.0], [1.0, 1.0, 4.0, 8.0]);
    assert_eq!(values_of_arcs(&undirected, &sums(7), false).unwrap(), both_ways);
    assert_eq!(values_of_arcs(&directed, &sums(4), false).unwrap(), one_way);
    let normalized = values_of_arcs(&undirected, &sums(7), true).unwrap();
    assert_eq!(normalized, both_ways.map(|value| 2.0 * value * (1.0 / 12.0)));

    let builder = || BatchBuilder::new().duplicates(Duplicates::Keep).self_loops(SelfLoops::Keep);
    for (direction, arcs, expected) in
        [(Direction::Undirected, 7, both_ways), (Direction::Directed, 4, one_way)]
    {
        // The same graph three times, with empty graphs between them.
        let members = Members::of_sizes([0, n, n, 0, n, 0].into_iter()).unwrap();
        let of = |of: fn(&(u32, u32)) -> u32| pairs.iter().map(of).collect::<Vec<_>>().repeat(3);
        let graphs = [1, 2, 4].into_iter().flat_map(|graph| [graph; 4]).collect();
        let (sources, targets) = (of(|pair| pair.0), of(|pair| pair.1));
        let rows = BatchRows { graphs, sources, targets, weights: None };
        let table = BatchTable::new(members, rows).unwrap();
        let batch = builder().direction(direction).build(table).unwrap();
        let sums = sums(arcs).repeat(3);
        let found = values_of_arcs_of_batch(batch.all(), &sums, false).unwrap();
        assert_eq!(
            found,
            EdgeValues { starts: vec![0, 0, 4, 8, 8, 12, 12], values: expected.repeat(3) }
        );
        let some = batch.slice(2..5);
        let found = values_of_arcs_of_batch(some, &sums[arcs as usize..], false).unwrap();
        assert_eq!(found, EdgeValues { starts: vec![0, 4, 4, 8], values: expected.repeat(2) });
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
    assert!(matches!(error, AnalysisError::NoLength(_)), "{error}");
    assert_eq!(refuse_weightless(&graph), Err(error));
    assert!(edge_betweenness(&graph, false, Lengths::Hops, &mut ()).is_ok());
    let plan = |lengths| edge_betweenness::plan(&graph, lengths, 2).algorithm_host();
    let links = 528 * 4 + 288;
    assert_eq!(plan(Lengths::Hops), 8 * 2 + 8 * 4 + 2 * (2233 * 3 + 16 * 4 + links));
    assert_eq!(plan(Lengths::Weights), 8 * 2 + 8 * 4 + 2 * ((220 + 512) * 3 + 9 * 4 + 288));
}
