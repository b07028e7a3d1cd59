//! Workers on the GPUs of a choice, for analyses of one graph or of each graph of a batch.

pub use super::gpu::GpuWorker;

use super::{Device, Fallback, OpenError};
use crate::swarm::{Analysis, NotOnDevice};
use thiserror::Error;

/// Error of opening workers.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum OpenWorkersError {
    /// No GPU has a kernel for the analysis, and the choice is a GPU.
    #[error(transparent)]
    NotOnDevice(#[from] NotOnDevice),
    /// A GPU cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// The workers of a choice: none for the CPU, with the reason if the choice allowed a GPU.
pub type Workers = Result<Vec<GpuWorker>, Fallback>;

impl Device {
    /// Opens workers on the GPUs of the choice, `times` per GPU, which share the GPU's memory limit
    /// of `memory` bytes. Two workers keep a GPU busy: one copies while the other computes.
    ///
    /// Returns no worker for the CPU, and the reason if the choice allowed a GPU.
    ///
    /// # Errors
    /// If a GPU is chosen and no GPU has a kernel for the analysis, and as [`Device::open`].
    pub fn open_workers(
        &self,
        analysis: Analysis,
        times: usize,
        memory: Option<u64>,
    ) -> Result<Workers, OpenWorkersError> {
        let analysis = match analysis.on_device() {
            Ok(analysis) => analysis,
            Err(why) => {
                return Ok(self.without_kernel(why, memory)?.map_or_else(|| Ok(Vec::new()), Err));
            }
        };
        let share = memory.map(|memory| memory / times.max(1) as u64);
        let mut workers = Vec::new();
        for &number in self.numbers() {
            for _ in 0..times {
                match GpuWorker::open(number, share, analysis) {
                    Ok(worker) => workers.push(worker),
                    Err(error) => return Ok(Err(self.fall_back(error, memory)?)),
                }
            }
        }
        Ok(Ok(workers))
    }

    /// Returns the reason for the CPU of work that no GPU has a kernel for, if the choice allowed a GPU.
    ///
    /// # Errors
    /// If a GPU is chosen, or `memory` limits one.
    pub(crate) fn without_kernel(
        &self,
        why: NotOnDevice,
        memory: Option<u64>,
    ) -> Result<Option<Fallback>, OpenWorkersError> {
        match (self.is_cpu(), self.is_auto(), memory) {
            (true, _, _) => Ok(None),
            (_, true, None) => Ok(Some(Fallback::no_kernel(why.to_string()))),
            (_, true, Some(_)) => Err(OpenError::LimitWithoutGpu(why.to_string()).into()),
            _ => Err(why.into()),
        }
    }
}
