//! The local clustering coefficient: the fraction of pairs of a vertex's neighbours that are
//! adjacent.
//!
//! # What it returns
//! For each vertex a coefficient from 0 to 1, by one of two [`Definition`]s; the number of
//! triangles of the graph; and, if requested, the number of triangles at each vertex. A triangle is
//! three vertices with an edge between any two, in whatever directions. Repeated edges count once;
//! self-loops and weights are ignored.
//!
//! # Directed graphs
//! Neighbours are vertices with an arc in either direction. On an undirected graph each edge is two
//! arcs, and the two definitions agree: triangles over pairs of neighbours.
//!
//! # Algorithm
//! Vertices are ranked by degree, highest first, and each edge is kept once, at its end of lower
//! degree. This bounds a list by √(2 · edges). Every triangle {v, u, w} is then found once: at v,
//! as a neighbour w of a neighbour u of v that is also v's neighbour (see `enumerate.rs`). It adds
//! the number of arcs of its edges, 1 or 2 each, to its corners. The small graphs of a batch are
//! processed without ranks (`batch.rs`).
//!
//! # Memory
//! Beside the graph at most:
//!
//! - 4 bytes per edge, and a bit more in a directed graph;
//! - 16 bytes per vertex, and 8 more if triangles are requested; the results are part of this;
//! - 2 MiB (directed: 4 MiB) for the hubs' bitmaps, and less than that per thread.
//!
//! [`Lcc::plan`] and, for a batch, [`Lcc::plan_of_batch`] return the exact bounds. Compressed lists
//! are decoded three times while the edges are ranked, without further memory.
//!
//! # Determinism
//! Counts are integers, and a coefficient is one division of two of them: the same bits for any
//! number of threads and any shards.
//!
//! # References
//! Iosup et al., *LDBC Graphalytics*, VLDB 2016, and its specification, section LCC. Fagiolo,
//! *Clustering in complex directed networks*, Physical Review E 76, 2007. The enumeration is the
//! *forward* algorithm: Schank, Wagner, *Finding, counting and listing all triangles in large
//! graphs*, WEA 2005; Latapy, *Main-memory triangle computations*, Theoretical Computer Science
//! 407, 2008.

mod batch;
mod counts;
mod definition;
mod enumerate;
mod graph;
mod hubs;
mod neighbors;
mod oriented;
mod ranked;
mod rule;

pub use batch::BatchCoefficients;
pub use definition::{Definition, Lcc};
pub use graph::Coefficients;
