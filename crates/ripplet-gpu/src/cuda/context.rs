//! A process's resources on a GPU: its context, streams and events.

use super::driver::{Driver, NOT_READY, OUT_OF_MEMORY, PEERS_ALREADY, SUCCESS, TOO_MANY_PEERS};
use crate::error::DeviceError;
use cudarc::driver::sys::{
    CUcontext, CUdevice, CUdeviceptr, CUevent, CUevent_flags, CUmodule, CUstream, CUstream_flags,
};
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// The primary context of a GPU, and its default stream. All work is done in the order of this
/// stream, except concurrent launches and the second stream.
///
/// Objects of the context keep it alive. Errors when an object is freed are ignored: they mean that
/// the context is lost, and everything in it.
pub struct Context {
    pub driver: &'static Driver,
    device: CUdevice,
    handle: CUcontext,
    stream: CUstream,
}

// SAFETY: the driver's functions may be called from any thread with handles of another one, once
// the context is current in the thread; `enter` sees to that.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// Opens the primary context of a device.
    pub fn open(driver: &'static Driver, device: CUdevice) -> Result<Context, DeviceError> {
        let mut handle = ptr::null_mut();
        // SAFETY: the device is one of the driver's, which writes the handle.
        let code = unsafe { (driver.cuDevicePrimaryCtxRetain)(&raw mut handle, device) };
        driver.check(code, "opening it")?;
        let mut context = Context { driver, device, handle, stream: ptr::null_mut() };
        context.stream = context.new_stream()?;
        Ok(context)
    }

    fn new_stream(&self) -> Result<CUstream, DeviceError> {
        self.enter()?;
        let (mut stream, flags) = (ptr::null_mut(), CUstream_flags::CU_STREAM_NON_BLOCKING as u32);
        // SAFETY: the context is current; the driver writes the handle.
        let code = unsafe { (self.driver.cuStreamCreate)(&raw mut stream, flags) };
        self.driver.check(code, "making a stream")?;
        Ok(stream)
    }

    /// Makes the context current in this thread.
    pub fn enter(&self) -> Result<(), DeviceError> {
        // SAFETY: the handle is kept until the context is dropped.
        self.driver.check(unsafe { (self.driver.cuCtxSetCurrent)(self.handle) }, "turning to it")
    }

    /// Returns the default stream.
    pub fn stream(&self) -> CUstream {
        self.stream
    }

    /// Waits until all work in the default stream is done.
    pub fn wait(&self, what: &str) -> Result<(), DeviceError> {
        self.enter()?;
        // SAFETY: the stream is this context's.
        self.driver.check(unsafe { (self.driver.cuStreamSynchronize)(self.stream) }, what)
    }

    /// Returns whether all work in the default stream is done.
    pub fn is_idle(&self, what: &str) -> Result<bool, DeviceError> {
        self.enter()?;
        // SAFETY: the stream is this context's.
        match unsafe { (self.driver.cuStreamQuery)(self.stream) } {
            NOT_READY => Ok(false),
            code => self.driver.check(code, what).map(|()| true),
        }
    }

    /// Returns the number of the context's GPU, as the driver counts.
    pub fn device(&self) -> CUdevice {
        self.device
    }

    /// Enables access from this context's kernels to another context's memory; returns whether that
    /// works.
    pub fn enable_peer_access(&self, other: &Context) -> Result<bool, DeviceError> {
        if self.device == other.device {
            return Ok(true);
        }
        let (driver, mut can) = (self.driver, 0);
        // SAFETY: both are the driver's devices; it writes one number.
        let code =
            unsafe { (driver.cuDeviceCanAccessPeer)(&raw mut can, self.device, other.device) };
        driver.check(code, "asking which GPUs' memory it reaches")?;
        if can == 0 {
            return Ok(false);
        }
        self.enter()?;
        // SAFETY: the other context is kept by its owner; there are no flags.
        match unsafe { (driver.cuCtxEnablePeerAccess)(other.handle, 0) } {
            SUCCESS | PEERS_ALREADY => Ok(true),
            TOO_MANY_PEERS => Ok(false),
            code => Err(driver.failed(code, "reaching another GPU's memory")),
        }
    }

    /// Copies from another context's memory, in the order of the default stream.
    ///
    /// # Safety
    /// Both addresses begin at least `bytes` bytes of their context's memory, kept until the copy
    /// is done.
    pub unsafe fn copy_from_peer(
        &self,
        to: CUdeviceptr,
        other: &Context,
        from: CUdeviceptr,
        bytes: usize,
    ) -> Result<(), DeviceError> {
        self.enter()?;
        let driver = self.driver;
        // SAFETY: the caller's promise; the stream is this context's.
        let code = unsafe {
            (driver.cuMemcpyPeerAsync)(to, self.handle, from, other.handle, bytes, self.stream)
        };
        driver.check(code, "copying from another GPU's memory")
    }

    /// Returns the bytes of free memory.
    pub fn free_memory(&self) -> Result<u64, DeviceError> {
        self.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: the context is current; the driver writes two numbers.
        let code = unsafe { (self.driver.cuMemGetInfo_v2)(&raw mut free, &raw mut total) };
        self.driver.check(code, "asking how much memory is free")?;
        Ok(free as u64)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if !self.stream.is_null() && self.enter().is_ok() {
            // SAFETY: created in this context, which is current, and destroyed once.
            unsafe { (self.driver.cuStreamDestroy_v2)(self.stream) };
        }
        // SAFETY: retained once.
        unsafe { (self.driver.cuDevicePrimaryCtxRelease_v2)(self.device) };
    }
}

/// Memory of the device, freed when dropped.
pub struct Memory {
    context: Arc<Context>,
    pub address: CUdeviceptr,
    pub bytes: u64,
}

impl Memory {
    pub fn reserve(context: &Arc<Context>, bytes: u64) -> Result<Memory, DeviceError> {
        context.enter()?;
        let driver = context.driver;
        let mut address = 0;
        // The driver refuses to reserve 0 bytes.
        let code = match usize::try_from(bytes.max(1)) {
            // SAFETY: the context is current; the driver writes the address.
            Ok(bytes) => unsafe { (driver.cuMemAlloc_v2)(&raw mut address, bytes) },
            Err(_) => OUT_OF_MEMORY,
        };
        match code {
            SUCCESS => Ok(Memory { context: Arc::clone(context), address, bytes }),
            OUT_OF_MEMORY => {
                let free = context.free_memory()?;
                Err(DeviceError::OutOfMemory { bytes, free })
            }
            code => Err(driver.failed(code, &format!("reserving {bytes} bytes"))),
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: reserved in this context, and freed once. The driver waits for running work
            // before it frees memory.
            unsafe { (self.context.driver.cuMemFree_v2)(self.address) };
        }
    }
}

/// Page-locked memory of the host, which the device reads and writes by direct memory access.
pub struct Pinned {
    context: Arc<Context>,
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: plain memory with one owner.
unsafe impl Send for Pinned {}

impl Pinned {
    pub fn reserve(context: &Arc<Context>, bytes: usize) -> Result<Pinned, DeviceError> {
        context.enter()?;
        let (driver, what) = (context.driver, "reserving page-locked memory of the host");
        let mut start = ptr::null_mut();
        // SAFETY: the context is current; the driver writes the address. The memory is zeroed.
        let code = unsafe { (driver.cuMemHostAlloc)(&raw mut start, bytes, 0) };
        driver.check(code, what)?;
        match NonNull::new(start.cast()) {
            Some(start) => Ok(Pinned { context: Arc::clone(context), start, bytes }),
            None => Err(driver.failed(OUT_OF_MEMORY, what)),
        }
    }

    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Returns the memory's bytes.
    ///
    /// # Safety
    /// The device does not use the memory meanwhile.
    pub unsafe fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: `self.bytes` bytes are there and initialised by the driver; `self` is borrowed
        // exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }

    pub fn start(&self) -> *mut c_void {
        self.start.as_ptr().cast()
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: reserved in this context, and freed once.
            unsafe { (self.context.driver.cuMemFreeHost)(self.start()) };
        }
    }
}

/// A second stream, for work that may overlap with the default one.
pub struct SideStream {
    context: Arc<Context>,
    pub handle: CUstream,
    /// Event at the end of the stream's work.
    end: CudaEvent,
}

// SAFETY: as for the context.
unsafe impl Send for SideStream {}
// SAFETY: as for the context.
unsafe impl Sync for SideStream {}

impl SideStream {
    pub fn new(context: &Arc<Context>) -> Result<SideStream, DeviceError> {
        let end = CudaEvent::new(context)?;
        Ok(SideStream { context: Arc::clone(context), handle: context.new_stream()?, end })
    }

    /// Makes later work in this stream wait for an event.
    pub fn begin_behind(&self, end: &CudaEvent) -> Result<(), DeviceError> {
        end.wait_in(self.handle)
    }

    /// Makes later work in the default stream wait for this stream's work so far.
    pub fn join(&self) -> Result<(), DeviceError> {
        self.end.record_in(self.handle)?;
        self.end.wait_in(self.context.stream)
    }
}

impl Drop for SideStream {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: created in this context, which is current, and destroyed once.
            unsafe { (self.context.driver.cuStreamDestroy_v2)(self.handle) };
        }
    }
}

/// An event: a point in a stream.
pub struct CudaEvent {
    context: Arc<Context>,
    handle: CUevent,
}

// SAFETY: as for the context.
unsafe impl Send for CudaEvent {}
// SAFETY: as for the context.
unsafe impl Sync for CudaEvent {}

impl CudaEvent {
    pub fn new(context: &Arc<Context>) -> Result<CudaEvent, DeviceError> {
        context.enter()?;
        let (driver, flags) = (context.driver, CUevent_flags::CU_EVENT_DEFAULT as u32);
        let mut handle = ptr::null_mut();
        // SAFETY: the context is current; the driver writes the handle.
        let code = unsafe { (driver.cuEventCreate)(&raw mut handle, flags) };
        driver.check(code, "making an event")?;
        Ok(CudaEvent { context: Arc::clone(context), handle })
    }

    /// Records the event behind all work in the default stream.
    pub fn record(&self) -> Result<(), DeviceError> {
        self.record_in(self.context.stream)
    }

    pub fn record_in(&self, stream: CUstream) -> Result<(), DeviceError> {
        let driver = self.context.driver;
        // SAFETY: the event and the stream are of the same context.
        driver.check(unsafe { (driver.cuEventRecord)(self.handle, stream) }, "marking a time")
    }

    /// Makes later work in a stream wait for the event.
    pub fn wait_in(&self, stream: CUstream) -> Result<(), DeviceError> {
        let driver = self.context.driver;
        // SAFETY: the event and the stream are of the same context; there are no flags.
        let code = unsafe { (driver.cuStreamWaitEvent)(stream, self.handle, 0) };
        driver.check(code, "putting a stream behind another")
    }

    /// Waits for the event on the host. Returns at once if it was never recorded.
    pub fn wait(&self, what: &str) -> Result<(), DeviceError> {
        let driver = self.context.driver;
        // SAFETY: the event exists.
        driver.check(unsafe { (driver.cuEventSynchronize)(self.handle) }, what)
    }

    /// Returns the seconds between two completed events.
    pub fn seconds_since(&self, start: &CudaEvent) -> Result<f64, DeviceError> {
        let driver = self.context.driver;
        let mut milliseconds = 0.0_f32;
        // SAFETY: the events exist; the driver writes one number.
        let code = unsafe {
            (driver.cuEventElapsedTime)(&raw mut milliseconds, start.handle, self.handle)
        };
        driver.check(code, "reading a time")?;
        Ok(f64::from(milliseconds) / 1000.0)
    }
}

impl Drop for CudaEvent {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: created in this context, and destroyed once.
            unsafe { (self.context.driver.cuEventDestroy_v2)(self.handle) };
        }
    }
}

/// A loaded module, unloaded when dropped.
pub struct Loaded {
    pub context: Arc<Context>,
    pub handle: CUmodule,
}

// SAFETY: as for the context.
unsafe impl Send for Loaded {}
// SAFETY: as for the context.
unsafe impl Sync for Loaded {}

impl Loaded {
    /// Loads machine code for this context's device, or PTX, which ends in a zero byte.
    ///
    /// # Safety
    /// The code was made by NVRTC: the driver determines its length from its contents.
    pub unsafe fn load(context: &Arc<Context>, code: &[u8]) -> Result<Loaded, u32> {
        let mut handle = ptr::null_mut();
        // SAFETY: the caller has made the context current; the code is whole.
        let result =
            unsafe { (context.driver.cuModuleLoadData)(&raw mut handle, code.as_ptr().cast()) };
        if result == SUCCESS {
            Ok(Loaded { context: Arc::clone(context), handle })
        } else {
            Err(result)
        }
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: loaded in this context, and unloaded once.
            unsafe { (self.context.driver.cuModuleUnload)(self.handle) };
        }
    }
}
