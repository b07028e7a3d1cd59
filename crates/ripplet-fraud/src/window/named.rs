//! Graph of a window with the entities as ids of its vertices.

use super::Window;
use crate::Entities;
use ripplet_graph::{
    BuildError, EdgeTable, EdgeTableError, Graph, GraphBuilder, Names, VertexId, VertexIds,
};
use thiserror::Error;

/// Error of a graph with named vertices.
#[derive(Debug, Error)]
pub enum NamedError {
    /// The edges do not fit a table.
    #[error(transparent)]
    Edges(#[from] EdgeTableError),
    /// The graph cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
}

impl Window {
    /// Returns the window's graph as other analyses take it: an edge for each pair with transactions, with its weight.
    ///
    /// The vertices are the entities with transactions in the window. Their ids are kind and id, `user:7`, ascending.
    /// Weights are those of the mapping, in its unit. `entities` are those of the window's feed.
    ///
    /// Memory: the names, and 16 bytes per edge, beside both graphs.
    ///
    /// # Errors
    /// If there are too many edges for a graph, or memory allocation fails.
    pub fn named(&self, entities: &Entities) -> Result<Graph, NamedError> {
        let graph = &self.graph;
        let name = |v: VertexId| format!("{}:{}", entities.kind_name_of(v), entities.id_of(v));
        let dealt = (0..graph.vertices()).filter(|&v| graph.degree(v) > 0);
        let mut names: Vec<(String, VertexId)> = dealt.map(|v| (name(v), v)).collect();
        names.sort_unstable();
        let mut numbers = vec![0; graph.vertices() as usize];
        for (number, (_, v)) in names.iter().enumerate() {
            numbers[*v as usize] = number as VertexId;
        }
        let ids = VertexIds::Names(Names::new(names.iter().map(|(name, _)| &**name)));
        let (mut sources, mut targets, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for shard in graph.shards() {
            let out = shard.out();
            for (local, v) in shard.vertices().enumerate() {
                let stored = out.weights_of(local).unwrap_or(&[]);
                for (&u, &weight) in out.of(local).iter().zip(stored).filter(|(u, _)| **u > v) {
                    sources.push(numbers[v as usize]);
                    targets.push(numbers[u as usize]);
                    weights.push(graph.weight_scale().weight(u64::from(weight)));
                }
            }
        }
        let edges = EdgeTable::new(ids, sources, targets)?.with_weights(weights)?;
        Ok(GraphBuilder::new().build(edges)?)
    }
}
