//! Copies between the host and the device at the speed of the link, through page-locked buffers.
//!
//! The device reads page-locked memory faster than any other memory of the host. Bytes go through
//! two such buffers: while the device works on one, all threads of rayon's current pool copy to or
//! from the other. A single thread would be slower than the link, more so when it touches a mapped
//! file for the first time.

use super::context::{Context, CudaEvent, Pinned};
use crate::error::DeviceError;
use cudarc::driver::sys::CUdeviceptr;
use rayon::prelude::*;
use std::sync::Arc;

/// Bytes of a buffer for small copies, reserved when a device is opened.
const SMALL: usize = 64 << 10;

/// Bytes of a buffer for large copies: a few hundred microseconds of the link, which is long
/// compared with the launch of a copy.
const LARGE: usize = 16 << 20;

/// Bytes that one thread copies at a time: longer than it takes to hand the task over.
const PIECE: usize = 1 << 20;

/// Two buffers that are used in turn.
pub struct Staging {
    context: Arc<Context>,
    buffers: [Buffer; 2],
}

struct Buffer {
    memory: Pinned,
    /// Event after which the device does not use the buffer.
    free: CudaEvent,
}

impl Buffer {
    fn new(context: &Arc<Context>, bytes: usize) -> Result<Buffer, DeviceError> {
        Ok(Buffer { memory: Pinned::reserve(context, bytes)?, free: CudaEvent::new(context)? })
    }
}

impl Staging {
    pub fn new(context: &Arc<Context>) -> Result<Staging, DeviceError> {
        let buffers = [Buffer::new(context, SMALL)?, Buffer::new(context, SMALL)?];
        Ok(Staging { context: Arc::clone(context), buffers })
    }

    /// Copies to the device. The caller may change the bytes when this returns; the copy is
    /// complete when all work launched before is done.
    ///
    /// # Safety
    /// The address begins as many bytes of the context's memory, which is kept.
    pub unsafe fn write(&mut self, to: CUdeviceptr, bytes: &[u8]) -> Result<(), DeviceError> {
        self.fit(bytes.len())?;
        let Context { driver, .. } = *self.context;
        let mut to = to;
        let mut turn = 0;
        for part in bytes.chunks(self.buffers[0].memory.len()) {
            let Buffer { memory, free } = &mut self.buffers[turn];
            free.wait("copying to its memory")?;
            // SAFETY: the device does not use the buffer.
            copy(part, &mut unsafe { memory.bytes() }[..part.len()]);
            // SAFETY: both ranges are as long as the part, and kept; the buffer is not written to
            // before the event.
            let code = unsafe {
                let from = memory.start().cast_const();
                (driver.cuMemcpyHtoDAsync_v2)(to, from, part.len(), self.context.stream())
            };
            driver.check(code, "copying to its memory")?;
            free.record()?;
            to += part.len() as u64;
            turn = 1 - turn;
        }
        Ok(())
    }

    /// Copies from the device, after all work launched before.
    ///
    /// # Safety
    /// The address begins as many bytes of the context's memory.
    pub unsafe fn read(&mut self, from: CUdeviceptr, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.fit(bytes.len())?;
        let length = self.buffers[0].memory.len();
        let lengths: Vec<usize> = bytes.chunks(length).map(<[u8]>::len).collect();
        let mut from = from;
        let mut fetch = |buffer: &Buffer, length: Option<&usize>, context: &Context| {
            let Some(&length) = length else { return Ok(()) };
            let driver = context.driver;
            // SAFETY: both ranges are as long as the part, and kept; the buffer is not read before
            // the event.
            let code = unsafe {
                let to = buffer.memory.start();
                (driver.cuMemcpyDtoHAsync_v2)(to, from, length, context.stream())
            };
            driver.check(code, "copying from its memory")?;
            from += length as u64;
            buffer.free.record()
        };
        fetch(&self.buffers[0], lengths.first(), &self.context)?;
        for (index, part) in bytes.chunks_mut(length).enumerate() {
            let turn = index % 2;
            fetch(&self.buffers[1 - turn], lengths.get(index + 1), &self.context)?;
            let Buffer { memory, free } = &mut self.buffers[turn];
            free.wait("waiting for what was launched")?;
            // SAFETY: the device does not use the buffer.
            copy(&unsafe { memory.bytes() }[..part.len()], part);
        }
        Ok(())
    }

    /// Makes the context current, and the buffers large enough for `bytes` bytes.
    fn fit(&mut self, bytes: usize) -> Result<(), DeviceError> {
        self.context.enter()?;
        if bytes > SMALL && self.buffers[0].memory.len() < LARGE {
            let large = [Buffer::new(&self.context, LARGE)?, Buffer::new(&self.context, LARGE)?];
            self.settle()?;
            self.buffers = large;
        }
        Ok(())
    }

    /// Waits until the device uses neither buffer.
    fn settle(&self) -> Result<(), DeviceError> {
        self.buffers.iter().try_for_each(|buffer| buffer.free.wait("copying to its memory"))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // A lost device uses no buffer, so the error is ignored.
        let _ = self.context.enter().and_then(|()| self.settle());
    }
}

/// Copies with all threads of rayon's current pool.
fn copy(from: &[u8], to: &mut [u8]) {
    if from.len() <= PIECE {
        to.copy_from_slice(from);
    } else {
        let pieces = to.par_chunks_mut(PIECE).zip(from.par_chunks(PIECE));
        pieces.for_each(|(to, from)| to.copy_from_slice(from));
    }
}
