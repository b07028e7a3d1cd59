//! Kernels without a GPU, for tests: [`EmulatedDevice`] runs them as C++, with a fiber for each
//! thread. [`fakes`] has libraries that stand in for NVIDIA's.
//!
//! The system's C++ compiler (`$CXX`, or `c++`) compiles the text that NVRTC would compile, against
//! `emulator.hpp`. Each thread of a launch runs as a fiber until it reaches a collective. So a test
//! suite executes every kernel without a GPU, and detects what on a GPU shows as a wrong result or
//! a hang:
//!
//! - lanes of a warp, or threads of a block, that are at different collectives, at different calls
//!   of one, or reached it through different calls; a thread that has returned while others wait; a
//!   mask that is a part of a warp;
//! - writes next to reserved and to shared memory, accesses to unmapped memory, misaligned
//!   accesses, shifts by more bits than there are, divisions by zero, a stack that overflows;
//! - loops that wait, with atomics or `__nanosleep`, for something that never happens;
//! - memory read before it was written: it is filled with 0xA5;
//! - results that depend on the order of threads: [`EmulatedDevice::with_order`] shuffles it, lets
//!   blocks interleave, and switches at atomics too. The same seed gives the same order.
//!
//! What it cannot detect: one thread runs at a time, and its writes are visible to all. A missing
//! `__threadfence`, an access that should be atomic, a bank conflict, and a cooperative launch that
//! is too large for the device show on a GPU only. A read past an array within reserved memory
//! shows nowhere. A loop that waits on a `volatile` alone never ends here. Times are a CPU's, and
//! mean nothing for a GPU.
//!
//! `fibers.cpp` runs threads, and `emulator.hpp` declares the part of CUDA that kernels use. On x86-64
//! and aarch64 a switch between fibers takes a few instructions. Elsewhere it uses `ucontext`, and
//! calls of a collective are distinguished by their lines only.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod communicator;
mod device;
pub mod fakes;
mod fault;
mod module;
mod mutex;

pub use communicator::EmulatedCommunicator;
pub use device::{EmulatedDevice, EmulatedMemory};
pub use module::EmulatedModule;

use ripplet_gpu::{DeviceError, nvrtc};

/// Whether NVRTC is on this machine. Prints the reason if it is not.
///
/// # Panics
/// If there is no NVRTC, and the environment variable `RIPPLET_REQUIRE_NVRTC` is set.
#[must_use]
pub fn has_nvrtc() -> bool {
    match nvrtc::available() {
        Ok(_) => true,
        Err(error) => {
            assert!(std::env::var_os("RIPPLET_REQUIRE_NVRTC").is_none(), "{error}");
            assert!(matches!(error, DeviceError::NoCompiler(_)), "{error:?}");
            println!("skipped: {error}");
            false
        }
    }
}
