//! Tests of GPUs through the driver: with the machine's libraries, or with fake ones.

mod cache;
#[cfg(target_os = "linux")]
mod fake_driver;
mod nvrtc;
