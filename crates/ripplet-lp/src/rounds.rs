//! The run loop, once for all executors: rounds until a stop rule holds, then the finish.

use crate::communities::split_disconnected;
use crate::{
    Column, DeviceSeconds, Keeper, Label, ListsMoved, NotKept, Outcome, Round, Settings,
    SettingsError, State,
};
use ripplet_graph::GraphView;
use std::time::Instant;
use thiserror::Error;

/// Who watches a run and may end it; `()` does neither.
pub trait Observer: Sync + Send {
    /// Called where something begins that may take a while; its name, for a user.
    fn on_stage(&mut self, _name: &'static str) {}

    /// Called after each round, from 0.
    fn on_round(&mut self, _index: usize, _round: &Round) {}

    /// Who keeps the run's states, where anybody does.
    fn keeper(&mut self) -> Option<&mut dyn Keeper> {
        None
    }

    /// Asked often, from any thread, also within a round: true ends the run within milliseconds.
    fn is_cancelled(&self) -> bool {
        false
    }
}

impl Observer for () {}

/// Why a run ended without labels.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum RunError {
    /// The settings do not fit the graph.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The observer cancelled.
    #[error("cancelled")]
    Cancelled,
    /// A state could not be kept: those kept before it stand.
    #[error("the state after round {rounds} could not be kept: {source}")]
    NotKept {
        /// Rounds that were done.
        rounds: usize,
        /// Why.
        source: NotKept,
    },
    /// The system refused memory.
    #[error("the run needs {bytes} bytes beside the graph, which this machine refused")]
    OutOfMemory {
        /// What was asked for, as planned.
        bytes: u64,
    },
    /// The program is not known as text, which other devices need.
    #[error(
        "the program {program} exists in Rust alone, and a GPU needs it as text; write it with \
         #[label_program], or run it on the CPU"
    )]
    NoDeviceSource {
        /// The program's name.
        program: String,
    },
    /// A device does not count as asked.
    #[error(
        "the counter {counter} has one sketch for all votes of a vertex, which a GPU would have one \
         thread fill; leave :one out, or run it on the CPU"
    )]
    NoDeviceCounter {
        /// The counter's name.
        counter: String,
    },
    /// The run will not fit a device's memory.
    #[error(
        "the run needs {needed} bytes of {device}'s memory at least, {graph} of them for what must \
         be there of the graph, but \
         {room} are {}; run it on the CPU, or on a GPU with more memory",
        if *.limited { "allowed" } else { "free" }
    )]
    DeviceMemory {
        /// The device's name.
        device: String,
        /// What the plan says.
        needed: u64,
        /// The part of it that is the graph.
        graph: u64,
        /// What there is.
        room: u64,
        /// Whether there is more, which the run is not allowed.
        limited: bool,
    },
    /// A device refused, or failed; what it said.
    #[error("{0}")]
    Device(String),
}

/// A schedule in motion: its labels, and how to do one round.
pub trait Rounds {
    /// Does round `index`, from 0. Its seconds are measured by who asks for it.
    ///
    /// # Errors
    /// Where the observer cancels, or a device fails.
    fn round(&mut self, index: u32, observer: &dyn Observer) -> Result<Round, RunError>;

    /// The state, between two rounds.
    ///
    /// # Errors
    /// Where a device fails, or memory is refused for what lies there.
    fn state(&mut self) -> Result<State<'_>, RunError>;

    /// Gives labels and written columns back and frees everything else.
    ///
    /// # Errors
    /// Where a device fails.
    fn finish(self: Box<Self>) -> Result<Finished, RunError>;
}

/// What rounds leave.
#[derive(Clone, Debug, Default)]
pub struct Finished {
    /// Each vertex's label.
    pub labels: Vec<Label>,
    /// The columns that the program wrote, in its order.
    pub columns: Vec<Column>,
    /// Seconds that the graph and the results were on their way to and from a device.
    pub transfer_seconds: f64,
    /// What was moved in each round; see [`Outcome::lists_moved`].
    pub lists_moved: Vec<ListsMoved>,
}

/// Runs rounds until a stop rule holds, then splits what is not connected. Goes on behind the rounds of
/// [`Settings::resume`], and has the observer's [`Keeper`] keep the states that are due.
///
/// # Errors
/// As the rounds do, and where a state cannot be kept.
pub fn run_rounds(
    mut rounds: Box<dyn Rounds + '_>,
    graph: GraphView<'_>,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Outcome, RunError> {
    let mut done = settings.resume.as_ref().map_or_else(Vec::new, |start| start.rounds.clone());
    observer.on_stage(if done.is_empty() { "round 1" } else { "going on" });
    let begun = done.len();
    let reason = loop {
        if let Some(reason) = settings.stop.reason(&done, graph.vertices(), settings.schedule) {
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
    let Finished { mut labels, columns, transfer_seconds, lists_moved } = rounds.finish()?;
    let split = if settings.keep_disconnected {
        None
    } else {
        observer.on_stage("splitting what is not connected");
        Some(split_disconnected(graph, &mut labels, &|| observer.is_cancelled())?)
    };
    let device_seconds = DeviceSeconds { transfer: transfer_seconds, ..DeviceSeconds::default() };
    Ok(Outcome { labels, columns, rounds: done, reason, split, device_seconds, lists_moved })
}

/// Has the state after these rounds kept, where that is due.
fn keep(
    rounds: &mut dyn Rounds,
    done: &[Round],
    observer: &mut dyn Observer,
) -> Result<(), RunError> {
    if !observer.keeper().is_some_and(|keeper| keeper.is_due(done)) {
        return Ok(());
    }
    observer.on_stage("writing a checkpoint");
    let state = rounds.state()?;
    let kept = observer.keeper().map_or(Ok(()), |keeper| keeper.keep(done, state));
    kept.map_err(|source| RunError::NotKept { rounds: done.len(), source })
}
