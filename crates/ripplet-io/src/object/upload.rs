//! Outputs in object storage: uploads, which appear when they are complete.
//!
//! ```text
//! bytes ─▶ parts of 16 MiB, three requests at a time ─▶ settled: the server has all ─▶ committed: the object appears
//! ```
//!
//! What fits one part is one request. Of a larger output, the upload is aborted when its value is dropped before, and by
//! [`stop_uploads`], so that the server keeps no parts of it.

use super::fault::write_error;
use super::store::{Address, Answer, start_to_stop, wait, wrong};
use super::unfinished::{Place, Tasks, Unfinished, list, take, unfinished};
use crate::WriteError;
use bytes::Bytes;
use futures_util::StreamExt;
use object_store::multipart::PartId;
use object_store::{MultipartId, ObjectStoreExt, PutPayload};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Bytes of a part: the parts of an upload are equally large, as some servers need.
const PART: usize = 16 << 20;
/// The most parts that S3 takes.
const MOST_PARTS: usize = 10_000;
/// Requests of an upload at a time.
pub(super) const AT_ONCE: usize = 3;

/// Writer of an object, which appears when it is committed, in place of one that is there. Dropping it before aborts the upload.
#[derive(Debug)]
pub(crate) struct Upload {
    address: PathBuf,
    place: Place,
    /// What is not sent yet: less than a part.
    buffer: Vec<u8>,
    /// The upload, after the first part; its number in the list.
    begun: Option<(MultipartId, u64)>,
    tasks: Tasks,
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
            tasks: Tasks::default(),
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
        self.tasks.add(task);
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

pub(super) fn payload(bytes: Vec<u8>) -> PutPayload {
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
