//! The run loop, common to all executors: rounds until a stop rule holds, then splitting.

use crate::finishing::{Communities, Finisher, finish};
use crate::{
    Column, DeviceSeconds, Label, ListsMoved, Outcome, Round, RoundObserver, RunError, Settings,
    State,
};
use ripplet_graph::{GraphView, Observer};
use std::time::Instant;

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
/// observer's [`Keeper`](crate::Keeper).
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
