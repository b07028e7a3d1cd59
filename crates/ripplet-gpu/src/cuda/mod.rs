//! NVIDIA's GPUs, through the driver and NVRTC that are found at run time.
//!
//! Neither is needed to build. If one is missing, too old or broken, that is a [`DeviceError`]. A
//! kernel is compiled when it is first loaded, and then cached on disk ([`cache`]): a machine with
//! a full cache needs no NVRTC.

pub mod cache;
mod context;
mod discovery;
mod driver;
mod functions;
mod nccl;
pub mod nvrtc;
mod registered;
mod staging;
mod version;

pub use discovery::{Gpu, devices, driver_version};
pub use nccl::Nccl;
pub use version::Version;

use crate::device::{Address, Device, Launch, Peer, Properties, Queue, Source, Transfer};
use crate::error::DeviceError;
use cache::{Cache, Compiled, Key};
use context::{Context, Event, Loaded, SideStream};
use cudarc::driver::sys::{CUfunction, CUfunction_attribute, CUstream};
use driver::{NOT_FOUND, SUCCESS};
use registered::Registered;
use staging::Staging;
use std::collections::HashMap;
use std::ffi::{CString, c_int};
use std::ops::Range;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The most bytes of a kernel's argument on any GPU.
const LARGEST_ARGUMENT: usize = 4096;

/// A GPU.
///
/// All work is done in order on one stream, except concurrent launches and the second queue. A GPU
/// that failed (after an access outside of its memory, for example) returns errors until the
/// process ends.
pub struct CudaDevice {
    properties: Properties,
    driver_version: Version,
    cache: Option<Cache>,
    notes: Mutex<Vec<String>>,
    // The most recently used is last. Dropped before the context, as are the next fields.
    loaded: Mutex<Vec<(Key, Module)>>,
    // Dropped before the context.
    staging: Mutex<Staging>,
    sides: Mutex<Vec<SideStream>>,
    beside: OnceLock<SideStream>,
    /// Events that are not in use.
    spare: Arc<Mutex<Vec<Event>>>,
    context: Arc<Context>,
}

/// The most modules that a device keeps loaded for later runs.
const MOST_LOADED: usize = 32;

/// Kernels that are loaded on a GPU. Loading the same text again returns the same module.
#[derive(Clone)]
pub struct Module(Arc<Kernels>);

struct Kernels {
    functions: Mutex<HashMap<&'static str, Function>>,
    loaded: Loaded,
    name: String,
}

/// Memory of a GPU.
pub struct Memory(context::Memory);

/// Pinned memory of the host that a GPU can read.
pub struct Mapped<'a> {
    parts: Vec<&'a [u32]>,
    addresses: Vec<Address>,
    registered: Vec<Registered>,
}

/// A point in a GPU's queue. Its event is reused.
pub struct Mark {
    event: Option<Event>,
    spare: Arc<Mutex<Vec<Event>>>,
}

impl Mark {
    fn event(&self) -> Result<&Event, DeviceError> {
        let gone = || DeviceError::Failed { what: "a mark".into(), reason: "it is gone".into() };
        self.event.as_ref().ok_or_else(gone)
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        lock(&self.spare).extend(self.event.take());
    }
}

/// A kernel, and the most dynamic shared memory that it was configured for.
#[derive(Clone, Copy)]
struct Function {
    handle: CUfunction,
    shared: u32,
}

// SAFETY: a handle may be used from any thread; see `Context`.
unsafe impl Send for Function {}

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
        Ok(CudaDevice {
            properties,
            driver_version: ready.version,
            cache,
            notes: Mutex::default(),
            loaded: Mutex::default(),
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
        lock(&self.notes).clone()
    }

    fn note(&self, sentence: String) {
        let mut notes = lock(&self.notes);
        if !notes.contains(&sentence) {
            notes.push(sentence);
        }
    }

    /// Returns compiled kernels: from the cache, or compiled now and stored there.
    fn compiled(&self, source: &Source, key: Key) -> Result<Compiled, DeviceError> {
        let nvrtc = nvrtc::available();
        let runs = |compiled: &Compiled| compiled.runs_on(self.driver_version);
        let kept = |cache: &Cache| cache.find(key, nvrtc.as_ref().ok().copied(), runs);
        if let Some(compiled) = self.cache.as_ref().and_then(kept) {
            return Ok(compiled);
        }
        let nvrtc = nvrtc?;
        if nvrtc.major > self.driver_version.major {
            return Err(DeviceError::TooOld(format!(
                "the NVIDIA driver is for CUDA {}, and NVRTC {nvrtc} compiles kernels that it \
                 cannot load: install a driver for CUDA {}, or an NVRTC of the driver's version",
                self.driver_version, nvrtc.major
            )));
        }
        let code = nvrtc::compile(source, self.properties.architecture)?;
        let compiled = Compiled { nvrtc, code };
        self.keep(key, &compiled);
        Ok(compiled)
    }

    /// Stores compiled kernels in the cache, or notes that they are not kept.
    fn keep(&self, key: Key, compiled: &Compiled) {
        let Some(cache) = &self.cache else {
            self.note(
                "compiled kernels are not kept, as there is no folder for them: set RIPPLET_CACHE"
                    .to_owned(),
            );
            return;
        };
        if let Err(error) = cache.store(key, compiled) {
            let folder = cache.folder().display();
            self.note(format!(
                "compiled kernels are not kept, as {folder} cannot be written ({error}): set \
                 RIPPLET_CACHE to a folder that can"
            ));
        }
    }

    /// Returns the loaded module of a key, and marks it as the most recently used.
    fn last_used(&self, key: Key) -> Option<Module> {
        let mut loaded = lock(&self.loaded);
        let at = loaded.iter().position(|(of, _)| *of == key)?;
        let found = loaded.remove(at);
        let module = found.1.clone();
        loaded.push(found);
        Some(module)
    }

    /// Loads a module, from the cache or compiled now.
    fn load_anew(&self, source: &Source, key: Key) -> Result<Module, DeviceError> {
        let compiled = self.compiled(source, key)?;
        self.context.enter()?;
        // SAFETY: the code was made by NVRTC; the cache returns what was stored.
        let handle = unsafe { Loaded::load(&self.context, &compiled.code) }.map_err(|code| {
            let Compiled { nvrtc, .. } = compiled;
            let what = format!("loading the kernels of {}, of NVRTC {nvrtc}", source.name);
            self.context.driver.failed(code, &what)
        })?;
        let kernels =
            Kernels { functions: Mutex::default(), loaded: handle, name: source.name.clone() };
        let module = Module(Arc::new(kernels));
        let mut loaded = lock(&self.loaded);
        if loaded.len() == MOST_LOADED {
            loaded.remove(0);
        }
        loaded.push((key, module.clone()));
        Ok(module)
    }

    /// Returns a kernel, configured for the shared memory of a launch.
    fn function(&self, module: &Module, launch: &Launch) -> Result<CUfunction, DeviceError> {
        let (driver, kernel) = (self.context.driver, launch.kernel);
        let Module(module) = module;
        let mut functions = lock(&module.functions);
        let mut function = match functions.get(kernel) {
            Some(function) => *function,
            None => Function { handle: self.find(module, kernel)?, shared: 0 },
        };
        if launch.shared > function.shared {
            let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            let bytes = c_int::try_from(launch.shared).unwrap_or(c_int::MAX);
            // SAFETY: the function is of a module of this context, which is current.
            let code = unsafe { (driver.cuFuncSetAttribute)(function.handle, attribute, bytes) };
            let what = || {
                let most = self.properties.shared_per_block;
                format!("giving {bytes} bytes of shared memory, of {most}, to kernel {kernel}")
            };
            driver.check(code, &what())?;
            function.shared = launch.shared;
        }
        functions.insert(kernel, function);
        Ok(function.handle)
    }

    /// Returns the stream of a queue; the side stream is created when it is first used.
    fn stream(&self, queue: Queue) -> Result<CUstream, DeviceError> {
        if queue == Queue::Main {
            return Ok(self.context.stream());
        }
        if let Some(beside) = self.beside.get() {
            return Ok(beside.handle);
        }
        let beside = SideStream::new(&self.context)?;
        Ok(self.beside.get_or_init(|| beside).handle)
    }

    /// Launches a kernel in a stream.
    ///
    /// # Safety
    /// As for [`Device::launch`]; the stream is of this context.
    unsafe fn launch_on(
        &self,
        stream: CUstream,
        module: &Module,
        launch: &Launch,
        argument: &[u8],
    ) -> Result<(), DeviceError> {
        self.context.enter()?;
        let driver = self.context.driver;
        let function = self.function(module, launch)?;
        let Launch { kernel, blocks, threads, shared, cooperative } = *launch;
        let what = || format!("launching kernel {kernel}, {blocks} blocks of {threads} threads");
        let mut argument = Argument::new(argument).ok_or_else(|| DeviceError::Failed {
            what: what(),
            reason: format!("its argument has more than {LARGEST_ARGUMENT} bytes"),
        })?;
        let mut parameters = [(&raw mut argument).cast()];
        // SAFETY: the function is of a module of this context, which is current. It has one
        // parameter, of the argument's type by the caller's promise. The driver copies the argument
        // now.
        let code = unsafe {
            if cooperative {
                (driver.cuLaunchCooperativeKernel)(
                    function,
                    blocks,
                    1,
                    1,
                    threads,
                    1,
                    1,
                    shared,
                    stream,
                    parameters.as_mut_ptr(),
                )
            } else {
                (driver.cuLaunchKernel)(
                    function,
                    blocks,
                    1,
                    1,
                    threads,
                    1,
                    1,
                    shared,
                    stream,
                    parameters.as_mut_ptr(),
                    ptr::null_mut(),
                )
            }
        };
        if code == SUCCESS { Ok(()) } else { Err(driver.failed(code, &what())) }
    }

    fn find(&self, module: &Kernels, kernel: &str) -> Result<CUfunction, DeviceError> {
        let driver = self.context.driver;
        let what = || format!("looking for kernel {kernel} of {}", module.name);
        let name = CString::new(kernel).map_err(|_| driver.failed(NOT_FOUND, &what()))?;
        let mut handle = ptr::null_mut();
        // SAFETY: the module is loaded, the name ends in 0, and the driver writes the handle.
        let code = unsafe {
            (driver.cuModuleGetFunction)(&raw mut handle, module.loaded.handle, name.as_ptr())
        };
        driver.check(code, &what())?;
        Ok(handle)
    }
}

impl Compiled {
    /// Whether a driver loads the code: machine code by [`Version::runs_code_of`], PTX if the
    /// driver is not older than the NVRTC that made it.
    fn runs_on(&self, driver: Version) -> bool {
        let machine = self.code.starts_with(b"\x7fELF");
        if machine { driver.runs_code_of(self.nvrtc) } else { self.nvrtc <= driver }
    }
}

impl Device for CudaDevice {
    type Module = Module;
    type Memory = Memory;
    type Mapped<'a> = Mapped<'a>;
    type Mark = Mark;

    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn free_memory(&self) -> Result<u64, DeviceError> {
        self.context.free_memory()
    }

    fn load(&self, source: &Source) -> Result<Module, DeviceError> {
        let key = Key::new(&source.text, &nvrtc::options(), self.properties.architecture);
        cache::in_turn(key, || match self.last_used(key) {
            Some(module) => Ok(module),
            None => self.load_anew(source, key),
        })
    }

    fn resident_blocks(&self, module: &Module, launch: &Launch) -> Result<u32, DeviceError> {
        self.context.enter()?;
        let driver = self.context.driver;
        let function = self.function(module, launch)?;
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

    fn fill_in(
        &self,
        queue: Queue,
        memory: &Memory,
        offset: u64,
        length: u64,
        value: u8,
    ) -> Result<(), DeviceError> {
        let start = memory.part(offset, length);
        let stream = self.stream(queue)?;
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
        queue: Queue,
        (mapped, number): (&Mapped<'_>, usize),
        words: Range<usize>,
        memory: &Memory,
        offset: u64,
    ) -> Result<(), DeviceError> {
        let words = &mapped.parts[number][words];
        let to = memory.part(offset, size_of_val(words) as u64);
        let stream = self.stream(queue)?;
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

    unsafe fn launch_in(
        &self,
        queue: Queue,
        module: &Module,
        launch: &Launch,
        argument: &[u8],
    ) -> Result<(), DeviceError> {
        // SAFETY: the caller's promise.
        unsafe { self.launch_on(self.stream(queue)?, module, launch, argument) }
    }

    fn mark(&self, queue: Queue) -> Result<Mark, DeviceError> {
        let (spare, stream) = (lock(&self.spare).pop(), self.stream(queue)?);
        let event = spare.map_or_else(|| Event::new(&self.context), Ok)?;
        self.context.enter()?;
        event.record_in(stream)?;
        Ok(Mark { event: Some(event), spare: Arc::clone(&self.spare) })
    }

    fn follow(&self, queue: Queue, mark: &Mark) -> Result<(), DeviceError> {
        self.context.enter()?;
        mark.event()?.wait_in(self.stream(queue)?)
    }

    fn seconds_between(&self, start: &Mark, end: &Mark) -> Result<f64, DeviceError> {
        self.context.enter()?;
        end.event()?.wait("waiting for what was launched")?;
        end.event()?.seconds_since(start.event()?)
    }

    unsafe fn launch_together(
        &self,
        module: &Module,
        launches: &[(Launch, &[u8])],
    ) -> Result<(), DeviceError> {
        let Some(((launch, argument), others)) = launches.split_first() else { return Ok(()) };
        if others.is_empty() {
            // SAFETY: the caller's promise.
            return unsafe { self.launch(module, launch, argument) };
        }
        let mut sides = lock(&self.sides);
        while sides.len() < others.len() {
            sides.push(SideStream::new(&self.context)?);
        }
        let before = Event::new(&self.context)?;
        before.record()?;
        // SAFETY: the caller's promise.
        unsafe { self.launch(module, launch, argument) }?;
        for (side, (launch, argument)) in sides.iter().zip(others) {
            side.begin_behind(&before)?;
            // SAFETY: the caller's promise.
            let launched = unsafe { self.launch_on(side.handle, module, launch, argument) };
            side.join()?;
            launched?;
        }
        Ok(())
    }

    fn wait(&self) -> Result<(), DeviceError> {
        self.context.wait("waiting for what was launched")
    }

    fn timed(&self, work: &mut dyn FnMut() -> Result<(), DeviceError>) -> Result<f64, DeviceError> {
        let (start, end) = (Event::new(&self.context)?, Event::new(&self.context)?);
        start.record()?;
        work()?;
        self.context.enter()?;
        end.record()?;
        end.wait("waiting for what was launched")?;
        end.seconds_since(&start)
    }
}

/// Queries of a waiting thread in a loop, before it yields its core between queries.
const LOOKS: u32 = 1 << 10;

impl Peer for CudaDevice {
    type Communicator = Nccl;

    fn reach(&self, other: &CudaDevice) -> Result<bool, DeviceError> {
        self.context.reach(&other.context)
    }

    unsafe fn fetch(
        &self,
        to: Address,
        other: &CudaDevice,
        from: Address,
        bytes: u64,
    ) -> Result<(), DeviceError> {
        // SAFETY: the caller's promise. Both ranges are in memory, so `bytes` fits a `usize`.
        unsafe { self.context.fetch(to.0, &other.context, from.0, bytes as usize) }
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
        let mut looks = 0;
        while !self.context.is_idle("waiting for what was launched")? {
            if is_over() {
                return Ok(false);
            }
            looks += 1;
            if looks < LOOKS {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
        Ok(true)
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

/// A kernel's argument, padded to the most bytes that the driver may read.
#[repr(align(16))]
struct Argument([u8; LARGEST_ARGUMENT]);

impl Argument {
    /// Returns `None` if the argument is too long.
    fn new(bytes: &[u8]) -> Option<Argument> {
        let mut argument = Argument([0; LARGEST_ARGUMENT]);
        argument.0.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(argument)
    }
}

/// Locks a mutex. A panic never leaves the data half-written, so poisoning is ignored.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
