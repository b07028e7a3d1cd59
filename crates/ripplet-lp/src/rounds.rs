//! The run loop, common to all executors: rounds until a stop rule holds, then splitting.

use crate::finishing::{Communities, Finisher, finish};
use crate::{
    Column, DeviceSeconds, Keeper, Label, ListsMoved, NotKept, Outcome, Round, Settings,
    SettingsError, State,
};
use ripplet_graph::{GraphView, Observer, OutOfMemory};
use ripplet_ranks::CommError;
use std::time::Instant;
use thiserror::Error;

/// An observer of label propagation: it also follows the rounds, and may keep checkpoints.
///
/// `()` ignores all events and never cancels.
pub trait RoundObserver: Observer {
    /// Called after each round, counted from 0.
    fn on_round(&mut self, _index: usize, _round: &Round) {}

    /// Returns the [`Keeper`] of the run's checkpoints, if there is one.
    fn keeper(&mut self) -> Option<&mut dyn Keeper> {
        None
    }
}

impl RoundObserver for () {}

/// The reason why a run ended without labels.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum RunError {
    /// The settings do not fit the graph.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The observer cancelled.
    #[error("cancelled")]
    Cancelled,
    /// A state could not be saved; earlier checkpoints remain.
    #[error("the state after round {rounds} could not be kept: {source}")]
    NotKept {
        /// The number of rounds that were done.
        rounds: usize,
        /// The reason.
        source: NotKept,
    },
    /// The system refused memory for a part of the run.
    #[error("the run needs {bytes} bytes beside the graph, which this machine refused")]
    OutOfMemory {
        /// The planned bytes of the whole run.
        bytes: u64,
    },
    /// The system refused memory for an array, and the whole run has no plan.
    #[error(transparent)]
    Array(#[from] OutOfMemory),
    /// The weights are too large for sums over communities.
    #[error(
        "the stored edge weights add up to {total}, and merging communities needs sums of 64 bits; scale \
         the weights down, or leave merging out"
    )]
    MergeWeights {
        /// The sum over all vertices of the weights of their edges.
        total: u128,
    },
    /// The program has no device source, which other devices need.
    #[error(
        "the program {program} exists in Rust alone, and a GPU needs it as text; write it with \
         #[label_program], or run it on the CPU"
    )]
    NoDeviceSource {
        /// The program's name.
        program: String,
    },
    /// The device does not implement the counter.
    #[error(
        "the counter {counter} has one sketch for all votes of a vertex, which a GPU would have one \
         thread fill; leave :one out, or run it on the CPU"
    )]
    NoDeviceCounter {
        /// The counter's name.
        counter: String,
    },
    /// The run does not fit the device's memory.
    #[error(
        "the run needs {needed} bytes of {device}'s memory at least, {graph} of them for what must \
         be there of the graph, but \
         {room} are {}; run it on the CPU, or on a GPU with more memory",
        if *.limited { "allowed" } else { "free" }
    )]
    DeviceMemory {
        /// The device's name.
        device: String,
        /// The planned bytes.
        needed: u64,
        /// The part of them that is the graph.
        graph: u64,
        /// The available bytes.
        room: u64,
        /// Whether a memory limit was set, rather than the device's free memory.
        limited: bool,
    },
    /// The schedule has no barriers, at which ranks exchange messages.
    #[error(
        "the schedule {schedule} has no barriers, at which ranks exchange messages; use phased or sync"
    )]
    InPlaceOnRanks {
        /// The schedule.
        schedule: &'static str,
    },
    /// Another rank runs something else.
    #[error(
        "rank {rank} has another graph, version or options; start every rank with the same command, and with files \
         that are the same on all machines"
    )]
    RanksDiffer {
        /// The other rank.
        rank: usize,
    },
    /// A message between ranks failed.
    #[error(transparent)]
    Ranks(#[from] CommError),
    /// A device failed; its message.
    #[error("{0}")]
    Device(String),
}

impl RunError {
    /// Replaces the bytes of a refused array by the planned bytes of the whole run.
    #[must_use]
    pub fn planned(self, bytes: u64) -> RunError {
        match self {
            RunError::Array(_) | RunError::OutOfMemory { .. } => RunError::OutOfMemory { bytes },
            error => error,
        }
    }
}

/// A run in progress: its state, and how to perform a round.
pub trait Rounds {
    /// Performs round `index`, counted from 0. The caller measures its seconds.
    ///
    /// # Errors
    /// If the observer cancels or a device fails.
    fn round(&mut self, index: u32, observer: &dyn Observer) -> Result<Round, RunError>;

    /// Returns the state between two rounds.
    ///
    /// # Errors
    /// If a device fails, or memory is refused for a copy of the device's state.
    fn state(&mut self) -> Result<State<'_>, RunError>;

    /// Returns labels and written columns, and frees everything else.
    ///
    /// # Errors
    /// If a device fails.
    fn finish(self: Box<Self>) -> Result<Finished, RunError>;
}

/// The results of a run's rounds.
#[derive(Clone, Debug, Default)]
pub struct Finished {
    /// The label of each vertex.
    pub labels: Vec<Label>,
    /// The columns that the program wrote, in its order.
    pub columns: Vec<Column>,
    /// The seconds of copying the graph and the results to and from a device.
    pub transfer_seconds: f64,
    /// The transfers of each round; see [`Outcome::lists_moved`].
    pub lists_moved: Vec<ListsMoved>,
}

/// Runs rounds until a stop rule holds, then splits disconnected communities and merges communities, by
/// the finisher if there is one.
///
/// A run continues after the rounds of [`Settings::resume`]. States that are due are passed to the
/// observer's [`Keeper`].
///
/// # Errors
/// If a round fails or a state cannot be saved.
pub fn run_rounds(
    mut rounds: Box<dyn Rounds + '_>,
    graph: GraphView<'_>,
    settings: &Settings,
    finisher: Option<&dyn Finisher>,
    observer: &mut dyn RoundObserver,
) -> Result<Outcome, RunError> {
    let mut done = settings.resume.as_ref().map_or_else(Vec::new, |start| start.rounds.clone());
    observer.on_stage(if done.is_empty() { "round 1" } else { "going on" });
    let begun = done.len();
    let reason = loop {
        if let Some(reason) = settings.stop.reason_after(&done, graph.vertices(), settings.schedule)
        {
            break reason;
        }
        if done.len() > begun {
            keep(&mut *rounds, &done, observer)?;
        }
        let start = Instant::now();
        let mut round = rounds.round(done.len() as u32, observer)?;
        round.seconds = start.elapsed().as_secs_f64();
        observer.on_round(done.len(), &round);
        done.push(round);
    };
    let Finished { labels, columns, transfer_seconds, lists_moved } = rounds.finish()?;
    let Communities { labels, split, merged, device_seconds } =
        finish(graph, labels, settings, finisher, observer)?;
    let transfer = device_seconds.transfer + transfer_seconds;
    let device_seconds = DeviceSeconds { transfer, ..device_seconds };
    Ok(Outcome {
        labels,
        columns,
        rounds: done,
        reason,
        split,
        merged,
        device_seconds,
        lists_moved,
    })
}

/// Saves the state after these rounds, if it is due.
fn keep(
    rounds: &mut dyn Rounds,
    done: &[Round],
    observer: &mut dyn RoundObserver,
) -> Result<(), RunError> {
    if !observer.keeper().is_some_and(|keeper| keeper.is_due(done)) {
        return Ok(());
    }
    observer.on_stage("writing a checkpoint");
    let state = rounds.state()?;
    let kept = observer.keeper().map_or(Ok(()), |keeper| keeper.keep(done, state));
    kept.map_err(|source| RunError::NotKept { rounds: done.len(), source })
}
