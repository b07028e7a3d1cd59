//! Ranks that each have the lists of their own vertices return what one process returns, bit by bit.

use super::graphs::Edges;
use super::random::any_edges;
use super::weighted::weighted_edges;
use proptest::prelude::*;
use ripplet_analytics::components::{components, components_on_ranks};
use ripplet_analytics::lcc::{Definition, Lcc};
use ripplet_analytics::pagerank::{Jumps, PageRank, Stop};
use ripplet_analytics::{AnalysisError, RankPart};
use ripplet_graph::{
    Alone, BuildOptions, Direction, Duplicates, EdgeTable, Graph, GraphBuilder, Neighbors,
    Observer, OwnArcs, Shard, VertexIds,
};
use ripplet_ranks::{Comm, CommError, Threads};
use std::ops::Range;
use std::time::Duration;

/// Returns the arcs in some lists of own vertices.
fn arcs_of<'g>(
    graph: &'g Graph,
    own: &Range<u32>,
    lists_of: impl Fn(&'g Shard) -> Neighbors<'g>,
) -> EdgeTable {
    let scale = graph.weight_scale();
    let (mut owners, mut neighbors, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for shard in graph.shards() {
        let lists = lists_of(shard);
        for vertex in shard.vertices().filter(|vertex| own.contains(vertex)) {
            let local = (vertex - shard.vertices().start) as usize;
            owners.extend(lists.of(local).iter().map(|_| vertex));
            neighbors.extend_from_slice(lists.of(local));
            let stored = lists.weights_of(local).unwrap_or_default();
            weights.extend(stored.iter().map(|&weight| scale.weight(weight.into())));
        }
    }
    let ids = VertexIds::Consecutive { first: 0, count: graph.vertices() };
    let table = EdgeTable::new(ids, owners, neighbors).unwrap();
    if graph.is_weighted() { table.with_weights(weights).unwrap() } else { table }
}

/// Returns a graph with the lists of these vertices alone. `weights` are those of the edges, which decide on the scale.
fn part_of(graph: &Graph, own: Range<u32>, weights: Option<&Vec<f64>>) -> Graph {
    let directed = graph.direction() == Direction::Directed;
    let arcs = OwnArcs {
        own: own.clone(),
        out: arcs_of(graph, &own, Shard::out),
        incoming: directed.then(|| arcs_of(graph, &own, |shard| shard.incoming().unwrap())),
        weights: weights.cloned(),
    };
    let duplicates = Duplicates::Keep;
    let build = BuildOptions { duplicates, ..BuildOptions::from(graph.direction()) };
    let part = GraphBuilder::from(build).build_part(graph.ids().clone(), arcs, &mut Alone).unwrap();
    assert_eq!(part.weight_scale(), graph.weight_scale());
    part
}

/// Runs an analysis on ranks with these bounds, each with its part of the graph.
fn on_ranks<T: Send>(
    (graph, weights): (&Graph, Option<&Vec<f64>>),
    bounds: &[u32],
    run: impl Fn(&Graph, &mut RankPart<'_>) -> T + Sync,
) -> Vec<T> {
    Threads::run(bounds.len() - 1, Duration::from_secs(60), |mut comm: Comm| {
        let own = bounds[comm.rank()]..bounds[comm.rank() + 1];
        run(&part_of(graph, own.clone(), weights), &mut RankPart::new(own, &mut comm))
    })
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Compares all analyses.
fn compare(edges: &Edges, keep: bool, cuts: &[u32]) {
    let graph = &edges.graph_of(1 << 20, keep);
    let of_ranks = (graph, edges.weights.as_ref());
    let mut bounds: Vec<u32> = cuts.iter().map(|cut| cut % (graph.vertices() + 1)).collect();
    bounds.extend([0, graph.vertices()]);
    bounds.sort_unstable();
    let expected = components(graph, &mut ()).unwrap();
    for found in
        on_ranks(of_ranks, &bounds, |part, ranks| components_on_ranks(part, ranks, &mut ()))
    {
        assert_eq!(found.unwrap(), expected);
    }
    for definition in [Definition::Ldbc, Definition::Fagiolo] {
        let plain = Lcc::new(definition);
        for lcc in [plain, plain.with_triangles()] {
            let expected = lcc.run(graph, &mut ()).unwrap();
            for found in
                on_ranks(of_ranks, &bounds, |part, ranks| lcc.run_on_ranks(part, ranks, &mut ()))
            {
                let found = found.unwrap();
                assert_eq!(bits(&found.coefficients), bits(&expected.coefficients));
                assert_eq!(found, expected);
            }
        }
    }
    let jumps =
        (graph.vertices() > 2).then(|| Jumps::to(graph.vertices(), [(0, 1.0), (2, 3.0)]).unwrap());
    let tolerance = Stop::Tolerance { tolerance: 1e-5, rounds: 40 };
    for (stop, weighted) in [(Stop::Rounds(5), false), (tolerance, true)] {
        let settings = PageRank { damping: 0.85, stop, weighted };
        for jumps in [None, jumps.as_ref()] {
            let expected = match jumps {
                None => settings.run(graph, &mut ()),
                Some(jumps) => settings.run_personalized(graph, jumps, &mut ()),
            };
            let expected = expected.unwrap();
            let run = |part: &Graph, ranks: &mut RankPart<'_>| {
                settings.run_on_ranks(part, jumps, ranks, &mut ())
            };
            for found in on_ranks(of_ranks, &bounds, run) {
                let found = found.unwrap();
                assert_eq!(bits(&found.ranks), bits(&expected.ranks));
                assert_eq!(found.end, expected.end);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn results_are_those_of_one_process(
        edges in any_edges(),
        keep in any::<bool>(),
        cuts in prop::collection::vec(0u32..70, 0..6),
    ) {
        compare(&edges, keep, &cuts);
    }

    #[test]
    fn so_are_those_by_weights(
        edges in weighted_edges(0),
        cuts in prop::collection::vec(0u32..70, 0..4),
    ) {
        compare(&edges, false, &cuts);
    }
}

/// Hubs whose lists are searched, sums over several blocks, and vertices of equal degree.
#[test]
fn graphs_of_several_blocks_and_hubs_too() {
    let hub = (1..9000).map(|v| (0, v));
    let near = (1..9000).flat_map(|v| [(v, v % 97 + 1), (v, v * 7 % 9000), (v, v / 2)]);
    let pairs: Vec<_> = hub.chain(near).collect();
    for edges in [Edges::undirected(9000, pairs.iter().copied()), Edges::directed(9000, pairs)] {
        compare(&edges, false, &[4000, 4096, 8999]);
        compare(&edges, false, &[1]);
    }
}

/// Cancels at once.
struct Cancels;

impl Observer for Cancels {
    fn is_cancelled(&self) -> bool {
        true
    }
}

#[test]
fn a_rank_that_ends_ends_the_others() {
    let graph = Edges::undirected(300, (0..299).map(|v| (v, v + 1))).graph();
    let found = Threads::run(2, Duration::from_secs(60), |mut comm: Comm| {
        let rank = comm.rank() as u32;
        let own = 150 * rank..150 * (rank + 1);
        let mut part = RankPart::new(own, &mut comm);
        let settings = PageRank::default();
        let found = match rank {
            0 => settings.run_on_ranks(&graph, None, &mut part, &mut ()),
            _ => settings.run_on_ranks(&graph, None, &mut part, &mut Cancels),
        };
        if found.is_err() {
            comm.abort(1);
        }
        found.map(|_| ())
    });
    assert_eq!(found[1], Err(AnalysisError::Cancelled));
    assert_eq!(found[0], Err(CommError::Failed { rank: 1, code: 1 }.into()));
}
