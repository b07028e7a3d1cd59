//! All tests of the crate in one binary.

mod browser;
mod market;
mod report;
