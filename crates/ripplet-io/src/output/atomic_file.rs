//! Atomic files: a file appears complete, or not at all.

use crate::WriteError;
use crate::address::check_on_disk;
#[cfg(feature = "object-storage")]
use crate::object;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Temporary file that replaces its destination when it is complete.
///
/// Until [`AtomicFile::commit`], the destination is unchanged; dropping the value removes the temporary file.
/// A link is followed, and its target replaced. A device or a pipe (`/dev/null`, a FIFO) cannot be replaced:
/// it is written directly.
#[derive(Debug)]
pub struct AtomicFile {
    out: BufWriter<File>,
    named: PathBuf,
    destination: PathBuf,
    temporary: Option<PathBuf>,
}

/// Temporary files that exist now, for [`remove_unfinished`], and the paths of [`UnfinishedPaths`]: a folder
/// before its contents.
///
/// There are few at a time. No memory is allocated while it is locked: a process whose allocation failed
/// there could not remove them.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Guard: while it lives, no output starts or finishes.
#[derive(Debug)]
#[must_use = "without it, another thread may begin a new file at once"]
#[expect(dead_code, reason = "it is held, and not read")]
pub struct OutputsStopped {
    files: MutexGuard<'static, Vec<PathBuf>>,
    /// `None` if a server did not answer in time.
    #[cfg(feature = "object-storage")]
    objects: Option<object::UploadsStopped>,
}

/// Removes the temporary files and the unfinished uploads of all outputs in progress, for a process that is about to exit
/// (Ctrl-C): hold the result until then. Servers have some seconds to answer.
pub fn remove_unfinished() -> OutputsStopped {
    let mut files = unfinished();
    remove_all(&mut files);
    OutputsStopped {
        files,
        #[cfg(feature = "object-storage")]
        objects: object::stop_uploads(),
    }
}

/// Removes the listed files, last first.
fn remove_all(unfinished: &mut Vec<PathBuf>) {
    while let Some(path) = unfinished.pop() {
        remove_one(&path);
    }
}

/// Removes a file, an empty folder, or a temporary folder with its files. Errors cannot be reported here: the file may be gone
/// already, or the folder contain another program's files.
fn remove_one(path: &Path) {
    if fs::remove_file(path).is_ok() || fs::remove_dir(path).is_ok() {
        return;
    }
    if path.file_name().is_some_and(is_temporary) {
        let _ = fs::remove_dir_all(path);
    }
}

/// Whether a name is that of a temporary file or folder.
fn is_temporary(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(b".ripplet-") && name.ends_with(b".part")
}

/// Returns a new temporary name.
pub(super) fn temporary_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!(".ripplet-{}-{}.part", std::process::id(), COUNT.fetch_add(1, Relaxed))
}

/// Removes these files for a process that aborts, perhaps while this thread starts an output: if the list
/// stays locked, they are left. No output starts after it.
pub fn try_remove_unfinished() {
    for _ in 0..20 {
        if let Ok(mut unfinished) = UNFINISHED.try_lock() {
            remove_all(&mut unfinished);
            // Another thread must not start an output between this and the exit.
            std::mem::forget(unfinished);
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Files and folders of an unfinished output of several files: while it lives, a terminating process removes
/// them like temporary files.
#[derive(Debug)]
pub struct UnfinishedPaths(Vec<PathBuf>);

impl UnfinishedPaths {
    /// Lists paths before anything is created: a folder before its contents. Folders are removed only if they
    /// are empty.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn list(paths: Vec<PathBuf>) -> io::Result<UnfinishedPaths> {
        let listed = paths.clone();
        let mut unfinished = unfinished();
        unfinished.try_reserve(listed.len()).map_err(|_| ErrorKind::OutOfMemory)?;
        unfinished.extend(listed);
        Ok(UnfinishedPaths(paths))
    }

    /// Removes what exists of them, last first. No memory is allocated for paths of usual length, so this also works
    /// where allocation has just failed.
    pub fn remove(&self) {
        self.0.iter().rev().for_each(|path| remove_one(path));
    }
}

impl Drop for UnfinishedPaths {
    fn drop(&mut self) {
        let mut unfinished = unfinished();
        // Another list may have the same folder: that entry stays.
        for path in &self.0 {
            if let Some(place) = unfinished.iter().rposition(|other| other == path) {
                unfinished.remove(place);
            }
        }
    }
}

/// Folders of [`SyncedTogether`] that live now.
static SYNCED_TOGETHER: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A temporary folder whose files appear together, once it is renamed: while this value lives, files that are committed in it
/// are not synced one by one, each of which takes a write of the disk, but by [`SyncedTogether::sync`].
///
/// Files of folders in it are synced as always.
#[derive(Debug)]
pub struct SyncedTogether(PathBuf);

impl SyncedTogether {
    /// Begins with a folder, by the path that its files are created with.
    pub fn begin(folder: &Path) -> SyncedTogether {
        synced_together().push(folder.to_owned());
        SyncedTogether(folder.to_owned())
    }

    /// Syncs the files of the folder, and the folder.
    ///
    /// # Errors
    /// If the operating system refuses, such as on a full disk.
    pub fn sync(self) -> io::Result<()> {
        for entry in fs::read_dir(&self.0)? {
            File::open(entry?.path())?.sync_all()?;
        }
        File::open(&self.0)?.sync_all()
    }
}

impl Drop for SyncedTogether {
    fn drop(&mut self) {
        let mut folders = synced_together();
        if let Some(place) = folders.iter().rposition(|folder| *folder == self.0) {
            folders.remove(place);
        }
    }
}

/// Locks the list; what it holds is valid at all times.
fn synced_together() -> MutexGuard<'static, Vec<PathBuf>> {
    SYNCED_TOGETHER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns where a path leads at which there is nothing yet: itself, or what a link names that leads to no file.
fn end_of_links(path: &Path) -> PathBuf {
    /// As many links as Linux follows.
    const LINKS: usize = 40;
    let mut end = path.to_owned();
    for _ in 0..LINKS {
        let Ok(next) = fs::read_link(&end) else { break };
        end = folder_of(&end).join(next);
    }
    end
}

/// Returns the temporary files in a folder, including those of killed processes and of outputs in progress.
///
/// # Errors
/// If the folder cannot be listed.
pub fn left_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut left = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if is_temporary(&entry.file_name()) {
            left.push(entry.path());
        }
    }
    Ok(left)
}

impl AtomicFile {
    /// Creates a file that will be `path`.
    ///
    /// # Errors
    /// If the folder does not exist, or the folder or the existing file is not writable.
    pub fn create(path: &Path) -> Result<AtomicFile, WriteError> {
        let named = path.to_owned();
        if let Err(source) = check_on_disk(path, "outputs") {
            return Err(WriteError { path: named, source });
        }
        let destination = fs::canonicalize(path).unwrap_or_else(|_| end_of_links(path));
        let made = Self::open(&destination);
        match made {
            Ok((file, temporary)) => {
                let out = BufWriter::with_capacity(1 << 16, file);
                Ok(AtomicFile { out, named, destination, temporary })
            }
            Err(source) => Err(WriteError { path: named, source }),
        }
    }

    /// Returns the file to write, and its temporary name if it has one.
    fn open(destination: &Path) -> io::Result<(File, Option<PathBuf>)> {
        let existing = match OpenOptions::new().write(true).open(destination) {
            Ok(file) => Some((file.metadata()?, file)),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if let Some((metadata, file)) = existing {
            if !metadata.is_file() {
                return Ok((file, None));
            }
            let (new, temporary) = Self::open_beside(destination)?;
            // The new file gets the permissions of the old one. Filesystems without permissions return an
            // error, which changes nothing.
            let _ = new.set_permissions(metadata.permissions());
            return Ok((new, Some(temporary)));
        }
        Self::open_beside(destination).map(|(file, temporary)| (file, Some(temporary)))
    }

    fn open_beside(destination: &Path) -> io::Result<(File, PathBuf)> {
        if destination.file_name().is_none() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "this names no file"));
        }
        let folder = folder_of(destination);
        if !folder.exists() {
            let sentence = format!("the folder {} does not exist: create it", folder.display());
            return Err(io::Error::new(ErrorKind::NotFound, sentence));
        }
        loop {
            let temporary = folder.join(temporary_name());
            let listed = temporary.clone();
            let mut unfinished = unfinished();
            unfinished.try_reserve(1).map_err(|_| ErrorKind::OutOfMemory)?;
            match OpenOptions::new().write(true).create_new(true).open(&temporary) {
                Ok(file) => {
                    unfinished.push(listed);
                    return Ok((file, temporary));
                }
                // Left by a killed process of the same number.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether this is a device or a pipe, which is written directly.
    pub(crate) fn is_in_order_only(&self) -> bool {
        self.temporary.is_none()
    }

    /// Flushes to disk, so that a full disk is detected before another file appears.
    pub(crate) fn settle(&mut self) -> Result<(), WriteError> {
        let settled = self.flush_to_disk();
        settled.map_err(|source| WriteError { path: self.named.clone(), source })
    }

    /// Makes the file appear: flushes it to disk, and renames it to its destination. In a folder of [`SyncedTogether`], it is
    /// flushed to disk later.
    ///
    /// # Errors
    /// If the operating system refuses; no partial file remains.
    pub fn commit(mut self) -> Result<(), WriteError> {
        let committed = self.finish();
        committed.map_err(|source| WriteError { path: self.named.clone(), source })
    }

    fn finish(&mut self) -> io::Result<()> {
        let is_synced_later =
            synced_together().iter().any(|folder| folder == folder_of(&self.destination));
        match is_synced_later {
            true => self.out.flush()?,
            false => self.flush_to_disk()?,
        }
        let Some(temporary) = &self.temporary else { return Ok(()) };
        let mut unfinished = unfinished();
        fs::rename(temporary, &self.destination)?;
        unfinished.retain(|other| other != temporary);
        drop(unfinished);
        self.temporary = None;
        if is_synced_later {
            return Ok(());
        }
        // The file is complete and in its place. A sync of the folder lets its *name* survive a power
        // failure; some systems do not support that, which is no failure of the output.
        let _ = File::open(folder_of(&self.destination)).and_then(|folder| folder.sync_all());
        Ok(())
    }

    /// Flushes the file to disk; a device or a pipe has no temporary file to sync.
    fn flush_to_disk(&mut self) -> io::Result<()> {
        self.out.flush()?;
        if self.temporary.is_some() { self.out.get_ref().sync_all() } else { Ok(()) }
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.out.seek(to)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            unfinished().retain(|other| other != temporary);
            // The first error is the one to report, not that of the cleanup.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Gives a temporary folder its name, unless outputs were stopped.
pub(super) fn rename_folder(temporary: &Path, destination: &Path) -> io::Result<()> {
    let mut unfinished = unfinished();
    fs::rename(temporary, destination)?;
    unfinished.retain(|other| !other.starts_with(temporary));
    Ok(())
}

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    // The list is consistent at any time, even if a thread panicked while holding the lock.
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}
