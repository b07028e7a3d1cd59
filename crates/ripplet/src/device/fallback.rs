//! Fallback from a GPU to the CPU, with its reason.

use super::{Device, LccError};
use crate::swarm::SwarmError;
use ripplet_lp::RunError;
use std::fmt;

/// The reason why the CPU computes although the choice allowed a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fallback {
    /// The reason, as the end of a sentence.
    pub reason: String,
    /// Whether this is the usual case: the host has no GPU, or no GPU has a kernel for the work.
    /// A user needs to know the reason only otherwise.
    pub is_usual: bool,
}

/// An error of a run that states whether the CPU could do what failed.
pub trait DeviceFailure: fmt::Display {
    /// Returns whether the cause is the device, and not the input or the settings.
    fn is_of_device(&self) -> bool;
}

impl Device {
    /// Returns the reason to run again on the CPU after an error: `None` if the choice is not
    /// `auto`, or if the CPU would fail, too.
    pub fn fallback(&self, error: &impl DeviceFailure) -> Option<Fallback> {
        let falls_back = self.is_auto() && error.is_of_device();
        falls_back.then(|| Fallback { reason: error.to_string(), is_usual: false })
    }
}

impl Fallback {
    /// Returns the fallback of work that no GPU does.
    pub fn no_kernel(reason: impl Into<String>) -> Fallback {
        Fallback { reason: reason.into(), is_usual: true }
    }
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "running on the CPU: {}", self.reason)
    }
}

impl DeviceFailure for RunError {
    fn is_of_device(&self) -> bool {
        matches!(
            self,
            RunError::Device(_)
                | RunError::DeviceMemory { .. }
                | RunError::NoDeviceSource { .. }
                | RunError::NoDeviceCounter { .. }
        )
    }
}

impl DeviceFailure for LccError {
    fn is_of_device(&self) -> bool {
        matches!(self, LccError::Device(error) if error.is_of_device())
    }
}

impl DeviceFailure for SwarmError {
    fn is_of_device(&self) -> bool {
        matches!(self, SwarmError::Device(error) if error.is_of_device())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_auto_falls_back_and_only_from_the_device() {
        let lost = RunError::Device("the GPU is lost".into());
        let fallback = Device::auto().fallback(&lost).unwrap();
        assert!(fallback.to_string().starts_with("running on the CPU: "));
        assert!(fallback.to_string().contains("the GPU is lost"));
        assert_eq!(Device::cuda(0).fallback(&lost), None);
        assert_eq!(Device::cpu().fallback(&lost), None);
        assert_eq!(Device::auto().fallback(&RunError::Cancelled), None);
        assert_eq!(Device::auto().fallback(&RunError::RanksDiffer { rank: 1 }), None);
        assert_eq!(Device::auto().fallback(&RunError::OutOfMemory { bytes: 8 }), None);
        assert!(Device::auto().fallback(&LccError::Device(lost.clone())).is_some());
        assert!(Device::auto().fallback(&SwarmError::Device(lost)).is_some());
    }
}
