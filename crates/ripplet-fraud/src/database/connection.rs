//! Connection to a database of results.

use super::rows::{self, END, HEAD};
use super::tables::{self, FEATURE_PREFIX, FEATURES, FileTable, RUNS, SqlColumn, WINDOWS, quoted};
use super::{DatabaseError, DatabaseOptions, Replaced, RunIdentity, VERSION};
use crate::Timestamp;
use crate::folder::WindowRecord;
use crate::source::postgres::{answered_within, sentence, server::Server};
use postgres::{Client, Transaction};
use ripplet_io::Format;
use ripplet_io::tables::TableFile;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Bytes that are sent at once.
const SENT: usize = 1 << 16;
/// Longest name in PostgreSQL in bytes; longer ones are cut there.
const LONGEST_NAME: usize = 63;
/// Lock under which tables are created: two runs that begin at once create them once.
const LOCK: i64 = 0x7269_7070_6c65_7400;
/// Begin of each transaction: it writes, whatever the user's default, and waits a minute for locks of other sessions.
const BEGIN: &str = "SET TRANSACTION READ WRITE; SET LOCAL lock_timeout = '60s'";

/// Connection to a database of results.
pub struct Database {
    server: Server,
    schema: String,
    client: Client,
}

impl fmt::Debug for Database {
    /// Formats the schema alone: the server's address may have a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl Database {
    /// Connects, creates the tables if they are absent, and checks their version, columns and the user's rights.
    ///
    /// # Errors
    /// If the server cannot be reached, the tables are of another version, or the user lacks a right.
    pub fn open(options: &DatabaseOptions) -> Result<Database, DatabaseError> {
        let DatabaseOptions { server, schema } = options;
        if schema.is_empty() || schema.len() > LONGEST_NAME || schema.contains('\0') {
            return Err(DatabaseError::Name(schema.escape_debug().to_string()));
        }
        let server = Server::of(server)?.watched();
        let client = connect(&server)?;
        let mut database = Database { server, schema: schema.clone(), client };
        database.prepare()?;
        Ok(database)
    }

    /// Returns the last instants of the windows of a run, by number.
    ///
    /// # Errors
    /// If the server refuses.
    pub fn windows(&mut self, run: &str) -> Result<BTreeMap<i64, String>, DatabaseError> {
        let query = format!(
            "SELECT \"window\", figures ->> 'until' FROM {}.windows WHERE run = $1",
            quoted(&self.schema)
        );
        let what = "reading the table windows";
        let rows =
            self.client()?.query(&query, &[&run]).map_err(|error| of_server(what, &error))?;
        let of = |row: &postgres::Row| {
            Ok((row.try_get(0)?, row.try_get::<_, Option<String>>(1)?.unwrap_or_default()))
        };
        rows.iter().map(of).collect::<Result<_, _>>().map_err(|error| of_server(what, &error))
    }

    /// Writes a window from the files of its folder, in place of older windows of the same run.
    ///
    /// # Errors
    /// If a file cannot be read, the server refuses, or the connection is lost. The database then has what it
    /// had before, unless the connection was lost while the server committed.
    pub fn write(
        &mut self,
        run: RunIdentity<'_>,
        record: &WindowRecord,
        folder: &Path,
        replaced: Replaced,
    ) -> Result<(), DatabaseError> {
        let schema = quoted(&self.schema);
        let what = format!("the window of {}", record.days());
        let failed = |error: postgres::Error| of_server(&what, &error);
        let mut transaction = self.client()?.transaction().map_err(failed)?;
        transaction.batch_execute(BEGIN).map_err(failed)?;
        let begun = format!(
            "INSERT INTO {schema}.runs (run, ripplet, options, state) VALUES ($1, $2, $3::text::jsonb, 'running') \
             ON CONFLICT (run) DO UPDATE SET state = 'running'"
        );
        let values: [&(dyn postgres::types::ToSql + Sync); 3] =
            [&run.id, &run.version, &run.options];
        transaction.execute(&begun, &values).map_err(failed)?;
        let index = i64::from(record.index);
        let files = tables::of_files();
        let comparison = match replaced {
            Replaced::Same => "=",
            Replaced::Later => ">=",
        };
        for name in files.iter().map(|table| table.name).chain(["windows"]) {
            let remove = format!(
                "DELETE FROM {schema}.{name} WHERE run = $1 AND \"window\" {comparison} $2"
            );
            transaction.execute(&remove, &[&run.id, &index]).map_err(failed)?;
        }
        insert_window(&mut transaction, &schema, run.id, record).map_err(failed)?;
        let has_scores = record.scores.is_some();
        for table in files.iter().filter(|table| has_scores || !table.needs_scores) {
            copy(&mut transaction, &schema, run.id, table, folder, &what)?;
        }
        transaction.commit().map_err(failed)
    }

    /// Writes how a run ended, if the database has a window of it.
    ///
    /// # Errors
    /// If the server refuses.
    pub fn finish(&mut self, run: &str, state: &str) -> Result<(), DatabaseError> {
        let update = format!("UPDATE {}.runs SET state = $2 WHERE run = $1", quoted(&self.schema));
        // Texts of errors may have any character.
        let state = state.replace('\0', "\\0");
        let failed = |error: postgres::Error| of_server("the end of the run", &error);
        let mut transaction = self.client()?.transaction().map_err(failed)?;
        transaction.batch_execute(BEGIN).map_err(failed)?;
        transaction.execute(&update, &[&run, &state]).map_err(failed)?;
        transaction.commit().map_err(failed)
    }

    /// Returns the connection, opened again if it was closed since the last window.
    fn client(&mut self) -> Result<&mut Client, DatabaseError> {
        if self.client.is_closed() {
            self.client = connect(&self.server)?;
        }
        Ok(&mut self.client)
    }

    /// Creates and checks the tables.
    fn prepare(&mut self) -> Result<(), DatabaseError> {
        let name = self.schema.clone();
        let schema = quoted(&name);
        let what = format!("the tables in the schema `{name}`");
        let failed = |error: postgres::Error| of_server(&what, &error);
        let mut transaction = self.client.transaction().map_err(failed)?;
        let begin = format!("{BEGIN}; SELECT pg_advisory_xact_lock({LOCK})");
        transaction.batch_execute(&begin).map_err(failed)?;
        // These two ask the catalogue, which needs no rights.
        let has_schema = "SELECT count(*) FROM pg_namespace WHERE nspname = $1";
        let has_schema: i64 = transaction
            .query_one(has_schema, &[&name])
            .and_then(|row| row.try_get(0))
            .map_err(failed)?;
        if has_schema == 0 {
            transaction.batch_execute(&format!("CREATE SCHEMA {schema}")).map_err(failed)?;
        }
        if columns_of(&mut transaction, &name, "ripplet_schema").map_err(failed)?.is_empty() {
            for statement in definitions(&schema, &what)? {
                transaction.batch_execute(&statement).map_err(failed)?;
            }
            return transaction.commit().map_err(failed);
        }
        let version = format!("SELECT version::text FROM {schema}.ripplet_schema");
        let versions = transaction.query(&version, &[]).map_err(failed)?;
        let versions: Result<Vec<Option<String>>, _> =
            versions.iter().map(|row| row.try_get(0)).collect();
        let versions: Vec<String> =
            versions.map_err(failed)?.into_iter().map(|v| v.unwrap_or_default()).collect();
        if versions == ["1"] {
            check_version_1(&mut transaction, &name, &failed)?;
            for statement in of_version_1(&schema, &what)? {
                transaction.batch_execute(&statement).map_err(failed)?;
            }
        } else if versions != [VERSION.to_string()] {
            let there = versions.join(" and ");
            let there = if there.is_empty() { "none".into() } else { there };
            return Err(DatabaseError::Version { schema: name, there });
        }
        for (table, columns) in all_tables(&what)? {
            check_table(&mut transaction, &name, table, &columns, &failed)?;
        }
        transaction.commit().map_err(failed)
    }
}

/// Connects within the server's time limit.
fn connect(server: &Server) -> Result<Client, DatabaseError> {
    let (deadline, server) = (server.deadline(), server.clone());
    Ok(answered_within(deadline, move || server.connect())?)
}

/// Converts an error of the server, by its SQLSTATE.
fn of_server(what: &str, error: &postgres::Error) -> DatabaseError {
    let why = sentence(error).replace("\nDETAIL: ", ". ").replace("\nHINT: ", ". ");
    let what = what.to_owned();
    let Some(told) = error.as_db_error() else { return DatabaseError::Lost { what, why } };
    let code = told.code().code();
    match code {
        "42501" => DatabaseError::Rights { what, why },
        _ if ["0A", "21", "22", "23", "25", "2F", "3F", "42", "P0"]
            .iter()
            .any(|class| code.starts_with(class)) =>
        {
            DatabaseError::Refused { what, why }
        }
        _ => DatabaseError::Lost { what, why },
    }
}

/// Returns the tables with rows, and their columns.
fn all_tables(what: &str) -> Result<Vec<(&'static str, Vec<SqlColumn>)>, DatabaseError> {
    let own = |columns: &[(&str, &'static str)]| {
        columns.iter().map(|(name, of)| ((*name).to_owned(), *of, false)).collect()
    };
    let mut all = vec![("runs", own(&RUNS)), ("windows", own(&WINDOWS))];
    for table in tables::of_files() {
        let columns = table.sql().ok_or_else(|| DatabaseError::Refused {
            what: what.into(),
            why: format!("the table {} has a type that is not written", table.name),
        })?;
        all.push((table.name, columns));
    }
    Ok(all)
}

/// Returns the statements that create the tables.
fn definitions(schema: &str, what: &str) -> Result<Vec<String>, DatabaseError> {
    let mut all = vec![format!(
        "CREATE TABLE {schema}.ripplet_schema (version integer NOT NULL); \
         INSERT INTO {schema}.ripplet_schema VALUES ({VERSION})"
    )];
    all.extend(of_tables(schema, all_tables(what)?));
    Ok(all)
}

/// Returns the statements that change tables of version 1 to this version. Rows of earlier windows have no features and
/// no reasons.
fn of_version_1(schema: &str, what: &str) -> Result<Vec<String>, DatabaseError> {
    let mut all = vec![format!(
        "ALTER TABLE {schema}.entities ADD COLUMN {} {}; UPDATE {schema}.ripplet_schema SET version = {VERSION}",
        quoted(FEATURES.0),
        FEATURES.1
    )];
    let mut added = all_tables(what)?;
    added.retain(|(table, _)| *table == "reasons");
    all.extend(of_tables(schema, added));
    Ok(all)
}

/// Refuses tables of version 1 to which this version cannot add what it needs, as the user added it.
fn check_version_1(
    transaction: &mut Transaction<'_>,
    schema: &str,
    failed: &impl Fn(postgres::Error) -> DatabaseError,
) -> Result<(), DatabaseError> {
    let refused = |table: &str, why: String| {
        Err(DatabaseError::Table { schema: schema.into(), table: table.into(), why })
    };
    let column = FEATURES.0;
    if columns_of(transaction, schema, "entities").map_err(failed)?.contains_key(column) {
        let why = format!("has a column `{column}` already, which version {VERSION} would add");
        return refused("entities", why);
    }
    if !columns_of(transaction, schema, "reasons").map_err(failed)?.is_empty() {
        return refused("reasons", format!("is there already, and version {VERSION} would add it"));
    }
    Ok(())
}

/// Returns the statements that create some tables.
fn of_tables(schema: &str, tables: Vec<(&'static str, Vec<SqlColumn>)>) -> Vec<String> {
    let mut all = Vec::new();
    for (table, columns) in tables {
        let of = |(name, of, nullable): &SqlColumn| {
            let now = if name == "began" { " DEFAULT now()" } else { "" };
            let null = if *nullable { "" } else { " NOT NULL" };
            format!("{} {of}{null}{now}", quoted(name))
        };
        let columns: Vec<String> = columns.iter().map(of).collect();
        let key = match table {
            "runs" => ", PRIMARY KEY (run)",
            "windows" => ", PRIMARY KEY (run, \"window\")",
            _ => "",
        };
        all.push(format!("CREATE TABLE {schema}.{table} ({}{key})", columns.join(", ")));
        if key.is_empty() {
            all.push(format!("CREATE INDEX ON {schema}.{table} (run, \"window\")"));
        }
    }
    all
}

/// Returns the columns of a table, by name; none if there is no such table.
fn columns_of(
    transaction: &mut Transaction<'_>,
    schema: &str,
    table: &str,
) -> Result<BTreeMap<String, String>, postgres::Error> {
    let query = "SELECT a.attname::text, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a \
                 JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
                 WHERE n.nspname = $1 AND c.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped";
    let rows = transaction.query(query, &[&schema, &table])?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

/// Checks that a table has these columns, and that the user may change it. It may have further columns.
fn check_table(
    transaction: &mut Transaction<'_>,
    schema: &str,
    table: &str,
    columns: &[SqlColumn],
    failed: &impl Fn(postgres::Error) -> DatabaseError,
) -> Result<(), DatabaseError> {
    let there = columns_of(transaction, schema, table).map_err(failed)?;
    let differs =
        |why: String| DatabaseError::Table { schema: schema.into(), table: table.into(), why };
    if there.is_empty() {
        return Err(differs("is missing".into()));
    }
    for (name, of, _) in columns {
        match there.get(name) {
            None => return Err(differs(format!("has no column `{name}`"))),
            Some(found) if found != of => {
                return Err(differs(format!("has `{name}` as {found}, not as {of}")));
            }
            _ => {}
        }
    }
    let rights = "SELECT r, current_user::text FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS r \
                  WHERE NOT has_table_privilege($1::text, r) AND (r <> 'UPDATE' OR $2::bool)";
    let full = format!("{}.{}", quoted(schema), quoted(table));
    let lacking = transaction.query(rights, &[&full, &(table == "runs")]).map_err(failed)?;
    if let Some(row) = lacking.first() {
        let (right, user): (String, String) =
            (row.try_get(0).map_err(failed)?, row.try_get(1).map_err(failed)?);
        return Err(DatabaseError::Rights {
            what: format!("the tables in the schema `{schema}`"),
            why: format!("the user {user} has no right to {right} in {full}"),
        });
    }
    Ok(())
}

/// Inserts the row of a window.
fn insert_window(
    transaction: &mut Transaction<'_>,
    schema: &str,
    run: &str,
    record: &WindowRecord,
) -> Result<(), postgres::Error> {
    let figures = serde_json::to_string(record).unwrap_or_default();
    let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let names: Vec<String> = WINDOWS.iter().map(|(name, _)| quoted(name)).collect();
    let insert = format!(
        "INSERT INTO {schema}.windows ({}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, \
         $10, $11, $12, $13::text::jsonb)",
        names.join(", ")
    );
    transaction.execute(
        &insert,
        &[
            &run,
            &i64::from(record.index),
            &instant(&record.from),
            &instant(&record.until),
            &count(record.transactions),
            &i64::from(record.vertices),
            &count(record.known_bad),
            &count(record.trusted),
            &count(record.clusters),
            &count(record.members),
            &record.warm,
            &record.cut,
            &figures,
        ],
    )?;
    Ok(())
}

/// Returns an instant of a record as a time of the database; `None` if it is damaged, which the table refuses.
fn instant(text: &str) -> Option<SystemTime> {
    let micros = text.parse::<Timestamp>().ok()?.0;
    let distance = Duration::from_micros(micros.unsigned_abs());
    match micros < 0 {
        true => SystemTime::UNIX_EPOCH.checked_sub(distance),
        false => SystemTime::UNIX_EPOCH.checked_add(distance),
    }
}

/// Copies the rows of a file of a window.
fn copy(
    transaction: &mut Transaction<'_>,
    schema: &str,
    run: &str,
    table: &FileTable,
    folder: &Path,
    what: &str,
) -> Result<(), DatabaseError> {
    let path = folder.join(format!("{}.parquet", table.name));
    let file = TableFile::open(&path, Format::Parquet)?;
    let there: Vec<&str> = file.schema().fields().iter().map(|field| &**field.name()).collect();
    let expected: Vec<&str> = table.columns.iter().map(|(name, ..)| *name).collect();
    // Features of the user's own table of entities are its last columns.
    let features = there.strip_prefix(&*expected).unwrap_or_default();
    let is_feature = |name: &&str| table.has_features && name.starts_with(FEATURE_PREFIX);
    if !there.starts_with(&expected) || !features.iter().all(is_feature) {
        let why = format!("its columns are {}, not {}", there.join(", "), expected.join(", "));
        return Err(DatabaseError::File { path, why });
    }
    let what = format!("the {} of {what}", table.name);
    let object = table.has_features.then_some(FEATURES.0);
    let names = ["run"].iter().chain(&expected).chain(&object).map(|name| quoted(name));
    let names: Vec<String> = names.collect();
    let features = table.has_features.then_some(features);
    let statement =
        format!("COPY {schema}.{} ({}) FROM STDIN (FORMAT binary)", table.name, names.join(", "));
    let failed = |error: postgres::Error| of_server(&what, &error);
    let mut writer = transaction.copy_in(&*statement).map_err(failed)?;
    let sent = |error: io::Error| match error.downcast::<postgres::Error>() {
        Ok(error) => of_server(&what, &error),
        Err(error) => DatabaseError::Lost { what: what.clone(), why: error.to_string() },
    };
    let mut out = HEAD.to_vec();
    let all: Vec<usize> = (0..there.len()).collect();
    for rows in file.batches(&all)? {
        rows::append(&rows?.batch, run, &path, features, &mut out, SENT, |out| {
            let written = writer.write_all(out).map_err(sent);
            out.clear();
            written
        })?;
    }
    out.extend(END);
    writer.write_all(&out).map_err(sent)?;
    writer.finish().map_err(failed)?;
    Ok(())
}
