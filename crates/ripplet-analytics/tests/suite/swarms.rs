//! Batches: what is found of each graph alone, bit by bit.

use super::graphs::Edges;
use super::random::any_edges;
use proptest::prelude::*;
use ripplet_analytics::RunError;
use ripplet_analytics::apsp;
use ripplet_analytics::betweenness::{self, betweenness, betweenness_of_batch};
use ripplet_analytics::closeness::{self, Closeness, closeness, closeness_of_batch};
use ripplet_graph::Direction;
use ripplet_graph::batch::{BatchBuilder, BatchRows, BatchTable, GraphBatch, Members};

const MEASURES: [Closeness; 3] =
    [Closeness::Reciprocal, Closeness::WassermanFaust, Closeness::Harmonic];

fn batch(graphs: &[Edges], directed: bool) -> GraphBatch {
    let members = Members::of_sizes(graphs.iter().map(|graph| graph.vertices)).unwrap();
    let mut rows = BatchRows::default();
    for (index, graph) in (0u32..).zip(graphs) {
        for &(source, target) in &graph.pairs {
            rows.graphs.push(index);
            rows.sources.push(source);
            rows.targets.push(target);
        }
    }
    let direction = if directed { Direction::Directed } else { Direction::Undirected };
    BatchBuilder::new().direction(direction).build(BatchTable::new(members, rows).unwrap()).unwrap()
}

fn on<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn check(graphs: &[Edges], directed: bool) {
    let whole = batch(graphs, directed);
    let alone = |of: &dyn Fn(&ripplet_graph::Graph) -> Vec<f64>| -> Vec<u64> {
        let each = graphs.iter().map(|edges| Edges { directed, ..edges.clone() }.graph());
        each.flat_map(|graph| bits(&of(&graph))).collect()
    };
    for normalized in [false, true] {
        for measure in MEASURES {
            let expected = alone(&|graph| closeness(graph, measure, normalized, &mut ()).unwrap());
            for threads in [1, 3] {
                let found =
                    on(threads, || closeness_of_batch(whole.all(), measure, normalized, &mut ()));
                assert!(bits(&found.unwrap()) == expected, "{measure:?}, {threads} threads");
            }
        }
        let expected = alone(&|graph| betweenness(graph, normalized, &mut ()).unwrap());
        for threads in [1, 3] {
            let found = on(threads, || betweenness_of_batch(whole.all(), normalized, &mut ()));
            assert!(bits(&found.unwrap()) == expected, "{threads} threads");
        }
    }
    let expected = alone(&|graph| {
        let mut all = Vec::new();
        let real = |&distance: &u32| match distance {
            apsp::NO_WAY => f64::INFINITY,
            distance => f64::from(distance),
        };
        let take = |_, row: &[u32]| {
            all.extend(row.iter().map(real));
            Ok::<_, RunError>(())
        };
        apsp::rows(graph, &mut (), take).unwrap();
        all
    });
    for threads in [1, 3] {
        let found = on(threads, || apsp::distances_of_batch(whole.all(), &mut ()));
        assert!(bits(&found.unwrap()) == expected, "{threads} threads");
    }
    check_reach(graphs, directed, &whole);
    let (some, near) = (graphs.len() / 3..graphs.len(), Closeness::Harmonic);
    let skipped = whole.slice(0..some.start).vertices() as usize;
    let of = |graphs| closeness_of_batch(graphs, near, false, &mut ()).unwrap();
    assert_eq!(of(whole.slice(some)), of(whole.all())[skipped..], "of some");
}

/// What the distances from each vertex come to: of a batch, of each graph, and what the rows say.
fn check_reach(graphs: &[Edges], directed: bool, whole: &GraphBatch) {
    let mut expected = Vec::new();
    for edges in graphs {
        let graph = Edges { directed, ..edges.clone() }.graph();
        let mut of_rows = Vec::new();
        let take = |source, row: &[u32]| {
            let ways = || (0..).zip(row).filter(|&(v, &d)| v != source && d != apsp::NO_WAY);
            of_rows.push(apsp::Reach {
                reached: ways().count() as u64,
                far: ways().map(|(_, &distance)| u64::from(distance)).sum(),
                farthest: ways().map(|(_, &distance)| distance).max().unwrap_or(0),
            });
            Ok::<_, RunError>(())
        };
        apsp::rows(&graph, &mut (), take).unwrap();
        assert_eq!(apsp::reach(&graph, &mut ()).unwrap(), of_rows);
        expected.extend(of_rows);
    }
    for threads in [1, 3] {
        let found = on(threads, || apsp::reach_of_batch(whole.all(), &mut ()));
        assert_eq!(found.unwrap(), expected, "{threads} threads");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn values_are_those_of_each_graph(
        graphs in prop::collection::vec(any_edges(), 0..12),
        directed in any::<bool>(),
    ) {
        check(&graphs, directed);
    }
}

/// Graphs without vertices, of one, of many hundred, and so many that several threads have some.
#[test]
fn graphs_of_every_size() {
    let ring = |n: u32| Edges::undirected(n, (0..n).map(|v| (v, (v + 1) % n)));
    let sizes = [0, 1, 2, 0, 700, 3, 64, 65, 1, 0];
    let mut graphs: Vec<Edges> = sizes.map(ring).into();
    graphs.extend((0..400).map(|at| ring(at % 40)));
    check(&graphs, false);
    check(&graphs, true);
}

#[test]
fn a_batch_of_nothing_and_plans() {
    let empty = batch(&[], false);
    assert_eq!(betweenness_of_batch(empty.all(), true, &mut ()), Ok(Vec::new()));
    assert_eq!(closeness_of_batch(empty.all(), Closeness::Harmonic, true, &mut ()), Ok(Vec::new()));
    // Room for the largest on each thread, and a value for each vertex.
    let ring = |n: u32| Edges::undirected(n, (0..n).map(|v| (v, (v + 1) % n)));
    let some = batch(&[ring(10), ring(100), ring(30)], false);
    let plan = |measure| closeness::plan_of_batch(some.all(), measure, 2).bytes();
    assert_eq!(plan(Closeness::WassermanFaust), 8 * 140 + 2 * (32 + 2 * 16) * 100);
    assert_eq!(plan(Closeness::Harmonic), 8 * 140 + 2 * (32 + 2 * 8) * 100);
    let links = 512 * 200 + 32;
    let found = betweenness::plan_of_batch(some.all(), 2).bytes();
    assert_eq!(found, 8 * 140 + 2 * (1576 * 100 + links));
}

/// Cancels at once.
struct Never;

impl ripplet_analytics::Observer for Never {
    fn is_cancelled(&self) -> bool {
        true
    }
}

#[test]
fn a_run_can_be_ended() {
    let some = batch(&[Edges::undirected(3, [(0, 1)])], false);
    assert_eq!(betweenness_of_batch(some.all(), false, &mut Never), Err(RunError::Cancelled));
    let near = closeness_of_batch(some.all(), Closeness::Harmonic, false, &mut Never);
    assert_eq!(near, Err(RunError::Cancelled));
}
