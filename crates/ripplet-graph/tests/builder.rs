//! The builder against the plainest oracle: a sorted map of sorted lists.

use proptest::prelude::*;
use ripplet_graph::{
    Direction, Duplicates, EdgeTable, Graph, GraphBuilder, Neighbors, SelfLoops, VertexIds,
    WeightLedger,
};
use std::collections::BTreeMap;

/// A row: two ends and a weight.
type Row = (u32, u32, f64);

#[derive(Clone, Copy, Debug)]
struct Options {
    directed: bool,
    both_directions: bool,
    weighted: bool,
    loops: SelfLoops,
    duplicates: Duplicates,
}

impl Options {
    fn table(&self, vertices: u32, rows: &[Row]) -> EdgeTable {
        let ids = VertexIds::Consecutive { first: 0, count: vertices };
        let (sources, targets) = rows.iter().map(|&(s, t, _)| (s, t)).unzip();
        let mut table = EdgeTable::new(ids, sources, targets).unwrap();
        if self.weighted {
            table = table.with_weights(rows.iter().map(|row| row.2).collect()).unwrap();
        }
        if self.both_directions { table.in_both_directions() } else { table }
    }

    fn build(&self, vertices: u32, rows: &[Row], shard_arcs: u64) -> Graph {
        let direction = if self.directed { Direction::Directed } else { Direction::Undirected };
        GraphBuilder::new()
            .direction(direction)
            .self_loops(self.loops)
            .duplicates(self.duplicates)
            .shard_arcs(shard_arcs)
            .weight_ledger(&WeightLedger::new(true))
            .build(self.table(vertices, rows))
            .unwrap()
    }

    /// Returns every arc that the rows stand for, `(owner, neighbour, weight)`: outgoing and
    /// incoming.
    fn arcs(&self, rows: &[Row]) -> [Vec<Row>; 2] {
        let [mut out, mut incoming] = [Vec::new(), Vec::new()];
        for &(s, t, w) in rows {
            if s == t {
                if self.loops == SelfLoops::Keep {
                    out.push((s, s, w));
                    incoming.push((s, s, w));
                }
                continue;
            }
            out.push((s, t, w));
            incoming.push((t, s, w));
            if !self.directed || self.both_directions {
                out.push((t, s, w));
                incoming.push((s, t, w));
            }
        }
        [out, incoming]
    }

    /// Returns the expected lists of the graph: neighbours with stored weights, ascending.
    fn lists(&self, arcs: Vec<Row>, graph: &Graph) -> BTreeMap<u32, Vec<(u32, u64)>> {
        let scale = graph.weight_scale();
        let mut lists: BTreeMap<u32, Vec<(u32, u64)>> = BTreeMap::new();
        for (owner, neighbor, weight) in arcs {
            let stored = if self.weighted { u64::from(scale.quantize(weight)) } else { 1 };
            lists.entry(owner).or_default().push((neighbor, stored));
        }
        for list in lists.values_mut() {
            list.sort_unstable();
            if self.duplicates == Duplicates::Merge {
                let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
                for &(neighbor, weight) in &*list {
                    *sums.entry(neighbor).or_default() += weight;
                }
                *list = sums.into_iter().collect();
            }
            // Ascending by weight, too: the first of equal neighbours has the smallest.
            if self.duplicates == Duplicates::Least {
                list.dedup_by_key(|&mut (neighbor, _)| neighbor);
            }
        }
        lists
    }

    fn check(&self, vertices: u32, rows: &[Row], graph: &Graph) {
        assert_eq!(graph.vertices(), vertices);
        assert_eq!(graph.is_weighted(), self.weighted && vertices > 0);
        let [out, incoming] = self.arcs(rows).map(|arcs| self.lists(arcs, graph));
        check_lists(self, graph, &out, |shard| Some(shard.out()));
        if self.directed {
            check_lists(self, graph, &incoming, |shard| shard.incoming());
        }
        let arcs: usize = out.values().map(Vec::len).sum();
        let loops: usize =
            out.iter().map(|(v, list)| list.iter().filter(|(u, _)| u == v).count()).sum();
        assert_eq!(graph.arcs(), arcs as u64);
        assert_eq!(graph.self_loops(), loops as u64);
        let edges = if self.directed { arcs } else { (arcs - loops) / 2 + loops };
        assert_eq!(graph.edges(), edges as u64);
    }
}

fn check_lists(
    options: &Options,
    graph: &Graph,
    expected: &BTreeMap<u32, Vec<(u32, u64)>>,
    side: impl Fn(&ripplet_graph::Shard) -> Option<Neighbors<'_>>,
) {
    for v in 0..graph.vertices() {
        let shard = graph.shard_of(v);
        let local = (v - shard.vertices().start) as usize;
        let list = side(shard).expect("this side exists");
        let weights = list.weights_of(local);
        let found: Vec<(u32, u64)> = list
            .of(local)
            .iter()
            .enumerate()
            .map(|(i, &u)| (u, weights.map_or(1, |weights| u64::from(weights[i]))))
            .collect();
        let mut wanted = expected.get(&v).cloned().unwrap_or_default();
        if !options.weighted {
            wanted.iter_mut().for_each(|(_, weight)| *weight = 1);
        }
        assert_eq!(found, wanted, "vertex {v}, {options:?}");
    }
}

fn options() -> impl Strategy<Value = Options> {
    let duplicates =
        prop_oneof![Just(Duplicates::Merge), Just(Duplicates::Least), Just(Duplicates::Keep)];
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), duplicates);
    flags.prop_map(|(directed, both_directions, weighted, keep_loops, duplicates)| Options {
        directed,
        both_directions,
        weighted,
        loops: if keep_loops { SelfLoops::Keep } else { SelfLoops::Drop },
        duplicates,
    })
}

/// Generates few vertices, so that duplicates and loops are frequent; whole or real weights.
fn rows() -> impl Strategy<Value = (u32, Vec<Row>)> {
    let weight = prop_oneof![
        (0u32..50).prop_map(f64::from).boxed(),
        (0.0f64..1e6).boxed(),
        Just(0.0).boxed()
    ];
    let weights = prop_oneof![Just(true), Just(false)];
    (1u32..24, weights).prop_flat_map(move |(vertices, whole)| {
        let row = (0..vertices, 0..vertices, weight.clone());
        prop::collection::vec(row, 0..120).prop_map(move |mut rows| {
            if whole {
                rows.iter_mut().for_each(|row| row.2 = row.2.floor());
            }
            (vertices, rows)
        })
    })
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lists_are_those_of_the_oracle(options in options(), (vertices, rows) in rows()) {
        let graph = options.build(vertices, &rows, 1 << 31);
        options.check(vertices, &rows, &graph);
        prop_assert_eq!(graph.shards().len(), 1);
    }

    #[test]
    fn shards_change_nothing(
        options in options(),
        (vertices, rows) in rows(),
        limit in 1u64..40,
    ) {
        let graph = options.build(vertices, &rows, limit);
        options.check(vertices, &rows, &graph);
        for shard in graph.shards() {
            let arcs = shard.out().neighbors().len() as u64;
            let alone = shard.vertices().len() == 1;
            prop_assert!(arcs <= limit || alone, "{} arcs in a shard of {}", arcs, limit);
        }
    }

    #[test]
    fn the_order_of_rows_changes_nothing(
        options in options(),
        (vertices, rows) in rows(),
        shuffled in Just(()).prop_perturb(|(), mut random| random.next_u64()),
    ) {
        let graph = options.build(vertices, &rows, 1 << 31);
        let mut other = rows.clone();
        let mut state = shuffled;
        for last in (1..other.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            other.swap(last, (state >> 33) as usize % (last + 1));
        }
        prop_assert_eq!(graph, options.build(vertices, &other, 1 << 31));
    }
}

/// Returns a table large enough for several ranges and tasks: 2¹⁸ rows over 5,000 vertices. Some are loops,
/// many are duplicates, and one vertex has a tenth of all arcs.
fn large_rows() -> (u32, Vec<Row>) {
    let vertices = 5_000u32;
    let mut state = 1u64;
    let mut next = |bound: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let rows = (0..1 << 18)
        .map(|_| {
            let s = if next(10) == 0 { 77 } else { next(u64::from(vertices)) as u32 };
            let t = next(u64::from(vertices / 2)) as u32;
            (s, t, next(1 << 20) as f64 / 8.0)
        })
        .collect();
    (vertices, rows)
}

#[test]
fn large_tables_are_the_oracles_on_any_number_of_threads() {
    let (vertices, rows) = large_rows();
    for bits in 0..8 {
        let options = Options {
            directed: bits & 1 != 0,
            both_directions: bits & 2 != 0,
            weighted: bits & 4 != 0,
            loops: if bits & 1 != 0 { SelfLoops::Keep } else { SelfLoops::Drop },
            duplicates: match bits {
                7 => Duplicates::Keep,
                4 | 6 => Duplicates::Least,
                _ => Duplicates::Merge,
            },
        };
        for shard_arcs in [1 << 31, 150_000] {
            let on = |threads| pool(threads).install(|| options.build(vertices, &rows, shard_arcs));
            let graph = on(1);
            options.check(vertices, &rows, &graph);
            assert!(graph == on(2) && graph == on(7), "{options:?}: threads differ");
            assert_eq!(graph.shards().len() > 1, shard_arcs < 1 << 31);
        }
    }
}

#[test]
fn weights_that_add_up_beyond_32_bits_get_a_coarser_scale() {
    let options = Options {
        directed: false,
        both_directions: false,
        weighted: true,
        loops: SelfLoops::Keep,
        duplicates: Duplicates::Merge,
    };
    // 3000 times 4·10⁹ between 0 and 1: 1.2·10¹³, 44 bits; beside it a small edge and a loop.
    let mut rows = vec![(0, 1, 4e9); 3000];
    rows.extend([(1, 2, 7.0), (2, 2, 1e6)]);
    let build = |threads| pool(threads).install(|| options.build(3, &rows, 1 << 31));
    let graph = build(1);
    assert!(graph == build(2) && graph == build(7));
    options.check(3, &rows, &graph);
    let scale = graph.weight_scale();
    assert!(scale.code() < 0, "{scale:?}");
    let list = graph.shard_of(0).out();
    let weight =
        |v: usize, i: usize| scale.weight(u64::from(list.weights_of(v).expect("weighted")[i]));
    assert!((weight(0, 0) / 1.2e13 - 1.0).abs() < 1e-6, "{}", weight(0, 0));
    assert_eq!(weight(0, 0), weight(1, 0), "both directions agree");
    assert!(weight(1, 1) > 0.0, "a small weight does not vanish");

    // The small edge changes too much to be rounded silently: the unit is the first at which the sum fits.
    let refused = GraphBuilder::new().build(options.table(3, &rows));
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("2 of 3002 weights") && error.contains("(7 to 4096)"), "{error}");

    // `Least` and multigraphs add nothing up: weights stay as they are.
    let least = Options { duplicates: Duplicates::Least, ..options }.build(3, &rows, 1 << 31);
    assert_eq!(least.weight_scale().code(), 0);
    assert_eq!(least.shards()[0].out().weights_of(1), Some(&[4_000_000_000, 7][..]));
    let kept = Options { duplicates: Duplicates::Keep, ..options }.build(3, &rows, 1 << 31);
    assert_eq!(kept.weight_scale().code(), 0);
    assert_eq!(kept.arcs(), 2 * 3001 + 1);
}

#[test]
fn no_vertices_no_edges() {
    let options = Options {
        directed: true,
        both_directions: false,
        weighted: true,
        loops: SelfLoops::Keep,
        duplicates: Duplicates::Merge,
    };
    for directed in [false, true] {
        let options = Options { directed, ..options };
        for vertices in [0, 1, 5] {
            let graph = options.build(vertices, &[], 1);
            assert_eq!((graph.vertices(), graph.arcs(), graph.max_degree()), (vertices, 0, 0));
            options.check(vertices, &[], &graph);
        }
    }
}
