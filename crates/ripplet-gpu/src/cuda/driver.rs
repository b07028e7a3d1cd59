//! NVIDIA's driver: its functions, its version, and its errors as sentences.

use super::functions::functions;
use super::version::Version;
use crate::error::DeviceError;
use cudarc::driver::sys;
use std::ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_void};
use std::ptr;
use std::sync::OnceLock;
use sys::{CUcontext, CUdevice, CUdeviceptr, CUevent, CUfunction, CUmodule, CUresult, CUstream};

/// The oldest driver: the first that runs machine code of NVRTC 12.
const MIN_VERSION: Version = Version { major: 12, minor: 0 };

functions! {
    /// The driver's functions.
    Driver -> CUresult {
        cuInit(c_uint);
        cuDriverGetVersion(*mut c_int);
        cuDeviceGetCount(*mut c_int);
        cuDeviceGet(*mut CUdevice, c_int);
        cuDeviceGetName(*mut c_char, c_int, CUdevice);
        cuDeviceGetAttribute(*mut c_int, sys::CUdevice_attribute, CUdevice);
        cuDeviceTotalMem_v2(*mut usize, CUdevice);
        cuDevicePrimaryCtxRetain(*mut CUcontext, CUdevice);
        cuDevicePrimaryCtxRelease_v2(CUdevice);
        cuCtxSetCurrent(CUcontext);
        cuMemGetInfo_v2(*mut usize, *mut usize);
        cuMemAlloc_v2(*mut CUdeviceptr, usize);
        cuMemFree_v2(CUdeviceptr);
        cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
        cuMemFreeHost(*mut c_void);
        cuMemHostRegister_v2(*mut c_void, usize, c_uint);
        cuMemHostUnregister(*mut c_void);
        cuMemHostGetDevicePointer_v2(*mut CUdeviceptr, *mut c_void, c_uint);
        cuMemcpyHtoDAsync_v2(CUdeviceptr, *const c_void, usize, CUstream);
        cuMemcpyDtoHAsync_v2(*mut c_void, CUdeviceptr, usize, CUstream);
        cuMemcpyPeerAsync(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, usize, CUstream);
        cuDeviceCanAccessPeer(*mut c_int, CUdevice, CUdevice);
        cuCtxEnablePeerAccess(CUcontext, c_uint);
        cuMemsetD8Async(CUdeviceptr, c_uchar, usize, CUstream);
        cuStreamCreate(*mut CUstream, c_uint);
        cuStreamWaitEvent(CUstream, CUevent, c_uint);
        cuStreamQuery(CUstream);
        cuStreamSynchronize(CUstream);
        cuStreamDestroy_v2(CUstream);
        cuEventCreate(*mut CUevent, c_uint);
        cuEventRecord(CUevent, CUstream);
        cuEventSynchronize(CUevent);
        cuEventDestroy_v2(CUevent);
        cuModuleLoadData(*mut CUmodule, *const c_void);
        cuModuleUnload(CUmodule);
        cuModuleGetFunction(*mut CUfunction, CUmodule, *const c_char);
        cuModuleGetGlobal_v2(*mut CUdeviceptr, *mut usize, CUmodule, *const c_char);
        cuFuncSetAttribute(CUfunction, sys::CUfunction_attribute, c_int);
        cuOccupancyMaxActiveBlocksPerMultiprocessor(*mut c_int, CUfunction, c_int, usize);
        cuLaunchKernelEx(*const sys::CUlaunchConfig, CUfunction, *mut *mut c_void, *mut *mut c_void);
    }
    also {
        // Declared here with the code as a number; cudarc uses its `enum`.
        cuGetErrorName(u32, *mut *const c_char);
        cuGetErrorString(u32, *mut *const c_char);
        // Declared here because cudarc has only the `_v2` of CUDA 12.8, which older drivers lack.
        cuEventElapsedTime(*mut f32, CUevent, CUevent);
    }
}

/// Codes of the driver: success, out of memory, no GPU, and a name that is not in a module.
pub const SUCCESS: u32 = CUresult::CUDA_SUCCESS as u32;
pub const OUT_OF_MEMORY: u32 = CUresult::CUDA_ERROR_OUT_OF_MEMORY as u32;
pub const NO_DEVICE: u32 = CUresult::CUDA_ERROR_NO_DEVICE as u32;
pub const NOT_FOUND: u32 = CUresult::CUDA_ERROR_NOT_FOUND as u32;
/// Codes of the driver: work that is not done; peer access that is enabled already, or has no room.
pub const NOT_READY: u32 = CUresult::CUDA_ERROR_NOT_READY as u32;
pub const PEERS_ALREADY: u32 = CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED as u32;
pub const TOO_MANY_PEERS: u32 = CUresult::CUDA_ERROR_TOO_MANY_PEERS as u32;

/// The initialised driver, and the number of GPUs.
pub struct Ready {
    pub driver: &'static Driver,
    pub version: Version,
    pub count: usize,
}

/// Returns the driver; it is found and initialised once.
pub fn ready() -> Result<Ready, DeviceError> {
    static FOUND: OnceLock<Result<(Driver, Version, bool), DeviceError>> = OnceLock::new();
    let (driver, version, any) = FOUND.get_or_init(find).as_ref().map_err(Clone::clone)?;
    let count = if *any { driver.count()? } else { 0 };
    Ok(Ready { driver, version: *version, count })
}

/// Finds the driver, its version, and whether there is a GPU.
fn find() -> Result<(Driver, Version, bool), DeviceError> {
    // SAFETY: loading a library runs its initializers; the library of this name is the driver.
    if !unsafe { sys::is_culib_present() } {
        return Err(DeviceError::NoLibrary);
    }
    // SAFETY: the library is there, as was checked before.
    let driver = unsafe { Driver::find() }.map_err(|name| {
        DeviceError::NoDriver(format!(
            "its library has no function {name}: it is too old, or not NVIDIA's; install the \
             driver, version 525 or newer"
        ))
    })?;
    let mut number = 0;
    // SAFETY: the driver writes one number. This function may be called before the driver is
    // initialised.
    driver.check(unsafe { (driver.cuDriverGetVersion)(&raw mut number) }, "asking its version")?;
    let version = Version::of_driver(number);
    if version < MIN_VERSION {
        return Err(DeviceError::TooOld(format!(
            "the NVIDIA driver is for CUDA {version}, and ripplet needs {MIN_VERSION} or newer: install \
             driver version 525 or newer"
        )));
    }
    // SAFETY: 0 is the only value of the flags.
    match unsafe { (driver.cuInit)(0) } {
        SUCCESS => Ok((driver, version, true)),
        NO_DEVICE => Ok((driver, version, false)),
        code => {
            let (reason, advice) = (driver.reason(code), advice(code));
            Err(DeviceError::NoDriver(format!("it does not start: {reason}{advice}")))
        }
    }
}

/// Returns advice for a driver that does not start, for some codes.
fn advice(code: u32) -> &'static str {
    const STUB_LIBRARY: u32 = CUresult::CUDA_ERROR_STUB_LIBRARY as u32;
    const SYSTEM_NOT_READY: u32 = CUresult::CUDA_ERROR_SYSTEM_NOT_READY as u32;
    const MISMATCH: u32 = CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH as u32;
    const NOT_ON_DEVICE: u32 = CUresult::CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE as u32;
    const UNKNOWN: u32 = CUresult::CUDA_ERROR_UNKNOWN as u32;
    match code {
        STUB_LIBRARY => {
            "; the library path leads to the CUDA toolkit's folder `stubs`: take it out of there"
        }
        SYSTEM_NOT_READY => "; start nvidia-fabricmanager, or wait until it has started",
        MISMATCH => {
            "; the driver's library and its kernel module are of different versions: restart the \
             machine, or take a CUDA compatibility folder out of the library path"
        }
        NOT_ON_DEVICE => "; take the CUDA compatibility folder out of the library path",
        UNKNOWN => "; see whether `nvidia-smi` works, and restart the machine if it does not",
        _ => "",
    }
}

impl Driver {
    /// Returns an error with the operation `what`, unless the code is success.
    pub fn check(&self, code: u32, what: &str) -> Result<(), DeviceError> {
        if code == SUCCESS { Ok(()) } else { Err(self.failed(code, what)) }
    }

    /// Returns the error of a code.
    pub fn failed(&self, code: u32, what: &str) -> DeviceError {
        DeviceError::Failed { what: what.to_owned(), reason: self.reason(code) }
    }

    /// Returns a code's name and description in the driver's words.
    fn reason(&self, code: u32) -> String {
        let text = |ask: unsafe extern "C" fn(u32, *mut *const c_char) -> u32| {
            let mut text = ptr::null();
            // SAFETY: the driver writes the address of a text, or null.
            let asked = unsafe { ask(code, &raw mut text) };
            (asked == SUCCESS && !text.is_null()).then(|| {
                // SAFETY: the driver's texts end in 0 and live as long as its library.
                unsafe { CStr::from_ptr(text) }.to_string_lossy()
            })
        };
        match (text(self.cuGetErrorName), text(self.cuGetErrorString)) {
            (Some(name), Some(sentence)) => format!("{name}, {sentence}"),
            (Some(name), None) => name.into_owned(),
            _ => format!("error {code}"),
        }
    }

    /// Returns the number of GPUs.
    fn count(&self) -> Result<usize, DeviceError> {
        let mut count = 0;
        // SAFETY: the driver writes one number.
        let code = unsafe { (self.cuDeviceGetCount)(&raw mut count) };
        if code == NO_DEVICE {
            return Ok(0);
        }
        self.check(code, "counting GPUs")?;
        Ok(usize::try_from(count).unwrap_or(0))
    }
}
