//! A vertex's neighbours in the simple graph: each once, ignoring directions and repetitions.

use ripplet_graph::{Graph, VertexId};

/// The numbers of neighbours of a vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Degrees {
    /// Neighbours in either direction.
    pub neighbors: u32,
    /// Neighbours in both directions; on an undirected graph, all.
    pub reciprocal: u32,
}

impl Degrees {
    pub fn of(graph: &Graph, vertex: VertexId) -> Degrees {
        let mut degrees = Degrees::default();
        for_each_neighbor(graph, vertex, |_, both| {
            degrees.neighbors += 1;
            degrees.reciprocal += u32::from(both);
        });
        degrees
    }
}

/// Calls `visit` for each neighbour of a vertex except itself, ascending, with whether there are
/// arcs in both directions; on an undirected graph there always are.
#[inline]
pub(super) fn for_each_neighbor(
    graph: &Graph,
    vertex: VertexId,
    mut visit: impl FnMut(VertexId, bool),
) {
    let shard = graph.shard_of(vertex);
    let local = (vertex - shard.vertices().start) as usize;
    let incoming = shard.incoming().map(|lists| lists.of(local));
    for_each_neighbor_in(shard.out().of(local), incoming, vertex, |u, leaves, enters| {
        visit(u, leaves && enters);
    });
}

/// Calls `visit` for each neighbour in a vertex's lists, ascending, with whether there is an arc to
/// the neighbour, and from it.
#[inline]
pub(super) fn for_each_neighbor_in(
    mut out: &[VertexId],
    incoming: Option<&[VertexId]>,
    vertex: VertexId,
    mut visit: impl FnMut(VertexId, bool, bool),
) {
    let Some(mut incoming) = incoming else {
        let mut last = vertex;
        for &u in out {
            if u != last && u != vertex {
                visit(u, true, true);
            }
            last = u;
        }
        return;
    };
    loop {
        let u = match (out.first(), incoming.first()) {
            (Some(&a), Some(&b)) => a.min(b),
            (Some(&u), None) | (None, Some(&u)) => u,
            (None, None) => return,
        };
        let (leaves, enters) = (skip(&mut out, u), skip(&mut incoming, u));
        if u != vertex {
            visit(u, leaves, enters);
        }
    }
}

/// Removes a vertex from the front of a list; returns whether it was there.
#[inline]
fn skip(list: &mut &[VertexId], vertex: VertexId) -> bool {
    let mut found = false;
    while let [first, rest @ ..] = list
        && *first == vertex
    {
        (*list, found) = (rest, true);
    }
    found
}
