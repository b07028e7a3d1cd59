//! Refinement of directed graphs, by properties of the definition and by trying all partitions.

use crate::definitions::{Edges, table};
use proptest::prelude::*;
use ripplet_graph::{Direction, Duplicates, Graph, GraphBuilder, SelfLoops};
use ripplet_lp::Label;
use ripplet_lp::refine::{Objective, RefineOptions, Resolution, refine};

const ONE: Objective = Objective::Modularity(Resolution::Fixed(1.0));
const OBJECTIVES: [Objective; 4] = [
    ONE,
    Objective::Modularity(Resolution::Fixed(0.5)),
    Objective::Modularity(Resolution::Auto),
    Objective::Cpm(0.25),
];

fn graph(direction: Direction, vertices: u32, edges: &Edges, weighted: bool) -> Graph {
    let builder = GraphBuilder::new().direction(direction).self_loops(SelfLoops::Keep);
    let builder = builder.duplicates(Duplicates::Keep);
    builder.build(table(vertices, edges, weighted)).unwrap()
}

fn directed(vertices: u32, edges: &Edges, weighted: bool) -> Graph {
    graph(Direction::Directed, vertices, edges, weighted)
}

fn found(graph: &Graph, objective: Objective) -> Vec<Label> {
    refine(graph, &RefineOptions::new(objective), &mut ()).unwrap().labels
}

/// The modularity of Leicht and Newman, summed over all ordered pairs of vertices, without division:
/// m² times it.
fn modularity(vertices: u32, edges: &Edges, labels: &[Label]) -> i64 {
    let weight = |is_counted: &dyn Fn(u32, u32) -> bool| -> i64 {
        edges.iter().filter(|edge| is_counted(edge.0, edge.1)).map(|edge| i64::from(edge.2)).sum()
    };
    let all = weight(&|_, _| true);
    let mut sum = 0;
    for i in 0..vertices {
        for j in (0..vertices).filter(|&j| labels[i as usize] == labels[j as usize]) {
            let arcs = weight(&|from, to| (from, to) == (i, j));
            let (out, incoming) = (weight(&|from, _| from == i), weight(&|_, to| to == j));
            sum += all * arcs - out * incoming;
        }
    }
    sum
}

/// Returns all partitions of some vertices.
fn partitions(vertices: usize) -> Vec<Vec<Label>> {
    let mut all: Vec<Vec<Label>> = vec![vec![]];
    for _ in 0..vertices {
        let longer = |labels: Vec<Label>| {
            let next = labels.iter().max().map_or(0, |most| most + 1);
            (0..=next).map(move |label| [labels.clone(), vec![label]].concat())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn an_edge_is_an_arc_either_way(
        edges in prop::collection::vec((0u32..40, 0u32..40, 1u32..9), 0..160),
        weighted: bool,
    ) {
        // A loop has one arc of either direction already, and two ends.
        let edges: Edges = edges.into_iter().filter(|edge| edge.0 != edge.1).collect();
        let both = edges.iter().flat_map(|&(u, v, w)| [(u, v, w), (v, u, w)]).collect();
        let undirected = graph(Direction::Undirected, 40, &edges, weighted);
        let directed = directed(40, &both, weighted);
        for objective in OBJECTIVES {
            prop_assert_eq!(found(&directed, objective), found(&undirected, objective));
        }
    }

    #[test]
    fn reversed_arcs_have_the_same_communities(
        edges in prop::collection::vec((0u32..40, 0u32..40, 0u32..9), 0..160),
        weighted: bool,
    ) {
        let reversed = edges.iter().map(|&(u, v, w)| (v, u, w)).collect();
        let (graph, reversed) = (directed(40, &edges, weighted), directed(40, &reversed, weighted));
        for objective in OBJECTIVES {
            prop_assert_eq!(found(&reversed, objective), found(&graph, objective));
        }
    }

    #[test]
    fn modularity_is_between_that_of_the_begin_and_the_largest(
        edges in prop::collection::vec((0u32..7, 0u32..7, 1u32..4), 1..20),
        begin in prop::collection::vec(0u32..3, 7),
    ) {
        let graph = directed(7, &edges, true);
        let options = RefineOptions { initial: Some(begin.clone()), ..RefineOptions::new(ONE) };
        let labels = refine(&graph, &options, &mut ()).unwrap().labels;
        let of = |labels: &[Label]| modularity(7, &edges, labels);
        prop_assert!(of(&labels) >= of(&begin));
        prop_assert!(of(&labels) <= partitions(7).iter().map(|labels| of(labels)).max().unwrap());
    }
}

/// Two groups of four vertices: all arcs of one inside it, then a few from one to the other.
fn groups(between: &[(u32, u32)]) -> Edges {
    let inside =
        |first: u32| (0..4).flat_map(move |u| (0..4).map(move |v| (first + u, first + v, 1)));
    let edges = inside(0).chain(inside(4)).filter(|edge| edge.0 != edge.1);
    edges.chain(between.iter().map(|&(u, v)| (u, v, 1))).collect()
}

#[test]
fn clear_communities_are_the_optimum() {
    for between in [&[][..], &[(0, 4)], &[(0, 4), (1, 4), (2, 5)], &[(4, 0), (0, 5)]] {
        let edges = groups(between);
        let labels = found(&directed(8, &edges, false), ONE);
        assert_eq!(labels, [0, 0, 0, 0, 4, 4, 4, 4]);
        let most = partitions(8).iter().map(|labels| modularity(8, &edges, labels)).max();
        assert_eq!(Some(modularity(8, &edges, &labels)), most);
    }
}

/// The communities of the largest modularity are others if directions are ignored.
#[test]
fn directions_make_a_difference() {
    let arcs = [(5, 4), (3, 4), (2, 4), (3, 5), (3, 0), (2, 1), (0, 1), (5, 0)];
    let edges: Edges = arcs.into_iter().map(|(u, v)| (u, v, 1)).collect();
    let both: Edges = edges.iter().flat_map(|&(u, v, w)| [(u, v, w), (v, u, w)]).collect();
    let undirected = partitions(6).into_iter().max_by_key(|labels| modularity(6, &both, labels));
    let of = |labels: &[Label]| modularity(6, &edges, labels);
    assert!(of(&found(&directed(6, &edges, false), ONE)) > of(&undirected.unwrap()));
}

#[test]
fn special_graphs() {
    let star = |turned: bool| -> Edges {
        (1..50).map(|v| if turned { (v, 0, 1) } else { (0, v, 1) }).collect()
    };
    let cycle: Edges = (0..60).map(|v| (v, (v + 1) % 60, 1)).collect();
    let loops: Edges = (0..5).map(|v| (v, v, 1)).collect();
    for (vertices, edges) in [
        (0, vec![]),
        (3, vec![]),
        (1, vec![(0, 0, 1)]),
        (2, vec![(0, 1, 1)]),
        (50, star(false)),
        (50, star(true)),
        (60, cycle),
        (5, loops),
    ] {
        for objective in OBJECTIVES.into_iter().chain([Objective::Cpm(1e9)]) {
            let labels = found(&directed(vertices, &edges, false), objective);
            if vertices > 0 && objective == ONE {
                let alone: Vec<Label> = (0..vertices).collect();
                let of = |labels: &[Label]| modularity(vertices, &edges, labels);
                assert!(of(&labels) >= of(&alone).max(of(&vec![0; vertices as usize])));
            }
        }
    }
}

#[test]
fn the_potts_model_counts_ordered_pairs() {
    // A directed cycle of three vertices has half of its six arcs, less the pairs of a vertex with
    // itself: 3 of 9.
    let cycle = directed(3, &vec![(0, 1, 1), (1, 2, 1), (2, 0, 1)], false);
    assert_eq!(found(&cycle, Objective::Cpm(0.33)), [0, 0, 0]);
    assert_eq!(found(&cycle, Objective::Cpm(0.51)), [0, 1, 2]);
}
