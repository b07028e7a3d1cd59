//! PageRank against its definition on a matrix.

use super::graphs::Edges;
use super::random::any_edges;
use super::weighted::weighted_edges;
use proptest::prelude::*;
use ripplet_analytics::AnalysisError;
use ripplet_analytics::pagerank::{Jumps, JumpsError, PageRank, Stop};

/// Multiplies `rounds` times by the transition matrix, whose columns of vertices with outgoing arcs
/// add up to 1. A walk begins, and goes on after a jump, at a vertex with its share in `jumps`.
fn multiplied(
    edges: &Edges,
    keep: bool,
    weighted: bool,
    (damping, jumps): (f64, &[f64]),
    rounds: u32,
) -> Vec<f64> {
    let n = edges.vertices as usize;
    let mut arcs: Vec<(usize, usize, f64)> = Vec::new();
    for (at, &(s, t)) in edges.pairs.iter().enumerate() {
        let weight = edges.weights.as_ref().filter(|_| weighted).map_or(1.0, |weights| weights[at]);
        let (s, t) = (s as usize, t as usize);
        let mut add =
            |s: usize, t: usize| match arcs.iter_mut().find(|arc| (arc.0, arc.1) == (s, t)) {
                // Of repeated arcs that are merged, the smallest weight stays.
                Some(arc) if !keep => arc.2 = arc.2.min(weight),
                _ => arcs.push((s, t, weight)),
            };
        if s != t || keep {
            add(s, t);
            if s != t && !edges.directed {
                add(t, s);
            }
        }
    }
    let entry = |s: usize, t: usize| {
        let out: f64 = arcs.iter().filter(|arc| arc.0 == s).map(|arc| arc.2).sum();
        let there = arcs.iter().filter(|arc| (arc.0, arc.1) == (s, t)).map(|arc| arc.2);
        let share = if out > 0.0 { there.sum::<f64>() / out } else { jumps[t] };
        damping * share + (1.0 - damping) * jumps[t]
    };
    let column = |s: usize| (0..n).map(|t| entry(s, t)).collect::<Vec<f64>>();
    let columns: Vec<Vec<f64>> = (0..n).map(column).collect();
    let mut ranks = jumps.to_vec();
    for _ in 0..rounds {
        ranks = (0..n).map(|t| (0..n).map(|s| ranks[s] * columns[s][t]).sum()).collect();
    }
    ranks
}

fn check(edges: &Edges, keep: bool, weighted: bool, damping: f64) {
    let graph = edges.graph_of(1 << 20, keep);
    for rounds in [0, 1, 7] {
        let settings = PageRank { damping, stop: Stop::Rounds(rounds), weighted };
        let found = settings.run(&graph, &mut ()).unwrap();
        assert_eq!((found.end.rounds, found.end.converged), (rounds, true));
        let near = |found: &[f64], jumps: &[f64]| {
            let expected = multiplied(edges, keep, weighted, (damping, jumps), rounds);
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
            }
        };
        let vertices = edges.vertices;
        near(&found.ranks, &vec![1.0 / f64::from(vertices); vertices as usize]);
        // To every third vertex, to the later ones more often.
        let weight = |v: u32| [f64::from(v) + 0.5, 0.0, 0.0][v as usize % 3];
        let sum: f64 = (0..vertices).map(weight).sum();
        let jumps: Vec<f64> = (0..vertices).map(|v| weight(v) / sum).collect();
        if vertices > 0 {
            let halves = (0..vertices).flat_map(|v| [(v, weight(v) / 2.0); 2]);
            let to = Jumps::to(vertices, halves).unwrap();
            near(&settings.run_personalized(&graph, &to, &mut ()).unwrap().ranks, &jumps);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn ranks_are_the_definitions(
        edges in any_edges(),
        keep in any::<bool>(),
        damping in prop_oneof![Just(0.85), Just(0.0), Just(1.0)],
    ) {
        check(&edges, keep, true, damping);
    }

    #[test]
    fn by_weights_too(edges in weighted_edges(0), keep in any::<bool>(), weighted in any::<bool>()) {
        check(&edges, keep, weighted, 0.85);
    }
}

#[test]
fn threads_and_shards_change_no_bit_and_tolerance_ends() {
    let n = 20_000u32;
    let edges =
        (0..60_000u32).map(|at| (at % n, at.wrapping_mul(2_654_435_761) % n / (1 + at % 9)));
    let edges = Edges::directed(n, edges);
    let settings = PageRank::default();
    let whole = settings.run(&edges.graph(), &mut ()).unwrap();
    assert!(whole.end.converged && whole.end.rounds < 100, "{:?}", whole.end);
    assert!(whole.end.change < 1e-6 * f64::from(n));
    assert!((whole.ranks.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let finest = Stop::Tolerance { tolerance: 1e-13, rounds: 5 };
    let ended = PageRank { stop: finest, ..settings }.run(&edges.graph(), &mut ()).unwrap();
    assert_eq!((ended.end.rounds, ended.end.converged), (5, false));
    for graph in [edges.graph(), edges.graph_of(30_000, false)] {
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let found = pool.install(|| settings.run(&graph, &mut ())).unwrap();
            assert!(found == whole, "{threads} threads, {} shards", graph.shards().len());
        }
    }
}

#[test]
fn nothing_and_settings_out_of_range() {
    let none = PageRank::default().run(&Edges::undirected(0, []).graph(), &mut ()).unwrap();
    assert_eq!((none.ranks.len(), none.end.converged, none.end.rounds), (0, true, 0));
    let graph = Edges::undirected(3, [(0, 1)]).graph();
    for damping in [-0.1, 1.1, f64::NAN] {
        let error = PageRank { damping, ..PageRank::default() }.run(&graph, &mut ()).unwrap_err();
        assert!(error.to_string().ends_with("it must be from 0 to 1"), "{error}");
    }
    let stop = Stop::Tolerance { tolerance: f64::NAN, rounds: 3 };
    let error = PageRank { stop, ..PageRank::default() }.run(&graph, &mut ()).unwrap_err();
    assert!(matches!(error, AnalysisError::Setting(_)));
    assert_eq!(PageRank::default().plan(&graph).algorithm_host(), 3 * 24 + 8);
}

#[test]
fn jumps_that_no_walk_can_have() {
    let to = |weights: &[(u32, f64)]| Jumps::to(3, weights.iter().copied());
    assert_eq!(to(&[]), Err(JumpsError::Nowhere));
    assert_eq!(to(&[(1, 0.0), (2, 0.0)]), Err(JumpsError::Nowhere));
    assert_eq!(to(&[(3, 1.0)]), Err(JumpsError::NoSuchVertex { vertex: 3, vertices: 3 }));
    for weight in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(to(&[(0, 1.0), (1, weight)]), Err(JumpsError::Weight { vertex: 1, .. })));
    }
    let graph = Edges::undirected(4, [(0, 1)]).graph();
    let error = PageRank::default()
        .run_personalized(&graph, &to(&[(0, 2.0)]).unwrap(), &mut ())
        .unwrap_err();
    assert!(matches!(error, AnalysisError::Setting(_)), "{error}");
    assert_eq!(PageRank::default().plan_personalized(&graph).algorithm_host(), 4 * 32 + 8);
}

#[test]
fn threads_change_no_bit_of_personalized_ranks() {
    let edges = Edges::directed(9000, (0..30_000u32).map(|at| (at % 9000, at * 7 % 8999)));
    let jumps = Jumps::to(9000, [(5, 1.0), (8000, 2.5)]).unwrap();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| PageRank::default().run_personalized(&edges.graph(), &jumps, &mut ()))
            .unwrap()
    };
    assert!(run(1) == run(3));
}

#[test]
fn personalized_ranks_settle_whatever_the_number_of_vertices() {
    // A change of less than 10⁻³ for each of 5,000 vertices would end the rounds before the path is walked.
    let graph = Edges::directed(5000, (0..30).map(|v| (v, v + 1))).graph();
    let jumps = Jumps::to(5000, [(0, 1.0)]).unwrap();
    let stop = Stop::Tolerance { tolerance: 1e-3, rounds: 100 };
    let settings = PageRank { stop, ..PageRank::default() };
    let found = settings.run_personalized(&graph, &jumps, &mut ()).unwrap();
    assert!(found.end.converged && found.end.change < 1e-3, "{:?}", found.end);
    assert!(found.ranks[..31].windows(2).all(|pair| pair[0] > pair[1] && pair[1] > 0.0));
    assert!((found.ranks[1] / found.ranks[0] - 0.85).abs() < 1e-2);
}

#[test]
fn a_vertex_to_which_no_walk_leads_has_rank_0() {
    // Two paths; the second is not reached. Nor is the vertex that leads to the first.
    let graph = Edges::directed(6, [(0, 1), (1, 2), (4, 5)]).graph();
    let jumps = Jumps::to(6, [(1, 1.0)]).unwrap();
    let ranks = PageRank::default().run_personalized(&graph, &jumps, &mut ()).unwrap().ranks;
    assert!(ranks[1] > 0.0 && ranks[2] > 0.0);
    assert_eq!([ranks[0], ranks[3], ranks[4], ranks[5]], [0.0; 4]);
}
