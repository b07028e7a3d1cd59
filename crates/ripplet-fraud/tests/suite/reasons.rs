//! Reasons, paths and the ranking of clusters, beside what follows from the rows and from the files of a run.

use crate::output::cells;
use crate::runs::{options, run_into};
use ripplet_fraud::entity_table::MISSING;
use ripplet_fraud::folder::RunFolder;
use ripplet_fraud::report::WindowReport;
use ripplet_fraud::run::{ModelChoice, RunOptions};
use ripplet_fraud::window::Shape;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const MAPPING: &str = "time = \"at\"\namount = \"eur\"\n[source]\ncolumn = \"from\"\nkind = \"account\"\n\
    [target]\ncolumn = \"to\"\nkind = \"account\"\n";

/// A row: payer, payee, microseconds, cents.
type Row = (String, String, i64, u64);

/// 300 accounts that deal at random, with ten rings of six among the last 60, every other member known to be bad.
fn rows() -> Vec<Row> {
    let mut state = 7_u64;
    let mut next = |end: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    let mut rows = Vec::new();
    let mut add = |a: u64, b: u64, day: u64, second: u64, cents: u64| {
        let time = 1_704_067_200_000_000 + (day * 86_400 + second) as i64 * 1_000_000;
        rows.push((format!("a{a}"), format!("a{b}"), time, cents));
    };
    for _ in 0..900 {
        let (a, b) = (next(300), next(300));
        add(a, b, next(10), next(80_000), 100 + next(5000));
    }
    for ring in 0..10 {
        for place in 0..6 {
            let (a, b) = (240 + ring * 6 + place, 240 + ring * 6 + (place + 1) % 6);
            for _ in 0..2 + next(3) {
                add(a, b, next(10), next(80_000), 900 + next(200));
            }
        }
    }
    rows.sort_by_key(|row| row.2);
    rows
}

fn known() -> BTreeSet<String> {
    (240..300).step_by(2).map(|account| format!("a{account}")).collect()
}

fn written(folder: &Path) -> RunOptions {
    let line = |(from, to, time, cents): &Row| {
        let at = ripplet_fraud::Timestamp(*time).to_string();
        format!("{from},{to},{at},{}.{:02}\n", cents / 100, cents % 100)
    };
    let text: String = rows().iter().map(line).collect();
    fs::write(folder.join("rows.csv"), format!("from,to,at,eur\n{text}")).unwrap();
    let known: String = known().iter().map(|id| format!("{id}\n")).collect();
    fs::write(folder.join("known.csv"), format!("id\n{known}")).unwrap();
    let days = |days: i64| ripplet_fraud::Span::of_days(days).unwrap();
    let mut options = options(&[&folder.join("rows.csv")], MAPPING, &folder.join("known.csv"));
    options.feed.shape = Shape::new(days(10), days(10)).unwrap();
    options
}

/// A run of one window: its folder and its part of the report.
fn ran(folder: &Path, name: &str, options: &RunOptions) -> (PathBuf, WindowReport) {
    let out = folder.join(name);
    let manifest = run_into(options, &out, false).unwrap();
    let run = RunFolder::open(&out).unwrap();
    (run.window(&manifest.windows[0]), run.part(&manifest.windows[0]).unwrap())
}

fn column(header: &[String], name: &str) -> usize {
    header.iter().position(|column| column == name).unwrap()
}

fn number(text: &str) -> f64 {
    text.parse().unwrap()
}

/// The points of each evidence of an entity, looked up in `model.json`.
fn points(model: &Value, header: &[String], row: &[String]) -> BTreeMap<String, f64> {
    let of = |table: &Value| {
        let key = table["evidence"].as_str().unwrap();
        let cell = &row[column(header, key)];
        // A feature that an entity lacks is below all numbers.
        let value = if cell.is_empty() { MISSING } else { cell.parse::<f32>().unwrap() };
        let ends = table["ends"].as_array().unwrap();
        let below = ends.iter().filter(|end| (end.as_f64().unwrap() as f32) < value).count();
        (key.to_owned(), table["points"][below].as_f64().unwrap())
    };
    model["tables"].as_array().unwrap().iter().map(of).collect()
}

/// A table of entities: the known bad are young and mostly of one country, and so are some other members of rings; every
/// seventh account is missing.
fn entity_table(folder: &Path) -> PathBuf {
    let row = |account: u64| {
        let lot = account * 7919 % 101;
        let ring = account >= 240 && (account.is_multiple_of(2) || lot.is_multiple_of(4));
        let age = if ring { 3 + lot % 9 } else { 200 + 17 * lot };
        let country = if ring && !lot.is_multiple_of(3) {
            "MT"
        } else {
            ["DE", "FR", "MT"][lot as usize % 3]
        };
        format!("a{account},{age}.5,{country}\n")
    };
    let rows: String =
        (0..300).filter(|account: &u64| !account.is_multiple_of(7)).map(row).collect();
    let path = folder.join("accounts.csv");
    fs::write(&path, format!("id,age,country\n{rows}")).unwrap();
    path
}

#[test]
fn reasons_are_the_largest_points_above_the_mean() {
    let folder = tempfile::tempdir().unwrap();
    reasons_are_the_largest_points(folder.path(), &written(folder.path()));
}

#[test]
fn features_of_the_users_table_are_reasons_like_all_others() {
    let folder = tempfile::tempdir().unwrap();
    let table = Some(entity_table(folder.path()).into());
    let options = RunOptions { entity_table: table, ..written(folder.path()) };
    let (window, part) = reasons_are_the_largest_points(folder.path(), &options);
    let (header, rows) = cells(&window.join("entities.parquet"));
    let mut ages: Vec<f32> = rows
        .iter()
        .filter(|row| !row[column(&header, "rank")].is_empty())
        .filter_map(|row| row[column(&header, "table_age")].parse().ok())
        .collect();
    ages.sort_by(f32::total_cmp);
    let typical = ages[ages.len() / 2];
    // The value beside the median of those that have one, as the table has them.
    let mut compared = 0;
    for entity in &part.scored {
        for (key, _, words) in &entity.explanation.reasons {
            if key == "table_age" {
                let row = rows.iter().find(|row| row[column(&header, "id")] == entity.id);
                let cell = &row.unwrap()[column(&header, "table_age")];
                let stated = words.strip_prefix("`age` of the table of entities: ").unwrap();
                let stated = stated.replace(',', "");
                let (value, usual) = stated.split_once(" (typical: ").unwrap();
                // Numbers from 100 on have no decimals.
                let is = |text: &str, of: f32| (text.parse::<f32>().unwrap() - of).abs() <= 0.5;
                match cell.parse() {
                    Ok(of) => assert!(is(value, of), "{words} {of}"),
                    Err(_) => assert_eq!((value, &**cell), ("none", ""), "{words}"),
                }
                assert!(is(usual.trim_end_matches(')'), typical), "{words} {typical}");
                compared += 1;
            }
        }
    }
    assert!(compared > 0);
    // Clusters have them, too.
    let (header, rows) = cells(&window.join("clusters.parquet"));
    let of_cluster = |row: &Vec<String>| {
        let reason = |place| &row[column(&header, &format!("reason_{place}"))];
        (1..=3).any(|place| reason(place).contains("`age`") || reason(place).contains("`country`"))
    };
    assert!(rows.iter().any(of_cluster), "{rows:?}");
}

/// Checks the reasons of a run, of the report and the files, by its scorecard and the values of its entities.
fn reasons_are_the_largest_points(folder: &Path, options: &RunOptions) -> (PathBuf, WindowReport) {
    let (window, part) = ran(folder, "run", options);
    let model: Value =
        serde_json::from_slice(&fs::read(window.join("model.json")).unwrap()).unwrap();
    assert_eq!(model["learnt"], true);
    let (header, rows) = cells(&window.join("entities.parquet"));
    let at = |name: &str| column(&header, name);
    let scored: Vec<&Vec<String>> = rows.iter().filter(|row| !row[at("rank")].is_empty()).collect();
    let mut mean: BTreeMap<String, f64> = BTreeMap::new();
    for row in &scored {
        for (key, points) in points(&model, &header, row) {
            *mean.entry(key).or_default() += points / scored.len() as f64;
        }
    }
    let mut unknown: Vec<&&Vec<String>> =
        scored.iter().filter(|row| row[at("known_bad")] == "false").collect();
    unknown.sort_by_key(|row| row[at("rank")].parse::<u32>().unwrap());
    let listed: Vec<&str> = part.scored.iter().map(|entity| &*entity.id).collect();
    let first: Vec<&str> = unknown.iter().take(100).map(|row| &*row[at("id")]).collect();
    assert_eq!(listed, first);
    let mut compared = 0;
    for (entity, row) in part.scored.iter().zip(&unknown) {
        let mut parts: Vec<(String, f64)> = points(&model, &header, row)
            .into_iter()
            .map(|(key, points)| (key.clone(), points - mean[&key]))
            .filter(|(_, above)| *above >= 0.05)
            .collect();
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        parts.truncate(3);
        let reasons = &entity.explanation.reasons;
        assert_eq!(reasons.len(), parts.len(), "{}", entity.id);
        for ((key, above, words), (other, expected)) in reasons.iter().zip(&parts) {
            assert!(
                (above - expected).abs() < 1e-6,
                "{}: {key} {above}, {other} {expected}",
                entity.id
            );
            assert!(
                words.contains(|c: char| c.is_ascii_digit()) || words.contains("none"),
                "{words}"
            );
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
    // The table says the same.
    let (header, rows) = cells(&window.join("reasons.parquet"));
    assert_eq!(rows.len(), part.scored.len());
    for (row, entity) in rows.iter().zip(&part.scored) {
        assert_eq!(row[column(&header, "id")], entity.id);
        for (place, (_, above, words)) in entity.explanation.reasons.iter().enumerate() {
            let sentence = &row[column(&header, &format!("reason_{}", place + 1))];
            assert_eq!(*sentence, format!("{words} {above:+.1}"));
        }
    }
    (window, part)
}

/// Entities of which an analyst decided what they are leave their places to others.
#[test]
fn trusted_and_cleared_entities_are_not_among_the_highest() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = written(folder.path());
    let ids = |name: &str, options: &RunOptions| -> Vec<String> {
        let (window, part) = ran(folder.path(), name, options);
        let (header, rows) = crate::output::cells(&window.join("reasons.parquet"));
        let id = column(&header, "id");
        let ids: Vec<String> = rows.iter().map(|row| row[id].clone()).collect();
        let page: Vec<String> = part.scored.iter().map(|entity| entity.id.clone()).collect();
        assert_eq!(ids, page);
        ids
    };
    let before = ids("before", &options);
    let list = |name: &str, ids: &[String]| -> PathBuf {
        fs::write(folder.path().join(name), format!("id\n{}\n", ids.join("\n"))).unwrap();
        folder.path().join(name)
    };
    options.trusted = Some(list("trusted.csv", &before[..2]).into());
    options.cleared = Some(list("cleared.csv", &before[2..5]).into());
    let after = ids("after", &options);
    assert_eq!(after.len(), before.len());
    assert!(before[..5].iter().all(|id| !after.contains(id)), "{before:?} {after:?}");
    // With too few known bad for a scorecard, cleared ones change nothing, and a note says so.
    fs::write(folder.path().join("known.csv"), "id\na240\n").unwrap();
    let manifest = run_into(&options, &folder.path().join("few"), false).unwrap();
    let notes = ripplet_fraud::run::notes(&manifest, &manifest.windows).join("\n");
    assert!(notes.contains("and cleared entities change nothing"), "{notes}");
    options.cleared = None;
    let manifest = run_into(&options, &folder.path().join("none"), false).unwrap();
    let notes = ripplet_fraud::run::notes(&manifest, &manifest.windows).join("\n");
    assert!(notes.contains("too few known bad") && !notes.contains("cleared"), "{notes}");
}

#[test]
fn known_partners_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (_, part) = ran(folder.path(), "run", &written(folder.path()));
    let (rows, known) = (rows(), known());
    let mut counted = 0;
    for entity in &part.scored {
        for (key, _, words) in &entity.explanation.reasons {
            if key != "known_partners" {
                continue;
            }
            let partners: BTreeSet<&str> = rows
                .iter()
                .filter(|row| row.0 != row.1)
                .filter_map(|row| match () {
                    () if row.0 == entity.id => Some(&*row.1),
                    () if row.1 == entity.id => Some(&*row.0),
                    () => None,
                })
                .collect();
            let bad = partners.iter().filter(|id| known.contains(**id)).count();
            assert!(
                words.starts_with(&format!("{bad} of its {} partners", partners.len())),
                "{words}"
            );
            counted += 1;
        }
    }
    assert!(counted > 0);
}

#[test]
fn paths_are_shortest_ones_and_their_sums_those_of_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let (_, part) = ran(folder.path(), "run", &written(folder.path()));
    let (rows, known) = (rows(), known());
    let mut partners: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to, _, _) in rows.iter().filter(|row| row.0 != row.1) {
        partners.entry(from).or_default().insert(to);
        partners.entry(to).or_default().insert(from);
    }
    // Edges to the nearest known bad, by relaxing all edges until nothing changes.
    let mut far: BTreeMap<&str, usize> = known.iter().map(|id| (&**id, 0)).collect();
    loop {
        let before = far.len();
        let reached: Vec<(&str, usize)> = far.iter().map(|(id, far)| (*id, *far)).collect();
        for (id, steps) in reached {
            for &other in partners.get(id).into_iter().flatten() {
                let entry = far.entry(other).or_insert(steps + 1);
                *entry = (*entry).min(steps + 1);
            }
        }
        if far.len() == before {
            break;
        }
    }
    let (mut along_ties, mut others) = (0, 0);
    let explained = part.scored.iter().map(|entity| (Some(&entity.id), &entity.explanation));
    let of_clusters = part.listed.iter().map(|cluster| (None, &cluster.explanation));
    for (id, explanation) in explained.chain(of_clusters) {
        let name = |at: u32| &*explanation.names[at as usize].1;
        let Some((&end, inner)) = explanation.path.split_last() else {
            assert!(id.is_none_or(|id| far.get(&**id).is_none_or(|&far| far > 4)));
            continue;
        };
        if let Some(id) = id {
            assert_eq!(name(explanation.path[0]), id);
            let hops = explanation.path.len() - 1;
            match explanation.along_ties {
                true => assert!(hops >= far[&**id]),
                false => assert_eq!(hops, far[&**id]),
            }
        }
        assert!(known.contains(name(end)));
        assert!(inner.iter().all(|&at| !known.contains(name(at))));
        *if explanation.along_ties { &mut along_ties } else { &mut others } += 1;
        let mut hops: BTreeSet<(&str, &str)> = BTreeSet::new();
        for flow in &explanation.flows {
            let (from, to) = (name(flow.ends.0), name(flow.ends.1));
            hops.insert((from.min(to), from.max(to)));
            let of: Vec<&Row> = rows.iter().filter(|row| row.0 == from && row.1 == to).collect();
            assert_eq!(flow.count, Some(of.len() as u64), "{from} to {to}");
            assert_eq!(flow.amount, Some(of.iter().map(|row| row.3).sum()));
            let times = of.iter().map(|row| row.2);
            assert_eq!(flow.times, times.clone().min().zip(times.max()));
        }
        let pairs = explanation.path.windows(2).map(|hop| (name(hop[0]), name(hop[1])));
        let pairs: BTreeSet<(&str, &str)> = pairs.map(|(a, b)| (a.min(b), a.max(b))).collect();
        assert_eq!(hops, pairs);
        for transaction in &explanation.transactions {
            let (from, to) = (name(transaction.ends.0), name(transaction.ends.1));
            let row =
                (from.to_owned(), to.to_owned(), transaction.time, transaction.amount.unwrap());
            assert!(rows.contains(&row), "{row:?}");
        }
        assert!(!explanation.transactions.is_empty());
    }
    assert!(along_ties > 10 && others > 10, "{along_ties} and {others}");
}

#[test]
fn clusters_are_ranked_by_the_scores_of_their_members() {
    let folder = tempfile::tempdir().unwrap();
    let options = written(folder.path());
    let (window, part) = ran(folder.path(), "run", &options);
    let (header, clusters) = cells(&window.join("clusters.parquet"));
    let (of_members, members) = cells(&window.join("members.parquet"));
    let mut scores = Vec::new();
    for row in &clusters {
        let id = &row[column(&header, "cluster")];
        let own: Vec<_> =
            members.iter().filter(|m| m[column(&of_members, "cluster")] == *id).collect();
        let ranks: Vec<f64> =
            own.iter().map(|m| number(&m[column(&of_members, "entity_rank")])).collect();
        assert!(ranks.is_sorted(), "{ranks:?}");
        let odds = own.iter().map(|m| number(&m[column(&of_members, "entity_score")]));
        let odds = odds.map(|p| (p / (1.0 - p)).ln()).sum::<f64>() / own.len() as f64;
        let suspicion = own.iter().map(|m| number(&m[column(&of_members, "score")]));
        let suspicion = suspicion.sum::<f64>() / own.len() as f64;
        assert!((number(&row[column(&header, "suspicion")]) - suspicion).abs() < 1e-9);
        let expected = odds + (1.0 + 16.0 * 2_f64.ln() + suspicion).ln();
        let score = number(&row[column(&header, "score")]);
        assert!((score - expected).abs() < 1e-2, "{id}: {score} and {expected}");
        scores.push(score);
    }
    assert!(scores.len() >= 5 && scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    assert!(part.listed.iter().any(|cluster| !cluster.explanation.reasons.is_empty()));

    let none = RunOptions { model: ModelChoice::None, ..options };
    let (window, part) = ran(folder.path(), "none", &none);
    let (header, clusters) = cells(&window.join("clusters.parquet"));
    for row in &clusters {
        assert_eq!(row[column(&header, "score")], row[column(&header, "suspicion")]);
        assert!(row[column(&header, "reason_1")].is_empty());
    }
    let order: Vec<f64> =
        clusters.iter().map(|row| number(&row[column(&header, "score")])).collect();
    assert!(order.is_sorted_by(|a, b| a >= b));
    assert!(part.scored.is_empty() && part.scores.is_none());
    assert!(!window.join("reasons.parquet").exists());
}

#[test]
fn reasons_do_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let options = written(folder.path());
    let files = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (window, _) = pool.install(|| ran(folder.path(), &threads.to_string(), &options));
        ["reasons.parquet", "clusters.parquet", "members.parquet", "report.json.gz"]
            .map(|name| fs::read(window.join(name)).unwrap())
    });
    assert!(files[0] == files[1]);
}
