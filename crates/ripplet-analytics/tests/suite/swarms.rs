//! Batches against runs on each of their graphs alone, bit by bit.

use super::graphs::Edges;
use super::random::any_edges;
use super::weighted::weighted_edges;
use proptest::prelude::*;
use ripplet_analytics::apsp::{self, GraphSummary};
use ripplet_analytics::betweenness::{self, betweenness, betweenness_of_batch};
use ripplet_analytics::closeness::{self, Closeness, closeness, closeness_of_batch};
use ripplet_analytics::components::{components, components_of_batch};
use ripplet_analytics::edge_betweenness::{
    EdgeValues, edge_betweenness, edge_betweenness_of_batch, ends_of_member,
};
use ripplet_analytics::lcc::{Definition, Lcc};
use ripplet_analytics::pagerank::{PageRank, Stop};
use ripplet_analytics::{AnalysisError, Lengths};
use ripplet_graph::batch::{BatchBuilder, BatchRows, BatchTable, GraphBatch, Members};
use ripplet_graph::{Direction, Duplicates, Graph};

const MEASURES: [Closeness; 3] =
    [Closeness::Reciprocal, Closeness::WassermanFaust, Closeness::Harmonic];

pub fn batch(graphs: &[Edges], directed: bool) -> GraphBatch {
    let members = Members::of_sizes(graphs.iter().map(|graph| graph.vertices)).unwrap();
    let mut rows = BatchRows::default();
    for (index, graph) in (0u32..).zip(graphs) {
        for &(source, target) in &graph.pairs {
            rows.graphs.push(index);
            rows.sources.push(source);
            rows.targets.push(target);
        }
        if let Some(weights) = &graph.weights {
            rows.weights.get_or_insert_default().extend(weights);
        }
    }
    let direction = if directed { Direction::Directed } else { Direction::Undirected };
    BatchBuilder::new()
        .direction(direction)
        .duplicates(Duplicates::Least)
        .build(BatchTable::new(members, rows).unwrap())
        .unwrap()
}

fn on<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn check(graphs: &[Edges], directed: bool, lengths: Lengths) {
    let whole = batch(graphs, directed);
    check_others(graphs, directed, &whole);
    let each = || graphs.iter().map(|edges| Edges { directed, ..edges.clone() }.graph());
    let alone = |of: &dyn Fn(&Graph) -> Vec<f64>| -> Vec<u64> {
        each().flat_map(|graph| bits(&of(&graph))).collect()
    };
    for normalized in [false, true] {
        for measure in MEASURES {
            let expected =
                alone(&|graph| closeness(graph, measure, normalized, lengths, &mut ()).unwrap());
            for threads in [1, 3] {
                let all = whole.all();
                let found =
                    on(threads, || closeness_of_batch(all, measure, normalized, lengths, &mut ()));
                assert!(bits(&found.unwrap()) == expected, "{measure:?}, {threads} threads");
            }
        }
        let along = |graph: &Graph| edge_betweenness(graph, normalized, lengths, &mut ()).unwrap();
        let expected = alone(&along);
        for threads in [1, 3] {
            let all = whole.all();
            let found =
                on(threads, || edge_betweenness_of_batch(all, normalized, lengths, &mut ()));
            let EdgeValues { starts, values } = found.unwrap();
            assert!(bits(&values) == expected, "{threads} threads");
            for (graph, range) in all.graphs().zip(starts.windows(2)) {
                assert_eq!(ends_of_member(graph).count() as u64, range[1] - range[0]);
            }
        }
        let expected = alone(&|graph| betweenness(graph, normalized, lengths, &mut ()).unwrap());
        for threads in [1, 3] {
            let all = whole.all();
            let found = on(threads, || betweenness_of_batch(all, normalized, lengths, &mut ()));
            assert!(bits(&found.unwrap()) == expected, "{threads} threads");
        }
    }
    let expected: Vec<_> =
        each().map(|graph| apsp::summary(&graph, lengths, &mut ()).unwrap()).collect();
    for threads in [1, 3] {
        let found = on(threads, || apsp::eccentricities_of_batch(whole.all(), lengths, &mut ()));
        let (summaries, eccentricities) = found.unwrap();
        assert!(summaries.iter().eq(expected.iter().map(|summary| &summary.whole)));
        assert!(
            eccentricities.iter().eq(expected.iter().flat_map(|summary| &summary.eccentricities))
        );
        let found = on(threads, || apsp::summary_of_batch(whole.all(), lengths, &mut ()));
        assert_eq!(found.unwrap(), summaries);
    }
    check_distances(&each().collect::<Vec<_>>(), lengths, &whole);
    let (some, near) = (graphs.len() / 3..graphs.len(), Closeness::Harmonic);
    let skipped = whole.slice(0..some.start).vertices() as usize;
    let of = |graphs| closeness_of_batch(graphs, near, false, lengths, &mut ()).unwrap();
    assert_eq!(of(whole.slice(some)), of(whole.all())[skipped..], "of some");
}

/// Checks all distances of a batch and of the rows of each graph, and the results derived from
/// them.
fn check_distances(graphs: &[Graph], lengths: Lengths, whole: &GraphBatch) {
    let (mut distances, mut reach) = (Vec::new(), Vec::new());
    for graph in graphs {
        let unit = if lengths == Lengths::Weights { graph.weight_scale().weight(1) } else { 1.0 };
        let of_graph = reach.len();
        let mut take_row = |source: u32, row: &[u64]| {
            let no_way = apsp::NO_WEIGHTED_PATH;
            let path_counts = || (0..).zip(row).filter(|&(v, d)| v != source && *d != no_way);
            reach.push(apsp::Reach {
                reached: path_counts().count() as u64,
                far: path_counts().map(|(_, &distance)| u128::from(distance)).sum(),
                farthest: path_counts().map(|(_, &distance)| distance).max().unwrap_or(0),
            });
            let real = |&d: &u64| if d == no_way { f64::INFINITY } else { d as f64 * unit };
            distances.extend(row.iter().map(real));
        };
        if lengths == Lengths::Weights {
            let take = |source, row: &[u64]| {
                take_row(source, row);
                Ok::<_, AnalysisError>(())
            };
            apsp::weighted_rows(graph, &mut (), take).unwrap();
        } else {
            let wide =
                |&d: &u32| if d == apsp::NO_PATH { apsp::NO_WEIGHTED_PATH } else { d.into() };
            let take = |source, row: &[u32]| {
                take_row(source, &row.iter().map(wide).collect::<Vec<_>>());
                Ok::<_, AnalysisError>(())
            };
            apsp::rows(graph, &mut (), take).unwrap();
        }
        assert_eq!(apsp::reach(graph, lengths, &mut ()).unwrap(), reach[of_graph..]);
    }
    for threads in [1, 3] {
        let found = on(threads, || apsp::distances_of_batch(whole.all(), lengths, &mut ()));
        assert!(bits(&found.unwrap()) == bits(&distances), "{threads} threads");
        let found = on(threads, || apsp::reach_of_batch(whole.all(), lengths, &mut ()));
        assert_eq!(found.unwrap(), reach, "{threads} threads");
    }
}

/// Checks the analytics that do not depend on lengths.
fn check_others(graphs: &[Edges], directed: bool, whole: &GraphBatch) {
    let each: Vec<Graph> =
        graphs.iter().map(|edges| Edges { directed, ..edges.clone() }.graph()).collect();
    let found: Vec<_> = each.iter().map(|graph| components(graph, &mut ()).unwrap()).collect();
    for threads in [1, 3] {
        let all = on(threads, || components_of_batch(whole.all(), &mut ())).unwrap();
        assert!(all.smallest.iter().eq(found.iter().flat_map(|found| &found.smallest)));
        assert!(all.counts.iter().eq(found.iter().map(|found| &found.count)));
    }
    for weighted in [false, true] {
        for stop in [Stop::Rounds(3), Stop::Tolerance { tolerance: 1e-9, rounds: 200 }] {
            let settings = PageRank { stop, weighted, ..PageRank::default() };
            let found: Vec<_> =
                each.iter().map(|graph| settings.run(graph, &mut ()).unwrap()).collect();
            for threads in [1, 3] {
                let all = on(threads, || settings.run_batch(whole.all(), &mut ())).unwrap();
                let expected = found.iter().flat_map(|found| bits(&found.ranks));
                assert!(bits(&all.ranks).into_iter().eq(expected));
                assert!(all.ends.iter().eq(found.iter().map(|found| &found.end)));
            }
        }
    }
    for definition in [Definition::Ldbc, Definition::Fagiolo] {
        let lcc = Lcc::new(definition).with_triangles();
        let found: Vec<_> = each.iter().map(|graph| lcc.run(graph, &mut ()).unwrap()).collect();
        for threads in [1, 3] {
            let all = on(threads, || lcc.run_batch(whole.all(), &mut ())).unwrap();
            let expected = found.iter().flat_map(|found| bits(&found.coefficients));
            assert!(bits(&all.coefficients).into_iter().eq(expected));
            let expected = found.iter().flat_map(|found| found.triangles.as_ref().unwrap());
            assert!(all.triangles.unwrap().iter().eq(expected));
            let expected = found.iter().map(|found| &found.triangle_count);
            assert!(all.triangle_counts.iter().eq(expected));
            let plain =
                on(threads, || Lcc::new(definition).run_batch(whole.all(), &mut ())).unwrap();
            assert_eq!((plain.coefficients, plain.triangles), (all.coefficients, None));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn values_are_those_of_each_graph(
        graphs in prop::collection::vec(any_edges(), 0..12),
        directed in any::<bool>(),
    ) {
        check(&graphs, directed, Lengths::Hops);
        // Without weights, a path's length is its number of arcs.
        check(&graphs, directed, Lengths::Weights);
    }

    #[test]
    fn weighted_values_are_those_of_each_graph(
        graphs in prop::collection::vec(weighted_edges(1), 0..12),
        directed in any::<bool>(),
    ) {
        check(&graphs, directed, Lengths::Weights);
        check(&graphs, directed, Lengths::Hops);
    }
}

/// Graphs of 0, 1 and many hundred vertices, and enough graphs for several threads.
#[test]
fn graphs_of_every_size() {
    let ring = |n: u32| Edges::undirected(n, (0..n).map(|v| (v, (v + 1) % n)));
    let sizes = [0, 1, 2, 0, 700, 3, 64, 65, 1, 0];
    let mut graphs: Vec<Edges> = sizes.map(ring).into();
    graphs.extend((0..400).map(|at| ring(at % 40)));
    check(&graphs, false, Lengths::Hops);
    check(&graphs, true, Lengths::Hops);
    let weigh = |graph: Edges| Edges {
        weights: Some((0..graph.pairs.len()).map(|at| 1.0 + (at * at % 7) as f64 / 4.0).collect()),
        ..graph
    };
    let graphs: Vec<Edges> = graphs.into_iter().map(weigh).collect();
    check(&graphs, false, Lengths::Weights);
}

#[test]
fn a_batch_of_nothing_and_plans() {
    let empty = batch(&[], false);
    assert_eq!(betweenness_of_batch(empty.all(), true, Lengths::Hops, &mut ()), Ok(Vec::new()));
    assert_eq!(
        closeness_of_batch(empty.all(), Closeness::Harmonic, true, Lengths::Hops, &mut ()),
        Ok(Vec::new())
    );
    // Memory for the largest graph on each thread, and a value for each vertex.
    let ring = |n: u32| Edges::undirected(n, (0..n).map(|v| (v, (v + 1) % n)));
    let some = batch(&[ring(10), ring(100), ring(30)], false);
    let plan =
        |measure| closeness::plan_of_batch(some.all(), measure, Lengths::Hops, 2).algorithm_host();
    assert_eq!(plan(Closeness::WassermanFaust), 8 * 140 + 2 * (32 + 2 * 16) * 100);
    assert_eq!(plan(Closeness::Harmonic), 8 * 140 + 2 * (32 + 2 * 8) * 100);
    let arcs = 528 * 200 + 288;
    let found = betweenness::plan_of_batch(some.all(), Lengths::Hops, 2).algorithm_host();
    assert_eq!(found, 8 * 140 + 2 * ((2233 + 8) * 100 + arcs));
    let of_summaries = apsp::plan_of_batch(some.all(), Lengths::Weights, 2).algorithm_host();
    let summary = size_of::<GraphSummary>() as u64;
    assert_eq!(of_summaries, 3 * summary + 2 * (32 + 2 * 24) * 100);
}

/// An observer that cancels at once.
struct Never;

impl ripplet_graph::Observer for Never {
    fn is_cancelled(&self) -> bool {
        true
    }
}

#[test]
fn a_run_can_be_ended() {
    let some = batch(&[Edges::undirected(3, [(0, 1)])], false);
    assert_eq!(
        betweenness_of_batch(some.all(), false, Lengths::Hops, &mut Never),
        Err(AnalysisError::Cancelled)
    );
    let near =
        closeness_of_batch(some.all(), Closeness::Harmonic, false, Lengths::Hops, &mut Never);
    assert_eq!(near, Err(AnalysisError::Cancelled));
}
