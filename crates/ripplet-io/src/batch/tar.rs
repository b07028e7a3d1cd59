//! Reads a `.tar`, compressed or not, of files that are a graph each, as a stream.
//!
//! While some entries are parsed, the next ones are read. Each block of entries is sorted. Ids must ascend
//! from one block to the next, so an unsorted archive is read only if its files fit in one block.

use super::links::{MOST_HOPS, leads_nowhere, led_to, plain_path};
use super::members::{
    Member, SkippedFiles, batch, graph_id, inside, no_graphs, refuse_apart, sort,
};
use super::{BatchOptions, ReadLog, Source, share};
use crate::fault::Fault;
use crate::read::{Bounded, read_bounded, read_bytes};
use crate::small::check_plain;
use crate::source as input;
use crate::text::{compression_of, decoder, is_trailing_bytes};
use crate::{Place, ReadError};
use bytes::Bytes;
use ripplet_graph::batch::GraphBatch;
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Size of a record in bytes; each entry starts at a multiple of it.
const RECORD: u64 = 512;
/// Size limit of the headers before an entry's content, beyond the content's own limit: long names and
/// attributes.
const HEADERS: u64 = 1 << 20;
/// Size limit of the bytes after the end of an archive: tape blocks are padded, mostly to 10 KiB.
const PADDING: u64 = 64 << 20;
/// Size of a read in bytes.
const READ: usize = 1 << 18;

/// The stream, and the block that was read ahead.
pub(super) struct Tar {
    stream: Stream,
    /// Last result of [`Stream::some`].
    ahead: Option<Result<Vec<Member<Entry>>, ReadError>>,
    read: Arc<AtomicU64>,
    bytes: u64,
}

struct Stream {
    path: PathBuf,
    options: BatchOptions,
    reader: Box<dyn Read + Send>,
    /// Largest id that was returned.
    last: Option<String>,
    /// Whether there was a graph.
    any: bool,
    skipped_files: SkippedFiles,
    ended: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    name: String,
    content: Content,
}

/// Bytes of an entry, or why there are none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Content {
    Bytes(Bytes),
    /// A link to the entry of this path.
    Link(String),
    Unread(String),
}

/// File that counts the bytes read.
struct Counted(Box<dyn Read + Send>, Arc<AtomicU64>);

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.0.read(buffer)?;
        self.1.fetch_add(length as u64, Relaxed);
        Ok(length)
    }
}

impl Tar {
    pub(super) fn open(path: &Path, options: &BatchOptions) -> Result<Tar, ReadError> {
        // A device of zeros would be an archive without end.
        check_plain(path)?;
        let system = |error| ReadError::io(path, Place::File, error);
        let source = input::Source::of(path)?;
        let bytes = source.size().map_err(system)?;
        let file = source.reader(0..u64::MAX, input::Pace::All).map_err(system)?;
        let read = Arc::new(AtomicU64::new(0));
        let mut file = BufReader::with_capacity(READ, Counted(file, read.clone()));
        let compression = compression_of(file.fill_buf().map_err(system)?);
        let plain = decoder(file, compression).map_err(system)?;
        let reader = Box::new(BufReader::with_capacity(READ, plain));
        let (path, options) = (path.to_owned(), options.clone());
        let stream = Stream {
            path,
            options,
            reader,
            last: None,
            any: false,
            skipped_files: SkippedFiles::default(),
            ended: false,
        };
        Ok(Tar { stream, ahead: None, read, bytes })
    }
}

impl Source for Tar {
    fn next(&mut self, log: &mut ReadLog) -> Result<Option<GraphBatch>, ReadError> {
        let some = match self.ahead.take() {
            Some(some) => some?,
            None => self.stream.some()?,
        };
        if some.is_empty() {
            let Stream { path, any, skipped_files, .. } = &mut self.stream;
            if !*any {
                return Err(no_graphs(path, "the archive", skipped_files));
            }
            skipped_files.note_in(log, |name| inside(path, name));
            return Ok(None);
        }
        let (whole, options) = (self.stream.path.clone(), self.stream.options.clone());
        let path = |entry: &Entry| inside(&whole, &entry.name);
        let read = |entry: &Entry| {
            let path = path(entry);
            match &entry.content {
                Content::Bytes(bytes) => {
                    refuse_apart(&path, &options)?;
                    read_bytes(bytes.clone(), &path, &options.read, options.most_of_an_entry())
                }
                Content::Link(target) => {
                    Err(ReadError::content(path, Place::File, leads_nowhere(target)))
                }
                Content::Unread(why) => Err(ReadError::content(path, Place::File, why.clone())),
            }
        };
        let (batch, ahead) =
            rayon::join(|| batch(&some, &whole, &options, log, read, path), || self.stream.some());
        self.ahead = Some(ahead);
        batch.map(Some)
    }

    fn progress(&self) -> f64 {
        let ended = self.stream.ended && self.ahead.is_none();
        if ended { 1.0 } else { share(self.read.load(Relaxed), self.bytes).min(1.0) }
    }
}

impl Stream {
    /// Returns the next block of entries, by id; empty after the last.
    fn some(&mut self) -> Result<Vec<Member<Entry>>, ReadError> {
        let (mut some, mut bytes) = (Vec::new(), 0);
        let mut contents = HashMap::new();
        while !self.ended && (some.is_empty() || bytes < self.options.bytes_at_once()) {
            let Some(mut member) = self.entry()? else { continue };
            let Entry { name, content } = &mut member.source;
            resolve(content, &contents);
            bytes += RECORD + content.bytes();
            contents.extend(plain_path(name).map(|path| (path, content.clone())));
            some.push(member);
        }
        // Links to later entries.
        let mut linked = 0;
        for Member { source: Entry { content, .. }, .. } in &mut some {
            if matches!(content, Content::Link(_)) && linked < self.options.bytes_at_once() {
                resolve(content, &contents);
                linked += content.bytes();
            }
        }
        sort(&mut some);
        self.any |= !some.is_empty();
        if let Some(last) = some.last() {
            self.last = Some(last.id.clone());
        }
        Ok(some)
    }

    /// Returns the next entry, if it is a graph.
    fn entry(&mut self) -> Result<Option<Member<Entry>>, ReadError> {
        let most = self.options.most_of_an_entry();
        let mut bounded = Bounded::new(&mut self.reader, most + HEADERS);
        let mut archive = tar::Archive::new(&mut bounded);
        let broken = |error| broken(&self.path, error);
        // Each entry is read as the first of an archive that begins there.
        let Some(entry) = archive.entries().map_err(broken)?.next() else {
            self.ended = true;
            // A record of zeros marks the end of an archive.
            if bounded.is_fresh() {
                return Err(broken(io::ErrorKind::UnexpectedEof.into()));
            }
            return self.end().map(|()| None);
        };
        let mut entry = entry.map_err(broken)?;
        let (kind, size) = (entry.header().entry_type(), entry.size());
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let id = graph_id(name.strip_prefix("./").unwrap_or(&name), &self.options);
        if id.is_none() {
            self.skipped_files.add(&name);
        }
        let is_listed = !(kind.is_dir() || kind.is_pax_global_extensions());
        let id = id.filter(|_| is_listed);
        if let (Some(id), Some(last)) = (&id, &self.last)
            && id < last
        {
            return Err(out_of_order(&self.path, &name, last));
        }
        if kind.is_gnu_sparse() {
            let sentence =
                format!("the entry {name} is sparse: unpack the archive, read the folder");
            return Err(ReadError::content(&self.path, Place::File, sentence));
        }
        let is_link = kind.is_symlink() || kind.is_hard_link();
        let is_file = kind.is_file() || kind.is_contiguous();
        let content = match size <= most {
            _ if is_link => {
                let target = entry.link_name_bytes().unwrap_or_default();
                let target = String::from_utf8_lossy(&target).into_owned();
                let path = match kind.is_symlink() {
                    true => led_to(&name, &target),
                    false => plain_path(&target),
                };
                path.map_or_else(|| Content::Unread(leads_nowhere(&target)), Content::Link)
            }
            _ if !is_file => Content::Unread(NO_FILE.into()),
            true if id.is_some() => {
                let bytes = read_bounded(&mut entry, size);
                let bytes = bytes.map_err(|fault| fault.of(&self.path))?;
                if (bytes.len() as u64) < size {
                    return Err(broken(io::ErrorKind::UnexpectedEof.into()));
                }
                Content::Bytes(bytes.into())
            }
            _ => Content::Unread(too_large(size, most)),
        };
        let left = match &content {
            Content::Bytes(_) => 0,
            Content::Link(_) | Content::Unread(_) => size,
        };
        self.skip(left.saturating_add((RECORD - size % RECORD) % RECORD))?;
        let repeated = id.is_some() && id == self.last;
        Ok(id.map(|id| Member { id, source: Entry { name, content }, repeated }))
    }

    /// Reads what follows the end: no graph, but a compressed archive has a checksum there.
    fn end(&mut self) -> Result<(), ReadError> {
        let mut rest = self.reader.by_ref().take(PADDING + 1);
        match io::copy(&mut rest, &mut io::sink()) {
            Ok(length) if length > PADDING => {
                let sentence = format!(
                    "more than {} MiB follow the end of the archive: cut it there, or pack it again",
                    PADDING >> 20
                );
                Err(ReadError::content(&self.path, Place::File, sentence))
            }
            Ok(_) => Ok(()),
            Err(error) => Err(broken(&self.path, error)),
        }
    }

    fn skip(&mut self, bytes: u64) -> Result<(), ReadError> {
        let skipped = io::copy(&mut self.reader.by_ref().take(bytes), &mut io::sink());
        match skipped {
            Ok(skipped) if skipped == bytes => Ok(()),
            Ok(_) => Err(broken(&self.path, io::ErrorKind::UnexpectedEof.into())),
            Err(error) => Err(broken(&self.path, error)),
        }
    }
}

/// Error of an entry that is neither a file nor a link.
const NO_FILE: &str = "it is a pipe, a device or of a kind that is not known: expected a file";

impl Content {
    fn bytes(&self) -> u64 {
        match self {
            Content::Bytes(bytes) => bytes.len() as u64,
            Content::Link(_) | Content::Unread(_) => 0,
        }
    }
}

/// Replaces a link by its target, if that exists.
fn resolve(content: &mut Content, contents: &HashMap<String, Content>) {
    let mut found = &*content;
    for _ in 0..MOST_HOPS {
        let Content::Link(target) = found else { break };
        let Some(next) = contents.get(target) else { return };
        found = next;
    }
    if let Content::Bytes(bytes) = found {
        *content = Content::Bytes(bytes.clone());
    }
}

fn too_large(size: u64, most: u64) -> String {
    format!(
        "it has {size} bytes, but an entry of an archive is read only up to {most}: unpack the archive \
         and read the folder"
    )
}

fn out_of_order(path: &Path, name: &str, last: &str) -> ReadError {
    let sentence = format!(
        "the entry {name} comes after {last}: graphs ascend by their names in an archive that is read \
         part by part; unpack it and read the folder, or pack it in order (tar --sort=name)"
    );
    ReadError::content(path, Place::File, sentence)
}

fn broken(path: &Path, error: io::Error) -> ReadError {
    if error.kind() == io::ErrorKind::OutOfMemory || error.raw_os_error().is_some() {
        return ReadError::io(path, Place::File, error);
    }
    let sentence = match error.kind() {
        _ if is_trailing_bytes(&error) => error.to_string(),
        io::ErrorKind::UnexpectedEof => "the archive ends early: the file was cut short".to_owned(),
        _ => format!("this is no .tar that can be read: {error}"),
    };
    Fault::whole(sentence).of(path)
}
