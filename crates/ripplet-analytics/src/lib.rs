//! Analytics over a graph beside its communities, on the CPU's cores.
//!
//! | module | what it computes |
//! |---|---|
//! | [`lcc`] | the local clustering coefficient of each vertex, and its triangles |
//! | [`apsp`] | the distances between all vertices, row by row or in sum |
//! | [`closeness`] | how near each vertex is to all others |
//! | [`betweenness`] | how many shortest ways lead through each vertex |
//! | [`edge_betweenness`] | how many shortest ways lead along each edge |
//! | [`components`] | which vertices hang together |
//! | [`pagerank`] | how often somebody who follows arcs is at each vertex |
//!
//! Ways are as long as they have arcs, or as these weigh: [`Lengths`]. All also run over a batch of many small
//! graphs, each by one thread.
//!
//! An algorithm is a module: what it returns, its memory, its determinism and its reference stand
//! at its head. All run on rayon's current pool; nothing here reads, writes or prints.
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
mod eights;
mod lengths;
mod lists;
mod pairs;
mod plan;
mod reach;
mod run;
mod search;
mod searches;
mod swarm;
mod tally;
mod waves;
mod weighed;

pub mod apsp;
pub mod betweenness;
pub mod closeness;
pub mod components;
pub mod edge_betweenness;
pub mod lcc;
pub mod no_length;
pub mod pagerank;

pub use lengths::Lengths;
pub use no_length::NoLength;
pub use plan::{Item, Plan};
pub use run::{InvalidSetting, Observer, RunError};
