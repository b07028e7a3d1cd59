//! Runs on one device, from the rounds to the communities.

use crate::lp::DeviceExecutor;
use crate::refine::DeviceRefinement;
use ripplet_gpu::Device;
use ripplet_graph::GraphView;
use ripplet_lp::engine::{Communities, Finisher, Finishing};
use ripplet_lp::refine::arcs_of;
use ripplet_lp::{DynProgram, Executor, Outcome, Plan, RoundObserver, RunError, Settings};

impl<D: Device> Executor for DeviceExecutor<D> {
    fn plan_on(&self, graph: GraphView<'_>, program: &dyn DynProgram, settings: &Settings) -> Plan {
        self.plan_of(graph, &program.info(), settings)
    }

    fn run_on(
        &self,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
        observer: &mut dyn RoundObserver,
    ) -> Result<Outcome, RunError> {
        self.run_with(graph, &program.info(), settings, self, observer)
    }
}

impl<D: Device> Finisher for DeviceExecutor<D> {
    /// Splits and merges on the device if the graph has enough arcs ([`Tuning::finish_from`]) and fits
    /// its memory.
    ///
    /// [`Tuning::finish_from`]: crate::lp::Tuning::finish_from
    fn finish(
        &self,
        run: Finishing<'_>,
        observer: &mut dyn RoundObserver,
    ) -> Result<Option<Communities>, RunError> {
        if arcs_of(run.graph) < self.tuning().finish_from {
            return Ok(None);
        }
        match DeviceRefinement::new(self).finish(run, observer) {
            Err(RunError::DeviceMemory { .. }) => Ok(None),
            finished => finished.map(Some),
        }
    }
}
