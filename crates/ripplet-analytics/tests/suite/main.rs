//! Tests of the analytics through their public interface.

mod chosen;
mod components;
mod compressed;
mod edges;
mod graphs;
mod kcore;
mod ldbc;
mod libraries;
mod machines;
mod memory;
mod oracle;
mod order;
mod others;
mod pagerank;
mod paths;
mod promises;
mod random;
mod ranked;
mod samples;
mod shapes;
mod swarms;
mod weighted;
