//! Arcs of weight 0, if weights are lengths and shortest paths are counted.
//!
//! Algorithms that count paths by weights call [`refuse_weightless`] before they begin. It is
//! public for implementations elsewhere.

use crate::run::{AnalysisError, NoLength};
use rayon::prelude::*;
use ripplet_graph::batch::BatchSlice;
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{GraphView, VertexId, dispatch_lists};

/// Returns an error if an edge of a weighted graph has length 0; it names the same edge every time.
///
/// Cost: one pass over the arcs.
///
/// # Errors
/// [`AnalysisError::NoLength`] if an edge other than a self-loop has weight 0.
pub fn refuse_weightless<'g>(graph: impl Into<GraphView<'g>>) -> Result<(), AnalysisError> {
    refuse_weightless_in_graph(graph.into())
}

fn refuse_weightless_in_graph(graph: GraphView<'_>) -> Result<(), AnalysisError> {
    let found = dispatch_lists!(graph, (out, _incoming) => first_weightless(out));
    let Some(ends) = found else { return Ok(()) };
    let ends = ends.map(|vertex| graph.ids().get(vertex).to_string());
    Err(NoLength { graph: None, ends }.into())
}

/// Returns an error if an edge of a weighted graph of a batch has length 0; it names the first such
/// graph.
///
/// Runs in parallel over the graphs.
///
/// # Errors
/// [`AnalysisError::NoLength`] if an edge other than a self-loop has weight 0.
pub fn refuse_weightless_in(graphs: BatchSlice<'_>) -> Result<(), AnalysisError> {
    let look = |at: usize| {
        let graph = graphs.graph(at);
        let ends = first_weightless(graph.out())?;
        let ends = ends.map(|vertex| graph.vertex_id(vertex).to_string());
        Some(NoLength { graph: Some(graph.id().to_string()), ends })
    };
    let found = (0..graphs.len()).into_par_iter().with_min_len(1 << 8).find_map_first(look);
    found.map_or(Ok(()), |found| Err(found.into()))
}

/// Returns the ends of the first arc of weight 0, ignoring self-loops, which are on no shortest
/// path.
fn first_weightless(out: impl NeighborLists) -> Option<[VertexId; 2]> {
    let of = |vertex: VertexId| {
        let weights = out.each_weight_of(vertex as usize)?;
        let mut arcs = out.each_of(vertex as usize).zip(weights);
        let found = arcs.find(|&(neighbor, weight)| weight == 0 && neighbor != vertex);
        found.map(|(neighbor, _)| [vertex, neighbor])
    };
    (0..out.vertices() as VertexId).find_map(of)
}
