//! Runs on one device or several, from the rounds to the communities.

use crate::lp::{DeviceExecutor, DevicesExecutor, Tuning};
use crate::refine::DeviceRefinement;
use ripplet_gpu::{Device, Peer};
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

impl<D: Peer> Executor for DevicesExecutor<D> {
    /// Returns the plan of the device that needs most.
    fn plan_on(&self, graph: GraphView<'_>, program: &dyn DynProgram, settings: &Settings) -> Plan {
        let plans = self.plans(graph, program, settings);
        plans.into_iter().max_by_key(Plan::total_device).unwrap_or_default()
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
    /// Splits and merges on the device if the graph has enough arcs ([`Tuning::finish_from`]) and fits its memory.
    fn finish(
        &self,
        run: Finishing<'_>,
        observer: &mut dyn RoundObserver,
    ) -> Result<Option<Communities>, RunError> {
        finish_on(&DeviceRefinement::new(self), self.tuning(), run, observer)
    }
}

impl<D: Peer> Finisher for DevicesExecutor<D> {
    /// Splits and merges on the first device if the graph has enough arcs ([`Tuning::finish_from`]) and all of it fits its
    /// memory, in which nothing of the rounds is left.
    fn finish(
        &self,
        run: Finishing<'_>,
        observer: &mut dyn RoundObserver,
    ) -> Result<Option<Communities>, RunError> {
        let Some(device) = self.devices().first() else { return Ok(None) };
        let refinement = DeviceRefinement::within(device, self.limits());
        finish_on(&refinement, self.tuning(), run, observer)
    }
}

/// Splits and merges on a device, or leaves that to the host.
fn finish_on<D: Device>(
    refinement: &DeviceRefinement<'_, D>,
    tuning: Tuning,
    run: Finishing<'_>,
    observer: &mut dyn RoundObserver,
) -> Result<Option<Communities>, RunError> {
    if arcs_of(run.graph) < tuning.finish_from {
        return Ok(None);
    }
    match refinement.finish(run, observer) {
        Err(RunError::DeviceMemory { .. }) => Ok(None),
        finished => finished.map(Some),
    }
}
