//! Advisory lock of a run folder: one process at a time writes to it.
//!
//! The folder itself is locked (`flock`), so that there is no file to leave behind, and the operating system releases the lock
//! when its process ends, however it ends. A file system without locks, such as some network file systems, has none: two runs of one
//! folder are not noticed there.

use super::FolderError;
use std::fs::File;
use std::path::Path;

/// Lock of a run folder, until it is dropped.
#[derive(Debug)]
pub(super) struct FolderLock(#[expect(dead_code, reason = "it is kept open, not read")] File);

impl FolderLock {
    /// Locks a folder; returns nothing if the file system has no locks.
    ///
    /// # Errors
    /// If another process has locked it.
    #[cfg(unix)]
    pub(super) fn of(path: &Path) -> Result<Option<FolderLock>, FolderError> {
        use rustix::fs::{FlockOperation, flock};
        let Ok(folder) = File::open(path) else { return Ok(None) };
        match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(FolderLock(folder))),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(FolderError::Busy(path.into())),
            Err(_) => Ok(None),
        }
    }

    /// Returns nothing: folders have no locks here.
    #[cfg(not(unix))]
    pub(super) fn of(_path: &Path) -> Result<Option<FolderLock>, FolderError> {
        Ok(None)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_locked_once_and_until_the_lock_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let lock = FolderLock::of(folder.path()).unwrap();
        assert!(lock.is_some());
        let busy = FolderLock::of(folder.path()).unwrap_err();
        assert!(busy.to_string().contains("another process"), "{busy}");
        drop(lock);
        assert!(FolderLock::of(folder.path()).unwrap().is_some());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        // What cannot be opened cannot be locked, and is no error of the lock.
        assert!(FolderLock::of(&folder.path().join("none")).unwrap().is_none());
    }
}
