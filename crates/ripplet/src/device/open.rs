//! Opening of a device, before the graph is read.

use super::executor::On;
use super::gpu::{Gpus, RankGpu, USUAL_REASON};
use super::gpu_types::Unopened;
use super::{AnyExecutor, Device, Fallback};
use crate::Storage;
use ripplet_lp::cpu::ThreadError;
use thiserror::Error;

/// Why the CPU analyses compressed lists.
const PLAIN_LISTS: &str = "a GPU reads plain lists for this";

/// Error of opening a device.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum OpenError {
    /// A GPU does not exist or does not work.
    #[error("{0}")]
    Gpu(String),
    /// The work runs on one GPU, but the choice lists several.
    #[error("the device is several GPUs, and this runs on one")]
    SeveralGpus,
    /// The work reads plain lists on a GPU, and the graph's are compressed.
    #[error("a GPU reads plain lists for this, but those of the graph are compressed")]
    CompressedLists,
    /// The device memory is limited, but no GPU can be used.
    #[error("a limit of device memory is for a GPU, but no GPU can be used: {0}")]
    LimitWithoutGpu(String),
}

/// A device that was checked before the graph is read.
pub enum Opened {
    /// The CPU; its threads start later, as their stacks take memory that reading may need.
    Cpu {
        /// The reason, if the choice allowed a GPU.
        fallback: Option<Fallback>,
    },
    /// The GPUs, ready to run.
    Gpu(AnyExecutor),
}

impl Device {
    /// Opens the device; each GPU may use at most `memory` bytes of its memory in a run.
    ///
    /// # Errors
    /// If a GPU cannot be opened and the choice is not `auto`, or if no GPU is opened although
    /// `memory` is given.
    pub fn open(&self, memory: Option<u64>) -> Result<Opened, OpenError> {
        let numbers = self.numbers();
        if numbers.is_empty() {
            return match memory {
                None => Ok(Opened::Cpu { fallback: None }),
                Some(_) => Err(OpenError::LimitWithoutGpu("the device is the CPU".into())),
            };
        }
        match Gpus::open(numbers, memory) {
            Ok(gpus) => Ok(Opened::Gpu(AnyExecutor::of_gpus(gpus))),
            Err(error) => {
                self.fall_back(error, memory).map(|why| Opened::Cpu { fallback: Some(why) })
            }
        }
    }

    /// Opens the device for work that runs on one GPU: as [`Device::open`], except that several
    /// GPUs are refused.
    ///
    /// # Errors
    /// If the choice lists several GPUs, and as [`Device::open`].
    pub fn open_one(&self, memory: Option<u64>) -> Result<Opened, OpenError> {
        match self.numbers() {
            [] | [_] => self.open(memory),
            _ => Err(OpenError::SeveralGpus),
        }
    }

    /// Returns the choice for an analysis of lists of this storage, which GPUs read plain: of compressed lists, `auto`
    /// is the CPU, which reads them as they are, and a fallback says so. Label propagation reads both on a GPU.
    ///
    /// # Errors
    /// If the lists are compressed, and the choice is a GPU or `memory` limits one.
    pub fn for_lists(
        &self,
        storage: Storage,
        memory: Option<u64>,
    ) -> Result<(Device, Option<Fallback>), OpenError> {
        if storage == Storage::Plain || self.is_cpu() {
            return Ok((self.clone(), None));
        }
        match self.is_auto() && memory.is_none() {
            true => Ok((Device::cpu(), Some(Fallback::no_kernel(PLAIN_LISTS)))),
            false => Err(OpenError::CompressedLists),
        }
    }

    /// Returns the fallback after an error of opening, if the choice allows the CPU.
    pub(super) fn fall_back(
        &self,
        error: Unopened,
        memory: Option<u64>,
    ) -> Result<Fallback, OpenError> {
        let Unopened { error, is_usual } = error;
        if !self.is_auto() {
            return Err(OpenError::Gpu(error));
        }
        let reason = if is_usual { USUAL_REASON.into() } else { error };
        match memory {
            None => Ok(Fallback { reason, is_usual }),
            Some(_) => Err(OpenError::LimitWithoutGpu(reason)),
        }
    }
}

impl AnyExecutor {
    /// Has GPUs update the vertices of a rank, one each: the ranks of a host take those of the choice in turn, and each may use at
    /// most `memory` bytes of its GPU in a run. An executor that is no rank's ignores it, as `auto` and the CPU are the cores.
    ///
    /// # Errors
    /// If the GPU cannot be opened, or `memory` is given and the choice names no GPU.
    pub fn with_rank_gpu(
        self,
        device: &Device,
        memory: Option<u64>,
        rank_on_host: usize,
    ) -> Result<AnyExecutor, OpenError> {
        let On::Rank(rank) = self.0 else { return Ok(self) };
        let numbers = if device.is_auto() { &[] } else { device.numbers() };
        let Some(&number) = numbers.get(rank_on_host % numbers.len().max(1)) else {
            return match memory {
                None => Ok(AnyExecutor(On::Rank(rank))),
                Some(_) => Err(OpenError::LimitWithoutGpu("the device is the CPU".into())),
            };
        };
        let gpu = RankGpu::open(number, memory).map_err(|found| OpenError::Gpu(found.error))?;
        Ok(AnyExecutor(On::Rank(rank.on_gpu(gpu))))
    }
}

impl Opened {
    /// Returns the reason why it is the CPU, if the choice allowed a GPU.
    pub fn fallback(&self) -> Option<&Fallback> {
        match self {
            Opened::Cpu { fallback } => fallback.as_ref(),
            Opened::Gpu(_) => None,
        }
    }

    /// Returns whether it is the CPU.
    pub fn is_cpu(&self) -> bool {
        matches!(self, Opened::Cpu { .. })
    }

    /// Returns the executor, and the reason of a fallback. The CPU gets `threads` threads, or one
    /// per core.
    ///
    /// # Errors
    /// If the system refuses the threads.
    pub fn start(
        self,
        threads: Option<usize>,
    ) -> Result<(AnyExecutor, Option<Fallback>), ThreadError> {
        match self {
            Opened::Gpu(executor) => Ok((executor, None)),
            Opened::Cpu { fallback } => Ok((AnyExecutor::cpu(threads)?, fallback)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_takes_no_limit_of_device_memory() {
        assert!(Device::cpu().open(None).unwrap().fallback().is_none());
        assert!(matches!(Device::cpu().open(Some(1)), Err(OpenError::LimitWithoutGpu(_))));
        let several = Device::gpus([0, 1]).unwrap();
        assert!(matches!(several.open_one(None), Err(OpenError::SeveralGpus)));
    }

    #[test]
    fn compressed_lists_are_for_the_cpu() {
        let (auto, gpu) = (Device::auto(), Device::cuda(0));
        assert_eq!(auto.for_lists(Storage::Plain, Some(1)), Ok((Device::auto(), None)));
        let (chosen, fallback) = auto.for_lists(Storage::Compressed, None).unwrap();
        assert_eq!(chosen, Device::cpu());
        assert!(fallback.unwrap().is_usual);
        let refused = Err(OpenError::CompressedLists);
        assert_eq!(auto.for_lists(Storage::Compressed, Some(1)), refused);
        assert_eq!(gpu.for_lists(Storage::Compressed, None), refused);
        assert_eq!(gpu.for_lists(Storage::Plain, None), Ok((Device::cuda(0), None)));
        let cpu = Device::cpu().for_lists(Storage::Compressed, None);
        assert_eq!(cpu, Ok((Device::cpu(), None)));
    }

    #[test]
    fn only_auto_falls_back() {
        let unopened = || Unopened { error: "no driver: no library".into(), is_usual: true };
        let fallback = Device::auto().fall_back(unopened(), None).unwrap();
        assert!(fallback.is_usual);
        assert_eq!(fallback.reason, USUAL_REASON);
        let refused = Device::cuda(0).fall_back(unopened(), None);
        assert_eq!(refused, Err(OpenError::Gpu("no driver: no library".into())));
        let refused = Device::auto().fall_back(unopened(), Some(1));
        assert_eq!(refused, Err(OpenError::LimitWithoutGpu(USUAL_REASON.into())));
    }
}
