//! Graphs of every kind, for the tests of every format.

use proptest::prelude::*;
use ripplet_graph::{
    Direction, Duplicates, EdgeTable, Graph, GraphBuilder, Names, SelfLoops, VertexIds,
};
use std::collections::BTreeSet;

/// A small graph with names, weights, and several shards.
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
