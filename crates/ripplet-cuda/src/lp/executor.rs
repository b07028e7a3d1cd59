//! Executor of label propagation on one device.

use super::errors::{check, failed};
use super::fit;
use super::known::Known;
use super::layout::Layout;
use super::limits::Limits;
use super::rank::DeviceRank;
use super::rank_rounds::RankRounds;
use super::source::{Kernels, source};
use super::task::Task;
use super::tuning::Tuning;
use ripplet_gpu::Device;
use ripplet_graph::GraphView;
use ripplet_lp::engine::{Finisher, run_rounds};
use ripplet_lp::{Outcome, Plan, ProgramInfo, RoundObserver, RunError, Settings};
use std::time::Instant;

/// Executor of label propagation on one device.
#[derive(Debug)]
pub struct DeviceExecutor<D> {
    pub(super) device: D,
    pub(super) tuning: Tuning,
    limits: Limits,
}

impl<D: Device> DeviceExecutor<D> {
    /// Returns an executor on a device, with the default tuning and no limits.
    pub fn new(device: D) -> Self {
        DeviceExecutor { device, tuning: Tuning::default(), limits: Limits::default() }
    }

    /// Sets the tuning.
    #[must_use]
    pub fn with_tuning(self, tuning: Tuning) -> Self {
        DeviceExecutor { tuning, ..self }
    }

    /// Limits the bytes of the device's memory that a run may use.
    #[must_use]
    pub fn with_memory(mut self, limit: Option<u64>) -> Self {
        self.limits.device = limit;
        self
    }

    /// Limits the bytes of the host's memory that a run may use. If the graph is in a mapped file
    /// and does not fit the limit, its lists are read from the file when they are needed, which is
    /// slower. In other cases the limit has no effect.
    #[must_use]
    pub fn with_host_memory(mut self, limit: Option<u64>) -> Self {
        self.limits.host = limit;
        self
    }

    /// Returns the tuning.
    pub fn tuning(&self) -> Tuning {
        self.tuning
    }

    /// Returns the device.
    pub fn device(&self) -> &D {
        &self.device
    }

    fn layout(&self, graph: GraphView<'_>, program: &ProgramInfo, settings: &Settings) -> Layout {
        // An error of the device shows in the run itself.
        let room = self.room().unwrap_or(u64::MAX);
        let task = Task { graph, program, settings, tuning: self.tuning };
        let layout = fit::within(room, task);
        match layout.exceeds(self.limits.host, graph) {
            true => fit::within(room, task.staged()),
            false => layout,
        }
    }

    /// Returns the bytes of the device's memory that a run may use.
    pub(super) fn room(&self) -> Result<u64, RunError> {
        Ok(self.limits.room(self.device.free_memory().map_err(failed)?))
    }

    /// Refuses a run that does not fit the device's memory.
    ///
    /// # Errors
    /// [`RunError::DeviceMemory`] if it does not fit, or an error of the device when it is asked
    /// for its free memory.
    pub fn check_memory(&self, plan: &Plan) -> Result<(), RunError> {
        self.check_memory_beside(plan, 0)
    }

    /// Refuses a run that does not fit the device's memory if `kept` bytes are given back before
    /// it.
    pub(crate) fn check_memory_beside(&self, plan: &Plan, kept: u64) -> Result<(), RunError> {
        self.limits.check(&self.device, plan, kept)
    }

    /// Returns the limits of memory.
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }
}

impl<D: Device> DeviceExecutor<D> {
    /// Returns the plan of a run.
    pub(crate) fn plan_of(
        &self,
        graph: GraphView<'_>,
        program: &ProgramInfo,
        settings: &Settings,
    ) -> Plan {
        self.layout(graph, program, settings).plan
    }

    /// Runs a program, compiled once for both kinds of lists; the finisher ends the run, if it does.
    pub(crate) fn run_with(
        &self,
        graph: GraphView<'_>,
        program: &ProgramInfo,
        settings: &Settings,
        finisher: &dyn Finisher,
        observer: &mut dyn RoundObserver,
    ) -> Result<Outcome, RunError> {
        check(graph, program, settings)?;
        let layout = self.layout(graph, program, settings);
        let source = source(graph, program, settings, layout.compiled(Kernels::Work))?;
        self.check_memory(&layout.plan)?;
        observer.on_stage("compiling the kernels");
        let start = Instant::now();
        let module = self.device.load(&source).map_err(failed)?;
        let kernels = start.elapsed().as_secs_f64();
        observer.on_stage("moving the graph to the device");
        let task = Task { graph, program, settings, tuning: self.tuning };
        let planned = layout.plan.algorithm_host();
        let known = Known::of(task)?;
        let rank = DeviceRank::new(&self.device, &module, layout, task, &known)?;
        let rounds = RankRounds::alone(rank);
        let outcome = run_rounds(Box::new(rounds), graph, settings, Some(finisher), observer);
        let mut outcome = outcome.map_err(|error| error.planned(planned))?;
        outcome.device_seconds.kernels += kernels;
        Ok(outcome)
    }
}
