//! Reader thread: reads files one after the other, or a query, and decodes their rows in the background.
//!
//! The reader hashes each file before it reads the rows. So a file that comes a second time, under any name,
//! is detected before it counts twice. A file that changed since it was read is detected, too.
//!
//! Following: the reader polls the folders and patterns. It takes a new file once two polls found it
//! unchanged, so that it does not read a half-written one. Memory: a few batches.

use super::data_file::DataFile;
use super::files::{find, find_one, fingerprint};
use super::partitions::span_of;
use super::row_hash::{RowHash, RowHasher};
use super::{
    Batch, Batches, CONSTANT, MemoryTable, RawBatch, SourceError, TypeChange, duckdb, open_data,
    postgres,
};
use crate::{Mapping, TimeRange};
use arrow_schema::DataType;
use ripplet_io::tables::check_compressed;
use ripplet_io::{Place, ReadError, ReadErrorKind};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant, SystemTime};
use thiserror::Error;

/// Sources of transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sources {
    /// Paths of files and folders, and patterns.
    Files(Vec<String>),
    /// A PostgreSQL server and a query.
    Query {
        /// Address of the server.
        server: String,
        /// The query.
        query: String,
    },
    /// A DuckDB file and a query, which the command `duckdb` runs.
    DuckDb {
        /// The file.
        file: PathBuf,
        /// The query.
        query: String,
    },
    /// A table in memory.
    Memory(MemoryTable),
}

/// Options of reading files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Polling interval for new files, if the input grows; `None` reads the existing files alone.
    pub follow: Option<Duration>,
    /// Whether a file with known content is skipped instead of an error.
    pub skip_repeated: bool,
}

impl Sources {
    /// Returns the name of an input that has no checksum of its own: a query, or a table in memory.
    pub(crate) fn without_checksum(&self) -> Option<String> {
        match self {
            Sources::Files(_) => None,
            Sources::Query { .. } => Some(postgres::ORIGIN.into()),
            Sources::DuckDb { file, .. } => Some(duckdb::origin(file)),
            Sources::Memory(table) => Some(table.name().display().to_string()),
        }
    }
}

/// What the readers of several ranks have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedReading {
    /// Snapshot of the PostgreSQL database that the query reads.
    pub(crate) snapshot: Option<String>,
    /// Whether rows of an input without a checksum are hashed.
    pub(crate) is_hashed: bool,
}

/// File or query that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Path of the file; `the query` for a query; the name of a table in memory.
    pub path: String,
    /// SHA-256, in hexadecimal; `None` for a query and a table in memory.
    pub sha256: Option<String>,
    /// Size in bytes; 0 for a query.
    pub bytes: u64,
    /// Number of rows read.
    pub rows: u64,
    /// Earlier file with the same content; this one was skipped.
    pub repeats: Option<String>,
}

/// Message of the reader thread.
#[derive(Debug)]
pub enum Message {
    /// An input starts, or is skipped.
    Input(Input),
    /// Rows of the current input.
    Rows(Box<Batch>, Arc<str>),
    /// Hash of all rows up to the end of a block, or of the input: before the rows that complete the block. Of ranks alone.
    Hash(RowHash),
    /// No new rows for the moment.
    Nothing,
}

/// Error of the reader.
#[derive(Debug, Error)]
pub enum ReaderError {
    /// A file or query cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A file has the content of an earlier one.
    #[error(
        "{} has the same content as {first}, which was read before: its transactions would count twice. Remove one, or \
         have repeated files passed over",
        path.display()
    )]
    Twice {
        /// The file.
        path: PathBuf,
        /// Path of the earlier file.
        first: String,
    },
    /// The inputs name a file, a folder or a pattern twice, or a file by two of them.
    #[error(
        "the inputs name {what} twice: its transactions would count twice. Name it once, or have repeated files passed over"
    )]
    Named {
        /// The argument, or the file.
        what: String,
    },
    /// Files of a Delta table that were read are no longer in it.
    #[error(
        "the Delta table {} was rewritten: it no longer has {}, whose rows were read. Begin a new run folder", table.display(),
        path.display()
    )]
    Rewritten {
        /// The table.
        table: PathBuf,
        /// The file.
        path: PathBuf,
    },
    /// A file changed after it was read.
    #[error(
        "{} was replaced after it was read: what was found of it stands on what it was. Begin a new run folder to count \
         what it is now",
        path.display()
    )]
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// The thread cannot be started.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
}

impl ReaderError {
    /// Whether the content of a file is wrong.
    fn is_of_content(&self) -> bool {
        match self {
            ReaderError::Source(SourceError::Read(error)) => {
                matches!(error.kind, ReadErrorKind::Content(_))
            }
            ReaderError::Source(
                SourceError::MissingColumn { .. } | SourceError::Partition { .. },
            ) => true,
            _ => false,
        }
    }
}

/// Capacity of the channel in messages.
const WAITING: usize = 3;
/// Interval of idle messages, so that the receiver can check for cancellation.
const HEARTBEAT: Duration = Duration::from_millis(100);

/// Starts the reader thread. If reading fails, the last message is the error.
///
/// # Errors
/// If there are no files, one is named twice and repeated files are not to be skipped, or the thread cannot be started.
pub fn begin(
    sources: &Sources,
    mapping: &Mapping,
    reading: Reading,
    range: TimeRange,
) -> Result<Receiver<Result<Message, ReaderError>>, ReaderError> {
    begin_shared(sources, mapping, reading, range, &SharedReading::default())
}

/// Starts the reader thread of a rank, as [`begin`] does.
pub(crate) fn begin_shared(
    sources: &Sources,
    mapping: &Mapping,
    reading: Reading,
    range: TimeRange,
    shared: &SharedReading,
) -> Result<Receiver<Result<Message, ReaderError>>, ReaderError> {
    if let Sources::Files(named) = sources {
        check_distinct(named, reading)?;
    }
    let files = match sources {
        Sources::Files(named) if reading.follow.is_none() => {
            let mut files = find(named)?;
            files.retain(|file| is_within(file, mapping, range));
            if files.is_empty() {
                let why = "no file is of a partition within --since and --before".into();
                return Err(SourceError::Listing { what: named.join(" "), why }.into());
            }
            let paths: Vec<_> = files.iter().map(|file| file.path.display().to_string()).collect();
            check_distinct(&paths, reading)?;
            files
        }
        _ => Vec::new(),
    };
    let (send, receive) = sync_channel(WAITING);
    let (sources, mapping, shared) = (sources.clone(), mapping.clone(), shared.clone());
    let work = move || {
        let mut reader = Reader {
            mapping,
            reading,
            range,
            send,
            seen: BTreeMap::new(),
            taken: BTreeMap::new(),
            types: BTreeMap::new(),
            hasher: shared.is_hashed.then(RowHasher::default),
        };
        let end = match &sources {
            Sources::Query { server, query } => {
                reader.query(server, query, shared.snapshot.as_deref())
            }
            Sources::DuckDb { file, query } => reader.duckdb(file, query),
            Sources::Memory(table) => reader.memory(table),
            Sources::Files(named) => match reading.follow {
                Some(every) => reader.follow(named, every),
                None => files.iter().try_for_each(|file| reader.file(file)),
            },
        };
        if let Err(Stop::Failed(error)) = end {
            // The receiver may have been dropped.
            let _ = reader.send.send(Err(*error));
        }
    };
    let thread = std::thread::Builder::new().name("reader".into()).spawn(work);
    thread.map_err(ReaderError::Thread)?;
    Ok(receive)
}

/// Rejects a name that comes twice, unless repeated files are skipped.
fn check_distinct(names: &[String], reading: Reading) -> Result<(), ReaderError> {
    let mut seen = BTreeSet::new();
    match names.iter().find(|name| !seen.insert(*name)) {
        Some(what) if !reading.skip_repeated => Err(ReaderError::Named { what: what.clone() }),
        _ => Ok(()),
    }
}

/// Reason that the thread stops before the end of the input.
enum Stop {
    /// The receiver was dropped.
    Gone,
    Failed(Box<ReaderError>),
}

impl<E: Into<ReaderError>> From<E> for Stop {
    fn from(error: E) -> Stop {
        Stop::Failed(Box::new(error.into()))
    }
}

impl From<ReadError> for ReaderError {
    fn from(error: ReadError) -> ReaderError {
        ReaderError::Source(error.into())
    }
}

/// Size and modification time of a file, by which a change is detected without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileState {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl FileState {
    fn at(path: &Path) -> Result<FileState, ReadError> {
        let metadata =
            std::fs::metadata(path).map_err(|error| ReadError::io(path, Place::File, error))?;
        Ok(FileState { bytes: metadata.len(), modified: metadata.modified().ok() })
    }
}

struct Reader {
    mapping: Mapping,
    reading: Reading,
    send: SyncSender<Result<Message, ReaderError>>,
    /// Path of the first file with each content.
    seen: BTreeMap<String, String>,
    /// Files that were read, with their hashes.
    taken: BTreeMap<PathBuf, (FileState, String)>,
    /// Range of the run.
    range: TimeRange,
    /// Type of each column, and the path of the first typed table with it.
    types: BTreeMap<String, (DataType, String)>,
    /// Hash of the rows of an input without a checksum, on ranks.
    hasher: Option<RowHasher>,
}

/// Whether a file may have rows in a range, by its partitions.
fn is_within(file: &DataFile, mapping: &Mapping, range: TimeRange) -> bool {
    let span = span_of(&file.partitions, &mapping.time);
    span.is_none_or(|(span, _)| span.from < range.until && range.from < span.until)
}

/// Class of types that may follow one another in the files of a data set: their values mean the same.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Text,
    Integer,
    Float,
    Decimal,
    Time,
    Date,
    Other,
}

impl Class {
    fn of(kind: &DataType) -> Class {
        match kind {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Class::Text,
            DataType::Dictionary(_, values) => Class::of(values),
            kind if kind.is_integer() => Class::Integer,
            DataType::Float16 | DataType::Float32 | DataType::Float64 => Class::Float,
            DataType::Timestamp(..) => Class::Time,
            DataType::Date32 | DataType::Date64 => Class::Date,
            DataType::Decimal32(..)
            | DataType::Decimal64(..)
            | DataType::Decimal128(..)
            | DataType::Decimal256(..) => Class::Decimal,
            _ => Class::Other,
        }
    }
}

impl Reader {
    fn say(&self, message: Message) -> Result<(), Stop> {
        self.send.send(Ok(message)).map_err(|_| Stop::Gone)
    }

    fn file(&mut self, file: &DataFile) -> Result<(), Stop> {
        let path = &*file.path;
        let look = FileState::at(path)?;
        let (sha256, bytes) = fingerprint(path)?;
        let name = path.display().to_string();
        let mut input = Input {
            path: name.clone(),
            sha256: Some(sha256.clone()),
            bytes,
            rows: 0,
            repeats: None,
        };
        self.taken.insert(path.into(), (look, sha256.clone()));
        if let Some(first) = self.seen.get(&sha256) {
            if !self.reading.skip_repeated {
                return Err(ReaderError::Twice { path: path.into(), first: first.clone() }.into());
            }
            input.repeats = Some(first.clone());
            return self.say(Message::Input(input));
        }
        self.seen.insert(sha256, name.clone());
        self.say(Message::Input(input))?;
        self.rows_of_file(file, &name).map_err(|stop| match stop {
            Stop::Failed(error) if error.is_of_content() => match check_compressed(path) {
                // The wrong row came from damaged data.
                Err(damage) => damage.into(),
                Ok(()) => Stop::Failed(error),
            },
            stop => stop,
        })?;
        // A change while reading would make the hash wrong.
        if FileState::at(path)? != look {
            return Err(ReaderError::Replaced { path: path.into() }.into());
        }
        Ok(())
    }

    /// Sends the rows of a file.
    fn rows_of_file(&mut self, file: &DataFile, name: &str) -> Result<(), Stop> {
        let mut batches = open_data(file, &self.mapping.columns())?.peekable();
        if let Some(Ok(first)) = batches.peek() {
            self.check_types(first, name)?;
        }
        let span = span_of(&file.partitions, &self.mapping.time);
        self.rows(Box::new(batches), name, Some(&file.path), span)
    }

    fn query(&mut self, server: &str, query: &str, snapshot: Option<&str>) -> Result<(), Stop> {
        let path = postgres::ORIGIN.to_owned();
        let batches = postgres::open_at(server, query, &self.mapping.columns(), snapshot)?;
        self.say(Message::Input(Input { path, sha256: None, bytes: 0, rows: 0, repeats: None }))?;
        self.hashed_rows(batches, postgres::ORIGIN)
    }

    fn duckdb(&mut self, file: &Path, query: &str) -> Result<(), Stop> {
        let path = duckdb::origin(file);
        let batches = duckdb::open(&duckdb::program(), file, query, &self.mapping.columns())?;
        let input = Input { path: path.clone(), sha256: None, bytes: 0, rows: 0, repeats: None };
        self.say(Message::Input(input))?;
        self.hashed_rows(batches, &path)
    }

    fn memory(&mut self, table: &MemoryTable) -> Result<(), Stop> {
        let path = table.name().display().to_string();
        let batches = table.open(&self.mapping.columns())?;
        let input = Input {
            path: path.clone(),
            sha256: None,
            bytes: table.bytes(),
            rows: 0,
            repeats: None,
        };
        self.say(Message::Input(input))?;
        self.hashed_rows(batches, &path)
    }

    /// Checks that columns of a typed table mean what they meant in the tables before.
    fn check_types(&mut self, batch: &RawBatch, origin: &str) -> Result<(), SourceError> {
        // Text has no types, nor have folders.
        if !matches!(batch.places, super::Places::Rows(_)) {
            return Ok(());
        }
        let columns = self.mapping.columns();
        for (name, field) in columns.into_iter().zip(batch.columns.schema().fields()) {
            if field.metadata().contains_key(CONSTANT) {
                continue;
            }
            let new = || (field.data_type().clone(), origin.to_owned());
            let (there, first) = &*self.types.entry(name.to_owned()).or_insert_with(new);
            if Class::of(there) != Class::of(field.data_type()) {
                return Err(SourceError::OtherType(Box::new(TypeChange {
                    origin: origin.into(),
                    column: name.into(),
                    found: field.data_type().to_string(),
                    first: first.clone(),
                    there: there.to_string(),
                })));
            }
        }
        Ok(())
    }

    /// Decodes and sends the rows of an input without a checksum; of ranks, with their hashes.
    fn hashed_rows(&mut self, batches: Batches, origin: &str) -> Result<(), Stop> {
        self.rows(batches, origin, None, None)?;
        match self.hasher.take() {
            Some(hasher) => self.say(Message::Hash(hasher.finish())),
            None => Ok(()),
        }
    }

    /// Decodes and sends rows. `file` is the path of a file, and `span` that of the partition, if the mapping has files passed
    /// over by it.
    fn rows(
        &mut self,
        batches: Batches,
        origin: &str,
        mut file: Option<&Path>,
        span: Option<(TimeRange, String)>,
    ) -> Result<(), Stop> {
        let origin: Arc<str> = origin.into();
        for raw in batches {
            let batch = Batch::of(&raw?, &self.mapping, &origin)?;
            if let Some(path) = file.take_if(|_| !batch.faults.is_empty()) {
                check_compressed(path)?;
            }
            if let Some((span, partition)) = &span {
                let mut timeless = batch
                    .faults
                    .iter()
                    .filter(|fault| fault.kind.is_of_time(&self.mapping.time.column))
                    .map(|fault| fault.row as usize)
                    .peekable();
                let is_wrong = |row: &usize| {
                    timeless.next_if_eq(row).is_none() && !span.contains(batch.times[*row])
                };
                if let Some(row) = (0..batch.rows()).find(is_wrong) {
                    return Err(SourceError::Partition {
                        origin: origin.to_string(),
                        place: batch.places.of(row),
                        time: batch.times[row],
                        partition: partition.clone(),
                    }
                    .into());
                }
            }
            let hashes = self.hasher.as_mut().map(|hasher| hasher.push(&batch));
            for hash in hashes.into_iter().flatten() {
                self.say(Message::Hash(hash))?;
            }
            self.say(Message::Rows(Box::new(batch), origin.clone()))?;
        }
        Ok(())
    }

    /// Reads the existing files, and polls for new ones.
    fn follow(&mut self, named: &[String], every: Duration) -> Result<(), Stop> {
        let mut before: BTreeMap<PathBuf, FileState> = BTreeMap::new();
        loop {
            let mut now = Vec::new();
            for name in named {
                for file in find_one(name)? {
                    if is_within(&file, &self.mapping, self.range) {
                        let look = FileState::at(&file.path)?;
                        now.push((file, look));
                    }
                }
            }
            self.check_tables(&now)?;
            for (file, look) in &now {
                let path = &file.path;
                match self.taken.get(path) {
                    Some((taken, _)) if taken == look => {}
                    Some((_, sha256)) => {
                        if fingerprint(path)?.0 != *sha256 {
                            return Err(ReaderError::Replaced { path: path.clone() }.into());
                        }
                        let sha256 = sha256.clone();
                        self.taken.insert(path.clone(), (*look, sha256));
                    }
                    None if before.get(path) == Some(look) => self.file(file)?,
                    // A later poll finds whether it is finished. Files after it wait, as their order matters.
                    None => break,
                }
            }
            before = now.into_iter().map(|(file, look)| (file.path, look)).collect();
            let begin = Instant::now();
            while begin.elapsed() < every {
                self.say(Message::Nothing)?;
                std::thread::sleep(HEARTBEAT.min(every));
            }
        }
    }
    /// Checks that tables still have the files that were read: a rewritten table has their rows in others.
    fn check_tables(&self, now: &[(DataFile, FileState)]) -> Result<(), ReaderError> {
        let tables: BTreeSet<&Path> =
            now.iter().filter_map(|(file, _)| file.table.as_deref()).collect();
        if tables.is_empty() {
            return Ok(());
        }
        let there: BTreeSet<&Path> = now.iter().map(|(file, _)| &*file.path).collect();
        for path in self.taken.keys().filter(|path| !there.contains(&***path)) {
            if let Some(table) = tables.iter().find(|table| path.starts_with(table)) {
                return Err(ReaderError::Rewritten { table: (*table).into(), path: path.clone() });
            }
        }
        Ok(())
    }
}
