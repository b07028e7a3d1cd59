//! Subject of an analysis: one graph, or each graph of a batch.

use super::BatchSlice;
use crate::{Graph, GraphView};

/// The graphs of an analysis: a single one, or each of a batch.
///
/// The single graph has plain lists, as devices need them, or is a [`GraphView`] of any storage.
#[derive(Clone, Copy)]
pub enum Subject<'a, G = &'a Graph> {
    /// Each graph of a batch.
    Batch(BatchSlice<'a>),
    /// A single graph; a device takes one of at most 2³¹ arcs.
    Graph(G),
}

impl<'a> Subject<'a> {
    /// Returns the same graphs, with a view of the single one.
    pub fn view(self) -> Subject<'a, GraphView<'a>> {
        match self {
            Subject::Batch(graphs) => Subject::Batch(graphs),
            Subject::Graph(graph) => Subject::Graph(graph.into()),
        }
    }
}

impl<'a> From<BatchSlice<'a>> for Subject<'a> {
    fn from(graphs: BatchSlice<'a>) -> Subject<'a> {
        Subject::Batch(graphs)
    }
}

impl<'a> From<&'a Graph> for Subject<'a> {
    fn from(graph: &'a Graph) -> Subject<'a> {
        Subject::Graph(graph)
    }
}
