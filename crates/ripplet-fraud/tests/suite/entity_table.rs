//! Tables of entities: what is read, left out and refused, and a run with one.

use crate::output::{Cells, cells};
use crate::runs::{Days, results, run_into};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray};
use ripplet_fraud::Entities;
use ripplet_fraud::entity_table::{
    EntityTable, FeatureValues, MISSING, MOST_CATEGORIES, NO_CATEGORY,
};
use ripplet_fraud::folder::{RunFolder, WindowRecord};
use ripplet_fraud::run::RunOptions;
use ripplet_io::write::RecordWriter;
use std::fs;
use std::sync::Arc;

fn entities() -> Entities {
    let mut entities = Entities::new();
    let user = entities.kind("user").unwrap();
    entities.kind("shop").unwrap();
    for id in ["ann", "bob", "cid"] {
        entities.intern(user, id).unwrap();
    }
    entities
}

/// Reads a text as a table; the error as a sentence.
fn read(text: &str) -> Result<EntityTable, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    fs::write(&path, text).unwrap();
    let entities = entities();
    let kind = entities.find_kind("user").unwrap();
    EntityTable::read(&path.into(), &entities, kind).map_err(|error| error.to_string())
}

#[test]
fn columns_are_numbers_or_categories() {
    let text = "id,age,town,kind,flat,half,mixed\nann,31.5,Rom,user,7,,1\nbob,,Bern,,7,2,x\ncid,nan,Rom,,7,inf,\nann,1e99,,shop,7,2,1\n";
    let mut table = read(text).unwrap();
    let names: Vec<&str> = table.features().iter().map(|of| &*of.name).collect();
    assert_eq!(names, ["age", "town", "half", "mixed"]);
    let [age, town, half, mixed] = table.features() else { panic!() };
    assert_eq!(age.values, FeatureValues::Numbers(vec![31.5, MISSING, MISSING, 3e38]));
    assert_eq!(
        town.values,
        FeatureValues::Categories { codes: vec![0, 1, 0, NO_CATEGORY], counts: vec![2, 1] }
    );
    // A value and none are different.
    assert_eq!(half.values, FeatureValues::Numbers(vec![MISSING, 2.0, MISSING, 2.0]));
    assert_eq!(
        mixed.values,
        FeatureValues::Categories { codes: vec![0, 1, NO_CATEGORY, 0], counts: vec![2, 1] }
    );
    let [note, of_mixed] = table.notes() else { panic!("{:?}", table.notes()) };
    assert!(note.contains("`flat`") && note.contains("left out"), "{note}");
    assert!(of_mixed.contains("`mixed`: 2 of 3 cells are numbers"), "{of_mixed}");
    assert!(of_mixed.contains("the first of these is `x`"), "{of_mixed}");
    // The shop ann is in no transaction.
    assert_eq!(table.vertices(), [None; 4]);
    table.refresh(&entities());
    assert_eq!(table.vertices(), [Some(0), Some(1), Some(2), None]);
    assert_eq!(table.never_seen(), (1, Some("shop ann".into())));
    let large = read("id,age\nann,-inf\nbob,-1e300\ncid,2\n").unwrap();
    let FeatureValues::Numbers(ages) = &large.features()[0].values else { panic!() };
    assert!(ages[0] == MISSING && ages[1] > MISSING, "{ages:?}");
}

#[test]
fn dates_are_numbers_and_numbers_with_commas_are_noted() {
    let text = "id,since,sum,town\nann,1970-01-03,\"1,200\",Rom\nbob,,950,7\ncid,1970-01-02T12:00:00,\"2,000\",Bern\n";
    let table = read(text).unwrap();
    let [since, sum, town] = table.features() else { panic!() };
    assert_eq!(since.values, FeatureValues::Numbers(vec![2.0, MISSING, 1.5]));
    for of in [sum, town] {
        assert!(matches!(of.values, FeatureValues::Categories { .. }), "{of:?}");
    }
    // A town that looks like a number is no reason for a note.
    let [note] = table.notes() else { panic!("{:?}", table.notes()) };
    assert!(note.contains("`sum`: 1 of 3 cells are numbers") && note.contains("`1,200`"), "{note}");
}

/// `true` and `false` are 1 and 0 in text as they are in columns of booleans.
#[test]
fn booleans_of_texts_are_numbers() {
    let text = "id,vip,old,odd\nann,true,FALSE,true\nbob,False,,1\ncid,,True,false\n";
    let table = read(text).unwrap();
    let [vip, old, odd] = table.features() else { panic!() };
    assert_eq!(vip.values, FeatureValues::Numbers(vec![1.0, 0.0, MISSING]));
    assert_eq!(old.values, FeatureValues::Numbers(vec![0.0, MISSING, 1.0]));
    assert!(matches!(odd.values, FeatureValues::Categories { .. }), "{odd:?}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let ids: ArrayRef = Arc::new(StringArray::from(vec!["ann", "bob", "cid"]));
    let flags: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]));
    let batch = RecordBatch::try_from_iter([("id", ids), ("vip", flags)]).unwrap();
    let mut writer = RecordWriter::create(&*path, batch.schema()).unwrap();
    writer.append(&batch).unwrap();
    writer.finish().unwrap();
    let entities = entities();
    let kind = entities.find_kind("user").unwrap();
    let of_parquet = EntityTable::read(&path.into(), &entities, kind).unwrap();
    assert_eq!(of_parquet.features()[0].values, vip.values);
}

/// A category and none are different, and two rows without one are not alike.
#[test]
fn a_missing_category_is_none() {
    let table = read("id,town,none\nann,Rom,\nbob,,\ncid,,\n").unwrap();
    let [town] = table.features() else { panic!("{:?}", table.features()) };
    let codes = vec![0, NO_CATEGORY, NO_CATEGORY];
    assert_eq!(town.values, FeatureValues::Categories { codes, counts: vec![1] });
    let [note] = table.notes() else { panic!("{:?}", table.notes()) };
    assert!(note.contains("`none`") && note.contains("left out"), "{note}");
}

#[test]
fn what_is_refused_says_where() {
    let cases = [
        ("id,x\nann,1\nbob,2\nann,3\n", "user ann has a row already"),
        ("id,x\nann,1\n,2\n", "`id` is empty"),
        ("id,kind,x\nann,person,2\n", "`person`"),
        ("name,x\nann,1\n", "id"),
    ];
    for (text, expected) in cases {
        let error = read(text).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    let place = read("id,x\nann,1\nbob,2\nann,3\n").unwrap_err();
    assert!(place.contains(":4"), "{place}");
    // Two columns whose evidence would have the same name.
    for (header, rows, key) in [
        ("age,age_of_partners", ["1,2", "3,4"], "table_age_of_partners"),
        ("age_of_second,age", ["1,2", "3,4"], "table_age_of_second"),
        ("town,town_share", ["Rom,1", "Bern,2"], "table_town_share"),
    ] {
        let error = read(&format!("id,{header}\nann,{}\nbob,{}\n", rows[0], rows[1])).unwrap_err();
        let (one, other) = header.split_once(',').unwrap();
        let expected = format!("`{one}` and `{other}` would both be the evidence `{key}`");
        assert!(error.contains(&expected), "{error}");
    }
    assert!(read("id,age,age_of_partners\nann,1,Rom\nbob,2,Bern\n").is_ok(), "a category");
    let error = read("id,a\0b\nann,1\nbob,2\n").unwrap_err();
    assert!(error.contains("`a\\0b` has a byte of value 0"), "{error}");
    let many: Vec<String> = (0..201).map(|at| format!("x{at}")).collect();
    let error = read(&format!("id,{}\n", many.join(","))).unwrap_err();
    assert!(error.contains("201") && error.contains("200"), "{error}");
}

#[test]
fn columns_without_information_are_left_out() {
    let empty = read("id,x,y\n").unwrap();
    assert!(empty.features().is_empty() && empty.notes().len() == 2, "{:?}", empty.notes());
    assert_eq!(read("id\nann\n").unwrap().notes().len(), 1);
    let mut text = String::from("id,code,x\n");
    for at in 0..=MOST_CATEGORIES {
        text += &format!("a{at},c{at},{at}\n");
    }
    let table = read(&text).unwrap();
    let names: Vec<&str> = table.features().iter().map(|of| &*of.name).collect();
    // One more than the most.
    assert_eq!(names, ["x"]);
    assert!(table.notes()[0].contains("`code`"), "{:?}", table.notes());
}

#[test]
fn a_run_with_a_table_has_its_columns_and_resumes() {
    let days = Days::new(6);
    let table = days.path("entities.csv");
    fs::write(&table, "id,age\nring0,1.5\nring1,2.5\nuser1,7\nnobody,3\n").unwrap();
    let options = RunOptions { entity_table: Some(table.clone().into()), ..days.options() };
    let whole = days.path("whole");
    let manifest = run_into(&options, &whole, false).unwrap();
    let folder = RunFolder::open(&whole).unwrap();
    let path = folder.window(manifest.windows.last().unwrap()).join("entities.parquet");
    let (header, rows) = crate::output::cells(&path);
    let at = |name: &str| header.iter().position(|of| of == name).unwrap();
    let (id, age) = (at("id"), at("table_age"));
    assert_eq!(header[age..], ["table_age", "table_age_of_partners", "table_age_of_second"]);
    let cell = |name: &str| rows.iter().find(|row| row[id] == name).map(|row| row[age].as_str());
    assert_eq!(cell("ring0"), Some("1.5"));
    assert_eq!(cell("ring1"), Some("2.5"));
    // None: it is not in the table.
    assert_eq!(cell("ring2"), Some(""));
    // Another table is another run; without a new day, nothing changes.
    let resumed = run_into(&options, &whole, true).unwrap();
    assert_eq!(resumed.windows.len(), manifest.windows.len());
    let before = results(&whole);
    fs::write(&table, "id,age\nring0,9\nring1,2.5\n").unwrap();
    let error = run_into(&options, &whole, true).unwrap_err().to_string();
    assert!(error.contains("table of entities"), "{error}");
    assert_eq!(results(&whole), before);
}

/// Runs days with a table of entities, and returns the header and the rows of the entities of each window.
fn entities_with(days: &Days, name: &str, table: Option<&str>) -> Vec<Cells> {
    let mut options = days.options();
    if let Some(text) = table {
        let path = days.path(&format!("{name}.csv"));
        fs::write(&path, text).unwrap();
        options.entity_table = Some(path.into());
    }
    let manifest = run_into(&options, &days.path(name), false).unwrap();
    assert!(manifest.windows.iter().all(|window| window.scores.is_some()));
    let folder = RunFolder::open(&days.path(name)).unwrap();
    let each = manifest.windows.iter().map(|window| folder.window(window));
    each.map(|window| cells(&window.join("entities.parquet"))).collect()
}

/// Checks that all entities of a window have a score, and that ranks are those of the scores.
fn is_scored((header, rows): &Cells) {
    let at = |name: &str| header.iter().position(|of| of == name).unwrap();
    let mut ranked: Vec<(u32, f32)> = rows
        .iter()
        .filter(|row| !row[at("rank")].is_empty())
        .map(|row| (row[at("rank")].parse().unwrap(), row[at("score")].parse().unwrap()))
        .collect();
    assert!(ranked.len() > 100, "{}", ranked.len());
    ranked.sort_by_key(|of| of.0);
    assert!(ranked.iter().zip(1..).all(|((rank, _), expected)| *rank == expected));
    assert!(ranked.windows(2).all(|two| two[0].1 >= two[1].1), "scores fall with the rank");
    assert!(ranked.iter().all(|(_, score)| (0.0..=1.0).contains(score)));
    assert!(ranked[0].1 > ranked[ranked.len() - 1].1, "scores differ");
}

/// Known bad of which a scorecard is learnt.
fn with_known(days: u32) -> Days {
    let days = Days::new(days);
    let known: String = (0..12).map(|user| format!("ring{user}\n")).collect();
    fs::write(days.path("known.csv"), format!("id\n{known}")).unwrap();
    days
}

#[test]
fn as_many_categories_as_there_may_be_run_to_scores() {
    let days = with_known(4);
    // Each entity has a code of its own: those of the run, and others up to the most.
    let mut ids: Vec<String> = (0..61).map(|user| format!("user{user}")).collect();
    ids.extend((0..12).map(|user| format!("ring{user}")));
    let others = ids.len()..MOST_CATEGORIES;
    ids.extend(others.map(|at| format!("other{at}")));
    let row = |(at, id): (usize, &String)| format!("{id},c{at}\n");
    let rows: String = ids.iter().enumerate().map(row).collect();
    let most = entities_with(&days, "most", Some(&format!("id,code\n{rows}")));
    for window in &most {
        is_scored(window);
        let (header, rows) = window;
        let at = |name: &str| header.iter().position(|of| of == name).unwrap();
        assert_eq!(header[at("table_code_share")..], ["table_code_share", "table_code_known"]);
        for row in rows.iter().filter(|row| !row[at("rank")].is_empty() && row[2] == "user") {
            let share: f32 = row[at("table_code_share")].parse().unwrap();
            assert!((share * MOST_CATEGORIES as f32 - 1.0).abs() < 1e-3, "{share}");
            // There are no others with its code, so it has the share of all.
            assert_eq!(row[at("table_code_known")], "1", "{}", row[3]);
        }
    }
    // With one more, the column is left out, and nothing else of the table is left.
    let one_more = format!("id,code\n{rows}more,more\n");
    assert_eq!(
        entities_with(&days, "more", Some(&one_more)),
        entities_with(&days, "without", None)
    );
}

#[test]
fn features_that_are_no_numbers_run_to_scores() {
    let days = with_known(4);
    let of = |at: usize| ["nan", "inf", "-inf", "1e999", "", "7", "-3e38", "1e-30"][at % 8];
    let row = |at: usize| format!("user{at},{},{}\nring{at},{},{}\n", of(at), at, of(at + 5), at);
    let rows: String = (0..12).map(row).collect();
    for window in &entities_with(&days, "odd", Some(&format!("id,odd,even\n{rows}"))) {
        is_scored(window);
        let (header, rows) = window;
        let odd = header.iter().position(|of| of == "table_odd").unwrap();
        let all: Vec<&str> = rows.iter().map(|row| &*row[odd]).collect();
        assert!(all.contains(&"7") && all.contains(&""), "{all:?}");
        let is_number = |cell: &&str| cell.is_empty() || cell.parse::<f32>().unwrap().is_finite();
        assert!(all.iter().all(is_number), "{all:?}");
    }
}

/// Rows of amounts that are no numbers are bad rows: scores are those of the other rows alone.
#[test]
fn amounts_that_are_no_numbers_run_to_scores_of_the_others() {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let (plain, text) = (with_known(4), with_known(4));
    let expected = entities_with(&plain, "run", None);
    for day in 1..=4 {
        let odd = ["nan", "inf", "-inf", "Infinity", "1e999"];
        let row = |amount| format!("ring1,user5,2024-03-{day:02}T23:40:00,{amount}\n");
        text.write(day, &(Days::rows(day) + &odd.map(row).concat()));
    }
    let error = run_into(&text.options(), &text.path("refused"), false).unwrap_err().to_string();
    assert!(error.contains("dt=2024-03-01.csv") && error.contains("`nan`"), "{error}");
    let run = |days: &Days| {
        let mut options = days.options();
        options.feed.skip_bad_rows = true;
        run_into(&options, &days.path("run"), false).unwrap()
    };
    let of_windows = |days: &Days, windows: &[WindowRecord]| -> Vec<Cells> {
        let folder = RunFolder::open(&days.path("run")).unwrap();
        let each = windows.iter().map(|window| folder.window(window));
        each.map(|window| cells(&window.join("entities.parquet"))).collect()
    };
    let manifest = run(&text);
    assert_eq!(manifest.counts.faults.values().sum::<u64>(), 20, "{:?}", manifest.counts);
    let found = of_windows(&text, &manifest.windows);
    found.iter().for_each(is_scored);
    assert_eq!(found, expected);

    // Floats of Parquet.
    let typed = with_known(0);
    for day in 1..=4 {
        let rows = Days::rows(day);
        let mut rows: Vec<Vec<&str>> =
            rows.lines().skip(1).map(|line| line.split(',').collect()).collect();
        let time = format!("2024-03-{day:02}T23:40:00");
        rows.extend([["ring1", "user5", &time, "odd"]; 3].map(Vec::from));
        let texts = |at: usize| -> ArrayRef {
            Arc::new(rows.iter().map(|row| Some(row[at])).collect::<StringArray>())
        };
        let mut of_odd = odd.into_iter();
        let amounts = rows.iter().map(|row| row[3].parse().ok().or_else(|| of_odd.next()));
        let amounts: ArrayRef = Arc::new(amounts.collect::<Float64Array>());
        let columns = [("from", texts(0)), ("to", texts(1)), ("at", texts(2)), ("eur", amounts)];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let path = typed.path("days").join(format!("dt=2024-03-{day:02}.parquet"));
        let mut writer = RecordWriter::create(&*path, batch.schema()).unwrap();
        writer.append(&batch).unwrap();
        writer.finish().unwrap();
    }
    let manifest = run(&typed);
    assert_eq!(manifest.counts.faults.values().sum::<u64>(), 12, "{:?}", manifest.counts);
    let found = of_windows(&typed, &manifest.windows);
    assert_eq!(found, expected);
}
