//! Fallback from a GPU to the CPU, with its reason.

use super::{AnyExecutor, Device, LccError};
use crate::swarm::SwarmError;
use ripplet_lp::RunError;
use ripplet_lp::cpu::ThreadError;
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

    /// Runs `work` on an executor of this choice. After an error for which there is a [fallback](Device::fallback), runs it
    /// again with that, on the CPU with `threads` threads, or one per core.
    ///
    /// # Errors
    /// The error of the work, or of the CPU's threads.
    ///
    /// # Examples
    /// ```
    /// use ripplet::Device;
    /// use ripplet::communities::CommunitiesError;
    /// use ripplet::lp::{Executor, Settings, programs::Lpa};
    /// # let ids = ripplet::graph::VertexIds::Consecutive { first: 0, count: 2 };
    /// # let edges = ripplet::graph::EdgeTable::new(ids, vec![0], vec![1])?;
    /// # let graph = ripplet::graph::GraphBuilder::new().build(edges)?;
    ///
    /// let device = Device::auto();
    /// let (executor, _) = device.open(None)?.start(Some(1))?;
    /// let found = device.run_on(&executor, Some(1), |executor, fallback| {
    ///     if let Some(fallback) = fallback {
    ///         eprintln!("{fallback}");
    ///     }
    ///     let found = executor.run(&graph, &Lpa::default(), &Settings::default(), &mut ());
    ///     found.map_err(CommunitiesError::from)
    /// })?;
    /// assert_eq!(found.labels, [0, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_on<T, E: DeviceFailure + From<ThreadError>>(
        &self,
        executor: &AnyExecutor,
        threads: Option<usize>,
        mut work: impl FnMut(&AnyExecutor, Option<&Fallback>) -> Result<T, E>,
    ) -> Result<T, E> {
        let error = match work(executor, None) {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let Some(fallback) = self.fallback(&error) else { return Err(error) };
        work(&AnyExecutor::cpu(threads)?, Some(&fallback))
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
