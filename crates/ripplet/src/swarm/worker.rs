//! Who answers: the CPU, or whoever else can.

use super::{Analysis, Answer, SwarmError, SwarmObserver};
use ripplet_graph::batch::BatchSlice;

/// Answers what is asked of a part's graphs. It lives on one thread, which gives it part after part.
pub trait Worker: Send {
    /// What it is called: `cpu`, `cuda:0`.
    fn name(&self) -> String;

    /// Answers a part, and ends with [`SwarmError::Cancelled`] soon after the observer cancels.
    ///
    /// # Errors
    /// Where it cannot, which ends the swarm.
    fn answer(
        &mut self,
        part: BatchSlice<'_>,
        observer: &dyn SwarmObserver,
    ) -> Result<Answer, SwarmError>;

    /// What its seconds were made of so far, by name: `transfer`, `kernels`, …
    fn steps(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

/// Answers on rayon's current pool, which is the global one where [`super::run`] calls it: one such worker
/// keeps all its threads busy.
#[derive(Clone, Copy, Debug)]
pub struct CpuWorker {
    analysis: Analysis,
}

impl CpuWorker {
    /// A worker for an analysis.
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

/// An observer of a swarm, as an analysis of a part is watched, and a run on one of its graphs.
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
