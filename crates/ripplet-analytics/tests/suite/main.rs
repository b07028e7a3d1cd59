//! Everything that the analytics promise, checked from outside.

mod edges;
mod graphs;
mod ldbc;
mod machines;
mod memory;
mod oracle;
mod others;
mod paths;
mod promises;
mod random;
mod shapes;
mod swarms;
mod weighed;
