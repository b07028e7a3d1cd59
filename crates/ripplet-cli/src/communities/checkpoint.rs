//! `--checkpoint`: a run that was killed resumes from its newest state.

use crate::console::Console;
use crate::failure::Failure;
use crate::interrupt;
use crate::stats::CheckpointFigures;
use clap::Args;
use ripplet::checkpoints::{Checkpoints, Every, FileKeeper, Newest};
use ripplet::lp::{Checkpoint, Keeper, NotKept, Round, RunIdentity, Settings, State};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The default interval between checkpoints.
pub const EVERY: Every = Every::Time(Duration::from_secs(5 * 60));

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
    #[arg(long, value_name = "WHEN", value_parser = every, requires = "checkpoint")]
    pub checkpoint_every: Option<Every>,
    /// Continue from the newest checkpoint in DIR; if there is none, begin.
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
}

fn every(text: &str) -> Result<Every, String> {
    let expected = || "expected rounds (10) or a time (30s, 5m, 2h), above 0".to_string();
    let (number, seconds) = match text.char_indices().next_back() {
        Some((end, 's')) => (&text[..end], 1),
        Some((end, 'm')) => (&text[..end], 60),
        Some((end, 'h')) => (&text[..end], 3600),
        _ => {
            let rounds = text.parse().map_err(|_| expected())?;
            return Ok(Every::Rounds(rounds));
        }
    };
    let number: u64 = number.parse().map_err(|_| expected())?;
    let time = number.checked_mul(seconds).filter(|&time| time > 0).ok_or_else(expected)?;
    Ok(Every::Time(Duration::from_secs(time)))
}

/// The checkpoints of a run.
#[derive(Clone, Debug)]
pub struct CheckpointJob {
    pub folder: PathBuf,
    pub every: Every,
    pub resume: bool,
}

impl CheckpointJob {
    /// Checks that the folder is none of the files `others`.
    pub fn check_place(&self, others: &[&Path]) -> Result<(), Failure> {
        if !others.contains(&&*self.folder) {
            return Ok(());
        }
        Err(Failure::refused(
            format!("{} is named twice: as a file, and as a folder", self.folder.display()),
            "choose another folder for --checkpoint",
        ))
    }

    /// Opens the folder.
    pub fn open(&self) -> Result<Store, Failure> {
        let made = !self.folder.exists();
        let checkpoints = Checkpoints::open(&self.folder).map_err(Failure::Place)?;
        let store = Store { job: self.clone(), checkpoints, made };
        match store.checkpoints.rounds()?.first() {
            Some(round) if !self.resume => Err(Failure::refused(
                format!("{} has a checkpoint of a run, after round {round}", self.folder.display()),
                "go on with that run by --resume, name another folder, or remove the checkpoints",
            )),
            _ => Ok(store),
        }
    }
}

/// A folder of checkpoints.
pub struct Store {
    job: CheckpointJob,
    checkpoints: Checkpoints,
    /// Whether the folder was created by this run.
    made: bool,
}

impl Store {
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
        let run = identity();
        let newest = self.checkpoints.newest(&run)?;
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
            None if self.job.resume => {
                let folder = self.job.folder.display();
                console.remark(&format!("{folder} has no checkpoint: the run begins"));
                None
            }
            None => None,
        };
        let looking = start.elapsed().as_secs_f64();
        let keeper = self.checkpoints.keeper(&run, self.job.every);
        Ok((resume, Keeping { keeper, looking, resumed_after }))
    }

    /// Removes the checkpoints of a run whose results are written.
    pub fn remove(&self, console: &Console) {
        if let Err(error) = self.checkpoints.remove() {
            console.note(&format!("a checkpoint is left: {error}"));
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.made {
            // A folder that is not empty stays.
            let _ = fs::remove_dir(&self.job.folder);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_often() {
        let rounds = |number: u32| Ok(Every::Rounds(number.try_into().unwrap()));
        let seconds = |number| Ok(Every::Time(Duration::from_secs(number)));
        assert_eq!(every("10"), rounds(10));
        assert_eq!(every("1"), rounds(1));
        assert_eq!(every("30s"), seconds(30));
        assert_eq!(every("5m"), seconds(300));
        assert_eq!(every("2h"), seconds(7200));
        for bad in ["", "0", "0s", "m", "-1", "1.5", "10d", "5 m", "é", "18446744073709551615h"] {
            assert!(every(bad).is_err(), "{bad}");
        }
    }
}
