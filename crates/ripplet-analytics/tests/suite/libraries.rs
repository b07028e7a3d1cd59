//! Weighted graphs and a batch against networkx and igraph; `tests/data/make_swarms.py` made the
//! numbers.

use super::graphs::Edges;
use super::swarms::batch;
use ripplet_analytics::Lengths;
use ripplet_analytics::apsp;
use ripplet_analytics::betweenness::{betweenness, betweenness_of_batch};
use ripplet_analytics::closeness::{Closeness, closeness, closeness_of_batch};
use ripplet_analytics::components::{components, components_of_batch};
use ripplet_analytics::edge_betweenness::{
    EdgeValues, edge_betweenness, edge_betweenness_of_batch, ends,
};
use ripplet_analytics::pagerank::{PageRank, Stop};
use serde::Deserialize;

#[derive(Deserialize)]
struct Cases {
    weighted: Vec<Case>,
    batch: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    graph: String,
    directed: bool,
    vertices: u32,
    pairs_of_edges: Vec<(u32, u32, f64)>,
    betweenness: Vec<f64>,
    reciprocal: Vec<f64>,
    wasserman_faust: Vec<f64>,
    harmonic: Vec<f64>,
    pagerank: Vec<f64>,
    components: Vec<u32>,
    edges: Vec<(u32, u32, f64)>,
    edges_sum: f64,
    pairs: u64,
    distances: u128,
    diameter: u64,
}

fn cases() -> Cases {
    serde_json::from_str(include_str!("../data/swarms.json")).unwrap()
}

/// A smaller tolerance than that of the libraries.
const RANKS: PageRank = PageRank {
    damping: 0.85,
    stop: Stop::Tolerance { tolerance: 1e-15, rounds: 1000 },
    weighted: true,
};

impl Case {
    fn edges(&self) -> Edges {
        let pairs = self.pairs_of_edges.iter().map(|&(s, t, _)| (s, t));
        Edges { directed: self.directed, ..Edges::undirected(self.vertices, pairs) }
    }

    #[track_caller]
    fn check(&self, name: &str, found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len(), "{} {name}", self.graph);
        for (vertex, (&found, &expected)) in found.iter().zip(expected).enumerate() {
            let near = (found - expected).abs() <= 1e-9 * expected.abs().max(1e-3);
            assert!(near, "{} {name}, {vertex}: {found}, not {expected}", self.graph);
        }
    }
}

const MEASURES: [Closeness; 3] =
    [Closeness::Reciprocal, Closeness::WassermanFaust, Closeness::Harmonic];

#[test]
fn weights_are_lengths_as_elsewhere() {
    let cases = cases().weighted;
    assert_eq!(cases.len(), 9);
    for case in cases {
        let weights = case.pairs_of_edges.iter().map(|edge| edge.2).collect();
        let graph = Edges { weights: Some(weights), ..case.edges() }.graph();
        let between = betweenness(&graph, false, Lengths::Weights, &mut ()).unwrap();
        case.check("betweenness", &between, &case.betweenness);
        let expected = [&case.reciprocal, &case.wasserman_faust, &case.harmonic];
        for (measure, expected) in MEASURES.into_iter().zip(expected) {
            let near = closeness(&graph, measure, false, Lengths::Weights, &mut ()).unwrap();
            case.check("closeness", &near, expected);
        }
        let along = edge_betweenness(&graph, false, Lengths::Weights, &mut ()).unwrap();
        case.check("edges", &[along.iter().sum()], &[case.edges_sum]);
        for &(from, to, expected) in &case.edges {
            let at = ends(&graph).position(|ends| ends == (from, to)).unwrap();
            case.check("edge", &along[at..=at], &[expected]);
        }
        case.check("ranks", &RANKS.run(&graph, &mut ()).unwrap().ranks, &case.pagerank);
        assert_eq!(components(&graph, &mut ()).unwrap().smallest, case.components);
        let whole = apsp::summary(&graph, Lengths::Weights, &mut ()).unwrap().whole;
        let expected = (case.pairs, case.distances, case.diameter);
        assert_eq!((whole.pairs, whole.sum, whole.diameter), expected, "{}", case.graph);
    }
}

#[test]
fn each_graph_of_a_batch_is_as_elsewhere() {
    let cases = cases().batch;
    assert_eq!(cases.len(), 10);
    let graphs: Vec<Edges> = cases.iter().map(Case::edges).collect();
    let whole = batch(&graphs, false);
    let all = whole.all();
    let hops = Lengths::Hops;
    let between = betweenness_of_batch(all, false, hops, &mut ()).unwrap();
    let near = MEASURES.map(|m| closeness_of_batch(all, m, false, hops, &mut ()).unwrap());
    let EdgeValues { starts, values } =
        edge_betweenness_of_batch(all, false, hops, &mut ()).unwrap();
    let ranks = RANKS.run_batch(all, &mut ()).unwrap().ranks;
    let hanging = components_of_batch(all, &mut ()).unwrap();
    let summaries = apsp::summary_of_batch(all, hops, &mut ()).unwrap();
    for (at, case) in cases.iter().enumerate() {
        let range = whole.graph(at).vertex_range();
        let mine = range.start.index()..range.end.index();
        case.check("betweenness", &between[mine.clone()], &case.betweenness);
        let expected = [&case.reciprocal, &case.wasserman_faust, &case.harmonic];
        for (near, expected) in near.iter().zip(expected) {
            case.check("closeness", &near[mine.clone()], expected);
        }
        let along = &values[starts[at] as usize..starts[at + 1] as usize];
        let expected: Vec<f64> = case.edges.iter().map(|edge| edge.2).collect();
        case.check("edges", along, &expected);
        case.check("ranks", &ranks[mine.clone()], &case.pagerank);
        assert_eq!(hanging.smallest[mine], case.components);
        let expected = (case.pairs, case.distances, case.diameter);
        let found = &summaries[at];
        assert_eq!((found.pairs, found.sum, found.diameter), expected, "{}", case.graph);
    }
}
