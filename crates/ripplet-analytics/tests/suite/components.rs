//! Connected components against label spreading from every vertex.

use super::graphs::Edges;
use super::random::any_edges;
use proptest::prelude::*;
use ripplet_analytics::AnalysisError;
use ripplet_analytics::components::{self, components};

/// Returns the smallest vertex with a path to each vertex, by repeated relaxation until nothing
/// changes.
fn painted(edges: &Edges) -> Vec<u32> {
    let mut smallest: Vec<u32> = (0..edges.vertices).collect();
    loop {
        let before = smallest.clone();
        for &(s, t) in &edges.pairs {
            let least = smallest[s as usize].min(smallest[t as usize]);
            (smallest[s as usize], smallest[t as usize]) = (least, least);
        }
        if smallest == before {
            return smallest;
        }
    }
}

fn check(edges: &Edges, shard_arcs: u64, keep: bool) {
    let expected = painted(edges);
    let graph = edges.graph_of(shard_arcs, keep);
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| components(&graph, &mut ())).unwrap();
        assert_eq!(found.smallest, expected);
        let roots = (0..).zip(&expected).filter(|(vertex, root)| vertex == *root).count();
        assert_eq!(found.count as usize, roots);
    }
}

proptest! {
    #[test]
    fn they_are_painted_alike(edges in any_edges(), keep in any::<bool>()) {
        check(&edges, 1 << 20, keep);
    }
}

/// Long paths and many tasks: rings connected in pairs, with scattered vertex ids.
#[test]
fn many_vertices() {
    let n = 60_000u32;
    let scattered = |v: u32| (u64::from(v) * 7919 % u64::from(n)) as u32;
    let ring = (0..n).filter(|v| v % 1000 != 999 || v % 2000 == 999);
    let edges = ring.map(|v| (scattered(v), scattered((v + 1) % n)));
    let edges = Edges::undirected(n, edges);
    for directed in [false, true] {
        check(&Edges { directed, ..edges.clone() }, 1 << 20, false);
        check(&Edges { directed, ..edges.clone() }, 20_000, false);
    }
}

struct Never;

impl ripplet_graph::Observer for Never {
    fn is_cancelled(&self) -> bool {
        true
    }
}

#[test]
fn nothing_and_ends() {
    let none = components(&Edges::undirected(0, []).graph(), &mut ()).unwrap();
    assert_eq!((none.smallest.len(), none.count), (0, 0));
    let graph = Edges::undirected(3, [(2, 1)]).graph();
    let some = components(&graph, &mut ()).unwrap();
    assert_eq!((some.smallest, some.count), (vec![0, 1, 1], 2));
    assert_eq!(components(&graph, &mut Never), Err(AnalysisError::Cancelled));
    assert_eq!(components::plan(&graph).algorithm_host(), 12);
}
