//! Observers of long computations: progress, and cancellation.

/// An observer of a computation, which may cancel it; `()` ignores all events and never cancels.
///
/// Extensions add what one kind of computation reports: `RoundObserver` in `ripplet-lp` the rounds of
/// label propagation, `SwarmObserver` in `ripplet` the parts of a batch, `PipelineObserver` in
/// `ripplet-fraud` the windows of transactions.
///
/// # Examples
/// ```
/// use ripplet_graph::Observer;
/// use std::time::{Duration, Instant};
///
/// /// Cancels after a while.
/// struct TimeLimit(Instant, Duration);
///
/// impl Observer for TimeLimit {
///     fn is_cancelled(&self) -> bool {
///         self.0.elapsed() > self.1
///     }
/// }
///
/// assert!(!TimeLimit(Instant::now(), Duration::from_secs(60)).is_cancelled());
/// ```
pub trait Observer: Sync + Send {
    /// Called at the begin of a stage that may take a while, with its name for a user.
    fn on_stage(&mut self, _name: &'static str) {}

    /// Called from time to time, from any thread, with the completed fraction of the stage, from 0
    /// to 1; not by computations that report their progress by an extension.
    fn on_progress(&self, _done: f64) {}

    /// Polled often, from any thread: true ends the computation within milliseconds.
    fn is_cancelled(&self) -> bool {
        false
    }
}

impl Observer for () {}
