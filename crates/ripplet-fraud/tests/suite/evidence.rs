//! Evidence and scores beside slow ways that are obviously right, and what must not change them.

use crate::detection::graph_of;
use crate::runs::{Days, run_into};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use ripplet_fraud::days::DayAdjacency;
use ripplet_fraud::evidence::{
    ALL, Activity, Amounts, BlindEvidence, Evidence, FOLDS, Folds, KINDS, Neighbors, OF_KNOWN,
    Partition, Sources, View, visits,
};
use ripplet_fraud::folder::RunFolder;
use ripplet_fraud::model::{self, Scores};
use ripplet_fraud::payments::Transfer;
use ripplet_fraud::run;
use ripplet_fraud::ties::{TieRule, Ties};
use ripplet_fraud::{Entities, Timestamp};
use ripplet_graph::Graph;
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

/// Days of transfers; the graph has their counts.
struct Window {
    days: Vec<DayAdjacency>,
    graph: Graph,
    entities: Entities,
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
        }
    }

    /// Does something with the evidence for some known bad.
    fn with<T>(&self, bad: &[u32], act: impl FnOnce(&Evidence<'_>) -> T) -> T {
        let ties = Ties::of(&self.graph, TieRule::default(), &[]).unwrap();
        let days: Vec<&DayAdjacency> = self.days.iter().collect();
        let sources = Sources { graph: &self.graph, ties: &ties, days: &days };
        let executor = CpuExecutor::new(Some(2)).unwrap();
        let blind = BlindEvidence::of(&executor, sources, 0, &mut ()).unwrap();
        act(&Evidence::of(&blind, &self.graph, &ties, &self.entities, bad).unwrap())
    }

    fn scores(&self, bad: &[u32]) -> Scores {
        let vertices = self.graph.vertices();
        self.with(bad, |evidence| model::score(evidence, &self.entities, &[], vertices).unwrap())
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
        rows in vec((0u32..7, 0u32..7, 0i64..5, 0i64..1000, 1u64..100_000), 0..60),
    ) {
        let transfers: Vec<Transfer> = rows.iter().filter(|row| row.0 != row.1)
            .map(|&(a, b, day, at, amount)| transfer(a, b, day * DAY + at * 60_000_000, amount)).collect();
        let window = Window::new(7, &transfers, 5, true);
        let days: Vec<&DayAdjacency> = window.days.iter().collect();
        let found = Activity::of(&days, 7).unwrap();
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
        }
        let amounts = Amounts::of(&days, 7).unwrap();
        for (found, side) in [(amounts.run_out, 0), (amounts.run_in, 1)] {
            let expected = runs_of(&transfers, side);
            for v in 0..7 {
                prop_assert!((f64::from(found[v]) - expected[v]).abs() < 2e-2, "{}: {} not {}", v, found[v], expected[v]);
            }
        }
    }
}

fn share(part: f64, all: f64) -> f64 {
    if all > 0.0 { part / all } else { 0.0 }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    if values.is_empty() { 0.0 } else { values[(values.len() - 1) / 2] }
}

/// The runs of amounts of each vertex as payer (0) or payee (1), from the formulas of the page.
fn runs_of(transfers: &[Transfer], side: usize) -> Vec<f64> {
    let mut sorted: Vec<Transfer> = transfers.to_vec();
    // Equal times are in the order of days, payers, payees and amounts.
    sorted.sort_by_key(|t| (t.time, t.source, t.target, t.amount));
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
            let all: Vec<f64> =
                of(v, side).map(|t| (residual(t) / unit).clamp(-3.0, 6.0)).collect();
            if all.len() < 4 {
                return 0.0;
            }
            let sums = [1, 2, 3, 4, 6, 8].into_iter().flat_map(|run: usize| {
                let sums: Vec<f64> = all
                    .windows(run)
                    .map(|of| of.iter().sum::<f64>() / (run as f64).sqrt())
                    .collect();
                sums
            });
            sums.fold(0.0, f64::max)
        })
        .collect()
}

/// Without amounts, there are no runs of them, and a transaction counts 1.
#[test]
fn amounts_may_be_missing() {
    let transfers = [transfer(0, 1, 0, 0), transfer(1, 2, DAY, 0), transfer(1, 2, DAY, 0)];
    let window = Window::new(3, &transfers, 2, false);
    let days: Vec<&DayAdjacency> = window.days.iter().collect();
    assert_eq!(Activity::of(&days, 3).unwrap().pass_through, [0.0, 0.5, 0.0]);
    assert_eq!(Amounts::of(&days, 3).unwrap().run_out, [0.0; 3]);
    assert_eq!(Amounts::of(&[], 3).unwrap().run_in, [0.0; 3]);
}

/// The evidence of a known bad account is that of an account that is not known, bit by bit: its own label, and
/// those of its fold, are not used.
#[test]
fn its_own_label_changes_no_evidence_of_an_account() {
    let window = rings(1);
    let bad = every_second();
    let own = window.with(&bad, |evidence| {
        let folds = evidence.folds().known().to_vec();
        let values = |&(v, _): &(u32, u8)| evidence.values(v, evidence.view_of(v));
        (folds.clone(), folds.iter().map(values).collect::<Vec<_>>())
    });
    for fold in 0..FOLDS as u8 {
        let (folds, values) = &own;
        let others: Vec<u32> = folds.iter().filter(|of| of.1 != fold).map(|of| of.0).collect();
        assert!(others.len() < bad.len(), "each fold has some");
        window.with(&others, |evidence| {
            for ((v, _), values) in folds.iter().zip(values).filter(|((_, of), _)| *of == fold) {
                assert_eq!(evidence.view_of(*v), View::All);
                assert_eq!(evidence.values(*v, View::All), *values, "{v}");
            }
        });
    }
}

#[test]
fn scores_do_not_depend_on_the_number_of_threads() {
    let window = rings(2);
    let scores = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let Scores { probability, rank, points, scorecard, check } =
            pool.install(|| window.scores(&every_second()));
        let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect::<Vec<_>>();
        let text = serde_json::to_string(&(scorecard, check)).unwrap();
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
    assert!(check.average_precision > 10.0 * check.base_rate && !check.is_chance(), "{check:?}");
    assert!(check.evidence.len() == KINDS && check.evidence.values().all(|ap| *ap <= 1.0));
    assert!((check.base_rate - 6.0 / 576.0).abs() < 2e-3, "{check:?}");
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

/// Known bad that are drawn at random are ranked as by chance, and the check says so.
#[test]
fn random_labels_are_chance() {
    let window = rings(4);
    let bad: Vec<u32> = (0..540).step_by(7).collect();
    let check = window.scores(&bad).check.unwrap();
    assert!(check.average_precision < 3.0 * check.base_rate, "{check:?}");
}

#[test]
fn lists_without_examples_are_scored_by_the_fixed_combination() {
    let window = rings(5);
    let alone: Vec<Transfer> = vec![transfer(0, 1, 0, 5), transfer(2, 3, 0, 5)];
    let isolated = Window::new(30, &alone, 1, true);
    let everyone: Vec<u32> = (0..600).collect();
    let cases: [(&Window, Vec<u32>, bool); 6] = [
        (&window, vec![], false),
        (&window, vec![540], false),
        (&window, vec![540, 550, 560], false),
        // Nobody else is left to compare with.
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
    assert!(notes.contains("the best evidence alone is"), "{notes}");

    fs::write(days.path("known.csv"), "id\nring1\n").unwrap();
    let few = run_into(&days.options(), &days.path("few"), false).unwrap();
    let notes = run::notes(&few, &few.windows).join("\n");
    assert!(notes.contains("7 windows have less than 10 known bad"), "{notes}");

    let none = run::RunOptions { model: run::ModelChoice::None, ..days.options() };
    let manifest = run_into(&none, &days.path("none"), false).unwrap();
    assert!(manifest.windows.iter().all(|window| window.scores.is_none()));
    let window = RunFolder::open(&days.path("none")).unwrap().window(&manifest.windows[0]);
    assert!(!window.join("model.json").exists());
    let (_, rows) = crate::output::cells(&window.join("entities.parquet"));
    assert!(rows.iter().all(|row| row[5..].iter().all(String::is_empty)), "no score");
}
