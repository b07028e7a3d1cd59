//! Merging against a sequential implementation of its definition that shares no code with it.

use crate::definitions::{Edges, mix, table};
use proptest::prelude::*;
use ripplet_graph::compressed::CompressedGraph;
use ripplet_graph::{Direction, Graph, GraphBuilder, Observer, SelfLoops};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::engine::finish_on_host;
use ripplet_lp::programs::Lpa;
use ripplet_lp::quality::Quality;
use ripplet_lp::refine::{BadMergeShare, MergeShare};
use ripplet_lp::{Executor, Label, NO_LABEL, RoundObserver, RunError, Settings, Stop};
use std::collections::BTreeMap;

fn graph(vertices: u32, edges: &Edges, direction: Direction) -> Graph {
    let builder = GraphBuilder::new().direction(direction).self_loops(SelfLoops::Keep);
    builder.shard_arcs(100).build(table(vertices, edges, true)).unwrap()
}

/// Returns the arcs that touch each vertex, in both directions, with stored weights.
fn arcs(graph: &Graph) -> Vec<(u32, u32, u128)> {
    let mut arcs = Vec::new();
    for shard in graph.shards() {
        for lists in [Some(shard.out()), shard.incoming()].into_iter().flatten() {
            for (local, v) in shard.vertices().enumerate() {
                for (at, &u) in lists.of(local).iter().enumerate() {
                    let weight = lists.weights_of(local).map_or(1, |weights| weights[at]);
                    arcs.push((v, u, u128::from(weight)));
                }
            }
        }
    }
    arcs
}

/// The definition: arcs of both directions as triples, labels, the share in steps of 2⁻¹⁶, the seed.
fn merged(arcs: &[(u32, u32, u128)], labels: &[Label], share: u128, seed: u64) -> Vec<Label> {
    let smallest_of = |labels: &[Label]| {
        let mut smallest = BTreeMap::new();
        for (v, &label) in labels.iter().enumerate().filter(|(_, label)| **label != NO_LABEL) {
            smallest.entry(label).or_insert(v as u32);
        }
        let name = |&label: &Label| smallest.get(&label).copied().unwrap_or(NO_LABEL);
        labels.iter().map(name).collect::<Vec<_>>()
    };
    let mut now = smallest_of(labels);
    let seed = mix(seed as u32 ^ mix((seed >> 32) as u32));
    let total: u128 = arcs.iter().map(|arc| arc.2).sum();
    for depth in 0..8u32 {
        // Communities, numbered by their smallest vertices; a vertex without a label has one, too.
        let named = |v: usize| if now[v] == NO_LABEL { v as u32 } else { now[v] };
        let mut names: Vec<u32> = (0..now.len()).map(named).collect();
        names.sort_unstable();
        names.dedup();
        let number = |v: u32| names.binary_search(&named(v as usize)).unwrap();
        let (mut weights, mut strength) =
            (vec![BTreeMap::new(); names.len()], vec![0; names.len()]);
        for &(v, u, weight) in arcs {
            let (a, b) = (number(v), number(u));
            strength[a] += weight;
            let counts = a != b && now[v as usize] != NO_LABEL && now[u as usize] != NO_LABEL;
            if counts && weight > 0 {
                *weights[a].entry(b).or_insert(0) += weight;
            }
        }
        let mut group: Vec<usize> = (0..names.len()).collect();
        let mut active = vec![true; names.len()];
        for round in 0..10 {
            let key = mix(seed ^ mix((depth << 8 | round) ^ mix(5)));
            let phase = |a: usize| (u64::from(mix(a as u32 ^ key)) * 8) >> 32;
            let scheduled = active.clone();
            let mut changed = false;
            for turn in 0..8 {
                let at_turn = |&a: &usize| scheduled[a] && phase(a) == turn;
                let turns: Vec<usize> = (0..names.len()).filter(at_turn).collect();
                let mut totals: BTreeMap<usize, u128> = BTreeMap::new();
                group.iter().zip(&strength).for_each(|(&l, s)| *totals.entry(l).or_default() += s);
                let mut moves = Vec::new();
                for a in turns {
                    active[a] = false;
                    let mut votes: BTreeMap<usize, u128> = BTreeMap::new();
                    weights[a].iter().for_each(|(&b, w)| *votes.entry(group[b]).or_default() += w);
                    let own = votes.remove(&group[a]).unwrap_or(0);
                    let rank = |l: usize| mix(l as u32 ^ mix(a as u32 ^ key));
                    let eligible = votes.into_iter().filter(|(l, w)| {
                        w * total >= strength[a] * totals[l] && w * 65536 >= share * strength[a]
                    });
                    let best = eligible.max_by_key(|&(l, w)| (w, std::cmp::Reverse(rank(l))));
                    moves.extend(best.filter(|best| best.1 > own).map(|(l, _)| (a, l)));
                }
                changed |= !moves.is_empty();
                moves.iter().for_each(|&(a, l)| group[a] = l);
                for (a, l) in moves {
                    weights[a].keys().filter(|&&b| group[b] != l).for_each(|&b| active[b] = true);
                }
            }
            if !changed {
                break;
            }
        }
        // The connected parts of each label, named by their smallest community.
        let mut part: Vec<usize> = (0..names.len()).collect();
        let mut settled = false;
        while !settled {
            settled = true;
            for a in 0..names.len() {
                for &b in weights[a].keys().filter(|&&b| group[b] == group[a]) {
                    let least = part[a].min(part[b]);
                    settled &= part[a] == least && part[b] == least;
                    (part[a], part[b]) = (least, least);
                }
            }
        }
        let group = part;
        if group.iter().enumerate().all(|(a, &l)| a == l) {
            break;
        }
        let joined = |v: usize| match now[v] {
            NO_LABEL => NO_LABEL,
            _ => group[number(v as u32)] as u32,
        };
        now = smallest_of(&(0..now.len()).map(joined).collect::<Vec<_>>());
    }
    now
}

/// Returns the labels before and after merging.
fn run(
    executor: &CpuExecutor,
    graph: &Graph,
    initial: Option<Vec<Label>>,
    share: MergeShare,
    seed: u64,
) -> [Vec<Label>; 2] {
    [None, Some(share)].map(|merge| {
        let settings = Settings {
            merge,
            seed,
            initial: initial.clone(),
            stop: Stop::after(2),
            ..Settings::default()
        };
        let found = executor.run(graph, &Lpa::default(), &settings, &mut ()).unwrap();
        assert_eq!(found.merged.is_some(), merge.is_some());
        found.labels
    })
}

proptest! {
    #[test]
    fn any_graph_equals_the_definition(
        vertices in 1u32..60,
        edges in prop::collection::vec((0u32..60, 0u32..60, 1u32..5), 0..200),
        steps in prop::sample::select(vec![0u32, 2000, 5461, 20000, 65536]),
        directed: bool,
        unlabelled in prop::option::of(0u32..5),
        seed: u64,
    ) {
        let edges: Edges = edges.into_iter().map(|(a, b, w)| (a % vertices, b % vertices, w)).collect();
        let direction = if directed { Direction::Directed } else { Direction::Undirected };
        let graph = graph(vertices, &edges, direction);
        let share = MergeShare::new(f64::from(steps) / 65536.0).unwrap();
        let initial = unlabelled.map(|first| {
            (0..vertices).map(|v| if v % 5 == first { NO_LABEL } else { v }).collect::<Vec<_>>()
        });
        let arcs = arcs(&graph);
        for threads in [1, 2, 5] {
            let executor = CpuExecutor::new(Some(threads)).unwrap();
            let [before, after] = run(&executor, &graph, initial.clone(), share, seed);
            let expected = merged(&arcs, &before, u128::from(steps), seed);
            for (label, expected) in before.iter().zip(&expected) {
                prop_assert_eq!(*label == NO_LABEL, *expected == NO_LABEL);
            }
            // Without a merge, names stay as they are.
            let pairs = |labels: &[Label]| -> Vec<bool> {
                let same = |a: usize, b: usize| labels[a] == labels[b];
                (0..labels.len()).flat_map(|a| (0..a).map(move |b| (a, b))).map(|(a, b)| same(a, b)).collect()
            };
            prop_assert_eq!(pairs(&after), pairs(&expected));
            if pairs(&after) != pairs(&before) {
                prop_assert_eq!(&after, &expected);
            } else {
                prop_assert_eq!(&after, &before);
            }
            let disconnected = Quality::of(&graph, &after).unwrap().disconnected;
            prop_assert_eq!(disconnected, 0);
            let compressed = CompressedGraph::copied(&graph).unwrap();
            let settings = Settings {
                merge: Some(share), seed, initial: initial.clone(), stop: Stop::after(2), ..Settings::default()
            };
            let found = executor.run(&compressed, &Lpa::default(), &settings, &mut ()).unwrap();
            prop_assert_eq!(found.labels, after);
        }
    }
}

#[test]
fn a_grid_merges_and_a_ring_of_cliques_does_not() {
    let executor = CpuExecutor::new(Some(2)).unwrap();
    let side = 60;
    let right = (0..side).flat_map(|y| (1..side).map(move |x| (y * side + x - 1, y * side + x, 1)));
    let down =
        (1..side).flat_map(|y| (0..side).map(move |x| (y * side - side + x, y * side + x, 1)));
    let grid = graph(side * side, &right.chain(down).collect(), Direction::Undirected);
    let [before, after] = run(&executor, &grid, None, MergeShare::default(), 1);
    let modularity = |labels: &[Label]| Quality::of(&grid, labels).unwrap().modularity;
    assert!(modularity(&after) > modularity(&before) + 0.1, "{}", modularity(&after));

    let clique = |c: u32| (0..6).flat_map(move |a| (0..a).map(move |b| (6 * c + a, 6 * c + b, 1)));
    let ring = (0..40).map(|c| (6 * c, 6 * ((c + 1) % 40) + 1, 1));
    let edges = (0..40).flat_map(clique).chain(ring).collect();
    let cliques = graph(240, &edges, Direction::Undirected);
    let settings = Settings { merge: Some(MergeShare::default()), ..Settings::default() };
    let found = executor.run(&cliques, &Lpa::default(), &settings, &mut ()).unwrap();
    let planted: Vec<Label> = (0..240).map(|v| v / 6 * 6).collect();
    assert!(found.labels.chunks(6).zip(planted.chunks(6)).all(|(found, planted)| found == planted));
}

#[test]
fn shares_and_cancellation() {
    assert!((MergeShare::default().value() - 1.0 / 12.0).abs() < 1e-4);
    for bad in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert!(matches!(MergeShare::new(bad), Err(BadMergeShare(_))), "{bad}");
    }
    struct AtMerging(bool);
    impl Observer for AtMerging {
        fn on_stage(&mut self, name: &'static str) {
            self.0 |= name == "merging communities";
        }
        fn is_cancelled(&self) -> bool {
            self.0
        }
    }
    impl RoundObserver for AtMerging {}
    let path = graph(50, &(1..50).map(|v| (v - 1, v, 1)).collect(), Direction::Undirected);
    let settings = Settings { merge: Some(MergeShare::default()), ..Settings::default() };
    let executor = CpuExecutor::new(Some(2)).unwrap();
    let found = executor.run(&path, &Lpa::default(), &settings, &mut AtMerging(false));
    assert_eq!(found.unwrap_err(), RunError::Cancelled);
}

/// A community has most of the arcs, and is summed up by all threads together; others join it or each other.
#[test]
fn a_huge_community_is_summed_up_by_all_threads() {
    let (inner, groups) = (24_000, 1_200);
    let vertices = inner + 5 * groups;
    let of_inner = (0..inner).flat_map(|v| [(v, (v + 1) % inner), (v, (v + 77) % inner)]);
    let of_groups = (0..groups).flat_map(|group| {
        let first = inner + 5 * group;
        let ring = (0..5).map(move |v| (first + v, first + (v + 1) % 5));
        // Groups differ in how many arcs lead to the huge community, and to the next group.
        let out = (0..group % 7).map(move |v| (first + v % 5, (group * 19 + v) % inner));
        let on = (0..group % 5).map(move |v| (first + v, first + 5 + v));
        ring.chain(out).chain(on.filter(move |&(_, u)| u < vertices))
    });
    let edges: Edges = of_inner
        .chain(of_groups)
        .enumerate()
        .map(|(at, (v, u))| (v, u, 1 + at as u32 % 3))
        .collect();
    let graph = graph(vertices, &edges, Direction::Undirected);
    let label = |v: u32| if v < inner { 0 } else { inner + (v - inner) / 5 * 5 };
    let labels: Vec<Label> = (0..vertices).map(label).collect();
    let share = MergeShare::default();
    let settings = Settings { merge: Some(share), seed: 5, ..Settings::default() };
    let expected = merged(&arcs(&graph), &labels, u128::from(share.steps()), 5);
    for threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let finish = || finish_on_host((&graph).into(), labels.clone(), &settings, &mut ());
        let found = pool.install(finish).unwrap();
        assert!(found.labels == expected, "{threads} threads");
        assert!(found.merged > Some(100), "{:?}", found.merged);
    }
}
