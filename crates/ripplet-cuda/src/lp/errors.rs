//! Errors of runs on devices.

use ripplet_gpu::DeviceError;
use ripplet_graph::GraphView;
use ripplet_lp::counters::Parts;
use ripplet_lp::{Plan, ProgramInfo, RunError, Settings};

/// Converts an error of a device.
pub(crate) fn failed(error: DeviceError) -> RunError {
    RunError::Device(error.to_string())
}

/// Converts an error, with the device's name if the device itself failed.
pub(super) fn of_device(name: &str, error: DeviceError) -> RunError {
    match error {
        DeviceError::OutOfMemory { .. } | DeviceError::Failed { .. } => {
            RunError::Device(format!("{name}: {error}"))
        }
        error => failed(error),
    }
}

/// Adds a device's name to an error.
pub(super) fn named(name: &str, error: RunError) -> RunError {
    match error {
        RunError::Device(text) => RunError::Device(format!("{name}: {text}")),
        error => error,
    }
}

/// Refuses settings that no device supports, or that do not fit the graph and program.
pub(super) fn check(
    graph: GraphView<'_>,
    program: &ProgramInfo,
    settings: &Settings,
) -> Result<(), RunError> {
    settings.check(graph.vertices(), program)?;
    match settings.counter.sketch() {
        Some(sketch) if sketch.parts == Parts::One => {
            Err(RunError::NoDeviceCounter { counter: sketch.to_string() })
        }
        _ => Ok(()),
    }
}

/// Refuses a plan that needs more than `room` bytes of the memory of a device with this name;
/// `free` bytes are free.
pub(super) fn refuse_above(
    [room, free]: [u64; 2],
    device: &str,
    plan: &Plan,
) -> Result<(), RunError> {
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
