//! Phases of a graph whose lists are all on the device: no transfers.

use super::super::device_run::DeviceRun;
use ripplet_gpu::{Device, DeviceError};

/// Launches the choices of a phase and their commit.
pub fn choose<D: Device>(run: &DeviceRun<'_, D>) -> Result<(), DeviceError> {
    let step = run.step();
    run.launches.compact(&step)?;
    run.launches.choose_all(&step)?;
    run.launches.commit(&step)
}

/// Launches the activation of the neighbours of changed vertices.
pub fn activate<D: Device>(run: &DeviceRun<'_, D>) -> Result<(), DeviceError> {
    run.launches.activate(&run.step())
}
