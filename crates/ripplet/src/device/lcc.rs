//! Clustering coefficients on the chosen device.

use super::executor::On;
use super::gpu_types::LccError;
use super::{AnyExecutor, plan_on_cpu};
use ripplet_analytics::lcc::{Coefficients, Lcc};
use ripplet_graph::GraphView;
use ripplet_lp::{DeviceSeconds, Plan};

impl AnyExecutor {
    /// Returns the memory that clustering coefficients of a graph need; on the CPU with `threads`
    /// threads.
    pub fn plan_lcc<'g>(&self, graph: impl Into<GraphView<'g>>, lcc: Lcc, threads: usize) -> Plan {
        let graph = graph.into();
        let on_gpu = match &self.0 {
            On::Cpu(_) | On::Rank(_) => None,
            On::Gpus(gpus) => graph.as_plain().and_then(|graph| gpus.plan_lcc(graph, lcc)),
        };
        on_gpu.unwrap_or_else(|| plan_on_cpu(graph, lcc.plan(graph, threads)))
    }

    /// Computes the clustering coefficients of a graph; also returns the seconds of a GPU outside
    /// the algorithm. The CPU uses rayon's current pool.
    ///
    /// # Errors
    /// If memory is refused, the observer cancels, the GPU fails, there are several GPUs, or the
    /// lists are compressed and the device is a GPU.
    pub fn run_lcc<'g>(
        &self,
        graph: impl Into<GraphView<'g>>,
        lcc: Lcc,
        observer: &mut dyn ripplet_graph::Observer,
    ) -> Result<(Coefficients, DeviceSeconds), LccError> {
        let graph = graph.into();
        match &self.0 {
            On::Cpu(_) | On::Rank(_) => Ok((lcc.run(graph, observer)?, DeviceSeconds::default())),
            On::Gpus(gpus) => {
                let graph = graph.as_plain().ok_or(LccError::Compressed)?;
                gpus.run_lcc(graph, lcc, observer)
            }
        }
    }
}
