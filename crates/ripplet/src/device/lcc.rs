//! Clustering coefficients on the chosen device.

use super::executor::On;
use super::{AnyExecutor, plan_on_cpu};
use ripplet_analytics::lcc::{Lcc, Outcome};
use ripplet_graph::Graph;
use ripplet_lp::{DeviceSeconds, Plan};
use thiserror::Error;

/// Error of clustering coefficients on a device.
#[derive(Debug, Error)]
pub enum LccError {
    /// The computation on the CPU failed.
    #[error(transparent)]
    Cpu(#[from] ripplet_analytics::RunError),
    /// The computation on a GPU failed.
    #[error(transparent)]
    Device(#[from] ripplet_lp::RunError),
    /// Several GPUs do not share this analysis.
    #[error("clustering coefficients run on one GPU")]
    SeveralGpus,
}

impl AnyExecutor {
    /// Returns the memory that clustering coefficients of a graph need; on the CPU with `threads`
    /// threads.
    pub fn plan_lcc(&self, graph: &Graph, lcc: Lcc, threads: usize) -> Plan {
        let on_gpu = match &self.0 {
            On::Cpu(_) => None,
            On::Gpus(gpus) => gpus.plan_lcc(graph, lcc),
        };
        on_gpu.unwrap_or_else(|| plan_on_cpu(graph, lcc.plan(graph, threads)))
    }

    /// Computes the clustering coefficients of a graph; also returns the seconds of a GPU outside
    /// the algorithm. The CPU uses rayon's current pool.
    ///
    /// # Errors
    /// If memory is refused, the observer cancels, the GPU fails, or there are several GPUs.
    pub fn run_lcc(
        &self,
        graph: &Graph,
        lcc: Lcc,
        observer: &mut dyn ripplet_analytics::Observer,
    ) -> Result<(Outcome, DeviceSeconds), LccError> {
        match &self.0 {
            On::Cpu(_) => Ok((lcc.run(graph, observer)?, DeviceSeconds::default())),
            On::Gpus(gpus) => gpus.run_lcc(graph, lcc, observer),
        }
    }
}
