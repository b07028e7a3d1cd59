//! Graphs of every kind, for the tests of every format.

use proptest::prelude::*;
use ripplet_graph::batch::{
    BatchBuilder, BatchGraph, BatchIds, BatchRows, BatchSlice, BatchTable, GraphBatch, Members,
};
use ripplet_graph::{
    Direction, Duplicates, EdgeTable, Graph, GraphBuilder, Names, Neighbors, SelfLoops, VertexIds,
};
use std::collections::BTreeSet;

/// Returns a small graph with names, weights, and several shards.
pub fn example(direction: Direction) -> Graph {
    let ids = VertexIds::Names(Names::new(["a", "bb", "c, d", "é"]));
    let table = EdgeTable::new(ids, vec![0, 1, 2, 0, 3], vec![1, 2, 0, 3, 1]).unwrap();
    let table = table.with_weights(vec![1.0, 2.5, 0.25, 7.0, 1e-3]).unwrap();
    GraphBuilder::new().direction(direction).shard_arcs(4).build(table).unwrap()
}

/// Ids of any of the four kinds, up to 20.
pub fn any_ids() -> impl Strategy<Value = VertexIds> {
    let names = prop::collection::btree_set("[a-zé ,\"]{0,6}", 0..20);
    prop_oneof![
        (0u64..1 << 40, 0u32..20)
            .prop_map(|(first, count)| VertexIds::Consecutive { first, count }),
        prop::collection::btree_set(any::<u64>(), 0..20)
            .prop_map(|ids| VertexIds::Unsigned(ids.into_iter().collect::<Vec<_>>().into())),
        prop::collection::btree_set(any::<i64>(), 0..20)
            .prop_map(|ids| VertexIds::Signed(ids.into_iter().collect::<Vec<_>>().into())),
        names.prop_map(|names: BTreeSet<String>| {
            VertexIds::Names(Names::new(names.iter().map(String::as_str)))
        }),
    ]
}

/// Graphs over given ids: directed or not, weighted or not, loops, duplicates, several shards.
pub fn any_graph_over(ids: VertexIds) -> impl Strategy<Value = Graph> {
    let vertices = ids.len() as u32;
    let edges = if vertices == 0 { 0..1 } else { 0..40 };
    let vertex = 0..vertices.max(1);
    let rows = prop::collection::vec((vertex.clone(), vertex, 0.0f64..1e6), edges);
    (rows, any::<[bool; 4]>(), 40u64..200).prop_map(
        move |(rows, [weighted, directed, loops, keep], shard_arcs)| {
            let rows = if vertices == 0 { vec![] } else { rows };
            let sources = rows.iter().map(|row| row.0).collect();
            let targets = rows.iter().map(|row| row.1).collect();
            let mut table = EdgeTable::new(ids.clone(), sources, targets).unwrap();
            if weighted {
                table = table.with_weights(rows.iter().map(|row| row.2).collect()).unwrap();
            }
            GraphBuilder::new()
                .direction(if directed { Direction::Directed } else { Direction::Undirected })
                .self_loops(if loops { SelfLoops::Keep } else { SelfLoops::Drop })
                .duplicates(if keep { Duplicates::Keep } else { Duplicates::Merge })
                .shard_arcs(shard_arcs / 8)
                .build(table)
                .unwrap()
        },
    )
}

/// Graphs over any ids.
pub fn any_graph() -> impl Strategy<Value = Graph> {
    any_ids().prop_flat_map(any_graph_over)
}

/// Ids of the given number of graphs, of any of the four kinds.
fn any_graph_ids(graphs: usize) -> impl Strategy<Value = VertexIds> {
    let names = prop::collection::btree_set("[a-z/é]{0,9}", graphs);
    prop_oneof![
        (0u64..1 << 40)
            .prop_map(move |first| VertexIds::Consecutive { first, count: graphs as u32 }),
        prop::collection::btree_set(any::<u64>(), graphs)
            .prop_map(|ids| VertexIds::Unsigned(ids.into_iter().collect::<Vec<_>>().into())),
        prop::collection::btree_set(any::<i64>(), graphs)
            .prop_map(|ids| VertexIds::Signed(ids.into_iter().collect::<Vec<_>>().into())),
        names.prop_map(|names: BTreeSet<String>| {
            VertexIds::Names(Names::new(names.iter().map(String::as_str)))
        }),
    ]
}

/// Ids of graphs' vertices, of any of the five kinds.
fn any_batch_ids(sizes: &[usize]) -> impl Strategy<Value = BatchIds> + use<> {
    fn flat<T: Ord + Clone>(sets: Vec<BTreeSet<T>>) -> Vec<T> {
        sets.into_iter().flatten().collect()
    }
    let unsigned: Vec<_> =
        sizes.iter().map(|&n| prop::collection::btree_set(any::<u64>(), n)).collect();
    let signed: Vec<_> =
        sizes.iter().map(|&n| prop::collection::btree_set(any::<i64>(), n)).collect();
    let names: Vec<_> =
        sizes.iter().map(|&n| prop::collection::btree_set("[a-zé]{0,6}", n)).collect();
    prop_oneof![
        (0u64..1 << 40).prop_map(|first| BatchIds::InGraph { first }),
        (0u64..1 << 40).prop_map(|first| BatchIds::InBatch { first }),
        unsigned.prop_map(|sets| BatchIds::Unsigned(flat(sets).into())),
        signed.prop_map(|sets| BatchIds::Signed(flat(sets).into())),
        names.prop_map(|sets| {
            let names = flat(sets);
            BatchIds::Names(Names::new(names.iter().map(String::as_str)))
        }),
    ]
}

/// Batches of up to nine graphs with up to seven vertices: empty ones, loops, duplicates, directed or
/// not, weighted or not, ids of any kind.
pub fn any_batch() -> impl Strategy<Value = GraphBatch> {
    let row = (any::<u32>(), any::<u32>(), any::<u32>(), 0.0f64..1e6);
    let rows = prop::collection::vec(row, 0..60);
    prop::collection::vec(0usize..8, 0..10).prop_flat_map(move |sizes| {
        let ids = (any_graph_ids(sizes.len()), any_batch_ids(&sizes));
        (Just(sizes), ids, rows.clone(), any::<[bool; 4]>()).prop_map(
            |(sizes, (graph_ids, vertex_ids), rows, [weighted, directed, loops, keep])| {
                let mut starts = vec![0];
                sizes.iter().for_each(|&n| starts.push(starts[starts.len() - 1] + n as u64));
                let members = Members::new(graph_ids, starts.into(), vertex_ids).unwrap();
                let (mut columns, mut weights) = (BatchRows::default(), Vec::new());
                for (graph, source, target, weight) in rows {
                    let Some(&size) = sizes.get(graph as usize % 10).filter(|&&n| n > 0) else {
                        continue;
                    };
                    columns.graphs.push(graph % 10);
                    columns.sources.push(source % size as u32);
                    columns.targets.push(target % size as u32);
                    weights.push(weight);
                }
                columns.weights = weighted.then_some(weights);
                BatchBuilder::new()
                    .direction(if directed { Direction::Directed } else { Direction::Undirected })
                    .self_loops(if loops { SelfLoops::Keep } else { SelfLoops::Drop })
                    .duplicates(if keep { Duplicates::Keep } else { Duplicates::Merge })
                    .build(BatchTable::new(members, columns).unwrap())
                    .unwrap()
            },
        )
    })
}

/// Checks that two parts of batches have the same graphs, by all that can be asked of a graph.
pub fn assert_same_graphs(a: BatchSlice<'_>, b: BatchSlice<'_>) {
    assert_eq!((a.len(), a.vertices(), a.arcs()), (b.len(), b.vertices(), b.arcs()));
    for (a, b) in a.graphs().zip(b.graphs()) {
        assert_eq!(a.id().to_string(), b.id().to_string());
        assert_eq!(a.vertices(), b.vertices(), "vertices of graph {}", a.id());
        for vertex in 0..a.vertices() {
            assert_eq!(a.vertex_id(vertex).to_string(), b.vertex_id(vertex).to_string());
        }
        let lists = |graph: BatchGraph<'_>| {
            let of = |lists: Neighbors<'_>| {
                let weights = lists.weights().map(<[u32]>::to_vec);
                (lists.offsets().to_vec(), lists.neighbors().to_vec(), weights)
            };
            (of(graph.out()), graph.incoming().map(of), graph.weight_scale())
        };
        assert_eq!(lists(a), lists(b), "graph {}", a.id());
    }
}
