//! Access to a vertex's neighbours, independent of how the graph is stored.

use ripplet_graph::batch::BatchGraph;
use ripplet_graph::{Graph, Neighbors, Shard, VertexId};

/// Lists of neighbours: of a graph of one or several shards, or of a graph of a batch.
pub(crate) trait Lists: Copy + Sync {
    /// Returns the number of vertices.
    fn vertices(self) -> u32;

    /// Returns the number of arcs.
    fn arcs(self) -> u64;

    /// Returns the list of a vertex, ascending.
    fn of(&self, vertex: VertexId) -> &[VertexId];

    /// Returns the stored weights of the list; empty if there are no weights.
    fn weights_of(&self, vertex: VertexId) -> &[u32];

    /// Returns the begin of the list among all.
    fn begin(&self, vertex: VertexId) -> usize;
}

/// The lists of a graph of one shard, or of a graph of a batch.
#[derive(Clone, Copy)]
pub(crate) struct OneShard<'a> {
    vertices: u32,
    lists: Neighbors<'a>,
}

impl Lists for OneShard<'_> {
    fn vertices(self) -> u32 {
        self.vertices
    }

    fn arcs(self) -> u64 {
        self.lists.neighbors().len() as u64
    }

    #[inline]
    fn of(&self, vertex: VertexId) -> &[VertexId] {
        self.lists.of(vertex as usize)
    }

    #[inline]
    fn weights_of(&self, vertex: VertexId) -> &[u32] {
        self.lists.weights_of(vertex as usize).unwrap_or_default()
    }

    #[inline]
    fn begin(&self, vertex: VertexId) -> usize {
        self.lists.offsets()[vertex as usize] as usize
    }
}

/// The lists of a graph of any number of shards; each access finds the shard.
#[derive(Clone, Copy)]
pub(crate) struct AnyShards<'a> {
    graph: &'a Graph,
    incoming: bool,
}

impl Lists for AnyShards<'_> {
    fn vertices(self) -> u32 {
        self.graph.vertices()
    }

    fn arcs(self) -> u64 {
        self.graph.arcs()
    }

    #[inline]
    fn of(&self, vertex: VertexId) -> &[VertexId] {
        let (lists, local) = self.lists(vertex);
        lists.of(local)
    }

    #[inline]
    fn weights_of(&self, vertex: VertexId) -> &[u32] {
        let (lists, local) = self.lists(vertex);
        lists.weights_of(local).unwrap_or_default()
    }

    fn begin(&self, vertex: VertexId) -> usize {
        let (lists, local) = self.lists(vertex);
        let before = self.graph.shards().iter().take_while(|shard| shard.vertices().end <= vertex);
        let before: usize = before.map(|shard| self.of_shard(shard).neighbors().len()).sum();
        before + lists.offsets()[local] as usize
    }
}

impl<'a> AnyShards<'a> {
    /// Returns the lists of a vertex's shard, and its index there.
    #[inline]
    fn lists(&self, vertex: VertexId) -> (Neighbors<'a>, usize) {
        let shard = self.graph.shard_of(vertex);
        (self.of_shard(shard), (vertex - shard.vertices().start) as usize)
    }

    #[inline]
    fn of_shard(&self, shard: &'a Shard) -> Neighbors<'a> {
        let incoming = shard.incoming().filter(|_| self.incoming);
        incoming.unwrap_or_else(|| shard.out())
    }
}

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

impl<L: Lists> Sides<L> {
    /// Returns the number of vertices.
    pub fn vertices(self) -> u32 {
        self.ahead.vertices()
    }
}

fn sides<L>(along: Along, out: L, incoming: L) -> Sides<L> {
    match along {
        Along::Arcs => Sides { ahead: out, behind: incoming },
        Along::Against => Sides { ahead: incoming, behind: out },
    }
}

/// Returns the lists of a graph of a batch.
pub(crate) fn of_member(graph: BatchGraph<'_>, along: Along) -> Sides<OneShard<'_>> {
    let (vertices, out) = (graph.vertices(), graph.out());
    let of = |lists| OneShard { vertices, lists };
    sides(along, of(out), of(graph.incoming().unwrap_or(out)))
}

/// A computation that is generic over the kind of lists.
pub(crate) trait Over {
    type Result;

    fn lists<L: Lists>(self, lists: Sides<L>) -> Self::Result;
}

/// Runs a computation over a graph's lists: directly if it has one shard, else with a lookup of the
/// shard.
pub(crate) fn over<O: Over>(graph: &Graph, along: Along, work: O) -> O::Result {
    match graph.shards() {
        [shard] => {
            let (vertices, out) = (graph.vertices(), shard.out());
            let of = |lists| OneShard { vertices, lists };
            work.lists(sides(along, of(out), of(shard.incoming().unwrap_or(out))))
        }
        _ => {
            let of = |incoming| AnyShards { graph, incoming };
            work.lists(sides(along, of(false), of(true)))
        }
    }
}
