//! Degree classes: how many vertices each mapping takes, and the room that large vertices need.

use super::state::LISTED;
use super::tuning::{self, Tuning};
use rayon::prelude::*;
use ripplet_graph::GraphView;
use std::ops::Range;

/// Number of vertices by degree class, and the room that large vertices need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// Vertices and arcs of each class; the large ones are last.
    pub vertices: [u64; LISTED + 1],
    pub arcs: [u64; LISTED + 1],
    /// Pieces of the large vertices.
    pub pieces: u64,
    /// Pieces of all vertices of more than `HUB` arcs.
    pub hub_pieces: u64,
    /// Pieces of the largest vertex.
    pub pieces_of_largest: u64,
}

impl Classes {
    /// Counts the classes of some of a graph's vertices.
    pub fn of(graph: GraphView<'_>, part: Range<u32>, tuning: &Tuning) -> Classes {
        let count = |mut classes: Classes, v: u32| {
            classes.count(graph.degree(v), tuning);
            classes
        };
        part.into_par_iter().fold(Classes::default, count).reduce(Classes::default, Classes::plus)
    }

    fn count(&mut self, degree: u64, tuning: &Tuning) {
        if degree == 0 {
            return;
        }
        let own = tuning::MOST.iter().position(|&most| degree <= most);
        let class = own.unwrap_or(LISTED).max(tuning.least_class() as usize);
        self.vertices[class] += 1;
        self.arcs[class] += degree;
        if degree > tuning::HUB {
            self.hub_pieces += degree.div_ceil(tuning::PIECE);
        }
        if class < LISTED {
            return;
        }
        let pieces = degree.div_ceil(tuning::PIECE);
        self.pieces += pieces;
        self.pieces_of_largest = self.pieces_of_largest.max(pieces);
    }

    fn plus(self, other: Classes) -> Classes {
        let sum = |a: &[u64], b: &[u64], at: usize| a[at] + b[at];
        Classes {
            vertices: std::array::from_fn(|at| sum(&self.vertices, &other.vertices, at)),
            arcs: std::array::from_fn(|at| sum(&self.arcs, &other.arcs, at)),
            pieces: self.pieces + other.pieces,
            hub_pieces: self.hub_pieces + other.hub_pieces,
            pieces_of_largest: self.pieces_of_largest.max(other.pieces_of_largest),
        }
    }
}
