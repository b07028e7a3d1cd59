//! Betweenness and closeness by samples against their definitions.

use super::graphs::Edges;
use super::random::any_edges;
use super::weighted::{Oracle, weighted_edges};
use proptest::prelude::*;
use ripplet_analytics::betweenness::{betweenness, plan_of_sampled, sampled_betweenness};
use ripplet_analytics::closeness::{self, Closeness, closeness, sampled_closeness};
use ripplet_analytics::edge_betweenness::{edge_betweenness, ends, sampled_edge_betweenness};
use ripplet_analytics::{AnalysisError, Lengths, Sample};
use ripplet_graph::compressed::CompressedGraph;
use ripplet_graph::{Graph, GraphView};
use std::collections::{BTreeSet, VecDeque};

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-11 * expected.abs().max(1.0)
}

fn check(edges: &Edges, graph: &Graph, lengths: Lengths, sample: Sample) {
    let (oracle, n) = (Oracle::new(edges), graph.vertices() as usize);
    let path_counts = oracle.path_counts();
    let chosen = match sample.choose(graph.vertices()).unwrap() {
        Some(chosen) => chosen.into_iter().map(|v| v as usize).collect(),
        None => (0..n).collect::<Vec<_>>(),
    };
    let halves = if edges.directed { 1.0 } else { 0.5 };
    let found = sampled_betweenness(graph, false, lengths, sample, &mut ()).unwrap();
    for (v, &found) in found.iter().enumerate() {
        let sum: f64 = chosen.iter().map(|&s| oracle.dependency(&path_counts, s, v)).sum();
        let terms = chosen.iter().filter(|&&s| s != v).count();
        let expected = halves * sum / terms.max(1) as f64 * (n as f64 - 1.0);
        assert!(close(found, expected), "{v}: {found}, not {expected}");
    }
    let normalized = sampled_betweenness(graph, true, lengths, sample, &mut ()).unwrap();
    let pairs = (n as f64 - 1.0) * (n as f64 - 2.0) * halves;
    for (normalized, found) in normalized.into_iter().zip(found).filter(|_| pairs > 0.0) {
        assert!(close(normalized, found / pairs), "{normalized}, not {found} / {pairs}");
    }
    let found = sampled_edge_betweenness(graph, false, lengths, sample, &mut ()).unwrap();
    assert_eq!(found.len() as u64, graph.edges());
    for ((from, to), found) in ends(graph).zip(found) {
        let along = |from: u32, to: u32| -> f64 {
            let of = |&s: &usize| oracle.along_from(&path_counts, s, from as usize, to as usize);
            chosen.iter().map(of).sum()
        };
        let both = along(from, to) + if edges.directed { 0.0 } else { along(to, from) };
        let expected = halves * both * n as f64 / chosen.len() as f64;
        assert!(close(found, expected), "{from} {to}: {found}, not {expected}");
    }
}

pub const MEASURES: [(Closeness, bool); 5] = [
    (Closeness::Reciprocal, false),
    (Closeness::Reciprocal, true),
    (Closeness::WassermanFaust, true),
    (Closeness::Harmonic, false),
    (Closeness::Harmonic, true),
];

/// Compares sampled closeness with sums over the sampled sources.
fn check_closeness(edges: &Edges, graph: &Graph, lengths: Lengths, sample: Sample) {
    let (oracle, n) = (Oracle::new(edges), graph.vertices() as usize);
    let chosen = match sample.choose(graph.vertices()).unwrap() {
        Some(chosen) => chosen.into_iter().map(|v| v as usize).collect(),
        None => (0..n).collect::<Vec<_>>(),
    };
    for (measure, normalized) in MEASURES {
        let found =
            sampled_closeness(graph, measure, normalized, lengths, sample, &mut ()).unwrap();
        assert_eq!(found.len(), n);
        for (t, &found) in found.iter().enumerate() {
            let others = chosen.iter().filter(|&&s| s != t);
            let times = (n as f64 - 1.0) / others.clone().count().max(1) as f64;
            let distances: Vec<f64> =
                others.map(|&s| oracle.distance(s, t)).filter(|d| d.is_finite()).collect();
            let (reached, far) =
                (distances.len() as f64 * times, distances.iter().sum::<f64>() * times);
            let near: f64 = distances.iter().filter(|&&d| d > 0.0).map(|d| times / d).sum();
            let expected = match (measure, normalized) {
                (Closeness::Harmonic, false) => near,
                (Closeness::Harmonic, true) => near / (n as f64 - 1.0).max(1.0),
                _ if far == 0.0 => 0.0,
                (Closeness::WassermanFaust, _) => reached / (n as f64 - 1.0) * reached / far,
                (_, true) => reached / far,
                (_, false) => 1.0 / far,
            };
            assert!(
                close(found, expected),
                "{measure:?} {normalized} {t}: {found}, not {expected}"
            );
        }
    }
}

proptest! {
    #[test]
    fn closeness_is_the_definition(
        edges in any_edges(),
        keep in any::<bool>(),
        vertices in 2u32..20,
        seed in any::<u64>(),
    ) {
        check_closeness(&edges, &edges.graph_of(1 << 20, keep), Lengths::Hops, Sample { vertices, seed });
    }

    #[test]
    fn closeness_by_weights_too(edges in weighted_edges(0), vertices in 2u32..20, seed in any::<u64>()) {
        check_closeness(&edges, &edges.graph(), Lengths::Weights, Sample { vertices, seed });
    }

    #[test]
    fn values_are_the_definitions(
        edges in any_edges(),
        keep in any::<bool>(),
        vertices in 2u32..20,
        seed in any::<u64>(),
    ) {
        check(&edges, &edges.graph_of(1 << 20, keep), Lengths::Hops, Sample { vertices, seed });
    }

    #[test]
    fn by_weights_too(edges in weighted_edges(1), vertices in 2u32..20, seed in any::<u64>()) {
        check(&edges, &edges.graph(), Lengths::Weights, Sample { vertices, seed });
    }
}

/// Returns a ring with chords: a large graph without symmetries.
fn ring() -> Edges {
    let n = 5000u32;
    let chords = (0..n).step_by(3).map(|v| (v, v.wrapping_mul(2_654_435_761) % n));
    Edges::undirected(n, (0..n).map(|v| (v, (v + 1) % n)).chain(chords))
}

/// Returns the dependencies of a source on all vertices, by breadth-first search.
fn dependencies(graph: &Graph, source: u32) -> Vec<f64> {
    let n = graph.vertices() as usize;
    let mut distance = vec![u32::MAX; n];
    let (mut paths, mut found) = (vec![0.0; n], Vec::new());
    (distance[source as usize], paths[source as usize]) = (0, 1.0);
    let mut queue = VecDeque::from([source]);
    while let Some(v) = queue.pop_front() {
        found.push(v);
        for to in GraphView::from(graph).neighbors(v) {
            if distance[to as usize] == u32::MAX {
                distance[to as usize] = distance[v as usize] + 1;
                queue.push_back(to);
            }
            if distance[to as usize] == distance[v as usize] + 1 {
                paths[to as usize] += paths[v as usize];
            }
        }
    }
    let mut dependency = vec![0.0; n];
    for &v in found[1..].iter().rev() {
        for from in GraphView::from(graph).neighbors(v) {
            if distance[from as usize] + 1 == distance[v as usize] {
                let share = paths[from as usize] / paths[v as usize];
                dependency[from as usize] += share * (1.0 + dependency[v as usize]);
            }
        }
    }
    dependency[source as usize] = 0.0;
    dependency
}

#[test]
fn a_large_graph_whose_sample_has_several_groups() {
    let graph = ring().graph();
    let sample = Sample { vertices: 150, seed: 5 };
    let chosen = sample.choose(5000).unwrap().unwrap();
    let mut sums = vec![0.0; 5000];
    for &source in &chosen {
        sums.iter_mut().zip(dependencies(&graph, source)).for_each(|(sum, of)| *sum += of);
    }
    let found = sampled_betweenness(&graph, false, Lengths::Hops, sample, &mut ()).unwrap();
    for (v, (found, sum)) in found.iter().zip(sums).enumerate() {
        let terms = if chosen.contains(&(v as u32)) { 149.0 } else { 150.0 };
        assert!(close(*found, sum / 2.0 * 4999.0 / terms), "{v}: {found}");
    }
    // The estimates are near the values: the largest one is that of the largest value, or nearly so.
    let exact = betweenness(&graph, false, Lengths::Hops, &mut ()).unwrap();
    let largest =
        |values: &[f64]| (0..5000).max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap();
    assert!(exact[largest(&found)] > 0.8 * exact[largest(&exact)]);
    let sum = |values: &[f64]| values.iter().sum::<f64>();
    assert!((sum(&found) / sum(&exact) - 1.0).abs() < 0.05);
}

#[test]
fn threads_and_shards_change_no_bit_and_all_vertices_are_exact() {
    let edges = ring();
    let sample = Sample { vertices: 200, seed: 0 };
    let run = |graph: &Graph, threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let vertices =
                sampled_betweenness(graph, true, Lengths::Hops, sample, &mut ()).unwrap();
            let along =
                sampled_edge_betweenness(graph, true, Lengths::Hops, sample, &mut ()).unwrap();
            let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
            (bits(vertices), bits(along))
        })
    };
    let expected = run(&edges.graph(), 1);
    for graph in [edges.graph(), edges.graph_of(3000, false)] {
        [2, 7].into_iter().for_each(|threads| assert!(run(&graph, threads) == expected));
    }
    let small = Edges::undirected(300, (0..300).map(|v| (v, v * 7 % 300))).graph();
    let (hops, all) = (Lengths::Hops, Sample { vertices: 300, seed: 9 });
    let sampled = sampled_betweenness(&small, false, hops, all, &mut ()).unwrap();
    assert_eq!(sampled, betweenness(&small, false, hops, &mut ()).unwrap());
    let sampled = sampled_edge_betweenness(&small, false, hops, all, &mut ()).unwrap();
    assert_eq!(sampled, edge_betweenness(&small, false, hops, &mut ()).unwrap());
}

#[test]
fn the_mean_over_all_samples_is_the_betweenness() {
    let edges =
        Edges::directed(7, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 5), (5, 3), (6, 1)]);
    let graph = edges.graph();
    let (mut samples, mut sums) = (BTreeSet::new(), ([0.0; 7], [0.0; 8]));
    // Seeds until each of the 35 samples of 3 has come once.
    for seed in 0.. {
        let sample = Sample { vertices: 3, seed };
        if samples.len() == 35 {
            break;
        }
        if samples.insert(sample.choose(7).unwrap()) {
            let of_vertices = sampled_betweenness(&graph, false, Lengths::Hops, sample, &mut ());
            let of_edges = sampled_edge_betweenness(&graph, false, Lengths::Hops, sample, &mut ());
            sums.0.iter_mut().zip(of_vertices.unwrap()).for_each(|(sum, value)| *sum += value);
            sums.1.iter_mut().zip(of_edges.unwrap()).for_each(|(sum, value)| *sum += value);
        }
    }
    let of_vertices = betweenness(&graph, false, Lengths::Hops, &mut ()).unwrap();
    assert!(of_vertices.iter().zip(sums.0).all(|(&value, sum)| close(sum / 35.0, value)));
    let of_edges = edge_betweenness(&graph, false, Lengths::Hops, &mut ()).unwrap();
    assert!(of_edges.iter().zip(sums.1).all(|(&value, sum)| close(sum / 35.0, value)));
}

/// Several groups of sources in every engine: small graphs by hops, and by weights graphs whose searches share rows,
/// and larger ones.
#[test]
fn samples_of_several_groups_in_either_storage() {
    for n in [100u32, 300] {
        let chords = (0..n).map(|v| (v, (v * v + 3 * v + 1) % n));
        let edges = Edges::undirected(n, (0..n).map(|v| (v, (v + 1) % n)).chain(chords));
        let weights = (0..edges.pairs.len()).map(|at| 1.0 + (at * 37 % 11) as f64).collect();
        let edges = Edges { weights: Some(weights), ..edges };
        let (graph, sample) = (edges.graph(), Sample { vertices: 90, seed: 2 });
        check(&Edges { weights: None, ..edges.clone() }, &graph, Lengths::Hops, sample);
        check(&edges, &graph, Lengths::Weights, sample);
        check_closeness(&Edges { weights: None, ..edges.clone() }, &graph, Lengths::Hops, sample);
        check_closeness(&edges, &graph, Lengths::Weights, sample);
        let compressed = CompressedGraph::of(graph.clone()).unwrap();
        for lengths in [Lengths::Hops, Lengths::Weights] {
            let of = |graph: GraphView<'_>| {
                let values = sampled_betweenness(graph, false, lengths, sample, &mut ()).unwrap();
                values.into_iter().map(f64::to_bits).collect::<Vec<_>>()
            };
            assert_eq!(of((&graph).into()), of((&compressed).into()));
            for (measure, normalized) in MEASURES {
                let of = |graph: GraphView<'_>, threads| {
                    let pool =
                        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    let run =
                        || sampled_closeness(graph, measure, normalized, lengths, sample, &mut ());
                    pool.install(run).unwrap().into_iter().map(f64::to_bits).collect::<Vec<_>>()
                };
                let expected = of((&graph).into(), 1);
                assert_eq!(of((&graph).into(), 7), expected);
                assert_eq!(of((&compressed).into(), 2), expected);
                // Of all vertices it is the closeness itself.
                let all = Sample { vertices: n, seed: 2 };
                let sampled = sampled_closeness(&graph, measure, normalized, lengths, all, &mut ());
                assert_eq!(sampled, closeness(&graph, measure, normalized, lengths, &mut ()));
            }
        }
    }
}

#[test]
fn few_sources_are_planned_for_few_threads() {
    let graph = ring().graph();
    let plan = |vertices, threads| {
        let sample = Sample { vertices, seed: 0 };
        let plan = plan_of_sampled(&graph, Lengths::Hops, sample, threads);
        plan.algorithm_host() - 20 * u64::from(vertices)
    };
    // Of eight sources, one thread searches.
    assert_eq!(plan(8, 64), plan(8, 1));
    assert_eq!(plan(9, 64), plan(9, 2));
    assert!(plan(1000, 64) > 30 * (plan(8, 1) - 8 * 5000));
}

#[test]
fn the_mean_harmonic_closeness_over_all_samples_is_the_closeness() {
    let edges =
        Edges::directed(7, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 5), (5, 3), (6, 1)]);
    let graph = edges.graph();
    let (mut samples, mut sums) = (BTreeSet::new(), [0.0; 7]);
    for seed in 0.. {
        let sample = Sample { vertices: 3, seed };
        if samples.len() == 35 {
            break;
        }
        if samples.insert(sample.choose(7).unwrap()) {
            let (measure, hops) = (Closeness::Harmonic, Lengths::Hops);
            let values = sampled_closeness(&graph, measure, false, hops, sample, &mut ()).unwrap();
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
    }
    let exact = closeness(&graph, Closeness::Harmonic, false, Lengths::Hops, &mut ()).unwrap();
    assert!(exact.iter().zip(sums).all(|(&value, sum)| close(sum / 35.0, value)));
}

#[test]
fn closeness_from_few_sources_is_planned_for_few_threads() {
    let graph = ring().graph();
    let plan = |vertices, threads| {
        let sample = Sample { vertices, seed: 0 };
        let (measure, hops) = (Closeness::Harmonic, Lengths::Hops);
        let plan = closeness::plan_of_sampled(&graph, measure, hops, sample, threads);
        plan.algorithm_host() - 20 * u64::from(vertices)
    };
    assert_eq!(
        [plan(64, 9), plan(65, 9), plan(65, 1)],
        [(16 + 40) * 5000, (16 + 80) * 5000, (16 + 40) * 5000]
    );
}

#[test]
fn too_few_vertices() {
    let graph = Edges::undirected(4, [(0, 1), (1, 2)]).graph();
    for vertices in [0, 1] {
        let sample = Sample { vertices, seed: 0 };
        let error = sampled_betweenness(&graph, false, Lengths::Hops, sample, &mut ()).unwrap_err();
        assert!(matches!(error, AnalysisError::Setting(_)), "{error}");
        assert!(error.to_string().contains("2 or above"));
        let (measure, hops) = (Closeness::Harmonic, Lengths::Hops);
        assert!(sampled_closeness(&graph, measure, false, hops, sample, &mut ()).is_err());
    }
}
