//! NVIDIA's GPUs, through the driver and NVRTC that are found at run time.
//!
//! Neither is needed to build. If one is missing, too old or broken, that is a
//! [`DeviceError`](crate::DeviceError). A kernel is compiled when it is first loaded, and then
//! cached on disk ([`cache`]): a machine with a full cache needs no NVRTC.

mod ahead;
pub mod cache;
mod context;
mod device;
mod discovery;
mod driver;
mod functions;
mod modules;
mod mutex;
mod nccl;
pub mod nvrtc;
mod packaged;
mod peer;
mod registered;
mod staging;
mod version;

pub use ahead::{built_in_kernels, check_compiler, compile_ahead};
pub use device::{CudaDevice, Event, Mapped, Memory};
pub use discovery::{Gpu, MIN_ARCHITECTURE, devices, driver_version};
pub use modules::Module;
pub use nccl::Nccl;
pub use version::Version;
