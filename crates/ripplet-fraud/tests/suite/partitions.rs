//! Data sets in folders by partition: order, columns of folders, the range of a run, and files that differ.

use super::runs::{Days, MAPPING, options, run_into};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use arrow_schema::{Field, Schema};
use ripplet_fraud::folder::{Manifest, RunFolder};
use ripplet_fraud::run::{PipelineError, RunOptions};
use ripplet_fraud::{Mapping, TimeRange};
use ripplet_io::write::RecordWriter;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Writes the rows of a day without their time: `user,shop,amount`.
fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Returns the counts of transactions in the windows.
fn transactions(manifest: &Manifest) -> Vec<u64> {
    manifest.windows.iter().map(|window| window.transactions).collect()
}

fn run(options: &RunOptions, folder: &Path) -> Result<Manifest, String> {
    run_into(options, folder, false).map_err(|error: PipelineError| error.to_string())
}

#[test]
fn folders_give_columns_and_order() {
    let days = Days::new(1);
    let set = days.path("set");
    // Days 9 and 10: by text, 10 would come before 9, and its rows be late.
    for (day, part, row) in [(9, 1, "b"), (9, 0, "a"), (10, 0, "c"), (11, 0, "d")] {
        let path =
            set.join(format!("month=3/day={day}/at=2024-03-{day:02}T10%3A00/part-{part}.csv"));
        write(&path, &format!("from,to,eur\nx{row},y{row},1\nx{row},z,2\n"));
    }
    write(&set.join("month=3/day=9/_temporary/part-0.csv"), "broken");
    let options = options(&[&set], MAPPING, &days.path("known.csv"));
    let manifest = run(&options, &days.path("run")).unwrap();
    let read: Vec<&str> = manifest
        .inputs
        .iter()
        .map(|input| &input.path[set.display().to_string().len()..])
        .collect();
    assert_eq!(
        read,
        [
            "/month=3/day=9/at=2024-03-09T10%3A00/part-0.csv",
            "/month=3/day=9/at=2024-03-09T10%3A00/part-1.csv",
            "/month=3/day=10/at=2024-03-10T10%3A00/part-0.csv",
            "/month=3/day=11/at=2024-03-11T10%3A00/part-0.csv",
        ]
    );
    assert_eq!(transactions(&manifest), [8]);
    let record = &RunFolder::open(&days.path("run")).unwrap().finished().unwrap()[0];
    assert_eq!((&*record.from, &*record.until), ("2024-03-09", "2024-03-12"));
    // The file's own column counts, and null is an empty field.
    write(&set.join("zz/at=1999-01-01/part-9.csv"), "from,to,eur,at\nq,r,1,2024-03-12\n");
    let manifest = run(&options, &days.path("own"));
    assert_eq!(manifest.unwrap().windows.last().unwrap().until, "2024-03-13");
    write(&set.join("zz2/at=__HIVE_DEFAULT_PARTITION__/part-9.csv"), "from,to,eur\nq,r,1\n");
    let refused = run(&options, &days.path("null")).unwrap_err();
    assert!(refused.contains("__HIVE_DEFAULT_PARTITION__/part-9.csv"), "{refused}");
    assert!(refused.contains("the column `at` is empty"), "{refused}");
    fs::remove_dir_all(set.join("zz2")).unwrap();
    write(&set.join("zz3/month=4/part-0.csv"), "from,to,eur\nq,r,1\n");
    let refused = run(&options, &days.path("lacks")).unwrap_err();
    assert!(refused.contains("month=4/part-0.csv: there is no column `at`"), "{refused}");
    assert!(refused.contains("the columns are from, to, eur, month"), "{refused}");
}

#[test]
fn the_range_of_a_run_leaves_out_rows_and_whole_files() {
    let days = Days::new(8);
    let set = days.path("set");
    for day in 1..=8 {
        let path = set.join(format!("dt=2024-03-{day:02}/part.csv"));
        write(&path, &Days::rows(day));
    }
    let range = TimeRange::new("2024-03-03".parse().unwrap(), "2024-03-06".parse().unwrap());
    let mut by_row = options(&[&set], MAPPING, &days.path("known.csv"));
    by_row.feed.range = range;
    let manifest = run(&by_row, &days.path("rows")).unwrap();
    let per_day = |day: u32| Days::rows(day).lines().count() as u64 - 1;
    let inside: u64 = (3..=5).map(per_day).sum();
    assert_eq!(manifest.counts.taken, inside);
    assert_eq!(manifest.counts.outside, (1..=8).map(per_day).sum::<u64>() - inside);
    assert_eq!(manifest.inputs.len(), 8);
    assert_eq!(
        (manifest.options.get("since"), manifest.options.get("before")),
        (Some(&"2024-03-03".into()), Some(&"2024-03-06".into()))
    );
    // Files of other partitions are not opened: one is broken, and not noticed.
    write(&set.join("dt=2024-03-07/part.csv"), "no columns");
    let mut by_file = by_row.clone();
    let mapping =
        MAPPING.replace("time = \"at\"", "time = { column = \"at\", partition = \"dt\" }");
    by_file.feed.mapping = Mapping::parse(&mapping).unwrap();
    let pruned = run(&by_file, &days.path("files")).unwrap();
    assert_eq!((pruned.inputs.len(), pruned.counts.outside), (3, 0));
    let results = |name: &str| super::runs::results(&days.path(name));
    assert_eq!(results("files"), results("rows"));
    assert!(run(&by_row, &days.path("broken")).unwrap_err().contains("dt=2024-03-07/part.csv"));
    // A partition whose rows are of another day is named: by it, other files would be passed over wrongly.
    write(
        &set.join("dt=2024-03-04/part.csv"),
        "from,to,at,eur\na,b,2024-03-04T23:59:59,1\na,b,2024-03-05T00:00:00,1\n",
    );
    let refused = run(&by_file, &days.path("wrong")).unwrap_err();
    assert!(
        refused.contains("dt=2024-03-04/part.csv:3: the time 2024-03-05 is not within"),
        "{refused}"
    );
    by_file.feed.range = TimeRange::new("2030-01-01".parse().unwrap(), TimeRange::ALL.until);
    let refused = run(&by_file, &days.path("none")).unwrap_err();
    assert!(refused.contains("no file is of a partition within --since and --before"), "{refused}");
}

fn parquet(path: &Path, from: ArrayRef) {
    let at = (0..from.len() as i64).map(|row| 1_709_251_200_000_000 + row);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("from", from.clone()),
        ("to", Arc::new(StringArray::from(vec!["s"; from.len()]))),
        ("at", Arc::new(TimestampMicrosecondArray::from_iter_values(at))),
        ("eur", Arc::new(Int64Array::from(vec![1; from.len()]))),
    ];
    let fields =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    let batch = RecordBatch::try_new(schema.clone(), arrays).unwrap();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut writer = RecordWriter::create(path, schema).unwrap();
    writer.append(&batch).unwrap();
    writer.finish().unwrap();
}

#[test]
fn files_that_differ_or_are_damaged_are_named() {
    let days = Days::new(1);
    let set = days.path("set");
    let part = |day: u32| set.join(format!("dt=2024-03-{day:02}/part-0.parquet"));
    parquet(&part(1), Arc::new(StringArray::from(vec!["7", "8"])));
    parquet(&part(2), Arc::new(Int64Array::from(vec![7, 8, 9])));
    let options = options(&[&set], MAPPING, &days.path("known.csv"));
    let refused = run(&options, &days.path("types")).unwrap_err();
    let (first, second) = (part(1).display().to_string(), part(2).display().to_string());
    let expected = format!("{second}: the column `from` is Int64, and in {first} it is Utf8");
    assert!(refused.contains(&expected), "{refused}");
    // 32 and 64 bits are the same numbers, and a dictionary the same texts.
    parquet(&part(1), Arc::new(arrow_array::Int32Array::from(vec![7, 8])));
    assert_eq!(run(&options, &days.path("alike")).unwrap().counts.taken, 5);
    let bytes = fs::read(part(2)).unwrap();
    for (cut, name) in [(bytes.len() / 2, "half"), (bytes.len() - 1, "short"), (0, "empty")] {
        fs::write(part(2), &bytes[..cut]).unwrap();
        let refused = run(&options, &days.path(name)).unwrap_err();
        assert!(refused.contains(&second), "{refused}");
    }
}

#[test]
fn new_partitions_are_taken_in_their_order() {
    let days = Days::new(1);
    let set = days.path("set");
    let write_day = |day: u32| write(&set.join(format!("day={day}/part.csv")), &Days::rows(day));
    [9, 10].into_iter().for_each(write_day);
    let mut options = options(&[&set], MAPPING, &days.path("known.csv"));
    options.feed.reading.follow = Some(Duration::from_millis(20));
    let mut feed = ripplet_fraud::feed::Feed::begin(&options.feed).unwrap();
    let begin = std::time::Instant::now();
    let mut read = Vec::new();
    let ended = feed.advance(
        |inputs| {
            read = inputs.iter().map(|input| input.path.clone()).collect();
            if read.len() == 2 {
                [12, 11].into_iter().for_each(write_day);
            }
            Ok(())
        },
        || begin.elapsed() > Duration::from_secs(20),
    );
    assert!(ended.is_ok(), "{ended:?}");
    let days: Vec<&str> = read.iter().map(|path| path.split("day=").nth(1).unwrap()).collect();
    assert_eq!(days, ["9/part.csv", "10/part.csv", "11/part.csv", "12/part.csv"]);
}
