//! Graphs for the tests.

use ripplet_graph::{
    Direction, Duplicates, EdgeTable, Graph, GraphBuilder, MAX_SHARD_ARCS, SelfLoops, VertexIds,
};

/// An edge list as a user has it, with loops and duplicates.
#[derive(Clone, Debug)]
pub struct Edges {
    pub vertices: u32,
    pub pairs: Vec<(u32, u32)>,
    pub weights: Option<Vec<f64>>,
    pub directed: bool,
}

impl Edges {
    pub fn undirected(vertices: u32, pairs: impl IntoIterator<Item = (u32, u32)>) -> Edges {
        Edges { vertices, pairs: pairs.into_iter().collect(), weights: None, directed: false }
    }

    pub fn directed(vertices: u32, pairs: impl IntoIterator<Item = (u32, u32)>) -> Edges {
        Edges { directed: true, ..Edges::undirected(vertices, pairs) }
    }

    pub fn graph(&self) -> Graph {
        self.graph_of(MAX_SHARD_ARCS, false)
    }

    /// Returns the graph in shards of at most `shard_arcs` arcs.
    ///
    /// With `keep`, loops and duplicates stay; otherwise the smallest weight of duplicates stays.
    pub fn graph_of(&self, shard_arcs: u64, keep: bool) -> Graph {
        let ids = VertexIds::Consecutive { first: 0, count: self.vertices };
        let (sources, targets) = self.pairs.iter().copied().unzip();
        let mut table = EdgeTable::new(ids, sources, targets).unwrap();
        if let Some(weights) = &self.weights {
            table = table.with_weights(weights.clone()).unwrap();
        }
        let direction = if self.directed { Direction::Directed } else { Direction::Undirected };
        let builder = GraphBuilder::new().direction(direction).shard_arcs(shard_arcs);
        let builder = match keep {
            true => builder.self_loops(SelfLoops::Keep).duplicates(Duplicates::Keep),
            false => builder.duplicates(Duplicates::Least),
        };
        builder.build(table).unwrap()
    }
}
