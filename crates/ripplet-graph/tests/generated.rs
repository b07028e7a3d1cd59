//! Graphs of the generators: compressed sizes, and identities in every form.

use rayon::ThreadPoolBuilder;
use ripplet_generate::{Rmat, Road, Web};
use ripplet_graph::compressed::CompressedGraph;
use ripplet_graph::{Direction, EdgeTable, Graph, GraphBuilder, GraphView, SelfLoops};

/// Checks that the compressed lists are valid and decode to the graph's lists; returns their bytes.
fn compressed_bytes(graph: &Graph) -> u64 {
    let compressed = CompressedGraph::of(graph.clone()).unwrap();
    let lists = compressed
        .shards()
        .iter()
        .flat_map(|shard| std::iter::once(shard.out()).chain(shard.incoming()));
    let bytes = lists
        .map(|lists| {
            assert_eq!(lists.check(graph.vertices()), Ok(()));
            lists.bytes()
        })
        .sum();
    assert!(compressed.into_plain().unwrap() == *graph, "the decoded graph differs");
    bytes
}

/// The limits are about 2 % above the measured bits per arc, directory included.
#[test]
fn generated_graphs_stay_below_their_sizes() {
    let cases: [(&str, EdgeTable, f64); 3] = [
        ("web", Web::new(14).generate().unwrap(), 9.3),
        ("rmat", Rmat::new(14).generate().unwrap(), 11.0),
        ("road", Road::new(14).generate().unwrap(), 15.4),
    ];
    for (name, edges, limit) in cases {
        let graph = GraphBuilder::new().build(edges).unwrap();
        let bits = 8.0 * compressed_bytes(&graph) as f64 / graph.arcs() as f64;
        println!("{name}: {bits:.2} bits an arc of at most {limit}");
        assert!(bits < limit && bits > 0.9 * limit, "{name}: {bits}");
    }
}

#[test]
fn small_weights_take_few_bits_in_both_directions() {
    let table = Web::new(11).generate().unwrap();
    let weights = (0..table.len()).map(|row| (row % 37) as f64).collect();
    let graph = GraphBuilder::new()
        .direction(Direction::Directed)
        .self_loops(SelfLoops::Keep)
        .build(table.with_weights(weights).unwrap())
        .unwrap();
    // Outgoing and incoming lists: each arc is stored twice.
    assert!(compressed_bytes(&graph) < 2 * 5 * graph.arcs());
}

#[test]
fn identity_depends_on_neither_shards_nor_threads_nor_storage() {
    fn identity<'g>(graph: impl Into<GraphView<'g>>) -> u64 {
        graph.into().identity()
    }
    let web = |shard_arcs: u64| {
        let edges = Web::new(10).generate().unwrap();
        GraphBuilder::new().shard_arcs(shard_arcs).build(edges).unwrap()
    };
    let one = identity(&web(1 << 20));
    for (threads, shard_arcs) in [(1, 1 << 20), (2, 1000), (7, 77)] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let graph = web(shard_arcs);
        assert_eq!(pool.install(|| identity(&graph)), one);
        let compressed = CompressedGraph::of(graph).unwrap();
        assert_eq!(pool.install(|| identity(&compressed)), one);
    }
}
