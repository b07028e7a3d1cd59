//! Limits of the memory that a run may use.

use super::errors::{failed, refuse_above};
use ripplet_gpu::Device;
use ripplet_lp::{Plan, RunError};

/// Limits of the memory that a run may use; none by default.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    /// Bytes of each device's memory; `None` for all that is free.
    pub device: Option<u64>,
    /// Bytes of the host's memory.
    pub host: Option<u64>,
}

impl Limits {
    /// Returns the bytes of a device's memory that a run may use if `free` bytes are free.
    pub fn room(self, free: u64) -> u64 {
        self.device.map_or(free, |limit| limit.min(free))
    }

    /// Refuses a run that does not fit a device's memory if `kept` bytes are given back before it.
    ///
    /// # Errors
    /// [`RunError::DeviceMemory`] if it does not fit, or an error of the device when it is asked for its free memory.
    pub fn check<D: Device>(self, device: &D, plan: &Plan, kept: u64) -> Result<(), RunError> {
        let free = device.free_memory().map_err(failed)?.saturating_add(kept);
        refuse_above([self.room(free), free], &device.properties().name, plan)
    }
}
