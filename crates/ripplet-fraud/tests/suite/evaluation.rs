//! Baselines and evaluations beside slow ways that are obviously right.

use crate::detection::graph_of;
use proptest::prelude::*;
use ripplet_analytics::pagerank::PageRank;
use ripplet_fraud::baselines::{Baseline, page_rank_settings, personalized_page_rank};
use ripplet_fraud::evaluate::{
    EvaluateError, Evaluation, Evaluator, Figure, Method, Report, write_draws,
};
use ripplet_fraud::model::ModelFile;
use ripplet_fraud::seeds::ListEntry;
use ripplet_fraud::{Entities, KnownBad, TimeRange, Timestamp, Trusted, Window};
use ripplet_lp::cpu::CpuExecutor;

const DAY: i64 = 86_400_000_000;

proptest! {
    #[test]
    fn personalized_pagerank_solves_its_equations(
        edges in prop::collection::vec((0u32..12, 0u32..12, 1u32..5), 0..40),
        bad in prop::collection::btree_set(0u32..12, 1..4),
        weighted in any::<bool>(),
    ) {
        let bad: Vec<u32> = bad.into_iter().collect();
        let settings = PageRank { damping: 0.5, ..page_rank_settings(weighted) };
        let graph = graph_of(12, &edges, u64::MAX);
        let found = personalized_page_rank(&graph, &bad, &settings).unwrap();
        prop_assert!(personalized_page_rank(&graph, &[12], &settings).is_err());
        // p = d M p + (1 − d · what moves) e, by Gauss' elimination of I − d M − (jumps of who stands) e.
        let mut arcs = [[0.0_f64; 12]; 12];
        for &(a, b, weight) in edges.iter().filter(|edge| edge.0 != edge.1) {
            arcs[a as usize][b as usize] += f64::from(weight);
            arcs[b as usize][a as usize] += f64::from(weight);
        }
        if !weighted {
            arcs.iter_mut().flatten().for_each(|arc| *arc = arc.min(1.0));
        }
        let jump = |v: usize| if bad.contains(&(v as u32)) { 1.0 / bad.len() as f64 } else { 0.0 };
        let mut system = vec![vec![0.0; 13]; 12];
        for v in 0..12 {
            for u in 0..12 {
                let out: f64 = arcs[u].iter().sum();
                let moved = if out > 0.0 { 0.5 * arcs[u][v] / out } else { 0.0 };
                let jumps = if out > 0.0 { 0.5 } else { 1.0 };
                system[v][u] = f64::from(u8::from(u == v)) - moved - jumps * jump(v);
            }
        }
        // The equations leave the sum open.
        system[11] = vec![1.0; 13];
        for pivot in 0..12 {
            let best = (pivot..12).max_by(|&a, &b| system[a][pivot].abs().total_cmp(&system[b][pivot].abs()));
            system.swap(pivot, best.unwrap());
            let row = system[pivot].clone();
            for (at, other) in system.iter_mut().enumerate().filter(|(at, _)| *at != pivot) {
                let _ = at;
                let factor = other[pivot] / row[pivot];
                other.iter_mut().zip(&row).for_each(|(to, from)| *to -= factor * from);
            }
        }
        for v in 0..12 {
            let expected = system[v][12] / system[v][v];
            prop_assert!((found[v] - expected).abs() < 1e-9, "{v}: {} not {expected}", found[v]);
        }
    }
}

#[test]
fn baselines_are_what_they_say() {
    // 0 is known, 1 and 2 are its neighbours, 3 is 1's; 5 is known, 6 its neighbour; 7 is alone.
    let edges = [(0, 1, 2), (0, 2, 1), (1, 3, 4), (5, 6, 1), (3, 4, 1)];
    let graph = graph_of(8, &edges, u64::MAX);
    let score = |of: Baseline| of.score(&graph, &[0, 5]).unwrap();
    assert_eq!(score(Baseline::Degree), [2.0, 2.0, 1.0, 2.0, 1.0, 1.0, 1.0, 0.0]);
    let stored = 1.0 / graph.weight_scale().weight(1);
    let strength: Vec<f64> = score(Baseline::Strength).iter().map(|s| s / stored).collect();
    assert_eq!(strength, [3.0, 6.0, 1.0, 5.0, 1.0, 1.0, 1.0, 0.0]);
    let near: Vec<f64> = score(Baseline::Neighbours).iter().map(|s| s / stored).collect();
    assert_eq!(near, [0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    let components: Vec<f64> =
        score(Baseline::Components).iter().map(|s| (s * 1e6).round() / 1e6).collect();
    assert_eq!(components, [0.333333, 0.333333, 0.333333, 0.0, 0.0, 0.5, 0.5, 0.0]);
    for baseline in Baseline::ALL {
        assert_eq!(baseline.score(&graph, &[]).unwrap().len(), 8);
        assert!(baseline.score(&graph_of(0, &[], u64::MAX), &[]).unwrap().is_empty());
    }
}

/// Accounts `a0`, `a1`, …, and shops `s0`, …, numbered in this order.
fn entities(accounts: u32, shops: u32) -> Entities {
    let mut entities = Entities::new();
    for (kind, name, count) in [("account", "a", accounts), ("shop", "s", shops)] {
        let kind = entities.kind(kind).unwrap();
        for at in 0..count {
            entities.intern(kind, &format!("{name}{at}")).unwrap();
        }
    }
    entities
}

fn listed(entities: &Entities, accounts: impl IntoIterator<Item = u32>) -> KnownBad {
    let kind = entities.find_kind("account").unwrap();
    let entry = |at| ListEntry { kind, id: format!("a{at}"), from: None, until: None };
    KnownBad { entries: accounts.into_iter().map(entry).collect() }
}

fn window(index: u32, edges: &[(u32, u32, u32)], vertices: u32) -> Window {
    let (from, until) = (i64::from(index) * 10 * DAY, i64::from(index + 1) * 10 * DAY);
    let range = TimeRange::new(Timestamp(from), Timestamp(until));
    let graph = graph_of(vertices, edges, u64::MAX);
    Window { index, range, days: range, graph, transactions: edges.len() as u64 }
}

/// Vertex v transacts with v others of 100, so that degree ranks by v, down from 99.
fn staircase() -> Vec<(u32, u32, u32)> {
    (0..100).flat_map(|v| (0..v).map(move |step| (v, 100 + step, 1))).collect()
}

fn by(method: Method) -> Evaluation {
    Evaluation {
        draws: 5,
        known: 0.2,
        tops: vec![0.05, 0.1, 0.5, 1.0],
        top: 0.1,
        methods: vec![method],
        ..Evaluation::default()
    }
}

fn evaluated(
    options: Evaluation,
    confirmed: &KnownBad,
    windows: &[Window],
) -> Result<Report, EvaluateError> {
    let entities = entities(100, 100);
    let executor = CpuExecutor::new(Some(2)).unwrap();
    let mut evaluator = Evaluator::new(options, confirmed)?;
    for window in windows {
        evaluator.window(&executor, window, &[], &entities, &Trusted::default(), &mut ())?;
    }
    evaluator.finish()
}

#[test]
fn a_perfect_ranking_reaches_what_can_be_reached() {
    let confirmed = listed(&entities(100, 100), 80..100);
    let degree = Method::Baseline(Baseline::Degree);
    let report = evaluated(by(degree), &confirmed, &[window(0, &staircase(), 200)]).unwrap();
    // 4 of 20 are known; 16 are found first, of 100 accounts.
    assert_eq!((report.accounts, report.confirmed, report.unseen), (100, 20, 0));
    assert_eq!(report.ranks, [5, 10, 50, 100]);
    assert_eq!(report.ceilings, [5.0 / 16.0, 10.0 / 16.0, 1.0, 1.0]);
    for row in &report.rows {
        assert_eq!((row.held_out, &*row.found), (16, &[5, 10, 16, 16][..]));
        assert_eq!(row.average_precision, 1.0);
        assert_eq!((row.detected, row.days, row.waited), (10, 0.0, 0.0));
    }
    let summary = &report.summaries[0];
    let recall: Vec<f64> = summary.recall.iter().map(|figure| figure.mean).collect();
    assert_eq!(recall, report.ceilings);
    assert_eq!(summary.precision[1].mean, 1.0);
    assert_eq!((summary.ratio.mean, report.best_baseline), (1.0, Some(Baseline::Degree)));
}

/// A model by which less is better, of one evidence alone, as the model.json of a window has it.
fn model_of(folder: &std::path::Path, evidence: &str) -> ModelFile {
    let ends: Vec<f32> = (0..100).map(|at| at as f32).collect();
    let points: Vec<f64> = (0..=100).map(|at| -f64::from(at)).collect();
    let table = serde_json::json!({ "evidence": evidence, "ends": ends, "points": points });
    let model = serde_json::json!({
        "format": 1, "learnt": true, "known_bad": 4, "others": 90, "tables": [table],
        "calibration": { "slope": 1.0, "offset": 0.0 },
    });
    let path = folder.join("model.json");
    std::fs::write(&path, model.to_string()).unwrap();
    ModelFile::read(&path).unwrap()
}

#[test]
fn a_given_model_scores_as_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let entities = entities(100, 100);
    let confirmed = listed(&entities, 80..100);
    let executor = CpuExecutor::new(Some(2)).unwrap();
    let with = |model: Option<ModelFile>| {
        let mut evaluator = Evaluator::new(by(Method::Score), &confirmed).unwrap();
        if let Some(model) = model {
            evaluator = evaluator.with_model(model);
        }
        let window = window(0, &staircase(), 200);
        evaluator.window(&executor, &window, &[], &entities, &Trusted::default(), &mut ())?;
        evaluator.finish()
    };
    // By degree, the confirmed are the last.
    let report = with(Some(model_of(folder.path(), "partners"))).unwrap();
    assert!(report.rows.iter().all(|row| *row.found == [0, 0, 0, 16]), "{:?}", report.rows);
    let learnt = with(None).unwrap().rows;
    assert!(learnt.iter().all(|row| row.average_precision == 1.0), "{learnt:?}");
    let error = with(Some(model_of(folder.path(), "table_age"))).unwrap_err();
    assert!(matches!(error, EvaluateError::Model(_)), "{error}");
    assert!(error.to_string().contains("no evidence `table_age`"), "{error}");
}

#[test]
fn cleared_accounts_are_examples_of_good_ones() {
    let entities = entities(100, 100);
    let confirmed = listed(&entities, 80..100);
    let executor = CpuExecutor::new(Some(2)).unwrap();
    let with = |cleared: Vec<u32>, method: Method| {
        let evaluator = Evaluator::new(by(method), &confirmed).unwrap();
        let mut evaluator = evaluator.with_cleared(listed(&entities, cleared).entries);
        let window = window(0, &staircase(), 200);
        evaluator.window(&executor, &window, &[], &entities, &Trusted::default(), &mut ()).unwrap();
        let rows = evaluator.finish().unwrap().rows;
        rows.iter().map(|row| row.average_precision).collect::<Vec<f64>>()
    };
    // Those that look most like the confirmed: scores of the others change, and nothing else does.
    let alike: Vec<u32> = (70..80).collect();
    assert_ne!(with(alike.clone(), Method::Score), with(Vec::new(), Method::Score));
    let neighbors = Method::Baseline(Baseline::Neighbours);
    assert_eq!(with(alike, neighbors), with(Vec::new(), neighbors));
}

/// The entries of accounts from a day on.
fn from(day: i64, mut list: KnownBad) -> Vec<ListEntry> {
    list.entries.iter_mut().for_each(|entry| entry.from = Some(Timestamp(day * DAY)));
    list.entries
}

#[test]
fn accounts_that_were_cleared_after_they_were_confirmed_are_neither_ranked_nor_held_out() {
    let entities = entities(100, 100);
    let confirmed = listed(&entities, 80..100);
    let executor = CpuExecutor::new(Some(2)).unwrap();
    let options = Evaluation { known: 0.0, ..by(Method::Baseline(Baseline::Degree)) };
    // a95 to a99, which are the first, are cleared on day 15.
    let cleared = from(15, listed(&entities, 95..100));
    let rows = |windows: u32| {
        let evaluator = Evaluator::new(options.clone(), &confirmed).unwrap();
        let mut evaluator = evaluator.with_cleared(cleared.clone());
        for index in 0..windows {
            let window = window(index, &staircase(), 200);
            let none = Trusted::default();
            evaluator.window(&executor, &window, &[], &entities, &none, &mut ()).unwrap();
        }
        evaluator.finish().unwrap().rows
    };
    for row in rows(1) {
        assert_eq!((row.held_out, row.average_precision, row.detected), (20, 1.0, 10));
    }
    // a85 to a94 are detected, and a95 to a99, which the first window detected, count no more.
    for row in rows(2) {
        assert_eq!((row.held_out, row.average_precision, row.detected), (15, 1.0, 10));
        assert_eq!(&*row.found, [5, 10, 15, 15]);
    }
}

#[test]
fn lists_that_contradict_each_other_are_refused() {
    let entities = entities(100, 100);
    let confirmed = listed(&entities, 80..100);
    let executor = CpuExecutor::new(Some(2)).unwrap();
    let error = |trusted: Vec<u32>, cleared: Vec<ListEntry>| {
        let evaluator = Evaluator::new(by(Method::Ties), &confirmed).unwrap();
        let mut evaluator = evaluator.with_cleared(cleared);
        let trusted = Trusted { entries: listed(&entities, trusted).entries };
        let window = window(0, &staircase(), 200);
        let done = evaluator.window(&executor, &window, &[], &entities, &trusted, &mut ());
        done.err().map(|error| error.to_string())
    };
    // With a list of cleared accounts as without one.
    let of_a_good_one = from(5, listed(&entities, [3]));
    for cleared in [Vec::new(), of_a_good_one.clone()] {
        let text = error(vec![85], cleared).unwrap();
        assert!(text.contains("account `a85` is known to be bad and trusted"), "{text}");
    }
    assert_eq!(error(vec![3], of_a_good_one), None);
    assert_eq!(error(vec![85], from(5, listed(&entities, [85]))), None, "it is no longer bad");
    let text = error(Vec::new(), listed(&entities, [85]).entries).unwrap();
    assert!(text.contains("account `a85` is known to be bad and cleared"), "{text}");
}

#[test]
fn a_ranking_upside_down_finds_nobody() {
    let confirmed = listed(&entities(100, 100), 0..20);
    let degree = Method::Baseline(Baseline::Degree);
    let report = evaluated(by(degree), &confirmed, &[window(0, &staircase(), 200)]).unwrap();
    for row in &report.rows {
        assert_eq!(&*row.found, [0, 0, 0, 16]);
        // 80 come first, and then all.
        let expected = (1..=16).map(|hit| f64::from(hit) / f64::from(80 + hit)).sum::<f64>() / 16.0;
        assert!((row.average_precision - expected).abs() < 1e-12);
        assert_eq!(row.detected, 0);
        assert!(row.days.is_nan());
    }
}

#[test]
fn days_go_from_the_first_deal_to_the_first_window_that_finds() {
    // a99 transacts with one in the first window, with many in the third; the others always as in the staircase.
    let confirmed = listed(&entities(100, 100), [99, 50]);
    let few: Vec<_> =
        staircase().into_iter().filter(|edge| edge.0 != 99).chain([(99, 199, 1)]).collect();
    let windows = [window(0, &few, 200), window(1, &few, 200), window(2, &staircase(), 200)];
    let options = Evaluation { known: 0.0, ..by(Method::Baseline(Baseline::Degree)) };
    let report = evaluated(options, &confirmed, &windows).unwrap();
    for row in &report.rows {
        assert_eq!((row.detected, row.days), (1, 20.0));
        // a50 waits until the end.
        assert_eq!(row.waited, 20.0);
    }
    assert_eq!(report.windows, 3);
    assert_eq!(report.summaries[0].detected, Figure { mean: 0.5, low: 0.5, high: 0.5 });
}

#[test]
fn who_is_held_out_is_not_looked_at() {
    // Only a0 transacts with a known one: if held-out ones were known to a method, neighbours would rank them.
    let confirmed = listed(&entities(100, 100), [10, 11]);
    let edges = [(10, 20, 1), (11, 21, 1)];
    let options = Evaluation {
        known: 0.5,
        draws: 20,
        tops: vec![0.01],
        top: 0.01,
        ..by(Method::Baseline(Baseline::Neighbours))
    };
    let report = evaluated(options, &confirmed, &[window(0, &edges, 200)]).unwrap();
    assert!(report.rows.iter().all(|row| row.held_out == 1 && row.found == [0]));
}

#[test]
fn validity_times_say_what_is_known_when() {
    // a1 is held out where a0 is known, and transacts with it; a0 becomes known in the second window.
    let entities_here = entities(100, 100);
    let mut confirmed = listed(&entities_here, [0, 1]);
    for entry in &mut confirmed.entries {
        entry.from = Some(Timestamp(15 * DAY));
    }
    // An account that is listed twice, with different validity, is one account.
    let again = ListEntry { from: Some(Timestamp(90 * DAY)), ..confirmed.entries[0].clone() };
    confirmed.entries.push(again);
    let edges = [(0, 1, 1), (2, 3, 5)];
    let windows = [window(0, &edges, 200), window(1, &edges, 200)];
    let options = Evaluation {
        known: 0.5,
        tops: vec![0.01],
        top: 0.01,
        ..by(Method::Baseline(Baseline::PageRank { weighted: true }))
    };
    let report = evaluated(options, &confirmed, &windows).unwrap();
    for row in &report.rows {
        assert_eq!((row.held_out, &*row.found, row.detected), (1, &[1][..], 1));
    }
    // Chance may find an account in the first window, but not in all draws.
    assert!(report.rows.iter().any(|row| row.days == 10.0));
}

#[test]
fn accounts_that_no_window_has_are_counted() {
    let confirmed = listed(&entities(100, 100), (90..100).chain([500, 501]));
    let report = evaluated(by(Method::Ties), &confirmed, &[window(0, &staircase(), 200)]).unwrap();
    assert_eq!((report.confirmed, report.unseen), (10, 2));
    let none = listed(&entities(100, 100), [500, 501]);
    let nobody = evaluated(by(Method::Ties), &none, &[window(0, &staircase(), 200)]);
    assert!(matches!(nobody, Err(EvaluateError::NoAccountSeen)));
    assert!(matches!(
        evaluated(by(Method::Ties), &confirmed, &[]),
        Err(EvaluateError::NoAccountSeen)
    ));
}

#[test]
fn options_that_are_wrong_are_refused() {
    let confirmed = listed(&entities(100, 100), 0..10);
    let refused =
        |options: Evaluation, confirmed: &KnownBad| match Evaluator::new(options, confirmed) {
            Ok(_) => panic!("accepted"),
            Err(error) => error.to_string(),
        };
    let fine = by(Method::Ties);
    let text = refused(fine.clone(), &KnownBad::default());
    assert!(text.contains("no account is confirmed"), "{text}");
    let text = refused(Evaluation { known: 0.99, ..fine.clone() }, &confirmed);
    assert!(text.contains("10 of 10 confirmed accounts would be known"), "{text}");
    for known in [1.0, -0.1, f64::NAN] {
        let text = refused(Evaluation { known, ..fine.clone() }, &confirmed);
        assert!(text.contains("the known part"), "{text}");
    }
    for tops in [vec![0.0, 0.1], vec![0.1, 1.1], vec![0.1, 0.05], vec![0.2]] {
        refused(Evaluation { tops, ..fine.clone() }, &confirmed);
    }
    refused(Evaluation { draws: 0, ..fine.clone() }, &confirmed);
    refused(Evaluation { methods: Vec::new(), ..fine }, &confirmed);
}

#[test]
fn all_methods_give_the_same_on_any_number_of_threads() {
    let confirmed = listed(&entities(100, 100), 70..90);
    let options = Evaluation { draws: 3, methods: Method::all(), ..by(Method::Ties) };
    let reports: Vec<Report> = [1, 3]
        .into_iter()
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let windows = [window(0, &staircase(), 200)];
            pool.install(|| evaluated(options.clone(), &confirmed, &windows)).unwrap()
        })
        .collect();
    assert_eq!(format!("{:?}", reports[0]), format!("{:?}", reports[1]));
    assert_eq!(reports[0].rows.len(), 3 * Method::all().len());
    let tables = reports[0].tables();
    assert!(Method::all().iter().all(|method| tables.contains(method.name())));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("draws.csv");
    write_draws(&file, &reports[0]).unwrap();
    let rows = std::fs::read_to_string(file).unwrap();
    assert_eq!(rows.lines().count(), 1 + 3 * Method::all().len());
    let header = "draw,method,held_out,found_at_0.05,found_at_0.1,found_at_0.5,found_at_1,average_precision,detected,\
                  days_to_detection,days_waited";
    assert_eq!(rows.lines().next(), Some(header));
    assert!(rows.contains("\n0,\"pagerank, weighted\","), "{rows}");
}

#[test]
fn figures_hold_their_mean() {
    let same = Figure::of(&[0.25; 8], 1);
    assert_eq!((same.mean, same.low, same.high), (0.25, 0.25, 0.25));
    let of = Figure::of(&[0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0], 1);
    assert!(of.low < of.mean && of.mean < of.high && of.low >= 0.0 && of.high <= 1.0);
    // The standard error is 0.183: the interval of a normal variable would be 1.96 times that, either way.
    assert!((of.high - of.low - 0.72).abs() < 0.1, "{of:?}");
    let twice = Figure::of_ratio(&[2.0, 4.0, 6.0], &[1.0, 2.0, 3.0], 7);
    assert_eq!((twice.mean, twice.low, twice.high), (2.0, 2.0, 2.0));
    assert!(Figure::of(&[], 1).mean.is_nan());
}
