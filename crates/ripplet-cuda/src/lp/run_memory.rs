//! The memory of a run on one device: one allocation, addressed by the ranges of the layout.

use super::errors::failed;
use bytemuck::{Pod, Zeroable};
use ripplet_gpu::{Address, Device, DeviceError};
use ripplet_graph::memory;
use ripplet_lp::RunError;
use std::ops::Range;

/// The memory of a run on one device.
pub(super) struct RunMemory<'a, D: Device> {
    pub device: &'a D,
    pub memory: D::Memory,
}

impl<'a, D: Device> RunMemory<'a, D> {
    /// Reserves the memory. Its contents are undefined.
    pub fn reserve(device: &'a D, bytes: u64) -> Result<Self, DeviceError> {
        Ok(RunMemory { device, memory: device.reserve(bytes)? })
    }

    /// Returns the address at which the memory begins.
    pub fn base(&self) -> Address {
        self.device.address(&self.memory)
    }

    /// Copies bytes into a range, `at` bytes from its beginning.
    pub fn write(&self, place: &Range<u64>, at: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.device.write(&self.memory, place.start + at, bytes)
    }

    /// Sets all bytes of a range.
    pub fn fill(&self, place: &Range<u64>, value: u8) -> Result<(), DeviceError> {
        self.device.fill(&self.memory, place.start, place.end - place.start, value)
    }

    /// Copies bytes from `at` on, after all work launched before.
    pub fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.device.read(&self.memory, at, bytes)
    }

    /// Returns the value at the beginning of a range, after all work launched before.
    pub fn value<T: Pod>(&self, place: &Range<u64>) -> Result<T, DeviceError> {
        let mut value = T::zeroed();
        self.read(place.start, bytemuck::bytes_of_mut(&mut value))?;
        Ok(value)
    }

    /// Returns the values of a range; `refused` makes the error if the host has no memory for
    /// them.
    pub fn download<T: Pod>(
        &self,
        place: &Range<u64>,
        refused: impl Fn(memory::OutOfMemory) -> RunError,
    ) -> Result<Vec<T>, RunError> {
        let count = ((place.end - place.start) / size_of::<T>() as u64) as usize;
        let mut values = memory::with_room(count).map_err(refused)?;
        values.resize(count, Zeroable::zeroed());
        self.read(place.start, bytemuck::cast_slice_mut(&mut values)).map_err(failed)?;
        Ok(values)
    }
}
