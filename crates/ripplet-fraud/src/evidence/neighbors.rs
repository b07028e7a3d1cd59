//! Known bad partners, by number and by weight, and known bad partners of partners.
//!
//! Memory: 60 bytes per vertex. One pass over all arcs for partners, and one for partners of partners.

use super::folds::{FOLDS, Folds, Parts};
use crate::ties::arcs;
use rayon::prelude::*;
use ripplet_graph::{Graph, OutOfMemory, VertexId, memory};

/// Known bad around each vertex, by fold.
#[derive(Debug, Default)]
pub struct Neighbors {
    /// Number of known bad partners.
    pub partners: Vec<Parts>,
    /// Weight of the edges to them, in stored units.
    pub weight: Vec<Parts>,
    /// Sum over partners u of the known bad partners of u, divided by the number of u's other partners.
    pub second: Vec<Parts>,
}

const VERTICES_PER_TASK: usize = 1 << 10;

impl Neighbors {
    /// Counts the known bad around each vertex of a graph.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn of(graph: &Graph, folds: &Folds) -> Result<Neighbors, OutOfMemory> {
        let vertices = graph.vertices() as usize;
        let none = || memory::filled([0.0; FOLDS], vertices);
        let (mut partners, mut weight, mut second) = (none()?, none()?, none()?);
        for &(v, fold) in folds.known() {
            let fold = usize::from(fold);
            for (u, w) in arcs(graph, v) {
                partners[u as usize][fold] += 1.0;
                weight[u as usize][fold] += w as f32;
            }
        }
        let each = second.par_iter_mut().enumerate().with_min_len(VERTICES_PER_TASK);
        each.for_each(|(v, second)| {
            for (u, _) in arcs(graph, v as VertexId) {
                let near = &partners[u as usize];
                if *near != [0.0; FOLDS] {
                    let others = graph.degree(u).saturating_sub(1).max(1) as f32;
                    second.iter_mut().zip(near).for_each(|(sum, near)| *sum += near / others);
                }
            }
        });
        Ok(Neighbors { partners, weight, second })
    }
}
