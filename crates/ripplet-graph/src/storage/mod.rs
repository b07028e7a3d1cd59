//! Storage of a graph's neighbour lists: plain or compressed, behind one view.
//!
//! ```text
//! Graph            plain lists        4 bytes per arc, read directly
//! CompressedGraph  compressed lists   fewer bytes, decoded on each access
//! StoredGraph      either, owned
//! GraphView        either, borrowed: the parameter of every algorithm
//! ```
//!
//! Only this module distinguishes the storages. The results of algorithms do not depend on them.
//!
//! # How an analysis reads a graph
//! An analysis takes `graph: impl Into<GraphView<'_>>`, so that callers pass `&Graph`,
//! `&CompressedGraph` or `&StoredGraph`. Sizes and ids come from the view. Lists come from
//! [`dispatch_lists!`](crate::dispatch_lists), which compiles an expression once per storage. The
//! expression calls a function that is generic over [`NeighborLists`]:
//!
//! ```
//! use ripplet_graph::storage::NeighborLists;
//! use ripplet_graph::{EdgeTable, GraphBuilder, GraphView, VertexIds, dispatch_lists};
//!
//! /// Returns the sum over all arcs of the larger of both ends.
//! fn sum_of_larger<'g>(graph: impl Into<GraphView<'g>>) -> u64 {
//!     fn of<L: NeighborLists>(out: L) -> u64 {
//!         let vertices = 0..out.vertices();
//!         vertices.map(|v| out.each_of(v).map(|u| u64::from(u).max(v as u64)).sum::<u64>()).sum()
//!     }
//!     dispatch_lists!(graph.into(), (out, _incoming) => of(out))
//! }
//!
//! let ids = VertexIds::Consecutive { first: 0, count: 3 };
//! let graph = GraphBuilder::new().build(EdgeTable::new(ids, vec![0, 1], vec![1, 2])?)?;
//! assert_eq!(sum_of_larger(&graph), 1 + 1 + 2 + 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - In a graph's lists, `local` is the vertex. `incoming` equals `out` if the graph is undirected.
//! - [`NeighborLists::each_of`] iterates over a list. On plain lists it compiles to a loop over a
//!   slice; on compressed lists it decodes and allocates nothing.
//! - [`NeighborLists::slice_of`] returns a list as a slice, for passes that go backwards or read
//!   twice. It decodes into a [`Decoded`], which each thread allocates once, before the pass.
//! - Lists are [`Copy`] and may be read by all threads at once.
//!
//! A pass that works shard by shard uses [`dispatch_storage!`](crate::dispatch_storage) and is
//! generic over [`ShardLists`]. A loop over single vertices in any order, such as a frontier, reads
//! [`VertexLists`], with prefetching. A single list outside of a hot loop comes from
//! [`GraphView::neighbors`].

mod flat;
mod lists;
mod plain;
mod prefetch;
mod stored;
mod vertex_lists;
mod view;

pub mod compressed;

pub use flat::FlatGraph;
pub use lists::{Decoded, GraphLists, NeighborLists, ShardLists};
pub use plain::{
    Adjacency, Direction, Graph, GraphBytes, InvalidGraph, MAX_SHARD_ARCS, Neighbors, Shard,
};
pub use prefetch::{PREFETCH_DISTANCE, prefetch};
pub use stored::{Storage, StoredGraph};
pub use vertex_lists::{
    DecodedParts, EitherParts, ListParts, Listed, OneList, PlainParts, PlainPlace,
    PlainVertexLists, VertexLists,
};
pub use view::{GraphView, ViewNeighbors};
