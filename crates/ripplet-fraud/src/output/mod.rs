//! What a run writes about a window, beside the report: tables, and arrays for graph neural networks.

mod edges;

pub use edges::{Dealings, DealingsOf, Edge, edges_among};

pub(crate) use edges::neighbors_among;
