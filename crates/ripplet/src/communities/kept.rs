//! Runs that keep checkpoints: the observer that has the keeper, and what they went on from.

use crate::checkpoints::{
    CheckpointError, CheckpointOptions, FileKeeper, Newest, ResumeError, RunCheckpoints,
};
use ripplet_graph::Observer;
use ripplet_lp::{Checkpoint, Keeper, Round, RoundObserver, RunIdentity};
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
    opened: Option<RunCheckpoints>,
}

/// A run that keeps checkpoints, or none.
pub(super) struct KeptRun {
    keeper: Option<FileKeeper>,
    pub resumed: Option<Resumed>,
}

impl Kept {
    /// Opens the folder, if one is chosen.
    pub fn open(options: Option<&CheckpointOptions>) -> Result<Kept, CheckpointError> {
        Ok(Kept { opened: options.map(CheckpointOptions::open).transpose()? })
    }

    /// Begins a run, or goes on with it: also returns the state to go on from.
    pub fn begin<E: From<ResumeError>>(
        &self,
        run: impl FnOnce() -> Result<RunIdentity, E>,
    ) -> Result<(KeptRun, Option<Checkpoint>), E> {
        let Some(opened) = &self.opened else {
            return Ok((KeptRun { keeper: None, resumed: None }, None));
        };
        let (newest, keeper) = opened.begin(&run()?)?;
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
            let _ = opened.remove();
        }
    }
}

impl KeptRun {
    /// Returns an observer that keeps this run's checkpoints, and passes all else on.
    pub fn watch<'a>(&'a mut self, inner: &'a mut dyn RoundObserver) -> Watch<'a> {
        Watch { keeper: self.keeper.as_mut(), inner }
    }
}

/// An observer with the keeper of a run.
pub(super) struct Watch<'a> {
    keeper: Option<&'a mut FileKeeper>,
    inner: &'a mut dyn RoundObserver,
}

impl Observer for Watch<'_> {
    fn on_stage(&mut self, name: &'static str) {
        self.inner.on_stage(name);
    }

    fn on_progress(&self, done: f64) {
        self.inner.on_progress(done);
    }

    fn is_cancelled(&self) -> bool {
        self.inner.is_cancelled()
    }
}

impl RoundObserver for Watch<'_> {
    fn on_round(&mut self, index: usize, round: &Round) {
        self.inner.on_round(index, round);
    }

    fn keeper(&mut self) -> Option<&mut dyn Keeper> {
        match &mut self.keeper {
            Some(keeper) => Some(&mut **keeper),
            None => self.inner.keeper(),
        }
    }
}
