//! Files one after the other, or a query, decoded on a thread of its own while others are at work.
//!
//! Each file's SHA-256 is taken before its rows, so that a file that comes a second time, under whatever name, is told
//! before anything of it counts twice; and a file that changed since it was read is told, too.
//!
//! Following: the folders and patterns are examined again and again. A new file is taken once two looks found it
//! alike, so that one that is being written is not read half. Memory: some batches.

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

/// Where transactions come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sources {
    /// Paths of files and folders, and patterns.
    Files(Vec<String>),
    /// A server, as a URL, and a query.
    Query {
        /// The server.
        #[serde(skip)]
        server: String,
        /// The query.
        query: String,
    },
}

/// How files are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Whether to go on when all are read, and how often to look for more.
    pub follow: Option<Duration>,
    /// Whether a file that comes a second time is skipped, and not an error.
    pub skip_repeated: bool,
}

/// A file, or a query, that rows come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Its path; of a query, `the query`.
    pub path: String,
    /// Its SHA-256, in hexadecimal; none of a query.
    pub sha256: Option<String>,
    /// Its size; 0 of a query.
    pub bytes: u64,
    /// Rows that were read of it.
    pub rows: u64,
    /// Of a file that came before, which that was: it was skipped.
    pub repeats: Option<String>,
}

/// What comes of reading.
#[derive(Debug)]
pub enum Message {
    /// A file begins, or is skipped.
    Input(Input),
    /// Some rows of the last.
    Rows(Box<Batch>, Arc<str>),
    /// There is nothing new, for the moment.
    Nothing,
}

/// Reading that failed.
#[derive(Debug, Error)]
pub enum ReaderError {
    /// A file or query that cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A file that comes twice.
    #[error(
        "{} has the same content as {first}, which was read before: its transactions would count twice. Remove one, or \
         have repeated files passed over",
        path.display()
    )]
    Twice {
        /// The file.
        path: PathBuf,
        /// The one before.
        first: String,
    },
    /// A file that is another than it was.
    #[error(
        "{} was replaced after it was read: what was found of it stands on what it was. Begin a new run folder to count \
         what it is now",
        path.display()
    )]
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// The system refuses a thread.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
}

/// Messages that wait to be taken.
const WAITING: usize = 3;
/// How often somebody who waits learns that there is nothing.
const HEARTBEAT: Duration = Duration::from_millis(100);

/// Begins to read. The last message, where reading fails, is the error.
///
/// # Errors
/// If there are no files, or no thread.
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
            // Who asked may have gone.
            let _ = reader.send.send(Err(*error));
        }
    };
    let thread = std::thread::Builder::new().name("reader".into()).spawn(work);
    thread.map_err(ReaderError::Thread)?;
    Ok(receive)
}

/// Why reading ends early.
enum Stop {
    /// Nobody listens any more.
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

/// By what a file is known to be as it was, without reading it.
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
    /// Which file was the first of a content.
    seen: BTreeMap<String, String>,
    /// Files that were taken, with their hashes.
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
        // What was hashed is what was read.
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

    /// Takes what is there, and what comes.
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
                    // A later look tells whether it is finished; what comes behind it waits, as order counts.
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
