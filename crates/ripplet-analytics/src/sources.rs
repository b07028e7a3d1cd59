//! Chosen vertices, from which shortest paths are searched instead of from all.

use crate::{AnalysisError, InvalidSetting};
use ripplet_graph::{GraphView, OutOfMemory, VertexId, memory};
use thiserror::Error;

/// Vertices of a graph from which shortest paths are searched: ascending, each once.
///
/// # Examples
/// ```
/// use ripplet_analytics::Sources;
///
/// let sources = Sources::new(10, [7, 2, 7])?;
/// assert_eq!(sources.vertices(), [2, 7]);
/// assert!(Sources::new(10, [10]).is_err());
/// # Ok::<(), ripplet_analytics::SourcesError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    ids: Vec<VertexId>,
    /// The number of vertices of the graph.
    of: u32,
}

/// Error of vertices that cannot be sources.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SourcesError {
    /// A vertex is not in the graph.
    #[error("vertex {vertex} is no vertex of the graph, which has {vertices}")]
    NoSuchVertex {
        /// The vertex.
        vertex: VertexId,
        /// The number of vertices.
        vertices: u32,
    },
    /// Memory allocation failed.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

impl Sources {
    /// Returns some vertices of a graph of `vertices` vertices, in any order; one that comes repeatedly counts once.
    ///
    /// Memory: 4 bytes per source.
    ///
    /// # Errors
    /// If a vertex is not in the graph, or memory is refused.
    pub fn new(
        vertices: u32,
        sources: impl IntoIterator<Item = VertexId>,
    ) -> Result<Sources, SourcesError> {
        let mut ids: Vec<VertexId> = Vec::new();
        for vertex in sources {
            memory::push(&mut ids, vertex)?;
        }
        ids.sort_unstable();
        ids.dedup();
        match ids.last() {
            Some(&vertex) if vertex >= vertices => {
                Err(SourcesError::NoSuchVertex { vertex, vertices })
            }
            _ => Ok(Sources { ids, of: vertices }),
        }
    }

    /// Returns the vertices, ascending.
    pub fn vertices(&self) -> &[VertexId] {
        &self.ids
    }

    /// Refuses sources of a graph with another number of vertices.
    pub(crate) fn check(&self, graph: GraphView<'_>) -> Result<(), AnalysisError> {
        match self.of == graph.vertices() {
            true => Ok(()),
            false => {
                let name = "the number of vertices that the sources are of";
                let expected = "that of the graph";
                Err(InvalidSetting { name, value: f64::from(self.of), expected }.into())
            }
        }
    }
}
