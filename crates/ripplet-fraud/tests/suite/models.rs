//! Models as files, what analysts confirm and clear, and input without anything to learn from.

use crate::output::cells;
use crate::runs::{Days, results, run_into};
use ripplet_fraud::folder::{Manifest, RunFolder};
use ripplet_fraud::model::ModelFile;
use ripplet_fraud::run::{self, ModelChoice, RunOptions};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn list(ids: impl IntoIterator<Item = String>) -> String {
    let rows: String = ids.into_iter().map(|id| format!("{id}\n")).collect();
    format!("id,from\n{rows}")
}

fn rings(range: std::ops::Range<u32>, from: &str) -> impl Iterator<Item = String> {
    range.map(move |ring| format!("ring{ring},{from}"))
}

/// A run's windows by their ends, each with a file of its folder.
fn files(run: &Path, manifest: &Manifest, name: &str) -> BTreeMap<String, PathBuf> {
    let folder = RunFolder::open(run).unwrap();
    let of = |window| folder.window(window).join(name);
    manifest.windows.iter().map(|window| (window.until.clone(), of(window))).collect()
}

/// The rows of entities.parquet by id: score, rank, and evidence.
fn entities(path: &Path) -> BTreeMap<String, Vec<String>> {
    let (_, rows) = cells(path);
    rows.into_iter().map(|row| (row[3].clone(), row[5..].to_vec())).collect()
}

fn score(path: &Path, id: &str) -> f64 {
    entities(path)[id][0].parse().unwrap()
}

#[test]
fn a_model_of_a_file_scores_as_it_did_where_it_was_learnt() {
    let days = Days::new(5);
    fs::write(days.path("known.csv"), list(rings(0..8, ""))).unwrap();
    let learnt = run_into(&days.options(), &days.path("learnt"), false).unwrap();
    let models = files(&days.path("learnt"), &learnt, "model.json");
    let (until, path) = models.last_key_value().unwrap();
    let file = ModelFile::read(path).unwrap();
    assert!(file.scorecard.learnt && file.scorecard.known_bad == 8);
    let options = RunOptions { model: ModelChoice::File(file.clone()), ..days.options() };
    let read = run_into(&options, &days.path("read"), false).unwrap();
    for (window, model) in files(&days.path("read"), &read, "model.json") {
        assert!(fs::read(&model).unwrap() == fs::read(path).unwrap(), "{window} learnt anew");
    }
    let tables = [("learnt", &learnt), ("read", &read)].map(|(name, manifest)| {
        files(&days.path(name), manifest, "entities.parquet")[until].clone()
    });
    let [learnt, read_again] = tables.map(|path| entities(&path));
    let mut compared = 0;
    for (id, row) in &learnt {
        // Known bad ones were scored by cards that were fitted without them.
        if !row[0].is_empty() && !(0..8).any(|ring| *id == format!("ring{ring}")) {
            assert_eq!((&row[0], &row[2..]), (&read_again[id][0], &read_again[id][2..]), "{id}");
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
    // It is checked, too, and nothing says that it is the fixed combination.
    let scores = read.windows.last().unwrap().scores.as_ref().unwrap();
    assert!(scores.check.is_some());
    let notes = run::notes(&read, &read.windows).join("\n");
    assert!(!notes.contains("fixed combination"), "{notes}");
    assert!(read.options["model of the scores of entities"].contains(&file.sha256));
}

#[test]
fn models_with_other_evidence_are_refused_before_anything_is_read() {
    let days = Days::new(1);
    let known = list(rings(0..8, ""));
    fs::write(days.path("known.csv"), known).unwrap();
    let learnt = run_into(&days.options(), &days.path("learnt"), false).unwrap();
    let path = &files(&days.path("learnt"), &learnt, "model.json").into_values().next().unwrap();
    let text = fs::read_to_string(path).unwrap();
    fs::write(days.path("other.json"), text.replace("\"burst\"", "\"bursts\"")).unwrap();
    let file = ModelFile::read(&days.path("other.json")).unwrap();
    let options = RunOptions { model: ModelChoice::File(file), ..days.options() };
    let error = run_into(&options, &days.path("run"), false).unwrap_err().to_string();
    assert!(error.contains("other.json") && error.contains("no evidence `bursts`"), "{error}");
    assert!(error.contains("tie_surprise") && !days.path("run").exists(), "{error}");
    for (name, text) in [("none.json", ""), ("folder.json", "{\"format\":9}")] {
        fs::write(days.path(name), text).unwrap();
        let error = ModelFile::read(&days.path(name)).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
    assert!(ModelFile::read(&days.path("missing.json")).is_err());
    // A model without some evidence gives no points for it.
    let mut short = ModelFile::read(path).unwrap();
    short.scorecard.tables.retain(|table| table.evidence == "known_partners");
    let options = RunOptions { model: ModelChoice::File(short), ..days.options() };
    run_into(&options, &days.path("short"), false).unwrap();
}

#[test]
fn confirmed_accounts_are_known_bad_from_their_day_on() {
    let days = Days::new(7);
    fs::write(days.path("known.csv"), list(rings(0..4, ""))).unwrap();
    fs::write(days.path("confirmed.csv"), list(rings(6..9, "2024-03-05"))).unwrap();
    let without = run_into(&days.options(), &days.path("without"), false).unwrap();
    let options =
        RunOptions { confirmed: Some(days.path("confirmed.csv").into()), ..days.options() };
    let with = run_into(&options, &days.path("with"), false).unwrap();
    let tables = |name: &str, of: &Manifest| files(&days.path(name), of, "entities.parquet");
    let (without, tables) = (tables("without", &without), tables("with", &with));
    let mut later = 0;
    for (until, table) in &tables {
        let before = &without[until];
        if until.as_str() <= "2024-03-05" {
            assert!(fs::read(table).unwrap() == fs::read(before).unwrap(), "{until}");
        } else {
            // Those of the same ring are nearer to known bad ones now.
            let rises = (9..12).filter(|ring| {
                let id = format!("ring{ring}");
                score(table, &id) > score(before, &id)
            });
            assert_eq!(rises.count(), 3, "{until}");
            later += 1;
        }
    }
    assert!(later > 2);
    assert_eq!(with.windows.last().unwrap().known_bad, 7);
}

#[test]
fn cleared_accounts_lower_those_that_look_alike_and_change_no_evidence() {
    let days = Days::new(7);
    fs::write(days.path("known.csv"), list(rings(0..5, ""))).unwrap();
    fs::write(days.path("cleared.csv"), list(rings(6..10, "2024-03-05"))).unwrap();
    let without = run_into(&days.options(), &days.path("without"), false).unwrap();
    let options = RunOptions { cleared: Some(days.path("cleared.csv").into()), ..days.options() };
    let with = run_into(&options, &days.path("with"), false).unwrap();
    let tables = |name: &str, of: &Manifest| files(&days.path(name), of, "entities.parquet");
    let (without, tables) = (tables("without", &without), tables("with", &with));
    let (mut falls, mut later) = (0, 0);
    for (until, table) in &tables {
        let before = &without[until];
        if until.as_str() <= "2024-03-05" {
            assert!(fs::read(table).unwrap() == fs::read(before).unwrap(), "{until}");
            continue;
        }
        let (now, before) = (entities(table), entities(before));
        let evidence = |rows: &BTreeMap<String, Vec<String>>| -> Vec<Vec<String>> {
            rows.values().map(|row| row[2..].to_vec()).collect()
        };
        assert!(evidence(&now) == evidence(&before), "{until}: evidence depends on cleared ones");
        for ring in 10..12 {
            let of = |rows: &BTreeMap<String, Vec<String>>| -> f64 {
                rows[&format!("ring{ring}")][0].parse().unwrap()
            };
            falls += u32::from(of(&now) < of(&before));
            later += 1;
        }
    }
    assert!(later > 5 && falls == later, "{falls} of {later}");
    assert_eq!(with.windows.last().unwrap().cleared, 4);
}

#[test]
fn of_a_bad_and_a_cleared_entry_the_later_decides_and_equal_ones_are_refused() {
    let days = Days::new(6);
    fs::write(days.path("known.csv"), list(rings(0..6, ""))).unwrap();
    let options = RunOptions { cleared: Some(days.path("cleared.csv").into()), ..days.options() };
    fs::write(days.path("cleared.csv"), "id,from\nring3,2024-03-05\n").unwrap();
    let manifest = run_into(&options, &days.path("run"), false).unwrap();
    let counts: Vec<_> = manifest.windows.iter().map(|of| (of.known_bad, of.cleared)).collect();
    assert!(counts.contains(&(6, 0)) && counts.ends_with(&[(5, 1)]), "{counts:?}");
    let confirmed = Some(days.path("confirmed.csv").into());
    let options = RunOptions { confirmed, ..options };
    let refused = |known: &str, confirmed: &str, cleared: &str, since: &str| {
        for (name, text) in [("known", known), ("confirmed", confirmed), ("cleared", cleared)] {
            fs::write(days.path(&format!("{name}.csv")), format!("id,from\n{text}\n")).unwrap();
        }
        let run = tempfile::tempdir().unwrap();
        let error = run_into(&options, run.path(), false).unwrap_err().to_string();
        assert!(error.contains("user `ring3` is known to be bad and cleared"), "{error}");
        assert!(error.contains(since) && error.contains("take it off one list"), "{error}");
    };
    refused("ring3,", "ring5,", "ring3,", "(no `from`)");
    refused("ring1,", "ring3,2024-03-05", "ring3,2024-03-05", "(2024-03-05");
}

/// Dates of known bad entries are shuffled: what begins after a window changes nothing in it, neither its scores nor
/// its model.
#[test]
fn labels_that_begin_later_do_not_leak() {
    let days = Days::new(8);
    let day_of = |ring: u32| 2 + (ring * 5 + 3) % 7;
    let until = |last: u32| {
        let entries = (0..12).filter(|ring| day_of(*ring) <= last);
        list(entries.map(|ring| format!("ring{ring},2024-03-{:02}", day_of(ring))))
    };
    fs::write(days.path("known.csv"), until(31)).unwrap();
    let all = run_into(&days.options(), &days.path("all"), false).unwrap();
    let known: Vec<u64> = all.windows.iter().map(|window| window.known_bad).collect();
    assert!(known.windows(2).all(|pair| pair[0] < pair[1]), "{known:?}");
    let mut compared = 0;
    for last in [4, 6] {
        fs::write(days.path("known.csv"), until(last)).unwrap();
        let name = format!("until{last}");
        let cut = run_into(&days.options(), &days.path(&name), false).unwrap();
        for file in ["entities.parquet", "model.json", "graph.npz"] {
            let cut = files(&days.path(&name), &cut, file);
            for (until, path) in files(&days.path("all"), &all, file) {
                let is_before = until <= format!("2024-03-{:02}", last + 1);
                let equal = fs::read(&path).unwrap() == fs::read(&cut[&until]).unwrap();
                assert!(equal || !is_before, "{file} of the window until {until}");
                compared += u32::from(is_before);
            }
        }
    }
    assert!(compared > 10, "{compared}");
}

/// Lists from which nothing can be learnt, and transactions without amounts, end in scores and notes.
#[test]
fn a_run_without_anything_to_learn_from_scores_all_the_same() {
    let days = Days::new(3);
    let everyone = (0..61).map(|user| format!("user{user},"));
    let shops = (0..37).map(|shop| format!("shop{shop},"));
    let others = (0..12).map(|ring| format!("ring{ring},"));
    let dens = (0..2).flat_map(|ring| (0..3).map(move |den| format!("den{ring}{den},")));
    let cases = [
        ("nobody", list(["stranger,".to_owned()])),
        ("everybody", list(everyone.chain(shops).chain(others).chain(dens))),
    ];
    for (name, known) in cases {
        fs::write(days.path("known.csv"), known).unwrap();
        let manifest = run_into(&days.options(), &days.path(name), false).unwrap();
        let last = manifest.windows.last().unwrap();
        let scores = last.scores.as_ref().unwrap();
        assert!(!scores.learnt && scores.check.is_none() && scores.entities > 50, "{name}");
        let notes = run::notes(&manifest, &manifest.windows).join("\n");
        assert!(notes.contains("fixed combination"), "{name}: {notes}");
    }
}

/// Weights of earlier windows are kept for a run that goes on, bit by bit.
#[test]
fn a_run_that_goes_on_learns_as_one_that_had_all_days() {
    let (whole, parts) = (Days::new(7), Days::new(4));
    for days in [&whole, &parts] {
        fs::write(days.path("known.csv"), list(rings(0..8, ""))).unwrap();
    }
    run_into(&whole.options(), &whole.path("run"), false).unwrap();
    run_into(&parts.options(), &parts.path("run"), false).unwrap();
    (5..=7).for_each(|day| parts.write(day, &Days::rows(day)));
    let manifest = run_into(&parts.options(), &parts.path("run"), true).unwrap();
    assert!(
        manifest.windows.iter().filter(|window| window.scores.as_ref().unwrap().learnt).count() > 4
    );
    let [whole, parts] = [&whole, &parts].map(|days| results(&days.path("run")));
    assert!(whole.keys().any(|name| name.ends_with("weights.json")));
    assert!(whole.keys().eq(parts.keys()));
    for (name, bytes) in &whole {
        assert!(parts[name] == *bytes, "{name}");
    }
}
