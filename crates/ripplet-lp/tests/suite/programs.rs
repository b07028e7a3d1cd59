//! The purpose of each program, tested through its results.

use crate::graphs::{Edges, any_edges, shapes};
use proptest::prelude::*;
use ripplet_generate::Social;
use ripplet_graph::{Graph, GraphBuilder, MAX_SHARD_ARCS, VertexId};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::programs::{
    Cdlp, Gamma, Llp, Lpa, Membership, Seed, SeedError, Seeded, Seeding, Slpa, THRESHOLD,
    layered_order, memberships, strengths,
};
use ripplet_lp::quality::Summary;
use ripplet_lp::sweep::Sweep;
use ripplet_lp::{
    Column, ColumnValues, DeviceSeconds, Executor, Hints, NO_LABEL, Outcome, Scalar, Schedule,
    Settings, Stop, StopReason,
};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

fn executor() -> CpuExecutor {
    CpuExecutor::new(Some(2)).unwrap()
}

#[test]
fn every_program_is_written_in_the_hooks_language() {
    fn check(program: &impl Hints, name: &str, parameters: &[Scalar]) {
        assert_eq!(program.name(), name);
        assert_eq!(program.parameters(), parameters);
        let text = program.device_source().expect("translated").text;
        assert!(text.contains("label_score"), "{name}: {text}");
    }
    check(&Lpa::default(), "lpa", &[Scalar::U32(1 << 16)]);
    check(&Cdlp, "cdlp", &[]);
    check(&Llp::new(Gamma::new(0.5).unwrap()), "llp", &[Scalar::U32(1 << 15)]);
    check(&Slpa::default(), "slpa", &[Scalar::U32(8)]);
    let graph = Edges::new(2, [(0, 1)]).graph(MAX_SHARD_ARCS);
    let parameters = [Scalar::F32(0.5), Scalar::U32(1 << 16)];
    check(&Seeded::new(&graph, 0.5).unwrap(), "seeded", &parameters);
}

// Llp

#[test]
fn a_higher_gamma_finds_smaller_communities() {
    let graph = GraphBuilder::new().build(Social::new(11).generate().unwrap()).unwrap();
    let settings = Settings { stop: Stop::after(20), ..Settings::default() };
    let mut seen = Vec::new();
    let sweep = Sweep::halved(10).with_order();
    let swept = sweep.run(&executor(), &graph, &settings, &mut (), |found, _| {
        let communities: BTreeSet<u32> = found.labels.iter().copied().collect();
        seen.push((Summary::of(&graph, &found.labels).unwrap(), communities.len()));
    });
    let swept = swept.unwrap();
    assert_eq!(seen.len(), 12);
    assert!(swept.layers.iter().map(|layer| layer.summary).eq(seen.iter().map(|seen| seen.0)));
    let best = seen.iter().map(|seen| seen.0.modularity).fold(f64::MIN, f64::max);
    assert_eq!(swept.best.modularity, best);
    assert_eq!(Summary::of(&graph, &swept.outcome.labels).unwrap(), swept.best);
    let order = layered_order(&executor(), &graph, &Gamma::halved(10), &settings, &mut ());
    assert_eq!(swept.order.unwrap().places(), order.unwrap());
    let fewer = seen.windows(2).all(|steps| steps[1].1 <= steps[0].1);
    assert!(fewer && seen[11].1 * 4 < seen[0].1, "{seen:?}");
}

/// Returns about the number of bits that gaps between neighbours take in this order.
fn gap_cost(graph: &Graph, place: &[VertexId]) -> f64 {
    let mut bits = 0.0;
    for shard in graph.shards() {
        for local in 0..shard.vertices().len() {
            let list = shard.out().of(local);
            let mut list: Vec<u32> = list.iter().map(|&u| place[u as usize]).collect();
            list.sort_unstable();
            bits += list.windows(2).map(|pair| f64::from(pair[1] - pair[0]).log2()).sum::<f64>();
        }
    }
    bits
}

#[test]
fn the_layered_order_brings_neighbours_together() {
    let graph = GraphBuilder::new().build(Social::new(13).generate().unwrap()).unwrap();
    // The ids of the social graph are drawn at random, so its own order is a random one.
    let random: Vec<VertexId> = (0..graph.vertices()).collect();
    let settings = Settings { stop: Stop::after(20), ..Settings::default() };
    let order = layered_order(&executor(), &graph, &Gamma::halved(10), &settings, &mut ()).unwrap();
    let mut places = order.clone();
    places.sort_unstable();
    assert_eq!(places, random, "each place is taken once");
    let (before, after) = (gap_cost(&graph, &random), gap_cost(&graph, &order));
    println!("gaps take {after:.0} bits instead of {before:.0}");
    assert!(after < 0.75 * before, "gaps take {after} bits instead of {before}");
}

// Slpa

#[test]
fn a_vertex_of_two_cliques_belongs_to_both() {
    // Two cliques of ten that share vertex 9.
    let clique = |range: std::ops::Range<u32>| {
        let other = range.clone();
        range.flat_map(move |a| other.clone().filter(move |&b| a < b).map(move |b| (a, b)))
    };
    let edges = Edges::new(19, clique(0..10).chain(clique(9..19)));
    let graph = edges.graph(MAX_SHARD_ARCS);
    let (mut both, seeds) = (0, 10);
    for seed in 0..seeds {
        let settings = Settings { stop: Slpa::stop(), seed, ..Settings::default() };
        let found = executor().run(&graph, &Slpa::default(), &settings, &mut ()).unwrap();
        let all = memberships(&found, THRESHOLD).unwrap();
        let of = |v: u32| -> BTreeSet<u32> {
            all.iter().filter(|m| m.vertex == v).map(|m| m.label).collect()
        };
        let union: BTreeSet<u32> = of(0).union(&of(18)).copied().collect();
        both += u32::from(of(0).is_disjoint(&of(18)) && of(9) == union);
        let sums = |v| all.iter().filter(|m| m.vertex == v).map(|m| m.strength).sum::<f32>();
        assert!((0..19).all(|v| (THRESHOLD as f32..1.0001).contains(&sums(v))));
    }
    println!("{both} of {seeds}");
    assert!(both >= 8, "only {both} of {seeds} runs found both communities");
}

/// An outcome of `Slpa` whose memories hold these labels and counts, by vertex.
fn with_memories(labels: Vec<u32>, heard: &[u32], times: &[u32]) -> Outcome {
    let column = |name: &'static str, values: &[u32]| Column {
        name: name.into(),
        len: (heard.len() / labels.len()) as u32,
        values: ColumnValues::U32(values.to_vec()),
    };
    let sums = times.chunks(heard.len() / labels.len()).flat_map(|counts| {
        let mut sum = 0;
        counts.iter().map(move |count| {
            sum += count;
            sum
        })
    });
    let cumulative: Vec<u32> = sums.collect();
    Outcome {
        columns: vec![column("heard", heard), column("cumulative", &cumulative)],
        labels,
        rounds: vec![],
        reason: StopReason::RoundLimit,
        split: None,
        merged: None,
        device_seconds: DeviceSeconds::default(),
        lists_moved: vec![],
    }
}

#[test]
fn memberships_are_shares_of_a_memory() {
    let heard = [7, 5, 2, 1, 0, 0, 0, 0, 0, 7, 4, 2];
    let times = [1, 2, 1, 6, 0, 0, 0, 0, 0, 1, 10, 9];
    let found = with_memories(vec![5, 1, NO_LABEL, 4], &heard, &times);
    let of = |threshold| {
        let all = memberships(&found, threshold).unwrap();
        all.into_iter().map(|m| (m.vertex, m.label, m.strength)).collect::<Vec<_>>()
    };
    let largest = [(0, 2, 0.25), (1, 1, 1.0), (3, 2, 0.45)];
    assert_eq!(of(0.0), largest, "7 has the members of 2, at less strength");
    assert_eq!(of(0.25), largest, "5, 7 and 4 have one member each, which 2 has, too");
    assert_eq!(of(0.3), [(0, 5, 0.5), (1, 1, 1.0), (3, 4, 0.5)]);
    assert_eq!(of(0.9), of(0.3));
    for bad in [-0.1, 1.1, f64::NAN] {
        assert!(memberships(&found, bad).is_err(), "{bad}");
    }
    let unlabelled = Outcome { columns: vec![], ..found };
    let alone = Membership { vertex: 3, label: 4, strength: 1.0 };
    assert_eq!(memberships(&unlabelled, 0.3).unwrap().last(), Some(&alone));
}

proptest! {
    /// What stays are the sets that are no subset of another one, each once.
    #[test]
    fn memberships_have_no_nested_communities(
        times in prop::collection::vec(0u32..3, 4 * 8),
        labels in prop::collection::vec(0u32..5, 4 * 8),
        threshold in 0.0..0.6,
    ) {
        // A memory holds a label once: those that occur again lose their count.
        let mut times = times;
        for (held, counts) in labels.chunks(4).zip(times.chunks_mut(4)) {
            for place in 1..4 {
                if held[..place].contains(&held[place]) {
                    counts[place] = 0;
                }
            }
        }
        let found = with_memories((0..8).collect(), &labels, &times);
        let mut sets: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for (vertex, (held, counts)) in (0..8).zip(labels.chunks(4).zip(times.chunks(4))) {
            let sum: u32 = counts.iter().sum();
            let most = *counts.iter().max().unwrap();
            let first = (0..4).filter(|&at| counts[at] == most).min_by_key(|&at| held[at]);
            if sum == 0 {
                sets.entry(vertex).or_default().insert(vertex);
            }
            for at in (0..4).filter(|&at| counts[at] > 0) {
                if f64::from(counts[at]) / f64::from(sum) >= threshold || Some(at) == first {
                    sets.entry(held[at]).or_default().insert(vertex);
                }
            }
        }
        let is_largest = |set: &&BTreeSet<u32>| {
            !sets.values().any(|other| other.len() > set.len() && set.is_subset(other))
        };
        let expected: BTreeSet<&BTreeSet<u32>> = sets.values().filter(is_largest).collect();
        let mut kept: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for member in memberships(&found, threshold).unwrap() {
            kept.entry(member.label).or_default().insert(member.vertex);
        }
        prop_assert_eq!(kept.len(), expected.len());
        prop_assert_eq!(kept.values().collect::<BTreeSet<_>>(), expected);
    }
}

#[test]
fn a_memory_holds_something() {
    assert!(Slpa::new(0).unwrap_err().to_string().contains("not 0"));
    assert!(Slpa::new(65).is_err() && Slpa::new(64).is_ok() && Slpa::new(1).is_ok());
}

// Seeded

fn seed(vertex: u32, label: u32) -> Seed {
    Seed { vertex, label, strength: 1.0 }
}

fn spread(
    edges: &Edges,
    attenuation: f64,
    seeds: &[Seed],
    seeding: Seeding,
    schedule: Schedule,
) -> Outcome {
    let graph = edges.graph(MAX_SHARD_ARCS);
    let settings = Settings { schedule, stop: Seeded::stop(), ..Settings::default() };
    let settings = Seeded::begin(settings, edges.vertices, seeds, seeding).unwrap();
    let seeded = Seeded::new(&graph, attenuation).unwrap();
    executor().run(&graph, &seeded, &settings, &mut ()).unwrap()
}

/// Returns the hops from the nearest seed over edges with weight above 0; `None` if no seed is
/// reached.
fn hops(edges: &Edges, seeds: &[Seed]) -> Vec<Option<u32>> {
    let lists = edges.lists();
    let mut hops = vec![None; lists.len()];
    let mut queue: VecDeque<u32> = seeds.iter().map(|seed| seed.vertex).collect();
    queue.iter().for_each(|&v| hops[v as usize] = Some(0));
    while let Some(v) = queue.pop_front() {
        for &(u, weight) in &lists[v as usize] {
            if weight > 0 && hops[u as usize].is_none() {
                hops[u as usize] = hops[v as usize].map(|hops| hops + 1);
                queue.push_back(u);
            }
        }
    }
    hops
}

/// Checks a result with fixed seeds as igraph defines it.
///
/// - Seeds keep their labels, and unreached vertices have none.
/// - Every other vertex has a label of a seed, one that most of its labelled neighbours have.
fn check_fixed(name: &str, edges: &Edges, seeds: &[Seed], found: &Outcome) {
    let hops = hops(edges, seeds);
    let given: BTreeMap<u32, u32> = seeds.iter().map(|seed| (seed.vertex, seed.label)).collect();
    for (v, list) in edges.lists().iter().enumerate() {
        let label = found.labels[v];
        assert_eq!(label != NO_LABEL, hops[v].is_some(), "{name}: vertex {v}");
        if let Some(given) = given.get(&(v as u32)) {
            assert_eq!(label, *given, "{name}: the seed at {v}");
        } else if label != NO_LABEL {
            assert!(given.values().any(|given| *given == label), "{name}: vertex {v}");
            let mut votes: BTreeMap<u32, u64> = BTreeMap::new();
            for (u, weight) in list.iter().filter(|(u, _)| found.labels[*u as usize] != NO_LABEL) {
                *votes.entry(found.labels[*u as usize]).or_default() += weight;
            }
            let most = votes.values().copied().max().unwrap_or(0);
            assert_eq!(votes.get(&label).copied().unwrap_or(0), most, "{name}: vertex {v}");
        }
    }
    let strengths = strengths(found);
    assert!(strengths.iter().zip(&hops).all(|(s, hops)| *s == f32::from(hops.is_some() as u8)));
}

#[test]
fn fixed_seeds_spread_as_igraphs_do() {
    for (name, edges) in shapes() {
        let seeds: Vec<Seed> =
            (0..edges.vertices).filter(|v| v % 10 == 3).map(|v| seed(v, v / 20)).collect();
        let found = spread(&edges, 1.0, &seeds, Seeding::Fixed, Schedule::asynchronous());
        check_fixed(name, &edges, &seeds, &found);
        let found = spread(&edges, 1.0, &seeds, Seeding::Fixed, Schedule::phased());
        if found.reason == StopReason::Fixpoint {
            check_fixed(name, &edges, &seeds, &found);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn fixed_seeds_spread_as_igraphs_do_anywhere(edges in any_edges(), every in 1u32..20) {
        let seeds: Vec<Seed> = (0..edges.vertices)
            .filter(|v| v % every == 0)
            .map(|v| seed(v, v / 2))
            .collect();
        let found = spread(&edges, 1.0, &seeds, Seeding::Fixed, Schedule::phased());
        if found.reason == StopReason::Fixpoint {
            check_fixed("any", &edges, &seeds, &found);
        }
    }

    #[test]
    fn strength_halves_with_each_hop(edges in any_edges(), at in 0u32..140) {
        // With one seed there is no choice of label, so strengths give the distance as far as they
        // reach.
        let seeds = [seed(at % edges.vertices, 0)];
        let found = spread(&edges, 0.5, &seeds, Seeding::Fixed, Schedule::phased());
        let strengths = strengths(&found);
        for (v, hops) in hops(&edges, &seeds).into_iter().enumerate() {
            let expected = hops.filter(|hops| *hops <= 17).map_or(0.0, |hops| 0.5f32.powi(hops as i32));
            prop_assert_eq!(strengths[v], expected, "vertex {}", v);
        }
    }
}

#[derive(Deserialize)]
struct IgraphCases {
    cases: Vec<IgraphCase>,
}

/// A small graph and all results that igraph finds on it; `tests/data/make_seeded.py` made them.
#[derive(Deserialize)]
struct IgraphCase {
    vertices: u32,
    weighted: bool,
    edges: Vec<(u32, u32, u32)>,
    seeds: Vec<u32>,
    outcomes: BTreeSet<Vec<i64>>,
}

#[test]
fn what_is_found_from_fixed_seeds_is_what_igraph_finds() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/seeded.json");
    let all: IgraphCases = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(all.cases.len(), 24);
    for (number, case) in all.cases.into_iter().enumerate() {
        let pairs = case.edges.iter().map(|&(s, t, _)| (s, t));
        let weights = case.edges.iter().map(|&(_, _, weight)| weight).collect();
        let weights = case.weighted.then_some(weights);
        let edges = Edges { weights, ..Edges::new(case.vertices, pairs) };
        let seeds: Vec<Seed> = case.seeds.iter().map(|&v| seed(v, v)).collect();
        for schedule in [Schedule::phased(), Schedule::asynchronous()] {
            let found = spread(&edges, 1.0, &seeds, Seeding::Fixed, schedule);
            assert_eq!(found.reason, StopReason::Fixpoint, "case {number}");
            let labels = found.labels.iter();
            let labels: Vec<i64> = labels
                .map(|&label| if label == NO_LABEL { -1 } else { i64::from(label) })
                .collect();
            assert!(case.outcomes.contains(&labels), "case {number}: {labels:?}");
        }
    }
}

#[test]
fn seeds_that_only_begin_may_lose_their_labels() {
    // A clique of seeds with label 0, and among them one with label 9.
    let pairs = (0..9).flat_map(|a| (0..a).map(move |b| (a, b)));
    let edges = Edges::new(10, pairs);
    let seeds: Vec<Seed> = (0..9).map(|v| seed(v, if v == 4 { 9 } else { 0 })).collect();
    let at_4 = |seeding| spread(&edges, 1.0, &seeds, seeding, Schedule::phased()).labels[4];
    assert_eq!(at_4(Seeding::Fixed), 9);
    assert_eq!(at_4(Seeding::Initial), 0);
}

#[test]
fn seeds_that_cannot_be_planted_are_refused() {
    let begin = |seeds: &[Seed]| {
        Seeded::begin(Settings::default(), 5, seeds, Seeding::Fixed).map(|_| ()).unwrap_err()
    };
    let missing = SeedError::NoSuchVertex { vertex: 5, label: 0, last: 4 };
    assert_eq!(begin(&[seed(1, 1), seed(5, 0)]), missing);
    let missing = SeedError::NoSuchVertex { vertex: 0, label: NO_LABEL, last: 4 };
    assert_eq!(begin(&[seed(0, NO_LABEL)]), missing);
    assert_eq!(begin(&[seed(1, 1), seed(1, 2)]), SeedError::Twice { vertex: 1 });
    for strength in [-0.5, 1.5, f32::INFINITY] {
        let error = begin(&[Seed { strength, ..seed(2, 2) }]);
        assert_eq!(error, SeedError::Strength { vertex: 2, strength });
    }
    assert!(matches!(
        begin(&[Seed { strength: f32::NAN, ..seed(2, 2) }]),
        SeedError::Strength { vertex: 2, .. }
    ));
    let graph = Edges::new(2, [(0, 1)]).graph(MAX_SHARD_ARCS);
    for attenuation in [0.0, -1.0, 1.1, f64::NAN, f64::INFINITY, 1e-60] {
        assert!(Seeded::new(&graph, attenuation).is_err(), "{attenuation}");
    }
}
