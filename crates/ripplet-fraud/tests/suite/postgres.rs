//! Transactions from a real PostgreSQL server: its address is in `RIPPLET_POSTGRES`, as `.ci/run` sets it, and the file
//! of the authority that issued its certificate, which is for `localhost`, in `RIPPLET_POSTGRES_ROOT`.
//!
//! Without them, these tests say so and do nothing; with `RIPPLET_REQUIRE_POSTGRES`, they fail.

use super::ranks::{are_equal, on_ranks, rows_differ};
use super::runs::{Watcher, options, results, run_into};
use arrow_array::cast::AsArray;
use postgres::{Client, Config, NoTls};
use ripplet_fraud::feed::{Feed, FeedError};
use ripplet_fraud::folder::RunFolder;
use ripplet_fraud::run::{PipelineError, RunOptions};
use ripplet_fraud::source::SourceError;
use ripplet_fraud::source::postgres::open;
use ripplet_fraud::source::reader::{ReaderError, Sources};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

const MAPPING: &str = "time = \"at\"\namount = \"eur\"\n[source]\ncolumn = \"from\"\nkind = \"user\"\n\
    [target]\ncolumn = \"to\"\nkind = \"shop\"\n";

pub fn server() -> Option<String> {
    let server = std::env::var("RIPPLET_POSTGRES").ok();
    if server.is_none() {
        assert!(std::env::var("RIPPLET_REQUIRE_POSTGRES").is_err(), "RIPPLET_POSTGRES is not set");
        eprintln!("no RIPPLET_POSTGRES: nothing is tested");
    }
    server
}

/// A server with a table of transactions of its own, which goes with it.
struct Table {
    server: String,
    name: String,
    client: Client,
}

impl Table {
    fn new(name: &str, columns: &str) -> Option<Table> {
        let server = server()?;
        let mut client = Client::connect(&server, NoTls).unwrap();
        let name = format!("ripplet_{name}_{}", std::process::id());
        client.batch_execute(&format!("CREATE TABLE {name} ({columns})")).unwrap();
        Some(Table { server, name, client })
    }

    fn options(&self, query: &str, folder: &Path) -> RunOptions {
        fs::write(folder.join("known.csv"), "id\n1\n").unwrap();
        let mut options = options(&[], MAPPING, &folder.join("known.csv"));
        let query = query.replace("TABLE", &self.name);
        options.feed.sources = Sources::Query { server: self.server.clone(), query };
        options
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        let _ = self.client.batch_execute(&format!("DROP TABLE {}", self.name));
    }
}

#[test]
fn a_query_gives_what_a_file_gives() {
    let columns =
        "\"from\" int8 NOT NULL, \"to\" varchar(20), at timestamptz, eur numeric(12, 2), note text";
    let Some(mut table) = Table::new("same", columns) else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut csv = String::from("from,to,at,eur\n");
    let mut values = Vec::new();
    for row in 0..3000u64 {
        let mix = row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let (from, to, day, cents) = (mix % 90, mix / 90 % 40, 1 + row / 500, mix % 100_000);
        let (at, eur) =
            (format!("2024-03-{day:02}T12:00:00Z"), format!("{}.{:02}", cents / 100, cents % 100));
        csv += &format!("{from},s{to},{at},{eur}\n");
        values.push(format!("({from}, 's{to}', '{at}', {eur}, NULL)"));
    }
    table
        .client
        .batch_execute(&format!("INSERT INTO {} VALUES {}", table.name, values.join(",")))
        .unwrap();
    let streamed = table
        .options("SELECT note, eur, \"to\", at, \"from\" FROM TABLE ORDER BY at;", folder.path());
    // The rows of a day are in no order, so entities may be numbered otherwise: ask for the same order.
    let streamed = RunOptions {
        feed: ripplet_fraud::feed::FeedOptions {
            sources: match streamed.feed.sources {
                Sources::Query { server, query } => {
                    Sources::Query { server, query: query.replace("ORDER BY at;", "ORDER BY ctid") }
                }
                other => other,
            },
            ..streamed.feed
        },
        ..streamed
    };
    let manifest = run_into(&streamed, &folder.path().join("streamed"), false).unwrap();
    assert_eq!((manifest.counts.rows, manifest.windows.len()), (3000, 4));
    assert_eq!((&*manifest.inputs[0].path, manifest.inputs[0].rows), ("the query", 3000));
    fs::write(folder.path().join("rows.csv"), csv).unwrap();
    let read =
        options(&[&folder.path().join("rows.csv")], MAPPING, &folder.path().join("known.csv"));
    run_into(&read, &folder.path().join("read"), false).unwrap();
    assert_eq!(results(&folder.path().join("streamed")), results(&folder.path().join("read")));
    let text = fs::read_to_string(folder.path().join("streamed/manifest.json")).unwrap();
    assert!(!text.contains(&table.server), "passwords are not written down");
}

#[test]
fn what_the_server_or_the_query_lacks_is_reported() {
    let Some(table) =
        Table::new("lacks", "\"from\" text, \"to\" text, at date, eur float8, j jsonb")
    else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let refused = |query: &str, folder: &Path| {
        let out = tempfile::tempdir().unwrap();
        run_into(&table.options(query, folder), out.path(), false).unwrap_err().to_string()
    };
    let found = refused("SELECT \"from\", at, eur FROM TABLE", folder.path());
    assert!(
        found.contains("the query: there is no column `to`; the columns are from, at, eur"),
        "{found}"
    );
    let found = refused("SELECT \"from\", j AS \"to\", at, eur FROM TABLE", folder.path());
    assert!(found.contains("the column `to` is jsonb"), "{found}");
    let found = refused("SELECT nothing", folder.path());
    assert!(found.contains("column \"nothing\" does not exist"), "{found}");
    let mut unreachable = table.options("SELECT 1", folder.path());
    let server = "postgres://stranger@127.0.0.1:1/nothing".to_owned();
    unreachable.feed.sources = Sources::Query { server, query: "SELECT 1".into() };
    let found = run_into(&unreachable, &folder.path().join("run"), false).unwrap_err().to_string();
    assert!(found.contains("PostgreSQL: cannot connect"), "{found}");
}

#[test]
fn a_query_that_is_wrong_is_told_from_a_server_that_fails() {
    let Some(server) = server() else { return };
    let of = |query: &str| match open(&server, query, &["n"]) {
        Err(error) => Err(error),
        Ok(batches) => batches
            .map(|batch| batch.map(|batch| batch.columns.num_rows()))
            .sum::<Result<usize, _>>(),
    };
    for (query, expected) in [
        ("SELECT nothing AS n", "(at character 8 of the query)"),
        ("SELECT 1 AS n FROM no_table", "does not exist"),
        ("SELEKT 1", "syntax error"),
        ("SELECT 1 AS n; SELECT 2 AS n", "cannot insert multiple commands"),
        // These fail once rows come.
        ("SELECT 1 / (3 - i) AS n FROM generate_series(1, 5) AS i", "division by zero"),
        ("SELECT ('a' || i)::int AS n FROM generate_series(1, 5) AS i", "invalid input syntax"),
    ] {
        let error = of(query).unwrap_err();
        assert!(matches!(error, SourceError::Sql { .. }), "{query}: {error}");
        assert!(error.to_string().contains(expected), "{query}: {error}");
    }
    let gone = "SELECT pg_terminate_backend(pg_backend_pid())::int AS n";
    assert!(matches!(of(gone), Err(SourceError::Query { .. })), "the server's own");
    // Comments and semicolons may end a query.
    for query in [
        "SELECT 1 AS n -- one",
        "SELECT 1 AS n; -- one;",
        "SELECT 1 AS n /* one */ ;\n-- and\n/* more */",
        "SELECT i AS n FROM (VALUES (1)) AS v(i) WHERE '--' <> ';' ;;",
    ] {
        assert_eq!(of(query).unwrap(), 1, "{query}");
    }
}

/// A query reads and gives columns.
#[test]
fn a_query_that_writes_or_gives_nothing_is_refused() {
    let Some(mut table) = Table::new("reads", "n int") else { return };
    let of = |query: String| match open(&table.server, &query, &["n"]) {
        Err(error) => error,
        Ok(batches) => batches.map(|batch| batch.map(|_| ())).find_map(Result::err).unwrap(),
    };
    for (query, expected) in [
        (format!("INSERT INTO {} VALUES (1) RETURNING n", table.name), "read-only transaction"),
        (String::new(), "it is empty"),
        ("-- nothing".into(), "it is empty"),
        ("SELECT FROM generate_series(1, 3)".into(), "it gives no columns"),
    ] {
        let error = of(query.clone());
        assert!(matches!(error, SourceError::Sql { .. }), "{query}: {error}");
        assert!(error.to_string().contains(expected), "{query}: {error}");
    }
    // A hint is said once, on one line.
    let error = of("SELECT no_such_function(1) AS n".into()).to_string();
    assert_eq!(error.matches("No function matches").count(), 1, "{error}");
    assert!(!error.contains('\n') && !error.contains("HINT"), "{error}");
    let rows = format!("SELECT count(*) FROM {}", table.name);
    assert_eq!(table.client.query_one(&rows, &[]).unwrap().get::<_, i64>(0), 0);
    // The last year that the server knows is no infinity.
    let error = open(&table.server, "SELECT timestamp '294276-12-31' AS n", &["n"]);
    assert!(error.unwrap().all(|batch| batch.is_ok()));
}

/// A server that asks for a password.
#[test]
fn where_a_password_may_stand_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut question = [0; 1024];
        let _ = stream.read(&mut question).unwrap();
        // In clear text: the tag, the length, and the kind 3.
        stream.write_all(&[b'R', 0, 0, 0, 8, 0, 0, 0, 3]).unwrap();
        let _ = stream.read(&mut question);
    });
    let folder = tempfile::tempdir().unwrap();
    let address = format!(
        "host=127.0.0.1 port={port} user=u dbname=x sslmode=disable passfile={}",
        folder.path().join("none").display()
    );
    fs::write(folder.path().join("none"), "").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(folder.path().join("none"), private).unwrap();
    }
    let refused = open(&address, "SELECT 1 AS n", &["n"]).err().unwrap();
    assert!(matches!(refused, SourceError::Server { .. }), "{refused:?}");
    for part in ["--password-file", "PGPASSWORD", "~/.pgpass"] {
        assert!(refused.to_string().contains(part), "{refused}");
    }
    server.join().unwrap();
}

/// File of the authority that issued the server's certificate.
fn root() -> Option<String> {
    server()?;
    let root = std::env::var("RIPPLET_POSTGRES_ROOT").ok();
    if root.is_none() {
        assert!(
            std::env::var("RIPPLET_REQUIRE_POSTGRES").is_err(),
            "RIPPLET_POSTGRES_ROOT is not set"
        );
        eprintln!("no RIPPLET_POSTGRES_ROOT: nothing is tested");
    }
    root
}

/// Encryption of the connection as the server reports it: `TLSv1.3` or `none`; or the error.
fn spoken_to(server: &str) -> Result<String, String> {
    let query = "SELECT CASE WHEN ssl THEN version ELSE 'none' END AS how FROM pg_stat_ssl \
                 WHERE pid = pg_backend_pid()";
    let mut batches = open(server, query, &["how"]).map_err(|error| error.to_string())?;
    let batch = batches.next().unwrap().map_err(|error| error.to_string())?;
    Ok(batch.columns.column(0).as_string::<i32>().value(0).to_owned())
}

#[test]
fn connections_are_encrypted_and_checked_as_is_asked_for() {
    let (Some(server), Some(root)) = (server(), root()) else { return };
    let other = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/other-root.crt");
    let config: Config = server.parse().unwrap();
    // A number, and the name that its certificate is for.
    let number = |more: &str| {
        spoken_to(&format!("{server}{}{more}", if server.contains('?') { "&" } else { "?" }))
    };
    let (port, user) = (config.get_ports()[0], config.get_user().unwrap());
    let name = |more: &str| {
        spoken_to(&format!(
            "host=localhost hostaddr=127.0.0.1 port={port} user={user} dbname=postgres {more}"
        ))
    };
    let encrypted = Ok("TLSv1.3".to_owned());
    assert_eq!(number("sslmode=disable"), Ok("none".into()));
    assert_eq!(number("sslmode=prefer"), encrypted);
    assert_eq!(number("sslmode=require"), encrypted);
    assert_eq!(number(&format!("sslmode=require&sslrootcert={root}")), encrypted);
    assert_eq!(number(&format!("sslmode=verify-ca&sslrootcert={root}")), encrypted);
    assert_eq!(name(&format!("sslmode=verify-full sslrootcert='{root}'")), encrypted);

    let refused = number(&format!("sslmode=verify-full&sslrootcert={root}")).unwrap_err();
    assert!(refused.contains("PostgreSQL: cannot connect: "), "{refused}");
    assert!(
        refused.contains("\"localhost\"") && refused.contains("sslmode=verify-ca"),
        "{refused}"
    );
    for mode in ["prefer", "require", "verify-ca", "verify-full"] {
        let refused = name(&format!("sslmode={mode} sslrootcert={other}")).unwrap_err();
        assert!(refused.contains("certificate: UnknownIssuer"), "{refused}");
        assert!(refused.contains(&format!("is not in {other}: name a file")), "{refused}");
    }
    let refused = name("sslmode=verify-full sslrootcert=/no/such/file").unwrap_err();
    assert!(refused.contains("sslrootcert /no/such/file: No such file"), "{refused}");
    let refused = name(&format!("sslmode=verify-full sslrootcert={}", file!())).unwrap_err();
    assert!(refused.contains("sslrootcert"), "{refused}");
}

/// A server that answers a question for encryption as one does that has none.
#[test]
fn a_server_without_encryption_is_refused_where_it_is_required() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().unwrap();
            let mut question = [0; 8];
            stream.read_exact(&mut question).unwrap();
            assert_eq!(question, [0, 0, 0, 8, 4, 210, 22, 47]);
            stream.write_all(b"N").unwrap();
        }
    });
    for mode in ["require", "verify-ca"] {
        let other = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/other-root.crt");
        let address =
            format!("postgres://stranger@127.0.0.1:{port}/x?sslmode={mode}&sslrootcert={other}");
        let refused = spoken_to(&address).unwrap_err();
        assert!(refused.contains("does not support TLS. Turn encryption on there"), "{refused}");
    }
    server.join().unwrap();
}

/// A server that announces a message of 2 GiB, and sends what it can of it.
#[test]
fn a_message_that_is_too_long_is_refused_at_its_head() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let mut sent = Vec::new();
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().unwrap();
            let mut question = [0; 8];
            stream.read_exact(&mut question).unwrap();
            if question == [0, 0, 0, 8, 4, 210, 22, 47] {
                stream.write_all(b"N").unwrap();
            }
            stream.write_all(&[b'S', 0x7f, 0xff, 0xff, 0xff]).unwrap();
            let mut bytes = 0;
            while bytes < 1 << 30 && stream.write_all(&[0; 1 << 16]).is_ok() {
                bytes += 1 << 16;
            }
            sent.push(bytes);
        }
        sent
    });
    for mode in ["disable", "prefer"] {
        let refused =
            spoken_to(&format!("postgres://u:p@127.0.0.1:{port}/x?sslmode={mode}")).unwrap_err();
        let expected = "the server 127.0.0.1 announces a message of 2147483647 bytes, and 16 MiB";
        assert!(refused.contains(expected), "{refused}");
    }
    let sent = server.join().unwrap();
    assert!(sent.iter().all(|&bytes| bytes < 64 << 20), "{sent:?} bytes were taken");
}

/// A server that takes connections and never answers.
#[test]
fn who_waits_for_a_server_can_give_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = format!("postgres://stranger@127.0.0.1:{port}/x");
    let mut options = options(&[], MAPPING, Path::new("known.csv")).feed;
    options.sources = Sources::Query { server, query: "SELECT 1".into() };
    let mut feed = Feed::begin(&options).unwrap();
    let begin = Instant::now();
    let is_enough = || begin.elapsed() > Duration::from_millis(250);
    let ended = feed.advance(|_| Ok(()), is_enough);
    assert!(matches!(ended, Err(FeedError::Cancelled)), "{ended:?}");
    assert!(begin.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_server_that_goes_in_mid_stream_leaves_finished_windows() {
    let columns = "\"from\" text, \"to\" text, at timestamp, eur int4";
    let Some(mut table) = Table::new("gone", columns) else { return };
    let folder = tempfile::tempdir().unwrap();
    let insert = format!(
        "INSERT INTO {} SELECT 'u' || (i * 7919) % 500, 's' || (i * 31) % 200, \
         timestamp '2024-03-01' + i * interval '30 second', i % 100 FROM generate_series(0, 99999) AS i",
        table.name
    );
    table.client.batch_execute(&insert).unwrap();
    // A month of rows; behind the first 90,000 the server's own process is ended. It waits before, as what has come and was
    // not read yet is lost with a connection.
    let query = "SELECT t.*, CASE row_number() OVER () WHEN 89999 THEN pg_sleep(3)::text \
                 WHEN 90000 THEN pg_terminate_backend(pg_backend_pid())::text END \
                 FROM (SELECT * FROM TABLE ORDER BY at) AS t";
    let options = table.options(query, folder.path());
    let out = folder.path().join("run");
    let refused = run_into(&options, &out, false).unwrap_err().to_string();
    assert!(refused.contains("PostgreSQL: broken off after"), "{refused}");
    let folder = RunFolder::open(&out).unwrap();
    let windows = folder.finished().unwrap();
    assert!(!windows.is_empty(), "finished windows are kept: {refused}");
    let manifest = folder.manifest().unwrap();
    assert_eq!((manifest.state, manifest.windows.len()), (refused, windows.len()));
    assert!(out.join("report.html").exists());
}

/// Of each type of times, and of texts: named by its row, and counted if such rows are skipped.
#[test]
fn infinite_times_and_wide_offsets_are_bad_rows() {
    let columns =
        "\"from\" text, \"to\" text, a timestamp, z timestamptz, d date, t text, eur int4";
    let Some(mut table) = Table::new("infinite", columns) else { return };
    let folder = tempfile::tempdir().unwrap();
    let day = |day: u32| format!("2024-03-{day:02}");
    let good = |user: u32, of: u32| {
        let at = day(of);
        format!("('u{user}', 's', '{at}', '{at} 00:00:00Z', '{at}', '{at}T00:00:00+18:00', 1)")
    };
    let rows: Vec<String> = (1..=6).flat_map(|of| (0..4).map(move |user| good(user, of))).collect();
    // Only what a column can hold; the text has what the others have and offsets.
    let bad =
        |time: &str, text: &str| format!("('u0', 's', '{time}', '{time}', '{time}', '{text}', 1)");
    let mut rows = rows;
    rows.insert(5, bad("infinity", "2024-03-02T00:00:00+18:01"));
    rows.insert(9, bad("-infinity", "2024-03-03T00:00:00-99:99"));
    let insert = format!("INSERT INTO {} VALUES {}", table.name, rows.join(","));
    table.client.batch_execute(&insert).unwrap();
    for (column, first, second) in [
        ("a", "`infinity`", "`-infinity`"),
        ("z", "`infinity`", "`-infinity`"),
        ("d", "`infinity`", "`-infinity`"),
        ("t", "`2024-03-02T00:00:00+18:01`", "`2024-03-03T00:00:00-99:99`"),
    ] {
        let query =
            format!("SELECT \"from\", \"to\", {column} AS at, eur FROM TABLE ORDER BY ctid");
        let mut options = table.options(&query, folder.path());
        let out = |name: &str| folder.path().join(format!("{column}-{name}"));
        let refused = run_into(&options, &out("stop"), false).unwrap_err().to_string();
        let expected = format!("at row 6: {first} in the column `at` is no time");
        assert!(refused.contains(&expected), "{column}: {refused}");
        let query = query.replace(
            "ORDER BY",
            &format!("WHERE {column}::text NOT LIKE '{}' ORDER BY", first.trim_matches('`')),
        );
        let without = table.options(&query, folder.path());
        let refused = run_into(&without, &out("second"), false).unwrap_err().to_string();
        let expected = format!("at row 9: {second} in the column `at` is no time");
        assert!(refused.contains(&expected), "{column}: {refused}");
        assert!(!out("stop").exists() && !out("second").exists(), "something is left");
        options.feed.skip_bad_rows = true;
        let manifest = run_into(&options, &out("skip"), false).unwrap();
        assert_eq!(manifest.counts.faults, [("bad time".to_owned(), 2)].into(), "{column}");
        assert_eq!((manifest.counts.taken, manifest.windows.len()), (24, 4), "{column}");
    }
}

/// A table of payments of six days.
fn payments(name: &str) -> Option<Table> {
    let columns = "id serial, \"from\" text, \"to\" text, at timestamp, eur int4";
    let mut table = Table::new(name, columns)?;
    let insert = format!(
        "INSERT INTO {} (\"from\", \"to\", at, eur) SELECT 'u' || (i * 7919) % 90, 's' || (i * 31) % 40, \
         timestamp '2024-03-01' + i * interval '3 minute', i % 100 FROM generate_series(0, 2879) AS i",
        table.name
    );
    table.client.batch_execute(&insert).unwrap();
    Some(table)
}

/// Passes bytes on until the connection ends.
fn pass_on(from: TcpStream, to: TcpStream) {
    let (mut from, mut to) = (from, to);
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.shutdown(std::net::Shutdown::Both);
}

/// A rank connects through what inserts rows first.
#[test]
fn rows_that_are_inserted_between_the_starts_of_ranks_are_not_read() {
    let Some(mut table) = payments("between") else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut options =
        table.options("SELECT \"from\", \"to\", at, eur FROM TABLE ORDER BY at, id", folder.path());
    options.exact = true;
    let one = folder.path().join("one");
    run_into(&options, &one, false).unwrap();

    let config: Config = table.server.parse().unwrap();
    let to = format!("127.0.0.1:{}", config.get_ports()[0]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (server, insert) = (
        table.server.clone(),
        format!(
            "INSERT INTO {} (\"from\", \"to\", at, eur) SELECT 'new' || i, 's1', timestamp '2024-03-02' + i * \
             interval '1 hour', 7 FROM generate_series(0, 60) AS i",
            table.name
        ),
    );
    let between = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        Client::connect(&server, NoTls).unwrap().batch_execute(&insert).unwrap();
        let onward = TcpStream::connect(to).unwrap();
        let (back, behind) = (stream.try_clone().unwrap(), onward.try_clone().unwrap());
        let answers = std::thread::spawn(move || pass_on(behind, back));
        pass_on(stream, onward);
        answers.join().unwrap();
    });
    let later = format!(
        "postgres://{}@127.0.0.1:{port}/{}?sslmode=disable",
        config.get_user().unwrap(),
        config.get_dbname().unwrap()
    );
    let out = folder.path().join("ranks");
    let all = on_ranks(3, false, |rank| {
        let mut options = options.clone();
        if let (1, Sources::Query { server, .. }) = (rank, &mut options.feed.sources) {
            later.clone_into(server);
        }
        (options, out.clone(), Watcher::default())
    });
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    between.join().unwrap();
    let rows = table.client.query_one(&format!("SELECT count(*) FROM {}", table.name), &[]);
    assert_eq!(rows.unwrap().get::<_, i64>(0), 2880 + 61);
    are_equal(&out, &one);
    // The transaction of the snapshot ends with the run, if not before.
    let open = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_export_snapshot()' \
                AND state = 'idle in transaction' AND pid <> pg_backend_pid()";
    let begin = Instant::now();
    while table.client.query_one(open, &[]).unwrap().get::<_, i64>(0) > 0 {
        assert!(begin.elapsed() < Duration::from_secs(20), "a snapshot is kept");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_query_that_gives_ranks_other_rows_is_refused() {
    let Some(table) = payments("random") else { return };
    let folder = tempfile::tempdir().unwrap();
    for query in [
        "SELECT \"from\", \"to\", at, (random() * 1e9)::int AS eur FROM TABLE ORDER BY at, id",
        "SELECT \"from\", \"to\", at, eur FROM TABLE ORDER BY random()",
        "SELECT \"from\", \"to\", at, eur FROM TABLE ORDER BY at::date, random()",
    ] {
        let mut options = table.options(query, folder.path());
        options.exact = true;
        let out = folder.path().join("run");
        let all = on_ranks(2, false, |_| (options.clone(), out.clone(), Watcher::default()));
        assert_eq!(rows_differ(all, "the query", (1, 0)), 1, "{query}");
        assert!(!out.exists(), "{query}");
    }
}

/// A rank whose address is that of another database, as a balancer may lead to another server.
#[test]
fn a_rank_that_cannot_import_the_snapshot_is_named() {
    let Some(table) = payments("elsewhere") else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut options = table.options("SELECT * FROM TABLE ORDER BY at, id", folder.path());
    options.exact = true;
    let config: Config = table.server.parse().unwrap();
    let (user, port) = (config.get_user().unwrap(), config.get_ports()[0]);
    let other = format!("postgres://{user}@127.0.0.1:{port}/template1");
    let out = folder.path().join("run");
    let all = on_ranks(3, false, |rank| {
        let mut options = options.clone();
        if let (2, Sources::Query { server, .. }) = (rank, &mut options.feed.sources) {
            other.clone_into(server);
        }
        (options, out.clone(), Watcher::default())
    });
    for (rank, end) in all.into_iter().enumerate() {
        let error = end.unwrap_err();
        assert_eq!(matches!(error, PipelineError::Elsewhere { rank: 2, .. }), rank != 2);
        let error = error.to_string();
        assert!(error.contains("cannot read one snapshot of the database: "), "{error}");
        assert!(error.contains("different database. Give the address of one server"), "{error}");
    }
    assert!(!out.exists());
}

/// A server that refuses transactions, as a pooler of statements does.
#[test]
fn a_server_that_exports_no_snapshot_is_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let message = |tag: u8, body: &[u8]| {
        let mut all = vec![tag];
        all.extend((body.len() as u32 + 4).to_be_bytes());
        all.extend(body);
        all
    };
    let pooler = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = [0; 1024];
        let _ = stream.read(&mut asked).unwrap();
        let ready = message(b'Z', b"I");
        stream.write_all(&[message(b'R', &[0; 4]), ready.clone()].concat()).unwrap();
        let _ = stream.read(&mut asked).unwrap();
        assert!(asked.starts_with(b"Q"));
        let refused = message(b'E', b"SERROR\0C08P01\0Mno transactions here\0\0");
        stream.write_all(&[refused, ready].concat()).unwrap();
        // Until the connection is closed.
        while stream.read(&mut asked).is_ok_and(|read| read > 0) {}
    });
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("known.csv"), "id\n1\n").unwrap();
    let mut options = options(&[], MAPPING, &folder.path().join("known.csv"));
    let server = format!("postgres://u:p@127.0.0.1:{port}/x?sslmode=disable");
    options.feed.sources = Sources::Query { server, query: "SELECT 1".into() };
    options.exact = true;
    let out = folder.path().join("run");
    let all = on_ranks(2, false, |_| (options.clone(), out.clone(), Watcher::default()));
    assert!(
        matches!(
            &all[0],
            Err(PipelineError::Feed(FeedError::Reader(ReaderError::Source(
                SourceError::Snapshot { .. }
            ))))
        ),
        "{all:?}"
    );
    assert!(matches!(&all[1], Err(PipelineError::Elsewhere { rank: 0, .. })), "{all:?}");
    for end in all {
        let error = end.unwrap_err().to_string();
        assert!(error.contains("database: no transactions here. Give the address"), "{error}");
    }
    assert!(!out.exists());
    pooler.join().unwrap();
}
