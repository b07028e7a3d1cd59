//! Closeness of chosen vertices: the bits of the closeness of all.

use super::graphs::Edges;
use super::random::any_edges;
use super::samples::MEASURES;
use super::weighted::weighted_edges;
use proptest::prelude::*;
use ripplet_analytics::closeness::{Closeness, closeness, closeness_of_some, plan_of_some};
use ripplet_analytics::{AnalysisError, Lengths, Sources};
use ripplet_graph::GraphView;
use ripplet_graph::compressed::CompressedGraph;

/// Compares the values of some vertices with those of all, on this number of threads.
fn check(graph: GraphView<'_>, lengths: Lengths, some: &[u32], threads: usize) {
    let some = Sources::new(graph.vertices(), some.iter().copied()).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    for (measure, normalized) in MEASURES {
        let all = closeness(graph, measure, normalized, lengths, &mut ()).unwrap();
        let found = pool
            .install(|| closeness_of_some(graph, &some, measure, normalized, lengths, &mut ()))
            .unwrap();
        let expected: Vec<u64> =
            some.vertices().iter().map(|&vertex| all[vertex as usize].to_bits()).collect();
        let found: Vec<u64> = found.into_iter().map(f64::to_bits).collect();
        assert_eq!(found, expected, "{measure:?} {normalized} {lengths:?}");
    }
}

proptest! {
    #[test]
    fn values_are_those_of_all(
        edges in any_edges(),
        keep in any::<bool>(),
        some in prop::collection::vec(0u32..60, 0..12),
        threads in 1usize..4,
    ) {
        let some: Vec<u32> = some.into_iter().filter(|&v| v < edges.vertices).collect();
        check((&edges.graph_of(1 << 20, keep)).into(), Lengths::Hops, &some, threads);
    }

    #[test]
    fn values_by_weights_too(
        edges in weighted_edges(0),
        some in prop::collection::vec(0u32..60, 0..12),
        threads in 1usize..4,
    ) {
        let some: Vec<u32> = some.into_iter().filter(|&v| v < edges.vertices).collect();
        check((&edges.graph()).into(), Lengths::Weights, &some, threads);
    }
}

/// Graphs with several blocks of vertices, and more chosen vertices than a search takes, in either storage.
#[test]
fn many_vertices_of_larger_graphs() {
    for (directed, n) in [(false, 1000u32), (true, 1001)] {
        let chords = (0..n).step_by(3).map(|v| (v, v.wrapping_mul(2_654_435_761) % n));
        let pairs = (0..n).map(|v| (v, (v + 1) % n)).chain(chords).collect::<Vec<_>>();
        let weights = (0..pairs.len()).map(|at| (at * 37 % 11) as f64).collect();
        let edges = Edges { vertices: n, pairs, weights: Some(weights), directed };
        let graph = edges.graph();
        let compressed = CompressedGraph::of(graph.clone()).unwrap();
        let some: Vec<u32> = (0..n).filter(|v| v % 7 == 3).collect();
        for lengths in [Lengths::Hops, Lengths::Weights] {
            for threads in [1, 2, 7] {
                check((&graph).into(), lengths, &some, threads);
                check((&graph).into(), lengths, &[n - 1], threads);
            }
            check((&compressed).into(), lengths, &some, 2);
        }
    }
}

#[test]
fn vertices_of_another_graph_are_refused_and_few_need_little_memory() {
    let edges = Edges::undirected(3000, (0..3000).map(|v| (v, (v + 1) % 3000)));
    let (graph, hops) = (edges.graph(), Lengths::Hops);
    let (measure, other) = (Closeness::Harmonic, Sources::new(5, [1]).unwrap());
    let refused = closeness_of_some(&graph, &other, measure, false, hops, &mut ());
    assert!(matches!(refused, Err(AnalysisError::Setting(_))));
    let plan = |some: &[u32], threads| {
        let some = Sources::new(3000, some.iter().copied()).unwrap();
        plan_of_some(&graph, &some, measure, hops, threads).algorithm_host()
    };
    let (one, two) = (plan(&[7], 64), plan(&[7, 8], 64));
    assert_eq!(plan(&[7], 1), one);
    assert!(two > one + one / 2 && plan(&[7, 8, 9], 2) < two + 100);
}
