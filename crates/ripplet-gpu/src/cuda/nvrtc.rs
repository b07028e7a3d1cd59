//! NVRTC: compiles kernels to a GPU's machine code.

use super::functions::functions;
use super::packaged;
use super::version::Version;
use crate::device::Source;
use crate::error::DeviceError;
use cudarc::nvrtc::sys;
use std::ffi::{CStr, CString, c_char, c_int};
use std::fmt::Display;
use std::ptr;
use std::sync::OnceLock;
use sys::{nvrtcProgram, nvrtcResult};

pub use super::packaged::search_packages;

functions! {
    /// NVRTC's functions.
    Nvrtc -> nvrtcResult {
        nvrtcVersion(*mut c_int, *mut c_int);
        nvrtcGetNumSupportedArchs(*mut c_int);
        nvrtcGetSupportedArchs(*mut c_int);
        nvrtcCreateProgram(
            *mut nvrtcProgram, *const c_char, *const c_char, c_int,
            *const *const c_char, *const *const c_char,
        );
        nvrtcCompileProgram(nvrtcProgram, c_int, *const *const c_char);
        nvrtcDestroyProgram(*mut nvrtcProgram);
        nvrtcGetCUBINSize(nvrtcProgram, *mut usize);
        nvrtcGetCUBIN(nvrtcProgram, *mut c_char);
        nvrtcGetPTXSize(nvrtcProgram, *mut usize);
        nvrtcGetPTX(nvrtcProgram, *mut c_char);
        nvrtcGetProgramLogSize(nvrtcProgram, *mut usize);
        nvrtcGetProgramLog(nvrtcProgram, *mut c_char);
    }
}

/// The oldest NVRTC that the kernels are written for.
const MIN_VERSION: Version = Version { major: 12, minor: 0 };

/// Compiler options: functions without a qualifier are device functions, and products are not fused
/// with sums, for the same bits as on the CPU.
const OPTIONS: [&str; 3] = ["--std=c++17", "-default-device", "--fmad=false"];

/// Option that has the compiler optimize kernels on all cores: two thirds of the time of one. What kernels do does not
/// depend on it, so it is no part of a compiled text's [`Key`](super::cache::Key).
const ON_ALL_CORES: &str = "--split-compile=0";

/// Bytes of stack of the thread that calls NVRTC. Its recursion is as deep as the text is long:
/// some kernels need nearly the 2 MB that a thread has by default. Untouched pages cost nothing.
const STACK: usize = 64 << 20;

/// If this variable is set, kernels are compiled with line numbers, for profilers.
const LINE_INFO: &str = "RIPPLET_LINEINFO";

/// Returns the options, which are the same for all architectures.
pub(super) fn options() -> Vec<&'static str> {
    let mut options = OPTIONS.to_vec();
    if std::env::var_os(LINE_INFO).is_some() {
        options.push("-lineinfo");
    }
    options
}

/// Returns NVRTC's version, or the reason why there is none.
///
/// # Errors
/// [`DeviceError::NoCompiler`].
pub fn available() -> Result<Version, DeviceError> {
    found().map(|(_, version)| *version)
}

/// Returns NVRTC's version if a driver of this version runs what it compiles.
///
/// # Errors
/// [`DeviceError::NoCompiler`], and [`DeviceError::TooOld`] if the driver is older than NVRTC.
pub(super) fn for_driver(driver: Version) -> Result<Version, DeviceError> {
    let nvrtc = available()?;
    if driver.runs_code_of(nvrtc) {
        return Ok(nvrtc);
    }
    Err(DeviceError::TooOld(format!(
        "the NVIDIA driver is for CUDA {driver}, and NVRTC {nvrtc} compiles kernels that it cannot load: install a \
         driver for CUDA {}, or an NVRTC of the driver's version",
        nvrtc.major
    )))
}

/// Checks that the NVRTC here compiles for an architecture itself, and not for an older one.
///
/// # Errors
/// [`DeviceError::NoCompiler`], and [`DeviceError::TooOld`] if it does not know the architecture.
pub fn check_architecture((major, minor): (u32, u32)) -> Result<(), DeviceError> {
    let (nvrtc, version) = found()?;
    let known = nvrtc.architectures();
    let wanted = c_int::try_from(10 * u64::from(major) + u64::from(minor));
    if wanted.is_ok_and(|wanted| known.contains(&wanted)) {
        return Ok(());
    }
    let known: Vec<String> = known.iter().map(|number| format!(" sm_{number}")).collect();
    Err(DeviceError::TooOld(format!(
        "NVRTC {version} does not compile for sm_{major}{minor}; it knows{}",
        if known.is_empty() { " no architecture".to_owned() } else { known.join(",") }
    )))
}

/// Compiles kernels for an architecture, (9, 0) being sm_90, to machine code. If NVRTC is older
/// than the architecture, compiles to PTX, which the driver then compiles.
///
/// # Errors
/// [`DeviceError::NoCompiler`] and [`DeviceError::Compile`].
pub fn compile(source: &Source, architecture: (u32, u32)) -> Result<Vec<u8>, DeviceError> {
    compile_with(&[ON_ALL_CORES], source, architecture)
}

/// Compiles kernels as [`compile`] does, on one core unless these further options of NVRTC say otherwise. For tests, most
/// of which only check whether a text is valid, and for threads that compile beside one another.
///
/// # Errors
/// As for [`compile`]; also if NVRTC does not know an option.
#[doc(hidden)]
pub fn compile_with(
    more: &[&str],
    source: &Source,
    architecture: (u32, u32),
) -> Result<Vec<u8>, DeviceError> {
    let no_thread = |why: &dyn Display| {
        DeviceError::NoCompiler(format!(
            "NVRTC needs a thread of its own, and there is none: {why}"
        ))
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("NVRTC".to_owned()).stack_size(STACK);
        let compiling = thread
            .spawn_scoped(scope, || compile_here(more, source, architecture))
            .map_err(|error| no_thread(&error))?;
        compiling.join().map_err(|_| no_thread(&"it ended in the middle"))?
    })
}

fn compile_here(
    more: &[&str],
    source: &Source,
    architecture: (u32, u32),
) -> Result<Vec<u8>, DeviceError> {
    let (nvrtc, version) = found()?;
    let target = nvrtc.target(*version, architecture)?;
    let program = Program::new(nvrtc, source)?;
    let mut options = options();
    let target_option = target.option();
    options.push(&target_option);
    options.extend(more);
    program.compile(source, &options)?;
    match target {
        Target::Machine(_) => program.bytes(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN),
        Target::Ptx(_) => program.bytes(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX),
    }
    .map_err(|code| source.does_not_compile(&format!("NVRTC gives no code (error {code})")))
}

/// Returns NVRTC, found once.
fn found() -> Result<&'static (Nvrtc, Version), DeviceError> {
    static FOUND: OnceLock<Result<(Nvrtc, Version), DeviceError>> = OnceLock::new();
    FOUND.get_or_init(find).as_ref().map_err(Clone::clone)
}

fn find() -> Result<(Nvrtc, Version), DeviceError> {
    // SAFETY: loading a library runs its initializers; the library of this name is NVRTC.
    let is_present = || unsafe { sys::is_culib_present() };
    if !is_present() {
        let found = packaged::load();
        if !is_present() {
            let reason =
                "no library libnvrtc.so.13 (nvrtc64_130_0.dll on Windows) that can be loaded";
            return Err(DeviceError::NoCompiler(match found.err() {
                Some(more) if !more.is_empty() => format!("{reason}: {more}"),
                _ => reason.to_owned(),
            }));
        }
    }
    // SAFETY: the library is there, as was checked before.
    let nvrtc = unsafe { Nvrtc::find() }.map_err(|name| {
        DeviceError::NoCompiler(format!("the NVRTC here has no function {name}"))
    })?;
    let (mut major, mut minor) = (0, 0);
    // SAFETY: NVRTC writes two numbers.
    let code = unsafe { (nvrtc.nvrtcVersion)(&raw mut major, &raw mut minor) };
    let number = |part: c_int| u32::try_from(part).unwrap_or(0);
    let version = Version { major: number(major), minor: number(minor) };
    if code != SUCCESS || version < MIN_VERSION {
        let reason =
            format!("the NVRTC here is {version}, and the kernels need {MIN_VERSION} or newer");
        return Err(DeviceError::NoCompiler(reason));
    }
    Ok((nvrtc, version))
}

const SUCCESS: u32 = nvrtcResult::NVRTC_SUCCESS as u32;
const COMPILATION: u32 = nvrtcResult::NVRTC_ERROR_COMPILATION as u32;

/// Target of a compilation, by its number: 90 for sm_90 and compute_90.
#[derive(Clone, Copy)]
enum Target {
    Machine(c_int),
    Ptx(c_int),
}

impl Target {
    fn option(self) -> String {
        match self {
            Target::Machine(number) => format!("--gpu-architecture=sm_{number}"),
            Target::Ptx(number) => format!("--gpu-architecture=compute_{number}"),
        }
    }
}

impl Nvrtc {
    /// Returns the architecture itself if NVRTC knows it, else PTX of the newest one before it.
    fn target(&self, version: Version, architecture: (u32, u32)) -> Result<Target, DeviceError> {
        let (major, minor) = architecture;
        let refused = || {
            let reason = format!("NVRTC {version} does not compile for sm_{major}{minor}");
            DeviceError::NoCompiler(reason)
        };
        let wanted = c_int::try_from(10 * u64::from(major) + u64::from(minor));
        let wanted = wanted.map_err(|_| refused())?;
        let known = self.architectures();
        match known.iter().copied().filter(|&number| number <= wanted).max() {
            Some(number) if number == wanted => Ok(Target::Machine(number)),
            Some(number) => Ok(Target::Ptx(number)),
            None => Err(refused()),
        }
    }

    /// Returns the architectures that NVRTC knows; none if it does not say.
    fn architectures(&self) -> Vec<c_int> {
        let mut count = 0;
        // SAFETY: NVRTC writes one number.
        let counted = unsafe { (self.nvrtcGetNumSupportedArchs)(&raw mut count) };
        let mut known = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: NVRTC writes as many numbers as it reported, and there is room for them.
        let listed = unsafe { (self.nvrtcGetSupportedArchs)(known.as_mut_ptr()) };
        if counted == SUCCESS && listed == SUCCESS { known } else { Vec::new() }
    }
}

/// A program of NVRTC, destroyed when dropped.
struct Program {
    nvrtc: &'static Nvrtc,
    handle: nvrtcProgram,
}

impl Program {
    fn new(nvrtc: &'static Nvrtc, source: &Source) -> Result<Program, DeviceError> {
        let text = |text: &str| {
            CString::new(text).map_err(|_| source.does_not_compile("there is a zero in its text"))
        };
        let name = text(&format!("{}.cu", source.name))?;
        let text = text(&source.text)?;
        let mut handle = ptr::null_mut();
        // SAFETY: both texts end in 0, and NVRTC copies them; there are no headers.
        let code = unsafe {
            (nvrtc.nvrtcCreateProgram)(
                &raw mut handle,
                text.as_ptr(),
                name.as_ptr(),
                0,
                ptr::null(),
                ptr::null(),
            )
        };
        if code != SUCCESS {
            return Err(source.does_not_compile(&format!("NVRTC takes no text (error {code})")));
        }
        Ok(Program { nvrtc, handle })
    }

    fn compile(&self, source: &Source, options: &[&str]) -> Result<(), DeviceError> {
        let options: Vec<CString> =
            options.iter().filter_map(|option| CString::new(*option).ok()).collect();
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = c_int::try_from(pointers.len()).unwrap_or(0);
        // SAFETY: `options` has the given number of texts, which end in 0 and live until NVRTC
        // returns.
        let code =
            unsafe { (self.nvrtc.nvrtcCompileProgram)(self.handle, count, pointers.as_ptr()) };
        match code {
            SUCCESS => Ok(()),
            COMPILATION => Err(source.does_not_compile(&self.log())),
            // Other failures: NVRTC's own files are missing, an option is unknown, or memory is
            // short.
            code => {
                let log = self.log();
                Err(DeviceError::NoCompiler(format!("NVRTC fails with error {code}: {log}")))
            }
        }
    }

    /// Returns NVRTC's log of the program.
    fn log(&self) -> String {
        match self.bytes(self.nvrtc.nvrtcGetProgramLogSize, self.nvrtc.nvrtcGetProgramLog) {
            Ok(log) => {
                let text = CStr::from_bytes_until_nul(&log).map_or(&log[..], CStr::to_bytes);
                String::from_utf8_lossy(text).trim_end().to_owned()
            }
            Err(code) => format!("NVRTC gives no log (error {code})"),
        }
    }

    /// Returns bytes that one function of NVRTC gives the length of, and another one writes.
    fn bytes(
        &self,
        size: unsafe extern "C" fn(nvrtcProgram, *mut usize) -> u32,
        write: unsafe extern "C" fn(nvrtcProgram, *mut c_char) -> u32,
    ) -> Result<Vec<u8>, u32> {
        let mut length = 0;
        // SAFETY: NVRTC writes one number.
        match unsafe { size(self.handle, &raw mut length) } {
            SUCCESS => {}
            code => return Err(code),
        }
        let mut bytes = vec![0; length];
        // SAFETY: NVRTC writes as many bytes as it reported, and there is room for them.
        match unsafe { write(self.handle, bytes.as_mut_ptr().cast()) } {
            SUCCESS => Ok(bytes),
            code => Err(code),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: created by NVRTC, and destroyed once. An error here has no remedy.
        unsafe { (self.nvrtc.nvrtcDestroyProgram)(&raw mut self.handle) };
    }
}

impl Source {
    fn does_not_compile(&self, log: &str) -> DeviceError {
        DeviceError::Compile { name: self.name.clone(), log: log.to_owned() }
    }
}
