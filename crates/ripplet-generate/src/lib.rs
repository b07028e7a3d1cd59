//! Synthetic graphs, deterministic from a seed and built on all cores.
//!
//! | generator | shape | truth |
//! |---|---|---|
//! | [`Planted`] | communities of power-law sizes and degrees, a chosen share of edges between them | communities |
//! | [`Web`] | blocks of consecutive ids, links to few hubs | blocks |
//! | [`Social`] | the same with its ids permuted: no locality left | blocks |
//! | [`Road`] | a grid with a part of its edges removed: low degree, large diameter | |
//! | [`Rmat`] | Graph500's recursive matrix: extreme degrees, no communities | |
//! | [`Swarm`] | many small graphs, R-MAT and random, part by part | |
//! | [`Transactions`] | buyers and items of many days, shard by shard without an edge list | rings of fraud |
//!
//! A generator is a plain struct of parameters: make one with `new`, change fields, call
//! `generate`. Vertices are numbered from 0.
//!
//! **Determinism.** Equal parameters give equal rows in equal order, on any number of threads and
//! any platform: work is cut into parts of a fixed size, each part has a random stream of its own
//! (xoshiro256++, seeded by the generator's seed and the part's number), and powers come from
//! `libm` instead of the platform.
//!
//! # Examples
//! Communities are planted in a graph, of whose edges one in five leads out of its community:
//! ```
//! use ripplet_generate::Planted;
//! use ripplet_graph::GraphBuilder;
//!
//! let parameters = Planted { seed: 7, ..Planted::new(1_000, 10_000, 0.2) };
//! let planted = parameters.generate()?;
//! assert_eq!(planted, parameters.generate()?);
//! let edges = planted.edges.sources().iter().zip(planted.edges.targets());
//! let truth = |vertex: u32| planted.truth[vertex as usize];
//! let out = edges.filter(|&(&source, &target)| truth(source) != truth(target)).count();
//! assert!((1_500..2_500).contains(&out));
//!
//! let graph = GraphBuilder::new().build(planted.edges)?;
//! assert_eq!(graph.vertices(), 1_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod permutation;
mod planted;
mod random;
mod rmat;
mod road;
mod social;
mod swarm;
mod transactions;
mod web;

pub use permutation::Permutation;
pub use planted::{Planted, PlantedGraph};
pub use rmat::Rmat;
pub use road::Road;
pub use social::Social;
pub use swarm::{Swarm, SwarmKind, SwarmShape};
pub use transactions::{Sales, SalesPart, TransactionGraph, Transactions};
pub use web::Web;

use ripplet_graph::{EdgeTable, MAX_VERTICES, VertexId, VertexIds};
use thiserror::Error;

/// Errors of generating a graph.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum GenerateError {
    /// More vertices than a graph may have.
    #[error("{vertices} vertices asked for; a graph has at most {MAX_VERTICES}")]
    TooManyVertices {
        /// The requested number.
        vertices: u64,
    },
    /// More edges than there are pairs of vertices.
    #[error(
        "{edges} edges asked for, but {vertices} {} room for {room}",
        if *vertices == 1 { "vertex has" } else { "vertices have" }
    )]
    TooManyEdges {
        /// The requested number.
        edges: u64,
        /// The number of vertices.
        vertices: u64,
        /// The largest possible number of edges.
        room: u64,
    },
    /// A parameter outside of its range.
    #[error("{parameter} is {value}; it must be {expected}")]
    Parameter {
        /// The field's name.
        parameter: &'static str,
        /// Its value.
        value: String,
        /// The allowed values.
        expected: String,
    },
    /// The rows do not fit the memory.
    #[error("{rows} edges need {bytes} bytes, which this machine refused; ask for fewer")]
    OutOfMemory {
        /// Rows of the edge table.
        rows: u64,
        /// Bytes asked for.
        bytes: u64,
    },
}

impl GenerateError {
    fn parameter(
        parameter: &'static str,
        value: impl ToString,
        expected: impl Into<String>,
    ) -> GenerateError {
        GenerateError::Parameter { parameter, value: value.to_string(), expected: expected.into() }
    }
}

/// Vertices per random stream: a constant, because the graph depends on it.
const VERTICES_PER_STREAM: usize = 1 << 12;

/// Returns the number of vertices as an id, or an error if there are too many.
fn vertex_count(vertices: u64) -> Result<u32, GenerateError> {
    match u32::try_from(vertices) {
        Ok(count) if count <= MAX_VERTICES => Ok(count),
        _ => Err(GenerateError::TooManyVertices { vertices }),
    }
}

/// Returns the numbers of vertices and edges, for 2^scale vertices with `edge_factor` edges each.
fn scaled(scale: u32, edge_factor: u32) -> Result<(u32, u64), GenerateError> {
    if scale > 31 {
        return Err(GenerateError::parameter("scale", scale, "at most 31"));
    }
    let vertices = 1u32 << scale;
    Ok((vertices, u64::from(vertices) * u64::from(edge_factor)))
}

/// Returns two empty columns with capacity for `rows`.
fn columns(rows: u64) -> Result<[Vec<VertexId>; 2], GenerateError> {
    let refused = || GenerateError::OutOfMemory { rows, bytes: rows.saturating_mul(8) };
    let count = usize::try_from(rows).map_err(|_| refused())?;
    let mut columns = [Vec::new(), Vec::new()];
    for column in &mut columns {
        column.try_reserve_exact(count).map_err(|_| refused())?;
    }
    Ok(columns)
}

fn table(vertices: u32, [sources, targets]: [Vec<VertexId>; 2]) -> EdgeTable {
    let ids = VertexIds::Consecutive { first: 0, count: vertices };
    EdgeTable::new(ids, sources, targets).expect("generators name existing vertices only")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the value of `make`, after checking that it is the same on 1, 2 and 7 threads.
    pub(super) fn on_any_pool<T: PartialEq + Send>(make: impl Fn() -> T + Sync) -> T {
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(&make)
        };
        let one = on(1);
        assert!(one == on(2), "2 threads differ from 1");
        assert!(one == on(7), "7 threads differ from 1");
        one
    }

    /// Returns the degree of each vertex; a loop counts twice.
    pub(super) fn degrees(table: &EdgeTable) -> Vec<u32> {
        let mut degrees = vec![0; table.ids().len()];
        for &v in table.sources().iter().chain(table.targets()) {
            degrees[v as usize] += 1;
        }
        degrees
    }

    #[test]
    fn absurd_sizes_are_refused() {
        assert!(matches!(
            vertex_count(u64::from(MAX_VERTICES) + 1),
            Err(GenerateError::TooManyVertices { .. })
        ));
        assert!(matches!(columns(u64::MAX), Err(GenerateError::OutOfMemory { .. })));
        assert!(scaled(32, 1).is_err());
        assert_eq!(scaled(4, 16), Ok((16, 256)));
    }
}
