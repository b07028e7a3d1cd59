//! The lists of a graph as a search sees them: successors and predecessors.

use ripplet_graph::Neighbors;
use ripplet_graph::batch::BatchGraph;
use ripplet_graph::storage::NeighborLists;

/// The direction in which a search follows arcs. On an undirected graph both agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Along {
    /// From source to target: a search yields distances from its sources to a vertex.
    Arcs,
    /// From target to source: a search yields distances from a vertex to its sources.
    Against,
}

/// Both lists of each vertex, as seen by a search.
#[derive(Clone, Copy)]
pub(crate) struct Sides<L> {
    /// Successors: the vertices that the search visits from a vertex.
    pub ahead: L,
    /// Predecessors: the vertices from which the search reaches a vertex.
    pub behind: L,
}

impl<L: NeighborLists> Sides<L> {
    pub fn of(along: Along, out: L, incoming: L) -> Sides<L> {
        match along {
            Along::Arcs => Sides { ahead: out, behind: incoming },
            Along::Against => Sides { ahead: incoming, behind: out },
        }
    }

    /// Returns the number of vertices.
    #[inline]
    pub fn vertices(self) -> u32 {
        self.ahead.vertices() as u32
    }
}

/// Returns the lists of a graph of a batch.
pub(crate) fn of_member(graph: BatchGraph<'_>, along: Along) -> Sides<Neighbors<'_>> {
    let out = graph.out();
    Sides::of(along, out, graph.incoming().unwrap_or(out))
}

/// Evaluates an expression with the [`Sides`] of a `GraphView`, compiled once per kind of lists.
macro_rules! dispatch_sides {
    ($graph:expr, $along:expr, $sides:ident => $work:expr) => {
        ripplet_graph::dispatch_lists!($graph, (out, incoming) => {
            let $sides = $crate::sides::Sides::of($along, out, incoming);
            $work
        })
    };
}
pub(crate) use dispatch_sides;
