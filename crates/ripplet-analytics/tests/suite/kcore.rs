//! The coreness of vertices against removal one by one, and against igraph; `tests/data/make_kcore.py`
//! made igraph's numbers.

use super::graphs::Edges;
use super::random::any_edges;
use super::swarms::batch;
use proptest::prelude::*;
use ripplet_analytics::AnalysisError;
use ripplet_analytics::kcore::{self, coreness, coreness_of_batch};
use ripplet_graph::Observer;
use serde::Deserialize;
use std::collections::BTreeSet;

/// Returns each vertex's coreness by its definition: for each k, vertices with fewer than k arcs to
/// the rest are removed until none is left.
fn by_removal(vertices: u32, arcs: &[(u32, u32)]) -> Vec<u32> {
    let mut coreness = vec![0; vertices as usize];
    let mut left = vec![true; vertices as usize];
    for k in 1.. {
        loop {
            let mut degrees = vec![0; vertices as usize];
            for &(s, t) in arcs {
                if left[s as usize] && left[t as usize] {
                    degrees[s as usize] += 1;
                    degrees[t as usize] += 1;
                }
            }
            let removed = (0..vertices as usize).filter(|&v| left[v] && degrees[v] < k);
            let removed: Vec<usize> = removed.collect();
            if removed.is_empty() {
                break;
            }
            removed.into_iter().for_each(|v| left[v] = false);
        }
        if !left.contains(&true) {
            return coreness;
        }
        (0..vertices as usize).filter(|&v| left[v]).for_each(|v| coreness[v] = k);
    }
    unreachable!("a vertex has finitely many arcs")
}

/// Returns each vertex's coreness: the largest of the degrees at which vertices up to it were
/// removed, always one of the smallest degree.
fn by_smallest_degree(vertices: u32, arcs: &[(u32, u32)]) -> Vec<u32> {
    let mut lists = vec![Vec::new(); vertices as usize];
    for &(s, t) in arcs {
        lists[s as usize].push(t);
        lists[t as usize].push(s);
    }
    let mut degrees: Vec<u32> = lists.iter().map(|list| list.len() as u32).collect();
    let mut left: BTreeSet<(u32, u32)> = degrees.iter().copied().zip(0..).collect();
    let mut coreness = vec![0; vertices as usize];
    let mut k = 0;
    while let Some((degree, vertex)) = left.pop_first() {
        k = k.max(degree);
        coreness[vertex as usize] = k;
        for &neighbor in &lists[vertex as usize] {
            let degree = &mut degrees[neighbor as usize];
            if left.remove(&(*degree, neighbor)) {
                *degree -= 1;
                left.insert((*degree, neighbor));
            }
        }
    }
    coreness
}

/// Returns the arcs as the graph builder keeps them: all, or each once and without loops.
fn arcs(edges: &Edges, keep: bool) -> Vec<(u32, u32)> {
    let mut arcs = edges.pairs.clone();
    if !keep {
        if !edges.directed {
            arcs.iter_mut().for_each(|arc| *arc = (arc.0.min(arc.1), arc.0.max(arc.1)));
        }
        arcs.retain(|arc| arc.0 != arc.1);
        arcs.sort_unstable();
        arcs.dedup();
    }
    arcs
}

fn check(edges: &Edges, shard_arcs: u64, keep: bool, expected: &[u32]) {
    let graph = edges.graph_of(shard_arcs, keep);
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| coreness(&graph, &mut ())).unwrap();
        assert_eq!(found, expected);
    }
}

proptest! {
    #[test]
    fn equal_to_removal_one_by_one(edges in any_edges(), keep in any::<bool>()) {
        let arcs = arcs(&edges, keep);
        let expected = by_removal(edges.vertices, &arcs);
        prop_assert_eq!(&by_smallest_degree(edges.vertices, &arcs), &expected);
        check(&edges, 1 << 20, keep, &expected);
    }
}

/// Nested cliques, a long path and a star: rounds of many and of few vertices, shared between
/// threads, in several shards.
#[test]
fn many_vertices() {
    let n = 40_000u32;
    let scattered = |v: u32| (u64::from(v) * 7919 % u64::from(n)) as u32;
    let path = (0..15_000).map(|v| (v, v + 1));
    let star = (15_001..30_000).map(|v| (15_000, v));
    let cliques = (1..=90u32).flat_map(|size| {
        let first = 30_000 + size * (size - 1) / 2;
        (0..size).flat_map(move |a| (0..a).map(move |b| (first + a, first + b)))
    });
    let edges = path.chain(star).chain(cliques).map(|(s, t)| (scattered(s), scattered(t)));
    let edges = Edges::undirected(n, edges);
    for directed in [false, true] {
        let edges = Edges { directed, ..edges.clone() };
        let expected = by_smallest_degree(n, &arcs(&edges, false));
        check(&edges, 1 << 20, false, &expected);
        check(&edges, 60_000, false, &expected);
    }
}

#[derive(Deserialize)]
struct Case {
    graph: String,
    directed: bool,
    vertices: u32,
    edges: Vec<(u32, u32)>,
    coreness: Vec<u32>,
}

/// Loops count 2 and repeated edges each, as igraph counts them.
#[test]
fn equal_to_igraph() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../data/kcore.json")).unwrap();
    assert_eq!(cases.len(), 10);
    for case in cases {
        let edges = Edges::undirected(case.vertices, case.edges);
        let graph = Edges { directed: case.directed, ..edges }.graph_of(1 << 20, true);
        assert_eq!(coreness(&graph, &mut ()).unwrap(), case.coreness, "{}", case.graph);
    }
}

#[test]
fn graphs_of_a_batch() {
    let members: Vec<Edges> = (0..300u32)
        .map(|seed| {
            let n = 1 + seed % 23;
            let pairs = (0..seed % 71).map(move |i| (i * 7919 % n, (i * i + seed) % n));
            Edges { directed: false, ..Edges::undirected(n, pairs) }
        })
        .collect();
    for directed in [false, true] {
        let batch = batch(&members, directed);
        let found = coreness_of_batch(batch.all(), &mut ()).unwrap();
        let expected = members.iter().flat_map(|edges| {
            let edges = Edges { directed, ..edges.clone() };
            by_removal(edges.vertices, &arcs(&edges, false))
        });
        assert_eq!(found, expected.collect::<Vec<u32>>());
    }
}

struct Cancelled;

impl Observer for Cancelled {
    fn is_cancelled(&self) -> bool {
        true
    }
}

#[test]
fn without_vertices_and_cancelled() {
    assert_eq!(coreness(&Edges::undirected(0, []).graph(), &mut ()), Ok(Vec::new()));
    let graph = Edges::undirected(3, [(2, 1)]).graph();
    assert_eq!(coreness(&graph, &mut ()), Ok(vec![0, 1, 1]));
    assert_eq!(coreness(&graph, &mut Cancelled), Err(AnalysisError::Cancelled));
    assert_eq!(kcore::plan(&graph).algorithm_host(), 36);
}
