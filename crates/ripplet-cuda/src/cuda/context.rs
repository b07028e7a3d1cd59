//! What a GPU keeps for this process: a context, streams in it, events in those.

use super::driver::{Driver, NOT_READY, OUT_OF_MEMORY, PEERS_ALREADY, SUCCESS, TOO_MANY_PEERS};
use crate::device::DeviceError;
use cudarc::driver::sys::{
    CUcontext, CUdevice, CUdeviceptr, CUevent, CUevent_flags, CUmodule, CUstream, CUstream_flags,
};
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// The primary context of a GPU, and the one stream on which everything is done in order, but what is
/// launched together.
///
/// What is made in it keeps it. Nothing is said where the driver refuses to take something back: the
/// context is lost then, and all that is in it.
pub struct Context {
    pub driver: &'static Driver,
    device: CUdevice,
    handle: CUcontext,
    stream: CUstream,
}

// SAFETY: the driver's functions may be called from any thread with the handles of any other, once
// the context is current in the thread, which `enter` makes it.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// The context of a device that the driver gave.
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

    /// Makes the context the current one of this thread.
    pub fn enter(&self) -> Result<(), DeviceError> {
        // SAFETY: the handle is kept until the context is dropped.
        self.driver.check(unsafe { (self.driver.cuCtxSetCurrent)(self.handle) }, "turning to it")
    }

    /// The stream.
    pub fn stream(&self) -> CUstream {
        self.stream
    }

    /// Waits until all in the stream is done.
    pub fn wait(&self, what: &str) -> Result<(), DeviceError> {
        self.enter()?;
        // SAFETY: the stream is this context's.
        self.driver.check(unsafe { (self.driver.cuStreamSynchronize)(self.stream) }, what)
    }

    /// Whether all in the stream is done.
    pub fn is_idle(&self, what: &str) -> Result<bool, DeviceError> {
        self.enter()?;
        // SAFETY: the stream is this context's.
        match unsafe { (self.driver.cuStreamQuery)(self.stream) } {
            NOT_READY => Ok(false),
            code => self.driver.check(code, what).map(|()| true),
        }
    }

    /// The number of its GPU, as the driver counts them.
    pub fn device(&self) -> CUdevice {
        self.device
    }

    /// Lets kernels here read another context's memory; whether they can.
    pub fn reach(&self, other: &Context) -> Result<bool, DeviceError> {
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
        // SAFETY: the other context is kept as long as whoever has it; there are no flags.
        match unsafe { (driver.cuCtxEnablePeerAccess)(other.handle, 0) } {
            SUCCESS | PEERS_ALREADY => Ok(true),
            TOO_MANY_PEERS => Ok(false),
            code => Err(driver.failed(code, "reaching another GPU's memory")),
        }
    }

    /// Copies from another context's memory, in the stream's order.
    ///
    /// # Safety
    /// There are so many bytes at both addresses, each of its context's memory, kept until the copy is done.
    pub unsafe fn fetch(
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

    /// Bytes of memory that nobody has.
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
            // SAFETY: made in this context, which is current, and destroyed once.
            unsafe { (self.driver.cuStreamDestroy_v2)(self.stream) };
        }
        // SAFETY: retained once.
        unsafe { (self.driver.cuDevicePrimaryCtxRelease_v2)(self.device) };
    }
}

/// Memory on the device.
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
        // The driver refuses to reserve nothing.
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
            // SAFETY: reserved in this context, and freed once. The driver waits for what still
            // runs before it frees.
            unsafe { (self.context.driver.cuMemFree_v2)(self.address) };
        }
    }
}

/// Memory of the host that stays where it is, for the device to read and write it by itself.
pub struct Pinned {
    context: Arc<Context>,
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it is plain memory, owned by one.
unsafe impl Send for Pinned {}

impl Pinned {
    pub fn reserve(context: &Arc<Context>, bytes: usize) -> Result<Pinned, DeviceError> {
        context.enter()?;
        let (driver, what) = (context.driver, "reserving page-locked memory of the host");
        let mut start = ptr::null_mut();
        // SAFETY: the context is current; the driver writes the address. It is zeroed memory.
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

    /// Its bytes.
    ///
    /// # Safety
    /// The device is not using it.
    pub unsafe fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: so many bytes are there, which the driver zeroed, and nobody else uses them.
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

/// Another stream, for what may run beside the one.
pub struct SideStream {
    context: Arc<Context>,
    pub handle: CUstream,
    /// What is in it until now.
    mark: Event,
}

// SAFETY: as for the context.
unsafe impl Send for SideStream {}
// SAFETY: as for the context.
unsafe impl Sync for SideStream {}

impl SideStream {
    pub fn new(context: &Arc<Context>) -> Result<SideStream, DeviceError> {
        let mark = Event::new(context)?;
        Ok(SideStream { context: Arc::clone(context), handle: context.new_stream()?, mark })
    }

    /// Whatever comes next in it waits for a mark.
    pub fn begin_behind(&self, mark: &Event) -> Result<(), DeviceError> {
        mark.wait_in(self.handle)
    }

    /// Whatever comes next in the one stream waits for what is in this one.
    pub fn join(&self) -> Result<(), DeviceError> {
        self.mark.record_in(self.handle)?;
        self.mark.wait_in(self.context.stream)
    }
}

impl Drop for SideStream {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: made in this context, which is current, and destroyed once.
            unsafe { (self.context.driver.cuStreamDestroy_v2)(self.handle) };
        }
    }
}

/// A mark in a stream.
pub struct Event {
    context: Arc<Context>,
    handle: CUevent,
}

// SAFETY: as for the context.
unsafe impl Send for Event {}
// SAFETY: as for the context.
unsafe impl Sync for Event {}

impl Event {
    pub fn new(context: &Arc<Context>) -> Result<Event, DeviceError> {
        context.enter()?;
        let (driver, flags) = (context.driver, CUevent_flags::CU_EVENT_DEFAULT as u32);
        let mut handle = ptr::null_mut();
        // SAFETY: the context is current; the driver writes the handle.
        let code = unsafe { (driver.cuEventCreate)(&raw mut handle, flags) };
        driver.check(code, "making an event")?;
        Ok(Event { context: Arc::clone(context), handle })
    }

    /// Marks what is in the one stream until now.
    pub fn record(&self) -> Result<(), DeviceError> {
        self.record_in(self.context.stream)
    }

    pub fn record_in(&self, stream: CUstream) -> Result<(), DeviceError> {
        let driver = self.context.driver;
        // SAFETY: the event and the stream are of the same context.
        driver.check(unsafe { (driver.cuEventRecord)(self.handle, stream) }, "marking a time")
    }

    /// What comes next in a stream waits for what was marked.
    pub fn wait_in(&self, stream: CUstream) -> Result<(), DeviceError> {
        let driver = self.context.driver;
        // SAFETY: the event and the stream are of the same context; there are no flags.
        let code = unsafe { (driver.cuStreamWaitEvent)(stream, self.handle, 0) };
        driver.check(code, "putting a stream behind another")
    }

    /// Waits until what was marked is done; not at all where nothing was.
    pub fn wait(&self, what: &str) -> Result<(), DeviceError> {
        let driver = self.context.driver;
        // SAFETY: the event is there.
        driver.check(unsafe { (driver.cuEventSynchronize)(self.handle) }, what)
    }

    /// The seconds from another mark to this one; both are done.
    pub fn seconds_since(&self, start: &Event) -> Result<f64, DeviceError> {
        let driver = self.context.driver;
        let mut milliseconds = 0.0_f32;
        // SAFETY: the events are there; the driver writes one number.
        let code = unsafe {
            (driver.cuEventElapsedTime)(&raw mut milliseconds, start.handle, self.handle)
        };
        driver.check(code, "reading a time")?;
        Ok(f64::from(milliseconds) / 1000.0)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: made in this context, and destroyed once.
            unsafe { (self.context.driver.cuEventDestroy_v2)(self.handle) };
        }
    }
}

/// A module's handle.
pub struct Loaded {
    pub context: Arc<Context>,
    pub handle: CUmodule,
}

// SAFETY: as for the context.
unsafe impl Send for Loaded {}
// SAFETY: as for the context.
unsafe impl Sync for Loaded {}

impl Loaded {
    /// Loads machine code for this context's device, or PTX, which ends in 0.
    ///
    /// # Safety
    /// It is what NVRTC made: the driver looks for where it ends.
    pub unsafe fn load(context: &Arc<Context>, code: &[u8]) -> Result<Loaded, u32> {
        let mut handle = ptr::null_mut();
        // SAFETY: the context is current where this is called; the code is whole.
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
