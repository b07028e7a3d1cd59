//! The GPU engine: kernels, the devices that run them, and executors over them.

pub mod device;
pub mod lp;
#[cfg(feature = "shim")]
pub mod shim;
