//! Workers of a swarm: the CPU, or other devices.

use super::{Analysis, Answer, SwarmError, SwarmObserver};
use ripplet_graph::batch::BatchSlice;

/// Answers an analysis for the graphs of a part. A worker lives on one thread, which passes it part
/// after part.
pub trait Worker: Send {
    /// Returns the worker's name: `cpu`, `cuda:0`.
    fn name(&self) -> String;

    /// Answers a part; ends with [`SwarmError::Cancelled`] soon after the observer cancels.
    ///
    /// # Errors
    /// If the computation fails, which ends the swarm.
    fn answer(
        &mut self,
        part: BatchSlice<'_>,
        observer: &dyn SwarmObserver,
    ) -> Result<Answer, SwarmError>;

    /// Returns the worker's seconds so far by step: `transfer`, `kernels`, …
    fn steps(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

/// Answers on rayon's current pool, which is the global one in [`super::run`]: one such worker
/// keeps all its threads busy.
#[derive(Clone, Copy, Debug)]
pub struct CpuWorker {
    analysis: Analysis,
}

impl CpuWorker {
    /// Creates a worker for an analysis.
    pub fn new(analysis: Analysis) -> CpuWorker {
        CpuWorker { analysis }
    }
}

impl Worker for CpuWorker {
    fn name(&self) -> String {
        "cpu".into()
    }

    fn answer(
        &mut self,
        part: BatchSlice<'_>,
        observer: &dyn SwarmObserver,
    ) -> Result<Answer, SwarmError> {
        self.analysis.of_batch(part, &mut Watched(observer))
    }
}

/// Adapts the observer of a swarm to that of an analysis or of a run on one graph.
pub(super) struct Watched<'a>(pub &'a dyn SwarmObserver);

impl ripplet_analytics::Observer for Watched<'_> {
    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

impl ripplet_lp::Observer for Watched<'_> {
    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}
