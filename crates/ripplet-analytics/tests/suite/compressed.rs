//! Analyses of compressed graphs return the bits that they return for the plain graph.

use super::graphs::Edges;
use ripplet_analytics::apsp::{rows, weighted_rows};
use ripplet_analytics::closeness::{Closeness, closeness};
use ripplet_analytics::components::components;
use ripplet_analytics::edge_betweenness::{edge_betweenness, ends};
use ripplet_analytics::lcc::{Definition, Lcc};
use ripplet_analytics::pagerank::PageRank;
use ripplet_analytics::{AnalysisError, Lengths, apsp, betweenness, kcore};
use ripplet_generate::Rmat;
use ripplet_graph::compressed::CompressedGraph;
use ripplet_graph::{GraphView, MAX_SHARD_ARCS};

/// Returns a graph with hubs, loops and repeated edges, whose weights are 1 to 9 eighths.
fn edges(scale: u32, edge_factor: u32, directed: bool, weighted: bool) -> Edges {
    let table = Rmat { edge_factor, ..Rmat::new(scale) }.generate().unwrap();
    let pairs = table.sources().iter().copied().zip(table.targets().iter().copied());
    let edges = Edges::directed(1 << scale, pairs);
    let weights = (0..edges.pairs.len()).map(|row| (1 + row % 9) as f64 / 8.0).collect();
    Edges { directed, weights: weighted.then_some(weights), ..edges }
}

fn bits(values: Vec<f64>) -> Vec<u64> {
    values.into_iter().map(f64::to_bits).collect()
}

/// The bits of all results of linear cost.
fn linear(graph: GraphView<'_>) -> Vec<Vec<u64>> {
    let mut found = Vec::new();
    for lcc in [Lcc::new(Definition::Ldbc).with_triangles(), Lcc::new(Definition::Fagiolo)] {
        let outcome = lcc.run(graph, &mut ()).unwrap();
        found.extend([bits(outcome.coefficients), vec![outcome.triangle_count]]);
        found.extend(outcome.triangles);
    }
    for weighted in [false, true] {
        let ranks = PageRank { weighted, ..PageRank::default() };
        found.push(bits(ranks.run(graph, &mut ()).unwrap().ranks));
    }
    let roots = components(graph, &mut ()).unwrap().smallest;
    found.push(roots.into_iter().map(u64::from).collect());
    let cores = kcore::coreness(graph, &mut ()).unwrap();
    found.push(cores.into_iter().map(u64::from).collect());
    found
}

/// The bits of all results that take a search from each vertex.
fn all_pairs(graph: GraphView<'_>, lengths: Lengths) -> Vec<Vec<u64>> {
    let mut found = Vec::new();
    for measure in [Closeness::Reciprocal, Closeness::Harmonic] {
        found.push(bits(closeness(graph, measure, false, lengths, &mut ()).unwrap()));
    }
    found.push(bits(betweenness::betweenness(graph, true, lengths, &mut ()).unwrap()));
    found.push(bits(edge_betweenness(graph, false, lengths, &mut ()).unwrap()));
    found.push(ends(graph).flat_map(|(s, t)| [u64::from(s), u64::from(t)]).collect());
    for reach in apsp::reach(graph, lengths, &mut ()).unwrap() {
        found.push(vec![reach.reached, reach.far as u64, reach.farthest]);
    }
    found.push(apsp::summary(graph, lengths, &mut ()).unwrap().eccentricities);
    let done = match lengths {
        Lengths::Hops => rows(graph, &mut (), |_, row| {
            found.push(row.iter().map(|&distance| distance.into()).collect());
            Ok::<_, AnalysisError>(())
        }),
        Lengths::Weights => weighted_rows(graph, &mut (), |_, row| {
            found.push(row.to_vec());
            Ok(())
        }),
    };
    done.unwrap();
    found
}

#[test]
fn results_of_linear_cost_are_those_of_the_plain_graph() {
    for (directed, weighted) in [(false, false), (false, true), (true, false), (true, true)] {
        let edges = edges(12, 16, directed, weighted);
        for (shard_arcs, keep) in [(MAX_SHARD_ARCS, false), (20_000, true)] {
            let graph = edges.graph_of(shard_arcs, keep);
            let expected = linear((&graph).into());
            let compressed = CompressedGraph::of(graph).unwrap();
            assert!(linear((&compressed).into()) == expected, "{directed} {weighted} {keep}");
        }
    }
}

#[test]
fn results_over_all_pairs_are_those_of_the_plain_graph() {
    // Small graphs have engines of their own: at most 128 vertices, and at most 4096.
    for (scale, edge_factor) in [(6, 4), (7, 9), (9, 100)] {
        for directed in [false, true] {
            let edges = edges(scale, edge_factor, directed, true);
            let layouts = [(MAX_SHARD_ARCS, false), (5_000, true)];
            // Of the dense graph, whose lists are longest, each layout in one direction.
            let layouts = match scale {
                9 => &layouts[usize::from(directed)..][..1],
                _ => &layouts[..],
            };
            for &(shard_arcs, keep) in layouts {
                let graph = edges.graph_of(shard_arcs, keep);
                for lengths in [Lengths::Hops, Lengths::Weights] {
                    let expected = all_pairs((&graph).into(), lengths);
                    let compressed = CompressedGraph::of(graph.clone()).unwrap();
                    let found = all_pairs((&compressed).into(), lengths);
                    assert!(found == expected, "{scale} {directed} {lengths:?} {keep}");
                }
            }
        }
    }
}
