//! What a process has begun in object storage and not finished, which it removes when it ends.

use super::fault::write_error;
use super::store::{Address, Stores, wait, wrong};
use futures_util::{StreamExt, stream};
use object_store::multipart::MultipartStore;
use object_store::path::Path as Key;
use object_store::{Error, MultipartId, ObjectStore, ObjectStoreExt};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tokio::task::AbortHandle;
use tokio::time::timeout;

/// Time that a server has to abort an upload, beside which the first error is reported.
const ABORT: Duration = Duration::from_secs(5);
/// Time that a terminating process waits for an upload that is being begun or completed.
const STOP: Duration = Duration::from_secs(5);

/// Time that a task has to send an object, before it is stopped.
const GRACE: Duration = Duration::from_millis(500);

/// An upload that a terminating process aborts, or objects that it removes.
#[derive(Clone, Debug)]
pub(super) enum Unfinished {
    /// An upload in parts.
    Upload { place: Place, id: MultipartId, sending: Tasks },
    /// An object.
    Object(Place),
    /// Parts under an index, by their keys; once the index is sent, also it.
    Objects { index: Place, keys: Arc<Mutex<Vec<Key>>>, sending: Tasks },
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
    /// Aborts the upload, or removes the objects.
    pub(super) fn remove(self) -> io::Result<()> {
        let scheme = self.place().scheme.clone();
        let removed = wait(async move {
            match self {
                Unfinished::Upload { place, id, sending } => {
                    // A part that arrives after the upload was aborted might be kept.
                    sending.abort();
                    timeout(ABORT, place.uploads.abort_multipart(&place.key, &id)).await
                }
                Unfinished::Object(place) => timeout(ABORT, place.store.delete(&place.key)).await,
                Unfinished::Objects { index: Place { store, key, .. }, keys, sending } => {
                    // An object that arrives after it was removed would stay.
                    sending.end().await;
                    let mut keys =
                        keys.lock().map_or(Vec::new(), |mut keys| std::mem::take(&mut *keys));
                    let removed = async move {
                        // An index must not name parts that are gone.
                        if let Some(index) = keys.pop_if(|last| *last == key) {
                            delete(store.clone(), vec![index]).await?;
                        }
                        delete(store, keys).await
                    };
                    timeout(ABORT, removed).await
                }
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
            Unfinished::Upload { place, .. }
            | Unfinished::Object(place)
            | Unfinished::Objects { index: place, .. } => place,
        }
    }
}

/// Locks the list of what is unfinished: while it is locked, nothing is begun or finished.
pub(super) fn unfinished() -> MutexGuard<'static, Vec<(u64, Unfinished)>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds an entry to the list, and returns its number.
pub(super) fn list(unfinished: &mut Vec<(u64, Unfinished)>, what: Unfinished) -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Relaxed);
    unfinished.push((number, what));
    number
}

/// Takes an entry from the list; `None` if it was stopped.
pub(super) fn take(unfinished: &mut Vec<(u64, Unfinished)>, number: u64) -> Option<Unfinished> {
    let at = unfinished.iter().position(|(other, _)| *other == number)?;
    Some(unfinished.swap_remove(at).1)
}

/// Where an object will be.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) uploads: Arc<dyn MultipartStore>,
    pub(super) key: Key,
    pub(super) scheme: String,
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A client has secrets.
        f.debug_struct("Place").field("key", &self.key).finish_non_exhaustive()
    }
}

impl Place {
    pub(super) fn of(path: &Path) -> io::Result<Place> {
        let address = Address::of(path)?;
        if address.rest.is_empty() {
            return Err(wrong("this is a bucket: add the name of the object"));
        }
        let key = address.folder()?;
        let Stores { store, uploads } = address.stores()?;
        let uploads = uploads.ok_or_else(|| wrong("a web server takes no outputs"))?;
        Ok(Place { store, uploads, key, scheme: address.scheme.into() })
    }

    pub(super) async fn begin(&self) -> io::Result<MultipartId> {
        let begun = self.uploads.create_multipart(&self.key).await;
        begun.map_err(|error| write_error(&error, &self.scheme))
    }
}

/// Tasks that send bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Tasks(Arc<Mutex<Vec<AbortHandle>>>);

impl Tasks {
    pub(super) fn add(&self, task: AbortHandle) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.retain(|task| !task.is_finished());
        tasks.push(task);
    }

    /// Stops the tasks. What they sent may still arrive.
    fn abort(&self) {
        let tasks = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        tasks.iter().for_each(AbortHandle::abort);
    }

    /// Stops the tasks that do not end within [`GRACE`].
    async fn end(&self) {
        let begun = Instant::now();
        let is_done = || {
            let tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            tasks.iter().all(AbortHandle::is_finished)
        };
        while !is_done() && begun.elapsed() < GRACE {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.abort();
    }
}

/// Removes objects; one that is not there is no error.
pub(super) async fn delete(store: Arc<dyn ObjectStore>, keys: Vec<Key>) -> Result<(), Error> {
    let mut removed = store.delete_stream(stream::iter(keys.into_iter().map(Ok)).boxed());
    let mut first = Ok(());
    while let Some(one) = removed.next().await {
        if let (Ok(()), Err(error)) = (&first, one)
            && !matches!(error, Error::NotFound { .. })
        {
            first = Err(error);
        }
    }
    first
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
