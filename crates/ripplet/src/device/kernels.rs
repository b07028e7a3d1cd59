//! Kernels compiled before there is a run.

use super::gpu_types::CompiledKernels;
use ripplet_graph::Observer;

/// Returns the number of files of compiled kernels that this program was built with (`RIPPLET_KERNELS`). A run that needs
/// others needs NVRTC.
#[must_use]
pub fn built_in_kernels() -> usize {
    super::gpu::built_in_kernels()
}

/// Compiles the kernels of usual runs (`ripplet_cuda::built_in` lists them) into the folder from which runs load
/// compiled kernels: `RIPPLET_CACHE`, or the user's. Otherwise the first run of each kind takes some seconds longer.
///
/// It compiles for these architectures, (9, 0) being sm_90; if there are none, for the GPUs of this machine. Needs NVRTC,
/// and a driver only to find the GPUs.
///
/// # Errors
/// A sentence, if there is no NVRTC, no GPU and no architecture, if ripplet or the NVRTC does not know an architecture, if
/// the driver here is older than the NVRTC, if the folder cannot be written, or if the observer cancels. The folder keeps
/// what was compiled before.
pub fn compile_kernels(
    architectures: &[(u32, u32)],
    observer: &dyn Observer,
) -> Result<CompiledKernels, String> {
    super::gpu::compile_kernels(architectures, observer)
}
