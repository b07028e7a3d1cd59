//! Arguments and results of the GPU part, which a build without the feature `cuda` has, too.

use std::path::PathBuf;
use thiserror::Error;

/// The traffic among several GPUs in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchanged {
    /// The name of the transport: `peer`, `nccl`, `copy`.
    pub transport: &'static str,
    /// Bytes that the GPUs sent.
    pub bytes: u64,
}

/// Error of clustering coefficients on a device.
#[derive(Debug, Error)]
pub enum LccError {
    /// The computation on the CPU failed.
    #[error(transparent)]
    Cpu(#[from] ripplet_analytics::AnalysisError),
    /// The computation on a GPU failed.
    #[error(transparent)]
    Device(#[from] ripplet_lp::RunError),
    /// A GPU reads plain lists only.
    #[error("a GPU computes clustering coefficients of plain lists: decode the graph first")]
    Compressed,
    /// Several GPUs do not share this analysis.
    #[error("clustering coefficients run on one GPU")]
    SeveralGpus,
}

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

/// Result of [`compile_kernels`](super::compile_kernels).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledKernels {
    /// The folder that has the compiled kernels.
    pub folder: PathBuf,
    /// The architectures, (9, 0) being sm_90.
    pub architectures: Vec<(u32, u32)>,
    /// The number of files of kernels for all architectures.
    pub files: usize,
    /// How many of them were compiled now; the folder had the others.
    pub compiled: usize,
}

/// How a GPU counts votes in low- and middle-degree vertices; labels do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GpuCounting {
    /// In tables in global memory.
    GlobalTables,
    /// In a table in the shared memory of a block.
    SharedTables,
    /// By warps that vertices share, without a table. This is the default.
    #[default]
    PackedWarps,
}

impl GpuCounting {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            GpuCounting::GlobalTables => "global tables",
            GpuCounting::SharedTables => "shared tables",
            GpuCounting::PackedWarps => "packed warps",
        }
    }
}

/// The seconds of a run, without those of its checkpoints and of who takes its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunSeconds {
    /// Compiling a GPU's kernels, or finding them compiled.
    pub kernels: f64,
    /// Transfers to and from a device.
    pub transfer: f64,
    /// Computing: rounds, splitting and merging, or an analysis.
    pub compute: f64,
}

/// The reason why a GPU cannot be opened.
pub(super) struct Unopened {
    /// A sentence for a user who chose the GPU.
    pub error: String,
    /// Whether it is the usual case: the host has no NVIDIA driver, or the build no support of it.
    pub is_usual: bool,
}
