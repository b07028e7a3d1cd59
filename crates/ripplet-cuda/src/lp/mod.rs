//! Label propagation on a device: exact, and the same bytes as on the CPU for every schedule but
//! `async`.

mod devices;
mod ferried;
mod layout;
mod profile;
mod ranks;
mod rounds;
mod source;
mod streamed;
mod tuning;

pub use crate::streamed::Supply;
pub use devices::DevicesExecutor;
pub use ranks::MOST_RANKS;
pub use source::{Kernels, Resident, source};
pub use tuning::{Counting, Tuning};

use crate::device::{Device, DeviceError};
use layout::Layout;
use ripplet_graph::GraphView;
use ripplet_lp::counter::Parts;
use ripplet_lp::engine::run_rounds;
use ripplet_lp::{
    Counter, DynProgram, Executor, Observer, Outcome, Plan, ProgramInfo, RunError, Settings, Sketch,
};
use rounds::{DeviceRounds, Task, Volumes};
use std::time::Instant;

/// Runs label propagation on a device.
#[derive(Debug)]
pub struct DeviceExecutor<D> {
    device: D,
    tuning: Tuning,
    /// Bytes of the device's memory that a run may have, where not all that is free.
    limit: Option<u64>,
    /// Bytes of the host's memory that it may have.
    host_limit: Option<u64>,
}

impl<D: Device> DeviceExecutor<D> {
    /// An executor on this device.
    pub fn new(device: D) -> Self {
        DeviceExecutor { device, tuning: Tuning::default(), limit: None, host_limit: None }
    }

    /// The same with another tuning.
    #[must_use]
    pub fn with_tuning(self, tuning: Tuning) -> Self {
        DeviceExecutor { tuning, ..self }
    }

    /// The same, with so many bytes of the device's memory at most.
    #[must_use]
    pub fn with_memory(self, limit: Option<u64>) -> Self {
        DeviceExecutor { limit, ..self }
    }

    /// The same, with so many bytes of the host's memory at most: a graph in a mapped file that has no room there is read from
    /// the file as it is needed, which is slower; otherwise it is not noticed.
    #[must_use]
    pub fn with_host_memory(self, host_limit: Option<u64>) -> Self {
        DeviceExecutor { host_limit, ..self }
    }

    /// The device.
    pub fn device(&self) -> &D {
        &self.device
    }

    fn layout(&self, graph: GraphView<'_>, program: &ProgramInfo, settings: &Settings) -> Layout {
        // Where the device does not tell, the run finds out what is wrong with it.
        let room = self.room(0).map_or(u64::MAX, |[room, _]| room);
        let task = Task { graph, program, settings, tuning: self.tuning };
        let layout = Layout::within(room, task);
        match layout.exceeds(self.host_limit, graph) {
            true => Layout::within(room, task.ferried()),
            false => layout,
        }
    }

    /// Bytes of the device's memory that a run may have, and that are free, where so many are given back before.
    fn room(&self, kept: u64) -> Result<[u64; 2], RunError> {
        let free = self.device.free_memory().map_err(failed)?.saturating_add(kept);
        Ok([self.limit.map_or(free, |limit| limit.min(free)), free])
    }

    /// Refuses a run that will not fit.
    ///
    /// # Errors
    /// [`RunError::DeviceMemory`], and where the device does not tell what is free.
    pub fn check_memory(&self, plan: &Plan) -> Result<(), RunError> {
        self.check_memory_beside(plan, 0)
    }

    /// The same, where so many bytes are given back before the run.
    pub(crate) fn check_memory_beside(&self, plan: &Plan, kept: u64) -> Result<(), RunError> {
        refuse_above(self.room(kept)?, &self.device.properties().name, plan)
    }
}

/// Refuses a plan that a device of this name has no room for: what it may have, and what is free.
fn refuse_above([room, free]: [u64; 2], device: &str, plan: &Plan) -> Result<(), RunError> {
    let needed = plan.total_device();
    if needed <= room {
        return Ok(());
    }
    Err(RunError::DeviceMemory {
        device: device.to_owned(),
        needed,
        graph: plan.graph_device,
        room,
        limited: room < free,
    })
}

impl<D: Device> Executor for DeviceExecutor<D> {
    fn plan_on(&self, graph: GraphView<'_>, program: &dyn DynProgram, settings: &Settings) -> Plan {
        self.layout(graph, &program.info(), settings).plan
    }

    fn run_on(
        &self,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, RunError> {
        self.run_on(graph, &program.info(), settings, observer)
    }
}

impl<D: Device> DeviceExecutor<D> {
    /// [`Executor::run`], compiled once for either kind of lists.
    fn run_on(
        &self,
        graph: GraphView<'_>,
        program: &ProgramInfo,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, RunError> {
        check(graph, program, settings)?;
        let layout = self.layout(graph, program, settings);
        let source = source(graph, program, settings, Kernels::Work, layout.resident())?;
        self.check_memory(&layout.plan)?;
        observer.on_stage("compiling the kernels");
        let start = Instant::now();
        let module = self.device.load(&source).map_err(failed)?;
        let kernels = start.elapsed().as_secs_f64();
        observer.on_stage("moving the graph to the device");
        let task = Task { graph, program, settings, tuning: self.tuning };
        let volumes = Volumes::of(task)?;
        let rounds = DeviceRounds::new(&self.device, &module, layout, task, &volumes)?;
        let mut outcome = run_rounds(Box::new(rounds), graph, settings, observer)?;
        outcome.device_seconds.kernels = kernels;
        Ok(outcome)
    }
}

/// Refuses settings that fit no device, or not this graph and program.
fn check(graph: GraphView<'_>, program: &ProgramInfo, settings: &Settings) -> Result<(), RunError> {
    settings.check(graph.vertices(), program)?;
    match settings.counter {
        counter @ Counter::Sketch(Sketch { parts: Parts::One, .. }) => {
            Err(RunError::NoDeviceCounter { counter: counter.to_string() })
        }
        Counter::Exact | Counter::Sketch(_) => Ok(()),
    }
}

pub(crate) fn failed(error: DeviceError) -> RunError {
    RunError::Device(error.to_string())
}
