//! Subject of an analysis: one graph, or each graph of a batch.

use super::BatchSlice;
use crate::Graph;

/// The graphs of an analysis: a single one, or each of a batch.
#[derive(Clone, Copy)]
pub enum Subject<'a> {
    /// Each graph of a batch.
    Batch(BatchSlice<'a>),
    /// A single graph; a device takes one of at most 2³¹ arcs.
    Graph(&'a Graph),
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
