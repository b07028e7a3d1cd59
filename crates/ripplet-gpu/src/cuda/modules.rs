//! Modules of kernels: compiled or found in the cache on disk, loaded, and launched.

use super::ahead;
use super::cache::{self, Cache, Compiled, Key};
use super::context::{Context, Loaded};
use super::driver::{NOT_FOUND, SUCCESS};
use super::mutex::lock;
use super::nvrtc;
use super::version::Version;
use crate::device::{Launch, Properties, Source};
use crate::error::DeviceError;
use cudarc::driver::sys::{
    CUfunction, CUfunction_attribute, CUlaunchAttribute, CUlaunchAttributeID as Id,
    CUlaunchAttributeValue, CUlaunchConfig, CUstream,
};
use std::collections::HashMap;
use std::ffi::{CString, c_int};
use std::ptr;
use std::sync::{Arc, Mutex};

/// The most bytes of a kernel's argument on any GPU.
const MAX_ARGUMENT_BYTES: usize = 4096;

/// The most modules that a device keeps loaded for later runs.
const MAX_LOADED: usize = 32;

/// Modules of a GPU: the most recently used stay loaded.
pub(super) struct Modules {
    architecture: (u32, u32),
    most_shared: u32,
    driver_version: Version,
    cache: Option<Cache>,
    notes: Mutex<Vec<String>>,
    /// The most recently used is last. Dropped before the context.
    loaded: Mutex<Vec<(Key, Module)>>,
    context: Arc<Context>,
}

/// Kernels that are loaded on a GPU. Loading the same text again returns the same module.
#[derive(Clone)]
pub struct Module(Arc<Kernels>);

struct Kernels {
    functions: Mutex<HashMap<&'static str, Function>>,
    loaded: Loaded,
    name: String,
    /// The most bytes of shared memory of a block on the GPU.
    most_shared: u32,
}

/// A kernel, and the most dynamic shared memory that it was configured for.
#[derive(Clone, Copy)]
struct Function {
    handle: CUfunction,
    shared: u32,
    /// Whether it waits for the previous launch by itself, so that its blocks may start before that has ended.
    waits: bool,
}

// SAFETY: a handle may be used from any thread; see `Context`.
unsafe impl Send for Function {}

impl Modules {
    /// Returns the modules of a context, none of them loaded.
    pub fn new(
        context: &Arc<Context>,
        properties: &Properties,
        driver_version: Version,
        cache: Option<Cache>,
    ) -> Modules {
        Modules {
            architecture: properties.architecture,
            most_shared: properties.shared_per_block,
            driver_version,
            cache,
            notes: Mutex::default(),
            loaded: Mutex::default(),
            context: Arc::clone(context),
        }
    }

    /// Returns notes for the user, a sentence each, about compiled kernels that are not kept.
    pub fn notes(&self) -> Vec<String> {
        lock(&self.notes).clone()
    }

    /// Returns the module of a source: the loaded one, or a new one.
    pub fn load(&self, source: &Source) -> Result<Module, DeviceError> {
        let key = Key::new(&source.text, &nvrtc::options(), self.architecture);
        cache::with_lock(key, || match self.last_used(key) {
            Some(module) => Ok(module),
            None => self.load_anew(source, key),
        })
    }

    fn note(&self, sentence: String) {
        let mut notes = lock(&self.notes);
        if !notes.contains(&sentence) {
            notes.push(sentence);
        }
    }

    /// Returns compiled kernels: those of the build, from the cache, or compiled now and stored there.
    fn compiled(&self, source: &Source, key: Key) -> Result<Compiled, DeviceError> {
        let runs = |compiled: &Compiled| compiled.runs_on(self.driver_version);
        if let Some(compiled) = ahead::built_in(key, runs) {
            return Ok(compiled);
        }
        let nvrtc = nvrtc::available();
        let kept = |cache: &Cache| cache.find(key, nvrtc.as_ref().ok().copied(), runs);
        if let Some(compiled) = self.cache.as_ref().and_then(kept) {
            return Ok(compiled);
        }
        let nvrtc = nvrtc::for_driver(self.driver_version)?;
        let code = nvrtc::compile(source, self.architecture)?;
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

    /// Loads a module, from the cache on disk or compiled now.
    fn load_anew(&self, source: &Source, key: Key) -> Result<Module, DeviceError> {
        let compiled = self.compiled(source, key)?;
        self.context.enter()?;
        // SAFETY: the code was made by NVRTC; the cache returns what was stored.
        let handle = unsafe { Loaded::load(&self.context, &compiled.code) }.map_err(|code| {
            let Compiled { nvrtc, .. } = compiled;
            let what = format!("loading the kernels of {}, of NVRTC {nvrtc}", source.name);
            self.context.driver.failed(code, &what)
        })?;
        let kernels = Kernels {
            functions: Mutex::default(),
            loaded: handle,
            name: source.name.clone(),
            most_shared: self.most_shared,
        };
        let module = Module(Arc::new(kernels));
        let mut loaded = lock(&self.loaded);
        if loaded.len() == MAX_LOADED {
            loaded.remove(0);
        }
        loaded.push((key, module.clone()));
        Ok(module)
    }
}

impl Module {
    /// Returns a kernel, configured for the shared memory of a launch.
    fn function(&self, launch: &Launch) -> Result<Function, DeviceError> {
        let Module(module) = self;
        let (driver, kernel) = (module.loaded.context.driver, launch.kernel);
        let mut functions = lock(&module.functions);
        let mut function = match functions.get(kernel) {
            Some(function) => *function,
            None => {
                Function { handle: module.find(kernel)?, shared: 0, waits: module.waits(kernel) }
            }
        };
        if launch.shared > function.shared {
            let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            let bytes = c_int::try_from(launch.shared).unwrap_or(c_int::MAX);
            // SAFETY: the function is of a module of this context, which is current.
            let code = unsafe { (driver.cuFuncSetAttribute)(function.handle, attribute, bytes) };
            let what = || {
                let most = module.most_shared;
                format!("giving {bytes} bytes of shared memory, of {most}, to kernel {kernel}")
            };
            driver.check(code, &what())?;
            function.shared = launch.shared;
        }
        functions.insert(kernel, function);
        Ok(function)
    }

    /// Returns the handle of a kernel, configured for the shared memory of a launch.
    pub(super) fn handle(&self, launch: &Launch) -> Result<CUfunction, DeviceError> {
        self.function(launch).map(|function| function.handle)
    }

    /// Launches a kernel in a stream.
    ///
    /// # Safety
    /// As for [`Device::launch`](crate::Device::launch); the stream is of the module's context.
    pub(super) unsafe fn launch_on(
        &self,
        stream: CUstream,
        launch: &Launch,
        argument: &[u8],
    ) -> Result<(), DeviceError> {
        let context = &self.0.loaded.context;
        context.enter()?;
        let driver = context.driver;
        let function = self.function(launch)?;
        let Launch { kernel, blocks, threads, shared, cooperative } = *launch;
        let what = || format!("launching kernel {kernel}, {blocks} blocks of {threads} threads");
        let mut argument = Argument::new(argument).ok_or_else(|| DeviceError::Failed {
            what: what(),
            reason: format!("its argument has more than {MAX_ARGUMENT_BYTES} bytes"),
        })?;
        let mut parameters = [(&raw mut argument).cast()];
        // A cooperative launch starts when all its blocks have room: early starts of such were not measured.
        let mut attribute = match (cooperative, function.waits) {
            (true, _) => Some(switched_on(Id::CU_LAUNCH_ATTRIBUTE_COOPERATIVE)),
            (false, true) => {
                Some(switched_on(Id::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION))
            }
            (false, false) => None,
        };
        let configuration = CUlaunchConfig {
            gridDimX: blocks,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: shared,
            hStream: stream,
            numAttrs: attribute.is_some().into(),
            attrs: attribute.as_mut().map_or(ptr::null_mut(), ptr::from_mut),
        };
        // SAFETY: the function is of a module of this context, which is current. It has one
        // parameter, of the argument's type by the caller's promise. The driver copies the argument
        // and the attribute now.
        let code = unsafe {
            (driver.cuLaunchKernelEx)(
                &raw const configuration,
                function.handle,
                parameters.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        if code == SUCCESS { Ok(()) } else { Err(driver.failed(code, &what())) }
    }
}

/// Returns an attribute of launches that is either on or off, on.
fn switched_on(id: Id) -> CUlaunchAttribute {
    // Each such attribute is one number at the beginning of the value.
    let mut value = CUlaunchAttributeValue { pad: [0; 64] };
    value.cooperative = 1;
    CUlaunchAttribute { id, pad: [0; 4], value }
}

impl Kernels {
    /// Returns the handle of a kernel.
    fn find(&self, kernel: &str) -> Result<CUfunction, DeviceError> {
        let driver = self.loaded.context.driver;
        let what = || format!("looking for kernel {kernel} of {}", self.name);
        let name = CString::new(kernel).map_err(|_| driver.failed(NOT_FOUND, &what()))?;
        let mut handle = ptr::null_mut();
        // SAFETY: the module is loaded, the name ends in 0, and the driver writes the handle.
        let code = unsafe {
            (driver.cuModuleGetFunction)(&raw mut handle, self.loaded.handle, name.as_ptr())
        };
        driver.check(code, &what())?;
        Ok(handle)
    }

    /// Whether a kernel waits for the previous launch: `RIPPLET_KERNEL` in `platform.cuh` then defines `<kernel>_waits`. Without
    /// an answer of the driver, it does not.
    fn waits(&self, kernel: &str) -> bool {
        let Ok(name) = CString::new(format!("{kernel}_waits")) else { return false };
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the module is loaded, the name ends in 0, and the driver writes both numbers.
        let code = unsafe {
            let get = self.loaded.context.driver.cuModuleGetGlobal_v2;
            get(&raw mut address, &raw mut bytes, self.loaded.handle, name.as_ptr())
        };
        code == SUCCESS
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

/// A kernel's argument, padded to the most bytes that the driver may read.
#[repr(align(16))]
struct Argument([u8; MAX_ARGUMENT_BYTES]);

impl Argument {
    /// Returns `None` if the argument is too long.
    fn new(bytes: &[u8]) -> Option<Argument> {
        let mut argument = Argument([0; MAX_ARGUMENT_BYTES]);
        argument.0.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(argument)
    }
}
