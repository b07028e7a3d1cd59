//! Runs that keep checkpoints, and what they went on from.

use crate::checkpoints::{
    CheckpointError, CheckpointOptions, FileKeeper, Newest, ResumeError, RunCheckpoints,
};
use ripplet_lp::cpu::{CpuExecutor, ThreadError};
use ripplet_lp::{Checkpoint, Keeper, Relay, RoundObserver, RunError, RunIdentity};
use std::path::PathBuf;

/// The checkpoint from which a run went on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumed {
    /// The number of rounds that were done.
    pub rounds: usize,
    /// The file.
    pub path: PathBuf,
    /// Why newer checkpoints were passed over: they are damaged.
    pub damaged: Vec<String>,
}

/// The checkpoints of a search: none, or those in a folder.
pub(super) struct Kept {
    opened: Option<Opened>,
}

/// The folder, and a pool of as many threads as the run has. What reads a graph or a checkpoint beside the run does so
/// there, and not on threads that would stay.
struct Opened {
    checkpoints: RunCheckpoints,
    pool: CpuExecutor,
}

/// A run that keeps checkpoints, or none.
pub(super) struct KeptRun {
    keeper: Option<FileKeeper>,
    pub resumed: Option<Resumed>,
}

impl Kept {
    /// Opens the folder, if one is chosen.
    pub fn open<E>(options: Option<&CheckpointOptions>, threads: Option<usize>) -> Result<Kept, E>
    where
        E: From<CheckpointError> + From<ThreadError>,
    {
        let Some(options) = options else { return Ok(Kept { opened: None }) };
        let (pool, checkpoints) = (CpuExecutor::new(threads)?, options.open()?);
        Ok(Kept { opened: Some(Opened { checkpoints, pool }) })
    }

    /// Does work of the run: on the pool, if there are checkpoints.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.opened {
            Some(opened) => opened.pool.install(work),
            None => work(),
        }
    }

    /// Begins a run, or goes on with it: also returns the state to go on from.
    pub fn begin<E: From<ResumeError> + From<RunError>>(
        &self,
        run: impl FnOnce() -> Result<RunIdentity, RunError> + Send,
    ) -> Result<(KeptRun, Option<Checkpoint>), E> {
        let Some(Opened { checkpoints, pool }) = &self.opened else {
            return Ok((KeptRun { keeper: None, resumed: None }, None));
        };
        let run = pool.install(run)?;
        let (newest, keeper) = pool.install(|| checkpoints.begin(&run))?;
        let keeper = Some(keeper);
        let Some(Newest { checkpoint, path, damaged }) = newest else {
            return Ok((KeptRun { keeper, resumed: None }, None));
        };
        let damaged = damaged.iter().map(ToString::to_string).collect();
        let resumed = Some(Resumed { rounds: checkpoint.rounds.len(), path, damaged });
        Ok((KeptRun { keeper, resumed }, Some(checkpoint)))
    }

    /// Removes the checkpoints of a run that has its results. Those that cannot be removed stay: the results stand.
    pub fn remove(self) {
        if let Some(opened) = self.opened {
            let _ = opened.checkpoints.remove();
        }
    }
}

impl KeptRun {
    /// Returns an observer that keeps this run's checkpoints, and passes all else on.
    pub fn watch<'a>(&'a mut self, inner: &'a mut dyn RoundObserver) -> Relay<'a> {
        let keeper = self.keeper.as_mut().map(|keeper| keeper as &mut dyn Keeper);
        Relay { inner, keeper, on_round: None }
    }
}
