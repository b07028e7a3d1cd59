//! The tests of ripplet-fraud, in one binary.

mod browser;
mod market;
mod report;
mod streams;
mod windows;
