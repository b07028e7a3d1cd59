//! Refinement on the chosen device.

use super::executor::On;
use super::{AnyExecutor, DeviceFailure};
use ripplet_graph::GraphView;
use ripplet_lp::refine::{self, RefineError, RefineOptions, Refined, checkpoint_bytes};
use ripplet_lp::{DeviceSeconds, Plan, RoundObserver};

impl AnyExecutor {
    /// Returns the memory that a refinement of a graph needs; on the CPU with `threads` threads.
    pub fn plan_refinement<'g>(
        &self,
        graph: impl Into<GraphView<'g>>,
        options: &RefineOptions,
        threads: usize,
    ) -> Plan {
        let graph = graph.into();
        match &self.0 {
            On::Cpu(_) | On::Rank(_) => refine::plan(graph, options, threads),
            On::Gpus(gpus) => gpus.plan_refinement(graph, options, threads),
        }
    }

    /// Adds to the plan of a refinement what checkpoints take: the state, and of a GPU its copy.
    pub fn add_checkpoints_of_refinement<'g>(
        &self,
        plan: Plan,
        graph: impl Into<GraphView<'g>>,
    ) -> Plan {
        let bytes = checkpoint_bytes(graph.into().vertices().into(), !self.is_cpu());
        plan.with("a checkpoint", bytes)
    }

    /// Refines communities; also returns the seconds of a GPU outside the algorithm. On the CPU, and
    /// for small contracted graphs, it uses rayon's current pool.
    ///
    /// # Errors
    /// See [`RefineError`]; also if the GPU fails, or if there are several, which do not share a
    /// refinement.
    pub fn run_refinement<'g>(
        &self,
        graph: impl Into<GraphView<'g>>,
        options: &RefineOptions,
        observer: &mut dyn RoundObserver,
    ) -> Result<(Refined, DeviceSeconds), RefineError> {
        match &self.0 {
            On::Cpu(_) | On::Rank(_) => {
                let refined = refine::refine(graph, options, observer)?;
                Ok((refined, DeviceSeconds::default()))
            }
            On::Gpus(gpus) => gpus.run_refinement(graph.into(), options, observer),
        }
    }
}

impl DeviceFailure for RefineError {
    fn is_of_device(&self) -> bool {
        match self {
            RefineError::Run(error) => error.is_of_device(),
            _ => false,
        }
    }
}
