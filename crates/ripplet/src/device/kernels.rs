//! Kernels compiled before there is a run.

use super::gpu_types::CompiledKernels;
use ripplet_graph::Observer;

/// Compiles the kernels of usual runs (`ripplet_cuda::built_in` lists them) into the folder from which runs take
/// compiled kernels: `RIPPLET_CACHE`, or the user's. Without it, the first run of each kind takes some seconds longer.
/// Needs NVRTC; without `architectures`, those of this machine's GPUs are taken, for which a driver is needed.
///
/// A cancelled observer ends it between two compilations; the folder keeps what was compiled.
///
/// # Errors
/// A sentence, if there is no NVRTC, no GPU and no architecture is named, the NVRTC does not know an architecture, or the
/// folder cannot be written.
pub fn compile_kernels(
    architectures: &[(u32, u32)],
    observer: &dyn Observer,
) -> Result<CompiledKernels, String> {
    super::gpu::compile_kernels(architectures, observer)
}
