//! Tables of entities: what is read, left out and refused, and a run with one.

use crate::runs::{Days, results, run_into};
use ripplet_fraud::Entities;
use ripplet_fraud::entity_table::{EntityTable, FeatureValues, MISSING, MOST_CATEGORIES};
use ripplet_fraud::folder::RunFolder;
use ripplet_fraud::run::RunOptions;
use std::fs;

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
        FeatureValues::Categories { codes: vec![0, 1, 0, 2], counts: vec![2, 1, 1] }
    );
    // A value and none are different.
    assert_eq!(half.values, FeatureValues::Numbers(vec![MISSING, 2.0, MISSING, 2.0]));
    assert_eq!(
        mixed.values,
        FeatureValues::Categories { codes: vec![0, 1, 2, 0], counts: vec![2, 1, 1] }
    );
    let [note] = table.notes() else { panic!("{:?}", table.notes()) };
    assert!(note.contains("`flat`") && note.contains("left out"), "{note}");
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
