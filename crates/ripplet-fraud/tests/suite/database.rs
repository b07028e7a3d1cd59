//! Results in a real PostgreSQL database: see `postgres.rs` for its address.

use super::postgres::server;
use super::runs::{Days, Watcher, run_into};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, TimestampMicrosecondType, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use postgres::{Client, Config, NoTls};
use ripplet_fraud::Mapping;
use ripplet_fraud::database::{Database, DatabaseError, DatabaseOptions};
use ripplet_fraud::folder::RunFolder;
use ripplet_fraud::run::{self, ModelChoice, PipelineError, RunOptions};
use ripplet_fraud::window::Shape;
use ripplet_io::Format;
use ripplet_io::tables::TableFile;
use ripplet_lp::cpu::CpuExecutor;
use std::path::Path;

/// A schema of its own, which goes with it.
struct Schema {
    server: String,
    name: String,
    client: Client,
}

impl Schema {
    fn new(name: &str) -> Option<Schema> {
        let server = server()?;
        let client = Client::connect(&server, NoTls).unwrap();
        Some(Schema { server, name: format!("r {name} {}", std::process::id()), client })
    }

    fn options(&self) -> DatabaseOptions {
        DatabaseOptions { server: self.server.clone(), schema: self.name.clone() }
    }

    fn run(&self, days: &Days) -> RunOptions {
        RunOptions { database: Some(self.options()), ..plain(days) }
    }

    fn execute(&mut self, statements: &str) {
        let statements = statements.replace("@@", &format!("\"{}\"", self.name));
        self.client.batch_execute(&statements).unwrap();
    }

    /// Returns the rows of a query, all values as texts.
    fn rows(&mut self, query: &str) -> Vec<Vec<Option<String>>> {
        let query = query.replace("@@", &format!("\"{}\"", self.name));
        let rows = self.client.query(&query, &[]).unwrap();
        rows.iter().map(|row| (0..row.len()).map(|at| row.get(at)).collect()).collect()
    }

    /// Returns the numbers of windows, and of the windows that each other table has rows of.
    fn windows(&mut self) -> Vec<String> {
        let of = "SELECT coalesce(string_agg(DISTINCT \"window\"::text, ' '), '') FROM @@.";
        let tables = ["windows", "known_bad", "entities"];
        tables
            .iter()
            .map(|table| self.rows(&format!("{of}{table}"))[0][0].clone().unwrap())
            .collect()
    }

    /// Checks that the tables have what the files of a folder have, and nothing else.
    fn check(&mut self, folder: &Path) {
        let opened = RunFolder::open(folder).unwrap();
        let (manifest, finished) = (opened.manifest().unwrap(), opened.finished().unwrap());
        let run = &manifest.run_id;
        assert_eq!(run.len(), 16);
        for table in ["clusters", "members", "known_bad", "entities", "reasons"] {
            let (mut expected, mut columns) = (Vec::new(), Vec::new());
            for record in &finished {
                let path = opened.window(record).join(format!("{table}.parquet"));
                if table == "reasons" && record.scores.is_none() {
                    assert!(!path.exists());
                    continue;
                }
                let file = TableFile::open(&path, Format::Parquet).unwrap();
                let fields = file.schema().fields();
                columns =
                    fields.iter().map(|f| (f.name().clone(), f.data_type().clone())).collect();
                columns.retain(|(name, _)| !name.starts_with("table_"));
                let all: Vec<usize> = (0..columns.len()).collect();
                for rows in file.batches(&all).unwrap() {
                    let batch = rows.unwrap().batch;
                    let row = |row: usize| {
                        let id = Some(run.clone());
                        let values = batch.columns().iter().map(|array| text(array, row));
                        std::iter::once(id).chain(values).collect::<Vec<_>>()
                    };
                    expected.extend((0..batch.num_rows()).map(row));
                }
            }
            let of = |(name, of): &(String, DataType)| match of {
                DataType::Timestamp(..) => {
                    format!("(extract(epoch FROM \"{name}\") * 1000000)::int8::text")
                }
                _ => format!("\"{name}\"::text"),
            };
            let names = std::iter::once("run".to_owned()).chain(columns.iter().map(of));
            let names: Vec<String> = names.collect();
            let query = format!("SELECT {} FROM @@.{table}", names.join(", "));
            let mut found = self.rows(&query);
            for row in &mut found {
                // Numbers with the same bits are the same text.
                for ((_, of), value) in columns.iter().zip(&mut row[1..]) {
                    match (of, &value) {
                        (DataType::Float64, Some(text)) => {
                            *value = Some(text.parse::<f64>().unwrap().to_bits().to_string());
                        }
                        (DataType::Float32, Some(text)) => {
                            *value = Some(text.parse::<f32>().unwrap().to_bits().to_string());
                        }
                        _ => {}
                    }
                }
            }
            expected.sort();
            found.sort();
            assert_eq!(found, expected, "{table}");
        }
        let windows = self.rows(
            "SELECT run, \"window\"::text, to_char(\"from\" AT TIME ZONE 'UTC', 'YYYY-MM-DD'), \
             to_char(until AT TIME ZONE 'UTC', 'YYYY-MM-DD'), transactions::text, clusters::text, members::text, \
             known_bad::text, figures ->> 'arcs' FROM @@.windows ORDER BY \"window\"",
        );
        let expected: Vec<Vec<Option<String>>> = finished
            .iter()
            .map(|record| {
                let numbers = [record.transactions, record.clusters, record.members];
                let texts = [run.clone(), record.index.to_string(), record.from.clone()];
                let all = texts.into_iter().chain([record.until.clone()]);
                let all = all.chain(numbers.map(|number| number.to_string()));
                all.chain([record.known_bad.to_string(), record.arcs.to_string()])
                    .map(Some)
                    .collect()
            })
            .collect();
        assert_eq!(windows, expected);
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        let _ =
            self.client.batch_execute(&format!("DROP SCHEMA IF EXISTS \"{}\" CASCADE", self.name));
    }
}

const MAPPING: &str = "time = \"date\"\namount = \"amount\"\n[source]\ncolumn = \"payer\"\nkind = \"account\"\n\
    [target]\ncolumn = \"payee\"\nkind = \"account\"\n";

/// The days of the example of payments, from one on, a file each.
fn payments(days: &Days, range: std::ops::RangeInclusive<u32>) {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/fraud/payments.csv");
    let text = std::fs::read_to_string(file).unwrap();
    for day in range {
        let date = format!("2024-03-{day:02}");
        let rows = text.lines().filter(|line| line.starts_with(&date) || line.starts_with("date"));
        days.write(day, &rows.collect::<Vec<_>>().join("\n"));
    }
}

/// Payments up to a day, in windows of 14 days that slide by 4; two of a ring of four are known.
fn busy(last: u32) -> Days {
    let days = Days::new(0);
    payments(&days, 1..=last);
    std::fs::write(days.path("known.csv"), "id\nida\nnobody\n").unwrap();
    days
}

fn plain(days: &Days) -> RunOptions {
    let mut options = days.options();
    let of_days = |days: i64| ripplet_fraud::Span::of_days(days).unwrap();
    options.feed.shape = Shape::new(of_days(14), of_days(4)).unwrap();
    options.feed.mapping = Mapping::parse(MAPPING).unwrap();
    options
}

fn text(array: &ArrayRef, row: usize) -> Option<String> {
    if array.is_null(row) {
        return None;
    }
    Some(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row).to_owned(),
        DataType::UInt32 => array.as_primitive::<UInt32Type>().value(row).to_string(),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).to_bits().to_string(),
        DataType::Float32 => array.as_primitive::<Float32Type>().value(row).to_bits().to_string(),
        DataType::Boolean => array.as_boolean().value(row).to_string(),
        DataType::Timestamp(..) => {
            array.as_primitive::<TimestampMicrosecondType>().value(row).to_string()
        }
        other => panic!("{other}"),
    })
}

fn error_of(
    found: Result<ripplet_fraud::folder::Manifest, PipelineError>,
) -> (DatabaseError, String) {
    match found {
        Err(PipelineError::Database(error)) => {
            let text = error.to_string();
            (error, text)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn tables_have_what_the_files_have() {
    let Some(mut schema) = Schema::new("same") else { return };
    let days = busy(26);
    let (first, second) = (days.path("first"), days.path("second"));
    let manifest = run_into(&schema.run(&days), &first, false).unwrap();
    assert_eq!(manifest.windows.len(), 4);
    assert!(
        manifest.windows.iter().any(|window| window.members > 0),
        "there is nothing to compare"
    );
    schema.check(&first);
    let state = "SELECT state, ripplet, options ->> 'window' FROM @@.runs";
    let expected = ["finished", env!("CARGO_PKG_VERSION"), "14d"].map(|text| Some(text.into()));
    assert_eq!(schema.rows(state), [expected.to_vec()]);
    // A resumed run without anything new changes nothing.
    run_into(&schema.run(&days), &first, true).unwrap();
    schema.check(&first);
    // The last window was cut: with another day it is written again, and so is what follows.
    payments(&days, 27..=30);
    run_into(&schema.run(&days), &first, true).unwrap();
    assert_eq!(schema.windows(), vec!["0 1 2 3 4"; 3]);
    schema.check(&first);
    // Another run is beside it.
    run_into(&schema.run(&days), &second, false).unwrap();
    assert_eq!(schema.rows("SELECT DISTINCT run FROM @@.entities").len(), 2);
    // Columns of the user's own stay.
    schema.execute("ALTER TABLE @@.clusters ADD COLUMN analyst text");
    Database::open(&schema.options()).unwrap();
}

#[test]
fn features_of_the_users_table_are_one_column() {
    let Some(mut schema) = Schema::new("features") else { return };
    let days = busy(26);
    let table = days.path("accounts.csv");
    std::fs::write(&table, "id,age,\"a \"\"b\"\"\"\nida,1.25,DE\nkai,3e38,MT\nsue,,DE\n").unwrap();
    let options = RunOptions { entity_table: Some(table.into()), ..schema.run(&days) };
    let out = days.path("run");
    run_into(&options, &out, false).unwrap();
    schema.check(&out);
    // Each value of each column, as the last window's file has it.
    let opened = RunFolder::open(&out).unwrap();
    let finished = opened.finished().unwrap();
    let last = finished.last().unwrap();
    let (header, rows) = crate::output::cells(&opened.window(last).join("entities.parquet"));
    let features: Vec<usize> =
        (0..header.len()).filter(|&at| header[at].starts_with("table_")).collect();
    assert_eq!(features.len(), 5, "{header:?}");
    let mut set = 0;
    for row in &rows {
        for &at in &features {
            let query = format!(
                "SELECT (features ->> '{}')::real::text, (features ? '{}')::text FROM @@.entities \
                 WHERE \"window\" = {} AND id = '{}'",
                header[at], header[at], last.index, row[3]
            );
            let found = schema.rows(&query);
            let [value, is_there] = &found[0][..] else { panic!("{found:?}") };
            assert_eq!(is_there.as_deref(), Some("true"), "{} {}", row[3], header[at]);
            let value = value.as_ref().map(|value| value.parse::<f32>().unwrap());
            assert_eq!(value, row[at].parse().ok(), "{} {}", row[3], header[at]);
            set += u32::from(value.is_some());
        }
    }
    assert!(set > 10);
    let reasons = "SELECT count(*)::text FROM @@.reasons WHERE reason_1 IS NOT NULL";
    assert_ne!(schema.rows(reasons), [[Some("0".into())]]);
    // A run without such a table, beside it.
    run_into(&schema.run(&days), &days.path("without"), false).unwrap();
    let without = "SELECT count(features)::text FROM @@.entities e JOIN (SELECT run FROM @@.runs \
                   ORDER BY began DESC LIMIT 1) r USING (run)";
    assert_eq!(schema.rows(without), [[Some("0".into())]]);
}

#[test]
fn a_run_without_scores_has_no_reasons() {
    let Some(mut schema) = Schema::new("none") else { return };
    let days = busy(20);
    let options = RunOptions { model: ModelChoice::None, ..schema.run(&days) };
    run_into(&options, &days.path("run"), false).unwrap();
    schema.check(&days.path("run"));
    let scores = "SELECT count(*)::text, count(score)::text FROM @@.entities";
    let found = schema.rows(scores);
    assert!(found[0][0] != Some("0".into()) && found[0][1] == Some("0".into()), "{found:?}");
}

#[test]
fn tables_of_version_1_are_changed_and_keep_their_rows() {
    let Some(mut schema) = Schema::new("older") else { return };
    let days = busy(20);
    let out = days.path("run");
    run_into(&schema.run(&days), &out, false).unwrap();
    let before = schema.rows("SELECT count(*)::text FROM @@.entities");
    assert_ne!(before, [[Some("0".into())]]);
    let older = "ALTER TABLE @@.entities DROP COLUMN features; DROP TABLE @@.reasons; \
                 UPDATE @@.ripplet_schema SET version = 1";
    schema.execute(older);
    Database::open(&schema.options()).unwrap();
    let version = schema.rows("SELECT version::text FROM @@.ripplet_schema");
    assert_eq!(version, [[Some("2".into())]]);
    assert_eq!(schema.rows("SELECT count(*)::text FROM @@.entities"), before);
    assert_eq!(schema.rows("SELECT count(*)::text FROM @@.reasons"), [[Some("0".into())]]);
    // Windows that come later have reasons.
    payments(&days, 21..=26);
    run_into(&schema.run(&days), &out, true).unwrap();
    assert_ne!(schema.rows("SELECT count(*)::text FROM @@.reasons"), [[Some("0".into())]]);
    // Tables that only say that they are of version 1 are not half changed.
    schema.execute("UPDATE @@.ripplet_schema SET version = 1");
    let refused = |schema: &mut Schema| {
        let error = match Database::open(&schema.options()) {
            Ok(_) => panic!("it was taken"),
            Err(error) => error,
        };
        assert!(matches!(error, DatabaseError::Table { .. }), "{error}");
        let version = schema.rows("SELECT version::text FROM @@.ripplet_schema");
        assert_eq!(version, [[Some("1".into())]]);
        error.to_string()
    };
    let error = refused(&mut schema);
    assert!(error.contains("`entities`") && error.contains("a column `features`"), "{error}");
    assert!(error.contains("name a new schema"), "{error}");
    schema.execute("ALTER TABLE @@.entities DROP COLUMN features");
    let error = refused(&mut schema);
    assert!(error.contains("`reasons`") && error.contains("is there already"), "{error}");
    assert!(error.contains("name a new schema"), "{error}");
}

#[test]
fn a_window_that_fails_in_the_middle_leaves_nothing() {
    let Some(mut schema) = Schema::new("middle") else { return };
    let days = busy(30);
    let out = days.path("run");
    Database::open(&schema.options()).unwrap();
    // Entities are written after clusters and members.
    schema.execute("ALTER TABLE @@.entities ADD CONSTRAINT few CHECK (\"window\" < 2)");
    let (error, text) = error_of(run_into(&schema.run(&days), &out, false));
    assert!(matches!(error, DatabaseError::Refused { .. }), "{text}");
    assert!(text.contains("the entities of the window of 2024-03-09 to 2024-03-22"), "{text}");
    assert!(text.contains("\"few\""), "{text}");
    assert_eq!(schema.windows(), vec!["0 1"; 3]);
    assert_eq!(RunFolder::open(&out).unwrap().finished().unwrap().len(), 2);
    schema.check(&out);
    let state = schema.rows("SELECT state FROM @@.runs");
    assert_eq!(state, [[Some(text)]]);
    // Rows of a window whose folder never got its name are replaced.
    schema.execute(
        "ALTER TABLE @@.entities DROP CONSTRAINT few; \
         INSERT INTO @@.windows SELECT run, 2, \"from\", until, 1, 1, 1, 1, 1, 1, warm, cut, '{}' \
         FROM @@.windows WHERE \"window\" = 1; \
         INSERT INTO @@.members VALUES ((SELECT run FROM @@.runs), 2, 'c0', 'account', 'false', 1, 1, 1, true, 'x', 1, 1)",
    );
    run_into(&schema.run(&days), &out, true).unwrap();
    assert_eq!(schema.windows(), vec!["0 1 2 3 4"; 3]);
    schema.check(&out);
}

#[test]
fn a_run_that_began_without_a_database_is_caught_up() {
    let Some(mut schema) = Schema::new("later") else { return };
    let days = busy(30);
    let out = days.path("run");
    let executor = CpuExecutor::new(Some(2)).unwrap();
    let mut watcher = Watcher::until(2);
    assert!(run::run(&executor, &plain(&days), &out, false, &mut watcher).is_err());
    run_into(&schema.run(&days), &out, true).unwrap();
    assert_eq!(schema.windows(), vec!["0 1 2 3 4"; 3]);
    schema.check(&out);
}

#[test]
fn a_server_that_goes_away_leaves_whole_windows() {
    let Some(mut schema) = Schema::new("gone") else { return };
    let days = busy(26);
    let out = days.path("run");
    Database::open(&schema.options()).unwrap();
    schema.execute(
        "CREATE FUNCTION @@.gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$; \
         CREATE TRIGGER gone BEFORE INSERT ON @@.known_bad FOR EACH ROW WHEN (NEW.\"window\" = 1) \
         EXECUTE FUNCTION @@.gone()",
    );
    let (error, text) = error_of(run_into(&schema.run(&days), &out, false));
    assert!(matches!(error, DatabaseError::Lost { .. }), "{text}");
    assert_eq!(schema.windows(), vec!["0"; 3]);
    schema.check(&out);
    schema.execute("DROP TRIGGER gone ON @@.known_bad");
    run_into(&schema.run(&days), &out, true).unwrap();
    schema.check(&out);
    let absent = DatabaseOptions {
        server: "postgres://stranger:hunter2@127.0.0.1:1/nothing".into(),
        ..schema.options()
    };
    let (error, text) = error_of(run_into(
        &RunOptions { database: Some(absent.clone()), ..plain(&days) },
        &days.path("other"),
        false,
    ));
    assert!(matches!(error, DatabaseError::Server(_)), "{text}");
    assert!(text.contains("PostgreSQL: cannot connect") && !text.contains("hunter2"), "{text}");
    assert!(!format!("{absent:?} {error:?}").contains("hunter2"));
    assert!(!days.path("other").exists(), "something is left");
}

#[test]
fn tables_of_another_version_and_of_others_are_refused() {
    let Some(mut schema) = Schema::new("version") else { return };
    let open = |schema: &Schema| match Database::open(&schema.options()) {
        Ok(_) => panic!("it was taken"),
        Err(error) => error.to_string(),
    };
    Database::open(&schema.options()).unwrap();
    schema.execute("UPDATE @@.ripplet_schema SET version = 99");
    let text = open(&schema);
    assert!(text.contains("has tables of version 99") && text.contains("version 2:"), "{text}");
    schema.execute("DELETE FROM @@.ripplet_schema");
    assert!(open(&schema).contains("version none"));
    schema.execute(
        "INSERT INTO @@.ripplet_schema VALUES (2); ALTER TABLE @@.clusters DROP COLUMN why",
    );
    let text = open(&schema);
    assert!(text.contains("the table `clusters`") && text.contains("no column `why`"), "{text}");
    schema.execute("ALTER TABLE @@.clusters ADD COLUMN why int");
    assert!(open(&schema).contains("has `why` as integer, not as text"));
    schema.execute("DROP TABLE @@.clusters");
    assert!(open(&schema).contains("the table `clusters`"));
    // Tables of these names that ripplet did not make.
    schema.execute("DROP SCHEMA @@ CASCADE; CREATE SCHEMA @@; CREATE TABLE @@.members (n int)");
    let text = open(&schema);
    assert!(text.contains("\"members\" already exists"), "{text}");
    assert_eq!(schema.rows("SELECT count(*)::text FROM @@.members"), [[Some("0".into())]]);
    let exists =
        format!("SELECT count(*)::text FROM pg_tables WHERE schemaname = '{}'", schema.name);
    assert_eq!(schema.rows(&exists), [[Some("1".into())]], "tables are created together or not");
    for name in ["", &"x".repeat(64), "a\0b"] {
        let options = DatabaseOptions { schema: name.into(), ..schema.options() };
        assert!(matches!(Database::open(&options), Err(DatabaseError::Name(_))), "{name}");
    }
}

#[test]
fn rights_that_are_lacking_are_named() {
    let Some(mut schema) = Schema::new("rights") else { return };
    let role = format!("ripplet_role_{}", std::process::id());
    schema.execute(&format!("CREATE ROLE {role} LOGIN PASSWORD 'hunter2'"));
    let config: Config = schema.server.parse().unwrap();
    let server = format!(
        "postgres://{role}:hunter2@127.0.0.1:{}/{}",
        config.get_ports()[0],
        config.get_dbname().unwrap()
    );
    let options = DatabaseOptions { server, ..schema.options() };
    let refused = || match Database::open(&options) {
        Err(error @ DatabaseError::Rights { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let found = refused();
    assert!(found.contains("permission denied for database"), "{found}");
    Database::open(&schema.options()).unwrap();
    let found = refused();
    assert!(found.contains("permission denied for schema"), "{found}");
    schema.execute(&format!(
        "GRANT USAGE ON SCHEMA @@ TO {role}; \
         GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA @@ TO {role}; GRANT UPDATE ON @@.runs TO {role}"
    ));
    let found = refused();
    assert!(found.contains(&format!("the user {role} has no right to DELETE in")), "{found}");
    assert!(!found.contains("hunter2"), "{found}");
    schema.execute(&format!("GRANT DELETE ON ALL TABLES IN SCHEMA @@ TO {role}"));
    // A user whose transactions only read by default writes all the same.
    schema.execute(&format!("ALTER ROLE {role} SET default_transaction_read_only = on"));
    let days = busy(20);
    let run = RunOptions { database: Some(options.clone()), ..plain(&days) };
    run_into(&run, &days.path("run"), false).unwrap();
    schema.check(&days.path("run"));
    let manifest = std::fs::read_to_string(days.path("run/manifest.json")).unwrap();
    assert!(!manifest.contains("hunter2"), "passwords are not written down");
    schema.execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}
