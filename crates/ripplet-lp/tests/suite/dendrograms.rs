//! Dendrograms against merging by hand, pair by pair, on maps.

use crate::definitions::{Edges, table};
use proptest::prelude::*;
use ripplet_graph::compressed::CompressedGraph;
use ripplet_graph::{Direction, Graph, GraphBuilder, Observer};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::refine::{Merge, Objective, RefineError, Resolution, dendrogram};
use ripplet_lp::{Label, NO_LABEL, RoundObserver, RunError};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

const MODULARITY: Objective = Objective::Modularity(Resolution::Auto);
const CPM: Objective = Objective::Cpm(1.0);

fn graph(vertices: u32, edges: &Edges, weighted: bool) -> Graph {
    GraphBuilder::new().build(table(vertices, edges, weighted)).unwrap()
}

/// Runs on several numbers of threads and both storages; the results must be equal.
fn run(graph: &Graph, objective: Objective, labels: &[Label]) -> Vec<Merge> {
    let on = |threads| {
        let executor = CpuExecutor::new(Some(threads)).unwrap();
        executor.install(|| dendrogram(graph, objective, labels, &mut ()).unwrap())
    };
    let found = on(1);
    assert_eq!(on(3), found);
    let compressed = CompressedGraph::of(graph.clone()).unwrap();
    assert_eq!(dendrogram(&compressed, objective, labels, &mut ()).unwrap(), found);
    found
}

/// The merges: left, right, weight, product of masses, communities, vertices, weight inside.
type Expected = (usize, usize, u128, u128, u32, u32, u128);

/// Tries all pairs for each merge.
fn by_hand(vertices: u32, edges: &Edges, cpm: bool, labels: &[Label]) -> Vec<Expected> {
    let own = |v: u32| match labels[v as usize] {
        NO_LABEL => (1, v),
        label => (0, label),
    };
    let names: BTreeSet<(u32, u32)> = (0..vertices).map(own).collect();
    let mut members: Vec<Option<BTreeSet<u32>>> = names
        .iter()
        .map(|&name| Some((0..vertices).filter(|&v| own(v) == name).collect()))
        .collect();
    let mut counts = vec![1; members.len()];
    let between = |a: &BTreeSet<u32>, b: &BTreeSet<u32>| -> u128 {
        let pairs = [(a, b), (b, a)];
        let of = |&(u, v, weight): &(u32, u32, u32)| {
            let times = pairs.iter().filter(|(a, b)| a.contains(&u) && b.contains(&v)).count();
            u128::from(weight) * times as u128
        };
        edges.iter().map(of).sum()
    };
    let mass = |members: &BTreeSet<u32>| -> u128 {
        let ends = |v: u32| -> u128 {
            edges
                .iter()
                .map(|e| u128::from(e.2) * (u128::from(e.0 == v) + u128::from(e.1 == v)))
                .sum()
        };
        members.iter().map(|&v| if cpm { 1 } else { ends(v) }).sum()
    };
    let mut inner: u128 = members.iter().flatten().map(|one| between(one, one)).sum();
    let mut merges = Vec::new();
    loop {
        let alive: Vec<usize> = (0..members.len()).filter(|&at| members[at].is_some()).collect();
        if alive.len() < 2 {
            return merges;
        }
        let mut best: Option<(usize, usize, u128, u128)> = None;
        for (at, &left) in alive.iter().enumerate() {
            for &right in &alive[at + 1..] {
                let (a, b) = (members[left].as_ref().unwrap(), members[right].as_ref().unwrap());
                let (weight, product) = (between(a, b), mass(a) * mass(b));
                let is_better = best.is_none_or(|(_, _, w, p)| {
                    weight > 0 && (w == 0 || (weight * p).cmp(&(w * product)) == Ordering::Greater)
                });
                if is_better {
                    best = Some((left, right, weight, product));
                }
            }
        }
        let (mut left, mut right, weight, mut product) = best.unwrap();
        if weight == 0 {
            let mut by_mass = alive.clone();
            by_mass.sort_by_key(|&at| (mass(members[at].as_ref().unwrap()), at));
            (left, right) = (by_mass[0].min(by_mass[1]), by_mass[0].max(by_mass[1]));
            product = 0;
        }
        inner += 2 * weight;
        let joined: BTreeSet<u32> =
            [left, right].iter().flat_map(|&at| members[at].take().unwrap()).collect();
        counts.push(counts[left] + counts[right]);
        let size = joined.len() as u32;
        merges.push((left, right, weight, product, counts[members.len()], size, inner));
        members.push(Some(joined));
    }
}

fn check(vertices: u32, edges: &Edges, weighted: bool, labels: &[Label]) {
    let graph = graph(vertices, edges, weighted);
    let total: f64 = edges.iter().map(|edge| 2.0 * f64::from(edge.2)).sum();
    for (objective, cpm) in [(MODULARITY, false), (CPM, true)] {
        let found = run(&graph, objective, labels);
        let expected = by_hand(vertices, edges, cpm, labels);
        assert_eq!(found.len(), expected.len());
        let mut last = f64::INFINITY;
        for (merge, expected) in found.iter().zip(expected) {
            let (left, right, weight, product, communities, size, inner) = expected;
            assert_eq!((merge.left as usize, merge.right as usize), (left, right));
            assert_eq!((merge.communities, merge.vertices), (communities, size));
            let scale = if cpm { 1.0 } else { total };
            let resolution = if weight == 0 { 0.0 } else { scale * weight as f64 / product as f64 };
            assert!((merge.resolution - resolution).abs() <= 1e-12 * resolution);
            assert!(merge.resolution <= last * (1.0 + 1e-12));
            last = merge.resolution;
            let inner = if total > 0.0 { inner as f64 / total } else { 0.0 };
            assert!((merge.inner - inner).abs() < 1e-12);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn merges_are_those_by_hand(
        edges in prop::collection::btree_map((0u32..24, 0u32..24), 1u32..5, 0..90),
        weighted: bool,
        labels in prop::collection::vec(prop_oneof![4 => 0u32..24, 1 => Just(NO_LABEL)], 24),
    ) {
        let edges = edges.into_iter().filter(|((u, v), _)| u < v);
        let edges: Edges =
            edges.map(|((u, v), weight)| (u, v, if weighted { weight } else { 1 })).collect();
        check(24, &edges, weighted, &labels);
    }
}

#[test]
fn special_graphs() {
    let alone = |vertices: u32| -> Vec<Label> { (0..vertices).collect() };
    check(0, &vec![], false, &[]);
    check(1, &vec![], false, &[0]);
    check(5, &vec![], false, &alone(5));
    check(2, &vec![(0, 1, 1)], false, &alone(2));
    check(30, &(1..30).map(|v| (0, v, 1)).collect(), false, &alone(30));
    check(30, &(1..30).map(|v| (v - 1, v, 1)).collect(), false, &alone(30));
    check(12, &(0..12).flat_map(|u| (0..u).map(move |v| (v, u, 1))).collect(), false, &alone(12));
    // Heavy weights: products of masses exceed 64 bits.
    let heavy = |v: u32| (v - 1, v, u32::MAX - v);
    check(20, &(1..20).map(heavy).collect(), true, &alone(20));
}

#[test]
fn a_star_of_many_communities_joins_in_time() {
    // Correcting each leaf after each merge would be 10^10 steps.
    let leaves = 100_000;
    let edges: Edges = (1..=leaves).map(|v| (0, v, 1)).collect();
    let labels: Vec<Label> = (0..=leaves).collect();
    let graph = graph(leaves + 1, &edges, false);
    let found = dendrogram(&graph, MODULARITY, &labels, &mut ()).unwrap();
    assert_eq!(found.len(), leaves as usize);
    assert_eq!((found[0].left, found[0].right), (0, 1));
    let last = found.last().unwrap();
    assert_eq!((last.left, last.communities, last.inner), (leaves, leaves + 1, 1.0));
}

#[test]
fn a_cut_is_a_partition_of_the_hierarchy() {
    let edges = vec![(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 0, 1), (4, 5, 1)];
    let found = run(&graph(6, &edges, false), CPM, &[0, 0, 1, 1, 2, 2]);
    let numbers: BTreeMap<u32, u32> = (3..).zip(found.iter().map(|merge| merge.vertices)).collect();
    assert_eq!(numbers, BTreeMap::from([(3, 4), (4, 6)]));
    assert_eq!((found[0].resolution, found[1].resolution), (0.5, 0.0));
}

#[test]
fn what_has_no_meaning_is_refused() {
    let graph = graph(3, &vec![(0, 1, 1)], false);
    let refused =
        |objective, labels: &[Label]| dendrogram(&graph, objective, labels, &mut ()).unwrap_err();
    assert_eq!(refused(CPM, &[0, 0]), RefineError::Length { labels: 2, vertices: 3 });
    assert_eq!(refused(Objective::Cpm(0.0), &[0; 3]), RefineError::Resolution { resolution: 0.0 });
    let builder = GraphBuilder::new().direction(Direction::Directed);
    let directed = builder.build(table(3, &vec![(0, 1, 1)], false)).unwrap();
    let found = dendrogram(&directed, CPM, &[0, 1, 2], &mut ());
    assert_eq!(found, Err(RefineError::DirectedDendrogram));
    struct Cancels;
    impl Observer for Cancels {
        fn is_cancelled(&self) -> bool {
            true
        }
    }
    impl RoundObserver for Cancels {}
    let found = dendrogram(&graph, CPM, &[0, 1, 2], &mut Cancels);
    assert_eq!(found, Err(RefineError::Run(RunError::Cancelled)));
}
