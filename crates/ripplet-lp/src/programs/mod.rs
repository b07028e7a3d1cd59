//! The programs that come with ripplet: each one file, each through the public hooks alone.

mod cdlp;
mod lpa;

pub use cdlp::Cdlp;
pub use lpa::{BadResolution, Lpa, Resolution};
