//! Errors of devices, of the driver, and of the compiler of kernels.

use thiserror::Error;

/// Error of a device, or of the driver.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DeviceError {
    /// The driver's library cannot be loaded.
    #[error(
        "no NVIDIA driver: no library libcuda.so.1 (nvcuda.dll on Windows) that can be loaded; it \
         comes with NVIDIA's driver, version 525 or newer"
    )]
    NoLibrary,
    /// The driver does not work.
    #[error("no NVIDIA driver: {0}")]
    NoDriver(String),
    /// There is no device of this number.
    #[error("{}", no_such_device(*.number, *.count))]
    NoSuchDevice {
        /// Requested number.
        number: usize,
        /// Number of devices.
        count: usize,
    },
    /// The device, or the driver, is too old for the engine.
    #[error("{0}")]
    TooOld(String),
    /// There is no compiler for kernels.
    #[error(
        "no compiler for GPU kernels: {0}; install NVRTC 13 (the CUDA toolkit has it, and so does \
         the Python package nvidia-cuda-nvrtc) where the system finds libraries"
    )]
    NoCompiler(String),
    /// Kernels do not compile.
    #[error("the kernels of {name} do not compile:\n{log}")]
    Compile {
        /// Name of the program.
        name: String,
        /// Output of the compiler.
        log: String,
    },
    /// The device refused memory.
    #[error("the GPU refused {bytes} bytes, of {free} that are free")]
    OutOfMemory {
        /// Requested bytes.
        bytes: u64,
        /// Free bytes.
        free: u64,
    },
    /// The device failed, or was taken away.
    #[error("the GPU failed at {what}: {reason}")]
    Failed {
        /// Operation that failed.
        what: String,
        /// Reason, in the driver's words.
        reason: String,
    },
}

fn no_such_device(number: usize, count: usize) -> String {
    match count {
        0 => "the NVIDIA driver finds no GPU".to_owned(),
        1 => format!("there is no GPU {number}: this machine has one, cuda:0"),
        _ => format!(
            "there is no GPU {number}: this machine has {count}, cuda:0 to cuda:{}",
            count - 1
        ),
    }
}
