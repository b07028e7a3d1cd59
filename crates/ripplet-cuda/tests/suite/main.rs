//! The GPU engine, on a machine without a GPU.

mod cache;
mod cuda;
#[cfg(target_os = "linux")]
mod fake;
