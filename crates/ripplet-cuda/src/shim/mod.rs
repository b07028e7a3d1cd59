//! A device without a GPU: kernels as C++, one fiber a thread.
//!
//! The text that NVRTC would compile is compiled by the system's C++ compiler (`$CXX`, or `c++`)
//! against `shim.hpp`, and each thread of a launch runs as a fiber until it meets the others at a
//! collective. So a test suite executes every kernel where there is no GPU, and finds there what a
//! GPU answers with a wrong label or a hang:
//!
//! - lanes of a warp, or threads of a block, that are at different collectives, at different calls
//!   of one, or reached it by different ways; a thread that has returned while others wait; a part
//!   of a warp as a mask;
//! - writes next to reserved and to shared memory, accesses to what is no memory, misaligned
//!   accesses, shifts by more bits than there are, divisions by zero, a stack that overflows;
//! - loops that wait, with atomics or `__nanosleep`, for what nobody will do;
//! - memory read before it was written: it is filled with 0xA5;
//! - results that depend on the order of threads: [`ShimDevice::with_order`] shuffles it, lets
//!   blocks interleave, and switches at atomics too, the same for the same seed.
//!
//! What it cannot prove: one thread runs at a time, and what it wrote is seen by all. A missing
//! `__threadfence`, an access that ought to be atomic and is not, a bank conflict, and whether all
//! blocks of a cooperative launch fit the device show on a GPU alone; a read past an array within
//! reserved memory shows nowhere. A loop that waits on a `volatile` alone never ends here. Times are
//! a CPU's, and say nothing of a GPU's.
//!
//! `fibers.cpp` has how threads run, `shim.hpp` what of CUDA there is. On x86-64 and aarch64 a
//! switch between fibers is a few instructions; elsewhere it is a `ucontext`'s, and calls of a
//! collective are told apart by their lines alone.

mod device;
mod fault;
mod program;

pub use device::{ShimCarrier, ShimDevice, ShimMemory};
pub use program::ShimModule;
