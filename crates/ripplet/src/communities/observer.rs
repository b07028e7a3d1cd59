//! What follows a search for communities.

use super::error::{CommunitiesError, FailedStage};
use super::report::Resumed;
use crate::device::Fallback;
use ripplet_lp::check::Checked;
use ripplet_lp::{Counter, ProgramInfo, RankLabels, RoundObserver, RunError};
use ripplet_ranks::{Comm, SharedComm};
use std::path::PathBuf;
use std::sync::{MutexGuard, PoisonError};

/// An observer of a search for communities, which also gets what the search decides and finds, and defines how ranks
/// end after a failure.
///
/// `()` ignores all events and never cancels.
///
/// # Examples
/// ```
/// use ripplet::communities::{SearchEvent, SearchObserver};
/// use ripplet::lp::RoundObserver;
/// use ripplet::{Observer, graph_from_edges};
///
/// /// Collects lines for a log.
/// #[derive(Default)]
/// struct Log(Vec<String>);
///
/// impl Observer for Log {
///     fn on_stage(&mut self, name: &'static str) {
///         self.0.push(name.into());
///     }
/// }
///
/// impl RoundObserver for Log {}
///
/// impl SearchObserver for Log {
///     fn on_event(&mut self, event: SearchEvent<'_>) {
///         match event {
///             SearchEvent::FellBack { fallback, .. } => self.0.push(fallback.to_string()),
///             SearchEvent::Resumed(from) => self.0.push(format!("after round {}", from.rounds)),
///             _ => {}
///         }
///     }
/// }
///
/// let graph = graph_from_edges([(1, 2), (2, 3), (3, 1)])?;
/// let mut log = Log::default();
/// ripplet::communities(&graph).device("cpu".parse()?).run_with(&mut log)?;
/// assert!(log.0.contains(&"round 1".to_string()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait SearchObserver: RoundObserver {
    /// Called when the search has decided or found something that a user may want to know.
    fn on_event(&mut self, _event: SearchEvent<'_>) {}

    /// Ends a stage that all ranks do, and that did not fail on this one. All ranks call it or
    /// [`SearchObserver::fail_stage`] at the same time. By default, ranks send each other the messages of their errors.
    ///
    /// # Errors
    /// [`CommunitiesError::Stage`] if the stage failed on another rank, [`CommunitiesError::Run`] if a message between ranks
    /// fails.
    fn end_stage(&mut self, comm: &SharedComm) -> Result<(), CommunitiesError> {
        match first_failure(&mut locked(comm), None)? {
            None => Ok(()),
            Some((rank, message)) => Err(FailedStage { rank, message, own: None }.into()),
        }
    }

    /// Ends a stage that all ranks do, and that failed on this one: it fails on all. Returns the error of the search on this
    /// rank, by default [`CommunitiesError::Stage`] with the first rank's message.
    fn fail_stage(&mut self, comm: &SharedComm, own: CommunitiesError) -> CommunitiesError {
        match first_failure(&mut locked(comm), Some(&own)) {
            Ok(Some((rank, message))) => FailedStage { rank, message, own: Some(own) }.into(),
            Ok(None) => own,
            Err(error) => error.into(),
        }
    }

    /// Called if this rank failed outside of a stage, so that other ranks may wait for it. By default, it aborts the
    /// communicator, and they fail as well.
    fn on_failure(&mut self, comm: &SharedComm, _error: &CommunitiesError) {
        locked(comm).abort(1);
    }
}

impl SearchObserver for () {}

/// What a search decides or finds.
#[derive(Debug)]
#[non_exhaustive]
pub enum SearchEvent<'a> {
    /// The GPU that `auto` chose failed, and the run begins anew on the CPU.
    FellBack {
        /// The reason.
        fallback: Fallback,
        /// The error of the GPU.
        error: CommunitiesError,
    },
    /// What a user should know of the device although nothing failed, a sentence.
    DeviceNote(String),
    /// The program keeps its promises on a sample; see [`CommunitySearch::check_program`](super::CommunitySearch::check_program).
    Checked(Checked),
    /// The counter is a sketch, as exact counting does not fit; see
    /// [`CommunitySearch::fitting_counter`](super::CommunitySearch::fitting_counter).
    Counter {
        /// The counter.
        counter: Counter,
        /// Why exact counting does not fit.
        why: CommunitiesError,
    },
    /// The vertices whose labels each rank has in the rounds.
    RankLabels {
        /// All, or ghosts.
        labels: RankLabels,
        /// The program, whose promises decide.
        program: &'a ProgramInfo,
    },
    /// The run goes on from a checkpoint.
    Resumed(&'a Resumed),
    /// The run was to go on from a checkpoint, but there is none in this folder: it begins.
    NoCheckpoint(PathBuf),
    /// The state after this number of rounds is kept.
    Kept(usize),
}

/// Sends the message of this rank's error, or that it has none, to all ranks; returns the first rank that failed, and its
/// message.
fn first_failure(
    comm: &mut Comm,
    own: Option<&CommunitiesError>,
) -> Result<Option<(usize, String)>, RunError> {
    let failed = u8::from(own.is_some());
    let message = own.map(ToString::to_string).unwrap_or_default();
    let bytes: Vec<u8> = [failed].into_iter().chain(message.bytes()).collect();
    let all = comm.all_gather("stage", &bytes)?;
    let mut failures = all.iter().enumerate().filter(|(_, bytes)| bytes.first() == Some(&1));
    Ok(failures.next().map(|(rank, bytes)| {
        (rank, String::from_utf8_lossy(bytes.get(1..).unwrap_or_default()).into())
    }))
}

pub(crate) fn locked(comm: &SharedComm) -> MutexGuard<'_, Comm> {
    comm.lock().unwrap_or_else(PoisonError::into_inner)
}
