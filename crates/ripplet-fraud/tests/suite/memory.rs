//! Tables in memory: runs over them have the bytes of runs over files, and errors name their rows from 0.

use crate::runs::{Days, results, run_into};
use arrow_array::{
    ArrayRef, Int64Array, RecordBatch, StringArray, StringViewArray, TimestampSecondArray,
};
use ripplet_fraud::Timestamp;
use ripplet_fraud::run::RunOptions;
use ripplet_fraud::source::reader::Sources;
use ripplet_fraud::source::{MemoryTable, TableSource};
use std::fs;
use std::sync::Arc;

/// The columns of a text table, in batches of `rows`; those named in `typed` are numbers, and `at` is a timestamp.
pub fn table(name: &str, text: &str, rows: usize) -> MemoryTable {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let cells: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let column = |at: usize, cells: &[Vec<&str>]| -> ArrayRef {
        let cells = cells.iter().map(|row| row[at]);
        match names[at] {
            "eur" => Arc::new(cells.map(|cell| cell.parse::<i64>().ok()).collect::<Int64Array>()),
            "at" => {
                let seconds = |cell: &str| {
                    cell.parse::<Timestamp>().ok().map(|time| time.0.div_euclid(1_000_000))
                };
                Arc::new(cells.map(seconds).collect::<TimestampSecondArray>())
            }
            "from" if names.contains(&"to") => {
                Arc::new(cells.map(Some).collect::<StringViewArray>())
            }
            _ => Arc::new(
                cells.map(|cell| (!cell.is_empty()).then_some(cell)).collect::<StringArray>(),
            ),
        }
    };
    let batches: Vec<RecordBatch> = cells
        .chunks(rows)
        .map(|cells| {
            let columns = (0..names.len()).map(|at| (names[at], column(at, cells), true));
            RecordBatch::try_from_iter_with_nullable(columns).unwrap()
        })
        .collect();
    MemoryTable::new(name, batches[0].schema(), batches).unwrap()
}

/// The rows of the first days, under one header.
pub fn text_of(days: &Days, last: u32) -> String {
    let mut text = Days::rows(1);
    for day in 2..=last {
        text.extend(Days::rows(day).split_inclusive('\n').skip(1));
    }
    // The reader takes what the folder has.
    assert!(days.file(last).exists() && !days.file(last + 1).exists());
    text
}

#[test]
fn a_run_over_tables_in_memory_has_the_bytes_of_files() {
    let days = Days::new(5);
    fs::write(days.path("table.csv"), "id,age\nuser1,3\nuser2,9\nring0,1\n").unwrap();
    let from_files =
        RunOptions { entity_table: Some(days.path("table.csv").into()), ..days.options() };
    run_into(&from_files, &days.path("files"), false).unwrap();
    let list = |name: &str| {
        let text = fs::read_to_string(days.path(name)).unwrap();
        Some(TableSource::from(table(name, &text, 2)))
    };
    let mut in_memory = RunOptions {
        known_bad: list("known.csv"),
        entity_table: list("table.csv"),
        ..days.options()
    };
    let transactions = table("transactions", &text_of(&days, 5), 101);
    in_memory.feed.sources = Sources::Memory(transactions.clone());
    let manifest = run_into(&in_memory, &days.path("memory"), false).unwrap();
    assert_eq!(results(&days.path("memory")), results(&days.path("files")));
    assert_eq!(manifest.inputs.len(), 1);
    assert_eq!(manifest.inputs[0].rows, transactions.rows());
    assert!(manifest.inputs[0].sha256.is_none() && manifest.inputs[0].bytes > 0);
    // A resumed run reads the table again.
    run_into(&in_memory, &days.path("memory"), true).unwrap();
    assert_eq!(results(&days.path("memory")), results(&days.path("files")));
}

#[test]
fn errors_name_the_table_and_its_rows_from_0() {
    let days = Days::new(1);
    let refused = |change: &dyn Fn(&mut RunOptions)| {
        let mut options = days.options();
        options.feed.sources = Sources::Memory(table("payments", &Days::rows(1), 50));
        change(&mut options);
        let error = run_into(&options, &days.path("out"), false).unwrap_err().to_string();
        assert!(!days.path("out").exists());
        error
    };
    let rows = "from,to,at,eur\na,b,2024-03-01,1\na,b,2024-03-01,\n";
    let error =
        refused(&|options| options.feed.sources = Sources::Memory(table("payments", rows, 1)));
    assert!(
        error.starts_with("payments at row 1 (the first is 0): the column `eur` is empty"),
        "{error}"
    );
    let error = refused(&|options| {
        options.feed.sources =
            Sources::Memory(table("payments", "from,to,at\na,b,2024-03-01\n", 9));
    });
    assert!(error.contains("payments: there is no column `eur`"), "{error}");
    let error = refused(&|options| options.trusted = Some(table("trusted", "id\na\n\n", 9).into()));
    assert!(
        error.contains("trusted at row 1 (the first is 0): the column `id` is empty"),
        "{error}"
    );
    let error =
        refused(&|options| options.trusted = Some(table("trusted", "x,y\na,b\n", 9).into()));
    assert!(error.contains("no column is called `id`"), "{error}");
    let batch = |name| {
        let column: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        RecordBatch::try_from_iter([(name, column)]).unwrap()
    };
    let batches = vec![batch("a"), batch("b")];
    let error = MemoryTable::new("payments", batches[0].schema(), batches).unwrap_err().to_string();
    assert!(error.contains("different columns: a Int64 and b Int64"), "{error}");
}
