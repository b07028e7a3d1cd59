//! Everything that label propagation promises, checked from outside.

mod conformance;
mod graphs;
mod oracle;
mod promises;
mod quality;
