//! The GPUs of the host.

use super::gpu_types::GpuList;

/// Returns the GPUs of the host; none if the driver finds none.
///
/// # Errors
/// A sentence, if there is no driver or it does not work.
pub fn gpus() -> Result<GpuList, String> {
    super::gpu::list()
}
