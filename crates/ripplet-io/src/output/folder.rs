//! A folder that appears under its name once all of its files are in it.

use super::atomic_file::{folder_of, rename_folder, temporary_name};
use super::{UnfinishedPaths, refused};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Temporary folder that gets the name of its destination when it is complete.
///
/// Several processes can write its files: one creates it, and the others open it by its temporary name. Dropping the value in any
/// of them removes the folder, unless [`PartsFolder::leave`] or [`PartsFolder::finish`] was called.
#[derive(Debug)]
pub(crate) struct PartsFolder {
    destination: PathBuf,
    temporary: PathBuf,
    /// What a terminating process removes; `None` when the folder is another process's, or finished.
    listed: Option<UnfinishedPaths>,
}

impl PartsFolder {
    /// Creates a folder that will be `destination`; `files` are the names of the files that are written by this process.
    ///
    /// # Errors
    /// If the destination exists, or the operating system refuses.
    pub(crate) fn create(destination: &Path, files: &[String]) -> io::Result<PartsFolder> {
        check_absent(destination)?;
        let outside = folder_of(destination);
        if !outside.exists() {
            let sentence = format!("the folder {} does not exist: create it", outside.display());
            return Err(io::Error::new(ErrorKind::NotFound, sentence));
        }
        loop {
            let folder = PartsFolder::listed(destination, &temporary_name(), files)?;
            match fs::create_dir(&folder.temporary) {
                Ok(()) => return Ok(folder),
                // Left by a killed process of the same number.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => folder.leave(),
                Err(error) => return Err(error),
            }
        }
    }

    /// Opens the folder that another process has created, by its temporary name.
    ///
    /// # Errors
    /// If this process does not see it.
    pub(crate) fn open(
        destination: &Path,
        name: &str,
        files: &[String],
    ) -> io::Result<PartsFolder> {
        let folder = PartsFolder::listed(destination, name, files)?;
        match folder.temporary.is_dir() {
            true => Ok(folder),
            false => {
                folder.leave();
                Err(refused(
                    "the folder is written by all ranks, and this one does not see it: name a folder on a disk that all \
                     machines share",
                ))
            }
        }
    }

    /// Lists the paths before anything is created.
    fn listed(destination: &Path, name: &str, files: &[String]) -> io::Result<PartsFolder> {
        let temporary = folder_of(destination).join(name);
        let files = files.iter().map(|file| temporary.join(file));
        let paths = std::iter::once(temporary.clone()).chain(files);
        let listed = UnfinishedPaths::list(paths.collect())?;
        Ok(PartsFolder { destination: destination.into(), temporary, listed: Some(listed) })
    }

    /// Returns the temporary name.
    pub(crate) fn name(&self) -> String {
        let name = self.temporary.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Returns the path at which a file of the folder is written.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.temporary.join(name)
    }

    /// Leaves the folder to the process that has created it.
    pub(crate) fn leave(mut self) {
        self.listed = None;
    }

    /// Makes the folder appear under its name.
    ///
    /// # Errors
    /// If the destination exists by now, or the operating system refuses; the folder is then removed.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        check_absent(&self.destination)?;
        File::open(&self.temporary)?.sync_all()?;
        rename_folder(&self.temporary, &self.destination)?;
        self.listed = None;
        // As of a file: a sync of the folder around lets the name survive a power failure, where that is supported.
        let _ = File::open(folder_of(&self.destination)).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

impl Drop for PartsFolder {
    fn drop(&mut self) {
        let Some(listed) = self.listed.take() else { return };
        // The first error is the one to report, not that of the cleanup.
        listed.remove();
    }
}

/// Rejects the name of a folder that exists.
pub(crate) fn check_absent(destination: &Path) -> io::Result<()> {
    // A name that ends in a separator would follow a link.
    let name = destination.components().as_path();
    match name.symlink_metadata() {
        Ok(found) => Err(refused(format!(
            "{} of this name exists already: choose another name, or remove it",
            if found.is_dir() { "a folder" } else { "a file" }
        ))),
        Err(_) => Ok(()),
    }
}
