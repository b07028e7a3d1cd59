//! What the length of a way is.

use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Graph, WeightScale};

/// What the length of a way is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lengths {
    /// Its number of arcs: weights change nothing.
    #[default]
    Hops,
    /// The sum of its arcs' weights, exact as they are stored; of parallel arcs the least counts. In a
    /// graph without weights each arc has length 1.
    ///
    /// A builder adds up the weights of repeated edges unless it is told
    /// [`ripplet_graph::Duplicates::Least`], as it should be here.
    Weights,
}

impl Lengths {
    /// Whether ways have to be weighed: otherwise arcs are counted.
    pub(crate) fn weigh_in(self, graph: &Graph) -> bool {
        self == Lengths::Weights && graph.is_weighted()
    }

    /// The same of a batch.
    pub(crate) fn weigh_in_batch(self, graphs: BatchSlice<'_>) -> bool {
        self == Lengths::Weights && graphs.batch().is_weighted()
    }

    /// How lengths, which are integers, stand for real ones.
    pub(crate) fn scale_in(self, graph: &Graph) -> WeightScale {
        if self.weigh_in(graph) { graph.weight_scale() } else { WeightScale::ONE }
    }

    /// The same of a graph of a batch, whose scale is 1 where there are no weights.
    pub(crate) fn scale_in_member(self, graph: BatchGraph<'_>) -> WeightScale {
        if self == Lengths::Weights { graph.weight_scale() } else { WeightScale::ONE }
    }
}
