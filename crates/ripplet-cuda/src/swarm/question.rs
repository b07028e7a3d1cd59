//! Questions about graphs.

use ripplet_analytics::Lengths;
use ripplet_analytics::closeness::Closeness;

/// What to compute for each graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Closeness centrality of each vertex.
    Closeness {
        /// The definition of closeness.
        measure: Closeness,
        /// Whether to normalise, as [`ripplet_analytics::closeness`] defines it.
        normalized: bool,
        /// How the length of a path is measured.
        lengths: Lengths,
    },
    /// Betweenness centrality of each vertex.
    Betweenness {
        /// Whether to normalise, as [`ripplet_analytics::betweenness`] defines it.
        normalized: bool,
        /// How the length of a path is measured.
        lengths: Lengths,
    },
    /// Betweenness centrality of each edge.
    EdgeBetweenness {
        /// Whether to normalise, as [`ripplet_analytics::edge_betweenness`] defines it.
        normalized: bool,
        /// How the length of a path is measured.
        lengths: Lengths,
    },
    /// The distance between each two vertices.
    Distances {
        /// How the length of a path is measured.
        lengths: Lengths,
    },
    /// A summary of the distances from each vertex.
    Reach {
        /// How the length of a path is measured.
        lengths: Lengths,
    },
    /// A summary of all distances of a graph.
    Summaries {
        /// How the length of a path is measured.
        lengths: Lengths,
    },
}
