//! Random multigraphs against the oracle: equal bit by bit for any number of threads and any
//! shards.

use super::graphs::Edges;
use super::machines::run;
use super::oracle::Oracle;
use proptest::prelude::*;
use ripplet_analytics::lcc::Definition;

/// Generates few vertices with many edges, or many with few: loops, duplicates, reciprocal edges,
/// isolated vertices.
pub fn any_edges() -> impl Strategy<Value = Edges> {
    (1u32..60, any::<bool>(), 0usize..3).prop_flat_map(|(vertices, directed, size)| {
        let most = [15, 150, 1500][size];
        prop::collection::vec((0..vertices, 0..vertices), 0..most).prop_map(move |pairs| Edges {
            vertices,
            pairs,
            weights: None,
            directed,
        })
    })
}

/// Returns the length of the longest list, duplicates and loops included.
fn longest_list(edges: &Edges) -> u64 {
    let mut arcs = vec![0; edges.vertices as usize];
    for &(s, t) in &edges.pairs {
        arcs[s as usize] += 1;
        arcs[t as usize] += 1;
    }
    arcs.into_iter().max().unwrap_or(1)
}

#[test]
fn graphs_of_several_shards_are_among_them() {
    let edges = Edges::undirected(50, (0..200).map(|i| (i * 7 % 50, i * 11 % 50)));
    assert!(edges.graph_of(longest_list(&edges), true).shards().len() > 3);
}

proptest! {
    #[test]
    fn outcomes_are_the_oracles(edges in any_edges(), keep in any::<bool>(), shard in 0usize..3) {
        let oracle = Oracle::new(&edges);
        // A shard must have room for the longest list.
        let longest = longest_list(&edges);
        let graph = edges.graph_of([longest, longest + 7, 1 << 20][shard], keep);
        for definition in [Definition::Ldbc, Definition::Fagiolo] {
            let expected = oracle.coefficients(definition);
            for threads in [1, 2, 7] {
                let found = run(&graph, definition, threads);
                let bits = |values: &[f64]| values.iter().map(|c| c.to_bits()).collect::<Vec<_>>();
                prop_assert_eq!(bits(&found.coefficients), bits(&expected), "{:?}", definition);
                let triangles = found.triangles.unwrap();
                prop_assert_eq!(triangles.iter().sum::<u64>(), 3 * found.triangle_count);
                prop_assert_eq!(triangles, oracle.triangles());
            }
        }
    }
}
