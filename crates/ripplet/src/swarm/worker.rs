//! Workers of a swarm: the CPU, or other devices.

use super::{Analysis, Answer, SwarmError};
use ripplet_graph::Observer;
use ripplet_graph::batch::BatchSlice;
use ripplet_lp::RoundObserver;

/// Answers an analysis for the graphs of a part. A worker lives on one thread, which passes it part
/// after part.
pub trait Worker: Send {
    /// Returns the worker's name: `cpu`, `cuda:0`.
    fn name(&self) -> String;

    /// Answers a part; ends with [`SwarmError::Cancelled`] soon after the observer cancels. A swarm's
    /// observer shows no stages and no progress of a part.
    ///
    /// # Errors
    /// If the computation fails, which ends the swarm.
    fn answer(
        &mut self,
        part: BatchSlice<'_>,
        observer: &dyn Observer,
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
        observer: &dyn Observer,
    ) -> Result<Answer, SwarmError> {
        self.analysis.of_batch(part, &mut Watched(observer))
    }
}

/// Passes on the cancellation alone: a worker's own observer, which no other thread changes.
pub(super) struct Watched<'a>(pub &'a dyn Observer);

impl Observer for Watched<'_> {
    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

impl RoundObserver for Watched<'_> {}
