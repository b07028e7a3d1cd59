//! The edges among some vertices of a window, and what was dealt along them.

use crate::Timestamp;
use ripplet_graph::{Graph, VertexId};

/// An edge of a window between two vertices, each pair once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The end with the smaller number.
    pub source: VertexId,
    /// The other end.
    pub target: VertexId,
    /// What it weighs for label propagation.
    pub weight: f64,
    /// The transactions that it stands for, where the run knows them.
    pub dealings: Option<Dealings>,
}

/// The transactions of a window between two entities, whichever of them paid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dealings {
    /// How many there are.
    pub count: u64,
    /// Their sum, where amounts are mapped.
    pub amount: Option<f64>,
    /// When the first of them was.
    pub first: Timestamp,
    /// When the last of them was.
    pub last: Timestamp,
}

/// Tells what was dealt in a window between two vertices, the smaller number first.
pub type DealingsOf<'a> = dyn Fn(VertexId, VertexId) -> Option<Dealings> + Sync + 'a;

/// The edges among `members`, which ascend: by source, then by target. Loops are left out.
///
/// Takes time for the members' lists, or, where a list is much longer than the members are many, for a search
/// of each member in it.
pub fn edges_among(graph: &Graph, members: &[VertexId], dealings_of: &DealingsOf<'_>) -> Vec<Edge> {
    let mut edges = Vec::new();
    for (place, &source) in members.iter().enumerate() {
        neighbors_among(graph, source, &members[place + 1..], |target, stored| {
            let weight = graph.weight_scale().weight(u64::from(stored));
            let dealings = dealings_of(source, target);
            edges.push(Edge { source, target, weight, dealings });
        });
    }
    edges
}

/// Calls `each` with every neighbour of `vertex` that is among `others`, which ascend, and the stored weight.
pub(crate) fn neighbors_among(
    graph: &Graph,
    vertex: VertexId,
    others: &[VertexId],
    mut each: impl FnMut(VertexId, u32),
) {
    /// A step of a search costs about as much as so many steps of a walk.
    const SEARCH: usize = 16;
    let shard = graph.shard_of(vertex);
    let (lists, local) = (shard.out(), (vertex - shard.vertices().start) as usize);
    let (neighbors, weights) = (lists.of(local), lists.weights_of(local));
    let weight_at = |place: usize| weights.map_or(1, |weights| weights[place]);
    if neighbors.len() / SEARCH > others.len() {
        for &other in others {
            if let Ok(place) = neighbors.binary_search(&other) {
                each(other, weight_at(place));
            }
        }
        return;
    }
    let mut others = others.iter().copied().peekable();
    for (place, &neighbor) in neighbors.iter().enumerate() {
        while others.next_if(|&other| other < neighbor).is_some() {}
        if others.next_if_eq(&neighbor).is_some() {
            each(neighbor, weight_at(place));
        }
    }
}
