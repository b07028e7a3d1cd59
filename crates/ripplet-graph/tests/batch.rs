//! A batch against `GraphBuilder`, which builds each graph separately and by another algorithm.

use proptest::prelude::*;
use ripplet_graph::batch::{
    BatchBuilder, BatchError, BatchGraph, BatchRows, BatchSlice, BatchTable, BatchTableError,
    BatchVertex, GraphBatch, InvalidBatch, Members,
};
use ripplet_graph::{
    Direction, Duplicates, EdgeTable, ExternalId, Graph, GraphBuilder, Names, Neighbors, SelfLoops,
    VertexIds, WeightLedger,
};
use std::collections::BTreeSet;

/// A row: its graph, two ends and a weight.
type Row = (u32, u32, u32, f64);

#[derive(Clone, Copy, Debug)]
struct Options {
    direction: Direction,
    both_directions: bool,
    weighted: bool,
    loops: SelfLoops,
    duplicates: Duplicates,
}

impl Options {
    fn of_flags([directed, both_directions, weighted, loops, keep, least]: [bool; 6]) -> Options {
        Options {
            direction: if directed { Direction::Directed } else { Direction::Undirected },
            both_directions,
            weighted,
            loops: if loops { SelfLoops::Keep } else { SelfLoops::Drop },
            duplicates: match (keep, least) {
                (true, _) => Duplicates::Keep,
                (false, true) => Duplicates::Least,
                (false, false) => Duplicates::Merge,
            },
        }
    }

    fn batch(&self, sizes: &[u32], rows: &[Row]) -> GraphBatch {
        let builder = BatchBuilder::new().direction(self.direction).weight_ledger(&coarse());
        let table = self.table(sizes, rows);
        builder.self_loops(self.loops).duplicates(self.duplicates).build(table).unwrap()
    }

    fn table(&self, sizes: &[u32], rows: &[Row]) -> BatchTable {
        let columns = BatchRows {
            graphs: rows.iter().map(|row| row.0).collect(),
            sources: rows.iter().map(|row| row.1).collect(),
            targets: rows.iter().map(|row| row.2).collect(),
            weights: self.weighted.then(|| rows.iter().map(|row| row.3).collect()),
        };
        let members = Members::of_sizes(sizes.iter().copied()).unwrap();
        let mut table = BatchTable::new(members, columns).unwrap();
        if self.both_directions {
            table = table.in_both_directions();
        }
        table
    }

    /// Returns the graph that `GraphBuilder` builds from one graph's rows, in their order.
    fn alone(&self, vertices: u32, rows: &[&Row]) -> Graph {
        let ids = VertexIds::Consecutive { first: 0, count: vertices };
        let (sources, targets) = rows.iter().map(|row| (row.1, row.2)).unzip();
        let mut table = EdgeTable::new(ids, sources, targets).unwrap();
        if self.weighted {
            table = table.with_weights(rows.iter().map(|row| row.3).collect()).unwrap();
        }
        if self.both_directions {
            table = table.in_both_directions();
        }
        let builder = GraphBuilder::new().direction(self.direction).weight_ledger(&coarse());
        builder.self_loops(self.loops).duplicates(self.duplicates).build(table).unwrap()
    }

    fn check(&self, sizes: &[u32], rows: &[Row], batch: &GraphBatch) {
        assert_eq!(batch.len(), sizes.len());
        assert_eq!(batch.vertices(), sizes.iter().map(|&size| u64::from(size)).sum::<u64>());
        assert_eq!((batch.direction(), batch.is_weighted()), (self.direction, self.weighted));
        let mut rows_of = vec![Vec::new(); sizes.len()];
        rows.iter().for_each(|row| rows_of[row.0 as usize].push(row));
        let (mut arcs, mut start) = (0, 0);
        for (index, member) in batch.all().graphs().enumerate() {
            let graph = self.alone(sizes[index], &rows_of[index]);
            assert_eq!((member.index(), member.vertices()), (index, sizes[index]));
            assert_eq!(member.vertex_range().start, BatchVertex::new(start));
            start += u64::from(sizes[index]);
            assert_eq!(member.vertex_range().end, BatchVertex::new(start));
            arcs += member.arcs();
            // A graph without vertices has no shard to compare with.
            let Some(shard) = graph.shards().first() else {
                assert_eq!((member.out().offsets(), member.arcs()), (&[0][..], 0));
                continue;
            };
            assert_eq!(graph.shards().len(), 1);
            let same = |a: Neighbors<'_>, b: Neighbors<'_>| {
                assert_eq!(a.offsets(), b.offsets(), "graph {index}, {self:?}");
                assert_eq!(a.neighbors(), b.neighbors(), "graph {index}, {self:?}");
                assert_eq!(a.weights(), b.weights(), "graph {index}, {self:?}");
            };
            same(member.out(), shard.out());
            assert_eq!(member.incoming().is_some(), shard.incoming().is_some());
            if let (Some(a), Some(b)) = (member.incoming(), shard.incoming()) {
                same(a, b);
            }
            assert_eq!(member.weight_scale(), graph.weight_scale(), "graph {index}, {self:?}");
            assert!(member.to_graph().unwrap() == graph, "graph {index}, {self:?}");
        }
        assert_eq!(batch.arcs(), arcs);
        let edges = batch.all().graphs().map(|graph| graph.to_graph().unwrap().edges());
        assert!(batch.all().edges_of_each().unwrap().into_iter().eq(edges));
    }
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// Weights of any magnitude, with no limit on their rounding.
fn coarse() -> WeightLedger {
    WeightLedger::new(true)
}

/// Generates a few graphs, some with no vertex or one, and rows of them in any order; no rows if
/// all graphs are empty.
fn sizes_and_rows() -> impl Strategy<Value = (Vec<u32>, Vec<Row>)> {
    let size = prop_oneof![Just(0u32), Just(1), 2u32..12];
    let weight = prop_oneof![
        (0u32..50).prop_map(f64::from).boxed(),
        (0.0f64..1e6).boxed(),
        Just(4e9).boxed(),
        Just(1e-12).boxed()
    ];
    let row = (any::<u32>(), any::<u32>(), any::<u32>(), weight);
    let rows = prop::collection::vec(row, 0..150);
    (prop::collection::vec(size, 0..8), rows, any::<bool>()).prop_map(|(sizes, rows, grouped)| {
        let some: Vec<u32> = (0..sizes.len() as u32).filter(|&g| sizes[g as usize] > 0).collect();
        let rows = if some.is_empty() { Vec::new() } else { rows };
        let within = |(graph, s, t, weight): Row| {
            let graph = some[graph as usize % some.len()];
            let size = sizes[graph as usize];
            (graph, s % size, t % size, weight)
        };
        let mut rows: Vec<Row> = rows.into_iter().map(within).collect();
        if grouped {
            rows.sort_by_key(|row| row.0);
        }
        (sizes, rows)
    })
}

/// The last possible id has no successor.
#[test]
fn a_graph_of_the_last_id_alone() {
    let graphs = VertexIds::Consecutive { first: 0, count: 1 };
    let ends = VertexIds::Unsigned(vec![u64::MAX].into());
    let columns = BatchRows { graphs: vec![0], sources: vec![0], targets: vec![0], weights: None };
    let table = BatchTable::of_ends(graphs, &ends, columns).unwrap();
    let batch = BatchBuilder::new().build(table).unwrap();
    assert_eq!(batch.graph(0).vertex_id(0), ExternalId::Unsigned(u64::MAX));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_graph_is_that_of_the_other_builder(
        flags in any::<[bool; 6]>(),
        (sizes, rows) in sizes_and_rows(),
    ) {
        let options = Options::of_flags(flags);
        options.check(&sizes, &rows, &options.batch(&sizes, &rows));
    }

    #[test]
    fn slices_are_parts_of_the_arrays(
        flags in any::<[bool; 6]>(),
        (sizes, rows) in sizes_and_rows(),
        ends in any::<[u32; 2]>(),
    ) {
        let batch = Options::of_flags(flags).batch(&sizes, &rows);
        let mut ends = ends.map(|end| end as usize % (sizes.len() + 1));
        ends.sort_unstable();
        let slice = batch.slice(ends[0]..ends[1]);
        prop_assert_eq!(slice.len(), ends[1] - ends[0]);
        let (flat, whole) = (slice.out(), batch.all().out());
        prop_assert_eq!(flat.arc_starts, &whole.arc_starts[ends[0]..=ends[1]]);
        prop_assert_eq!(slice.arcs(), flat.arc_starts[slice.len()] - flat.arc_starts[0]);
        let (mut offsets, mut neighbors, mut vertices) = (vec![], vec![], 0);
        for (at, graph) in slice.graphs().enumerate() {
            prop_assert_eq!(graph.index(), ends[0] + at);
            prop_assert_eq!(slice.graph(at).out().neighbors(), graph.out().neighbors());
            offsets.extend_from_slice(graph.out().offsets());
            neighbors.extend_from_slice(graph.out().neighbors());
            vertices += u64::from(graph.vertices());
        }
        prop_assert_eq!(flat.offsets, &offsets[..]);
        prop_assert_eq!(flat.neighbors, &neighbors[..]);
        prop_assert_eq!(slice.vertices(), vertices);
        if let Some(weights) = flat.weights {
            prop_assert_eq!(weights.len(), neighbors.len());
        }
        // A slice borrows: its arrays are those of the batch.
        let first = whole.neighbors[whole.arc_starts[ends[0]] as usize..].as_ptr();
        prop_assert_eq!(flat.neighbors.as_ptr(), first);
        let all = slice.slice(0..slice.len());
        prop_assert_eq!(all.vertex_range(), slice.vertex_range());
    }
}

/// Several chunks of the builder and many tasks: 6,000 graphs, one of them with a tenth of all rows, and
/// 2¹⁸ rows.
fn many_rows() -> (Vec<u32>, Vec<Row>) {
    let mut state = 1u64;
    let mut next = |bound: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % bound) as u32
    };
    let mut sizes: Vec<u32> = (0..6000).map(|_| next(3) * next(20)).collect();
    sizes[77] = 900;
    let mut rows = Vec::new();
    while rows.len() < 1 << 18 {
        let graph = if next(10) == 0 { 77 } else { next(6000) };
        let size = u64::from(sizes[graph as usize]);
        if size > 0 {
            rows.push((graph, next(size), next(size), f64::from(next(1 << 20)) / 8.0));
        }
    }
    (sizes, rows)
}

#[test]
fn many_graphs_are_the_same_on_any_number_of_threads() {
    let (sizes, mut rows) = many_rows();
    for grouped in [false, true] {
        if grouped {
            rows.sort_by_key(|row| row.0);
        }
        for flags in [
            [false, false, false, false, false, false],
            [true, false, true, true, false, false],
            [true, false, true, false, false, true],
            [true, true, false, true, true, false],
        ] {
            let options = Options::of_flags(flags);
            let on = |threads| pool(threads).install(|| options.batch(&sizes, &rows));
            let batch = on(1);
            assert!(batch == on(2) && batch == on(5), "{options:?}: threads differ");
            options.check(&sizes, &rows, &batch);
        }
    }
}

#[test]
fn sums_that_overflow_make_their_own_graph_coarser_and_no_other() {
    let options = Options::of_flags([true, false, true, false, false, false]);
    let mut rows = vec![(0, 0, 1, 4e9), (0, 1, 0, 3.0)];
    rows.extend([(1, 0, 1, 4e9); 3000]);
    let batch = options.batch(&[2, 2], &rows);
    options.check(&[2, 2], &rows, &batch);
    let exponents = [0, 1].map(|graph| batch.graph(graph).weight_scale().code());
    assert_eq!((exponents[0], exponents[1] < 0), (0, true));
}

#[test]
fn ids_come_back_by_graph_and_by_vertex() {
    let options = Options::of_flags([false; 6]);
    let batch = options.batch(&[2, 0, 1], &[(0, 0, 1, 1.0)]);
    assert_eq!(batch.graph(2).id(), ExternalId::Unsigned(2));
    assert_eq!(batch.graph(2).vertex_id(0), ExternalId::Unsigned(0));
    assert_eq!(batch.members().locate(batch.graph(2).place_of(0)), Some((2, 0)));
    assert_eq!(batch.graph(0).vertex_id(1), ExternalId::Unsigned(1));
}

#[test]
fn no_graphs_and_empty_graphs() {
    for weighted in [false, true] {
        for directed in [false, true] {
            let options = Options::of_flags([directed, false, weighted, true, false, false]);
            for sizes in [&[][..], &[0], &[0, 0, 1], &[1, 0, 5]] {
                let batch = options.batch(sizes, &[]);
                options.check(sizes, &[], &batch);
                assert_eq!(batch.is_empty(), sizes.is_empty());
            }
        }
    }
}

/// Returns everything that a graph of a batch exposes, ids included.
fn seen(graph: BatchGraph<'_>) -> impl PartialEq + std::fmt::Debug {
    let lists = |lists: Neighbors<'_>| {
        (lists.offsets().to_vec(), lists.neighbors().to_vec(), lists.weights().map(<[u32]>::to_vec))
    };
    let ids: Vec<String> =
        (0..graph.vertices()).map(|vertex| graph.vertex_id(vertex).to_string()).collect();
    (graph.id().to_string(), ids, lists(graph.out()), graph.incoming().map(lists))
}

/// Input of the collector for one graph: ids of one kind, rows, and whether a row stands for both
/// directions.
#[derive(Clone, Debug)]
struct Alone {
    ids: VertexIds,
    rows: Vec<(u32, u32, f64)>,
    both: bool,
}

fn graphs_of_all_kinds() -> impl Strategy<Value = Vec<Alone>> {
    let ids = prop_oneof![
        (0u64..20, 0u32..8).prop_map(|(first, count)| VertexIds::Consecutive { first, count }),
        prop::collection::btree_set(0u64..300, 0..8)
            .prop_map(|ids| VertexIds::Unsigned(ids.into_iter().collect::<Vec<_>>().into())),
        Just(VertexIds::Unsigned(vec![3, u64::MAX].into())),
        prop::collection::btree_set(-99i64..99, 0..8)
            .prop_map(|ids| VertexIds::Signed(ids.into_iter().collect::<Vec<_>>().into())),
        prop::collection::btree_set("[0-9a-c]{1,2}", 0..8)
            .prop_map(|ids| VertexIds::Names(Names::new(ids.iter().map(String::as_str)))),
    ];
    let rows = prop::collection::vec((any::<u32>(), any::<u32>(), 0.0f64..9.0), 0..12);
    let one = (ids, rows, any::<bool>()).prop_map(|(ids, rows, both)| {
        let size = ids.len() as u32;
        let rows = if size == 0 { Vec::new() } else { rows };
        let rows = rows.into_iter().map(|(s, t, w)| (s % size, t % size, w)).collect();
        Alone { ids, rows, both }
    });
    prop::collection::vec(one, 0..6)
}

impl Alone {
    fn table(&self, weighted: bool) -> EdgeTable {
        let (sources, targets) = self.rows.iter().map(|row| (row.0, row.1)).unzip();
        let mut table = EdgeTable::new(self.ids.clone(), sources, targets).unwrap();
        if weighted {
            table = table.with_weights(self.rows.iter().map(|row| row.2).collect()).unwrap();
        }
        if self.both { table.in_both_directions() } else { table }
    }

    /// Returns the arcs of the graph that `GraphBuilder` builds, by the names of their ends.
    fn arcs(&self, options: Options) -> Vec<(String, String, Option<u32>)> {
        let builder = GraphBuilder::new().direction(options.direction).weight_ledger(&coarse());
        let builder = builder.self_loops(options.loops).duplicates(options.duplicates);
        let graph = builder.build(self.table(options.weighted)).unwrap();
        let mut arcs = Vec::new();
        for shard in graph.shards() {
            let name = |vertex: u32| graph.ids().get(vertex).to_string();
            arcs.extend(named(shard.out(), name));
        }
        arcs.sort();
        arcs
    }
}

fn named(lists: Neighbors<'_>, name: impl Fn(u32) -> String) -> Vec<(String, String, Option<u32>)> {
    let mut arcs = Vec::new();
    for vertex in 0..lists.offsets().len() - 1 {
        let begin = lists.offsets()[vertex] as usize;
        for (at, &neighbor) in lists.of(vertex).iter().enumerate() {
            let weight = lists.weights().map(|weights| weights[begin + at]);
            arcs.push((name(vertex as u32), name(neighbor), weight));
        }
    }
    arcs
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_copied_slice_has_the_same_graphs(
        flags in any::<[bool; 6]>(),
        (sizes, rows) in sizes_and_rows(),
        size in 0u64..200,
    ) {
        let batch = Options::of_flags(flags).batch(&sizes, &rows);
        let mut first = 0;
        while first < batch.len() {
            let part = batch.slice(first..batch.len()).leading(size);
            let size_of = |part: BatchSlice<'_>| part.vertices() + part.arcs() + part.len() as u64;
            let end = first + part.len();
            prop_assert!(part.len() == 1 || size_of(part) <= size);
            prop_assert!(end == batch.len() || size_of(batch.slice(first..end + 1)) > size);
            let copied = part.to_batch().unwrap();
            prop_assert!(copied.all().graphs().map(seen).eq(part.graphs().map(seen)));
            prop_assert_eq!(copied.members(), &part.members().unwrap());
            prop_assert_eq!(copied.all().weight_exponents(), part.weight_exponents());
            first = end;
        }
        prop_assert!(batch.slice(0..0).leading(size).is_empty());
        let unweighted = batch.clone().without_weights();
        prop_assert!(!unweighted.is_weighted() && unweighted.arcs() == batch.arcs());
    }

    #[test]
    fn collected_graphs_are_those_of_the_other_builder(
        flags in any::<[bool; 6]>(),
        graphs in graphs_of_all_kinds(),
    ) {
        let options = Options::of_flags(flags);
        let ids = VertexIds::Consecutive { first: 7, count: graphs.len() as u32 };
        let builder = BatchBuilder::new().direction(options.direction).weight_ledger(&coarse());
        let builder = builder.self_loops(options.loops).duplicates(options.duplicates);
        let tables = graphs.iter().map(|graph| graph.table(options.weighted)).collect();
        let batch = builder.collect(ids, tables).unwrap();
        prop_assert_eq!(batch.len(), graphs.len());
        for (alone, graph) in graphs.iter().zip(batch.all().graphs()) {
            prop_assert_eq!(graph.id(), ExternalId::Unsigned(graph.index() as u64 + 7));
            let name = |vertex: u32| graph.vertex_id(vertex).to_string();
            let mut ids: Vec<String> = (0..graph.vertices()).map(name).collect();
            let mut expected: Vec<String> =
                (0..alone.ids.len()).map(|vertex| alone.ids.get(vertex as u32).to_string()).collect();
            ids.sort();
            expected.sort();
            prop_assert_eq!(ids, expected);
            let mut arcs = named(graph.out(), name);
            arcs.sort();
            prop_assert_eq!(arcs, alone.arcs(options));
            if let Some(incoming) = graph.incoming() {
                let back = named(incoming, name).into_iter();
                let mut back: Vec<_> = back.map(|(s, t, weight)| (t, s, weight)).collect();
                back.sort();
                prop_assert_eq!(back, alone.arcs(options));
            }
        }
    }

    #[test]
    fn ends_of_rows_become_the_vertices_of_their_graphs(
        rows in prop::collection::vec((0usize..4, 0usize..6, 0usize..6, 0.0f64..9.0), 0..60),
        kind in 0usize..4,
        threads in 1usize..4,
    ) {
        let kinds = [
            VertexIds::Consecutive { first: 3, count: 6 },
            VertexIds::Unsigned(vec![0, 1, 2, 8, 9, u64::MAX].into()),
            VertexIds::Signed(vec![-5, 0, 1, 2, 3, 4].into()),
            VertexIds::Names(Names::new(["", "a", "aé", "b", "c", "d"])),
        ];
        let ids = &kinds[kind];
        let graph_ids = VertexIds::Names(Names::new(["g", "h", "i", "j"]));
        let columns = BatchRows {
            graphs: rows.iter().map(|row| row.0 as u32).collect(),
            sources: rows.iter().map(|row| row.1 as u32).collect(),
            targets: rows.iter().map(|row| row.2 as u32).collect(),
            weights: Some(rows.iter().map(|row| row.3).collect()),
        };
        let of_ends = || BatchTable::of_ends(graph_ids.clone(), ids, columns.clone()).unwrap();
        let table = pool(threads).install(of_ends);
        prop_assert_eq!(&table, &of_ends());
        let batch = BatchBuilder::new()
            .direction(Direction::Directed)
            .self_loops(SelfLoops::Keep)
            .duplicates(Duplicates::Keep)
            .build(table)
            .unwrap();
        for graph in batch.all().graphs() {
            let own = || rows.iter().filter(|row| row.0 == graph.index());
            let ends: BTreeSet<usize> = own().flat_map(|row| [row.1, row.2]).collect();
            let id = |end: usize| ids.get(end as u32).to_string();
            let name = |vertex: u32| graph.vertex_id(vertex).to_string();
            prop_assert!((0..graph.vertices()).map(name).eq(ends.iter().map(|&end| id(end))));
            let mut found: Vec<_> =
                named(graph.out(), name).into_iter().map(|(s, t, _)| (s, t)).collect();
            let mut expected: Vec<_> = own().map(|row| (id(row.1), id(row.2))).collect();
            found.sort();
            expected.sort();
            prop_assert_eq!(found, expected);
        }
    }
}

#[test]
fn what_cannot_be_collected_is_refused() {
    let table = |weighted: bool| {
        let ids = VertexIds::Consecutive { first: 0, count: 1 };
        let table = EdgeTable::new(ids, vec![0], vec![0]).unwrap();
        if weighted { table.with_weights(vec![1.0]).unwrap() } else { table }
    };
    let ids = |names: [&str; 2]| VertexIds::Names(Names::new(names));
    let collect = |ids, flags: &[bool]| {
        let tables = flags.iter().map(|&weighted| table(weighted)).collect();
        BatchBuilder::new().collect(ids, tables).unwrap_err()
    };
    let graph_ids = BatchError::Members(InvalidBatch::GraphIds);
    assert_eq!(collect(ids(["a", "b"]), &[true]), graph_ids);
    assert_eq!(collect(ids(["b", "a"]), &[true, true]), graph_ids);
    let weights = BatchError::Weights { graph: "b".into() };
    assert_eq!(collect(ids(["a", "b"]), &[true, false]), weights);
}

#[test]
fn ends_that_are_not_there_are_refused() {
    let ids = VertexIds::Consecutive { first: 0, count: 3 };
    let of = |graphs: &[u32], sources: &[u32], targets: &[u32]| {
        let [graphs, sources, targets] = [graphs, sources, targets].map(<[u32]>::to_vec);
        let rows = BatchRows { graphs, sources, targets, weights: None };
        let graph_ids = VertexIds::Consecutive { first: 0, count: 2 };
        BatchTable::of_ends(graph_ids, &ids, rows).map(|table| table.len())
    };
    assert_eq!(of(&[1, 0], &[2, 0], &[2, 1]), Ok(2));
    assert!(matches!(
        of(&[1, 2], &[2, 0], &[2, 1]),
        Err(BatchTableError::NoSuchGraph { row: 1, .. })
    ));
    assert!(matches!(of(&[1], &[2], &[3]), Err(BatchTableError::NoSuchVertex { vertex: 3, .. })));
    assert!(matches!(of(&[1], &[2], &[]), Err(BatchTableError::Ragged { .. })));
}

#[test]
fn a_graph_whose_weights_become_coarse_is_refused_by_name() {
    let options = Options::of_flags([true, false, true, false, false, false]);
    let rows = [(0, 0, 1, 0.01), (0, 1, 0, 3.0), (1, 0, 1, 0.01), (1, 1, 0, 1e9 + 0.5)];
    let batch = options.batch(&[2, 2], &rows);
    let weights = |graph: usize| {
        let graph = batch.graph(graph);
        let stored = graph.out().weights_of(0).unwrap()[0];
        graph.weight_scale().weight(stored.into())
    };
    assert!((weights(0) - 0.01).abs() < 1e-8 && weights(1) == 0.25);
    for threads in [1, 3] {
        let build = || BatchBuilder::new().build(options.table(&[2, 2], &rows));
        let error = pool(threads).install(build).unwrap_err().to_string();
        assert!(error.contains("graph 1 ") && error.contains("1 of 2"), "{error}");
    }
}
