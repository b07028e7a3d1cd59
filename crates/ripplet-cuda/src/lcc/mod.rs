//! Local clustering coefficients on a device: the same bits as on the CPU.
//!
//! # Algorithm
//! The algorithm of [`ripplet_analytics::lcc`]: each edge is kept once, in the list of its vertex
//! of lower degree, and every triangle is found once.
//!
//! - The lists are the graph's arcs, in their order, without those that are not kept
//!   (`orient.cuh`). No list is sorted, and each block processes the same number of arcs.
//! - A bit matrix has the edges between *hubs*, the vertices of highest degree (`hubs.cuh`). A pair
//!   of hubs in a vertex's list is one lookup (`pairs.cuh`).
//! - The lists of the other neighbours are walked over, and each entry is looked up in a hash table
//!   of the vertex's own list in shared memory (`walk.cuh`).
//! - A list of up to 32 neighbours is processed by a warp, of up to 512 by a block, and a longer
//!   one by a block for each 512 neighbours. The table holds a list of more than 4096 in parts
//!   (`count.cuh`).
//!
//! # Memory
//! On the device, beside the graph: 4 bytes per edge (and a bit, if the graph is directed) and 16
//! bytes per vertex. Offsets, slices and names of hubs add at most 2 % of the former and a tenth of a
//! byte per vertex. Triangles add 8 bytes per vertex, and a graph of 2³² edges or more 4 bytes a
//! vertex; see [`DeviceLcc::plan`]. The bit matrix reuses memory that is needed only before the
//! lists exist.
//!
//! # Determinism
//! Counts are integers, and a coefficient is one division of two integers.

mod device;
mod layout;
mod profile;
mod run;
mod source;
mod tuning;

pub use device::DeviceLcc;
pub use profile::Profile;
pub use source::source;
pub(crate) use source::usual_sources;
pub use tuning::Tuning;
