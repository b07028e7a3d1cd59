//! Graph data structures: no algorithms, devices or files.
//!
//! ```text
//! EdgeTable ── GraphBuilder ──▶ Graph = shards of adjacency + external ids
//!                                 └─ Shard = a contiguous vertex range: out (and incoming) Adjacency
//! Adjacency ── compressed::CompressedAdjacency::of ──▶ the same lists in about a third of the bits
//! GraphView = a borrowed graph of either storage: what algorithms read (see `storage`)
//! batch::BatchTable ── BatchBuilder ──▶ GraphBatch = many small graphs in flat arrays
//! ```
//!
//! Vertices are `u32` inside and are numbered in ascending order of their external ids, so that
//! "the smallest label" is the same inside and outside. Arcs are counted in `u64`; a shard holds at
//! most 2³¹ of them, so that its offsets fit `u32`.

mod atomic;
mod buffer;
mod build_options;
mod builder;
mod by_size;
mod cancel;
mod edges;
mod grouped;
mod identity;
mod ids;
mod observer;
mod plan;
mod reduce;
mod weight;

pub mod batch;
pub mod memory;
pub mod splitmix;
pub mod storage;
pub mod tasks;

pub use atomic::{as_atomic, as_atomic_words, as_plain, as_plain_words};
pub use buffer::Buffer;
pub use build_options::{BuildOptions, Duplicates, SelfLoops};
pub use builder::{BuildError, GraphBuilder, OwnArcs, PartError};
pub use by_size::{Ranked, Ranking, ranked_by_size};
pub use cancel::{Cancel, Cancelled};
pub use edges::{EdgeTable, EdgeTableError};
pub use identity::identity_of_values;
pub use ids::{ExternalId, MAX_VERTICES, Names, VertexId, VertexIds};
pub use memory::OutOfMemory;
pub use observer::Observer;
pub use plan::{Item, Plan};
pub use reduce::{Alone, Reduce};
pub use storage::{
    Adjacency, Direction, Graph, GraphBytes, GraphView, InvalidGraph, MAX_SHARD_ARCS, Neighbors,
    Shard, compressed,
};
pub use weight::{LARGEST_WEIGHT, WeightLedger, WeightLoss, WeightScale, weight_flaw};
