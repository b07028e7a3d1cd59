//! Reads a `.zip` of files that are a graph each: memory-mapped, with entries unpacked in parallel.

use super::links::{MOST_HOPS, leads_nowhere, led_to, plain_path};
use super::members::{
    FILE, Member, SkippedFiles, batch, graph_id, inside, no_graphs, refuse_apart, sort,
};
use super::{BatchOptions, ReadLog, Source, share};
use crate::deflate::set_up;
use crate::map::{Map, map};
use crate::read::{read_bounded, read_bytes};
use crate::summary::ReadSummary;
use crate::{Place, ReadError};
use ripplet_graph::EdgeTable;
use ripplet_graph::batch::GraphBatch;
use std::collections::HashMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zip::ZipArchive;
use zip::result::ZipError;

/// Entries that are left to read.
pub(super) struct Zip {
    path: PathBuf,
    options: BatchOptions,
    archive: ZipArchive<Cursor<Shared>>,
    /// Entries by id.
    members: Vec<Member<Entry>>,
    skipped_files: SkippedFiles,
    next: usize,
}

/// Mapped file, which all threads share.
#[derive(Clone)]
struct Shared(Arc<Map>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    name: String,
    index: usize,
    /// Declared unpacked size in bytes.
    size: u64,
    /// Reason that the entry cannot be read, if any.
    unread: Option<String>,
}

/// Size limit of a link's target in bytes, as on Linux.
const LONGEST_PATH: u64 = 4096;
/// Bits of a Unix mode that encode the kind of file, and those of a regular file.
const KINDS: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;

impl Zip {
    pub(super) fn open(path: &Path, options: &BatchOptions) -> Result<Zip, ReadError> {
        let mapped = map(path)?;
        let archive = ZipArchive::new(Cursor::new(Shared(Arc::new(mapped))));
        let mut archive = archive.map_err(|error| wrong(path, error))?;
        let (mut members, mut links) = (Vec::new(), HashMap::new());
        let mut skipped_files = SkippedFiles::default();
        for index in 0..archive.len() {
            let entry = archive.by_index_raw(index).map_err(|error| wrong(path, error))?;
            let name = entry.name().map_err(|error| wrong(path, error))?.into_owned();
            let id = graph_id(name.strip_prefix("./").unwrap_or(&name), options);
            let mode = entry.unix_mode().map_or(0, |mode| mode & KINDS);
            let is_file = mode == 0 || mode == REGULAR;
            let unread = (!is_file).then(|| "it is a pipe or a device: expected a file".to_owned());
            let (size, is_link) = (entry.size(), entry.is_symlink());
            if id.is_none() {
                skipped_files.add(&name);
            }
            if let Some(id) = id.filter(|_| !entry.is_dir()) {
                let source = Entry { name: name.clone(), index, size, unread };
                members.push(Member { id, source, repeated: false });
            }
            drop(entry);
            if is_link {
                links.insert(index, target(&mut archive, index, &name, path)?);
            }
        }
        follow(&mut members, &links, &mut archive, path)?;
        if members.is_empty() {
            return Err(no_graphs(path, "the archive", &skipped_files));
        }
        sort(&mut members);
        Ok(Zip {
            path: path.into(),
            options: options.clone(),
            archive,
            members,
            skipped_files,
            next: 0,
        })
    }

    /// Returns the next block of entries, at least one.
    fn some(&self) -> &[Member<Entry>] {
        let rest = &self.members[self.next..];
        let mut bytes = 0u64;
        let fits = |member: &&Member<Entry>| {
            bytes = bytes.saturating_add(FILE).saturating_add(member.source.size);
            bytes <= self.options.bytes_at_once()
        };
        let some = rest.iter().take_while(fits).count();
        &rest[..some.max(1).min(rest.len())]
    }

    fn read(&self, entry: &Entry) -> Result<(EdgeTable, ReadSummary), ReadError> {
        let path = inside(&self.path, &entry.name);
        if let Some(why) = &entry.unread {
            return Err(ReadError::content(path, Place::File, why.clone()));
        }
        refuse_apart(&path, &self.options)?;
        let most = self.options.most_of_an_entry();
        // A clone shares the archive's directory.
        let mut archive = self.archive.clone();
        let opened = set_up(|| archive.by_index(entry.index));
        let opened = opened.map_err(|error| ReadError::io(&path, Place::File, error))?;
        let mut file = opened.map_err(|error| wrong(&path, error))?;
        let bytes =
            read_bounded(&mut file, entry.size.min(most)).map_err(|fault| fault.of(&path))?;
        read_bytes(bytes.into(), &path, &self.options.read, most)
    }
}

/// Reads the target of the link `name`, the entry `index`: its path in the archive, or the reason that it has none.
fn target(
    archive: &mut ZipArchive<Cursor<Shared>>,
    index: usize,
    name: &str,
    path: &Path,
) -> Result<Result<String, String>, ReadError> {
    let opened = set_up(|| archive.by_index(index));
    let opened = opened.map_err(|error| ReadError::io(path, Place::File, error))?;
    let read = opened.map_err(|error| error.to_string()).and_then(|mut file| {
        read_bounded(&mut file, LONGEST_PATH).map_err(|_| "its target cannot be read".to_owned())
    });
    Ok(read.and_then(|target| {
        let target = String::from_utf8_lossy(&target);
        led_to(name, &target).ok_or_else(|| leads_nowhere(&target))
    }))
}

/// Replaces links by their target entries, or by the reason why they cannot be read.
fn follow(
    members: &mut [Member<Entry>],
    links: &HashMap<usize, Result<String, String>>,
    archive: &mut ZipArchive<Cursor<Shared>>,
    path: &Path,
) -> Result<(), ReadError> {
    if links.is_empty() {
        return Ok(());
    }
    let mut places = HashMap::new();
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(|error| wrong(path, error))?;
        let name = entry.name().map_err(|error| wrong(path, error))?;
        if !entry.is_dir() {
            places.extend(plain_path(&name).map(|name| (name, (index, entry.size()))));
        }
    }
    for Member { source, .. } in members {
        let mut why = source.unread.take();
        for hop in 0..=MOST_HOPS {
            let Some(target) = links.get(&source.index) else { break };
            why = match target {
                Err(why) => Some(why.clone()),
                Ok(target) => match places.get(target) {
                    Some(&(index, size)) if hop < MOST_HOPS => {
                        (source.index, source.size) = (index, size);
                        None
                    }
                    _ => Some(leads_nowhere(target)),
                },
            };
            if why.is_some() {
                break;
            }
        }
        source.unread = why;
    }
    Ok(())
}

fn wrong(path: &Path, error: ZipError) -> ReadError {
    match error {
        ZipError::Io(error) => ReadError::io(path, Place::File, error),
        error => {
            let sentence = format!("this is no .zip that can be read: {error}");
            ReadError::content(path, Place::File, sentence)
        }
    }
}

impl Source for Zip {
    fn next(&mut self, log: &mut ReadLog) -> Result<Option<GraphBatch>, ReadError> {
        self.skipped_files.note_in(log, |name| inside(&self.path, name));
        let some = self.some();
        if some.is_empty() {
            return Ok(None);
        }
        let path = |entry: &Entry| inside(&self.path, &entry.name);
        let read = |entry: &Entry| self.read(entry);
        let batch = batch(some, &self.path, &self.options, log, read, path)?;
        self.next += some.len();
        Ok(Some(batch))
    }

    fn progress(&self) -> f64 {
        share(self.next as u64, self.members.len() as u64)
    }
}
