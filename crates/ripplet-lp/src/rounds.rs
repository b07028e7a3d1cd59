//! The run loop, once for all executors: rounds until a stop rule holds, then the finish.

use crate::communities::split_disconnected;
use crate::{Column, Label, Outcome, Plan, Program, Round, Settings, SettingsError};
use ripplet_graph::Graph;
use std::time::Instant;
use thiserror::Error;

/// Who computes.
pub trait Executor {
    /// What a run will need beside the graph, known before it starts.
    fn plan<P: Program>(&self, graph: &Graph, program: &P, settings: &Settings) -> Plan;

    /// Runs a program on a graph.
    ///
    /// The labels are the same bytes for any executor and any number of threads, unless the
    /// schedule's name says otherwise.
    ///
    /// # Errors
    /// Where the settings do not fit the graph, memory is refused, or the observer cancels.
    fn run<P: Program>(
        &self,
        graph: &Graph,
        program: &P,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, RunError>;
}

/// Who watches a run and may end it; `()` does neither.
pub trait Observer: Sync + Send {
    /// Called after each round, from 0.
    fn on_round(&mut self, _index: usize, _round: &Round) {}

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

    /// Gives labels and written columns back and frees everything else.
    ///
    /// # Errors
    /// Where a device fails.
    fn finish(self) -> Result<(Vec<Label>, Vec<Column>), RunError>;
}

/// Runs rounds until a stop rule holds, then splits what is not connected.
///
/// # Errors
/// As the rounds do.
pub fn run_rounds(
    mut rounds: impl Rounds,
    graph: &Graph,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Outcome, RunError> {
    let mut done: Vec<Round> = Vec::new();
    let reason = loop {
        if let Some(reason) = settings.stop.reason(&done, graph.vertices()) {
            break reason;
        }
        let start = Instant::now();
        let mut round = rounds.round(done.len() as u32, observer)?;
        round.seconds = start.elapsed().as_secs_f64();
        observer.on_round(done.len(), &round);
        done.push(round);
    };
    let (mut labels, columns) = rounds.finish()?;
    let split = if settings.keep_disconnected {
        None
    } else {
        Some(split_disconnected(graph, &mut labels, || observer.is_cancelled())?)
    };
    Ok(Outcome { labels, columns, rounds: done, reason, split })
}
