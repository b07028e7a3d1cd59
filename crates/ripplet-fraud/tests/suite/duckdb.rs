//! Transactions of a DuckDB file by the command `duckdb`: its path is in `RIPPLET_DUCKDB`, as `.ci/run` sets it.
//!
//! Without it, the tests that need it say so and do nothing; with `RIPPLET_REQUIRE_DUCKDB`, they fail.

use super::ranks::{are_equal, exact, on_ranks, rows_differ};
use super::runs::{Days, MAPPING, Watcher, options, results, run_into};
use ripplet_fraud::source::duckdb::{open, program};
use ripplet_fraud::source::reader::Sources;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Whether there is the command.
fn is_there() -> bool {
    let found = std::env::var_os("RIPPLET_DUCKDB").is_some();
    if !found {
        assert!(std::env::var_os("RIPPLET_REQUIRE_DUCKDB").is_none(), "RIPPLET_DUCKDB is not set");
        eprintln!("no RIPPLET_DUCKDB: nothing is tested");
    }
    found
}

fn execute(file: &Path, statements: &str) {
    let done = Command::new(program()).arg(file).args(["-c", statements]).output().unwrap();
    assert!(done.status.success(), "{done:?}");
}

fn error_of(file: &Path, query: &str) -> String {
    match open(&program(), file, query, &["n"]) {
        Err(error) => error.to_string(),
        Ok(batches) => {
            batches.map(|batch| batch.map(|_| ())).find_map(Result::err).expect(query).to_string()
        }
    }
}

#[test]
fn a_query_gives_what_a_file_gives() {
    if !is_there() {
        return;
    }
    let days = Days::new(5);
    let file = days.path("shop.duckdb");
    let rows: String =
        (1..=5).map(|day| Days::rows(day).split_once('\n').unwrap().1.to_owned()).collect();
    fs::write(days.path("rows.csv"), format!("from,to,at,eur\n{rows}")).unwrap();
    execute(
        &file,
        &format!(
            "CREATE TABLE pay AS SELECT row_number() OVER () AS n, \"from\", \"to\", \"at\"::timestamptz AS \"at\", \
             eur::decimal(18, 2) AS eur FROM read_csv('{}')",
            days.path("rows.csv").display()
        ),
    );
    let read = options(&[&days.path("rows.csv")], MAPPING, &days.path("known.csv"));
    run_into(&read, &days.path("read"), false).unwrap();
    let mut asked = read.clone();
    let query = "SELECT eur, \"to\", \"at\", \"from\" FROM pay ORDER BY n; -- all".to_owned();
    asked.feed.sources = Sources::DuckDb { file: file.clone(), query };
    let manifest = run_into(&asked, &days.path("asked"), false).unwrap();
    assert_eq!(results(&days.path("asked")), results(&days.path("read")));
    let input = &manifest.inputs[0];
    assert_eq!(input.path, format!("the query of {}", file.display()));
    assert_eq!((input.rows, &input.sha256), (manifest.counts.rows, &None));
    // A resumed run asks again.
    run_into(&asked, &days.path("asked"), true).unwrap();
    // Blanks are part of ids, and null is an empty field.
    execute(
        &file,
        "UPDATE pay SET \"from\" = ' ' || \"from\" WHERE n = 1; UPDATE pay SET eur = NULL WHERE n = 7",
    );
    let refused = run_into(&asked, &days.path("null"), false).unwrap_err().to_string();
    assert!(refused.contains("row 7: the column `eur` is empty"), "{refused}");
    asked.feed.skip_bad_rows = true;
    let manifest = run_into(&asked, &days.path("blanks"), false).unwrap();
    assert_eq!(manifest.counts.trimmed, 0);
    let mut other = asked.clone();
    other.feed.sources =
        Sources::DuckDb { file, query: "SELECT \"from\", \"at\", eur FROM pay".into() };
    let refused = run_into(&other, &days.path("column"), false).unwrap_err().to_string();
    assert!(
        refused.contains("there is no column `to`; the columns are from, at, eur"),
        "{refused}"
    );
}

#[test]
fn ranks_read_the_same_rows_or_end() {
    if !is_there() {
        return;
    }
    let days = Days::new(5);
    let file = days.path("shop.duckdb");
    execute(
        &file,
        &format!(
            "CREATE TABLE pay AS SELECT row_number() OVER () AS n, * FROM read_csv('{}/*.csv')",
            days.path("days").display()
        ),
    );
    let mut asked = exact(&days);
    let mut ask = |query: &str| {
        asked.feed.sources = Sources::DuckDb { file: file.clone(), query: query.into() };
        asked.clone()
    };
    let options = ask("SELECT * FROM pay ORDER BY \"at\", n");
    run_into(&options, &days.path("one"), false).unwrap();
    let folder = days.path("ranks");
    let all = on_ranks(2, false, |_| (options.clone(), folder.clone(), Watcher::default()));
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    are_equal(&folder, &days.path("one"));
    let options = ask(
        "SELECT \"from\", \"to\", \"at\", (random() * 1000000)::int AS eur FROM pay ORDER BY \"at\", n",
    );
    let folder = days.path("random");
    let all = on_ranks(2, false, |_| (options.clone(), folder.clone(), Watcher::default()));
    rows_differ(all, &format!("the query of {}", file.display()), (1, 0));
    assert!(!folder.exists());
}

#[test]
fn queries_that_fail_have_the_message() {
    if !is_there() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.duckdb");
    execute(&file, "CREATE TABLE t AS SELECT 1 AS n");
    for (query, expected) in [
        ("SELECT nothing AS n FROM t", "Binder Error: Referenced column \"nothing\" not found"),
        ("SELEKT 1", "Parser Error"),
        ("-- nothing", "the query is empty"),
        ("SELECT 1 AS n); DROP TABLE t; --", "Error"),
        // It fails once rows have come.
        (
            "SELECT CASE WHEN i = 900000 THEN 'x' ELSE '1' END::int AS n FROM range(1000000) r(i)",
            "Conversion Error",
        ),
    ] {
        let found = error_of(&file, query);
        assert!(
            found.contains("a.duckdb: DuckDB: ") && found.contains(expected),
            "{query}: {found}"
        );
    }
    // The file is only read.
    assert!(open(&program(), &file, "SELECT n FROM t", &["n"]).unwrap().all(|batch| batch.is_ok()));
    fs::write(folder.path().join("text"), "no database").unwrap();
    let found = error_of(&folder.path().join("text"), "SELECT 1 AS n");
    assert!(found.contains("not a valid DuckDB database file"), "{found}");
    // A reader that stops ends the command.
    let many = "SELECT i AS n FROM range(1000000000000) r(i)";
    let first = open(&program(), &file, many, &["n"]).unwrap().next().unwrap().unwrap();
    assert_eq!(first.columns.num_rows(), ripplet_fraud::source::ROWS);
}

#[cfg(unix)]
#[test]
fn a_command_that_is_absent_or_fails_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.duckdb");
    let of = |program: &Path| match open(program, &file, "SELECT 1 AS n", &["n"]) {
        Err(error) => error.to_string(),
        Ok(batches) => {
            batches.map(|batch| batch.map(|_| ())).find_map(Result::err).unwrap().to_string()
        }
    };
    assert!(of(Path::new("/no/such/duckdb")).contains("a.duckdb: No such file"));
    fs::write(&file, "").unwrap();
    let found = of(Path::new("/no/such/duckdb"));
    assert!(
        found.contains("cannot start `/no/such/duckdb`") && found.contains("RIPPLET_DUCKDB"),
        "{found}"
    );
    let program = folder.path().join("program");
    let write = |script: &str| {
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    };
    // What it says is kept up to a bound, and it never waits for a reader.
    write("printf 'n\\n1\\n'; yes x | head -c 1000000 >&2; exit 3");
    let found = of(&program);
    assert!(found.contains("DuckDB: x x") && found.len() < 70_000, "{}", found.len());
    write("printf 'n\\n1\\n'; exit 3");
    assert!(of(&program).contains("the command ended with exit status: 3"));
    write("echo no rows >&2; exit 1");
    assert!(of(&program).contains("DuckDB: no rows"));
    write("exit 0");
    assert!(of(&program).contains("the file is empty"));
}
