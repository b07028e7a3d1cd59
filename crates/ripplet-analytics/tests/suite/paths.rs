//! Distances, closeness and betweenness against their definitions, evaluated on matrices.

use super::graphs::Edges;
use super::others;
use super::random::any_edges;
use proptest::prelude::*;
use ripplet_analytics::apsp::{self, NO_PATH};
use ripplet_analytics::betweenness::{self, betweenness};
use ripplet_analytics::closeness::{self, Closeness, closeness};
use ripplet_analytics::{AnalysisError, Lengths, Sources, SourcesError};
use ripplet_graph::{Graph, VertexId};
use serde::Deserialize;

const MEASURES: [Closeness; 3] =
    [Closeness::Reciprocal, Closeness::WassermanFaust, Closeness::Harmonic];

/// Distances and numbers of shortest paths between all vertices.
struct Oracle {
    distances: Vec<Vec<Option<u64>>>,
    path_counts: Vec<Vec<f64>>,
    directed: bool,
}

impl Oracle {
    /// Computes powers of the adjacency matrix: the first that is not 0 gives the distance and the
    /// number of paths.
    fn new(edges: &Edges) -> Oracle {
        let n = edges.vertices as usize;
        let mut arcs = vec![vec![false; n]; n];
        for &(s, t) in edges.pairs.iter().filter(|(s, t)| s != t) {
            arcs[s as usize][t as usize] = true;
            arcs[t as usize][s as usize] |= !edges.directed;
        }
        let unit = |s: usize| (0..n).map(|t| f64::from(u8::from(s == t))).collect::<Vec<_>>();
        let mut distances = vec![vec![None; n]; n];
        let mut path_counts: Vec<Vec<f64>> = (0..n).map(unit).collect();
        for s in 0..n {
            distances[s][s] = Some(0);
            let mut power = unit(s);
            for length in 1..=n as u64 {
                let through = |t: usize| (0..n).filter(|&v| arcs[v][t]).map(|v| power[v]).sum();
                power = (0..n).map(through).collect();
                for t in 0..n {
                    if power[t] > 0.0 && distances[s][t].is_none() {
                        (distances[s][t], path_counts[s][t]) = (Some(length), power[t]);
                    }
                    // Only walks of the shortest length are extended.
                    if distances[s][t] != Some(length) {
                        power[t] = 0.0;
                    }
                }
            }
        }
        Oracle { distances, path_counts, directed: edges.directed }
    }

    fn n(&self) -> usize {
        self.distances.len()
    }

    fn closeness(&self, s: usize, measure: Closeness, normalized: bool) -> f64 {
        let to_s = (0..self.n()).filter(|&t| t != s).filter_map(|t| self.distances[t][s]);
        let to_s: Vec<f64> = to_s.map(|distance| distance as f64).collect();
        let (reached, others) = (to_s.len() as f64, self.n() as f64 - 1.0);
        if to_s.is_empty() {
            return 0.0;
        }
        let sum: f64 = to_s.iter().sum();
        match (measure, normalized) {
            (Closeness::Reciprocal, false) => 1.0 / sum,
            (Closeness::Reciprocal, true) => reached / sum,
            (Closeness::WassermanFaust, _) => reached * reached / (others * sum),
            (Closeness::Harmonic, false) => to_s.iter().map(|d| 1.0 / d).sum(),
            (Closeness::Harmonic, true) => to_s.iter().map(|d| 1.0 / d).sum::<f64>() / others,
        }
    }

    fn betweenness(&self, v: usize) -> f64 {
        let pairs = (0..self.n()).flat_map(|s| (0..self.n()).map(move |t| (s, t)));
        let other = pairs.filter(|&(s, t)| s != t && s != v && t != v);
        let share = |(s, t): (usize, usize)| {
            let (whole, first, second) =
                (self.distances[s][t]?, self.distances[s][v]?, self.distances[v][t]?);
            let passes = first + second == whole;
            passes.then(|| self.path_counts[s][v] * self.path_counts[v][t] / self.path_counts[s][t])
        };
        let sum: f64 = other.filter_map(share).sum();
        if self.directed { sum } else { sum / 2.0 }
    }
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-12 * expected.abs().max(1.0)
}

fn on<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn rows(graph: &Graph) -> Vec<Vec<u32>> {
    let mut rows = Vec::new();
    let take = |source: VertexId, row: &[u32]| {
        assert_eq!(source as usize, rows.len());
        rows.push(row.to_vec());
        Ok::<_, AnalysisError>(())
    };
    apsp::rows(graph, &mut (), take).unwrap();
    rows
}

proptest! {
    #[test]
    fn they_are_the_definitions(edges in any_edges(), keep in any::<bool>()) {
        let (oracle, graph) = (Oracle::new(&edges), edges.graph_of(1 << 20, keep));
        let n = edges.vertices as usize;
        let expected: Vec<Vec<u32>> = oracle
            .distances
            .iter()
            .map(|row| row.iter().map(|d| d.map_or(NO_PATH, |d| d as u32)).collect())
            .collect();
        prop_assert_eq!(rows(&graph), &expected[..]);
        // Every third vertex, the last one first and twice.
        let chosen: Vec<VertexId> = (0..edges.vertices).rev().step_by(3).chain(edges.vertices.checked_sub(1)).collect();
        let (sources, mut taken) = (Sources::new(edges.vertices, chosen.clone()).unwrap(), Vec::new());
        apsp::rows_from(&graph, &sources, &mut (), |source, row| {
            assert_eq!(row, expected[source as usize]);
            taken.push(source);
            Ok::<_, AnalysisError>(())
        }).unwrap();
        prop_assert_eq!(&taken[..], sources.vertices());
        prop_assert!(taken.is_sorted() && chosen.iter().all(|source| taken.contains(source)));

        let found = apsp::summary(&graph, Lengths::Hops, &mut ()).unwrap();
        let of = |s: usize| (0..n).filter(move |&t| t != s);
        let finite = |s: usize| of(s).filter_map(|t| oracle.distances[s][t]).collect::<Vec<_>>();
        let all: Vec<u64> = (0..n).flat_map(finite).collect();
        prop_assert_eq!((found.whole.pairs, found.whole.sum), (all.len() as u64, all.iter().sum::<u64>() as u128));
        for (s, &farthest) in found.eccentricities.iter().enumerate() {
            prop_assert_eq!(farthest, finite(s).into_iter().max().unwrap_or(0));
        }

        for measure in MEASURES {
            for normalized in [false, true] {
                let found = closeness(&graph, measure, normalized, Lengths::Hops, &mut ()).unwrap();
                for (s, &found) in found.iter().enumerate() {
                    let expected = oracle.closeness(s, measure, normalized);
                    prop_assert!(close(found, expected), "{measure:?} {s}: {found}, not {expected}");
                }
            }
        }

        let found = betweenness(&graph, false, Lengths::Hops, &mut ()).unwrap();
        let normalized = betweenness(&graph, true, Lengths::Hops, &mut ()).unwrap();
        let pairs = (n as f64 - 1.0) * (n as f64 - 2.0);
        let pairs = if edges.directed { pairs } else { pairs / 2.0 };
        for v in 0..n {
            let expected = oracle.betweenness(v);
            prop_assert!(close(found[v], expected), "{v}: {}, not {expected}", found[v]);
            let share = if pairs > 0.0 { expected / pairs } else { 0.0 };
            prop_assert!(close(normalized[v], share), "{v}: {}, not {share}", normalized[v]);
        }
    }
}

/// More vertices than a few groups of sources, in one shard and in several.
fn ring_with_chords(directed: bool) -> Edges {
    let ring = (0..300u32).map(|v| (v, (v + 1) % 300));
    let chords = (0..300u32).step_by(7).map(|v| (v, (v * v + 11) % 300));
    // A separate component.
    let apart = [(300, 301), (301, 302)];
    Edges { directed, ..Edges::undirected(304, ring.chain(chords).chain(apart)) }
}

#[test]
fn threads_and_shards_change_no_bit() {
    for directed in [false, true] {
        let edges = ring_with_chords(directed);
        let whole = edges.graph();
        let cut = edges.graph_of(40, false);
        assert!(whole.shards().len() == 1 && cut.shards().len() > 3);
        let expected = (
            rows(&whole),
            bits(&betweenness(&whole, false, Lengths::Hops, &mut ()).unwrap()),
            MEASURES.map(|measure| {
                bits(&closeness(&whole, measure, false, Lengths::Hops, &mut ()).unwrap())
            }),
            apsp::summary(&whole, Lengths::Hops, &mut ()).unwrap(),
        );
        for graph in [&whole, &cut] {
            for threads in [1, 2, 7] {
                let found = on(threads, || {
                    (
                        rows(graph),
                        bits(&betweenness(graph, false, Lengths::Hops, &mut ()).unwrap()),
                        MEASURES.map(|measure| {
                            bits(&closeness(graph, measure, false, Lengths::Hops, &mut ()).unwrap())
                        }),
                        apsp::summary(graph, Lengths::Hops, &mut ()).unwrap(),
                    )
                });
                assert!(found == expected, "directed {directed}, {threads} threads");
            }
        }
    }
}

/// Results of networkx and igraph for a real graph; `tests/data/make_paths.py` made the numbers.
#[derive(Deserialize)]
struct Case {
    graph: String,
    directed: bool,
    step: usize,
    betweenness: Vec<f64>,
    reciprocal: Vec<f64>,
    wasserman_faust: Vec<f64>,
    harmonic: Vec<f64>,
    betweenness_sum: f64,
    reciprocal_sum: f64,
    wasserman_faust_sum: f64,
    harmonic_sum: f64,
    pairs: u64,
    distances: u128,
}

#[test]
fn real_graphs_have_the_values_of_networkx_and_igraph() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../data/paths.json")).unwrap();
    assert_eq!(cases.len(), 12);
    for case in cases {
        let graph = others::edges(&case.graph, case.directed).graph();
        let near = |measure| closeness(&graph, measure, false, Lengths::Hops, &mut ()).unwrap();
        let [reciprocal, wasserman_faust, harmonic] = MEASURES.map(near);
        let between = betweenness(&graph, false, Lengths::Hops, &mut ()).unwrap();
        for (name, found, expected, sum) in [
            ("betweenness", between, &case.betweenness, case.betweenness_sum),
            ("reciprocal", reciprocal, &case.reciprocal, case.reciprocal_sum),
            ("wasserman_faust", wasserman_faust, &case.wasserman_faust, case.wasserman_faust_sum),
            ("harmonic", harmonic, &case.harmonic, case.harmonic_sum),
        ] {
            let name = format!("{} directed {}, {name}", case.graph, case.directed);
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs().max(1e-3);
            let sample: Vec<f64> = found.iter().copied().step_by(case.step).collect();
            assert_eq!(sample.len(), expected.len(), "{name}");
            for (at, (&found, &expected)) in sample.iter().zip(expected).enumerate() {
                let vertex = at * case.step;
                assert!(near(found, expected), "{name}, {vertex}: {found}, not {expected}");
            }
            assert!(near(found.iter().sum(), sum), "{name}: sum {sum}");
        }
        let found = apsp::summary(&graph, Lengths::Hops, &mut ()).unwrap();
        assert_eq!(
            (found.whole.pairs, found.whole.sum),
            (case.pairs, case.distances),
            "{}",
            case.graph
        );
    }
}

#[test]
fn shapes_with_formulas() {
    // A path of n vertices.
    let n = 200u64;
    let path = Edges::undirected(n as u32, (1..n as u32).map(|v| (v - 1, v))).graph();
    let found = apsp::summary(&path, Lengths::Hops, &mut ()).unwrap();
    assert_eq!((found.whole.diameter, found.whole.radius), (n - 1, n / 2));
    assert_eq!(found.whole.wiener(), u128::from(n * (n * n - 1) / 6));
    assert!(found.whole.is_connected() && close(found.whole.average(), (n + 1) as f64 / 3.0));
    let between = betweenness(&path, false, Lengths::Hops, &mut ()).unwrap();
    for (v, &found) in (0..n).zip(&between) {
        assert!(close(found, (v * (n - 1 - v)) as f64), "{v}: {found}");
    }
    // A star: all paths between leaves pass through its centre.
    let star = Edges::undirected(100, (1..100).map(|v| (0, v))).graph();
    let between = betweenness(&star, true, Lengths::Hops, &mut ()).unwrap();
    assert!(close(between[0], 1.0) && between[1..].iter().all(|&value| value == 0.0));
    let near = closeness(&star, Closeness::WassermanFaust, true, Lengths::Hops, &mut ()).unwrap();
    assert!(near[0] == 1.0 && close(near[1], 99.0 / 197.0));
    // In a directed cycle, one path leads from each vertex to each other.
    let cycle = Edges::directed(50, (0..50).map(|v| (v, (v + 1) % 50))).graph();
    let found = apsp::summary(&cycle, Lengths::Hops, &mut ()).unwrap();
    assert_eq!(
        (found.whole.diameter, found.whole.radius, found.whole.wiener()),
        (49, 49, 50 * 49 * 50 / 2)
    );
}

#[test]
fn graphs_of_nothing() {
    for vertices in [0, 1, 2, 3] {
        let graph = Edges::undirected(vertices, []).graph();
        let zeros = vec![0.0; vertices as usize];
        for normalized in [false, true] {
            assert_eq!(betweenness(&graph, normalized, Lengths::Hops, &mut ()).unwrap(), zeros);
            for measure in MEASURES {
                assert_eq!(
                    closeness(&graph, measure, normalized, Lengths::Hops, &mut ()).unwrap(),
                    zeros
                );
            }
        }
        let found = apsp::summary(&graph, Lengths::Hops, &mut ()).unwrap();
        assert_eq!((found.whole.pairs, found.whole.average(), found.whole.diameter), (0, 0.0, 0));
        assert_eq!(found.whole.is_connected(), vertices < 2);
        assert_eq!(rows(&graph).len(), vertices as usize);
    }
}

/// An observer that cancels the run after a number of queries.
struct Patience(std::sync::atomic::AtomicUsize);

impl ripplet_graph::Observer for Patience {
    fn is_cancelled(&self) -> bool {
        use std::sync::atomic::Ordering::Relaxed;
        self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err()
    }
}

#[test]
fn runs_can_be_ended_and_plans_hold() {
    let graph = ring_with_chords(true).graph();
    for left in [0, 1, 3] {
        let patience = || Patience(left.into());
        assert_eq!(
            betweenness(&graph, false, Lengths::Hops, &mut patience()),
            Err(AnalysisError::Cancelled)
        );
        let near = closeness(&graph, Closeness::Harmonic, false, Lengths::Hops, &mut patience());
        assert_eq!(near, Err(AnalysisError::Cancelled));
        assert_eq!(
            apsp::summary(&graph, Lengths::Hops, &mut patience()),
            Err(AnalysisError::Cancelled)
        );
    }
    // The consumer of rows may end the run as well, with its own error.
    #[derive(Debug, PartialEq)]
    struct Enough;
    impl From<AnalysisError> for Enough {
        fn from(_: AnalysisError) -> Enough {
            Enough
        }
    }
    let mut taken = 0;
    let take = |_: VertexId, _: &[u32]| {
        taken += 1;
        if taken == 70 { Err(Enough) } else { Ok(()) }
    };
    assert_eq!(apsp::rows(&graph, &mut (), take), Err(Enough));
    assert_eq!(taken, 70);
    let n = 304;
    let plan = |measure| closeness::plan(&graph, measure, Lengths::Hops, 2).algorithm_host();
    assert_eq!(plan(Closeness::Reciprocal), (8 + 16 + 2 * (32 + 16)) * n);
    assert_eq!(plan(Closeness::Harmonic), (8 + 8 + 2 * (32 + 8)) * n);
    let arcs = 2 * (528 * graph.arcs() + 288);
    assert_eq!(
        betweenness::plan(&graph, Lengths::Hops, 2).algorithm_host(),
        (8 + 2 * 2233) * n + arcs
    );
    assert_eq!(
        apsp::plan_of_summary(&graph, Lengths::Hops, 2).algorithm_host(),
        (8 + 24 + 2 * (32 + 24)) * n
    );
    assert_eq!(apsp::plan_of_rows(&graph, None, 2).algorithm_host(), 2 * (32 + 256) * n);
    let from = |sources: u32| Sources::new(n as u32, 0..sources).unwrap();
    let plan = |sources| apsp::plan_of_rows(&graph, Some(&from(sources)), 2).algorithm_host();
    assert_eq!([plan(0), plan(3), plan(65)], [0, (32 + 3 * 4) * n, 2 * (32 + 256) * n]);
    // By weights, if there are any.
    let weights = vec![1.0; ring_with_chords(true).pairs.len()];
    let graph = Edges { weights: Some(weights), ..ring_with_chords(true) }.graph();
    let rows = 128 * 64 * 8;
    let near = |lengths| closeness::plan(&graph, Closeness::Harmonic, lengths, 2).algorithm_host();
    assert_eq!(near(Lengths::Hops), (8 + 8 + 2 * (32 + 8)) * n);
    assert_eq!(near(Lengths::Weights), (8 + 8 + 2 * 20) * n + 2 * (rows + 64 * 8));
    let of_summary = apsp::plan_of_summary(&graph, Lengths::Weights, 2).algorithm_host();
    assert_eq!(of_summary, (8 + 32 + 2 * 20) * n + 2 * (rows + 64 * 32));
    assert_eq!(
        betweenness::plan(&graph, Lengths::Weights, 2).algorithm_host(),
        (8 + 2 * 220) * n + 2 * (rows + 288)
    );
    assert_eq!(apsp::plan_of_weighted_rows(&graph, None, 2).algorithm_host(), 2 * (20 + 512) * n);
    let plan = apsp::plan_of_weighted_rows(&graph, Some(&from(70)), 2).algorithm_host();
    assert_eq!(plan, 2 * (20 + 512) * n);
    let (mut all, mut some) = (Vec::new(), Vec::new());
    apsp::weighted_rows(&graph, &mut (), |source, row| {
        all.extend((source % 4 == 1).then(|| (source, row.to_vec())));
        Ok::<_, AnalysisError>(())
    })
    .unwrap();
    let sources = Sources::new(n as u32, (0..n as u32).filter(|v| v % 4 == 1)).unwrap();
    apsp::weighted_rows_from(&graph, &sources, &mut (), |source, row| {
        some.push((source, row.to_vec()));
        Ok::<_, AnalysisError>(())
    })
    .unwrap();
    assert!(all.len() > 64 && all == some);
    let of_another = Sources::new(n as u32 + 1, [0]).unwrap();
    let refused = apsp::rows_from(&graph, &of_another, &mut (), |_, _| Ok::<_, AnalysisError>(()));
    assert!(matches!(refused, Err(AnalysisError::Setting(_))));
    let outside = Sources::new(5, [5]);
    assert_eq!(outside, Err(SourcesError::NoSuchVertex { vertex: 5, vertices: 5 }));
}
