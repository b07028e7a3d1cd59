//! The graph of a range of time.

use crate::TimeRange;
use ripplet_graph::Graph;

/// A window: the transactions of a range of time as a graph.
///
/// The graph is undirected and weighted, and has all entities that were seen so far as vertices; who is in no
/// transaction of the window has no arcs.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Which of the run's windows it is, from 0.
    pub index: u32,
    /// The range of time.
    pub range: TimeRange,
    /// Who dealt with whom, and how much that weighs.
    pub graph: Graph,
    /// How many transactions there are in it.
    pub transactions: u64,
}
