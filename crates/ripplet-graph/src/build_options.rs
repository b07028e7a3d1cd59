//! Rules by which edges become a graph.

use crate::{Cancel, Direction, WeightLedger};

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

/// The treatment of edges from a vertex to itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SelfLoops {
    /// Dropped: a vertex has no vote in its own label.
    #[default]
    Drop,
    /// Kept, as one arc.
    Keep,
}

/// The treatment of several edges between the same two vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// Merged into one edge; weights add up.
    #[default]
    Merge,
    /// Merged into one edge with the least weight: for weights that are lengths.
    Least,
    /// Kept, as a multigraph.
    Keep,
}

impl Duplicates {
    /// Returns whether duplicates are merged.
    pub(crate) fn become_one(self) -> bool {
        self != Duplicates::Keep
    }

    /// Returns the stored weight of one edge merged from two, if `first <= other`.
    #[inline]
    pub(crate) fn weight_of_two(self, first: u64, other: u32) -> u64 {
        if self == Duplicates::Least { first } else { first + u64::from(other) }
    }
}
