//! The analyses of shortest paths, as values.

use crate::Lengths;
use crate::closeness::Closeness;

/// An analysis of shortest paths: what the CPU and a device compute alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathAnalysis {
    /// Closeness centrality of each vertex.
    Closeness {
        /// The closeness measure.
        measure: Closeness,
        /// Whether it is normalized, as [`closeness`](crate::closeness) defines it.
        normalized: bool,
        /// The definition of a path's length.
        lengths: Lengths,
    },
    /// Betweenness centrality of each vertex.
    Betweenness {
        /// Whether it is normalized, as [`betweenness`](crate::betweenness) defines it.
        normalized: bool,
        /// The definition of a path's length.
        lengths: Lengths,
    },
    /// Betweenness centrality of each edge.
    EdgeBetweenness {
        /// Whether it is normalized, as [`edge_betweenness`](crate::edge_betweenness) defines it.
        normalized: bool,
        /// The definition of a path's length.
        lengths: Lengths,
    },
    /// The distance from each vertex to each other; infinite without a path.
    Distances {
        /// The definition of a path's length.
        lengths: Lengths,
    },
    /// Per vertex the eccentricity, the number of other vertices that it has a path to, and their
    /// average distance; 0 without any.
    Reach {
        /// The definition of a path's length.
        lengths: Lengths,
    },
    /// A summary of all distances of a graph: diameter, radius, average and others.
    Summary {
        /// The definition of a path's length.
        lengths: Lengths,
    },
}

impl PathAnalysis {
    /// Returns the definition of a path's length.
    pub fn lengths(self) -> Lengths {
        match self {
            PathAnalysis::Closeness { lengths, .. }
            | PathAnalysis::Betweenness { lengths, .. }
            | PathAnalysis::EdgeBetweenness { lengths, .. }
            | PathAnalysis::Distances { lengths }
            | PathAnalysis::Reach { lengths }
            | PathAnalysis::Summary { lengths } => lengths,
        }
    }

    /// Returns the analysis with another definition of a path's length.
    #[must_use]
    pub fn with_lengths(mut self, chosen: Lengths) -> PathAnalysis {
        match &mut self {
            PathAnalysis::Closeness { lengths, .. }
            | PathAnalysis::Betweenness { lengths, .. }
            | PathAnalysis::EdgeBetweenness { lengths, .. }
            | PathAnalysis::Distances { lengths }
            | PathAnalysis::Reach { lengths }
            | PathAnalysis::Summary { lengths } => *lengths = chosen,
        }
        self
    }
}
