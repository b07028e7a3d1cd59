//! A `.zip` of files that are a graph each: it is mapped, and its entries unpacked in parallel.

use super::members::{FILE, Member, batch, graph_id, inside, no_graphs, refuse_apart, sort};
use super::{BatchOptions, Source, Told, share};
use crate::deflate::set_up;
use crate::map::{Map, map};
use crate::read::{read_bounded, read_bytes};
use crate::summary::ReadSummary;
use crate::{Place, ReadError};
use ripplet_graph::EdgeTable;
use ripplet_graph::batch::GraphBatch;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zip::ZipArchive;
use zip::result::ZipError;

/// The entries that are left to read.
pub(super) struct Zip {
    path: PathBuf,
    options: BatchOptions,
    archive: ZipArchive<Cursor<Shared>>,
    /// By their ids.
    members: Vec<Member<Entry>>,
    next: usize,
}

/// A mapped file, which each thread looks into.
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
    /// Bytes that it says it unpacks to.
    size: u64,
}

impl Zip {
    pub(super) fn open(path: &Path, options: &BatchOptions) -> Result<Zip, ReadError> {
        let mapped = map(path).map_err(|error| ReadError::io(path, Place::File, error))?;
        let archive = ZipArchive::new(Cursor::new(Shared(Arc::new(mapped))));
        let mut archive = archive.map_err(|error| wrong(path, error))?;
        let mut members = Vec::new();
        for index in 0..archive.len() {
            let entry = archive.by_index_raw(index).map_err(|error| wrong(path, error))?;
            let name = entry.name().map_err(|error| wrong(path, error))?.into_owned();
            let id = graph_id(name.strip_prefix("./").unwrap_or(&name), options);
            if let Some(id) = id.filter(|_| entry.is_file()) {
                let source = Entry { name, index, size: entry.size() };
                members.push(Member { id, source, repeated: false });
            }
        }
        if members.is_empty() {
            return Err(no_graphs(path, "the archive"));
        }
        sort(&mut members);
        Ok(Zip { path: path.into(), options: options.clone(), archive, members, next: 0 })
    }

    /// As many entries as are read at once, one at least.
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
    fn next(&mut self, told: &mut Told) -> Result<Option<GraphBatch>, ReadError> {
        let some = self.some();
        if some.is_empty() {
            return Ok(None);
        }
        let path = |entry: &Entry| inside(&self.path, &entry.name);
        let read = |entry: &Entry| self.read(entry);
        let batch = batch(some, &self.path, &self.options, told, read, path)?;
        self.next += some.len();
        Ok(Some(batch))
    }

    fn progress(&self) -> f64 {
        share(self.next as u64, self.members.len() as u64)
    }
}
