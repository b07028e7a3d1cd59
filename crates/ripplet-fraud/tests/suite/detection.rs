//! Ties, spreading labels, clusters and scores beside slow ways that are obviously right.

use proptest::prelude::*;
use ripplet_fraud::detect::{
    DetectError, Detected, Detection, FAINT, Known, Spread, WarmStart, detect, spread,
};
use ripplet_fraud::findings::NO_SEED;
use ripplet_fraud::scores::score;
use ripplet_fraud::surprise::{MOST_SURPRISE, surprise};
use ripplet_fraud::ties::{CERTAIN, TieRule, Ties};
use ripplet_fraud::window::Changed;
use ripplet_fraud::{Findings, Timestamp};
use ripplet_graph::{EdgeTable, Graph, GraphBuilder, VertexIds};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::{NO_LABEL, Schedule};
use std::collections::{BTreeMap, BTreeSet};

/// An edge and its weight.
type Edge = (u32, u32, u32);

pub fn graph_of(vertices: u32, edges: &[Edge], shard_arcs: u64) -> Graph {
    let ids = VertexIds::Consecutive { first: 0, count: vertices };
    let (sources, targets) = edges.iter().map(|edge| (edge.0, edge.1)).unzip();
    let weights = edges.iter().map(|edge| f64::from(edge.2)).collect();
    let edges = EdgeTable::new(ids, sources, targets).unwrap().with_weights(weights).unwrap();
    GraphBuilder::new().shard_arcs(shard_arcs).build(edges).unwrap()
}

/// Any graph: its vertices, and edges that may repeat and begin where they end.
fn graphs() -> impl Strategy<Value = (u32, Vec<Edge>)> {
    (2u32..24).prop_flat_map(|vertices| {
        // Now and then one that is far heavier than all others.
        let weight = prop_oneof![20 => 1u32..6, 1 => 6u32..3000];
        let edge = (0..vertices, 0..vertices, weight);
        (Just(vertices), prop::collection::vec(edge, 0..90))
    })
}

/// Weight of each pair.
fn pairs(edges: &[Edge]) -> BTreeMap<(u32, u32), f64> {
    let mut pairs = BTreeMap::new();
    for &(a, b, weight) in edges.iter().filter(|edge| edge.0 != edge.1) {
        *pairs.entry((a.min(b), a.max(b))).or_insert(0.0) += f64::from(weight);
    }
    pairs
}

/// The weights up to the largest that makes no more than one ⌊√m⌋th of the sum of squares.
fn capped(pairs: BTreeMap<(u32, u32), f64>) -> BTreeMap<(u32, u32), f64> {
    let root = (pairs.values().filter(|weight| **weight > 0.0).count() as f64).sqrt().floor();
    let holds = |cap: f64| {
        root * cap * cap <= pairs.values().map(|weight| weight.min(cap).powi(2)).sum::<f64>()
    };
    let most = pairs.values().copied().fold(1.0, f64::max);
    let mut cap = most;
    while !holds(cap) {
        cap -= 1.0;
    }
    pairs.into_iter().map(|(pair, weight)| (pair, weight.min(cap))).collect()
}

/// −ln P(X ≥ count), by its terms, one after the other.
fn terms(count: u32, mean: f64) -> f64 {
    let ln_term =
        |k: u32| f64::from(k) * mean.ln() - mean - (1..=k).map(|i| f64::from(i).ln()).sum::<f64>();
    let first = ln_term(count);
    let (mut sum, mut term) = (0.0, 1.0);
    for k in count + 1..count + 2000 {
        sum += term;
        term *= mean / f64::from(k);
    }
    -(first + f64::ln(sum))
}

#[test]
fn surprise_is_that_of_the_terms() {
    for count in [1, 2, 3, 7, 20, 90, 400] {
        for mean in [1e-9, 1e-4, 0.03, 0.5, 1.0, 2.5, 6.9, 7.1, 19.0, 21.0, 60.0, 150.0] {
            let (found, expected) = (surprise(f64::from(count), mean), terms(count, mean));
            let expected = expected.min(MOST_SURPRISE);
            assert!(
                (found - expected).abs() < 1e-9 * (1.0 + expected),
                "{count} of {mean}: {found}, not {expected}"
            );
        }
    }
}

#[test]
fn surprise_rises_with_the_count_and_falls_with_the_mean() {
    let counts: Vec<f64> = (1..400).map(|at| f64::from(at) / 7.0).collect();
    for mean in [1e-3, 0.4, 3.0, 30.0] {
        let of: Vec<f64> = counts.iter().map(|&count| surprise(count, mean)).collect();
        assert!(of.is_sorted(), "at mean {mean}");
    }
    for count in [0.5, 2.0, 9.5] {
        let of: Vec<f64> = counts.iter().map(|&mean| -surprise(count, mean)).collect();
        assert!(of.is_sorted(), "at count {count}");
    }
}

#[test]
fn what_cannot_be_is_no_surprise_or_the_most() {
    assert_eq!(surprise(0.0, 1.0), 0.0);
    assert_eq!(surprise(-1.0, 1.0), 0.0);
    assert_eq!(surprise(f64::NAN, 1.0), 0.0);
    assert_eq!(surprise(3.0, f64::NAN), 0.0);
    assert_eq!(surprise(3.0, f64::INFINITY), 0.0);
    assert_eq!(surprise(3.0, 0.0), MOST_SURPRISE);
    assert_eq!(surprise(1e6, 1e-300), MOST_SURPRISE);
}

/// The surprise of each tie, as the page of formulas says it.
fn judged(
    vertices: u32,
    edges: &[Edge],
    rule: TieRule,
    avoid: &[u32],
) -> BTreeMap<(u32, u32), f64> {
    let pairs = capped(pairs(edges));
    let partners = |v: u32| -> BTreeSet<u32> {
        pairs
            .keys()
            .filter_map(|&(a, b)| {
                if a == v {
                    Some(b)
                } else if b == v {
                    Some(a)
                } else {
                    None
                }
            })
            .collect()
    };
    let partners: Vec<BTreeSet<u32>> = (0..vertices).map(partners).collect();
    let strength = |v: u32| -> f64 {
        pairs.iter().filter(|((a, b), _)| *a == v || *b == v).map(|(_, weight)| weight).sum()
    };
    let all: f64 = 2.0 * pairs.values().sum::<f64>();
    let phi = pairs.values().map(|w| w * w).sum::<f64>() / pairs.values().sum::<f64>();
    let degree = |v: u32| partners[v as usize].len() as f64;
    let degrees: f64 = (0..vertices).map(degree).sum();
    let meets = |v: u32| degree(v) <= f64::from(rule.hub_degree) && !avoid.contains(&v);
    let meetings: f64 =
        (0..vertices).filter(|&v| meets(v)).map(|v| degree(v) * (degree(v) - 1.0)).sum();
    let judge = |(&(a, b), weight): (&(u32, u32), &f64)| {
        if avoid.contains(&a) || avoid.contains(&b) {
            return ((a, b), f64::NAN);
        }
        let mut nats = surprise(weight / phi, strength(a) * strength(b) / (phi * all));
        let common = partners[a as usize].intersection(&partners[b as usize]);
        let common = common.filter(|&&v| meets(v)).count() as u32;
        if rule.closure && common > 0 {
            let mean = (degree(a) - 1.0) * (degree(b) - 1.0) / degrees * meetings / degrees;
            nats += terms(common, mean);
        }
        ((a, b), nats)
    };
    pairs.iter().map(judge).collect()
}

fn rules() -> impl Strategy<Value = TieRule> {
    (any::<bool>(), 1u32..12).prop_map(|(closure, hub_degree)| TieRule { closure, hub_degree })
}

/// Two who transact 500 times with one another alone say nothing of all others.
#[test]
fn a_busy_pair_hides_no_ring() {
    const OTHERS: u32 = 2000;
    let mut edges: Vec<Edge> =
        (0..OTHERS).map(|v| (10 + v, 10 + (v * 7 + 1) % OTHERS, 1)).collect();
    for a in 0..4 {
        edges.extend((0..a).map(|b| (b, a, 3)));
        edges.push((a, 10 + 31 * a, 1));
    }
    let excess = |edges: &[Edge]| {
        let graph = graph_of(10 + OTHERS, edges, u64::MAX);
        Ties::of(&graph, TieRule::default(), &[]).unwrap()
    };
    let quiet = excess(&edges);
    assert_eq!((0..4).map(|v| quiet.kept_of(v).count()).sum::<usize>(), 12);
    for weight in [60, 500, 5_000_000] {
        edges.push((8, 9, weight));
        let busy = excess(&edges);
        edges.pop();
        assert_eq!(busy.kept_of(8).collect::<Vec<_>>(), [9], "{weight}");
        assert_eq!(busy.kept(), quiet.kept() + 1, "{weight}");
        for v in 0..4 {
            let [with, without] = [&busy, &quiet].map(|ties| ties.excess()[v]);
            assert!((with / without - 1.0).abs() < 0.1, "{weight}: {with}, not {without}");
        }
    }
}

proptest! {
    #[test]
    fn ties_are_judged_by_the_formula(
        (vertices, edges) in graphs(),
        rule in rules(),
        avoid in prop::collection::btree_set(0u32..24, 0..3),
        shard_arcs in 1u64..200,
    ) {
        let avoid: Vec<u32> = avoid.into_iter().filter(|&v| v < vertices).collect();
        let largest = edges.len() as u64 * 2;
        let graph = graph_of(vertices, &edges, shard_arcs.max(largest / 3).max(46));
        let ties = Ties::of(&graph, rule, &avoid).unwrap();
        let expected = judged(vertices, &edges, rule, &avoid);
        prop_assert_eq!(ties.count(), expected.len() as u64);
        let ln_ties = (expected.len() as f64).ln();
        let mut kept = 0;
        for (&(a, b), &nats) in &expected {
            let of = |v: u32, u: u32| {
                let shard = ties.graph().shard_of(v);
                let local = (v - shard.vertices().start) as usize;
                let at = shard.out().of(local).binary_search(&u).unwrap();
                shard.out().weights_of(local).unwrap()[at]
            };
            prop_assert_eq!(of(a, b), of(b, a));
            if nats.is_nan() {
                prop_assert_eq!(of(a, b), 0);
                continue;
            }
            let share = 1.0 / (1.0 + (ln_ties - nats).exp());
            prop_assert!((f64::from(of(a, b)) - share * f64::from(CERTAIN)).abs() <= 1.01, "{a} {b}");
            kept += u64::from(of(a, b) > CERTAIN / 2);
        }
        prop_assert_eq!(ties.kept(), kept);
        for v in 0..vertices {
            let own = expected.iter().filter(|((a, b), nats)| (*a == v || *b == v) && !nats.is_nan());
            let most = own.map(|(_, nats)| *nats - ln_ties).fold(0.0, f64::max);
            prop_assert!((f64::from(ties.excess()[v as usize]) - most).abs() < 1e-4 * (1.0 + most));
            let own = expected.iter().filter(|((a, b), nats)| (*a == v || *b == v) && !nats.is_nan());
            let most = own.map(|(_, nats)| *nats).fold(0.0, f64::max);
            prop_assert!((f64::from(ties.surprise()[v as usize]) - most).abs() < 1e-4 * (1.0 + most));
        }
    }

    #[test]
    fn threads_and_shards_make_no_difference((vertices, edges) in graphs(), seed in 0u32..24) {
        let known = [seed % vertices];
        let known = Known { bad: &known, trusted: &[] };
        let found: Vec<(Vec<f32>, Vec<u32>, Findings)> = [(1, u64::MAX), (3, 60)]
            .into_iter()
            .map(|(threads, arcs)| {
                let graph = graph_of(vertices, &edges, arcs.max(edges.len() as u64 * 2));
                let executor = CpuExecutor::new(Some(threads)).unwrap();
                executor.install(|| {
                    let detected = detect(&executor, &graph, known, &small(), None, &mut ()).unwrap();
                    let findings = score(&graph, &detected, known, Timestamp(0)).unwrap();
                    (detected.spread.strengths, detected.spread.labels, findings)
                })
            })
            .collect();
        prop_assert_eq!(&found[0], &found[1]);
    }

    #[test]
    fn strengths_are_what_is_passed_on(
        (vertices, edges) in graphs(),
        bad in prop::collection::btree_set(0u32..24, 1..4),
        trusted in 0u32..24,
    ) {
        let bad: Vec<u32> = bad.into_iter().filter(|&v| v < vertices).collect();
        let trusted: Vec<u32> =
            [trusted % vertices].into_iter().filter(|v| !bad.contains(v)).collect();
        let graph = graph_of(vertices, &edges, u64::MAX);
        let ties = Ties::of(&graph, TieRule::default(), &trusted).unwrap();
        let detection = Detection { schedule: Schedule::sync(), rounds: 12, ..small() };
        let executor = CpuExecutor::new(Some(1)).unwrap();
        let known = Known { bad: &bad, trusted: &trusted };
        let found = spread(&executor, &ties, known, &detection, None, &mut ()).unwrap();
        let expected = passed_on(&ties, vertices, &bad, &trusted, 12);
        for v in 0..vertices as usize {
            let (found, expected) = (f64::from(found.strengths[v]), expected[v]);
            // Steps of 2⁻²⁴ a neighbour, and whether a change is a 64th.
            prop_assert!((found - expected).abs() <= 1e-4 + expected / 16.0, "{v}: {found}, not {expected}");
        }
    }

    #[test]
    fn scores_are_the_formulas((vertices, edges) in graphs(), seed in 0u32..24) {
        let known = [seed % vertices];
        let known = Known { bad: &known, trusted: &[] };
        let graph = graph_of(vertices, &edges, u64::MAX);
        let executor = CpuExecutor::new(Some(1)).unwrap();
        let detected = detect(&executor, &graph, known, &small(), None, &mut ()).unwrap();
        let findings = score(&graph, &detected, known, Timestamp(5)).unwrap();
        check_scores(&graph, &edges, &detected, known, &findings);
    }
}

fn small() -> Detection {
    Detection { min_size: 1, max_size: 9, ..Detection::default() }
}

/// Strengths by the rule, round by round, in floating point.
fn passed_on(ties: &Ties, vertices: u32, bad: &[u32], trusted: &[u32], rounds: u32) -> Vec<f64> {
    let list = |v: u32| -> Vec<(u32, f64)> {
        let out = ties.graph().shards()[0].out();
        let weights = out.weights_of(v as usize).unwrap();
        let all = out.of(v as usize).iter().zip(weights);
        all.map(|(&u, &weight)| (u, f64::from(weight))).collect()
    };
    let mut strengths = vec![0.0; vertices as usize];
    bad.iter().for_each(|&v| strengths[v as usize] = 1.0);
    for _ in 0..rounds {
        let next = (0..vertices).map(|v| {
            if bad.contains(&v) || trusted.contains(&v) {
                return strengths[v as usize];
            }
            let heard = list(v).into_iter().map(|(u, weight)| {
                let all: f64 = list(u).iter().map(|(_, weight)| weight).sum();
                strengths[u as usize] * weight / all.max(1.0)
            });
            let heard = 0.5 * heard.sum::<f64>();
            if heard < f64::from(FAINT) { 0.0 } else { heard.min(1.0) }
        });
        strengths = next.collect();
    }
    strengths
}

/// Every number of the findings, counted again from the edges.
fn check_scores(
    graph: &Graph,
    edges: &[Edge],
    detected: &Detected,
    known: Known<'_>,
    findings: &Findings,
) {
    // Stored weights: those of the table, times a power of 2.
    let unit = 1.0 / graph.weight_scale().weight(1);
    let pairs = pairs(edges);
    let ranks: Vec<u32> = findings.clusters.iter().map(|cluster| cluster.rank).collect();
    assert_eq!(ranks, (1..=findings.clusters.len() as u32).collect::<Vec<_>>());
    assert!(findings.clusters.is_sorted_by(|a, b| a.score >= b.score));
    let mut seen = BTreeSet::new();
    for cluster in &findings.clusters {
        let members: Vec<_> = findings.members.iter().filter(|m| m.cluster == cluster.id).collect();
        assert!(members.is_sorted_by(|a, b| a.score >= b.score));
        let set: BTreeSet<u32> = members.iter().map(|member| member.vertex).collect();
        assert_eq!(set.len(), members.len());
        assert!(set.iter().all(|&v| seen.insert(v)), "clusters do not overlap");
        assert_eq!((cluster.size as usize, cluster.age, cluster.growth), (set.len(), 0, None));
        let bad = |v: u32| known.bad.contains(&v);
        assert_eq!(cluster.seeds as usize, set.iter().filter(|&&v| bad(v)).count());
        let sum = |wanted: &dyn Fn(u32, u32) -> bool| -> (u64, f64) {
            let those = pairs.iter().filter(|((a, b), _)| wanted(*a, *b));
            those.fold((0, 0.0), |sum, (_, weight)| (sum.0 + 1, sum.1 + weight))
        };
        let inside = sum(&|a, b| set.contains(&a) && set.contains(&b));
        let leaving = sum(&|a, b| set.contains(&a) != set.contains(&b));
        assert_eq!(cluster.edges, inside.0);
        assert_eq!(cluster.weight_within as f64, inside.1 * unit);
        assert_eq!(cluster.weight_out as f64, leaving.1 * unit);
        let possible = set.len() * (set.len() - 1) / 2;
        let density = if possible == 0 { 0.0 } else { inside.0 as f64 / possible as f64 };
        assert!((cluster.density - density).abs() < 1e-12);
        let all = leaving.1 + 2.0 * inside.1;
        let conductance = if all == 0.0 { 0.0 } else { leaving.1 / all };
        assert!((cluster.conductance - conductance).abs() < 1e-12);
        let mean = members.iter().map(|member| member.score).sum::<f64>() / members.len() as f64;
        assert!((cluster.score - mean).abs() < 1e-9);
        for member in members {
            let v = member.vertex;
            let own = sum(&|a, b| a == v || b == v);
            let to_bad = sum(&|a, b| (a == v && bad(b)) || (b == v && bad(a)));
            assert_eq!((member.degree, member.known_bad), (own.0, bad(v)));
            assert_eq!(member.strength as f64, own.1 * unit);
            let share = if own.1 == 0.0 { 0.0 } else { to_bad.1 / own.1 };
            assert!((member.share_to_known_bad - share).abs() < 1e-12);
            assert_eq!(member.seed_distance, distance(&pairs, &set, &bad, v));
            let strength = detected.spread.strengths[v as usize].max(FAINT);
            let score = detected.ties.excess()[v as usize] + strength.ln();
            assert_eq!(member.score, f64::from(score));
        }
    }
}

/// Hops to a bad vertex within a set: sets of vertices by distance.
fn distance(
    pairs: &BTreeMap<(u32, u32), f64>,
    set: &BTreeSet<u32>,
    bad: &dyn Fn(u32) -> bool,
    from: u32,
) -> u32 {
    let mut reached = BTreeSet::from([from]);
    for steps in 0..=set.len() as u32 {
        if reached.iter().any(|&v| bad(v)) {
            return steps;
        }
        let near = pairs.keys().flat_map(|&(a, b)| [(a, b), (b, a)]);
        let near: Vec<u32> =
            near.filter(|(a, b)| reached.contains(a) && set.contains(b)).map(|(_, b)| b).collect();
        reached.extend(near);
    }
    NO_SEED
}

/// Rings of five that transact with one another three times, in a circle of `others` who transact once with the next ones.
fn rings(others: u32, rings: u32) -> (u32, Vec<Edge>) {
    let mut edges = Vec::new();
    for v in 0..others {
        edges.extend([1, 7, 31].map(|step| (v, (v + step) % others, 1)));
    }
    for ring in 0..rings {
        let first = ring * 40;
        for a in 0..5 {
            for b in a + 1..5 {
                edges.push((first + 3 * a, first + 3 * b, 3));
            }
        }
    }
    (others, edges)
}

fn members(findings: &Findings, rank: u32) -> Vec<u32> {
    let cluster = &findings.clusters[rank as usize - 1];
    let mut members: Vec<u32> =
        findings.members.iter().filter(|m| m.cluster == cluster.id).map(|m| m.vertex).collect();
    members.sort_unstable();
    members
}

fn found(edges: (u32, Vec<Edge>), known: Known<'_>, detection: &Detection) -> (Detected, Findings) {
    let graph = graph_of(edges.0, &edges.1, u64::MAX);
    let executor = CpuExecutor::new(Some(2)).unwrap();
    let detected = detect(&executor, &graph, known, detection, None, &mut ()).unwrap();
    let findings = score(&graph, &detected, known, Timestamp(0)).unwrap();
    (detected, findings)
}

#[test]
fn rings_are_found_around_those_who_are_known_and_without() {
    let known = Known { bad: &[3, 6, 100], trusted: &[] };
    let (detected, findings) = found(rings(400, 2), known, &Detection::default());
    assert_eq!(findings.clusters.len(), 2);
    assert_eq!(members(&findings, 1), [0, 3, 6, 9, 12]);
    assert_eq!(findings.clusters[0].seeds, 2);
    // The other ring has no known bad vertex.
    assert_eq!(members(&findings, 2), [40, 43, 46, 49, 52]);
    assert_eq!((findings.clusters[1].seeds, findings.members[9].seed_distance), (0, NO_SEED));
    // 100 ordinary transfers.
    assert_eq!(detected.alone, 1);
    // Two of a ring have one label.
    assert_eq!(detected.spread.labels[3], detected.spread.labels[6]);
    assert!(detected.spread.converged);
    let none = Detection { unseeded: false, ..Detection::default() };
    assert_eq!(found(rings(400, 2), known, &none).1.clusters.len(), 1);
}

#[test]
fn who_is_trusted_is_in_no_cluster_and_passes_nothing_on() {
    let known = Known { bad: &[3], trusted: &[9] };
    let (detected, findings) = found(rings(400, 1), known, &Detection::default());
    assert_eq!(members(&findings, 1), [0, 3, 6, 12]);
    assert_eq!((detected.spread.labels[9], detected.spread.strengths[9]), (NO_LABEL, 0.0));
    assert_eq!(detected.ties.excess()[9], 0.0);
}

#[test]
fn a_popular_item_is_no_ring() {
    // All buy of one, some of whom are known: no cluster grows around it, and it is less suspicious than a ring's.
    let (vertices, mut edges) = rings(400, 1);
    edges.extend((0..400).filter(|v| v % 2 == 1).map(|v| (vertices, v, 1)));
    let bad: Vec<u32> = (101..200).step_by(10).collect();
    let known = Known { bad: &bad, trusted: &[] };
    let (detected, findings) = found((vertices + 1, edges), known, &Detection::default());
    assert_eq!(findings.clusters.len(), 1);
    assert_eq!(members(&findings, 1), [0, 3, 6, 9, 12]);
    assert!(detected.suspicion_of(vertices) < detected.suspicion_of(6));
    assert!(detected.ties.kept_of(vertices).next().is_none());
}

#[test]
fn clusters_keep_to_their_limits() {
    let known = Known { bad: &[3], trusted: &[] };
    let at_most = Detection { max_size: 4, ..Detection::default() };
    let (detected, findings) = found(rings(400, 2), known, &at_most);
    assert_eq!(findings.clusters.len(), 1);
    assert_eq!(findings.clusters[0].size, 4);
    assert!(members(&findings, 1).contains(&3));
    assert_eq!(detected.too_large, 1);
    let at_least = Detection { min_size: 6, ..Detection::default() };
    let (detected, findings) = found(rings(400, 2), known, &at_least);
    assert_eq!((findings.clusters.len(), detected.alone), (0, 1));
}

#[test]
fn who_is_listed_stays_in_the_cluster() {
    // Accounts that pay in a circle of four, or is one of a larger ring, beside 400 that transfer once.
    let circle: Vec<Edge> = (0..4).map(|at| (3 * at, 3 * ((at + 1) % 4), 5)).collect();
    let wheel: Vec<Edge> =
        (0..12).flat_map(|at| [1, 2].map(|to| (at * 3, (at + to) % 12 * 3, 5))).collect();
    for (ring, edges) in
        [([0, 3, 6, 9].to_vec(), circle), ((0..12).map(|at| 3 * at).collect(), wheel)]
    {
        let mut all = rings(400, 0);
        all.1.extend(edges);
        let lists = (1u32..16).map(|bits| (0..4).filter(move |at| bits >> at & 1 == 1));
        for list in lists {
            let bad: Vec<u32> = list.map(|at| ring[at * ring.len() / 4]).collect();
            let known = Known { bad: &bad, trusted: &[] };
            for (seed, unseeded) in (0..6).flat_map(|seed| [(seed, true), (seed, false)]) {
                let detection = Detection { seed, unseeded, ..Detection::default() };
                let (detected, findings) = found(all.clone(), known, &detection);
                let in_clusters: Vec<u32> = findings.members.iter().map(|m| m.vertex).collect();
                assert_eq!(detected.alone, 0, "{bad:?}, {seed}");
                assert!(bad.iter().all(|v| in_clusters.contains(v)), "{bad:?}, {seed}");
                let is_whole = ring.iter().all(|v| in_clusters.contains(v));
                assert!(is_whole, "{bad:?}, {seed}, {unseeded}: {in_clusters:?}");
            }
        }
    }
}

#[test]
fn a_known_vertex_that_no_part_reaches_joins_the_cluster_of_most_ties() {
    // All of a ring of five are known but one, and a cluster has at least five: no label reaches as many.
    let known = Known { bad: &[0, 3, 6, 9], trusted: &[] };
    let detection = Detection { min_size: 5, ..Detection::default() };
    let (detected, findings) = found(rings(400, 1), known, &detection);
    assert_eq!(members(&findings, 1), [0, 3, 6, 9, 12]);
    assert_eq!((findings.clusters[0].seeds, detected.alone), (4, 0));
}

#[test]
fn nothing_is_found_where_nothing_is() {
    for (vertices, edges) in [(0, vec![]), (5, vec![]), (3, vec![(1, 1, 4)]), (2, vec![(0, 1, 1)])]
    {
        let known: &[u32] = if vertices > 0 { &[0] } else { &[] };
        let known = Known { bad: known, trusted: &[] };
        let (detected, findings) = found((vertices, edges), known, &Detection::default());
        assert_eq!(findings, Findings::default());
        assert_eq!(detected.alone, u64::from(vertices > 0));
    }
}

#[test]
fn all_may_be_known_or_nobody() {
    let all: Vec<u32> = (0..400).collect();
    let (_, findings) =
        found(rings(400, 1), Known { bad: &all, trusted: &[] }, &Detection::default());
    assert_eq!(members(&findings, 1), [0, 3, 6, 9, 12]);
    assert_eq!(findings.clusters[0].seeds, 5);
    let (detected, findings) = found(rings(400, 1), Known::default(), &Detection::default());
    assert_eq!(members(&findings, 1), [0, 3, 6, 9, 12]);
    assert!(detected.spread.labels.iter().all(|&label| label == NO_LABEL));
    let (_, findings) =
        found(rings(400, 1), Known { bad: &[], trusted: &all }, &Detection::default());
    assert_eq!(findings, Findings::default());
}

#[test]
fn a_run_goes_on_where_the_last_one_came() {
    let (vertices, edges) = rings(400, 2);
    let graph = graph_of(vertices, &edges, u64::MAX);
    let executor = CpuExecutor::new(Some(1)).unwrap();
    let known = Known { bad: &[3, 43], trusted: &[] };
    let run = |known, before: Option<&Spread>| {
        let begin = before.map(|before| WarmStart { before, changed: &Changed::All });
        detect(&executor, &graph, known, &Detection::default(), begin, &mut ()).unwrap()
    };
    let first = run(known, None);
    let again = run(known, Some(&first.spread));
    assert_eq!(again.groups, first.groups);
    assert!(
        again.spread.rounds.len() * 3 <= first.spread.rounds.len() + 2,
        "{}",
        again.spread.rounds.len()
    );
    // If nothing changed, a vertex without a label and without labelled partners is not scanned.
    let begin = WarmStart { before: &first.spread, changed: &Changed::Some(Vec::new()) };
    let still =
        detect(&executor, &graph, known, &Detection::default(), Some(begin), &mut ()).unwrap();
    assert_eq!(still.spread.labels, again.spread.labels);
    assert_eq!(still.spread.strengths, again.spread.strengths);
    let visited = |spread: &Spread| spread.rounds.iter().map(|round| round.visited).sum::<u64>();
    assert!(visited(&still.spread) <= visited(&again.spread));
    // A label whose seed is no longer known is dropped.
    let fewer = run(Known { bad: &[43], trusted: &[] }, Some(&first.spread));
    assert!(fewer.spread.labels.iter().all(|&label| label == 43 || label == NO_LABEL));
    // So is that of a vertex without transactions.
    let gone: Vec<Edge> =
        rings(400, 2).1.into_iter().filter(|edge| edge.0 != 6 && edge.1 != 6).collect();
    let graph = graph_of(vertices, &gone, u64::MAX);
    let run = |before: Option<&_>| spread_on(&graph, known, before);
    let (anew, on) = (run(None), run(Some(&first.spread)));
    assert_eq!((on.labels[6], on.strengths[6]), (NO_LABEL, 0.0));
    for (anew, on) in anew.strengths.iter().zip(&on.strengths) {
        assert!((anew - on).abs() <= anew / 16.0 + 2.0 * FAINT, "{on}, not {anew}");
    }
}

fn spread_on(graph: &Graph, known: Known<'_>, before: Option<&Spread>) -> Spread {
    let executor = CpuExecutor::new(Some(1)).unwrap();
    let begin = before.map(|before| WarmStart { before, changed: &Changed::All });
    detect(&executor, graph, known, &Detection::default(), begin, &mut ()).unwrap().spread
}

#[test]
fn lists_and_options_that_are_wrong_are_refused() {
    let graph = graph_of(4, &[(0, 1, 1)], u64::MAX);
    let executor = CpuExecutor::new(Some(1)).unwrap();
    let run = |known, detection: &Detection| {
        detect(&executor, &graph, known, detection, None, &mut ()).unwrap_err()
    };
    let fine = Detection::default();
    let wrong = run(Known { bad: &[1, 4], trusted: &[] }, &fine);
    assert!(matches!(wrong, DetectError::NoSuchVertex { vertex: 4, vertices: 4, .. }));
    let wrong = run(Known { bad: &[], trusted: &[2, 1] }, &fine);
    assert!(matches!(wrong, DetectError::Order { list: "white list", vertex: 1 }));
    let wrong = run(Known { bad: &[1, 1], trusted: &[] }, &fine);
    assert!(matches!(wrong, DetectError::Order { list: "black list", vertex: 1 }));
    assert!(matches!(run(Known { bad: &[1], trusted: &[1] }, &fine), DetectError::Both(1)));
    for attenuation in [0.0, 1.5, f64::NAN] {
        let detection = Detection { attenuation, ..Detection::default() };
        assert!(matches!(run(Known::default(), &detection), DetectError::Attenuation(_)));
    }
    let detection = Detection { min_size: 7, max_size: 6, ..Detection::default() };
    assert!(matches!(run(Known::default(), &detection), DetectError::Sizes { min: 7, max: 6 }));
}

#[test]
fn the_plan_of_ties_covers_what_they_hold() {
    let (vertices, edges) = rings(2000, 20);
    let graph = graph_of(vertices, &edges, u64::MAX);
    let ties = Ties::of(&graph, TieRule::default(), &[]).unwrap();
    let held = ties.graph().bytes() + 4 * u64::from(vertices);
    assert!(Ties::plan(&graph).algorithm_host() >= held);
}
