//! `--checkpoint`: a run that was killed resumes from its newest state.

use crate::failure::Failure;
use clap::Args;
use ripplet::checkpoints::{CheckpointError, Every};
use std::path::{Path, PathBuf};

/// The arguments for checkpoints and resuming.
#[derive(Args)]
#[command(next_help_heading = "Checkpoints")]
pub struct CheckpointArguments {
    /// Keep the state of the run in this folder from time to time, so that --resume can continue
    /// it after it was killed.
    ///
    /// The folder is made if it does not exist, or it is in object storage: s3://BUCKET/FOLDER/. It has the newest two
    /// checkpoints, which are removed when the communities are written.
    #[arg(long, value_name = "DIR")]
    pub checkpoint: Option<PathBuf>,
    /// Interval of checkpoints: a number of rounds (10) or an amount of time (30s, 5m, 2h) [default: 5m].
    #[arg(long, value_name = "WHEN", requires = "checkpoint")]
    pub checkpoint_every: Option<Every>,
    /// Continue from the newest checkpoint in DIR; if there is none, begin.
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
}

/// Refuses a folder that is one of the files `others`.
pub fn check_folder(folder: &Path, others: &[&Path]) -> Result<(), Failure> {
    if !others.contains(&folder) {
        return Ok(());
    }
    Err(Failure::refused(
        format!("{} is named twice: as a file, and as a folder", folder.display()),
        "choose another folder for --checkpoint",
    ))
}

impl From<CheckpointError> for Failure {
    fn from(error: CheckpointError) -> Failure {
        match error {
            CheckpointError::Place(error) => Failure::Place(error),
            CheckpointError::Read(error) => Failure::Read(error),
            CheckpointError::Resume(error) => error.into(),
            CheckpointError::Begun { .. } => Failure::refused(
                error.to_string(),
                "go on with that run by --resume, name another folder, or remove the checkpoints",
            ),
        }
    }
}
