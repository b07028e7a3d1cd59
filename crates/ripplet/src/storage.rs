//! How a graph's lists are kept: a choice that no program, schedule or counter notices.

use ripplet_graph::compressed::CompressedGraph;
use ripplet_graph::{Graph, GraphView, OutOfMemory};
use std::fmt;

/// How the neighbours of vertices are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// As they are: 4 bytes an arc, 8 with weights.
    Plain,
    /// In fewer bytes, decoded wherever they are read: [`graph::compressed`](crate::graph::compressed).
    Compressed,
}

/// A graph of plain or of compressed lists.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredGraph {
    /// Lists as they are.
    Plain(Graph),
    /// Lists in fewer bytes.
    Compressed(CompressedGraph),
}

impl Storage {
    /// The storage's name: `plain` or `compressed`.
    pub fn name(self) -> &'static str {
        match self {
            Storage::Plain => "plain",
            Storage::Compressed => "compressed",
        }
    }
}

impl fmt::Display for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<GraphView<'_>> for Storage {
    fn from(graph: GraphView<'_>) -> Storage {
        match graph {
            GraphView::Plain(_) => Storage::Plain,
            GraphView::Compressed(_) => Storage::Compressed,
        }
    }
}

impl StoredGraph {
    /// The graph as an algorithm reads it.
    pub fn view(&self) -> GraphView<'_> {
        self.into()
    }

    /// How the lists are kept.
    pub fn storage(&self) -> Storage {
        self.view().into()
    }

    /// The same graph with lists that are kept so; they are decoded or compressed in parallel where they
    /// are kept otherwise. Memory: then, the lists of both.
    ///
    /// # Errors
    /// Where the memory is refused.
    pub fn kept(self, storage: Storage) -> Result<StoredGraph, OutOfMemory> {
        Ok(match (self, storage) {
            (StoredGraph::Plain(graph), Storage::Compressed) => CompressedGraph::of(graph)?.into(),
            (StoredGraph::Compressed(graph), Storage::Plain) => graph.into_plain()?.into(),
            (graph, _) => graph,
        })
    }
}

impl From<Graph> for StoredGraph {
    fn from(graph: Graph) -> StoredGraph {
        StoredGraph::Plain(graph)
    }
}

impl From<CompressedGraph> for StoredGraph {
    fn from(graph: CompressedGraph) -> StoredGraph {
        StoredGraph::Compressed(graph)
    }
}

impl<'a> From<&'a StoredGraph> for GraphView<'a> {
    fn from(graph: &'a StoredGraph) -> GraphView<'a> {
        match graph {
            StoredGraph::Plain(graph) => graph.into(),
            StoredGraph::Compressed(graph) => graph.into(),
        }
    }
}
