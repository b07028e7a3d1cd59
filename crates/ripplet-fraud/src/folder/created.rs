//! Folders that a run creates, and removes again if it has no window.

use ripplet_io::write::UnfinishedPaths;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders that were created, outermost first; a terminating process removes them.
pub(super) struct CreatedFolders {
    pub(super) folders: Vec<PathBuf>,
    _listed: UnfinishedPaths,
}

impl CreatedFolders {
    /// Returns the missing folders on a path, outermost first.
    pub(super) fn missing(path: &Path) -> Vec<PathBuf> {
        let folders = path.ancestors().take_while(|folder| !folder.as_os_str().is_empty());
        let mut missing: Vec<PathBuf> =
            folders.take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
        missing.reverse();
        missing
    }

    /// Creates a folder with its parents.
    pub(super) fn folders(path: &Path) -> io::Result<CreatedFolders> {
        ripplet_io::check_on_disk(path, "the folders of runs")?;
        let folders = CreatedFolders::missing(path);
        let made = CreatedFolders { _listed: UnfinishedPaths::list(folders.clone())?, folders };
        for folder in &made.folders {
            if let Err(error) = fs::create_dir(folder) {
                // The ones after it were not created.
                made.remove();
                return Err(error);
            }
        }
        Ok(made)
    }

    /// Removes the created folders, if they are empty.
    pub(super) fn remove(&self) {
        for folder in self.folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}
