//! Owned graphs of either storage.

use super::compressed::CompressedGraph;
use super::{Graph, GraphView};
use crate::OutOfMemory;
use std::fmt;

/// The storage of neighbour lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// Plain: 4 bytes per arc, 8 with weights.
    Plain,
    /// Compressed: fewer bytes, decoded on each access; see [`compressed`](crate::compressed).
    Compressed,
}

/// A graph of plain or compressed lists.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredGraph {
    /// Plain lists.
    Plain(Graph),
    /// Compressed lists.
    Compressed(CompressedGraph),
}

impl Storage {
    /// All storages.
    pub const NAMED: [Storage; 2] = [Storage::Plain, Storage::Compressed];

    /// Returns the storage's name: `plain` or `compressed`.
    pub const fn name(self) -> &'static str {
        match self {
            Storage::Plain => "plain",
            Storage::Compressed => "compressed",
        }
    }

    /// Returns the storage of this name, of [`Storage::NAMED`].
    pub fn named(name: &str) -> Option<Storage> {
        Storage::NAMED.into_iter().find(|storage| storage.name() == name)
    }

    /// Returns what it is, in a few words.
    pub const fn summary(self) -> &'static str {
        match self {
            Storage::Plain => "As they are: 4 bytes an arc, 8 with weights",
            Storage::Compressed => "In fewer bytes, decoded wherever they are read: slower",
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
    /// Returns a view for algorithms.
    pub fn view(&self) -> GraphView<'_> {
        self.into()
    }

    /// Returns the storage of the lists.
    pub fn storage(&self) -> Storage {
        self.view().into()
    }

    /// Copies a graph to a storage: decodes or compresses the lists in parallel if needed.
    ///
    /// # Errors
    /// If memory is refused.
    pub fn copied(graph: GraphView<'_>, storage: Storage) -> Result<StoredGraph, OutOfMemory> {
        Ok(match (graph, storage) {
            (GraphView::Plain(graph), Storage::Plain) => graph.clone().into(),
            (GraphView::Plain(graph), Storage::Compressed) => {
                CompressedGraph::copied(graph)?.into()
            }
            (GraphView::Compressed(graph), Storage::Plain) => graph.to_plain()?.into(),
            (GraphView::Compressed(graph), Storage::Compressed) => graph.clone().into(),
        })
    }

    /// Converts the graph to plain lists: decodes them in parallel if needed. Memory: in that case, the lists of both.
    ///
    /// # Errors
    /// If memory is refused.
    pub fn into_plain(self) -> Result<Graph, OutOfMemory> {
        match self {
            StoredGraph::Plain(graph) => Ok(graph),
            StoredGraph::Compressed(graph) => graph.into_plain(),
        }
    }

    /// Converts the graph to a storage: decodes or compresses the lists in parallel if needed.
    /// Memory: in that case, the lists of both.
    ///
    /// # Errors
    /// If memory is refused.
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
