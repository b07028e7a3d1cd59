//! Outputs in object storage: uploads, which appear when they are complete.
//!
//! ```text
//! bytes ─▶ parts of 16 MiB, three requests at a time ─▶ settled: the server has all ─▶ committed: the object appears
//! ```
//!
//! What fits one part is one request. Of a larger output, the upload is aborted when its value is dropped before, and by
//! [`stop_uploads`], so that the server keeps no parts of it.

use super::fault::write_error;
use super::store::{Address, Answer, Stores, start_to_stop, wait, wrong};
use crate::WriteError;
use bytes::Bytes;
use futures_util::StreamExt;
use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path as Key;
use object_store::{Error, MultipartId, ObjectStore, ObjectStoreExt, PutPayload};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tokio::task::AbortHandle;
use tokio::time::timeout;

/// Bytes of a part: the parts of an upload are equally large, as some servers need.
const PART: usize = 16 << 20;
/// The most parts that S3 takes.
const MOST_PARTS: usize = 10_000;
/// Requests of an upload at a time.
const AT_ONCE: usize = 3;
/// Time that a server has to abort an upload, beside which the first error is reported.
const ABORT: Duration = Duration::from_secs(5);
/// Time that a terminating process waits for an upload that is being begun or completed.
const STOP: Duration = Duration::from_secs(5);

/// An upload that a terminating process aborts, or an object that it removes.
#[derive(Clone, Debug)]
enum Unfinished {
    Upload { place: Place, id: MultipartId, sending: Arc<Mutex<Vec<AbortHandle>>> },
    Object(Place),
}

/// The unfinished uploads and objects of this process, each with a number.
static UNFINISHED: Mutex<Vec<(u64, Unfinished)>> = Mutex::new(Vec::new());

/// Guard: while it lives, no upload starts or finishes.
#[derive(Debug)]
#[expect(dead_code, reason = "it is held, and not read")]
pub(crate) struct UploadsStopped(MutexGuard<'static, Vec<(u64, Unfinished)>>);

/// Aborts all uploads in progress, and removes the objects of unfinished outputs, for a process that is about to exit. `None` if
/// an upload is being begun or completed, and the server does not answer in time.
pub(crate) fn stop_uploads() -> Option<UploadsStopped> {
    let begun = Instant::now();
    let mut unfinished = loop {
        match UNFINISHED.try_lock() {
            Ok(unfinished) => break unfinished,
            Err(TryLockError::Poisoned(unfinished)) => break unfinished.into_inner(),
            Err(TryLockError::WouldBlock) if begun.elapsed() > STOP => return None,
            Err(TryLockError::WouldBlock) => sleep(Duration::from_millis(5)),
        }
    };
    // Errors cannot be reported here.
    unfinished.drain(..).for_each(|(_, what)| drop(what.remove()));
    Some(UploadsStopped(unfinished))
}

impl Unfinished {
    /// Aborts the upload, or removes the object.
    fn remove(self) -> io::Result<()> {
        let scheme = self.place().scheme.clone();
        let removed = wait(async move {
            match self {
                Unfinished::Upload { place, id, sending } => {
                    // A part that arrives after the upload was aborted might be kept.
                    let sending =
                        sending.lock().map_or(Vec::new(), |mut all| std::mem::take(&mut *all));
                    sending.iter().for_each(AbortHandle::abort);
                    timeout(ABORT, place.uploads.abort_multipart(&place.key, &id)).await
                }
                Unfinished::Object(place) => timeout(ABORT, place.store.delete(&place.key)).await,
            }
        })?;
        match removed {
            Ok(Ok(()) | Err(Error::NotFound { .. })) => Ok(()),
            Ok(Err(error)) => Err(write_error(&error, &scheme)),
            Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "the server does not answer")),
        }
    }

    fn place(&self) -> &Place {
        match self {
            Unfinished::Upload { place, .. } | Unfinished::Object(place) => place,
        }
    }
}

fn unfinished() -> MutexGuard<'static, Vec<(u64, Unfinished)>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn list(unfinished: &mut Vec<(u64, Unfinished)>, what: Unfinished) -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Relaxed);
    unfinished.push((number, what));
    number
}

/// Takes an entry from the list; `None` if it was stopped.
fn take(unfinished: &mut Vec<(u64, Unfinished)>, number: u64) -> Option<Unfinished> {
    let at = unfinished.iter().position(|(other, _)| *other == number)?;
    Some(unfinished.swap_remove(at).1)
}

/// Where an object will be.
#[derive(Clone)]
struct Place {
    store: Arc<dyn ObjectStore>,
    uploads: Arc<dyn MultipartStore>,
    key: Key,
    scheme: String,
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A client has secrets.
        f.debug_struct("Place").field("key", &self.key).finish_non_exhaustive()
    }
}

impl Place {
    fn of(path: &Path) -> io::Result<Place> {
        let address = Address::of(path)?;
        if address.rest.is_empty() {
            return Err(wrong("this is a bucket: add the name of the object"));
        }
        let key = address.folder()?;
        let Stores { store, uploads } = address.stores()?;
        let uploads = uploads.ok_or_else(|| wrong("a web server takes no outputs"))?;
        Ok(Place { store, uploads, key, scheme: address.scheme.into() })
    }

    async fn begin(&self) -> io::Result<MultipartId> {
        let begun = self.uploads.create_multipart(&self.key).await;
        begun.map_err(|error| write_error(&error, &self.scheme))
    }
}

/// Writer of an object, which appears when it is committed, in place of one that is there. Dropping it before aborts the upload.
#[derive(Debug)]
pub(crate) struct Upload {
    address: PathBuf,
    place: Place,
    /// What is not sent yet: less than a part.
    buffer: Vec<u8>,
    /// The upload, after the first part; its number in the list.
    begun: Option<(MultipartId, u64)>,
    /// The tasks that send parts.
    tasks: Arc<Mutex<Vec<AbortHandle>>>,
    sending: VecDeque<Answer<object_store::Result<PartId>>>,
    sent: Vec<PartId>,
}

impl Upload {
    /// Creates the writer of the object at an address. Nothing is requested.
    ///
    /// # Errors
    /// If the address names no object, or the settings of the environment do not fit together.
    pub(crate) fn create(address: &Path) -> io::Result<Upload> {
        Ok(Upload {
            address: address.into(),
            place: Place::of(address)?,
            buffer: Vec::new(),
            begun: None,
            tasks: Arc::default(),
            sending: VecDeque::new(),
            sent: Vec::new(),
        })
    }

    /// Checks that an object can be written: begins an upload, and aborts it. An object that is there stays as it is.
    ///
    /// # Errors
    /// If the bucket does not exist, or the server refuses or does not answer.
    pub(crate) fn check(address: &Path) -> io::Result<()> {
        let mut upload = Upload::create(address)?;
        upload.begin()?;
        upload.abort()
    }

    /// Names the object in an error.
    pub(crate) fn error(&self, source: io::Error) -> WriteError {
        WriteError { path: self.address.clone(), source }
    }

    /// Sends what is not sent yet, and waits until the server has all parts. What fits one part is kept until it is committed.
    pub(crate) fn settle(&mut self) -> io::Result<()> {
        if self.begun.is_none() {
            return Ok(());
        }
        let settled = self.send_rest();
        settled.map_err(|error| self.fail(error))
    }

    /// Makes the object appear.
    pub(crate) fn commit(&mut self) -> io::Result<()> {
        self.settle()?;
        let committed = match self.begun.clone() {
            None => self.put(),
            Some((id, number)) => self.complete(id, number),
        };
        committed.map_err(|error| self.fail(error))
    }

    /// Writes an object that fits one part.
    fn put(&mut self) -> io::Result<()> {
        let (place, bytes) = (self.place.clone(), std::mem::take(&mut self.buffer));
        let _held = unfinished();
        let put = wait(async move { place.store.put(&place.key, payload(bytes)).await })?;
        put.map(drop).map_err(|error| write_error(&error, &self.place.scheme))
    }

    fn complete(&mut self, id: MultipartId, number: u64) -> io::Result<()> {
        let (place, parts) = (self.place.clone(), std::mem::take(&mut self.sent));
        let mut held = unfinished();
        let completed =
            wait(async move { place.uploads.complete_multipart(&place.key, &id, parts).await })?;
        completed.map_err(|error| write_error(&error, &self.place.scheme))?;
        take(&mut held, number);
        self.begun = None;
        Ok(())
    }

    /// Begins an upload in parts, unless it is begun; returns what identifies it.
    fn begin(&mut self) -> io::Result<MultipartId> {
        if let Some((id, _)) = &self.begun {
            return Ok(id.clone());
        }
        let mut held = unfinished();
        let place = self.place.clone();
        let id = wait(async move { place.begin().await })??;
        let (place, sending) = (self.place.clone(), self.tasks.clone());
        let number = list(&mut held, Unfinished::Upload { place, id: id.clone(), sending });
        self.begun = Some((id.clone(), number));
        Ok(id)
    }

    /// Starts to send the buffer as a part.
    fn send(&mut self) -> io::Result<()> {
        let id = self.begin()?;
        let number = self.sent.len() + self.sending.len();
        if number == MOST_PARTS {
            let most = (MOST_PARTS * PART) >> 30;
            let sentence = format!(
                "an object is written up to {most} GiB: write a table in parts on several ranks, or on a disk"
            );
            return Err(wrong(&sentence));
        }
        while self.sending.len() >= AT_ONCE {
            self.receive()?;
        }
        let (place, bytes) = (self.place.clone(), std::mem::take(&mut self.buffer));
        let (answer, task) = start_to_stop(async move {
            place.uploads.put_part(&place.key, &id, number, payload(bytes)).await
        })?;
        self.sending.push_back(answer);
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.retain(|task| !task.is_finished());
        tasks.push(task);
        Ok(())
    }

    /// Waits for the oldest part that is being sent.
    fn receive(&mut self) -> io::Result<()> {
        let Some(answer) = self.sending.pop_front() else { return Ok(()) };
        let part = answer.wait()?.map_err(|error| write_error(&error, &self.place.scheme))?;
        self.sent.push(part);
        Ok(())
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

    /// Aborts the upload after an error; if that fails, the error says what is left.
    fn fail(&mut self, error: io::Error) -> io::Error {
        match self.abort() {
            Ok(()) => error,
            Err(_) => {
                let sentence = format!(
                    "{error}; the server could not be asked to remove the parts of the unfinished upload, which no object shows"
                );
                io::Error::new(error.kind(), sentence)
            }
        }
    }

    /// Aborts the upload, if it was begun and not completed.
    fn abort(&mut self) -> io::Result<()> {
        let Some((_, number)) = self.begun.take() else { return Ok(()) };
        self.sending.clear();
        let what = take(&mut unfinished(), number);
        what.map_or(Ok(()), Unfinished::remove)
    }
}

fn payload(bytes: Vec<u8>) -> PutPayload {
    PutPayload::from_bytes(Bytes::from(bytes))
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let some = &bytes[..bytes.len().min(PART - self.buffer.len())];
        self.buffer.try_reserve(some.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
        self.buffer.extend_from_slice(some);
        if self.buffer.len() == PART {
            let sent = self.send();
            sent.map_err(|error| self.fail(error))?;
        }
        Ok(some.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        // The first error is the one to report, not that of the cleanup.
        let _ = self.abort();
    }
}

/// An object of an output that is not finished: dropping the value, or the end of the process by a signal, removes the object.
#[derive(Debug)]
pub(crate) struct Provisional(Option<u64>);

impl Provisional {
    /// Begins before the object appears.
    pub(crate) fn begin(address: &Path) -> io::Result<Provisional> {
        let place = Place::of(address)?;
        Ok(Provisional(Some(list(&mut unfinished(), Unfinished::Object(place)))))
    }

    /// Keeps the object.
    pub(crate) fn keep(mut self) {
        if let Some(number) = self.0.take() {
            take(&mut unfinished(), number);
        }
    }
}

impl Drop for Provisional {
    fn drop(&mut self) {
        let what = self.0.take().and_then(|number| take(&mut unfinished(), number));
        // As above.
        let _ = what.map(Unfinished::remove);
    }
}

/// Whether no object has an address that begins with this one.
///
/// # Errors
/// If the bucket does not exist, or the server refuses or does not answer.
pub(crate) fn is_empty(prefix: &Path) -> io::Result<bool> {
    let address = Address::of(prefix)?;
    let key = (!address.rest.trim_matches('/').is_empty()).then(|| address.folder()).transpose()?;
    let store = address.store()?;
    let first = wait(async move {
        let mut listed = store.list(key.as_ref());
        loop {
            match listed.next().await {
                // The empty object by which some programs show a folder.
                Some(Ok(found)) if Some(&found.location) == key.as_ref() && found.size == 0 => {}
                other => return other,
            }
        }
    })?;
    match first {
        None => Ok(true),
        Some(Ok(_)) => Ok(false),
        Some(Err(error)) => Err(write_error(&error, address.scheme)),
    }
}
