//! One device's part of a run, as the engine and the residency of lists use it.

use super::arguments::{Arguments, Part, StepArgument};
use super::launch::Launches;
use super::layout::Layout;
use super::run_memory::RunMemory;
use super::state::Tallies;
use ripplet_gpu::{Device, DeviceError};
use ripplet_graph::VertexId;
use ripplet_lp::Activation;
use std::ops::Range;

/// One device's part of a run: memory, launches and arguments.
pub(super) struct DeviceRun<'a, D: Device> {
    pub memory: RunMemory<'a, D>,
    pub layout: Layout,
    pub launches: Launches<'a, D>,
    pub arguments: Arguments,
    /// Which vertices a change activates.
    pub activation: Activation,
    /// The counters at the end of the last round.
    pub seen: Tallies,
}

impl<'a, D: Device> DeviceRun<'a, D> {
    /// Returns the device.
    pub fn device(&self) -> &'a D {
        self.memory.device
    }

    /// Returns the device's own vertices.
    pub fn own(&self) -> Range<VertexId> {
        self.layout.share.vertices()
    }

    /// Returns the kernel argument for all own vertices in the current phase.
    pub fn step(&self) -> StepArgument {
        self.arguments.step(Part::of(self.own()))
    }

    /// Returns the counters, after all launched work.
    pub fn tallies(&self) -> Result<Tallies, DeviceError> {
        self.memory.value(&self.layout.tallies)
    }
}
