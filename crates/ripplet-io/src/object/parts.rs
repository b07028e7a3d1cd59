//! An output as many objects: parts of equal size, and an index, which is written after all of them.
//!
//! ```text
//! bytes ─▶ objects of 8 MiB, three requests at a time ─▶ settled: the server has all ─▶ committed: the index names them
//! ```
//!
//! No upload in parts is begun, of which a process that is killed would leave parts that no list of objects shows: what such a
//! process leaves are objects without an index, which [`remove_under`] removes.
//!
//! Parts have names of their own for each output, so that another one of the same name replaces the index alone.

use super::fault::{io_error, write_error};
use super::store::{Address, Answer, start_to_stop, wait};
use super::unfinished::{Place, Tasks, Unfinished, delete, list, take, unfinished};
use super::upload::{AT_ONCE, payload};
use super::{AT_ONCE as READ_AT_ONCE, PIECE, write_at};
use crate::{WriteError, fetched};
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::path::Path as Key;
use object_store::{ObjectStoreExt, PutResult};
use std::collections::VecDeque;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The parts of an output in object storage: names and sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObjectParts {
    /// What the names of the parts begin with.
    pub name: String,
    /// Bytes of all parts.
    pub bytes: u64,
    /// Bytes of each part but the last.
    pub part_bytes: u64,
}

impl ObjectParts {
    /// Returns the name of a part.
    fn name_of(&self, part: u64) -> String {
        format!("{}-{part:06}", self.name)
    }

    /// Returns the keys of the parts in a folder, with the first byte and the size of each.
    fn keys(&self, folder: &Path) -> impl Iterator<Item = io::Result<(Key, u64, u64)>> {
        let step = self.part_bytes.max(1);
        (0..self.bytes.div_ceil(step)).map(move |part| {
            let begin = part * step;
            let key = Address::of(&folder.join(self.name_of(part)))?.folder()?;
            Ok((key, begin, step.min(self.bytes - begin)))
        })
    }

    /// Returns a file without a name that has the bytes of the parts in a folder.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if a part is not there, [`ErrorKind::UnexpectedEof`] if it has another size; others if the server
    /// refuses or does not answer, or the disk has no room.
    pub(crate) fn copy(&self, folder: &Path) -> io::Result<File> {
        let address = Address::of(folder)?;
        let (store, scheme) = (address.store()?, address.scheme.to_owned());
        let make = || {
            let file = tempfile::tempfile()?;
            file.set_len(self.bytes)?;
            Ok(file)
        };
        let bytes = self.bytes;
        let file = Arc::new(make().map_err(|error| no_copy(bytes, &error))?);
        let parts = self.keys(folder).collect::<io::Result<Vec<_>>>()?;
        let copy = file.clone();
        wait(async move {
            let copies = stream::iter(parts).map(|(key, begin, size)| {
                let (store, scheme, file) = (store.clone(), &scheme, copy.clone());
                async move {
                    fetched::count(1, 0);
                    let got = store.get(&key).await.map_err(|error| io_error(&error, scheme))?;
                    let name = key.filename().unwrap_or_default();
                    if got.meta.size != size {
                        let sentence = format!(
                            "its part {name} has {} bytes instead of {size}",
                            got.meta.size
                        );
                        return Err(io::Error::new(ErrorKind::UnexpectedEof, sentence));
                    }
                    let bytes = got.bytes().await.map_err(|error| io_error(&error, scheme))?;
                    fetched::count(0, bytes.len() as u64);
                    write_at(&file, begin, &bytes).map_err(|error| no_copy(size, &error))
                }
            });
            copies.buffer_unordered(READ_AT_ONCE).try_collect::<()>().await
        })??;
        file.try_clone()
    }
}

fn no_copy(bytes: u64, error: &io::Error) -> io::Error {
    let folder = std::env::temp_dir();
    let sentence = format!(
        "its local copy of {bytes} bytes cannot be written in {}: {error}: set TMPDIR to a folder with more room",
        folder.display()
    );
    io::Error::new(error.kind(), sentence)
}

/// Writer of an output in parts. Dropped before it is committed, it removes what is there, as the end of the process by a signal
/// does.
#[derive(Debug)]
pub(crate) struct PartsUpload {
    /// Where the index will be.
    address: PathBuf,
    index: Place,
    /// The folder of the parts.
    folder: PathBuf,
    parts: ObjectParts,
    /// Returns the text of the index.
    text: fn(&ObjectParts) -> String,
    /// What is not sent yet: less than a part, or one.
    buffer: Vec<u8>,
    /// The objects that are there, or may be.
    keys: Arc<Mutex<Vec<Key>>>,
    /// The number in the list of what is unfinished, after the first part.
    number: Option<u64>,
    tasks: Tasks,
    sending: VecDeque<Answer<object_store::Result<PutResult>>>,
}

impl PartsUpload {
    /// Creates the writer of an index and the parts in a folder. Nothing is requested.
    ///
    /// # Errors
    /// If the address names no object, or the settings of the environment do not fit together.
    pub(crate) fn create(
        index: &Path,
        folder: &Path,
        text: fn(&ObjectParts) -> String,
    ) -> io::Result<PartsUpload> {
        let name = format!("{:016x}", RandomState::new().hash_one(std::process::id()));
        Ok(PartsUpload {
            address: index.into(),
            index: Place::of(index)?,
            folder: folder.into(),
            parts: ObjectParts { name, bytes: 0, part_bytes: PIECE },
            text,
            buffer: Vec::new(),
            keys: Arc::default(),
            number: None,
            tasks: Tasks::default(),
            sending: VecDeque::new(),
        })
    }

    /// Checks that objects of a folder can be written and removed, by one that is.
    ///
    /// # Errors
    /// If the bucket does not exist, or the server refuses or does not answer.
    pub(crate) fn check(folder: &Path) -> io::Result<()> {
        let mut upload = PartsUpload::create(&folder.join("index"), folder, |_| String::new())?;
        let sent = upload.write_all(b"test").and_then(|()| upload.settle());
        sent.and_then(|()| upload.abort())
    }

    /// Returns what the names of the parts begin with.
    pub(crate) fn name(&self) -> &str {
        &self.parts.name
    }

    /// Names the index in an error.
    pub(crate) fn error(&self, source: io::Error) -> WriteError {
        WriteError { path: self.address.clone(), source }
    }

    /// Sends what is not sent yet, and waits until the server has all parts.
    pub(crate) fn settle(&mut self) -> io::Result<()> {
        let settled = self.send_rest();
        settled.map_err(|error| self.fail(error))
    }

    /// Writes the index.
    pub(crate) fn commit(&mut self) -> io::Result<()> {
        self.settle()?;
        let committed = self.send_index().and_then(|()| self.receive());
        committed.map_err(|error| self.fail(error))?;
        let mut held = unfinished();
        self.number.take().map(|number| take(&mut held, number));
        Ok(())
    }

    fn send_index(&mut self) -> io::Result<()> {
        let text = (self.text)(&self.parts).into_bytes();
        self.start(self.index.key.clone(), text)
    }

    /// Starts to send the buffer as a part.
    fn send(&mut self) -> io::Result<()> {
        while self.sending.len() >= AT_ONCE {
            self.receive()?;
        }
        let part = self.parts.bytes / self.parts.part_bytes;
        let key = Address::of(&self.folder.join(self.parts.name_of(part)))?.folder()?;
        let bytes = mem::take(&mut self.buffer);
        let length = bytes.len() as u64;
        self.start(key, bytes)?;
        self.parts.bytes += length;
        Ok(())
    }

    /// Starts to send an object.
    fn start(&mut self, key: Key, bytes: Vec<u8>) -> io::Result<()> {
        let mut held = unfinished();
        if self.number.is_none() {
            let (index, keys, sending) =
                (self.index.clone(), self.keys.clone(), self.tasks.clone());
            self.number = Some(list(&mut held, Unfinished::Objects { index, keys, sending }));
        }
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).push(key.clone());
        let store = self.index.store.clone();
        let (answer, task) = start_to_stop(async move { store.put(&key, payload(bytes)).await })?;
        self.tasks.add(task);
        self.sending.push_back(answer);
        Ok(())
    }

    /// Waits for the oldest object that is being sent.
    fn receive(&mut self) -> io::Result<()> {
        let Some(answer) = self.sending.pop_front() else { return Ok(()) };
        let put = answer.wait()?;
        put.map(drop).map_err(|error| write_error(&error, &self.index.scheme))
    }

    fn send_rest(&mut self) -> io::Result<()> {
        if !self.buffer.is_empty() {
            self.send()?;
        }
        while !self.sending.is_empty() {
            self.receive()?;
        }
        Ok(())
    }

    /// Removes the objects after an error; if that fails, the error says what is left.
    fn fail(&mut self, error: io::Error) -> io::Error {
        match self.abort() {
            Ok(()) => error,
            Err(_) => {
                let sentence = format!(
                    "{error}; the server could not be asked to remove what was written of it, which the next run does"
                );
                io::Error::new(error.kind(), sentence)
            }
        }
    }

    /// Removes the objects, unless the output is committed.
    fn abort(&mut self) -> io::Result<()> {
        let Some(number) = self.number.take() else { return Ok(()) };
        self.sending.clear();
        let what = take(&mut unfinished(), number);
        what.map_or(Ok(()), Unfinished::remove)
    }
}

impl Write for PartsUpload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = PIECE as usize - self.buffer.len();
        let some = &bytes[..bytes.len().min(room)];
        self.buffer.try_reserve(some.len()).map_err(|_| ErrorKind::OutOfMemory)?;
        self.buffer.extend_from_slice(some);
        if self.buffer.len() == PIECE as usize {
            let sent = self.send();
            sent.map_err(|error| self.fail(error))?;
        }
        Ok(some.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for PartsUpload {
    fn drop(&mut self) {
        // The first error is the one to report, not that of the cleanup.
        let _ = self.abort();
    }
}

/// Removes an object; one that is not there is no error.
pub(crate) fn remove(address: &Path) -> io::Result<()> {
    let Place { store, key, scheme, .. } = Place::of(address)?;
    let removed = wait(delete(store, vec![key]))?;
    removed.map_err(|error| write_error(&error, &scheme))
}

/// Removes the objects of a folder, but for those whose names begin with `but`.
pub(crate) fn remove_under(folder: &Path, but: Option<&str>) -> io::Result<()> {
    let Place { store, key, scheme, .. } = Place::of(folder)?;
    let but = but.map(str::to_owned);
    let removed = wait(async move {
        let mut keys = Vec::new();
        let mut listed = store.list(Some(&key));
        while let Some(found) = listed.next().await {
            let key = found?.location;
            let name = key.filename().unwrap_or_default();
            if !but.as_deref().is_some_and(|but| name.starts_with(but)) {
                keys.push(key);
            }
        }
        drop(listed);
        delete(store, keys).await
    })?;
    removed.map_err(|error| write_error(&error, &scheme))
}
