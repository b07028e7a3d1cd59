//! The GPU engine: kernels, the devices that run them, and executors on top.

pub mod compressed;
pub mod cuda;
pub mod device;
pub mod exchange;
pub mod lcc;
mod lists;
pub mod lp;
mod places;
#[cfg(feature = "shim")]
pub mod shim;
pub mod swarm;
mod text;

pub use cuda::{CudaDevice, Gpu, Version, devices, driver_version, nvrtc};
pub use device::DeviceError;
pub use lp::{DeviceExecutor, DevicesExecutor};
