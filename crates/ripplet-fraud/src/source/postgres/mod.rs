//! Reads transactions from PostgreSQL with a query.
//!
//! The query runs as `COPY (query) TO STDOUT (FORMAT binary)`, so rows stream at the server's speed and are
//! not buffered: memory is a few batches of [`ROWS`]. Rows are in the query's order; it must order by time
//! unless late rows are allowed. Columns are found by name. Ids may be texts, integers or UUIDs; times may be
//! timestamps, dates, texts or numbers; amounts may be numbers of any type, `numeric` exactly.
//!
//! A lost connection is an error with the number of rows received. A server has `connect_timeout` seconds (30
//! by default) to accept the connection and to describe the query's columns. The query's own run time is not
//! limited. `sslmode` decides on encryption: see `server.rs`.

mod guard;
mod passfile;
pub(crate) mod server;
mod snapshot;

pub use server::with_password;
pub(crate) use snapshot::Snapshot;

use super::statement::statement;
use super::{Batches, Places, ROWS, RawBatch, SourceError, places_of};
use arrow_array::builder::{Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch, TimestampMicrosecondArray};
use arrow_schema::{Field, Schema};
use fallible_iterator::FallibleIterator;
use postgres::Client;
use postgres::binary_copy::BinaryCopyOutIter;
use postgres::error::ErrorPosition;
use postgres::types::{FromSql, Type};
use server::Server;
use std::error::Error;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// Text before the query.
const COPY: &str = "COPY (";

/// Name of the query in messages.
pub const ORIGIN: &str = "the query";
/// Capacity of the channel in batches.
const WAITING: usize = 2;
/// Microseconds from 1970 to 2000, the epoch of PostgreSQL.
pub(crate) const EPOCH: i64 = 946_684_800_000_000;
const DAY: i64 = 86_400_000_000;

/// Runs a query; batches have these columns in this order. `server` is a URL or `host=… user=… sslmode=…`.
///
/// # Errors
/// If the server cannot be reached or rejects the query, or a column is missing.
pub fn open(server: &str, query: &str, columns: &[&str]) -> Result<Batches, SourceError> {
    open_at(server, query, columns, None)
}

/// Runs a query as [`open`] does, on a [`Snapshot`] with this identifier if there is one.
///
/// # Errors
/// As of [`open`]; also if the snapshot does not exist on the server.
pub(crate) fn open_at(
    server: &str,
    query: &str,
    columns: &[&str],
    snapshot: Option<&str>,
) -> Result<Batches, SourceError> {
    let server = Server::of(server)?;
    let deadline = server.deadline();
    let (query, columns) =
        (query.to_owned(), columns.iter().map(|&name| name.to_owned()).collect());
    let snapshot = snapshot.map(str::to_owned);
    let open = move || Connection::open(&server, &query, columns, snapshot.as_deref());
    let mut connection = answered_within(deadline, open)?;
    let (send, receive) = sync_channel(WAITING);
    let work = move || {
        if let Err(error) = connection.copy(&send) {
            // The receiver may have been dropped.
            let _ = send.send(Err(error));
        }
    };
    let thread = std::thread::Builder::new().name("query".into()).spawn(work);
    thread.map_err(|error| failed(format!("cannot start a thread: {error}")))?;
    Ok(Box::new(receive.into_iter()))
}

fn failed(why: String) -> SourceError {
    SourceError::Query { why }
}

/// Returns the result of `work`, which waits for a server, if it arrives in time; otherwise the thread is
/// abandoned.
pub(crate) fn answered_within<T: Send + 'static>(
    deadline: Duration,
    work: impl FnOnce() -> Result<T, SourceError> + Send + 'static,
) -> Result<T, SourceError> {
    let (send, receive) = sync_channel(1);
    let asked = std::thread::Builder::new().name("server".into()).spawn(move || {
        // The receiver may have timed out.
        let _ = send.send(work());
    });
    asked.map_err(|error| failed(format!("cannot start a thread: {error}")))?;
    receive.recv_timeout(deadline).unwrap_or_else(|error| {
        Err(failed(match error {
            RecvTimeoutError::Timeout => format!(
                "the server took the connection and did not answer within {} s: see that a PostgreSQL server listens \
                 there, or wait longer by connect_timeout=SECONDS in its address",
                deadline.as_secs()
            ),
            RecvTimeoutError::Disconnected => "the thread that asks the server ended".into(),
        }))
    })
}

/// Converts an error of the server, by its SQLSTATE, to an error of the query or of the server. `before` is
/// the number of characters before the query in the text that was sent.
fn of_server(error: &postgres::Error, before: u32) -> SourceError {
    /// Classes of permanent errors: data, read-only transactions, unsupported features, names, syntax and
    /// rights, user-defined functions.
    const OF_QUERIES: [&str; 8] = ["0A", "21", "22", "23", "25", "2F", "42", "P0"];
    // The server's message includes its hint on a separate line.
    let why = sentence(error).replace("\nDETAIL: ", ". ").replace("\nHINT: ", ". ");
    let Some(told) = error.as_db_error() else { return failed(why) };
    if !OF_QUERIES.iter().any(|class| told.code().code().starts_with(class)) {
        return failed(why);
    }
    let place = match told.position() {
        Some(ErrorPosition::Original(at)) if *at > before => {
            format!(" (at character {} of the query)", at - before)
        }
        _ => String::new(),
    };
    let hint = told.hint().filter(|hint| !why.contains(*hint));
    let hint = hint.map_or_else(String::new, |hint| format!(". {hint}"));
    SourceError::Sql { why: format!("{why}{place}{hint}") }
}

/// Formats an error with its causes.
pub(crate) fn sentence(error: &(dyn Error + 'static)) -> String {
    let mut all = error.to_string();
    let mut behind = error.source();
    while let Some(error) = behind {
        all = format!("{all}: {error}");
        behind = error.source();
    }
    all
}

struct Connection {
    client: Client,
    copy: String,
    /// Types of all columns of the query.
    types: Vec<Type>,
    /// For each requested column, its index in the query and its kind.
    wanted: Vec<(usize, Kind)>,
    schema: Vec<String>,
}

/// Kind of a column.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Text,
    Uuid,
    Integer,
    Float,
    Numeric,
    Timestamp,
    Date,
}

impl Kind {
    fn of(kind: &Type) -> Option<Kind> {
        Some(match *kind {
            Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN => Kind::Text,
            Type::UUID => Kind::Uuid,
            Type::INT2 | Type::INT4 | Type::INT8 | Type::OID => Kind::Integer,
            Type::FLOAT4 | Type::FLOAT8 => Kind::Float,
            Type::NUMERIC => Kind::Numeric,
            Type::TIMESTAMP | Type::TIMESTAMPTZ => Kind::Timestamp,
            Type::DATE => Kind::Date,
            _ => return None,
        })
    }
}

/// Bytes of a value of any type.
struct Raw<'a>(&'a [u8]);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Raw<'a>, Box<dyn Error + Sync + Send>> {
        Ok(Raw(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// Builder of a column of a batch.
enum Column {
    Texts(StringBuilder),
    Integers(Int64Builder),
    Floats(Float64Builder),
    Times(Vec<Option<i64>>),
}

impl Connection {
    fn open(
        server: &Server,
        query: &str,
        columns: Vec<String>,
        snapshot: Option<&str>,
    ) -> Result<Connection, SourceError> {
        let query = statement(query);
        if query.is_empty() {
            return Err(SourceError::Sql { why: "it is empty".into() });
        }
        let mut client = server.connect()?;
        // The transaction is read-only: the server rejects writes such as `INSERT … RETURNING`.
        match snapshot {
            Some(id) => snapshot::import(&mut client, id)?,
            None => client
                .batch_execute("START TRANSACTION READ ONLY")
                .map_err(|error| of_server(&error, 0))?,
        }
        let statement = client.prepare(query).map_err(|error| of_server(&error, 0))?;
        let names: Vec<&str> = statement.columns().iter().map(|column| column.name()).collect();
        if names.is_empty() {
            let why = "it gives no columns: expected a SELECT of the mapping's columns".into();
            return Err(SourceError::Sql { why });
        }
        let asked: Vec<&str> = columns.iter().map(|name| &**name).collect();
        let places = places_of(&asked, &names, ORIGIN)?;
        let mut wanted = Vec::new();
        for (name, place) in columns.iter().zip(places) {
            let found = statement.columns()[place].type_();
            let kind = Kind::of(found).ok_or_else(|| SourceError::ColumnType {
                origin: ORIGIN.into(),
                column: name.clone(),
                found: found.to_string(),
                expected: "texts, integers, floats, numeric, timestamps, dates and UUIDs are read: cast it",
            })?;
            wanted.push((place, kind));
        }
        Ok(Connection {
            client,
            copy: format!("{COPY}{query}\n) TO STDOUT (FORMAT binary)"),
            types: statement.columns().iter().map(|column| column.type_().clone()).collect(),
            wanted,
            schema: columns,
        })
    }

    fn copy(
        &mut self,
        send: &SyncSender<Result<RawBatch, SourceError>>,
    ) -> Result<(), SourceError> {
        let Connection { client, copy, types, wanted, schema } = self;
        let before = COPY.chars().count() as u32;
        let reader = client.copy_out(&**copy).map_err(|error| of_server(&error, before))?;
        let mut rows = BinaryCopyOutIter::new(reader, types);
        let (mut first, mut end) = (0, None);
        while end.is_none() {
            let mut columns: Vec<Column> =
                wanted.iter().map(|(_, kind)| Column::of(*kind)).collect();
            let mut count = 0;
            while count < ROWS {
                // Rows before an error are valid: send them first.
                let row = match rows.next() {
                    Ok(Some(row)) => row,
                    Ok(None) => {
                        end = Some(Ok(()));
                        break;
                    }
                    Err(error) => {
                        let rows = first + count as u64;
                        end = Some(Err(match of_server(&error, before) {
                            SourceError::Query { why } => {
                                failed(format!("broken off after {rows} rows: {why}"))
                            }
                            of_query => of_query,
                        }));
                        break;
                    }
                };
                for (((place, kind), column), name) in wanted.iter().zip(&mut columns).zip(&*schema)
                {
                    let raw: Option<Raw<'_>> =
                        row.try_get(*place).map_err(|error| failed(sentence(&error)))?;
                    if !column.push(*kind, raw.map(|raw| raw.0)) {
                        let row = first + count as u64 + 1;
                        return Err(failed(format!(
                            "row {row} has a value in `{name}` that is not of its type"
                        )));
                    }
                }
                count += 1;
            }
            if count == 0 {
                break;
            }
            let arrays: Vec<ArrayRef> = columns.into_iter().map(Column::array).collect();
            let fields = schema.iter().zip(&arrays);
            let fields =
                fields.map(|(name, array)| Field::new(name, array.data_type().clone(), true));
            let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
            let columns =
                RecordBatch::try_new(schema, arrays).map_err(|error| failed(error.to_string()))?;
            let places = Places::Rows(first);
            if send.send(Ok(RawBatch { columns, places, trimmed: Vec::new() })).is_err() {
                return Ok(());
            }
            first += count as u64;
        }
        end.unwrap_or(Ok(()))
    }
}

impl Column {
    fn of(kind: Kind) -> Column {
        match kind {
            Kind::Text | Kind::Uuid | Kind::Numeric => Column::Texts(StringBuilder::new()),
            Kind::Integer => Column::Integers(Int64Builder::new()),
            Kind::Float => Column::Floats(Float64Builder::new()),
            Kind::Timestamp | Kind::Date => Column::Times(Vec::new()),
        }
    }

    /// Appends a value; returns whether it is valid for its type.
    fn push(&mut self, kind: Kind, raw: Option<&[u8]>) -> bool {
        match self {
            Column::Texts(texts) => match raw {
                None => texts.append_null(),
                Some(raw) => match text(kind, raw) {
                    Some(text) => texts.append_value(text),
                    None => return false,
                },
            },
            Column::Integers(integers) => match raw.map(integer) {
                None => integers.append_null(),
                Some(Some(value)) => integers.append_value(value),
                Some(None) => return false,
            },
            Column::Floats(floats) => match raw {
                None => floats.append_null(),
                Some(raw) => match (raw.try_into().map(f32::from_be_bytes), raw.try_into()) {
                    (Ok(value), _) => floats.append_value(f64::from(value)),
                    (_, Ok(raw)) => floats.append_value(f64::from_be_bytes(raw)),
                    _ => return false,
                },
            },
            Column::Times(times) => {
                let time = match (kind, raw.map(integer)) {
                    (_, None) => None,
                    (Kind::Timestamp, Some(Some(i64::MIN))) => Some(i64::MIN),
                    (Kind::Timestamp, Some(Some(i64::MAX))) => Some(i64::MAX),
                    // The last years of the server's range are finite, though out of range here.
                    (Kind::Timestamp, Some(Some(micros))) => {
                        Some(micros.saturating_add(EPOCH).min(i64::MAX - 1))
                    }
                    // `infinity` as a date.
                    (_, Some(Some(days))) if days == i64::from(i32::MAX) => Some(i64::MAX),
                    (_, Some(Some(days))) if days == i64::from(i32::MIN) => Some(i64::MIN),
                    (_, Some(Some(days))) => Some(days.saturating_mul(DAY).saturating_add(EPOCH)),
                    (_, Some(None)) => return false,
                };
                times.push(time);
            }
        }
        true
    }

    fn array(self) -> ArrayRef {
        match self {
            Column::Texts(mut texts) => Arc::new(texts.finish()),
            Column::Integers(mut integers) => Arc::new(integers.finish()),
            Column::Floats(mut floats) => Arc::new(floats.finish()),
            Column::Times(times) => Arc::new(TimestampMicrosecondArray::from(times)),
        }
    }
}

/// Decodes an integer of 2, 4 or 8 bytes.
fn integer(raw: &[u8]) -> Option<i64> {
    match *raw {
        [a, b] => Some(i16::from_be_bytes([a, b]).into()),
        [a, b, c, d] => Some(i32::from_be_bytes([a, b, c, d]).into()),
        _ => raw.try_into().ok().map(i64::from_be_bytes),
    }
}

fn text(kind: Kind, raw: &[u8]) -> Option<String> {
    match kind {
        Kind::Uuid => {
            let hex: String = raw.iter().map(|byte| format!("{byte:02x}")).collect();
            let parts = [hex.get(..8)?, hex.get(8..12)?, hex.get(12..16)?, hex.get(16..20)?];
            Some(format!("{}-{}", parts.join("-"), hex.get(20..)?))
        }
        Kind::Numeric => numeric(raw),
        _ => String::from_utf8(raw.to_vec()).ok(),
    }
}

/// Formats a `numeric` value: 16-bit words for the number of base-10,000 digits, the weight of the first, the
/// sign, and the number of decimals; then the digits.
fn numeric(raw: &[u8]) -> Option<String> {
    const NEGATIVE: u16 = 0x4000;
    const NOT_A_NUMBER: u16 = 0xc000;
    const INFINITY: u16 = 0xd000;
    const MINUS_INFINITY: u16 = 0xf000;
    let words: Vec<u16> =
        raw.chunks_exact(2).map(|two| u16::from_be_bytes([two[0], two[1]])).collect();
    let [count, weight, sign, shown, digits @ ..] = &*words else { return None };
    match *sign {
        NOT_A_NUMBER => return Some("NaN".into()),
        INFINITY => return Some("Infinity".into()),
        MINUS_INFINITY => return Some("-Infinity".into()),
        _ => {}
    }
    let weight = i32::from(weight.cast_signed());
    if digits.len() != usize::from(*count) {
        return None;
    }
    let digit = |place: i32| -> u16 {
        let at = usize::try_from(weight - place).ok();
        at.and_then(|at| digits.get(at)).copied().unwrap_or(0)
    };
    let mut text = String::from(if *sign == NEGATIVE { "-" } else { "" });
    text.push_str(&digit(weight.max(0)).to_string());
    for place in (0..weight.max(0)).rev() {
        text.push_str(&format!("{:04}", digit(place)));
    }
    let shown = usize::from(*shown);
    if shown > 0 {
        let mut behind = String::new();
        let mut place = -1;
        while behind.len() < shown {
            behind.push_str(&format!("{:04}", digit(place)));
            place -= 1;
        }
        text.push('.');
        text.push_str(&behind[..shown]);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u16]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn numerics_print_as_the_server_prints_them() {
        assert_eq!(numeric(&words(&[2, 0, 0, 2, 12, 5000])).unwrap(), "12.50");
        assert_eq!(numeric(&words(&[3, 1, 0x4000, 4, 1, 2, 3])).unwrap(), "-10002.0003");
        assert_eq!(numeric(&words(&[1, 0xffff, 0, 2, 500])).unwrap(), "0.05");
        assert_eq!(numeric(&words(&[1, 0xfffe, 0, 6, 1200])).unwrap(), "0.000012");
        assert_eq!(numeric(&words(&[1, 2, 0, 0, 7])).unwrap(), "700000000");
        assert_eq!(numeric(&words(&[0, 0, 0, 0])).unwrap(), "0");
        assert_eq!(numeric(&words(&[0, 0, 0xc000, 0])).unwrap(), "NaN");
        assert_eq!(numeric(&words(&[0, 0, 0xd000, 0])).unwrap(), "Infinity");
        assert_eq!(numeric(&words(&[0, 0, 0xf000, 0])).unwrap(), "-Infinity");
        assert_eq!(numeric(&words(&[5, 0, 0, 0, 1])), None);
    }
}
