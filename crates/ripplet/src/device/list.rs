//! The GPUs of the host.

/// The GPUs of the host, and the versions of the software that they need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuList {
    /// The GPUs by number.
    pub gpus: Vec<GpuInfo>,
    /// The version of CUDA that the driver supports, such as `13.0`, if the driver reports it.
    pub driver: Option<String>,
    /// The version of NVRTC, which compiles kernels, or the reason why there is none.
    pub nvrtc: Result<String, String>,
}

/// A GPU of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuInfo {
    /// The number, as in `cuda:0`.
    pub number: usize,
    /// The model.
    pub name: String,
    /// The architecture: (9, 0) for sm_90.
    pub architecture: (u32, u32),
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of free memory, or the reason why the GPU cannot be used.
    pub free_memory: Result<u64, String>,
}

/// Returns the GPUs of the host; none if the driver finds none.
///
/// # Errors
/// A sentence, if there is no driver or it does not work.
pub fn gpus() -> Result<GpuList, String> {
    super::gpu::list()
}
