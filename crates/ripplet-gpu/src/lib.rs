//! GPUs through the CUDA driver: devices, memory, kernels compiled at run time, and transfers
//! between GPUs. This crate knows no algorithm.
//!
//! | item | contents |
//! |---|---|
//! | [`Device`], [`Peer`] | interface between an engine and a machine that runs kernels |
//! | [`CudaDevice`] | an NVIDIA GPU, through the driver and NVRTC that are found at run time |
//! | [`devices`], [`driver_version`] | discovery of the machine's GPUs |
//! | [`nvrtc`], [`cache`] | compiler of kernels, and the cache of compiled kernels on disk |
//! | [`compile_ahead`], [`built_in_kernels`] | kernels that are compiled before there is a run |
//! | [`text`], [`PLATFORM`] | source text of kernels |
//! | [`Arena`] | plan of one block of device memory |
//! | [`transport`] | transfers between devices that share a run, and their barrier |

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod arena;
mod cuda;
mod device;
mod error;
pub mod text;
pub mod transport;

pub use arena::Arena;
pub use cuda::{
    CudaDevice, Event, Gpu, MIN_ARCHITECTURE, Mapped, Memory, Module, Nccl, Version,
    built_in_kernels, cache, check_compiler, compile_ahead, devices, driver_version, nvrtc,
};
pub use device::{Address, Device, Launch, Peer, Properties, Source, Stream, Transfer};
pub use error::DeviceError;
pub use text::PLATFORM;
