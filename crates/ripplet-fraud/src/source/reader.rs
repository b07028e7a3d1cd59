//! Reader thread: reads files one after the other, or a query, and decodes their rows in the background.
//!
//! The reader hashes each file before it reads the rows. So a file that comes a second time, under any name,
//! is detected before it counts twice. A file that changed since it was read is detected, too.
//!
//! Following: the reader polls the folders and patterns. It takes a new file once two polls found it
//! unchanged, so that it does not read a half-written one. Memory: a few batches.

use super::files::{find, find_one, fingerprint};
use super::{Batch, Batches, SourceError, open_file, postgres};
use crate::Mapping;
use ripplet_io::{Place, ReadError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant, SystemTime};
use thiserror::Error;

/// Sources of transactions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sources {
    /// Paths of files and folders, and patterns.
    Files(Vec<String>),
    /// A PostgreSQL server and a query.
    Query {
        /// Address of the server.
        #[serde(skip)]
        server: String,
        /// The query.
        query: String,
    },
}

/// Options of reading files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Polling interval for new files, if the input grows; `None` reads the existing files alone.
    pub follow: Option<Duration>,
    /// Whether a file with known content is skipped instead of an error.
    pub skip_repeated: bool,
}

/// File or query that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Path of the file; `the query` for a query.
    pub path: String,
    /// SHA-256, in hexadecimal; `None` for a query.
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

/// Capacity of the channel in messages.
const WAITING: usize = 3;
/// Interval of idle messages, so that the receiver can check for cancellation.
const HEARTBEAT: Duration = Duration::from_millis(100);

/// Starts the reader thread. If reading fails, the last message is the error.
///
/// # Errors
/// If there are no files, or the thread cannot be started.
pub fn begin(
    sources: &Sources,
    mapping: &Mapping,
    reading: Reading,
) -> Result<Receiver<Result<Message, ReaderError>>, ReaderError> {
    let files = match sources {
        Sources::Files(named) if reading.follow.is_none() => find(named)?,
        _ => Vec::new(),
    };
    let (send, receive) = sync_channel(WAITING);
    let (sources, mapping) = (sources.clone(), mapping.clone());
    let work = move || {
        let mut reader =
            Reader { mapping, reading, send, seen: BTreeMap::new(), taken: BTreeMap::new() };
        let end = match &sources {
            Sources::Query { server, query } => reader.query(server, query),
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
}

impl Reader {
    fn say(&self, message: Message) -> Result<(), Stop> {
        self.send.send(Ok(message)).map_err(|_| Stop::Gone)
    }

    fn file(&mut self, path: &Path) -> Result<(), Stop> {
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
        let batches = open_file(path, &self.mapping.columns())?;
        self.rows(batches, &name)?;
        // A change while reading would make the hash wrong.
        if FileState::at(path)? != look {
            return Err(ReaderError::Replaced { path: path.into() }.into());
        }
        Ok(())
    }

    fn query(&mut self, server: &str, query: &str) -> Result<(), Stop> {
        let path = postgres::ORIGIN.to_owned();
        let batches = postgres::open(server, query, &self.mapping.columns())?;
        self.say(Message::Input(Input { path, sha256: None, bytes: 0, rows: 0, repeats: None }))?;
        self.rows(batches, postgres::ORIGIN)
    }

    fn rows(&mut self, batches: Batches, origin: &str) -> Result<(), Stop> {
        let origin: Arc<str> = origin.into();
        for raw in batches {
            let batch = Batch::of(&raw?, &self.mapping, &origin)?;
            self.say(Message::Rows(Box::new(batch), origin.clone()))?;
        }
        Ok(())
    }

    /// Reads the existing files, and polls for new ones.
    fn follow(&mut self, named: &[String], every: Duration) -> Result<(), Stop> {
        let mut before: BTreeMap<PathBuf, FileState> = BTreeMap::new();
        loop {
            let mut now = BTreeMap::new();
            for name in named {
                for path in find_one(name)? {
                    let look = FileState::at(&path)?;
                    now.insert(path, look);
                }
            }
            for (path, look) in &now {
                match self.taken.get(path) {
                    Some((taken, _)) if taken == look => {}
                    Some((_, sha256)) => {
                        if fingerprint(path)?.0 != *sha256 {
                            return Err(ReaderError::Replaced { path: path.clone() }.into());
                        }
                        let sha256 = sha256.clone();
                        self.taken.insert(path.clone(), (*look, sha256));
                    }
                    None if before.get(path) == Some(look) => self.file(path)?,
                    // A later poll finds whether it is finished. Files after it wait, as their order matters.
                    None => break,
                }
            }
            before = now;
            let begin = Instant::now();
            while begin.elapsed() < every {
                self.say(Message::Nothing)?;
                std::thread::sleep(HEARTBEAT.min(every));
            }
        }
    }
}
