//! The checkpoints of one run: where, how often, and whether it goes on from those that are there.

use super::{Checkpoints, Every, FileKeeper, Newest, ResumeError};
use crate::io::{ReadError, WriteError, is_remote};
use crate::lp::RunIdentity;
use std::fs;
use std::path::PathBuf;
use thiserror::Error;

/// Where a run keeps its state, how often, and whether it goes on from a state that is there.
///
/// # Examples
/// ```
/// use ripplet::checkpoints::{CheckpointOptions, Every};
///
/// let options = CheckpointOptions { every: "10".parse()?, ..CheckpointOptions::new("checkpoints") };
/// assert_eq!(options.every, Every::Rounds(10.try_into()?));
/// assert!(!options.resume);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointOptions {
    /// The folder, on a disk or in object storage; created if it is missing.
    pub folder: PathBuf,
    /// The interval between checkpoints.
    pub every: Every,
    /// Whether the run goes on from the newest checkpoint. If there is none, it begins.
    pub resume: bool,
}

/// The folder of a run's checkpoints, open.
///
/// Dropped, it removes the folder if it has made it, and nothing is in it.
#[derive(Debug)]
pub struct RunCheckpoints {
    checkpoints: Checkpoints,
    options: CheckpointOptions,
    is_made: bool,
}

/// The reason why a run cannot keep its state in a folder, or go on from there.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// The folder cannot be made or written, or is none.
    #[error(transparent)]
    Place(#[from] WriteError),
    /// The folder cannot be listed.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A run that is to begin finds checkpoints of another one.
    #[error("{} has a checkpoint of a run, after round {round}", folder.display())]
    Begun {
        /// The folder.
        folder: PathBuf,
        /// The round of the newest checkpoint.
        round: u32,
    },
    /// The run cannot go on from the checkpoints.
    #[error(transparent)]
    Resume(#[from] ResumeError),
}

impl CheckpointOptions {
    /// Returns the choice of a folder for a run that begins, with a checkpoint every five minutes.
    pub fn new(folder: impl Into<PathBuf>) -> CheckpointOptions {
        CheckpointOptions { folder: folder.into(), every: Every::DEFAULT, resume: false }
    }

    /// Opens the folder.
    ///
    /// # Errors
    /// If it cannot be made or listed; or if it has checkpoints, and the run is to begin.
    pub fn open(&self) -> Result<RunCheckpoints, CheckpointError> {
        let is_made = !is_remote(&self.folder) && !self.folder.exists();
        let checkpoints = Checkpoints::open(&self.folder)?;
        let opened = RunCheckpoints { checkpoints, options: self.clone(), is_made };
        match opened.checkpoints.rounds()?.first() {
            Some(&round) if !self.resume => {
                Err(CheckpointError::Begun { folder: self.folder.clone(), round })
            }
            _ => Ok(opened),
        }
    }
}

impl RunCheckpoints {
    /// Returns the choice of the folder.
    pub fn options(&self) -> &CheckpointOptions {
        &self.options
    }

    /// Returns the newest checkpoint of a run, and the keeper of those to come.
    ///
    /// It is that of the run to go on with, or of this run before its GPU failed.
    ///
    /// # Errors
    /// See [`Checkpoints::newest`].
    pub fn begin(&self, run: &RunIdentity) -> Result<(Option<Newest>, FileKeeper), ResumeError> {
        Ok((self.checkpoints.newest(run)?, self.checkpoints.keeper(run, self.options.every)))
    }

    /// Removes the checkpoints, once the results of the run are safe.
    ///
    /// # Errors
    /// If one cannot be removed; later ones are then left, too.
    pub fn remove(&self) -> Result<(), ReadError> {
        self.checkpoints.remove()
    }
}

impl Drop for RunCheckpoints {
    fn drop(&mut self) {
        if self.is_made {
            // A folder that is not empty stays.
            let _ = fs::remove_dir(self.checkpoints.folder.place());
        }
    }
}
