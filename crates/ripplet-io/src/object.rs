//! Objects of S3, Google Cloud Storage, Azure Blob Storage, and files behind HTTP.
//!
//! ```text
//! address ─▶ client of its bucket, with credentials of the environment
//!         ─▶ size and ETag ─▶ ranges of up to 8 MiB, four requests at a time ─▶ reader, pieces in memory, or a local copy
//! ```
//!
//! Each response must be of the object that was first asked for: another ETag, size or time is an error.
//!
//! An output is an upload in parts, which appears when it is completed: see `upload.rs`.
//!
//! Memory: 32 MiB for a reader or a copy, and for pieces their bytes; 64 MiB for an upload.
//!
//! No message has more of a server's answer than its status and the code of its error: an answer may quote keys.

mod fault;
mod parts;
mod profile;
mod reader;
mod store;
mod unfinished;
mod upload;

pub(crate) use parts::{ObjectParts, PartsUpload, remove, remove_under};
pub(crate) use reader::ObjectReader;
pub(crate) use unfinished::{Provisional, UploadsStopped, stop_uploads};
pub(crate) use upload::{Upload, is_empty};

use crate::fault::Fault;
use crate::fetched;
use bytes::Bytes;
use fault::{changed, cut_short, io_error};
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::path::Path as Key;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt};
use ripplet_graph::memory;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use store::{Address, wait, wrong};

/// Bytes of a request. A request takes as long as some 100 KiB, so that larger ones gain little.
const PIECE: u64 = 8 << 20;
/// Requests of a reader at a time: one connection of S3 has some 100 MB/s.
const AT_ONCE: usize = 4;
/// Bytes between two ranges up to which one request has both.
const GAP: u64 = 64 << 10;

/// Bytes of the parts of a copy, which begin at multiples of it.
const BLOCK: u64 = 64 << 10;

/// An object, as it was when it was first asked for.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    address: PathBuf,
    store: Arc<dyn ObjectStore>,
    meta: ObjectMeta,
}

impl Object {
    /// Asks for the size and the ETag of the object at an address.
    pub(crate) fn of(address: &Path) -> io::Result<Object> {
        let place = Address::of(address)?;
        let key = place.key()?;
        let store = place.store()?;
        let asked = store.clone();
        let meta = wait(async move { asked.head(&key).await })?;
        let meta = meta.map_err(|error| io_error(&error, place.scheme))?;
        Ok(Object { address: address.into(), store, meta })
    }

    pub(crate) fn address(&self) -> &Path {
        &self.address
    }

    pub(crate) fn size(&self) -> u64 {
        self.meta.size
    }

    /// Returns what identifies this version of the object.
    pub(crate) fn version(&self) -> String {
        let ObjectMeta { last_modified, e_tag, .. } = &self.meta;
        e_tag.clone().unwrap_or_else(|| last_modified.timestamp().to_string())
    }

    /// Returns a reader of a range, or of the part of it that the object has. If `all` is false, its first requests are small.
    pub(crate) fn reader(&self, range: Range<u64>, all: bool) -> ObjectReader {
        let end = range.end.min(self.size());
        ObjectReader::new(self.clone(), range.start.min(end)..end, all)
    }

    /// Returns a file with the bytes of the object. It has no name, so that it is gone with the process.
    pub(crate) fn copy(&self) -> io::Result<File> {
        let copy = self.begin_copy()?;
        copy.fill(std::iter::once(0..self.size()))?;
        copy.file()
    }

    /// Returns a file without a name, of the object's size, to which bytes of the object are copied when they are needed.
    pub(crate) fn begin_copy(&self) -> io::Result<Copy> {
        let make = || {
            let file = tempfile::tempfile()?;
            file.set_len(self.size())?;
            Ok(file)
        };
        let file = make().map_err(|error| self.no_copy(&error))?;
        let filled = vec![false; usize::try_from(self.size().div_ceil(BLOCK)).unwrap_or(0)];
        Ok(Copy { object: self.clone(), file: Arc::new(file), filled: Mutex::new(filled) })
    }

    fn no_copy(&self, error: &io::Error) -> io::Error {
        let (bytes, folder) = (self.size(), std::env::temp_dir());
        let folder = folder.display();
        let sentence = format!(
            "its local copy of {bytes} bytes cannot be written in {folder}: {error}: set TMPDIR to a folder with more room"
        );
        io::Error::new(error.kind(), sentence)
    }

    /// Returns the bytes of some ranges, each of them within one piece; pieces ascend.
    pub(crate) fn pieces(&self, mut ranges: Vec<Range<u64>>) -> Result<Vec<(u64, Bytes)>, Fault> {
        ranges.retain(|range| range.start < range.end.min(self.size()));
        ranges.sort_by_key(|range| range.start);
        let mut joined: Vec<Range<u64>> = Vec::new();
        for range in ranges {
            let end = range.end.min(self.size());
            match joined.last_mut() {
                Some(last) if range.start <= last.end + GAP => last.end = last.end.max(end),
                _ => joined.push(range.start..end),
            }
        }
        let mut pieces = Vec::new();
        for range in joined {
            let begin = range.start;
            let room = usize::try_from(range.end - begin).unwrap_or(usize::MAX);
            let mut bytes = memory::with_room::<u8>(room)?;
            let object = self.clone();
            let read = wait(async move {
                let mut parts = stream::iter(pieces_of(range))
                    .map(|part| {
                        let object = object.clone();
                        async move { object.fetch(part).await }
                    })
                    .buffered(AT_ONCE);
                while let Some(part) = parts.next().await {
                    bytes.extend_from_slice(&part?);
                }
                Ok::<Vec<u8>, io::Error>(bytes)
            });
            let bytes = read.and_then(|read| read).map_err(system)?;
            pieces.push((begin, Bytes::from(bytes)));
        }
        Ok(pieces)
    }

    /// Requests a range of at most [`PIECE`] bytes, which the object has.
    async fn fetch(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let scheme = self.scheme();
        // A weak ETag never matches.
        let if_match = self.meta.e_tag.clone().filter(|tag| !tag.starts_with("W/"));
        let bounds = Some(GetRange::Bounded(range.clone()));
        let options = GetOptions { range: bounds, if_match, ..GetOptions::default() };
        fetched::count(1, 0);
        let got = self.store.get_opts(&self.meta.location, options).await;
        let got = got.map_err(|error| io_error(&error, scheme))?;
        let same = |of: &ObjectMeta| {
            of.size == self.meta.size
                && match (&of.e_tag, &self.meta.e_tag) {
                    (Some(one), Some(other)) => one == other,
                    _ => of.last_modified.timestamp() == self.meta.last_modified.timestamp(),
                }
        };
        if !same(&got.meta) {
            return Err(changed());
        }
        let length = range.end - range.start;
        let mut bytes: Vec<u8> = memory::with_room(length as usize).map_err(io::Error::other)?;
        let mut body = got.into_stream();
        while let Some(some) = body.next().await {
            let some = some.map_err(|error| io_error(&error, scheme))?;
            fetched::count(0, some.len() as u64);
            if bytes.len() as u64 + some.len() as u64 > length {
                return Err(changed());
            }
            bytes.extend_from_slice(&some);
        }
        match bytes.len() as u64 == length {
            true => Ok(bytes),
            false => Err(cut_short(&range, bytes.len())),
        }
    }

    fn scheme(&self) -> &str {
        crate::address::scheme_of(&self.address).unwrap_or_default()
    }
}

/// A local copy of an object, or of parts of it.
#[derive(Debug)]
pub(crate) struct Copy {
    object: Object,
    file: Arc<File>,
    /// Whether each block of [`BLOCK`] bytes is there.
    filled: Mutex<Vec<bool>>,
}

impl Copy {
    /// Returns the file.
    pub(crate) fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Copies the blocks that some ranges of bytes lie in, unless they are there.
    pub(crate) fn fill(&self, ranges: impl Iterator<Item = Range<u64>>) -> io::Result<()> {
        let size = self.object.size();
        let mut filled = self.filled.lock().unwrap_or_else(PoisonError::into_inner);
        let mut missing = Vec::new();
        for range in ranges.filter(|range| range.start < range.end.min(size)) {
            let blocks = range.start / BLOCK..range.end.min(size).div_ceil(BLOCK);
            missing.extend(blocks.filter(|&block| !filled[block as usize]));
        }
        missing.sort_unstable();
        missing.dedup();
        let runs = missing.chunk_by(|block, next| block + 1 == *next);
        let bytes = runs.map(|run| run[0] * BLOCK..((run[run.len() - 1] + 1) * BLOCK).min(size));
        let pieces: Vec<Range<u64>> = bytes.flat_map(pieces_of).collect();
        let (object, file) = (self.object.clone(), self.file.clone());
        wait(async move {
            let copies = stream::iter(pieces).map(|piece| {
                let (object, file) = (object.clone(), file.clone());
                async move {
                    let bytes = object.fetch(piece.clone()).await?;
                    write_at(&file, piece.start, &bytes).map_err(|error| object.no_copy(&error))
                }
            });
            copies.buffer_unordered(AT_ONCE).try_collect::<()>().await
        })??;
        missing.iter().for_each(|&block| filled[block as usize] = true);
        Ok(())
    }
}

fn system(error: io::Error) -> Fault {
    Fault { place: crate::Place::File, kind: error.into() }
}

/// Returns the ranges of up to [`PIECE`] bytes that a range consists of.
fn pieces_of(range: Range<u64>) -> impl Iterator<Item = Range<u64>> + Send {
    let end = range.end;
    range.step_by(PIECE as usize).map(move |begin| begin..(begin + PIECE).min(end))
}

#[cfg(unix)]
fn write_at(file: &File, begin: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, begin)
}

#[cfg(windows)]
fn write_at(file: &File, mut begin: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = std::os::windows::fs::FileExt::seek_write(file, bytes, begin)?;
        bytes = &bytes[written..];
        begin += written as u64;
    }
    Ok(())
}

/// Returns the objects of a folder whose names match, ascending by name, and the names of its folders that match.
pub(crate) fn list(
    folder: &Path,
    matches: &dyn Fn(&str) -> bool,
) -> io::Result<(Vec<Object>, Vec<String>)> {
    let place = Address::of(folder)?;
    if place.is_http() {
        return Err(wrong("a web server has no list of its files: name each of them"));
    }
    let store = place.store()?;
    let prefix = (!place.rest.trim_matches('/').is_empty()).then(|| place.folder()).transpose()?;
    let asked = store.clone();
    let listed = wait(async move { asked.list_with_delimiter(prefix.as_ref()).await })?;
    let listed = listed.map_err(|error| io_error(&error, place.scheme))?;
    let name = |key: &Key| key.filename().map(str::to_owned);
    let mut objects = Vec::new();
    for meta in listed.objects {
        let Some(name) = name(&meta.location).filter(|name| matches(name)) else { continue };
        let object = Object { address: folder.join(name), store: store.clone(), meta };
        memory::push(&mut objects, object).map_err(io::Error::other)?;
    }
    objects.sort_by(|one, other| one.address.cmp(&other.address));
    let folders = listed.common_prefixes.iter().filter_map(name).filter(|name| matches(name));
    Ok((objects, folders.collect()))
}
