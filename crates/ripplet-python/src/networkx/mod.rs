//! The backend of NetworkX: its graphs as arrays, and what it defines itself.
//!
//! | module | contents |
//! |---|---|
//! | `adjacency` | conversion of the dictionaries of a graph, which keeps their order |
//! | `communities` | sums over communities, and the votes of label propagation |
//! | `label_propagation` | `label_propagation_communities` |
//! | `pagerank` | `pagerank` |
//! | `paths` | distances, and betweenness of nodes and edges |
//!
//! Nodes are vertices in the order of the graph, and neighbours are in the order of its dictionaries: algorithms that
//! visit them as NetworkX does add the same numbers in the same order.

mod adjacency;
mod communities;
mod label_propagation;
mod pagerank;
mod paths;

pub use adjacency::{Adjacency, adjacency_of, refused_weights};
pub use communities::{community_sums, vote_graph};
pub use label_propagation::semi_synchronous;
pub use pagerank::walk_ranks;
pub use paths::{dependencies, distances, edge_dependencies, extents, reach};
