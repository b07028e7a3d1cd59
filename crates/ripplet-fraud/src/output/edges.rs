//! The edges among some vertices of a window, and what was paid along them.

use super::{Flow, Ledger};
use ripplet_graph::{Graph, VertexId};

/// What one vertex of a window paid another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// Who paid.
    pub source: VertexId,
    /// Who was paid.
    pub target: VertexId,
    /// What the two together weigh for label propagation, whichever paid.
    pub weight: f64,
    /// The transactions from source to target; none where the ledger does not know of any.
    pub flow: Option<Flow>,
}

/// The edges among `members`, which ascend: of each pair, what the smaller number paid, then what the other paid. A
/// pair of which the ledger knows nothing is one edge, from the smaller number. Loops are left out.
///
/// Takes time for the members' lists, or, where a list is much longer than the members are many, for a search
/// of each member in it.
pub fn edges_among(graph: &Graph, members: &[VertexId], ledger: &dyn Ledger) -> Vec<Edge> {
    let lists: Vec<Vec<Edge>> =
        members.iter().map(|&source| edges_from(graph, source, members, ledger)).collect();
    let mut edges = Vec::new();
    for list in &lists {
        for there in list.iter().filter(|edge| edge.source < edge.target) {
            let back = members.binary_search(&there.target).ok().and_then(|place| {
                let list = &lists[place];
                let found = list.binary_search_by_key(&there.source, |edge| edge.target).ok();
                found.map(|place| list[place]).filter(|edge| edge.flow.is_some())
            });
            if there.flow.is_some() || back.is_none() {
                edges.push(*there);
            }
            edges.extend(back);
        }
    }
    edges
}

/// Returns an edge from `source` to each neighbour among `members`, which ascend, whichever of the two paid.
fn edges_from(
    graph: &Graph,
    source: VertexId,
    members: &[VertexId],
    ledger: &dyn Ledger,
) -> Vec<Edge> {
    let (mut targets, mut weights) = (Vec::new(), Vec::new());
    neighbors_among(graph, source, members, |target, stored| {
        if target != source {
            targets.push(target);
            weights.push(graph.weight_scale().weight(u64::from(stored)));
        }
    });
    let flows = ledger.flows(source, &targets);
    let of = |((target, weight), flow)| Edge { source, target, weight, flow };
    targets.into_iter().zip(weights).zip(flows).map(of).collect()
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
