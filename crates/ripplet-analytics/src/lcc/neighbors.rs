//! A vertex's neighbours in the simple graph: each once, ignoring directions and repetitions.

use ripplet_graph::VertexId;
use ripplet_graph::storage::NeighborLists;

/// The numbers of neighbours of a vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Degrees {
    /// Neighbours in either direction.
    pub neighbors: u32,
    /// Neighbours in both directions; on an undirected graph, all.
    pub reciprocal: u32,
}

/// A graph's lists, read as those of the simple graph.
#[derive(Clone, Copy)]
pub(super) struct SimpleGraph<L> {
    out: L,
    /// Present if the graph is directed.
    incoming: Option<L>,
}

impl<L: NeighborLists> SimpleGraph<L> {
    /// Reads the outgoing lists and, if the graph is directed, the incoming ones.
    pub fn of(out: L, incoming: L, directed: bool) -> SimpleGraph<L> {
        SimpleGraph { out, incoming: directed.then_some(incoming) }
    }

    pub fn vertices(self) -> usize {
        self.out.vertices()
    }

    pub fn is_directed(self) -> bool {
        self.incoming.is_some()
    }

    pub fn degrees(self, vertex: VertexId) -> Degrees {
        let mut degrees = Degrees::default();
        self.for_each_neighbor(vertex, |_, both| {
            degrees.neighbors += 1;
            degrees.reciprocal += u32::from(both);
        });
        degrees
    }

    /// Calls `visit` for each neighbour of a vertex except itself, ascending, with whether there are
    /// arcs in both directions; on an undirected graph there always are.
    #[inline]
    pub fn for_each_neighbor(self, vertex: VertexId, mut visit: impl FnMut(VertexId, bool)) {
        let out = self.out.each_of(vertex as usize);
        match self.incoming {
            None => for_each_distinct(out, vertex, |u| visit(u, true)),
            Some(incoming) => {
                let incoming = incoming.each_of(vertex as usize);
                merge(out, incoming, vertex, |u, leaves, enters| visit(u, leaves && enters));
            }
        }
    }
}

/// Calls `visit` for each vertex of an ascending list once, except `vertex`.
#[inline]
pub(super) fn for_each_distinct(
    list: impl Iterator<Item = VertexId>,
    vertex: VertexId,
    mut visit: impl FnMut(VertexId),
) {
    let mut last = vertex;
    list.for_each(|u| {
        if u != last && u != vertex {
            visit(u);
        }
        last = u;
    });
}

/// The end of a list: larger than every vertex.
const END: u64 = u64::MAX;

/// Calls `visit` for each vertex of two ascending lists once, except `vertex`, with whether it is in
/// the outgoing list, and in the incoming one.
#[inline]
pub(super) fn merge(
    mut out: impl Iterator<Item = VertexId>,
    mut incoming: impl Iterator<Item = VertexId>,
    vertex: VertexId,
    mut visit: impl FnMut(VertexId, bool, bool),
) {
    let (mut a, mut b) = (next_of(&mut out), next_of(&mut incoming));
    loop {
        let u = a.min(b);
        if u == END {
            return;
        }
        let (leaves, enters) = (a == u, b == u);
        while a == u {
            a = next_of(&mut out);
        }
        while b == u {
            b = next_of(&mut incoming);
        }
        if u != u64::from(vertex) {
            visit(u as VertexId, leaves, enters);
        }
    }
}

/// Returns the next vertex of a list, or [`END`].
#[inline]
fn next_of(list: &mut impl Iterator<Item = VertexId>) -> u64 {
    list.next().map_or(END, u64::from)
}
