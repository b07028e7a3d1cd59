//! Delta tables: one that delta-rs wrote (`examples/fraud/delta`), and logs that are damaged, hostile, or of other readers.

use super::runs::{Days, options, results, run_into};
use ripplet_fraud::Mapping;
use ripplet_fraud::run::RunOptions;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const MAPPING: &str = "time = \"at\"\namount = \"eur\"\n[source]\ncolumn = \"from\"\nkind = \"user\"\n\
    [target]\ncolumn = \"to\"\nkind = \"shop\"\n\
    [[also]]\ncolumn = \"region\"\nkind = \"region\"\noptional = true\n\
    [[also]]\ncolumn = \"device\"\nkind = \"device\"\noptional = true\n";
const PLAIN: &str = super::runs::MAPPING;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fraud/delta").join(name)
}

/// Returns the error of a run over a folder.
fn refused(days: &Days, options: &RunOptions) -> String {
    let refused = run_into(options, &days.path("refused"), false);
    assert!(!days.path("refused").exists(), "something is left");
    refused.unwrap_err().to_string()
}

#[test]
fn a_table_gives_what_its_rows_give() {
    let days = Days::new(1);
    let known = days.path("known.csv");
    fs::write(&known, "id\nuser1\n").unwrap();
    let table = options(&[&fixture("table")], MAPPING, &known);
    let rows = options(&[&fixture("rows.csv")], MAPPING, &known);
    let manifest = run_into(&table, &days.path("table"), false).unwrap();
    run_into(&rows, &days.path("rows"), false).unwrap();
    // A day was deleted, and others were written out of order.
    assert_eq!((manifest.inputs.len(), manifest.counts.taken), (6, 72));
    assert_eq!(results(&days.path("table")), results(&days.path("rows")));
    // The same with the range of a run, by the log's partitions.
    let mut pruned = table.clone();
    pruned.feed.range.until = "2024-03-04".parse().unwrap();
    pruned.feed.mapping =
        Mapping::parse(&MAPPING.replace("\"at\"", "{ column = \"at\", partition = \"dt\" }"))
            .unwrap();
    let manifest = run_into(&pruned, &days.path("pruned"), false).unwrap();
    assert_eq!((manifest.inputs.len(), manifest.counts.taken, manifest.counts.outside), (2, 24, 0));
}

/// A table whose log is written here, with two files of a day each.
struct Table {
    days: Days,
    folder: PathBuf,
}

const PROTOCOL: &str = r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}"#;
const SCHEMA: &str = r#"{\"type\":\"struct\",\"fields\":[{\"name\":\"from\"},{\"name\":\"to\"},{\"name\":\"at\"},{\"name\":\"eur\"}]}"#;

fn metadata(more: &str) -> String {
    format!(
        r#"{{"metaData":{{"id":"x","format":{{"provider":"parquet","options":{{}}}},"schemaString":"{SCHEMA}","partitionColumns":[],"configuration":{{{more}}}}}}}"#
    )
}

fn add(path: &str, time: i64, more: &str) -> String {
    format!(
        r#"{{"add":{{"path":"{path}","partitionValues":{{}},"size":1,"modificationTime":{time},"dataChange":true{more}}}}}"#
    )
}

impl Table {
    fn new(lines: &[&str]) -> Table {
        let days = Days::new(3);
        let folder = days.path("table");
        fs::create_dir_all(folder.join("_delta_log")).unwrap();
        for (day, name) in [(1, "b.csv"), (2, "a.csv"), (3, "c.csv")] {
            fs::copy(days.file(day), folder.join(name)).unwrap();
        }
        let table = Table { days, folder };
        table.version(0, lines);
        table
    }

    fn version(&self, version: u64, lines: &[&str]) {
        let name = self.folder.join(format!("_delta_log/{version:020}.json"));
        // As a writer does: the file appears whole.
        fs::write(name.with_extension("tmp"), lines.join("\n")).unwrap();
        fs::rename(name.with_extension("tmp"), name).unwrap();
    }

    fn options(&self) -> RunOptions {
        options(&[&self.folder], PLAIN, &self.days.path("known.csv"))
    }

    fn refused(&self) -> String {
        refused(&self.days, &self.options())
    }
}

#[test]
fn files_are_ordered_by_when_they_were_written() {
    let (first, second) = (add("b.csv", 1, ""), add("a.csv", 2, ""));
    let table = Table::new(&[PROTOCOL, &metadata(""), &second, &first, ""]);
    let remove = r#"{"remove":{"path":"c.csv","dataChange":true}}"#;
    table.version(
        1,
        &[&add("c.csv", 0, ""), r#"{"commitInfo":{}}"#, r#"{"txn":{"appId":"x","version":1}}"#],
    );
    table.version(2, &[remove, r#"{"remove":{"path":"never-there"}}"#]);
    fs::write(table.folder.join("not-in-the-log.csv"), "broken").unwrap();
    let manifest = run_into(&table.options(), &table.days.path("run"), false).unwrap();
    let names: Vec<&str> =
        manifest.inputs.iter().map(|input| input.path.rsplit('/').next().unwrap()).collect();
    assert_eq!(names, ["b.csv", "a.csv"]);
    // Time zones without a zone are read as they are.
    let features = r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["timestampNtz"]}}"#;
    table.version(3, &[features]);
    run_into(&table.options(), &table.days.path("again"), false).unwrap();
}

#[test]
fn what_is_not_read_is_named() {
    let file = add("b.csv", 1, "");
    let vector = add("b.csv", 1, r#","deletionVector":{"storageType":"u","pathOrInlineDv":"x"}"#);
    let of = |protocol: &str| format!(r#"{{"protocol":{{{protocol}}}}}"#);
    let v3 = |features: &str| of(&format!(r#""minReaderVersion":3,"readerFeatures":[{features}]"#));
    let mapping = metadata(r#""delta.columnMapping.mode":"name""#);
    let orc = metadata("").replace("\"parquet\"", "\"orc\"");
    for (lines, expected) in [
        (
            [&*v3("\"deletionVectors\""), &metadata(""), &file],
            "the reader feature `deletionVectors`",
        ),
        ([&*v3("\"timestampNtz\",\"typeWidening\""), &metadata(""), &file], "`typeWidening`"),
        ([&*of("\"minReaderVersion\":4"), &metadata(""), &file], "reader version 4"),
        ([&*of("\"minReaderVersion\":-1"), &metadata(""), &file], "reader version -1"),
        ([PROTOCOL, &mapping, &file], "column mapping by name"),
        ([PROTOCOL, &orc, &file], "files of the format `orc`"),
        ([PROTOCOL, &metadata(""), &vector], "deletion vectors"),
        ([PROTOCOL, "", &file], "no schema"),
        (["", &metadata(""), &file], "no version of the protocol"),
        (
            [PROTOCOL, &metadata(""), &add("s3://bucket/b.parquet", 1, "")],
            "`s3://bucket/b.parquet`, which is not in",
        ),
        ([PROTOCOL, &metadata(""), &add("../known.csv", 1, "")], "`../known.csv`, which is not in"),
        ([PROTOCOL, &metadata(""), &add("%2e%2e/known.csv", 1, "")], "which is not in its folder"),
        ([PROTOCOL, &metadata(""), &add("/etc/passwd", 1, "")], "which is not in its folder"),
        ([PROTOCOL, &metadata(""), &add("file:/etc/passwd", 1, "")], "which is not in its folder"),
        (
            [PROTOCOL, &metadata(""), &add("gone.csv", 1, "")],
            "table/gone.csv is missing, which its log has",
        ),
        ([PROTOCOL, &metadata(""), &add("", 1, "")], "which is not in its folder"),
        ([PROTOCOL, &metadata("").replace("fields", "fjelds"), &file], "its schema cannot be read"),
        ([PROTOCOL, "{\"add\":", &file], "00000000000000000000.json: line 2: EOF"),
        ([&*format!("{{\"x\":{}", "[".repeat(100_000)), PROTOCOL, &file], "line 1: EOF"),
        ([PROTOCOL, "{\"add\":{\"path\":7}}", &file], "line 2: invalid type"),
    ] {
        let table = Table::new(&lines);
        let refused = table.refused();
        assert!(refused.contains(expected) && refused.contains("Delta table"), "{refused}");
    }
}

#[test]
fn a_log_with_gaps_or_without_versions_is_named() {
    let file = add("b.csv", 1, "");
    let table = Table::new(&[PROTOCOL, &metadata(""), &file]);
    table.version(2, &[&add("a.csv", 2, "")]);
    let refused = table.refused();
    assert!(refused.contains("version 1 is missing before 00000000000000000002.json"), "{refused}");
    let log = table.folder.join("_delta_log");
    fs::remove_file(log.join("00000000000000000000.json")).unwrap();
    assert!(table.refused().contains("version 0 is missing before 00000000000000000002.json"));
    fs::write(log.join("00000000000000000001.checkpoint.x-y.parquet"), "").unwrap();
    assert!(table.refused().contains("its checkpoint is of form V2"));
    fs::remove_file(log.join("00000000000000000002.json")).unwrap();
    assert!(table.refused().contains("it has no version"));
    // Numbers at the end of counting.
    fs::write(log.join("18446744073709551615.json"), "").unwrap();
    assert!(table.refused().contains("version 0 is missing"));
    fs::write(log.join("99999999999999999999.json"), "").unwrap();
    fs::write(log.join("18446744073709551615.checkpoint.parquet"), "PAR1").unwrap();
    assert!(table.refused().contains("18446744073709551615.checkpoint.parquet"));
    // A checkpoint of two parts of which one is missing does not count.
    fs::remove_file(log.join("18446744073709551615.checkpoint.parquet")).unwrap();
    fs::remove_file(log.join("18446744073709551615.json")).unwrap();
    fs::write(log.join("00000000000000000005.checkpoint.0000000001.0000000002.parquet"), "")
        .unwrap();
    assert!(table.refused().contains("it has no version"));
}

#[test]
fn damaged_checkpoints_are_errors() {
    let days = Days::new(1);
    let folder = days.path("table");
    let copy = |from: &Path| {
        let _ = fs::remove_dir_all(&folder);
        let mut folders = vec![from.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(&next).unwrap() {
                let path = entry.unwrap().path();
                let to = folder.join(path.strip_prefix(from).unwrap());
                match path.is_dir() {
                    true => folders.push(path),
                    false => {
                        fs::create_dir_all(to.parent().unwrap()).unwrap();
                        fs::copy(&path, &to).unwrap();
                    }
                }
            }
        }
    };
    copy(&fixture("table"));
    let checkpoint = folder.join("_delta_log/00000000000000000005.checkpoint.parquet");
    let bytes = fs::read(&checkpoint).unwrap();
    let options = options(&[&folder], MAPPING, &days.path("known.csv"));
    for end in [0, 4, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&checkpoint, &bytes[..end]).unwrap();
        let refused = refused(&days, &options);
        assert!(refused.contains("00000000000000000005.checkpoint.parquet"), "{end}: {refused}");
    }
    // A byte that changed is an error or changes nothing that counts; it never is a panic.
    for at in (0..bytes.len()).step_by(bytes.len() / 60) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x55;
        fs::write(&checkpoint, &changed).unwrap();
        let begin = ripplet_fraud::feed::Feed::begin(&options.feed);
        drop(begin);
    }
    // Without the checkpoint the versions give the same table.
    fs::remove_file(&checkpoint).unwrap();
    let manifest = run_into(&options, &days.path("run"), false).unwrap();
    assert_eq!((manifest.inputs.len(), manifest.counts.taken), (6, 72));
}

#[test]
fn new_versions_are_followed_and_rewritten_tables_refused() {
    let table = Table::new(&[PROTOCOL, &metadata(""), &add("b.csv", 1, "")]);
    let mut options = table.options();
    options.feed.reading.follow = Some(Duration::from_millis(20));
    let mut feed = ripplet_fraud::feed::Feed::begin(&options.feed).unwrap();
    let begin = Instant::now();
    let mut read = 0;
    let ended = feed.advance(
        |inputs| {
            read = inputs.len();
            match read {
                1 => table.version(1, &[&add("a.csv", 2, "")]),
                // The table's files become one.
                2 => table.version(
                    2,
                    &[
                        r#"{"remove":{"path":"b.csv"}}"#,
                        r#"{"remove":{"path":"a.csv"}}"#,
                        &add("c.csv", 3, ""),
                    ],
                ),
                _ => {}
            }
            Ok(())
        },
        || begin.elapsed() > Duration::from_secs(20),
    );
    assert_eq!(read, 2);
    let refused = match ended {
        Err(error) => error.to_string(),
        // The error comes after the days before it.
        Ok(_) => loop {
            if let Err(error) =
                feed.advance(|_| Ok(()), || begin.elapsed() > Duration::from_secs(20))
            {
                break error.to_string();
            }
        },
    };
    assert!(refused.contains("was rewritten: it no longer has"), "{refused}");
}
