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
//!
//! # Examples
//! A kernel that doubles 32 numbers on the first GPU:
//! ```no_run
//! use ripplet_gpu::{CudaDevice, Device, Launch, Source};
//!
//! let device = CudaDevice::new(0)?;
//! let text = "extern \"C\" __global__ void twice(unsigned* numbers) { numbers[threadIdx.x] *= 2; }";
//! let module = device.load(&Source { name: "example".into(), text: text.into() })?;
//! let memory = device.reserve(4 * 32)?;
//! let numbers: Vec<u8> = (0..32u32).flat_map(u32::to_le_bytes).collect();
//! device.write(&memory, 0, &numbers)?;
//! let launch = Launch { kernel: "twice", blocks: 1, threads: 32, shared: 0, cooperative: false };
//! // SAFETY: the kernel takes one address, of memory that is kept, and stays within it.
//! unsafe { device.launch(&module, &launch, &device.address(&memory).0.to_le_bytes()) }?;
//! let mut doubled = [0; 4 * 32];
//! device.read(&memory, 0, &mut doubled)?;
//! assert_eq!(doubled[4..8], 2u32.to_le_bytes());
//! # Ok::<(), ripplet_gpu::DeviceError>(())
//! ```

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
