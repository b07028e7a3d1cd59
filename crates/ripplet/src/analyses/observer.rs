//! What follows an analysis of one graph.

use super::AnalyseError;
use crate::communities::locked;
use crate::device::Fallback;
use ripplet_graph::Observer;
use ripplet_lp::Plan;
use ripplet_ranks::SharedComm;

/// An observer of an analysis of one graph, which also gets the plan of the run and what it decides.
///
/// `()` allows every plan, ignores all events and never cancels.
///
/// # Examples
/// ```
/// use ripplet::analyses::{AnalyseError, AnalysisObserver};
/// use ripplet::lp::Plan;
/// use ripplet::{Observer, analyse, graph_from_edges};
///
/// /// Allows a run that needs no more memory than this, its graph included.
/// struct Limit(u64);
///
/// impl Observer for Limit {}
///
/// impl AnalysisObserver for Limit {
///     fn allows(&mut self, plan: &Plan, _device: &str) -> bool {
///         plan.total_host() <= self.0
///     }
/// }
///
/// let graph = graph_from_edges([(1, 2), (2, 3), (3, 1)])?;
/// let run = analyse(&graph, "closeness")?.device("cpu".parse()?);
/// assert!(run.run_with(&mut Limit(1 << 30)).is_ok());
/// assert!(matches!(run.run_with(&mut Limit(9)), Err(AnalyseError::Refused)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait AnalysisObserver: Observer {
    /// Called before the run begins on a device, by its name, with the memory that it needs there. Returns whether it may:
    /// otherwise it ends with [`AnalyseError::Refused`]. All ranks call it at the same time.
    fn allows(&mut self, _plan: &Plan, _device: &str) -> bool {
        true
    }

    /// Called before the run begins anew on the CPU, as the GPU that `auto` chose failed with this error.
    fn on_fallback(&mut self, _fallback: Fallback, _error: AnalyseError) {}

    /// Called with what a user should know of the device although nothing failed, a sentence.
    fn on_device_note(&mut self, _note: String) {}

    /// Called if the run failed on this rank after the first message, so that other ranks may wait for it. By default, it
    /// aborts the communicator, and they fail as well.
    fn on_failure(&mut self, comm: &SharedComm, _error: &AnalyseError) {
        locked(comm).abort(1);
    }
}

impl AnalysisObserver for () {}
