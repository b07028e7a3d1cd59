//! Graph analytics beside communities, on CPU cores.
//!
//! | module | what it computes |
//! |---|---|
//! | [`lcc`] | the local clustering coefficient of each vertex, and its triangles |
//! | [`apsp`] | all-pairs shortest-path distances, row by row or summed |
//! | [`closeness`] | closeness centrality of each vertex |
//! | [`betweenness`] | betweenness centrality of each vertex |
//! | [`edge_betweenness`] | betweenness centrality of each edge |
//! | [`components`] | connected components |
//! | [`kcore`] | the coreness of each vertex |
//! | [`pagerank`] | PageRank of each vertex |
//!
//! [`Lengths`] selects what the length of a path is: its number of arcs, or the sum of their
//! weights. All algorithms also run over a batch of many small graphs, one thread per graph.
//!
//! Each algorithm is a module. The head of the module describes its result, memory, determinism and
//! references. All run on rayon's current pool; this crate reads, writes and prints nothing.
//!
//! [`pagerank`], [`components`] and [`lcc`] also run on ranks, processes of several machines that each have a part of the
//! graph: [`RankPart`].
//!
//! A graph is given as a [`GraphView`](ripplet_graph::GraphView): plain or compressed. Both
//! give equal bits, and compressed graphs are not decoded as a whole.
//!
//! ```
//! use ripplet_analytics::lcc::{Definition, Lcc};
//! use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
//!
//! // A triangle, and a vertex that hangs on it.
//! let ids = VertexIds::Consecutive { first: 0, count: 4 };
//! let edges = EdgeTable::new(ids, vec![0, 1, 2, 2], vec![1, 2, 0, 3])?;
//! let graph = GraphBuilder::new().build(edges)?;
//!
//! let found = Lcc::new(Definition::Ldbc).run(&graph, &mut ())?;
//! assert_eq!(found.coefficients, [1.0, 1.0, 1.0 / 3.0, 0.0]);
//! assert_eq!(found.triangle_count, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod brandes;
mod dijkstra;
mod distances;
mod lengths;
mod pairwise;
mod path_analysis;
mod rank_part;
mod run;
mod sample;
mod search;
mod searches;
mod sides;
mod source_batches;
mod sources;
mod swarm;

pub mod apsp;
pub mod betweenness;
pub mod closeness;
pub mod components;
pub mod edge_betweenness;
pub mod kcore;
pub mod lcc;
pub mod no_length;
pub mod pagerank;

pub use lengths::Lengths;
pub use path_analysis::PathAnalysis;
pub use rank_part::RankPart;
pub use ripplet_graph::{Item, Plan};
pub use run::{AnalysisError, InvalidSetting, NoLength};
pub use sample::Sample;
pub use sources::{Sources, SourcesError};
