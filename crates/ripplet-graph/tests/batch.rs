//! A batch against `GraphBuilder`, which makes each graph by itself in another way.

use proptest::prelude::*;
use ripplet_graph::batch::{BatchBuilder, BatchRows, BatchTable, BatchVertex, GraphBatch, Members};
use ripplet_graph::{
    Direction, Duplicates, EdgeTable, ExternalId, Graph, GraphBuilder, Neighbors, SelfLoops,
    VertexIds,
};

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
        let builder = BatchBuilder::new().direction(self.direction);
        builder.self_loops(self.loops).duplicates(self.duplicates).build(table).unwrap()
    }

    /// What `GraphBuilder` makes of one graph's rows, in their order.
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
        let builder = GraphBuilder::new().direction(self.direction);
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
            // Without vertices, a graph has no shard to compare with.
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
        }
        assert_eq!(batch.arcs(), arcs);
    }
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// A few graphs, some without vertices or with one, and rows of them in any order; where all graphs
/// are empty there are none.
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
        // A slice borrows: its arrays are the batch's.
        let first = whole.neighbors[whole.arc_starts[ends[0]] as usize..].as_ptr();
        prop_assert_eq!(flat.neighbors.as_ptr(), first);
        let all = slice.slice(0..slice.len());
        prop_assert_eq!(all.vertex_range(), slice.vertex_range());
    }
}

/// Several waves and many tasks: 6,000 graphs, one of them with a tenth of all rows, and 2¹⁸ rows.
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
    let exponents = [0, 1].map(|graph| batch.graph(graph).weight_scale().exponent());
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
