//! Weights as lengths, against the definitions on matrices.

use super::graphs::Edges;
use super::random::any_edges;
use proptest::prelude::*;
use ripplet_analytics::apsp::{self, NO_WEIGHTED_PATH};
use ripplet_analytics::betweenness::betweenness;
use ripplet_analytics::closeness::{Closeness, closeness};
use ripplet_analytics::{AnalysisError, Lengths};
use ripplet_graph::{Graph, VertexId};

const MEASURES: [Closeness; 3] =
    [Closeness::Reciprocal, Closeness::WassermanFaust, Closeness::Harmonic];

/// Generates edges whose weights are eighths from `least` on: sums are exact, and many are equal.
pub fn weighted_edges(least: u32) -> impl Strategy<Value = Edges> {
    let weights = prop::collection::vec(least..7, 1500);
    (any_edges(), weights, prop_oneof![Just(1.0), Just(0.125)]).prop_map(
        |(edges, weights, unit)| {
            let weights = weights.iter().map(|&eighths| f64::from(eighths) * unit);
            Edges { weights: Some(weights.take(edges.pairs.len()).collect()), ..edges }
        },
    )
}

/// The lengths of shortest paths by Floyd and Warshall; infinite if there is no path.
pub struct Oracle {
    lengths: Vec<Vec<f64>>,
    distances: Vec<Vec<f64>>,
}

impl Oracle {
    pub fn new(edges: &Edges) -> Oracle {
        let n = edges.vertices as usize;
        let mut lengths = vec![vec![f64::INFINITY; n]; n];
        let ones = vec![1.0; edges.pairs.len()];
        for (&(s, t), &weight) in edges.pairs.iter().zip(edges.weights.as_ref().unwrap_or(&ones)) {
            let (s, t) = (s as usize, t as usize);
            lengths[s][t] = lengths[s][t].min(weight);
            if !edges.directed {
                lengths[t][s] = lengths[t][s].min(weight);
            }
        }
        let mut distances = lengths.clone();
        (0..n).for_each(|v| distances[v][v] = 0.0);
        for through in 0..n {
            for s in 0..n {
                for t in 0..n {
                    let way = distances[s][through] + distances[through][t];
                    distances[s][t] = distances[s][t].min(way);
                }
            }
        }
        Oracle { lengths, distances }
    }

    pub fn n(&self) -> usize {
        self.distances.len()
    }

    /// Returns the numbers of shortest paths between all vertices, if no length is 0.
    pub fn path_counts(&self) -> Vec<Vec<f64>> {
        let n = self.n();
        let of = |s: usize| {
            let mut order: Vec<usize> =
                (0..n).filter(|&t| self.distances[s][t].is_finite()).collect();
            order.sort_by(|&a, &b| self.distances[s][a].total_cmp(&self.distances[s][b]));
            let mut path_counts = vec![0.0; n];
            path_counts[s] = 1.0;
            for t in order.into_iter().filter(|&t| t != s) {
                let last = |&v: &usize| {
                    v != t && self.distances[s][v] + self.lengths[v][t] == self.distances[s][t]
                };
                path_counts[t] = (0..n).filter(last).map(|v| path_counts[v]).sum();
            }
            path_counts
        };
        (0..n).map(of).collect()
    }

    /// The distance from a vertex to another; infinite without a path.
    pub fn distance(&self, s: usize, t: usize) -> f64 {
        self.distances[s][t]
    }

    fn closeness(&self, s: usize, measure: Closeness, normalized: bool) -> f64 {
        let others = (0..self.n()).filter(|&t| t != s).map(|t| self.distances[t][s]);
        let to_s: Vec<f64> = others.filter(|distance| distance.is_finite()).collect();
        let (reached, others) = (to_s.len() as f64, self.n() as f64 - 1.0);
        let sum: f64 = to_s.iter().sum();
        let harmonic = to_s.iter().filter(|&&d| d > 0.0).map(|d| 1.0 / d).sum();
        match (measure, normalized) {
            (Closeness::Harmonic, false) => harmonic,
            (Closeness::Harmonic, true) => harmonic / others.max(1.0),
            _ if sum == 0.0 => 0.0,
            (Closeness::Reciprocal, false) => 1.0 / sum,
            (Closeness::Reciprocal, true) => reached / sum,
            (Closeness::WassermanFaust, _) => reached * reached / (others * sum),
        }
    }

    fn betweenness(&self, path_counts: &[Vec<f64>], v: usize) -> f64 {
        (0..self.n()).map(|s| self.dependency(path_counts, s, v)).sum()
    }

    /// Returns the sum over all targets of the share of the shortest paths from s that pass through v.
    pub fn dependency(&self, path_counts: &[Vec<f64>], s: usize, v: usize) -> f64 {
        let share = |s: usize, t: usize| {
            let passes = s != t
                && self.distances[s][t].is_finite()
                && self.distances[s][v] + self.distances[v][t] == self.distances[s][t];
            if passes { path_counts[s][v] * path_counts[v][t] / path_counts[s][t] } else { 0.0 }
        };
        (0..self.n()).filter(|&t| s != v && t != v).map(|t| share(s, t)).sum()
    }

    /// Returns the sum over all pairs of the share of shortest paths that contain an arc.
    pub fn along(&self, path_counts: &[Vec<f64>], from: usize, to: usize) -> f64 {
        (0..self.n()).map(|s| self.along_from(path_counts, s, from, to)).sum()
    }

    /// Returns the sum over all targets of the share of the shortest paths from s that contain an arc.
    pub fn along_from(&self, path_counts: &[Vec<f64>], s: usize, from: usize, to: usize) -> f64 {
        let share = |s: usize, t: usize| {
            let way = self.distances[s][from] + self.lengths[from][to] + self.distances[to][t];
            let goes = from != to && way.is_finite() && way == self.distances[s][t];
            if goes { path_counts[s][from] * path_counts[to][t] / path_counts[s][t] } else { 0.0 }
        };
        (0..self.n()).map(|t| share(s, t)).sum()
    }
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-12 * expected.abs().max(1.0)
}

fn on<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

fn rows(graph: &Graph) -> Vec<Vec<f64>> {
    let mut rows = Vec::new();
    let scale = graph.weight_scale();
    let take = |source: VertexId, row: &[u64]| {
        assert_eq!(source as usize, rows.len());
        let real = |&stored: &u64| match stored {
            NO_WEIGHTED_PATH => f64::INFINITY,
            stored => scale.weight(stored),
        };
        rows.push(row.iter().map(real).collect());
        Ok::<_, AnalysisError>(())
    };
    apsp::weighted_rows(graph, &mut (), take).unwrap();
    rows
}

proptest! {
    #[test]
    fn distances_are_the_definitions(edges in weighted_edges(0), keep in any::<bool>()) {
        let (oracle, graph) = (Oracle::new(&edges), edges.graph_of(1 << 20, keep));
        prop_assert_eq!(&rows(&graph), &oracle.distances);
        let n = oracle.n();
        let others = |s: usize| (0..n).filter(move |&t| t != s);
        let finite = |s: usize| {
            let all = others(s).map(|t| oracle.distances[s][t]);
            all.filter(|distance| distance.is_finite()).collect::<Vec<f64>>()
        };
        let found = apsp::summary(&graph, Lengths::Weights, &mut ()).unwrap();
        let all: Vec<f64> = (0..n).flat_map(finite).collect();
        prop_assert_eq!(found.whole.pairs, all.len() as u64);
        prop_assert_eq!(found.whole.length(found.whole.sum), all.iter().sum::<f64>());
        prop_assert_eq!(found.whole.is_connected(), all.len() == n * (n - 1));
        let farthest = |s: usize| finite(s).into_iter().fold(0.0, f64::max);
        let expected: Vec<f64> = (0..n).map(farthest).collect();
        let length = |&stored: &u64| found.whole.length(stored.into());
        prop_assert_eq!(found.eccentricities.iter().map(length).collect::<Vec<_>>(), expected.clone());
        let least = expected.iter().copied().fold(f64::INFINITY, f64::min);
        let most = expected.iter().copied().fold(0.0, f64::max);
        prop_assert_eq!((length(&found.whole.radius), length(&found.whole.diameter)), (least, most));

        for measure in MEASURES {
            for normalized in [false, true] {
                let found = closeness(&graph, measure, normalized, Lengths::Weights, &mut ()).unwrap();
                for (s, &found) in found.iter().enumerate() {
                    let expected = oracle.closeness(s, measure, normalized);
                    prop_assert!(close(found, expected), "{measure:?} {s}: {found}, not {expected}");
                }
            }
        }
    }

    #[test]
    fn betweenness_is_the_definition(edges in weighted_edges(1), keep in any::<bool>()) {
        let (oracle, graph) = (Oracle::new(&edges), edges.graph_of(1 << 20, keep));
        let path_counts = oracle.path_counts();
        let found = betweenness(&graph, false, Lengths::Weights, &mut ()).unwrap();
        let normalized = betweenness(&graph, true, Lengths::Weights, &mut ()).unwrap();
        let n = oracle.n() as f64;
        for v in 0..oracle.n() {
            let both = oracle.betweenness(&path_counts, v);
            let expected = if edges.directed { both } else { both / 2.0 };
            prop_assert!(close(found[v], expected), "{v}: {}, not {expected}", found[v]);
            let share = both / ((n - 1.0) * (n - 2.0)).max(1.0);
            prop_assert!(close(normalized[v], share), "{v}: {}, not {share}", normalized[v]);
        }
    }

    #[test]
    fn where_all_weigh_one_ways_are_as_long_as_they_have_arcs(edges in any_edges()) {
        let one = Edges { weights: Some(vec![1.0; edges.pairs.len()]), ..edges.clone() }.graph();
        let plain = edges.graph();
        for graph in [&one, &plain] {
            for measure in MEASURES {
                let of = |lengths| closeness(graph, measure, false, lengths, &mut ()).unwrap();
                for (found, expected) in of(Lengths::Weights).into_iter().zip(of(Lengths::Hops)) {
                    prop_assert!(close(found, expected), "{found}, not {expected}");
                }
            }
            let of = |lengths| apsp::summary(graph, lengths, &mut ()).unwrap();
            prop_assert_eq!(of(Lengths::Weights), of(Lengths::Hops));
            let of = |lengths| betweenness(graph, false, lengths, &mut ()).unwrap();
            // The same numbers are added in the same order.
            prop_assert_eq!(of(Lengths::Weights), of(Lengths::Hops));
        }
        prop_assert_eq!(rows(&one), rows(&plain));
    }
}

/// More vertices than a few groups of sources, and a separate component.
fn ring_with_chords(directed: bool) -> Edges {
    let ring = (0..300u32).map(|v| (v, (v + 1) % 300));
    let chords = (0..300u32).step_by(7).map(|v| (v, (v * v + 11) % 300));
    let edges = Edges::undirected(304, ring.chain(chords).chain([(300, 301), (301, 302)]));
    let weights = (0..edges.pairs.len()).map(|at| 0.1 + (at * 37 % 11) as f64);
    Edges { directed, weights: Some(weights.collect()), ..edges }
}

#[test]
fn threads_and_shards_change_no_bit() {
    let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    for directed in [false, true] {
        let edges = ring_with_chords(directed);
        let (whole, cut) = (edges.graph(), edges.graph_of(40, false));
        assert!(whole.shards().len() == 1 && cut.shards().len() > 3);
        let of = |graph: &Graph| {
            let near = |measure| {
                bits(closeness(graph, measure, false, Lengths::Weights, &mut ()).unwrap())
            };
            (
                rows(graph),
                bits(betweenness(graph, false, Lengths::Weights, &mut ()).unwrap()),
                MEASURES.map(near),
                apsp::summary(graph, Lengths::Weights, &mut ()).unwrap(),
            )
        };
        let expected = of(&whole);
        for graph in [&whole, &cut] {
            for threads in [1, 2, 7] {
                assert!(on(threads, || of(graph)) == expected, "{directed}, {threads} threads");
            }
        }
    }
}

#[test]
fn lengths_as_long_as_they_get() {
    // Each weight is 2³² − 1, and a path contains all arcs: in a small graph and in a large one.
    for n in [128u32, 2000] {
        let weights = vec![f64::from(u32::MAX); n as usize - 1];
        let path = Edges::directed(n, (1..n).map(|v| (v - 1, v)));
        let graph = Edges { weights: Some(weights), ..path }.graph();
        let found = apsp::summary(&graph, Lengths::Weights, &mut ()).unwrap();
        let longest = u64::from(u32::MAX) * u64::from(n - 1);
        assert_eq!((found.whole.diameter, found.eccentricities[0]), (longest, longest));
        let path_counts = u128::from(n - 1) * u128::from(n) * u128::from(n + 1) / 6;
        assert_eq!(found.whole.sum, u128::from(u32::MAX) * path_counts);
    }
}

/// Vertices in an order in which each round relaxes one arc only, at and above the size of a small
/// graph.
#[test]
fn ways_through_vertices_in_any_order() {
    for n in [127u32, 128, 129] {
        let at = |place: u32| place * 47 % n;
        let path = Edges::undirected(n, (1..n).map(|place| (at(place - 1), at(place))));
        let weights = (1..n).map(|place| f64::from(1 + place % 3)).collect();
        let edges = Edges { weights: Some(weights), ..path };
        assert_eq!(rows(&edges.graph()), Oracle::new(&edges).distances);
        let found = apsp::reach(&edges.graph(), Lengths::Weights, &mut ()).unwrap();
        let far = Oracle::new(&edges).distances.into_iter().map(|row| row.into_iter().sum::<f64>());
        assert!(found.iter().map(|reach| reach.far as f64).eq(far));
    }
}

#[test]
fn edges_without_length_are_refused_where_ways_are_counted() {
    let pairs = [(0, 1), (1, 1), (1, 2), (2, 3)];
    let weights = Some(vec![1.0, 0.0, 2.0, 0.0]);
    let edges = Edges { weights, ..Edges::undirected(4, pairs) };
    for graph in [edges.graph(), edges.graph_of(1 << 20, true)] {
        let error = betweenness(&graph, false, Lengths::Weights, &mut ()).unwrap_err();
        assert!(
            error.to_string().starts_with("the edge from 2 to 3 has weight 0: a shortest path "),
            "{error}"
        );
        assert!(betweenness(&graph, false, Lengths::Hops, &mut ()).is_ok());
        // Distances are defined.
        let harmonic = closeness(&graph, Closeness::Harmonic, false, Lengths::Weights, &mut ());
        let expected = [1.0 + 2.0 / 3.0, 2.0, 5.0 / 6.0, 5.0 / 6.0];
        assert!(harmonic.unwrap().into_iter().zip(expected).all(|(a, b)| close(a, b)));
    }
    // A loop's weight is not part of any path.
    let weights = Some(vec![1.0, 1.0, 0.0, 0.0, 0.0]);
    let pairs = [(0, 1), (1, 2), (0, 0), (1, 1), (2, 2)];
    let graph = Edges { weights, ..Edges::undirected(3, pairs) }.graph_of(1 << 20, true);
    let found = betweenness(&graph, false, Lengths::Weights, &mut ()).unwrap();
    assert_eq!(found, [0.0, 1.0, 0.0]);
}
