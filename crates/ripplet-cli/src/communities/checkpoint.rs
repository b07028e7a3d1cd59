//! `--checkpoint`: a run that was killed resumes from its newest state.

use crate::console::Console;
use crate::failure::Failure;
use crate::interrupt;
use crate::stats::CheckpointFigures;
use clap::Args;
use ripplet::checkpoints::{
    CheckpointError, CheckpointOptions, Every, FileKeeper, Newest, RunCheckpoints,
};
use ripplet::lp::{Checkpoint, Keeper, NotKept, Round, RunIdentity, Settings, State};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The arguments for checkpoints and resuming.
#[derive(Args)]
#[command(next_help_heading = "Checkpoints")]
pub struct CheckpointArguments {
    /// Keep the state of the run in this folder from time to time, so that --resume can continue
    /// it after it was killed.
    ///
    /// The folder is made if it does not exist. It has the newest two checkpoints, which are removed when
    /// the communities are written.
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

/// The open folder of a run's checkpoints.
pub struct Store {
    options: CheckpointOptions,
    checkpoints: RunCheckpoints,
}

impl Store {
    /// Opens the folder.
    pub fn open(options: &CheckpointOptions) -> Result<Store, Failure> {
        Ok(Store { options: options.clone(), checkpoints: options.open()? })
    }

    /// Restores the newest checkpoint into the settings, and writes checkpoints from now on.
    ///
    /// The checkpoint is that of the run to resume, or of this run before its GPU failed.
    pub fn begin(
        &self,
        identity: RunIdentity,
        settings: &mut Settings,
        console: &Console,
    ) -> Result<Keeping, Failure> {
        let (resume, keeping) = self.begin_run(|| identity, console)?;
        if resume.is_some() {
            settings.resume = resume;
        }
        Ok(keeping)
    }

    /// Returns the newest checkpoint of a run, and writes checkpoints from now on.
    pub fn begin_run(
        &self,
        identity: impl FnOnce() -> RunIdentity,
        console: &Console,
    ) -> Result<(Option<Checkpoint>, Keeping), Failure> {
        console.stage("looking for a checkpoint");
        let start = Instant::now();
        let (newest, keeper) = self.checkpoints.begin(&identity())?;
        let resumed_after = newest.as_ref().map(|newest| newest.checkpoint.rounds.len());
        let resume = match newest {
            Some(Newest { checkpoint, path, damaged }) => {
                for error in damaged {
                    console.note(&format!("{error}: taking the checkpoint before"));
                }
                let round = checkpoint.rounds.len();
                console.remark(&format!("going on after round {round}, from {}", path.display()));
                interrupt::has_kept(round);
                Some(checkpoint)
            }
            None if self.options.resume => {
                let folder = self.options.folder.display();
                console.remark(&format!("{folder} has no checkpoint: the run begins"));
                None
            }
            None => None,
        };
        let looking = start.elapsed().as_secs_f64();
        Ok((resume, Keeping { keeper, looking, resumed_after }))
    }

    /// Removes the checkpoints of a run whose results are written.
    pub fn remove(&self, console: &Console) {
        if let Err(error) = self.checkpoints.remove() {
            console.note(&format!("a checkpoint is left: {error}"));
        }
    }
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

/// Keeps the states of a run, and notes how far it is for the last words.
pub struct Keeping {
    keeper: FileKeeper,
    /// Seconds of looking for a checkpoint.
    looking: f64,
    resumed_after: Option<usize>,
}

impl Keeping {
    /// Seconds of the run that went into checkpoints.
    pub fn seconds(&self) -> f64 {
        self.keeper.written.seconds
    }

    /// Returns the figures of the checkpoints.
    pub fn figures(&self) -> CheckpointFigures {
        let written = self.keeper.written;
        CheckpointFigures {
            written: written.checkpoints,
            bytes: written.bytes,
            seconds: self.looking + written.seconds,
            resumed_after: self.resumed_after,
        }
    }
}

impl Keeper for Keeping {
    fn is_due(&mut self, rounds: &[Round]) -> bool {
        self.keeper.is_due(rounds)
    }

    fn keep(&mut self, rounds: &[Round], state: State<'_>) -> Result<(), NotKept> {
        self.keeper.keep(rounds, state)?;
        interrupt::has_kept(rounds.len());
        Ok(())
    }
}
