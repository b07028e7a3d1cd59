//! Discovery of the machine's GPUs.

use super::context::Context;
use super::driver::{self, Driver, Ready};
use super::version::Version;
use crate::device::Properties;
use crate::error::DeviceError;
use cudarc::driver::sys::{CUdevice, CUdevice_attribute};
use std::ffi::{CStr, c_char, c_int};

/// The oldest architecture, Turing: with independent thread scheduling and warp matching.
pub const MIN_ARCHITECTURE: (u32, u32) = (7, 5);

/// A GPU of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// Number, as in `cuda:0`.
    pub number: usize,
    /// Properties of the GPU.
    pub properties: Properties,
    /// Bytes of free memory, or the reason why the GPU cannot be used.
    pub free_memory: Result<u64, DeviceError>,
}

/// Returns the machine's GPUs by number; none if the driver finds none.
///
/// # Errors
/// If there is no driver, or it does not work.
///
/// # Examples
/// ```no_run
/// for gpu in ripplet_gpu::devices()? {
///     println!("cuda:{} {}, {} bytes", gpu.number, gpu.properties.name, gpu.properties.memory);
/// }
/// # Ok::<(), ripplet_gpu::DeviceError>(())
/// ```
pub fn devices() -> Result<Vec<Gpu>, DeviceError> {
    let ready = driver::ready()?;
    let gpu = |number| {
        let (device, properties) = describe(&ready, number)?;
        let free_memory = supported(&properties)
            .and_then(|()| Context::open(ready.driver, device))
            .and_then(|context| context.free_memory());
        Ok(Gpu { number, properties, free_memory })
    };
    (0..ready.count).map(gpu).collect()
}

/// Returns the version of CUDA that the driver supports.
///
/// # Errors
/// If there is no driver, or it does not work.
pub fn driver_version() -> Result<Version, DeviceError> {
    driver::ready().map(|ready| ready.version)
}

/// Returns the driver's handle of a GPU, and its properties.
pub(super) fn describe(
    ready: &Ready,
    number: usize,
) -> Result<(CUdevice, Properties), DeviceError> {
    let Ready { driver, count, .. } = *ready;
    let none = DeviceError::NoSuchDevice { number, count };
    if number >= count {
        return Err(none);
    }
    let ordinal = c_int::try_from(number).map_err(|_| none)?;
    let mut device = 0;
    // SAFETY: the driver writes one number.
    driver.check(unsafe { (driver.cuDeviceGet)(&raw mut device, ordinal) }, "finding it")?;
    use CUdevice_attribute as Attribute;
    let attribute = |which| attribute(driver, device, which);
    let properties = Properties {
        name: name(driver, device)?,
        architecture: (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        shared_per_block: attribute(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        )?,
        memory: memory(driver, device)?,
    };
    Ok((device, properties))
}

/// Refuses a GPU of an architecture before [`MIN_ARCHITECTURE`].
pub(super) fn supported(properties: &Properties) -> Result<(), DeviceError> {
    let Properties { name, architecture, .. } = properties;
    if *architecture >= MIN_ARCHITECTURE {
        return Ok(());
    }
    let (major, minor) = architecture;
    Err(DeviceError::TooOld(format!(
        "the GPU {name} is of architecture sm_{major}{minor}, and ripplet needs sm_75 (Turing, of \
         2018) or newer: run with `--device cpu`"
    )))
}

fn name(driver: &Driver, device: CUdevice) -> Result<String, DeviceError> {
    let mut name = [0_u8; 256];
    // SAFETY: the driver writes 256 bytes at most, the last of them 0.
    let code = unsafe { (driver.cuDeviceGetName)(name.as_mut_ptr().cast::<c_char>(), 256, device) };
    driver.check(code, "asking its name")?;
    let name = CStr::from_bytes_until_nul(&name).unwrap_or_default();
    Ok(name.to_string_lossy().into_owned())
}

fn memory(driver: &Driver, device: CUdevice) -> Result<u64, DeviceError> {
    let mut bytes = 0;
    // SAFETY: the driver writes one number.
    let code = unsafe { (driver.cuDeviceTotalMem_v2)(&raw mut bytes, device) };
    driver.check(code, "asking how much memory it has")?;
    Ok(bytes as u64)
}

fn attribute(
    driver: &Driver,
    device: CUdevice,
    which: CUdevice_attribute,
) -> Result<u32, DeviceError> {
    let mut value = 0;
    // SAFETY: the driver writes one number.
    let code = unsafe { (driver.cuDeviceGetAttribute)(&raw mut value, which, device) };
    driver.check(code, "asking what it is")?;
    Ok(u32::try_from(value).unwrap_or(0))
}
