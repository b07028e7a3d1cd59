//! Refinement with fixed vertices and with a largest size: what holds for every result.

use crate::definitions::{Edges, table};
use proptest::prelude::*;
use ripplet_graph::compressed::CompressedGraph;
use ripplet_graph::{Direction, Graph, GraphBuilder};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::quality::Quality;
use ripplet_lp::refine::{Objective, RefineError, RefineOptions, Resolution, refine};
use ripplet_lp::{Label, NO_LABEL};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

const ONE: Objective = Objective::Modularity(Resolution::Fixed(1.0));
const OBJECTIVES: [Objective; 3] =
    [ONE, Objective::Modularity(Resolution::Auto), Objective::Cpm(0.2)];

fn graph(vertices: u32, edges: &Edges, directed: bool) -> Graph {
    let direction = if directed { Direction::Directed } else { Direction::Undirected };
    let builder = GraphBuilder::new().direction(direction).shard_arcs(200);
    builder.build(table(vertices, edges, false)).unwrap()
}

/// Runs on several numbers of threads and both storages; the results must be equal.
fn run(graph: &Graph, options: &RefineOptions) -> Vec<Label> {
    let on = |threads| {
        let executor = CpuExecutor::new(Some(threads)).unwrap();
        executor.install(|| refine(graph, options, &mut ()).unwrap().labels)
    };
    let found = on(1);
    assert_eq!(on(2), found);
    assert_eq!(on(4), found);
    let compressed = CompressedGraph::of(graph.clone()).unwrap();
    assert_eq!(refine(&compressed, options, &mut ()).unwrap().labels, found);
    found
}

/// Returns the communities to begin with, in which no vertex is without a label.
fn begin(initial: Option<&[Label]>, vertices: u32) -> Vec<Label> {
    let alone = |v: u32| 1000 + v;
    match initial {
        None => (0..vertices).map(alone).collect(),
        Some(labels) => {
            let with_alone = labels.iter().zip((0..vertices).map(alone));
            with_alone.map(|(&label, own)| if label == NO_LABEL { own } else { label }).collect()
        }
    }
}

/// Returns the smallest vertex that each vertex reaches by edges within its community.
fn reached(edges: &Edges, labels: &[Label]) -> Vec<Label> {
    let mut reached: Vec<Label> = (0..labels.len() as Label).collect();
    loop {
        let before = reached.clone();
        for &(u, v, _) in edges {
            if labels[u as usize] == labels[v as usize] {
                let least = reached[u as usize].min(reached[v as usize]);
                (reached[u as usize], reached[v as usize]) = (least, least);
            }
        }
        if reached == before {
            return reached;
        }
    }
}

fn sizes(labels: &[Label]) -> BTreeMap<Label, u32> {
    let mut sizes = BTreeMap::new();
    labels.iter().for_each(|&label| *sizes.entry(label).or_default() += 1);
    sizes
}

fn check(graph: &Graph, edges: &Edges, options: &RefineOptions) -> Vec<Label> {
    let found = run(graph, options);
    for (v, &label) in found.iter().enumerate() {
        assert!(label as usize <= v && found[label as usize] == label);
    }
    let begin = begin(options.initial.as_deref(), graph.vertices());
    let is_together = |labels: &[Label], u: u32, v: u32| labels[u as usize] == labels[v as usize];
    for &u in &options.fixed {
        for &v in &options.fixed {
            assert_eq!(is_together(&found, u, v), is_together(&begin, u, v), "{u} and {v}");
        }
    }
    // A community falls apart only into parts with fixed vertices.
    let parts = reached(edges, &found);
    let has_fixed: BTreeSet<Label> = options.fixed.iter().map(|&v| parts[v as usize]).collect();
    let all: BTreeSet<(Label, Label)> = found.iter().copied().zip(parts).collect();
    for (community, part) in &all {
        let count = all.iter().filter(|pair| pair.0 == *community).count();
        assert!(count == 1 || has_fixed.contains(part), "{community}: {part}");
    }
    if let Some(most) = options.max_size {
        assert!(sizes(&found).values().all(|&size| size <= most.get()));
    }
    if options.objective == ONE {
        let of = |labels: &[Label]| Quality::of(graph, labels).unwrap().modularity;
        assert!(of(&found) >= of(&begin) - 1e-12);
    }
    found
}

/// Fixed vertices of a mask.
fn chosen(mask: &[bool]) -> Vec<u32> {
    (0..mask.len() as u32).filter(|&v| mask[v as usize]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn fixed_vertices_keep_their_community(
        edges in prop::collection::vec((0u32..40, 0u32..40, Just(1)), 0..160),
        initial in prop::option::of(prop::collection::vec(
            prop_oneof![0u32..8, Just(NO_LABEL)], 40)),
        mask in prop::collection::vec(prop::bool::weighted(0.3), 40),
        directed: bool,
        seed: u64,
    ) {
        let graph = graph(40, &edges, directed);
        for objective in OBJECTIVES {
            let initial = initial.clone();
            let fixed = chosen(&mask);
            let options = RefineOptions { seed, initial, fixed, ..RefineOptions::new(objective) };
            check(&graph, &edges, &options);
            let all = RefineOptions { fixed: (0..40).collect(), ..options };
            let (found, begin) = (run(&graph, &all), begin(all.initial.as_deref(), 40));
            let pairs: BTreeSet<(Label, Label)> = found.into_iter().zip(begin.clone()).collect();
            prop_assert_eq!(pairs.len(), sizes(&begin).len());
        }
    }

    #[test]
    fn no_community_is_larger_than_allowed(
        edges in prop::collection::vec((0u32..60, 0u32..60, Just(1)), 0..400),
        mask in prop::collection::vec(prop::bool::weighted(0.1), 60),
        most in 1u32..20,
        directed: bool,
        seed: u64,
    ) {
        let graph = graph(60, &edges, directed);
        for objective in OBJECTIVES {
            let fixed = chosen(&mask);
            let max_size = NonZeroU32::new(most);
            let options = RefineOptions { seed, fixed, max_size, ..RefineOptions::new(objective) };
            check(&graph, &edges, &options);
            // A limit that nothing reaches changes nothing.
            let free = RefineOptions { max_size: None, ..options };
            let wide = RefineOptions { max_size: NonZeroU32::new(60), ..free.clone() };
            prop_assert_eq!(run(&graph, &wide), run(&graph, &free));
        }
    }

    #[test]
    fn a_limit_holds_from_any_communities_within_it(
        edges in prop::collection::vec((0u32..60, 0u32..60, Just(1)), 0..300),
        initial in prop::collection::vec(0u32..30, 60),
        spare in 0u32..3,
    ) {
        let graph = graph(60, &edges, false);
        let largest = sizes(&initial).into_values().max().unwrap();
        for objective in OBJECTIVES {
            let max_size = NonZeroU32::new(largest + spare);
            let initial = Some(initial.clone());
            let options = RefineOptions { initial, max_size, ..RefineOptions::new(objective) };
            check(&graph, &edges, &options);
            let less = RefineOptions { max_size: NonZeroU32::new(largest - 1), ..options };
            let refused = RefineError::InitialSize { size: largest, most: largest - 1 };
            if largest > 1 {
                prop_assert_eq!(refine(&graph, &less, &mut ()), Err(refused));
            }
        }
    }
}

/// Cliques of ten vertices in a ring, each with an edge to the next.
fn ring(cliques: u32) -> Edges {
    let inside =
        |first: u32| (0..10).flat_map(move |u| (0..u).map(move |v| (first + u, first + v, 1)));
    let count = 10 * cliques;
    let next = (0..cliques).map(move |clique| (10 * clique, (10 * clique + 11) % count, 1));
    (0..cliques).flat_map(|clique| inside(10 * clique)).chain(next).collect()
}

#[test]
fn full_communities_use_the_room_that_they_have() {
    let edges = ring(40);
    let graph = graph(400, &edges, false);
    let sizes_at = |most| {
        let max_size = NonZeroU32::new(most);
        let low = Objective::Modularity(Resolution::Fixed(0.2));
        let options = RefineOptions { max_size, ..RefineOptions::new(low) };
        sizes(&check(&graph, &edges, &options)).into_values().collect::<Vec<_>>()
    };
    // The resolution joins neighbouring cliques, where they have room.
    assert!(sizes_at(400).iter().all(|&size| size >= 20));
    assert_eq!(sizes_at(19), [10; 40]);
    assert_eq!(sizes_at(10), [10; 40]);
    assert_eq!(sizes_at(5), [5; 80]);
    assert_eq!(sizes_at(1), [1; 400]);
}

#[test]
fn two_communities_grow_around_fixed_vertices() {
    // A clique, two of whose vertices begin apart: each other vertex joins one of them.
    let clique: Edges = (0..8).flat_map(|u| (0..u).map(move |v| (u, v, 1))).collect();
    let graph = graph(8, &clique, false);
    let options = RefineOptions { fixed: vec![6, 2], ..RefineOptions::new(Objective::Cpm(0.1)) };
    let found = check(&graph, &clique, &options);
    assert_eq!(sizes(&found).len(), 2);
    assert_ne!(found[2], found[6]);
}

#[test]
fn what_has_no_meaning_is_refused() {
    let graph = graph(3, &vec![(0, 1, 1)], false);
    let of = |fixed: &[u32]| {
        let options = RefineOptions { fixed: fixed.to_vec(), ..RefineOptions::new(ONE) };
        refine(&graph, &options, &mut ()).unwrap_err()
    };
    assert_eq!(of(&[1, 3]), RefineError::FixedVertex { vertex: 3, vertices: 3 });
    assert_eq!(of(&[u32::MAX]), RefineError::FixedVertex { vertex: u32::MAX, vertices: 3 });
    assert_eq!(of(&[2, 0, 2]), RefineError::FixedTwice { vertex: 2 });
}
