//! The parts of communities: nested, connected, and the same for any number of threads.

use crate::definitions::{Edges, table};
use proptest::prelude::*;
use ripplet_graph::compressed::CompressedGraph;
use ripplet_graph::{Direction, Graph, GraphBuilder};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::refine::{
    MOST_LEVELS, Objective, RefineError, RefineOptions, Resolution, hierarchy, refine,
};
use ripplet_lp::{Label, NO_LABEL};
use std::collections::{BTreeMap, BTreeSet};

const ONE: Objective = Objective::Modularity(Resolution::Fixed(1.0));

fn graph(vertices: u32, edges: &Edges, weighted: bool) -> Graph {
    GraphBuilder::new().build(table(vertices, edges, weighted)).unwrap()
}

/// Runs on several numbers of threads and both storages; the results must be equal.
fn levels(graph: &Graph, objective: Objective, labels: &[Label]) -> Vec<Vec<Label>> {
    let on = |threads| {
        let executor = CpuExecutor::new(Some(threads)).unwrap();
        executor.install(|| hierarchy(graph, objective, 7, labels, &mut ()).unwrap())
    };
    let found = on(1);
    assert_eq!(on(2), found);
    assert_eq!(on(5), found);
    let compressed = CompressedGraph::of(graph.clone()).unwrap();
    assert_eq!(hierarchy(&compressed, objective, 7, labels, &mut ()).unwrap(), found);
    found
}

/// Returns the smallest vertex that each vertex reaches by edges within its part.
fn reached(vertices: u32, edges: &Edges, parts: &[Label]) -> Vec<Label> {
    let mut reached: Vec<Label> = (0..vertices).collect();
    loop {
        let before = reached.clone();
        for &(u, v, _) in
            edges.iter().filter(|edge| parts[edge.0 as usize] == parts[edge.1 as usize])
        {
            let least = reached[u as usize].min(reached[v as usize]);
            (reached[u as usize], reached[v as usize]) = (least, least);
        }
        if reached == before {
            return reached;
        }
    }
}

fn is_within(fine: &[Label], coarse: &[Label]) -> bool {
    let mut of = BTreeMap::new();
    fine.iter().zip(coarse).all(|(fine, coarse)| of.entry(fine).or_insert(coarse) == &coarse)
}

fn count(labels: &[Label]) -> usize {
    labels.iter().collect::<BTreeSet<_>>().len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn parts_are_nested_and_connected(
        edges in prop::collection::vec((0u32..50, 0u32..50, 1u32..9), 0..200),
        labels in prop::option::of(prop::collection::vec(prop_oneof![0u32..5, Just(NO_LABEL)], 50)),
        weighted: bool,
        cpm: bool,
        directed: bool,
    ) {
        let edges: Edges = edges.into_iter().filter(|edge| edge.0 != edge.1).collect();
        let direction = if directed { Direction::Directed } else { Direction::Undirected };
        let builder = GraphBuilder::new().direction(direction);
        let graph = builder.build(table(50, &edges, weighted)).unwrap();
        let objective = if cpm { Objective::Cpm(0.2) } else { ONE };
        let labels = match labels {
            Some(labels) => labels,
            None => refine(&graph, &RefineOptions::new(objective), &mut ()).unwrap().labels,
        };
        let found = levels(&graph, objective, &labels);
        prop_assert!(found.len() <= MOST_LEVELS);
        // A vertex without a label is a community of its own.
        let alone = labels.iter().zip(100..).map(|(&label, alone)| if label == NO_LABEL { alone } else { label });
        let above = found.iter().skip(1).cloned().chain([alone.collect()]);
        let mut parts = 50;
        for (fine, coarse) in found.iter().zip(above) {
            prop_assert_eq!(&reached(50, &edges, fine), fine);
            prop_assert!(is_within(fine, &coarse));
            prop_assert!(count(fine) < parts);
            parts = count(fine);
        }
    }
}

#[test]
fn cliques_are_parts_of_what_they_form() {
    // Two rings of four cliques of five vertices, joined by one edge.
    let clique = |first: u32| {
        let pairs = (0..5).flat_map(|u| (0..u).map(move |v| (u, v)));
        pairs.map(move |(u, v)| (first + u, first + v, 1))
    };
    let mut edges: Edges = (0..8).flat_map(|number| clique(5 * number)).collect();
    for ring in [0, 20] {
        edges
            .extend((0..4).map(|number| (ring + 5 * number, ring + 5 * ((number + 1) % 4) + 1, 1)));
    }
    edges.push((2, 22, 1));
    let graph = graph(40, &edges, false);
    let communities: Vec<Label> = (0..40).map(|v| v / 20 * 20).collect();
    let found = levels(&graph, Objective::Modularity(Resolution::Fixed(0.05)), &communities);
    assert_eq!(found.last(), Some(&communities));
    assert!(found.len() > 1);
}

#[test]
fn graphs_without_joins_have_no_levels() {
    assert_eq!(levels(&graph(3, &vec![], false), ONE, &[0, 0, 0]), Vec::<Vec<Label>>::new());
    assert_eq!(levels(&graph(2, &vec![(0, 1, 1)], false), ONE, &[0, 1]), Vec::<Vec<Label>>::new());
    assert_eq!(levels(&graph(0, &vec![], false), ONE, &[]), Vec::<Vec<Label>>::new());
}

#[test]
fn what_has_no_meaning_is_refused() {
    let graph = graph(3, &vec![(0, 1, 1)], false);
    let refused =
        |objective, labels: &[Label]| hierarchy(&graph, objective, 0, labels, &mut ()).unwrap_err();
    assert_eq!(refused(ONE, &[0, 0]), RefineError::Length { labels: 2, vertices: 3 });
    assert_eq!(refused(Objective::Cpm(0.0), &[0; 3]), RefineError::Resolution { resolution: 0.0 });
}
