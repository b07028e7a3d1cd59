//! Edges among some vertices of a window, with the flow along each.

use crate::ledger::{Flow, Ledger};
use ripplet_graph::{Graph, VertexId};

/// Directed edge of a window: payments from one vertex to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The payer.
    pub source: VertexId,
    /// The payee.
    pub target: VertexId,
    /// Weight of the undirected edge in label propagation.
    pub weight: f64,
    /// Transactions from source to target; `None` if the ledger has none.
    pub flow: Option<Flow>,
}

/// Returns the edges among `members`, which ascend: for each pair the edge from the smaller number, then the
/// reverse one. A pair without transactions in the ledger is one edge, from the smaller number. Self-loops
/// are left out.
///
/// Takes time proportional to the members' lists. A list much longer than `members` is searched for each
/// member instead.
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

/// Returns an edge from `source` to each neighbour among `members`, which ascend, in either direction of
/// payment.
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

/// Calls `each` with every neighbour of `vertex` among `others`, which ascend, and the stored weight.
pub(crate) fn neighbors_among(
    graph: &Graph,
    vertex: VertexId,
    others: &[VertexId],
    mut each: impl FnMut(VertexId, u32),
) {
    /// Cost of a binary search step in steps of a linear merge.
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
