//! Distances and shortest paths in many small graphs on a device: the same bits as on the CPU.
//!
//! # Algorithm
//! The algorithms of [`ripplet_analytics::closeness`], [`ripplet_analytics::apsp`],
//! [`ripplet_analytics::betweenness`] and [`ripplet_analytics::edge_betweenness`]: searches from 64
//! sources at once, with a bit of a mask for each, or from 8 if paths are counted or arcs have
//! weights.
//!
//! - A *team*, a warp or a block, has a graph. It keeps the state of a search, and the lists if
//!   there is room, in shared memory. State that is too large is in the device's memory.
//! - Teams take one graph after the other, those with most work first: a million graphs are a few
//!   launches. The smaller the graphs, the more teams share a multiprocessor (`schedule.rs`).
//! - A graph that other teams would wait for is split: many teams take its sources, and their
//!   results are then added in order.
//!
//! # Memory
//! The lists that are read, 16 bytes per graph for its item of work, and the values: mostly 8 bytes a
//! vertex, or 8 a pair or 16 per arc. [`DeviceSwarm::plan`] returns all of it. The memory is kept
//! from run to run, and grows with the largest. Graphs that do not fit together are processed in
//! several parts.
//!
//! # Determinism
//! Numbers of vertices and stored distances are integers. Every floating-point sum has a fixed
//! order, on any team.

mod abi;
mod device;
mod graphs;
mod kind;
mod layout;
mod profile;
mod run;
mod schedule;
mod source;
mod tuning;

pub use device::{DeviceSwarm, SwarmSeconds};
pub use profile::Step;
pub use source::source;
pub use tuning::Tuning;
