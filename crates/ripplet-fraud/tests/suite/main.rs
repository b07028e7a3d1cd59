//! The tests of ripplet-fraud, in one binary.

mod streams;
mod windows;
