//! Graphs of the crate `petgraph`.

use crate::GraphError;
use crate::own_edges::NumberedEdges;
use petgraph::visit::{EdgeRef, GraphProp, IntoEdgeReferences, NodeIndexable};
use ripplet_graph::{Direction, Graph};

/// Builds a graph from a graph of `petgraph`, directed if that is. The id of a vertex is the index
/// of its node; indices without a node become vertices without edges.
///
/// `weight` returns the weight of an edge; `None` ignores weights.
///
/// ```
/// use petgraph::graph::UnGraph;
/// use ripplet::petgraph::{NO_WEIGHTS, graph_from_petgraph};
///
/// let theirs = UnGraph::<(), f32>::from_edges([(0, 1, 2.5), (1, 2, 1.0), (2, 0, 1.0)]);
/// let graph = graph_from_petgraph(&theirs, Some(|weight: &f32| f64::from(*weight)))?;
/// assert_eq!((graph.vertices(), graph.edges(), graph.is_weighted()), (3, 3, true));
///
/// let found = ripplet::communities(&graph).device(ripplet::Device::cpu()).run()?;
/// for node in theirs.node_indices() {
///     let community = found.of(node.index() as u64)?.next().ok_or("no label")?;
///     println!("{node:?} is in community {}", community.id());
/// }
/// let unweighted = graph_from_petgraph(&theirs, NO_WEIGHTS)?;
/// assert!(!unweighted.is_weighted());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there are more nodes than a graph can have vertices, a weight is NaN, infinite or negative,
/// or memory is refused.
pub fn graph_from_petgraph<G, W>(graph: G, weight: Option<W>) -> Result<Graph, GraphError>
where
    G: IntoEdgeReferences + NodeIndexable + GraphProp,
    W: Fn(&G::EdgeWeight) -> f64,
{
    let vertices = NumberedEdges::vertices(graph.node_bound())?;
    let mut edges = NumberedEdges::default();
    for edge in graph.edge_references() {
        let ends = [edge.source(), edge.target()].map(|node| graph.to_index(node));
        edges.push(ends, weight.as_ref().map(|weight| weight(edge.weight())))?;
    }
    let direction = if graph.is_directed() { Direction::Directed } else { Direction::Undirected };
    edges.build(vertices, direction, weight.is_some())
}

/// The argument of [`graph_from_petgraph`] that ignores weights.
pub const NO_WEIGHTS: Option<fn(&f32) -> f64> = None;
