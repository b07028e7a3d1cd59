//! GPUs that share a run: peer access, copies, and NCCL.

use super::device::CudaDevice;
use super::nccl::Nccl;
use crate::device::{Address, Peer, Transfer};
use crate::error::DeviceError;
use std::ffi::c_int;

/// Queries of a waiting thread in a loop, before it yields its core between queries.
const SPINS: u32 = 1 << 10;

impl Peer for CudaDevice {
    type Communicator = Nccl;

    fn enable_peer_access(&self, other: &CudaDevice) -> Result<bool, DeviceError> {
        self.context.enable_peer_access(&other.context)
    }

    unsafe fn copy_from_peer(
        &self,
        to: Address,
        other: &CudaDevice,
        from: Address,
        bytes: u64,
    ) -> Result<(), DeviceError> {
        // SAFETY: the caller's promise. Both ranges are in memory, so `bytes` fits a `usize`.
        unsafe { self.context.copy_from_peer(to.0, &other.context, from.0, bytes as usize) }
    }

    fn communicator(devices: &[CudaDevice]) -> Result<Nccl, String> {
        let numbers: Vec<c_int> = devices.iter().map(|device| device.context.device()).collect();
        Nccl::start(&numbers)
    }

    unsafe fn send_and_receive(
        &self,
        communicator: &Nccl,
        rank: usize,
        sent: &[Transfer],
        received: &[Transfer],
    ) -> Result<(), DeviceError> {
        self.context.enter()?;
        // SAFETY: the caller's promise; the stream is of this rank's device, whose context is
        // current.
        unsafe { communicator.send_and_receive(rank, sent, received, self.context.stream()) }
    }

    fn wait_unless(&self, is_over: &dyn Fn() -> bool) -> Result<bool, DeviceError> {
        let mut spins = 0;
        while !self.context.is_idle("waiting for what was launched")? {
            if is_over() {
                return Ok(false);
            }
            spins += 1;
            if spins < SPINS {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
        Ok(true)
    }
}
