//! Evidence and scores beside slow ways that are obviously right, and what must not change them.

use crate::detection::graph_of;
use crate::runs::{Days, run_into};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::sample::select;
use ripplet_fraud::days::DayAdjacency;
use ripplet_fraud::entity_table::{EntityTable, MISSING};
use ripplet_fraud::evidence::{
    ALL, Activity, Amounts, BlindEvidence, Cycles, Directions, Evidence, FOLDS, Folds, KINDS,
    Neighbors, OF_KNOWN, OwnAmounts, Partition, Sides, Sources, Timing, View, visits,
};
use ripplet_fraud::folder::{RunFolder, WindowRecord};
use ripplet_fraud::model::{self, Check, CheckedFold, Earlier, KnownGood, Scorecard, Scores};
use ripplet_fraud::payments::Transfer;
use ripplet_fraud::run;
use ripplet_fraud::ties::{TieRule, Ties};
use ripplet_fraud::{Entities, TimeRange, Timestamp};
use ripplet_graph::Graph;
use ripplet_graph::splitmix::finalize;
use ripplet_lp::cpu::CpuExecutor;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

const DAY: i64 = 86_400_000_000;

fn accounts(count: u32) -> Entities {
    let mut entities = Entities::new();
    let kind = entities.kind("account").unwrap();
    for at in 0..count {
        entities.intern(kind, &format!("a{at}")).unwrap();
    }
    entities
}

fn transfer(source: u32, target: u32, time: i64, amount: u64) -> Transfer {
    Transfer { source, target, time: Timestamp(time), amount }
}

/// Returns the range of some days, of which the first has this number.
fn days_from(first: i64, days: i64) -> TimeRange {
    TimeRange::new(Timestamp(first * DAY), Timestamp((first + days) * DAY))
}

/// Returns the runs of transfers in a range, each of the same part of a day.
fn runs_of(transfers: &[Transfer], range: TimeRange, unit: i64) -> Vec<DayAdjacency> {
    let of_unit = |begin: i64| {
        let here = transfers.iter().filter(|t| (begin..begin + unit).contains(&t.time.0));
        let here: Vec<Transfer> = here.copied().collect();
        let count = here.len() as u64;
        DayAdjacency::of(here, count, true).unwrap()
    };
    (range.from.0..range.until.0).step_by(unit as usize).map(of_unit).collect()
}

/// Days of transfers; the graph has their counts.
struct Window {
    days: Vec<DayAdjacency>,
    graph: Graph,
    entities: Entities,
    table: Option<EntityTable>,
}

impl Window {
    fn new(vertices: u32, transfers: &[Transfer], days: i64, has_amounts: bool) -> Window {
        let of_day = |day: i64| {
            let here = transfers.iter().filter(|transfer| transfer.time.0 / DAY == day);
            let here: Vec<Transfer> = here.copied().collect();
            let count = here.len() as u64;
            DayAdjacency::of(here, count, has_amounts).unwrap()
        };
        let mut counts: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for transfer in transfers {
            let (a, b) = (transfer.source, transfer.target);
            *counts.entry((a.min(b), a.max(b))).or_default() += 1;
        }
        let edges: Vec<_> = counts.into_iter().map(|((a, b), count)| (a, b, count)).collect();
        Window {
            days: (0..days).map(of_day).collect(),
            graph: graph_of(vertices, &edges, u64::MAX),
            entities: accounts(vertices),
            table: None,
        }
    }

    /// Returns the range of its days, from 1970 on.
    fn range(&self) -> TimeRange {
        days_from(0, self.days.len() as i64)
    }

    /// Does something with the evidence for some known bad.
    fn with<T>(&self, bad: &[u32], act: impl FnOnce(&Evidence<'_>) -> T) -> T {
        let ties = Ties::of(&self.graph, TieRule::default(), &[]).unwrap();
        let days: Vec<&DayAdjacency> = self.days.iter().collect();
        let sources = Sources {
            graph: &self.graph,
            ties: &ties,
            days: &days,
            range: self.range(),
            table: self.table.as_ref(),
        };
        let executor = CpuExecutor::new(Some(2)).unwrap();
        let blind = BlindEvidence::of(&executor, sources, 0, &mut ()).unwrap();
        act(&Evidence::of(&blind, &self.graph, &ties, &self.entities, bad).unwrap())
    }

    fn scores(&self, bad: &[u32]) -> Scores {
        self.scores_after(bad, &Earlier::default())
    }

    fn scores_after(&self, bad: &[u32], earlier: &Earlier) -> Scores {
        let vertices = self.graph.vertices();
        self.with(bad, |evidence| {
            let good = KnownGood::default();
            model::score(evidence, &self.entities, good, earlier, vertices).unwrap()
        })
    }
}

/// Accounts that deal at random, and among them rings that deal among themselves: the last 60.
fn rings(seed: u64) -> Window {
    let mut state = seed;
    let mut next = |end: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    let mut transfers = Vec::new();
    for _ in 0..3000 {
        let (a, b) = (next(600) as u32, next(600) as u32);
        let time = next(20) as i64 * DAY + next(80_000) as i64;
        transfers.push(transfer(a, b, time, 100 + next(5000)));
    }
    for ring in 0..10 {
        for place in 0..6 {
            let (a, b) = (540 + ring * 6 + place, 540 + ring * 6 + (place + 1) % 6);
            for _ in 0..1 + next(3) {
                let time = next(20) as i64 * DAY + next(80_000) as i64;
                transfers.push(transfer(a, b, time, 900 + next(200)));
            }
        }
    }
    Window::new(600, &transfers, 20, true)
}

fn every_second() -> Vec<u32> {
    (540..600).step_by(2).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn walks_and_counts_are_those_of_matrices(
        edges in vec((0u32..14, 0u32..14, 1u32..5), 0..40),
        bad in btree_set(0u32..14, 0..6),
    ) {
        let graph = graph_of(14, &edges, u64::MAX);
        let unit = graph.weight_scale().weight(1);
        let bad: Vec<u32> = bad.into_iter().collect();
        let folds = Folds::of(&graph, &accounts(14), &bad);
        let mut arcs = [[0.0_f64; 14]; 14];
        for &(a, b, weight) in edges.iter().filter(|edge| edge.0 != edge.1) {
            arcs[a as usize][b as usize] += f64::from(weight);
            arcs[b as usize][a as usize] += f64::from(weight);
        }
        let strength: Vec<f64> = arcs.iter().map(|row| row.iter().sum()).collect();
        let degree: Vec<f64> = arcs.iter().map(|row| row.iter().filter(|arc| **arc > 0.0).count() as f64).collect();
        let known: BTreeSet<u32> = folds.known().iter().map(|&(v, _)| v).collect();
        let with_arcs = bad.iter().copied().filter(|&v| strength[v as usize] > 0.0);
        prop_assert_eq!(&known, &with_arcs.collect::<BTreeSet<u32>>());
        let found = visits(&graph, &folds).unwrap();
        let near = Neighbors::of(&graph, &folds).unwrap();
        for fold in (0..FOLDS).collect::<Vec<_>>() {
            let is_bad = |v: usize| folds.fold_of(v as u32) == Some(fold);
            let mut now: Vec<f64> = (0..14).map(|v| if is_bad(v) { 0.3 } else { 0.0 }).collect();
            let mut sum = now.clone();
            for _ in 0..12 {
                let step = |v: usize| (0..14).map(|u| {
                    if strength[u] > 0.0 { 0.7 * now[u] * arcs[u][v] / strength[u] } else { 0.0 }
                }).sum::<f64>();
                now = (0..14).map(step).collect();
                sum.iter_mut().zip(&now).for_each(|(sum, now)| *sum += now);
            }
            for v in 0..14 {
                prop_assert!((f64::from(found[v][fold]) - sum[v]).abs() < 1e-5, "{}: {} not {}", v, found[v][fold], sum[v]);
                let bad_near = |v: usize| (0..14).filter(|&u| arcs[v][u] > 0.0 && is_bad(u)).count() as f64;
                prop_assert_eq!(f64::from(near.partners[v][fold]), bad_near(v));
                let weight: f64 = (0..14).filter(|&u| is_bad(u)).map(|u| arcs[v][u]).sum();
                prop_assert!((f64::from(near.weight[v][fold]) * unit - weight).abs() < 1e-4);
                let second: f64 = (0..14).filter(|&u| arcs[v][u] > 0.0)
                    .map(|u| bad_near(u) / (degree[u] - 1.0).max(1.0)).sum();
                prop_assert!((f64::from(near.second[v][fold]) - second).abs() < 1e-4);
            }
        }
    }

    #[test]
    fn communities_have_as_many_others_and_known_bad(
        labels in vec(0u32..20, 20), bad in btree_set(0u32..20, 0..8),
    ) {
        // A path, so that each vertex has edges.
        let edges: Vec<_> = (0..19).map(|v| (v, v + 1, 1)).collect();
        let graph = graph_of(20, &edges, u64::MAX);
        let bad: Vec<u32> = bad.into_iter().collect();
        let folds = Folds::of(&graph, &accounts(20), &bad);
        let partition = Partition::of(labels.clone()).unwrap();
        let known = partition.known(&folds);
        for v in 0..20 {
            let others = (0..20).filter(|&u| u != v && labels[u] == labels[v]).count();
            for view in (0..FOLDS).map(View::Without).chain([View::All]) {
                let counts = |u: &usize| labels[*u] == labels[v] && folds.fold_of(*u as u32).is_some_and(|fold| view.uses(fold));
                let expected = (others as f32, (0..20).filter(counts).count() as f32);
                prop_assert_eq!(partition.around(v as u32, &known, view), expected);
            }
        }
    }

    #[test]
    fn activity_and_amounts_are_those_of_lists(
        rows in vec((0u32..7, 0u32..7, 0i64..5, prop_oneof![0i64..2, 0i64..1000], 1u64..100_000), 0..60),
    ) {
        let transfers: Vec<Transfer> = rows.iter().filter(|row| row.0 != row.1)
            .map(|&(a, b, day, at, amount)| transfer(a, b, day * DAY + at * 60_000_000, amount)).collect();
        let window = Window::new(7, &transfers, 5, true);
        let days: Vec<&DayAdjacency> = window.days.iter().collect();
        let found = Activity::of(&days, window.range(), 7).unwrap();
        let close = |a: f32, b: f64| (f64::from(a) - b).abs() < 1e-4 * b.abs().max(1.0);
        for v in 0..7u32 {
            let of_day = |day: i64| transfers.iter().filter(move |t| t.time.0 / DAY == day);
            let out = |day: i64| of_day(day).filter(|t| t.source == v).map(|t| t.amount as f64).sum::<f64>();
            let received = |day: i64| of_day(day).filter(|t| t.target == v).map(|t| t.amount as f64).sum::<f64>();
            let count = |day: i64| of_day(day).filter(|t| t.source == v || t.target == v).count() as f64;
            let payers = |day: i64| of_day(day).filter(|t| t.target == v).map(|t| t.source).collect::<BTreeSet<_>>().len() as f64;
            let payees = |day: i64| of_day(day).filter(|t| t.source == v).map(|t| t.target).collect::<BTreeSet<_>>().len() as f64;
            let most = |of: &dyn Fn(i64) -> f64| (0..5).map(of).fold(0.0, f64::max);
            let sum = |of: &dyn Fn(i64) -> f64| (0..5).map(of).sum::<f64>();
            let at = v as usize;
            prop_assert!(close(found.busiest_day[at], most(&count)));
            prop_assert!(close(found.fan_in[at], most(&payers)));
            prop_assert!(close(found.fan_out[at], most(&payees)));
            let mean = sum(&count) / 5.0;
            let burst = if mean > 0.0 { sum(&|day| count(day).powi(2)) / 5.0 / mean - mean } else { 0.0 };
            prop_assert!(close(found.burst[at], burst));
            let passed = sum(&|day| received(day).min(out(day) + out(day + 1)));
            let all = sum(&out).max(sum(&received));
            prop_assert!(close(found.pass_through[at], share(passed, all)));
            let paid = transfers.iter().filter(|t| t.source == v).count() as f64;
            let all = sum(&count);
            prop_assert!(close(found.balance[at], share(2.0 * paid - all, all)));
            let ln = transfers.iter().filter(|t| t.source == v || t.target == v).map(|t| (t.amount as f64).ln()).sum::<f64>();
            prop_assert!(close(found.amount_level[at], share(ln, all)));
            let at_hour = |hour: i64| transfers.iter().filter(move |t| t.time.0 % DAY / 3_600_000_000 == hour);
            let rarity = |hour: i64| -(share(at_hour(hour).count() as f64, transfers.len() as f64)).ln();
            let rare = (0..24).map(|hour| {
                let own = at_hour(hour).filter(|t| t.source == v || t.target == v).count() as f64;
                if own > 0.0 { own * rarity(hour) } else { 0.0 }
            }).sum::<f64>();
            prop_assert!(close(found.odd_hours[at], share(rare, all)));
        }
        let amounts = Amounts::of(&Sides::of(&days, 7).unwrap()).unwrap();
        for (found, side) in [(amounts.out, 0), (amounts.received, 1)] {
            let OwnAmounts { run, drop, shift, spread } = found;
            let expected = amounts_of(&transfers, side);
            for v in 0..7 {
                for (of, found) in [&run, &drop, &shift, &spread].into_iter().enumerate() {
                    let (found, expected) = (f64::from(found[v]), expected[v][of]);
                    prop_assert!((found - expected).abs() < 2e-2, "{} of {}: {} not {}", of, v, found, expected);
                }
            }
        }
    }

    #[test]
    fn features_are_those_of_lists(
        rows in vec((0u32..9, 0u32..9), 1..20),
        cells in vec((0i32..5, 0u32..3), 9),
        bad in btree_set(0u32..9, 0..5),
    ) {
        let transfers: Vec<Transfer> = rows.iter().filter(|row| row.0 != row.1)
            .map(|&(a, b)| transfer(a, b, 0, 1)).collect();
        // 4 is missing, and so is town 2; the last two are in no transaction.
        let x = |v: usize| (cells[v].0 < 4).then(|| f64::from(cells[v].0));
        let town = |v: usize| (cells[v].1 < 2).then_some(cells[v].1);
        let row = |v: usize| {
            let (x, town) = (x(v).map(|x| x.to_string()), town(v).map(|town| format!("t{town}")));
            format!("a{v},{},{}\n", x.unwrap_or_default(), town.unwrap_or_default())
        };
        let text: String = (0..9).map(row).chain(["a9,100,t0\na10,,t7\n".to_owned()]).collect();
        let mut window = Window::new(11, &transfers, 1, false);
        window.table = Some(table_of(&text, 11));
        let partners = |v: usize| -> BTreeSet<usize> {
            let of = |t: &Transfer| match (t.source as usize, t.target as usize) {
                (a, b) if a == v => Some(b),
                (a, b) if b == v => Some(a),
                _ => None,
            };
            transfers.iter().filter_map(of).collect()
        };
        let mean = |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
        let near = |v: usize| mean(partners(v).into_iter().filter_map(x).collect());
        let second = |v: usize| mean(partners(v).into_iter().filter_map(near).collect());
        let bad: Vec<u32> = bad.into_iter().collect();
        window.with(&bad, |evidence| {
            let columns = evidence.columns();
            let at = |key: &str| columns.iter().position(|of| of.key == key).unwrap();
            let active = (0..9).filter(|&v| !partners(v).is_empty()).count() as f64;
            for v in 0..9 {
                for view in (0..FOLDS).map(View::Without).chain([View::All]) {
                    let value = |key: &str| f64::from(evidence.value(at(key), v as u32, view));
                    let expected = |value: Option<f64>| value.unwrap_or(f64::from(MISSING));
                    prop_assert!((value("table_x") - expected(x(v))).abs() < 1e-5);
                    prop_assert!((value("table_x_of_partners") - expected(near(v))).abs() < 1e-5);
                    prop_assert!((value("table_x_of_second") - expected(second(v))).abs() < 1e-5);
                    if town(v).is_none() {
                        prop_assert_eq!(value("table_town_share"), f64::from(MISSING));
                        prop_assert_eq!(value("table_town_known"), f64::from(MISSING));
                        continue;
                    }
                    let share = (0..9).filter(|&u| town(u) == town(v)).count() + usize::from(town(v) == Some(0));
                    prop_assert!((value("table_town_share") - share as f64 / 11.0).abs() < 1e-6);
                    if partners(v).is_empty() {
                        continue;
                    }
                    let folds = evidence.folds();
                    let known = f64::from(folds.count(view));
                    let alike = || (0..9).filter(|&u| town(u) == town(v) && !partners(u).is_empty());
                    // An entity's own view never has its own label.
                    let is_known = |u: &usize| {
                        folds.fold_of(*u as u32).is_some_and(|fold| view.uses(fold))
                    };
                    let (bad, others) = (alike().filter(is_known).count(), alike().count() - 1);
                    let base = known / active;
                    let lift = (bad as f64 + 2.0 * base) / (others as f64 + 2.0) / base;
                    let lift = if known > 0.0 { lift } else { 0.0 };
                    prop_assert!((value("table_town_known") - lift).abs() < 1e-4, "{} not {}", value("table_town_known"), lift);
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn timing_is_that_of_lists(
        rows in vec((0u32..5, 0u32..5, 0i64..640), 1..50),
    ) {
        // The first and the last instant of 640 parts.
        let ends = [(0, 1, 0), (1, 0, 639)];
        let rows = rows.into_iter().chain(ends).filter(|row| row.0 != row.1);
        let transfers: Vec<Transfer> = rows.map(|(a, b, at)| transfer(a, b, at * 1_000_000_000, 1)).collect();
        let window = Window::new(5, &transfers, 8, false);
        let days: Vec<&DayAdjacency> = window.days.iter().collect();
        let found = Timing::of(&Sides::of(&days, 5).unwrap()).unwrap();
        let close = |a: f32, b: f64| (f64::from(a) - b).abs() < 1e-4 * b.abs().max(1.0);
        for v in 0..5u32 {
            let own: Vec<(f64, u32)> = transfers.iter().filter(|t| t.source == v || t.target == v)
                .map(|t| ((t.time.0 / 1_000_000_000) as f64, t.source + t.target - v)).collect();
            let at = v as usize;
            if own.is_empty() {
                prop_assert_eq!((found.count_run[at], found.growth[at], found.new_partners[at]), (0.0, 0.0, 0.0));
                continue;
            }
            // An instant is in the last quarter of the span of 639 parts from 479.25 on.
            let last = own.iter().filter(|t| t.0 > 479.0).count() as f64;
            let expected = (own.len() as f64 - last) / 3.0;
            prop_assert!(close(found.growth[at], (last - expected) / (expected + 1.0).sqrt()));
            let partners: BTreeSet<u32> = own.iter().map(|t| t.1).collect();
            let old: BTreeSet<u32> = own.iter().filter(|t| t.0 < 480.0).map(|t| t.1).collect();
            let new = partners.difference(&old).count() as f64;
            prop_assert!(close(found.new_partners[at], new / partners.len() as f64));
            let crowded = [64.0, 32.0, 16.0, 8.0].map(|part: f64| {
                let within = |begin: f64| own.iter().filter(|t| t.0 >= begin && t.0 - begin < 639.0 / part).count();
                let most = own.iter().map(|t| within(t.0)).max().unwrap() as u32;
                let mean = own.len() as f64 / part;
                // P(X ≥ most) = 1 − Σ P(X = k) below it.
                let mut term = (-mean).exp();
                let mut below = 0.0;
                for k in 0..most {
                    below += term;
                    term *= mean / f64::from(k + 1);
                }
                -(1.0 - below).max(1e-12).ln()
            });
            let most = crowded.into_iter().fold(0.0, f64::max);
            // The complement of a sum has few digits if it is near 0.
            prop_assert!(most > 25.0 || (f64::from(found.count_run[at]) - most.ln_1p()).abs() < 1e-2, "{} not {}", found.count_run[at], most.ln_1p());
        }
    }

    #[test]
    fn walks_with_direction_are_those_of_matrices(
        rows in vec((0u32..9, 0u32..9, 0i64..3), 0..40),
        bad in btree_set(0u32..9, 0..5),
    ) {
        let transfers: Vec<Transfer> = rows.iter().filter(|row| row.0 != row.1)
            .map(|&(a, b, day)| transfer(a, b, day * DAY, 1)).collect();
        let window = Window::new(9, &transfers, 3, false);
        let days: Vec<&DayAdjacency> = window.days.iter().collect();
        let bad: Vec<u32> = bad.into_iter().collect();
        let folds = Folds::of(&window.graph, &window.entities, &bad);
        let directions = Directions::of(&window.graph, &days).unwrap();
        let (forward, backward) = directions.visits(&window.graph, &folds).unwrap();
        let paid = |a: usize, b: usize| transfers.iter()
            .filter(|t| (t.source as usize, t.target as usize) == (a, b)).count() as f64;
        for (found, is_forward) in [(forward, true), (backward, false)] {
            let arc = |a: usize, b: usize| if is_forward { paid(a, b) } else { paid(b, a) };
            for fold in (0..FOLDS).collect::<Vec<_>>() {
                let begin = |v: usize| if folds.fold_of(v as u32) == Some(fold) { 0.3 } else { 0.0 };
                let mut now: Vec<f64> = (0..9).map(begin).collect();
                let mut sum = now.clone();
                for _ in 0..12 {
                    let all: Vec<f64> = (0..9).map(|u| (0..9).map(|v| arc(u, v)).sum()).collect();
                    now = (0..9).map(|v| (0..9).map(|u| 0.7 * share(now[u] * arc(u, v), all[u])).sum()).collect();
                    sum.iter_mut().zip(&now).for_each(|(sum, now)| *sum += now);
                }
                for v in 0..9 {
                    prop_assert!((f64::from(found[v][fold]) - sum[v]).abs() < 1e-5, "{}: {} not {}", v, found[v][fold], sum[v]);
                }
            }
        }
    }

    #[test]
    fn cycles_are_those_of_all_sequences(
        // Primes: no ratio of two is a limit.
        rows in vec((0u32..4, 0u32..4, 0i64..10, select(vec![61u64, 71, 79, 83, 89, 97, 101, 103, 113, 127])), 0..6),
        starts in vec(0i64..10, 3),
    ) {
        let ring = [(0, 1, starts[0], 100), (1, 2, starts[1], 95), (2, 0, starts[2], 90)];
        let end = [(2, 3, 10, 100)];
        let rows = rows.into_iter().chain(ring).chain(end).filter(|row| row.0 != row.1);
        let mut transfers: Vec<Transfer> = rows.map(|(a, b, at, amount)| transfer(a, b, at * DAY / 100, amount)).collect();
        transfers.sort_by_key(|t| (t.time, t.source, t.target, t.amount));
        let window = Window::new(4, &transfers, 1, true);
        let days: Vec<&DayAdjacency> = window.days.iter().collect();
        let found = Cycles::of(&Sides::of(&days, 4).unwrap()).unwrap();
        let first = transfers[0].time.0;
        let quarter = (transfers.last().unwrap().time.0 - first + 1) as f64 / 4.0;
        let [of_any, of_alike] = [false, true].map(|is_alike| {
            // All sequences of payments from each, in the order of their places.
            let mut sequences: Vec<Vec<usize>> = (0..transfers.len()).map(|at| vec![at]).collect();
            let mut cycles: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for _ in 0..6 {
                for of in &sequences {
                    let payers: BTreeSet<u32> = of.iter().map(|&at| transfers[at].source).collect();
                    let (begin, last) = (transfers[of[0]], transfers[of[of.len() - 1]]);
                    if of.len() >= 3 && payers.len() == of.len() && last.target == begin.source {
                        let best = cycles.entry(of[0]).or_insert_with(|| of.clone());
                        if of < best {
                            best.clone_from(of);
                        }
                    }
                }
                let longer = |of: &Vec<usize>| {
                    let (begin, last) = (transfers[of[0]], transfers[of[of.len() - 1]]);
                    let of = of.clone();
                    let next = (0..transfers.len()).filter(|&at| {
                        let (next, ratio) = (transfers[at], transfers[at].amount as f64 / last.amount as f64);
                        next.source == last.target && next.time >= last.time && !of.contains(&at)
                            && (next.time.0 - begin.time.0) as f64 <= quarter * 1.000_001
                            && (!is_alike || (0.799_999..=1.050_001).contains(&ratio))
                    }).collect::<Vec<_>>();
                    next.into_iter().map(|at| of.iter().copied().chain([at]).collect()).collect::<Vec<Vec<usize>>>()
                };
                sequences = sequences.iter().flat_map(longer).collect();
            }
            cycles
        });
        // Of any amounts, those of like amounts come first.
        let of_any: BTreeMap<usize, Vec<usize>> = of_any.into_iter().chain(of_alike.clone()).collect();
        for (found, cycles) in [(found.any, of_any), (found.alike, of_alike)] {
            for v in 0..4u32 {
                let through = |of: &&Vec<usize>| of.iter().any(|&at| transfers[at].source == v);
                prop_assert_eq!(found[v as usize] as usize, cycles.values().filter(through).count(), "{:?}", cycles);
            }
        }
    }

    #[test]
    fn no_entity_has_more_cycles_of_like_amounts_than_cycles(
        rows in vec((0u32..12, 0u32..12, 0i64..30, 90u64..112), 0..400),
    ) {
        let rows = rows.into_iter().filter(|row| row.0 != row.1);
        let transfers: Vec<Transfer> = rows.map(|(a, b, at, amount)| transfer(a, b, at * DAY / 30, amount)).collect();
        let window = Window::new(12, &transfers, 1, true);
        let days: Vec<&DayAdjacency> = window.days.iter().collect();
        let Cycles { any, alike } = Cycles::of(&Sides::of(&days, 12).unwrap()).unwrap();
        prop_assert!(any.iter().zip(&alike).all(|(any, alike)| any >= alike), "{:?} {:?}", any, alike);
    }
}

fn share(part: f64, all: f64) -> f64 {
    if all > 0.0 { part / all } else { 0.0 }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    if values.is_empty() { 0.0 } else { values[(values.len() - 1) / 2] }
}

/// Run, drop, shift and spread of each vertex as payer (0) or payee (1), from the formulas of the page.
fn amounts_of(transfers: &[Transfer], side: usize) -> Vec<[f64; 4]> {
    let mut sorted: Vec<Transfer> = transfers.to_vec();
    sorted.sort_by_key(|t| t.time);
    let end = |t: &Transfer, side: usize| if side == 0 { t.source } else { t.target };
    let ln = |t: &Transfer| f64::from((t.amount as f64).ln() as f32);
    let of = |v: u32, side: usize| sorted.iter().filter(move |t| end(t, side) == v);
    let usual: Vec<f64> = (0..7).map(|v| median(of(v, side).map(ln).collect())).collect();
    let level: Vec<f64> = (0..7)
        .map(|v| {
            let rest: Vec<f64> =
                of(v, 1 - side).map(|t| ln(t) - usual[end(t, side) as usize]).collect();
            let count = rest.len() as f64;
            median(rest) * count / (count + 3.0)
        })
        .collect();
    let first =
        |t: &Transfer| ln(t) - usual[end(t, side) as usize] - level[end(t, 1 - side) as usize];
    let rest: Vec<f64> = (0..7).map(|v| median(of(v, side).map(first).collect())).collect();
    let residual = |t: &Transfer| first(t) - rest[end(t, side) as usize];
    let enough = (0..7).filter(|&v| of(v, side).count() >= 4);
    let spread = enough.map(|v| median(of(v, side).map(|t| residual(t).abs()).collect())).collect();
    let unit = (1.4826 * median(spread)).max(1e-3);
    (0..7)
        .map(|v| {
            let all: Vec<f64> = of(v, side).map(|t| residual(t) / unit).collect();
            let times: Vec<i64> = of(v, side).map(|t| t.time.0).collect();
            if all.len() < 4 {
                return [0.0; 4];
            }
            let largest = |sign: f64| {
                let limited: Vec<f64> = all.iter().map(|r| (sign * r).clamp(-3.0, 6.0)).collect();
                let mean = |time: &i64| {
                    let same = limited.iter().zip(&times).filter(|of| of.1 == time);
                    same.clone().map(|of| of.0).sum::<f64>() / same.count() as f64
                };
                let means: Vec<f64> = times.iter().map(mean).collect();
                let sums = [2, 3, 4, 6, 8].into_iter().flat_map(|run: usize| {
                    let sum = |of: &[f64]| of.iter().sum::<f64>() / (run as f64).sqrt();
                    means.windows(run).map(sum).collect::<Vec<f64>>()
                });
                sums.chain(limited.iter().copied()).fold(0.0, f64::max)
            };
            let mean =
                |of: &[f64]| of.iter().map(|r| r.clamp(-6.0, 6.0)).sum::<f64>() / of.len() as f64;
            let instants = (2..all.len() - 1).filter(|&at| times[at] != times[at - 1]);
            let shifts = instants.map(|at| {
                let (before, after) = all.split_at(at);
                let both = before.len() as f64 * after.len() as f64 / all.len() as f64;
                (mean(after) - mean(before)) * both.sqrt()
            });
            let shift = shifts.fold(0.0, f64::max);
            let spread = 1.4826 * median(all.iter().map(|r| r.abs()).collect());
            [largest(1.0), largest(-1.0), shift, spread]
        })
        .collect()
}

/// Without amounts, there are no runs of them, and a transaction counts 1.
#[test]
fn amounts_may_be_missing() {
    let transfers = [transfer(0, 1, 0, 0), transfer(1, 2, DAY, 0), transfer(1, 2, DAY, 0)];
    let window = Window::new(3, &transfers, 2, false);
    let days: Vec<&DayAdjacency> = window.days.iter().collect();
    let found = Activity::of(&days, window.range(), 3).unwrap();
    assert_eq!(found.pass_through, [0.0, 0.5, 0.0]);
    let sides = Sides::of(&days, 3).unwrap();
    assert!(!sides.has_amounts());
    assert_eq!(Amounts::of(&sides).unwrap().out.run, [0.0; 3]);
    assert_eq!(Cycles::of(&sides).unwrap().alike, [0; 3]);
    let none = Sides::of(&[], 3).unwrap();
    assert_eq!(Amounts::of(&none).unwrap().received.shift, [0.0; 3]);
    assert_eq!(Timing::of(&none).unwrap().growth, [0.0; 3]);
}

/// Days are those of UTC, whatever the slide.
#[test]
fn activity_of_days_does_not_depend_on_the_slide() {
    const HOUR: i64 = DAY / 24;
    let mut state = 7_u64;
    let mut next = |end: u64| {
        state = finalize(state.wrapping_add(1));
        state % end
    };
    let transfers: Vec<Transfer> = (0..300)
        .map(|_| {
            let (a, b) = (next(9) as u32, next(9) as u32);
            // Two days are empty.
            let day = [0, 1, 2, 5, 6][next(5) as usize];
            transfer(a, b, day * DAY + next(24) as i64 * HOUR + 5, 1 + next(1000))
        })
        .collect();
    let of = |unit: i64| {
        let runs = runs_of(&transfers, days_from(0, 8), unit);
        Activity::of(&runs.iter().collect::<Vec<_>>(), days_from(0, 8), 9).unwrap()
    };
    let days = of(DAY);
    assert!(days.fan_in[0] > 2.0 && days.pass_through[0] > 0.0, "{days:?}");
    for hours in [1, 2, 8, 12] {
        let found = of(hours * HOUR);
        for (found, days) in [
            (&found.balance, &days.balance),
            (&found.burst, &days.burst),
            (&found.busiest_day, &days.busiest_day),
            (&found.fan_in, &days.fan_in),
            (&found.fan_out, &days.fan_out),
            (&found.pass_through, &days.pass_through),
        ] {
            assert_eq!(found, days, "{hours} h");
        }
        for (found, days) in
            [(&found.amount_level, &days.amount_level), (&found.odd_hours, &days.odd_hours)]
        {
            assert!(found.iter().zip(days).all(|(a, b)| (a - b).abs() < 1e-5), "{hours} h");
        }
    }
    // Of windows that begin and end at noon, 9 days, of which the first and the last are halves.
    let half = Timestamp(DAY / 2);
    let range = TimeRange::new(half, Timestamp(half.0 + 8 * DAY));
    let runs = runs_of(&transfers, range, DAY / 2);
    let found = Activity::of(&runs.iter().collect::<Vec<_>>(), range, 9).unwrap();
    let here: Vec<&Transfer> = transfers
        .iter()
        .filter(|t| t.source != t.target && t.time >= half && [t.source, t.target].contains(&0))
        .collect();
    let of_day = |day: i64| here.iter().filter(|t| t.time.0 / DAY == day).count() as f64;
    let mean = here.len() as f64 / 9.0;
    let burst = (0..9).map(|day| of_day(day).powi(2)).sum::<f64>() / 9.0 / mean - mean;
    assert!((f64::from(found.burst[0]) - burst).abs() < 1e-4, "{} not {burst}", found.burst[0]);
}

/// A burst is against all days of the window, also those before the first transaction of all.
#[test]
fn a_burst_counts_the_days_before_the_first_transaction() {
    let burst: Vec<Transfer> = (1..7).map(|payee| transfer(0, payee, 29 * DAY, 1)).collect();
    let of = |range: TimeRange, first: i64| {
        let runs = runs_of(&burst, days_from(first, 30 - first), DAY);
        Activity::of(&runs.iter().collect::<Vec<_>>(), range, 7).unwrap().burst[0]
    };
    let whole = of(days_from(0, 30), 0);
    assert!((whole - (36.0 / 6.0 - 6.0 / 30.0)).abs() < 1e-5, "{whole}");
    assert_eq!(of(days_from(0, 30), 29), whole);
    assert_eq!(of(days_from(29, 1), 29), 0.0, "all on the only day");
}

/// Payments of one instant have no order: neither the rows' nor that of their amounts makes evidence.
#[test]
fn amounts_of_one_instant_have_no_order() {
    let mut transfers: Vec<Transfer> = Vec::new();
    for day in 0..10 {
        for at in 0..6 {
            let (a, b) = (2 + day % 5, 7 + (day * 3 + at) % 7);
            transfers.push(transfer(a as u32, b as u32, day * DAY, 20 + (at % 3) as u64));
        }
    }
    // 0 pays 1 ten times on one day, by turns much and little; 14 pays others so.
    for at in 0..10 {
        let amount = if at % 2 == 0 { 1000 } else { 10 };
        transfers.push(transfer(0, 1, 4 * DAY, amount));
        transfers.push(transfer(14, 15 + at, 4 * DAY, amount));
    }
    let of = |transfers: &[Transfer], rename: &dyn Fn(u32) -> u32| {
        let renamed: Vec<Transfer> = transfers
            .iter()
            .map(|t| Transfer { source: rename(t.source), target: rename(t.target), ..*t })
            .collect();
        let runs = runs_of(&renamed, days_from(0, 10), DAY);
        let sides = Sides::of(&runs.iter().collect::<Vec<_>>(), 25).unwrap();
        let Amounts { out, received } = Amounts::of(&sides).unwrap();
        let columns = [out, received]
            .map(|of| [of.run, of.drop, of.shift, of.spread])
            .into_iter()
            .flatten()
            .map(|of| (0..25).map(|v| of[rename(v) as usize].to_bits()).collect::<Vec<u32>>());
        columns.collect::<Vec<_>>()
    };
    let found = of(&transfers, &|v| v);
    for shift in [2, 6] {
        for v in [0, 1, 14] {
            assert_eq!(found[shift][v], 0.0_f32.to_bits(), "{v} has a single instant");
        }
    }
    // Accounts are numbered by their first row, so another order of rows is another numbering.
    assert_eq!(of(&transfers, &|v| 24 - v), found);
}

/// A table with a number `x` and a category `town`.
fn table_of(rows: &str, vertices: u32) -> EntityTable {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    fs::write(&path, format!("id,x,town\n{rows}")).unwrap();
    let entities = accounts(vertices);
    let kind = entities.find_kind("account").unwrap();
    let mut table = EntityTable::read(&path.into(), &entities, kind).unwrap();
    table.refresh(&entities);
    table
}

/// A search for a cycle looks at 64 payments from the end and at 128 forward, so that an entity of many does not slow it
/// down.
#[test]
fn a_search_for_a_cycle_is_bounded() {
    // 0 pays 1, 1 pays others and then 2, and 2 pays 0, which others paid before.
    let ring = |payments: u32, receipts: u32| {
        let first = [transfer(0, 1, 0, 100)];
        let paid = (0..payments).map(|at| transfer(1, 3 + at % 20, 1 + i64::from(at), 5));
        let received = (0..receipts).map(|at| transfer(23 + at % 10, 0, 1 + i64::from(at), 5));
        let last =
            [transfer(1, 2, 1000, 100), transfer(2, 0, 1001, 100), transfer(3, 4, 10_000, 5)];
        let all: Vec<Transfer> =
            first.into_iter().chain(paid).chain(received).chain(last).collect();
        let window = Window::new(40, &all, 1, true);
        let days: Vec<&DayAdjacency> = window.days.iter().collect();
        let Cycles { any, alike } = Cycles::of(&Sides::of(&days, 40).unwrap()).unwrap();
        assert_eq!(any, alike);
        any[..3].to_vec()
    };
    for found in [(0, 0), (7, 0), (8, 0), (20, 0), (30, 40), (126, 63)] {
        assert_eq!(ring(found.0, found.1), [1; 3], "{found:?}");
    }
    assert_eq!(ring(127, 0), [0; 3]);
    assert_eq!(ring(0, 64), [0; 3]);
}

/// The evidence of a known bad account is that of an account that is not known, bit by bit: its own label
/// and the labels of its fold are not used.
#[test]
fn its_own_label_changes_no_evidence_of_an_account() {
    let town = |v: u32| format!("a{v},{},{}\n", v % 7, ["Rom", "Bern", ""][v as usize % 3]);
    let table: String = (0..600).map(town).collect();
    let window = Window { table: Some(table_of(&table, 600)), ..rings(1) };
    let bad = every_second();
    let own = window.with(&bad, |evidence| {
        let folds = evidence.folds().known().to_vec();
        let values = |&(v, _): &(u32, u8)| evidence.row(v, evidence.view_of(v));
        (folds.clone(), folds.iter().map(values).collect::<Vec<_>>())
    });
    for fold in 0..FOLDS as u8 {
        let (folds, values) = &own;
        let others: Vec<u32> = folds.iter().filter(|of| of.1 != fold).map(|of| of.0).collect();
        assert!(others.len() < bad.len(), "each fold has some");
        window.with(&others, |evidence| {
            for ((v, _), values) in folds.iter().zip(values).filter(|((_, of), _)| *of == fold) {
                assert_eq!(evidence.view_of(*v), View::All);
                assert_eq!(evidence.row(*v, View::All), *values, "{v}");
            }
        });
    }
}

#[test]
fn scores_do_not_depend_on_the_number_of_threads() {
    let window = rings(2);
    let scores = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let Scores { probability, rank, points, scorecard, of_folds, check, earlier } =
            pool.install(|| window.scores(&every_second()));
        let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect::<Vec<_>>();
        let text = serde_json::to_string(&(scorecard, of_folds, check, earlier)).unwrap();
        (bits(probability), rank, bits(points), text)
    };
    assert_eq!(scores(1), scores(3));
}

#[test]
fn held_out_members_of_rings_come_first_and_the_check_says_so() {
    let window = rings(3);
    let bad = every_second();
    let scores = window.scores(&bad);
    let held_out: Vec<u32> = (541..600).step_by(2).collect();
    let mut ranked: Vec<u32> = (0..600).filter(|v| !bad.contains(v)).collect();
    ranked.sort_by_key(|&v| scores.rank[v as usize]);
    let found = ranked[..30].iter().filter(|v| held_out.contains(v)).count();
    // At random, 2 of 30.
    assert!(found >= 12, "{found} of 30");
    let check = scores.check.unwrap();
    assert_eq!(check.known_bad, 30);
    assert!(check.average_precision > 5.0 * check.base_rate && !check.is_chance(), "{check:?}");
    assert!(check.evidence.len() == KINDS && check.evidence.values().all(|ap| *ap <= 1.0));
    let first = &check.evidence_found_at_100;
    // No fold has more than all of its known bad among the first 100.
    assert_eq!(check.most_at_100(), 30);
    assert!(first.len() == KINDS && first.values().all(|of| *of <= 30.0), "{first:?}");
    // Most of those held out are among the first 100 by ties alone.
    assert!(first["tie_surprise"] > 15.0 && check.found_at_100() > 15.0, "{first:?}");
    assert_eq!(check.evidence_error.len(), KINDS);
    assert!((check.base_rate - 30.0 / 600.0).abs() < 0.015, "{check:?}");
    // Probabilities fall with the rank, and are those of the scorecard.
    assert!(scores.scorecard.learnt && scores.scorecard.known_bad == 30);
    let mut all: Vec<(u32, f32)> =
        scores.rank.iter().copied().zip(scores.probability.iter().copied()).collect();
    all.retain(|(rank, _)| *rank > 0);
    all.sort_by_key(|(rank, _)| *rank);
    assert!(all.iter().zip(1..).all(|((rank, _), at)| *rank == at));
    assert!(all.windows(2).all(|pair| pair[0].1 >= pair[1].1));
    // A known bad account has a score, too, which its own label does not raise to 1.
    assert!(scores.probability[540] > scores.probability[5]);
}

/// What a window learnt changes the next one, and stays if nothing is learnt there.
#[test]
fn windows_learn_from_those_before() {
    let (before, now) = (rings(1), rings(6));
    let earlier = before.scores(&every_second()).earlier;
    assert_ne!(earlier, Earlier::default());
    let few: Vec<u32> = every_second().into_iter().take(8).collect();
    let (alone, after) = (now.scores(&few), now.scores_after(&few, &earlier));
    assert_ne!(alone.scorecard, after.scorecard);
    // Rings are what was learnt: more of those that are not known come first.
    let mean_rank = |scores: &Scores| -> f64 {
        let unknown = (540..600_u32).filter(|v| !few.contains(v));
        unknown.map(|v| f64::from(scores.rank[v as usize])).sum::<f64>()
    };
    assert!(mean_rank(&after) < mean_rank(&alone), "{} {}", mean_rank(&after), mean_rank(&alone));
    assert_eq!(now.scores_after(&[540], &earlier).earlier, earlier);
}

/// Known bad that are drawn at random are ranked as by chance, and the check says so: a fold is not compared with those
/// that its scorecard was fitted to.
#[test]
fn random_labels_are_chance() {
    let window = rings(4);
    let checks: Vec<Check> = (0..20)
        .map(|list| {
            let mut all: Vec<u32> = (0..600).collect();
            all.sort_by_key(|&v| finalize(u64::from(v) << 8 | list));
            let mut bad = all[..60].to_vec();
            bad.sort_unstable();
            window.scores(&bad).check.unwrap()
        })
        .collect();
    let better = checks.iter().filter(|check| !check.is_chance()).count();
    assert!(better <= 3, "{better} of 20 are better than chance");
    let deviations = |check: &Check| (check.auc - 0.5) / check.auc_deviation;
    let mean = checks.iter().map(deviations).sum::<f64>() / 20.0;
    assert!(mean < 0.7, "{mean} deviations on average");
}

#[test]
fn lists_without_examples_are_scored_by_the_fixed_combination() {
    let window = rings(5);
    let alone: Vec<Transfer> = vec![transfer(0, 1, 0, 5), transfer(2, 3, 0, 5)];
    let isolated = Window::new(30, &alone, 1, true);
    let everyone: Vec<u32> = (0..600).collect();
    let cases: [(&Window, Vec<u32>, bool); 5] = [
        (&window, vec![], false),
        // One is of one fold, and without it no other is left to learn from.
        (&window, vec![540], false),
        // No other account is left to compare with.
        (&window, everyone, false),
        // None of them has a transaction.
        (&isolated, (4..30).collect(), false),
        (&isolated, vec![0], false),
    ];
    for (window, bad, learnt) in cases {
        let scores = window.scores(&bad);
        assert_eq!((scores.scorecard.learnt, scores.check.is_some()), (learnt, learnt));
        let text = serde_json::to_string(&scores.scorecard).unwrap();
        assert!(!text.contains("null"), "a number is not finite: {text}");
        for v in 0..window.graph.vertices() as usize {
            let probability = scores.probability[v];
            assert!((0.0..=1.0).contains(&probability) && scores.points[v].is_finite());
            assert_eq!(scores.rank[v] > 0, window.graph.degree(v as u32) > 0);
        }
    }
    // Rings are found without any known bad, by their ties.
    let scores = window.scores(&[]);
    let mut order: Vec<u32> = (0..600).collect();
    order.sort_by_key(|&v| scores.rank[v as usize]);
    let found = order[..60].iter().filter(|v| **v >= 540).count();
    assert!(found > 30, "{found} of 60");
}

/// One known bad account draws the weights of evidence that does not depend on known bad, and its own score uses none of it.
#[test]
fn one_known_bad_draws_the_fixed_combination_to_accounts_like_it() {
    let window = rings(5);
    let scores = window.scores(&[540]);
    let fixed = &scores.of_folds[0];
    assert!(scores.of_folds.len() == FOLDS && scores.check.is_none());
    for ((of, fixed), drawn) in ALL.iter().zip(&fixed.tables).zip(&scores.scorecard.tables) {
        assert_eq!(fixed.ends, drawn.ends, "{}", of.key);
        // A column without values has no points to draw.
        let is_flat = fixed.ends.len() < 2;
        assert_eq!(fixed.points == drawn.points, of.needs_known || is_flat, "{}", of.key);
    }
    window.with(&[540], |evidence| {
        let points =
            |card: &Scorecard, v: u32| card.points(evidence.row(v, evidence.view_of(v))) as f32;
        assert_eq!(scores.points[540], points(fixed, 540));
        assert_eq!(scores.points[541], points(&scores.scorecard, 541));
        // Members of rings come before others more often than by the fixed combination.
        let in_order = |card: &Scorecard| -> usize {
            let others: Vec<f32> = (0..540).map(|v| points(card, v)).collect();
            let before = |v: u32| others.iter().filter(|of| **of < points(card, v)).count();
            (541..600).map(before).sum()
        };
        assert!(in_order(&scores.scorecard) > in_order(fixed));
    });
}

/// From two known bad on, the next one changes the order of all accounts little, also from the third to the fourth: rank
/// correlation.
#[test]
fn scores_move_from_the_fixed_combination_with_each_known_bad() {
    let window = rings(5);
    let bad: Vec<u32> = (540..600).step_by(7).collect();
    let ranks: Vec<Vec<f64>> = (0..=bad.len())
        .map(|known| window.scores(&bad[..known]).rank.into_iter().map(f64::from).collect())
        .collect();
    let correlation = |a: &[f64], b: &[f64]| {
        let mean = (a.len() as f64 + 1.0) / 2.0;
        let covariance = |a: &[f64], b: &[f64]| -> f64 {
            a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum()
        };
        covariance(a, b) / (covariance(a, a) * covariance(b, b)).sqrt()
    };
    let steps: Vec<f64> = ranks.windows(2).map(|two| correlation(&two[0], &two[1])).collect();
    // With the first, evidence that depends on known bad has its first values, and with the second it is learnt from.
    assert!(steps[0] > 0.6 && steps[1] > 0.75, "{steps:?}");
    assert!(steps[2..].iter().all(|of| *of > 0.87), "{steps:?}");
}

#[test]
fn an_empty_window_has_no_scores() {
    let window = Window::new(0, &[], 1, true);
    assert!(window.scores(&[]).probability.is_empty());
}

#[test]
fn definitions_have_names_of_their_own() {
    let keys: BTreeSet<&str> = ALL.iter().map(|of| of.key).collect();
    assert_eq!(keys.len(), KINDS);
    for (at, of) in ALL.iter().enumerate() {
        assert_eq!(of.needs_known, at < OF_KNOWN, "{}", of.key);
        assert_eq!(of.method, format!("evidence: {}", of.key.replace('_', " ")));
        assert!(of.prior >= 0.0 && !of.meaning.is_empty() && !of.formula.is_empty());
    }
}

/// Known bad from a later day on change nothing in windows that end before.
#[test]
fn known_bad_of_later_days_change_nothing() {
    let days = Days::new(9);
    let ring = |range: std::ops::Range<u32>, from: &str| -> String {
        range.map(|user| format!("ring{user},{from}\n")).collect()
    };
    let shops: String = (0..8).map(|shop| format!("user{shop},2024-03-08\n")).collect();
    let now = format!("id,from\n{}", ring(0..10, ""));
    fs::write(days.path("known.csv"), &now).unwrap();
    run_into(&days.options(), &days.path("now"), false).unwrap();
    fs::write(days.path("known.csv"), format!("{now}{}{shops}", ring(10..12, "2024-03-08")))
        .unwrap();
    let manifest = run_into(&days.options(), &days.path("later"), false).unwrap();
    let folders = ["now", "later"].map(|name| RunFolder::open(&days.path(name)).unwrap());
    let mut changed = 0;
    for record in &manifest.windows {
        for name in ["entities.parquet", "model.json", "members.parquet", "graph.npz"] {
            let [a, b] =
                [0, 1].map(|at: usize| fs::read(folders[at].window(record).join(name)).unwrap());
            // The window whose last day is the 8th ends with the 9th.
            let is_before = record.until.as_str() <= "2024-03-08";
            assert!(a == b || !is_before, "{name} of the window until {}", record.until);
            changed += u32::from(a != b);
        }
    }
    assert!(changed > 0, "later windows know them");
}

/// What a run writes of its scores, and says of them.
#[test]
fn a_run_writes_scores_and_their_check() {
    let days = Days::new(9);
    let known: String = (0..12).map(|user| format!("ring{user}\n")).collect();
    fs::write(days.path("known.csv"), format!("id\n{known}")).unwrap();
    let manifest = run_into(&days.options(), &days.path("run"), false).unwrap();
    let folder = RunFolder::open(&days.path("run")).unwrap();
    let last = manifest.windows.last().unwrap();
    let scores = last.scores.as_ref().unwrap();
    let check = scores.check.as_ref().unwrap();
    assert!(scores.learnt && scores.known_bad == 12 && check.folds.len() > 1, "{scores:?}");
    let (header, rows) = crate::output::cells(&folder.window(last).join("entities.parquet"));
    let names = "window,vertex,kind,id,known_bad,score,rank,pagerank,";
    assert!(header.join(",").starts_with(names), "{header:?}");
    assert_eq!(header.len(), 7 + KINDS);
    assert_eq!(rows.iter().filter(|row| !row[6].is_empty()).count() as u64, scores.entities);
    assert!(rows.iter().all(|row| row.iter().all(|cell| cell != "NaN")));
    let score = |id: &str| {
        let row = rows.iter().find(|row| row[3] == id).unwrap();
        row[5].parse::<f64>().unwrap()
    };
    assert!(score("ring3") > score("user3"));
    let notes = run::notes(&manifest, &manifest.windows).join("\n");
    assert!(notes.contains("12 held-out known bad of"), "{notes}");
    // No column is advised by so few.
    assert!(!notes.contains("the best evidence alone is"), "{notes}");
    let mut by_chance = manifest.windows.clone();
    for window in &mut by_chance {
        if let Some(check) = window.scores.as_mut().and_then(|scores| scores.check.as_mut()) {
            (check.average_precision, check.auc) = (0.0, 0.5);
            check.evidence.insert("fan_in".into(), 0.9);
        }
    }
    let notes = run::notes(&manifest, &by_chance).join("\n");
    let few =
        "WARNING: less than 20 known bad are too few to judge scores of entities in 7 of 7 windows";
    assert!(notes.contains(few), "{notes}");
    assert!(!notes.contains("no better than chance") && !notes.contains("fan_in"), "{notes}");
    // One evidence that is clearly better than the scores is a warning, with what to do.
    let mut windows = manifest.windows.clone();
    for window in &mut windows {
        if let Some(check) = window.scores.as_mut().and_then(|scores| scores.check.as_mut()) {
            check.evidence.values_mut().for_each(|value| *value = 0.0);
        }
    }
    let warns = |windows: &[WindowRecord]| {
        let notes = run::notes(&manifest, windows);
        notes.into_iter().find(|note| note.contains("clearly better than scores"))
    };
    assert_eq!(warns(&windows), None);
    let clear = |window: &mut WindowRecord, evidence: &str| {
        let check = window.scores.as_mut().and_then(|scores| scores.check.as_mut()).unwrap();
        check.average_precision = 0.5;
        check.known_bad = 25;
        let mut fold = CheckedFold::default();
        (fold.known_bad, fold.precision_at_100, fold.base_rate) = (5, 0.1, 0.01);
        check.folds = vec![fold; 5];
        check.evidence.insert(evidence.into(), 0.75);
        check.evidence_error.insert(evidence.into(), 0.02);
        check.evidence_found_at_100.insert(evidence.into(), 21.0);
    };
    // Two of seven windows are less than a third.
    let checked = windows.iter().filter(|window| window.scores.as_ref().unwrap().check.is_some());
    assert_eq!(checked.count(), 7);
    clear(&mut windows[0], "fan_in");
    clear(&mut windows[6], "fan_in");
    assert_eq!(warns(&windows), None);
    clear(&mut windows[3], "fan_in");
    let warning = warns(&windows).unwrap();
    for part in [
        "WARNING",
        "in 3 of 7 windows",
        "`fan_in`",
        "0.750",
        "0.500",
        "are 21 of 25 that were held out",
        "and 10 among those by scores",
        "ORDER BY \"fan_in\" DESC NULLS LAST",
    ] {
        assert!(warning.contains(part), "{part}: {warning}");
    }
    // Ties alone are no ranking by fan-in.
    assert!(!warning.contains("--model none"), "{warning}");
    for evidence in ["tie_surprise", "repetition", "pagerank_along_ties"] {
        let mut windows = windows.clone();
        windows.iter_mut().for_each(|window| clear(window, evidence));
        for window in &mut windows {
            let check = window.scores.as_mut().and_then(|scores| scores.check.as_mut()).unwrap();
            check.evidence.remove("fan_in");
        }
        let warning = warns(&windows).unwrap();
        assert!(warning.contains(evidence) && warning.contains("--model none"), "{warning}");
    }

    fs::write(days.path("known.csv"), "id\nring1\n").unwrap();
    let few = run_into(&days.options(), &days.path("few"), false).unwrap();
    let notes = run::notes(&few, &few.windows).join("\n");
    assert!(notes.contains("7 windows have too few known bad"), "{notes}");

    let none = run::RunOptions { model: run::ModelChoice::None, ..days.options() };
    let manifest = run_into(&none, &days.path("none"), false).unwrap();
    assert!(manifest.windows.iter().all(|window| window.scores.is_none()));
    let window = RunFolder::open(&days.path("none")).unwrap().window(&manifest.windows[0]);
    assert!(!window.join("model.json").exists());
    let (_, rows) = crate::output::cells(&window.join("entities.parquet"));
    assert!(rows.iter().all(|row| row[5..].iter().all(String::is_empty)), "no score");
}
