//! Rules by which edges become a graph.

use crate::{Cancel, Direction, Duplicates, SelfLoops, WeightLedger};

/// Rules by which edges become a graph, or the graphs of a batch.
///
/// The default suits community detection: undirected, self-loops dropped, repeated edges merged.
///
/// ```
/// use ripplet_graph::{BuildOptions, Direction, SelfLoops};
///
/// let options = BuildOptions { self_loops: SelfLoops::Keep, ..Direction::Directed.into() };
/// assert_eq!(options.direction, Direction::Directed);
/// ```
#[derive(Clone, Debug, Default)]
pub struct BuildOptions {
    /// Whether edges have a direction.
    pub direction: Direction,
    /// The treatment of self-loops.
    pub self_loops: SelfLoops,
    /// The treatment of repeated edges.
    pub duplicates: Duplicates,
    /// Decides whether weights may be stored coarsely, and records changes.
    pub weights: WeightLedger,
    /// Ends the building.
    pub cancel: Cancel,
}

impl From<Direction> for BuildOptions {
    /// Returns the defaults with this direction.
    fn from(direction: Direction) -> BuildOptions {
        BuildOptions { direction, ..BuildOptions::default() }
    }
}
