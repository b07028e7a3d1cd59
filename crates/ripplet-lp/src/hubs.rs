//! Names of communities by their hubs.

use crate::{Label, NO_LABEL};
use ripplet_graph::{GraphView, OutOfMemory, VertexId, memory};

/// Returns the hub of each community, by its label: the member with the highest degree, of equal ones the first that
/// `members` yields; [`NO_LABEL`] for labels without a member. Members without a label are passed over.
///
/// Memory: 4 bytes per vertex.
///
/// # Errors
/// If memory is refused.
///
/// # Panics
/// If a member or its label is no vertex of the graph, other than [`NO_LABEL`].
///
/// # Examples
/// ```
/// use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
/// use ripplet_lp::{NO_LABEL, hubs};
///
/// let ids = VertexIds::Consecutive { first: 0, count: 4 };
/// let graph = GraphBuilder::new().build(EdgeTable::new(ids, vec![0, 1, 1], vec![1, 2, 3])?)?;
/// assert_eq!(hubs(&graph, [(0, 0), (1, 0), (2, 2)])?, [1, NO_LABEL, 2, NO_LABEL]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn hubs<'g>(
    graph: impl Into<GraphView<'g>>,
    members: impl IntoIterator<Item = (VertexId, Label)>,
) -> Result<Vec<VertexId>, OutOfMemory> {
    let graph = graph.into();
    let mut hubs = memory::filled(NO_LABEL, graph.vertices() as usize)?;
    for (vertex, label) in members.into_iter().filter(|&(_, label)| label != NO_LABEL) {
        let hub = &mut hubs[label as usize];
        if *hub == NO_LABEL || graph.degree(vertex) > graph.degree(*hub) {
            *hub = vertex;
        }
    }
    Ok(hubs)
}
