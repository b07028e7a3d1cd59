//! The parts that the sequential definitions of refinement and of merging share.

use ripplet_graph::{EdgeTable, VertexIds};

/// Edges with weights.
pub type Edges = Vec<(u32, u32, u32)>;

/// Returns the table of the edges between `vertices` vertices.
pub fn table(vertices: u32, edges: &Edges, weighted: bool) -> EdgeTable {
    let ids = VertexIds::Consecutive { first: 0, count: vertices };
    let sources = edges.iter().map(|edge| edge.0).collect();
    let targets = edges.iter().map(|edge| edge.1).collect();
    let table = EdgeTable::new(ids, sources, targets).unwrap();
    let weights = edges.iter().map(|edge| f64::from(edge.2)).collect();
    if weighted { table.with_weights(weights).unwrap() } else { table }
}

/// The hash of all draws: `lowbias32`.
pub fn mix(mut x: u32) -> u32 {
    for (shift, factor) in [(16, 0x7feb_352d_u32), (15, 0x846c_a68b)] {
        x = (x ^ (x >> shift)).wrapping_mul(factor);
    }
    x ^ (x >> 16)
}
