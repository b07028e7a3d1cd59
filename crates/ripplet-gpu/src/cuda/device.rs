//! An NVIDIA GPU.

use super::cache::Cache;
use super::context::{self, Context, CudaEvent, SideStream};
use super::discovery;
use super::driver;
use super::modules::{Module, Modules};
use super::mutex::lock;
use super::registered::Registered;
use super::staging::Staging;
use crate::device::{Address, Device, Launch, Properties, Source, Stream};
use crate::error::DeviceError;
use cudarc::driver::sys::CUstream;
use std::ffi::c_int;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

/// A GPU.
///
/// All work is done in order on one stream, except concurrent launches and the second stream. A GPU
/// that failed (after an access outside of its memory, for example) returns errors until the
/// process ends.
pub struct CudaDevice {
    properties: Properties,
    // Dropped before the context, as are the next fields.
    modules: Modules,
    staging: Mutex<Staging>,
    sides: Mutex<Vec<SideStream>>,
    beside: OnceLock<SideStream>,
    /// Events that are not in use.
    spare: Arc<Mutex<Vec<CudaEvent>>>,
    pub(super) context: Arc<Context>,
}

/// Memory of a GPU.
pub struct Memory(context::Memory);

/// Pinned memory of the host that a GPU can read.
pub struct Mapped<'a> {
    parts: Vec<&'a [u32]>,
    addresses: Vec<Address>,
    registered: Vec<Registered>,
}

/// A point in a GPU's stream. The driver's event is reused.
pub struct Event {
    event: Option<CudaEvent>,
    spare: Arc<Mutex<Vec<CudaEvent>>>,
}

impl Event {
    fn event(&self) -> Result<&CudaEvent, DeviceError> {
        let gone = || DeviceError::Failed { what: "an event".into(), reason: "it is gone".into() };
        self.event.as_ref().ok_or_else(gone)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        lock(&self.spare).extend(self.event.take());
    }
}

impl fmt::Debug for CudaDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaDevice").field("properties", &self.properties).finish_non_exhaustive()
    }
}

impl CudaDevice {
    /// Opens a GPU by number. Compiled kernels are cached in the folder that the environment names
    /// ([`Cache::of_environment`]).
    ///
    /// # Errors
    /// If there is no such GPU, it does not work, or it is too old.
    pub fn new(number: usize) -> Result<CudaDevice, DeviceError> {
        CudaDevice::with_cache(number, Cache::of_environment())
    }

    /// Opens a GPU by number. Compiled kernels are kept in this cache, or nowhere.
    ///
    /// # Errors
    /// If there is no such GPU, it does not work, or it is too old.
    pub fn with_cache(number: usize, cache: Option<Cache>) -> Result<CudaDevice, DeviceError> {
        let ready = driver::ready()?;
        let (device, properties) = discovery::describe(&ready, number)?;
        discovery::supported(&properties)?;
        let context = Arc::new(Context::open(ready.driver, device)?);
        let staging = Mutex::new(Staging::new(&context)?);
        let modules = Modules::new(&context, &properties, ready.version, cache);
        Ok(CudaDevice {
            properties,
            modules,
            staging,
            sides: Mutex::default(),
            beside: OnceLock::new(),
            spare: Arc::default(),
            context,
        })
    }

    /// Returns notes for the user, a sentence each, about things that are not errors.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.modules.notes()
    }

    /// Returns the driver's handle of a stream; the side stream is created when it is first used.
    fn stream(&self, stream: Stream) -> Result<CUstream, DeviceError> {
        if stream == Stream::Main {
            return Ok(self.context.stream());
        }
        if let Some(beside) = self.beside.get() {
            return Ok(beside.handle);
        }
        let beside = SideStream::new(&self.context)?;
        Ok(self.beside.get_or_init(|| beside).handle)
    }
}

impl Device for CudaDevice {
    type Module = Module;
    type Memory = Memory;
    type Mapped<'a> = Mapped<'a>;
    type Event = Event;

    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn free_memory(&self) -> Result<u64, DeviceError> {
        self.context.free_memory()
    }

    fn load(&self, source: &Source) -> Result<Module, DeviceError> {
        self.modules.load(source)
    }

    fn resident_blocks(&self, module: &Module, launch: &Launch) -> Result<u32, DeviceError> {
        self.context.enter()?;
        let driver = self.context.driver;
        let function = module.handle(launch)?;
        let threads = c_int::try_from(launch.threads).unwrap_or(c_int::MAX);
        let mut blocks = 0;
        // SAFETY: the function is of a module of this context, which is current; the driver writes
        // one number.
        let code = unsafe {
            (driver.cuOccupancyMaxActiveBlocksPerMultiprocessor)(
                &raw mut blocks,
                function,
                threads,
                launch.shared as usize,
            )
        };
        driver.check(code, &format!("counting the blocks of kernel {}", launch.kernel))?;
        Ok(u32::try_from(blocks).unwrap_or(0).saturating_mul(self.properties.multiprocessors))
    }

    fn reserve(&self, bytes: u64) -> Result<Memory, DeviceError> {
        context::Memory::reserve(&self.context, bytes).map(Memory)
    }

    fn address(&self, memory: &Memory) -> Address {
        Address(memory.0.address)
    }

    fn write(&self, memory: &Memory, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        let to = memory.part(offset, bytes.len() as u64);
        // SAFETY: `part` has checked that the bytes are within the memory. It is freed after all
        // work launched before.
        unsafe { lock(&self.staging).write(to, bytes) }
    }

    fn read(&self, memory: &Memory, offset: u64, bytes: &mut [u8]) -> Result<(), DeviceError> {
        let from = memory.part(offset, bytes.len() as u64);
        // SAFETY: `part` has checked that the bytes are within the memory.
        unsafe { lock(&self.staging).read(from, bytes) }
    }

    fn fill_on(
        &self,
        stream: Stream,
        memory: &Memory,
        offset: u64,
        length: u64,
        value: u8,
    ) -> Result<(), DeviceError> {
        let start = memory.part(offset, length);
        let stream = self.stream(stream)?;
        self.context.enter()?;
        let driver = self.context.driver;
        // SAFETY: `part` has checked that the bytes are within the memory, so `length` fits a
        // `usize`.
        let code = unsafe { (driver.cuMemsetD8Async)(start, value, length as usize, stream) };
        driver.check(code, "filling its memory")
    }

    fn map_host<'a>(&'a self, parts: &[&'a [u32]]) -> Result<Mapped<'a>, DeviceError> {
        let ranges: Vec<_> = parts.iter().map(|part| part.as_ptr_range()).collect();
        let bytes = ranges.iter().map(|range| range.start as usize..range.end as usize);
        let registered = Registered::pages_of(&self.context, bytes.collect())?;
        let address = |part: &&[u32]| {
            let start = part.as_ptr() as usize;
            let pages = registered.iter().find(|pages| pages.contains(start));
            pages.map_or(Address(0), |pages| Address(pages.address_of(start)))
        };
        let addresses = parts.iter().map(address).collect();
        Ok(Mapped { parts: parts.to_vec(), addresses, registered })
    }

    fn mapped(&self, mapped: &Mapped<'_>, number: usize) -> Address {
        mapped.addresses[number]
    }

    fn copy_mapped(
        &self,
        stream: Stream,
        (mapped, number): (&Mapped<'_>, usize),
        words: Range<usize>,
        memory: &Memory,
        offset: u64,
    ) -> Result<(), DeviceError> {
        let words = &mapped.parts[number][words];
        let to = memory.part(offset, size_of_val(words) as u64);
        let stream = self.stream(stream)?;
        self.context.enter()?;
        let driver = self.context.driver;
        let start = words.as_ptr() as usize;
        // An empty part has no pinned pages.
        let registered = mapped.registered.iter().find(|pages| pages.contains(start));
        let parts = registered.map(|pages| pages.parts_of(start..start + size_of_val(words)));
        for part in parts.into_iter().flatten() {
            let before = part.start - start;
            // SAFETY: both ranges have the same length; the host's memory is pinned, and kept until
            // no work runs.
            let code = unsafe {
                let from = words.as_ptr().cast::<u8>().add(before);
                let to = to + before as u64;
                (driver.cuMemcpyHtoDAsync_v2)(to, from.cast(), part.len(), stream)
            };
            driver.check(code, "copying to its memory")?;
        }
        Ok(())
    }

    unsafe fn launch_on(
        &self,
        stream: Stream,
        module: &Module,
        launch: &Launch,
        argument: &[u8],
    ) -> Result<(), DeviceError> {
        // SAFETY: the caller's promise.
        unsafe { module.launch_on(self.stream(stream)?, launch, argument) }
    }

    fn record(&self, stream: Stream) -> Result<Event, DeviceError> {
        let (spare, stream) = (lock(&self.spare).pop(), self.stream(stream)?);
        let event = spare.map_or_else(|| CudaEvent::new(&self.context), Ok)?;
        self.context.enter()?;
        event.record_in(stream)?;
        Ok(Event { event: Some(event), spare: Arc::clone(&self.spare) })
    }

    fn wait_for(&self, stream: Stream, event: &Event) -> Result<(), DeviceError> {
        self.context.enter()?;
        event.event()?.wait_in(self.stream(stream)?)
    }

    fn seconds_between(&self, start: &Event, end: &Event) -> Result<f64, DeviceError> {
        self.context.enter()?;
        end.event()?.wait("waiting for what was launched")?;
        end.event()?.seconds_since(start.event()?)
    }

    unsafe fn launch_chains(
        &self,
        module: &Module,
        chains: &[&[(Launch, &[u8])]],
    ) -> Result<(), DeviceError> {
        let Some((first, others)) = chains.split_first() else { return Ok(()) };
        let launch_first = || {
            // SAFETY: the caller's promise.
            first
                .iter()
                .try_for_each(|(launch, argument)| unsafe { self.launch(module, launch, argument) })
        };
        if others.is_empty() {
            return launch_first();
        }
        let mut sides = lock(&self.sides);
        while sides.len() < others.len() {
            sides.push(SideStream::new(&self.context)?);
        }
        let before = CudaEvent::new(&self.context)?;
        before.record()?;
        launch_first()?;
        for (side, chain) in sides.iter().zip(others) {
            side.begin_behind(&before)?;
            // SAFETY: the caller's promise.
            let launched = chain.iter().try_for_each(|(launch, argument)| unsafe {
                module.launch_on(side.handle, launch, argument)
            });
            side.join()?;
            launched?;
        }
        Ok(())
    }

    fn wait(&self) -> Result<(), DeviceError> {
        self.context.wait("waiting for what was launched")
    }

    fn timed(&self, work: &mut dyn FnMut() -> Result<(), DeviceError>) -> Result<f64, DeviceError> {
        let (start, end) = (CudaEvent::new(&self.context)?, CudaEvent::new(&self.context)?);
        start.record()?;
        work()?;
        self.context.enter()?;
        end.record()?;
        end.wait("waiting for what was launched")?;
        end.seconds_since(&start)
    }
}

impl Memory {
    /// Returns the address of a part of the memory.
    ///
    /// # Panics
    /// If the memory has no such part.
    fn part(&self, offset: u64, length: u64) -> u64 {
        let bytes = self.0.bytes;
        let end = offset.checked_add(length);
        assert!(
            end.is_some_and(|end| end <= bytes),
            "{length} bytes from {offset} on are not within {bytes}"
        );
        self.0.address + offset
    }
}
