//! Runs that keep checkpoints, and what they went on from.

use super::error::CommunitiesError;
use super::observer::{SearchEvent, SearchObserver, locked};
use super::report::Resumed;
use crate::checkpoints::{CheckpointOptions, FileKeeper, Newest, RunCheckpoints, Written};
use ripplet_graph::Observer;
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::{Checkpoint, Keeper, NotKept, Round, RoundObserver, RunError, RunIdentity, State};
use ripplet_ranks::{SharedComm, Traffic};
use std::sync::Arc;
use std::time::Instant;

/// Where a search keeps its checkpoints.
#[derive(Clone)]
pub(super) enum Place {
    /// A folder that the search opens, and empties when it has found the communities.
    Folder(CheckpointOptions),
    /// A folder that the caller has opened, and empties; `None` if another rank has it.
    Opened(Option<Arc<RunCheckpoints>>),
}

/// The checkpoints of a search: none, or those in a folder.
pub(super) struct Kept {
    /// Whether there are checkpoints, on this rank or on another.
    pub any: bool,
    /// The folder, if it is this rank's.
    checkpoints: Option<Arc<RunCheckpoints>>,
    /// Whether the search empties it.
    is_own: bool,
}

/// A run that keeps checkpoints, or none.
#[derive(Default)]
pub(super) struct Begun {
    pub keeper: Option<FileKeeper>,
    pub resumed: Option<Resumed>,
    /// The state to go on from.
    pub state: Option<Checkpoint>,
    pub looking: f64,
}

impl Kept {
    /// Opens the folder, if one is chosen; on the first of several ranks alone.
    pub fn open(place: Option<&Place>, is_first: bool) -> Result<Kept, CommunitiesError> {
        let (checkpoints, is_own) = match place {
            Some(Place::Folder(options)) if is_first => (Some(Arc::new(options.open()?)), true),
            Some(Place::Opened(checkpoints)) => (checkpoints.clone(), false),
            Some(Place::Folder(_)) | None => (None, false),
        };
        Ok(Kept { any: place.is_some(), checkpoints, is_own })
    }

    /// Begins a run, or goes on with it.
    pub fn begin(
        &self,
        identity: impl FnOnce() -> Result<RunIdentity, RunError>,
        cpu: Option<&CpuExecutor>,
        observer: &mut dyn SearchObserver,
    ) -> Result<Begun, CommunitiesError> {
        if !self.any {
            return Ok(Begun::default());
        }
        observer.on_stage("looking for a checkpoint");
        let start = Instant::now();
        // Ranks find it together.
        let run = identity()?;
        let Some(checkpoints) = &self.checkpoints else { return Ok(Begun::default()) };
        // Not by threads of rayon's own, which would stay.
        let begin = || checkpoints.begin(&run);
        let (newest, keeper) = cpu.map_or_else(begin, |cpu| cpu.install(begin))?;
        let mut begun = Begun { keeper: Some(keeper), ..Begun::default() };
        if let Some(Newest { checkpoint, path, damaged }) = newest {
            let damaged = damaged.iter().map(ToString::to_string).collect();
            let resumed = Resumed { rounds: checkpoint.rounds.len(), path, damaged };
            observer.on_event(SearchEvent::Resumed(&resumed));
            (begun.resumed, begun.state) = (Some(resumed), Some(checkpoint));
        } else if checkpoints.options().resume {
            let folder = checkpoints.options().folder.clone();
            observer.on_event(SearchEvent::NoCheckpoint(folder));
        }
        begun.looking = start.elapsed().as_secs_f64();
        Ok(begun)
    }

    /// Removes the checkpoints of a run that has its results, unless the caller does. Those that cannot be removed stay: the
    /// results stand.
    pub fn remove(self) {
        if let (Some(checkpoints), true) = (self.checkpoints, self.is_own) {
            let _ = checkpoints.remove();
        }
    }
}

/// Passes all that a run reports on to the observer of its search, keeps its checkpoints, and measures what a rank sends.
pub(super) struct Follower<'a> {
    observer: &'a mut dyn SearchObserver,
    keeper: Option<FileKeeper>,
    comm: Option<&'a SharedComm>,
    /// What the rank had sent before the run, and after each round.
    pub traffic: Vec<Traffic>,
}

impl<'a> Follower<'a> {
    pub fn new(
        observer: &'a mut dyn SearchObserver,
        keeper: Option<FileKeeper>,
        comm: Option<&'a SharedComm>,
    ) -> Follower<'a> {
        let mut follower = Follower { observer, keeper, comm, traffic: Vec::new() };
        follower.measure();
        follower
    }

    /// Returns what was written; `None` if the run keeps no checkpoints.
    pub fn written(&self) -> Option<Written> {
        self.keeper.as_ref().map(|keeper| keeper.written)
    }

    /// Notes what the rank has sent.
    pub fn measure(&mut self) {
        self.traffic.extend(self.comm.map(|comm| locked(comm).traffic()));
    }
}

impl Observer for Follower<'_> {
    fn on_stage(&mut self, name: &'static str) {
        self.observer.on_stage(name);
    }

    fn on_progress(&self, done: f64) {
        self.observer.on_progress(done);
    }

    fn is_cancelled(&self) -> bool {
        self.observer.is_cancelled()
    }
}

impl RoundObserver for Follower<'_> {
    fn on_round(&mut self, index: usize, round: &Round) {
        self.measure();
        self.observer.on_round(index, round);
    }

    fn keeper(&mut self) -> Option<&mut dyn Keeper> {
        match self.keeper {
            Some(_) => Some(self),
            None => self.observer.keeper(),
        }
    }
}

impl Keeper for Follower<'_> {
    fn is_due(&mut self, rounds: &[Round]) -> bool {
        self.keeper.as_mut().is_some_and(|keeper| keeper.is_due(rounds))
    }

    fn keep(&mut self, rounds: &[Round], state: State<'_>) -> Result<(), NotKept> {
        if let Some(keeper) = &mut self.keeper {
            keeper.keep(rounds, state)?;
            self.observer.on_event(SearchEvent::Kept(rounds.len()));
        }
        Ok(())
    }
}
