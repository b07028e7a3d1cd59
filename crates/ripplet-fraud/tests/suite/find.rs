//! The search of a run folder, beside the transactions and tables that it was made of.

use crate::output::cells;
use crate::runs::{Days, run_into};
use ripplet_fraud::find::{FindError, FoundEntities, NotFound, Query, find, write_found};
use ripplet_fraud::folder::{RunFolder, WindowRecord};
use ripplet_fraud::run::{ModelChoice, RunOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

fn query(text: &str) -> Query {
    Query { text: text.into(), part: false, kind: None, most: 100_000 }
}

fn search(folder: &RunFolder, query: &Query) -> FoundEntities {
    find(folder, query, &|| false).unwrap()
}

/// A table's rows by its columns' names.
fn rows(path: &std::path::Path) -> Vec<BTreeMap<String, String>> {
    let (header, rows) = cells(path);
    let row = |row: Vec<String>| header.iter().cloned().zip(row).collect();
    rows.into_iter().map(row).collect()
}

#[test]
fn everybody_is_found_as_the_transactions_and_the_tables_have_them() {
    let days = Days::new(7);
    // A busy ring of the first four days, among others who transact once.
    for day in 1..=7 {
        let others = (0..300).map(|n| format!("p{n},q{}", (n * 7 + day * 131) % 300));
        let ring = (0..9).map(|n| format!("busy{},den{}", n / 3, n % 3));
        let ring = ring.flat_map(|ends| vec![ends; 6]).filter(|_| day <= 4);
        let lines = ring.chain(others).map(|ends| format!("{ends},2024-03-{day:02}T23:45:00,7\n"));
        days.write(day, &(Days::rows(day) + &lines.collect::<String>()));
    }
    let out = days.path("run");
    let manifest = run_into(&days.options(), &out, false).unwrap();
    let folder = RunFolder::open(&out).unwrap();
    let everybody = search(&folder, &Query { part: true, ..query("") });
    assert_eq!(everybody.others, 0);

    // By window, kind and id: whether it transfers, and what the tables say.
    let mut expected = BTreeMap::new();
    for record in &manifest.windows {
        let at = folder.window(record);
        let first = record.index + 1;
        let active: BTreeSet<(String, String)> = (first..first + 3)
            .flat_map(|day| {
                fs::read_to_string(days.file(day))
                    .unwrap()
                    .lines()
                    .skip(1)
                    .flat_map(|line| {
                        let fields: Vec<&str> = line.split(',').collect();
                        [
                            ("user".to_owned(), fields[0].to_owned()),
                            ("shop".to_owned(), fields[1].to_owned()),
                        ]
                    })
                    .collect::<Vec<_>>()
            })
            .collect();
        let ranks: BTreeMap<String, String> = rows(&at.join("clusters.parquet"))
            .into_iter()
            .map(|row| (row["cluster"].clone(), row["rank"].clone()))
            .collect();
        let scores: BTreeMap<_, _> = rows(&at.join("entities.parquet"))
            .into_iter()
            .filter(|row| !row["rank"].is_empty())
            .map(|row| {
                let score = format!("{} {}", row["score"], row["rank"]);
                ((row["kind"].clone(), row["id"].clone()), score)
            })
            .collect();
        assert!(active.iter().all(|key| scores.contains_key(key)), "all of these have a score");
        let mut here: BTreeMap<_, _> = active
            .iter()
            .map(|key| {
                let score = scores.get(key).cloned();
                (key.clone(), (String::from("in no cluster"), None, false, score))
            })
            .collect();
        for row in rows(&at.join("members.parquet")) {
            let key = (row["kind"].clone(), row["id"].clone());
            let rank = &ranks[&row["cluster"]];
            let member = format!("{} {rank} {}", row["cluster"], row["score"]);
            let here = here.get_mut(&key).unwrap();
            (here.0, here.1) = ("in a cluster".into(), Some(member));
        }
        // ring7 is known from the fourth window on; the second is in no transaction.
        let known = ["ring0", "nobody", "ring7"];
        for id in &known[..if first + 3 > 4 { 3 } else { 2 }] {
            let key = ("user".to_owned(), (*id).to_owned());
            let place = if *id == "nobody" { "never seen" } else { "no transactions" };
            here.entry(key).or_insert((place.into(), None, true, None)).2 = true;
        }
        expected.extend(here.into_iter().map(|(key, what)| ((record.index, key), what)));
    }
    let mut found = BTreeMap::new();
    for entity in &everybody.entities {
        for occurrence in &entity.occurrences {
            let member = occurrence.membership.as_ref();
            let member =
                member.map(|m| format!("{} {} {}", m.cluster, m.rank.unwrap(), m.suspicion));
            let score = occurrence.score.map(|of| format!("{} {}", of.probability, of.rank));
            let what = (occurrence.place().to_owned(), member, occurrence.known_bad, score);
            let key = (occurrence.window, (entity.kind.clone(), entity.id.clone()));
            assert!(found.insert(key, what).is_none(), "twice");
        }
    }
    assert!(expected.values().any(|what| what.0 == "in a cluster"));
    assert!(expected.values().any(|what| what.0 == "in no cluster" && what.3.is_some()));
    assert_eq!((everybody.windows, everybody.without_scores), (5, 0));
    let learnt = |of: &&WindowRecord| of.scores.as_ref().unwrap().learnt;
    assert_eq!(manifest.windows.iter().filter(learnt).count() as u32, 5 - everybody.not_learnt);
    assert_eq!(everybody.not_learnt, 1, "one is known in the first window");
    assert_eq!(found, expected);

    // One of them alone is found as among all; by its kind, too.
    let one = &everybody.entities[everybody.entities.len() / 2];
    for kind in [None, Some(one.kind.clone())] {
        let alone = search(&folder, &Query { kind, ..query(&one.id) });
        assert_eq!(alone.entities.len(), 1);
        assert_eq!(alone.entities[0].occurrences, one.occurrences);
    }
    let other = if one.kind == "user" { "shop" } else { "user" };
    let none = search(&folder, &Query { kind: Some(other.into()), ..query(&one.id) });
    assert!(none.entities.is_empty());

    // A part of an id, in any case; of many the first, and how many others there are.
    let part = search(&folder, &Query { part: true, ..query("USER1") });
    let ids: BTreeSet<&str> = part.entities.iter().map(|entity| &*entity.id).collect();
    let expected: BTreeSet<&str> =
        everybody.entities.iter().map(|e| &*e.id).filter(|id| id.contains("user1")).collect();
    assert_eq!(ids, expected);
    let few = search(&folder, &Query { part: true, most: 3, ..query("") });
    assert_eq!(few.entities.len(), 3);
    assert_eq!(few.others, everybody.entities.len() as u64 - 3);
    for (few, all) in few.entities.iter().zip(&everybody.entities) {
        assert_eq!((&few.id, &few.occurrences), (&all.id, &all.occurrences));
    }
    assert!(matches!(find(&folder, &query("x"), &|| true), Err(FindError::Cancelled)));

    // The table has a batch for each entity, and its file the same rows.
    let batches: Vec<_> = part.batches().collect::<Result<_, _>>().unwrap();
    assert!(batches.iter().all(|batch| batch.schema() == FoundEntities::schema()));
    let of_batches: Vec<usize> = batches.iter().map(|batch| batch.num_rows()).collect();
    let of_entities: Vec<usize> = part.entities.iter().map(|e| e.occurrences.len()).collect();
    assert_eq!(of_batches, of_entities);
    let table = days.path("found.csv");
    write_found(&*table, &part).unwrap();
    let first = rows(&table).swap_remove(0);
    assert_eq!((&first["id"], &*first["window"]), (&part.entities[0].id, "0"));
    assert_eq!(rows(&table).len(), of_entities.iter().sum::<usize>());
}

#[test]
fn notes_and_errors_say_what_is_missing() {
    let days = Days::new(4);
    let out = days.path("run");
    run_into(&days.options(), &out, false).unwrap();
    let folder = RunFolder::open(&out).unwrap();
    let few = search(&folder, &Query { part: true, most: 3, ..query("") });
    let notes = few.notes("--most ");
    let all = few.others + 3;
    assert_eq!(notes[0], format!("{} other entities match: --most {all} shows them", few.others));
    assert!(notes[1].starts_with("in 1 of 2 windows, scores are a fixed combination"), "{notes:?}");
    assert_eq!(notes.len(), 2);
    assert_eq!(search(&folder, &query("nobody")).notes("").len(), 1, "others are of few alone");
    let seen = Query { part: true, ..query("ring") };
    let seen = search(&folder, &seen).or_not_found(&folder, &seen).unwrap();
    assert!(!seen.entities.is_empty());

    let missed = |query: Query| -> NotFound {
        search(&folder, &query).or_not_found(&folder, &query).unwrap_err()
    };
    let at = out.display();
    let id = missed(query("RING0"));
    assert_eq!(id.to_string(), format!("no window of {at} has an entity with the id `RING0`"));
    assert_eq!(
        id.help("part: true"),
        "ids must match exactly; part: true finds all that contain a text"
    );
    let part = missed(Query { part: true, kind: Some("shop".into()), ..query("ring0") });
    assert_eq!(
        part.to_string(),
        format!("no window of {at} has an entity of kind shop whose id contains `ring0`")
    );
    assert_eq!(part.help(""), "see that the folder is that of the run that you mean");
    let kind = missed(Query { kind: Some("bank".into()), ..query("ring0") });
    assert_eq!(kind.to_string(), format!("no window of {at} has an entity of kind bank"));
    assert!(kind.help("").starts_with("the kinds of the run are "), "{}", kind.help(""));
    for of in ["user", "shop"] {
        assert!(kind.help("").contains(of), "{}", kind.help(""));
    }
}

#[test]
fn without_a_model_there_are_places_and_no_scores() {
    let days = Days::new(4);
    let out = days.path("run");
    run_into(&RunOptions { model: ModelChoice::None, ..days.options() }, &out, false).unwrap();
    let found = search(&RunFolder::open(&out).unwrap(), &Query { part: true, ..query("") });
    assert_eq!((found.windows, found.without_scores, found.not_learnt), (2, 2, 0));
    let all = || found.entities.iter().flat_map(|entity| &entity.occurrences);
    assert!(all().any(|of| of.active) && all().all(|of| of.score.is_none()));
    let notes = found.notes("");
    assert!(notes[0].starts_with("the run has no probabilities and ranks"), "{notes:?}");
}

#[test]
fn a_damaged_run_is_an_error() {
    let days = Days::new(3);
    let out = days.path("run");
    let manifest = run_into(&days.options(), &out, false).unwrap();
    let folder = RunFolder::open(&out).unwrap();
    let at = folder.window(&manifest.windows[0]);
    let search = || find(&folder, &query("ring0"), &|| false).unwrap_err().to_string();
    let real = fs::read(at.join("active.parquet")).unwrap();
    // Another table in its place, a shorter one, and none.
    fs::copy(at.join("members.parquet"), at.join("active.parquet")).unwrap();
    assert!(search().contains("there is no column `active`"), "{}", search());
    fs::write(at.join("active.parquet"), &real[..real.len() / 2]).unwrap();
    assert!(search().contains("active.parquet"), "{}", search());
    fs::write(at.join("active.parquet"), &real).unwrap();
    fs::copy(at.join("active.parquet"), at.join("members.parquet")).unwrap();
    assert!(search().contains("members.parquet: there is no column `kind`"), "{}", search());
    fs::remove_file(at.join("entities.parquet")).unwrap();
    assert!(search().contains("an older version of ripplet"), "{}", search());
}
