//! Values of random batches, and of batches with graphs of every class.

use super::machines::{
    Weighing, batch, check, questions, questions_of_distances, tunings, weighted_batch,
};
use crate::lcc::graphs::Edges;
use crate::machines::{is_thorough, takes_many};
use proptest::prelude::*;
use ripplet_analytics::Lengths;
use ripplet_cuda::swarm::Tuning;

fn ring(n: u32) -> Edges {
    Edges::directed(n, (0..n).map(|v| (v, (v + 1) % n)))
}

/// A graph of `n` vertices with pseudo-random arcs.
fn scattered(n: u32, degree: u32) -> Edges {
    let target =
        |v: u32, i: u32| (v.wrapping_mul(7919) ^ (v * degree + i).wrapping_mul(2_654_435_761)) >> 7;
    let pairs = (0..n).flat_map(|v| (0..degree).map(move |i| (v, target(v, i) % n)));
    Edges::undirected(n, pairs)
}

/// Few or many vertices and edges: loops, duplicates, reciprocal and isolated ones.
fn any_graph() -> impl Strategy<Value = Edges> {
    (0u32..90, 0usize..4).prop_flat_map(|(vertices, size)| {
        let most = if vertices == 0 { 1 } else { [2, 30, 150, 600][size] };
        let vertex = 0..vertices.max(1);
        prop::collection::vec((vertex.clone(), vertex), 0..most)
            .prop_map(move |pairs| Edges::undirected(vertices, pairs))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if is_thorough() { 64 } else { 6 }))]

    #[test]
    fn values_are_those_of_the_cpu(
        graphs in prop::collection::vec(any_graph(), 0..10),
        directed in any::<bool>(),
        keep in any::<bool>(),
        tuning in 0usize..4,
        order in 0u64..3,
    ) {
        let graphs = batch(&graphs, directed, keep);
        check(&graphs, &questions(Lengths::Hops), tunings()[tuning], order);
    }

    #[test]
    fn values_by_weights_are_those_of_the_cpu(
        graphs in prop::collection::vec(any_graph(), 0..8),
        directed in any::<bool>(),
        keep in any::<bool>(),
        tuning in 0usize..4,
        order in 0u64..3,
        many in any::<bool>(),
    ) {
        let weighing = if many { Weighing::Many } else { Weighing::Few };
        let graphs = weighted_batch(&graphs, directed, keep, weighing);
        check(&graphs, &questions(Lengths::Weights), tunings()[tuning], order);
    }
}

fn check_by_arcs(graphs: &[Edges], directed: bool, keep: bool, tuning: Tuning, order: u64) {
    check(&batch(graphs, directed, keep), &questions(Lengths::Hops), tuning, order);
}

/// Weights of every kind, on graphs of every size.
#[test]
fn weights_of_every_kind() {
    let graphs = [ring(1), ring(2), ring(65), ring(0), scattered(90, 4), scattered(40, 9)];
    for (order, tuning) in (0..).zip(tunings()) {
        let (directed, keep) = (order % 2 == 0, order > 1);
        if directed || takes_many() {
            let some = weighted_batch(&graphs, directed, keep, Weighing::Few);
            check(&some, &questions(Lengths::Weights), tuning, order);
        }
        if !directed || takes_many() {
            let none = weighted_batch(&graphs, directed, keep, Weighing::FewAndNone);
            check(&none, &questions_of_distances(Lengths::Weights), tuning, order);
        }
    }
    // With lengths in hops, weights change nothing.
    let some = weighted_batch(&graphs, true, false, Weighing::Many);
    check(&some, &questions(Lengths::Hops), tunings()[0], 0);
    // A graph without weights has arcs of length 1.
    check(&batch(&graphs, false, false), &questions(Lengths::Weights), tunings()[1], 1);
}

/// Graphs of no vertices, one, two, around the sources of a group, and several groups.
#[test]
fn graphs_of_every_size() {
    let mut graphs: Vec<Edges> = [0, 1, 2, 0, 63, 64, 65, 130, 1, 0].map(ring).into();
    graphs.push(scattered(150, 6));
    graphs.push(Edges::undirected(40, []));
    for (order, tuning) in (0..).zip(tunings()) {
        check_by_arcs(&graphs, order % 2 == 0, false, tuning, order);
    }
}

/// Lists that a whole warp reads, among short ones: of one hub, and of two.
#[test]
fn graphs_with_hubs() {
    let star = |n: u32| Edges::undirected(n, (1..n).map(|v| (0, v)));
    let two = |n: u32| Edges::undirected(n, (2..n).flat_map(|v| [(0, v), (1, v), (v, v / 2)]));
    let graphs = [star(30), star(170), two(140), ring(7)];
    check_by_arcs(&graphs, false, false, tunings()[0], 1);
    check_by_arcs(&graphs, true, true, tunings()[3], 0);
}

/// More graphs than teams, as small as possible.
#[test]
fn many_small_graphs() {
    let graphs: Vec<Edges> = (0..150).map(|at| scattered(at % 23, at % 5)).collect();
    check_by_arcs(&graphs, false, false, tunings()[0], 1);
    check_by_arcs(&graphs, true, true, tunings()[2], 0);
}

/// Lists that have no room beside the state: of all vertices, and of few with many repeated arcs.
#[test]
fn graphs_with_many_arcs() {
    let clique = |n: u32| Edges::undirected(n, (0..n).flat_map(|a| (0..a).map(move |b| (a, b))));
    let twice = Edges { pairs: [scattered(9, 300).pairs, ring(9).pairs].concat(), ..ring(9) };
    let tight = tunings()[2];
    check_by_arcs(&[clique(30), twice.clone(), ring(5)], false, true, tight, 0);
    check_by_arcs(&[clique(20), twice], true, true, tight, 2);
    let sizes: &[u32] = if is_thorough() { &[400, 1500, 1700, 8000] } else { &[] };
    for &size in sizes {
        check_by_arcs(&[scattered(size, 40), ring(3)], true, false, tunings()[0], 0);
    }
}
