//! The length of a path.

use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{GraphView, WeightScale};

/// The definition of a path's length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lengths {
    /// The number of arcs: weights are ignored.
    #[default]
    Hops,
    /// The sum of the arcs' weights, exactly as they are stored; of parallel arcs the lightest
    /// counts. In a graph without weights each arc has length 1.
    ///
    /// A graph builder adds up the weights of repeated edges by default. Use
    /// [`ripplet_graph::Duplicates::Least`] here.
    Weights,
}

impl Lengths {
    /// Returns whether lengths are sums of weights, rather than numbers of arcs.
    pub(crate) fn weigh_in(self, graph: GraphView<'_>) -> bool {
        self == Lengths::Weights && graph.is_weighted()
    }

    /// Returns whether lengths in a batch are sums of weights.
    pub(crate) fn weigh_in_batch(self, graphs: BatchSlice<'_>) -> bool {
        self == Lengths::Weights && graphs.batch().is_weighted()
    }

    /// Returns the scale that converts stored lengths to real ones.
    pub(crate) fn scale_in(self, graph: GraphView<'_>) -> WeightScale {
        if self.weigh_in(graph) { graph.weight_scale() } else { WeightScale::ONE }
    }

    /// Returns the factor for a graph of a batch; its scale is 1 if there are no weights.
    pub(crate) fn scale_in_member(self, graph: BatchGraph<'_>) -> WeightScale {
        if self == Lengths::Weights { graph.weight_scale() } else { WeightScale::ONE }
    }
}
