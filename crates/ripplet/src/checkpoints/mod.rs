//! Checkpoints in a folder: a run that is killed at any moment can resume from the last one.
//!
//! The folder is on a disk, or in object storage if its path is an address such as `s3://bucket/checkpoints`.
//!
//! The newest two checkpoints are kept. Each appears atomically, so that one
//! remains if the other is damaged. A folder belongs to one run: its checkpoints carry the
//! [`RunIdentity`], and another run is refused.
//!
//! Disk space: three checkpoints while the third is written, each of 4 bytes and a bit per vertex,
//! and the columns that the program writes.
//!
//! ```
//! use ripplet::checkpoints::CheckpointOptions;
//! # use {ripplet::graph::GraphBuilder, ripplet_generate::Web};
//! # let graph = GraphBuilder::new().build(Web::new(8).generate()?)?;
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path().join("checkpoints");
//!
//! // Killed, and started once more, it goes on after the last checkpoint.
//! let options = CheckpointOptions { resume: true, ..CheckpointOptions::new(&folder) };
//! let found = ripplet::communities(&graph).checkpoints(options).run()?;
//! # assert!(found.resumed().is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! For an executor of your own choice, the parts:
//!
//! ```
//! use ripplet::checkpoints::{Checkpoints, Every, FileKeeper};
//! use ripplet::Observer;
//! use ripplet::lp::{Executor, Keeper, RoundObserver, RunIdentity, Settings, cpu::CpuExecutor, programs::Lpa};
//! # use {ripplet::graph::GraphBuilder, ripplet_generate::Web};
//! # let graph = GraphBuilder::new().build(Web::new(8).generate()?)?;
//! # let folder = tempfile::tempdir()?;
//!
//! struct Watch(FileKeeper);
//!
//! impl Observer for Watch {}
//!
//! impl RoundObserver for Watch {
//!     fn keeper(&mut self) -> Option<&mut dyn Keeper> {
//!         Some(&mut self.0)
//!     }
//! }
//!
//! let (program, mut settings) = (Lpa::default(), Settings::default());
//! let run = RunIdentity::of(&graph, &program, &settings);
//! let checkpoints = Checkpoints::open(&folder.path().join("checkpoints"))?;
//! settings.resume = checkpoints.newest(&run)?.map(|newest| newest.checkpoint);
//! let mut watch = Watch(checkpoints.keeper(&run, Every::Rounds(1.try_into()?)));
//! CpuExecutor::new(None)?.run(&graph, &program, &settings, &mut watch)?;
//! checkpoints.remove()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod options;

pub use options::{CheckpointError, CheckpointOptions, RunCheckpoints};

use crate::io::checkpoint::{self, Folder, SavedState};
use crate::io::{Place, ReadError, ReadErrorKind, WriteError};
use crate::lp::{Checkpoint, Keeper, NotKept, Round, RunIdentity, State};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};
use thiserror::Error;

/// A folder of checkpoints.
///
/// The [module](self) shows a run that writes checkpoints, and resumes from the newest.
///
/// # Examples
/// ```
/// use ripplet::checkpoints::Checkpoints;
///
/// # let folder = tempfile::tempdir()?;
/// let checkpoints = Checkpoints::open(&folder.path().join("checkpoints"))?;
/// // The rounds after which there is a checkpoint: none before a run.
/// assert!(checkpoints.rounds()?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Checkpoints {
    folder: Folder,
}

/// The interval between saved states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// After each round whose number, counted from 1, is a multiple of this.
    Rounds(NonZeroU32),
    /// After the first round that ends when this time has passed since the last checkpoint.
    Time(Duration),
}

impl Every {
    /// The interval of a run that names none: five minutes.
    pub const DEFAULT: Every = Every::Time(Duration::from_secs(5 * 60));
}

/// Error of a text that is no interval.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("expected rounds (10) or a time (30s, 5m, 2h), above 0")]
pub struct EveryError;

impl FromStr for Every {
    type Err = EveryError;

    /// Reads a number of rounds, such as `10`, or a time, such as `30s`, `5m` or `2h`.
    fn from_str(text: &str) -> Result<Every, EveryError> {
        let (number, seconds) = match text.char_indices().next_back() {
            Some((end, 's')) => (&text[..end], 1),
            Some((end, 'm')) => (&text[..end], 60),
            Some((end, 'h')) => (&text[..end], 3600),
            _ => return text.parse().map(Every::Rounds).map_err(|_| EveryError),
        };
        let number: u64 = number.parse().map_err(|_| EveryError)?;
        let time = number.checked_mul(seconds).filter(|&time| time > 0).ok_or(EveryError)?;
        Ok(Every::Time(Duration::from_secs(time)))
    }
}

/// The newest valid checkpoint.
#[derive(Debug)]
pub struct Newest {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// The path of its file, or the address of its index.
    pub path: PathBuf,
    /// The errors of newer, damaged checkpoints.
    pub damaged: Vec<ReadError>,
}

/// The reason why a run cannot resume from a folder's checkpoints.
#[derive(Debug, Error)]
pub enum ResumeError {
    /// The folder, or a file in it, cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// There are checkpoints, but all are damaged; the error of the newest.
    #[error("no checkpoint is whole: {0}")]
    Damaged(ReadError),
    /// The newest checkpoint belongs to another run.
    #[error("{} is a checkpoint of another run: {}", path.display(), differences.join("; "))]
    OtherRun {
        /// The path of the file.
        path: PathBuf,
        /// The differences, as [`RunIdentity::differences`] describes them.
        differences: Vec<String>,
    },
}

/// Saves the states of a run in a folder.
#[derive(Debug)]
pub struct FileKeeper {
    checkpoints: Checkpoints,
    run: String,
    every: Every,
    /// When the last checkpoint was written or the run began, and when the current one became due.
    last: Instant,
    due: Instant,
    /// Statistics of the checkpoints written.
    pub written: Written,
}

/// Statistics of the checkpoints that a [`FileKeeper`] has written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Written {
    /// The number of checkpoints.
    pub checkpoints: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Seconds from when they were due until they were written, including copies from a device.
    pub seconds: f64,
}

/// Words of a round in a file: its counts, whether there is a fingerprint, the fingerprint, and the
/// seconds as bits.
const ROUND_WORDS: usize = 7;

impl Checkpoints {
    /// Opens a folder of checkpoints, and creates it if it is missing. Removes what killed writers have left.
    ///
    /// # Errors
    /// If the path is not a folder, or the folder cannot be created, listed or written.
    pub fn open(folder: &Path) -> Result<Checkpoints, WriteError> {
        Ok(Checkpoints { folder: Folder::open(folder)? })
    }

    /// Returns the rounds after which there are checkpoints, the newest first.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub fn rounds(&self) -> Result<Vec<u32>, ReadError> {
        self.folder.rounds()
    }

    /// Returns the newest valid checkpoint, memory-mapped; `None` if there are no checkpoints.
    ///
    /// # Errors
    /// If it belongs to another run, a file cannot be read, or all checkpoints are damaged.
    pub fn newest(&self, run: &RunIdentity) -> Result<Option<Newest>, ResumeError> {
        let mut damaged = Vec::new();
        for round in self.rounds()? {
            let path = self.folder.path(round);
            match self.folder.read(round).and_then(|kept| read(kept, &path)) {
                Ok((there, checkpoint)) => {
                    let differences = run.differences(&there);
                    if !differences.is_empty() {
                        return Err(ResumeError::OtherRun { path, differences });
                    }
                    return Ok(Some(Newest { checkpoint, path, damaged }));
                }
                Err(error) if matches!(error.kind, ReadErrorKind::Content(_)) => {
                    damaged.push(error);
                }
                Err(error) => return Err(error.into()),
            }
        }
        damaged.into_iter().next().map_or(Ok(None), |first| Err(ResumeError::Damaged(first)))
    }

    /// Returns a keeper that saves the states of a run in the folder.
    pub fn keeper(&self, run: &RunIdentity, every: Every) -> FileKeeper {
        FileKeeper {
            checkpoints: self.clone(),
            run: run.to_string(),
            every,
            last: Instant::now(),
            due: Instant::now(),
            written: Written::default(),
        }
    }

    /// Removes all checkpoints, after the results of the run are safe.
    ///
    /// # Errors
    /// If one cannot be removed; later ones are then left, too.
    pub fn remove(&self) -> Result<(), ReadError> {
        self.rounds()?.into_iter().try_for_each(|round| self.folder.remove(round))
    }

    /// Removes all checkpoints except that after `round` and the one before it.
    fn prune(&self, round: u32) {
        let rounds = self.rounds().unwrap_or_default();
        let before = rounds.iter().copied().find(|&other| other < round);
        for other in rounds {
            if other != round && Some(other) != before {
                // A surplus checkpoint does no harm.
                let _ = self.folder.remove(other);
            }
        }
    }
}

impl Keeper for FileKeeper {
    fn is_due(&mut self, rounds: &[Round]) -> bool {
        self.due = Instant::now();
        match self.every {
            Every::Rounds(number) => (rounds.len() as u64).is_multiple_of(number.get().into()),
            Every::Time(time) => self.due - self.last >= time,
        }
    }

    fn keep(&mut self, rounds: &[Round], state: State<'_>) -> Result<(), NotKept> {
        let round = rounds.len() as u32;
        let columns: Vec<&[u32]> = state.columns.iter().map(|values| &**values).collect();
        let state = checkpoint::State {
            run: &self.run,
            rounds: &words(rounds),
            labels: &state.labels,
            active: &state.active,
            columns: &columns,
        };
        let written = self.checkpoints.folder.write(round, &state);
        let bytes = written.map_err(|error| NotKept(error.to_string()))?;
        self.checkpoints.prune(round);
        self.written.checkpoints += 1;
        self.written.bytes += bytes;
        self.last = Instant::now();
        self.written.seconds += (self.last - self.due).as_secs_f64();
        Ok(())
    }
}

fn words(rounds: &[Round]) -> Vec<u64> {
    let words = |round: &Round| {
        let Round { changed, visited, scanned, nan_scores, fingerprint, seconds } = *round;
        let traced = u64::from(fingerprint.is_some());
        let fingerprint = fingerprint.unwrap_or(0);
        [changed, visited, scanned, nan_scores, traced, fingerprint, seconds.to_bits()]
    };
    rounds.iter().flat_map(words).collect()
}

/// Returns the rounds in some words, if these are valid.
fn rounds(words: &[u64]) -> Option<Vec<Round>> {
    let (rounds, rest) = words.as_chunks::<ROUND_WORDS>();
    let round = |&[changed, visited, scanned, nan_scores, traced, print, seconds]: &[u64; 7]| {
        let fingerprint = match traced {
            0 => None,
            1 => Some(print),
            _ => return None,
        };
        let seconds = f64::from_bits(seconds);
        Some(Round { changed, visited, scanned, nan_scores, fingerprint, seconds })
    };
    rest.is_empty().then(|| rounds.iter().map(round).collect())?
}

/// Returns the contents of a file, with the identity of its run.
fn read(kept: SavedState, path: &Path) -> Result<(RunIdentity, Checkpoint), ReadError> {
    let SavedState { run, rounds: words, labels, active, columns } = kept;
    let whole = run.parse().ok().zip(rounds(&words));
    let (run, rounds) = whole.ok_or_else(|| {
        ReadError::content(path, Place::File, "this is no checkpoint of a run: remove it")
    })?;
    Ok((run, Checkpoint { rounds, labels, active, columns }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;
    use crate::lp::{Settings, programs::Lpa};
    use ripplet_generate::Web;
    use std::borrow::Cow;
    use std::fs;

    fn run(seed: u64) -> RunIdentity {
        let graph = GraphBuilder::new().build(Web::new(6).generate().unwrap()).unwrap();
        RunIdentity::of(&graph, &Lpa::default(), &Settings { seed, ..Settings::default() })
    }

    fn rounds_of(count: usize) -> Vec<Round> {
        let round = |index: usize| Round {
            changed: index as u64,
            visited: 7,
            scanned: u64::MAX,
            nan_scores: 1,
            fingerprint: (!index.is_multiple_of(2)).then_some(index as u64),
            seconds: 0.25,
        };
        (0..count).map(round).collect()
    }

    fn keep(keeper: &mut FileKeeper, rounds: usize) {
        let state = State {
            labels: Cow::Owned(vec![rounds as u32, 0]),
            active: Cow::Borrowed(&[0b11]),
            columns: vec![Cow::Borrowed(&[4, 5])],
        };
        keeper.keep(&rounds_of(rounds), state).unwrap();
    }

    #[test]
    fn the_newest_two_stand_in_for_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoints = Checkpoints::open(&folder.path().join("new")).unwrap();
        assert!(checkpoints.newest(&run(0)).unwrap().is_none());
        let mut keeper = checkpoints.keeper(&run(0), Every::Rounds(NonZeroU32::MIN));
        for round in [1, 2, 3, 9, 12] {
            keep(&mut keeper, round);
        }
        assert_eq!(checkpoints.rounds().unwrap(), [12, 9]);
        let newest = checkpoints.newest(&run(0)).unwrap().unwrap();
        assert_eq!(newest.checkpoint.rounds, rounds_of(12));
        assert_eq!(&*newest.checkpoint.labels, [12, 0]);
        assert_eq!(&*newest.checkpoint.columns[0], [4, 5]);
        let bytes = fs::metadata(&newest.path).unwrap().len();
        assert_eq!(keeper.written.checkpoints, 5);
        assert!(keeper.written.bytes > 2 * bytes && keeper.written.seconds > 0.0);

        // The newest file is truncated: the one before is used, and the next checkpoint replaces
        // both.
        let cut = fs::read(&newest.path).unwrap();
        fs::write(&newest.path, &cut[..cut.len() - 1]).unwrap();
        let before = checkpoints.newest(&run(0)).unwrap().unwrap();
        assert_eq!(before.checkpoint.rounds.len(), 9);
        assert_eq!(before.damaged.len(), 1);
        keep(&mut keeper, 10);
        assert_eq!(checkpoints.rounds().unwrap(), [10, 9]);
        fs::write(checkpoints.folder.path(10), "").unwrap();
        fs::write(checkpoints.folder.path(9), "no checkpoint").unwrap();
        assert!(matches!(checkpoints.newest(&run(0)), Err(ResumeError::Damaged(_))));
        checkpoints.remove().unwrap();
        assert!(checkpoints.newest(&run(0)).unwrap().is_none());
    }

    #[test]
    fn another_run_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoints = Checkpoints::open(folder.path()).unwrap();
        keep(&mut checkpoints.keeper(&run(0), Every::Rounds(NonZeroU32::MIN)), 1);
        let error = checkpoints.newest(&run(5)).unwrap_err().to_string();
        assert!(error.contains("another run: seed: 0 there, 5 here"), "{error}");
    }

    #[test]
    fn a_checkpoint_is_due_at_each_interval() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoints = Checkpoints::open(folder.path()).unwrap();
        let mut keeper = checkpoints.keeper(&run(0), Every::Rounds(NonZeroU32::new(3).unwrap()));
        let due: Vec<usize> = (1..9).filter(|&n| keeper.is_due(&rounds_of(n))).collect();
        assert_eq!(due, [3, 6]);
        let mut often = checkpoints.keeper(&run(0), Every::Time(Duration::ZERO));
        let mut rarely = checkpoints.keeper(&run(0), Every::Time(Duration::MAX));
        assert!(often.is_due(&rounds_of(1)) && !rarely.is_due(&rounds_of(1)));
    }

    #[test]
    fn how_often() {
        let rounds = |number: u32| Ok(Every::Rounds(number.try_into().unwrap()));
        let seconds = |number| Ok(Every::Time(Duration::from_secs(number)));
        assert_eq!("10".parse(), rounds(10));
        assert_eq!("1".parse(), rounds(1));
        assert_eq!("30s".parse(), seconds(30));
        assert_eq!("5m".parse(), seconds(300));
        assert_eq!("2h".parse(), seconds(7200));
        for bad in ["", "0", "0s", "m", "-1", "1.5", "10d", "5 m", "é", "18446744073709551615h"] {
            assert_eq!(bad.parse::<Every>(), Err(EveryError), "{bad}");
        }
    }

    #[test]
    fn words_that_are_no_rounds() {
        let all = words(&rounds_of(4));
        assert_eq!(rounds(&all), Some(rounds_of(4)));
        assert_eq!(rounds(&all[1..]), None);
        let mut odd = all;
        odd[4] = 2;
        assert_eq!(rounds(&odd), None);
    }

    #[test]
    fn a_folder_that_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(Checkpoints::open(&file).is_err());
        assert!(Checkpoints::open(&folder.path().join("no/where")).is_err());
    }
}
